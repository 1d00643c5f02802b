"""Runs what was intended: model calls and tools, each in a task of its own that ends in one settlement.

    ask the gate -> open -> bind (an interrupt that came meanwhile is applied) -> wait -> settle

Calls come here in the order in which they may run: `turns.release` records an intent only when its place has come.
An execution never decides how it ended: it hands in what it saw, and the gate says whether that still counts. Its task
never raises; whatever a model or a tool throws is a result.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from contextlib import aclosing, nullcontext
from dataclasses import field
from typing import Any, Final

from weft.conversation.engine import Engine
from weft.conversation.limits import TIME_IS_OVER, seconds_left
from weft.conversation.ports import Ports
from weft.conversation.projections import Transcript
from weft.models.model import Model, Request, Retried, Stop, TextDelta, ThinkingDelta
from weft.protocol import conversation_commands as c
from weft.protocol import conversation_events as t
from weft.protocol.errors import WeftError
from weft.protocol.messages import StopReason, ToolCall, Usage
from weft.protocol.values import dataclass

BREATH: Final = 64
"""After so many pieces of a stream everybody else gets a turn on the loop."""


@dataclass(slots=True)
class TaskHandle:
    """A model call is stopped by cancelling its task: closing the stream ends the call."""

    task: asyncio.Task[None]

    def interrupt(self, reason: str) -> None:
        self.task.cancel(reason)


@dataclass(slots=True)
class AnswerSoFar:
    """What a model has said so far."""

    texts: list[str] = field(default_factory=list)
    thinking: list[dict[str, Any]] = field(default_factory=list)
    calls: list[ToolCall] = field(default_factory=list)
    usage: Mapping[str, Any] = field(default_factory=dict)
    stop: StopReason | None = None
    model: str = ""
    """Who answers: the one that was asked, or another that was asked in its place."""
    _open: bool = False

    def think(self, part: ThinkingDelta) -> None:
        if not self._open:
            self.thinking.append({"text": "", "signature": ""})
        self.thinking[-1]["text"] += part.text
        self.thinking[-1]["signature"] = part.signature or self.thinking[-1]["signature"]
        self._open = not part.signature


class Executor:
    def __init__(
        self,
        engine: Engine,
        ports: Ports,
        *,
        submit: Callable[[c.ConversationCommand], None],
        show: Callable[[t.LiveConversationEvent], None],
        transcript: Callable[[str], Transcript],
        returned: Callable[[], None],
        stop: Callable[[str, str], object],
    ) -> None:
        self._engine = engine
        self._ports = ports
        self._submit = submit
        self._show = show
        self._transcript = transcript
        self._returned = returned
        self._stop = stop
        """Interrupts a conversation; takes its name and the reason."""
        self.tasks: dict[tuple[str, str], asyncio.Task[None]] = {}

    def launch(self, intent: t.IntentRecorded) -> None:
        x = (intent.conversation, intent.execution)
        run = self._model(*x) if intent.kind == "model" else self._tool(*x, intent.call or "")
        task = asyncio.create_task(run, name=f"{intent.conversation} {intent.execution}")
        self.tasks[x] = task
        left = seconds_left(self._engine.state, intent.conversation)
        timer = left if left is None else asyncio.get_running_loop().call_later(left, self._time_is_over, *x)
        task.add_done_callback(lambda _: self._done(x, timer))

    def _time_is_over(self, conversation: str, execution: str) -> None:
        if self._engine.control.lets_through(conversation, execution):
            self._stop(conversation, TIME_IS_OVER)

    def _done(self, x: tuple[str, str], timer: asyncio.TimerHandle | None) -> None:
        task = self.tasks.pop(x)
        if timer is not None:
            timer.cancel()
        if not task.cancelled():
            task.result()  # never raises, and if it does, the loop must hear of it
        self._engine.control.returned(*x)
        self._returned()

    # -- models

    async def _model(self, conversation: str, execution: str) -> None:
        control = self._engine.control
        if not control.begin_start(conversation, execution):
            return
        task = asyncio.current_task()
        assert task is not None
        control.bind(conversation, execution, TaskHandle(task))  # nothing is open yet: the task may be cancelled
        answer, reason, began = AnswerSoFar(), "", self._ports.now()
        try:
            model = self._ports.model(conversation)
            answer.model = model.name
            request = await self._ports.context.build(conversation, self._transcript(conversation))
            await self._listen(conversation, execution, model, request, answer)
            if not answer.stop:
                reason = "the model's answer broke off"
        except asyncio.CancelledError:
            return  # it was told to stop: the settlement is the interrupt's
        except WeftError as error:
            reason = str(error)
        except Exception as error:  # noqa: BLE001  a model's fault is the end of one call, not of the conversation
            reason = f"{type(error).__name__}: {error}"
        self._submit(
            c.SettleModel(
                conversation=conversation,
                execution=execution,
                outcome="failed" if reason else "completed",
                text="".join(answer.texts),
                asks=() if reason else tuple(self._judged(conversation, call) for call in answer.calls),
                thinking=tuple(answer.thinking),
                reason=reason,
                model=answer.model,
                usage=answer.usage,
                ms=self._since(began),
                stop=answer.stop,
            )
        )

    def _since(self, began: float) -> int:
        return round((self._ports.now() - began) * 1000)

    async def _listen(
        self, conversation: str, execution: str, model: Model, request: Request, answer: AnswerSoFar
    ) -> None:
        control = self._engine.control
        control.note_usage(conversation, execution, model.name, {})
        stream = model.stream(request)
        closing: Any = aclosing(stream) if hasattr(stream, "aclose") else nullcontext()
        count = 0
        async with closing:
            async for part in stream:
                count += 1
                if count % BREATH == 0:
                    await asyncio.sleep(0)  # a stream that never waits must not keep the loop to itself
                match part:
                    case TextDelta():
                        if control.deliver(conversation, execution, part.text):
                            answer.texts.append(part.text)
                            self._show(t.TextStreamed(conversation=conversation, execution=execution, text=part.text))
                    case ThinkingDelta():
                        answer.think(part)
                        if part.text and control.lets_through(conversation, execution):
                            self._show(
                                t.ThinkingStreamed(conversation=conversation, execution=execution, text=part.text)
                            )
                    case ToolCall():
                        answer.calls.append(part)
                    case Usage():
                        answer.usage = part.told()
                        control.note_usage(conversation, execution, answer.model, answer.usage)
                    case Stop():
                        answer.stop = part.reason
                    case Retried():
                        self._note_retry(conversation, execution, answer.model, part)
                        if part.instead:
                            answer.model, answer.usage = part.instead, {}
                            control.note_usage(conversation, execution, answer.model, {})

    def _note_retry(self, conversation: str, execution: str, model: str, retried: Retried) -> None:
        if self._engine.control.lets_through(conversation, execution):
            self._submit(
                c.NoteRetry(
                    conversation=conversation,
                    execution=execution,
                    tries=retried.tries,
                    wait_ms=round(retried.wait * 1000),
                    reason=retried.reason,
                    model=model,
                    instead=retried.instead,
                )
            )

    def _judged(self, conversation: str, call: ToolCall) -> c.ToolAsk:
        try:
            return self._ports.toolbox.judge(call, conversation=conversation, tainted=self._engine.state.tainted)
        except Exception as error:  # noqa: BLE001  what can't be judged must not run
            return c.ToolAsk(
                call=call.call,
                tool=call.tool or "unnamed",
                input=call.input,
                ruling="fault",
                reason=f"this call could not be judged ({type(error).__name__}: {error}), so it was not run",
                malformed=call.malformed,
            )

    # -- tools

    async def _tool(self, conversation: str, execution: str, call_id: str) -> None:
        control = self._engine.control
        call = self._call(conversation, call_id)
        if call is None or not control.begin_start(conversation, execution):
            return

        def say(text: str) -> None:
            if control.lets_through(conversation, execution):
                self._show(t.ToolProgressed(conversation=conversation, execution=execution, text=text))

        began = self._ports.now()
        seen = self._engine.state.talks[conversation].seen
        try:
            running = await self._ports.toolbox.start(call, conversation=conversation, say=say, seen=seen)
            control.bind(conversation, execution, running)
            end = await running.wait()
        except asyncio.CancelledError:
            return
        except WeftError as error:
            end = c.ToolEnd(text=str(error), failed=True)
        except Exception as error:  # noqa: BLE001  a tool's fault is a result for the model
            end = c.ToolEnd(text=f"{type(error).__name__}: {error}", failed=True)
        if end is None:
            if not control.lets_through(conversation, execution):
                return  # it was stopped; the settlement is the interrupt's
            end = c.ToolEnd(text="the tool stopped by itself without a result", failed=True)
        self._submit(
            c.SettleTool(
                conversation=conversation,
                execution=execution,
                end=end,
                ms=self._since(began),
            )
        )

    def _call(self, conversation: str, call_id: str) -> ToolCall | None:
        """The call as the log has it, so that one that is approved after a restart is the one that was asked for."""
        talk = self._engine.state.talks.get(conversation)
        call = talk.turn.calls.get(call_id) if talk and talk.turn else None
        return None if call is None else ToolCall(call=call_id, tool=call.tool, input=call.input)
