"""A GGUF file on this machine, run by xllamacpp in a process of its own. Needs the extra: `pip install weft[llm]`.

The process speaks OpenAI's chat format on loopback, guarded by a key that lives as long as it does, so all else is
`OpenAIChat`. It starts with the first call and ends with `aclose`, or when this process does.
"""

from __future__ import annotations

import asyncio
import json
import os
import secrets
import signal
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import aclosing
from dataclasses import replace
from pathlib import Path
from typing import Any, Final, cast

from weft.models.endpoint import Endpoint
from weft.models.http_model import Repetition
from weft.models.model import ModelError, Part, Request, Stop, TextDelta
from weft.models.openai_chat import OpenAIChat
from weft.models.structured import Way
from weft.protocol.messages import Usage

DEFAULT_WINDOW: Final = 4096
MAX_TOKENS: Final = 1024
"""A small model does not always find its end."""
LOOP: Final = 240
"""Characters: so much of the same is no answer any more, from a small model."""
_AGAINST_LOOPS: Final = {"repeat_penalty": 1.1, "dry_multiplier": 0.8, "dry_penalty_last_n": 256}
_LAST_WORDS: Final = 5.0


class _Local(OpenAIChat):
    """The server's own words for what keeps a small model from going round in circles, within what it wrote itself."""

    def body(self, request: Request) -> dict[str, Any]:
        return {**super().body(request), **_AGAINST_LOOPS}


class LocalGguf:
    output_ways: tuple[Way, ...] = ("native", "prompted")
    """Small models fill a grammar but rarely call a tool."""

    def __init__(self, *, name: str, file: Path, window: int = 0, threads: int = 0) -> None:
        self._name = name
        self._file = file
        self._window = window or DEFAULT_WINDOW
        self._threads = threads
        self._starting = asyncio.Lock()
        self._child: subprocess.Popen[str] | None = None
        self._client: OpenAIChat | None = None

    @property
    def name(self) -> str:
        return self._name

    @property
    def window(self) -> int:
        return self._window

    async def stream(self, request: Request) -> AsyncIterator[Part]:
        client = await self._ready()
        most = min(MAX_TOKENS, self._window // 4)
        bounded = request if request.max_tokens is not None else replace(request, max_tokens=most)
        watch, pieces = Repetition(LOOP), 0
        async with aclosing(cast(Any, client.stream(bounded))) as parts:
            async for part in parts:
                yield part
                if isinstance(part, TextDelta):
                    pieces += 1
                    if watch.notes(part.text):
                        yield Usage(output=pieces)
                        yield Stop(reason="repeated")  # it would go on like this to the last token it is given
                        return

    async def prepare(self) -> None:
        """Starts the server, which the first call would wait for."""
        await self._ready()

    async def aclose(self) -> None:
        client, self._client = self._client, None
        child, self._child = self._child, None
        if client is not None:
            await client.aclose()
        if child is not None:
            await asyncio.to_thread(_end, child)

    async def _ready(self) -> OpenAIChat:
        async with self._starting:
            if self._client is None or self._child is None or self._child.poll() is not None:
                await self.aclose()
                self._client = await asyncio.to_thread(self._start)
            return self._client

    def _start(self) -> OpenAIChat:
        if not self._file.is_file():
            raise ModelError("invalid_request", f"{self._name}: there is no file {self._file}", hint="check its path")
        key = secrets.token_hex(16)
        self._child = child = subprocess.Popen(
            [sys.executable, "-m", "weft.models.gguf_server"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            start_new_session=True,
        )
        assert child.stdin is not None
        assert child.stdout is not None
        told = {"file": str(self._file), "window": self._window, "threads": self._threads, "key": key}
        child.stdin.write(json.dumps(told) + "\n")
        child.stdin.flush()
        line = child.stdout.readline()
        said = json.loads(line) if line else {"error": "it ended while the file was loaded", "hint": "is it complete?"}
        if "error" in said:
            _end(child)
            raise ModelError("invalid_request", f"{self._name}: {said['error']}", hint=said.get("hint", ""))
        return _Local(Endpoint(name=self._name, model=self._file.stem, base_url=said["url"], key=key))


def _end(child: subprocess.Popen[str]) -> None:
    """Closing its input ends it; what does not end is ended."""
    for pipe in (child.stdin, child.stdout):
        if pipe is not None:
            pipe.close()
    try:
        child.wait(_LAST_WORDS)
    except subprocess.TimeoutExpired:
        os.killpg(child.pid, signal.SIGKILL)
        child.wait()
