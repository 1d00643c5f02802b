"""Sources as other programs write them: `.mcp.json`, Claude, Cursor, Windsurf, VS Code, Zed, Craft, Codex, Gemini,
opencode, Continue, Goose. Pure.

What is a secret by its name is not copied into a config: it is handed back beside it, for the credential store. What a
launcher that downloads programs needs of the machine (network, its cache) is said in the config, so that it is seen.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field
from typing import Any, Final
from urllib.parse import parse_qsl, urlsplit

from weft.protocol.json_text import json_value
from weft.protocol.values import dataclass
from weft.sources.config import SLUG_LENGTH, slug_fault
from weft.sources.secrets import names_secret, refers

_SERVERS: Final = ("mcpServers", "servers", "context_servers", "mcp_servers", "extensions", "mcp")
_TEXT: Final = r'"(?:[^"\\]|\\.)*"'
_COMMENT: Final = re.compile(rf"{_TEXT}|//[^\n]*|/\*.*?\*/", re.DOTALL)
_LAST_COMMA: Final = re.compile(rf"{_TEXT}|,(?=\s*[\]}}])", re.DOTALL)
_OPTION: Final = re.compile(r"--?([A-Za-z][\w.-]*)(?:=(.*))?\Z", re.DOTALL)
_WITH_PASSWORD: Final = re.compile(r"[a-z][a-z0-9+.-]*://[^/\s:@]+:[^/\s@]+@")
_NO_SECRETS: Final = frozenset({"key-file", "token-file", "keys", "tokens", "max-tokens", "max-token", "keyspace"})
_LOOKS_SECRET: Final = re.compile(r"(Bearer |Basic |sk-|gh[pousr]_|github_pat_|glpat-|xox[bp]-|AKIA|eyJ)[\w./+=-]{8}")
_SECRET_HEADER: Final = re.compile(r"([\w-]+)(\s*[:=]\s*)(.+)\Z", re.DOTALL)
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


def imported(value: Any, folder: str = "") -> list[ImportedSource]:
    """Every source in a parsed configuration of any known form; [] when it is none. `folder`: what editors call the
    folder of the workspace."""
    found: dict[str, ImportedSource] = {}
    for name, entry in _entries(value):
        one = _one(name, _in_our_words(entry, folder))
        if one is not None:
            found.setdefault(one.slug, one)
    return list(found.values())


def command_source(slug: str, command: str, args: Sequence[str], env: Mapping[str, str]) -> ImportedSource:
    """The source that a command is, with its secrets apart."""
    made = _Making(slug, slug).mcp({"command": command, "args": list(args), "env": dict(env)})
    assert made is not None
    return made


def address_source(slug: str, kind: str, url: str) -> ImportedSource:
    """The source that an address is, with its secrets apart."""
    made = _Making(slug, slug)
    made.config["kind"] = kind
    made.address(url)
    return made.done()


def headers_apart(one: ImportedSource, headers: Mapping[str, str]) -> ImportedSource:
    """The source with these headers too, their secrets apart."""
    made = _Making(one.slug, one.slug, one)
    made.headers(headers)
    return made.done()


def read_json(text: str) -> Any:
    """JSON as editors write it: with comments, and a comma after the last. ValueError when it is none."""
    try:
        return json_value(text)
    except ValueError as error:
        bare = _COMMENT.sub(lambda found: found[0] if found[0].startswith('"') else " ", text.lstrip("\ufeff"))
        bare = _LAST_COMMA.sub(lambda found: found[0] if found[0].startswith('"') else "", bare)
        try:
            return json_value(bare)
        except ValueError:
            raise error from None  # with the place in the text as it is


def slug_of(name: str) -> str:
    """The slug that a name makes; "source" when nothing of it can stay."""
    words = re.sub(r"[^a-z0-9]+", "-", name.lower()).lstrip("-0123456789")[:SLUG_LENGTH].strip("-")
    return words if words and not slug_fault(words) else "source"


def _entries(value: Any) -> Iterator[tuple[str, Mapping[str, Any]]]:
    if not isinstance(value, Mapping):
        return
    if isinstance(value.get("mcp"), Mapping) and isinstance(value["mcp"].get("servers"), Mapping):
        value = value["mcp"]  # the settings of VS Code
    if value.get("type") in ("mcp", "api", "local") and isinstance(value.get("slug") or value.get("name"), str):
        yield str(value.get("slug") or value["name"]), value
        return
    named = [one for key, one in value.items() if str(key).rsplit(".", 1)[-1] in _SERVERS]
    for servers in named:
        if isinstance(servers, Mapping):
            yield from ((str(name), entry) for name, entry in servers.items() if isinstance(entry, Mapping))
        elif isinstance(servers, list):  # as Continue has it
            yield from ((str(one["name"]), one) for one in servers if isinstance(one, Mapping) and one.get("name"))
    projects = value.get("projects")
    if isinstance(projects, Mapping):
        for project in projects.values():
            yield from _entries(project)
    if not named and not projects:  # what stands inside, pasted alone
        yield from (
            (str(name), entry)
            for name, entry in value.items()
            if isinstance(entry, Mapping) and any(isinstance(entry.get(key), str) for key in ("command", "url"))
        )


def _in_our_words(value: Any, folder: str) -> Any:
    """With the variables of other programs as we write them, and the folder of an editor in its place."""
    if isinstance(value, Mapping):
        return {str(key): _in_our_words(one, folder) for key, one in value.items()}
    if isinstance(value, list):
        return [_in_our_words(one, folder) for one in value]
    if not isinstance(value, str):
        return value
    text = value.replace("${userHome}", "~").replace("${pathSeparator}", "/").replace("${/}", "/")
    if folder:
        text = text.replace("${workspaceFolder}", folder).replace("${workspaceRoot}", folder)
    text = re.sub(r"(?<!\$)\{env:([A-Za-z_]\w*)\}", r"${env:\1}", text)  # as opencode has it
    return re.sub(r"\A\$([A-Z_][A-Z0-9_]*)\Z", r"${\1}", text)  # as Gemini has it


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
    def __init__(self, slug: str, name: str, begun: ImportedSource | None = None) -> None:
        self._slug = slug
        self.config: dict[str, Any] = dict(begun.config) if begun else {}
        self._secrets: dict[str, str] = dict(begun.secrets) if begun else {}
        self._notes: list[str] = list(begun.notes) if begun else []
        if name != slug:
            self.config["name"] = name

    def done(self) -> ImportedSource:
        config = {"kind": self.config["kind"], **self.config}
        return ImportedSource(slug=self._slug, config=config, secrets=self._secrets, notes=tuple(self._notes))

    def mcp(self, entry: Mapping[str, Any]) -> ImportedSource | None:
        self.config["kind"] = "mcp"
        command, args = entry.get("command") or entry.get("cmd"), entry.get("args", [])
        if isinstance(command, Mapping):  # as Zed has it
            entry = {**entry, **command}
            command, args = entry.get("path"), entry.get("args", [])
        if isinstance(command, list) and command:
            command, args = command[0], command[1:]
        args = [str(arg) for arg in args] if isinstance(args, list) else []
        if command in ("cmd", "cmd.exe") and len(args) > 1 and args[0].lower() == "/c":  # what Windows needs before it
            command, args = args[1], args[2:]
        url = next((entry[key] for key in ("url", "serverUrl", "httpUrl", "uri") if entry.get(key)), None)
        if isinstance(command, str) and command:
            self._command(command, args, entry)
        elif isinstance(url, str):
            self.address(url)
            if "sse" in (entry.get(key) for key in ("type", "transport", "transportType")):
                self.config["transport"] = "sse"
            for key in ("headers", "http_headers"):
                self.headers(entry.get(key))
            for key in ("requestInit", "requestOptions"):
                self.headers(_mapping(entry.get(key)).get("headers"))
            self.headers({name: f"env:{at}" for name, at in _mapping(entry.get("env_http_headers")).items()})
            if isinstance(entry.get("bearer_token_env_var"), str):
                self.config["auth"] = {"type": "bearer", "secret": f"env:{entry['bearer_token_env_var']}"}
            self._auth(entry)
        else:
            return None
        for key in ("excludeTools", "disabledTools", "disabled_tools"):
            for tool in entry[key] if isinstance(entry.get(key), list) else ():
                self.config.setdefault("tools", {})[str(tool)] = {"enabled": False}
        return self.done()

    def address(self, url: str) -> None:
        """A key in the query of an address is a secret too."""
        for name, text in parse_qsl(urlsplit(url).query):
            if names_secret(name) and text and text in url and not refers(text):
                url = url.replace(f"{name}={text}", f"{name}=${{{self._stored(name, text)}}}")
        self.config["url"] = url

    def api(self, entry: Mapping[str, Any]) -> ImportedSource | None:
        if not isinstance(entry.get("baseUrl"), str):
            return None
        self.config |= {"kind": "api", "url": entry["baseUrl"]}
        self.headers(entry.get("defaultHeaders"))
        self._auth(entry)
        test = entry.get("testEndpoint")
        if isinstance(test, Mapping) and isinstance(test.get("path"), str):
            method = test.get("method", "GET")
            known = method in ("GET", "HEAD", "POST")
            self.config["test"] = {"method": method if known else "GET", "path": test["path"]}
        return self.done()

    def _command(self, command: str, args: list[str], entry: Mapping[str, Any]) -> None:
        self.config |= {"command": command, "args": self._args_apart(args)}
        if isinstance(entry.get("cwd"), str):
            self.config["cwd"] = entry["cwd"]
        env: dict[str, str] = {}
        for key in ("env", "environment", "envs"):
            env |= {str(name): str(text) for name, text in _mapping(entry.get(key)).items()}
        if env:
            self.config["env"] = {name: self._kept(name, text) for name, text in env.items()}
        if entry.get("envFile"):
            self._notes.append(f"the variables of {entry['envFile']} were not taken over: name each under 'env'")
        self.config |= launcher_needs(command)
        if self.config.get("network"):
            self._notes.append(f"{command} fetches what it runs: it gets the network and its own cache")

    def _args_apart(self, args: Sequence[str]) -> list[str]:
        """What follows an option that is called like a secret is one; so is an address with a password in it."""
        made: list[str] = []
        before = ""
        for arg in args:
            option = _OPTION.match(arg)
            name, text = (option[1], option[2]) if option else ("", None)
            if before in ("header", "H") and (header := _SECRET_HEADER.match(arg)):
                made.append(header[1] + header[2] + self._inside(header[1], header[3]))
            elif before and not option and _names_option(before):
                made.append(self._kept(before, arg))
            elif text and _names_option(name):
                made.append(f"{arg[: -len(text)]}{self._inside(name, text)}")
            elif _WITH_PASSWORD.match(arg):
                made.append(self._stored("address", arg))
            else:
                made.append(arg)
            before = name if text is None else ""
        return made

    def _inside(self, name: str, text: str) -> str:
        """A secret in a longer text."""
        kept = self._kept(name, text)
        return kept if kept == text else f"${{{kept}}}"

    def headers(self, headers: Any) -> None:
        found = {str(name): str(text) for name, text in _mapping(headers).items()}
        for name, text in list(found.items()):
            plain = not refers(text) and "${" not in text
            if name.lower() == "authorization" and text.startswith("Bearer ") and plain:
                self.config["auth"] = {"type": "bearer", "secret": self._stored(name, text.removeprefix("Bearer "))}
                del found[name]
        if found:
            kept = {name: self._kept(name, text) for name, text in found.items()}
            self.config["headers"] = {**self.config.get("headers", {}), **kept}

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
        """The value that stands in the file: where the secret is, when it is one."""
        if "${input:" in text:

            def asked(found: re.Match[str]) -> str:
                place = self._place(found[1])
                self._notes.append(f"{name} is asked for by the other program; keep it here: weft secrets set {place}")
                return f"${{secret:{place}}}"

            told = re.sub(r"\$\{input:([^}]+)\}", asked, text)
            return told[2:-1] if re.fullmatch(r"\$\{[^}]+\}", told) else told
        secret = text and (names_secret(name) or _LOOKS_SECRET.match(text)) and not refers(text)
        return self._stored(name, text) if secret else text

    def _place(self, name: str) -> str:
        """What a secret is called: as `weft secrets` wants it."""
        return re.sub(r"[^a-z0-9_-]+", "-", f"{self._slug}-{name}".lower())[:64]

    def _stored(self, name: str, text: str) -> str:
        place = self._place(name)
        self._secrets[place] = text
        self._notes.append(f"{name} goes into the credential store, not into the file")
        return f"secret:{place}"


def _names_option(name: str) -> bool:
    return names_secret(name) and name.lower() not in _NO_SECRETS


def launcher_needs(command: str) -> dict[str, Any]:
    """What the config of a command says of network and folders, when it is one that fetches what it runs."""
    program = command.rsplit("/", 1)[-1]
    return {"network": True, "write": list(LAUNCHERS[program])} if program in LAUNCHERS else {}


def _mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}
