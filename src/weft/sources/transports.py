"""The ways to an MCP server: a command inside the boundary, streamable HTTP, and SSE for old servers."""

from __future__ import annotations

import asyncio
from contextlib import AbstractAsyncContextManager, AsyncExitStack
from types import TracebackType
from typing import TYPE_CHECKING

import httpx2

from weft.sources.http_client import open_client
from weft.sources.mcp_connection import McpLine
from weft.sources.stdio import MESSAGE_LIMIT, Launch, StdioServer

if TYPE_CHECKING:
    from mcp.client._transport import TransportStreams


class StdioLine(McpLine):
    def __init__(self, launch: Launch) -> None:
        self._server = StdioServer(launch)
        self.ended = self._server.ended
        self._streams: AbstractAsyncContextManager[TransportStreams] | None = None

    async def __aenter__(self) -> TransportStreams:
        self._streams = self._server.streams()
        return await self._streams.__aenter__()

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        assert self._streams is not None
        await self._streams.__aexit__(kind, error, trace)

    def told(self) -> tuple[str, tuple[str, ...]]:
        return self._server.why, tuple(self._server.tail)[-4:]


class HttpLine(McpLine):
    """Each request stands for itself, so there is nothing that ends by itself."""

    def __init__(
        self, url: str, *, headers: dict[str, str], auth: httpx2.Auth | None, sse: bool = False, guessed: bool = False
    ) -> None:
        self._url = url
        self._headers = headers
        self._auth = auth
        self._sse = sse
        self._guessed = guessed
        self.ended = asyncio.Event()
        self._opened = AsyncExitStack()

    def older(self) -> HttpLine | None:
        return HttpLine(self._url, headers=self._headers, auth=self._auth, sse=True) if self._guessed else None

    async def __aenter__(self) -> TransportStreams:
        async with AsyncExitStack() as opened:
            if self._sse:
                from mcp.client.sse import sse_client

                def client(
                    headers: dict[str, str] | None = None,
                    timeout: httpx2.Timeout | None = None,
                    auth: httpx2.Auth | None = None,
                ) -> httpx2.AsyncClient:
                    return open_client(self._url, auth=auth, headers=headers, faults_as_answers=False)

                streams: TransportStreams = await opened.enter_async_context(
                    sse_client(self._url, headers=self._headers, auth=self._auth, httpx_client_factory=client)
                )
            else:
                from mcp.client.streamable_http import streamable_http_client

                http = await opened.enter_async_context(
                    open_client(self._url, auth=self._auth, headers=self._headers, faults_as_answers=True)
                )
                streams = await opened.enter_async_context(
                    streamable_http_client(self._url, http_client=http, max_sse_event_size=MESSAGE_LIMIT)
                )
            self._opened = opened.pop_all()
            return streams

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._opened.__aexit__(kind, error, trace)
