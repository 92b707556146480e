"""The sparse leg: FTS5's bm25() over title (weight 2) and text (weight 1).

The ranking is total: bm25, then node id. The depth is fixed and no multiple of k, so that a shorter
answer is the head of a longer one. FTS5's bm25() is Okapi BM25 with k1 = 1.2 and b = 0.75, negated:
smaller is better (https://sqlite.org/fts5.html#the_bm25_function).
"""

import json
from collections.abc import Sequence

from secondbrain.store.opened import Reader

DEPTH = 128
"""Most candidates of one leg."""


Scored = tuple[int, float]
"""One candidate of a leg: ordinal, which follows the order of node ids, and score. Plain tuples, as
SQLite gives them: a request makes hundreds."""


def sparse_candidates(reader: Reader, expression: str, sources: Sequence[str] | None = None) -> list[Scored]:
    """Return at most DEPTH candidates, best first; none for an empty expression.

    ``sources`` keeps candidates of these sources only. Raises DeadlineExceeded and
    StoreIntegrityError as :meth:`Reader.rows` does.
    """
    if not expression:
        return []
    if sources is None:
        return reader.rows("read/bm25", (expression, DEPTH))
    return reader.rows("read/bm25_of_sources", (expression, json.dumps(sorted(set(sources))), DEPTH))
