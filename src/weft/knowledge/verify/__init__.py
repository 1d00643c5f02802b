"""Does a passage say what is said of it? Code knows quotations and what turns one round; a model judges the rest.

axes.py       the four axes over many claims: entities, citations, relations, contradictions
compat.py     the same axes scored as the reference does, by words that occur, for those who compare

One claim against one passage is `weft.checks.claims`: quoted, contradicted or not checked.
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
