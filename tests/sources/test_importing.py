"""Sources as other programs write them; and what is wrong with a config, with its place."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from weft.app.connections.source_settings import _command_word
from weft.files import Folder
from weft.protocol.errors import WorkspaceError
from weft.sources.config import McpConfig, check_config
from weft.sources.declared_sources import declared_sources, read_declared
from weft.sources.elicitation import typed
from weft.sources.http_api import written
from weft.sources.importing import imported, read_json, slug_of
from weft.sources.openapi import MULTIPART, Place, Style, addresses, operations, sign_in_of
from weft.sources.secrets import Secrets
from weft.sources.source_tools import public_name
from weft.sources.stdio import what_held_it
from weft.workspace.document import MarkedDocument

STDIO = {"command": "npx", "args": ["-y", "@x/server"], "env": {"API_KEY": "sk-1", "LOG": "info"}}
CASES: list[tuple[Any, list[tuple[str, dict[str, Any], dict[str, str]]]]] = [
    (
        {"mcpServers": {"My Files": STDIO}},
        [
            (
                "my-files",
                {
                    "kind": "mcp",
                    "name": "My Files",
                    "command": "npx",
                    "args": ["-y", "@x/server"],
                    "env": {"API_KEY": "secret:my-files-api_key", "LOG": "info"},
                    "network": True,
                    "write": ["~/.npm"],
                },
                {"my-files-api_key": "sk-1"},
            )
        ],
    ),
    (
        {"servers": {"gh": {"type": "http", "url": "https://x.org/mcp", "headers": {"Authorization": "Bearer abc"}}}},
        [
            (
                "gh",
                {
                    "kind": "mcp",
                    "url": "https://x.org/mcp",
                    "auth": {"type": "bearer", "secret": "secret:gh-authorization"},
                },
                {"gh-authorization": "abc"},
            )
        ],
    ),
    (
        {"servers": {"db": {"command": "db", "env": {"PASSWORD": "${input:db-pass}"}}}, "inputs": [{"id": "db-pass"}]},
        [("db", {"kind": "mcp", "command": "db", "args": [], "env": {"PASSWORD": "secret:db-db-pass"}}, {})],
    ),
    (
        {"mcpServers": {"old": {"type": "sse", "url": "http://127.0.0.1:1/sse", "disabled": True}}},
        [("old", {"kind": "mcp", "enabled": False, "url": "http://127.0.0.1:1/sse", "transport": "sse"}, {})],
    ),
    (
        {"type": "api", "slug": "crm", "api": {"baseUrl": "https://crm.org/", "authType": "header", "headerName": "X"}},
        [("crm", {"kind": "api", "url": "https://crm.org/", "auth": {"type": "header", "header": "X"}}, {})],
    ),
    (
        {"type": "mcp", "slug": "j", "mcp": {"url": "https://j.org/mcp", "authType": "oauth", "clientId": "c"}},
        [("j", {"kind": "mcp", "url": "https://j.org/mcp", "auth": {"type": "oauth", "client_id": "c"}}, {})],
    ),
    ({"type": "local", "slug": "n", "local": {"path": "~/n"}}, [("n", {"kind": "folder", "path": "~/n"}, {})]),
    (
        {"context_servers": {"z": {"command": {"path": "z", "args": ["a"]}}}},
        [("z", {"kind": "mcp", "command": "z", "args": ["a"]}, {})],
    ),
    ({"mcpServers": {"broken": {"args": []}, "worse": 3}}, []),
    (
        {"mcp": {"a": {"type": "local", "command": ["a", "b"], "environment": {"TOKEN": "{env:T}"}}}},
        [("a", {"kind": "mcp", "command": "a", "args": ["b"], "env": {"TOKEN": "${env:T}"}}, {})],
    ),
    (
        {"mcp_servers": {"c": {"url": "https://c.org/mcp", "bearer_token_env_var": "T"}}},
        [("c", {"kind": "mcp", "url": "https://c.org/mcp", "auth": {"type": "bearer", "secret": "env:T"}}, {})],
    ),
    (
        {"mcpServers": [{"name": "d", "command": "cmd", "args": ["/c", "d"]}], "name": "an assistant"},
        [("d", {"kind": "mcp", "command": "d", "args": []}, {})],
    ),
    (
        {"extensions": {"e": {"type": "stdio", "cmd": "e", "envs": {"A": "$B"}}, "built-in": {"type": "builtin"}}},
        [("e", {"kind": "mcp", "command": "e", "args": [], "env": {"A": "${B}"}}, {})],
    ),
    (
        {"f": {"command": "f", "args": ["${workspaceFolder}/f.js"], "env": {"AUTH": "Bearer abcdefgh12"}}},
        [
            (
                "f",
                {"kind": "mcp", "command": "f", "args": ["/desk/f.js"], "env": {"AUTH": "secret:f-auth"}},
                {"f-auth": "Bearer abcdefgh12"},
            )
        ],
    ),
    (
        {"servers": {"g": {"url": "https://g.org/", "headers": {"Authorization": "Bearer ${input:t}"}}}},
        [("g", {"kind": "mcp", "url": "https://g.org/", "headers": {"Authorization": "Bearer ${secret:g-t}"}}, {})],
    ),
    (
        {"mcpServers": {"h": {"url": "https://h.org/mcp?hKey=abc&x=1", "excludeTools": ["rm"]}}},
        [
            (
                "h",
                {
                    "kind": "mcp",
                    "url": "https://h.org/mcp?hKey=${secret:h-hkey}&x=1",
                    "tools": {"rm": {"enabled": False}},
                },
                {"h-hkey": "abc"},
            )
        ],
    ),
    (
        {"i": {"command": "i", "args": ["--token", "t1", "--api-key=k1", "db://me:pw@x/y", "--max-tokens", "9"]}},
        [
            (
                "i",
                {
                    "kind": "mcp",
                    "command": "i",
                    "args": [
                        *("--token", "secret:i-token", "--api-key=${secret:i-api-key}"),
                        *("secret:i-address", "--max-tokens", "9"),
                    ],
                },
                {"i-token": "t1", "i-api-key": "k1", "i-address": "db://me:pw@x/y"},
            )
        ],
    ),
    ([], []),
]  # fmt: skip


@pytest.mark.parametrize(("value", "wanted"), CASES)
def test_what_other_programs_write(value: Any, wanted: list[tuple[str, dict[str, Any], dict[str, str]]]) -> None:
    found = imported(value, "/desk")
    assert [(one.slug, one.config, dict(one.secrets)) for one in found] == wanted
    for one in found:
        assert check_config(MarkedDocument("config.json", one.config)).problems == []
        assert not any(secret in json.dumps(one.config) for secret in one.secrets.values())


def test_json_as_editors_write_it() -> None:
    text = '{ // why\n "a": "http://x//y, }", /* more */ "b": [1, 2,],\n}'
    assert read_json(text) == {"a": "http://x//y, }", "b": [1, 2]}
    with pytest.raises(ValueError, match="line 2"):
        read_json('{"a":\n oops}')


def test_slugs_and_names_are_what_everybody_takes() -> None:
    assert [slug_of(name) for name in ("db1", "2-db2")] == ["db1", "db2"], "two of them stay two"
    assert [slug_of(name) for name in ("GitHub", "@scope/My Server!", "42", "Ünï")] == [
        "github", "scope-my-server", "source", "n",
    ]  # fmt: skip
    assert public_name("a", "get_x") == "a__get_x"
    odd = public_name("a", "files/read now")
    assert odd.startswith("a__files_read_now_")
    assert odd != public_name("a", "files.read now")
    assert len(public_name("a" * 24, "b" * 128)) == 64


@pytest.mark.parametrize(
    ("config", "said"),
    [
        ({"kind": "mcp"}, "a command or a url"),
        ({"kind": "mcp", "command": "a", "url": "https://x.org"}, "a command or a url"),
        ({"kind": "mcp", "comand": "a"}, "comand"),
        ({"kind": "mcp", "url": "ftp://x"}, "begins with https"),
        ({"kind": "mcp", "url": "https://me:pw@x.org"}, "holds no password"),
        ({"kind": "ftp"}, "kind"),
        ({"kind": "search", "provider": "searxng"}, "needs its 'url'"),
    ],
)
def test_a_wrong_config_is_told_with_its_file(tmp_path: Path, config: dict[str, Any], said: str) -> None:
    folder = tmp_path / "sources" / "one"
    folder.mkdir(parents=True)
    (folder / "config.json").write_text(json.dumps(config))
    with Folder.open(tmp_path) as top:
        with pytest.raises(WorkspaceError) as told:
            read_declared(top, "one", "workspace")
        assert said in str(told.value)
        assert "sources/one/config.json" in str(told.value)
        assert list(declared_sources(top, tmp_path / "none").broken) == ["one"]


def test_a_project_adds_and_never_replaces(tmp_path: Path) -> None:
    workspace, own, project = tmp_path / "w", tmp_path / "own", tmp_path / "p"
    for top, command in ((workspace, "ours"), (own, "mine")):
        (top / "sources" / "one").mkdir(parents=True)
        (top / "sources" / "one" / "config.json").write_text(json.dumps({"kind": "mcp", "command": command}))
    (own / "sources" / "two").mkdir()
    (own / "sources" / "two" / "config.json").write_text(json.dumps({"kind": "mcp", "command": "mine"}))
    project.mkdir()
    servers = {name: {"command": "theirs"} for name in ("one", "two", "three")}
    (project / ".mcp.json").write_text(json.dumps({"mcpServers": servers}))
    with Folder.open(workspace) as folder:
        found = declared_sources(folder, own, project).sources
    assert {slug: (one.declared, one.config.address) for slug, one in found.items()} == {
        "one": ("workspace", "ours"),
        "three": ("project", "theirs"),
        "two": ("person", "mine"),
    }
    assert len({one.key for one in found.values()}) == 3


def test_secrets_are_looked_up_where_a_value_says() -> None:
    secrets = Secrets({"HOST": "x.org", "TOKEN": "t"}, {"a/b": "s"}.get)
    assert secrets.value("env:TOKEN") == "t"
    assert secrets.value("secret:a/b") == "s"
    assert secrets.value("https://${HOST}/${MISSING:-mcp}") == "https://x.org/mcp"
    assert secrets.value("Bearer ${secret:a/b}") == "Bearer s"
    assert secrets.value("environment: plain") == "environment: plain"
    assert "s" not in repr(secrets).removeprefix("Secrets")


def test_an_openapi_document_becomes_tools() -> None:
    document = {
        "openapi": "3.0.0",
        "paths": {
            "/pets/{id}": {
                "parameters": [{"name": "id", "in": "path", "required": True, "schema": {"type": "integer"}}],
                "get": {"operationId": "getPet", "summary": "One pet"},
                "put": {
                    "requestBody": {
                        "required": True,
                        "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Pet"}}},
                    }
                },
            },
            "/far": {"get": {"operationId": "far", "parameters": [{"$ref": "other.yaml#/x"}]}},
        },
        "components": {
            "schemas": {
                "Pet": {
                    "type": "object",
                    "properties": {
                        "name": {"type": "string", "nullable": True},
                        "parent": {"$ref": "#/components/schemas/Pet"},
                    },
                }
            }
        },
    }
    found, left_out = operations(document)
    assert left_out == {}
    assert list(found) == ["getPet", "put_pets_id", "far"]
    get, put = found["getPet"].tool, found["put_pets_id"].tool
    assert get.input_schema["required"] == ["id"]
    assert get.repeatable
    body = put.input_schema["properties"]["body"]
    assert body["properties"]["name"] == {"type": ["string", "null"]}
    assert body["properties"]["parent"] == {}, "what refers to itself ends"
    assert put.input_schema["required"] == ["id", "body"]
    assert list(operations(document, ("far",))[0]) == ["far"]


def test_answers_to_a_server_have_its_types_and_defaults() -> None:
    schema = {
        "properties": {
            "n": {"type": "integer"},
            "sure": {"type": "boolean", "default": True},
            "name": {"type": "string", "default": "John"},
            "free": {"type": "string"},
        }
    }
    assert typed({"n": "3", "sure": "", "name": "", "free": ""}, schema) == {"n": 3, "sure": True, "name": "John"}
    assert typed({"n": "three", "sure": "no"}, schema) == {"n": "three", "sure": False}


@pytest.mark.parametrize(
    ("words", "slug"),
    [
        (("uvx", "mcp-server-time"), "time"),
        (("npx", "-y", "@modelcontextprotocol/server-filesystem", "/srv"), "filesystem"),
        (("node", "/opt/x/node_modules/@someone/mcp-tasks/dist/index.js"), "tasks"),
        (("python3", "/home/me/tides/server.py"), "tides"),
        (("/opt/bin/mcp-server-git", "--repository", "/srv/repo"), "git"),
        (("uv", "--directory", "/srv/weather", "run", "server.py"), "weather"),
        (("python", "-m", "mcp_server_time"), "time"),
        (("docker", "run", "-i", "--rm", "-e", "TOKEN", "ghcr.io/github/github-mcp-server:1"), "github"),
        (("arxiv-mcp-server",), "arxiv"),
    ],
)
def test_a_command_is_called_by_what_it_runs(words: tuple[str, ...], slug: str) -> None:
    assert slug_of(_command_word(words[0], words[1:])) == slug


SWAGGER: dict[str, Any] = {
    "swagger": "2.0",
    "host": "pets.org",
    "basePath": "/v2",
    "consumes": ["application/json"],
    "securityDefinitions": {"k": {"type": "apiKey", "in": "header", "name": "X-Key"}},
    "paths": {
        "/pets/{id}": {
            "post": {
                "parameters": [
                    {"name": "id", "in": "query", "type": "array", "items": {"type": "integer"}},
                    {"name": "pet", "in": "body", "required": True, "schema": {"$ref": "#/definitions/Pet"}},
                ]
            }
        },
        "/photo": {"post": {"parameters": [{"name": "file", "in": "formData", "type": "file", "required": True}]}},
        "/log": {"post": {"operationId": "log", "parameters": [{"name": "a", "in": "formData", "type": "string"}]}},
        "/in": {"get": {"operationId": "log"}},
    },
    "definitions": {"Pet": {"properties": {"example": {"type": "string"}, "of": {"$ref": "#/definitions/Pet"}}}},
}


def test_an_older_document_becomes_tools_too() -> None:
    found, left_out = operations(SWAGGER)
    assert left_out == {}
    assert list(found) == ["post_pets_id", "post_photo", "log", "get_in"], "two of one name stay two"
    pet = found["post_pets_id"]
    assert pet.schema["required"] == ["path_id", "body"], "what the path needs is asked for, whoever forgot to say so"
    assert pet.schema["properties"]["body"] == {"properties": {"example": {"type": "string"}, "of": {}}}
    assert pet.places["id"] == Place("query", "id", "comma")
    assert (found["post_photo"].media_type, found["log"].media_type) == (MULTIPART, "application/json")
    assert addresses(SWAGGER) == ["https://pets.org/v2"]
    assert sign_in_of(SWAGGER) == {"type": "header", "header": "X-Key"}


def test_where_an_api_is_and_how_it_lets_one_in() -> None:
    variables = {"region": {"default": "eu"}, "version": {"enum": ["v1"], "default": "v1"}}
    servers = [{"url": "https://{region}.x.org/{version}", "variables": variables}, {"url": "/api"}]
    flow = {"authorizationUrl": "https://x.org/a", "tokenUrl": "https://x.org/t"}
    schemes = {"o": {"type": "oauth2", "flows": {"authorizationCode": flow}}, "b": {"type": "http", "scheme": "bearer"}}
    document = {"servers": servers, "components": {"securitySchemes": schemes}, "security": [{"o": ["read"]}]}
    assert addresses(document) == ["https://eu.x.org/v1"]
    assert addresses(document, "https://y.org/docs/openapi.json")[1] == "https://y.org/api"
    urls = {"authorization_url": "https://x.org/a", "token_url": "https://x.org/t"}
    assert sign_in_of(document) == {"type": "oauth", **urls, "scopes": ["read"]}
    assert sign_in_of({**document, "security": [{"b": []}]}) == {"type": "bearer"}
    assert sign_in_of({**document, "security": [{}, {"b": []}]}) is None, "nobody has to"
    assert sign_in_of({"openapi": "3.0.0"}) is None


def test_an_api_whose_document_names_no_server_is_at_the_top_of_where_the_document_was() -> None:
    """As both versions have it; what many frameworks serve is like that."""
    for document in ({"openapi": "3.1.0"}, {"swagger": "2.0"}, {"openapi": "3.0.0", "servers": []}):
        assert addresses(document, "http://127.0.0.1:8000/docs/openapi.json") == ["http://127.0.0.1:8000/"]
        assert addresses(document) == []


def test_a_document_that_refers_to_itself_everywhere_is_held_to_a_size() -> None:
    """A hundred schemas, each with references to all: put in place without a bound, they would never end."""
    every = {f"S{n}": {"$ref": f"#/components/schemas/S{n}"} for n in range(100)}
    schemas = {name: {"type": "object", "properties": every} for name in every}
    content = {"application/json": {"schema": {"$ref": "#/components/schemas/S0"}}}
    paths = {f"/{n}": {"post": {"requestBody": {"content": content}}} for n in range(5)}
    found, left_out = operations({"paths": paths, "components": {"schemas": schemas}})
    assert (len(found), left_out) == (5, {})


@pytest.mark.parametrize(
    ("value", "style", "wanted"),
    [
        ([1, "b"], "repeated", [("q", "1"), ("q", "b")]),
        ([1, "b"], "comma", [("q", "1,b")]),
        ([1, "b"], "pipe", [("q", "1|b")]),
        ([1], "brackets", [("q[]", "1")]),
        ({"a": 1, "b": True}, "brackets", [("q[a]", "1"), ("q[b]", "true")]),
        ({"a": 1}, "keys", [("a", "1")]),
        ({"a": 1}, "json", [("q", '{"a": 1}')]),
        (True, "repeated", [("q", "true")]),
    ],
)
def test_how_a_value_is_written_in_a_query(value: Any, style: Style, wanted: list[tuple[str, str]]) -> None:
    assert written("q", value, style) == wanted


@pytest.mark.parametrize(
    ("config", "said", "told"),
    [
        ({}, "TypeError: fetch failed", "no network; to give it more: weft sources allow it --network"),
        ({"hosts": ["a.org"]}, "getaddrinfo EAI_AGAIN b.org", "only the hosts a.org"),
        ({"network": True}, "fetch failed", ""),
        ({}, "fatal: '/r/.git/index.lock': Read-only file system", "may change nothing"),
        ({"write": ["~/.npm"]}, "EROFS: read-only file system, open '/x'", "may change only ~/.npm"),
        ({}, "there is no such table", ""),
    ],
)
def test_what_a_command_is_held_to_is_said_where_it_fails(config: dict[str, Any], said: str, told: str) -> None:
    held = what_held_it(McpConfig(kind="mcp", command="x", **config), "it", said)
    assert told in held if told else held == ""
