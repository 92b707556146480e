"""Writes the settings table of README.md from the settings themselves. A test fails where they disagree."""

from pathlib import Path

from secondbrain.settings import LEGACY_CORPUS, PREFIX, setting_fields

README = Path(__file__).resolve().parent.parent / "README.md"
BEGIN, END = "<!-- settings: begin -->\n", "<!-- settings: end -->\n"


def settings_table() -> str:
    """Return the table of all environment variables, Markdown."""
    lines = ["| variable | sets | default |", "|---|---|---|"]
    for setting in setting_fields():
        default = "" if setting.default in (None, "") else f"`{_shown(setting.default)}`"
        lines.append(f"| `{PREFIX}{setting.name.upper()}` | {setting.metadata['about']} | {default} |")
        if setting.name == "corpus":
            lines.append(f"| `{LEGACY_CORPUS}` | The same, under the name of earlier versions | |")
    return "\n".join(lines) + "\n"


def with_table(readme: str) -> str:
    """Return a README with its settings table as it must be."""
    head, rest = readme.split(BEGIN)
    _, tail = rest.split(END)
    return head + BEGIN + settings_table() + END + tail


def _shown(value: object) -> str:
    return {True: "1", False: "0"}[value] if isinstance(value, bool) else str(value)


if __name__ == "__main__":
    README.write_text(with_table(README.read_text(encoding="utf-8")), encoding="utf-8")
