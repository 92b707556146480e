"""Proves on an installed wheel, outside any checkout, what the package promises. Prints a line a proof.

Usage: prove_installed.py CHECKOUT MANIFEST — the checkout must not be on the path; the manifest states the
projection that the wheel must carry.
"""

import json
import shutil
import subprocess
import sys
import tempfile
from importlib.metadata import distribution
from pathlib import Path

SEARCHES = {
    "receipt chain recomputes over its own tail": "invariant:receipt-chain-continuity",
    "half-signed ledger row": "invariant:signed-columns-atomic",
    "flywheel own verified tail": "invariant:flywheel-lineage",
    "Conjecture Factory batch counts": "invariant:factory-batch-integrity",
    "KEY_ROTATED signed receipt": "invariant:receipt-ed25519-verify",
    "JEPA analogy latent verification coverage": "invariant:latent-verification-coverage",
    "failed run claims a serving provider": "invariant:ledger-failure-shape",
    "BM25S eager scoring": "ingest:bm25s:000",
    "uniform weight vector probability III.4c": "formula:blk-390c45ade8d2",
    "AUR packages block": "doc:data-surfaces:0034",
}
"""Query → a node that must stand among its first six handles."""


def say(proof: str) -> None:
    print(f"proved: {proof}")


def main(checkout: Path, manifest_file: Path) -> None:
    assert not any(Path(entry).resolve().is_relative_to(checkout) for entry in sys.path if entry), sys.path
    import second_brain
    import secondbrain

    assert not Path(secondbrain.__file__).resolve().is_relative_to(checkout)
    say("nothing of the checkout is on the path")

    manifest = json.loads(manifest_file.read_text(encoding="utf-8"))
    files = [str(file) for file in distribution("szl-second-brain").files or []]
    tops = {file.split("/")[0] for file in files if not file.startswith("..")}
    tops = {top for top in tops if not top.endswith(".dist-info") and top != "__pycache__"}
    assert tops == {"secondbrain", "second_brain.py"}, tops
    for part in ("data/second-brain.db", "data/second-brain.db.sha256", "sql/read/bm25.sql"):
        assert f"secondbrain/{part}" in files, part
    for folder in ("migrations", "frontier"):
        assert any(file.startswith(f"secondbrain/{folder}/") for file in files), folder
    for name in secondbrain.wire.PAYLOADS:
        schema = Path(secondbrain.__file__).parent / "data" / "schemas" / f"{name.replace('/', '.')}.json"
        assert json.loads(schema.read_text(encoding="utf-8"))["$id"] == f"urn:{name}"
    say("the wheel holds the database, sql/, migrations/, frontier/, schemas, and nothing else at its top")

    status = secondbrain.status()
    assert status["ready"]
    assert status["corpus_n"] == manifest["rows"] == 575, status
    assert status["generation_sha256"] == manifest["generation_sha256"]
    assert secondbrain.index()["sources"] == manifest["sources"]
    say(
        f"{status['corpus_n']} chunks of generation {status['generation_sha256'][:12]}, {status['integrity']}"
    )

    brain = secondbrain.HybridSecondBrain()
    for query, node_id in SEARCHES.items():
        found = [handle["nodeId"] for handle in brain.context(query)["handles"]]
        assert node_id in found, (query, found)
    say(f"{len(SEARCHES)} searches")

    context = second_brain.HybridSecondBrain().context("locked formula authority", k=6)
    hydrated = second_brain.AuthorizedHydrator(lambda *a: True).hydrate(
        context["handles"], principal_id="principal-123", tenant_id="tenant-abc", policy_revision="a" * 40
    )
    assert hydrated["evidence_set_sha256"] == context["evidence_set_sha256"]
    try:
        second_brain.AuthorizedHydrator(lambda *a: False).hydrate(
            context["handles"], principal_id="principal-123", tenant_id="tenant-abc", policy_revision="a" * 40
        )
    except second_brain.HydrationDenied:
        say("hydration: the evidence set is the context's; a denial releases nothing")

    prove_frontier(second_brain)
    prove_command_line(status)


def prove_frontier(second_brain) -> None:
    state = second_brain.frontier_status()
    assert state["ready"], state
    counts = state["source_kind_counts"]
    assert counts["attributed-formula"] == 30
    assert counts["executable-formula"] == 21
    assert counts["quant-domain"] == 9
    assert counts["formula-authority"] == 1
    assert state["source_count"] == len(state["sources"]) == 7
    assert (counts["truth-card"], counts["estate-surface"], counts["controller-contract"]) == (4, 7, 5)
    assert second_brain.status()["candidate_set_sha256"] == state["candidate_set_sha256"]
    review = second_brain.frontier_search("formula quant anatomy ouroboros", k=12)
    content = second_brain.AuthorizedFrontierHydrator(lambda *a: True).hydrate(
        review["handles"],
        principal_id="reviewer-123",
        tenant_id="tenant-abc",
        policy_revision="sha256:" + "b" * 64,
    )
    assert content["evidence_set_sha256"] == review["evidence_set_sha256"]
    assert len(content["documents"]) == len(review["handles"]) > 0
    assert second_brain.anatomy_feed()["handles"]
    say(f"frontier: {state['candidate_count']} candidates, {counts}; search, feed, hydration")


def prove_command_line(status) -> None:
    command = str(Path(sys.executable).parent / "secondbrain")

    def run(*arguments: str) -> str:
        return subprocess.run([command, *arguments], check=True, capture_output=True, text=True).stdout

    assert json.loads(run("status", "--json")) == status
    assert "checks hold" in run("verify")
    path = Path(run("path").strip())
    with tempfile.TemporaryDirectory() as folder:
        exported = Path(folder) / "projection.jsonl"
        assert '"generation_parity":true' in run("corpus", "export", "-o", str(exported), "--json")
        read_only = Path(folder) / "read-only"
        read_only.mkdir()
        for file in (path, path.with_name(path.name + ".sha256")):
            shutil.copy(file, read_only)
        read_only.chmod(0o555)
        assert "checks hold" in run("verify", str(read_only / path.name))
        read_only.chmod(0o755)
    say("command line: status, verify, export with the generation's digest, a read-only folder")

    shell = shutil.which("sqlite3")
    assert shell, "the sqlite3 shell is not installed"
    query = "SELECT count(*) FROM chunk_handle; SELECT count(*) > 0 FROM search WHERE query MATCH 'lambda'"
    out = subprocess.run(
        [shell, "-readonly", str(path), query], check=True, capture_output=True, text=True
    ).stdout
    assert out.split() == ["575", "1"], out
    say("the sqlite3 shell reads it")


if __name__ == "__main__":
    main(Path(sys.argv[1]).resolve(), Path(sys.argv[2]))
