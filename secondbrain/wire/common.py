"""What payloads share: boundary, authorities, and the constants that they declare."""

from typing import Literal, NotRequired

# pydantic reads no other TypedDict on Python 3.11.
from typing_extensions import TypedDict

Authority = Literal["NONE"]

PRIVATE_GRAPH_NODES = 9464
"""Size of the private graph, which stays elsewhere: declared, never loaded."""
LOCKED_PROVEN = ("F1", "F4", "F7", "F11", "F12", "F18", "F19", "F22")
HONESTY = (
    "Handles and digests only. A rank or score says how words met an index: it is no statement that "
    "a chunk is true, proven or relevant. Lambda uniqueness is CONJECTURE_1; nothing is promoted here."
)


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
