"""What a model says of a sentence, held to what code can look up.

A model takes a sentence apart into claims and says of each whether a passage supports it, contradicts it or does not
say it, with the exact words it rests on. It is believed only where all of this holds: the words stand in the passage,
whole (`exact_words`); neither the rules of `weft.checks.claims`, which hold the claim against the passage and never
against the words alone, nor what else code can see (`objections`) speaks against it; every date and name of the claim
is among the words, every number too, or comes of theirs (`figures`). Else the sentence is not checked, with the reason.
Pure: who asks the model, and pays for it, is the run.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from weft.checks.claims import State, compare
from weft.checks.dates import Day
from weft.checks.exact_words import count_words, fault_of
from weft.checks.figures import loose_figures
from weft.checks.folding import fold
from weft.checks.objections import left_out, objection
from weft.checks.statements import FACTS, TURNING, Token, read_statement
from weft.protocol.values import dataclass

FEWEST: Final = 3
"""Words that a judgement must rest on: one or two occur everywhere."""
SCHEMA: Final[Mapping[str, Any]] = {
    "type": "object",
    "required": ["claims"],
    "additionalProperties": False,
    "properties": {
        "claims": {
            "type": "array",
            "minItems": 1,
            "items": {
                "type": "object",
                "required": ["claim", "verdict", "label", "words", "sure"],
                "additionalProperties": False,
                "properties": {
                    "claim": {"type": "string", "minLength": 1},
                    "verdict": {"enum": ["supported", "contradicted", "not_said"]},
                    "label": {"type": "string"},
                    "words": {"type": "string"},
                    "sure": {"type": "number", "minimum": 0, "maximum": 1},
                },
            },
        }
    },
}
"""What is asked for one sentence."""
QUESTION: Final = """\
Take the sentence apart into claims that together have all its numbers, names, negations and conditions. Say of each
whether a passage supports it, contradicts it (both can't be true) or does not say it (not_said), and how sure you are
(0 to 1). Give the label of the passage and the exact words of it on which the verdict rests, at least three, copied
letter for letter: whole sentences rather than parts, with every number, unit, date and name that the claim has or that
its numbers are computed from. Both are empty for not_said. What is only likely, or known from elsewhere, is
not_said."""


def question(sentence: str, passages: Mapping[str, str]) -> str:
    told = "\n".join(f'<passage label="{label}">\n{text}\n</passage>' for label, text in passages.items())
    return f"{QUESTION}\n\n{told}\n\n<sentence>\n{sentence}\n</sentence>"


@dataclass(frozen=True, slots=True)
class JudgedSentence:
    state: State
    reason: str
    label: str = ""
    words: str = ""
    model: str = ""


def judged_claims(judgement: Mapping[str, Any]) -> dict[str, Sequence[Mapping[str, Any]]]:
    """The claims of each sentence of an artifact in which a model judged a draft."""
    return {fold(one["sentence"]).text: one["claims"] for one in judgement["judgements"]}


def held(sentence: str, claims: Sequence[Mapping[str, Any]], passages: Mapping[str, str], model: str) -> JudgedSentence:
    """What is left of a model's claims about one sentence. `passages` by label."""
    missing = _left_out(sentence, claims)
    if missing:
        return JudgedSentence("not_checked", f"{model} judged no claim about “{missing}”", model=model)
    faults = [fault for claim in claims if (fault := _fault(claim, passages))]
    if faults:
        return JudgedSentence("not_checked", f"{model} was not believed: {faults[0]}", model=model)
    against = [claim for claim in claims if claim["verdict"] == "contradicted"]
    unsaid = [claim for claim in claims if claim["verdict"] == "not_said"]
    if against:
        return _told("contradicted", against[0], model)
    if unsaid:
        return JudgedSentence("not_checked", f"{model} finds in no passage: “{unsaid[0]['claim']}”", model=model)
    return _told("judged", claims[0], model)


def agreed(one: JudgedSentence, other: JudgedSentence) -> JudgedSentence:
    """Of two questions about the same sentence, put differently: what both say."""
    if one.state == other.state:
        return one
    doubt = one if one.state == "not_checked" else other
    return JudgedSentence("not_checked", f"asked again, the answer was another: {doubt.reason}", model=one.model)


def _told(state: State, claim: Mapping[str, Any], model: str) -> JudgedSentence:
    verb = "is supported by" if state == "judged" else "is contradicted by"
    reason = f"{model}: it {verb} “{claim['words']}”"
    return JudgedSentence(state, reason, str(claim["label"]), str(claim["words"]), model)


def _left_out(sentence: str, claims: Sequence[Mapping[str, Any]]) -> str:
    """The first number, name, negation or the like of the sentence that no claim has; or its words, when the claims
    have less than half of them."""
    there = {token.key for claim in claims for token in read_statement(str(claim["claim"])).tokens}
    tokens = read_statement(sentence).tokens
    for token in tokens:
        if token.role in FACTS | TURNING and token.key not in there:
            return token.text
    stated = [token for token in tokens if token.role == "content"]
    missed = [token for token in stated if token.key not in there]
    if len(missed) * 2 > len(stated):  # claims about something else
        return " ".join(token.text for token in missed)
    return "" if claims else sentence


def _fault(claim: Mapping[str, Any], passages: Mapping[str, str]) -> str:
    if claim["verdict"] == "not_said":
        return ""
    label, words, said = str(claim["label"]).strip("[] "), str(claim["words"]), str(claim["claim"])
    if label not in passages:
        return f"there is no passage [{label}]"
    if count_words(words) < FEWEST:
        return f"“{words}” are too few words to rest on"
    if wrong := fault_of(words, passages[label], f"[{label}]"):
        return f"“{words}” {wrong}"
    exact = compare(said, passages[label])
    if claim["verdict"] == "contradicted":
        if word := left_out(said, words, passages[label]):
            return f"“{words}” leaves out the “{word}” of its sentence"
        return f"[{label}] has it in these words" if exact.state == "quoted" else ""
    if exact.state == "contradicted":
        return exact.reason
    if exact.state == "quoted":
        return next(loose_figures(said, exact.sentence), "")
    cut = compare(said, words)
    if cut.state == "contradicted":
        return cut.reason
    if cut.state == "quoted":
        return f"“{words}” are only a part of what [{label}] says: {exact.reason}"
    return objection(said, words, passages[label]) or next(_loose(said, words), "")


def _loose(claim: str, words: str) -> Iterator[str]:
    """Numbers, units, dates and names of a claim that the words have not, and numbers that do not come of theirs."""
    yield from loose_figures(claim, words)
    there = read_statement(words).tokens
    for token in read_statement(claim).tokens:
        if token.day is not None and not any(_has_day(other, token.day) for other in there):
            yield f"{token.text} is not in the words it rests on"
        elif token.role == "name" and not any(other.key == token.key for other in there):
            yield f"the words it rests on do not name {token.text}"


def _has_day(token: Token, day: Day) -> bool:
    """Whether a date says all that this one says."""
    return token.day is not None and all(theirs == ours for ours, theirs in zip(day, token.day, strict=True) if ours)
