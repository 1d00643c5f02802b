"""An HTTP API as a source: a tool for each operation of its OpenAPI document, else `get` and `send` for any request.

Requests go below the source's address and nowhere else; redirects are told, not followed. Secrets are put on by
`grants.SourceAuth`, which knows that address.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from typing import Any, Final
from urllib.parse import quote, urlsplit

import httpx2

from weft.files import Folder
from weft.protocol.errors import ExternalError, UserError, WeftError
from weft.sources.connector import NeedsSignInError, SourceDownError
from weft.sources.declared import Source
from weft.sources.listing import Listing, OfferedTool
from weft.sources.openapi import BODY, Operation, operations
from weft.sources.secrets import Secrets
from weft.sources.wire import open_client
from weft.tools.builtin.schema import closed, text
from weft.tools.builtin.web import readable
from weft.tools.fetch import Fetched
from weft.tools.results import bounded
from weft.tools.threads import in_thread
from weft.tools.tool import Context, Outcome, failed
from weft.workspace.document import read_source
from weft.workspace.json_document import parse_json
from weft.workspace.yaml_document import parse_yaml

_PATH: Final = text("The path below the API's address, such as users/42", longest=2000)
_QUERY: Final = {"type": "object", "description": "The keys of the query", "additionalProperties": True}
ANY: Final = {
    "get": OfferedTool(
        name="get",
        description="A GET request to the API.",
        input_schema=closed({"path": _PATH}, {"query": _QUERY}),
        effect="network",
        repeatable=True,
    ),
    "send": OfferedTool(
        name="send",
        description="A request that may change something: POST, PUT, PATCH or DELETE.",
        input_schema=closed(
            {"method": {"type": "string", "enum": ["POST", "PUT", "PATCH", "DELETE"]}, "path": _PATH},
            {"query": _QUERY, BODY: {"description": "The JSON body"}},
        ),
        effect="network",
    ),
}


class ApiConnector:
    def __init__(self, source: Source, secrets: Secrets, auth: httpx2.Auth | None) -> None:
        assert source.config.kind == "api"
        self._source = source
        self._config = source.config
        self._secrets = secrets
        self._auth = auth
        self._base = source.config.url.rstrip("/") + "/"
        self._operations: dict[str, Operation] | None = None
        self._left_out: dict[str, str] = {}

    async def listing(self) -> Listing:
        known = await in_thread(self._known, "weft-openapi")
        test, said = self._config.test, "test" in self._config.model_fields_set
        asked = (one.path for one in known.values() if one.method == "get" and not one.schema["required"])
        path = test.path if said else next(asked, "")
        response = await self._request(test.method, path, {}, {}, None, self._config.timeout)
        status = response.status_code
        if status >= 400 and (said or path or status in (403, 429) or status >= 500):
            raise SourceDownError(
                f"the source {self._source.slug} answered its test request with status {status}",
                hint=f"{test.method} {response.request.url.path}: check 'url' and 'test' in {self._source.file}",
            )
        tools = tuple(one.tool for one in known.values()) if known else tuple(ANY.values())
        return Listing(tools=tools, server=urlsplit(self._base).netloc, left_out=self._left_out)

    def _known(self) -> dict[str, Operation]:
        if self._operations is None:
            self._operations = {}
            if self._config.openapi:
                document = read_openapi(self._source, self._config.openapi)
                found, self._left_out = operations(document, tuple(self._config.operations))
                if not found:
                    raise UserError(
                        f"{self._config.openapi} of the source {self._source.slug} has no operation to offer"
                    )
                self._operations = found
        return self._operations

    async def call(self, tool: str, given: Mapping[str, Any], context: Context) -> Outcome:
        known = await in_thread(self._known, "weft-openapi")
        repeatable = True
        if known:
            if tool not in known:
                return failed(f"the source {self._source.slug} has no operation {tool} any more")
            one = known[tool]
            method, path, query, headers, body = _filled(one, given)
            repeatable = one.tool.repeatable
        else:
            method = "GET" if tool == "get" else str(given["method"])
            path, query, headers, body = str(given["path"]), dict(given.get("query", {})), {}, given.get(BODY)
            repeatable = method != "POST" and method != "PATCH"
        context.progress(f"{self._source.slug}: {method} {path}")
        try:
            response = await self._request(method, path, query, headers, body, self._config.timeout)
        except SourceDownError as error:
            return failed(str(error), effect="unknown" if error.sent and not repeatable else "none")
        return await self._told(method, response, context)

    async def close(self) -> None:
        """Each request has a connection of its own."""

    async def _request(
        self, method: str, path: str, query: Mapping[str, Any], headers: Mapping[str, str], body: Any, seconds: float
    ) -> httpx2.Response:
        url = below(self._base, path)
        slug = self._source.slug
        sent = {**self._secrets.values(self._config.headers), **headers}
        async with open_client(self._base, auth=self._auth, headers=sent, faults_as_answers=False) as client:
            try:
                async with asyncio.timeout(seconds):
                    response = await client.request(
                        method, url, params=_flat(query), **({} if body is None else _body(body))
                    )
            except TimeoutError as error:
                raise SourceDownError(
                    f"the source {slug} gave no answer within {seconds:g} seconds", sent=True
                ) from error
            except NeedsSignInError:
                raise
            except ExternalError as error:
                raise SourceDownError(
                    f"the source {slug} can't be reached: {error.message}", sent="can't be reached" not in error.message
                ) from error
        if response.status_code == 401:
            raise NeedsSignInError(slug, "it did not take what it was given")
        return response

    async def _told(self, method: str, response: httpx2.Response, context: Context) -> Outcome:
        media_type = response.headers.get("content-type", "text/plain").partition(";")[0].strip().lower()
        fetched = Fetched(
            url=str(response.request.url.copy_with(query=None)),
            status=response.status_code,
            media_type=media_type or "text/plain",
            charset=response.charset_encoding,
            data=response.content,
        )
        try:
            said = await in_thread(lambda: readable(fetched), "weft-answer")
        except WeftError as error:
            said = error.message
        where = response.headers.get("location", "")
        head = f"{method} {fetched.url}: status {response.status_code}" + (f", to {where}" if where else "")
        bad = response.status_code >= 400
        outcome = Outcome(
            text=f"{head}\n\n{said}",
            is_error=bad,
            effect="unknown" if response.status_code >= 500 else "none" if bad else "completed",
            summary=f"status {response.status_code}, {len(response.content):,} bytes",
            outside=(f"the source {self._source.slug}",),
        )
        return await bounded(outcome, context)


def read_openapi(source: Source, name: str) -> Any:
    with Folder.open(source.folder) as folder:
        try:
            found = read_source(folder, name)
        except FileNotFoundError:
            raise UserError(f"the source {source.slug} names {name}, which is not in {source.folder}") from None
    return parse_json(found) if found.text.lstrip().startswith("{") else parse_yaml(found.file, found.text).value


def below(base: str, path: str) -> str:
    """An address below the base. UserError for one that climbs out of it."""
    bare = path.lstrip("/")
    if "://" in bare.split("?")[0].split("#")[0] or bare.startswith("//") or "\\" in bare:
        raise UserError(f"{path[:80]!r} is no path below {base}")
    if any(part in ("..", ".") for part in bare.split("?")[0].replace("%2e", ".").replace("%2E", ".").split("/")):
        raise UserError(f"{path[:80]!r} climbs out of {base}")
    return base + bare


def _filled(one: Operation, given: Mapping[str, Any]) -> tuple[str, str, dict[str, Any], dict[str, str], Any]:
    path, query, headers, body = one.path, dict[str, Any](), dict[str, str](), None
    for key, value in given.items():
        match one.places.get(key):
            case "path":
                path = path.replace(f"{{{key}}}", quote(_word(value), safe=""))
            case "query":
                query[key] = value
            case "header":
                headers[key] = _word(value)
            case "body":
                body = value if one.media_type != "application/x-www-form-urlencoded" else _Form(value)
    return one.method.upper(), path, query, headers, body


class _Form(dict[str, Any]):
    """A body that is sent as a form."""


def _body(body: Any) -> dict[str, Any]:
    if isinstance(body, _Form):
        return {"data": {key: _word(value) for key, value in body.items()}}
    return {"content": body} if isinstance(body, str) else {"json": body}


def _flat(query: Mapping[str, Any]) -> dict[str, list[str]] | None:
    """None for no query: the address may have one of its own."""
    return {
        key: [_word(one) for one in (value if isinstance(value, list) else [value])] for key, value in query.items()
    } or None


def _word(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
