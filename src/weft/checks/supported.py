"""`supported`: no document contradicts what is claimed; where the author asks for more, one has it in its words.

The documents are cut into stretches; the three that have most of a claim's words are held against it (see `claims` for
what is compared). Code can't know whether a paraphrase is true, so what is not checked is no fault unless `at_least`
asks for it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final, Literal

from pydantic import Field

from weft.checks.claim_words import terms
from weft.checks.claims import STATES, Verdict, compare
from weft.checks.contract import CheckDefinition, CheckInput, DocumentNames, OptionalData, look
from weft.checks.faults import Fault, showable, shown
from weft.checks.folding import text_of
from weft.checks.paths import kind
from weft.protocol.values import dataclass

_BLANK: Final = re.compile(r"\n\s*\n")
_STRETCH: Final = 1_500
_CANDIDATES: Final = 3


class SupportedOptions(OptionalData):
    sources: DocumentNames = Field(
        alias="in", description="The document that has to support the texts, or a list: any one of them."
    )
    at_least: Literal["not_checked", "quoted"] = Field(
        default="not_checked",
        description="What every text has to be: `quoted`, in a document's words; or only not contradicted.",
    )

    def reads(self) -> tuple[str, ...]:
        return self.sources


@dataclass(frozen=True, slots=True)
class _Stretch:
    text: str
    terms: frozenset[str]


def check_supported(options: SupportedOptions, given: CheckInput) -> Iterator[Fault]:
    stretches = [stretch for name in options.sources for stretch in _stretches(text_of(given.documents[name]))]
    names = " or ".join(options.sources)
    for place in look(options, given.value):
        if isinstance(place, Fault):
            yield place
            continue
        if not isinstance(place.value, str):
            hint = "a claim is one text; a path to the texts of a list ends in [*]"
            yield Fault(place.pointer, f"{shown(place.value)} is {kind(place.value)}, not text", hint)
            continue
        verdict = _judged(place.value, stretches)
        if verdict.state == "quoted" or (verdict.state == "not_checked" and options.at_least == "not_checked"):
            continue
        yield Fault(place.pointer, _message(place.value, verdict, names), _hint(verdict, names))


def _stretches(text: str) -> Iterator[_Stretch]:
    """Paragraphs, short ones together: a claim may rest on two neighbours, never on a whole document."""
    kept = ""
    for block in _BLANK.split(text):
        if kept and len(kept) + len(block) > _STRETCH:
            yield _Stretch(kept, frozenset(terms(kept)))
            kept = ""
        kept = f"{kept}\n\n{block}" if kept else block
    if kept.strip():
        yield _Stretch(kept, frozenset(terms(kept)))


def _judged(claim: str, stretches: Sequence[_Stretch]) -> Verdict:
    wanted = set(terms(claim))
    best = sorted(stretches, key=lambda stretch: -len(wanted & stretch.terms))[:_CANDIDATES]
    verdicts = [compare(claim, stretch.text) for stretch in best] or [compare(claim, "")]
    return min(verdicts, key=lambda verdict: (STATES.index(verdict.state), -verdict.overlap))


def _message(claim: str, verdict: Verdict, names: str) -> str:
    said = shown(claim)
    if verdict.state == "contradicted":
        return f"{names} contradicts {said}: {verdict.reason}"
    return f"{said} is not quoted from {names}: {verdict.reason}"


def _hint(verdict: Verdict, names: str) -> str:
    near = f"The nearest in {names} is “{showable(verdict.sentence[:300])}”. " if verdict.sentence else ""
    words = "" if verdict.state == "contradicted" else " in its words"
    return f"{near}Say what {names} says{words}, or leave it out"


SUPPORTED: Final = CheckDefinition(
    "supported",
    "No text is a statement of a document with a number, name, negation or modal word changed; or all are quoted.",
    SupportedOptions,
    check_supported,
)
