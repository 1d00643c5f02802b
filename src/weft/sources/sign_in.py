"""Signing in to a source: OAuth 2.1 as the protocol has it for MCP servers, and as an API's config describes it.

With PKCE S256, state and issuer checked, and a redirect to loopback. Where no browser can reach this machine, the
address it was led to is pasted, or a code is typed in elsewhere (device flow). For an MCP server the metadata of the
resource and of its authorization server are found, and a client is registered unless one is given. Whatever is refused
says what to do. The outcome is one `Grant`, whose use is in `grants.py`.
"""

from __future__ import annotations

import asyncio
import base64
import hashlib
import secrets as random
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import replace
from types import TracebackType
from typing import Any, Final, Self, cast
from urllib.parse import parse_qs, parse_qsl, urlencode, urlsplit, urlunsplit

import httpx2

from weft.protocol.errors import ExternalError, UserError, WeftError
from weft.protocol.values import dataclass
from weft.sources.config import Auth
from weft.sources.declared_sources import Source
from weft.sources.grants import Grant, TokenRefusedError, token_request, with_tokens
from weft.sources.http_client import open_client
from weft.sources.mcp_connection import hush
from weft.sources.secrets import Secrets

WAIT_SECONDS: Final = 300.0
"""For a person who signs in."""
PATH: Final = "/callback"
_PAGE: Final = b"<!doctype html><title>Weft</title><p>You may close this window and go back to Weft."
_SLOWER: Final = 5.0
DEVICE_GRANT: Final = "urn:ietf:params:oauth:grant-type:device_code"


@dataclass(frozen=True, slots=True, kw_only=True)
class SignInAsking:
    """How the person is spoken to."""

    show: Callable[[str], None]
    """Shows the address where they agree."""
    paste: Callable[[], Awaitable[str]] | None = None
    """Asks for the address they were led to; None: it comes to loopback."""
    device: bool = False
    """The code is typed in on another machine."""


async def sign_in(source: Source, secrets: Secrets, asking: SignInAsking, now: float) -> Grant:
    """What the source is let in with from now on. UserError or ExternalError in words when it is refused."""
    config = source.config
    auth = None if config.kind == "folder" else config.auth
    if config.kind == "mcp" and config.url is not None and auth is None:
        auth = Auth(type="oauth")
    if auth is None or auth.type != "oauth":
        raise UserError(f"the source {source.slug} has no sign-in by OAuth", hint="it takes a secret, or nothing")
    if asking.device:
        return await _by_device(source, auth, secrets, asking, now)
    async with _Redirect(asking) as redirect:
        if auth.authorization_url and auth.token_url:
            return await _by_config(source, auth, secrets, redirect, now)
        if config.kind != "mcp":
            raise UserError(
                f"the sign-in of {source.slug} is not described",
                hint=f"add 'authorization_url' and 'token_url' under 'auth' in {source.file}",
            )
        return await _by_protocol(source, auth, secrets, redirect, now)


# -- where the person comes back


class _Redirect:
    """A place on loopback that a browser is led back to, for one answer."""

    def __init__(self, asking: SignInAsking) -> None:
        self._asking = asking
        self._server: asyncio.Server | None = None
        self._answer: asyncio.Future[str] = asyncio.get_running_loop().create_future()
        self.uri = ""
        self._state = ""

    async def __aenter__(self) -> Self:
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", 0)
        self.uri = f"http://127.0.0.1:{self._server.sockets[0].getsockname()[1]}{PATH}"
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        assert self._server is not None
        self._server.close()
        await self._server.wait_closed()

    def show(self, address: str) -> None:
        self._state = parse_qs(urlsplit(address).query).get("state", [""])[0]
        self._asking.show(address)

    async def answer(self) -> dict[str, str]:
        """The query that came back. UserError when the person or the server refused, or nobody came."""
        try:
            async with asyncio.timeout(WAIT_SECONDS):
                if self._asking.paste is not None:
                    query = urlsplit((await self._asking.paste()).strip()).query
                else:
                    query = await self._answer
        except TimeoutError as error:
            raise UserError("nobody signed in within five minutes", hint="begin again") from error
        found = {key: values[0] for key, values in parse_qs(query).items()}
        if "error" in found:
            why = found.get("error_description") or found["error"]
            raise UserError(f"the sign-in was refused: {why[:300]}", hint="begin again, and agree there")
        return found

    def _is_of_this(self, query: str) -> bool:
        """Any page and any program here can send something to this place: what names another sign-in, or hands out a
        code for none, ends this one not."""
        said = parse_qs(query)
        return said.get("state", [""])[0] == self._state or ("error" in said and "state" not in said)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            async with asyncio.timeout(10):
                line = (await reader.readline()).decode("latin-1").split()
                while (await reader.readline()).strip():
                    continue
                target = urlsplit(line[1]) if len(line) == 3 and line[0] == "GET" else None
                mine = target is not None and target.path == PATH and self._is_of_this(target.query)
                status = b"200 OK" if mine else b"404 Not Found"
                writer.write(
                    b"HTTP/1.1 " + status + b"\r\nContent-Type: text/html; charset=utf-8\r\nConnection: close\r\n"
                    b"Content-Length: " + str(len(_PAGE)).encode() + b"\r\n\r\n" + _PAGE
                )
                await writer.drain()
                if mine and target is not None and not self._answer.done():
                    self._answer.set_result(target.query)
        except (OSError, TimeoutError, ValueError):
            return
        finally:
            writer.close()


# -- an API, as its config describes it


async def _by_config(source: Source, auth: Auth, secrets: Secrets, redirect: _Redirect, now: float) -> Grant:
    client = _client(source, auth, secrets)
    verifier, state = random.token_urlsafe(48), random.token_urlsafe(24)
    challenge = base64.urlsafe_b64encode(hashlib.sha256(verifier.encode()).digest()).decode().rstrip("=")
    asked = {
        "response_type": "code",
        "client_id": client.client_id,
        "redirect_uri": redirect.uri,
        "state": state,
        "code_challenge": challenge,
        "code_challenge_method": "S256",
        **({"scope": " ".join(auth.scopes)} if auth.scopes else {}),
        **auth.parameters,
    }
    assert auth.authorization_url is not None
    joint = "&" if "?" in auth.authorization_url else "?"
    redirect.show(f"{auth.authorization_url}{joint}{urlencode(asked)}")
    told = await redirect.answer()
    if not random.compare_digest(told.get("state", ""), state):
        raise UserError("the answer does not belong to this sign-in", hint="begin again; nothing was stored")
    form = {
        "grant_type": "authorization_code",
        "code": told.get("code", ""),
        "redirect_uri": redirect.uri,
        "code_verifier": verifier,
    }
    return with_tokens(client, await _exchanged(client, form), now)


def _client(source: Source, auth: Auth, secrets: Secrets) -> Grant:
    if auth.client_id is None:
        raise UserError(
            f"the sign-in of {source.slug} needs a client id",
            hint=f"register Weft there, and write 'client_id' under 'auth' in {source.file}",
        )
    secret = secrets.value(auth.client_secret) if auth.client_secret else ""
    return Grant(token_url=auth.token_url or "", client_id=auth.client_id, client_secret=secret)


async def _exchanged(client: Grant, form: Mapping[str, str]) -> dict[str, Any]:
    try:
        return await token_request(client, form)
    except TokenRefusedError as error:
        raise UserError(f"no token was given: {error.message}", hint="check 'client_id' and its secret") from error


async def _by_device(source: Source, auth: Auth, secrets: Secrets, asking: SignInAsking, now: float) -> Grant:
    client, device_url, home = await _device_client(source, auth, secrets)
    asked = {"client_id": client.client_id, **({"scope": " ".join(auth.scopes)} if auth.scopes else {})}
    asked |= {"resource": client.resource} if client.resource else {}
    async with open_client(home, faults_as_answers=False) as http:
        response = await http.post(device_url, data=asked, headers={"accept": "application/json"})
    told = _object(response)
    if "device_code" not in told:
        raise UserError(f"{device_url} gave no code (status {response.status_code})", hint="check 'client_id'")
    where = told.get("verification_uri_complete") or told.get("verification_uri", "")
    asking.show(f"{where} with the code {told.get('user_code', '')}")
    every = float(told.get("interval", 5))
    form = {"grant_type": DEVICE_GRANT, "device_code": told["device_code"]}
    left = min(float(told.get("expires_in", WAIT_SECONDS)), WAIT_SECONDS)
    while left > 0:
        await asyncio.sleep(every)
        left -= every
        try:
            return with_tokens(client, await token_request(client, form), now)
        except TokenRefusedError as error:
            if error.code == "slow_down":
                every += _SLOWER
            elif error.code != "authorization_pending":
                raise UserError(f"the sign-in was refused: {error.message}", hint="begin again") from error
    raise UserError("nobody typed in the code", hint="begin again")


async def _device_client(source: Source, auth: Auth, secrets: Secrets) -> tuple[Grant, str, str]:
    """Who asks for a code, where, and the address that everything else must be as public as."""
    config = source.config
    home = secrets.value(config.url) if config.kind in ("mcp", "api") and config.url else auth.token_url or ""
    if auth.device_url is not None and auth.token_url is not None:
        return _client(source, auth, secrets), auth.device_url, auth.device_url
    async with open_client(home, faults_as_answers=False) as http:
        server, resource = await _authorization_server(http, config.kind == "mcp", home, auth)
        device_url, token_url = server.get("device_authorization_endpoint"), server.get("token_endpoint")
        if not isinstance(device_url, str) or not isinstance(token_url, str):
            raise UserError(
                f"the authorization server of {source.slug} hands out no codes",
                hint=f"sign in with --paste, or give 'device_url' and 'token_url' under 'auth' in {source.file}",
            )
        if auth.client_id is not None or not isinstance(server.get("registration_endpoint"), str):
            client = _client(source, auth, secrets)
        else:
            wanted = {
                "client_name": "Weft",
                "grant_types": [DEVICE_GRANT, "refresh_token"],
                "response_types": [],
                "redirect_uris": [],
                "token_endpoint_auth_method": "none",
            }
            told = _object(await http.post(server["registration_endpoint"], json=wanted))
            if not isinstance(told.get("client_id"), str):
                raise UserError(
                    f"{_host(home)} registers no clients by itself",
                    hint=f"register Weft there, and write 'client_id' under 'auth' in {source.file}",
                )
            client = Grant(client_id=told["client_id"], client_secret=str(told.get("client_secret") or ""))
    return replace(client, token_url=auth.token_url or token_url, resource=resource), device_url, home


async def _authorization_server(
    http: httpx2.AsyncClient, protocol: bool, home: str, auth: Auth
) -> tuple[dict[str, Any], str]:
    """What an authorization server says of itself, and the resource that is asked for: that of an MCP server as its
    metadata names it, that of an API where its tokens come from."""
    from mcp.client.auth.utils import (
        build_oauth_authorization_server_metadata_discovery_urls as server_urls,
    )
    from mcp.client.auth.utils import (
        build_protected_resource_metadata_discovery_urls as resource_urls,
    )
    from mcp.client.auth.utils import extract_field_from_www_auth

    issuer, resource = auth.token_url or auth.authorization_url or home, ""
    issuer = f"{urlsplit(issuer).scheme}://{urlsplit(issuer).netloc}"
    if protocol:
        refused = await http.post(home, json={"jsonrpc": "2.0", "id": 1, "method": "ping"})
        named = extract_field_from_www_auth(cast(Any, refused), "resource_metadata")
        for url in resource_urls(named, home):
            found = _object(await http.get(url))
            servers = found.get("authorization_servers")
            if isinstance(servers, list) and servers:
                issuer, resource = str(servers[0]), str(found.get("resource") or "")
                break
    for url in server_urls(issuer, home):
        found = _object(await http.get(url))
        if found:
            if str(found.get("issuer", "")).rstrip("/") != issuer.rstrip("/"):
                said = str(found.get("issuer", ""))[:200]
                raise UserError(f"{_host(url)} says that it is {said}, not {issuer}", hint="nothing was sent to it")
            return found, resource
    return {}, resource


def _object(response: httpx2.Response) -> dict[str, Any]:
    try:
        told = response.json() if response.status_code < 400 else {}
    except ValueError:
        told = {}
    return told if isinstance(told, dict) else {}


# -- an MCP server, as the protocol has it


class _Client:
    """Where the library keeps the client while it signs in: nowhere, but for one that is given."""

    def __init__(self, given: Any) -> None:
        self._given = given

    async def get_tokens(self) -> Any:
        return None

    async def set_tokens(self, tokens: Any) -> None:
        """They are read off its context."""

    async def get_client_info(self) -> Any:
        return self._given

    async def set_client_info(self, client_info: Any) -> None:
        """It is read off its context."""


async def _by_protocol(source: Source, auth: Auth, secrets: Secrets, redirect: _Redirect, now: float) -> Grant:
    from mcp.client.auth import OAuthClientProvider, OAuthFlowError, OAuthRegistrationError
    from mcp.shared.auth import AuthorizationCodeResult, OAuthClientInformationFull, OAuthClientMetadata
    from pydantic import AnyUrl

    hush()
    config = source.config
    assert config.kind == "mcp"
    assert config.url is not None
    url = secrets.value(config.url)
    uris = [AnyUrl(redirect.uri)]
    metadata = OAuthClientMetadata(redirect_uris=uris, client_name="Weft", token_endpoint_auth_method="none")
    given = None
    if auth.client_id:
        secret = secrets.value(auth.client_secret) if auth.client_secret else None
        method = "client_secret_post" if secret else "none"
        given = OAuthClientInformationFull(
            client_id=auth.client_id, client_secret=secret, redirect_uris=uris, token_endpoint_auth_method=method
        )

    async def show(address: str) -> None:
        if given is not None and given.client_secret:  # by now it is known how its secret is taken
            found = provider.context.oauth_metadata
            ways = (found.token_endpoint_auth_methods_supported if found else None) or ["client_secret_basic"]
            basic = "client_secret_basic" in ways
            given.token_endpoint_auth_method = "client_secret_basic" if basic else "client_secret_post"
        redirect.show(_asking_for(address, auth))

    async def answer() -> AuthorizationCodeResult:
        told = await redirect.answer()
        return AuthorizationCodeResult(code=told.get("code", ""), state=told.get("state"), iss=told.get("iss"))

    provider = OAuthClientProvider(url, metadata, _Client(given), show, answer)
    body = {"jsonrpc": "2.0", "id": 1, "method": "ping"}
    headers = {"accept": "application/json, text/event-stream", **secrets.values(config.headers)}
    try:
        async with open_client(url, auth=provider, headers=headers, faults_as_answers=False) as client:
            await client.post(url, json=body)
    except OAuthRegistrationError as error:
        raise UserError(
            f"{_host(url)} registers no clients by itself: {str(error)[:200]}",
            hint=f"register Weft there, and write 'client_id' (and 'client_secret') under 'auth' in {source.file}",
        ) from error
    except OAuthFlowError as error:
        raise UserError(f"the sign-in of {source.slug} failed: {str(error)[:300]}", hint="begin again") from error
    except WeftError:
        raise
    except (httpx2.HTTPError, ValueError) as error:
        raise ExternalError(f"the sign-in of {source.slug} failed: {str(error)[:300]}", retryable=True) from error
    return _granted(source, provider.context, now)


def _asking_for(address: str, auth: Auth) -> str:
    """The address with what the config wants asked for."""
    parts = urlsplit(address)
    query = dict(parse_qsl(parts.query)) | auth.parameters
    if auth.scopes:
        query["scope"] = " ".join(auth.scopes)
    return urlunsplit(parts._replace(query=urlencode(query)))


def _granted(source: Source, context: Any, now: float) -> Grant:
    tokens, client, found = context.current_tokens, context.client_info, context.oauth_metadata
    if tokens is None or client is None:
        raise UserError(f"the source {source.slug} asked for no sign-in", hint=f"weft sources test {source.slug}")
    token_url = (
        str(found.token_endpoint) if found else f"{context.get_authorization_base_url(context.server_url)}/token"
    )
    grant = Grant(
        token_url=token_url,
        client_id=client.client_id,
        client_secret=client.client_secret or "",
        basic=client.token_endpoint_auth_method == "client_secret_basic",
        resource=context.get_resource_url() if context.should_include_resource_param(context.protocol_version) else "",
    )
    told = {"access_token": tokens.access_token, "refresh_token": tokens.refresh_token, "scope": tokens.scope}
    return with_tokens(grant, {**told, "expires_in": tokens.expires_in}, now)


def _host(url: str) -> str:
    return urlsplit(url).hostname or url
