"""Whether a find is about what was asked: search always finds something, and not all of it may be quoted."""

from __future__ import annotations

from typing import Final

from weft.checks import claim_words as words
from weft.knowledge.research.question import terms_of
from weft.knowledge.search import Hit

NEAR: Final = 0.42
"""The likeness of meanings from which words need not agree."""
SHARED: Final = 0.34
SHARED_OF_FEW: Final = 0.5
"""The share of the asked terms that must be there; with one or two terms more of them."""
SOMEWHAT_NEAR: Final = 0.2
"""Less likeness than this speaks against a find by words alone, when there is a likeness and not most words agree."""
MOST_WORDS: Final = 0.6


def share_of(asked: tuple[str, ...], text: str) -> float:
    """Of the asked terms, how many the text has."""
    there = {*words.terms(text), *terms_of(text)}
    return sum(term in there for term in asked) / len(asked) if asked else 0.0


def about(query: str, hit: Hit) -> bool:
    if "named" in hit.paths:
        return True
    asked = terms_of(query)
    if not asked:
        return "keyword" in hit.paths
    if hit.likeness is not None and hit.likeness >= NEAR:
        return True
    share = share_of(asked, f"{hit.passage.indexed} {hit.passage.title}")
    if share < MOST_WORDS and hit.likeness is not None and hit.likeness < SOMEWHAT_NEAR:
        return False
    return share >= (SHARED_OF_FEW if len(asked) <= 3 else SHARED)
