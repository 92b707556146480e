"""What a person reads when a page cannot be what was asked for.

The statuses are those of the programs' routes. A caller's fault is said in a sentence; what a provider or a
file did wrong is named by its type alone.
"""

from typing import NamedTuple

from secondbrain.errors import (
    DeadlineExceeded,
    IntegrityError,
    ProviderBoundaryError,
    ProviderUnavailable,
    RetrievalBoundaryError,
    SecondBrainError,
)
from secondbrain.space.problems import Problem


class Fault(NamedTuple):
    """An error as the page shows it."""

    status: int
    title: str
    sentence: str


def fault(error: Problem | SecondBrainError) -> Fault:
    """Return how an error is shown."""
    kind = type(error).__name__
    match error:
        case Problem():
            return _refused(error.kind.status, error.members["detail"])
        case ProviderBoundaryError():
            return Fault(502, "Blocked", f"A provider broke its contract ({kind}). Its answer is not shown.")
        case RetrievalBoundaryError():
            return _refused(422, str(error))
        case ProviderUnavailable():
            return Fault(503, "Blocked", f"A provider is out of reach ({kind}). Ask again later.")
        case DeadlineExceeded():
            return Fault(503, "Took too long", "The search took longer than its time. Ask for less at once.")
        case IntegrityError():
            return Fault(
                503, "Unavailable", f"The stored file fails its check ({kind}). It has to be built anew."
            )
        case _:
            return Fault(500, "Not possible", f"The page could not be made ({kind}).")


def _refused(status: int, detail: str) -> Fault:
    return Fault(status, "That can’t be asked", f"The question was refused: {detail}.")
