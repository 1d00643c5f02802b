"""A server is killed in each phase of a call, over standard output and over HTTP: what the caller is told, what is
known of the effect, how often the call was made, and that the next call works."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, Literal

import pytest

from tests.sources.conftest import OpenShelf
from tests.sources.made import Shelf
from weft.sources.mcp_connection import McpConnection

pytestmark = pytest.mark.process
SERVER = Path(__file__).with_name("dying_server.py")
Way = Literal["command", "http"]
LOST = "was lost in the middle of {tool}"
PHASES: list[tuple[str, str, str, str, int]] = [
    # the phase, the tool, what is said, what is known of the effect, how often the server was called
    ("initialize", "write", "can't be reached", "none", 0),
    ("idle", "write", "done", "completed", 1),
    ("in the middle", "write", LOST, "unknown", 1),
    ("in the middle", "look", "done", "completed", 2),  # it only looks: made again, with whoever starts it again
    ("progress", "write", LOST, "unknown", 1),
    ("elicitation", "ask", LOST, "unknown", 1),
    ("answering", "write", LOST, "unknown", 1),
    ("after", "write", "done", "completed", 1),
]


@pytest.mark.parametrize("way", ["command", "http"])
def test_a_server_that_is_killed_in_each_phase(opened: OpenShelf, way: Way) -> None:
    async def life() -> None:
        async with opened() as shelf, _Dying(way, shelf).up() as dying:
            dying.next("list")
            assert (await shelf.reach("dying")).state == ("ready" if way == "command" else "failed")
            for phase, tool, said, effect, times in PHASES:
                if way == "http" and tool == "look":  # whom nobody has started again yet
                    said, effect, times = "can't be reached", "none", 1
                await dying.whole()
                await dying.begin(phase)
                outcome = await shelf.call(f"dying__{tool}", ask=dying.asked)
                told = (phase, tool, outcome.text)
                assert said.format(tool=tool) in outcome.text, told
                assert outcome.effect == effect, told
                assert outcome.is_error == (effect != "completed"), told
                assert len(dying.calls()) == times, told
                if outcome.effect == "unknown":
                    assert "Whether the call was carried out is not known" in outcome.text
                    assert "signal 9" in outcome.text or "broke" in outcome.text or "ended" in outcome.text, told

    asyncio.run(asyncio.wait_for(life(), 120))


class _Dying:
    """The server, and for HTTP whoever starts it again when it is gone."""

    def __init__(self, way: Way, shelf: Shelf) -> None:
        self._way = way
        self._shelf = shelf
        self._at = shelf.counted
        self._process: subprocess.Popen[bytes] | None = None
        self._port = 0
        self._dies = False

    @asynccontextmanager
    async def up(self) -> AsyncIterator[_Dying]:
        folders = {"read": [str(SERVER.parent)], "write": [str(self._at)]}
        if self._way == "command":
            words = ["-I", "-S", str(SERVER), str(self._at)]
            self._shelf.add("dying", {"kind": "mcp", "command": sys.executable, "args": words, **folders})
            yield self
            return
        await self._start()
        self._shelf.add("dying", {"kind": "mcp", "url": f"http://127.0.0.1:{self._port}/mcp"})
        try:
            yield self
        finally:
            assert self._process is not None
            self._process.kill()
            self._process.wait()

    async def _start(self) -> None:
        (self._at / "ready").unlink(missing_ok=True)
        words = [sys.executable, "-I", "-S", str(SERVER), str(self._at), str(self._port)]
        self._process = subprocess.Popen(words)
        while not (text := (self._at / "ready").read_text() if (self._at / "ready").exists() else ""):
            await asyncio.sleep(0.01)
        self._port, self._dies = int(text), False

    async def whole(self) -> None:
        """It is there, whatever was done to it, and a call works."""
        if self._process is not None and self._dies:
            self._process.wait()
            await self._start()
        reached = await self._shelf.reach("dying")
        assert reached.state == "ready", reached.why
        outcome = await self._shelf.call("dying__write")
        assert outcome.text == "done", outcome.text
        (self._at / "calls").unlink()

    async def begin(self, phase: str) -> None:
        """So that the next call meets the end of it in this phase."""
        if phase == "idle" and self._process is not None:
            await self._again()
        elif phase == "idle":
            self.next(phase)
            assert (await self._shelf.reach("dying")).state == "ready", "it dies after it was listed"
            connection = self._shelf.sources.connector(self._shelf.sources.one("dying"), "test")
            assert isinstance(connection, McpConnection)
            async with asyncio.timeout(60):
                while connection.answers:
                    await asyncio.sleep(0.01)
        else:
            if phase == "initialize":
                await self._shelf.sources.release("test")
            self.next(phase)

    async def _again(self) -> None:
        assert self._process is not None
        self._process.kill()
        self._process.wait()
        await self._start()

    def next(self, phase: str) -> None:
        if phase != "elicitation":  # that one is begun by whoever is asked
            (self._at / "phase").write_text(phase)
        self._dies = True

    async def asked(self, _: Any) -> dict[str, str]:
        """The person is asked, and the server is gone before they have answered."""
        (self._at / "asked").write_text("")
        await asyncio.Event().wait()
        raise AssertionError("nobody answers")

    def calls(self) -> list[str]:
        path = self._at / "calls"
        return path.read_text().splitlines() if path.exists() else []
