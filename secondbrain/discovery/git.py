"""The git commands of a proposal, run on the user's clone without touching the user's checkout.

Rules that hold here:

1. ``origin`` is the one repository that proposals go to, for fetching and for pushing.
2. The only command that writes to ``origin`` is :meth:`Clone.push_new_branch`: one commit, to one named
   branch below ``automation/``, plainly. Git itself refuses what is no fast-forward.
3. Hooks and the caller's ``GIT_*`` variables take no part. Credentials are git's own affair.
4. An error shows git's last words without addresses' user names and passwords.
"""

import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from secondbrain.digests import is_git_revision
from secondbrain.errors import FrontierBoundaryError, ProviderUnavailable

REPOSITORY = "szl-holdings/szl-second-brain"
"""Where proposals go. A constant: a fork proposes nothing."""
BRANCH_PREFIX = "automation/frontier-memory-"
GIT_SECONDS = 120

_ORIGIN = re.compile(
    r"(?:https://(?:[^@/]+@)?github\.com/|git@github\.com:|ssh://git@github\.com/)"
    + re.escape(REPOSITORY)
    + r"(?:\.git)?/?"
)
_BRANCH = re.compile(re.escape(BRANCH_PREFIX) + r"[0-9a-f]{16}")
_USER_INFO = re.compile(r"://[^@/\s]+@")
_SETTINGS = (
    f"core.hooksPath={os.devnull}",
    "core.autocrlf=false",
    "commit.gpgSign=false",
    "push.gpgSign=false",
    "push.followTags=false",
    "push.recurseSubmodules=no",
    "user.name=Second Brain frontier memory",
    "user.email=frontier-memory@users.noreply.github.com",
)


class Clone:
    """A local clone whose ``origin`` is the repository of proposals."""

    def __init__(self, folder: Path) -> None:
        """Take a clone; FrontierBoundaryError if ``origin`` is another repository (rule 1)."""
        self.folder = folder
        for key in ("remote.origin.url", "remote.origin.pushurl"):
            addresses = self._git("config", "--get-all", key, may_fail=True).splitlines()
            if (key == "remote.origin.url" and not addresses) or not all(map(_ORIGIN.fullmatch, addresses)):
                raise FrontierBoundaryError(f"{folder}: {key} is not {REPOSITORY} on GitHub: use its clone")

    def remote_branches(self, *names: str) -> dict[str, str]:
        """Ask ``origin`` which of some branches it has, and at which commits."""
        refs = [f"refs/heads/{name}" for name in names]
        listed = (line.split("\t") for line in self._git("ls-remote", "origin", *refs).splitlines())
        return {ref.removeprefix("refs/heads/"): commit for commit, ref in listed if ref in refs}

    def fetch(self, branch: str) -> str:
        """Fetch a branch of ``origin`` and return its commit."""
        commit = self.remote_branches(branch).get(branch, "")
        if not is_git_revision(commit):
            raise ProviderUnavailable(f"{REPOSITORY}: origin has no branch {branch}")
        self._git("fetch", "--no-tags", "--no-write-fetch-head", "--quiet", "origin", f"refs/heads/{branch}")
        return commit

    @contextmanager
    def worktree(self, commit: str) -> Iterator[Path]:
        """Check a commit out in a temporary folder, and remove it afterwards."""
        with tempfile.TemporaryDirectory(prefix="frontier-proposal-") as parent:
            tree = Path(parent) / "tree"
            self._git("worktree", "add", "--quiet", "--detach", str(tree), commit)
            try:
                yield tree
            finally:
                shutil.rmtree(tree, ignore_errors=True)
                self._git("worktree", "prune", may_fail=True)

    def commit(self, tree: Path, paths: Sequence[str], message: str) -> str:
        """Commit exactly some paths of a worktree; FrontierBoundaryError if it holds anything else."""
        self._git("add", "--", *paths, at=tree)
        self._git("commit", "--quiet", "--message", message, at=tree)
        changed = self._git("diff-tree", "--no-commit-id", "--name-only", "-r", "HEAD", at=tree).splitlines()
        stored = [self._git("rev-parse", f"HEAD:{path}", at=tree) for path in paths]
        written = [self._git("hash-object", "--no-filters", "--", path, at=tree) for path in paths]
        if not changed or not set(changed) <= set(paths) or stored != written:
            raise FrontierBoundaryError("the commit does not hold the two files alone, byte for byte")
        return self._git("rev-parse", "HEAD", at=tree)

    def push_new_branch(self, tree: Path, commit: str, branch: str) -> None:
        """Push one commit to a new proposal branch (rule 2)."""
        if not (_BRANCH.fullmatch(branch) and is_git_revision(commit)):
            raise FrontierBoundaryError("only a full commit goes to a proposal branch: stopped")
        self._git("push", "--quiet", "origin", f"{commit}:refs/heads/{branch}", at=tree)

    def _git(self, *arguments: str, at: Path | None = None, may_fail: bool = False) -> str:
        """Run git with a proposal's settings and return what it printed; ProviderUnavailable if it fails."""
        settings = [part for setting in _SETTINGS for part in ("-c", setting)]
        return (
            _run(at or self.folder, *settings, *arguments, may_fail=may_fail)
            .decode("utf-8", "replace")
            .strip()
        )


def file_at(folder: Path, revision: str, path: str) -> bytes:
    """Return a file as a revision of the checkout around ``folder`` has it; ``path`` is below the folder.

    Raises ProviderUnavailable where git knows no such revision or file.
    """
    return _run(folder, "show", "--end-of-options", f"{revision}:./{path}")


def _run(folder: Path, *arguments: str, may_fail: bool = False) -> bytes:
    command = next((part for part in arguments if not part.startswith("-") and "=" not in part), "")
    environment = {key: value for key, value in os.environ.items() if not key.startswith("GIT_")}
    try:
        done = subprocess.run(
            ["git", "-C", str(folder), *arguments],
            env=environment | {"GIT_TERMINAL_PROMPT": "0", "LC_ALL": "C"},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=GIT_SECONDS,
            check=False,
        )
    except OSError as error:
        raise FrontierBoundaryError(f"git cannot be run ({type(error).__name__}): install it") from error
    except subprocess.TimeoutExpired:
        raise ProviderUnavailable(f"git {command}: not done in {GIT_SECONDS} s") from None
    if done.returncode and not may_fail:
        words = done.stderr.decode("utf-8", "replace").strip().splitlines() or [""]
        said = _USER_INFO.sub("://", words[-1])[:200]
        raise ProviderUnavailable(f"git {command} failed ({done.returncode}): {said}")
    return done.stdout if not done.returncode else b""
