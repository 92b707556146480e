"""README sections: what is a heading, where a section lies, and how little of it is kept."""

import hashlib
import re

import pytest
from discovery_payloads import ANATOMY, KERNELS, payload, payloads, upstream_folder
from hypothesis import example, given
from hypothesis import strategies as st

from secondbrain.discovery.extract import extract
from secondbrain.discovery.identity import ids_of
from secondbrain.discovery.telling_words import telling_words
from secondbrain.errors import FrontierIntegrityError

TRICKY = """---
title: Not a heading
# nor this
---

Before the first heading.

# Top `code` *here*

<!--
# commented

## commented too
-->

```bash
# a remark in a fence
```

    # indented code

> # quoted

- # in a list

Setext
------

Part of it, see [one](https://one.example/a), <https://two.example>, [three](docs/three.md),
![picture](https://picture.example/x.png) and <a href="https://four.example/b">four</a>.

#no heading

## Last ##
"""


def paths(rows):
    return [row["content"].split("\n")[0] for row in rows]


def test_headings_in_fences_comments_quotes_lists_and_front_matter_are_none():
    assert paths(extract(payload(ANATOMY, TRICKY.encode()))) == [
        "Heading path: []",
        'Heading path: ["Top code here"]',
        'Heading path: ["Top code here","Setext"]',
        'Heading path: ["Top code here","Last"]',
    ]


def test_front_matter_belongs_to_no_section():
    first = extract(payload(ANATOMY, TRICKY.encode()))[0]
    assert first["title"] == "Living Anatomy · Living Anatomy"
    assert "Lines: 5-7" in first["content"]


def test_only_the_hosts_of_links_are_kept():
    section = extract(payload(ANATOMY, TRICKY.encode()))[2]
    assert "Link hosts: four.example, one.example, two.example\n" in section["content"]


@pytest.mark.parametrize("newline", ["\n", "\r\n", "\r"])
def test_lines_and_bytes_cut_out_exactly_what_the_digest_is_over(newline):
    data = TRICKY.replace("\n", newline).encode()
    ends = re.compile(rb"[^\r\n]*(?:\r\n|\r|\n)").findall(data)
    covered = 0
    for row in extract(payload(ANATOMY, data)):
        said = dict(line.split(": ", 1) for line in row["content"].split("\n"))
        first, end = map(int, said["Bytes"].split("-"))
        assert hashlib.sha256(data[first:end]).hexdigest() == said["Section SHA-256"]
        first_line, last_line = map(int, said["Lines"].split("-"))
        assert b"".join(ends[first_line - 1 : last_line]) == data[first:end]
        covered += end - first
    assert covered == len(data) - len("".join(TRICKY.splitlines(keepends=True)[:4]).replace("\n", newline))


def test_without_excerpts_no_two_words_of_a_section_stand_together():
    readme = b"# Title\n\nAlpha betaword gammaword deltaword.\n"
    content = extract(payload(ANATOMY, readme))[0]["content"]
    assert "Telling words: alpha betaword deltaword gammaword title" in content
    assert "betaword gammaword" not in content


def test_no_sentence_of_the_real_readmes_is_kept(tmp_path):
    upstream = upstream_folder(tmp_path) / "payloads"
    word = re.compile(r"[^\W\d_]+")
    for source_id in ("ouroboros_runtime", KERNELS, ANATOMY, "nemo_witness"):
        data = (upstream / f"{source_id}.payload").read_bytes()
        prose = [line for line in data.decode().splitlines() if not line.lstrip().startswith(("#", "|"))]
        words = word.findall(" ".join(prose).casefold())
        runs = {" ".join(words[n : n + 5]) for n in range(len(words))}
        for row in extract(payload(source_id, data)):
            kept = row["content"].split("\n")[4 if row["source_kind"] == "truth-card" else 2 :]
            said = word.findall(" ".join(kept).casefold())
            assert not runs & {" ".join(said[n : n + 5]) for n in range(len(said) - 4)}


def test_bounded_excerpts_keep_at_most_1600_characters():
    readme = b"# Title\n\n" + "Wörter ".encode() * 1000
    bounded = extract(payload(ANATOMY, readme, excerpt="bounded"))[0]["content"]
    facts, excerpt = bounded.split("\n\n", 1)
    assert excerpt.startswith("# Title\n\nWörter")
    assert len(excerpt) == 1600
    assert facts == extract(payload(ANATOMY, readme))[0]["content"]


def test_excerpts_do_not_change_ids():
    plain, bounded = (extract(payload(KERNELS, excerpt=excerpt)) for excerpt in ("none", "bounded"))
    assert [row["id"] for row in plain] == [row["id"] for row in bounded]


def test_each_line_of_a_truth_card_table_is_a_row_and_other_tables_are_not():
    cards = [row for row in extract(payload(KERNELS)) if row["source_kind"] == "truth-card"]
    assert [row["title"] for row in cards] == [
        "Governed Kernel Suite · Truth card · Weights",
        "Governed Kernel Suite · Truth card · Software",
    ]
    data = payloads()[KERNELS]
    for row, line in zip(
        cards, (b"| Weights | none at all |\n", b"| Software | tests that ran |\n"), strict=True
    ):
        assert f"Row SHA-256: {hashlib.sha256(line).hexdigest()}" in row["content"]
        first, end = map(int, re.search(r"Bytes: (\d+)-(\d+)", row["content"]).groups())
        assert data[first:end] == line


def test_truth_cards_are_read_where_the_contract_says_so():
    rows = extract(payload(KERNELS, truth_cards=False))
    assert {row["source_kind"] for row in rows} == {"source-document"}


def test_truth_card_rows_of_one_name_are_told_apart():
    readme = payloads()[KERNELS].replace(b"| Software |", b"| Weights |")
    ids = [row["id"] for row in extract(payload(KERNELS, readme))]
    assert len(set(ids)) == len(ids)


@pytest.mark.parametrize("heading", ["", "`x`\u202e", "a: b\\", "Row: 1", "\N{SHIELD}\ufe0f"])
def test_odd_headings_still_name_their_row(heading):
    readme = f"# {heading}\n\n## Below\n".encode()
    rows = extract(payload(ANATOMY, readme))
    assert len(rows) == 2
    assert all("\u202e" not in row["title"] for row in rows)


def test_a_broken_link_is_no_reason_to_stop():
    readme = b"# T\n\n[a](http://[broken/) [b](//under_score.example) [c](mailto:x@example.org)\n"
    assert "Link hosts: none" in extract(payload(ANATOMY, readme))[0]["content"]


def test_a_readme_without_headings_is_one_section():
    rows = extract(payload(ANATOMY, b"Only text.\n"))
    assert paths(rows) == ["Heading path: []"]


@pytest.mark.parametrize("data", [b"\n\n", b"---\na: b\n---\n", b"\xff"])
def test_a_readme_that_says_nothing_is_refused(data):
    with pytest.raises(FrontierIntegrityError, match="living_anatomy"):
        extract(payload(ANATOMY, data))


HEADINGS = ["# a", "## a", "---", "===", "> # q", "- # l"]
HIDING = ["```", "<!--", "-->", "<p>", "</p>", "    "]
TEXT = ["text ", "[x](http://a.example)", "é"]
PIECES = st.sampled_from(
    [
        *HEADINGS,
        *HIDING,
        *TEXT,
        "| a | b |",
        "|---|---|",
        "\n",
        "\n\n",
        "\r\n",
        "\r",
        "\t",
        "\u2028",
        "\x0c",
        "\0",
    ]
)


@given(st.lists(PIECES, max_size=40))
@example(["---", "\n", "# a", "\n", "---", "\n", "# a", "\n", "# a"])
def test_whatever_a_readme_holds_its_sections_are_cut_exactly(pieces):
    data = "".join(pieces).encode()
    try:
        rows = extract(payload(KERNELS, data or b"\n"))
    except FrontierIntegrityError:
        assert not any(piece in ("# a", "text ", "é") for piece in pieces[:1]), "there is a section"
        return
    end_before = None
    for row in rows:
        if row["source_kind"] == "source-document":
            first, end = map(int, re.search(r"\nBytes: (\d+)-(\d+)\n", row["content"]).groups())
            assert end_before in (None, first)
            assert f"Section SHA-256: {hashlib.sha256(data[first:end]).hexdigest()}" in row["content"]
            end_before = end
        assert row["id"] in ids_of(row)
    assert end_before == len(data)


def test_telling_words_prefer_words_that_other_sections_lack():
    words = ["common", "common", "rare", "this", "this", "this"]
    assert telling_words(words, {"common": 8, "rare": 1, "this": 1}) == ["rare", "common"]
