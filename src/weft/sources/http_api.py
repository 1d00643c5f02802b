"""An HTTP API as a source: a tool for each operation of its OpenAPI document, else `get` and `send` for any request.

Requests go below the source's address and nowhere else; redirects are told, not followed. Secrets are put on by
`grants.SourceAuth`, which knows that address.
"""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Mapping
from dataclasses import field
from typing import Any, Final
from urllib.parse import quote, unquote, urlsplit

import httpx2

from weft.files import Folder
from weft.protocol.errors import ExternalError, UserError, WeftError
from weft.protocol.values import dataclass
from weft.sources.connector import NeedsSignInError, SourceDownError
from weft.sources.declared_sources import Source
from weft.sources.http_client import open_client
from weft.sources.listing import Listing, OfferedTool
from weft.sources.openapi import BODY, FORM, MULTIPART, Operation, Style, operations
from weft.sources.secrets import Secrets
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
        response = await self._request(_Ask(method=test.method, path=path), self._config.timeout)
        status = response.status_code
        if status >= 400 and (said or path or status in (401, 403, 429) or status >= 500):
            checked = "'url', 'test' and 'auth'" if status in (401, 403) else "'url' and 'test'"
            raise SourceDownError(
                f"the source {self._source.slug} answered its test request with status {status}",
                hint=f"{test.method} {response.request.url.path}: check {checked} in {self._source.file}",
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
        if known:
            if tool not in known:
                return failed(f"the source {self._source.slug} has no operation {tool} any more")
            ask, repeatable = _filled(known[tool], given), known[tool].tool.repeatable
        else:
            method = "GET" if tool == "get" else str(given["method"])
            body = _any_body(given[BODY]) if BODY in given else {}
            ask = _Ask(method=method, path=str(given["path"]), query=_any_query(given.get("query", {})), body=body)
            repeatable = method not in ("POST", "PATCH")
        context.progress(f"{self._source.slug}: {ask.method} {ask.path}")
        try:
            response = await self._request(ask, self._config.timeout)
        except SourceDownError as error:
            return failed(str(error), effect="unknown" if error.sent and not repeatable else "none")
        return await self._told(ask.method, response, context)

    async def close(self) -> None:
        """Each request has a connection of its own."""

    async def _request(self, ask: _Ask, seconds: float) -> httpx2.Response:
        url = below(self._base, ask.path)
        slug = self._source.slug
        more = dict(ask.body)
        sent = {**self._secrets.values(self._config.headers), **ask.headers, **more.pop("headers", {})}
        if ask.query:  # none: the address may have one of its own
            more["params"] = ask.query
        async with open_client(self._base, auth=self._auth, headers=sent, faults_as_answers=False) as client:
            try:
                async with asyncio.timeout(seconds):
                    response = await client.request(ask.method, url, **more)
            except TimeoutError as error:
                raise SourceDownError(
                    f"the source {slug} gave no answer within {seconds:g} seconds", sent=True
                ) from error
            except NeedsSignInError:
                raise
            except ExternalError as error:
                reached = "can't be reached" not in error.message
                what = "gave no whole answer" if reached else "can't be reached"
                raise SourceDownError(
                    f"the source {slug} {what}: {error.message}", hint=error.hint, sent=reached
                ) from error
        auth = self._config.auth
        if response.status_code == 401 and auth is not None:  # without it there is no sign-in: it is an answer
            raise NeedsSignInError(slug, f"it did not take {auth.secret or 'what it was given'}")
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
        if pause := response.headers.get("retry-after", "")[:40]:
            head += f", retry after {pause}{' s' if pause.isdecimal() else ''}"
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
    if "://" in bare.split("?")[0].split("#")[0] or "\\" in bare or not bare.isprintable():
        raise UserError(f"{path[:80]!r} is no path below {base}")
    if {".", ".."} & {*re.split(r"[/\\]", unquote(bare.split("?")[0]))}:  # a server may read %2f as its sign
        raise UserError(f"{path[:80]!r} climbs out of {base}")
    return base + bare


@dataclass(frozen=True, slots=True, kw_only=True)
class _Ask:
    """One request, before the address of the API is put before it."""

    method: str
    path: str
    query: list[tuple[str, str]] = field(default_factory=list)
    headers: Mapping[str, str] = field(default_factory=dict)
    body: Mapping[str, Any] = field(default_factory=dict)
    """The arguments of the client that make the body."""


def _filled(one: Operation, given: Mapping[str, Any]) -> _Ask:
    path, query, headers, body = one.path, list[tuple[str, str]](), dict[str, str](), dict[str, Any]()
    for key, value in given.items():
        place = one.places.get(key)
        match place.where if place else "":
            case "path":
                told = ",".join(quote(text, safe="") for _, text in written("", value, "comma"))
                path = path.replace(f"{{{place.name}}}", told)  # type: ignore[union-attr]
            case "query":
                query += written(place.name, value, place.style)  # type: ignore[union-attr]
            case "header":
                headers[place.name] = _in_header(key, ",".join(text for _, text in written("", value, "comma")))  # type: ignore[union-attr]
            case "body":
                body = _body(value, one.media_type, one.schema["properties"][key])
    return _Ask(method=one.method.upper(), path=path, query=query, headers=headers, body=body)


def _in_header(key: str, text: str) -> str:
    if not text.isascii() or not text.isprintable():
        raise UserError(f"{key} goes into a header, which has plain letters on one line", hint="nothing was sent")
    return text


def written(name: str, value: Any, style: Style) -> list[tuple[str, str]]:
    """A value in the query, as its style has it."""
    if style == "json" or not isinstance(value, list | dict):
        return [(name, _word(value))]
    if isinstance(value, dict):
        match style:
            case "brackets":
                return [(f"{name}[{key}]", _word(one)) for key, one in value.items()]
            case "keys":
                return [(key, _word(one)) for key, one in value.items()]
            case "repeated":
                return [(name, _word(value))]
        return [(name, ",".join(f"{key},{_word(one)}" for key, one in value.items()))]
    between = {"comma": ",", "space": " ", "pipe": "|"}.get(style)
    if between is not None:
        return [(name, between.join(map(_word, value)))]
    return [(f"{name}[]" if style == "brackets" else name, _word(one)) for one in value]


def _body(body: Any, media_type: str, schema: Mapping[str, Any]) -> dict[str, Any]:
    if media_type == FORM and isinstance(body, dict):
        return {"data": {key: _word(value) for key, value in body.items()}}
    if media_type == MULTIPART and isinstance(body, dict):
        fields = schema.get("properties", {})
        files = {key for key in body if fields.get(key, {}).get("format") == "binary"}
        return {"files": [(key, (key if key in files else None, _word(one).encode())) for key, one in body.items()]}
    if "json" not in media_type and isinstance(body, str):
        return {"content": body.encode(), "headers": {"content-type": media_type or "text/plain"}}
    told = json.dumps(body, ensure_ascii=False).encode()
    return {"content": told, "headers": {"content-type": media_type or "application/json"}}


def _any_body(body: Any) -> dict[str, Any]:
    """A text goes as it is."""
    return _body(body, "" if isinstance(body, str) else "application/json", {})


def _any_query(query: Mapping[str, Any]) -> list[tuple[str, str]]:
    return [pair for key, value in query.items() for pair in written(key, value, "repeated")]


def _word(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
