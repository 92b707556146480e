"""The build: the same input gives the same file everywhere; what is in it; what bounds it."""

import json
import os
import re
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest
from conftest import ROOT, ROWS, row, write_projection
from hypothesis import given
from hypothesis import strategies as st

from secondbrain.digests import canonical_json, canonical_lines_sha256, sha256_bytes, sha256_file
from secondbrain.errors import CorpusIntegrityError, FrontierIntegrityError
from secondbrain.store import schema
from secondbrain.store.build import Built, build
from secondbrain.store.opened import Store, open_snapshot
from secondbrain.store.sidecar import read_sidecar
from secondbrain.store.verify import verify_file

FRONTIER = ROOT / "frontier"
BUILD = """
import sys
from pathlib import Path
from secondbrain.store.build import build
projection, out = map(Path, sys.argv[1:])
print(build(projection, out).file_sha256)
"""


@pytest.fixture
def projection(tmp_path: Path) -> Path:
    return write_projection(tmp_path / "p.jsonl", ROWS)


def built_elsewhere(projection: Path, out: Path, **environment: str) -> str:
    done = subprocess.run(
        [sys.executable, "-c", BUILD, str(projection), str(out)],
        env={"PYTHONPATH": str(ROOT), "PATH": os.environ["PATH"], **environment},
        cwd=out.parent,
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout.strip()


def test_the_same_projection_gives_the_same_bytes_in_any_process_folder_and_time_zone(
    tmp_path: Path, projection: Path
) -> None:
    (tmp_path / "another folder").mkdir()
    here = build(projection, tmp_path / "store.db")
    there = built_elsewhere(
        projection,
        tmp_path / "another folder" / "other.db",
        PYTHONHASHSEED="7",
        TZ="Pacific/Auckland",
        LC_ALL="C",
    )
    later = built_elsewhere(projection, tmp_path / "again.db", PYTHONHASHSEED="8", TZ="UTC", PYTHONUTF8="0")
    assert here.file_sha256 == there == later == sha256_file(tmp_path / "another folder" / "other.db")


def test_a_file_holds_no_clock_no_path_and_no_name_of_the_machine(tmp_path: Path, projection: Path) -> None:
    content = build(projection, tmp_path / "unusual-name.db").path.read_bytes()
    for trace in (
        b"unusual-name",
        os.fsencode(tmp_path),
        os.uname().nodename.encode(),
        b"_sqlite_migrations",
    ):
        assert trace not in content
    assert re.search(rb"20[23][0-9]-[01][0-9]-[0-3][0-9]", content) is None


def test_the_order_of_rows_changes_the_generation_and_their_places_alone(
    tmp_path: Path, projection: Path
) -> None:
    """Ordinals follow the ids: the index is the same whatever the order of the file."""
    there = write_projection(tmp_path / "reversed.jsonl", reversed(ROWS))
    one, other = build(projection, tmp_path / "1.db"), build(there, tmp_path / "2.db")
    assert one.generation_sha256 != other.generation_sha256
    assert one.rows_sha256 != other.rows_sha256
    assert one.index_sha256 == other.index_sha256


def test_digests_are_of_what_they_say(tmp_path: Path, projection: Path) -> None:
    built = build(projection, tmp_path / "store.db")
    assert built.generation_sha256 == sha256_bytes(projection.read_bytes())
    assert built.file_sha256 == sha256_bytes(built.path.read_bytes())
    assert read_sidecar(built.path) == [built.file_sha256]
    ordered = sorted(range(len(ROWS)), key=lambda position: ROWS[position]["id"])
    assert built.rows_sha256 == canonical_lines_sha256(
        {"ordinal": ordinal, "position": position, "derived_from": None, **ROWS[position]}
        for ordinal, position in enumerate(ordered, 1)
    )
    renamed = build(projection.rename(tmp_path / "renamed.txt"), tmp_path / "renamed.db")
    assert renamed._replace(path=built.path) == built


def test_every_column_counts_in_the_rows_digest(tmp_path: Path) -> None:
    first = row("a:1", "One text.", title="T", source="s", derived_from="0" * 64)
    others = [
        {**first, "id": "a:2"},
        {**first, "title": "t"},
        {**first, "source": "S"},
        {**first, "sourceId": "x"},
        {**first, "derived_from": "1" * 64},
        {key: value for key, value in first.items() if key != "derived_from"},
        {key: value for key, value in first.items() if key != "sourceId"},
        row("a:1", "Another text.", title="T", source="s"),
    ]
    digests = [
        build(write_projection(tmp_path / "p.jsonl", [one]), tmp_path / "s.db").rows_sha256
        for one in (first, *others)
    ]
    assert len(set(digests)) == len(digests)


def test_ordinals_follow_the_bytes_of_ids(tmp_path: Path) -> None:
    ids = ["b", "B", "a:10", "a:9", "é", "z", "\U0001f600", "\ufb00", "a", "日本"]
    build(write_projection(tmp_path / "p.jsonl", [row(one, f"text {one}") for one in ids]), tmp_path / "s.db")
    with closing(sqlite3.connect(tmp_path / "s.db")) as connection:
        stored = connection.execute(
            "SELECT node_id, ordinal, position FROM chunk ORDER BY ordinal"
        ).fetchall()
    wanted = sorted(ids, key=lambda one: one.encode("utf-8"))
    assert stored == [(one, ordinal, ids.index(one)) for ordinal, one in enumerate(wanted, 1)]


_TEXT = st.text(
    st.characters(exclude_categories=["Cs"], exclude_characters="\0"), min_size=1, max_size=60
).filter(lambda text: text.strip())


@given(st.lists(st.tuples(_TEXT, _TEXT), min_size=1, max_size=6, unique_by=lambda one: one[0]))
def test_whatever_is_admitted_builds_verifies_and_is_stored_as_it_was(
    tmp_path_factory: pytest.TempPathFactory, pairs: list[tuple[str, str]]
) -> None:
    folder = tmp_path_factory.mktemp("any")
    rows = [row(node_id, text, title=text[:9].strip() or "t") for node_id, text in pairs]
    built = build(write_projection(folder / "p.jsonl", rows), folder / "s.db")
    assert verify_file(built.path).findings == []
    reader = Store(built.path).reader()
    texts = dict(reader.rows("read/texts_of_nodes", (json.dumps([node_id for node_id, _ in pairs]),)))
    assert texts == dict(pairs)


def test_bounds_are_those_of_admission(tmp_path: Path, projection: Path) -> None:
    out = tmp_path / "store.db"
    with pytest.raises(CorpusIntegrityError, match=r"line 6: the file has more than 5 rows \(--max-rows\)"):
        build(projection, out, max_rows=5)
    with pytest.raises(CorpusIntegrityError, match=r"larger than 300 bytes \(--max-bytes\)"):
        build(projection, out, max_bytes=300)
    assert not out.exists()
    assert build(projection, out, max_rows=6, max_bytes=projection.stat().st_size).chunks == 6


def test_a_text_at_its_bound_builds_and_verifies(tmp_path: Path) -> None:
    rows = [
        row("wide:1", "漢" * 128_000, title="語" * 8192, source="源" * 4096),
        row("i" * 512, "aB" * 64_000),
        row("thai:1", "ก" * 128_000),
        row("words:1", "x " * 63_999 + "xy"),
    ]
    built = build(write_projection(tmp_path / "p.jsonl", rows), tmp_path / "s.db")
    assert verify_file(built.path).findings == []


def test_a_missing_projection_is_refused(tmp_path: Path) -> None:
    with pytest.raises(
        CorpusIntegrityError, match=r"nothing\.jsonl: cannot be read: No such file or directory"
    ):
        build(tmp_path / "nothing.jsonl", tmp_path / "s.db")
    with pytest.raises(CorpusIntegrityError, match="cannot be read: Is a directory"):
        build(tmp_path, tmp_path / "s.db")


def test_aliases_are_built_in_after_the_given_ones_of_the_program(tmp_path: Path, projection: Path) -> None:
    aliases = tmp_path / "aliases.toml"
    aliases.write_text('[[alias]]\nterm = "RRF"\nsame_as = "reciprocal rank fusion"\nreason = "its name"\n')
    build(projection, tmp_path / "s.db", aliases=aliases)
    snapshot = open_snapshot(tmp_path / "s.db")
    assert snapshot.aliases == ((1, "Λ", "lambda"), (2, "RRF", "reciprocal rank fusion"))
    assert snapshot.aliases_sha256 != open_snapshot(build(projection, tmp_path / "n.db").path).aliases_sha256


def test_the_committed_candidate_set_is_built_in_whole(tmp_path: Path, projection: Path) -> None:
    built = build(projection, tmp_path / "s.db", frontier=FRONTIER)
    lines = (FRONTIER / "candidates.jsonl").read_bytes()
    assert built.candidates == lines.count(b"\n") > 0
    snapshot = open_snapshot(built.path)
    assert snapshot.frontier_sha256 == sha256_bytes(lines)
    from secondbrain.store.candidates import published

    rows = Store(built.path).reader().rows("read/candidates")
    assert "".join(canonical_json(published(one)) + "\n" for one in rows).encode("utf-8") == lines
    plain = build(projection, tmp_path / "plain.db")
    assert (plain.generation_sha256, plain.rows_sha256, plain.index_sha256) == (
        built.generation_sha256, built.rows_sha256, built.index_sha256,
    )  # fmt: skip


def test_a_changed_candidate_set_is_refused_and_nothing_is_built(tmp_path: Path, projection: Path) -> None:
    folder = tmp_path / "frontier"
    folder.mkdir()
    (folder / "state.json").write_bytes((FRONTIER / "state.json").read_bytes())
    lines = (FRONTIER / "candidates.jsonl").read_bytes()
    (folder / "candidates.jsonl").write_bytes(lines[: lines.rindex(b"\n", 0, -1) + 1])
    with pytest.raises(FrontierIntegrityError):
        build(projection, tmp_path / "s.db", frontier=folder)
    assert not (tmp_path / "s.db").exists()
    with pytest.raises(FrontierIntegrityError):
        build(projection, tmp_path / "s.db", frontier=tmp_path / "nothing")


def test_progress_is_told_in_order(tmp_path: Path) -> None:
    told: list[tuple[str, int, int]] = []
    rows = [row(f"a:{n:04}", f"text {n}") for n in range(2500)]
    projection = write_projection(tmp_path / "p.jsonl", rows)
    build(projection, tmp_path / "s.db", progress=lambda *step: told.append(step))
    stages = list(dict.fromkeys(stage for stage, _, _ in told))
    assert stages == ["admit", "index", "optimize", "digest", "verify"]
    assert all(0 <= done <= total for _, done, total in told if total)
    assert [done for stage, done, _ in told if stage == "index"] == [1000, 2000]


def test_the_index_is_one_optimised_segment(tmp_path: Path) -> None:
    rows = [row(f"a:{n:05}", f"text {n} of word{n % 300}") for n in range(3000)]
    build(write_projection(tmp_path / "p.jsonl", rows), tmp_path / "s.db")
    with closing(sqlite3.connect(tmp_path / "s.db")) as connection:
        segments = connection.execute("SELECT count(DISTINCT segid) FROM chunk_fts_idx").fetchone()
        assert segments == (1,)
        assert connection.execute("PRAGMA freelist_count").fetchone() == (0,)
        assert connection.execute("PRAGMA journal_mode").fetchone() == ("delete",)
        assert connection.execute("PRAGMA encoding").fetchone() == ("UTF-8",)


def test_the_schema_is_its_numbered_steps() -> None:
    numbers = [step.number for step in schema.steps()]
    assert numbers == list(range(1, len(numbers) + 1))
    assert schema.steps()[-1].name == schema.SEAL
    assert schema.schema_version() == numbers[-1]
    for step in schema.steps():
        assert len(list(schema.statements(step.sql))) == step.sql.count("\nCREATE ") + step.sql.startswith(
            "CREATE "
        )


def test_what_a_build_returns_is_what_the_file_says(tmp_path: Path, projection: Path) -> None:
    built: Built = build(projection, tmp_path / "s.db")
    snapshot = open_snapshot(built.path)
    for name in ("generation_sha256", "rows_sha256", "index_sha256", "file_sha256"):
        assert getattr(built, name) == getattr(snapshot, name)
    assert (built.chunks, built.candidates) == (snapshot.chunk_count, snapshot.candidate_count)
    assert (built.path.stat().st_mode & 0o777) == 0o644
