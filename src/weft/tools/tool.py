"""The Tool contract, and how one call of a tool runs.

    handle = await tool.start(call.input, context)     # begins the work; never waits for it
    outcome = await handle.result()                    # settles exactly once, never raises for what the tool met
    handle.interrupt("the person stopped it")          # at any time, synchronous: result() settles now
    await handle.closed()                              # nothing of the work is left: tasks, processes, sockets

Correctness never depends on the work honouring an interrupt: `interrupt` settles the result at once as interrupted,
whatever the work does afterwards meets a closed door, and `closed` is only there to wait for resources. `start` itself
is not to be cancelled: let it return, then interrupt the handle.
"""

from __future__ import annotations

import asyncio
import traceback
from collections.abc import Awaitable, Callable, Coroutine, Mapping
from dataclasses import field
from typing import Any, Literal, Protocol

from weft.files import Folder
from weft.protocol.errors import WeftError
from weft.protocol.messages import ToolSpec
from weft.protocol.values import dataclass
from weft.tools.background import Processes
from weft.tools.boundary import Need
from weft.tools.changed_files import FolderWatch
from weft.tools.shell_state import ShellState

ToolKind = Literal["read", "write", "network", "process"]
Done = Literal["none", "unknown", "completed"]
"""What is known of a call's effect: it never began, it may have happened in part, or its result was seen."""
SubjectKind = Literal["path", "url", "command"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """The one end of a call. `text` is what the model reads: bounded, with the way to the rest when there is more."""

    text: str
    is_error: bool = False
    interrupted: bool = False
    effect: Done = "completed"
    summary: str = ""
    """One line for a face: "42 lines", "exit code 1 in 0.3 s"."""
    diff: str = ""
    """For a call that changed a file: the unified diff, for the log."""
    blob: str | None = None
    """The name of the whole result in `blobs/`, when `text` is only its head and tail."""
    outside: tuple[str, ...] = ()
    """Where content from outside came from, in words; not empty marks the conversation as tainted."""
    data: Mapping[str, Any] | None = None
    """What a face or a projection may want beside the text: the todo list, the answers of a person."""
    seen: Mapping[str, str] = field(default_factory=dict)
    """Files that the call showed or changed, each with the hash of what the model knows of it now."""
    before: Mapping[str, str] = field(default_factory=dict)
    """Files that the call changed, each with the name of its blob as it was; "" for one that was not there."""
    after: Mapping[str, str] = field(default_factory=dict)
    """The hashes of those that it changed without showing them; "" for one that is gone."""
    ends: bool = False
    """Nothing more is to be said for it: the turn is over with it."""
    bug: str = ""
    """The traceback, when the tool itself is at fault."""


class Handle(Protocol):
    async def result(self) -> Outcome: ...

    def interrupt(self, reason: str) -> None: ...

    async def closed(self) -> None: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    text: str
    options: tuple[str, ...] = ()
    several: bool = False


class SkillSource(Protocol):
    """Where skills come from: `weft.workspace.Workspace` and its like."""

    def names(self) -> list[str]: ...

    def text(self, name: str) -> str:
        """The body; WeftError when there is none of that name or it is broken."""
        ...


AskPerson = Callable[[tuple[Question, ...]], Awaitable[Mapping[str, str]]]
"""Answers by the questions' text. Awaiting it may last for days; it is cancelled by an interrupt."""
SubmitPlan = Callable[[str, tuple[str, ...]], Awaitable[None]]
"""Takes what would be done, and its steps; the person says something to it later."""


def _quiet(_: str) -> None:
    """Nobody watches."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Context:
    """What a call may touch. Built by whoever runs the conversation; a tool has no other way to the world."""

    call: str
    working: Folder
    session: Folder | None = None
    environment: Mapping[str, str] = field(default_factory=dict)
    """Of processes: already without secrets (see `processes.plain_environment`)."""
    needs: frozenset[Need] | None = None
    """Of a command: what was granted to it in the boundary. None: what its words need, as for one that is approved."""
    keep: Callable[[bytes], str] | None = None
    """Keeps a large result in `blobs/` and returns its name; without it a large result is only cut."""
    progress: Callable[[str], None] = _quiet
    """A line for whoever watches; never in the log."""
    ask_person: AskPerson | None = None
    skills: SkillSource | None = None
    submit_plan: SubmitPlan | None = None
    shell: ShellState | None = None
    """Of commands: what the one before left behind; without it each begins anew."""
    watch: FolderWatch | None = None
    """Of commands: what they change can be taken back with it."""
    processes: Processes | None = None
    """Where commands go that go on in the background."""
    seen: Mapping[str, str] | None = None
    """Files as the model last saw them, by their hash: what is otherwise now is not overwritten. None: nobody keeps
    count, and what a call names is what it means."""


Start = Callable[[Mapping[str, Any], Context], Awaitable[Handle]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Tool:
    name: str
    description: str
    input_schema: Mapping[str, Any]
    kind: ToolKind
    start: Start
    interruptible: bool = True
    retryable: bool = False
    """Whether a call whose end was lost with a process may simply be made again."""
    subject: tuple[SubjectKind, str] | None = None
    """What permission rules look at: its kind, and the key of the input that holds it."""
    source: str | None = None
    """The slug of the source it comes from; None for a tool of the app."""
    keeps_order: bool = False
    """Whoever runs it keeps the order of calls itself."""
    waits_for: Callable[[], str] | None = None
    """What a person has to do before a call can be made, such as to sign in; "" when nothing."""
    known_as: str = ""
    """Of a source's tool: the name by which models know such a tool; the first of a toolbox is offered under it."""

    @property
    def in_order(self) -> bool:
        """Whether a call may change something, so that its place among the calls of a turn matters."""
        changes = self.kind in ("write", "process") or (self.kind == "network" and not self.retryable)
        return changes and not self.keeps_order

    def spec(self) -> ToolSpec:
        return ToolSpec(name=self.name, description=self.description, input_schema=self.input_schema)


class WorkHandle:
    """A handle for work that is a coroutine. An error of the work is an outcome, a bug in it too."""

    def __init__(self, work: Coroutine[Any, Any, Outcome], *, began: Callable[[], bool] = lambda: True) -> None:
        self._outcome: Outcome | None = None
        self._waiting: list[asyncio.Future[Outcome]] = []
        self._began = began
        self._task = asyncio.create_task(self._run(work))
        self._task.add_done_callback(lambda _: work.close())  # one that was stopped before it began is dropped

    async def _run(self, work: Coroutine[Any, Any, Outcome]) -> None:
        try:
            outcome = await work
        except asyncio.CancelledError:
            self._settle(interrupted("its task was cancelled", began=self._began()))
            raise
        except WeftError as error:
            outcome = failed(str(error))
        except Exception as error:  # noqa: BLE001  whatever a tool does, a call has an end; the traceback is kept
            outcome = broken(error)
        self._settle(outcome)

    def _settle(self, outcome: Outcome) -> None:
        if self._outcome is not None:
            return
        self._outcome = outcome
        for one in self._waiting:
            if not one.done():
                one.set_result(outcome)

    async def result(self) -> Outcome:
        """Each who waits has a future of its own: one that is cancelled takes nothing from the others."""
        if self._outcome is None:
            self._waiting.append(asyncio.get_running_loop().create_future())
            return await self._waiting[-1]
        return self._outcome

    def interrupt(self, reason: str) -> None:
        self._settle(interrupted(reason, began=self._began()))
        self._task.cancel()

    async def closed(self) -> None:
        if not self._task.done():
            await asyncio.wait({self._task})


async def begin(work: Coroutine[Any, Any, Outcome]) -> Handle:
    """The coroutine runs as a task of its own."""
    return WorkHandle(work)


def runs(work: Callable[[Mapping[str, Any], Context], Coroutine[Any, Any, Outcome]]) -> Start:
    """The usual `start` of a tool: its work is a coroutine of the input and the context."""
    return lambda given, context: begin(work(given, context))


class SettledHandle:
    """A call that ended before it began: its input was not right, or nobody is there."""

    def __init__(self, outcome: Outcome) -> None:
        self._outcome = outcome

    async def result(self) -> Outcome:
        return self._outcome

    def interrupt(self, reason: str) -> None:
        """It has ended."""

    async def closed(self) -> None:
        """Nothing was opened."""


def failed(text: str, *, effect: Done = "none") -> Outcome:
    return Outcome(text=text, is_error=True, effect=effect, summary=text.split("\n", 1)[0][:120])


def broken(error: Exception) -> Outcome:
    """The end of a call whose tool has a bug."""
    said = f"the tool failed unexpectedly: {type(error).__name__}: {error}"
    told = "".join(traceback.format_exception(error))
    return Outcome(text=said, is_error=True, effect="unknown", summary=said.split("\n", 1)[0][:120], bug=told)


def interrupted(reason: str, *, began: bool) -> Outcome:
    return Outcome(
        text=f"interrupted: {reason}. " + ("It may have been done in part." if began else "It had not begun."),
        is_error=True,
        interrupted=True,
        effect="unknown" if began else "none",
        summary="interrupted",
    )
