"""Drives one run: decide, record, then act.

The loop takes one command at a time from the inbox, lets the pure machine decide, records the decision durably, and
only then publishes it and performs its effects. Attempts run as tasks and come back as commands. An interrupt cancels
the running attempts at once and then queues; a settlement that comes too late is refused by the machine.
"""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, AsyncExitStack, ExitStack, asynccontextmanager, nullcontext
from decimal import Decimal
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Protocol, TypeVar

from weft.files import Folder
from weft.orchestrator.attempt_calls import AttemptCalls, Kept
from weft.orchestrator.attempt_timeout import patient
from weft.orchestrator.execute import StepCodeError, StepExecutor, WorkerCrashedError
from weft.orchestrator.facts import Facts, Material, local_values, taken_inputs
from weft.orchestrator.inputs import InputText, given_text
from weft.orchestrator.items import MapItem, StepItems, chosen_items, gathered, item_hash, map_items, taken_over
from weft.orchestrator.machine import OVERTIME, decide, overtime
from weft.orchestrator.map_step import Failure, ItemsFailedError, ItemsLeftError, ItemTry, MapStep, MapWork
from weft.orchestrator.progress import (
    LEAVING,
    Decision,
    EndRun,
    FindItems,
    OverAllowanceError,
    Progress,
    QuestionOpenError,
    RunSpec,
    SignInNeededError,
    StartAttempt,
    StopAttempt,
    WakeAt,
)
from weft.orchestrator.reuse import ReusedStep, StepCache, cache_key, is_of_session, item_key, reuses_items
from weft.orchestrator.run_log import Publish as Publish
from weft.orchestrator.run_log import RunLog
from weft.orchestrator.step_questions import StepQuestions
from weft.orchestrator.validate import Documents, is_code, parse, validate, write_out
from weft.protocol import events as e
from weft.protocol.call_events import CallSettled, Used
from weft.protocol.commands import (
    Artifact,
    AttemptFailed,
    AttemptRested,
    AttemptSucceeded,
    Command,
    InterruptRun,
    ItemsFound,
    Settlement,
    StartRun,
    TimeCame,
)
from weft.protocol.conversation_commands import DecideApproval
from weft.protocol.conversation_events import step_conversation, step_place
from weft.protocol.envelope import MACHINE, Actor
from weft.protocol.errors import ExternalError, Finding, ModelFeedback, UserError, WeftError
from weft.protocol.hashes import hash_bytes, hash_value
from weft.protocol.messages import Media
from weft.protocol.steps import StepInput
from weft.protocol.values import dataclass, replace
from weft.session.recovery import item_results
from weft.session.session import Session
from weft.session.state import SessionState
from weft.workspace.flow import look
from weft.workspace.inner import inner_file, inner_name
from weft.workspace.mapping import Map, item_name
from weft.workspace.pipeline import Step, secrets_of
from weft.workspace.resource_limit import tell_waiting

if TYPE_CHECKING:
    from weft.conversation.ports import OffLoop
    from weft.models.model import Model, Retried
    from weft.orchestrator.agent_step import AgentStep
    from weft.orchestrator.model_step import Judge
    from weft.orchestrator.step_toolbox import StepTools

LONGEST_SLEEP: Final = 600.0
"""Seconds; after that the clock is looked at again, as it may have been set, or the machine slept."""
GRACE: Final = 1.0
"""Seconds a cancelled attempt gets to unwind before it is left behind."""
MANY_FILES = 500
"""Files whose way to the disk at the end of a run is told of."""
SMALL: Final = 32 * 1024
"""Bytes; a smaller artifact without checks is validated on the loop: a thread would cost more."""

T = TypeVar("T")


Unfold = Callable[[Mapping[str, bytes]], Awaitable[tuple[RunSpec, Facts]]]
"""The run's pipeline with the items that are known now, given what the run has made."""


class StepModels(Protocol):
    """The models that steps may be made by."""

    nonce: str

    def open(self, reference: str) -> Model:
        """UserError when it is not connected."""
        ...

    async def aclose(self) -> None:
        """Lets go of the connections of all that was opened."""
        ...

    def works_by_itself(self, reference: str) -> bool:
        """It has a loop and tools of its own."""
        ...

    def price(self, reference: str, usage: Mapping[str, int]) -> Decimal | None:
        """US dollars; None when the price is not known."""
        ...


class VanishedError(WeftError):
    """Something the attempt needs was there when the run began and is not any more."""


@dataclass(frozen=True, slots=True)
class _Attempt:
    """One try of a step, or of one of its items."""

    step: Step
    start: StartAttempt
    calls: AttemptCalls
    material: Material
    taken: Mapping[str, InputText]
    """Its inputs that come out of artifacts."""


class Runner:
    def __init__(
        self,
        session: Session,
        spec: RunSpec,
        facts: Facts,
        executor: StepExecutor,
        publish: Publish,
        off_loop: OffLoop,
        models: StepModels,
        tools: StepTools,
        *,
        by: Actor = MACHINE,
        key: str = "",
        before: tuple[SessionState, Sequence[e.DurableEvent]],
        cache: StepCache | None = None,
        clock: Callable[[], float] = time.time,
        using: Callable[[str], AbstractAsyncContextManager[None]] = lambda _: nullcontext(),
        unfold: Unfold,
    ) -> None:
        """`by` is who wants the run, `key` the name of the command that said so. `before` is what has to be recorded
        before it, and the session's state with that. `using` waits for the turn of a resource."""
        self._unfold = unfold
        self._using = using
        self._clock = clock
        self._wake: asyncio.TimerHandle | None = None
        self._given = (by, key)
        self._before = before
        self._session = session
        self._spec = spec
        self._facts = facts
        self._executor = executor
        self._publish = publish
        self._off_loop = off_loop
        self._models = models
        self._inbox: asyncio.Queue[Command | e.StepModelRetried] = asyncio.Queue()
        self._tools = tools
        self._folders: dict[str, asyncio.Lock] = {}
        self._attempts: dict[tuple[str, int], asyncio.Task[None]] = {}
        self._made: dict[str, bytes] = {}
        """Artifacts of this run: later steps read these, as the run works on a snapshot."""
        self._calls: dict[tuple[str, int], AttemptCalls] = {}
        """What each attempt that is not settled calls."""
        self._agents: dict[str, AgentStep] = {}
        """Steps that agents make now, by their conversations."""
        self._cache = cache
        self._to_keep: dict[tuple[str, int], str] = {}
        """What attempts that succeeded are called in every session, until they are durable."""
        self._log = RunLog(session, publish, partial(_note, self._calls))
        self._questions = StepQuestions(self._log, self._off_loop)
        self._bug: BaseException | None = None

    async def run(self) -> e.Outcome:
        """To the end: done, failed or interrupted. Raises only what the log could not take, or a bug."""
        progress: Progress | None = None
        command: Command = self._spec.wish
        state, before = self._before
        try:
            while True:
                command, left = await self._closed(command)
                decision = decide(self._spec, state, progress, command, self._clock())
                await self._record(decision, command, left, before)
                state, before, progress = self._session.state, (), decision.progress
                end = self._act(decision)
                if end:
                    await self._end(end)
                    return end.outcome
                unknown = next((one for one in decision.effects if isinstance(one, FindItems)), None)
                command = await self._find_items(unknown) if unknown else await self._next()
                if isinstance(command, TimeCame) and overtime(progress, self._clock()):
                    self.interrupt(InterruptRun(why=OVERTIME, outcome="failed"))
                    command = await self._next()
        finally:
            if self._wake is not None:
                self._wake.cancel()
            await self._leave_attempts()
            await self._models.aclose()
            if self._bug:
                raise self._bug

    async def _find_items(self, effect: FindItems) -> Command:
        """The pipeline with the steps of the items that are known now. What was made may have been changed since."""
        why = ""
        try:
            self._spec, self._facts = await self._unfold(self._made)
        except WeftError as error:
            why = f"the items of {', '.join(effect.steps)} can't be taken up: {error}"
        for place, digest in effect.steps.items() if not why else ():
            one = self._spec.pipeline.mapped.get(place)
            if one is not None and one.source is not None and one.known != digest:
                why = f"{one.source[1]} was changed while the run was going on; the next run will take it in"
        if not why:
            return ItemsFound(steps=tuple(effect.steps))
        self.interrupt(InterruptRun(why=why))
        return await self._next()

    async def _next(self) -> Command:
        """The next command; that a model is asked again is only recorded."""
        while isinstance(item := await self._inbox.get(), e.StepModelRetried):
            await self._append([item])
        return item

    def interrupt(self, command: InterruptRun) -> None:
        """The fast lane: what runs is cancelled now; the record of it comes through the inbox."""
        for task in self._attempts.values():
            task.cancel()
        self._inbox.put_nowait(command)

    async def decide_approval(self, command: DecideApproval, by: Actor, key: str) -> Sequence[e.Record] | None:
        """A person's word on a call of a step that is being made: what came of it; None when no step asks that."""
        place = step_place(command.conversation)
        agent = self._agents.get(step_conversation(*place)) if place else None
        if agent is not None:
            return await agent.talk.give(command, by, key)
        return await self._questions.decide(command, by, key)

    @property
    def asked(self) -> list[e.Event]:
        """What steps that call tools themselves ask, for whoever begins to watch."""
        return self._questions.standing

    # -- record

    async def _record(
        self, decision: Decision, command: Command, left: Sequence[Kept], before: Sequence[e.DurableEvent]
    ) -> None:
        artifacts = command.artifacts if isinstance(command, AttemptSucceeded) and decision.events else ()
        events = [*before, *(settled for settled, _ in left), *decision.events] if decision.events else []
        end = decision.effects[0] if len(decision.effects) == 1 else None
        if events:
            by, key = self._whose(command)
            blobs = [data for _, data in left if data]
            await self._append(events, artifacts, blobs, by=by, key=key, end=end if isinstance(end, EndRun) else None)
            self._made |= {artifact.name: artifact.data for artifact in artifacts if artifact.inline is not None}
            if isinstance(command, AttemptSucceeded):
                await self._keep_for_others(command)
        if isinstance(command, Settlement):
            self._calls.pop((command.step, command.attempt), None)
            self._attempts.pop((command.step, command.attempt), None)  # it has nothing left to do
        for effect in decision.effects if decision.progress.ending is None else ():
            if isinstance(effect, StopAttempt):
                self._calls.pop((effect.step, effect.attempt), None)

    def _whose(self, command: Command) -> tuple[Actor, str]:
        """Who gave a command, and its name: the start and an interrupt come from somebody."""
        match command:
            case StartRun():
                return self._given
            case InterruptRun():
                return command.by, ""
            case _:
                return MACHINE, ""

    async def _append(
        self,
        events: Sequence[e.DurableEvent],
        artifacts: Sequence[Artifact] = (),
        blobs: Sequence[bytes] = (),
        *,
        by: Actor = MACHINE,
        key: str = "",
        end: EndRun | None = None,
    ) -> None:
        """`end`: nothing else is left to do, so that the run comes to rest on the same way to the disk."""

        def written() -> None:
            self._log.write(events, artifacts, blobs, by=by, key=key)
            if end is not None:
                self._log.end(end)

        if end is not None:
            self._tell_many_files(len(artifacts))
        await self._off_loop(written)
        self._log.tell()

    async def _end(self, end: EndRun) -> None:
        if not self._log.ended:
            self._tell_many_files()
            await self._off_loop(lambda: self._log.end(end))
            self._log.tell()

    def _tell_many_files(self, more: int = 0) -> None:
        """Making them durable takes its time, and nothing else would be seen of it."""
        if (files := self._session.unsynced + more) >= MANY_FILES:
            self._publish(e.NoticeGiven(text=f"{files:,} files are made durable"))

    async def _keep_calls(self, together: Sequence[tuple[CallSettled | e.ItemSettled, bytes | None]]) -> None:
        await self._append([event for event, _ in together], blobs=[data for _, data in together if data])

    async def _closed(self, command: Command) -> tuple[Command, list[Kept]]:
        """No attempt that this command ends calls anything any more: how its open calls ended, and for an interrupt
        what each attempt took until now."""
        if isinstance(command, Settlement):
            found = self._calls.get((command.step, command.attempt))  # None: it was stopped, and is settled
            return command, await found.close("left open") if found else []
        if not isinstance(command, InterruptRun):
            return command, []
        conversations = [task for key, task in self._attempts.items() if key in self._calls and not task.done()]
        if conversations:  # what they had used until they were stopped is known when they have let go
            await asyncio.wait(conversations, timeout=LEAVING + GRACE)
        used: dict[str, Used] = {}
        left: list[Kept] = []
        for (step, _), calls in [*self._calls.items()]:
            left += await calls.close("interrupted")
            used[step] = calls.took
        return replace(command, used=used), left

    # -- act

    def _act(self, decision: Decision) -> EndRun | None:
        end: EndRun | None = None
        for effect in decision.effects:
            match effect:
                case StartAttempt():
                    key = (effect.step, effect.attempt)
                    self._attempts[key] = asyncio.create_task(
                        self._attempt(effect), name=f"{effect.step}#{effect.attempt}"
                    )
                case StopAttempt():
                    self._attempts[effect.step, effect.attempt].cancel()
                case WakeAt():
                    self._wake_at(effect.at)
                case EndRun():
                    end = effect
                case FindItems():
                    pass  # before the next command
        return end

    def _wake_at(self, at: float) -> None:
        """A time that is set anew stands in place of the one before: the earliest is asked for each time."""
        if self._wake is not None:
            self._wake.cancel()
        pause = min(max(0.0, at - self._clock()), LONGEST_SLEEP)
        self._wake = asyncio.get_running_loop().call_later(pause, self._inbox.put_nowait, TimeCame())

    async def _attempt(self, start: StartAttempt) -> None:
        """One try of a step, always settled by a command: exactly one, unless it was cancelled."""
        step = self._spec.pipeline.steps[start.step]
        calls = self._calls[step.name, start.attempt] = AttemptCalls(
            start.run, step.name, start.attempt, self._keep_calls, self._publish, partial(self._retried, start)
        )
        if start.wait:
            await calls.begin_after(start.wait)
        told: Failure
        try:
            cached = self._cache_key(step, start)
            reused = await self._found_elsewhere(cached) if cached and not start.anew else None
            artifacts, findings = ([*reused.artifacts], []) if reused else await self._make(step, start, calls)
            if not findings:
                if cached and reused is None and not is_of_session(self._session.state.session, artifacts):
                    self._to_keep[step.name, start.attempt] = cached
                self._inbox.put_nowait(
                    AttemptSucceeded(
                        step=step.name,
                        attempt=start.attempt,
                        artifacts=tuple(artifacts),
                        used=calls.took,
                        seen=_seen(step, artifacts),
                        reused=reused.session if reused else "",
                    )
                )
                return
            told = Failure.rejected(findings)
        except QuestionOpenError as error:
            self.interrupt(InterruptRun(why=error.message))
            return
        except (ItemsLeftError, SignInNeededError) as error:
            rested = AttemptRested(
                step=step.name,
                attempt=start.attempt,
                message=error.message,
                used=calls.took,
                asks=error.message if isinstance(error, SignInNeededError) else "",
            )
            self._inbox.put_nowait(rested)
            return
        except Exception as error:  # noqa: BLE001  this is the supervisor of attempts: a bug must end the run, not hang it
            try:
                told = failure_of(error, min(step.timeout, start.allowance.seconds or step.timeout))
            except Exception as bug:  # noqa: BLE001  it is raised when the run has ended
                self._bug = bug
                self.interrupt(InterruptRun(why=f"an internal error: {type(bug).__name__}"))
                return
        self._inbox.put_nowait(
            AttemptFailed(
                step=step.name,
                attempt=start.attempt,
                kind=told.kind,
                message=told.message,
                used=calls.took,
                findings=tuple(told.findings),
                retryable=told.retryable,
                trace=told.trace,
                resumable=told.cut_off and (step.map is not None or step.executor in ("agent", "tool")),
            )
        )

    # -- what other sessions have

    def _cache_key(self, step: Step, start: StartAttempt) -> str:
        if self._cache is None:
            return ""
        material, alone = self._facts.materials[step.name], self._models.works_by_itself
        return cache_key(self._spec.pipeline, step, material, self._spec.parameters, start, alone)

    async def _found_elsewhere(self, key: str) -> ReusedStep | None:
        cache, session = self._cache, self._session.state.session
        return await self._off_loop(lambda: cache.find(key, session) if cache else None)

    async def _keep_for_others(self, command: AttemptSucceeded) -> None:
        """Only what is durable is offered to other sessions."""
        key, cache = self._to_keep.pop((command.step, command.attempt), ""), self._cache
        if key and cache is not None:
            hashes = {artifact.name: artifact.hash for artifact in command.artifacts}
            await self._off_loop(lambda: cache.keep(key, self._session.state.session, hashes))

    async def _make(self, step: Step, start: StartAttempt, calls: AttemptCalls) -> tuple[list[Artifact], list[Finding]]:
        material = self._facts.materials[step.name]
        upstream = await self._upstream(start.upstream)
        if step.executor == "pipeline":
            return write_out(step, self._gathered(step, upstream, start.failed))
        own, taken = step.own, taken_inputs(step, upstream)
        this = _Attempt(step, start, calls, material, taken)
        given = StepInput(
            session=self._session.state.session,
            step=own.name,
            attempt=start.attempt,
            makes=own.artifacts,
            idempotency_key=start.idempotency_key,
            inputs=_fresh(step, material.inputs, {name: taken[name].text for name in own.inputs if name in taken}),
            documents=_fresh(
                step,
                material.documents,
                {name: about for name in own.inputs if name in taken and (about := taken[name].about) is not None},
            ),
            artifacts=local_values(step, upstream),
            models=local_values(step, self._makers(step, upstream)),
            parameters=material.parameters,
            profile=material.profile,
            instructions=material.instructions,
            skills=material.skills,
            feedback=start.feedback,
            replies={step.local(name): said for name, said in start.replies.items()},
            before=await self._looked_at(step, start),
            rounds={step.local(name): said for name, said in start.rounds.items()},
            overruled=start.overruled,
            prior=material.prior,
            failed={step.local(name): why for name, why in start.failed.items()},
        )

        tell_waiting.set(calls.say)
        if step.map is not None:
            return await self._make_items(this, step.map, given)
        left = start.allowance.seconds
        seconds = step.timeout if left is None else min(step.timeout, left)
        conversation = step_conversation(start.run, step.name, start.attempt)
        return await self._made_by(this, given, seconds, conversation)

    async def _made_by(
        self, this: _Attempt, given: StepInput, seconds: float, conversation: str
    ) -> tuple[list[Artifact], list[Finding]]:
        """What makes a step, or one item of it: its artifacts, or what is wrong with them."""
        step, material, calls = this.step, this.material, this.calls
        upstream = {**given.artifacts, **({given.item_name: given.item} if given.item_name else {})}
        async with self._turn(step.resources), self._alone(step, material), patient(seconds):
            if material.code:
                names = secrets_of(self._spec.pipeline, step, self._spec.parameters)
                value = await self._executor.execute(material.code, given, calls.say, secrets=names, hosts=step.network)
                if value is None:
                    raise StepCodeError(f"{material.code} returned nothing: is a 'return' missing?", fixed=True)
            elif step.executor in ("agent", "tool"):
                value = await self._with_tools(this, given, conversation)
            else:
                from weft.orchestrator.model_step import ModelAsk, ask_model  # as for tools: few runs need all kinds

                model, nonce = self._models.open(material.model), self._models.nonce
                media = await self._pictures(given)
                asked = ModelAsk(step.own, given, nonce, calls, seconds, self._judge(this, upstream), media)
                value = await ask_model(model, material.model, asked)
            made, findings = write_out(step, value)
            if not findings:
                findings = await self._validate(this, made, upstream)
        return made, findings

    def _gathered(self, step: Step, made: Mapping[str, Any], failed: Mapping[str, str]) -> Any:
        """What the pipelines of a step's items have come to, each as its final step made it."""
        mapped = self._spec.pipeline.mapped[step.name]
        if mapped.problem:
            raise UserError(mapped.problem)
        child, values = mapped.given.child, dict[str, Any]()
        names = child.steps[child.final].artifacts
        for key in mapped.items:
            place = inner_name(step.name, item_name(key))
            theirs = {name: made[file] for name in names if (file := inner_file(place, name)) in made}
            if theirs:
                values[key] = theirs if len(names) > 1 else theirs[names[0]]
        return gathered(mapped.items, values, failed, keep=mapped.over.failed == "keep")

    async def _pictures(self, given: StepInput) -> tuple[Media, ...]:
        """Those among what a step reads, as they were given, or smaller where providers want them so."""
        about = {name: one["extra"] for name, one in given.documents.items() if one.get("kind") == "image"}
        if not about:
            return ()
        kept = {digest: file for one in self._session.state.inputs.values() for file, digest in one.originals.items()}

        def read() -> tuple[Media, ...]:
            from weft.models.media import within_limits

            found = []
            for name, said in about.items():
                file = kept.get(said["hash"], "")
                data = self._session.folder.read_or_none(file) if file else None
                if data is None or hash_bytes(data) != said["hash"]:
                    raise UserError(
                        f"the picture of the input {name} is not as it was given ({file or 'its file is gone'})",
                        hint="give it again",
                    )
                found.append(within_limits(Media(media_type=said["media_type"], data=data, name=name)))
            return tuple(found)

        return await self._off_loop(read)

    async def _make_items(self, this: _Attempt, over: Map, given: StepInput) -> tuple[list[Artifact], list[Finding]]:
        step, start, material = this.step, this.start, this.material
        known = self._session.state.items.get(step.name, {})
        own = step.own.map or over
        items = map_items(own, given.artifacts, given.inputs, given.documents, material.files)
        hashes = {item.key: item_hash(over, start.inputs, item) for item in items}
        edited = self._facts.steps[step.name].edited
        good = {digest: one for digest, one in known.items() if one.ok and one.artifact and one.artifact not in edited}
        seqs = {good[digest].seq for digest in hashes.values() if digest in good}
        found = await self._off_loop(lambda: item_results(self._session.folder, seqs))
        kept = {key: json.loads(found[digest][1]) for key, digest in hashes.items() if digest in found}
        failed = {one.item: one.tries for one in known.values() if one.attempt == start.attempt and not one.ok}

        async def read(item: MapItem) -> tuple[Any, Mapping[str, Any] | None]:
            place = Path(material.parameters[over.folder or ""])
            return await self._off_loop(lambda: file_text(place, item.file, item.digest))

        async def make(one: ItemTry) -> tuple[list[Artifact], list[Finding]]:
            name = step_conversation(start.run, step.name, start.attempt, one.given.item_key, one.tried)
            return await self._made_by(replace(this, step=one.step, calls=one.calls), one.given, one.patience, name)

        async def keep(events: Sequence[e.DurableEvent], files: Sequence[Artifact]) -> None:
            await self._append(events, files)

        async def elsewhere(file: str, digest: str) -> ReusedStep | None:
            return await self._found_elsewhere(item_key(step, file, digest))

        async def offer(digest: str, made: Artifact) -> None:
            cache, session = self._cache, self._session.state.session
            if cache is not None and not is_of_session(session, [made]):
                key = item_key(step, made.name, digest)
                await self._off_loop(lambda: cache.keep(key, session, {made.name: made.hash}))

        reuses = self._cache is not None and reuses_items(
            self._spec.pipeline, step, material, self._spec.parameters, start, self._models.works_by_itself
        )
        whole = {own.look.artifact} if own.look is not None else set()
        taken = {name for name in (over.rows, over.pages) if name is not None}
        work = MapWork(
            step=step,
            over=over,
            start=start,
            given=replace(
                given,
                artifacts={name: value for name, value in given.artifacts.items() if name not in whole},
                inputs={name: text for name, text in given.inputs.items() if name not in taken},
                documents={name: about for name, about in given.documents.items() if name not in taken},
            ),
            calls=this.calls,
            items=items,
            wanted=chosen_items(items, start.only, step.name),
            hashes=hashes,
            kept=kept,
            before=failed,
            make=make,
            failure=failure_of,
            read=read,
            keep=keep,
            value=lambda file: parse(file.name, file.data)[0],
            price=self._models.price,
            model="" if material.code else material.model,
            elsewhere=elsewhere if reuses else None,
            offer=offer if reuses else None,
            reads=self._facts.steps[step.name].reads,
        )
        return write_out(step, await MapStep(work).run())

    def _retried(self, start: StartAttempt, model: str, part: Retried) -> None:
        self._inbox.put_nowait(
            e.StepModelRetried(
                run=start.run,
                step=start.step,
                attempt=start.attempt,
                tries=part.tries,
                wait_ms=round(part.wait * 1000),
                reason=part.reason,
                model=model,
                instead=part.instead,
            )
        )

    def _judge(self, this: _Attempt, upstream: Mapping[str, Any]) -> Judge:
        """What is wrong with an artifact, for a model that can be told while it works."""
        step = this.step
        outer = dict(zip(step.own.artifacts, step.artifacts, strict=True))

        def judge(name: str, value: Any) -> list[Finding]:
            documents = self._facts.documents(step.name, {**upstream, name: value}, this.taken)
            return validate(step, outer[name], value, documents)

        return judge

    @asynccontextmanager
    async def _turn(self, resources: Sequence[str]) -> AsyncIterator[None]:
        """What it uses besides is held to limits, in one order for everybody; waiting for it is not its own time."""
        async with AsyncExitStack() as held:
            for name in resources:
                await held.enter_async_context(self._using(name))
            yield

    def _alone(self, step: Step, material: Material) -> AbstractAsyncContextManager[Any]:
        """Steps that work in the same folder do so one at a time: what one reads, another would be changing."""
        if step.scope.folder is None or material.code:
            return nullcontext()
        return self._folders.setdefault(material.parameters[step.scope.folder], asyncio.Lock())

    async def _with_tools(self, this: _Attempt, given: StepInput, conversation: str) -> Any:
        from weft.orchestrator.step_toolbox import workbench

        step, start, calls, material = this.step, this.start, this.calls, this.material
        for name, about in given.documents.items():
            if about.get("kind") == "image":
                calls.say(f"{name} is a picture, which a step with tools is not shown")
        file = step.inside.file if step.inside else self._spec.pipeline.file
        with ExitStack() as stack:
            opening = workbench(self._tools, material.tools, step.own, material.parameters, file, self._session.folder)
            bench = await self._off_loop(lambda: stack.enter_context(opening))
            if step.calls is not None:
                from weft.orchestrator.tool_step import ToolStep

                tainted, resumed = material.outside, start.resumed
                rule = partial(
                    self._questions.ruled, conversation, start.attempt, bench, tainted=tainted, resumed=resumed
                )
                made = ToolStep(step.calls, given, bench, calls, rule)
                if given.item_name:
                    return await made.one_call()
                return await made.all_calls(await self._off_loop(lambda: self._items(this)))

            async def judge(value: Any) -> list[Finding]:
                made, findings = write_out(step, value)
                return findings or await self._validate(this, made, given.artifacts)

            from weft.orchestrator.agent_step import AgentStep, AgentWork

            before = await self._off_loop(lambda: self._log.conversation(conversation)) if start.resumed else []
            self._log.resumed(material.model, step.name, before)
            work = AgentWork(
                step=step.own,
                given=given,
                conversation=conversation,
                model=self._models.open(material.model),
                reference=material.model,
                nonce=self._models.nonce,
                bench=bench,
                agents=self._tools.agent,
                judge=judge,
                allowance=start.allowance,
                price=self._models.price,
                calls=calls,
                log=self._log,
                off_loop=self._off_loop,
                before=before,
                tainted=material.outside,
            )
            agent = self._agents[conversation] = AgentStep(work)
            try:
                return await agent.run()
            finally:
                del self._agents[conversation]

    def _items(self, this: _Attempt) -> StepItems:
        """What this attempt takes over: what it has settled itself, and of earlier ones the good results of items."""
        step, start = this.step, this.start
        known = self._session.state.items.get(step.name, {})
        each = step.calls is not None and step.calls.each is not None
        seqs = {one.seq for one in known.values() if one.attempt == start.attempt or (each and one.ok)}
        found = item_results(self._session.folder, seqs)
        # What is outside, and what was said of it, may be another each round: no result outlives one.
        base = {"tool": step.calls.tool if step.calls else "", "rounds": hash_value(start.rounds)}
        base["replies"] = hash_value(start.replies)
        if step.scope.folder is not None:
            base["folder"] = str(this.material.parameters[step.scope.folder])
        kept = {digest: taken_over(*one) for digest, one in found.items()}
        return StepItems(start.run, step.name, start.attempt, kept, base)

    async def _validate(self, this: _Attempt, made: list[Artifact], upstream: Mapping[str, Any]) -> list[Finding]:
        step = this.step
        if not step.schemas and not step.checks:
            return []
        own = {artifact.name: parse(artifact.name, artifact.data)[0] for artifact in made}
        documents = self._facts.documents(step.name, {**upstream, **local_values(step, own)}, this.taken)

        def judge() -> list[Finding]:
            return [found for name, value in own.items() for found in validate(step, name, value, documents)]

        small = not step.checks and sum(len(artifact.data) for artifact in made) <= SMALL
        findings = judge() if small else await self._off_loop(judge)
        if findings:
            return findings
        return await own_findings(self._executor, step, own, documents)

    def _makers(self, step: Step, artifacts: Mapping[str, Any]) -> dict[str, str]:
        """The models that made these artifacts, which the step requires; code made the others."""
        made: dict[str, str] = {}
        for before in step.requires if artifacts else ():
            if not (material := self._facts.materials[before]).code:
                made |= dict.fromkeys(self._spec.pipeline.steps[before].artifacts, material.model)
        return {name: made[name] for name in artifacts if name in made}

    async def _upstream(self, wanted: Mapping[str, str]) -> dict[str, Any]:
        """The artifacts of the required steps, parsed: as this run made them, else as they are on the disk."""
        made = {name: self._made[name] for name in wanted if name in self._made}
        rest = [name for name in wanted if name not in made]
        if rest:
            made |= await self._off_loop(lambda: {name: self._read(name, wanted[name]) for name in rest})
        return {name: parse(name, made[name])[0] for name in wanted}

    async def _looked_at(self, step: Step, start: StartAttempt) -> dict[str, Any]:
        """What the step made before, where a person wants that changed: `the second` means nothing without it."""
        made = self._session.state.steps[step.name].completion if step.name in start.replies else None
        return await self._upstream(made.artifacts) if made is not None and step.map is None else {}

    def _read(self, name: str, digest: str) -> bytes:
        data = self._session.folder.read_or_none(name)
        if data is None:
            raise VanishedError(f"{name} was removed while the run was going on")
        if hash_bytes(data) != digest:
            raise VanishedError(f"{name} was changed while the run was going on; the next run will take it in")
        return data

    async def _leave_attempts(self) -> None:
        """Nothing may run on behind a run that has ended; what ignores its cancellation is named, not waited for."""
        open_tasks = [task for task in self._attempts.values() if not task.done()]
        for task in open_tasks:
            task.cancel()
        if open_tasks:
            _, stuck = await asyncio.wait(open_tasks, timeout=GRACE)
            for task in stuck:
                self._publish(e.NoticeGiven(text=f"{task.get_name()} ignores its end; its result will not be taken"))
        for calls in [*self._calls.values()]:
            await calls.quiet()


def _note(calls: Mapping[tuple[str, int], AttemptCalls], call: CallSettled) -> None:
    """A call in the conversation of a step has ended."""
    if (found := calls.get((call.step, call.attempt))) is not None:
        found.note(call)


def failure_of(error: Exception, limit: float) -> Failure:
    """What an exception means for the try it ended. `limit`: seconds that it had. Raises a bug again."""
    match error:
        case TimeoutError():
            return Failure("timeout", f"took longer than {limit:g} s and was ended", cut_off=True)
        case StepCodeError():
            return Failure("error", error.message, retryable=not error.fixed, trace=error.trace)
        case WorkerCrashedError():
            return Failure("crashed", error.message)
        case VanishedError():
            return Failure("vanished", error.message, retryable=False)
        case ModelFeedback():
            return Failure.rejected(error.findings)
        case OverAllowanceError():
            return Failure("over_budget", error.message, retryable=False, cut_off=True)
        case ItemsFailedError():
            return Failure("error", error.message, retryable=False, cut_off=True)
        case ExternalError():
            return Failure("error", str(error), retryable=error.retryable, cut_off=error.retryable)
        case WeftError():
            return Failure("error", str(error), retryable=False)
        case _:
            raise error


def file_text(place: Path, name: str, digest: str) -> tuple[str, Mapping[str, Any]]:
    """A file of a folder as a document: its text, and what it says of itself."""
    with Folder.open(place) as folder:
        data = folder.read_or_none(name)
    if data is None or hash_bytes(data) != digest:
        raise VanishedError(f"{place / name} was changed while the run was going on; the next run will take it in")
    text = given_text(data, name)
    return text.text, text.about or {}


async def own_findings(
    executor: StepExecutor, step: Step, values: Mapping[str, Any], documents: Documents
) -> list[Finding]:
    """What the pack's own checks find in a step's artifacts. They are code, so they run where code runs."""
    findings: list[Finding] = []
    for artifact, call in step.checks:
        if not is_code(call):
            continue
        texts = {name: documents.plain.get(name, documents.texts[name]) for name in call.reads}
        given = {"value": values[artifact], "options": dict(call.options), "documents": texts}
        found = await executor.check(call.name, given)
        if not isinstance(found, list) or not all(isinstance(text, str) for text in found):
            raise StepCodeError(
                f"the check {call.name} must return a list of texts, one per fault, but returned {found!r:.80}"
            )
        findings += [Finding(artifact, "", text, kind=call.name) for text in found]
    return findings


def _seen(step: Step, artifacts: Sequence[Artifact]) -> dict[str, tuple[Any, ...]]:
    if not step.looks:
        return {}
    return look(step.looks, {artifact.name: parse(artifact.name, artifact.data)[0] for artifact in artifacts})


def _fresh(step: Step, known: Mapping[str, T], taken: Mapping[str, T]) -> dict[str, T]:
    """What comes out of artifacts as this run has them, not as they were when it began; in the pipeline's order."""
    if step.inside is None:
        return dict(known)
    found = {**{name: value for name, value in known.items() if name not in step.inside.taken}, **taken}
    return {name: found[name] for name in step.own.inputs if name in found}
