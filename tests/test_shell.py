"""What people see and can do in the plain sqlite3 shell: the views answer, and no row can be written."""

import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from conftest import ROWS, build_with_frontier, require_shell, row

from secondbrain.retrieval.retrieve import retrieve
from secondbrain.store.opened import Store
from secondbrain.store.verify import verify_file

pytestmark = pytest.mark.shell
TABLES = (
    "generation", "chunk", "term", "alias", "frontier_state", "frontier_source", "frontier_candidate",
    "locked_proven",
)  # fmt: skip


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build_with_frontier(tmp_path_factory.mktemp("file"))


def shell(file: Path, sql: str, *options: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        [require_shell(), "-batch", *options, str(file), sql],
        capture_output=True,
        text=True,
        check=False,
        timeout=20,
    )


def answers(file: Path, sql: str) -> list[str]:
    done = shell(file, sql, "-readonly")
    assert done.stderr == ""
    assert done.returncode == 0
    return done.stdout.splitlines()


def test_search_matches_plain_english_and_orders_by_bm25(file: Path) -> None:
    found = answers(file, "SELECT node_id FROM search WHERE query MATCH 'receipts' ORDER BY bm25, node_id")
    assert found == [handle["nodeId"] for handle in retrieve("receipts", store=Store(file))["handles"]]
    assert sorted(found) == ["doc:a:0001", "note:1"]


def test_search_gives_the_programs_scores(file: Path) -> None:
    [alone] = answers(file, "SELECT printf('%.12f', bm25) FROM search WHERE query MATCH 'conjecture'")
    assert float(alone) == pytest.approx(retrieve("conjecture", store=Store(file))["scores"][0], abs=1e-11)


def test_search_takes_the_words_of_other_scripts_as_they_are_indexed(file: Path) -> None:
    assert answers(file, "SELECT node_id FROM search WHERE query MATCH '\"中文 文 文合\"'") == ["note:2"]


def test_chunk_handle_shows_every_chunk_and_no_text(file: Path) -> None:
    shown = answers(file, "SELECT node_id, note, sha256 FROM chunk_handle")
    assert shown == [
        f"{one['id']}|{one['title']}|{one['sha256']}" for one in sorted(ROWS, key=lambda one: one["id"])
    ]
    columns = answers(file, "SELECT name FROM pragma_table_info('chunk_handle')")
    assert columns == ["node_id", "source", "source_id", "note", "sha256", "derived_from"]


def test_source_summary_counts_chunks_and_documents(file: Path) -> None:
    assert answers(file, "SELECT * FROM source_summary") == ["doc|4|4|0", "note|2|2|0"]


def test_formula_authority_states_the_locked_set_and_no_more(file: Path) -> None:
    assert answers(file, "SELECT * FROM formula_authority") == [
        "8|F1 F4 F7 F11 F12 F18 F19 F22|CONJECTURE_1|UNKNOWN_NOT_INFERRED|NONE"
    ]
    assert answers(file, "SELECT f_number FROM locked_eight") == [
        "F1",
        "F4",
        "F7",
        "F11",
        "F12",
        "F18",
        "F19",
        "F22",
    ]


def test_frontier_views_hold_candidates_under_review_only(file: Path) -> None:
    assert Store(file).snapshot().candidate_count > 0
    states = answers(file, "SELECT DISTINCT candidate_state FROM frontier_handle")
    assert states == ["DISCOVERED_REVIEW_REQUIRED"]
    domains = [line.split("|") for line in answers(file, "SELECT * FROM quant_domain")]
    assert domains
    assert all(int(candidates) > 0 for *_, candidates in domains)
    first = answers(file, "SELECT id FROM frontier_search WHERE query MATCH 'entropy' ORDER BY bm25 LIMIT 3")
    assert first
    memberships = answers(file, "SELECT DISTINCT locked_proven_membership FROM attributed_formula")
    assert memberships == ["UNKNOWN_NOT_INFERRED_FROM_REPORTED_STATUS"]


def test_every_view_answers_and_none_shows_a_text(file: Path) -> None:
    views = answers(file, "SELECT name FROM sqlite_schema WHERE type = 'view' ORDER BY name")
    assert {"chunk_handle", "search", "source_summary", "frontier_handle", "quant_domain"} <= set(views)
    for view in views:
        narrowed = {
            "search": " WHERE query MATCH 'receipt'",
            "frontier_search": " WHERE query MATCH 'entropy'",
        }
        shown = "\n".join(answers(file, f"SELECT * FROM {view}{narrowed.get(view, '')}"))
        for one in ROWS:
            assert one["text"] not in shown


@pytest.mark.parametrize("table", TABLES)
@pytest.mark.parametrize(
    "statement",
    [
        "INSERT INTO {table} SELECT * FROM {table}",
        "INSERT OR REPLACE INTO {table} SELECT * FROM {table}",
        "INSERT OR IGNORE INTO {table} SELECT * FROM {table}",
        "DELETE FROM {table}",
        "DELETE FROM {table} WHERE rowid > 0",
        "UPDATE {table} SET {column} = {column}",
        "UPDATE OR REPLACE {table} SET {column} = NULL",
    ],
)
def test_a_plain_shell_writes_no_row(file: Path, table: str, statement: str) -> None:
    before = file.read_bytes()
    [column, *_] = answers(file, f"SELECT name FROM pragma_table_info('{table}') LIMIT 1")
    if table in ("term",):  # it has no rowid
        statement = statement.replace("rowid > 0", "chunks > 0")
    done = shell(file, statement.format(table=table, column=column))
    assert done.returncode != 0
    assert "no such function: sha256" in done.stderr
    assert file.read_bytes() == before


def test_a_function_of_that_name_does_not_open_the_guards(file: Path, tmp_path: Path) -> None:
    """Whoever brings a sha256() of their own meets the refusals themselves."""
    import shutil
    import sqlite3
    from contextlib import closing

    from secondbrain.digests import sha256_text

    copy = Path(shutil.copy(file, tmp_path / "copy.db"))
    with closing(sqlite3.connect(copy)) as connection:
        connection.create_function("sha256", 1, sha256_text)
        for statement in (
            "UPDATE chunk SET title = 'x'",
            "DELETE FROM chunk",
            "INSERT OR IGNORE INTO chunk SELECT * FROM chunk",
            "UPDATE generation SET chunk_count = 1",
            "DELETE FROM term",
            "INSERT INTO alias VALUES (9, 'a', 'b', 'c')",
            "DELETE FROM locked_proven",
        ):
            with pytest.raises(sqlite3.IntegrityError):
                connection.execute(statement)
    assert copy.read_bytes() == file.read_bytes()


def test_what_a_shell_can_do_is_seen(file: Path, tmp_path: Path) -> None:
    """It can edit the index and drop a table: the digest beside the file, and the audit, see that."""
    import shutil

    copy = Path(shutil.copy(file, tmp_path / "copy.db"))
    assert shell(copy, "INSERT INTO chunk_fts (chunk_fts) VALUES ('delete-all')").returncode == 0
    assert verify_file(copy).findings
    copy = Path(shutil.copy(file, tmp_path / "copy2.db"))
    assert shell(copy, "DROP TABLE term").returncode == 0
    assert verify_file(copy).findings


def test_sha256sum_reads_the_digest_beside_the_file(file: Path) -> None:
    done = subprocess.run(
        ["sha256sum", "-c", f"{file.name}.sha256"],
        cwd=file.parent,
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stdout) == (0, f"{file.name}: OK\n")


def test_a_file_opens_in_the_shell_from_a_read_only_place(
    make_store: Callable[..., Store], tmp_path: Path
) -> None:
    store = make_store([row("a:1", "A single receipt.")])
    store.path.chmod(0o444)
    address = f"file:{store.path}?immutable=1"
    assert shell(Path(address), "SELECT count(*) FROM chunk", "-readonly").stdout == "1\n"
    assert answers(store.path, "PRAGMA integrity_check; PRAGMA journal_mode") == ["ok", "delete"]
