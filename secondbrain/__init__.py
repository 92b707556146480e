"""Second Brain: governed retrieval in one SQLite file.

Outside: handles and digests. Inside the trusted controller: text, after authorisation, digest-checked,
all or nothing. Public names stand here and nothing else.
"""

from secondbrain.errors import (
    BoundaryError,
    ConfigurationError,
    CorpusIntegrityError,
    DeadlineExceeded,
    FrontierBoundaryError,
    FrontierIntegrityError,
    HydrationDenied,
    IntegrityError,
    ProviderBoundaryError,
    ProviderUnavailable,
    RetrievalBoundaryError,
    SecondBrainError,
    StoreIntegrityError,
)
from secondbrain.hydration import AuthorizedFrontierHydrator, AuthorizedHydrator
from secondbrain.retrieval.coverage import GroundingRule
from secondbrain.retrieval.explain import explain
from secondbrain.retrieval.frontier import anatomy_feed, frontier_candidate, frontier_search, frontier_status
from secondbrain.retrieval.hybrid import HybridSecondBrain, navigator_context
from secondbrain.retrieval.providers import DenseBinding, DenseHit, DenseProvider, Reranker, RerankerBinding
from secondbrain.retrieval.retrieve import retrieve
from secondbrain.retrieval.status import index, retrieval_capabilities, status
from secondbrain.store.locate import default_store
from secondbrain.store.opened import Store

__version__ = "1.3.0"

__all__ = [
    "AuthorizedFrontierHydrator",
    "AuthorizedHydrator",
    "BoundaryError",
    "ConfigurationError",
    "CorpusIntegrityError",
    "DeadlineExceeded",
    "DenseBinding",
    "DenseHit",
    "DenseProvider",
    "FrontierBoundaryError",
    "FrontierIntegrityError",
    "GroundingRule",
    "HybridSecondBrain",
    "HydrationDenied",
    "IntegrityError",
    "ProviderBoundaryError",
    "ProviderUnavailable",
    "Reranker",
    "RerankerBinding",
    "RetrievalBoundaryError",
    "SecondBrainError",
    "Store",
    "StoreIntegrityError",
    "anatomy_feed",
    "default_store",
    "explain",
    "frontier_candidate",
    "frontier_search",
    "frontier_status",
    "index",
    "navigator_context",
    "retrieval_capabilities",
    "retrieve",
    "status",
]
