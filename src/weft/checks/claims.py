"""One claim against one passage: *quoted*, *contradicted*, or *not checked*. What code can know, and no more.

Quoted is a sentence of the passage, or the same statement up to function words and form. Contradicted is the same
statement with one number, unit, date, name, negation, modal word or quantifier that is another. Everything else may be
true or false: code can't know, so it is not checked, and the nearest sentence is shown with what is different. How
sentences are read says `statements`, how two are laid side by side `matching`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final, get_args

from weft.checks.folding import fold
from weft.checks.matching import Alignment, Difference, align
from weft.checks.statements import Statement, read_statement
from weft.language.sentences import sentences
from weft.protocol.events import ClaimVerdict
from weft.protocol.values import dataclass

State = ClaimVerdict
STATES: Final[tuple[State, ...]] = get_args(ClaimVerdict)
ABOUT: Final = 0.5
"""The share of a claim's words a sentence must have to be about the same thing."""
VERBATIM: Final = "the passage has these words"
NEARLY: Final = "the passage has this statement in nearly these words"
_HELD_AGAINST: Final = 8
"""How many sentences, the nearest first, are laid beside a claim."""
_FENCE: Final = re.compile(r"^[ \t]*(?:```|~~~).*$", re.MULTILINE)
_COLON: Final = re.compile(r":(?=\s|\Z)")
_QUOTATION: Final = re.compile(r"[\"“„«]([^\"“”„«»]+)[\"”»]?", re.DOTALL)
"""All of a sentence, or a paragraph of it that goes on in the next."""
_SEVERAL: Final = frozenset({"number", "date"})
"""Kinds of which more than one may be different in one statement and still turn it round."""


@dataclass(frozen=True, slots=True)
class Evidence:
    """One thing that was compared: what the claim has, the sentence it was held against, and what came of it."""

    kind: str
    agrees: bool
    claim: str
    sentence: str
    reason: str


@dataclass(frozen=True, slots=True)
class Verdict:
    state: State
    overlap: float
    """The share of the claim's telling words that the passage has: what it is about, not what it says."""
    sentence: str
    """The nearest sentence of the passage, "" when nothing in it is about the claim."""
    evidence: tuple[Evidence, ...]
    matching: int = 0
    total: int = 0

    @property
    def reason(self) -> str:
        return "; ".join(dict.fromkeys(item.reason for item in self.evidence if not item.agrees)) or "; ".join(
            dict.fromkeys(item.reason for item in self.evidence)
        )


def compare(claim: str, passage: str, lead: str = "") -> Verdict:
    """`lead` is what stands before a list of which the passage is one item: the two together are a sentence too."""
    parts = sentences(claim)
    plain = _statements(passage)
    sources = [*plain, *_led(plain, lead)]
    verdicts = [run] if (run := _run(claim, plain)) else [_one(part, sources) for part in parts]
    wanted = frozenset().union(*(read_statement(part).keys for part in parts))
    there = frozenset().union(*(source.keys for source in sources))
    matching = len(wanted & there)
    overlap = matching / len(wanted) if wanted else 0.0
    if not verdicts:
        return Verdict("not_checked", 0.0, "", (Evidence("nothing in common", False, claim, "", "it has no words"),))
    # The whole is what its weakest part is; one part that is turned round turns the whole.
    order: tuple[State, ...] = ("contradicted", "not_checked", "quoted")
    worst = min(verdicts, key=lambda verdict: order.index(verdict.state))
    evidence = tuple(item for verdict in verdicts for item in verdict.evidence if verdict.state == worst.state)
    return Verdict(worst.state, overlap, worst.sentence, evidence, matching, len(wanted))


def conflicts(one: str, other: str) -> list[Evidence]:
    """Where two passages state the same with one thing turned round. `claim` and `sentence` are the two sentences."""
    plain = _statements(other)
    others = [*plain, *_led(plain, "")]
    found: list[Evidence] = []
    for sentence in sentences(one):
        verdict = _one(sentence, others)
        if verdict.state == "contradicted":
            item = verdict.evidence[0]
            found.append(Evidence(item.kind, False, sentence, verdict.sentence, item.reason))
    return found


def _statements(passage: str) -> list[Statement]:
    """Its sentences; of a quotation that says nothing of who said it, also those inside it."""
    found = sentences(_FENCE.sub("", passage))
    inside = [part for one in found if (quotation := _QUOTATION.fullmatch(one)) for part in sentences(quotation[1])]
    return [read_statement(sentence) for sentence in (*found, *inside)]


def _led(plain: Sequence[Statement], lead: str) -> Iterator[Statement]:
    """`The auditor shall:` and its items, each as one sentence; a passage may begin with its own lead."""
    before = lead.strip()
    for one in plain:
        if one.text.endswith(":"):
            before = one.text
        elif before.endswith(":"):
            yield read_statement(f"{before[:-1]} {one.text}")


def _run(claim: str, plain: Sequence[Statement]) -> Verdict | None:
    """Quoted, where the claim is a run of whole sentences, terms or lines of the passage, as they stand there."""
    said = read_statement(claim)
    wanted = _stopped(said.text)
    begun: list[str] = []
    for source in plain if said.tokens else ():
        text = _COLON.sub("", fold(source.text).text)
        begun = [one for before in (*begun, "") if wanted.startswith(one := f"{before} {text}".strip())]
        if any(_stopped(one) == wanted for one in begun):
            return _quoted(claim, said, 1.0, VERBATIM)
    return None


def _stopped(text: str) -> str:
    """For comparing words as they stand, with one stop behind them: a colon that ties a term to what is said of it is
    none of the words."""
    return _COLON.sub("", fold(text).text).rstrip(". ") + "."


def _one(claim: str, sources: list[Statement]) -> Verdict:
    said = read_statement(claim)
    exact = fold(said.text).text.strip("\"' ").rstrip(".")
    ranked = sorted(sources, key=lambda source: -_share(said, source))[:_HELD_AGAINST]
    nearest: tuple[Alignment, Statement] | None = None
    for source in ranked:
        if exact and exact == fold(source.text).text.strip("\"' ").rstrip("."):
            return _quoted(claim, source, 1.0, VERBATIM)
        if _share(said, source) < ABOUT:
            continue
        found = align(said, source)
        if not found.differences:
            return _quoted(claim, source, found.shared, NEARLY)
        if nearest is None or _closer(found, nearest[0]):
            nearest = found, source
    if nearest is None:
        item = Evidence("nothing in common", False, claim, "", "no sentence of the passage is about it")
        return Verdict("not_checked", 0.0, "", (item,))
    alignment, source = nearest
    if _turned(alignment):
        evidence = tuple(
            Evidence(item.kind, False, item.claim, source.text, _told(item)) for item in alignment.differences
        )
        return Verdict("contradicted", alignment.shared, source.text, evidence)
    loose = [item for item in alignment.differences if not item.turns] or list(alignment.differences)
    evidence = tuple(Evidence(item.kind, False, item.claim, source.text, _told(item)) for item in loose[:3])
    return Verdict("not_checked", alignment.shared, source.text, evidence)


def _quoted(claim: str, source: Statement, shared: float, reason: str) -> Verdict:
    return Verdict("quoted", shared, source.text, (Evidence("words", True, claim, source.text, reason),))


def _share(claim: Statement, source: Statement) -> float:
    return len(claim.keys & source.keys) / len(claim.keys) if claim.keys else 0.0


def _turned(alignment: Alignment) -> bool:
    found = alignment.differences
    return all(item.turns for item in found) and (len(found) == 1 or all(item.kind in _SEVERAL for item in found))


def _closer(one: Alignment, other: Alignment) -> bool:
    return (_turned(one), -len(one.differences), one.shared) > (_turned(other), -len(other.differences), other.shared)


def _told(item: Difference) -> str:
    claim, source = f"“{item.claim}”", f"“{item.source}”"
    match item.kind:
        case "negation":
            which, other = ("claim", "passage") if item.claim else ("passage", "claim")
            return f"the {which} has a negation ({claim if item.claim else source}) that the {other} has not"
        case "left out":
            return f"the claim leaves out {source}"
        case "added":
            return f"the passage does not say {claim}"
        case "order":
            return f"{claim} stands elsewhere in the passage"
        case "role":
            return f"{claim} and {source} need not be done by the same"
        case "question":
            return "the passage asks it, and does not say it"
        case "nothing in common":
            return "no sentence of the passage is about it"
        case _:
            return f"the claim has {claim} where the passage has {source}" + (f" ({item.note})" if item.note else "")
