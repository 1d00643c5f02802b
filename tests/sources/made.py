"""Workspaces with sources, and calls of their tools, for the tests of sources."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Awaitable, Callable, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from weft.files import Folder
from weft.sources.connected_sources import Sources
from weft.sources.listing import Reached
from weft.tools.results import keeper
from weft.tools.tool import Context, Outcome, Question
from weft.tools.toolbox import Toolbox

ODD_SERVER = Path(__file__).with_name("odd_server.py")


class MemoryStore:
    """A credential store that forgets."""

    def __init__(self) -> None:
        self.keys: dict[str, str] = {}

    def get(self, name: str) -> str | None:
        return self.keys.get(name)

    def put(self, name: str, key: str) -> None:
        self.keys[name] = key

    def remove(self, name: str) -> bool:
        return self.keys.pop(name, None) is not None


class Shelf:
    """A workspace with sources, open for the time of a test."""

    def __init__(self, top: Path) -> None:
        self.workspace, self.own, self.counted = top / "workspace", top / "own", top / "counted"
        for folder in (self.workspace, self.own, self.counted):
            folder.mkdir()
        self.folder = Folder.open(self.workspace)
        self.store = MemoryStore()
        self.said: list[str] = []
        environment = {"PATH": os.environ["PATH"], "HOME": str(top), "PRIVATE_TOKEN": "hidden"}
        self.sources = Sources(
            workspace=self.folder,
            own=self.own,
            surroundings=environment,
            store=lambda: self.store,
            now=lambda: datetime.now(UTC),
        )

    def add(self, slug: str, config: Mapping[str, Any], *, mine: bool = False, guide: str = "") -> None:
        folder = (self.own if mine else self.workspace) / "sources" / slug
        folder.mkdir(parents=True)
        (folder / "config.json").write_text(json.dumps(config))
        if guide:
            (folder / "guide.md").write_text(guide)

    def add_odd(self, slug: str = "odd", **more: Any) -> None:
        """The server that misbehaves; each but the first counts in a folder of its own."""
        counted = self.counted if slug == "odd" else self.counted / slug
        counted.mkdir(exist_ok=True)
        self.add(
            slug,
            {
                "kind": "mcp",
                "command": sys.executable,
                "args": ["-I", "-S", str(ODD_SERVER), str(counted)],
                "read": [str(ODD_SERVER.parent)],
                "write": [str(counted)],
                **more,
            },
        )

    async def reach(self, slug: str) -> Reached:
        return await self.sources.reach(self.sources.one(slug), "test")

    def box(self) -> Toolbox:
        tools, notes = self.sources.offer("test")
        return Toolbox(tools, notes)

    async def call(
        self, tool: str, given: Mapping[str, Any] | None = None, ask: Callable[..., Awaitable[Any]] | None = None
    ) -> Outcome:
        found = self.box().get(tool)
        assert found is not None, f"{tool} is not offered"
        handle = await found.start(given or {}, self.context(ask))
        outcome = await handle.result()
        await handle.closed()
        return outcome

    def context(self, ask: Callable[..., Awaitable[Any]] | None = None) -> Context:
        return Context(
            call="1",
            working=self.folder,
            session=self.folder,
            keep=keeper(self.folder),
            progress=self.said.append,
            ask_person=ask,
        )

    def count(self, what: str) -> int:
        path = self.counted / what
        return int(path.read_text()) if path.exists() else 0


def answering(answers: Mapping[str, str]) -> Callable[[tuple[Question, ...]], Awaitable[dict[str, str]]]:
    """Answers each question by the word that is in its text."""

    async def answer(questions: tuple[Question, ...]) -> dict[str, str]:
        return {
            question.text: next((said for word, said in answers.items() if word in question.text), "")
            for question in questions
        }

    return answer
