"""Each check that keeps an attack out is needed: taken out of a copy of the source, the attack goes through.

The attack runs twice, in a process of its own: against the wing as it is, where it must fail, and against
a copy with one check taken out, where it must succeed. So no check here is one that another covers.
"""

import json
import shutil
import subprocess
import sys

import pytest
from discovery_payloads import REPOSITORY_ROOT

# The check, where it stands, what it becomes without, and the attack that it keeps out.
CHECKS = [
    ("fetch.py", "if git_blob_id(answer.body) != blob:", "if False:", "other_bytes"),
    ("fetch.py", 'if status == "ahead":', 'if status in ("ahead", "behind"):', "old_revision"),
    ("github.py", "if len(body) > limit:", "if False:", "too_large"),
    ("github.py", "if host == API_HOST:", "if True:", "token_to_raw_host"),
    ("screen.py", "if shape.search(line):", "if False:", "hugging_face_token"),
    (
        "extract_formula_atlas.py",
        'equal(said["locked_proven_membership"], MEMBERSHIP',
        "(lambda *_: None)(0",
        "locked",
    ),
    (
        "state.py",
        'equal(row["content_sha256"], sha256_text(row["content"])',
        "(lambda *_: None)(0",
        "content",
    ),
    ("state.py", 'if row["id"] not in ids_of(checked):', "if False:", "id"),
    ("propose.py", "if standing.get(BRANCH) != main:", "if False:", "moved_main"),
    ("propose.py", "if branch in standing:", "if False:", "existing_branch"),
    ("propose.py", "if path.is_symlink():", "if False:", "symbolic_link"),
    ("git.py", "not set(changed) <= set(paths) or stored != written", "False", "filtered_files"),
]

ATTACKS = """
import json, shutil, sys, tempfile
from pathlib import Path
from discovery_payloads import *
from github_simulator import *
from secondbrain.digests import *
from secondbrain.discovery.propose import propose
from secondbrain.discovery.github import Limits
from secondbrain.discovery.refresh import refresh
from secondbrain.discovery.state import make_state, read_set, write_set
from secondbrain.discovery.extract import extract
from secondbrain.errors import SecondBrainError

def a_refresh(github, **limits):
    limits = Limits(**limits)
    return refresh(here / "out", transport=github.transport, token="secret-token", limits=limits)["ready"]

def other_bytes(github):
    github.fail("raw", ANATOMY, "other_bytes")
    return a_refresh(github)

def old_revision(github):
    github.publish(ANATOMY, b"# Newer\\n")
    a_refresh(github)
    github.fail("commits", ANATOMY, "old_revision")
    return a_refresh(github)

def too_large(github):
    return a_refresh(github, payload_bytes=1000)

def token_to_raw_host(github):
    a_refresh(github)
    return any(seen.authorization for seen in github.seen if seen.host.startswith("raw"))

def hugging_face_token(github):
    github.publish(ANATOMY, b"# A\\n\\nhf" + b"_abcdefGHIJKLmnopQRSTuvwx1234567890\\n")
    return a_refresh(github)

def locked(github):
    document = atlas()
    document["attributed_formulas"][0]["locked_proven_membership"] = "LOCKED"
    github.publish(ATLAS, atlas_bytes(document))
    try:
        return bool(extract(payload(ATLAS, atlas_bytes(document))))
    except SecondBrainError:
        return False

def a_spoiled_set(spoil):
    read = [payload(source_id) for source_id in payloads()]
    rows = [row for one in read for row in extract(one)]
    spoil(next(row for row in rows if row["source_kind"] == "executable-formula"))
    rows.sort(key=lambda row: row["id"])
    write_set(here / "out", rows, make_state(rows, read))
    try:
        return bool(read_set(here / "out"))
    except SecondBrainError:
        return False

def content(github):
    return a_spoiled_set(lambda row: row.update(content="Executable registry name: other"))

def id(github):
    return a_spoiled_set(lambda row: row.update(id="frontier:" + "0" * 32))

def a_proposal(github, repository):
    propose(repository.clone, transport=github.transport, token="t", receipt_path=here / "receipt.json")
    return bool(repository.updates())

def moved_main(github):
    repository = ReviewRepository(here / "git")
    github.before_answer = lambda step: repository.move_main() if step == "pulls" else None
    return a_proposal(github, repository)

def existing_branch(github):
    repository = ReviewRepository(here / "git")
    a_proposal(github, repository)
    (ref, _, _), = repository.updates()
    git(repository.bare, "update-ref", ref, "main")
    github.pulls.clear()
    a_proposal(github, repository)
    return len(repository.updates()) > 1

def symbolic_link(github):
    repository = ReviewRepository(here / "git")
    (here / "elsewhere").mkdir()
    shutil.copy(repository.seed / "frontier" / "sources.toml", here / "elsewhere")
    shutil.rmtree(repository.seed / "frontier")
    (repository.seed / "frontier").symlink_to(here / "elsewhere")
    repository.move_main()
    a_proposal(github, repository)
    return (here / "elsewhere" / "state.json").exists()

def filtered_files(github):
    repository = ReviewRepository(here / "git")
    repository.move_main({".gitattributes": b"frontier/*.jsonl filter=shout\\n"})
    git(repository.clone, "config", "filter.shout.clean", "tr a-z A-Z")
    return a_proposal(github, repository)

results = {}
for attack in sys.argv[2:]:
    here = Path(tempfile.mkdtemp(dir=sys.argv[1]))
    with GitHubSimulator() as github:
        results[attack] = "through" if globals()[attack](github) else "kept out"
print(json.dumps(results))
"""


def attacked(root, folder, *attacks):
    """Return how attacks end against the wing under a root."""
    modules = f"{root}:{REPOSITORY_ROOT / 'tests'}"
    environment = {"PYTHONPATH": modules, "PATH": "/usr/bin:/bin", "HOME": str(folder)}
    arguments = [sys.executable, "-c", ATTACKS, str(folder), *attacks]
    ran = subprocess.run(arguments, cwd=root, env=environment, capture_output=True, text=True)
    assert ran.returncode == 0, ran.stderr
    return json.loads(ran.stdout.splitlines()[-1])


def copied(folder):
    """Copy what an attack needs of the source; return where to."""
    ignored = shutil.ignore_patterns("__pycache__", "data")
    shutil.copytree(REPOSITORY_ROOT / "secondbrain", folder / "copy" / "secondbrain", ignore=ignored)
    shutil.copytree(REPOSITORY_ROOT / "frontier", folder / "copy" / "frontier")
    return folder / "copy"


@pytest.fixture(scope="module")
def with_all_checks(tmp_path_factory):
    folder = tmp_path_factory.mktemp("whole")
    return attacked(copied(folder), folder, *(attack for *_, attack in CHECKS))


@pytest.mark.parametrize(("module", "check", "without", "attack"), CHECKS, ids=[check[3] for check in CHECKS])
def test_a_check_taken_out_lets_its_attack_through(tmp_path, with_all_checks, module, check, without, attack):
    copy = copied(tmp_path)
    path = copy / "secondbrain" / "discovery" / module
    source = path.read_text(encoding="utf-8")
    assert source.count(check) == 1, "the check is where this table says"
    path.write_text(source.replace(check, without), encoding="utf-8")
    assert with_all_checks[attack] == "kept out"
    assert attacked(copy, tmp_path, attack) == {attack: "through"}
