"""`App`: the composition root, the only place that wires the parts together. Every face goes through its doors.

A program that embeds Weft may register functions of its own (`functions`): they run in this process and are named in
a pipeline's `code:` like any other. Clock, disk, functions, models and the way to the web come in from outside.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Mapping, Sequence
from contextlib import asynccontextmanager, nullcontext, suppress
from dataclasses import asdict, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeVar

from weft.app.live.command_keys import replied_before
from weft.app.live.door import AttachedSession, attach, open_door
from weft.app.live.live_session import SESSION_CLOSED, LiveSession
from weft.app.live.opened_session import OpenedSession
from weft.app.live.runs import claims_of
from weft.app.live.session_description import said_of_session
from weft.app.parts import Parts
from weft.app.session_requests import SessionRequest, given_file, identity
from weft.app.sessions.session_pages import asked_prompts
from weft.files import Folder
from weft.orchestrator.facts import local_values
from weft.orchestrator.inputs import GivenInput
from weft.orchestrator.overruling import ClaimOnRecord
from weft.orchestrator.plan import make_plan
from weft.orchestrator.prepared_run import PreparedRun, prepare_run
from weft.orchestrator.progress import StartAttempt
from weft.orchestrator.rest_commands import answered, continuation
from weft.orchestrator.reuse import cache_key
from weft.orchestrator.runner import own_findings
from weft.orchestrator.step_tools import tools_of
from weft.orchestrator.validate import parse, validate
from weft.protocol.commands import Accepted, DescribeSession, GivenFile, Reply, ReplyToGate, StartRun, SwitchSource
from weft.protocol.envelope import PERSON, Actor
from weft.protocol.errors import Finding, Problem, UsageError, UserError, WeftError
from weft.protocol.events import RunStarted, SessionCreated
from weft.protocol.gates import sign_in_slug
from weft.protocol.ids import CONTENT, check_session_id, is_original, session_id_for
from weft.protocol.plans import Plan
from weft.protocol.values import dataclass
from weft.session.legacy import Legacy, older_files, read_legacy
from weft.session.lock import SessionLockedError
from weft.session.log import LOG
from weft.session.recovery import PROCESS_ENDED, accepted_contents
from weft.session.session import Session, no_session
from weft.session.state import SessionState
from weft.session.timestamps import moment_seconds
from weft.version import __version__
from weft.workspace.pipeline import Pipeline

if TYPE_CHECKING:
    from weft.app.fleet.queue import QueuedSession, Work
    from weft.app.library.estimates import Estimate
    from weft.app.live.lasting_session import LastingSession

T = TypeVar("T")
TAKEN_UP: Final = Actor("machine", face="web")
"""Who goes on with what a server that ended was doing."""
UNATTENDED: Final = ("web", "schedule")
"""Faces whose runs go on when the process that held them was killed: nobody sits in front."""
MOST_TAKE_UPS: Final = 3
"""In a row, without anybody asking."""
DOOR_SECONDS: Final = 0.2
DOOR_LOOKS: Final = 50
"""How often, and how long after each other, it is looked whether who holds a session has opened its door."""


@dataclass(frozen=True, slots=True)
class Awaited:
    """What a run at rest waits for that comes by itself."""

    due: str = ""
    """A time; "" for none."""
    signs_in: tuple[tuple[str, str], ...] = ()
    """Gates that a sign-in answers, each with the source it is for."""


class App(Parts):
    # -- the doors

    def plan(
        self, request: SessionRequest, wish: StartRun | None = None, edits: Mapping[str, bytes] | None = None
    ) -> Plan:
        """What a run would do, and why. Changes nothing. `edits` stand in place of artifacts' files, as if a person had
        saved them."""
        return self._planned(request, wish or StartRun(), edits or {})[1]

    def forecast(self, request: SessionRequest, wish: StartRun | None = None) -> tuple[Plan, Estimate]:
        """The plan, and about what it would cost. Changes nothing."""
        prepared, plan = self._planned(request, wish or StartRun(), {})
        from weft.app.library.estimates import estimate  # a run does without

        return plan, estimate(self, prepared, plan)

    def _planned(self, request: SessionRequest, wish: StartRun, edits: Mapping[str, bytes]) -> tuple[PreparedRun, Plan]:
        prepared, notes = self._looked_at(request, wish, edits)
        told = (*notes, *prepared.notes)

        def alone(model: str) -> bool:
            return self.models().works_by_itself(model)

        def elsewhere(
            name: str, upstream: Mapping[str, str], inputs: Mapping[str, str]
        ) -> tuple[str, Mapping[str, str]] | None:
            cache, step = self.step_cache, prepared.pipeline.steps[name]
            start = StartAttempt(name, 0, (), upstream, "", inputs=inputs)
            key = cache_key(prepared.pipeline, step, prepared.facts.materials[name], prepared.parameters, start, alone)
            found = cache.find(key, prepared.state.session, only_look=True) if cache and key else None
            return (found.session, {one.name: one.hash for one in found.artifacts}) if found else None

        facts = prepared.facts.steps
        return prepared, make_plan(prepared.pipeline, facts, prepared.state, wish, prepared.parameters, told, elsewhere)

    async def try_edit(self, session: str, artifact: str, data: bytes) -> tuple[list[Finding], Plan | None]:
        """What would be wrong with an edit of an artifact; when nothing is, what a run would do that keeps it. Nothing
        is written."""
        request, edits = SessionRequest(session=session), {artifact: data}
        prepared, _ = await self.off_loop(lambda: self._looked_at(request, StartRun(), edits))
        step = next((one for one in prepared.pipeline.steps.values() if artifact in one.artifacts), None)
        if step is None:
            raise UserError(f"no step of {prepared.pipeline.name} makes {artifact}", hint="only artifacts are edited")
        value, broken = parse(artifact, data)
        if broken:
            return [broken], None
        documents = prepared.facts.documents(step.name, local_values(step, prepared.facts.values))
        found = validate(step, artifact, value, documents)
        values = {**prepared.facts.values, artifact: value}
        if not found and all(name in values for name in step.artifacts):
            executor = self.executor()
            try:
                found = await own_findings(executor, step, values, documents)
            finally:
                await executor.close()
        if found:
            return found, None
        wish = StartRun(accept=frozenset({step.name}))
        return [], await self.off_loop(lambda: self.plan(request, wish, edits))

    async def judged_again(self, session: str) -> list[tuple[str, str]]:
        """What today's pipeline, agents, schemas and checks would do otherwise with what the run of a session made:
        each with its step. Nothing is called, made or written."""
        request = SessionRequest(session=session)
        prepared, _ = await self.off_loop(lambda: self._looked_at(request, StartRun(), {}))
        plan = await self.off_loop(lambda: self.plan(request))
        done = {name for name, one in prepared.state.steps.items() if one.completion is not None}
        again = [line for line in plan.lines if line.action == "run" and not line.conditional and line.step in done]
        found = [(line.step, f"would be made again: {line.reason}") for line in again]
        executor = self.executor()
        try:
            for step in prepared.pipeline.steps.values():
                values = {name: prepared.facts.values[name] for name in step.artifacts if name in prepared.facts.values}
                if step.name not in done or len(values) < len(step.artifacts):
                    continue
                documents = prepared.facts.documents(step.name, local_values(step, prepared.facts.values))
                findings = [one for name, value in values.items() for one in validate(step, name, value, documents)]
                findings = findings or await own_findings(executor, step, prepared.facts.values, documents)
                found += [(step.name, f"what it made would be refused: {one}") for one in findings]
        finally:
            await executor.close()
        return found + await self.off_loop(lambda: self._told_otherwise(prepared, session, done))

    def _told_otherwise(self, prepared: PreparedRun, session: str, done: Collection[str]) -> list[tuple[str, str]]:
        """The steps of a run whose models would be told something else today, each with what."""
        from weft.orchestrator.prompt_again import told_otherwise
        from weft.render.step_history import step_history
        from weft.session.log import LogReader

        found = []
        with self.sessions.folder(session) as folder:
            records = list(LogReader(folder).read())
            for step in prepared.pipeline.steps.values():
                if step.name not in done or step.map is not None or prepared.facts.materials[step.name].code:
                    continue
                asked = asked_prompts(folder, step_history(step.name, records), None)
                if not asked or asked[0].text is None or asked[0].dropped:
                    continue  # it asked no model, or was told less than there was to tell
                before = {name for one in step.requires for name in prepared.pipeline.steps[one].artifacts}
                values = {name: value for name, value in prepared.facts.values.items() if name in before}
                material = prepared.facts.materials[step.name]
                lines = told_otherwise(step, material, values, session, asked[0].text)
                if lines:
                    found.append((step.name, "\n    ".join(["its model would be told something else:", *lines])))
        return found

    def _looked_at(
        self, request: SessionRequest, wish: StartRun, edits: Mapping[str, bytes]
    ) -> tuple[PreparedRun, list[str]]:
        """A session as a run would find it now, with what is to be known besides; one that is not there as it would
        begin."""
        pipeline, session, new = self._meant(request, wish)
        if new is not None:
            return new, []
        reading = self.sessions.read(session)
        with self.sessions.folder(session) as folder:
            files = {**reading.unfinished_writes, **edits}

            def read(name: str) -> bytes | None:
                return files[name] if name in files else folder.read_or_none(name)

            legacy = None if reading.state.seq else _legacy(folder, request)
            given, versions = self.given(pipeline, request), partial(accepted_contents, folder)
            self.read_config()
            prepared = prepare_run(
                self.preparation(pipeline, session, reading.state, read, given, wish, legacy, versions)
            )
        notes = [*reading.faults, *(f"{name} will be written again from the log" for name in reading.unfinished_writes)]
        notes += [f"{name} is gone and will be written again from the log" for name in prepared.restored]
        notes += [f"the session is being written by {reading.holder}"] if reading.holder else []
        return prepared, notes

    def changed_since(self, session: str) -> list[str]:
        """The files on this machine that a session took in and that hold something else by now: it works on what it
        took in until they are given again."""
        found = []
        for known in self.sessions.read(session).state.inputs.values():
            origin = Path(known.origin)
            with suppress(WeftError, OSError):  # not to be read any more: its copy is all there is
                if origin.is_absolute() and origin.is_file():
                    found += [] if GivenInput((given_file(origin),)).is_recorded(known) else [known.origin]
        return found

    def claims(self, session: str) -> list[ClaimOnRecord]:
        """The claims of a session with the verdict on each: what `OverruleVerdict` can be said of."""
        name = self.sessions.read(session).state.pipeline
        if not name:
            return []  # a conversation
        with self.sessions.folder(session) as folder:
            return claims_of(self.workspace.pipeline(name), folder.read_or_none)

    @asynccontextmanager
    async def session(
        self, request: SessionRequest, wish: StartRun | None = None, *, reachable: bool = True
    ) -> AsyncIterator[OpenedSession]:
        """One session: held open here as its one writer, or attached to where another process holds it. For a new one
        everything asked for, with the `wish` that will follow, is checked before its folder is made. `reachable`: other
        processes can reach it through its door."""
        live: OpenedSession
        if self.queues_runs and not request.talk:
            live = await self.off_loop(lambda: self._queued(request, wish))
        else:
            live = await self._held_or_attached(request, wish or StartRun())
        if not isinstance(live, LiveSession):
            yield live
            await live.close()
            return
        try:
            async with open_door(live) if reachable else nullcontext("") as trouble:
                if trouble:
                    live.notice(trouble)
                live.wake()
                yield live
        finally:
            await live.close()

    @asynccontextmanager
    async def conversation(self, request: SessionRequest) -> AsyncIterator[LastingSession]:
        """A session to talk in, for as long as somebody talks: taken up here when whoever holds it goes away."""
        from weft.app.live.lasting_session import LastingSession  # a run needs nothing of all this

        lasting = LastingSession(self, request, self.session)
        await lasting.open()
        try:
            yield lasting
        finally:
            await lasting.close()

    async def _held_or_attached(self, request: SessionRequest, wish: StartRun) -> LiveSession | AttachedSession:
        return await self._here_or_attached(lambda: self._hold(request, wish), request)

    async def _here_or_attached(self, here: Callable[[], Awaitable[T]], request: SessionRequest) -> T | AttachedSession:
        """What `here` comes to as the session's one writer, or the session where another process holds it. Somebody who
        has just opened it has a door in a moment: it is waited for, and so is the end of a holder."""
        looks = 0
        while True:
            try:
                return await here()
            except SessionLockedError as error:
                if (attached := await attach(self, error.session, request)) is not None:
                    return attached
                if looks == DOOR_LOOKS:
                    raise
            looks += 1
            await asyncio.sleep(DOOR_SECONDS)

    def works_for(self, requests: Sequence[SessionRequest], wish: StartRun, batch: str, by: Actor) -> list[Work]:
        """Runs as workers would make them, each with a key of the batch. The first is planned: UserError for what can't
        begin, before anything is queued. What is wrong with one document is said of that one by its worker."""
        from weft.app.fleet.queue import Work

        works: list[Work] = []
        pipeline: Pipeline | None = None
        for number, request in enumerate(requests, 1):
            if pipeline is None or request.session is not None:
                pipeline = self._pipeline(request)
            name = self._session_id(request, pipeline)
            if not works and not self.sessions.exists(name):
                self._plan_new(pipeline, name, request, wish)
            works.append(Work.of(request, name, pipeline.name, wish, f"{batch}/{number}", by))
        return works

    def _queued(self, request: SessionRequest, wish: StartRun | None) -> QueuedSession:
        from weft.app.fleet.queue import Queue, QueuedSession

        assert self.shared is not None
        pipeline, name, _ = self._meant(request, wish or StartRun())
        return QueuedSession(self, request, Queue(self.shared), name, pipeline)

    async def attached(self, session: str) -> AttachedSession | None:
        """A session that another process holds open; None when nobody does."""
        if not self.sessions.exists(session):
            raise no_session(session, self.sessions.ids())
        return await attach(self, session, SessionRequest(session=session))

    async def _hold(self, request: SessionRequest, wish: StartRun) -> LiveSession:
        if request.talk:
            session = await self.off_loop(lambda: self._to_talk_in(request))
            live = LiveSession(self, session, request)
            try:
                await live.open_conversation()
            except BaseException:
                await live.close()
                raise
            return live

        def opened() -> tuple[Session, Pipeline, Legacy | None, tuple[StartRun, PreparedRun] | None]:
            pipeline, name, new = self._meant(request, wish)
            if new is not None:
                self.check_code_of(new)
            session = self.sessions.open(name, create=new is not None)
            legacy = None if session.state.seq or session.is_bare else _legacy(session.folder, request)
            return session, pipeline, legacy, (wish, new) if new is not None else None

        session, pipeline, legacy, prepared = await self.off_loop(opened)
        return LiveSession(self, session, request, pipeline, legacy, prepared)

    def _to_talk_in(self, request: SessionRequest) -> Session:
        """A new one is made when none is named or it is not there."""
        day = self._now().strftime("%Y%m%d")
        name = check_session_id(request.session) if request.session else f"talk-{day}-{self.new_name()[:6]}"
        exists = self.sessions.exists(name)
        session = self.sessions.open(name, create=not exists)
        if not session.state.seq:
            if older_files(session.folder):
                session.close()
                again = f"weft run --session-id {name}"
                raise UserError(f"session {name} is of an older system", hint=f"take it in first: {again}")
            session.record([SessionCreated(session=name, pipeline="", weft=__version__)], by=PERSON)
        return session

    async def describe(
        self, session: str, command: DescribeSession | SwitchSource, *, key: str = "", by: Actor = PERSON
    ) -> Reply:
        """What a person says of a session, whoever holds it: it needs no pipeline and opens no conversation."""

        async def here() -> Reply:
            return await self.off_loop(lambda: self._describe(session, command, key, by))

        found = await self._here_or_attached(here, SessionRequest(session=session))
        if not isinstance(found, AttachedSession):
            return found
        reply = await found.submit(command, key=key, by=by)
        await found.close()
        return reply

    def _describe(self, session: str, command: DescribeSession | SwitchSource, key: str, by: Actor) -> Reply:
        event = said_of_session(self, command, Path.cwd())
        if self.sessions.is_unborn(session):
            raise UserError(f"session {session} was made by an older system", hint="weft run --session-id takes it in")
        with self.sessions.open(session) as opened:
            if (before := replied_before(opened, key, command)) is not None:
                return before
            records = opened.record([event], by=by, key=key)
        self.catalogue.follow_up(session)
        return Accepted(seq=records[-1].seq)

    def left_going(self, session: str) -> StartRun | None:
        """The wish that takes up a run which was going when the server that held it ended: killed, or told to stop.
        None for any other, and for one that came to nothing each time it was taken up: that waits for a person."""
        reading = self.sessions.read(session)
        run = reading.state.run
        if run is None or reading.holder or reading.cuts:
            return None
        is_answered = run.outcome == "waiting" and (
            reading.state.status == "interrupted"
            or (bool(run.answers) and answered(reading.state, run.answers, self.workspace.pipeline(run.pipeline)))
        )
        # Also one that was only opened since it was killed, as a label does: its end was put into the log by that.
        was_cut_off = run.outcome == "interrupted" and run.message in (SESSION_CLOSED, PROCESS_ENDED)
        if run.outcome is not None and not was_cut_off and not is_answered:
            return None
        begun = [
            record.envelope.by if record.envelope else PERSON
            for record in self.sessions.records(session)
            if isinstance(record.event, RunStarted)
        ]
        if not begun or begun[-1].face not in UNATTENDED:
            return None
        if begun[-MOST_TAKE_UPS:] == [TAKEN_UP] * MOST_TAKE_UPS:
            return None
        return continuation(run, self.workspace.pipeline(run.pipeline))

    def is_begun(self, session: str) -> bool:
        """It has a log with something in it, or files of an older system: a folder alone is a session that somebody is
        just making."""
        if not self.sessions.exists(session):
            return False
        with self.sessions.folder(session) as folder:
            files = [name for name in folder.names() if name != LOG and not name.startswith(".")]
        return bool(files or self.sessions.read(session).state.seq)

    def awaited(self, session: str) -> Awaited:
        """What a run at rest in it waits for that comes by itself."""
        reading = self.sessions.read(session)
        gates = ((one.gate, sign_in_slug(one.message)) for one in reading.state.gates.values())
        signs_in = tuple((gate, source) for gate, source in gates if source)
        return Awaited("" if reading.cuts else reading.state.due, signs_in)

    def has_come(self, awaited: Awaited) -> StartRun | ReplyToGate | None:
        """The wish that goes on with it, once that is there."""
        if awaited.due and moment_seconds(awaited.due) <= self.clock():
            return StartRun(if_due=True)
        declared = self.sources().declared().sources if awaited.signs_in else {}
        for gate, slug in awaited.signs_in:
            source = declared.get(slug)
            if source is not None and not self.sources().sign_in_needed(source):
                return ReplyToGate(gate=gate, choice="proceed")
        return None

    async def fetch_input(self, url: str) -> GivenFile:
        """A page of the web as an input. Only what is public is reached, within limits of size and time."""
        fetched = (await self._fetch(url)).good()
        return GivenFile(fetched.data, url)

    async def next_prompt(self, request: SessionRequest) -> dict[str, Any]:
        """What the model of a session's conversation would be told next: the system text, every message, the tools, and
        what would be left out for want of room. Nothing is sent."""
        if request.session is None or not self.sessions.exists(request.session):
            raise no_session(request.session or "", self.sessions.ids())
        live = await self._hold(replace(request, talk=True), StartRun())
        try:
            opened = await live.open_conversation()
            prompt = opened.next_prompt()
        finally:
            await live.close(keep_open=True)
        model = opened.main_model.name
        return {"model": model, "tokens": prompt.tokens, "dropped": prompt.dropped, **asdict(prompt.request)}

    def check_pipeline(self, name: str, text: str | None = None) -> list[Problem]:
        """What is wrong with a pipeline, also with the tools that its steps want to use; with `text`, as if its file
        said that."""
        return self.checked_pipeline(name, text)[1]

    def checked_pipeline(self, name: str, text: str | None = None) -> tuple[Pipeline | None, list[Problem]]:
        """The pipeline as far as it can be read, and what is wrong with it."""
        pipeline, problems = self.workspace.read_pipeline(name, text)
        return pipeline, problems if pipeline is None else [*problems, *self._tool_problems(pipeline)]

    def read_pipeline(self, name: str, text: str | None = None) -> tuple[Pipeline | None, list[Problem]]:
        """The pipeline, or None and all its problems."""
        return self.workspace.read_pipeline(name, text)

    def _tool_problems(self, pipeline: Pipeline) -> list[Problem]:
        problems = []
        for step in pipeline.steps.values():
            if step.executor in ("agent", "tool"):
                try:
                    tools_of(step, self.workspace.agent(step.agent) if step.agent else None, self.toolbox())
                except UserError as error:
                    message = error.message.removeprefix(f"the step {step.name}: ")
                    problems.append(Problem(pipeline.file, message, key=f"steps.{step.name}", hint=error.hint))
        return problems

    def parameter_kinds(self, pipeline: str = "") -> dict[str, str]:
        """What each parameter of a pipeline is; of all there are where none is named, as one of them is meant then."""
        names = [pipeline] if pipeline else self.workspace.pipeline_names()
        good = [self.workspace.pipeline(name) for name in names if not self.workspace.check_pipeline(name)]
        specs = [spec for one in good for spec in one.parameters.items()]
        return {name: spec.type for name, spec in sorted(specs, key=lambda each: each[1].type in ("file", "folder"))}

    @property
    def default_pipeline(self) -> str | None:
        """As the file says now: a pack that is laid while a server runs brings one."""
        self.read_config()
        return self.config.default_pipeline

    # -- inside

    def _pipeline(self, request: SessionRequest) -> Pipeline:
        """The pipeline asked for, else the session's own, else the workspace's default, else the only one."""
        if isinstance(request.pipeline, Pipeline):
            return request.pipeline
        name = request.pipeline or self._recorded_pipeline(request) or self.default_pipeline
        names = self.workspace.pipeline_names()
        if name is None and len(names) == 1:
            name = names[0]
        begins = request.file is not None or bool(request.inputs)
        if name is None and request.session is not None and not begins and not self.is_begun(request.session):
            raise no_session(request.session, self.sessions.ids())
        if name is None:
            raise UsageError(
                "which pipeline?" if names else "this workspace has no pipelines",
                hint=f"name one of: {', '.join(names)}"
                if names
                else "; ".join(self.workspace.misnamed_pipelines().values()) or "weft init lays a pack into it",
            )
        return self.workspace.pipeline(name)

    def _recorded_pipeline(self, request: SessionRequest) -> str | None:
        if request.session is None or not self.sessions.exists(request.session):
            return None
        with self.sessions.folder(request.session) as folder:
            if folder.exists(LOG):
                return self.sessions.pipeline_of(request.session)
            legacy, names = read_legacy(folder), self.workspace.pipeline_names()
            if legacy.pipeline and legacy.pipeline in names:
                return legacy.pipeline
            present = set(folder.names())
        fits = [name for name in names if self._makes_some_of(name, present, legacy)]
        if self.default_pipeline in fits:
            return self.default_pipeline
        return fits[0] if len(fits) == 1 else legacy.pipeline

    def _makes_some_of(self, name: str, files: set[str], legacy: Legacy) -> bool:
        """It makes something that lies there, and what the old manifest was for."""
        if self.workspace.check_pipeline(name):
            return False
        steps = self.workspace.pipeline(name).steps
        if legacy.pipeline and legacy.desired and legacy.desired not in steps:
            return False
        return any(artifact in files for step in steps.values() for artifact in step.artifacts)

    def _session_id(self, request: SessionRequest, pipeline: Pipeline) -> str:
        """A named session; else the newest session of this pipeline on this file; else a new id."""
        if request.session is not None:
            return check_session_id(request.session)
        files = (request.file, *request.together) if request.file else ()
        origin = "\0".join(identity(file) for file in files)
        title = Path(files[0].name).stem if files else pipeline.name
        number = 1
        while True:
            name = session_id_for(pipeline.name, origin, title, number)
            if not self.sessions.exists(name):
                break
            number += 1
        return name if request.new or number == 1 else session_id_for(pipeline.name, origin, title, number - 1)

    def _meant(self, request: SessionRequest, wish: StartRun) -> tuple[Pipeline, str, PreparedRun | None]:
        """The pipeline and the session that are asked for, and what that one would begin with when it is not there."""
        pipeline = self._pipeline(request)
        name = self._session_id(request, pipeline)
        new = None if self.sessions.exists(name) else self._plan_new(pipeline, name, request, wish)
        return pipeline, name, new

    def _plan_new(self, pipeline: Pipeline, session: str, request: SessionRequest, wish: StartRun) -> PreparedRun:
        """What a session that does not exist yet would begin with; refuses what can't begin."""
        begins = request.file is not None or all(
            name in request.inputs for name, s in pipeline.inputs.items() if s.required
        )
        if request.session and not begins:
            raise no_session(session, self.sessions.ids())
        given = self.given(pipeline, request)
        self.read_config()
        return prepare_run(self.preparation(pipeline, session, SessionState(), _nothing, given, wish, None))


def _legacy(folder: Folder, request: SessionRequest) -> Legacy | None:
    """What an older system left in a folder without a log; None for a folder of our own whose creation was cut off."""
    found = older_files(folder)
    if request.file is not None:
        found = {name for name in found if name != CONTENT and not is_original(name)}
    return read_legacy(folder) if found else None


def _nothing(_: str) -> None:
    """The files of a session that does not exist."""
