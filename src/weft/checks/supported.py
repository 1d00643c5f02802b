"""`supported`: no document contradicts what is claimed; where the author asks for more, one has it in its words, or a
model has judged it by exact words.

The documents are cut into stretches; the three that have most of a claim's words are held against it (see `claims` for
what is compared). Code can't know whether a paraphrase is true, so what is not checked is no fault unless `at_least`
asks for it. For `judged`, an earlier step of a model has judged the texts (`judgements`), and `judging` says how far it
is believed.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Final, Literal, Self

from pydantic import Field, model_validator

from weft.checks.claim_words import terms
from weft.checks.claims import STATES, Verdict, compare
from weft.checks.contract import CheckInput
from weft.checks.faults import Fault, showable, shown
from weft.checks.folding import fold, text_of
from weft.checks.judging import JudgedSentence, held, judged_claims
from weft.checks.options import CheckDefinition, DocumentNames, OptionalData, look
from weft.checks.paths import kind
from weft.language.sentences import sentences
from weft.protocol.patterns import pattern
from weft.protocol.values import dataclass

_BLANK: Final = re.compile(r"\n\s*\n")
_STRETCH: Final = 1_500
_CANDIDATES: Final = 3
_ADDRESS: Final = pattern(
    r"\s*(?:dear|hi|hello|hey|liebe[rs]?|hallo|guten tag|chers?|chères?|bonjour|hola|querid[oa]s?|estimad[oa]s?)"
    r"(?: [\w.'’-]+){0,4}, (?=\w)",
    re.IGNORECASE,
)
"""Whom a letter speaks to is no part of what it says."""
_WORST: Final = ("contradicted", "not_checked", "judged", "quoted")


class SupportedOptions(OptionalData):
    sources: DocumentNames = Field(
        alias="in", description="The document that has to support the texts, or a list: any one of them."
    )
    at_least: Literal["not_checked", "judged", "quoted"] = Field(
        default="not_checked",
        description="What every text has to be: `quoted`, in a document's words; `judged`, quoted or by a model in"
        " exact words; or only not contradicted.",
    )
    judgements: str = Field(
        default="",
        description="The artifact of the model that judged the texts: `judgements[*]` with `sentence` and its `claims`,"
        " labelled by the names in `in`. For `at_least: judged`.",
    )

    @model_validator(mode="after")
    def _complete(self) -> Self:
        if (self.at_least == "judged") != bool(self.judgements):
            raise ValueError("`at_least: judged` and `judgements`, the artifact with them, go together")
        return self

    def reads(self) -> tuple[str, ...]:
        return (*self.sources, *([self.judgements] if self.judgements else ()))


@dataclass(frozen=True, slots=True)
class _Stretch:
    text: str
    terms: frozenset[str]


def check_supported(options: SupportedOptions, given: CheckInput) -> Iterator[Fault]:
    texts = [text_of(given.documents[name]) for name in options.sources]
    names = " or ".join(options.sources)
    for place in look(options, given.value):
        if isinstance(place, Fault):
            yield place
            continue
        if not isinstance(place.value, str):
            hint = "a claim is one text; a path to the texts of a list ends in [*]"
            yield Fault(place.pointer, f"{shown(place.value)} is {kind(place.value)}, not text", hint)
            continue
        verdict = held_against(place.value, texts)
        if verdict.state == "quoted" or (verdict.state == "not_checked" and options.at_least == "not_checked"):
            continue
        if options.judgements and verdict.state == "not_checked":
            found = _by_model(place.value, options, given)
            if found.state == "judged":
                continue
            message = f"{shown(place.value)} is {found.state.replace('_', ' ')}: {found.reason}"
            yield Fault(place.pointer, message, _hint(verdict, names))
            continue
        yield Fault(place.pointer, _message(place.value, verdict, names), _hint(verdict, names))


@lru_cache(maxsize=16)
def _stretches(text: str) -> tuple[_Stretch, ...]:
    """Paragraphs, short ones together: a claim may rest on two neighbours, never on a whole document."""
    found, kept = list[str](), ""
    for block in _BLANK.split(text):
        if kept and len(kept) + len(block) > _STRETCH:
            found.append(kept)
            kept = ""
        kept = f"{kept}\n\n{block}" if kept else block
    if kept.strip():
        found.append(kept)
    return tuple(_Stretch(one, frozenset(terms(one))) for one in found)


def _by_model(claim: str, options: SupportedOptions, given: CheckInput) -> JudgedSentence:
    texts = {name: text_of(given.documents[name]) for name in options.sources}
    claims = judged_claims(given.documents[options.judgements])
    return held(claim, claims.get(fold(claim).text, ()), texts, "the judge")


def held_against(text: str, documents: Sequence[str]) -> Verdict:
    """What documents say of a text. Of several sentences each may stand elsewhere, and the worst of them decides."""
    text = _ADDRESS.sub("", text, count=1) if _ADDRESS.match(text) else text
    stretches = [stretch for document in documents for stretch in _stretches(document)]
    whole = _nearest(text, stretches)
    parts = sentences(text)
    if whole.state == "quoted" or len(parts) < 2:
        return whole
    return min((_nearest(part, stretches) for part in parts), key=lambda verdict: _WORST.index(verdict.state))


def _nearest(claim: str, stretches: Sequence[_Stretch]) -> Verdict:
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
