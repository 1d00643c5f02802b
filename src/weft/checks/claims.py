"""One claim against one passage.

The sentence of the passage that says most of what the claim says is looked for first; then what can differ while the
words stay the same is compared with it: numbers, units, dates, denial, obligation, opposites, names. A difference
there contradicts the claim. Too few common words leave it not verified. Too few words at all: not checked.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from typing import Final, Literal

from weft.checks import claim_facts as facts
from weft.checks import claim_words as words
from weft.language.sentences import sentences

State = Literal["verified", "contradicted", "not_verified", "not_checked"]
Kind = Literal["overlap", "number", "unit", "date", "negation", "modality", "opposite", "name"]
EXACT: Final = 0.75
PARTIAL: Final = 0.55
"""The share of a claim's terms that one sentence, or two neighbours, must have."""
SCATTERED: Final = 0.85
"""The same for a whole passage: a long one has many words that mean nothing together."""
ALIGNED: Final = 0.5
"""The share of a claim's terms a sentence must have before a difference to it can contradict the claim."""
NEARLY_SAME: Final = 0.9
"""From here on two sentences differ in little words only, and a negation more turns one round."""
ALIKE: Final = 0.65
"""The share of their terms two sentences must have in common, both ways, to speak of the same matter."""


@dataclass(frozen=True, slots=True)
class Evidence:
    """One thing that was compared: what the claim has, the sentence it was held against, and what came of it."""

    kind: Kind
    agrees: bool
    claim: str
    sentence: str
    reason: str


@dataclass(frozen=True, slots=True)
class Verdict:
    state: State
    overlap: float
    sentence: str
    evidence: tuple[Evidence, ...]
    matching: int = 0
    total: int = 0

    @property
    def reason(self) -> str:
        against = [item.reason for item in self.evidence if not item.agrees]
        return "; ".join(against) if against else "the passage says so" if self.state == "verified" else ""


def compare(claim: str, passage: str, context: str = "") -> Verdict:
    """`context` is what stands around the passage (headings, lead-in): it may name things, but it proves nothing."""
    wanted = list(dict.fromkeys(words.terms(claim)))
    if len(wanted) < 2:
        return Verdict("not_checked", 0.0, "", (_too_short(claim),), 0, len(wanted))
    candidates = _candidates(passage)
    if not candidates:
        return Verdict("not_checked", 0.0, "", (Evidence("overlap", False, claim, "", "the passage is empty"),))
    share, sentence = max(
        ((_share(wanted, candidate) - 0.001 * at, candidate) for at, candidate in enumerate(candidates)),
        key=lambda found: found[0],
    )
    whole = words.terms(f"{passage} {context}")
    overlap = _share(wanted, passage)
    matching = len(set(wanted) & set(whole))
    against = list(_differences(claim, sentence, passage, context)) if share >= ALIGNED else []
    agreement = Evidence(
        "overlap",
        share >= PARTIAL or overlap >= SCATTERED,
        ", ".join(term for term in wanted if term in set(words.terms(passage))) or "nothing",
        sentence,
        f"{matching} of the claim's {len(wanted)} terms are in the passage",
    )
    contradicting = [item for item in against if not item.agrees and item.kind != "name"]
    unnamed = [item for item in against if not item.agrees and item.kind == "name"]
    evidence = (agreement, *against)
    if contradicting or (unnamed and _another_name(claim, sentence)):
        state: State = "contradicted"
    elif unnamed or not (share >= PARTIAL or overlap >= SCATTERED) or _loose_numbers(claim, passage, context):
        state = "not_verified"
    else:
        state = "verified"
    if state == "not_verified" and (loose := _loose_numbers(claim, passage, context)):
        reason = f"{', '.join(loose)} is not in the passage"
        evidence = (*evidence, Evidence("number", False, ", ".join(loose), sentence, reason))
    return Verdict(state, overlap, sentence, evidence, matching, len(wanted))


def conflicts(one: str, other: str) -> list[Evidence]:
    """Where two passages say opposite things of the same matter. `claim` and `sentence` are the two sentences.

    Only sentences that are alike both ways are held against each other: two rules that both have a `not` in them are
    no contradiction, nor is a rule beside its exception.
    """
    found: list[Evidence] = []
    others = [(sentence, list(dict.fromkeys(words.terms(sentence)))) for sentence in sentences(other)]
    for sentence in sentences(one):
        wanted = list(dict.fromkeys(words.terms(sentence)))
        for against, terms in others:
            if len(wanted) < 3 or len(terms) < 3:
                continue
            if min(_share(wanted, against), _share(terms, sentence)) < ALIKE:
                continue
            items = (*_denial(sentence, against), *_opposites(sentence, against), *_numbers(sentence, against))
            found += [Evidence(item.kind, False, sentence, against, item.reason) for item in items if not item.agrees]
    return found


def _candidates(passage: str) -> list[str]:
    """Sentences, the shortest spans first; then neighbours together, since a claim may join two."""
    single = sentences(passage)
    pairs = [f"{one} {other}" for one, other in pairwise(single)]
    return [*single, *pairs]


@lru_cache(maxsize=4096)
def _terms_in(text: str) -> frozenset[str]:
    """Of a sentence; many claims are held against the same ones."""
    return frozenset(words.terms(text))


def _share(wanted: list[str], text: str) -> float:
    there = _terms_in(text)
    weights = {term: min(len(term), 8) for term in wanted}
    total = sum(weights.values())
    return sum(weight for term, weight in weights.items() if term in there) / total if total else 0.0


def _differences(claim: str, sentence: str, passage: str, context: str) -> Iterator[Evidence]:
    yield from _numbers(claim, sentence)
    yield from _dates(claim, sentence)
    yield from _denial(claim, sentence)
    yield from _obligation(claim, sentence)
    yield from _opposites(claim, sentence)
    yield from _names(claim, sentence, f"{passage} {context}")


def _numbers(claim: str, sentence: str) -> Iterator[Evidence]:
    there = facts.quantities(sentence)
    offered = facts.numbers_of(sentence)
    said = facts.quantities(claim)
    for quantity in said:
        same = [other for other in there if other.values & quantity.values]
        if not same and not (quantity.values & offered):
            if there:
                shown = ", ".join(_shown(other) for other in there[:4])
                reason = f"the claim has {_shown(quantity)} where the passage has {shown}"
                yield Evidence("number", False, _shown(quantity), sentence, reason)
            continue
        units = {other.unit for other in same if other.unit}
        if quantity.unit and units and quantity.unit not in units:
            reason = f"the claim counts {quantity.unit}s where the passage counts {', '.join(sorted(units))}s"
            yield Evidence("unit", False, _shown(quantity), sentence, reason)
        else:
            yield Evidence("number", True, _shown(quantity), sentence, f"{quantity.text} is there")


def _loose_numbers(claim: str, passage: str, context: str) -> list[str]:
    """Numbers of the claim that the passage does not have at all."""
    offered = facts.numbers_of(f"{passage}\n{context}")
    return [quantity.text for quantity in facts.quantities(claim) if not quantity.values & offered]


def _shown(quantity: facts.Quantity) -> str:
    if not quantity.unit:
        return quantity.text
    several = "" if quantity.text == "1" or quantity.unit in ("percent", "foot", "person", "copy", "inch") else "s"
    return f"{quantity.text} {quantity.unit}{several}"


def _dates(claim: str, sentence: str) -> Iterator[Evidence]:
    there = facts.dates(sentence)
    for text, value in facts.dates(claim):
        if any(facts.same_date(value, other) for _, other in there):
            yield Evidence("date", True, text, sentence, f"{text} is there")
        elif there:
            shown = ", ".join(other for other, _ in there)
            yield Evidence("date", False, text, sentence, f"the claim has {text} where the passage has {shown}")


def _denial(claim: str, sentence: str) -> Iterator[Evidence]:
    said, there = set(words.terms(claim)), set(words.terms(sentence))
    counts = words.denials(claim), words.denials(sentence)
    if min(_share(list(said), sentence), _share(list(there), claim)) >= NEARLY_SAME and (counts[0] - counts[1]) % 2:
        which, other = ("claim", "passage") if counts[0] > counts[1] else ("passage", "claim")
        reason = f"the {which} has a negation that the {other} has not, and otherwise the same words"
        yield Evidence("negation", False, claim, sentence, reason)
        return
    ours, theirs = words.denied(claim) & there, words.denied(sentence) & said
    if ours == theirs or not (ours ^ theirs):
        return
    if ours and theirs and ours & theirs:
        return  # both deny the same thing; how far a negation reaches is a matter of order
    if ours and not theirs and words.denials(sentence) == 0:
        reason = f"the claim denies {_listed(ours)}, the passage does not"
        yield Evidence("negation", False, _listed(ours), sentence, reason)
    elif theirs and not ours and words.denials(claim) == 0:
        reason = f"the passage denies {_listed(theirs)}, the claim does not"
        yield Evidence("negation", False, _listed(theirs), sentence, reason)


def _listed(terms: set[str]) -> str:
    return ", ".join(f"“{term}…”" for term in sorted(terms)[:4])


_STRENGTH_WORDS: Final = {3: "must", 2: "should", 1: "may"}


def _obligation(claim: str, sentence: str) -> Iterator[Evidence]:
    ours, theirs = words.strengths(claim), words.strengths(sentence)
    if not ours or not theirs or ours & theirs:
        return
    said, there = _STRENGTH_WORDS[max(ours)], _STRENGTH_WORDS[max(theirs)]
    yield Evidence("modality", False, said, sentence, f"the claim says what {said} be, the passage what {there} be")


def _opposites(claim: str, sentence: str) -> Iterator[Evidence]:
    for word, other in words.opposites(claim, sentence):
        yield Evidence("opposite", False, word, sentence, f"the claim says “{word}” where the passage says “{other}”")


def _names(claim: str, sentence: str, everything: str) -> Iterator[Evidence]:
    for name in facts.names(claim):
        if facts.mentions(everything, name) or all(
            facts.mentions(everything, word) for word in name.split() if word[0].isupper()
        ):
            yield Evidence("name", True, name, sentence, f"{name} is named there")
        else:
            yield Evidence("name", False, name, sentence, f"the passage does not name {name}")


def _another_name(claim: str, sentence: str) -> bool:
    """Whether the sentence has a name, where the claim has another, that the claim leaves out."""
    return any(not facts.mentions(claim, name) for name in facts.names(sentence))


def _too_short(claim: str) -> Evidence:
    return Evidence("overlap", False, claim, "", "the claim has too few words to compare")
