"""A database's projection, written out again: an operator's own text, for an operator's own file."""

from collections.abc import Iterator

from secondbrain.projection.admission import Row, projection_line
from secondbrain.store.opened import Reader


def projection_lines(reader: Reader) -> Iterator[str]:
    """Yield the canonical line of each row, in the order of positions.

    Where the projection that was built was canonical itself, as ``corpus make`` writes it, these are its
    bytes, and their SHA-256 is the generation.
    """
    for position, node_id, source, source_id, title, text, sha256, derived_from in reader.rows(
        "read/projection"
    ):
        yield projection_line(Row(position, node_id, source, source_id, title, text, sha256, derived_from))
