"""Every payload that leaves the library, as a TypedDict under its schema name.

Payloads are plain dicts. Consumers read these keys: adding one is free, renaming one is not.
No payload here holds the text of a chunk or candidate, the two hydrations apart.
"""

from typing import Any, Literal, NotRequired

# pydantic reads no other TypedDict on Python 3.11.
from typing_extensions import TypedDict

CONTEXT = "szl.second-brain.hybrid-context/v1"
RETRIEVE = "szl.second-brain.retrieve/v1"
NAVIGATOR = "szl.brain.navigator-context/v1"
HYDRATION = "szl.second-brain.authorized-hydration/v1"
INDEX = "szl.second-brain.index/v1"
STATUS = "szl.second-brain.status/v1"
MANIFEST = "szl.second-brain.manifest/v1"
CAPABILITIES = "szl.second-brain.retrieval-capabilities/v1"
EXPLANATION = "szl.second-brain.explanation/v1"
EVALUATION = "szl.second-brain.evaluation/v1"
VERIFICATION = "szl.second-brain.verification/v1"
FRONTIER_CANDIDATE = "szl.second-brain.frontier-candidate/v1"
FRONTIER_STATE = "szl.second-brain.frontier-state/v1"
FRONTIER_HANDLE = "szl.second-brain.frontier-handle/v1"
FRONTIER_SEARCH = "szl.second-brain.frontier-search/v1"
FRONTIER_HYDRATION = "szl.second-brain.frontier-hydration/v1"
FRONTIER_RUN = "szl.second-brain.continuous-frontier-run/v1"
FRONTIER_DIFF = "szl.second-brain.frontier-diff/v1"
ANATOMY = "szl.second-brain.anatomy-feed/v1"

ContextState = Literal[
    "GROUNDED_HANDLES_READY", "ABSTAIN_NO_GROUNDED_HANDLES", "ABSTAIN_NO_QUERY", "UNAVAILABLE"
]
ComponentState = Literal["OK", "NOT_CONFIGURED", "NOT_RUN", "UNAVAILABLE"]
ComponentReason = Literal[
    "NO_QUERY", "NO_TERMS", "NO_CANDIDATES", "PROVIDER_UNAVAILABLE", "STORE_UNAVAILABLE"
]
GroundedBy = Literal["SPARSE", "DENSE", "NOTHING", "NOT_APPLIED"]
Authority = Literal["NONE"]

PRIVATE_GRAPH_NODES = 9464
"""Size of the private graph, which stays elsewhere: declared, never loaded."""
LOCKED_PROVEN = ("F1", "F4", "F7", "F11", "F12", "F18", "F19", "F22")
HONESTY = (
    "Handles and digests only. A rank or score says how words met an index: it is no statement that "
    "a chunk is true, proven or relevant. Lambda uniqueness is CONJECTURE_1; nothing is promoted here."
)


class Handle(TypedDict):
    """What a public caller sees of a chunk: never its text."""

    nodeId: str
    nodeKind: Literal["INDEX"]
    label: Literal["DECLARED"]
    note: str
    """The title, at most 160 characters."""
    source: str
    sourceId: str
    sha256: str


class Evidence(TypedDict):
    """The binding of one handle to a stored text."""

    node_id: str
    source: str
    sha256: str


class QueryTerm(TypedDict):
    """One term of the caller's query, by its place in the query (characters, end excluded)."""

    start: int
    end: int
    idf: float
    """ln(1 + (N - n + 0.5) / (n + 0.5)); a term that the corpus lacks counts as the rarest."""


class AliasUse(TypedDict):
    """An alias that joined a term: the row of the alias table."""

    row: int
    terms: list[int]


class SelectedNode(TypedDict):
    """How one selected node came to its place; absent components are null."""

    node_id: str
    rank: int
    sparse_rank: int | None
    sparse_score: float | None
    dense_rank: int | None
    dense_score: float | None
    fused_score: float
    reranker_rank: int | None
    reranker_score: float | None
    held_terms: list[int]
    """Indices into the receipt's ``terms``."""
    coverage: float


class Candidates(TypedDict):
    """How many rows took part in each step."""

    sparse: int
    dense: int
    fused: int
    selected: int


class GroundingParameters(TypedDict):
    """The parameters of the rule of grounding; 0 turns a part off."""

    min_coverage: float
    min_held_terms: int
    long_query_terms: int


class AbstentionRule(GroundingParameters):
    """The rule of grounding that was applied, and what it found."""

    best_coverage: float
    best_held_terms: int
    grounded_by: GroundedBy


class DenseBindingPayload(TypedDict):
    """The pinned identity of a dense provider."""

    model: str
    revision: str
    dimensions: int
    generation_sha256: str
    grounding_floor: float | None


class RerankerBindingPayload(TypedDict):
    """The pinned identity of a reranker."""

    model: str
    revision: str


class RankingReceipt(TypedDict):
    """How a ranking came about; no query text, no chunk text."""

    mode: str
    sparse: ComponentState
    sparse_reason: ComponentReason | None
    dense: ComponentState
    dense_reason: ComponentReason | None
    reranker: ComponentState
    reranker_reason: ComponentReason | None
    dense_binding: DenseBindingPayload | None
    reranker_binding: RerankerBindingPayload | None
    fusion: Literal["RECIPROCAL_RANK_FUSION"]
    rrf_k: int
    sparse_weight: float
    dense_weight: float
    candidate_depth: int
    candidates: Candidates
    per_source_limit: int
    sources: list[str] | None
    terms: list[QueryTerm]
    aliases: list[AliasUse]
    abstention: AbstentionRule
    selected: list[SelectedNode]
    generation_sha256: str | None


class Boundary(TypedDict):
    """What every retrieval payload says of its limits."""

    content_access: Literal["HANDLES_ONLY"]
    index_is_model_weights: Literal[False]
    raw_graph_nodes_admitted_to_gradients: Literal[0]
    honesty: str
    error_type: NotRequired[str]
    """The kind of the error, where the state is UNAVAILABLE."""


class Authorities(TypedDict):
    """The four authorities that nothing here has."""

    training_authority: Authority
    promotion_authority: Authority
    execution_authority: Authority
    merge_authority: Authority


class Context(Boundary):
    """Handles, evidence and ranking receipt for one query."""

    schema: Literal["szl.second-brain.hybrid-context/v1"]
    state: ContextState
    ready: bool
    query_sha256: str
    generation_sha256: str | None
    handles: list[Handle]
    evidence: list[Evidence]
    evidence_set_sha256: str
    handles_sha256: str
    ranking_receipt: RankingReceipt
    corpus_n: int


class Retrieval(Boundary):
    """BM25 handles with scores; smaller is better, as bm25() gives them."""

    schema: Literal["szl.second-brain.retrieve/v1"]
    state: ContextState
    ready: bool
    query_sha256: str
    generation_sha256: str | None
    handles: list[Handle]
    scores: list[float]
    k: int
    corpus_n: int


class NavigatorContext(Boundary):
    """Handles and evidence for a navigator model: a context without its receipt."""

    schema: Literal["szl.brain.navigator-context/v1"]
    state: ContextState
    ready: bool
    query_sha256: str
    generation_sha256: str | None
    handles: list[Handle]
    evidence: list[Evidence]
    evidence_set_sha256: str
    handles_sha256: str
    corpus_n: int
    grounded_count: int
    handle_evidence_set_equivalent: bool


class Document(TypedDict):
    """One hydrated text, inside the controller."""

    node_id: str
    source: str
    sha256: str
    content: str


class Hydration(TypedDict):
    """Authorised text; for the controller alone."""

    schema: Literal["szl.second-brain.authorized-hydration/v1"]
    state: Literal["AUTHORIZED_CONTENT_READY"]
    ready: Literal[True]
    content_access: Literal["CONTROLLER_ONLY"]
    principal_id_sha256: str
    tenant_id_sha256: str
    policy_revision: str
    evidence_set_sha256: str
    documents: list[Document]
    generation_sha256: str
    raw_graph_nodes_admitted_to_gradients: Literal[0]


class Index(Boundary):
    """Counts of chunks by source."""

    schema: Literal["szl.second-brain.index/v1"]
    ready: bool
    generation_sha256: str | None
    corpus_n: int
    sources: dict[str, int]


class Status(Boundary):
    """Which generation is open, and how it was checked."""

    schema: Literal["szl.second-brain.status/v1"]
    state: Literal["READY", "UNAVAILABLE"]
    ready: bool
    generation_sha256: str | None
    rows_sha256: str | None
    index_sha256: str | None
    aliases_sha256: str | None
    candidate_set_sha256: str | None
    file_sha256: str | None
    integrity: Literal["FILE_DIGEST_MATCHED", "VERIFIED_IN_FULL", "SIZE_AND_SCHEMA_ONLY", "NOT_CHECKED"]
    schema_version: int
    corpus_n: int
    frontier_n: int
    private_graph_nodes_declared: int
    private_graph_nodes_loaded: Literal[0]
    lambda_status: Literal["CONJECTURE_1"]
    locked_proven: list[str]


class Route(TypedDict):
    """One HTTP route."""

    path: str
    methods: list[str]
    answers: str


class Manifest(Boundary, Authorities):
    """The routes and boundaries of the HTTP face."""

    schema: Literal["szl.second-brain.manifest/v1"]
    version: str
    doctrine: Literal["v11"]
    generation_sha256: str | None
    routes: list[Route]
    never: list[str]


class Capabilities(Boundary):
    """The modes that can occur with the providers configured here."""

    schema: Literal["szl.second-brain.retrieval-capabilities/v1"]
    modes: list[str]
    sparse: Literal["FTS5_BM25"]
    dense: DenseBindingPayload | None
    reranker: RerankerBindingPayload | None
    max_k: int
    max_query_characters: int
    candidate_depth: int
    rrf_k: int
    per_source_limit: int


ExplanationOutcome = Literal["SELECTED", "BELOW_K", "SOURCE_LIMIT_REACHED", "ABSTAINED", "NOT_A_CANDIDATE"]


class ExplainedTerm(TypedDict):
    """One query term, and whether the node holds it."""

    start: int
    end: int
    idf: float
    held: bool


class Explanation(Boundary):
    """Why a node stands where it stands for a query, or why it does not."""

    schema: Literal["szl.second-brain.explanation/v1"]
    outcome: ExplanationOutcome
    query_sha256: str
    generation_sha256: str
    node_id: str
    handle: Handle
    k: int
    mode: str
    rank: int | None
    sparse_rank: int | None
    sparse_score: float | None
    dense_rank: int | None
    dense_score: float | None
    fused_rank: int | None
    fused_score: float | None
    reranker_score: float | None
    terms: list[ExplainedTerm]
    coverage: float
    nodes_of_same_source_above: int
    per_source_limit: int
    abstention: AbstentionRule


class Finding(TypedDict):
    """One failed check: which, and where; never any text."""

    check: str
    detail: str


class Verification(TypedDict):
    """The outcome of a verification of a file or of a receipt."""

    schema: Literal["szl.second-brain.verification/v1"]
    subject: Literal["STORE", "RECEIPT"]
    state: Literal["VERIFIED", "STALE", "TAMPERED", "FAILED"]
    ready: bool
    generation_sha256: str | None
    findings: list[Finding]
    checked: list[str]
    not_proven: list[str]


class Evaluation(TypedDict):
    """What ``secondbrain eval`` measured on a collection."""

    schema: Literal["szl.second-brain.evaluation/v1"]
    measured: Literal["CONTEXT", "SPARSE_LEG"]
    generation_sha256: str
    documents: int
    queries: int
    refused: int
    """Queries that the engine refuses by rule; they count as nothing found."""
    measures: dict[str, float]
    """Measure, as ir-measures spells it → mean over the judged queries."""


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


PAYLOADS: dict[str, Any] = {
    CONTEXT: Context,
    RETRIEVE: Retrieval,
    NAVIGATOR: NavigatorContext,
    HYDRATION: Hydration,
    INDEX: Index,
    STATUS: Status,
    MANIFEST: Manifest,
    CAPABILITIES: Capabilities,
    EXPLANATION: Explanation,
    VERIFICATION: Verification,
    EVALUATION: Evaluation,
    FRONTIER_CANDIDATE: FrontierCandidate,
    FRONTIER_STATE: FrontierState,
    FRONTIER_HANDLE: FrontierHandle,
    FRONTIER_SEARCH: FrontierSearch,
    FRONTIER_HYDRATION: FrontierHydration,
    FRONTIER_DIFF: FrontierDiff,
    FRONTIER_RUN: FrontierRun,
    ANATOMY: AnatomyFeed,
}
"""Schema name → TypedDict, for every payload that carries one."""


def boundary() -> Boundary:
    """Return the boundary keys that every retrieval payload carries."""
    return {
        "content_access": "HANDLES_ONLY",
        "index_is_model_weights": False,
        "raw_graph_nodes_admitted_to_gradients": 0,
        "honesty": HONESTY,
    }


def no_authority() -> Authorities:
    """Return the four authorities, each NONE."""
    return {
        "training_authority": "NONE",
        "promotion_authority": "NONE",
        "execution_authority": "NONE",
        "merge_authority": "NONE",
    }
