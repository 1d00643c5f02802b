"""A session that is talked with: its conversation, the model that answers, the tools it may use, and its door."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import ExitStack, asynccontextmanager
from dataclasses import dataclass, field
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Protocol, TypeVar

from weft.app.connecting import ConnectedModels
from weft.app.guiding import Guide, GuidedConversation, GuideHome
from weft.conversation.compaction import Summary
from weft.conversation.context import INSTRUCTIONS, SessionContext, Speaker
from weft.conversation.door import open_door
from weft.conversation.ports import Ports, SessionJournal
from weft.conversation.tooling import SUB_AGENT, ToolAccess, sub_agent
from weft.conversation.watchdog import Watchdog
from weft.documents import from_content_md
from weft.files import Folder
from weft.knowledge.knowledge_base import KnowledgeBase
from weft.knowledge.research.quick import answer_question
from weft.models.model import Model
from weft.models.spending import Spent, Tally
from weft.orchestrator.run_facts import run_facts
from weft.orchestrator.run_summary import summarise_run
from weft.protocol.errors import UserError, WorkspaceError
from weft.protocol.events import Record
from weft.protocol.talk_commands import CompactTranscript
from weft.render.answer import answer_text
from weft.session.session import Session
from weft.tools.boundary import boundary_here
from weft.tools.permission import MODES, Mode
from weft.tools.permission_file import read_rules
from weft.tools.processes import plain_environment, shield_environment
from weft.tools.results import keeper
from weft.tools.shell.needs import Ground
from weft.tools.skills import Skills
from weft.tools.tool import AskPerson, Context, Question
from weft.tools.toolbox import OTHER_NAMES, Toolbox
from weft.workspace.workspace import Workspace

if TYPE_CHECKING:
    from weft.conversation.claude_agent.options import SubAgent
    from weft.conversation.claude_agent.speaking import Speaking

T = TypeVar("T")
MAIN: Final = "main"


@dataclass(frozen=True, slots=True, kw_only=True)
class TalkAsk:
    """Which session to talk in, and how."""

    session: str | None = None
    """One to go on with, or the id of a new one."""
    model: str | None = None
    mode: Mode = "ask"
    kb: str | None = None
    """The collection whose tools are offered; else the workspace's own choice, if it has one."""
    working: Path = field(default_factory=Path.cwd)
    """The folder that tools may work in, besides the session's own."""


class Home(GuideHome, Protocol):
    """What a conversation needs of the app."""

    workspace: Workspace

    async def off_loop(self, work: Callable[[], T]) -> T: ...

    def toolbox(self, knowledge: KnowledgeBase | None = None) -> Toolbox: ...

    def knowledge(self, named: str | None) -> KnowledgeBase | None: ...

    def models(self) -> ConnectedModels: ...

    def price(self, reference: str, usage: Mapping[str, int]) -> Decimal | None: ...

    def new_name(self) -> str: ...


class OpenTalk:
    """The one writer of a session, talking. `conversation` has the doors of a conversation; the rest is for a face."""

    def __init__(self, home: Home, session: Session, ask: TalkAsk, folders: ExitStack, surroundings: Mapping[str, str]):
        self._home = home
        self._session = session
        self._working = folders.enter_context(Folder.open(ask.working))
        own = Path(surroundings.get("HOME", "/nonexistent"))
        shelves = [("workspace", home.workspace.folder), ("project", self._working)]
        if own.is_dir():
            shelves.append(("user", folders.enter_context(Folder.open(own))))
        self._skills = Skills(shelves)
        self._environment = plain_environment(surroundings)
        shield_environment()
        self._connected = home.models()
        self._chosen = ask.model
        self._models: dict[str, Model] = {}
        self._speaking: Speaking | None = None
        self._knowledge = home.knowledge(ask.kb)
        if self._knowledge is not None:
            folders.enter_context(self._knowledge)
        self._toolbox = home.toolbox(self._knowledge)
        self.access = ToolAccess(self._tools_of, read_rules(home.workspace.folder), self._tool_context)
        self.access.mode = ask.mode
        self.access.ground = self._ground
        self.context = SessionContext(
            home.workspace,
            lambda: session.state,
            self._speaker,
            self._skills,
            home.new_name(),
            home.off_loop,
            self._compact,
            self._run_summary,
        )
        kept = session.saved("tally", Tally)
        self._tally = kept[1] if kept else Tally()
        self.ask_person: AskPerson | None = None
        """Set by a face that can put a question to the person."""
        self.conversation: GuidedConversation
        self._loop: asyncio.AbstractEventLoop

    async def begin(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._speaking = self._runtime_of(self._model_of(MAIN))  # what is not connected is said before all else
        ports = Ports(
            model=self._speaking.model if self._speaking else self._model_of,
            toolbox=self.access,
            context=self.context,
            ids=self._home.new_name,
            off_loop=self._home.off_loop,
        )
        self.conversation = await GuidedConversation.open(SessionJournal(self._session), ports)
        self.conversation.follow(Guide(self._home, self._session, lambda: self._model_of(MAIN)))
        self._say_what_auto_means()
        self._session.keep("tally", self._whole_tally)

    @property
    def session(self) -> str:
        return self._session.folder.path.name

    @property
    def folder(self) -> Path:
        return self._session.folder.path

    # -- what a face shows and changes

    @property
    def mode(self) -> Mode:
        return self.access.mode

    def cycle_mode(self) -> Mode:
        self.access.mode = MODES[(MODES.index(self.access.mode) + 1) % len(MODES)]
        self._say_what_auto_means()
        return self.access.mode

    def _say_what_auto_means(self) -> None:
        """Nobody is in auto without a boundary and does not know it."""
        if self.access.mode == "auto" and self._ground().boundary == "none":
            self.conversation.notice(
                "auto runs commands with all your rights here: there is no boundary around them (weft doctor says why)"
            )

    @property
    def model(self) -> str:
        return self._model_of(MAIN).name

    @property
    def spent(self) -> Spent:
        """What the model calls of the session took."""
        return self._tally.spent

    @property
    def tokens(self) -> int | None:
        return self.spent.tokens or None

    @property
    def cost(self) -> str:
        """ "" as long as nothing can have cost anything."""
        free = self.spent.is_complete and not self.spent.usd
        return "" if free else self.spent.short

    @property
    def context_used(self) -> float | None:
        last = self.context.last.get(MAIN)
        return last.share if last else None

    def answer(self, asked: Mapping[str, Any]) -> Mapping[str, Any]:
        """What comes through the door."""
        match asked.get("do"):
            case "send":
                text = asked.get("text")
                if not isinstance(text, str) or not text.strip():
                    raise UserError("there is nothing to send", hint="give a text")
                return {"message": self.conversation.say(text)}
            case "interrupt":
                target = asked.get("target")
                reply = self.conversation.interrupt(target if isinstance(target, str) else None)
                return {"status": reply.status}
            case other:
                raise UserError(f"the session does not know how to {str(other)[:40]!r}")

    def is_busy(self) -> bool:
        """From any thread."""
        return bool(self.conversation.running("model") or self.conversation.running("tool"))

    def blame(self, task: str, seconds: float) -> None:
        """From the watchdog's thread: says who keeps everything else waiting, an interrupt too."""
        text = f"{task} keeps the program busy; nothing else can happen until it lets go"
        self._loop.call_soon_threadsafe(self.conversation.notice, text)

    async def keep_tally(self) -> None:
        async for item in self.conversation.events(self._tally.seq):
            if isinstance(item, Record):
                self._tally.take(item, self._connected.price)

    def _whole_tally(self) -> Tally:
        """With what has been said since it was last kept up, as happens at the very end."""
        if self._session.state.spoken > self._tally.seq:
            for record in self._session.records(self._tally.seq):
                if self.conversation.is_mine(record):
                    self._tally.take(record, self._connected.price)
        self._tally.seq = max(self._tally.seq, self._session.state.seq)
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

    # -- what the conversation asks for

    def _speaker(self, conversation: str) -> Speaker:
        agent = self._agent(conversation)
        instructions = INSTRUCTIONS
        if agent:
            instructions = f"{INSTRUCTIONS}\n\n{self._home.workspace.agent(agent).text}"
        return Speaker(
            model=self._model_of(MAIN if self._speaking else conversation),
            tools=self._tools_of(conversation).specs(),
            instructions=instructions,
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
        if self._speaking is not None and name not in self._home.workspace.agent_names():
            return ""  # one of the runtime's own
        return name

    def _tools_of(self, conversation: str) -> Toolbox:
        agent = self._agent(conversation) if "/" in conversation else ""
        names = self._home.workspace.agent(agent).tools if agent else ()
        all_tools = self._speaking.toolbox() if self._speaking else self._toolbox
        box = all_tools.only(names)[0] if names else all_tools
        if conversation.count("/") >= 2:  # the deepest may not open another
            box = box.only(tool.name for tool in box if tool.name != SUB_AGENT)[0]
        return box

    def _runtime_of(self, model: Model) -> Speaking | None:
        """When the model is a program that runs its own loop: what speaks with it in this conversation."""
        from weft.conversation.claude_agent.small_calls import ClaudeAgent

        if not isinstance(model, ClaudeAgent):
            return None
        from weft.conversation.claude_agent.options import check_installed
        from weft.conversation.claude_agent.speaking import FOLDER, Setup, Speaking

        check_installed()
        setup = Setup(
            reach=model.reach,
            folder=self.folder / FOLDER,
            context=self._tool_context(MAIN, "", lambda _: None),
            tools=self._toolbox,
            agents=self._sub_agents,
        )
        return Speaking(setup, lambda: self.conversation)

    def _ground(self) -> Ground:
        """A runtime of others runs its commands itself: the boundary is around all of it, not around each of them."""
        strength = "none" if self._speaking is not None else boundary_here().strength
        return Ground(str(self._working.path.resolve()), self._environment.get("HOME", ""), strength)

    def _sub_agents(self) -> tuple[SubAgent, ...]:
        """The workspace's agents, for a program that runs them itself. A broken one is named and left out."""
        from weft.conversation.claude_agent.gate import its_name
        from weft.conversation.claude_agent.options import SubAgent

        found = []
        for name in self._home.workspace.agent_names():
            try:
                agent = self._home.workspace.agent(name)
            except WorkspaceError as error:
                self.conversation.notice(f"the agent {name} can't be used: {error.message}")
                continue
            tools = tuple(its_name(OTHER_NAMES.get(tool, tool)) for tool in agent.tools) or None
            found.append(SubAgent(name=name, description=agent.description, text=agent.text, tools=tools))
        return tuple(found)

    async def follow_runtime(self) -> None:
        if self._speaking is not None:
            await self._speaking.follow(self.conversation.events())

    async def close_runtime(self) -> None:
        if self._speaking is not None:
            await self._speaking.aclose()

    def _model_of(self, conversation: str) -> Model:
        agent = self._agent(conversation) if "/" in conversation else ""
        wanted = self._home.workspace.agent(agent).model if agent else None
        name = self._connected.choose(session=self._chosen, agent=wanted)
        if name not in self._models:
            self._models[name] = self._connected.open(name, self._documents, self._asked())
        return self._models[name]

    def _asked(self) -> Callable[[str], str] | None:
        """How the embedded model answers from the collection, when there is one."""
        knowledge = self._knowledge
        if knowledge is None:
            return None
        return lambda question: answer_text(answer_question(knowledge, question, session=self.session))

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
        )

    async def _ask(self, questions: tuple[Question, ...]) -> Mapping[str, str]:
        if self.ask_person is None:
            raise UserError("nobody is there to ask", hint="decide yourself, and say what you assumed")
        return await self.ask_person(questions)

    def _run_summary(self, nonce: str) -> str:
        """What every prompt is told of the session's run, made anew from the log."""
        facts = run_facts(
            self._session.state,
            self._session.folder.read_or_none,
            folder=str(self.folder),
            price=self._home.price,
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


@asynccontextmanager
async def open_talk(
    home: Home, open_session: Callable[[], Session], ask: TalkAsk, surroundings: Mapping[str, str]
) -> AsyncIterator[OpenTalk]:
    session = await home.off_loop(open_session)
    with ExitStack() as folders:
        folders.callback(session.close)
        talk = OpenTalk(home, session, ask, folders, surroundings)
        await talk.begin()
        beside = [asyncio.create_task(talk.keep_tally()), asyncio.create_task(talk.follow_runtime())]
        try:
            with Watchdog(talk.blame, busy=talk.is_busy):
                async with open_door(talk.folder, talk.answer) as trouble:
                    if trouble:
                        talk.conversation.notice(trouble)
                    yield talk
        finally:
            for task in beside:
                task.cancel()
            await asyncio.wait(beside)
            await talk.close_runtime()
