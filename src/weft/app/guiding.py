"""A conversation in a session that has a run: what is said is first heard by the run, if it waits for something.

    guided.say("make it shorter")     the run's gate takes it; the step is made again, in view of everybody who watches
    guided.say("something else: …")   the run asks whether to leave it; on leaving, that message is answered

One message after the other is heard; while the run is at work, messages go to the conversation. Both write the same
log, through one session. What the run asks is told first to everybody who begins to watch.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Callable, Collection
from typing import Final, Protocol

from weft.app.asks import Ask
from weft.app.runs import Home, OpenSession
from weft.conversation.control import Reply
from weft.conversation.conversation import Conversation
from weft.conversation.feed import Item
from weft.models.model import Model
from weft.orchestrator.hearing import FRESH, Asked, is_heard, understand
from weft.protocol.errors import WeftError
from weft.protocol.events import ConfirmationAsked, Event, GateOpened, NoticeGiven, Record
from weft.session.session import Session
from weft.workspace.workspace import Workspace

LEAVING: Final = 5.0
"""Seconds that a run which is told to stop gets when the conversation is let go of."""


class GuideHome(Home, Protocol):
    """What the runs of a conversation need of the app."""

    workspace: Workspace


class Guide:
    """Hears messages for the run of a session, one after the other, and goes on with the run."""

    def __init__(self, home: GuideHome, session: Session, model: Callable[[], Model]) -> None:
        self._home = home
        self._session = session
        self._model = model
        self._messages: deque[str] = deque()
        self._task: asyncio.Task[None] | None = None
        self._asked: Asked = ""
        self._opened_gates: set[str] = set()
        self._run: OpenSession | None = None
        self.show: Callable[[Event], None] = _nobody
        self.answer: Callable[[str], object] = _nobody
        """Has the conversation answer a message."""

    def takes(self, text: str) -> bool:
        """Whether a message is for the run; if so it will be heard."""
        state = self._session.state
        # An open gate is seen before the run has come to rest: what is said then is for it, and heard in a moment.
        hearing = self.busy and (not self.going or bool(state.gates))
        if not hearing:
            if not is_heard(state):
                return False
            if understand(state, text, asked=self._asked, talking=True).meaning == "not for it":
                return False
        self._messages.append(text)
        if not self.busy:
            self._task = asyncio.get_running_loop().create_task(self._hear_all(), name="hears for the run")
        return True

    @property
    def busy(self) -> bool:
        return self._task is not None and not self._task.done()

    @property
    def going(self) -> bool:
        """The run itself is at work."""
        return self._run is not None and self._run.going

    def question(self) -> list[Event]:
        """What the run asks now, as it was asked."""
        state = self._session.state
        if not is_heard(state) or state.run is None or state.run.outcome == "left":
            return []
        number = state.run.run
        if state.confirming:
            asked = state.confirming
            return [ConfirmationAsked(run=number, confirmation=asked.confirmation, kind="breakout", text=asked.text)]
        return [
            GateOpened(
                run=number,
                gate=gate.gate,
                step=gate.step,
                hash=gate.hash,
                message=gate.message,
                shown=gate.shown,
                choices=gate.choices,
            )
            for gate in state.gates.values()
        ]

    def greeting(self) -> list[Event]:
        """What whoever begins to watch should know of the run."""
        state = self._session.state
        if is_heard(state) and state.run is not None and (state.run.outcome == "left" or not state.gates):
            text = (
                f'the run of {state.run.pipeline} is not finished ({state.run.outcome}); say "resume the run" to go on'
            )
            return [NoticeGiven(text=text)]
        return self.question()

    def interrupt(self) -> bool:
        """Whether there was something to stop: the run, or a model that is asked what words mean."""
        if self._run is None:
            return False
        if self._run.going:
            self._run.interrupt()
            return True
        return self._run.stop_asking()

    async def settled(self) -> None:
        """Until every message was heard and the run is at rest. Raises what went wrong in it."""
        if self._task is not None:
            await asyncio.shield(self._task)

    def raise_bug(self) -> None:
        """What went wrong without anybody waiting for it: a bug must not be swallowed."""
        if (
            self._task is not None
            and self._task.done()
            and not self._task.cancelled()
            and (bug := self._task.exception())
        ):
            raise bug

    async def leave(self) -> None:
        """Stop what runs and hear nothing more."""
        self._messages.clear()
        self.interrupt()
        if self._task is not None:
            await asyncio.wait({self._task}, timeout=LEAVING)
            if not self._task.done():
                self._task.cancel()
                await asyncio.wait({self._task})

    async def _hear_all(self) -> None:
        while self._messages:
            text = self._messages.popleft()
            try:
                await self._hear(text)
            except WeftError as error:  # nothing was changed, or the log has it: they can say something else
                self.show(NoticeGiven(text=str(error)))
            except Exception as error:  # it is raised again for whoever waits, but nobody may be waiting
                self.show(NoticeGiven(text=f"the run can't go on: {type(error).__name__}: {error}"))
                raise

    async def _hear(self, text: str) -> None:
        state = self._session.state
        if understand(state, text, asked=self._asked, talking=True).meaning == "not for it":
            self.answer(text)  # the run it was meant for is over
            return
        run = self._run = self._run or self._opened()
        heard = await run.hear(text, asked=self._asked, talking=True, model=self._model())
        self._asked = heard.meaning if heard.meaning in ("change?", "fresh?") else ""
        if heard.wish is not None:
            self._opened_gates = set()
            if await run.submit(heard.wish) == "waiting":
                self._ask_again(besides=self._opened_gates)
        elif heard.answer:
            self.answer(heard.answer)
        elif heard.meaning == "fresh?":
            self.show(NoticeGiven(text=FRESH))
        elif heard.meaning != "breakout" and not self._asked:
            self._ask_again()

    def _ask_again(self, besides: Collection[str] = ()) -> None:
        for event in self.question():
            if not isinstance(event, GateOpened) or event.gate not in besides:
                self.show(event)

    def _opened(self) -> OpenSession:
        """WorkspaceError when the pipeline can't be read: the conversation goes on without it."""
        pipeline = self._home.workspace.pipeline(self._session.state.pipeline)
        ask = Ask(session=self._session.folder.path.name)
        return OpenSession(self._home, self._session, pipeline, ask, None, self._publish, None)

    def _publish(self, item: Record | Event) -> None:
        event = item.event if isinstance(item, Record) else item
        if isinstance(event, GateOpened):
            self._opened_gates.add(event.gate)
        self.show(event)


class GuidedConversation(Conversation):
    """A conversation whose messages are heard by a run first."""

    guide: Guide | None = None

    def follow(self, guide: Guide) -> None:
        self.guide = guide
        guide.show = self.show
        guide.answer = super().say

    def say(self, text: str) -> str:
        if self.guide is not None and self.guide.takes(text):
            return ""
        return super().say(text)

    async def events(self, after: int = 0) -> AsyncIterator[Item]:
        for event in self.guide.greeting() if self.guide else ():
            yield event
        async for item in super().events(after):
            yield item

    def interrupt(self, target: str | None = None, reason: str = "user") -> Reply:
        stopped = target is None and self.guide is not None and self.guide.interrupt()
        reply = super().interrupt(target, reason)
        return Reply("accepted") if stopped else reply

    async def idle(self) -> None:
        while True:
            if self.guide is not None:
                await self.guide.settled()
            await super().idle()
            if self.guide is None or not self.guide.busy:
                return

    async def shutdown(self, timeout: float = 5.0) -> bool:  # noqa: ASYNC109  as for a conversation
        if self.guide is not None:
            await self.guide.leave()
        clean = await super().shutdown(timeout)
        if self.guide is not None:
            self.guide.raise_bug()
        return clean

    async def suspend(self, timeout: float = 5.0) -> bool:  # noqa: ASYNC109  as for a conversation
        if self.guide is not None:
            await self.guide.leave()
        clean = await super().suspend(timeout)
        if self.guide is not None:
            self.guide.raise_bug()
        return clean


def _nobody(_: object) -> None:
    """Before there is anybody to tell."""
