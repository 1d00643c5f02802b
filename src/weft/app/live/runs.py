"""The runs of an open session: what has to be in the log before one begins, the runner that drives it, replies to one
at rest. `LiveSession` decides when; nothing here waits for anybody."""

from __future__ import annotations

from collections.abc import Container, Mapping
from dataclasses import replace
from functools import partial
from typing import Final

from weft.app.parts import Parts
from weft.app.session_requests import SessionRequest
from weft.orchestrator.accepted_edits import EDIT_HINT
from weft.orchestrator.execute import StepExecutor
from weft.orchestrator.facts import Facts, local_values
from weft.orchestrator.inputs import GivenInput, ReadFile
from weft.orchestrator.overruling import ClaimOnRecord, claims_on_record
from weft.orchestrator.prepared_run import PreparedRun, PrepareRun, prepare_run
from weft.orchestrator.progress import RunSpec
from weft.orchestrator.rest_commands import answered, continuation
from weft.orchestrator.runner import Publish, Runner, own_findings
from weft.orchestrator.validate import parse
from weft.protocol.commands import StartRun
from weft.protocol.envelope import Actor
from weft.protocol.errors import UserError
from weft.protocol.events import DurableEvent, EditAccepted, Event, NoticeGiven, Record
from weft.protocol.hashes import hash_bytes
from weft.session.legacy import Legacy
from weft.session.recovery import accepted_contents
from weft.session.session import Session
from weft.session.state import SessionState
from weft.workspace.pipeline import Pipeline

AT_GATE_HINT: Final = "correct the file and reply again, or amend: then it is made again, and yours is kept aside"


def claims_of(pipeline: Pipeline, read: ReadFile) -> list[ClaimOnRecord]:
    """The claims of a session that have a verdict. `read` gives a file of it."""
    names = {step.verdicts.artifact for step in pipeline.steps.values() if step.verdicts}
    found = {name: parse(name, data)[0] for name in sorted(names) if (data := read(name)) is not None}
    return list(claims_on_record(pipeline, found))


class SessionRuns:
    def __init__(
        self,
        parts: Parts,
        session: Session,
        request: SessionRequest,
        pipeline: Pipeline | None,
        legacy: Legacy | None,
        prepared: tuple[StartRun, PreparedRun] | None,
        publish: Publish,
    ) -> None:
        self._parts = parts
        self._session = session
        self._request = request
        self._pipeline = pipeline
        self._legacy = legacy
        self._prepared = prepared
        """What was computed for a new session before its folder was made, and for which wish."""
        self._publish = publish
        self._failed = False
        self._standing: Pipeline | None = None
        """The pipeline of the last run that was begun here, with its items."""

    @property
    def state(self) -> SessionState:
        return self._session.state

    @property
    def pipeline(self) -> Pipeline:
        """The session's own. WorkspaceError when it can't be read."""
        if self._pipeline is None:
            self._pipeline = self._parts.workspace.pipeline(self.state.pipeline)
        return self._pipeline

    def to_continue(self) -> StartRun:
        """The wish that takes the last run up again as it was meant."""
        return continuation(self.state.run, self.pipeline) if self.state.run else StartRun()

    async def begin(self, wish: StartRun, executor: StepExecutor, by: Actor, key: str, *, attended: bool) -> Runner:
        """The runner, ready to go. What must be recorded before the run is part of its first decision."""
        before = self._pipeline
        if wish.pipeline and wish.pipeline != (before.name if before else ""):
            self._pipeline = self._parts.workspace.pipeline(wish.pipeline)
        try:
            prepared, before_it = await self._prepare(wish, executor)
        except BaseException:
            self._pipeline = before  # what is refused changes nothing
            raise
        self._standing = prepared.pipeline
        models, tools = self._parts.step_models(), self._parts.step_tools(self._session.folder.path.name)
        tools.attended = attended

        def spec_of(prepared: PreparedRun) -> RunSpec:
            return RunSpec(
                prepared.pipeline,
                prepared.facts.steps,
                wish,
                prepared.parameters,
                prepared.chosen,
                self._parts.default_model,
                self._parts.config.concurrency,
                models.price,
                prepared.chosen_model,
            )

        async def unfold(made: Mapping[str, bytes]) -> tuple[RunSpec, Facts]:
            found = await self._parts.off_loop(lambda: self._going_on(wish, made))
            self._standing = found.pipeline
            return spec_of(found), found.facts

        return Runner(
            self._session,
            spec_of(prepared),
            prepared.facts,
            executor,
            self._publish,
            self._parts.kept,
            models,
            tools,
            by=by,
            key=key,
            before=(prepared.state, before_it),
            cache=self._parts.step_cache,
            clock=self._parts.clock,
            using=lambda name: self._parts.resource_limits.using(name),  # loaded when a step names one
            unfold=unfold,
        )

    def _going_on(self, wish: StartRun, made: Mapping[str, bytes]) -> PreparedRun:
        """The session as the run that is going on would find it now: with the items that it has made meanwhile."""
        folder = self._session.folder

        def read(name: str) -> bytes | None:
            return made[name] if name in made else folder.read_or_none(name)

        return prepare_run(replace(self._preparation(replace(wish, accept=frozenset()), read, {}), going_on=True))

    def _preparation(self, wish: StartRun, read: ReadFile, given: Mapping[str, GivenInput]) -> PrepareRun:
        folder = self._session.folder
        versions = partial(accepted_contents, folder)
        return self._parts.preparation(
            self.pipeline, folder.path.name, self.state, read, given, wish, self._legacy, versions
        )

    def answered(self, answers: Mapping[str, str], tried: Container[str] = ()) -> tuple[str, str] | None:
        """An open gate that has an answer, and the name it has that under."""
        return answered(self.state, answers, self._standing or self.pipeline, tried) if answers else None

    @property
    def claims(self) -> list[ClaimOnRecord]:
        return claims_of(self.pipeline, self._session.folder.read_or_none)

    def ended(self) -> None:
        """The run came to its end in order: the session is in a known state."""
        self._failed = False

    async def keep_edit(self, step: str, by: Actor, key: str = "") -> bool:
        """Take in the edit of a step's artifact, if there is one. UserError when it does not pass."""
        if not await self._parts.off_loop(lambda: self._edited(step)):
            return False
        executor = self._parts.executor()
        try:
            _, events = await self._prepare(replace(self.to_continue(), accept=frozenset({step})), executor)
            if events:
                await self._parts.kept(lambda: self._session.record(events, by=by, key=key))
        finally:
            await executor.close()
        self._failed = False
        return True

    def close(self) -> None:
        """Nobody is told anything any more. Whoever made this and is known to it is then free at once, and not when the
        collector comes by."""
        self._publish = _unheard

    def check_sound(self) -> None:
        if self._failed:
            name = self._session.folder.path.name
            raise UserError(f"session {name} failed before and is in no known state", hint="open it anew")

    def _edited(self, step: str) -> bool:
        done = self.state.steps[step].completion if step in self.state.steps else None
        if done is None:
            return False
        found = {name: self._session.folder.read_or_none(name) for name in done.artifacts}
        return any(data is not None and hash_bytes(data) != done.artifacts[name] for name, data in found.items())

    def _given(self, wish: StartRun) -> Mapping[str, GivenInput]:
        if not wish.inputs:
            return self._parts.given(self.pipeline, self._request)
        first = next(iter(self.pipeline.inputs), "")
        given = {name or first: GivenInput(files) for name, files in wish.inputs.items()}
        if "collection" in self.pipeline.inputs and "collection" not in given:
            from weft.app.knowledge.collection_inputs import asked_here  # few pipelines ask one

            given |= asked_here(self._parts, self.pipeline, given, self._session.folder)
        return given

    async def _prepare(self, wish: StartRun, executor: StepExecutor) -> tuple[PreparedRun, list[DurableEvent]]:
        """What a run with this wish begins with, its files in place; and what must be recorded before it."""
        self.check_sound()
        known = self._prepared if self._legacy is None and not self._session.state.seq else None

        def computed() -> PreparedRun:
            self._parts.read_config()
            prepared = prepare_run(self._preparation(wish, self._session.folder.read_or_none, self._given(wish)))
            self._parts.check_code_of(prepared)
            return prepared

        prepared = known[1] if known and known[0] == wish else await self._parts.off_loop(computed)
        if wish.accept:  # an edit may have to pass checks that are code before it is taken in
            await self._judge_edits(prepared, executor)
        events = await self._parts.off_loop(lambda: self._take_in(prepared))
        # An adopted session carries its notes in its first event.
        notes = () if self._legacy else prepared.notes
        for text in (*self._session.take_notices(), *notes):
            self._publish(NoticeGiven(text=text))
        self._legacy = None
        return prepared, events

    async def _judge_edits(self, prepared: PreparedRun, executor: StepExecutor) -> None:
        """A kept edit must also pass the checks that are code."""
        values = {artifact.name: parse(artifact.name, artifact.data)[0] for artifact in prepared.artifacts}
        for event in prepared.events:
            if isinstance(event, EditAccepted):
                step = prepared.pipeline.steps[event.step]
                there = local_values(step, {**prepared.facts.values, **values})
                documents = prepared.facts.documents(event.step, there)
                found = await own_findings(executor, step, values, documents)
                if found:
                    raise UserError(f"can't accept {event.step}: {found[0]}", hint=EDIT_HINT)

    def _take_in(self, prepared: PreparedRun) -> list[DurableEvent]:
        """Its files are in place and durable. What is to be recorded now."""
        session = self._session
        self._failed = True  # from here on the log is written; only a run that comes to its end takes this back
        aside: list[DurableEvent] = []
        for taken in prepared.inputs.values():
            for name, data in taken.originals.items():
                aside += session.take_input(name, data, taken.known.get(name))
            recorded = next((i for i in session.state.inputs.values() if i.file == taken.file), None)
            known = recorded.hash if recorded and not recorded.edited else None
            aside += session.take_input(taken.file, taken.data, known)
        for name, data in prepared.restored.items():
            session.take_input(name, data, None)
        session.vouch(prepared.artifacts)
        birth = 0 if session.state.seq else 1
        return [*prepared.events[:birth], *aside, *prepared.events[birth:]]


def _unheard(_: Record | Event) -> None:
    """What comes after the end."""
