"""Payloads of the frontier: candidates, their state, searches, hydrations, and discovery runs."""

from typing import Literal, NotRequired

# pydantic reads no other TypedDict on Python 3.11.
from typing_extensions import TypedDict

from secondbrain.wire.common import Authorities, Authority, Boundary

FRONTIER_CANDIDATE = "szl.second-brain.frontier-candidate/v1"
FRONTIER_STATE = "szl.second-brain.frontier-state/v1"
FRONTIER_HANDLE = "szl.second-brain.frontier-handle/v1"
FRONTIER_SEARCH = "szl.second-brain.frontier-search/v1"
FRONTIER_HYDRATION = "szl.second-brain.frontier-hydration/v1"
FRONTIER_RUN = "szl.second-brain.continuous-frontier-run/v1"
FRONTIER_DIFF = "szl.second-brain.frontier-diff/v1"
ANATOMY = "szl.second-brain.anatomy-feed/v1"


class FrontierCandidate(TypedDict):
    """A frontier row as it is kept; ``content`` is for authorised controllers."""

    schema: Literal["szl.second-brain.frontier-candidate/v1"]
    id: str
    title: str
    content: str
    content_sha256: str
    content_access: Literal["CONTROLLER_ONLY"]
    candidate_state: Literal["DISCOVERED_REVIEW_REQUIRED"]
    admission: str
    source_kind: str
    source_repository: str
    source_revision: str
    source_path: str
    quant_domain: NotRequired[str]
    proof_status: NotRequired[str]
    reported_status: NotRequired[str]


class FrontierSource(TypedDict):
    """One source of a discovery run, at its exact revision."""

    source_id: str
    repository: str
    path: str
    parser: str
    revision: str
    content_sha256: str
    candidate_count: int


FrontierState = TypedDict(
    "FrontierState",
    {
        "schema": Literal["szl.second-brain.frontier-state/v1"],
        "state": Literal["REVIEW_REQUIRED"],
        "state_sha256": str,
        "candidate_count": int,
        "candidate_set_sha256": str,
        "source_count": int,
        "source_kind_counts": dict[str, int],
        "quant_domain_counts": dict[str, int],
        "sources": list[FrontierSource],
        "lambda": Literal["CONJECTURE_1"],
        "learning_definition": str,
        "public_content_access": Literal["HANDLES_ONLY"],
        "controller_content_access": Literal["AUTHORIZED_CONTROLLER_ONLY"],
        "private_graph_nodes_loaded": Literal[0],
        "raw_graph_nodes_admitted_to_gradients": Literal[0],
        "training_authority": Authority,
        "promotion_authority": Authority,
        "execution_authority": Authority,
        "merge_authority": Authority,
    },
)
"""The state beside a candidate set; ``state_sha256`` is over its canonical JSON without that key."""


FrontierStatus = TypedDict(
    "FrontierStatus",
    {
        "schema": Literal["szl.second-brain.frontier-state/v1"],
        "state": Literal["REVIEW_REQUIRED", "UNAVAILABLE"],
        "ready": bool,
        "error_type": str,
        "state_sha256": str,
        "candidate_count": int,
        "candidate_set_sha256": str,
        "source_count": int,
        "source_kind_counts": dict[str, int],
        "quant_domain_counts": dict[str, int],
        "sources": list[FrontierSource],
        "lambda": Literal["CONJECTURE_1"],
        "learning_definition": str,
        "public_content_access": Literal["HANDLES_ONLY"],
        "controller_content_access": Literal["AUTHORIZED_CONTROLLER_ONLY"],
        "private_graph_nodes_loaded": Literal[0],
        "raw_graph_nodes_admitted_to_gradients": Literal[0],
        "training_authority": Authority,
        "promotion_authority": Authority,
        "execution_authority": Authority,
        "merge_authority": Authority,
    },
    total=False,
)
"""The frontier state with ``ready``; ``UNAVAILABLE`` carries the error's type and the authorities alone."""


class FrontierHandle(TypedDict):
    """What a public caller sees of a frontier candidate."""

    schema: Literal["szl.second-brain.frontier-handle/v1"]
    nodeId: str
    title: str
    sha256: str
    repository: str
    revision: str
    path: str
    kind: str
    admission: str
    candidate_state: Literal["DISCOVERED_REVIEW_REQUIRED"]
    contentAccess: Literal["CONTROLLER_ONLY"]
    quantDomain: NotRequired[str]
    proofStatus: NotRequired[str]
    reportedStatus: NotRequired[str]


class FrontierSearch(Boundary, Authorities):
    """Frontier handles for one query, for reviewers."""

    schema: Literal["szl.second-brain.frontier-search/v1"]
    state: Literal["REVIEW_REQUIRED", "UNAVAILABLE"]
    ready: bool
    query_sha256: str
    generation_sha256: str | None
    candidate_set_sha256: str | None
    k: int
    handles: list[FrontierHandle]
    scores: list[float]
    evidence_set_sha256: str


class AnatomyFeed(Boundary, Authorities):
    """A read-only feed of frontier handles for the Living Anatomy."""

    schema: Literal["szl.second-brain.anatomy-feed/v1"]
    purpose: Literal["READ_ONLY_LIVING_ANATOMY_OBSERVATION"]
    state: Literal["REVIEW_REQUIRED", "UNAVAILABLE"]
    ready: bool
    candidate_set_sha256: str | None
    candidate_count: int
    k: int
    handles: list[FrontierHandle]
    evidence_set_sha256: str


class FrontierDocument(TypedDict):
    """One hydrated candidate, inside the controller."""

    node_id: str
    title: str
    source_repository: str
    source_revision: str
    source_path: str
    sha256: str
    content: str
    candidate_state: Literal["DISCOVERED_REVIEW_REQUIRED"]
    authority: Authority


class FrontierHydration(TypedDict):
    """Authorised candidate content for a reviewer."""

    schema: Literal["szl.second-brain.frontier-hydration/v1"]
    state: Literal["AUTHORIZED_REVIEW_CONTENT_READY"]
    ready: Literal[True]
    content_access: Literal["CONTROLLER_ONLY"]
    principal_id_sha256: str
    tenant_id_sha256: str
    policy_revision: str
    evidence_set_sha256: str
    documents: list[FrontierDocument]
    generation_sha256: str
    candidate_set_sha256: str
    raw_graph_nodes_admitted_to_gradients: Literal[0]


class FrontierChanges(TypedDict):
    """How many candidates of a group changed in which way."""

    added: int
    changed: int
    removed: int
    unchanged: int


class FrontierDiffEntry(TypedDict):
    """One candidate that is not the same in two sets."""

    id: str
    title: str
    repository: str
    kind: str
    fields: NotRequired[list[str]]
    """Which fields changed."""


class FrontierDiff(TypedDict):
    """Two sets compared by id; ``revision_only`` counts the changed that kept all but their revision."""

    schema: Literal["szl.second-brain.frontier-diff/v1"]
    base_candidate_set_sha256: str
    candidate_set_sha256: str
    counts: FrontierChanges
    revision_only: int
    by_repository: dict[str, FrontierChanges]
    by_kind: dict[str, FrontierChanges]
    added: list[FrontierDiffEntry]
    changed: list[FrontierDiffEntry]
    removed: list[FrontierDiffEntry]


FrontierLineage = Literal["FIRST", "SAME", "AHEAD", "DIVERGED", "NOT_CHECKED"]
FrontierRunState = Literal[
    "NO_CHANGE",
    "REFRESHED",
    "REVIEW_PR_OPENED",
    "EXISTING_REVIEW_PR",
    "EXISTING_BRANCH_NO_FORCE",
    "BRANCH_READY_EXTERNAL_PR_REQUIRED",
    "REFUSED",
    "UNAVAILABLE",
    "FAILED",
]


class FrontierRunSource(TypedDict):
    """One source as a discovery run read it."""

    source_id: str
    repository: str
    path: str
    revision: str
    bytes: int
    content_sha256: str
    candidate_count: int
    lineage: FrontierLineage
    """How the revision relates to the one in the set before; NOT_CHECKED for payloads from a folder."""


class FrontierProposal(TypedDict):
    """What was proposed, and where; values appear as they come about."""

    repository: str
    base_commit: str
    branch: str | None
    branch_pushed: bool
    commit: str | None
    pull_request: int | None
    pull_request_url: str | None
    compare_url: str | None
    reason: str | None
    other_open_proposals: list[int]


class FrontierRun(Authorities):
    """The receipt of a discovery run. ``ready`` says that it ended as it should: exit status 0."""

    schema: Literal["szl.second-brain.continuous-frontier-run/v1"]
    command: Literal["refresh", "propose"]
    origin: Literal["GITHUB", "FOLDER"]
    state: FrontierRunState
    ready: bool
    sources: list[FrontierRunSource]
    failed_source: str | None
    error_type: str | None
    error: str | None
    candidate_count: int | None
    candidate_set_sha256: str | None
    state_sha256: str | None
    source_kind_counts: dict[str, int]
    base_candidate_set_sha256: str | None
    changes: FrontierChanges | None
    revision_only: int | None
    proposal: FrontierProposal | None
    private_graph_nodes_loaded: Literal[0]
    raw_graph_nodes_admitted_to_gradients: Literal[0]
