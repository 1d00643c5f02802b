"""The composition root: the only place that wires the parts together. Every face goes through these doors.

    app = App.open(Path("~/.weft").expanduser())
    plan = app.plan(Ask(pipeline="digest", file=Path("article.md")))          # what would happen, and why
    async with app.session(Ask(pipeline="digest", file=…), publish) as session:
        outcome = await session.submit(StartRun())                             # "done", "failed", "interrupted"
    for record in app.sessions.records("article-1a2b3c"): …                    # the log, also while it is written

A program that embeds Weft may register functions of its own (`functions`): they run in this process and are named in
a pipeline's `code:` like any other. Clock, disk and functions come in from outside.
"""

from __future__ import annotations

import asyncio
import os
import stat
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Final, TypeVar

from weft import __version__
from weft.documents import MAX_BYTES
from weft.files import Disk, Folder, translated
from weft.orchestrator.execute import Executor
from weft.orchestrator.inputs import GivenFile, GivenInput, ReadFile, is_address
from weft.orchestrator.keep import EDIT_HINT
from weft.orchestrator.machine import RunSpec
from weft.orchestrator.opening import Opening, OpeningAsk, open_up
from weft.orchestrator.plan import make_plan
from weft.orchestrator.runner import Publish, Runner, own_findings
from weft.orchestrator.validate import parse
from weft.protocol.commands import InterruptRun, StartRun
from weft.protocol.errors import EXIT_USAGE, UsageError, UserError
from weft.protocol.events import DurableEvent, EditAccepted, NoticeGiven, Outcome, Record
from weft.protocol.ids import CONTENT, check_session_id, is_original, session_id_for
from weft.protocol.plans import Plan
from weft.protocol.steps import StepFunction
from weft.session.legacy import Legacy, older_files, read_legacy
from weft.session.log import LOG, Now
from weft.session.session import Session, no_session
from weft.session.sessions import Sessions
from weft.session.state import SessionState
from weft.tools.fetch import Fetched, fetch
from weft.workspace.pipeline import Pipeline
from weft.workspace.workspace import Workspace

__all__ = ["MAX_BYTES", "App", "Ask", "GivenFile", "OpenSession", "RegisteredFunction", "is_address", "read_given"]

T = TypeVar("T")
Fetch = Callable[[str], Awaitable[Fetched]]

DISK_THREADS: Final = 16
"""Syncs of different sessions overlap; more threads than this bring nothing on the disks it was measured on."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ask:
    """Which session: the one of a file, a named one, or a new one."""

    pipeline: str | Pipeline | None = None
    file: Path | GivenFile | None = None
    """The pipeline's first input: a file, or what was read from standard input or an address."""
    together: tuple[Path | GivenFile, ...] = ()
    """Further files, to be read with it as one document."""
    inputs: Mapping[str, Path] = field(default_factory=dict)
    session: str | None = None
    new: bool = False
    """Begin another session on a file that has one already."""


@dataclass(frozen=True, slots=True)
class RegisteredFunction:
    """A function of the embedding program. A new `version` re-runs what the old one made."""

    function: StepFunction
    version: str = "1"


class OpenSession:
    """The one writer of a session: takes commands, publishes events."""

    def __init__(
        self,
        app: App,
        session: Session,
        pipeline: Pipeline,
        ask: Ask,
        legacy: Legacy | None,
        publish: Publish,
        prepared: tuple[StartRun, Opening] | None,
    ) -> None:
        self._prepared = prepared
        """What was computed for a new session before its folder was made, and for which wish."""
        self._app = app
        self._session = session
        self._pipeline = pipeline
        self._ask = ask
        self._legacy = legacy
        self._publish = publish
        self._runner: Runner | None = None
        self._interrupted: InterruptRun | None = None
        self._failed = False

    def close(self) -> None:
        self._session.close()

    @property
    def id(self) -> str:
        return self._session.folder.path.name

    @property
    def folder(self) -> Path:
        return self._session.folder.path

    @property
    def pipeline(self) -> Pipeline:
        return self._pipeline

    def interrupt(self, command: InterruptRun | None = None) -> None:
        """The fast lane: what runs stops now; `submit` then returns "interrupted"."""
        self._interrupted = command or InterruptRun()
        if self._runner:
            self._runner.interrupt(self._interrupted)

    async def submit(self, command: StartRun) -> Outcome:
        """Bring the session up to date; returns when the run has ended."""
        if self._failed:
            raise UserError(f"session {self.id} failed before and is in no known state", hint="open it anew")
        executor = self._app.executor()
        try:
            opening = await self._open_up(command, executor)
            outcome = await self._run(command, opening, executor)
            self._failed = False
            return outcome
        finally:
            self._runner = None
            await executor.close()

    async def _run(self, command: StartRun, opening: Opening, executor: Executor) -> Outcome:
        spec = RunSpec(
            opening.pipeline,
            opening.facts.steps,
            command,
            opening.parameters,
            opening.chosen,
            self._app.config.model,
            self._app.config.concurrency,
        )
        self._runner = Runner(self._session, spec, opening.facts, executor, self._publish, self._app.disk_threads)
        if self._interrupted:
            self._runner.interrupt(self._interrupted)
        return await self._runner.run()

    async def _open_up(self, wish: StartRun, executor: Executor) -> Opening:
        """Everything that must be recorded before the run, recorded and published."""

        def computed() -> Opening:
            if self._prepared and self._prepared[0] == wish and self._legacy is None and not self._session.state.seq:
                return self._prepared[1]
            given = self._app.given(self._pipeline, self._ask)
            read: ReadFile = self._session.folder.read_or_none
            state = self._session.state
            return open_up(self._app.opening_ask(self._pipeline, self.id, state, read, given, wish, self._legacy))

        def taken_in() -> tuple[Opening, list[Record]]:
            opening = computed()
            return opening, self._take_in(opening)

        if wish.accept:  # an edit may have to pass checks that are code before it is taken in
            opening = await self._app.off_loop(computed)
            await self._judge_edits(opening, executor)
            records = await self._app.off_loop(lambda: self._take_in(opening))
        else:
            opening, records = await self._app.off_loop(taken_in)
        for record in records:
            self._publish(record)
        # An adopted session carries its notes in its first event.
        notes = () if self._legacy else opening.notes
        for text in (*self._session.take_notices(), *notes):
            self._publish(NoticeGiven(text=text))
        self._legacy = None
        return opening

    async def _judge_edits(self, opening: Opening, executor: Executor) -> None:
        """A kept edit must also pass the checks that are code."""
        values = {artifact.name: parse(artifact.name, artifact.data)[0] for artifact in opening.artifacts}
        for event in opening.events:
            if isinstance(event, EditAccepted):
                documents = opening.facts.documents(event.step, {**opening.facts.values, **values})
                found = await own_findings(executor, opening.pipeline.steps[event.step], values, documents)
                if found:
                    raise UserError(f"can't accept {event.step}: {found[0]}", hint=EDIT_HINT)

    def _take_in(self, opening: Opening) -> list[Record]:
        session = self._session
        self._failed = True  # from here on the log is written; only a run that comes to its end takes this back
        aside: list[DurableEvent] = []
        for taken in opening.inputs.values():
            for name, data in taken.originals.items():
                aside += session.take_input(name, data, taken.known.get(name))
            known = next((i.hash for i in session.state.inputs.values() if i.file == taken.file), None)
            aside += session.take_input(taken.file, taken.data, known)
        session.vouch(opening.artifacts)
        birth = 0 if session.state.seq else 1
        events = [*opening.events[:birth], *aside, *opening.events[birth:]]
        return session.record(events) if events else []


class App:
    def __init__(
        self, workspace: Workspace, now: Now, functions: Mapping[str, RegisteredFunction], fetch_page: Fetch = fetch
    ) -> None:
        self.workspace = workspace
        self.config = workspace.config()
        self.sessions = Sessions(workspace.folder, now)
        self.disk_threads = ThreadPoolExecutor(DISK_THREADS, thread_name_prefix="weft-disk")
        self._functions = functions
        self._fetch = fetch_page

    @classmethod
    def open(
        cls,
        path: Path,
        *,
        disk: Disk | None = None,
        now: Now | None = None,
        functions: Mapping[str, RegisteredFunction] | None = None,
        fetch_page: Fetch = fetch,
    ) -> App:
        workspace = Workspace.open(path, disk)
        app = cls(workspace, now or (lambda: datetime.now(UTC)), functions or {}, fetch_page)
        if disk is None:
            workspace.folder.disk.sync = app.config.durable
        return app

    def close(self) -> None:
        self.disk_threads.shutdown()
        self.workspace.folder.close()

    def __enter__(self) -> App:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    # -- the doors

    def plan(self, ask: Ask, wish: StartRun | None = None) -> Plan:
        """What a run would do, and why. Changes nothing."""
        wish = wish or StartRun()
        pipeline = self._pipeline(ask)
        session = self._session_id(ask, pipeline)
        if not self.sessions.exists(session):
            opening = self._plan_new(pipeline, session, ask, wish)
            return make_plan(pipeline, opening.facts.steps, opening.state, wish, opening.notes)
        reading = self.sessions.read(session)
        with self.sessions.folder(session) as folder:
            unfinished = reading.unfinished_writes

            def read(name: str) -> bytes | None:
                return unfinished[name] if name in unfinished else folder.read_or_none(name)

            legacy = None if reading.state.seq else _legacy(folder, ask)
            opening = open_up(
                self.opening_ask(pipeline, session, reading.state, read, self.given(pipeline, ask), wish, legacy)
            )
        notes = [str(damage) for damage in reading.damage]
        notes += [f"{name} will be written again from the log" for name in unfinished]
        if reading.holder:
            notes.append(f"the session is being written by {reading.holder}")
        return make_plan(pipeline, opening.facts.steps, opening.state, wish, (*notes, *opening.notes))

    @asynccontextmanager
    async def session(self, ask: Ask, publish: Publish, wish: StartRun | None = None) -> AsyncIterator[OpenSession]:
        """Open a session as its one writer. For a new one everything asked for, with the `wish` that will follow, is
        checked before its folder is made."""

        def opened() -> OpenSession:
            pipeline = self._pipeline(ask)
            name, first = self._session_id(ask, pipeline), wish or StartRun()
            exists = self.sessions.exists(name)
            prepared = None if exists else (first, self._plan_new(pipeline, name, ask, first))
            session = self.sessions.open(name, create=not exists)
            legacy = None if session.state.seq else _legacy(session.folder, ask)
            return OpenSession(self, session, pipeline, ask, legacy, publish, prepared)

        session = await self.off_loop(opened)
        try:
            yield session
        finally:
            session.close()

    async def fetch_input(self, url: str) -> GivenFile:
        """A page of the web as an input. Only what is public is reached, within limits of size and time."""
        fetched = (await self._fetch(url)).good()
        return GivenFile(fetched.data, url)

    # -- what the doors need

    def executor(self) -> Executor:
        functions = {name: entry.function for name, entry in self._functions.items()}
        return Executor(self.workspace.path / "code", functions)

    async def off_loop(self, work: Callable[[], T]) -> T:
        return await asyncio.get_running_loop().run_in_executor(self.disk_threads, work)

    def opening_ask(
        self,
        pipeline: Pipeline,
        session: str,
        state: SessionState,
        read: ReadFile,
        given: Mapping[str, GivenInput],
        wish: StartRun,
        legacy: Legacy | None,
    ) -> OpeningAsk:
        return OpeningAsk(
            workspace=self.workspace,
            pipeline=pipeline,
            session=session,
            state=state,
            read=read,
            given=given,
            wish=wish,
            legacy=legacy,
            weft=__version__,
            model=self.config.model,
            registered={name: entry.version for name, entry in self._functions.items()},
        )

    def given(self, pipeline: Pipeline, ask: Ask) -> dict[str, GivenInput]:
        """The bytes of every file the person named."""
        named: dict[str, tuple[Path | GivenFile, ...]] = {name: (path,) for name, path in ask.inputs.items()}
        if ask.file is not None:
            first = next(iter(pipeline.inputs), None)
            if first is None:
                raise UsageError(f"the pipeline {pipeline.name} takes no file", hint=f"weft run {pipeline.name}")
            named[first] = (ask.file, *ask.together)
        return {name: GivenInput(tuple(_given_file(file) for file in files)) for name, files in named.items()}

    # -- inside

    def _pipeline(self, ask: Ask) -> Pipeline:
        """The pipeline asked for, else the session's own, else the workspace's default, else the only one."""
        if isinstance(ask.pipeline, Pipeline):
            return ask.pipeline
        name = ask.pipeline or self._recorded_pipeline(ask) or self.config.default_pipeline
        names = self.workspace.pipeline_names()
        if name is None and len(names) == 1:
            name = names[0]
        if name is None:
            raise UsageError(
                "which pipeline?" if names else "this workspace has no pipelines",
                hint=f"name one of: {', '.join(names)}" if names else "weft init lays a pack into it",
            )
        return self.workspace.pipeline(name)

    def _recorded_pipeline(self, ask: Ask) -> str | None:
        if ask.session is None or not self.sessions.exists(ask.session):
            return None
        with self.sessions.folder(ask.session) as folder:
            if folder.exists(LOG):
                return self.sessions.pipeline_of(ask.session)
            legacy = read_legacy(folder)
            if legacy.pipeline:
                return legacy.pipeline
            present = set(folder.names())
        fits = [name for name in self.workspace.pipeline_names() if self._makes_some_of(name, present)]
        return fits[0] if len(fits) == 1 else None

    def _makes_some_of(self, name: str, files: set[str]) -> bool:
        if self.workspace.check_pipeline(name):
            return False
        steps = self.workspace.pipeline(name).steps.values()
        return any(artifact in files for step in steps for artifact in step.artifacts)

    def _session_id(self, ask: Ask, pipeline: Pipeline) -> str:
        """A named session; else the newest session of this pipeline on this file; else a new id."""
        if ask.session is not None:
            return check_session_id(ask.session)
        files = (ask.file, *ask.together) if ask.file else ()
        origin = "\0".join(_identity(file) for file in files)
        title = Path(files[0].name).stem if files else pipeline.name
        number = 1
        while True:
            name = session_id_for(pipeline.name, origin, title, number)
            if not self.sessions.exists(name):
                break
            number += 1
        return name if ask.new or number == 1 else session_id_for(pipeline.name, origin, title, number - 1)

    def _plan_new(self, pipeline: Pipeline, session: str, ask: Ask, wish: StartRun) -> Opening:
        """What a session that does not exist yet would begin with; refuses what can't begin."""
        begins = ask.file is not None or all(name in ask.inputs for name, s in pipeline.inputs.items() if s.required)
        if ask.session and not begins:
            raise no_session(session)
        given = self.given(pipeline, ask)
        return open_up(self.opening_ask(pipeline, session, SessionState(), _nothing, given, wish, None))


def _legacy(folder: Folder, ask: Ask) -> Legacy | None:
    """What an older system left in a folder without a log; None for a folder of our own whose creation was cut off."""
    found = older_files(folder)
    if ask.file is not None:
        found = {name for name in found if name != CONTENT and not is_original(name)}
    return read_legacy(folder) if found else None


def _nothing(_: str) -> None:
    """The files of a session that does not exist."""


def _identity(file: Path | GivenFile) -> str:
    return file.identity if isinstance(file, GivenFile) else os.path.abspath(file)


def _given_file(file: Path | GivenFile) -> GivenFile:
    return file if isinstance(file, GivenFile) else GivenFile(read_given(file), os.path.abspath(file))


def read_given(path: Path) -> bytes:
    """The bytes of a file that a person named, up to the limit of documents."""
    try:
        # Opened without waiting, so that a pipe nobody writes to is empty instead of a hang.
        with open(os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC), "rb") as file:
            status = os.fstat(file.fileno())
            if stat.S_ISDIR(status.st_mode):
                raise IsADirectoryError
            if not stat.S_ISREG(status.st_mode) and not stat.S_ISFIFO(status.st_mode):
                raise UserError(f"{path} is a device, not a file", exit_code=EXIT_USAGE)
            os.set_blocking(file.fileno(), True)
            if status.st_size > MAX_BYTES:
                raise _too_large(path, f"has {status.st_size:,} bytes")
            data = file.read(MAX_BYTES + 1)
            if len(data) > MAX_BYTES:
                raise _too_large(path, "goes on and on")
            return data
    except FileNotFoundError as error:
        raise UserError(
            f"there is no file {path}",
            hint="check the name; a session that already has a copy continues with --session-id",
            exit_code=EXIT_USAGE,
        ) from error
    except IsADirectoryError as error:
        raise UserError(
            f"{path} is a folder, not a file", hint=f"name the files in it: {path}/*", exit_code=EXIT_USAGE
        ) from error
    except OSError as error:
        raise translated(error, f"can't read {path}") from error


def _too_large(path: Path, how: str) -> UserError:
    return UserError(f"{path} {how}; the limit is {MAX_BYTES:,}", hint="split it", exit_code=EXIT_USAGE)
