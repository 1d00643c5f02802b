"""What a clause says, if it says it unmistakably.

A clause gets a label only when a phrase of `reply_lexicon` accounts for ALL of it, apart from what adds nothing
("please"). A word left over means that something was said that the lists do not know, and the clause is *unknown*:
"cancel" is a cancel, "cancel the second question" is not. So no list has to foresee what must not match. Only
amendments are open at their end, because their content is. A negation gives a phrase a label of its own and never makes
it the opposite intent; a condition or a question takes its label away.
"""

from __future__ import annotations

import re
from dataclasses import replace
from functools import cache, lru_cache
from typing import Final, Literal, NamedTuple, cast

from weft.orchestrator import reply_lexicon as w
from weft.orchestrator.reply_clauses import INTERROGATIVE, NEGATION, Clause
from weft.protocol.values import dataclass

Label = Literal[
    "yes", "no", "go", "go ahead", "approve", "no change", "stop", "stop pipeline", "leave", "elsewhere", "retract",
    "stay", "back", "fresh", "amend", "amend what", "not go", "not stop", "not leave", "hold", "reason", "filler",
    "question", "unknown",
]  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class SaidClause:
    """A clause and what it says."""

    label: Label
    clause: Clause
    hedged: bool = False
    """ "I think", "I will": enough for what can be taken back, not for a cancel."""


class _Core(NamedTuple):
    label: Label | None
    asked: bool = False
    """ "Can you …": a favour."""
    may: bool = False
    """ "Can I …": a permission."""
    hedged: bool = False


@cache
def _pattern(name: str) -> re.Pattern[str]:
    """Compiled when first needed: most commands never judge a reply."""
    things = "(?: (?:it|this|that|something|some things|a few things|things|them|one thing|a thing))?"
    order = f"(?:{w.CONTENT}|{w.CHANGE})"
    made = {
        "before": f"{w.BEFORE} ",
        "hedge": f"{w.HEDGES} ",
        "asks": "(?:can|could|would|will) you (?:please )?",
        "may": "(?:can|could|may|might) (?:i|we) (?:please )?",
        "after": f" {w.AFTER}$",
        "filler": w.FILLERS,
        "bare": f"(?:to )?{w.CHANGE}{things}|amendment|changes|add|remove|replace|delete|drop|include|fix",
        "idle": w.IDLE,
        "order": rf"(?:{w.SUBJECT} )?(?:(?:please|also|just|really|maybe|perhaps) )*"
        rf"(?:(?:do not|not|never|no longer) )?{order}(?: .+)?",
        "wish": w.WISH,
    }
    return re.compile(made.get(name) or w.PHRASES[name])


_KEYWORD: Final = re.compile(
    r"\b(?:stop|cancel|cancelled|canceled|abort|aborted|leave|exit|quit|proceed|continue|wait|end|resume|restart|pause)\b"
)
_STRONG: Final[frozenset[Label]] = frozenset(
    {"stop", "stop pipeline", "leave", "elsewhere", "go", "go ahead", "approve", "hold", "retract", "fresh"}
)
_LEADING: Final = re.compile(r"(yes|yeah|yep|yup|okay|sure|alright|ja|oui|nope|nah) (.+)")
_LEADING_NO: Final = re.compile(
    r"(no) ((?:i|do|please|wait|let|this|that|it|you|keep|stay|hold|not|never) .+|wait|stay)"
)
_NOT: Final = re.compile(
    r"(?:(?:i|we|you|it|this|that) )?(?:(?:am|is|are|was|will|would|should|can|could|must|may|does|do|did|have|"
    r"has|want|need) )*"
    r"(?:no longer|not|never|no|without|nicht|ne pas)"
    r"(?: (?:want|going|like|need|wish|have|plan|intend|meant?|asking|trying|be|say|said|to|you|me|yet|a|an|any|"
    r"quite|really|just|ever|even|us|should|we|i|please|think)\b)* (.+)"
)
_ENDING: Final = re.compile(
    r"(?:leaving|exiting|quitting|stopping|cancelling|canceling|aborting)(?: (?:it|this|yet|now))?"
)


_WHOLE: Final = re.compile(
    r"shorten|lengthen|expand|simplify|clarify|elaborate|improve|polish|condense|trim|translate|redo|regenerate|rework|"
    r"rewrite|rephrase|reword|shorter|longer|simpler|clearer|restructure|reformat"
)
"""Orders that say all in one word."""
_OWN_QUESTION: Final = re.compile(r"\b(?:(?:want|like|need|wish|have) to|let me|(?:can|may|could) i) ask\b")


def say(clause: Clause) -> tuple[SaidClause, ...]:
    """What one clause says. A leading yes or no without its comma counts as a clause of its own."""
    words = clause.words
    if not _matching(words) and (parts := _LEADING.fullmatch(words) or _LEADING_NO.fullmatch(words)):
        return (_labelled(replace(clause, words=parts[1])), *say(replace(clause, words=parts[2], joint="")))
    return (_labelled(clause),)


def _labelled(clause: Clause) -> SaidClause:
    if not clause.words:
        return SaidClause(label="question" if clause.question else "filler", clause=clause)
    if clause.joint == "because":
        return SaidClause(label="reason", clause=clause)
    core = _core(clause.words)
    return SaidClause(label=_label(clause, core), clause=clause, hedged=core.hedged)


def _label(clause: Clause, core: _Core) -> Label:
    words, found = clause.words, core.label
    if clause.question or core.asked or core.may or (found is None and INTERROGATIVE.match(words)):
        return _asked(words, core)
    if found is not None and clause.reached and found in _STRONG:
        return _negated(found)
    if found is not None:
        return "unknown" if _depends(clause, found) else found
    if NEGATION.search(words) and (turned := _turned(words)) is not None:
        return turned
    return "amend" if _amends(words) else "unknown"


def _depends(clause: Clause, found: Label) -> bool:
    """Whether a condition takes the phrase back. A new topic may speak of conditions once it has been opened."""
    if found in ("filler", "no change", "hold", "amend what", "reason"):
        return False
    away = found in ("elsewhere", "retract", "leave", "stop pipeline")
    return clause.conditional_before if away else clause.conditional


def _asked(words: str, core: _Core) -> Label:
    """A question replies to nothing, unless it is a request in the form of one."""
    found = core.label
    if core.asked and found is not None and (_is_away(found) or "please" in words.split()):
        return found
    if core.may and found is not None and _is_away(found):
        return found
    if (
        found is None
        and (core.asked or words.startswith(("can we", "could we", "how about", "what about")))
        and _amends(words)
    ):
        return "amend"
    if found == "elsewhere" and (not INTERROGATIVE.match(words) or words.startswith(("what about", "how about"))):
        return found
    return "question"


def _is_away(label: Label) -> bool:
    """Leading to a breakout, which asks before anything happens."""
    return label in ("elsewhere", "leave", "stop pipeline")


def _core(words: str) -> _Core:
    """What the words say without what adds nothing to them."""
    flags = {"asks": False, "may": False, "hedge": False}
    while True:
        if (found := _matching(words)) is not None:
            break
        for name in ("before", "asks", "may", "hedge"):
            if match := _pattern(name).match(words):
                words = words[match.end() :]
                flags[name] = True
                break
        else:
            shorter = _pattern("after").sub("", words)
            if shorter == words:
                break
            words = shorter
    return _Core(found, flags["asks"], flags["may"], flags["hedge"])


@lru_cache(maxsize=2_048)
def _matching(words: str) -> Label | None:
    if _pattern("filler").fullmatch(words):
        return "filler"
    for label in w.PHRASES:
        if _pattern(label).fullmatch(words):
            return cast(Label, label)
    return "amend what" if _pattern("bare").fullmatch(words) else None


def _turned(words: str) -> Label | None:
    """What a negated phrase says: that something is not wanted, which is not yet that its opposite is."""
    for said in (_stripped(words), words):
        if (match := _NOT.fullmatch(said)) is None:
            continue
        found = "leave" if _ENDING.fullmatch(match[1]) else _core(match[1]).label
        if found is not None and found in _STRONG | {"stay", "back", "yes"}:
            return _negated(found)
    return None


def _negated(found: Label) -> Label:
    if found in ("stop", "stop pipeline", "hold"):
        return "not stop"
    if found in ("leave", "elsewhere", "retract", "fresh"):
        return "not leave"
    return "not go"


def _amends(words: str) -> bool:
    stripped = _pattern("after").sub("", _stripped(words))
    if not stripped or _pattern("idle").fullmatch(stripped):
        return False
    if _pattern("order").fullmatch(stripped):
        return (" " in stripped or bool(_WHOLE.fullmatch(stripped))) and not _OWN_QUESTION.search(words)
    # A wish is less than an order: with a word in it that is one of the replies, it could be that reply.
    wish = _pattern("wish").fullmatch(stripped) or _pattern("wish").fullmatch(words)
    return wish is not None and not _KEYWORD.search(re.sub(r"^(?:stop|quit) ", "", stripped))


def _stripped(words: str) -> str:
    while match := _pattern("before").match(words) or _pattern("hedge").match(words):
        words = words[match.end() :]
    return words
