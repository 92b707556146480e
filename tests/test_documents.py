"""Markdown documents become rows, one a heading, with ids that keep."""

import os
import time
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from secondbrain.digests import sha256_text
from secondbrain.errors import CorpusIntegrityError
from secondbrain.projection import documents
from secondbrain.projection.admission import Row, admit, projection_line
from secondbrain.projection.documents import document, harvest, slug


def folder(tmp_path: Path, **files: str | bytes) -> Path:
    """Write documents; ``a__b`` is the file ``a/b.md``."""
    for name, content in files.items():
        path = tmp_path / "docs" / f"{name.replace('__', '/')}.md"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode("utf-8"))
    return tmp_path / "docs"


def rows(tmp_path: Path, content: str, **options: int) -> list[Row]:
    return harvest(folder(tmp_path, a=content), **options).rows


def refusal(tmp_path: Path, content: str | bytes) -> str:
    with pytest.raises(CorpusIntegrityError) as refused:
        harvest(folder(tmp_path, a=content))
    message = str(refused.value)
    assert "a.md" in message
    return message


def brief(found: list[Row]) -> list[tuple[str, str, str]]:
    return [(row.id, row.title, row.text) for row in found]


# Rule 1: which files


def test_documents_are_read_in_the_order_of_their_paths(tmp_path: Path) -> None:
    found = harvest(folder(tmp_path, b="B", a__z="Z", a="A", a__b__c="C"))
    assert [row.id for row in found.rows] == ["a", "a/b/c", "a/z", "b"]
    assert [row.position for row in found.rows] == [0, 1, 2, 3]
    assert found.documents == 4


def test_front_matter_keeps_a_document_out(tmp_path: Path) -> None:
    found = harvest(folder(tmp_path, a="text", b="---\nprojection: false\n---\nsecret"))
    assert [row.id for row in found.rows] == ["a"]
    assert found.documents == 1


@pytest.mark.parametrize("value", ["no", "False", "'off'", "0", "[false]", "null"])
def test_what_is_neither_true_nor_false_is_refused_and_no_row_made(tmp_path: Path, value: str) -> None:
    assert "projection" in refusal(tmp_path, f"---\nprojection: {value}\n---\nsecret")


def test_front_matter_that_is_never_closed_is_refused(tmp_path: Path) -> None:
    assert "never closed" in refusal(tmp_path, "---\nprojection: false\n\nsecret")
    assert "never closed" in refusal(tmp_path, "---\r\nprojection: false\r\n")


def test_other_files_and_folders_of_that_name_are_left(tmp_path: Path) -> None:
    docs = folder(tmp_path, a="text")
    (docs / "b.txt").write_text("text")
    (docs / "c.md").mkdir()
    assert [row.id for row in harvest(docs).rows] == ["a"]


def test_a_linked_folder_is_reported_and_a_link_to_nothing_refused(tmp_path: Path) -> None:
    docs = folder(tmp_path, a="text")
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "b.md").write_text("text")
    (docs / "linked").symlink_to(elsewhere)
    found = harvest(docs)
    assert [row.id for row in found.rows] == ["a"]
    assert found.notes == ["linked: linked folder, not entered"]
    (docs / "gone.md").symlink_to(tmp_path / "nothing")
    with pytest.raises(CorpusIntegrityError, match=r"gone\.md: cannot be read: No such file"):
        harvest(docs)


def test_a_folder_that_cannot_be_read_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    docs = folder(tmp_path, a="text")

    def failing(path: str) -> object:
        raise PermissionError(13, "Permission denied", str(path))

    monkeypatch.setattr(os, "scandir", failing)  # root, as in a container, may read every real folder
    with pytest.raises(CorpusIntegrityError, match="cannot be read: Permission denied"):
        harvest(docs)


def test_no_folder_and_a_folder_without_text_are_refused(tmp_path: Path) -> None:
    with pytest.raises(CorpusIntegrityError, match="no such folder"):
        harvest(tmp_path / "none")
    with pytest.raises(CorpusIntegrityError, match="no Markdown document with text"):
        harvest(folder(tmp_path, a="# Title\n"))


# Rule 2: sections


def test_a_section_stands_between_headings_of_any_level(tmp_path: Path) -> None:
    content = "before\n\n# One\n\nfirst\n\n### Deep\n\nsecond\n\nSetext\n======\nthird\n"
    assert brief(rows(tmp_path, content)) == [
        ("a", "a", "before"),
        ("a#one", "One", "first"),
        ("a#one/deep", "Deep", "second"),
        ("a#setext", "Setext", "third"),
    ]


@pytest.mark.parametrize(
    "block",
    [
        "```\n# no heading\n```",
        "~~~~ sh\n# no heading\n~~~\n~~~~",
        "```\n# never closed",
        "    # indented code",
        "> # in a quote\n> text",
        "- # in a list\n  text",
        "<div>\n# in HTML\n</div>",
        "a\\\n\\# escaped",
        "#hashtag",
        "####### seven",
    ],
)
def test_a_hash_is_no_heading_in(tmp_path: Path, block: str) -> None:
    assert brief(rows(tmp_path, f"# Title\n\n{block}\n")) == [("a#title", "Title", block)]


@pytest.mark.parametrize("end", ["\r\n", "\r"])
def test_other_line_ends_give_the_same_rows(tmp_path: Path, end: str) -> None:
    content = "---\ntitle: T\n---\nx\n\n# One\n\n```\n# a\n```\n\n| a |\n|---|\n| b |\n"
    assert rows(tmp_path / "1", content.replace("\n", end)) == rows(tmp_path / "2", content)


def test_other_separators_of_unicode_end_no_line(tmp_path: Path) -> None:
    content = "# One\n\na\u2028b\x0bc\x0cd\u0085e\n\n# Two\n\ntext\n"
    assert [row.text for row in rows(tmp_path, content)] == ["a\u2028b\x0bc\x0cd\u0085e", "text"]


def test_a_byte_order_mark_is_no_text(tmp_path: Path) -> None:
    assert brief(rows(tmp_path, "\ufeff# One\n\ntext")) == [("a#one", "One", "text")]


def test_a_heading_without_text_is_reported_unless_headings_below_have_some(tmp_path: Path) -> None:
    found = harvest(folder(tmp_path, a="# Over\n\n## Empty\n\n## Full\n\ntext\n\n## Last\n"))
    assert [row.id for row in found.rows] == ["a#over/full"]
    assert found.notes == [
        "a.md, line 3: heading without text, no row",
        "a.md, line 9: heading without text, no row",
    ]


def test_a_title_is_plain_text(tmp_path: Path) -> None:
    content = "# `GET /x/{id}` and *more* of [it](http://a) &amp; \\# {#own}\n\ntext\n\n##\n\nmore\n"
    assert [row.title for row in rows(tmp_path, content)] == ["GET /x/{id} and more of it & #", "Untitled"]


@pytest.mark.parametrize("title", ["GET /x/{id}", "The empty set {}", "Template {% block %}", "Set {x, y}"])
def test_braces_of_the_title_itself_stay(tmp_path: Path, title: str) -> None:
    assert rows(tmp_path, f"# {title}\n\ntext\n")[0].title == title


# Rule 3: splitting

LONG = "\n\n".join(
    [
        "A paragraph " + "of words " * 6,
        "```\nfence\n\n# with a blank line\n\nand more\n```",
        "| a | b |\n|---|---|\n| c | d |",
        "- item\n\n  in two paragraphs\n- item",
        "> quote\n>\n> more",
        "<div>\n\nhtml</div>",
        "[link]: http://example.org",
        "    code\n\n    after a blank line",
        "Last.",
    ]
)


@pytest.mark.parametrize("most", [1, 20, 60, 100, 150, 10_000])
def test_a_long_section_is_split_between_blocks(tmp_path: Path, most: int) -> None:
    [whole] = rows(tmp_path / "whole", f"# T\n\n{LONG}\n", max_characters=10_000)
    parts = rows(tmp_path / "parts", f"# T\n\n{LONG}\n", max_characters=most)
    assert "\n\n".join(part.text for part in parts) == whole.text
    assert [part.id for part in parts] == ["a#t", *(f"a#t:{n}" for n in range(2, len(parts) + 1))]
    assert {part.title for part in parts} == {"T"}
    for part in parts:
        assert len(part.text) <= most or blocks(part.text) == 1
        assert part.text.count("```") % 2 == 0
        assert part.text.startswith("| a") or "| c | d |" not in part.text or "| a | b |" in part.text


def blocks(text: str) -> int:
    tokens = MarkdownIt("commonmark").enable("table").parse(text)
    return sum(token.level == 0 and token.nesting >= 0 for token in tokens)


BLOCK = st.sampled_from(
    [
        "word " * 5,
        "```\n# a\n\n\nb\n```",
        "~~~\n```\n~~~",
        "| a |\n|---|\n| b |",
        "- a\n- b\n\n  c",
        "1. a\n   ```\n   x\n\n   y\n   ```",
        "> a\n> b",
        "***",
        "    code\n\n    code",
        "line\nline",
        "<p>\nhtml\n</p>",
        "[x]: http://a",
        "| no table",
    ]
)
HEADING = st.sampled_from(["# One", "## Two", "## Two", "### Three {#own}", "Set\n---", "#"])


@given(
    st.lists(st.one_of(BLOCK, HEADING), min_size=1, max_size=12),
    st.integers(1, 80),
    st.sampled_from(["\n", "\n\n"]),
)
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=100)
def test_every_line_that_is_no_heading_is_in_a_section_once_and_in_order(
    tmp_path: Path, pieces: list[str], most: int, between: str
) -> None:
    content = between.join(pieces)
    _, sections = document(folder(tmp_path, a=content) / "a.md", "a.md")
    kept = [line for section in sections for block in section.blocks for line in block.split("\n")]
    headings = {
        number
        for token in MarkdownIt("commonmark").enable("table").parse(content)
        if token.type == "heading_open" and token.level == 0 and token.map
        for number in range(*token.map)
    }
    others = [line for number, line in enumerate(content.split("\n")) if number not in headings]
    assert [line.rstrip() for line in kept if line.strip()] == [
        line.rstrip() for line in others if line.strip()
    ]
    for section in sections:
        if section.blocks:
            assert "\n\n".join(documents._parts(section.blocks, most)) == "\n\n".join(section.blocks)


# Rules 4 and 6: source, sourceId, derived_from


def test_source_and_source_id_are_the_files_unless_it_says_otherwise(tmp_path: Path) -> None:
    found = harvest(
        folder(
            tmp_path,
            x__a="# A\n\ntext",
            x__b='---\nsource: doc\nsourceId: b.pdf\n---\n# A\n\ntext\n\n# B {sourceId="c.pdf"}\n\ntext',
        )
    )
    assert [(row.source, row.source_id) for row in found.rows] == [
        ("x/a", "x/a.md"),
        ("doc", "b.pdf"),
        ("doc", "c.pdf"),
    ]


@pytest.mark.parametrize("value", ["no", "1984", "1.10", "2024-13-45", "0x1F", "!!int ''", "'null'"])
def test_front_matter_is_taken_as_it_is_written(tmp_path: Path, value: str) -> None:
    found = rows(tmp_path, f"---\ntitle: {value}\n---\ntext")
    assert found[0].title == {"!!int ''": "a", "'null'": "null"}.get(value, value)


def test_other_names_in_front_matter_are_left_to_other_tools(tmp_path: Path) -> None:
    assert rows(tmp_path, "---\ntags: [a, b]\ndraft: {x: 1}\n---\ntext")[0].id == "a"
    assert rows(tmp_path, "---\n---\ntext")[0].id == "a"


@pytest.mark.parametrize(
    ("front", "reason"),
    [
        ("title: [a]", "title is no text"),
        ("source: {a: b}", "source is no text"),
        ("- a", "no mapping"),
        ("text", "no mapping"),
        ("a: [", "no YAML"),
        ("a: *unknown", "no YAML"),
        ("a: &x [*x]", "no YAML"),
        ("[" * 1500, "no YAML"),
        ('title: "\\0"', "title holds a NUL character"),
        ('title: "\\ud800"', "title holds a lone surrogate"),
        ("title: ' '", "title is blank"),
        (f"source: {'x' * 5000}", "source has 5000 characters"),
    ],
)
def test_front_matter_that_cannot_be_followed_is_refused(tmp_path: Path, front: str, reason: str) -> None:
    assert reason in refusal(tmp_path, f"---\n{front}\n---\ntext")


def test_derived_from_is_a_digest(tmp_path: Path) -> None:
    digest = sha256_text("x")
    assert rows(tmp_path, f'# A {{derived_from="{digest}"}}\n\ntext')[0].derived_from == digest
    assert "a.md, line 1: derived_from is not 64" in refusal(tmp_path, '# A {derived_from="abc"}\n\ntext')


@pytest.mark.parametrize(
    ("heading", "reason"),
    [
        ("{#a/b}", "heading attributes"),
        ("{weight=3}", "unknown heading attribute weight"),
        ("{#own}\n\n# Next", "has an id but no text"),
    ],
)
def test_heading_attributes_that_cannot_be_followed_are_refused(
    tmp_path: Path, heading: str, reason: str
) -> None:
    assert reason in refusal(tmp_path, f"# Title {heading}\n\n" + ("" if "Next" in heading else "text"))


# Rule 5: ids


def test_ids_follow_the_headings_above(tmp_path: Path) -> None:
    content = (
        "# A b\n\nx\n\n## Ü!\n\nx\n\n# A b\n\nx\n\n## Ü!\n\nx\n\n## C {#own}\n\nx\n\n## D {#doc:1}\n\nx\n"
    )
    assert [row.id for row in rows(tmp_path, content)] == [
        "a#a-b",
        "a#a-b/ü",
        "a#a-b-2",
        "a#a-b/ü-2",
        "a#own",
        "doc:1",
    ]


@pytest.mark.parametrize(
    ("title", "expected"),
    [
        ("A  b--C", "a-b-c"),
        ("中文 合約", "中文-合約"),
        ("हिन्दी", "हिन्दी"),
        ("e\u0301", "é"),
        ("!?", "section"),
        ("İ", "i\u0307"),
    ],
)
def test_a_slug_keeps_the_letters_of_every_script(title: str, expected: str) -> None:
    assert slug(title) == expected


HEADINGS = st.sampled_from(["# A", "## A", "## B", "### A"])
BODIES = st.sampled_from(["", "x", "long " * 30])


@given(st.lists(st.tuples(HEADINGS, BODIES, BODIES), min_size=2, max_size=7))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=100)
def test_an_id_never_changes_with_a_neighbours_text(
    tmp_path: Path, sections: list[tuple[str, str, str]]
) -> None:
    last = ("# Z", "z")
    before = ids_by_line(tmp_path / "1", [*((heading, text) for heading, text, _ in sections), last])
    after = ids_by_line(tmp_path / "2", [*((heading, text) for heading, _, text in sections), last])
    for number in before.keys() & after.keys():
        assert before[number] == after[number]


def ids_by_line(tmp_path: Path, sections: list[tuple[str, str]]) -> dict[int, str]:
    """Number of each section that has text → its id."""
    marked = [(heading, text and f"<{number}> {text}") for number, (heading, text) in enumerate(sections)]
    found = rows(tmp_path, "\n\n".join(f"{heading}\n\n{text}" for heading, text in marked))
    return {int(row.text[1 : row.text.index(">")]): row.id for row in found}


def test_two_sections_that_ask_for_one_id_are_refused_with_both_places(tmp_path: Path) -> None:
    message = refusal(tmp_path, "# A {#x}\n\ntext\n\n# B {#x}\n\ntext")
    assert "a.md, line 5: id 'a#x' stands already at a.md, line 1" in message
    assert "a#step-2" in refusal(tmp_path, "# Step\n\nx\n\n# Step\n\nx\n\n# Step 2\n\nx")


# Bad input


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"\xff", "not UTF-8"),
        (b"a\0b", "holds a NUL character"),
        (b"x" * 130_000, "text has 130000 characters"),
    ],
)
def test_a_document_that_makes_no_admissible_row_is_refused_by_name(
    tmp_path: Path, content: bytes, reason: str
) -> None:
    assert reason in refusal(tmp_path, content)


def test_a_file_name_that_is_no_unicode_is_refused(tmp_path: Path) -> None:
    docs = folder(tmp_path, a="text")
    try:
        Path(os.fsdecode(os.fsencode(docs) + b"/\xff.md")).write_text("text")
    except OSError:
        pytest.skip("this file system takes no such name")
    with pytest.raises(CorpusIntegrityError, match="id holds a lone surrogate"):
        harvest(docs)


@given(st.text(st.characters(exclude_categories=["Cs"]), max_size=300))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=150)
def test_whatever_is_harvested_is_admitted(tmp_path: Path, content: str) -> None:
    try:
        found = harvest(folder(tmp_path, a=content))
    except CorpusIntegrityError:
        return
    path = tmp_path / "projection.jsonl"
    path.write_text("".join(map(projection_line, found.rows)), encoding="utf-8", newline="\n")
    assert admit(path)[0] == found.rows


def test_a_heading_of_many_blanks_and_braces_takes_no_quadratic_time(tmp_path: Path) -> None:
    start = time.process_time()
    [found] = rows(tmp_path, "# a" + " " * 200_000 + "b " + "{" * 5_000 + "\n\ntext")
    assert found.title == "a b " + "{" * 5_000
    assert time.process_time() - start < 5


def test_the_check_of_rows_is_what_refuses_them(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    refusal(tmp_path, '---\ntitle: "\\0"\n---\ntext')
    monkeypatch.setattr(documents, "_fault", lambda row: None)
    assert harvest(tmp_path / "docs").rows[0].title == "\0"
