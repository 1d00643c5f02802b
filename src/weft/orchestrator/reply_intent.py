"""What words that are said to a session mean to its run, and what that leads to. Pure: values in and out.

A run at rest may have asked something, and the words are judged against that:

    waiting at a gate      an offered choice, a clear reply, a clear breakout; otherwise unclear
    asked back             yes or no, leave or stay, what to change; or a clear reply to the gate after all
    left, stopped, failed  resume, or afresh: which is asked back, since it ends the old run for good

Words that are unclear lead to nothing but the question again. Words alone never cancel: they are asked back, as is what
a model takes unclear words for; an offered choice named by its id, number or label is final. What was asked back is in
the log, so that any face can answer it, also after a restart. In a conversation (`talking`) only a run that waits
listens to every message; one that was left or stopped listens when it is named.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Literal, assert_never

from weft.orchestrator.replies import (
    Judgement,
    is_named,
    judge_answer,
    judge_confirmation,
    judge_reply,
    judge_resume,
)
from weft.orchestrator.reply_clauses import words_of
from weft.orchestrator.rest_commands import asked_back, at_rest, is_heard, open_gate, said_to
from weft.protocol import events as e
from weft.protocol.commands import CancelRun, ReplyToGate, ResolveConfirmation, RestCommand
from weft.protocol.values import dataclass
from weft.session.state import SessionState, UnheardWords

Then = Literal["", "go on", "afresh", "answer"]
"""What is to be done besides recording: go on with the run, begin it afresh, have the conversation answer."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplyIntent:
    """What words mean."""

    meaning: e.WordsMeaning
    reason: str = ""
    """Which words decided, or what is not clear about them."""
    gate: str = ""
    choice: str = ""
    text: str = ""
    """What is to be changed."""
    model: str = ""
    """The model whose opinion it is."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HeardWords:
    """What words lead to: events that are recorded together, and what is then done."""

    events: tuple[e.DurableEvent, ...]
    then: Then = ""
    answer: str = ""
    """The message that the conversation is to answer."""
    proceeds: str = ""
    """The step whose result is let pass: an edit of it has to be taken in first."""


def understand(state: SessionState, text: str, *, gate: str = "", talking: bool = False) -> ReplyIntent:
    """`gate` is the one that is meant, for whoever has another way to say it than words."""
    run = state.run
    if run is None or not is_heard(state):
        return ReplyIntent(meaning="not for it", reason="no run is waiting")
    if state.confirming and not gate:
        return _asked_back(state, state.confirming, text, run.pipeline, talking)
    waits = bool(state.gates) and run.outcome not in ("left",)
    if gate or waits or (state.gates and not talking and _named_choice(state, text)):
        return _at_gate(state, text, gate)
    return _taken_up(text, run.pipeline, talking)


def hear(state: SessionState, words: UnheardWords, found: ReplyIntent, name: str) -> HeardWords:
    """What these words lead to now. `name` is for a confirmation that is asked. UserError when it can't be done."""
    assert state.run is not None
    heard = e.WordsUnderstood(
        run=state.run.run,
        words=words.words,
        meaning=found.meaning,
        reason=found.reason,
        gate=found.gate,
        choice=found.choice,
        text=found.text,
        model=found.model,
    )
    reply = ReplyToGate(gate=found.gate, choice=found.choice, text=found.text)
    match found.meaning:
        case "reply":
            return _replied(state, heard, reply, words.words, "")
        case "breakout":
            return HeardWords(events=(heard, *asked_back(state, name, "breakout", words.text)))
        case "confirm":
            return HeardWords(events=(heard, *asked_back(state, name, "reply", words.text, reply)))
        case "change?":
            return HeardWords(events=(heard, *asked_back(state, name, "change", words.text, reply)))
        case "fresh?":
            return HeardWords(events=(heard, *asked_back(state, name, "fresh", words.text)))
        case "stay" | "leave" | "yes" | "no":
            return _answered(state, heard, found.meaning, words)
        case "resume":
            return HeardWords(events=(heard,), then="go on")
        case "fresh":
            asked = state.confirming
            ends: RestCommand = CancelRun()
            if asked is not None and asked.kind == "fresh":
                ends = ResolveConfirmation(confirmation=asked.confirmation, choice="yes")
            return HeardWords(events=(heard, *at_rest(state, ends, words=words.words)), then="afresh")
        case "not for it":
            return HeardWords(events=(heard,), then="answer", answer=words.text)
        case "unclear" | "gate?" | "refused":
            return HeardWords(events=(heard,))
        case _:
            assert_never(found.meaning)


def proposed(gate: e.GateOpened, text: str, judged: Judgement, model: str) -> ReplyIntent:
    """What a model takes unclear words for: never more than a question back to the person."""
    found = replace(_reply_of(gate, text, judged), model=model)
    return replace(found, meaning="confirm") if found.meaning == "reply" else found


def _replied(
    state: SessionState, heard: e.WordsUnderstood, reply: ReplyToGate, words: str, confirmation: str
) -> HeardWords:
    gate = open_gate(state, reply.gate)
    does = next((choice.does for choice in gate.choices if choice.id == reply.choice), "")
    events = at_rest(state, reply, words=words, confirmation=confirmation)
    return HeardWords(
        events=(heard, *events),
        then="" if does == "cancel" else "go on",
        proceeds=gate.step if does == "proceed" else "",
    )


def _answered(
    state: SessionState, heard: e.WordsUnderstood, choice: e.ConfirmationChoice, words: UnheardWords
) -> HeardWords:
    asked = state.confirming
    assert asked is not None
    if choice == "yes" and asked.kind == "reply":
        reply = ReplyToGate(gate=asked.gate, choice=asked.choice, text=asked.change)
        return _replied(state, heard, reply, words.words, asked.confirmation)
    resolved = ResolveConfirmation(confirmation=asked.confirmation, choice=choice)
    answer = left_for(asked.text) if choice == "leave" else ""
    return HeardWords(
        events=(heard, *at_rest(state, resolved, words=words.words)),
        then="answer" if answer and words.to == "session" else "",
        answer=answer,
    )


def left_for(text: str) -> str:
    """The message that a run is left for; "" when it said nothing but that: "leave", "never mind"."""
    return text if judge_confirmation(text).kind == "unclear" else ""


def _reply_of(gate: e.GateOpened, text: str, judged: Judgement) -> ReplyIntent:
    """What a judgement of a reply leads to at a gate."""
    if judged.kind == "breakout":
        return ReplyIntent(meaning="breakout", reason=judged.reason, gate=gate.gate, text=text.strip())
    if judged.kind == "unclear":
        return ReplyIntent(meaning="unclear", reason=judged.reason, gate=gate.gate)
    choices = gate.choices
    does = next((choice.does for choice in choices if choice.id == judged.choice), "")
    meaning: e.WordsMeaning = "reply"
    if does == "amend" and not judged.text.strip():
        meaning = "change?"
    elif not judged.sure or (does == "cancel" and not is_named(text, choices)):
        meaning = "confirm"
    return ReplyIntent(
        meaning=meaning,
        reason=judged.reason,
        gate=gate.gate,
        choice=judged.choice,
        text=judged.text if does == "amend" else "",
    )


def _at_gate(state: SessionState, text: str, named: str) -> ReplyIntent:
    if not named and len(state.gates) > 1:
        return _at_one_of(state, text)
    gate = open_gate(state, named or next(iter(state.gates)))
    text = said_to(gate, text) or text
    judged = _begun_with_choice(gate, text) or judge_reply(text, choices=gate.choices)
    return _reply_of(gate, text, judged)


def _at_one_of(state: SessionState, text: str) -> ReplyIntent:
    """Several gates are open: the words begin with the one they are for, unless they want to leave them all."""
    for gate in state.gates.values():
        for name in (gate.gate, gate.step):
            if found := re.match(rf"\s*{re.escape(name)}(?![\w-])\s*[:,]?\s*(\S.*)", text, re.DOTALL | re.IGNORECASE):
                return _at_gate(state, found[1], gate.gate)
    judged = [judge_reply(text, choices=gate.choices) for gate in state.gates.values()]
    if all(one.kind == "breakout" for one in judged):
        return ReplyIntent(meaning="breakout", reason=judged[0].reason, text=text.strip())
    names = ", ".join(gate.gate for gate in state.gates.values())
    return ReplyIntent(meaning="gate?", reason=f"several gates are open ({names}): begin with the one you mean")


def _begun_with_choice(gate: e.GateOpened, text: str) -> Judgement | None:
    """ "amend make it shorter": the id of a choice that takes changes, and the change."""
    first, _, rest = text.strip().partition(" ")
    for choice in gate.choices:
        if choice.does == "amend" and first.lower().rstrip(":") == choice.id and rest.strip():
            return Judgement(
                kind="amend", choice=choice.id, text=rest.strip(), reason=f'"{first}" is the id of a choice'
            )
    return None


def _named_choice(state: SessionState, text: str) -> bool:
    """Whether a run that was left is answered with the id of a choice of its gate all the same."""
    first = text.strip().partition(" ")[0].lower().rstrip(":")
    return any(first == choice.id for gate in state.gates.values() for choice in gate.choices)


def _asked_back(
    state: SessionState, asked: e.ConfirmationAsked, text: str, pipeline: str, talking: bool
) -> ReplyIntent:
    match asked.kind:
        case "breakout":
            return _leaves(state, text)
        case "reply":
            return _confirmed(state, asked, text)
        case "change":
            return _changed(state, asked, text)
        case "fresh":
            return _afresh(state, text, pipeline, talking)
        case _:
            assert_never(asked.kind)


def _leaves(state: SessionState, text: str) -> ReplyIntent:
    answer = judge_confirmation(text)
    if answer.kind != "unclear":
        return ReplyIntent(meaning=answer.kind, reason=answer.reason)
    found = _at_gate(state, text, "")
    if found.meaning == "reply" and found.text:
        return found
    return ReplyIntent(meaning="unclear", reason=answer.reason)


def _confirmed(state: SessionState, asked: e.ConfirmationAsked, text: str) -> ReplyIntent:
    """ "I understood: proceed. Yes?": only a plain yes is one. What names a choice or says what to change replies, and
    sure words for the same choice say it again: "quit", "please stop". What was unclear twice is still unclear."""
    answer = judge_answer(text)
    if answer != "unclear":
        return ReplyIntent(meaning=answer, reason=f'"{text.strip()}" answers what was asked')
    found = _at_gate(state, text, asked.gate)
    choices = open_gate(state, asked.gate).choices
    if found.meaning == "breakout" or (found.meaning == "reply" and (found.text or is_named(text, choices))):
        return found
    if found.choice == asked.choice and judge_reply(text, choices=choices).sure:
        return ReplyIntent(meaning="yes", reason=f'"{text.strip()}" says the same again', gate=asked.gate)
    return ReplyIntent(meaning="unclear", reason="it is neither a yes nor a no")


def _changed(state: SessionState, asked: e.ConfirmationAsked, text: str) -> ReplyIntent:
    found = _at_gate(state, text, asked.gate)
    if found.meaning in ("unclear", "change?") and text.strip():
        return ReplyIntent(
            meaning="reply", reason="it says what to change", gate=asked.gate, choice=asked.choice, text=text.strip()
        )
    return found


def _afresh(state: SessionState, text: str, pipeline: str, talking: bool) -> ReplyIntent:
    answer = judge_answer(text)
    if answer == "yes" or words_of(text) == "fresh":
        return ReplyIntent(meaning="fresh", reason=f'"{text.strip()}" is a yes to what was asked')
    found = _taken_up(text, pipeline, talking)
    if found.meaning == "resume":
        return found
    if answer == "no":
        return ReplyIntent(meaning="no", reason=f'"{text.strip()}" is a no to what was asked')
    return replace(found, meaning="unclear") if found.meaning == "fresh?" else found


def _taken_up(text: str, pipeline: str, talking: bool) -> ReplyIntent:
    words = words_of(text)
    # A pipeline that is named is the run that is meant.
    told = re.sub(
        rf"(?:\bthe )?(?<![\w-]){re.escape(pipeline)}(?![\w-])(?: run| pipeline)?", "the run", text, flags=re.I
    )
    judged = judge_resume(told)
    named = {"run", "pipeline"} & {*words_of(told).split()} or words in ("resume", "resume it")
    if talking and not named:
        return ReplyIntent(meaning="not for it", reason="it does not name the run")
    if judged.kind == "resume":
        return ReplyIntent(meaning="resume", reason=judged.reason)
    if judged.kind == "fresh":
        sure = not talking and words in ("fresh", "2")
        return ReplyIntent(meaning="fresh" if sure else "fresh?", reason=judged.reason)
    return ReplyIntent(meaning="not for it" if talking else "unclear", reason=judged.reason)
