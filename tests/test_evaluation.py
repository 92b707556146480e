"""The measure: known figures on a collection small enough to work out by hand."""

import json
from pathlib import Path

import pytest
from conftest import shared

from secondbrain.cli import main
from secondbrain.errors import CorpusIntegrityError
from secondbrain.evaluation import beir
from secondbrain.evaluation.chart import bars, svg

DOCUMENTS = [
    {"_id": "d1", "title": "", "text": "alpha beta"},
    {"_id": "d2", "title": "Gamma", "text": ""},
    {"_id": "d3", "title": "", "text": "alpha alpha delta"},
]
QUERIES = [{"_id": "q1", "text": "beta"}, {"_id": "q2", "text": "alpha"}, {"_id": "q3", "text": "x" * 2001}]
QRELS = "query-id\tcorpus-id\tscore\nq1\td1\t1\nq2\td1\t1\nq3\td2\t1\n"


@pytest.fixture
def collection(tmp_path: Path) -> tuple[str, str, str]:
    """A collection of three documents and three queries, as files."""
    paths = [tmp_path / name for name in ("corpus.jsonl", "queries.jsonl", "qrels.tsv")]
    paths[0].write_text("".join(json.dumps(one) + "\n" for one in DOCUMENTS), encoding="utf-8")
    paths[1].write_text("".join(json.dumps(one) + "\n" for one in QUERIES), encoding="utf-8")
    paths[2].write_text(QRELS, encoding="utf-8")
    return str(paths[0]), str(paths[1]), str(paths[2])


def run(*arguments: str) -> int:
    with pytest.raises(SystemExit) as left:
        main(["eval", *arguments])
    return int(left.value.code or 0)


def test_figures_are_those_worked_out_by_hand(
    collection: tuple[str, str, str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(*collection, "--json") == 0
    result = json.loads(capsys.readouterr().out)
    # q1 finds d1 first: 1. q2 finds d3 before d1: 1/log2(3) and 1/2. q3 is refused: nothing found.
    assert result["measures"]["nDCG@10"] == pytest.approx((1 + 0.6309297535714575 + 0) / 3)
    assert result["measures"]["MRR@10"] == pytest.approx((1 + 0.5 + 0) / 3)
    assert result["measures"]["recall@100"] == pytest.approx(2 / 3)
    assert (result["queries"], result["documents"], result["refused"]) == (3, 3, 1)


def test_run_file_and_chart_are_written(
    collection: tuple[str, str, str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run_file, chart = tmp_path / "run.txt", tmp_path / "chart.svg"
    assert run(*collection, "--run", str(run_file), "--chart", str(chart)) == 0
    assert "nDCG@10, worst to best: ▁" in capsys.readouterr().out
    lines = run_file.read_text(encoding="utf-8").splitlines()
    assert lines[0].startswith("q1 Q0 d1 1 ")
    assert [line.split()[:4] for line in lines[1:]] == [["q2", "Q0", "d3", "1"], ["q2", "Q0", "d1", "2"]]
    assert chart.read_text(encoding="utf-8").count("<rect ") == 3


def test_what_context_gives_is_measured_after_diversity_and_abstention(
    collection: tuple[str, str, str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(*collection, "--context", "--json") == 0
    result = json.loads(capsys.readouterr().out)
    assert result["measured"] == "CONTEXT"
    assert result["measures"]["MRR@10"] == pytest.approx(0.5)


def test_a_database_that_is_there_is_used(
    collection: tuple[str, str, str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    projection, database = tmp_path / "p.jsonl", tmp_path / "p.db"
    from secondbrain.projection.admission import projection_line
    from secondbrain.store.build import build

    projection.write_text(
        "".join(map(projection_line, beir.documents(Path(collection[0])))), encoding="utf-8"
    )
    built = build(projection, database)
    assert run(*collection, "--store", str(database), "--json") == 0
    assert json.loads(capsys.readouterr().out)["generation_sha256"] == built.generation_sha256


@pytest.mark.parametrize(
    ("name", "content", "says"),
    [
        ("qrels.tsv", "q1 d1 1\n", "line 1: no judgement"),
        ("qrels.tsv", "query-id\tcorpus-id\tscore\n", "no judgements"),
        ("queries.jsonl", "[1]\n", "line 1: no JSON object"),
        ("queries.jsonl", "{\n", "line 1: no JSON object"),
        ("corpus.jsonl", '{"_id": 7}\n', "_id is no text"),
    ],
)
def test_a_broken_collection_is_refused_by_file_and_line(
    collection: tuple[str, str, str], tmp_path: Path, name: str, content: str, says: str,
    capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    (tmp_path / name).write_text(content, encoding="utf-8")
    assert run(*collection) == 1
    assert says in capsys.readouterr().err


def test_other_encodings_and_missing_files_are_refused(tmp_path: Path) -> None:
    (tmp_path / "latin.tsv").write_bytes("é".encode("latin-1"))
    for name, says in (("latin.tsv", "UTF-8"), ("nowhere.tsv", "cannot be read")):
        with pytest.raises(CorpusIntegrityError, match=says):
            beir.judgements(tmp_path / name)


def test_other_line_separators_of_unicode_stand_inside_a_text(tmp_path: Path) -> None:
    path = tmp_path / "corpus.jsonl"
    path.write_text('{"_id": "a", "text": "one\u2028two\u0085three"}\r\n', encoding="utf-8")
    assert [row.text for row in beir.documents(path)] == ["one\u2028two\u0085three"]


def test_bars_and_chart_show_every_query() -> None:
    assert bars({"a": 0.0, "b": 1.0, "c": 0.5}) == "▁▅█"
    assert "mean 0.500" in svg({"a": 0.0, "b": 1.0}, "<x>")
    assert "&lt;x&gt;" in svg({"a": 0.0, "b": 1.0}, "<x>")


FLOORS = {
    "scifact": 0.69, "gorilla-hf-torch": 0.247, "xquad-en": 0.965, "xquad-zh": 0.96, "jsquad-valid-ja": 0.945,
    "xquad-th": 0.95, "xquad-ar": 0.935, "xquad-de": 0.92, "xquad-ru": 0.95, "xquad-vi": 0.945,
}  # fmt: skip
"""nDCG@10 that each public collection reaches with the one configuration."""


@pytest.mark.slow
@pytest.mark.parametrize("name", FLOORS)
def test_every_script_is_found(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    folder = shared("collections", name)
    assert (
        run(*(str(folder / part) for part in ("corpus.jsonl", "queries.jsonl", "qrels.tsv")), "--json") == 0
    )
    value = json.loads(capsys.readouterr().out)["measures"]["nDCG@10"]
    with capsys.disabled():
        print(f"\n{name}: nDCG@10 {value:.4f}, floor {FLOORS[name]}")
    assert value >= FLOORS[name]
