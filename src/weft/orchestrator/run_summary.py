"""What later prompts of a session are told about a run: a bounded summary, made anew from the log each time.

It is a pure function of `RunFacts`, which the fold gives, so it survives compaction and restarts and can't go stale.
The status is the run's own, never guessed from what happened on the way: a run that waited once and was finished is
done. What nobody checked is "not checked". What does not fit is left out in a declared order, and that is said.

Every value is brought to one line and stands behind its own name, and the whole stands between marks with a nonce, so
text from artifacts or replies can neither close it nor pass for another line of it.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from decimal import Decimal
from typing import Final, Literal

from weft.conversation.prompt import fence, tokens_of
from weft.protocol.events import Outcome, Verdict
from weft.protocol.values import dataclass

RunStatus = Outcome | Literal["running", "confirming"]
StepStatus = Literal["done", "failed", "skipped", "running", "not started"]

DEFAULT_TOKENS: Final = 2_000
"""Of every later prompt, for one run."""
LEAST_TOKENS: Final = 700
"""Below this nothing true can be said of every run: its status, its progress and what was verified need room."""
DROP_ORDER: Final = (
    "what it cost",
    "how each step went",
    "the words of replies",
    "all but the first of what was found",
    "all but the first files",
    "replies",
    "what was found",
    "files",
    "all but the first of what is open",
    "most of what was asked",
    "what exactly did not pass, and all long values",
)
"""What goes first when there is no room. The status, the progress and how much was verified never go."""
_LONG, _SHORT, _TINY, _LEAST = 600, 240, 80, 40
_FIRST: Final = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class RunSpent:
    """What a run has used so far. `usd` is None where a price is not known."""

    input_tokens: int
    output_tokens: int
    usd: Decimal | None


@dataclass(frozen=True, slots=True, kw_only=True)
class StepFact:
    """A step as it stands, however many attempts it took: one fact for one step."""

    name: str
    status: StepStatus
    attempts: int = 1
    found: tuple[tuple[str, str], ...] = ()
    """Its headline: label and value, as its gate would show them."""
    files: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class VerificationFact:
    what: str
    verdict: Verdict
    note: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplyFact:
    gate: str
    reply: str
    """The id of the choice, "amend" or "breakout"."""
    text: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunFacts:
    """What the fold of a log knows of one run."""

    run: str
    pipeline: str
    request: str
    status: RunStatus
    detail: str = ""
    """What it waits for, failed of, or ran out of."""
    steps: tuple[StepFact, ...] = ()
    verification: tuple[VerificationFact, ...] = ()
    repair_rounds: int = 0
    repair_exhausted: bool = False
    replies: tuple[ReplyFact, ...] = ()
    folder: str = ""
    spent: RunSpent | None = None
    open: tuple[str, ...] = ()
    """What is left to do or to decide."""
    resume: str = ""
    """How a person goes on with it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunSummary:
    text: str
    tokens: int
    dropped: tuple[str, ...]
    """Of DROP_ORDER, what had to go. The text says it too."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Kept:
    """How much of each part is told."""

    cost: bool = True
    steps: bool = True
    replies: bool = True
    reply_words: bool = True
    found: int | None = None
    files: int | None = None
    open: int | None = None
    asked: int = _LONG
    value: int = _SHORT
    verified: int = _FIRST


_DROPS: Final[tuple[Callable[[_Kept], _Kept], ...]] = (
    lambda kept: replace(kept, cost=False),
    lambda kept: replace(kept, steps=False),
    lambda kept: replace(kept, reply_words=False),
    lambda kept: replace(kept, found=_FIRST),
    lambda kept: replace(kept, files=_FIRST),
    lambda kept: replace(kept, replies=False),
    lambda kept: replace(kept, found=0),
    lambda kept: replace(kept, files=0),
    lambda kept: replace(kept, open=1),
    lambda kept: replace(kept, asked=_TINY),
    lambda kept: replace(kept, asked=_LEAST, value=_LEAST, verified=0),
)


def summarise_run(facts: RunFacts, *, nonce: str, tokens: int = DEFAULT_TOKENS) -> RunSummary:
    """The summary in at most `tokens`, or in LEAST_TOKENS where that is more."""
    room = max(tokens, LEAST_TOKENS)
    kept = _Kept()
    dropped: list[str] = []
    told = _lines(facts, kept)
    text = _fenced(facts, told, dropped, nonce)
    for name, drop in zip(DROP_ORDER, _DROPS, strict=True):
        if tokens_of(text) <= room:
            break
        kept = drop(kept)
        fewer = _lines(facts, kept)
        if fewer != told:
            dropped.append(name)
        told = fewer
        text = _fenced(facts, told, dropped, nonce)
    return RunSummary(text=text, tokens=tokens_of(text), dropped=tuple(dropped))


def _fenced(facts: RunFacts, lines: Sequence[str], dropped: Sequence[str], nonce: str) -> str:
    left_out = [f"left out for room: {', '.join(dropped)}"] if dropped else []
    name = re.sub(r"[^\w.-]", "", facts.run)[:_LEAST]
    return fence("\n".join([*lines, *left_out]), nonce, f"run {name}")


def _lines(facts: RunFacts, kept: _Kept) -> list[str]:
    lines = [
        f"pipeline: {one_line(facts.pipeline, min(_TINY, kept.value))}",
        f"asked: {one_line(facts.request, kept.asked) or '(nothing)'}",
        f"status: {_status(facts, kept.value)}",
        f"steps: {_progress(facts)}",
    ]
    if kept.steps:
        lines += [f"step {one_line(step.name, _TINY)}: {_step(step)}" for step in facts.steps]
    lines += _found(facts, kept.found)
    lines += _verified(facts, kept.verified)
    if kept.replies:
        lines += [_reply(reply, kept.reply_words) for reply in facts.replies]
    lines += _files(facts, kept)
    if kept.cost and facts.spent is not None:
        lines.append(f"cost: {cost_line(facts.spent)}")
    lines += _few("open", [one_line(each, kept.value) for each in facts.open], kept.open)
    if facts.resume:
        lines.append(f"to go on: {one_line(facts.resume, kept.value)}")
    return lines


_STATUS: Final[Mapping[RunStatus, str]] = {
    "running": "running",
    "waiting": "waiting for a person",
    "asleep": "asleep; it goes on by itself",
    "confirming": "waiting for a person to confirm",
    "done": "done",
    "failed": "failed",
    "interrupted": "stopped before its end; it can be resumed",
    "cancelled": "cancelled by the person",
    "over_budget": "stopped, its budget is used up",
    "left": "left by the person, not finished; it can be resumed",
}


def _status(facts: RunFacts, limit: int = _SHORT) -> str:
    said = _STATUS[facts.status]
    if facts.status == "done" and facts.repair_exhausted:
        said = "done, best effort, not passed: the last repair round was used up"
    return f"{said} ({detail})" if (detail := one_line(facts.detail, limit)) else said


def _progress(facts: RunFacts) -> str:
    done = sum(step.status == "done" for step in facts.steps)
    skipped = sum(step.status == "skipped" for step in facts.steps)
    said = f"{done} of {len(facts.steps)} done"
    said += f", {skipped} skipped" if skipped else ""
    return said + (f", {facts.repair_rounds} repair rounds" if facts.repair_rounds else "")


def _step(step: StepFact) -> str:
    return f"{step.status}, {step.attempts} attempts" if step.attempts > 1 else step.status


def _found(facts: RunFacts, limit: int | None) -> list[str]:
    # The last steps have what a run was for, so they come first; a step that is not done has found nothing.
    found = [
        f"found, {one_line(step.name, _TINY)}, {one_line(label, _TINY)}: {one_line(value, _LONG)}"
        for step in reversed(facts.steps)
        if step.status == "done"
        for label, value in step.found
    ]
    shown = found if limit is None else found[:limit]
    return [*shown, *([f"found: {len(found) - len(shown)} more"] if len(shown) < len(found) else [])]


def _verified(facts: RunFacts, limit: int = _FIRST) -> list[str]:
    if not facts.verification:
        return ["passed: nothing was checked"]
    by: dict[Verdict, list[VerificationFact]] = {"passed": [], "failed": [], "not_checked": []}
    for fact in facts.verification:
        by[fact.verdict].append(fact)
    lines = [f"passed: {len(by['passed'])} of {len(facts.verification)}"]
    for name, facts_of in (("failed", by["failed"]), ("not checked", by["not_checked"])):
        said = [one_line(f"{fact.what} ({fact.note})" if fact.note else fact.what, _SHORT) for fact in facts_of]
        lines += _few(name, said, limit)
    return lines


def _reply(reply: ReplyFact, words: bool) -> str:
    text = one_line(reply.text, _SHORT) if words else ""
    said = f"reply at {one_line(reply.gate, _TINY)}: {one_line(reply.reply, _TINY)}"
    return f"{said}, {text}" if text else said


def _files(facts: RunFacts, kept: _Kept) -> list[str]:
    files = [one_line(file, _SHORT) for step in facts.steps if step.status == "done" for file in step.files]
    where = [f"folder: {one_line(facts.folder, kept.value)}"] if facts.folder else []
    return [*where, *_few("file", list(dict.fromkeys(files)), kept.files)]


def _few(name: str, said: Sequence[str], limit: int | None) -> list[str]:
    shown = said if limit is None else said[:limit]
    more = len(said) - len(shown)
    rest = f"{name}: {more} more" if shown else f"{name}: {more}"
    return [*(f"{name}: {each}" for each in shown), *([rest] if more else [])]


def cost_line(spent: RunSpent) -> str:
    money = "cost not known" if spent.usd is None else f"${spent.usd:.4f}"
    return f"so far {spent.input_tokens:,} tokens in, {spent.output_tokens:,} out, {money}"


def one_line(text: str, limit: int) -> str:
    """The text on one line with nothing in it that a terminal would obey, cut to `limit` characters."""
    return _cut(" ".join(_clean(text).split()), limit)


def _cut(text: str, limit: int) -> str:
    return text if len(text) <= limit else f"{text[:limit].rstrip()} … ({len(text) - limit:,} more characters)"


def _clean(text: str) -> str:
    if text.isascii() and text.isprintable():
        return text
    return "".join(" " if char in "\t\n\r" else char for char in text if char in "\t\n\r" or _harmless(char))


def _harmless(char: str) -> bool:
    return unicodedata.category(char) not in ("Cc", "Cf", "Cs", "Co", "Cn") or char in "\u200c\u200d"
