"""Sources as other programs write them: `.mcp.json`, Claude, Cursor, Windsurf, VS Code, Zed, Craft. Pure.

What is a secret by its name is not copied into a config: it is handed back beside it, for the credential store. What a
launcher that downloads programs needs of the machine (network, its cache) is said in the config, so that it is seen.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import field
from typing import Any, Final

from weft.protocol.values import dataclass
from weft.sources.config import SLUG_LENGTH, slug_fault
from weft.sources.secrets import names_secret, refers

_SERVERS: Final = ("mcpServers", "servers", "context_servers")
LAUNCHERS: Final[Mapping[str, tuple[str, ...]]] = {
    "npx": ("~/.npm",),
    "bunx": ("~/.bun",),
    "pnpm": ("~/.local/share/pnpm", "~/.cache/pnpm"),
    "uvx": ("~/.cache/uv", "~/.local/share/uv"),
    "uv": ("~/.cache/uv", "~/.local/share/uv"),
    "pipx": ("~/.cache/pipx", "~/.local/share/pipx", "~/.local/state/pipx"),
    "deno": ("~/.cache/deno",),
}
"""Programs that fetch what they run, and where they keep it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportedSource:
    slug: str
    config: dict[str, Any]
    secrets: Mapping[str, str] = field(default_factory=dict, repr=False)
    """By the names that the config refers to: to be put into the credential store."""
    notes: tuple[str, ...] = ()


def imported(value: Any) -> list[ImportedSource]:
    """Every source in a parsed configuration of any known form; [] when it is none."""
    found: dict[str, ImportedSource] = {}
    for name, entry in _entries(value):
        one = _one(name, entry)
        if one is not None:
            found.setdefault(one.slug, one)
    return list(found.values())


def slug_of(name: str) -> str:
    """The slug that a name makes; "source" when nothing of it can stay."""
    words = re.sub(r"[^a-z0-9]+", "-", name.lower()).lstrip("-0123456789")[:SLUG_LENGTH].strip("-")
    return words if words and not slug_fault(words) else "source"


def _entries(value: Any) -> Iterator[tuple[str, Mapping[str, Any]]]:
    if not isinstance(value, Mapping):
        return
    if isinstance(value.get("mcp"), Mapping) and isinstance(value["mcp"].get("servers"), Mapping):
        value = value["mcp"]  # the settings of VS Code
    for word in _SERVERS:
        servers = value.get(word)
        if isinstance(servers, Mapping):
            yield from ((str(name), entry) for name, entry in servers.items() if isinstance(entry, Mapping))
    if value.get("type") in ("mcp", "api", "local") and isinstance(value.get("slug") or value.get("name"), str):
        yield str(value.get("slug") or value["name"]), value
    projects = value.get("projects")
    if isinstance(projects, Mapping):
        for project in projects.values():
            yield from _entries(project)


def _one(name: str, entry: Mapping[str, Any]) -> ImportedSource | None:
    slug = slug_of(name)
    made = _Making(slug, name)
    if entry.get("disabled") is True or entry.get("enabled") is False:
        made.config["enabled"] = False
    if isinstance(entry.get("tagline") or entry.get("description"), str):
        made.config["description"] = str(entry.get("tagline") or entry["description"])
    kind = entry.get("type")
    if kind == "api" and isinstance(entry.get("api"), Mapping):
        return made.api(entry["api"])
    if kind == "local" and isinstance(_mapping(entry.get("local")).get("path"), str):
        made.config |= {"kind": "folder", "path": entry["local"]["path"]}
        return made.done()
    if kind == "mcp" and isinstance(entry.get("mcp"), Mapping):
        inner = _mapping(entry["mcp"])
        entry = {**inner, "type": inner.get("transport", "http")}
    return made.mcp(entry)


class _Making:
    def __init__(self, slug: str, name: str) -> None:
        self._slug = slug
        self.config: dict[str, Any] = {}
        self._secrets: dict[str, str] = {}
        self._notes: list[str] = []
        if name != slug:
            self.config["name"] = name

    def done(self) -> ImportedSource:
        config = {"kind": self.config["kind"], **self.config}
        return ImportedSource(slug=self._slug, config=config, secrets=self._secrets, notes=tuple(self._notes))

    def mcp(self, entry: Mapping[str, Any]) -> ImportedSource | None:
        self.config["kind"] = "mcp"
        command, args = entry.get("command"), entry.get("args", [])
        if isinstance(command, Mapping):  # as Zed has it
            whole = command
            command, args = whole.get("path"), whole.get("args", [])
        if isinstance(command, list) and command:
            command, args = command[0], command[1:]
        url = entry.get("url") or entry.get("serverUrl") or entry.get("httpUrl")
        if isinstance(command, str) and command:
            self._command(command, [str(arg) for arg in args] if isinstance(args, list) else [], entry)
        elif isinstance(url, str):
            self.config["url"] = url
            if entry.get("type") == "sse" or entry.get("transport") == "sse":
                self.config["transport"] = "sse"
            self._headers(entry.get("headers"))
            self._auth(entry)
        else:
            return None
        return self.done()

    def api(self, entry: Mapping[str, Any]) -> ImportedSource | None:
        if not isinstance(entry.get("baseUrl"), str):
            return None
        self.config |= {"kind": "api", "url": entry["baseUrl"]}
        self._headers(entry.get("defaultHeaders"))
        self._auth(entry)
        test = entry.get("testEndpoint")
        if isinstance(test, Mapping) and isinstance(test.get("path"), str):
            method = test.get("method", "GET")
            known = method in ("GET", "HEAD", "POST")
            self.config["test"] = {"method": method if known else "GET", "path": test["path"]}
        return self.done()

    def _command(self, command: str, args: list[str], entry: Mapping[str, Any]) -> None:
        self.config |= {"command": command, "args": args}
        if isinstance(entry.get("cwd"), str):
            self.config["cwd"] = entry["cwd"]
        env = {str(name): str(text) for name, text in _mapping(entry.get("env")).items()}
        if env:
            self.config["env"] = {name: self._kept(name, text) for name, text in env.items()}
        self.config |= launcher_needs(command)
        if self.config.get("network"):
            self._notes.append(f"{command} fetches what it runs: it gets the network and its own cache")

    def _headers(self, headers: Any) -> None:
        found = {str(name): str(text) for name, text in _mapping(headers).items()}
        for name, text in list(found.items()):
            if name.lower() == "authorization" and text.startswith("Bearer ") and not refers(text):
                self.config["auth"] = {"type": "bearer", "secret": self._stored(name, text.removeprefix("Bearer "))}
                del found[name]
        if found:
            self.config["headers"] = {name: self._kept(name, text) for name, text in found.items()}

    def _auth(self, entry: Mapping[str, Any]) -> None:
        kind = entry.get("authType")
        if kind == "oauth":
            self.config["auth"] = {"type": "oauth"}
            if isinstance(entry.get("clientId"), str):
                self.config["auth"]["client_id"] = entry["clientId"]
        elif kind in ("bearer", "header", "query", "basic"):
            self.config["auth"] = {"type": kind}
            if kind == "header" and isinstance(entry.get("headerName"), str):
                self.config["auth"]["header"] = entry["headerName"]
            if kind == "query" and isinstance(entry.get("queryParam"), str):
                self.config["auth"]["query"] = entry["queryParam"]
        if kind in ("bearer", "header", "query", "basic", "oauth"):
            self._notes.append("its secret was not in the file: weft sources sign-in asks for it")

    def _kept(self, name: str, text: str) -> str:
        asked = re.fullmatch(r"\$\{input:([^}]+)\}", text)
        if asked:
            place = self._place(asked[1])
            self._notes.append(f"{name} is asked for by the other program; keep it here: weft secrets set {place}")
            return f"secret:{place}"
        return self._stored(name, text) if text and names_secret(name) and not refers(text) else text

    def _place(self, name: str) -> str:
        """What a secret is called: as `weft secrets` wants it."""
        return re.sub(r"[^a-z0-9_-]+", "-", f"{self._slug}-{name}".lower())[:64]

    def _stored(self, name: str, text: str) -> str:
        place = self._place(name)
        self._secrets[place] = text
        self._notes.append(f"{name} goes into the credential store, not into the file")
        return f"secret:{place}"


def launcher_needs(command: str) -> dict[str, Any]:
    """What the config of a command says of network and folders, when it is one that fetches what it runs."""
    program = command.rsplit("/", 1)[-1]
    return {"network": True, "write": list(LAUNCHERS[program])} if program in LAUNCHERS else {}


def _mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}
