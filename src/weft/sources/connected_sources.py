"""The sources of a process: which there are, what they offer, and one connection to each, shared by all who use it.

    tools, notes = sources.offer(user)          # from what is known: nothing is started
    reached = await sources.reach(source, user)  # really reach it, and keep what it offers
    await sources.release(user)                  # what nobody else uses is ended

A user is a session, or a command. What a source does with its connection, its failures and its restarts is its
connector's; nothing of it reaches another source.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from contextlib import AbstractAsyncContextManager, nullcontext
from dataclasses import field, replace
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import Any, Final

from weft.files import Folder
from weft.protocol.errors import UserError, WeftError
from weft.protocol.gates import needs_sign_in
from weft.protocol.values import dataclass
from weft.sources.connector import Connector, NeedsSignInError, SourceDownError
from weft.sources.declared_sources import DeclaredSources, Source, declared_sources
from weft.sources.folder_source import FolderConnector
from weft.sources.grants import Grants, KeyStore, SourceAuth
from weft.sources.http_api import ApiConnector
from weft.sources.listing import Listing, Reached, ReachedStore, SourceState
from weft.sources.mcp_connection import McpConnection, McpLine
from weft.sources.secrets import Secrets
from weft.sources.source_tools import offered_tools
from weft.sources.stdio import launch_of, what_held_it
from weft.sources.transports import HttpLine, StdioLine
from weft.sources.web_search import SearchConnector
from weft.tools.tool import Context, Outcome, Tool, failed
from weft.tools.toolbox import SourceNote
from weft.workspace.spelling import suggest

PERSON_SECRET: Final = "secret/"
"""Before the names of the person's secrets in the credential store."""
NONE_SWITCHED: Final[Mapping[str, bool]] = {}
AT_ONCE: Final = 8
"""So many sources are started at the same time."""
SHORT: Final = 300
"""Characters of an answer that may be nothing but an error."""
Consent = Callable[[Source], str]
"""Why a source may not be used yet; "" when it may."""


def _always(_: Source) -> str:
    return ""


@dataclass(slots=True)
class _Held:
    connector: Connector
    users: set[str] = field(default_factory=set)


Using = Callable[[str], AbstractAsyncContextManager[None]]
"""Waits until a source may be used, by its slug."""


def _at_will(_: str) -> AbstractAsyncContextManager[None]:
    return nullcontext()


def _held_by(source: Source, outcome: Outcome) -> str:
    """Of a call that failed, or whose short answer sounds so: what of our own may have stopped it."""
    config = source.config
    told_as_error = outcome.is_error or (len(outcome.text) < SHORT and "rror" in outcome.text)
    if config.kind != "mcp" or not told_as_error:
        return ""
    return what_held_it(config, source.slug, outcome.text)


class Sources:
    def __init__(
        self,
        *,
        workspace: Folder | None,
        own: Path,
        surroundings: Mapping[str, str],
        store: Callable[[], KeyStore],
        now: Callable[[], datetime],
        consent: Consent = _always,
        using: Using = _at_will,
    ) -> None:
        self._workspace = workspace
        self._own = own
        self._surroundings = surroundings
        self._store = store
        self._now = now
        self._consent = consent
        self._using = using
        self.kept = ReachedStore(own)
        self.grants = Grants(store, own)
        self._held: dict[str, _Held] = {}
        self._changes = 0

    @property
    def version(self) -> int:
        """Another number whenever what is offered may be another, also by what another process did."""
        return self._changes + self.kept.stamp

    # -- what there is

    def declared(self, project: Path | None = None) -> DeclaredSources:
        return declared_sources(self._workspace, self._own, project)

    def one(self, slug: str, project: Path | None = None) -> Source:
        """UserError when there is none of that name, WorkspaceError when it is broken."""
        found = self.declared(project)
        if slug in found.broken:
            raise found.broken[slug]
        if slug not in found.sources:
            raise UserError(f"there is no source '{slug}'", hint=suggest(slug, found.sources, "sources"))
        return found.sources[slug]

    def trouble(self, source: Source) -> str:
        """Why its tools can't be used before something is done; "" when they can."""
        if why := self._consent(source):
            return why
        reached = self.kept.get(source.key)
        if reached.state == "needs sign-in":
            return f"it needs sign-in: weft sources sign-in {source.slug}"
        if reached.listing is None:
            why = " ".join(reached.why.split()) or "it was never reached"
            return f"{why}; to reach it: weft sources test {source.slug}"
        return ""

    def offer(
        self, user: str, project: Path | None = None, switched: Mapping[str, bool] = NONE_SWITCHED
    ) -> tuple[list[Tool], dict[str, SourceNote]]:
        """The tools of every source as far as they are known, and what is to be said of each source. `switched`: those
        that are on or off for this user, whatever their files say."""
        declared = self.declared(project)
        tools: list[Tool] = []
        notes: dict[str, SourceNote] = {}
        for slug, source in declared.sources.items():
            trouble = self.trouble(source)
            listing = self.kept.get(source.key).listing
            if listing is not None and not self._consent(source):
                waits_for = partial(self.sign_in_needed, source)
                tools += offered_tools(source, listing, self._calls(user), waits_for)
            enabled = switched.get(slug, source.config.enabled)
            notes[slug] = SourceNote(enabled=enabled, guide=source.guide, trouble=trouble)
        for slug, error in declared.broken.items():
            notes[slug] = SourceNote(enabled=True, guide="", trouble=error.problems[0].message)
        return tools, notes

    def sign_in_needed(self, source: Source) -> str:
        """What a call of one of its tools waits for; "" when somebody has signed in, here or in another process."""
        if self.kept.get(source.key).state == "needs sign-in":
            return needs_sign_in(source.slug)
        return ""

    def _calls(self, user: str) -> Callable[..., Any]:
        async def call(source: Source, tool: str, given: Mapping[str, Any], context: Context) -> Outcome:
            return await self.call(source, tool, given, context, user)

        return call

    # -- reaching them

    async def call(self, source: Source, tool: str, given: Mapping[str, Any], context: Context, user: str) -> Outcome:
        """To the end of the call: an outcome in words, whatever the source does."""
        if why := self._consent(source):
            return failed(f"the source {source.slug} may not be used: {why}")
        try:
            async with self._using(source.slug):
                outcome = await self.connector(source, user).call(tool, given, context)
        except NeedsSignInError as error:
            self._note(source, "needs sign-in", error.message)
            outcome = failed(f"{error}. Call it again if you need it: that call waits until the person has signed in")
        except WeftError as error:
            sent = isinstance(error, SourceDownError) and error.sent
            outcome = failed(str(error), effect="unknown" if sent else "none")
        if held := _held_by(source, outcome):
            outcome = replace(outcome, text=f"{outcome.text}\n[{held}]", summary=outcome.summary or held)
        # the words of a failure may be the source's own: they are from outside too
        return outcome if outcome.outside else replace(outcome, outside=(f"the source {source.slug}",))

    async def resource(self, source: Source, uri: str, user: str) -> list[tuple[str, bytes]]:
        """The contents of a resource of an MCP server, each with its media type. UserError or SourceDownError in
        words."""
        if why := self._consent(source):
            raise UserError(f"the source {source.slug} may not be used: {why}")
        connector = self.connector(source, user)
        if not isinstance(connector, McpConnection):
            raise UserError(f"the source {source.slug} is no MCP server: it has no resources", hint="use its tools")
        async with self._using(source.slug):
            return await connector.resource(uri)

    async def reach(self, source: Source, user: str) -> Reached:
        """Reaches it and keeps what it offers; never raises for what the source does."""
        if why := self._consent(source):
            return Reached(state="failed", why=why)
        try:
            listing = await self.connector(source, user).listing()
        except NeedsSignInError as error:
            return self._note(source, "needs sign-in", error.message)
        except WeftError as error:
            config = source.config
            held = what_held_it(config, source.slug, str(error)) if config.kind == "mcp" else ""
            return self._note(source, "failed", f"{error}. {held}" if held else str(error))
        return self._take(source, listing)

    async def reach_all(self, sources: list[Source], user: str) -> dict[str, Reached]:
        """Side by side, a few at a time."""
        places = asyncio.Semaphore(AT_ONCE)

        async def one(source: Source) -> tuple[str, Reached]:
            async with places:
                return source.slug, await self.reach(source, user)

        return dict(await asyncio.gather(*(one(source) for source in sources)))

    def unknown(self, project: Path | None = None, switched: Mapping[str, bool] = NONE_SWITCHED) -> list[Source]:
        """Those that are on and were never reached: nobody knows their tools."""
        found = self.declared(project).sources.values()
        return [
            one
            for one in found
            if switched.get(one.slug, one.config.enabled)
            and self.kept.get(one.key).listing is None
            and not self._consent(one)
        ]

    def _take(self, source: Source, listing: Listing) -> Reached:
        before = self.kept.get(source.key)
        reached = Reached(state="ready", at=self._now().isoformat(timespec="seconds"), listing=listing)
        if before.listing != listing or before.state != "ready":
            self._changes += 1
        self.kept.put(source.key, reached)
        return reached

    def _note(self, source: Source, state: SourceState, why: str) -> Reached:
        before = self.kept.get(source.key)
        reached = replace(before, state=state, why=why, at=self._now().isoformat(timespec="seconds"))
        if before.state != state:
            self._changes += 1
        if state == "needs sign-in":
            self.grants.forget(source.key)
        self.kept.put(source.key, reached)
        return reached

    def connector(self, source: Source, user: str) -> Connector:
        """The one connection to it, which this user uses from now on."""
        if source.key not in self._held:
            self._held[source.key] = _Held(self._connect(source))
        held = self._held[source.key]
        held.users.add(user)
        return held.connector

    async def release(self, user: str) -> None:
        """Nothing of a source is left that only this user used."""
        for key, held in list(self._held.items()):
            held.users.discard(user)
            if not held.users:
                del self._held[key]
                await held.connector.close()

    # -- how each kind is reached

    def secrets(self, source: Source | None = None) -> Secrets:
        given = source.given if source is not None else {}

        def stored(name: str) -> str | None:
            return given.get(name) or self._store().get(f"{PERSON_SECRET}{name}")

        return Secrets(self._surroundings, stored)

    def auth(self, source: Source) -> SourceAuth | None:
        config = source.config
        auth = None if config.kind == "folder" else config.auth
        if auth is None:
            return None
        return SourceAuth(source.slug, source.key, config.address, auth, self.secrets(source), self.grants)

    def _connect(self, source: Source) -> Connector:
        config = source.config
        match config.kind:
            case "folder":
                return FolderConnector(source)
            case "search":
                return SearchConnector(source, self.secrets(source), self.grants)
            case "api":
                return ApiConnector(source, self.secrets(source), self.auth(source))

        def repeatable(tool: str) -> bool:
            choice = config.tools.get(tool)
            if choice is not None and choice.repeatable is not None:
                return choice.repeatable
            listing = self.kept.get(source.key).listing
            return listing is not None and any(one.name == tool and one.repeatable for one in listing.tools)

        def changed(found: Listing) -> None:
            self._take(source, found)

        return McpConnection(
            source.slug,
            lambda: self._line(source),
            seconds=config.timeout,
            repeatable=repeatable,
            changed=changed,
        )

    def _line(self, source: Source) -> McpLine:
        config = source.config
        assert config.kind == "mcp"
        secrets = self.secrets(source)
        if config.url is None:
            return StdioLine(launch_of(source, self._surroundings, secrets))
        headers = secrets.values(config.headers)
        url = secrets.value(config.url)
        guessed = "transport" not in config.model_fields_set
        return HttpLine(url, headers=headers, auth=self.auth(source), sse=config.transport == "sse", guessed=guessed)
