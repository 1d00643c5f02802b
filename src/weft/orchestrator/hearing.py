"""What words that are said to a session mean to its run: which question they answer, and how. Pure: values in and out.

A run at rest may have asked one of three things, and the words are judged against that one:

    waiting at a gate      an offered choice, a clear reply, a clear breakout; otherwise unclear
    confirming a breakout  leave or stay; what clearly amends the result stays too
    left, stopped, failed  resume, or afresh: which needs the very word, since it ends the old run for good

Words that are unclear lead to nothing but the question again. In a conversation (`talking`) only a run that waits
listens to every message; one that was left or stopped listens when it is named.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final, Literal

from weft.orchestrator.clauses import words_of
from weft.orchestrator.replies import Choice, Judgement, judge_confirmation, judge_reply, judge_resume
from weft.orchestrator.resting import open_gate
from weft.protocol.commands import AskBreakout, ReplyToGate, ResolveBreakout, RestCommand
from weft.session.state import GateState, SessionState

Meaning = Literal[
    "reply", "breakout", "stay", "leave", "resume", "fresh", "change?", "fresh?", "gate?", "unclear", "not for it"
]
"""The ones with a question mark are questions to the person: what to change, whether really afresh, which gate."""
Asked = Literal["", "change?", "fresh?"]
"""What the person was just asked in the same sitting, besides what the log says."""
FRESH: Final = "to start afresh ends the run that is there for good; what it made stays. Say fresh for that, or resume"


@dataclass(frozen=True, slots=True, kw_only=True)
class Understanding:
    meaning: Meaning
    reason: str = ""
    """Which words decided, or what is not clear about them."""
    gate: str = ""
    choice: str = ""
    text: str = ""
    """What is to be changed."""

    def command(self, state: SessionState, name: str) -> RestCommand | None:
        """What it leads to; None when nothing is to be recorded for it. `name` is for a confirmation that is asked."""
        confirming = state.confirming.confirmation if state.confirming else ""
        match self.meaning:
            case "reply":
                return ReplyToGate(gate=self.gate, choice=self.choice, text=self.text)
            case "breakout":
                return AskBreakout(confirmation=name, text=self.text)
            case "stay" | "leave":
                return ResolveBreakout(confirmation=confirming, choice=self.meaning)
            case _:
                return None


def is_heard(state: SessionState) -> bool:
    """Whether the session has a run that could mean something by words: one that has begun and is not over."""
    return state.run is not None and state.run.outcome is not None and not state.run.over


def choices_of(gate: GateState) -> tuple[Choice, ...]:
    return tuple(Choice(id=str(one["id"]), label=str(one["label"]), kind=one["does"]) for one in gate.choices)


def understand(
    state: SessionState, text: str, *, gate: str = "", asked: Asked = "", talking: bool = False
) -> Understanding:
    """`gate` is the one that is meant, for whoever has another way to say it than words."""
    run = state.run
    if run is None or not is_heard(state):
        return Understanding(meaning="not for it", reason="no run is waiting")
    if state.confirming and not gate:
        return _confirmed(state, text)
    waits = bool(state.gates) and run.outcome not in ("left",)
    if gate or waits or (state.gates and not talking and _named_choice(state, text)):
        return _at_gate(state, text, gate, asked)
    return _taken_up(text, run.pipeline, asked, talking)


def reply_of(gate: GateState, text: str, judged: Judgement) -> Understanding:
    """What a judgement of a reply leads to at a gate: the words' own, or a model's opinion of them."""
    if judged.kind == "breakout":
        return Understanding(meaning="breakout", reason=judged.reason, gate=gate.gate, text=text.strip())
    if judged.kind == "unclear":
        return Understanding(meaning="unclear", reason=judged.reason, gate=gate.gate)
    changes = any(choice.id == judged.choice and choice.kind == "amend" for choice in choices_of(gate))
    meaning: Meaning = "change?" if changes and not judged.text.strip() else "reply"
    return Understanding(
        meaning=meaning, reason=judged.reason, gate=gate.gate, choice=judged.choice, text=judged.text if changes else ""
    )


def left_for(state: SessionState) -> str:
    """The message that a run is left for; "" when it said nothing but that: "leave", "never mind"."""
    text = state.confirming.text if state.confirming else ""
    return text if judge_confirmation(text).kind == "unclear" else ""


def _at_gate(state: SessionState, text: str, named: str, asked: Asked) -> Understanding:
    if not named and len(state.gates) > 1:
        return _at_one_of(state, text, asked)
    gate = open_gate(state, named or next(iter(state.gates)))
    judged = _begun_with_choice(gate, text) or judge_reply(text, choices=choices_of(gate))
    found = reply_of(gate, text, judged)
    amends = [choice.id for choice in choices_of(gate) if choice.kind == "amend"]
    if asked == "change?" and found.meaning in ("unclear", "change?") and text.strip() and amends:
        return Understanding(
            meaning="reply", reason="it says what to change", gate=gate.gate, choice=amends[0], text=text
        )
    return found


def _at_one_of(state: SessionState, text: str, asked: Asked) -> Understanding:
    """Several gates are open: the words begin with the one they are for, unless they want to leave them all."""
    for gate in state.gates.values():
        for name in (gate.gate, gate.step):
            if found := re.match(rf"\s*{re.escape(name)}(?![\w-])\s*[:,]?\s*(\S.*)", text, re.DOTALL | re.IGNORECASE):
                return _at_gate(state, found[1], gate.gate, asked)
    judged = [judge_reply(text, choices=choices_of(gate)) for gate in state.gates.values()]
    if all(one.kind == "breakout" for one in judged):
        return Understanding(meaning="breakout", reason=judged[0].reason, text=text.strip())
    names = ", ".join(gate.gate for gate in state.gates.values())
    return Understanding(meaning="gate?", reason=f"several gates are open ({names}): begin with the one you mean")


def _begun_with_choice(gate: GateState, text: str) -> Judgement | None:
    """ "amend make it shorter": the id of a choice that takes changes, and the change."""
    first, _, rest = text.strip().partition(" ")
    for choice in choices_of(gate):
        if choice.kind == "amend" and first.lower().rstrip(":") == choice.id and rest.strip():
            return Judgement(
                kind="amend", choice=choice.id, text=rest.strip(), reason=f'"{first}" is the id of a choice'
            )
    return None


def _named_choice(state: SessionState, text: str) -> bool:
    """Whether a run that was left is answered with the id of a choice of its gate all the same."""
    first = text.strip().partition(" ")[0].lower().rstrip(":")
    return any(first == choice.id for gate in state.gates.values() for choice in choices_of(gate))


def _confirmed(state: SessionState, text: str) -> Understanding:
    answer = judge_confirmation(text)
    if answer.kind != "unclear":
        return Understanding(meaning=answer.kind, reason=answer.reason)
    found = _at_gate(state, text, "", "")
    if found.meaning == "reply" and found.text:
        return found
    return Understanding(meaning="unclear", reason=answer.reason)


def _taken_up(text: str, pipeline: str, asked: Asked, talking: bool) -> Understanding:
    words = words_of(text)
    if asked == "fresh?" and words in ("fresh", "yes"):
        return Understanding(meaning="fresh", reason=f'"{words}" is a yes to what was asked')
    # A pipeline that is named is the run that is meant.
    told = re.sub(
        rf"(?:\bthe )?(?<![\w-]){re.escape(pipeline)}(?![\w-])(?: run| pipeline)?", "the run", text, flags=re.I
    )
    judged = judge_resume(told)
    named = {"run", "pipeline"} & {*words_of(told).split()} or words in ("resume", "resume it")
    if talking and not named and asked != "fresh?":
        return Understanding(meaning="not for it", reason="it does not name the run")
    if judged.kind == "resume":
        return Understanding(meaning="resume", reason=judged.reason)
    if judged.kind == "fresh":
        sure = not talking and words in ("fresh", "2")
        return Understanding(meaning="fresh" if sure else "fresh?", reason=judged.reason)
    return Understanding(meaning="not for it" if talking else "unclear", reason=judged.reason)
