"""A recorded conversation lived again: today's code, instructions, rules and schemas, and the answers that the log has.
No model is called and no tool is run.

    replayed = await replay(app, "talk-1")      what would be otherwise now, in words, with its place in the log

Every message is said again, every model call is answered with what was answered then, every tool call with the result
it had then, every approval with what the person said. What the engine does with it is compared with what it did: which
calls are allowed, asked about or refused, which turns there are, how each ends. Prompts are compared by a hash without
what is new in each life; the log does not keep them, so they are compared with an earlier replay (`--as-test`). It ends
at an interrupt: what would have been said after it nobody knows.

Of a run, what each step made is held against today's schemas and checks, and steps that would be made again because
their pipeline, agent, code, prompt or input is another now are named.
"""

from __future__ import annotations

import asyncio
import re
import tempfile
from collections import deque
from collections.abc import AsyncIterator, Callable, Iterable, Mapping
from dataclasses import field, replace
from pathlib import Path
from typing import Any, Final

from weft.app.connections.secrets import learn_all
from weft.app.live.conversations import SessionConversation
from weft.app.parts import Parts
from weft.app.root import App
from weft.app.session_requests import SessionRequest
from weft.conversation.tool_calls import ToolAccess
from weft.files import Folder
from weft.models.model import ModelError, Part, Request, Stop, TextDelta, as_json
from weft.protocol import conversation_events as t
from weft.protocol.commands import Mode
from weft.protocol.conversation_commands import DecideApproval, SendMessage, ToolEnd
from weft.protocol.envelope import MACHINE, PERSON
from weft.protocol.errors import UserError
from weft.protocol.events import Record, SessionCreated
from weft.protocol.hashes import hash_value
from weft.protocol.messages import ToolCall
from weft.protocol.values import dataclass
from weft.redaction import REDACTOR
from weft.session.sessions import Sessions
from weft.session.state import fold

SECONDS: Final = 300.0
NAME: Final = "recorded"
_LOOKS_AGAIN: Final = 0.005


@dataclass(frozen=True, slots=True)
class ReplayDifference:
    turn: int
    """0 for what is about a run."""
    text: str
    step: str = ""

    def __str__(self) -> str:
        return f"step {self.step}: {self.text}" if self.step else f"turn {self.turn}: {self.text}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Replayed:
    turns: int
    calls: int
    differences: tuple[ReplayDifference, ...]
    prompts: tuple[str, ...]
    """The hash of each prompt, in order."""
    ended: str = ""
    """Why it ended before the log does."""
    steps: int = 0
    """How many steps of a run were judged again."""


@dataclass(slots=True)
class Recording:
    """What a log has of its main conversation, and of those under it."""

    messages: list[t.MessageAccepted] = field(default_factory=list)
    answers: deque[tuple[t.ModelSettled, list[t.ToolRequested]]] = field(default_factory=deque)
    requested: dict[tuple[str, int, str], t.ToolRequested] = field(default_factory=dict)
    results: dict[tuple[str, int, str], t.ToolSettled] = field(default_factory=dict)
    decided: dict[tuple[str, int, str], t.ApprovalDecided] = field(default_factory=dict)
    ends: dict[tuple[str, int], str] = field(default_factory=dict)
    ended: str = ""


def recording(records: Iterable[Record]) -> Recording:
    found = Recording()
    answered: dict[tuple[str, int], list[t.ToolRequested]] = {}
    for record in records:
        event: Any = record.event
        name = getattr(event, "conversation", "")
        if found.ended or not (name == t.MAIN or name.startswith(f"{t.MAIN}/")):
            continue
        match event:
            case t.MessageAccepted() if event.origin == "person":
                found.messages.append(event)
            case t.ModelSettled():
                asks = answered[name, event.turn] = []
                found.answers.append((event, asks))
            case t.ToolRequested():
                answered.setdefault((name, event.turn), []).append(event)
                found.requested[name, event.turn, event.call] = event
            case t.ToolSettled():
                found.results[name, event.turn, event.call] = event
            case t.ApprovalDecided():
                found.decided[name, event.turn, event.call] = event
            case t.TurnCompleted():
                found.ends[name, event.turn] = event.disposition
            case t.TurnInterrupted() | t.ConversationRewound():
                found.ended = (
                    "it was interrupted there" if isinstance(event, t.TurnInterrupted) else "it went back there"
                )
            case _:
                pass
    return found


class RecordedModel:
    """Answers what was answered then."""

    window = 1_000_000
    media = frozenset({"image", "pdf"})

    def __init__(self, recorded: Recording) -> None:
        self._answers = recorded.answers
        self.prompts: list[str] = []

    @property
    def name(self) -> str:
        return NAME

    async def stream(self, request: Request) -> AsyncIterator[Part]:
        self.prompts.append(_hash(request))
        if not self._answers:
            raise ModelError("invalid_request", "the log has no further answer")
        settled, asks = self._answers.popleft()
        if settled.outcome != "completed":
            raise ModelError("invalid_request", settled.reason or "the call failed then")
        if settled.text:
            yield TextDelta(text=settled.text)
        for ask in asks:
            yield ToolCall(call=ask.call, tool=ask.tool, input=ask.input, malformed=ask.malformed or "")
        yield Stop(reason="tool_calls" if asks else "end")


def _hash(request: Request) -> str:
    """Without what is new in each life: the marks around data."""
    return hash_value(re.sub(r"data-[0-9a-z]{6,}", "data", str(as_json(request))))


@dataclass(slots=True)
class RecordedTool:
    end: ToolEnd

    def interrupt(self, reason: str) -> None:
        """It has ended."""

    async def wait(self) -> ToolEnd | None:
        return self.end


class RecordedAccess(ToolAccess):
    """Judges with today's rules, and runs nothing."""

    recorded: Recording
    turn_of: Callable[[str], int]

    async def start(  # type: ignore[override]
        self, call: ToolCall, *, conversation: str, say: Callable[[str], None], seen: Mapping[str, str]
    ) -> RecordedTool:
        then = self.recorded.results.get((conversation, self.turn_of(conversation), call.call))
        if then is None or then.outcome not in ("succeeded", "failed"):
            return RecordedTool(ToolEnd(text="the log has no result of this call", failed=True))
        failed = then.outcome == "failed"
        return RecordedTool(
            ToolEnd(text=then.text, failed=failed, tainting=then.tainting, seen=then.seen, ends=then.ends)
        )


async def replay(app: App, session: str, *, mode: Mode = "ask", working: Path | None = None) -> Replayed:
    """In the mode that is given: a log does not say in which it began. UserError when nothing can be lived again."""

    def read() -> list[Record]:
        """Without what is a secret by now: it stands in no prompt, no difference and no test."""
        learn_all(app.surroundings)
        return [one._replace(event=REDACTOR.value(one.event)) for one in app.sessions.records(session)]

    records = await app.off_loop(read)
    state, recorded = fold(records), recording(records)
    made = sum(one.completion is not None for one in state.steps.values())
    if not recorded.messages and not made:
        raise UserError(f"nobody has said anything in session {session}, and no step was made")
    judged = await app.judged_again(session) if made else []
    found = [ReplayDifference(0, REDACTOR.text(text), step) for step, text in judged]
    lived = await _talked(app, session, recorded, mode, working) if recorded.messages else None
    if lived is None:
        return Replayed(turns=0, calls=0, differences=tuple(found), prompts=(), steps=made)
    return replace(lived, differences=(*found, *lived.differences), steps=made)


async def _talked(parts: Parts, session: str, recorded: Recording, mode: Mode, working: Path | None) -> Replayed:
    model, turns = RecordedModel(recorded), len(recorded.ends)
    with tempfile.TemporaryDirectory(prefix="weft-replay-") as place, Folder.open(Path(place)) as folder:
        request = SessionRequest(talk=True, session=session, mode=mode, model=NAME, working=working or Path(place))
        scratch = await parts.off_loop(lambda: _scratch(parts, folder, session))
        with parts.lent({NAME: model}):
            talk = SessionConversation(parts, scratch, request, lambda _: None, lambda _: None)
            access = RecordedAccess(talk.access.toolbox, talk.access.rules, talk.access.context)
            access.mode, access.ground, access.recorded = talk.access.mode, talk.access.ground, recorded
            talk.access = access
            talk.context.place = lambda: ""  # another folder and another day are no difference
            try:
                async with asyncio.timeout(SECONDS):
                    await talk.begin()
                    access.turn_of = lambda name: talk.conversation.state.talks[name].turns
                    for message in recorded.messages:
                        await _say(talk, message, recorded)
                    lived = recording(list(scratch.records()))
            finally:
                await talk.close(keep_open=False)
                await parts.off_loop(scratch.close)
    found = tuple(REDACTOR.value(list(_differences(recorded, lived))))
    calls = len(recorded.requested)
    return Replayed(turns=turns, calls=calls, differences=found, prompts=tuple(model.prompts), ended=recorded.ended)


def _scratch(parts: Parts, folder: Folder, session: str) -> Any:
    made = Sessions(folder, parts.moment).open(session, create=True)
    made.record([SessionCreated(session=session, pipeline="", weft="replay")], by=MACHINE)
    return made


async def _say(talk: SessionConversation, message: t.MessageAccepted, recorded: Recording) -> None:
    """Until nothing goes on any more; what is asked meanwhile is answered as it was."""
    said = SendMessage(conversation=t.MAIN, message=message.message, text=message.text, attached=message.attached)
    await talk.conversation.give(said, PERSON)
    while not talk.conversation.state.resting:
        for name, one in list(talk.conversation.state.talks.items()):
            for call_id, call in list(one.turn.calls.items()) if one.turn else ():
                if call.phase == "asked" and one.turn is not None:
                    then = recorded.decided.get((name, one.turn.number, call_id))
                    decision = then.decision if then else "denied"
                    await talk.conversation.give(
                        DecideApproval(conversation=name, call=call_id, decision=decision), PERSON
                    )
        await asyncio.sleep(_LOOKS_AGAIN)


def _differences(then: Recording, now: Recording) -> Iterable[ReplayDifference]:
    for key, ask in then.requested.items():
        _, turn, call = key
        lived = now.requested.get(key)
        if lived is None:
            yield ReplayDifference(turn, f"{ask.tool} ({call}) is not called any more")
        elif lived.verdict != ask.verdict:
            why = f" ({lived.reason})" if lived.reason else ""
            yield ReplayDifference(turn, f"{ask.tool} ({call}) was: {ask.verdict}, is now: {lived.verdict}{why}")
        elif (lived.tool, dict(lived.input)) != (ask.tool, dict(ask.input)):
            yield ReplayDifference(
                turn, f"{ask.tool} ({call}) is understood otherwise: {lived.tool} {dict(lived.input)}"
            )
    for (_, turn), disposition in then.ends.items():
        now_ended = now.ends.get((t.MAIN, turn)) if (t.MAIN, turn) in then.ends else None
        if now_ended is not None and now_ended != then.ends[t.MAIN, turn]:
            yield ReplayDifference(turn, f"turn {turn} ended {disposition}, and ends {now_ended} now")
