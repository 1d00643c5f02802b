"""Calls of tools on real folders: a working folder, a session folder beside it, and what came of the call."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from typing import Any, TypeVar

from weft.files import Folder
from weft.protocol.messages import ToolCall
from weft.tools.builtin import builtin_tools
from weft.tools.results import keeper
from weft.tools.tool import Context, Handle, Outcome
from weft.tools.toolbox import Toolbox

Value = TypeVar("Value")
DEADLINE = 50.0
"""Seconds; far more than anything takes, less than a test may."""


class Place:
    def __init__(self, root: Path) -> None:
        self.working, self.session = root / "working", root / "session"
        self.working.mkdir()
        self.session.mkdir()
        self.progress: list[str] = []

    def context(self, **more: Any) -> Context:
        session = Folder.open(self.session)
        given: dict[str, Any] = {
            "call": "call-1",
            "working": Folder.open(self.working),
            "session": session,
            "environment": dict(os.environ),
            "keep": keeper(session),
            "progress": self.progress.append,
        }
        return Context(**{**given, **more})

    def write(self, name: str, content: str | bytes) -> Path:
        path = self.working / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return path

    def call(self, tool: str, given: Mapping[str, Any], **more: Any) -> Outcome:
        """The outcome of a call that nobody interrupts, after everything of it is gone."""

        async def whole(handle: Handle) -> Outcome:
            outcome = await handle.result()
            await handle.closed()
            return outcome

        return self.started(tool, given, whole, **more)

    def started(
        self, tool: str, given: Mapping[str, Any], then: Callable[[Handle], Awaitable[Value]], **more: Any
    ) -> Value:
        """What `then` makes of the handle of a call that was started."""
        toolbox = more.pop("toolbox", None) or Toolbox(builtin_tools())

        async def whole() -> Value:
            context = self.context(**more)
            try:
                async with asyncio.timeout(DEADLINE):
                    handle = await toolbox.start(ToolCall(call="call-1", tool=tool, input=given), context)
                    return await then(handle)
            finally:
                context.working.close()
                if context.session is not None:
                    context.session.close()

        return asyncio.run(whole())
