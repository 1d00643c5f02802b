"""The Model Context Protocol behind the guard: `/mcp/WORKSPACE` has the sessions, `/mcp/WORKSPACE/NAME` a collection.

A collection is opened with the first request for it and stays open until the server ends.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from contextlib import AsyncExitStack
from typing import Final

from weft.app import App
from weft.protocol.errors import WeftError
from weft.web.guard import ASGIApp, Receive, Refusal, Scope, Send, refuse

PATH: Final = "/mcp"


class McpHall:
    def __init__(self, apps: Mapping[str, App], tasks: asyncio.TaskGroup) -> None:
        self._apps = apps
        self._tasks = tasks
        self._open: dict[str, asyncio.Future[ASGIApp]] = {}
        self._leaving = asyncio.Event()
        self._running: set[asyncio.Task[None]] = set()

    def before(self, rest: ASGIApp) -> ASGIApp:
        """Takes what is below /mcp; everything else goes on to `rest`."""

        async def answer(scope: Scope, receive: Receive, send: Send) -> None:
            if scope["type"] == "http" and scope["path"].startswith(f"{PATH}/"):
                await self._answer(scope, receive, send)
            else:
                await rest(scope, receive, send)

        return answer

    async def close(self) -> None:
        self._leaving.set()
        if self._running:
            await asyncio.wait(self._running)

    async def _answer(self, scope: Scope, receive: Receive, send: Send) -> None:
        path = scope["path"].rstrip("/")
        workspace, *rest = path.removeprefix(PATH).removeprefix("/").split("/")
        if workspace not in self._apps or len(rest) > 1:
            hint = "the address is /mcp/WORKSPACE for its sessions, /mcp/WORKSPACE/COLLECTION for a collection"
            await refuse(Refusal(404, f"there is nothing at {path[:200]}", hint), PATH, send)
            return
        try:
            app = await self._opened(path, workspace, rest[0] if rest else "")
        except WeftError as error:
            await refuse(Refusal(404, error.message, error.hint), PATH, send)
            return
        await app({**scope, "path": path, "raw_path": path.encode()}, receive, send)

    async def _opened(self, path: str, workspace: str, collection: str) -> ASGIApp:
        if path not in self._open:
            ready: asyncio.Future[ASGIApp] = asyncio.get_running_loop().create_future()
            self._open[path] = ready
            task = self._tasks.create_task(self._hold(path, workspace, collection, ready), name=f"offers {path}")
            self._running.add(task)
            task.add_done_callback(self._running.discard)
        return await asyncio.shield(self._open[path])

    async def _hold(self, path: str, workspace: str, collection: str, ready: asyncio.Future[ASGIApp]) -> None:
        try:
            async with AsyncExitStack() as stack:
                home = self._apps[workspace]
                if collection:
                    from weft.app import Collections

                    one = stack.enter_context(Collections(home.workspace).opened(collection))
                    app = await stack.enter_async_context(one.answering_http(path))
                else:
                    from weft.app.sessions.session_serving import (
                        answering_sessions,  # few ask for it, and it is a lot to load
                    )

                    app = await stack.enter_async_context(answering_sessions(home, path))
                ready.set_result(app)
                await self._leaving.wait()
        except WeftError as error:
            self._open.pop(path, None)
            if not ready.done():
                ready.set_exception(error)
