"""The conversation of an open session: the model that answers, the tools it may use, what it costs.

`LiveSession` opens it when it is first needed. Everything a person does in it comes as a command through the session's
door; what happens goes out with the session's events.
"""

from __future__ import annotations

import asyncio
import logging
import platform
import threading
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import ExitStack, suppress
from dataclasses import asdict, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from weft.app.live.mentions import Attached, Attaching
from weft.app.live.run_tool import run_pipeline_tool
from weft.app.parts import Parts
from weft.app.session_requests import SessionRequest, check_named
from weft.conversation.compaction import Summary, summarise, turn_to_compact
from weft.conversation.context import INSTRUCTIONS, SessionContext, Speaker, place_words
from weft.conversation.conversation import Conversation, Settings
from weft.conversation.limits import limit_words, used_of
from weft.conversation.ports import Ports, SessionJournal
from weft.conversation.projections import (
    BackgroundEntry,
    FileChange,
    PlanState,
    Said,
    background_processes,
    changes_since,
    last_changes,
    plan_of,
    rewind_points,
)
from weft.conversation.prompt import Prompt
from weft.conversation.tool_calls import SUB_AGENT, ToolAccess, sub_agent
from weft.conversation.turns import TurnRules
from weft.conversation.watchdog import Watchdog
from weft.documents import from_content_md
from weft.files import Folder
from weft.models.media import media_kind, media_taken, within_limits
from weft.models.model import Model, prepare
from weft.models.spending import Spent, Tally
from weft.orchestrator.run_facts import run_facts
from weft.orchestrator.run_summary import summarise_run
from weft.protocol import conversation_events as t
from weft.protocol import events as e
from weft.protocol.commands import GivenFile, Mode, Reply, StartRun
from weft.protocol.conversation_commands import (
    CompactTranscript,
    DecidePlan,
    NoteProcess,
    NoteRestored,
    NoteRewound,
    SubmitPlan,
    ToolEnd,
)
from weft.protocol.envelope import Actor
from weft.protocol.errors import UserError, WeftError, WorkspaceError
from weft.protocol.messages import Media, ToolCall
from weft.session.recovery import blob
from weft.session.session import Session
from weft.tools.background import Processes
from weft.tools.boundary import boundary_here
from weft.tools.builtin.files import Replacement, put_back
from weft.tools.builtin.people import SUBMIT_PLAN
from weft.tools.changed_files import FolderWatch
from weft.tools.processes import plain_environment, shield_environment
from weft.tools.results import keeper
from weft.tools.shell.needs import Ground
from weft.tools.shell_state import ShellState
from weft.tools.skills import Skills
from weft.tools.tool import Context, Question
from weft.tools.tool_spellings import own_name, told
from weft.tools.toolbox import Toolbox
from weft.workspace.agent import Agent

if TYPE_CHECKING:
    from weft.app.live.hooks import Hooks
    from weft.app.live.notifications import Notifier
    from weft.conversation.claude_agent.options import SubAgent
    from weft.conversation.claude_agent.runtime_conversation import RuntimeConnection
    from weft.conversation.other_agent.agent_conversation import OtherSpeaking
    from weft.sources.declared_sources import Source

PLANNING: Final = """

The mode is plan: look around, ask what only the person can say, and change nothing; what would change something is
refused. When you know what is to be done, call SubmitPlan, and end your turn."""
ACCEPTED: Final = "I accept the plan. Carry it out; keep its steps, in the same words, as the list of TodoWrite."
REACHING_SECONDS: Final = 20.0
"""So long the beginning of a conversation waits for sources that were never reached; then they come when they come."""
PREPARING_SECONDS: Final = 5.0
"""So long who leaves at once waits for what is being loaded, so that it can be let go of."""
HOOKS: Final = ".claude/settings.json"
PLAN_TOOL: Final = SUBMIT_PLAN.name
GUIDES_LIMIT: Final = 24_000
"""Characters of all guides together."""


class SessionConversation:
    def __init__(
        self,
        parts: Parts,
        session: Session,
        request: SessionRequest,
        show: Callable[[e.Event], None],
        broken: Callable[[BaseException], None],
        notifier: Notifier | None = None,
        start_run: Callable[[StartRun, Actor], Awaitable[Reply]] | None = None,
    ) -> None:
        """`show` gets what is live; `broken` is told when the log can't be written any more; `start_run` begins a run
        of the session."""
        self._notifier = notifier
        self._start_run = start_run
        self._broken = broken
        self._parts = parts
        folders = self._folders = ExitStack()
        self._show = show
        self._session = session
        self._working = folders.enter_context(Folder.open(request.working))
        own = Path(parts.surroundings.get("HOME", "/nonexistent"))
        shelves = [("workspace", parts.workspace.folder), ("project", self._working)]
        if own.is_dir():
            shelves.append(("user", folders.enter_context(Folder.open(own))))
        self._skills = Skills(shelves)
        self._environment = plain_environment(parts.surroundings)
        shield_environment()
        parts.read_config()
        self._connected = parts.models()
        self._told_of_run = ""
        self._chosen = request.model
        self._models: dict[str, Model] = {}
        self._speaking: RuntimeConnection | OtherSpeaking | None = None
        self._knowledge = parts.knowledge(request.kb)
        if self._knowledge is not None:
            folders.enter_context(self._knowledge)
        self._offered: tuple[tuple[int, tuple[tuple[str, bool], ...]], Toolbox] | None = None
        self.access = ToolAccess(self._tools_of, parts.rules(), self._tool_context)
        self.access.mode = request.mode
        self.access.ground = self._ground
        self.context = SessionContext(
            parts.workspace,
            lambda: session.state,
            self._speaker,
            self._skills,
            parts.new_name(),
            parts.off_loop,
            self._compact,
            self._run_summary,
            self._working.path,
            session.folder.read_or_none,
            lambda: place_words(self._working.path, parts.clock(), platform.system()),
        )
        kept = session.saved("spent", Tally)
        self._tally = kept[1] if kept else Tally()
        self._counting = threading.Lock()
        self.conversation: Conversation
        self._loop: asyncio.AbstractEventLoop
        self._asked: dict[str, tuple[e.QuestionAsked, asyncio.Future[Mapping[str, str]]]] = {}
        """The questions of tools that wait for their answers."""
        self._beside: list[asyncio.Future[Any]] = []
        self._preparing: asyncio.Task[None]
        """The client of the model is loaded while the person still types."""
        self._compacting: asyncio.Task[None] | None = None
        self._mode_after_plan: Mode = "ask"
        self._hooks: Hooks | None = None
        self.opening_notes: list[str] = []
        """What was to be said when it was opened."""
        self._watch = FolderWatch()
        self._shells: dict[str, ShellState] = {}
        """What commands left behind, by conversation."""
        self.processes = Processes(self._note_process)

    async def begin(self) -> None:
        self._loop = asyncio.get_running_loop()
        silent = await self._reach_sources()
        self._speaking = self._runtime_of(self._model_of(t.MAIN))  # what is not connected is said before all else
        ports = Ports(
            model=self._speaking.model if self._speaking else self._model_of,
            toolbox=self.access,
            context=self.context,
            ids=self._parts.new_name,
            off_loop=self._parts.kept,
            show=self._show,
        )
        if self._notifier is not None:
            ports = replace(ports, notify=self._notifier.notify)
        settings = Settings(rules=TurnRules(price=self._parts.price))
        self.conversation = await Conversation.read(SessionJournal(self._session), ports, settings)
        await self._take_hooks()
        self.processes.count = self.conversation.state.started
        gone = list(self.conversation.state.background)
        # What is due is asked of this object, so all that its answers need has to be there first.
        await self.conversation.begin()
        self._beside += [asyncio.create_task(self._follow_talk()), asyncio.create_task(self._follow_runtime())]
        self._preparing = asyncio.create_task(self._prepare())
        self._folders.enter_context(Watchdog(self._blame, busy=self._is_busy))
        self._say_what_auto_means()
        for line in silent:
            self._tell_from_the_start(line)
        self._session.keep("spent", self._whole_tally)
        await self._parts.off_loop(self._whole_tally)
        for name in gone:  # they went with the program that had started them
            self._note_process(name, "", "ended with the program")

    async def _take_hooks(self) -> None:
        """The person's own commands around tools; those that nobody agreed to are said, and not run."""
        places = [self._parts.workspace.folder, self._working]
        if not any(place.exists(HOOKS) for place in places):
            return
        from weft.app.live.hooks import MOST_RESPONSE, Hooks

        try:
            hooks = Hooks.agreed(
                self._parts.consents, places, lambda: self._tool_context(t.MAIN, "", lambda _: None), self._name
            )
        except WeftError as error:
            self._tell_from_the_start(f"hooks are not run: {error}")
            return
        self._hooks = hooks

        async def before(call: ToolCall) -> str:
            return (await hooks.run("PreToolUse", call.tool, tool_input=told(call.tool, call.input))).refused

        async def after(call: ToolCall, end: ToolEnd) -> ToolEnd:
            given = {"tool_input": told(call.tool, call.input), "tool_response": end.text[:MOST_RESPONSE]}
            answer = await hooks.run("PostToolUse", call.tool, **given)
            said = answer.refused or answer.text
            return replace(end, text=f"{end.text}\n[a hook says: {said}]") if said else end

        self.access.before_call, self.access.after_call = before, after

    def _tell_from_the_start(self, text: str) -> None:
        """Whoever watches, and whoever begins to later: nobody does yet when a conversation is opened."""
        self.opening_notes.append(text)
        self.conversation.notice(text)

    def _beside_hooks(self, event: object) -> None:
        """What is only told to hooks."""
        if self._hooks is None:
            return
        work = None
        if isinstance(event, t.TurnCompleted) and event.conversation == t.MAIN and event.disposition == "final":
            work = self._hooks.run("Stop")
        elif isinstance(event, t.ApprovalRequested):
            work = self._hooks.run("Notification", message=f"{event.tool} needs your approval: {event.reason}")
        if work is not None:
            self._beside.append(asyncio.ensure_future(work))

    def _note_process(self, name: str, command: str, reason: str) -> None:
        if not self.conversation.state.stopping:
            self.conversation.submit(NoteProcess(conversation=t.MAIN, process=name, command=command, reason=reason))

    async def _reach_sources(self) -> list[str]:
        """Sources that were never reached are reached now, so that the first turn has their tools; what is wrong with
        any of them is told, and is no reason not to talk."""
        box = self._toolbox
        if not box.sources:
            return []
        sources = self._parts.sources()
        unknown = sources.unknown(self._working.path, self._session.state.sources)
        if unknown:
            reaching = asyncio.ensure_future(sources.reach_all(unknown, self._name))
            await asyncio.wait({reaching}, timeout=REACHING_SECONDS)
            if not reaching.done():
                self._beside.append(reaching)
            self._offered = None
        notes = self._toolbox.sources.items()
        return [
            f"the source {slug} can't be used: {note.trouble}" for slug, note in notes if note.enabled and note.trouble
        ]

    def source_switched(self, slug: str) -> None:
        """One that is on from now on and was never reached is reached; the next turn has its tools."""
        sources = self._parts.sources()
        unknown = [one for one in sources.unknown(self._working.path, self._session.state.sources) if one.slug == slug]
        if unknown:
            reaching = self._loop.create_task(self._reach(unknown), name=f"reaches {slug}")
            self._beside.append(reaching)

    async def _reach(self, sources: list[Source]) -> None:
        for slug, reached in (await self._parts.sources().reach_all(sources, self._name)).items():
            if reached.state != "ready":
                self.conversation.notice(f"the source {slug} can't be used: {reached.why}")

    @property
    def _name(self) -> str:
        return self._session.folder.path.name

    @property
    def _toolbox(self) -> Toolbox:
        """All tools there are; made anew when a source offers others."""
        switched = self._session.state.sources
        now = (self._parts.sources_version, tuple(switched.items()))
        if self._offered is None or self._offered[0] != now:
            box = self._parts.toolbox(self._knowledge, user=self._name, project=self._working.path, switched=switched)
            if pipelines := tuple(self._parts.workspace.pipeline_names()):
                box = Toolbox([*box, run_pipeline_tool(pipelines, self._begin_run)], box.sources)
            self._offered = ((self._parts.sources_version, now[1]), box)
        return self._offered[1]

    async def close(self, *, keep_open: bool) -> bool:
        """Let go of it: in order, or as it stands (`keep_open`), so that what waits can still be answered. Whether
        nothing was left running."""
        for _, answered in self._asked.values():
            answered.cancel()
        await self.processes.close()
        clean = await (self.conversation.suspend() if keep_open else self.conversation.shutdown())
        for task in self._beside:
            task.cancel()
        await asyncio.wait(self._beside)
        await asyncio.wait({self._preparing}, timeout=PREPARING_SECONDS)
        self._preparing.cancel()
        if self._speaking is not None:
            await self._speaking.aclose()
        await self._connected.aclose()
        self._folders.close()
        return clean

    # -- what a person chooses and is told

    @property
    def status(self) -> e.StatusChanged:
        last = self.context.last.get(t.MAIN)
        free = self.spent.is_complete and not self.spent.usd
        return e.StatusChanged(
            mode=self.access.mode,
            model=self._model_of(t.MAIN).name,
            tokens=self.spent.tokens or None,
            cost="" if free else self.spent.short,
            context_used=last.share if last else None,
            limits=", ".join(self.limits),
        )

    @property
    def limits(self) -> list[str]:
        """How much of each limit is used, in words."""
        main = self.conversation.state.talks.get(t.MAIN)
        if main is None:
            return []
        used = used_of(main, self._parts.price)
        return [limit_words(name, used[name], most) for name, most in main.limits.items()]

    def set_mode(self, mode: Mode) -> None:
        if mode == "plan" and self.access.mode != "plan":
            self._mode_after_plan = self.access.mode
        self.access.mode = mode
        self._say_what_auto_means()
        self._show(self.status)

    def _say_what_auto_means(self) -> None:
        """Nobody is in auto without a boundary and does not know it."""
        if self.access.mode == "auto" and self._ground().boundary == "none":
            self.conversation.notice(
                "auto runs commands with all your rights here: there is no boundary around them (weft doctor says why)"
            )

    def set_model(self, name: str) -> None:
        """UserError, and nothing changed, when it is not connected, or is a program with a loop of its own."""
        before, self._chosen = self._chosen, name
        try:
            if self._speaking is not None or self._runtime_of(self._model_of(t.MAIN)) is not None:
                raise UserError(
                    f"{name} can't take over in the middle: one of the two runs its own loop",
                    hint="begin a conversation with it: weft chat --model",
                )
        except WeftError:
            self._chosen = before
            raise
        self._show(self.status)

    @property
    def tools(self) -> Toolbox:
        """All there are, with what is to be said of the sources."""
        return self._toolbox

    @property
    def spent(self) -> Spent:
        """What the model calls of the session took."""
        return self._tally.spent

    @property
    def asked(self) -> list[e.QuestionAsked]:
        """The questions of tools that are open, as they were asked."""
        return [asked for asked, _ in self._asked.values()]

    def answer(self, question: str, answers: Mapping[str, str], declined: str) -> None:
        if question not in self._asked:
            raise UserError("that question is no longer open")
        asked, answered = self._asked[question]
        if declined:
            if not answered.done():
                answered.set_exception(UserError(declined, hint="go on without the answer, and say what you assumed"))
            return
        missing = [str(one["text"]) for one in asked.questions if not answers.get(str(one["text"]), "").strip()]
        if missing:
            raise UserError(f"there is no answer to: {missing[0]}")
        if not answered.done():
            answered.set_result(dict(answers))

    def next_prompt(self) -> Prompt:
        """What the model would be told now."""
        return self.context.preview(self.conversation.name, self.conversation.transcript())

    @property
    def main_model(self) -> Model:
        return self._model_of(t.MAIN)

    @property
    def waits(self) -> bool:
        """Something in it waits for a person."""
        talks = self.conversation.state.talks.values()
        return any(call.phase == "asked" for talk in talks if talk.turn for call in talk.turn.calls.values())

    def _is_busy(self) -> bool:
        """From any thread."""
        return bool(self.conversation.running("model") or self.conversation.running("tool"))

    def _blame(self, task: str, seconds: float) -> None:
        """From the watchdog's thread: who keeps everything else waiting. For whoever looks for a fault in the program;
        a person who talks can do nothing about it."""
        logging.getLogger("weft").info("%s keeps the program busy (%.1f s)", task, seconds)

    async def _follow_talk(self) -> None:
        try:
            async for item in self.conversation.events(self._tally.seq):
                if isinstance(item, e.Record):
                    self._beside_hooks(item.event)
                    if isinstance(item.event, t.ModelSettled | t.LimitsSet):
                        self._show(self.status)
        except Exception as error:  # noqa: BLE001  the log can't be written any more: whoever watches must know
            self._broken(error)

    def count(self, record: e.Record) -> None:
        """Every record of the session, in order: what its runs took is counted too."""
        if record.seq > self._tally.seq + 1:
            self._whole_tally()
        else:
            with self._counting:
                self._tally.take(record, self._connected.price)
        if isinstance(record.event, e.StepCompleted | e.StepFailed | e.StepInterrupted):
            self._show(self.status)

    def _whole_tally(self) -> Tally:
        """With what has happened since it was last kept up. From any thread."""
        with self._counting:
            if self._session.state.seq > self._tally.seq:
                for record in self._session.records(self._tally.seq):
                    self._tally.take(record, self._connected.price)
            return self._tally

    def _compact(self, conversation: str, summary: Summary) -> None:
        if summary.trouble:
            self.conversation.notice(f"older turns were summed up by rule, as the model could not: {summary.trouble}")
        self.conversation.submit(
            CompactTranscript(
                conversation=conversation,
                turn=summary.turn,
                text=summary.text,
                model=summary.model,
                usage=summary.usage,
            )
        )

    def compact_now(self) -> None:
        """Begins to tell older turns in short; what came of it is told when it is there. UserError when there is
        nothing to shorten, or it is being done."""
        if self._compacting is not None and not self._compacting.done():
            raise UserError("older turns are being summed up already")
        if self._speaking is not None:
            raise UserError(f"{self.main_model.name} keeps its own transcript", hint="it shortens it by itself")
        entries = list(self.conversation.transcript().entries)
        turn = turn_to_compact(entries)
        if not turn:
            raise UserError("there is nothing to shorten yet", hint="the last turns are always told whole")
        self._compacting = self._loop.create_task(self._sum_up(entries, turn), name="sums up older turns")
        self._beside.append(self._compacting)

    async def undo(self) -> NoteRestored:
        """Puts files back as they were before what the last message led to; what is to be recorded of it. UserError,
        and nothing is touched, when something is going on, or a file was changed since."""
        self._check_idle()
        changed = last_changes(await self._records())
        if changed is None:
            large = " (the folder has more files than are held for that)" if self._watch.too_large else ""
            raise UserError(f"no change of a file is there to take back{large}", hint="use your version control")
        files = await self._put_back(changed.files)
        return NoteRestored(conversation=t.MAIN, message=changed.message, files=files)

    async def rewind(self, messages: int) -> NoteRewound:
        """Puts files back as they were before so many of the person's messages; what is to be recorded of it, which
        takes the conversation back. UserError, and nothing is touched, as for `undo`."""
        self._check_idle()
        records = await self._records()
        points = rewind_points(t.MAIN, records)
        if not 0 < messages <= len(points):
            raise UserError(f"there are {len(points)} messages to take back", hint="/rewind 1 takes back the last one")
        point = points[-messages]
        main = self.conversation.state.talks.get(t.MAIN)
        if main is not None and point.turn <= main.compacted:
            raise UserError(
                "that message is told in short already, with others",
                hint="fork the session before it: weft sessions fork",
            )
        files = await self._put_back(changes_since(records, point.message).files)
        return NoteRewound(conversation=t.MAIN, turn=point.turn, message=point.message, files=files)

    async def attached(self, text: str, files: Sequence[GivenFile]) -> tuple[str, tuple[Mapping[str, Any], ...]]:
        """A message as the model is told it, and what it brings: what it names, what is given with it, or the whole of
        one that is far too long. What the model can't take is said."""
        heard = await self._hooks.run("UserPromptSubmit", prompt=text) if self._hooks else None
        if heard is not None and heard.refused:
            raise UserError(heard.refused, hint="a hook refuses it")
        attaching = Attaching(self._parts, self._working, self._session.folder)

        def look() -> tuple[str, list[Attached]]:
            short, whole = attaching.shortened(text)
            return short, [*whole, *attaching.attached(text if short == text else "", files)]

        def too_large(one: Attached) -> str:
            """Why a picture can't be shown, in words; "" when it can."""
            data = self._session.folder.read_or_none(one["file"]) if one["file"] else None
            try:
                within_limits(Media(media_type=one["media_type"], data=data or b"", name=one["name"]))
            except UserError as error:
                return str(error)
            return ""

        said, found = await self._parts.off_loop(look)
        found = await attaching.with_resources(found)
        if heard is not None and heard.text:
            told_by = {"name": "a hook", "kind": "file", "text": heard.text}
            found.append({**told_by, "file": "", "media_type": "", "size": 0})
        for one in found:
            kind = media_kind(one["media_type"])
            if kind == "image" and kind not in media_taken(self.main_model):
                told = f"{self.main_model.name} takes no pictures: it is told of {one['name']}, and does not see it"
                self.conversation.notice(told)
            elif kind == "image" and (why := await self._parts.off_loop(partial(too_large, one))):
                self.conversation.notice(why)
        return said, tuple(found)

    async def tells_of_run(self) -> bool:
        """Whether a message now has the model told something of a run that none before it had. What a run was asked
        and has found are words of its documents."""
        before, self._told_of_run = self._told_of_run, await self._parts.off_loop(lambda: self._run_summary(""))
        return self._told_of_run not in ("", before)

    def _check_idle(self) -> None:
        if self._speaking is not None:
            raise UserError(f"{self.main_model.name} changes files by itself", hint="use your version control")
        if self._is_busy():
            raise UserError("something is going on", hint="stop it first")

    async def _records(self) -> list[e.Record]:
        return await self._parts.off_loop(lambda: list(self._session.records()))

    async def _put_back(self, changes: Mapping[str, FileChange]) -> dict[str, str]:
        """The files with the hashes that they have now."""
        context = self._tool_context(t.MAIN, "", lambda _: None)
        files = {name: self._replacement(change) for name, change in changes.items()}
        await self._parts.off_loop(lambda: put_back(files, context))
        return {name: one.was for name, one in files.items()}

    async def past_processes(self) -> Mapping[str, BackgroundEntry]:
        return background_processes(await self._records())

    async def _begin_run(self, pipeline: str, text: str, parameters: Mapping[str, Any]) -> None:
        if self._start_run is None:
            raise UserError("no run can be begun here")
        specs = self._parts.workspace.pipeline(pipeline).parameters
        check_named({name: spec.type for name, spec in specs.items()}, parameters)
        wish = StartRun(pipeline=pipeline, parameters=parameters, inputs={"": (GivenFile(text.encode()),)})
        (await self._start_run(wish, Actor("model", self.main_model.name))).check()

    # -- plans

    async def _submit_plan(self, text: str, steps: tuple[str, ...]) -> None:
        command = SubmitPlan(conversation=t.MAIN, plan=self._parts.new_name(), text=text, steps=steps)
        await self.conversation.give(command, Actor("model", self.main_model.name))

    async def plan(self) -> PlanState | None:
        return plan_of(await self._records())

    async def decided_plan(self, command: DecidePlan) -> DecidePlan:
        """The person's word as the conversation takes it: with the words that the model is told, and what it is told
        in place of the way to the plan. A plan that is accepted ends the mode."""
        plan = await self.plan()
        if plan is None or plan.decision is not None:
            raise UserError("no plan waits for your word", hint="/plan has one made")
        words = command.text.strip()
        summary, text = "", words
        if command.decision in ("accepted", "compacted"):
            text = f"{ACCEPTED}\n\n{words}".strip()
            if self.access.mode == "plan":
                self.set_mode(self._mode_after_plan)
        if command.decision == "compacted":
            asked = "\n".join(f"- {point.text}" for point in rewind_points(t.MAIN, await self._records()))
            summary = f"The person asked:\n{asked}\n\nAfter looking around, this plan was submitted:\n\n{plan.text}"
        return replace(command, conversation=t.MAIN, text=text, summary=summary, message=self._parts.new_name())

    def _replacement(self, change: FileChange) -> Replacement:
        data = None
        if change.before:
            data = blob(self._session.folder, change.before)
            if data is None:
                raise UserError("what was there before is not kept any more", hint="use your version control")
        return Replacement(change.after, change.before, data)

    async def _sum_up(self, entries: list[Said], turn: int) -> None:
        try:
            self._compact(t.MAIN, await summarise(self.main_model, entries, turn, self.context.nonce))
        except Exception as error:  # noqa: BLE001  whoever asked for it hears what came in between
            self.conversation.notice(f"older turns could not be summed up: {error}")

    # -- what the conversation asks for

    def _speaker(self, conversation: str) -> Speaker:
        agent = self._agent(conversation)
        instructions = INSTRUCTIONS + (PLANNING if self.access.mode == "plan" and conversation == t.MAIN else "")
        if agent:
            instructions = f"{INSTRUCTIONS}\n\n{self._parts.workspace.agent(agent).text}"
        box = self._tools_of(conversation)
        return Speaker(
            model=self._model_of(t.MAIN if self._speaking else conversation),
            tools=box.specs(),
            instructions=instructions + guides(box),
        )

    def _agent(self, conversation: str) -> str:
        """The agent of a sub-conversation: what the call of Task that opened it names."""
        state = self.conversation.state
        child = state.talks.get(conversation)
        parent = state.talks.get(child.parent) if child and child.parent else None
        call = child.parent_execution.partition("/")[2] if child else ""
        if parent is None or parent.turn is None or call not in parent.turn.calls:
            return ""
        name = sub_agent(parent.turn.calls[call].input)
        if self._speaking is not None and name not in self._parts.workspace.agent_names():
            return ""  # one of the runtime's own
        return name

    def _tools_of(self, conversation: str) -> Toolbox:
        agent = self._agent(conversation) if "/" in conversation else ""
        all_tools = self._speaking.toolbox() if self._speaking else self._toolbox
        box = _tools_of_agent(self._parts.workspace.agent(agent), all_tools) if agent else all_tools.switched_on()
        without = set() if self.access.mode == "plan" and conversation == t.MAIN else {PLAN_TOOL}
        if conversation.count("/") >= 2:  # the deepest may not open another
            without.add(SUB_AGENT)
        return box.only(tool.name for tool in box if tool.name not in without)[0] if without else box

    def _runtime_of(self, model: Model) -> RuntimeConnection | OtherSpeaking | None:
        """When the model is a program that runs its own loop: what speaks with it in this conversation."""
        from weft.conversation.other_agent.agent_conversation import OtherAgent, OtherSpeaking

        if isinstance(model, OtherAgent):
            own = self._session.folder.path / model.folder
            context = self._tool_context(t.MAIN, "", lambda _: None)
            return OtherSpeaking(model, context, own, lambda: self.conversation)
        from weft.conversation.claude_agent.small_calls import ClaudeAgent

        if not isinstance(model, ClaudeAgent):
            return None
        from weft.conversation.claude_agent.options import check_installed
        from weft.conversation.claude_agent.runtime_conversation import FOLDER, RuntimeConnection, Setup

        check_installed()
        setup = Setup(
            reach=model.reach,
            folder=self._session.folder.path / FOLDER,
            context=self._tool_context(t.MAIN, "", lambda _: None),
            tools=self._toolbox.switched_on(),
            agents=self._sub_agents,
        )
        return RuntimeConnection(setup, lambda: self.conversation)

    def _ground(self) -> Ground:
        """A runtime of others runs its commands itself: the boundary is around all of it, not around each of them."""
        strength = "none" if self._speaking is not None else boundary_here().strength
        return Ground(str(self._working.path.resolve()), self._environment.get("HOME", ""), strength)

    def _sub_agents(self) -> tuple[SubAgent, ...]:
        """The workspace's agents, for a program that runs them itself. A broken one is named and left out."""
        from weft.conversation.claude_agent.gate import its_name
        from weft.conversation.claude_agent.options import SubAgent

        found = []
        for name in self._parts.workspace.agent_names():
            try:
                agent = self._parts.workspace.agent(name)
            except WorkspaceError as error:
                self.conversation.notice(f"the agent {name} can't be used: {error.message}")
                continue
            tools = tuple(its_name(own_name(tool)) for tool in agent.tools) or None
            found.append(SubAgent(name=name, description=agent.description, text=agent.text, tools=tools))
        return tuple(found)

    async def _prepare(self) -> None:
        if self._speaking is None:
            with suppress(Exception):  # whatever is wrong with it is said when it is called
                await prepare(self._model_of(t.MAIN))

    async def _follow_runtime(self) -> None:
        if self._speaking is not None:
            await self._speaking.follow(self.conversation.events())

    def _model_of(self, conversation: str) -> Model:
        agent = self._agent(conversation) if "/" in conversation else ""
        wanted = self._parts.workspace.agent(agent).model if agent else None
        name = self._connected.choose(session=self._chosen, agent=wanted)
        if name not in self._models:
            self._models[name] = self._connected.open(name, self._documents, self._from_collection())
        return self._models[name]

    def _from_collection(self) -> Callable[[str], str] | None:
        """How the embedded model answers from the collection, when there is one."""
        knowledge = self._knowledge
        if knowledge is None:
            return None

        def answer(question: str) -> str:
            from weft.knowledge.research.quick import answer_question
            from weft.render.answer import answer_text

            return answer_text(answer_question(knowledge, question, session=self._session.folder.path.name))

        return answer

    def _tool_context(self, conversation: str, call: str, say: Callable[[str], None]) -> Context:
        return Context(
            call=call,
            working=self._working,
            session=self._session.folder,
            environment=self._environment,
            keep=keeper(self._session.folder),
            progress=say,
            ask_person=self._ask,
            skills=self._skills,
            submit_plan=self._submit_plan if conversation == t.MAIN else None,
            shell=self._shells.setdefault(conversation, ShellState()),
            watch=self._watch,
            processes=self.processes,
        )

    async def _ask(self, questions: tuple[Question, ...]) -> Mapping[str, str]:
        # Answers go by the text, so a question that comes twice is asked once.
        unique = {question.text: question for question in questions}
        if not unique:
            return {}
        name = self._parts.new_name()
        asked = e.QuestionAsked(question=name, questions=tuple(asdict(one) for one in unique.values()))
        self._asked[name] = (asked, asyncio.get_running_loop().create_future())
        self._show(asked)
        try:
            return await self._asked[name][1]
        finally:
            del self._asked[name]
            self._show(e.QuestionClosed(question=name))

    def _run_summary(self, nonce: str) -> str:
        """What every prompt is told of the session's run, made anew from the log."""
        facts = run_facts(
            self._session.state,
            self._session.folder.read_or_none,
            folder=str(self._session.folder.path),
            price=self._parts.price,
            resume='the person says so here ("resume the run"), or answers what it waits for',
        )
        return summarise_run(facts, nonce=nonce).text if facts else ""

    def _documents(self) -> dict[str, str]:
        """The session's documents by their titles, for the model that answers from them."""
        found: dict[str, str] = {}
        for given in self._session.state.inputs.values():
            data = self._session.folder.read_or_none(given.file)
            if data is not None and given.file.endswith(".md"):
                document = from_content_md(data)
                found[document.title] = document.text
        return found


def _tools_of_agent(agent: Agent, box: Toolbox) -> Toolbox:
    """What it names: tools, sources, or both. One that names nothing has all that is on."""
    if not agent.tools and not agent.sources:
        return box.switched_on()
    named = agent.tools or tuple(tool.name for tool in box if tool.source is None)
    return box.only([*named, *(name for slug in agent.sources for name in box.of_source(slug))])[0]


def guides(box: Toolbox) -> str:
    """What whoever uses a source reads before the first use, for the sources whose tools are in the box."""
    used = dict.fromkeys(tool.source for tool in box if tool.source)
    texts = [
        f"## {slug}\n\n{box.sources[slug].guide}" for slug in used if slug in box.sources and box.sources[slug].guide
    ]
    if not texts:
        return ""
    return "\n\n# Guides to the sources\n\n" + "\n\n".join(texts)[:GUIDES_LIMIT]
