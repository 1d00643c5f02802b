"""An open session whose pipeline is run: takes commands, publishes events."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Final, Protocol, TypeVar

from weft.app.asks import Ask
from weft.app.hearing import Heard, classify, heard
from weft.models.model import Model
from weft.orchestrator.execute import Executor
from weft.orchestrator.facts import EMBEDDED, Versions
from weft.orchestrator.hearing import Asked, Understanding, left_for, reply_of, understand
from weft.orchestrator.inputs import GivenInput, ReadFile
from weft.orchestrator.keep import EDIT_HINT
from weft.orchestrator.opening import Opening, OpeningAsk, open_up
from weft.orchestrator.progress import RunSpec
from weft.orchestrator.replies import Judgement
from weft.orchestrator.resting import at_rest, chosen_id, continued, open_gate
from weft.orchestrator.runner import Publish, Runner, StepModels, own_findings
from weft.orchestrator.validate import parse
from weft.orchestrator.workbench import Approve, Permission, StepTools, not_allowed
from weft.protocol.commands import CancelRun, InterruptRun, ReplyToGate, RestCommand, StartRun
from weft.protocol.errors import UserError
from weft.protocol.events import (
    Decider,
    DurableEvent,
    EditAccepted,
    Event,
    NoticeGiven,
    Outcome,
    Record,
    ReplyClassified,
    WordsHeard,
)
from weft.protocol.hashes import hash_bytes
from weft.protocol.messages import ToolCall
from weft.protocol.talk import ApprovalRequested, ToolRequested, step_place
from weft.session.legacy import Legacy
from weft.session.recovery import accepted_contents
from weft.session.session import Session
from weft.session.state import SessionState
from weft.workspace.config import Config
from weft.workspace.pipeline import Pipeline

T = TypeVar("T")
AT_GATE_HINT: Final = "correct the file and reply again, or amend: then it is made again, and yours is kept aside"


class Home(Protocol):
    """What a run needs of the app."""

    config: Config
    disk_threads: ThreadPoolExecutor

    @property
    def default_model(self) -> str: ...

    def executor(self) -> Executor: ...

    def step_models(self) -> StepModels: ...

    def step_tools(self) -> StepTools: ...

    def new_name(self) -> str: ...

    async def off_loop(self, work: Callable[[], T]) -> T: ...

    def given(self, pipeline: Pipeline, ask: Ask) -> dict[str, GivenInput]: ...

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
    ) -> OpeningAsk: ...


class OpenSession:
    """The one writer of a session: takes commands, publishes events."""

    def __init__(
        self,
        app: Home,
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
        self._asking: asyncio.Task[tuple[Judgement, ReplyClassified]] | None = None
        """A model that is being asked what words mean."""
        self._failed = False
        self._questions: set[asyncio.Task[None]] = set()
        self._wanted: dict[tuple[str, str], ToolRequested] = {}
        self.approve: Approve | None = None
        """Set by a face that can ask a person whether a tool of a step may do something."""

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

    def stop_asking(self) -> bool:
        """Stop a model that is asked what words mean: they stay unclear. Whether there was one."""
        return self._asking is not None and self._asking.cancel()

    def interrupt(self, command: InterruptRun | None = None) -> None:
        """The fast lane: what runs stops now; `submit` then returns "interrupted"."""
        self._interrupted = command or InterruptRun()
        if self._runner:
            self._runner.interrupt(self._interrupted)

    @property
    def state(self) -> SessionState:
        return self._session.state

    async def submit(self, command: StartRun) -> Outcome:
        """Bring the session up to date; returns when the run has come to rest. Answers given in advance are used at
        the gates they are for, each once."""
        self._check_sound()
        executor = self._app.executor()
        answers = dict(command.answers)
        try:
            while True:
                opening = await self._open_up(command, executor)
                outcome = await self._run(command, opening, executor)
                self._failed = False
                gate = next((name for name in self.state.gates if name in answers), None)
                if outcome != "waiting" or gate is None:
                    return outcome
                choice, _, text = answers.pop(gate).partition(":")
                reply = ReplyToGate(gate=gate, choice=chosen_id(self.state.gates[gate], choice.strip()), text=text)
                await self._reply(reply, executor, "answer")
                if self.state.run and self.state.run.over:
                    return self.state.run.outcome or outcome
                command = continued(command)
        finally:
            for task in self._questions:
                task.cancel()
            self._runner = self._interrupted = None  # what was interrupted may be taken up again through this door
            await executor.close()

    @property
    def going(self) -> bool:
        """A run is at work now."""
        return self._runner is not None

    async def reply(self, command: RestCommand) -> None:
        """Say something to the run at rest; `submit` then goes on with it. UserError, and nothing changed, when it
        can't be said now. Whoever proceeds with an artifact they have edited keeps the edit."""
        self._check_sound()
        executor = self._app.executor()
        try:
            await self._reply(command, executor, "person")
        finally:
            await executor.close()

    async def hear(
        self, text: str, *, gate: str = "", asked: Asked = "", talking: bool = False, model: Model | None = None
    ) -> Heard:
        """Words for the run at rest, in whatever form: what they mean, done as far as that is to be done at once.

        When the run goes on, `Heard.wish` is for `submit`. Words that are unclear change nothing. `gate` and `asked`
        say what the words alone do not: the gate they are for, what the person was just asked. `talking`: they come in
        a conversation, so a run that does not wait must be named. `model` is asked about unclear words in place of
        the workspace's. UserError, and nothing changed, when what is wanted can't be: an edit that does not pass.
        """
        found = understand(self.state, text, gate=gate, asked=asked, talking=talking)
        if found.meaning == "unclear" and found.gate and not self.state.confirming:
            found = await self._second_opinion(found, text, model)
        if found.meaning == "not for it":
            return heard(found, answer=text)
        self._publish(WordsHeard(text=text, understood=str(heard(found))))
        answer = left_for(self.state) if found.meaning == "leave" else ""
        command = CancelRun() if found.meaning == "fresh" else found.command(self.state, self._app.new_name())
        if command is not None:
            again = self.to_continue()
            await self.reply(command)
            if found.meaning == "fresh":
                return heard(found, replace(again, force=frozenset(self._pipeline.steps)))
        over = self.state.run is None or self.state.run.over
        goes_on = found.meaning in ("reply", "resume") and not over
        return heard(found, self.to_continue() if goes_on else None, answer)

    async def _second_opinion(self, found: Understanding, text: str, model: Model | None) -> Understanding:
        """A connected model's, of words that are unclear by themselves."""
        run, name = self.state.run, self._app.default_model
        if model is None and name != EMBEDDED:
            try:
                model = self._app.step_models().open(name)
            except UserError as error:
                return replace(found, reason=f"{found.reason}; {name} can't be asked: {error.message}")
        if run is None or model is None or model.name == EMBEDDED or not text.strip():
            return found
        gate = open_gate(self.state, found.gate)
        question = classify(model, run.run, gate, text, nonce=self._app.new_name())
        self._asking = asking = asyncio.get_running_loop().create_task(question, name="asks what was meant")
        try:
            await asyncio.wait({asking})
        except asyncio.CancelledError:
            asking.cancel()
            await asyncio.wait({asking})
            raise
        finally:
            self._asking = None
        if asking.cancelled():
            return replace(found, reason=f"{found.reason}; {model.name} was stopped before it could say")
        judged, record = asking.result()
        for one in await self._app.off_loop(lambda: self._session.record([record])):
            self._publish(one)
        return reply_of(gate, text, judged)

    def to_continue(self) -> StartRun:
        """The wish that takes the last run up again as it was meant."""
        run = self.state.run
        if run is None:
            return StartRun()
        return StartRun(until=None if run.desired == self._pipeline.final else run.desired, profile=run.profile)

    async def _reply(self, command: RestCommand, executor: Executor, by: Decider) -> None:
        if isinstance(command, ReplyToGate):
            gate = open_gate(self.state, command.gate)
            proceeds = any(one["id"] == command.choice and one["does"] == "proceed" for one in gate.choices)
            if proceeds and await self._app.off_loop(lambda: self._edited(gate.step)):
                at_rest(self.state, command, by)
                try:
                    await self._open_up(replace(self.to_continue(), accept=frozenset({gate.step})), executor)
                except UserError as error:
                    raise UserError(error.message, hint=AT_GATE_HINT) from error
                self._failed = False
        events = at_rest(self.state, command, by)
        for record in await self._app.off_loop(lambda: self._session.record(events)):
            self._publish(record)

    def _edited(self, step: str) -> bool:
        done = self.state.steps[step].completion
        if done is None:
            return False
        found = {name: self._session.folder.read_or_none(name) for name in done.artifacts}
        return any(data is not None and hash_bytes(data) != done.artifacts[name] for name, data in found.items())

    def _check_sound(self) -> None:
        if self._failed:
            raise UserError(f"session {self.id} failed before and is in no known state", hint="open it anew")

    async def _run(self, command: StartRun, opening: Opening, executor: Executor) -> Outcome:
        models, tools = self._app.step_models(), self._app.step_tools()
        tools.approve = self.approve
        spec = RunSpec(
            opening.pipeline,
            opening.facts.steps,
            command,
            opening.parameters,
            opening.chosen,
            self._app.default_model,
            self._app.config.concurrency,
            models.price,
        )
        self._runner = Runner(
            self._session,
            spec,
            opening.facts,
            executor,
            self._heard_by_run,
            self._app.disk_threads,
            models,
            tools,
        )
        if self._interrupted:
            self._runner.interrupt(self._interrupted)
        return await self._runner.run()

    def _heard_by_run(self, item: Record | Event) -> None:
        self._publish(item)
        event = item.event if isinstance(item, Record) else item
        if isinstance(event, ToolRequested):
            self._wanted[event.conversation, event.call] = event
        elif isinstance(event, ApprovalRequested) and self.approve is not None:
            task = asyncio.get_running_loop().create_task(self._ask_person(event), name=f"asks about {event.tool}")
            self._questions.add(task)
            task.add_done_callback(self._questions.discard)

    async def _ask_person(self, asked: ApprovalRequested) -> None:
        """The person's word on a call of an agent goes to its conversation, as everybody's does."""
        place, wanted = step_place(asked.conversation), self._wanted.get((asked.conversation, asked.call))
        if place is None or self.approve is None:
            return
        call = ToolCall(call=asked.call, tool=asked.tool, input=wanted.input if wanted else {})
        yes = await self.approve(Permission(step=place.step, call=call, why=asked.reason))
        reason = "" if yes else not_allowed(asked.reason)
        if self._runner and (talk := self._runner.conversation(asked.conversation)):
            talk.approve(asked.call, "once" if yes else "denied", conversation=asked.conversation, reason=reason)

    async def _open_up(self, wish: StartRun, executor: Executor) -> Opening:
        """Everything that must be recorded before the run, recorded and published."""

        def computed() -> Opening:
            if self._prepared and self._prepared[0] == wish and self._legacy is None and not self._session.state.seq:
                return self._prepared[1]
            given = self._app.given(self._pipeline, self._ask)
            read: ReadFile = self._session.folder.read_or_none
            state = self._session.state
            versions = partial(accepted_contents, self._session.folder)
            return open_up(
                self._app.opening_ask(self._pipeline, self.id, state, read, given, wish, self._legacy, versions)
            )

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
            recorded = next((i for i in session.state.inputs.values() if i.file == taken.file), None)
            known = recorded.hash if recorded and not recorded.edited else None
            aside += session.take_input(taken.file, taken.data, known)
        session.vouch(opening.artifacts)
        birth = 0 if session.state.seq else 1
        events = [*opening.events[:birth], *aside, *opening.events[birth:]]
        return session.record(events) if events else []
