"""Does a passage say what is said of it? Deterministic, offline, with the words and the sentence behind every verdict.

words.py      sentences, terms, negation, strength of obligation, opposites
facts.py      numbers with their units, dates, names
compare.py    one claim against one passage: verified, contradicted, not verified, not checked
axes.py       the four axes over many claims: entities, citations, relations, contradictions
compat.py     the same axes scored as the reference does, for those who compare
"""

from __future__ import annotations

from weft.checks.claims import Evidence, Verdict, compare
from weft.knowledge.verify.axes import (
    check_citations,
    check_contradictions,
    check_entities,
    check_relations,
)

__all__ = [
    "Evidence",
    "Verdict",
    "check_citations",
    "check_contradictions",
    "check_entities",
    "check_relations",
    "compare",
]
