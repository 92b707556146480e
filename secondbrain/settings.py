"""Environment variables → one frozen Settings. Elsewhere only a discovery run's token is read."""

import os
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

from secondbrain.digests import is_sha256
from secondbrain.errors import ConfigurationError

PREFIX = "SECOND_BRAIN_"
LEGACY_CORPUS = "AYLLU_BRAIN_CORPUS"
"""The operator's variable of earlier versions; asked after SECOND_BRAIN_CORPUS."""
MAX_BYTES = 128 * 1024 * 1024
MAX_ROWS = 200_000
_LAST_PORT = 65_535
_MOST_DIGITS = 18  # what every 64-bit integer holds


def _setting(default: Any, about: str, *, may_be_empty: bool = False) -> Any:
    return field(default=default, metadata={"about": about, "may_be_empty": may_be_empty})


@dataclass(frozen=True)
class Settings:
    """What an operator can set. Each field is the variable SECOND_BRAIN_<FIELD IN CAPITALS>."""

    corpus: str | None = _setting(
        None,
        f"A JSONL projection or a built `.db` to use instead of the packaged one (else `{LEGACY_CORPUS}`)",
    )
    corpus_sha256: str | None = _setting(None, "Pins the bytes of that file: 64 hexadecimal digits")
    cache_dir: str | None = _setting(
        None, "Where a JSONL projection is built once (default: the user's cache)"
    )
    max_bytes: int = _setting(MAX_BYTES, "Largest projection admitted, in bytes")
    max_rows: int = _setting(MAX_ROWS, "Most rows admitted")
    host: str = _setting("127.0.0.1", "Address that `serve` binds")
    port: int = _setting(7860, "Port that `serve` binds")
    allowed_hosts: str = _setting("*", "Host names that `serve` answers to, comma-separated; `*` for any")
    trusted_proxies: str = _setting(
        "", "Addresses whose `X-Forwarded-For` is believed, comma-separated", may_be_empty=True
    )
    cors_origins: str = _setting(
        "", "Origins allowed by CORS, comma-separated; empty turns CORS off", may_be_empty=True
    )
    rate_limit: str = _setting(
        "600/minute", "Requests allowed to one client; empty turns the limit off", may_be_empty=True
    )
    frame_ancestors: str = _setting("", "Origins that may show the page in a frame, comma-separated")
    max_concurrency: int = _setting(64, "Requests worked on or waiting at once before `serve` answers 503")
    threads: int = _setting(4, "Threads, each with its connection, that search a large corpus")
    metrics: bool = _setting(False, "`1` serves Prometheus text at `/metrics`")
    source_revision: str = _setting("UNKNOWN", "Commit that `/version` reports as served")

    corpus_variable: str = field(default=PREFIX + "CORPUS", repr=False)
    """The name of the variable that gave ``corpus``, for messages; no setting of its own."""

    @classmethod
    def from_environment(cls, environ: Mapping[str, str] = os.environ) -> "Settings":
        """Read settings from environment variables.

        Raises ConfigurationError that names the variable for a value that cannot be followed.
        """
        values: dict[str, Any] = {}
        for setting in setting_fields():
            name = PREFIX + setting.name.upper()
            text = environ.get(name)
            # Empty means unset, as container files write it, except where empty says something.
            if text is not None and (text or setting.metadata["may_be_empty"]):
                values[setting.name] = _parsed(name, text, type(setting.default))
        known = {PREFIX + setting.name.upper() for setting in setting_fields()}
        for name in environ:
            # A misspelt pin would be a pin that nobody holds anything against.
            if name.startswith(PREFIX) and name not in known:
                raise ConfigurationError(f"{name} is no setting of this program; the README lists them")
        if "corpus" not in values and environ.get(LEGACY_CORPUS):
            values["corpus"] = environ[LEGACY_CORPUS]
            values["corpus_variable"] = LEGACY_CORPUS
        settings = cls(**values)
        if settings.corpus_sha256 is not None and not is_sha256(settings.corpus_sha256):
            raise ConfigurationError(f"{PREFIX}CORPUS_SHA256 is not 64 lower-case hexadecimal digits")
        if settings.corpus_sha256 is not None and settings.corpus is None:
            raise ConfigurationError(
                f"{PREFIX}CORPUS_SHA256 is set but no corpus is: set {PREFIX}CORPUS, or unset the pin"
            )
        if settings.port > _LAST_PORT:
            raise ConfigurationError(f"{PREFIX}PORT is {settings.port}: ports end at {_LAST_PORT}")
        return settings

    def cache_folder(self) -> Path:
        """Return the folder in which built projections are kept."""
        if self.cache_dir is not None:
            return Path(self.cache_dir)
        try:
            base = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
        except RuntimeError:  # a container's free user id has no home: no cache, as where it can't be written
            base = Path(os.devnull)
        return base / "szl-second-brain"


def setting_fields() -> list[Any]:
    """Return the dataclass fields that are settings, in order, for the table of the README."""
    return [setting for setting in fields(Settings) if "about" in setting.metadata]


def comma_separated(value: str) -> list[str]:
    """Return the non-blank parts of a comma-separated setting."""
    return [part.strip() for part in value.split(",") if part.strip()]


def _parsed(name: str, text: str, kind: type) -> Any:
    if kind is bool:
        if text not in ("0", "1"):
            raise ConfigurationError(f"{name} is {text!r}: set it to 1 or 0")
        return text == "1"
    if kind is int:
        if not (text.isascii() and text.isdigit() and len(text) <= _MOST_DIGITS and int(text) > 0):
            raise ConfigurationError(f"{name} is {text!r}: set it to a whole number above zero")
        return int(text)
    return text
