"""What a source is let in with: a secret that a person typed, or tokens of a sign-in, in the credential store.

Kept by the source's key (where it is declared, and its address), so that another address never gets them. A token is
refreshed before it runs out and once after a refusal, by one at a time: in this process by a lock, between processes by
a file; whoever comes second finds the new one. Nothing of it is in a file of the workspace, a log or a message.
"""

from __future__ import annotations

import asyncio
import base64
import fcntl
import json
import os
import time
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import asdict, field, replace
from pathlib import Path
from typing import Any, Final, Protocol
from urllib.parse import quote

import httpx2

from weft.files import Folder
from weft.protocol.errors import ExternalError, WeftError
from weft.protocol.values import dataclass
from weft.redaction import REDACTOR
from weft.sources.config import Auth
from weft.sources.connector import NeedsSignInError
from weft.sources.http_client import open_client
from weft.sources.secrets import Secrets
from weft.tools.threads import in_thread

LOCK: Final = "sign-in.lock"
EARLY_SECONDS: Final = 60.0
"""A token that runs out so soon is refreshed first."""
TOKEN_SECONDS: Final = 20.0


class KeyStore(Protocol):
    """The credential store, as far as it is needed."""

    def get(self, name: str) -> str | None: ...

    def put(self, name: str, key: str) -> None: ...

    def remove(self, name: str) -> bool: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Grant:
    """What a sign-in gave."""

    secret: str = field(default="", repr=False)
    """A secret that was typed; empty when there are tokens."""
    access_token: str = field(default="", repr=False)
    refresh_token: str = field(default="", repr=False)
    expires_at: float | None = None
    token_url: str = ""
    client_id: str = ""
    client_secret: str = field(default="", repr=False)
    basic: bool = False
    """Whether the client's secret goes into a header, not into the form."""
    scope: str = ""
    resource: str = ""


class Grants:
    def __init__(self, store: Callable[[], KeyStore], own: Path, clock: Callable[[], float] = time.time) -> None:
        """`store` opens the credential store; it is only asked for when something in it is needed."""
        self._store = store
        self._own = own
        self._clock = clock
        self._known: dict[str, Grant | None] = {}
        self._locks: dict[str, asyncio.Lock] = {}

    def get(self, key: str) -> Grant | None:
        if key not in self._known:
            self._known[key] = _learnt(self._read(key))
        return self._known[key]

    def put(self, key: str, grant: Grant) -> None:
        self._store().put(_name(key), json.dumps(asdict(grant)))
        self._known[key] = _learnt(grant)

    def forget(self, key: str) -> None:
        """What is known of it here: another process may sign in."""
        self._known.pop(key, None)

    def remove(self, key: str) -> bool:
        self._known.pop(key, None)
        return self._store().remove(_name(key))

    def _read(self, key: str) -> Grant | None:
        found = self._store().get(_name(key))
        return Grant(**json.loads(found)) if found else None

    async def fresh(self, slug: str, key: str, refused: str = "") -> Grant | None:
        """The grant with a token that is good as far as is known. `refused` is one that the server did not take."""
        grant = await in_thread(lambda: self.get(key), "weft-grant")
        if grant is None or not grant.access_token:
            return grant
        if grant.access_token != refused and not self._runs_out(grant):
            return grant
        if not grant.refresh_token:
            return None if refused or self._is_over(grant) else grant
        async with self._locks.setdefault(key, asyncio.Lock()), self._alone():
            self._known.pop(key, None)
            grant = await in_thread(lambda: self.get(key), "weft-grant")
            if grant is None or (grant.access_token != refused and not self._runs_out(grant)):
                return grant  # another has done it
            return await self._refreshed(slug, key, grant)

    def _runs_out(self, grant: Grant) -> bool:
        return grant.expires_at is not None and grant.expires_at - EARLY_SECONDS < self._clock()

    def _is_over(self, grant: Grant) -> bool:
        return grant.expires_at is not None and grant.expires_at <= self._clock()

    @asynccontextmanager
    async def _alone(self) -> AsyncIterator[None]:
        """Of all processes of this person."""

        def taken() -> int:
            with Folder.open(self._own, create=True) as folder:
                held = os.open(LOCK, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600, dir_fd=folder.fd)
            fcntl.flock(held, fcntl.LOCK_EX)
            return held

        held = await in_thread(taken, "weft-sign-in")
        try:
            yield
        finally:
            os.close(held)

    async def _refreshed(self, slug: str, key: str, grant: Grant) -> Grant | None:
        form = {"grant_type": "refresh_token", "refresh_token": grant.refresh_token}
        try:
            told = await token_request(grant, form)
        except TokenRefusedError as refused:
            if refused.final:
                await in_thread(lambda: self.remove(key), "weft-grant")
                raise NeedsSignInError(slug, f"its token was not renewed ({refused.message})") from refused
            raise
        new = with_tokens(grant, told, self._clock())
        await in_thread(lambda: self.put(key, new), "weft-grant")
        return new


class TokenRefusedError(ExternalError):
    """A token endpoint said no. `final`: asking again brings nothing."""

    def __init__(self, message: str, *, final: bool, code: str = "") -> None:
        super().__init__(message, hint="sign in again: weft sources sign-in", retryable=not final)
        self.final = final
        self.code = code


async def token_request(grant: Grant, form: Mapping[str, str]) -> dict[str, Any]:
    """Asks a token endpoint, as the client that the grant names."""
    data, headers = dict(form), {"accept": "application/json"}
    if grant.resource:
        data.setdefault("resource", grant.resource)
    if grant.basic and grant.client_secret:
        pair = f"{quote(grant.client_id, safe='')}:{quote(grant.client_secret, safe='')}"
        headers["authorization"] = "Basic " + base64.b64encode(pair.encode()).decode()
    else:
        data["client_id"] = grant.client_id
        if grant.client_secret:
            data["client_secret"] = grant.client_secret
    async with open_client(grant.token_url, faults_as_answers=False) as client:
        try:
            async with asyncio.timeout(TOKEN_SECONDS):
                response = await client.post(grant.token_url, data=data, headers=headers)
        except TimeoutError as error:
            raise TokenRefusedError(f"{grant.token_url} gave no answer", final=False) from error
        except WeftError as error:
            raise TokenRefusedError(error.message, final=False) from error
    try:
        told = response.json()
    except ValueError:
        told = {}
    told = told if isinstance(told, dict) else {}
    if response.status_code >= 400 or "access_token" not in told:
        code = str(told.get("error", ""))
        words = code or f"status {response.status_code}"
        if told.get("error_description"):
            words += f": {str(told['error_description'])[:200]}"
        raise TokenRefusedError(words, final=400 <= response.status_code < 500, code=code)
    return told


def with_tokens(grant: Grant, told: Mapping[str, Any], now: float) -> Grant:
    lasts = told.get("expires_in")
    return replace(
        grant,
        access_token=str(told["access_token"]),
        refresh_token=str(told.get("refresh_token") or grant.refresh_token),
        expires_at=now + float(lasts) if isinstance(lasts, int | float | str) and str(lasts) else None,
        scope=str(told.get("scope") or grant.scope),
    )


class SourceAuth(httpx2.Auth):
    """Puts what a source is let in with on every request to it, and nowhere else."""

    def __init__(self, slug: str, key: str, home: str, auth: Auth, secrets: Secrets, grants: Grants) -> None:
        self._slug = slug
        self._key = key
        self._host = httpx2.URL(home).host
        self._auth = auth
        self._secrets = secrets
        self._grants = grants

    async def async_auth_flow(self, request: httpx2.Request) -> AsyncGenerator[httpx2.Request, httpx2.Response]:
        if request.url.host != self._host:
            yield request
            return
        grant = await self._grant()
        self._put(request, grant)
        response = yield request
        if response.status_code == 401 and self._auth.type == "oauth" and grant.access_token:
            again = await self._grants.fresh(self._slug, self._key, refused=grant.access_token)
            if again is not None and again.access_token != grant.access_token:
                self._put(request, again)
                yield request

    async def _grant(self) -> Grant:
        if self._auth.type == "oauth":
            grant = await self._grants.fresh(self._slug, self._key)
        elif self._auth.secret is not None:
            where = self._auth.secret
            return Grant(secret=await in_thread(lambda: self._secrets.value(where), "weft-grant"))
        else:
            grant = await in_thread(lambda: self._grants.get(self._key), "weft-grant")
        if grant is None:
            raise NeedsSignInError(self._slug)
        return grant

    def _put(self, request: httpx2.Request, grant: Grant) -> None:
        auth, secret = self._auth, grant.access_token or grant.secret
        match auth.type:
            case "bearer" | "oauth":
                scheme = "Bearer" if auth.type == "oauth" else auth.scheme
                request.headers[auth.header] = f"{scheme} {secret}".strip()
            case "header":
                request.headers[auth.header] = secret
            case "query":
                request.url = request.url.copy_set_param(auth.query, secret)
            case "basic":
                pair = f"{auth.user or ''}:{secret}" if auth.user or ":" not in secret else secret
                REDACTOR.learn("of a source", pair)
                request.headers["authorization"] = "Basic " + base64.b64encode(pair.encode()).decode()


def _learnt(grant: Grant | None) -> Grant | None:
    """From now on nothing of it stands in what is kept or shown."""
    if grant is not None:
        for secret in (grant.secret, grant.access_token, grant.refresh_token, grant.client_secret):
            REDACTOR.learn("of a source", secret)
    return grant


def _name(key: str) -> str:
    return f"source {key}"
