"""Every exception that this library raises, by who is at fault.

SecondBrainError
├── IntegrityError                 stored data is not what it claims to be
│   ├── CorpusIntegrityError       a projection, before it is admitted
│   ├── StoreIntegrityError        a built database file
│   └── FrontierIntegrityError     a discovered payload, candidate set or state
├── BoundaryError                  a caller or a provider stepped over a rule
│   ├── RetrievalBoundaryError     a query outside its contract
│   │   └── ProviderBoundaryError  what a dense provider or reranker returned
│   ├── DeadlineExceeded           a search took longer than its time
│   ├── HydrationDenied            text was asked for and is not given
│   └── FrontierBoundaryError      a discovery or proposal run outside its contract
├── ProviderUnavailable            an outage that a provider itself recognised
└── ConfigurationError             a setting that cannot be followed
"""


class SecondBrainError(Exception):
    """Base of all errors of this library."""


class IntegrityError(SecondBrainError):
    """Stored data is not what it claims to be."""


class CorpusIntegrityError(IntegrityError):
    """A projection breaks an admission rule; nothing of it was admitted."""


class StoreIntegrityError(IntegrityError):
    """A database file fails its check; the remedy is a rebuild from the projection."""


class FrontierIntegrityError(IntegrityError):
    """A discovered payload, candidate set or state fails its check."""


class BoundaryError(SecondBrainError):
    """A caller or a provider stepped over a rule."""


class RetrievalBoundaryError(BoundaryError):
    """A query, or an answer of a dense provider or reranker, is outside its contract."""


class ProviderBoundaryError(RetrievalBoundaryError):
    """A dense provider or reranker answered outside its contract; the request is blocked."""


class DeadlineExceeded(BoundaryError):
    """A search took longer than its time and was ended."""


class HydrationDenied(BoundaryError):
    """Text was asked for and is not given; nothing was released."""


class FrontierBoundaryError(BoundaryError):
    """A discovery, review or proposal step is outside its contract."""


class ProviderUnavailable(SecondBrainError):
    """A provider is out of reach, as its own adapter recognised."""


class ConfigurationError(SecondBrainError):
    """A setting names something that cannot be followed."""
