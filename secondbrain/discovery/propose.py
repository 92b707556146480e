"""A changed candidate set → one review branch and one pull request, which a person decides.

Rules that hold here:

1. Work is done in a temporary worktree of ``origin``'s main. The user's checkout is never touched.
2. The branch is ``automation/frontier-memory-`` and the first 16 digits of the candidate set's digest: one
   set, one branch, one commit of the two files, one plain push. A branch or an open pull request that
   exists is left as it is.
3. Main is asked for again just before the push; one that moved stops the run.
4. Nothing here merges, approves, deletes or overwrites, or writes beyond the two files and the receipt.
5. An unchanged set proposes nothing. Where policy forbids the pull request, the branch waits for a person.
6. Every run writes a receipt, a failed one too.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from secondbrain.discovery.contracts import load_contracts
from secondbrain.discovery.fetch import BRANCH, Progress
from secondbrain.discovery.git import BRANCH_PREFIX, REPOSITORY, Clone
from secondbrain.discovery.github import DEFAULT_LIMITS, Answer, GitHub, Limits
from secondbrain.discovery.pull_request import body_of, title_of
from secondbrain.discovery.receipt import (
    conclude,
    conclude_failure,
    open_receipt,
    write_receipt,
)
from secondbrain.discovery.refresh import Access, refresh_into
from secondbrain.discovery.shape import mapping, sequence
from secondbrain.discovery.state import CANDIDATES, STATE
from secondbrain.errors import (
    ConfigurationError,
    FrontierBoundaryError,
    ProviderUnavailable,
    SecondBrainError,
)
from secondbrain.wire import FrontierProposal, FrontierRun, FrontierRunState

if TYPE_CHECKING:
    import httpx

FOLDER = "frontier"
PATHS = (f"{FOLDER}/{CANDIDATES}", f"{FOLDER}/{STATE}")
_OWNER = REPOSITORY.split("/")[0]
_POLICY_WORDS = ("not permitted", "not allowed", "forbidden", "disabled", "policy")


def propose(
    repo_dir: Path,
    *,
    transport: "httpx.BaseTransport | None" = None,
    from_dir: Path | None = None,
    token: str | None = None,
    receipt_path: Path,
    progress: Progress | None = None,
    limits: Limits = DEFAULT_LIMITS,
) -> FrontierRun:
    """Refresh main's candidate set and propose the change; write and return the receipt.

    ``repo_dir`` is a clone of the repository of proposals. Payloads come from GitHub, or from ``from_dir``.
    Raises ConfigurationError, and whatever the machine is at fault for, after the receipt is written.
    """
    receipt = open_receipt("propose", from_dir)
    try:
        conclude(receipt, _proposed(repo_dir, Access(transport, from_dir, token, progress, limits), receipt))
    except ConfigurationError as error:
        conclude_failure(receipt, error)
        raise
    except SecondBrainError as error:
        conclude_failure(receipt, error)
    except BaseException as error:
        receipt["error_type"] = type(error).__name__
        raise
    finally:
        write_receipt(receipt_path, receipt)
    return receipt


def _proposed(repo_dir: Path, access: Access, receipt: FrontierRun) -> FrontierRunState:
    """Do the run and return how it ended."""
    clone = Clone(repo_dir)
    main = clone.fetch(BRANCH)
    proposal = receipt["proposal"] = _empty_proposal(main)
    with clone.worktree(main) as tree:
        _require_plain_folder(tree)
        if _refreshed(tree, access, receipt) == "NO_CHANGE":
            return "NO_CHANGE"
        branch = BRANCH_PREFIX + str(receipt["candidate_set_sha256"])[:16]
        proposal["branch"] = branch
        proposal["compare_url"] = f"https://github.com/{REPOSITORY}/compare/{BRANCH}...{branch}?expand=1"
        with GitHub(transport=access.transport, token=access.token, limits=access.limits) as github:
            if _open_proposals(github, branch, proposal):
                return "EXISTING_REVIEW_PR"
            proposal["commit"] = commit = clone.commit(tree, PATHS, title_of(receipt))
            standing = clone.remote_branches(BRANCH, branch)
            if branch in standing:
                return "EXISTING_BRANCH_NO_FORCE"
            if standing.get(BRANCH) != main:
                raise FrontierBoundaryError(f"{BRANCH} moved while this ran: nothing was pushed; run again")
            clone.push_new_branch(tree, commit, branch)
            proposal["branch_pushed"] = True
            return _pull_request(github, branch, receipt, proposal)


def _empty_proposal(main: str) -> FrontierProposal:
    return {
        "repository": REPOSITORY,
        "base_commit": main,
        "branch": None,
        "branch_pushed": False,
        "commit": None,
        "pull_request": None,
        "pull_request_url": None,
        "compare_url": None,
        "reason": None,
        "other_open_proposals": [],
    }


def _require_plain_folder(tree: Path) -> None:
    """Refuse a main whose two files lie elsewhere by a symbolic link: writing would leave the worktree."""
    for path in (tree / FOLDER, *(tree / path for path in PATHS)):
        if path.is_symlink():
            raise FrontierBoundaryError(f"{path.relative_to(tree)} on {BRANCH} is a symbolic link: refused")


def _refreshed(tree: Path, access: Access, receipt: FrontierRun) -> FrontierRunState:
    """Refresh inside the worktree, by main's own contracts."""
    try:
        contracts = load_contracts(tree / FOLDER / "sources.toml")
        return refresh_into(tree / FOLDER, contracts, access, receipt)
    except SecondBrainError as error:
        # The worktree is gone when this is read: name files as main names them.
        raise type(error)(str(error).replace(f"{tree}/", "")) from error


def _open_proposals(github: GitHub, branch: str, proposal: FrontierProposal) -> bool:
    """Note the open pull requests of frontier memory; say whether one is of this branch."""
    answer = github.get(f"/repos/{REPOSITORY}/pulls", {"state": "open", "base": BRANCH, "per_page": "100"})
    if answer.status != 200:
        raise ProviderUnavailable(f"GitHub answered {answer.status} for the open pull requests")
    for pull in sequence(answer.json("pull requests"), "pull requests"):
        head = mapping(mapping(pull, "pull request").get("head"), "pull request: head")
        label = head.get("label")
        if label == f"{_OWNER}:{branch}":
            _note_pull_request(proposal, pull)
        elif isinstance(label, str) and label.startswith(f"{_OWNER}:{BRANCH_PREFIX}"):
            proposal["other_open_proposals"].append(_number_of(pull))
    return proposal["pull_request"] is not None


def _pull_request(
    github: GitHub, branch: str, receipt: FrontierRun, proposal: FrontierProposal
) -> FrontierRunState:
    """Open the pull request of a branch that was pushed, or leave that to a person (rule 5)."""
    if not github.has_token:
        proposal["reason"] = "NO_TOKEN"
        return "BRANCH_READY_EXTERNAL_PR_REQUIRED"
    answer = github.post(
        f"/repos/{REPOSITORY}/pulls",
        {"title": title_of(receipt), "head": branch, "base": BRANCH, "body": body_of(receipt)},
    )
    if answer.status == 201:
        _note_pull_request(proposal, mapping(answer.json("pull request"), "pull request"))
        return "REVIEW_PR_OPENED"
    if answer.status == 403 or (answer.status == 422 and _names_policy(answer)):
        proposal["reason"] = f"POLICY_{answer.status}"
        return "BRANCH_READY_EXTERNAL_PR_REQUIRED"
    raise ProviderUnavailable(
        f"GitHub answered {answer.status} for the pull request; the branch is pushed: open it by hand at "
        f"{proposal['compare_url']}"
    )


def _names_policy(answer: Answer) -> bool:
    """Say whether a 422 is about what is permitted, not about what was sent."""
    said = answer.body.decode("utf-8", "replace").casefold()
    return any(word in said for word in _POLICY_WORDS)


def _note_pull_request(proposal: FrontierProposal, pull: Mapping[str, Any]) -> None:
    # The address is made here: nothing that an answer says is shown as a link.
    proposal["pull_request"] = number = _number_of(pull)
    proposal["pull_request_url"] = f"https://github.com/{REPOSITORY}/pull/{number}"


def _number_of(pull: Mapping[str, Any]) -> int:
    number = pull.get("number")
    if not isinstance(number, int):
        raise ProviderUnavailable("GitHub named a pull request without a number")
    return number
