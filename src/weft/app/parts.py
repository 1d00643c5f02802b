"""`Parts`: what a workspace, its models, tools and sessions are made of; wired here, and handed to what needs them.

`App` (root.py) adds the doors to it. Clock, disk, functions, models and the way to the web come in from outside.
"""

from __future__ import annotations

import itertools
import os
import secrets
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime
from decimal import Decimal
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Final, Self, TypeVar

from weft.app.fleet.shared_store import open_store
from weft.app.loop_threads import LoopThreads
from weft.app.person import parsed_folder
from weft.app.session_requests import SessionRequest, given_file
from weft.consent import ConsentRequest, Consents, NotAgreedError
from weft.files import Disk, Folder
from weft.orchestrator.execute import StepExecutor
from weft.orchestrator.facts import Versions
from weft.orchestrator.inputs import GivenInput, ReadFile
from weft.orchestrator.prepared_run import FILES_SAY, PreparedRun, PrepareRun
from weft.protocol.commands import GivenFile, StartRun
from weft.protocol.envelope import PERSON
from weft.protocol.errors import UsageError, UserError
from weft.protocol.steps import StepFunction
from weft.protocol.values import dataclass
from weft.redaction import REDACTOR
from weft.session.legacy import Legacy
from weft.session.log import Now
from weft.session.sessions import Sessions
from weft.session.state import SessionState
from weft.version import __version__
from weft.workspace.agent import Agent
from weft.workspace.inner import written_steps
from weft.workspace.pipeline import Pipeline, Step, secrets_of
from weft.workspace.workspace import Workspace

if TYPE_CHECKING:
    from weft.app.connections.model_registry import ConnectedModels
    from weft.app.connections.secrets import PersonSecrets
    from weft.app.library.step_cache import WorkspaceCache
    from weft.app.live.remote_door import Knocks
    from weft.app.sessions.catalogue import Catalogue
    from weft.app.sessions.telemetry import Telemetry
    from weft.knowledge.knowledge_base import KnowledgeBase
    from weft.models.connections import Connection
    from weft.models.limiting import ResourceLimits
    from weft.models.model import Model
    from weft.session.postgres import PostgresLog
    from weft.sources.connected_sources import Sources
    from weft.tools.fetch import Fetched
    from weft.tools.permission_file import Rules
    from weft.tools.skills import Skills
    from weft.tools.toolbox import Toolbox
    from weft.workspace.rule_entry import RuleEntry

T = TypeVar("T")
Fetch = Callable[[str], Awaitable["Fetched"]]

EMBEDDED: Final = "embedded"
DISK_THREADS: Final = 16
LOOK_THREADS: Final = 8
"""Syncs of different sessions overlap; more threads than this bring nothing on the disks it was measured on."""


@dataclass(frozen=True, slots=True)
class RegisteredFunction:
    """A function of the embedding program. A new `version` re-runs what the old one made."""

    function: StepFunction
    version: str = "1"


async def _fetch(url: str) -> Fetched:
    from weft.tools.fetch import fetch  # most commands stay off the network

    return await fetch(url)


class _StepModels:
    """Opens a model when the first step asks for it: a run of code loads nothing of it."""

    def __init__(self, parts: Parts, nonce: str) -> None:
        self.nonce = nonce
        self._parts = parts
        self._connected: ConnectedModels | None = None
        self._open: dict[str, Model] = {}

    def open(self, reference: str) -> Model:
        if reference not in self._open:
            self._connected = self._connected or self._parts.models()
            self._open[reference] = self._connected.open(reference, dict)
        return self._open[reference]

    async def aclose(self) -> None:
        self._open.clear()
        if self._connected is not None:
            await self._connected.aclose()

    def works_by_itself(self, reference: str) -> bool:
        self._connected = self._connected or self._parts.models()
        return self._connected.works_by_itself(reference)

    def price(self, reference: str, usage: Mapping[str, int]) -> Decimal | None:
        return self._parts.price(reference, usage)


class _StepTools:
    """What the tools of steps come from; read when the first step that uses some begins."""

    def __init__(self, parts: Parts, surroundings: Mapping[str, str], session: str) -> None:
        self._parts = parts
        self._surroundings = surroundings
        self._session = session
        self.workspace = parts.workspace.path
        self.attended = False

    @cached_property
    def environment(self) -> Mapping[str, str]:
        from weft.tools.processes import plain_environment

        return plain_environment(self._surroundings)

    @cached_property
    def skills(self) -> Skills:
        from weft.tools.skills import Skills

        return Skills([("workspace", self._parts.workspace.folder)])

    def toolbox(self) -> Toolbox:
        return self._parts.toolbox(user=self._session)

    def agent(self, name: str) -> Agent:
        return self._parts.workspace.agent(name)

    def rules(self) -> Rules:
        from weft.tools.processes import shield_environment

        shield_environment()
        return self._parts.rules()


def _knocks(shared: PostgresLog) -> Knocks:
    from weft.app.live.remote_door import Knocks  # most workspaces are files

    return Knocks(shared)


class Parts:
    def __init__(
        self,
        workspace: Workspace,
        now: Now,
        functions: Mapping[str, RegisteredFunction],
        fetch_page: Fetch,
        models: Mapping[str, Model],
        shared: PostgresLog | None = None,
        knocks: Knocks | None = None,
    ) -> None:
        self._prices: dict[tuple[str, tuple[tuple[str, int], ...]], Decimal | None] = {}
        self.workspace = workspace
        self.config = workspace.config()
        self._lent = shared is not None
        self.shared = shared or open_store(workspace.path, self.config)
        """The log that several machines share; None where the sessions are files here."""
        self.knocks = knocks or (_knocks(self.shared) if self.shared is not None else None)
        """The way to the doors of other machines, and from there to ours."""
        self.sessions = Sessions(workspace.folder, now, self.shared)
        self.disk_threads = LoopThreads(DISK_THREADS, "weft-disk")
        self._look_threads = LoopThreads(LOOK_THREADS, "weft-look")
        self._functions = functions
        self._fetch = fetch_page
        self._models = models
        self.queues_runs = False
        """Commands to sessions go into the queue of the shared workspace: set by a face that leaves work to others."""
        self.ask_secret: Callable[[str], str] | None = None
        """Set by a face that can ask for what opens the credential store."""
        self._now = now
        self._names: Callable[[], str] = lambda: secrets.token_hex(8)
        self.surroundings: Mapping[str, str] = {**os.environ}
        self._sources: Sources | None = None
        REDACTOR.learn_environment(self.surroundings)

    @classmethod
    def open(
        cls,
        path: Path,
        *,
        disk: Disk | None = None,
        now: Now | None = None,
        functions: Mapping[str, RegisteredFunction] | None = None,
        fetch_page: Fetch | None = None,
        models: Mapping[str, Model] | None = None,
        shared: PostgresLog | None = None,
        knocks: Knocks | None = None,
    ) -> Self:
        """`shared`: the shared log, whatever config.toml says of it; `knocks`: the way to doors over it."""
        workspace = Workspace.open(path, disk, parsed_folder({**os.environ}))
        clock = now or (lambda: datetime.now(UTC))
        try:
            app = cls(workspace, clock, functions or {}, fetch_page or _fetch, models or {}, shared, knocks)
        except BaseException:
            workspace.close()
            raise
        if disk is None:
            workspace.folder.disk.sync = app.config.durable
        return app

    def clock(self) -> float:
        """The moment it is, in seconds since 1970."""
        return self._now().timestamp()

    def close(self) -> None:
        self._look_threads.close()
        self.disk_threads.close()
        if "catalogue" in self.__dict__:
            self.catalogue.close()
        if self.shared is not None and not self._lent:
            self.shared.close()
        if (telemetry := self.__dict__.get("telemetry")) is not None:
            telemetry.close()
        self.workspace.folder.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def read_config(self) -> None:
        """What begins now goes by what config.toml says now: a server is open for weeks."""
        self.config = self.workspace.config()

    @property
    def default_model(self) -> str:
        """Of steps whose agent names none: the workspace's, else the environment's, else the embedded one."""
        said = self.config.model if self.config.model != EMBEDDED else self.surroundings.get("WEFT_MODEL") or EMBEDDED
        return self.config.roles.by_name().get(said, said)

    @property
    def has_no_model(self) -> bool:
        """Nothing is connected and nothing is meant but the embedded one."""
        return not self.config.models and not self._models and self.default_model == EMBEDDED

    @cached_property
    def catalogue(self) -> Catalogue:
        """All sessions at a glance."""
        from weft.app.sessions.catalogue import Catalogue, shared_listings

        listings = shared_listings(self.shared)
        return Catalogue(self.sessions, self.workspace.path, lambda call: self.models().price(call), listings)

    @cached_property
    def telemetry(self) -> Telemetry | None:
        """None unless the person wants it."""
        if not self.config.telemetry:
            return None
        from weft.app.sessions.telemetry import exporting

        return exporting(self.price)

    @cached_property
    def resource_limits(self) -> ResourceLimits:
        from weft.models.limiting import ResourceLimits

        if self.shared is None:
            return ResourceLimits(self.workspace.path, self.config.limits)
        from weft.session.postgres_uses import PostgresUses

        return ResourceLimits(self.workspace.path, self.config.limits, shared=PostgresUses(self.shared))

    @cached_property
    def step_cache(self) -> WorkspaceCache | None:
        """What other sessions made of the same inputs; None when the workspace wants none of it."""
        from weft.app.library.step_cache import WorkspaceCache

        return WorkspaceCache(self.workspace.path, self.sessions) if self.config.cache else None

    def step_models(self) -> _StepModels:
        return _StepModels(self, self.new_name())

    def step_tools(self, session: str) -> _StepTools:
        return _StepTools(self, self.surroundings, session)

    @property
    def own(self) -> Path:
        """The person's own folder, for all their workspaces."""
        from weft.app.person import own_folder

        return own_folder(self.surroundings)

    def rules(self) -> Rules:
        """The permission rules that hold: of the app, the workspace, and every source."""
        from weft.tools.permission_file import Rules, read_rules

        rules, request = read_rules(self.workspace.folder, self.own), self._rules_request()
        if request is None or self.consents.is_agreed(request):
            return rules
        # what a folder allows that nobody agreed to is asked about; what it denies holds all the same
        return Rules(tuple(rule for rule in rules.rules if rule.verb != "allow" or rule.file not in request.parts))

    def sources(self) -> Sources:
        """The sources of this workspace and person, with one connection to each for all sessions here."""
        if self._sources is None:
            from weft.app.connections.model_registry import credential_store
            from weft.sources.connected_sources import Sources
            from weft.sources.declared_sources import Source
            from weft.sources.source_consent import consent_request

            agreed: dict[str, tuple[object, object]] = {}
            """What was found agreed to, with the record it was found in: asked again when either is another."""

            def not_agreed(source: Source) -> str:
                request, book = consent_request(source), self.consents.book()
                known = agreed.get(source.slug)
                if known is not None and known[0] == request and known[1] is book:
                    return ""
                try:
                    self.consents.check(request)
                except NotAgreedError as error:
                    return f"{error.message}; {error.hint}"
                agreed[source.slug] = (request, book)
                return ""

            self._sources = Sources(
                workspace=self.workspace.folder,
                own=self.own,
                surroundings=self.surroundings,
                store=lambda: credential_store(self.surroundings, self.ask_secret),
                now=self._now,
                consent=not_agreed,
                using=self.resource_limits.using,
            )
        return self._sources

    @property
    def sources_version(self) -> int:
        """Another number whenever what sources offer may be another."""
        return self._sources.version if self._sources is not None else 0

    async def release_sources(self, user: str) -> None:
        """Whatever only this user used of sources is ended."""
        if self._sources is not None:
            await self._sources.release(user)

    def price(self, reference: str, usage: Mapping[str, int]) -> Decimal | None:
        """US dollars as prices are now; None when they are not known. Screens ask for the same again and again."""
        asked = (reference, tuple(sorted(usage.items())))
        if asked not in self._prices:
            from weft.models.spending import ModelCall, usage_of

            call = ModelCall(at="", model=reference, usage=usage_of(usage))
            self._prices[asked] = self.models().price(call).amount
        return self._prices[asked]

    @contextmanager
    def lent(self, models: Mapping[str, Model]) -> Iterator[None]:
        """While this is open, these models can be named too."""
        before, self._models = self._models, {**self._models, **models}
        try:
            yield
        finally:
            self._models = before

    def models(self) -> ConnectedModels:
        from weft.app.connections.model_registry import ConnectedModels
        from weft.models.connections import consent_request

        def agreed(connection: Connection) -> None:
            self.consents.check(consent_request(connection, self._place))

        return ConnectedModels(
            self.config, self.surroundings, self._models, self.ask_secret, agreed=agreed, limits=self.resource_limits
        )

    @cached_property
    def secrets(self) -> PersonSecrets:
        from weft.app.connections.secrets import person_secrets

        return person_secrets(self.surroundings, self.ask_secret)

    # -- what the person agreed to

    @cached_property
    def consents(self) -> Consents:
        from weft.app.person import person_consents

        return person_consents(self.surroundings)

    def not_agreed(self) -> list[ConsentRequest]:
        """What this workspace brings that would run or be reached, and that nobody agreed to yet."""
        found: list[ConsentRequest | None] = [self._code_request(), self._rules_request()]
        if self.config.models:
            from weft.models.connections import connections, consent_request

            models = connections(self.config.models, {}).values()
            found += [consent_request(one, self._place) for one in models]
        if self.may_have_sources(Path.cwd()):
            from weft.sources.source_consent import consent_request as source_request

            found += [source_request(one) for one in self.sources().declared(Path.cwd()).sources.values()]
        found += self._step_requests()
        return [one for one in found if one is not None and one.parts and not self.consents.is_agreed(one)]

    def hooks_not_agreed(self, working: Path) -> list[ConsentRequest]:
        """The hooks that a conversation in this folder would have, and that nobody agreed to yet."""
        from weft.app.live.hooks import hook_requests  # with it comes what runs commands

        with Folder.open(working) as folder:
            return [one for one in hook_requests([self.workspace.folder, folder]) if not self.consents.is_agreed(one)]

    def _step_requests(self) -> list[ConsentRequest | None]:
        """Of pipelines whose text may have such steps; secrets that parameters name are known when a run begins."""
        found: list[ConsentRequest | None] = []
        for name in self.workspace.pipeline_names():
            text = self.workspace.folder.read_or_none(f"pipelines/{name}.yaml") or b""
            if any(word in text for word in (b"network", b"secrets", b"allow", b"pipeline:")):
                if self.workspace.check_pipeline(name):
                    continue
                pipeline = self.workspace.pipeline(name)
                found += [self._step_request(name, step, step.secrets) for step in written_steps(pipeline).values()]
                found.append(self._allowing(pipeline))
        return found

    def check_code(self) -> None:
        """NotAgreedError when the code of this workspace is not what was agreed to."""
        self.consents.check(self._code_request())

    def check_code_of(self, prepared: PreparedRun) -> None:
        """The same, before anything is recorded of a run that would need it."""
        codes = {material.code for material in prepared.facts.materials.values()}
        steps = written_steps(prepared.pipeline).values()
        codes |= {step.code for step in steps if step.code}
        codes |= {call.name for step in steps for _, call in step.checks if ":" in call.name}
        if codes - self._functions.keys() - {""}:
            self.check_code()
        self.consents.check(self._allowing(prepared.pipeline))
        for step in steps:
            names = secrets_of(prepared.pipeline, step, prepared.parameters)
            self.consents.check(self._step_request(prepared.pipeline.name, step, names))
            for name in names:
                self.secrets.get(name)  # what is not there, or locked, is said before anything is recorded

    def _step_request(self, pipeline: str, step: Step, secrets: Sequence[str]) -> ConsentRequest | None:
        """For code that is given secrets or the network: which, and what code exactly."""
        if not step.code or not (secrets or step.network):
            return None
        return self._given_request(f"{pipeline}/{step.name}", step.code, secrets, step.network)

    def _check_given(self, code: str, secrets: Sequence[str], hosts: Sequence[str]) -> Mapping[str, str]:
        """The files of the code that was agreed to have these, each with its hash."""
        files = self.workspace.code_files()
        self.consents.check(self._given_request(code, code, secrets, hosts))
        if self.workspace.code_files() != files:
            raise UserError("the code was changed while it was looked at", hint="run it again")
        return files

    def _given_request(self, subject: str, code: str, secrets: Sequence[str], hosts: Sequence[str]) -> ConsentRequest:
        parts = {"code": f"{code} {self.workspace.code_version(code.partition(':')[0])}"}
        parts |= {f"secret {name}": "given to it" for name in secrets}
        parts |= {f"host {name}": "may be reached" for name in hosts}
        return ConsentRequest(kind="step", subject=subject, folder=self._place, parts=parts)

    def _allowing(self, pipeline: Pipeline) -> ConsentRequest | None:
        """For a pipeline whose steps allow their tools something unasked."""
        if not any(step.scope.allow for step in written_steps(pipeline).values()):
            return None
        return ConsentRequest(kind="rules", subject=self._place, folder=self._place, parts=pipeline.files)

    def rules_not_used(self) -> str:
        """In words, that files allow something which nobody agreed to; "" when there is no such thing."""
        request = self._rules_request()
        if request is None or self.consents.is_agreed(request):
            return ""
        if request.hash in self.consents.in_advance:
            self.consents.check(request)
            return ""
        return f"what {', '.join(request.parts)} allows is asked about: nobody agreed to it (--trust {request.hash})"

    def allow_from_now_on(self, rule: RuleEntry) -> None:
        """One rule more in the workspace's permission file; what was agreed to before stays agreed to."""
        from weft.tools.permission_file import FILE, with_allowed

        agreed = not self.rules_not_used()
        text = (self.workspace.folder.read_or_none(FILE) or b"").decode()
        self.workspace.folder.replace(FILE, with_allowed(text, rule).encode())
        if agreed:
            self.agree_to_rules()

    def agree_to_rules(self) -> None:
        """What the permission files allow now was written at the person's word."""
        self.consents.agree(self._rules_request(), "by command")

    def _rules_request(self) -> ConsentRequest | None:
        """For the permission files of the workspace that allow something; None when there are none."""
        folder = self.workspace.folder
        if not folder.exists("permissions.yaml") and not folder.is_folder("sources"):
            return None
        from weft.tools.permission_file import allowing_files

        parts = allowing_files(folder)
        return ConsentRequest(kind="rules", subject=self._place, folder=self._place, parts=parts) if parts else None

    def _code_request(self) -> ConsentRequest:
        files = self.workspace.code_files()
        return ConsentRequest(kind="code", subject=self._place, folder=self._place, parts=files)

    @property
    def _place(self) -> str:
        return os.path.realpath(self.workspace.path)

    def toolbox(
        self,
        knowledge: KnowledgeBase | None = None,
        *,
        user: str = "",
        project: Path | None = None,
        switched: Mapping[str, bool] | None = None,
    ) -> Toolbox:
        """All tools there are, those of sources as they were when last reached. `user` is who would call them;
        `project` is a folder that may declare sources too; `switched` are those that are on or off for this user,
        whatever their files say."""
        from weft.tools.builtin import builtin_tools
        from weft.tools.toolbox import Toolbox

        tools = [*builtin_tools()]
        if knowledge is not None:
            from weft.knowledge.collection_tools import conversation_tools

            tools += conversation_tools(knowledge)
        if not self.may_have_sources(project):
            return Toolbox(tools)
        offered, notes = self.sources().offer(user, project, switched or {})
        return Toolbox([*tools, *offered], notes)

    def may_have_sources(self, project: Path | None = None) -> bool:
        """Who has none does not load what reaches them."""
        places = [self.workspace.path / "sources", self.own / "sources"]
        return any(place.is_dir() for place in places) or (project is not None and (project / ".mcp.json").is_file())

    def knowledge(self, named: str | None) -> KnowledgeBase | None:
        """The collection that is named, else the workspace's own choice; None when there is neither."""
        chosen = named or self.config.kb
        if not chosen:
            return None
        from weft.knowledge.knowledge_base import open_collection

        opened = open_collection(self.workspace.folder, chosen)
        if self.may_have_sources():
            from weft.app.connections.web_searches import web_search_of

            opened.web = web_search_of(self.sources())
        return opened

    def fork(self, session: str, *, at: int | None = None, name: str | None = None) -> str:
        """A new session with everything that another had up to an event (or has now); its name. What was open then is
        settled as interrupted: nothing outside is done twice. A gate stays open, and can be answered otherwise."""
        from weft.conversation.decide import decide  # few need it
        from weft.conversation.state import evolve, fold
        from weft.protocol.conversation_commands import InterruptApproval
        from weft.protocol.conversation_events import MAIN

        names = (f"{session[:70]}-fork{f'-{n}' if n > 1 else ''}" for n in itertools.count(1))
        name = name or next(free for free in names if not self.sessions.exists(free))
        self.sessions.fork(session, name, at)
        with self.sessions.open(name) as forked:
            talk = fold(MAIN, forked.records())
            open_calls = [
                InterruptApproval(conversation=one.conversation, call=call, reason="forked")
                for one in talk.talks.values()
                for call, asked in (one.turn.calls.items() if one.turn else ())
                if asked.phase == "asked"
            ]
            for command in open_calls:
                events = decide(talk, command)
                forked.record(events, by=PERSON)
                for event in events:
                    evolve(talk, event)
        return name

    def new_name(self) -> str:
        return self._names()

    def executor(self) -> StepExecutor:
        functions = {name: entry.function for name, entry in self._functions.items()}
        return StepExecutor(
            self.workspace.path / "code",
            self.surroundings,
            functions,
            may_run=self.check_code,
            may_give=self._check_given,
            secret=lambda name: self.secrets.get(name),
        )

    def moment(self) -> datetime:
        return self._now()

    async def off_loop(self, work: Callable[[], T]) -> T:
        """What may take long: opening, planning, reading."""
        return await self._look_threads.run(work)

    async def kept(self, work: Callable[[], T]) -> T:
        """A write to a log: it waits for no other session's opening and reading, so that an interrupt does not."""
        return await self.disk_threads.run(work)

    def preparation(
        self,
        pipeline: Pipeline,
        session: str,
        state: SessionState,
        read: ReadFile,
        given: Mapping[str, GivenInput],
        wish: StartRun,
        legacy: Legacy | None,
        versions: Versions | None = None,
    ) -> PrepareRun:
        if wish.model and wish.model != FILES_SAY:
            wish = replace(wish, model=self.models().choose(session=wish.model))  # what is not connected is said first
        return PrepareRun(
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
            roles=self.config.roles.by_name(),
            registered={name: entry.version for name, entry in self._functions.items()},
            toolbox=self.toolbox,
            versions=versions,
        )

    def given(self, pipeline: Pipeline, request: SessionRequest) -> dict[str, GivenInput]:
        """The bytes of every file the person named."""
        named: dict[str, tuple[Path | GivenFile, ...]] = {name: (path,) for name, path in request.inputs.items()}
        if request.file is not None:
            first = next(iter(pipeline.inputs), None)
            if first is None:
                raise UsageError(f"the pipeline {pipeline.name} takes no file", hint=f"weft run {pipeline.name}")
            named[first] = (request.file, *request.together)
        return {name: GivenInput(tuple(given_file(file) for file in files)) for name, files in named.items()}
