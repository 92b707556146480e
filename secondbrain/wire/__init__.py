"""Every payload that leaves the library, as a TypedDict under its schema name.

Payloads are plain dicts. Consumers read these keys: adding one is free, renaming one is not.
No payload here holds the text of a chunk or candidate, the two hydrations apart.
"""

from typing import Any

from secondbrain.wire import frontier, retrieval
from secondbrain.wire.common import *  # noqa: F403
from secondbrain.wire.frontier import *  # noqa: F403
from secondbrain.wire.retrieval import *  # noqa: F403

PAYLOADS: dict[str, Any] = {
    retrieval.CONTEXT: retrieval.Context,
    retrieval.RETRIEVE: retrieval.Retrieval,
    retrieval.NAVIGATOR: retrieval.NavigatorContext,
    retrieval.HYDRATION: retrieval.Hydration,
    retrieval.INDEX: retrieval.Index,
    retrieval.STATUS: retrieval.Status,
    retrieval.MANIFEST: retrieval.Manifest,
    retrieval.CAPABILITIES: retrieval.Capabilities,
    retrieval.EXPLANATION: retrieval.Explanation,
    retrieval.VERIFICATION: retrieval.Verification,
    retrieval.EVALUATION: retrieval.Evaluation,
    frontier.FRONTIER_CANDIDATE: frontier.FrontierCandidate,
    frontier.FRONTIER_STATE: frontier.FrontierStatus,  # what leaves: the state with `ready`
    frontier.FRONTIER_HANDLE: frontier.FrontierHandle,
    frontier.FRONTIER_SEARCH: frontier.FrontierSearch,
    frontier.FRONTIER_HYDRATION: frontier.FrontierHydration,
    frontier.FRONTIER_DIFF: frontier.FrontierDiff,
    frontier.FRONTIER_RUN: frontier.FrontierRun,
    frontier.ANATOMY: frontier.AnatomyFeed,
}
"""Schema name → TypedDict, for every payload that carries one."""
