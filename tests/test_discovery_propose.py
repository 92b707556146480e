"""The whole run, against a real git repository and a real HTTP server: one branch, one pull request.

The bare repository's hook logs every update of a branch that git is asked for. Each test here ends with a
look at that log: never an update of anything but one new proposal branch.
"""

import json
import os
import re
from pathlib import Path

import pytest
from discovery_payloads import ANATOMY, write_folder
from github_simulator import GitHubSimulator, ReviewRepository, git

from secondbrain.discovery.git import Clone
from secondbrain.discovery.propose import propose
from secondbrain.discovery.state import read_set
from secondbrain.errors import ConfigurationError, FrontierBoundaryError
from secondbrain.schemas import checked
from secondbrain.wire import FRONTIER_RUN

TOKEN = "a-token-for-tests"
NOTHING = "0" * 40


class World:
    """A GitHub, a repository of proposals with its clone, and where the receipt goes."""

    def __init__(self, folder: Path, github: GitHubSimulator) -> None:
        self.github = github
        self.repository = ReviewRepository(folder / "git")
        self.receipt_path = folder / "artifacts" / "receipt.json"
        self.before = self.repository.refs()

    def propose(self, **arguments):
        """Run a proposal; the receipt on disk must be the one returned."""
        arguments = {"transport": self.github.transport, "token": TOKEN, **arguments}
        receipt = propose(self.repository.clone, receipt_path=self.receipt_path, **arguments)
        assert self.written() == receipt
        return checked(FRONTIER_RUN, receipt)

    def written(self):
        return json.loads(self.receipt_path.read_text(encoding="utf-8"))

    def accept(self, receipt):
        """Do what a person does: bring the proposed commit to main."""
        git(self.repository.bare, "update-ref", "refs/heads/main", receipt["proposal"]["commit"])
        git(self.repository.seed, "pull", "--quiet", str(self.repository.bare), "main")


@pytest.fixture
def world(tmp_path):
    with GitHubSimulator() as github:
        world = World(tmp_path, github)
        yield world
        # Whatever a test did: branches were created, never changed, forced or deleted; main was left alone.
        for ref, old, new in world.repository.updates():
            assert re.fullmatch(r"refs/heads/automation/frontier-memory-[0-9a-f]{16}", ref)
            assert old == NOTHING
            assert new != NOTHING
        assert {seen.method for seen in github.seen} <= {"GET", "POST"}
        posts = {seen.path for seen in github.seen if seen.method == "POST"}
        assert posts <= {"/repos/szl-holdings/szl-second-brain/pulls"}


def test_a_changed_set_becomes_one_branch_with_one_commit_and_a_pull_request(world):
    receipt = world.propose()
    proposal = receipt["proposal"]
    assert (receipt["state"], receipt["ready"], receipt["command"]) == ("REVIEW_PR_OPENED", True, "propose")
    branch = "automation/frontier-memory-" + receipt["candidate_set_sha256"][:16]
    assert proposal["branch"] == branch
    assert world.repository.updates() == [(f"refs/heads/{branch}", NOTHING, proposal["commit"])]
    bare = world.repository.bare
    assert git(bare, "rev-parse", f"{branch}^") == world.before["refs/heads/main"] == proposal["base_commit"]
    changed = git(bare, "diff-tree", "--no-commit-id", "--name-only", "-r", branch).splitlines()
    assert changed == ["frontier/candidates.jsonl", "frontier/state.json"]
    assert proposal["pull_request_url"] == "https://github.com/szl-holdings/szl-second-brain/pull/1"


def test_the_proposed_files_are_a_whole_set(world, tmp_path):
    proposal = world.propose()["proposal"]
    git(world.repository.bare, "worktree", "add", "--quiet", str(tmp_path / "look"), proposal["branch"])
    rows, state = read_set(tmp_path / "look" / "frontier")
    assert state["candidate_count"] == len(rows) > 0


def test_the_pull_request_says_what_changed_and_that_nothing_has_authority(world):
    receipt = world.propose()
    (pull,) = world.github.pulls
    assert pull["base"] == "main"
    assert receipt["candidate_set_sha256"] in pull["body"]
    assert receipt["state_sha256"] in pull["body"]
    assert f"| added | {receipt['candidate_count']} |" in pull["body"]
    for authority in ("training", "promotion", "execution", "merge"):
        assert f"| {authority} | NONE |" in pull["body"]
    for source in receipt["sources"]:
        assert source["revision"] in pull["body"]
    assert "Example estate" not in pull["body"]


def test_the_user_s_checkout_is_never_touched(world):
    clone = world.repository.clone
    (clone / "README.md").write_text("Work of mine.\n")
    (clone / "notes.txt").write_text("Mine too.\n")
    git(clone, "switch", "--quiet", "--create", "mine")
    files = {
        path: path.read_bytes() for path in clone.rglob("*") if path.is_file() and ".git" not in path.parts
    }
    status = git(clone, "status", "--porcelain")
    world.propose()
    after = {
        path: path.read_bytes() for path in clone.rglob("*") if path.is_file() and ".git" not in path.parts
    }
    assert after == files
    assert git(clone, "status", "--porcelain") == status
    assert git(clone, "branch", "--show-current") == "mine"
    assert len(git(clone, "worktree", "list").splitlines()) == 1


def test_hooks_and_variables_of_the_caller_take_no_part(world, monkeypatch, tmp_path):
    for name in ("pre-push", "post-checkout", "pre-commit", "commit-msg"):
        hook = world.repository.clone / ".git" / "hooks" / name
        hook.write_text(f"#!/bin/sh\ntouch {tmp_path}/hook-ran\nexit 1\n")
        hook.chmod(0o755)
    monkeypatch.setenv("GIT_DIR", str(tmp_path / "elsewhere"))
    monkeypatch.setenv("GIT_INDEX_FILE", str(tmp_path / "index"))
    assert world.propose()["state"] == "REVIEW_PR_OPENED"
    assert not (tmp_path / "hook-ran").exists()


def test_an_unchanged_set_proposes_nothing(world):
    world.accept(world.propose())
    pushed = world.repository.updates()
    receipt = world.propose()
    assert (receipt["state"], receipt["ready"]) == ("NO_CHANGE", True)
    assert receipt["proposal"]["branch"] is None
    assert world.repository.updates() == pushed
    assert len(world.github.pulls) == 1


def test_an_open_pull_request_is_left_as_it_is(world):
    first = world.propose()
    again = world.propose()
    assert (again["state"], again["ready"]) == ("EXISTING_REVIEW_PR", True)
    assert again["proposal"]["pull_request"] == first["proposal"]["pull_request"] == 1
    assert len(world.repository.updates()) == 1


def test_an_existing_branch_is_never_pushed_to(world):
    first = world.propose()
    world.github.pulls.clear()
    again = world.propose()
    assert (again["state"], again["ready"]) == ("EXISTING_BRANCH_NO_FORCE", True)
    assert again["proposal"]["compare_url"].endswith(f"main...{first['proposal']['branch']}?expand=1")
    assert len(world.repository.updates()) == 1


def test_the_next_set_takes_the_next_branch_and_names_the_open_proposal(world):
    world.propose()
    world.github.publish(ANATOMY, b"# Anatomy\n\nNewer.\n")
    receipt = world.propose()
    assert receipt["state"] == "REVIEW_PR_OPENED"
    assert receipt["proposal"]["other_open_proposals"] == [1]
    assert "Open proposals of other sets: #1." in world.github.pulls[1]["body"]
    assert len({ref for ref, _, _ in world.repository.updates()}) == 2


@pytest.mark.parametrize(
    "answer",
    [
        (403, {"message": "GitHub Actions is not permitted to create or approve pull requests."}),
        (422, {"message": "Validation Failed", "errors": [{"message": "creation is not allowed here"}]}),
    ],
)
def test_where_policy_forbids_a_pull_request_the_branch_waits_for_a_person(world, answer):
    world.github.pull_answer = answer
    receipt = world.propose()
    assert (receipt["state"], receipt["ready"]) == ("BRANCH_READY_EXTERNAL_PR_REQUIRED", True)
    assert receipt["proposal"]["reason"] == f"POLICY_{answer[0]}"
    assert receipt["proposal"]["branch_pushed"]
    assert receipt["proposal"]["compare_url"].startswith(
        "https://github.com/szl-holdings/szl-second-brain/compare/"
    )


def test_without_a_token_the_branch_waits_for_a_person(world):
    receipt = world.propose(token=None)
    assert (receipt["state"], receipt["proposal"]["reason"]) == (
        "BRANCH_READY_EXTERNAL_PR_REQUIRED",
        "NO_TOKEN",
    )


@pytest.mark.parametrize("status", [401, 422, 500])
def test_another_answer_about_the_pull_request_is_a_failure_that_says_the_branch_is_there(world, status):
    world.github.pull_answer = (status, {"message": "Validation Failed"})
    receipt = world.propose()
    assert (receipt["state"], receipt["ready"]) == ("UNAVAILABLE", False)
    assert receipt["proposal"]["branch_pushed"]
    assert "open it by hand" in receipt["error"]


def test_a_main_that_moves_during_the_run_stops_it_before_the_push(world):
    moved = []

    def move_main_once(step):
        if step == "pulls" and not moved:
            moved.append(world.repository.move_main())

    world.github.before_answer = move_main_once
    receipt = world.propose()
    assert (receipt["state"], receipt["ready"]) == ("REFUSED", False)
    assert "main moved" in receipt["error"]
    assert world.repository.updates() == []
    assert world.github.pulls == []
    assert world.propose()["proposal"]["base_commit"] == moved[0], "the next run begins at the new main"


def test_a_failing_source_pushes_nothing_and_is_named_in_the_receipt(world):
    world.github.fail("raw", ANATOMY, "cut_off")
    receipt = world.propose()
    assert (receipt["state"], receipt["failed_source"]) == ("UNAVAILABLE", ANATOMY)
    assert (world.repository.updates(), world.github.pulls) == ([], [])


def test_a_replayed_old_revision_pushes_nothing(world):
    world.github.publish(ANATOMY, b"# Newer\n")
    world.accept(world.propose())
    pushed = world.repository.updates()
    world.github.fail("commits", ANATOMY, "old_revision")
    receipt = world.propose()
    assert (receipt["state"], receipt["failed_source"]) == ("REFUSED", ANATOMY)
    assert world.repository.updates() == pushed


def test_a_secret_in_a_source_pushes_nothing_and_is_not_shown(world):
    secret = "AKIA" + "IOSFODNN7" + "ABCDEFG"
    world.github.publish(ANATOMY, b"# Anatomy\n\n" + secret.encode())
    receipt = world.propose()
    assert (receipt["state"], receipt["failed_source"]) == ("REFUSED", ANATOMY)
    assert receipt["error_type"] == "FrontierIntegrityError"
    assert secret not in world.receipt_path.read_text()
    assert world.repository.updates() == []


@pytest.mark.parametrize("fault", ["server_error", "not_json", "rate_limit_for_long", "redirect_elsewhere"])
def test_a_bad_answer_about_open_pull_requests_pushes_nothing(world, fault):
    world.github.fail("pulls", "", fault)
    assert not world.propose()["ready"]
    assert world.repository.updates() == []


def test_a_pull_request_without_a_number_is_a_failure(world):
    world.github.pull_answer = (201, {"html_url": "https://example.org/"})
    receipt = world.propose()
    assert (receipt["ready"], receipt["proposal"]["pull_request_url"]) == (False, None)


def test_pull_requests_of_others_are_none_of_ours(world):
    world.github.pulls += [
        {"number": 7, "head": {"label": "someone:automation/frontier-memory-0000000000000000"}},
        {"number": 8, "head": {"label": "szl-holdings:another-branch"}},
        {"number": 9, "head": {"label": None}},
    ]
    receipt = world.propose()
    assert (receipt["state"], receipt["proposal"]["other_open_proposals"]) == ("REVIEW_PR_OPENED", [])


def test_payloads_may_come_from_a_folder(world, tmp_path):
    receipt = world.propose(from_dir=write_folder(tmp_path / "payloads"))
    assert (receipt["state"], receipt["origin"]) == ("REVIEW_PR_OPENED", "FOLDER")
    assert {seen.host for seen in world.github.seen} == {"api.github.com"}


def test_a_clone_of_another_repository_proposes_nothing(world):
    for address in (
        "https://github.com/someone/szl-second-brain.git",
        "https://example.org/szl-holdings/szl-second-brain",
        "https://someone:word@example.org/szl-holdings/szl-second-brain",
    ):
        git(world.repository.clone, "config", "remote.origin.url", address)
        receipt = world.propose()
        assert (receipt["state"], receipt["proposal"]) == ("REFUSED", None)
        assert "someone" not in receipt["error"]


def test_a_push_address_elsewhere_is_refused(world):
    git(world.repository.clone, "config", "remote.origin.pushurl", "https://github.com/someone/else.git")
    assert "pushurl" in world.propose()["error"]


@pytest.mark.parametrize("remove", ["origin", "main"])
def test_without_origin_or_main_the_receipt_says_so(world, remove):
    if remove == "origin":
        git(world.repository.clone, "remote", "remove", "origin")
    else:
        git(world.repository.bare, "update-ref", "-d", "refs/heads/main")
    receipt = world.propose()
    assert receipt["state"] in ("REFUSED", "UNAVAILABLE")
    assert receipt["error"]


def test_an_error_of_git_shows_no_user_name_or_password(world):
    clone = world.repository.clone
    git(
        clone,
        "config",
        "remote.origin.url",
        "https://x-access-token:word@github.com/szl-holdings/szl-second-brain",
    )
    git(clone, "config", "http.proxy", "http://127.0.0.1:1")
    receipt = world.propose()
    assert receipt["state"] == "UNAVAILABLE"
    assert "git ls-remote failed" in receipt["error"]
    assert "x-access-token" not in receipt["error"]
    assert "word" not in receipt["error"]


@pytest.mark.parametrize("name", ["frontier/candidates.jsonl", "frontier/state.json"])
def test_a_symbolic_link_on_main_is_not_written_through(world, tmp_path, name):
    (tmp_path / "elsewhere").write_text("untouched")
    (world.repository.seed / name).symlink_to(tmp_path / "elsewhere")
    world.repository.move_main()
    receipt = world.propose()
    assert "symbolic link" in receipt["error"]
    assert (tmp_path / "elsewhere").read_text() == "untouched"
    assert world.repository.updates() == []


def test_a_main_that_turns_the_files_into_others_is_refused(world):
    world.repository.move_main({".gitattributes": b"frontier/*.jsonl filter=shout\n"})
    git(world.repository.clone, "config", "filter.shout.clean", "tr a-z A-Z")
    receipt = world.propose()
    assert receipt["state"] == "REFUSED"
    assert "byte for byte" in receipt["error"]
    assert world.repository.updates() == []


def test_a_damaged_set_on_main_is_named_as_main_names_it(world):
    world.repository.move_main({"frontier/state.json": b"{}"})
    receipt = world.propose()
    assert receipt["state"] == "REFUSED"
    assert receipt["error"].startswith("frontier/candidates.jsonl: cannot be read")


def test_main_s_own_contracts_decide(world):
    contracts = (world.repository.seed / "frontier" / "sources.toml").read_bytes()
    redirected = contracts.replace(b"szl-holdings/anatomy", b"someone/anatomy")
    world.repository.move_main({"frontier/sources.toml": redirected})
    with pytest.raises(ConfigurationError):
        world.propose()
    assert world.written()["error_type"] == "ConfigurationError"
    assert world.repository.updates() == []


def test_a_receipt_is_written_even_where_the_run_breaks(world):
    def interrupted(source_id, message):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        world.propose(progress=interrupted)
    written = world.written()
    assert (written["state"], written["ready"]) == ("FAILED", False)
    assert written["error_type"] == "KeyboardInterrupt"
    assert len(git(world.repository.clone, "worktree", "list").splitlines()) == 1


def test_a_git_that_never_answers_is_given_up(world, monkeypatch):
    monkeypatch.setattr("secondbrain.discovery.git.GIT_SECONDS", 0.0001)
    receipt = world.propose()
    assert receipt["state"] == "UNAVAILABLE"
    assert "not done in" in receipt["error"]


def test_only_a_proposal_branch_can_be_pushed(world):
    clone = Clone(world.repository.clone)
    commit = clone.fetch("main")
    for branch in ("main", "automation/other", "automation/frontier-memory-" + "0" * 16 + ":main"):
        with pytest.raises(FrontierBoundaryError, match="proposal branch"):
            clone.push_new_branch(world.repository.clone, commit, branch)
    with pytest.raises(FrontierBoundaryError, match="full commit"):
        clone.push_new_branch(world.repository.clone, "", "automation/frontier-memory-" + "0" * 16)


def test_without_git_the_receipt_says_so(world, monkeypatch):
    monkeypatch.setattr(os, "environ", {**os.environ, "PATH": "/nowhere"})
    receipt = world.propose()
    assert "git cannot be run" in receipt["error"]


def test_the_token_is_in_no_file_that_a_run_leaves(world, tmp_path):
    world.propose()
    for path in tmp_path.rglob("*"):
        if path.is_file():
            assert TOKEN.encode() not in path.read_bytes(), path


def test_nothing_in_the_wing_can_force_merge_approve_or_delete():
    folder = Path(__file__).resolve().parent.parent / "secondbrain" / "discovery"
    source = "\n".join(path.read_text(encoding="utf-8") for path in folder.glob("*.py"))
    code = re.sub(r'""".*?"""|#[^\n]*', "", source, flags=re.S)
    for forbidden in (
        "--force",
        '"-f"',
        '"+',
        "--delete",
        "--mirror",
        "/merge",
        "/reviews",
        '"PUT"',
        '"PATCH"',
        '"DELETE"',
    ):
        assert forbidden not in code, forbidden
    assert code.count('"push"') == 1
    assert code.count("self._client.build_request") == 1
