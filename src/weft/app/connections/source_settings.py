"""Sources as a person sets them up: add, list, test, switch, sign in, remove. What `weft sources` and the server show.

Values in and out are plain, so that a face only prints them. What is tested, listed and judged is what a conversation
gets: everything goes through the same `Sources`.
"""

from __future__ import annotations

import asyncio
import json
import re
import shutil
import tomllib
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import field, replace
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any, Final, Literal, cast

from weft.app.connections.secrets import person_secrets
from weft.app.parts import Parts
from weft.app.root import App
from weft.app.sessions.session_work import open_questions
from weft.files import Folder
from weft.protocol.commands import Accepted, ReplyToGate
from weft.protocol.conversation_commands import DecideApproval
from weft.protocol.conversation_events import ApprovalRequested
from weft.protocol.envelope import Actor
from weft.protocol.errors import UsageError, UserError, WorkspaceError
from weft.protocol.events import GateOpened
from weft.protocol.gates import sign_in_slug
from weft.protocol.values import dataclass
from weft.session.index import Filter
from weft.sources.config import FILE, GUIDE, McpConfig, check_config, slug_fault
from weft.sources.declared_sources import FOLDER, Source
from weft.sources.grants import Grant
from weft.sources.http_client import open_client
from weft.sources.importing import (
    LAUNCHERS,
    ImportedSource,
    address_source,
    command_source,
    headers_apart,
    imported,
    read_json,
    slug_of,
)
from weft.sources.listing import Reached
from weft.sources.openapi import addresses, sign_in_of
from weft.sources.sign_in import SignInAsking, sign_in
from weft.sources.source_consent import consent_request
from weft.sources.source_tools import offered_tools
from weft.tools.boundary import boundary_here
from weft.tools.toolbox import Toolbox
from weft.workspace.document import MarkedDocument, read_source
from weft.workspace.yaml_document import parse_yaml

if TYPE_CHECKING:
    from weft.sources.connected_sources import Sources
    from weft.sources.mcp_connection import McpConnection

COMMAND_USER: Final = "a command"
REMOVED: Final = ".removed"
MOST_WAITING: Final = 1000
"""Sessions that are looked at for calls that wait."""
_SPEC_LIMIT: Final = 16 * 2**20
_PROGRAMS: Final = (".py", ".js", ".mjs", ".cjs", ".ts", ".jar", ".sh", ".rb")
_DOCUMENT_SECONDS: Final = 60.0
_DOCUMENT_ADDRESS: Final = re.compile(r"https?://.*(\.(json|ya?ml)|/api-docs|/openapi|/swagger)\Z")
_CONFIGURATIONS: Final = (".json", ".jsonc", ".yaml", ".yml", ".toml")
_INTERPRETERS: Final = re.compile(r"(node|deno|bun|python|python3(\.\d+)?|ruby|php|java|bash|sh|perl|Rscript|dotnet)\Z")
_TELLS_NOTHING: Final = ("stdio", "run", "exec", "tool", "x", "dlx", "start", "serve", "server", "mcp")


@dataclass(frozen=True, slots=True, kw_only=True)
class AddRequest:
    """What a person says of a source they add."""

    words: Sequence[str]
    """An address, a file, a folder, or the words of a command."""
    slug: str = ""
    kind: str = ""
    """api or search, where an address could be either."""
    provider: str = ""
    sse: bool = False
    network: bool = False
    hosts: Sequence[str] = ()
    read: Sequence[str] = ()
    write: Sequence[str] = ()
    env: Mapping[str, str] = field(default_factory=dict)
    headers: Mapping[str, str] = field(default_factory=dict)
    auth: str = ""
    secret: str = ""
    description: str = ""
    only: Sequence[str] = ()
    """Of a file with several: these."""
    address: str = ""
    """Where an API is whose document does not say it."""
    document: bytes = b""
    """The OpenAPI document that the address in `words` leads to; see `SourceSettings.with_document`."""


class SourceSettings:
    def __init__(self, parts: Parts, project: Path | None = None) -> None:
        self._parts = parts
        self._project = project

    @property
    def sources(self) -> Sources:
        return self._parts.sources()

    def one(self, slug: str) -> Source:
        return self.sources.one(slug, self._project)

    # -- adding

    async def with_document(self, request: AddRequest) -> AddRequest:
        """The request with what its address leads to, when that looks like an OpenAPI document."""
        url = request.words[0]
        if len(request.words) > 1 or not _DOCUMENT_ADDRESS.match(url):
            return request
        async with open_client(url, faults_as_answers=False) as client, asyncio.timeout(_DOCUMENT_SECONDS):
            response = await client.get(url)
        if response.status_code != 200:
            raise UserError(f"{url} answered with status {response.status_code}", hint="give its document as a file")
        return replace(request, document=response.content)

    def to_add(self, request: AddRequest) -> list[ImportedSource]:
        """The sources that are meant, each checked. UsageError when nothing is."""
        found = [self._with_options(one, request) for one in _meant(request)]
        if request.only:
            found = [one for one in found if one.slug in request.only]
        if not found:
            raise UsageError(
                "there is no source in that", hint="give an address, a file, a folder, or -- and a command"
            )
        if request.slug and len(found) > 1:
            raise UsageError(f"there are {len(found)} sources in that, and one name", hint="choose one with --only")
        for one in found:
            slug = request.slug or one.slug
            if fault := slug_fault(slug):
                raise UsageError(fault)
            checked = check_config(MarkedDocument(f"{FOLDER}/{slug}/{FILE}", one.config))
            if checked.problems:
                raise WorkspaceError(checked.problems)
        return [replace(one, slug=request.slug or one.slug) for one in found]

    def _with_options(self, one: ImportedSource, request: AddRequest) -> ImportedSource:
        config = dict(one.config)
        if config["kind"] == "mcp" and "command" in config:
            config["network"] = (bool(config.get("network")) or request.network) and not request.hosts
            given_paths = {"read": _whole_paths(request.read), "write": _whole_paths(request.write)}
            for key, more in {"hosts": request.hosts, **given_paths}.items():
                if more or config.get(key):
                    config[key] = [*config.get(key, ()), *more]
            if request.env:
                given = command_source(request.slug or one.slug, config["command"], (), request.env)
                config["env"] = {**config.get("env", {}), **given.config["env"]}
                one = replace(one, secrets={**one.secrets, **given.secrets})
        elif request.headers:
            one = headers_apart(replace(one, config=config), request.headers)
            config = dict(one.config)
        if request.sse and "url" in config:
            config["transport"] = "sse"
        if request.auth:
            config["auth"] = {"type": request.auth}
        if request.secret:
            config["auth"] = {**config.get("auth", {"type": "bearer"}), "secret": request.secret}
        if request.description:
            config["description"] = request.description
        return replace(one, config=config)

    @staticmethod
    def files(request: AddRequest) -> dict[str, bytes]:
        """What goes into the source's folder with its config: an OpenAPI document."""
        name = request.words[0]
        if request.document:
            return {_document_name(request.document): request.document}
        path = Path(name).expanduser()
        if len(request.words) > 1 or not path.is_file() or path.suffix not in _CONFIGURATIONS:
            return {}
        return {_document_name(path.read_bytes()): path.read_bytes()} if _is_openapi(_parsed(path)) else {}

    def has(self, slug: str, *, mine: bool) -> bool:
        """Whether there is one of that name where it would be written."""
        top = self._parts.own if mine else self._parts.workspace.path
        return (top / FOLDER / slug / FILE).exists()

    def add(self, one: ImportedSource, *, mine: bool, replace: bool = False, files: Mapping[str, bytes]) -> Source:
        """Writes its folder: in the workspace, or in the person's own for all workspaces. Its secrets go into the
        credential store first: a source is never there without them."""
        top = self._parts.own if mine else self._parts.workspace.path
        if self.has(one.slug, mine=mine) and not replace:
            raise UserError(
                f"there is a source {one.slug} already", hint="name it otherwise with --as, or --replace it"
            )
        for name, secret in one.secrets.items():
            self.store_secret(name, secret)
        with Folder.open(top, create=True) as folder, folder.folder(f"{FOLDER}/{one.slug}", create=True) as place:
            for name, data in files.items():
                place.replace(name, data)
            if one.config.get("description") and place.read_or_none(GUIDE) is None:
                place.replace(GUIDE, f"{one.config['description']}\n".encode())
            place.replace(FILE, json.dumps(one.config, indent=2, ensure_ascii=False).encode() + b"\n")
        source = self.one(one.slug)
        self._parts.consents.agree(consent_request(source), "by command")
        return source

    def needs(self, source: Source) -> list[str]:
        """What the source reaches, in words, for whoever decides whether it may."""
        config = source.config
        if config.kind != "mcp" or config.command is None:
            return [f"reaches {config.address}"]
        held = boundary_here().strength == "strong"
        return [
            f"runs {config.address}",
            "inside the kernel boundary" if held else "with all your rights: there is no boundary here (weft doctor)",
            "with the network"
            if config.network
            else f"with the hosts {', '.join(config.hosts)}"
            if config.hosts
            else "without the network",
            *(f"may change {source.place(path)}" for path in config.write),
            *(f"may read and not change {path} (--write {folder})" for path, folder in _only_read(source, config)),
            *(f"gets the variable {name}" for name in config.env),
        ]

    def store_secret(self, name: str, secret: str) -> None:
        person_secrets(self._parts.surroundings, self._parts.ask_secret).put(name, secret)

    # -- looking

    def rows(self) -> list[dict[str, Any]]:
        declared = self.sources.declared(self._project)
        rows = [self.row(source) for source in declared.sources.values()]
        for slug, error in declared.broken.items():
            why = error.problems[0].message
            rows.append({"slug": slug, "kind": "", "state": "broken", "why": why, "tools": 0, "enabled": False})
        return sorted(rows, key=lambda row: str(row["slug"]))

    def row(self, source: Source) -> dict[str, Any]:
        reached = self.sources.kept.get(source.key)
        config = source.config
        return {
            "slug": source.slug,
            "name": source.title,
            "kind": config.kind,
            "state": reached.state,
            "why": self.sources.trouble(source) or reached.why if reached.state != "ready" else "",
            "enabled": config.enabled,
            "tools": len(self.tools(source)),
            "address": config.address,
            "declared": source.declared,
            "file": str(source.file),
            "tested": reached.at,
            "server": reached.listing.server if reached.listing else "",
            "protocol": reached.listing.protocol if reached.listing else "",
            "left_out": dict(reached.listing.left_out) if reached.listing else {},
            "prompts": [prompt.name for prompt in reached.listing.prompts] if reached.listing else [],
            "description": config.description,
        }

    def shown(self, source: Source) -> dict[str, Any]:
        """All that is known of it."""
        return {
            **self.row(source),
            "reaches": self.needs(source),
            "guide": source.guide,
            "sign_in": _sign_in_way(source),
        }

    def tools(self, source: Source) -> list[dict[str, Any]]:
        """As a model is offered them."""
        listing = self.sources.kept.get(source.key).listing
        if listing is None:
            return []

        async def never(*_: Any) -> Any:
            raise AssertionError("a listing is only shown")

        return Toolbox(offered_tools(source, listing, never)).listing()

    async def test(self, slugs: Sequence[str] = ()) -> dict[str, Reached]:
        """Really reaches them, all when none is named, and ends what was started for it."""
        declared = self.sources.declared(self._project)
        chosen = [self.one(slug) for slug in slugs] if slugs else list(declared.sources.values())
        user = f"{COMMAND_USER} {self._parts.new_name()}"
        try:
            return await self.sources.reach_all(chosen, user)
        finally:
            await self.sources.release(user)

    # -- what a server has to read

    async def resources(self, slug: str) -> list[dict[str, str]]:
        """Its resources, as it lists them now. UserError when it is no MCP server, or has none to offer."""
        async with self._server(slug) as server:
            found = await server.resources()
        return [{"uri": uri, "name": name, "description": about} for uri, name, about in found]

    async def resource(self, slug: str, uri: str) -> list[tuple[str, bytes]]:
        """The contents of one, each with its media type."""
        async with self._server(slug) as server:
            return await server.resource(uri)

    @asynccontextmanager
    async def _server(self, slug: str) -> AsyncIterator[McpConnection]:
        source = self.one(slug)
        self._parts.consents.check(consent_request(source))
        user = f"{COMMAND_USER} {self._parts.new_name()}"
        connector = self.sources.connector(source, user)
        try:
            if source.config.kind != "mcp":
                raise UserError(f"the source {slug} is no MCP server: it has no resources", hint="use its tools")
            yield cast("McpConnection", connector)
        finally:
            await self.sources.release(user)

    # -- signing in

    async def sign_in(
        self,
        slug: str,
        *,
        show: Callable[[str], None],
        secret: Callable[[str], str],
        paste: Callable[[], Awaitable[str]] | None = None,
        device: bool = False,
    ) -> Reached:
        """By OAuth where the source wants that, else with a secret that `secret` asks for. Then it is tested."""
        source = self.one(slug)
        config = source.config
        auth = None if config.kind == "folder" else config.auth
        if config.kind == "mcp" and config.command is not None:
            raise UserError(f"{slug} is a command, which signs in by itself", hint="give it what it needs under 'env'")
        self._parts.consents.check(consent_request(source))
        if auth is not None and auth.type != "oauth":
            if auth.secret:
                raise UserError(f"the secret of {slug} is {auth.secret}", hint="set it there")
            what = (
                "secret" if auth.type != "basic" else "password" if auth.user else "name and password, as NAME:PASSWORD"
            )
            typed = secret(f"{source.title}: the {what}")
            grant = Grant(secret=typed)
        else:
            if auth is None and config.kind != "mcp":
                raise UserError(f"the source {slug} needs no sign-in", hint="add 'auth' to its config if it does")
            asking = SignInAsking(show=show, paste=paste, device=device)
            now = self._parts.moment().timestamp()
            grant = await sign_in(source, self.sources.secrets(source), asking, now)
            if auth is None:
                self._change(source, auth={"type": "oauth"})
        await self._parts.off_loop(lambda: self.sources.grants.put(source.key, grant))
        return (await self.test([slug]))[slug]

    def sign_out(self, slug: str) -> bool:
        """Forgets what it is let in with. Whether there was something."""
        source = self.one(slug)
        return self.sources.grants.remove(source.key)

    # -- changing

    def switch(self, slug: str, *, on: bool) -> None:
        self._change(self._own(slug), enabled=on)

    def _change(self, source: Source, **more: Any) -> None:
        if source.declared == "project":
            return
        with Folder.open(source.folder) as folder:
            config = json.loads(read_source(folder, FILE).text) | more
            folder.replace(FILE, json.dumps(config, indent=2, ensure_ascii=False).encode() + b"\n")
        self._parts.consents.agree(consent_request(self.one(source.slug)), "by command")

    def allow(
        self, slug: str, *, network: bool, hosts: Sequence[str], read: Sequence[str], write: Sequence[str]
    ) -> Source:
        """Gives a command more of the machine. The source as it is then."""
        source = self._own(slug)
        config = source.config
        if config.kind != "mcp" or config.command is None:
            raise UserError(f"{slug} is no command: there is nothing that it could be allowed")
        more: dict[str, Any] = {"network": network or (config.network and not hosts)}
        given = {"hosts": hosts, "read": _whole_paths(read), "write": _whole_paths(write)}
        for key, values in given.items():
            found = [*getattr(config, key), *values]
            if found and not (key == "hosts" and network):
                more[key] = list(dict.fromkeys(found))
        self._change(source, **more)
        return self.one(slug)

    def remove(self, slug: str) -> Path:
        """Its folder is moved aside, and what it was let in with is forgotten. Where it is now."""
        source = self._own(slug)
        self.sources.kept.forget(source.key)
        aside = source.folder.parent / REMOVED
        number = 1
        while (aside / f"{slug}-{number}").exists():
            number += 1
        with Folder.open(source.folder.parent) as shelf, shelf.folder(REMOVED, create=True) as removed:
            shelf.move(slug, removed, f"{slug}-{number}")
        return aside / f"{slug}-{number}"

    def _own(self, slug: str) -> Source:
        source = self.one(slug)
        if source.declared == "project":
            raise UserError(f"the source {slug} is declared in {source.file}", hint="change it there")
        return source


def _only_read(source: Source, config: McpConfig) -> list[tuple[Path, Path]]:
    """What stands among its arguments and it may not change, and what it would have to change for that: the folder
    where nothing is there yet."""
    places = [Path(arg.partition("=")[2] if arg.startswith("-") else arg) for arg in config.args]
    writable = [source.place(path).resolve() for path in config.write]
    return [
        (place, place if place.exists() else place.parent)
        for place in places
        if place.is_absolute()
        and "node_modules" not in place.parts
        and place.suffix not in _PROGRAMS
        and (place.is_dir() or place.parent.is_dir())
        and not any(place.resolve().is_relative_to(one) for one in writable)
    ]


def _sign_in_way(source: Source) -> Literal["", "secret", "oauth"]:
    """How a person signs in to it; "" where there is nothing to sign in to, or the config says where its secret is."""
    config = source.config
    if config.kind == "folder" or (config.kind == "mcp" and config.command is not None):
        return ""
    if config.auth is None:
        return "oauth" if config.kind == "mcp" else ""
    if config.auth.type == "oauth":
        return "oauth"
    return "" if config.auth.secret else "secret"


# -- what waited for a sign-in


async def wake_waiting(app: App, slug: str, by: Actor) -> tuple[list[str], list[tuple[str, str]]]:
    """After a sign-in: calls and runs that waited for nothing else go on, in the sessions that some process holds.
    Their names; and of those that nobody holds the session, and the words of `weft` that go on with it."""
    went_on: list[str] = []
    left: list[tuple[str, str]] = []
    for session, asked in await app.off_loop(lambda: list(_waiting(app, slug))):
        attached = await app.attached(session)
        if attached is None:
            words = f"reply {session} proceed" if isinstance(asked, GateOpened) else f"approve {session} {asked.call}"
            left.append((session, words))
            continue
        command: ReplyToGate | DecideApproval
        if isinstance(asked, GateOpened):
            command = ReplyToGate(gate=asked.gate, choice="proceed")
        else:
            command = DecideApproval(conversation=asked.conversation, call=asked.call, decision="once")
        if isinstance(await attached.submit(command, by=by), Accepted):
            went_on.append(session)
        await attached.close()
    return went_on, left


def _waiting(app: App, slug: str) -> Iterator[tuple[str, ApprovalRequested | GateOpened]]:
    for entry in app.catalogue.page(Filter(limit=MOST_WAITING)):
        if not entry.waits:
            continue
        questions = open_questions(app, entry.id)
        gates = [one for one in questions.gates if sign_in_slug(one.message) == slug]
        yield from ((entry.id, one) for one in gates)
        if not gates:  # a run at rest holds no call that could go on by itself
            calls = (one for _, one in questions.approvals if sign_in_slug(one.reason) == slug)
            yield from ((entry.id, one) for one in calls)


# -- what is meant


def _whole_paths(paths: Sequence[str]) -> list[str]:
    """As a person in their folder means them; the config would read them from its own."""
    return [path if path.startswith("~") else str(Path(path).absolute()) for path in paths]


def _meant(request: AddRequest) -> list[ImportedSource]:
    first, more = request.words[0], list(request.words[1:])
    if request.kind == "search":
        config: dict[str, Any] = {"kind": "search", "provider": request.provider}
        if first != request.provider:
            config["url"] = first
        return [ImportedSource(slug=slug_of(request.provider), config=config)]
    if request.document:
        value = _value(first, request.document.decode("utf-8-sig", "replace"), "")
        if not _is_openapi(value):
            raise UsageError(f"{first} is no OpenAPI document", hint="an MCP server has another address")
        return [_api(first, value, request)]
    if first.startswith(("http://", "https://")) and not more:
        return [address_source(slug_of(_host_word(first)), request.kind or "mcp", first)]
    path = Path(first).expanduser()
    if path.is_dir() and not more:
        inside = path / FILE
        if inside.is_file() and (found := imported(_parsed(inside))):
            return found
        return [ImportedSource(slug=slug_of(path.name), config={"kind": "folder", "path": str(path.absolute())})]
    if path.is_file() and not more and path.suffix in _CONFIGURATIONS:
        value = _parsed(path)
        if _is_openapi(value):
            return [_api(str(path), value, request)]
        return imported(value, str(_editors_folder(path)))
    if not more and not path.exists() and shutil.which(first) is None:
        hint = "give an address, a file, a folder, or -- and a command"
        raise UsageError(f"there is no folder, file or command {first!r} here", hint=hint)
    return [command_source(slug_of(request.slug or _command_word(first, more)), first, more, {})]


def _editors_folder(path: Path) -> Path:
    """What an editor that reads this file calls the folder of its workspace."""
    above = path.absolute().parent
    return above.parent if above.name.startswith(".") and above.parent != Path.home() else above


def _is_openapi(value: Any) -> bool:
    return isinstance(value, dict) and ("openapi" in value or "swagger" in value)


def _document_name(data: bytes) -> str:
    return f"openapi{'.json' if data.lstrip().startswith(b'{') else '.yaml'}"


def _api(path: str, value: Mapping[str, Any], request: AddRequest) -> ImportedSource:
    known = [request.address] if request.address else addresses(value, path if request.document else "")
    if not known:
        raise UsageError(f"{path} does not say where its API is", hint="say it: --address https://…")
    info = value.get("info") if isinstance(value.get("info"), dict) else {}
    assert isinstance(info, dict)
    title = str(info.get("title") or PurePosixPath(path).stem)
    config: dict[str, Any] = {"kind": "api", "name": title, "url": known[0]}
    notes: tuple[str, ...] = ()
    if auth := sign_in_of(value):
        config["auth"] = auth
        notes = (f"it lets one in by {auth['type']}: weft sources sign-in {slug_of(request.slug or title)}",)
    config["openapi"] = next(iter(SourceSettings.files(request)))
    return ImportedSource(slug=slug_of(title), config=config, notes=notes)


def _parsed(path: Path) -> Any:
    if path.stat().st_size > _SPEC_LIMIT:
        raise UserError(f"{path} is too large to be a configuration")
    return _value(str(path), path.read_text(encoding="utf-8-sig", errors="replace"), path.suffix)


def _value(name: str, text: str, suffix: str) -> Any:
    if suffix in (".yaml", ".yml") or (not suffix and not text.lstrip().startswith("{")):
        return parse_yaml(name, text).value
    try:
        return tomllib.loads(text) if suffix == ".toml" else read_json(text)
    except (ValueError, RecursionError) as error:
        raise UserError(f"{name} can't be read: {error}", hint="it is to be JSON, YAML or TOML") from error


def _host_word(url: str) -> str:
    host = url.split("//", 1)[1].split("/", 1)[0].split(":")[0]
    words = [word for word in host.split(".") if word not in ("www", "mcp", "api", "com", "org", "net", "io", "dev")]
    return words[-1] if words and not host.replace(".", "").isdigit() else "source"


def _script_word(path: str) -> str:
    """What a file that an interpreter runs is best called: its package, else what is not said by every program."""
    parts = PurePosixPath(path).with_suffix("").parts
    package = parts[len(parts) - parts[::-1].index("node_modules") :] if "node_modules" in parts else ()
    if package:
        return package[1] if package[0].startswith("@") and len(package) > 1 else package[0]
    telling = [one for one in parts if one not in ("/", ".", "..", "index", "main", "server", "dist", "build", "src")]
    return telling[-1] if telling else path


def _command_word(command: str, args: Sequence[str]) -> str:
    """What a command is best called: the package that a launcher fetches, the file that an interpreter runs, else its
    own name."""
    program = PurePosixPath(command).name
    name = program
    if program in ("docker", "podman"):
        name = next((word for word in args if "/" in word and re.match(r"[a-z][\w./:-]*\Z", word)), program)
        name = name.split(":")[0]
    if program in LAUNCHERS or _INTERPRETERS.match(program):
        words = [word for word in args if word and not word.startswith("-") and word not in _TELLS_NOTHING]
        if words:
            name = _script_word(words[0]) if words[0].startswith(("/", ".", "~")) else words[0]
    bare = name.rsplit("/", 1)[-1].split("@")[0] or name
    bare = bare.split("[")[0].split("==")[0].replace("_", "-")
    bare = bare.removesuffix(".exe").removesuffix(".py").removesuffix(".js")
    return (
        bare.removeprefix("mcp-server-")
        .removeprefix("server-")
        .removeprefix("mcp-")
        .removesuffix("-mcp")
        .removesuffix("-mcp-server")
        or bare
    )
