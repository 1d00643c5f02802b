"""What a person's message means to a run that waits for them.

The order is fixed: an offered choice, exactly (its id, number, label or one of its own phrases); a clear reply; a clear
breakout; otherwise *unclear*, which asks again and changes nothing. There is no default: what is not clear is never
taken for consent, and a cancel, a leaving or a fresh start needs a form that can't be mistaken. Where two things are
said that do not go together, it is unclear. Every judgement says which words decided, for the person and for the log.

`reply_clauses` brings the text to one form and cuts it into clauses, `reply_phrases` says what each clause means, and
this module weighs that.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Final, Literal

from weft.orchestrator.reply_clauses import Clause, clauses_of, plain, words_of
from weft.orchestrator.reply_phrases import Label, SaidClause, say
from weft.protocol.gates import Choice, ChoiceKind
from weft.protocol.values import dataclass

LONGEST: Final = 20_000
"""Characters of a message whose meaning is looked for; whoever holds the session does nothing else meanwhile."""
_TOO_LONG: Final = f"it is longer than {LONGEST:,} characters: begin it with the choice that it is for"
DEFAULT_CHOICES: Final = (
    Choice(id="proceed", label="Proceed", does="proceed"),
    Choice(id="amend", label="Amend", does="amend"),
    Choice(id="cancel", label="Cancel", does="cancel"),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Judgement:
    kind: Literal["choice", "amend", "breakout", "unclear"]
    choice: str = ""
    """The id of the choice that was made; with "amend", of the choice that takes amendments."""
    text: str = ""
    """What to change, in the person's words. A choice of kind amend without a text still has to be asked for it."""
    reason: str = ""
    """Which words decided."""
    sure: bool = True
    """It can't be meant otherwise. What agrees in more words than it takes is asked back."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ConfirmationAnswer:
    kind: Literal["leave", "stay", "unclear"]
    reason: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Resumption:
    kind: Literal["resume", "fresh", "unclear"]
    reason: str = ""


_ORDINALS: Final = ("first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth")
_NUMBERS: Final = ("one", "two", "three", "four", "five", "six", "seven", "eight", "nine")
_PICKING: Final = re.compile(
    r"(?:please |okay |yes |sure |just |then )*(?:(?:i|we) (?:will |would |would like to )?|let us )?"
    r"(?:(?:choose|pick|select|take|go with|go for|prefer|opt for) )?(?:the )?"
    r"(?:(?:option|choice|number|answer|nr|variant) )?(?:# )?"
    r"(.+?)(?: (?:option|choice|one|please|thanks|then|thank you))*"
)
_HEAD: Final = re.compile(r"\s*[(\[]?\s*([^\s.,:;)\]]+|[^:)\n]{1,40}?)\s*(?:[.):\]]|,|\s+[-–—])\s+(\S.*)", re.DOTALL)
_GOING: Final = re.compile(
    r"(?:please |okay |yes |just |let us |i want to )*(?:go|jump|skip|return|move|back|get|redo|repeat|rerun|do)"
    r"(?: back| ahead| forward| again)?(?: to| with| from)?(?: the)?(?: step| stage)? (.+?)"
    r"(?: step| stage| again| please)*"
)
_AGREE: Final[frozenset[Label]] = frozenset({"yes", "go", "go ahead", "approve", "no change"})
_BESIDE_GO: Final[frozenset[Label]] = _AGREE | {"not stop", "not leave", "filler", "retract", "back"}
_BESIDE_STOP: Final[frozenset[Label]] = frozenset({"stop", "yes", "no", "filler", "retract", "reason", "not go"})
_AWAY: Final[frozenset[Label]] = frozenset({"elsewhere", "leave", "stop pipeline"})


def judge_reply(text: str, *, choices: tuple[Choice, ...] = DEFAULT_CHOICES) -> Judgement:
    """What a message means to a run that waits at a gate with these choices."""
    if not text.strip():
        return unclear("there are no words in it")
    if len(text) > LONGEST:
        return unclear(_TOO_LONG)
    if (exact := _exact(text, choices)) is not None:
        return exact
    clauses = clauses_of(text)
    if (headed := _headed(text, choices)) is not None:
        return headed
    if (phrased := _phrased(text, clauses, choices)) is not None:
        return phrased
    return _weigh(text, _said(clauses), choices)


def _said(clauses: Iterable[Clause]) -> tuple[SaidClause, ...]:
    return tuple(said for clause in clauses for said in say(clause))


def _weigh(text: str, said: Sequence[SaidClause], choices: tuple[Choice, ...]) -> Judgement:
    labels = {each.label for each in said}
    for weighing in (_as_stop, _as_breakout, _as_amendment, _as_consent):
        if (found := weighing(text, said, labels, choices)) is not None:
            return found
    if "retract" in labels and labels <= {"retract", "filler", "unknown", "question", "no", "yes", "reason", "hold"}:
        return Judgement(kind="breakout", reason=_because(said, {"retract"}))
    return unclear(_doubt(said))


def _taken_back(said: Sequence[SaidClause], labels: Iterable[Label]) -> bool:
    """Whether a no or a second thought follows what was said: "cancel, actually no"."""
    wanted = set(labels)
    last = max(at for at, each in enumerate(said) if each.label in wanted)
    return any(each.label in ("no", "retract", "hold", "not leave", "not stop") for each in said[last + 1 :])


def _as_stop(
    text: str, said: Sequence[SaidClause], labels: set[Label], choices: tuple[Choice, ...]
) -> Judgement | None:
    if "stop" not in labels:
        return None
    hedged = any(each.hedged or each.clause.joint == "or" for each in said)
    if labels & _AWAY and labels <= _BESIDE_STOP | _AWAY:
        return None  # to leave is the lesser of the two
    if not labels <= _BESIDE_STOP or hedged or _taken_back(said, {"stop"}):
        return unclear(f"{_because(said, {'stop'})}, but that is not all it says")
    offered = _of_kind(choices, "cancel")
    if len(offered) == 1:
        return Judgement(kind="choice", choice=offered[0].id, reason=_because(said, {"stop"}))
    if offered:
        return unclear("it could mean more than one of the choices")
    return Judgement(kind="breakout", reason=f"{_because(said, {'stop'})}, and nothing here cancels")


def _as_breakout(
    text: str, said: Sequence[SaidClause], labels: set[Label], choices: tuple[Choice, ...]
) -> Judgement | None:
    if not labels & _AWAY:
        return None
    if labels & {"go", "go ahead", "approve", "amend", "amend what", "no change"} or _taken_back(said, _AWAY):
        return unclear(f"{_because(said, _AWAY)}, but that is not all it says")
    return Judgement(kind="breakout", reason=_because(said, _AWAY))


def _as_amendment(
    text: str, said: Sequence[SaidClause], labels: set[Label], choices: tuple[Choice, ...]
) -> Judgement | None:
    if "amend" in labels:
        if _taken_back(said, {"amend"}):
            return unclear(f"{_because(said, {'amend'})}, but it is taken back")
        return _amend(text, choices, _because(said, {"amend"}))
    agreed = False
    for each in said:
        # "Looks good, but the second question …": whatever follows is to be different.
        if agreed and each.clause.joint == "but" and each.label == "unknown" and not each.clause.question:
            if labels & {"hold", "question", "no", "not go", "stop"} or _prevents(each.clause):
                return None
            return _amend(text, choices, f'"but {each.clause.words}"')
        agreed = agreed or each.label in _AGREE
    if "amend what" in labels and labels <= {"amend what", "filler", "yes", "no", "hold", "not go", "unknown"}:
        return _amend(text if "unknown" in labels else "", choices, _because(said, {"amend what"}))
    return None


def _prevents(clause: Clause) -> bool:
    return clause.conditional or bool(re.match(r"(?:i|we) (?:can|could|may|must|am|are) not\b", clause.words))


def _as_consent(
    text: str, said: Sequence[SaidClause], labels: set[Label], choices: tuple[Choice, ...]
) -> Judgement | None:
    said = [each for at, each in enumerate(said) if not _explained(each, said[at + 1 :])]
    labels = {each.label for each in said if each.clause.joint != "because"}
    if not labels & _AGREE or not labels <= _BESIDE_GO or said[-1].label == "retract":
        return None
    if any(each.clause.joint == "or" for each in said):
        return unclear("it leaves open which of two")
    offered = _of_kind(choices, "proceed")
    if len(offered) == 1:
        sure = _agrees_plainly(text)
        return Judgement(kind="choice", choice=offered[0].id, reason=_because(said, _AGREE), sure=sure)
    why = "it could mean more than one of the choices" if offered else "none of the choices just goes on"
    return unclear(f"{_because(said, _AGREE)}, and {why}")


_AGREEING: Final = frozenset({
    "a", "accept", "accepted", "agree", "agreed", "ahead", "all", "am", "and", "approve", "approved", "bien",
    "bitte", "carry", "change", "changes", "confirm", "confirmed", "continue", "correct", "dale", "danke", "de",
    "do", "done", "exactly", "excellent", "fine", "forward", "further", "genau", "go", "good", "great", "gut",
    "happy", "i", "in", "is", "it", "ja", "let", "lgtm", "like", "looks", "me", "move", "needed", "next", "no",
    "nothing", "now", "of", "okay", "on", "onward", "oui", "passt", "perfect", "plan", "please", "proceed", "ready",
    "satisfied", "send", "ship", "si", "sim", "sounds", "step", "sure", "thank", "thanks", "that", "the", "this",
    "to", "us", "vale", "very", "weiter", "well", "with", "works", "wunderbar", "yeah", "yep", "yes", "you",
})  # fmt: skip
"""Of these words a plain yes is made. A word besides may turn it: "sure, because …", "okay for now", "yeah, right"."""


_SAID_OTHERWISE: Final = re.compile(
    r"(\w+)(?: \1)+|(?:i am|we are)(?: all)? (?:fine|good|okay)(?: thanks| thank you)?|(?:thanks|thank you) next"
)
"""Such words also wave something away: "yeah yeah", "I'm good", "thank you, next"."""


def _agrees_plainly(text: str) -> bool:
    if _SAID_OTHERWISE.fullmatch(words_of(text)):
        return False
    signs = {char for char in text if not (char.isalnum() or char.isspace() or char in "'’.,!;:-–—👍✅")}
    return not signs and {*words_of(text).split()} <= _AGREEING


def _explained(each: SaidClause, rest: Sequence[SaidClause]) -> bool:
    """A no that says at once what it means: "no, nothing to change", "no, don't stop"."""
    if each.label != "no" or not rest:
        return False
    goes = any(other.label in ("go", "go ahead") for other in rest)
    return rest[0].label in ("no change", "not stop", "not leave") or (rest[0].label == "approve" and goes)


def _amend(text: str, choices: tuple[Choice, ...], reason: str) -> Judgement:
    offered = _of_kind(choices, "amend")
    if not offered:
        return unclear(f"{reason} asks for a change, and none of the choices takes one")
    if not text:
        return Judgement(kind="choice", choice=offered[0].id, reason=reason)
    return Judgement(kind="amend", choice=offered[0].id, text=text.strip(), reason=reason)


def _of_kind(choices: tuple[Choice, ...], kind: ChoiceKind) -> list[Choice]:
    return [choice for choice in choices if choice.does == kind]


# offered choices


def _names(choices: tuple[Choice, ...]) -> list[tuple[str, Choice, str]]:
    """What each choice is called, the surest name first: id, number, label, the label up to its dash."""
    found = [(words_of(choice.id), choice, "id") for choice in choices]
    found += [(str(at), choice, "number") for at, choice in enumerate(choices, 1)]
    found += [(words_of(choice.label), choice, "label") for choice in choices]
    heads = [(words_of(re.split(r"\s[-–—]+\s|[:(—–]", choice.label)[0]), choice, "label") for choice in choices]
    return [*found, *heads]


def _called(name: str, choices: tuple[Choice, ...]) -> tuple[Choice, str] | None:
    """The one choice with that name. A name that two of them have says nothing."""
    for sort in ("id", "number", "label"):
        found = {choice.id: choice for said, choice, of in _names(choices) if of == sort and said and said == name}
        if len(found) == 1:
            return next(iter(found.values())), sort
    return None


def _exact(text: str, choices: tuple[Choice, ...]) -> Judgement | None:
    """A choice and nothing else, however it is quoted or numbered."""
    if "?" in plain(text) or re.match(r"\W*[-−]\d|\s*>", text):
        return None
    words = words_of(text)
    at = {word: str(place) for place, word in [*enumerate(_ORDINALS, 1), *enumerate(_NUMBERS, 1)]}
    picked = _PICKING.fullmatch(words)
    for name in (words, picked[1] if picked else "", at.get(picked[1], "") if picked else ""):
        if name and (found := _called(name, choices)) is not None:
            return Judgement(kind="choice", choice=found[0].id, reason=f'"{name}" is the {found[1]} of a choice')
    if words.isdecimal():
        return unclear(f"there is no choice {words}")
    return None


def _headed(text: str, choices: tuple[Choice, ...]) -> Judgement | None:
    """A choice with something after it: "2. make it shorter", "amend: make it shorter", "1 - looks good"."""
    if (parts := _HEAD.fullmatch(text.strip())) is None or (found := _called(words_of(parts[1]), choices)) is None:
        return None
    choice, rest = found[0], parts[2].strip()
    if words_of(f"{parts[1]} {rest}") in {words_of(f"{name} {choice.label}") for name in (parts[1], choice.id)}:
        return Judgement(kind="choice", choice=choice.id, reason=f'"{parts[1]}" is the {found[1]} of a choice')
    judged = _weigh(rest, _said(clauses_of(rest)), choices)
    if choice.does == "amend" and judged.kind in ("amend", "unclear"):
        if any(each.label in ("question", "hold") for each in _said(clauses_of(rest))):
            return None
        return Judgement(
            kind="amend", choice=choice.id, text=rest, reason=f'"{parts[1]}" is the {found[1]} of a choice'
        )
    labels = {each.label for each in _said(clauses_of(rest))}
    agrees = judged.kind == "choice" and judged.choice == choice.id
    idle = labels <= {"filler", "reason"} or words_of(rest) in words_of(choice.label)
    if agrees or idle:
        return Judgement(kind="choice", choice=choice.id, reason=f'"{parts[1]}" is the {found[1]} of a choice')
    return None


def _phrased(text: str, clauses: Sequence[Clause], choices: tuple[Choice, ...]) -> Judgement | None:
    """A phrase that the pipeline gave to a choice, or the step that a choice goes to, and nothing else."""
    found: dict[str, str] = {}
    if any(clause.question or clause.conditional or clause.joint == "or" for clause in clauses):
        return None
    whole = {words_of(text), *(clause.words for clause in _alone(clauses))}
    for choice in choices:
        phrases = {_lean(phrase) for phrase in choice.says}
        steps = (
            {words_of(choice.step), words_of(choice.id), words_of(choice.label)} - {""}
            if choice.does == "goto"
            else set()
        )
        for words in whole:
            going = _GOING.fullmatch(words)
            if _lean(words) in phrases or (going and going[1] in steps):
                found[choice.id] = words
    if len(found) != 1:
        return None
    choice_id, words = next(iter(found.items()))
    return Judgement(kind="choice", choice=choice_id, reason=f'"{words}" is said for this choice')


def _alone(clauses: Sequence[Clause]) -> list[Clause]:
    """Those beside which nothing is said but that it is fine. Each is looked at once: a text may have thousands."""
    fine = {"filler", "yes", "go", "go ahead", "approve"}
    rest = [clause for clause in clauses if any(said.label not in fine for said in say(clause))]
    return [one for one in (rest or clauses) if not one.reached] if len(rest) < 2 else []


def _lean(words: str) -> str:
    return re.sub(r"\b(?:the|a|an|please|just|then|thanks)\b ?", "", words_of(words)).strip()


# the two other questions

_LEAVES: Final[frozenset[Label]] = frozenset({"leave", "stop", "stop pipeline"})
_STAYS: Final[frozenset[Label]] = frozenset({"stay", "go", "back", "retract", "not leave", "not stop"})


def judge_confirmation(text: str) -> ConfirmationAnswer:
    """The answer to "leave this run?". Staying changes nothing, so where both are said, the run stays."""
    if len(text) > LONGEST:
        return ConfirmationAnswer(kind="unclear", reason=_TOO_LONG)
    if (picked := _numbered(text, ("leave", "stay"))) is not None:
        return ConfirmationAnswer(
            kind="leave" if picked == "leave" else "stay", reason=f'"{text.strip()}" is an offered answer'
        )
    said = _said(clauses_of(text))
    labels = {each.label for each in said}
    if not labels or "question" in labels or any(each.clause.joint == "or" for each in said):
        return ConfirmationAnswer(kind="unclear", reason=_doubt(said))
    words = {word for each in said if each.clause.joint != "because" for word in each.clause.words.split()}
    stays = labels & (_STAYS | {"no"}) or (
        any(re.match(r"(?:please )?(?:proceed|continue|stay)\b", each.clause.words) for each in said)
        and words & {"exit", "quit", "leave"}
    )
    if stays and (labels & _LEAVES or labels <= _STAYS | {"no", "yes", "filler", "reason"} or words & {"quit", "exit"}):
        return ConfirmationAnswer(kind="stay", reason=_because(said, _STAYS | {"no", "unknown"}))
    leaves = labels & _LEAVES or ("yes" in labels and "reason" not in labels and _sure(said))
    allowed = _LEAVES | {"yes", "filler", "reason", "not go", "go ahead"}
    if leaves and labels <= allowed and not any(each.hedged for each in said):
        return ConfirmationAnswer(kind="leave", reason=_because(said, _LEAVES | {"yes"}))
    return ConfirmationAnswer(kind="unclear", reason=_doubt(said))


def is_named(text: str, choices: tuple[Choice, ...]) -> bool:
    """Whether a message is an offered choice and nothing else, by its id, number or label: that is final, as words that
    have to be understood are not."""
    return text.strip().casefold() in {
        name.casefold() for at, choice in enumerate(choices, 1) for name in (choice.id, str(at), choice.label)
    }


def _listed(answers: str) -> frozenset[str]:
    """In the form that what is said is brought to, without accents."""
    return frozenset(words_of(one) for one in answers.split(";"))


_YES: Final = _listed(
    """yes; y; yep; yeah; yes please; yes exactly; yes that is right; yes correct; correct; exactly; that is right;
    that is correct; confirm; confirmed; i confirm; yes i confirm; yes i do; yes do it; yes do that; yes i am sure;
    ja; ja bitte; ja genau; genau; oui; oui exactement; si; sí; sim; 1"""
)
_NO: Final = _listed(
    """no; n; nope; nah; no thanks; no thank you; no i do not; not that; no not that; that is not it; no do not; wrong;
    that is wrong; nein; nein danke; non; não; 2"""
)


def judge_answer(text: str) -> Literal["yes", "no", "unclear"]:
    """The answer to "I understood: this. Yes?". A closed list: what has to be understood once more is neither."""
    words = words_of(text)
    if "?" in plain(text):
        return "unclear"
    return "yes" if words in _YES else "no" if words in _NO else "unclear"


_WEAK: Final = frozenset({"okay", "alright", "all right", "fine", "good", "right", "very well", "in ordnung", "vale"})


def _sure(said: Sequence[SaidClause]) -> bool:
    """An okay may only acknowledge the question; a yes answers it."""
    return any(each.label == "yes" and each.clause.words not in _WEAK for each in said)


def judge_resume(text: str) -> Resumption:
    """The answer to "go on with the run that was left, or afresh?", or a message that names its pipeline again."""
    if len(text) > LONGEST:
        return Resumption(kind="unclear", reason=_TOO_LONG)
    if (picked := _numbered(text, ("resume", "fresh"))) is not None:
        return Resumption(
            kind="resume" if picked == "resume" else "fresh", reason=f'"{text.strip()}" is an offered answer'
        )
    said = _said(clauses_of(text))
    labels = {each.label for each in said}
    if not labels or "question" in labels or any(each.clause.joint == "or" for each in said):
        return Resumption(kind="unclear", reason=_doubt(said))
    if "fresh" in labels:
        sure = not any(each.hedged for each in said) and not _takes_up(said) and not _taken_back(said, {"fresh"})
        if sure and labels <= _BESIDE_FRESH:
            return Resumption(kind="fresh", reason=_because(said, {"fresh"}))
        return Resumption(kind="unclear", reason=_doubt(said))
    if labels <= {"no", "filler"} and any(each.clause.words in _PLAIN_NO for each in said):
        return Resumption(kind="fresh", reason=_because(said, {"no"}))
    if labels & _GOES_ON and labels <= _GOES_ON | {"approve", "filler", "not leave", "not stop", "no change"}:
        return Resumption(kind="resume", reason=_because(said, _GOES_ON))
    return Resumption(kind="unclear", reason=_doubt(said))


_GOES_ON: Final[frozenset[Label]] = frozenset({"go", "go ahead", "back", "stay", "yes"})
_BESIDE_FRESH: Final[frozenset[Label]] = frozenset(
    {"fresh", "no", "yes", "filler", "reason", "go", "go ahead", "not go", "elsewhere", "retract"}
)
_PLAIN_NO: Final = frozenset({"no", "nope", "nah", "nein", "non"})
"""Answers "resume it?". A "never" or "please don't" could as well be meant for the fresh start."""


def _takes_up(said: Sequence[SaidClause]) -> bool:
    """ "Continue" can go with a fresh start; "resume" and "where we left off" can't."""
    return any(each.label == "back" or each.clause.words.startswith("resume") for each in said)


def _numbered(text: str, offered: tuple[str, str]) -> str | None:
    choices = tuple(Choice(id=name, label=name, does="goto") for name in offered)
    found = _exact(text, choices)
    return found.choice if found is not None and found.kind == "choice" else None


# reasons

_DOUBTS: Final[tuple[tuple[Label, str], ...]] = (
    ("question", "asks something, and answers nothing"),
    ("hold", "may mean that you want to wait, or are not sure"),
    ("not go", "says what is not to happen, and not what is"),
    ("no", "is a no, and does not say what instead"),
    ("not stop", "says what is not to happen, and not what is"),
    ("not leave", "says what is not to happen, and not what is"),
    ("unknown", "could mean several things"),
)


def _because(said: Sequence[SaidClause], labels: Iterable[Label]) -> str:
    wanted = set(labels)
    return " and ".join(dict.fromkeys(f'"{each.clause.words}"' for each in said if each.label in wanted))


def _doubt(said: Sequence[SaidClause]) -> str:
    for label, meaning in _DOUBTS:
        if words := _because(said, {label}):
            return f"{words} {meaning}"
    if len({each.label for each in said}) > 1:
        return f"{_because(said, {each.label for each in said})} do not go together"
    return "it says nothing that is offered"


def unclear(reason: str) -> Judgement:
    return Judgement(kind="unclear", reason=reason)
