"""`App`: the composition root, the only place that wires the parts together. Every face goes through its doors.

A program that embeds Weft may register functions of its own (`functions`): they run in this process and are named in
a pipeline's `code:` like any other. Clock, disk, functions, models and the way to the web come in from outside.
"""

from __future__ import annotations

import asyncio
import os
import secrets
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from decimal import Decimal
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Final, TypeVar

from weft import __version__
from weft.app.asks import Ask, given_file, identity
from weft.app.runs import OpenSession
from weft.files import Disk, Folder
from weft.models.model import Model
from weft.orchestrator.execute import Executor
from weft.orchestrator.facts import Versions
from weft.orchestrator.inputs import GivenFile, GivenInput, ReadFile
from weft.orchestrator.opening import Opening, OpeningAsk, open_up
from weft.orchestrator.plan import make_plan
from weft.orchestrator.runner import Publish
from weft.orchestrator.workbench import Approve, tools_of
from weft.protocol.commands import StartRun
from weft.protocol.errors import Problem, UsageError, UserError
from weft.protocol.events import SessionCreated
from weft.protocol.ids import CONTENT, check_session_id, is_original, session_id_for
from weft.protocol.messages import Usage
from weft.protocol.plans import Plan
from weft.protocol.steps import StepFunction
from weft.session.legacy import Legacy, older_files, read_legacy
from weft.session.log import LOG, Now
from weft.session.recovery import accepted_contents
from weft.session.session import Session, no_session
from weft.session.sessions import Sessions
from weft.session.state import SessionState
from weft.tools.fetch import Fetched, fetch
from weft.tools.permission_file import Rules, read_rules
from weft.tools.processes import plain_environment, shield_environment
from weft.tools.skills import Skills
from weft.workspace.agent import Agent
from weft.workspace.pipeline import Pipeline
from weft.workspace.workspace import Workspace

if TYPE_CHECKING:
    from weft.app.connecting import ConnectedModels
    from weft.app.talks import OpenTalk, TalkAsk
    from weft.knowledge.knowledge_base import KnowledgeBase
    from weft.tools.toolbox import Toolbox

T = TypeVar("T")
Fetch = Callable[[str], Awaitable[Fetched]]

EMBEDDED: Final = "embedded"
DISK_THREADS: Final = 16
"""Syncs of different sessions overlap; more threads than this bring nothing on the disks it was measured on."""


@dataclass(frozen=True, slots=True)
class RegisteredFunction:
    """A function of the embedding program. A new `version` re-runs what the old one made."""

    function: StepFunction
    version: str = "1"


class _StepModels:
    """Opens a model when the first step asks for it: a run of code loads nothing of it."""

    def __init__(self, app: App, nonce: str) -> None:
        self.nonce = nonce
        self._app = app
        self._open: dict[str, Model] = {}

    def open(self, reference: str) -> Model:
        if reference not in self._open:
            self._open[reference] = self._app.models().open(reference, dict)
        return self._open[reference]

    def price(self, reference: str, usage: Mapping[str, int]) -> Decimal | None:
        return self._app.price(reference, usage)


class _StepTools:
    """What the tools of steps come from; read when the first step that uses some begins."""

    def __init__(self, app: App, surroundings: Mapping[str, str]) -> None:
        self._app = app
        self.environment = plain_environment(surroundings)
        self.skills = Skills([("workspace", app.workspace.folder)])
        self.workspace = app.workspace.path
        self.approve: Approve | None = None

    def toolbox(self) -> Toolbox:
        return self._app.toolbox()

    def agent(self, name: str) -> Agent:
        return self._app.workspace.agent(name)

    def rules(self) -> Rules:
        shield_environment()
        return read_rules(self._app.workspace.folder)


class App:
    def __init__(
        self,
        workspace: Workspace,
        now: Now,
        functions: Mapping[str, RegisteredFunction],
        fetch_page: Fetch,
        models: Mapping[str, Model],
    ) -> None:
        self._prices: dict[tuple[str, tuple[tuple[str, int], ...]], Decimal | None] = {}
        self.workspace = workspace
        self.config = workspace.config()
        self.sessions = Sessions(workspace.folder, now)
        self.disk_threads = ThreadPoolExecutor(DISK_THREADS, thread_name_prefix="weft-disk")
        self._functions = functions
        self._fetch = fetch_page
        self._models = models
        self.ask_secret: Callable[[str], str] | None = None
        """Set by a face that can ask for what opens the credential store."""
        self._now = now
        self._names: Callable[[], str] = lambda: secrets.token_hex(8)
        self._surroundings: Mapping[str, str] = {**os.environ}

    @classmethod
    def open(
        cls,
        path: Path,
        *,
        disk: Disk | None = None,
        now: Now | None = None,
        functions: Mapping[str, RegisteredFunction] | None = None,
        fetch_page: Fetch = fetch,
        models: Mapping[str, Model] | None = None,
    ) -> App:
        workspace = Workspace.open(path, disk)
        app = cls(workspace, now or (lambda: datetime.now(UTC)), functions or {}, fetch_page, models or {})
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
            return make_plan(pipeline, opening.facts.steps, opening.state, wish, opening.parameters, opening.notes)
        reading = self.sessions.read(session)
        with self.sessions.folder(session) as folder:
            unfinished = reading.unfinished_writes

            def read(name: str) -> bytes | None:
                return unfinished[name] if name in unfinished else folder.read_or_none(name)

            legacy = None if reading.state.seq else _legacy(folder, ask)
            given, versions = self.given(pipeline, ask), partial(accepted_contents, folder)
            opening = open_up(self.opening_ask(pipeline, session, reading.state, read, given, wish, legacy, versions))
        notes = reading.faults
        notes += [f"{name} will be written again from the log" for name in unfinished]
        if reading.holder:
            notes.append(f"the session is being written by {reading.holder}")
        return make_plan(
            pipeline, opening.facts.steps, opening.state, wish, opening.parameters, (*notes, *opening.notes)
        )

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

    @asynccontextmanager
    async def talk(self, ask: TalkAsk) -> AsyncIterator[OpenTalk]:
        """Open a session as its one writer, to talk in it. A new one is made when none is named or it is not there."""

        def opened() -> Session:
            day = self._now().strftime("%Y%m%d")
            name = check_session_id(ask.session) if ask.session else f"talk-{day}-{self.new_name()[:6]}"
            exists = self.sessions.exists(name)
            session = self.sessions.open(name, create=not exists)
            if not session.state.seq:
                if older_files(session.folder):
                    session.close()
                    again = f"weft run --session-id {name}"
                    raise UserError(f"session {name} is of an older system", hint=f"take it in first: {again}")
                session.record([SessionCreated(session=name, pipeline="", weft=__version__)])
            return session

        from weft.app.talks import open_talk  # a run needs nothing of all this

        async with open_talk(self, opened, ask, self._surroundings) as talk:
            yield talk

    def check_pipeline(self, name: str) -> list[Problem]:
        """What is wrong with a pipeline, also with the tools that its steps want to use."""
        problems = self.workspace.check_pipeline(name)
        if problems:
            return problems
        pipeline = self.workspace.pipeline(name)
        for step in pipeline.steps.values():
            if step.executor in ("agent", "tool"):
                try:
                    tools_of(step, self.workspace.agent(step.agent) if step.agent else None, self.toolbox())
                except UserError as error:
                    message = error.message.removeprefix(f"the step {step.name}: ")
                    problems.append(Problem(pipeline.file, message, key=f"steps.{step.name}", hint=error.hint))
        return problems

    # -- what the doors need

    @property
    def default_model(self) -> str:
        """Of steps whose agent names none: the workspace's, else the environment's, else the embedded one."""
        return self.config.model if self.config.model != EMBEDDED else self._surroundings.get("WEFT_MODEL") or EMBEDDED

    @property
    def has_no_model(self) -> bool:
        """Nothing is connected and nothing is meant but the embedded one."""
        return not self.config.models and not self._models and self.default_model == EMBEDDED

    def step_models(self) -> _StepModels:
        return _StepModels(self, self.new_name())

    def step_tools(self) -> _StepTools:
        return _StepTools(self, self._surroundings)

    def price(self, reference: str, usage: Mapping[str, int]) -> Decimal | None:
        """US dollars as prices are now; None when they are not known. Screens ask for the same again and again."""
        asked = (reference, tuple(sorted(usage.items())))
        if asked not in self._prices:
            from weft.models.spending import ModelCall

            counts = Usage(**{key: value for key, value in usage.items() if key in Usage.__slots__})
            self._prices[asked] = self.models().price(ModelCall(at="", model=reference, usage=counts)).amount
        return self._prices[asked]

    def models(self) -> ConnectedModels:
        from weft.app.connecting import ConnectedModels

        return ConnectedModels(self.config, self._surroundings, self._models, self.ask_secret)

    def toolbox(self, knowledge: KnowledgeBase | None = None) -> Toolbox:
        from weft.tools.builtin import builtin_tools
        from weft.tools.toolbox import Toolbox

        if knowledge is None:
            return Toolbox(builtin_tools())
        from weft.knowledge.offering import conversation_tools

        return Toolbox([*builtin_tools(), *conversation_tools(knowledge)])

    def knowledge(self, named: str | None) -> KnowledgeBase | None:
        """The collection that is named, else the workspace's own choice; None when there is neither."""
        chosen = named or self.config.kb
        if not chosen:
            return None
        from weft.knowledge.knowledge_base import open_collection

        return open_collection(self.workspace.folder, chosen)

    def new_name(self) -> str:
        return self._names()

    def executor(self) -> Executor:
        functions = {name: entry.function for name, entry in self._functions.items()}
        environment = plain_environment(self._surroundings)
        if added := self._surroundings.get("PYTHONPATH"):
            environment["PYTHONPATH"] = added
        return Executor(self.workspace.path / "code", environment, functions)

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
        versions: Versions | None = None,
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
            model=self.default_model,
            registered={name: entry.version for name, entry in self._functions.items()},
            toolbox=self.toolbox,
            versions=versions,
        )

    def given(self, pipeline: Pipeline, ask: Ask) -> dict[str, GivenInput]:
        """The bytes of every file the person named."""
        named: dict[str, tuple[Path | GivenFile, ...]] = {name: (path,) for name, path in ask.inputs.items()}
        if ask.file is not None:
            first = next(iter(pipeline.inputs), None)
            if first is None:
                raise UsageError(f"the pipeline {pipeline.name} takes no file", hint=f"weft run {pipeline.name}")
            named[first] = (ask.file, *ask.together)
        return {name: GivenInput(tuple(given_file(file) for file in files)) for name, files in named.items()}

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
        origin = "\0".join(identity(file) for file in files)
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
