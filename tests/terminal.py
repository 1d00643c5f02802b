"""A real pseudo-terminal with a program in it, read back through a terminal emulator: what a person sees."""

from __future__ import annotations

import time
from typing import Any

import pexpect
import pyte

from tests.made import Weft


class Terminal:
    def __init__(self, weft: Weft, *words: str, width: int, height: int = 24, cwd: str = "", **env: str) -> None:
        self.screen = pyte.Screen(width, height)
        self.stream = pyte.ByteStream(self.screen)
        self.raw = b""
        command = weft.command(*words)
        surroundings = {**weft.env, "TERM": "xterm-256color", "LANG": "C.UTF-8", **env}
        self.child = pexpect.spawn(
            command[0],
            command[1:],
            dimensions=(height, width),
            env=surroundings,
            timeout=60,
            use_poll=True,
            cwd=cwd or None,
        )

    def text(self) -> str:
        return "\n".join(line.rstrip() for line in self.screen.display).strip()

    def words(self) -> str:
        """The screen's words in one line, however they were wrapped."""
        return " ".join(self.text().split())

    def wait_for(self, *wanted: str, seconds: float = 60) -> str:
        """The first screen that shows all of `wanted`: a frame may arrive in several pieces."""
        deadline = time.monotonic() + seconds
        while missing := [words for words in wanted if words not in self.words()]:
            assert time.monotonic() < deadline, f"{missing} did not appear on:\n{self.text()}"
            try:
                self._feed(self.child.read_nonblocking(65536, timeout=0.2))
            except pexpect.TIMEOUT:
                continue
            except pexpect.EOF:
                missing = [words for words in wanted if words not in self.words()]
                assert not missing, f"{missing} did not appear on:\n{self.text()}"
        return self.text()

    def feed(self) -> None:
        """Take in what has come since, if anything."""
        try:
            self._feed(self.child.read_nonblocking(65536, timeout=0.05))
        except pexpect.TIMEOUT:
            return

    def end(self) -> int | None:
        try:
            while True:
                self._feed(self.child.read_nonblocking(65536, timeout=60))
        except pexpect.EOF:
            self.child.close()
        return self.child.exitstatus

    def _feed(self, data: Any) -> None:
        assert isinstance(data, bytes)
        self.raw += data
        self.stream.feed(data)
