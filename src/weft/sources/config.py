"""A source as people write it: `sources/<slug>/config.json`, with `guide.md` and `permissions.json` beside it.

    {"kind": "mcp", "command": "uvx", "args": ["mcp-server-time"], "network": true}
    {"kind": "mcp", "url": "https://mcp.example.org/mcp", "auth": {"type": "oauth"}}
    {"kind": "api", "url": "https://api.example.org/v1/", "openapi": "openapi.json", "auth": {"type": "bearer"}}
    {"kind": "folder", "path": "~/notes"}
    {"kind": "search", "provider": "brave", "auth": {"type": "bearer", "secret": "env:BRAVE_API_KEY"}}

No secret stands in it: a value that is one says where it is, `env:NAME` or `secret:NAME` (the credential store). What a
command may reach stands here too, and the kernel holds it to that: no host, no network, nothing to write unless said.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Annotated, Any, Final, Literal
from urllib.parse import urlsplit

from pydantic import AfterValidator, Field

from weft.workspace.document import MarkedDocument
from weft.workspace.explain import Checked, check
from weft.workspace.fields import Given, OptionalText, Seconds, Strict, Text, fault

FILE: Final = "config.json"
GUIDE: Final = "guide.md"
SLUG: Final = re.compile(r"[a-z][a-z0-9]*(?:-[a-z0-9]+)*\Z")
SLUG_LENGTH: Final = 24
DEFAULT_SECONDS: Final = 60.0
Kind = Literal["mcp", "api", "folder", "search"]
EffectWord = Literal["read", "write", "network"]


def slug_fault(slug: str) -> str:
    """Why this can't be a source's slug; "" when it can."""
    if SLUG.match(slug) and len(slug) <= SLUG_LENGTH:
        return ""
    return f"{slug[:60]!r} can't be a source's slug: small letters, digits and single hyphens, up to {SLUG_LENGTH}"


def _address(value: str) -> str:
    parts = urlsplit(value)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise fault("must be an address that begins with https:// or http://")
    if parts.username or parts.password:
        raise fault("an address holds no password", "put it into the credential store, and say where: auth")
    return value


Address = Annotated[Text, AfterValidator(_address)]


class Auth(Strict):
    """How a source knows who asks."""

    type: Literal["bearer", "header", "query", "basic", "oauth"] = Field(
        description="bearer, a header, a key in the query, a name with a password, or OAuth"
    )
    secret: OptionalText = Field(
        default=None, description="Where the secret is: env:NAME or secret:NAME; else what `sign-in` stored"
    )
    header: Text = Field(default="Authorization", description="bearer and header: the header that carries it")
    scheme: str = Field(default="Bearer", description="bearer: the word before the token; empty for none")
    query: Text = Field(default="api_key", description="query: the key in the address's query")
    user: OptionalText = Field(default=None, description="basic: the user's name")
    client_id: OptionalText = Field(default=None, description="oauth: a client id, where none can be registered")
    client_secret: OptionalText = Field(default=None, description="oauth: where its secret is: env:NAME or secret:NAME")
    scopes: list[Text] = Field(default=[], description="oauth: what is asked for; else what the server proposes")
    authorization_url: Annotated[Address | None, Given] = Field(
        default=None, description="oauth of an API: where a person agrees"
    )
    token_url: Annotated[Address | None, Given] = Field(
        default=None, description="oauth of an API: where tokens are given"
    )
    device_url: Annotated[Address | None, Given] = Field(
        default=None, description="oauth: where a device without a browser begins, when the server does not say"
    )
    parameters: dict[str, str] = Field(default={}, description="oauth: further parameters of the authorization")


class ToolChoice(Strict):
    """What a person says of one tool of a source."""

    enabled: bool = Field(default=True, description="False: it is not offered")
    effect: Annotated[EffectWord | None, Given] = Field(
        default=None, description="What it can do at most: read, write or network; the server's own word is not taken"
    )
    repeatable: Annotated[bool | None, Given] = Field(
        default=None, description="True: a call whose end was lost may simply be made again"
    )


class _Any(Strict):
    """What every kind has."""

    kind: Kind = Field(description="mcp, api, folder or search")
    name: OptionalText = Field(default=None, description="The name that people see; else the slug")
    description: str = Field(default="", description="What it is for, in one sentence")
    enabled: bool = Field(default=True, description="False: only agents and steps that name it get its tools")
    timeout: Seconds = Field(default=DEFAULT_SECONDS, description="Seconds a call may take without a sign of life")
    tools: dict[str, ToolChoice] = Field(default={}, description="By a tool's own name: what you say of it")


class McpConfig(_Any):
    """A server of the Model Context Protocol: a command that is started, or an address."""

    kind: Literal["mcp"] = Field(description="mcp")
    command: OptionalText = Field(default=None, description="The program that is started")
    args: list[str] = Field(default=[], description="Its arguments")
    env: dict[str, str] = Field(default={}, description="Its environment besides the plain one")
    cwd: OptionalText = Field(default=None, description="The folder it is started in; else where it is declared")
    network: bool = Field(default=False, description="Whether the command may use the whole network")
    hosts: list[Text] = Field(default=[], description="The hosts it may reach by HTTP, and no other: a.org, b.org:8080")
    read: list[Text] = Field(default=[], description="Folders the command may read where it could not otherwise")
    write: list[Text] = Field(default=[], description="Folders the command may change")
    url: Annotated[Address | None, Given] = Field(default=None, description="The server's address")
    transport: Literal["http", "sse"] = Field(
        default="http", description="http, or sse for an old server; unsaid: http, then sse"
    )
    headers: dict[str, str] = Field(default={}, description="Headers of every request")
    auth: Annotated[Auth | None, Given] = Field(default=None, description="How the server knows who asks")

    @property
    def address(self) -> str:
        return self.url or " ".join([self.command or "", *self.args])


class ProbeRequest(Strict):
    """The request that shows whether an API answers."""

    method: Literal["GET", "HEAD", "POST"] = Field(default="GET", description="GET, HEAD or POST")
    path: str = Field(default="", description="Its path below the API's address")


class ApiConfig(_Any):
    """An HTTP API: a tool for each operation of its OpenAPI document, or two tools that take any request."""

    kind: Literal["api"] = Field(description="api")
    url: Address = Field(description="The address below which everything is")
    openapi: OptionalText = Field(default=None, description="The OpenAPI document: a file in the source's folder")
    operations: list[Text] = Field(default=[], description="Only these operations of it, by their id; all when empty")
    headers: dict[str, str] = Field(default={}, description="Headers of every request")
    auth: Annotated[Auth | None, Given] = Field(default=None, description="How the API knows who asks")
    test: ProbeRequest = Field(default=ProbeRequest(), description="The request that shows whether it answers")

    @property
    def address(self) -> str:
        return self.url


class FolderConfig(_Any):
    """Files outside the workspace, to read."""

    kind: Literal["folder"] = Field(description="folder")
    path: Text = Field(description="The folder")

    @property
    def address(self) -> str:
        return self.path


class SearchShape(Strict):
    """How any other search is asked and what it answers."""

    method: Literal["GET", "POST"] = Field(default="GET", description="GET or POST")
    query: Text = Field(default="q", description="The key of the question, in the query or the JSON body")
    count: OptionalText = Field(default=None, description="The key of the number of results")
    parameters: dict[str, str] = Field(default={}, description="Further keys, with their values")
    results: str = Field(default="results", description="Where the list of results is in the answer: a.b.c")
    title: Text = Field(default="title", description="A result's title: a.b.c")
    url: Text = Field(default="url", description="A result's address")
    snippet: Text = Field(default="content", description="A result's text")


class SearchConfig(_Any):
    """A search of the web behind one contract."""

    kind: Literal["search"] = Field(description="search")
    provider: Literal["brave", "tavily", "searxng", "exa", "custom"] = Field(
        description="brave, tavily, searxng, exa, or custom: described under 'shape'"
    )
    url: Annotated[Address | None, Given] = Field(
        default=None, description="Its address; needed for searxng and custom"
    )
    auth: Annotated[Auth | None, Given] = Field(default=None, description="Where its key is")
    shape: Annotated[SearchShape | None, Given] = Field(default=None, description="custom: how it is asked")

    @property
    def address(self) -> str:
        return self.url or self.provider


SourceConfig = McpConfig | ApiConfig | FolderConfig | SearchConfig
CONFIGS: Final[dict[str, type[McpConfig | ApiConfig | FolderConfig | SearchConfig]]] = {
    "mcp": McpConfig,
    "api": ApiConfig,
    "folder": FolderConfig,
    "search": SearchConfig,
}


def check_config(document: MarkedDocument) -> Checked[Any]:
    """The model of its kind, or every problem of the file."""
    kind = document.value.get("kind") if isinstance(document.value, dict) else None
    checked: Checked[Any] = check(CONFIGS.get(str(kind), _Any), document)
    if checked.model is None or checked.problems:
        return checked
    problems = [document.at_key((key,), message, hint) for key, message, hint in _faults(checked.model)]
    return Checked(checked.model, problems, checked.dropped)


def _faults(config: SourceConfig) -> Iterator[tuple[str, str, str]]:
    """What is well-formed and means nothing: the key, what is wrong, what to do."""
    if isinstance(config, McpConfig):
        if (config.command is None) == (config.url is None):
            yield "command", "a server has a command or a url: exactly one of them", "write one of them"
        elif config.command is not None and config.auth is not None:
            yield "auth", "a command signs in by itself", "give it what it needs under 'env'"
        if config.network and config.hosts:
            yield "hosts", "means nothing beside 'network', which opens all", "remove one of them"
    if isinstance(config, SearchConfig):
        if config.provider in ("searxng", "custom") and config.url is None:
            yield "provider", f"a search of the kind {config.provider} needs its 'url'", "add it"
        if (config.provider == "custom") != (config.shape is not None):
            yield "shape", "'shape' describes a custom search: both or neither", "add or remove it"
