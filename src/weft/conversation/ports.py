"""What a conversation needs from outside: a place for its log, a model, tools, a prompt, a clock, names."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from typing import Any, Protocol, TypeVar, runtime_checkable

from weft.conversation.projections import Notify, Transcript
from weft.models.model import Model, Request
from weft.protocol.conversation_commands import ToolAsk, ToolEnd
from weft.protocol.envelope import MACHINE, Actor
from weft.protocol.events import DurableEvent, Event, Record
from weft.protocol.messages import ToolCall
from weft.protocol.values import dataclass
from weft.session.log import collector_paused
from weft.session.session import Session

T = TypeVar("T")


class Journal(Protocol):
    """Where events become durable. Both calls block and are made off the loop."""

    def record(self, events: Sequence[DurableEvent], *, by: Actor = MACHINE, key: str = "") -> Sequence[Record]:
        """All of it durable when this returns; nothing in the log, and no further call, when it raises. `by` is who
        gave the command that it comes from, `key` that command's own name."""
        ...

    def read(self, after: int = 0) -> Iterable[Record]: ...


@runtime_checkable
class Keeper(Protocol):
    """A journal that keeps folds of its log, so that a long one need not be folded from its start."""

    def saved(self, name: str, kind: type[Any]) -> tuple[int, Any] | None:
        """What the fold kept under that name was, and at which event."""
        ...

    def keep(self, name: str, fold: Callable[[], Any]) -> None:
        """From now on keep what `fold` gives; None when it can't be told at the moment."""
        ...


@dataclass(frozen=True, slots=True)
class SessionJournal:
    """The log of a session."""

    session: Session

    def saved(self, name: str, kind: type[Any]) -> tuple[int, Any] | None:
        with collector_paused():
            return self.session.saved(name, kind)

    def keep(self, name: str, fold: Callable[[], Any]) -> None:
        self.session.keep(name, fold)

    def record(self, events: Sequence[DurableEvent], *, by: Actor = MACHINE, key: str = "") -> Sequence[Record]:
        return self.session.record(events, by=by, key=key)

    def read(self, after: int = 0) -> Iterable[Record]:
        if self.session.state.spoken <= after:
            return ()
        with collector_paused():
            return self.session.records(after)


class Running(Protocol):
    """A tool at work."""

    def interrupt(self, reason: str) -> None:
        """Ask it to stop and return at once."""
        ...

    async def wait(self) -> ToolEnd | None:
        """Its end; None when it was stopped and has none."""
        ...


class ToolboxPort(Protocol):
    def judge(self, call: ToolCall, *, conversation: str, tainted: bool) -> ToolAsk:
        """What the permission rules say to a call. Pure: asking is the conversation's business, not the toolbox's."""
        ...

    async def start(
        self, call: ToolCall, *, conversation: str, say: Callable[[str], None], seen: Mapping[str, str]
    ) -> Running:
        """Open the tool. `seen` has the files as the model last saw them, by their hash: what it did not see it must
        not overwrite. It is never cancelled half-open: when a stop comes meanwhile, it is bound, then stopped."""
        ...


class ContextPort(Protocol):
    async def build(self, conversation: str, transcript: Transcript) -> Request:
        """The prompt for the next model call."""
        ...


async def in_thread(work: Callable[[], T]) -> T:
    return await asyncio.get_running_loop().run_in_executor(None, work)


class OffLoop(Protocol):
    def __call__(self, work: Callable[[], T], /) -> Awaitable[T]: ...


def _ignore(key: str, text: str) -> None:
    """For a conversation that nobody is to be called to."""


def _unseen(event: Event) -> None:
    """For a conversation that is watched through its own events alone."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ports:
    model: Callable[[str], Model]
    """The model of each conversation, by its name."""
    toolbox: ToolboxPort
    context: ContextPort
    ids: Callable[[], str]
    """Names for messages, each new."""
    now: Callable[[], float] = time.monotonic
    off_loop: OffLoop = in_thread
    notify: Notify = _ignore
    show: Callable[[Event], None] = _unseen
    """Gets what is live, for whoever watches more than this conversation; records reach them from the log."""
