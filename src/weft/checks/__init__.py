"""Deterministic tests of an artifact beyond its JSON Schema: pure, without I/O, the same answer every time.

A pipeline declares a check as a name and a mapping of options. `parse_check` validates that once, at load time, and
says what is wrong with it; the call's `reads` names what must be read for it; `run_check` gives the findings. Each
check is a pydantic model of its options and a generator of faults, listed in `CHECKS`:

    verbatim.py      quotes occur in a document, word by word       (folding.py, passages.py)
    numbers_from.py  numbers occur in a document                    (numerals.py, number_words.py)
    supported.py     claims are supported by a document             (claims.py, matching.py, statements.py, dates.py)
    equality.py      same, unique
    measures.py      count, sum_near
    patterns.py      matches

`schema.py` is what comes before any check: a value against its JSON Schema. `paths.py` is the language of `at`;
`faults.py` turns what a check yields into a bounded list of findings.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from weft.checks.contract import CheckCall, CheckInput, CheckProblem
from weft.protocol.fronts import front

if TYPE_CHECKING:
    from weft.checks.calls import CHECKS, parse_check, run_check
else:  # a run whose steps are all made checks nothing
    __getattr__ = front(__name__)

__all__ = [
    "CHECKS",
    "CheckCall",
    "CheckInput",
    "CheckProblem",
    "parse_check",
    "run_check",
]
