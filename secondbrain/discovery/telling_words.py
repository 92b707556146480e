"""The words that tell a part of a document from the rest of it.

A word's weight is how often it stands in the part, divided by the number of sections that hold it.
Fractions, not floats: the same payload must give the same words on every machine.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from fractions import Fraction

TELLING_WORDS = 10

# Not the index's stop words: that list may grow, and with it every published content would change.
_COMMON = """
    about above after against also another because been before being below between both cannot could does
    doing down during each else ever every from have having here into itself just like made make many more
    most much must need never none once only other over same shall should some such than that their them
    then there these they this those through under until upon very were what when where which while will
    with within without would your
"""
STOP_WORDS = frozenset(_COMMON.split())


def telling_words(words: Sequence[str], sections_holding: Mapping[str, int]) -> list[str]:
    """Return up to ten words of a part, the most telling first; ties go by the alphabet."""
    counts = Counter(word for word in words if word not in STOP_WORDS)
    ranked = sorted(counts, key=lambda word: (-Fraction(counts[word], sections_holding[word]), word))
    return ranked[:TELLING_WORDS]
