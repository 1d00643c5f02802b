"""One claim against one passage: *quoted*, *contradicted*, or *not checked*. What code can know, and no more.

Quoted is a sentence of the passage, or the same statement up to function words, form and voice; a clause that stands
for itself is a statement too (`clauses`). Contradicted is the same statement with one number, unit, date, name,
negation, modal word or quantifier that is another. Everything else may be true or false: code can't know, so it is not
checked, and the nearest sentence is shown with what is different. How sentences are read says `statements`, how two are
laid side by side `matching`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Final, get_args

from weft.checks.clauses import asserted, clauses, in_active, reduced, renamed, without_asides
from weft.checks.folding import fold
from weft.checks.matching import Alignment, Difference, align
from weft.checks.rewording import reworded
from weft.checks.statements import Statement, is_saying, read_statement
from weft.language.sentences import sentences
from weft.protocol.events import ClaimVerdict
from weft.protocol.values import dataclass

State = ClaimVerdict
Source = tuple[Statement, Statement | None]
"""A sentence of the passage, and the one before it that says whom its pronouns mean."""
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
_THIRD: Final = frozenset({"he", "she", "it", "they"})
_WHO: Final = 25
"""The most words that say who said it."""
_JOINED: Final = re.compile(r"\. (?:(?:It|He|She|They) (?=\w))?")
"""Between two sentences; what the second is about when it begins with a pronoun is in the first."""
_VOICE: Final = 0.8
"""The share of a claim's words a sentence must have to be turned from passive to active."""
_LESS: Final = 3
"""How many times its own words a claim may leave out and still speak of the same."""
_PARTS: Final = 3
"""How many parts of a sentence a claim that is turned round may leave out."""
_BRACKETS: Final = re.compile(r"\((?!e\.g|i\.e|see |if |unless |only )([^()]+)\)")
_LEAST: Final = 3
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
    plain = _with_names(_statements(passage))
    sources = [*_in_turn(plain), *((source, None) for source in _led(plain, lead))]
    verdicts = [run] if (run := _run(claim, plain)) else _each(claim, parts, sources)
    wanted = frozenset().union(*(read_statement(part).keys for part in parts))
    there = frozenset().union(*(source.keys for source, _ in sources))
    matching = len(wanted & there)
    overlap = matching / len(wanted) if wanted else 0.0
    if not verdicts:
        return Verdict("not_checked", 0.0, "", (Evidence("nothing in common", False, claim, "", "it has no words"),))
    # The whole is what its weakest part is; one part that is turned round turns the whole.
    order: tuple[State, ...] = ("contradicted", "not_checked", "quoted")
    worst = min(verdicts, key=lambda verdict: order.index(verdict.state))
    evidence = tuple(item for verdict in verdicts for item in verdict.evidence if verdict.state == worst.state)
    return Verdict(worst.state, overlap, worst.sentence, evidence, matching, len(wanted))


def _with_names(plain: Sequence[Statement]) -> list[Statement]:
    """A word that begins a sentence is a name where another sentence has it as one."""
    names = {token.key for one in plain for token in one.tokens if token.role == "name"}

    def named(one: Statement) -> Statement:
        first = one.tokens[0] if one.tokens else None
        if first is None or first.role != "content" or first.key not in names or not first.text[:1].isupper():
            return one
        return replace(one, tokens=(replace(first, role="name"), *one.tokens[1:]))

    return [named(one) for one in plain]


def conflicts(one: str, other: str) -> list[Evidence]:
    """Where two passages state the same with one thing turned round. `claim` and `sentence` are the two sentences."""
    plain = _with_names(_statements(other))
    others: list[Source] = [*_in_turn(plain), *((source, None) for source in _led(plain, ""))]
    found: list[Evidence] = []
    for sentence in sentences(one):
        verdict = _one(sentence, others)
        if verdict.state == "contradicted":
            item = verdict.evidence[0]
            found.append(Evidence(item.kind, False, sentence, verdict.sentence, item.reason))
    return found


def _each(claim: str, parts: Sequence[str], sources: Sequence[Source]) -> list[Verdict]:
    """Sentence by sentence; and all as one where that is a statement of the passage, or each half of one."""
    verdicts = [_one(part, sources) for part in parts]
    if len(parts) == 2 and any(verdict.state != "quoted" for verdict in verdicts):
        joined = _one(_JOINED.sub(", and ", f"{parts[0].rstrip('.')}. {parts[1]}", count=1), sources)
        if joined.state == "quoted":
            return [joined]
    if len(parts) == 1 and verdicts[0].state == "not_checked":
        for halves in clauses(read_statement(parts[0])):
            found = [_one(half, sources) for half in halves]
            if all(verdict.state != "not_checked" for verdict in found):
                return found
    return verdicts


def _in_turn(plain: Sequence[Statement]) -> Iterator[Source]:
    """Every sentence with the one before it that does not begin with a pronoun; then its parts."""
    earlier: Statement | None = None
    for one in plain:
        yield one, earlier
        known = {one.text}
        for part in _parts(one.text):
            told = read_statement(part)
            if told.text not in known:
                yield told, one if _leads(one) and told.text != one.text[: len(told.text)] else earlier
            known.add(told.text)
        for part, told_before in asserted(one):
            if part not in known:
                yield read_statement(part), read_statement(told_before) if told_before else earlier
        if _leads(one):
            earlier = one


def _leads(one: Statement) -> bool:
    """Whether it says itself whom it is about."""
    return bool(one.tokens) and one.tokens[0].role != "pronoun"


def _statements(passage: str) -> list[Statement]:
    """Its sentences; of a quotation that says nothing of who said it, also those inside it."""
    found = sentences(_FENCE.sub("", passage))
    inside = [part for one in found if (quotation := _QUOTATION.fullmatch(one)) for part in sentences(quotation[1])]
    told = [part for one in found for part in _told_by(one)]
    return [read_statement(sentence) for sentence in (*found, *inside, *told)]


def _told_by(sentence: str) -> Iterator[str]:
    """Of a quotation of several sentences each with who said it: `"It is new. It is dear," he said.`"""
    quoted = [(part[1], part.start()) for part in _QUOTATION.finditer(sentence)]
    parts = [part for text, _ in quoted for part in sentences(text)]
    who = " ".join(_QUOTATION.sub(" ", sentence).split()).strip(" ,")
    if len(parts) < 2 or not 0 < len(who.split()) <= _WHO or not any(map(is_saying, read_statement(who).tokens)):
        return
    for part in parts:
        said = part.strip(" ,.;")
        yield f'"{said}," {who}' if quoted[0][1] == 0 else f'{who} "{said}."'


def _parts(sentence: str) -> Iterator[str]:
    """What stands in brackets, and before a colon, each as a sentence."""
    parts = [*_BRACKETS.findall(sentence), *sentence.split(": ")[:-1]]
    yield from (part for part in parts if len(part.split()) > _LEAST and part.count("(") == part.count(")"))


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


def _one(claim: str, sources: Sequence[Source]) -> Verdict:
    said = read_statement(claim)
    exact = fold(said.text).text.strip("\"' ").rstrip(".")
    ranked = sorted(sources, key=lambda source: -_share(said, source[0]))[:_HELD_AGAINST]
    nearest: tuple[Alignment, Statement] | None = None
    for source, earlier in ranked:
        if exact and exact == fold(source.text).text.strip("\"' ").rstrip("."):
            return _quoted(claim, source, 1.0, VERBATIM)
        if _share(said, source) < ABOUT:
            continue
        for number, found in enumerate(_alignments(said, source, earlier)):
            if not found.differences:
                return _quoted(claim, source, found.shared, NEARLY)
            # What is different is told of the sentence as it stands.
            if (number == 0 or _turned(found)) and (nearest is None or _closer(found, nearest[0])):
                nearest = found, source
    if nearest is None:
        item = Evidence("nothing in common", False, claim, "", "no sentence of the passage is about it")
        return Verdict("not_checked", 0.0, "", (item,))
    alignment, source = nearest
    if _turned(alignment):
        turning = [item for item in alignment.differences if item.turns]
        evidence = tuple(Evidence(item.kind, False, item.claim, source.text, _told(item)) for item in turning)
        return Verdict("contradicted", alignment.shared, source.text, evidence)
    loose = [item for item in alignment.differences if not item.turns] or list(alignment.differences)
    evidence = tuple(Evidence(item.kind, False, item.claim, source.text, _told(item)) for item in loose[:3])
    return Verdict("not_checked", alignment.shared, source.text, evidence)


def _alignments(said: Statement, source: Statement, earlier: Statement | None) -> Iterator[Alignment]:
    """As they stand; without what stands for itself; in the other's voice."""
    said, source = reworded(without_asides(said), without_asides(source))
    yield align(said, source, earlier)
    # The doer of a passive has a `by` that the active has not.
    if _share(said, source) < _VOICE and len(said.keys - source.keys - {"by"}) > (1 - _VOICE) * len(said.keys):
        return
    yield from (replace(align(one, source, earlier), turned=True) for one in renamed(said, source))
    short = reduced(source, said.keys)
    if short is not source:
        yield align(said, short, earlier)
    for whole in (source, short)[: 1 + (short is not source)]:
        pairs = [(said, one) for one in in_active(whole, said)]
        pairs += ((one, whole) for one in in_active(said, whole, untold=True))
        yield from (replace(align(one, other, earlier), turned=True) for one, other in pairs)


def _quoted(claim: str, source: Statement, shared: float, reason: str) -> Verdict:
    return Verdict("quoted", shared, source.text, (Evidence("words", True, claim, source.text, reason),))


def _share(claim: Statement, source: Statement) -> float:
    return len(claim.keys & source.keys) / len(claim.keys) if claim.keys else 0.0


def _turned(alignment: Alignment) -> bool:
    turning = [item for item in alignment.differences if item.turns]
    others = [item for item in alignment.differences if not item.turns]
    if not turning or (len(turning) > 1 and not all(item.kind in _SEVERAL for item in turning)):
        return False
    # What the claim says less of is no other statement. A name may be what a pronoun there stands for.
    named = any(item.kind == "name" for item in turning)
    return not others or (
        len(others) <= _PARTS
        and all(item.slight for item in others)
        and not (named and (alignment.turned or any(_THIRD & set(item.source.lower().split()) for item in others)))
        and sum(len(item.source.split()) for item in others) <= _LESS * alignment.words
    )


def _closer(one: Alignment, other: Alignment) -> bool:
    return (_turned(one), -len(one.differences), one.shared) > (_turned(other), -len(other.differences), other.shared)


def _told(item: Difference) -> str:
    claim, source = f"“{item.claim}”", f"“{item.source}”"
    match item.kind:
        case "negation" if not (item.claim and item.source):
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
