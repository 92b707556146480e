"""Payloads of chunks: what a query, a status, a verification and a hydration answer."""

from typing import Literal

# pydantic reads no other TypedDict on Python 3.11.
from typing_extensions import TypedDict

from secondbrain.wire.common import Authorities, Boundary

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

ContextState = Literal[
    "GROUNDED_HANDLES_READY", "ABSTAIN_NO_GROUNDED_HANDLES", "ABSTAIN_NO_QUERY", "UNAVAILABLE"
]
ComponentState = Literal["OK", "NOT_CONFIGURED", "NOT_RUN", "UNAVAILABLE"]
ComponentReason = Literal[
    "NO_QUERY", "NO_TERMS", "NO_CANDIDATES", "PROVIDER_UNAVAILABLE", "STORE_UNAVAILABLE"
]
GroundedBy = Literal["SPARSE", "DENSE", "NOTHING", "NOT_APPLIED"]


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
    context_sha256: str
    """Over the canonical JSON of the context without this key: the receipt and all else is bound by it."""


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
