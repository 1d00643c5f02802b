"""What a step that calls its tools itself asks a person: the same approval as in a conversation.

The question is in the log before anybody hears it, under the name of the attempt's conversation, and the answer before
the call is made. So it is answered from any face, outlives the process, and nobody is asked again who has answered.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from weft.orchestrator.attempt_timeout import only_waiting
from weft.orchestrator.progress import QuestionOpenError, SignInNeededError
from weft.orchestrator.run_log import RunLog
from weft.protocol import conversation_events as t
from weft.protocol.conversation_commands import DecideApproval, ToolAsk
from weft.protocol.envelope import MACHINE, Actor
from weft.protocol.events import DurableEvent, Event, Record
from weft.protocol.gates import sign_in_slug
from weft.protocol.messages import ToolCall
from weft.protocol.values import dataclass

if TYPE_CHECKING:
    from weft.orchestrator.step_toolbox import StepToolbox


@dataclass(slots=True)
class _Open:
    asked: tuple[t.ToolRequested, t.ApprovalRequested]
    decided: asyncio.Future[t.ApprovalDecided]


class StepQuestions:
    """Of one run."""

    def __init__(self, log: RunLog, off_loop: Callable[[Callable[[], Any]], Awaitable[Any]]) -> None:
        self._log = log
        self._off_loop = off_loop
        self._open: dict[tuple[str, str], _Open] = {}
        self._remembered: set[str] = set()
        """What a person allowed for as long as this session goes on."""

    async def ruled(
        self, conversation: str, turn: int, bench: StepToolbox, call: ToolCall, *, tainted: bool, resumed: bool
    ) -> ToolAsk:
        """What the rules say to a call and, where they want somebody asked, what that person said. Waits as long as
        the step may. `resumed`: the attempt was cut off before, perhaps after the question or its answer.
        QuestionOpenError, SignInNeededError when nobody attends."""
        ask = replace(bench, attended=True).judge(call, tainted=tainted)
        if ask.ruling != "ask":
            return ask
        if ask.key and ask.key in self._remembered:
            return replace(ask, ruling="allow")
        before = await self._off_loop(lambda: self._log.conversation(conversation)) if resumed else []
        mine = [record.event for record in before if getattr(record.event, "call", "") == ask.call]
        decided = next((event for event in mine if isinstance(event, t.ApprovalDecided)), None)
        if decided is None:
            again = any(isinstance(event, t.ApprovalRequested) for event in mine)
            if not bench.attended and sign_in_slug(ask.reason):
                raise SignInNeededError(ask.reason)
            if not bench.attended and again:
                raise QuestionOpenError(ask.tool, self._log.session)
            if not bench.attended:
                return bench.judge(call, tainted=tainted)
            decided = await self._asked(conversation, turn, ask, again=again)
        if decided.decision == "session" and ask.key:
            self._remembered.add(ask.key)
        if decided.decision != "denied":
            return replace(ask, ruling="allow")
        return replace(ask, ruling="deny", reason=decided.reason or f"the person did not allow it ({ask.reason})")

    async def _asked(self, conversation: str, turn: int, ask: ToolAsk, *, again: bool) -> t.ApprovalDecided:
        requested = t.ToolRequested(
            conversation=conversation,
            turn=turn,
            call=ask.call,
            tool=ask.tool,
            input=ask.input,
            verdict="ask",
            reason=ask.reason,
            key=ask.key or None,
            always=ask.always or None,
            safe_to_retry=ask.safe_to_retry,
        )
        question = ask.question(conversation, turn)
        place = (conversation, ask.call)
        waiting = self._open[place] = _Open((requested, question), asyncio.get_running_loop().create_future())
        try:
            if again:
                self._log.ask_again(question)
            else:
                await self._record([requested, question])
            with only_waiting():
                return await waiting.decided
        finally:
            del self._open[place]

    async def decide(self, command: DecideApproval, by: Actor, key: str) -> Sequence[Record] | None:
        """A person's word, durable before the call is made; None when nobody waits for it."""
        waiting = self._open.get((command.conversation, command.call))
        if waiting is None or waiting.decided.done():
            return None
        decided = t.ApprovalDecided(
            conversation=command.conversation,
            turn=waiting.asked[1].turn,
            call=command.call,
            decision=command.decision,
            reason=command.reason or None,
        )
        records = await self._record([decided], by, key)
        if not waiting.decided.done():
            waiting.decided.set_result(decided)
        return records

    @property
    def standing(self) -> list[Event]:
        """What is open, as it was asked, for whoever begins to watch."""
        return [event for one in self._open.values() for event in one.asked]

    async def _record(self, events: Sequence[DurableEvent], by: Actor = MACHINE, key: str = "") -> list[Record]:
        records: list[Record] = await self._off_loop(lambda: self._log.write(events, by=by, key=key))
        self._log.tell()
        return records
