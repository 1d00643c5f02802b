"""What the face of a conversation needs of a session: its door, and a few things that follow from it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Protocol

from weft.app import Export, Fork, KnownWords, LibraryDraft, Mentionable, Overview
from weft.protocol.commands import Reply, SessionCommand
from weft.protocol.envelope import Actor
from weft.protocol.events import ConfirmationAsked, Event, GateOpened, Outcome, Record


class ChatSession(Protocol):
    """`weft.app.OpenedSession`, as far as the face uses it."""

    id: str

    def submit(self, command: SessionCommand, *, key: str = "", by: Actor = ...) -> asyncio.Future[Reply]: ...

    def events(self, after: int = 0) -> AsyncIterator[Record | Event]: ...

    async def records(self, after: int = 0) -> list[Record]: ...

    async def rest(self) -> Outcome | None: ...

    async def known_words(self) -> KnownWords: ...

    async def mentionable(self) -> list[Mentionable]: ...

    @property
    def working(self) -> Path: ...

    async def build(self, words: str) -> LibraryDraft: ...

    async def lay(self, draft: LibraryDraft) -> None: ...

    async def said_before(self) -> list[str]: ...

    async def answered(self, wanted: Overview | Fork | Export) -> str: ...

    async def close(self, *, keep_open: bool | None = None) -> bool: ...

    @property
    def asks(self) -> tuple[GateOpened | ConfirmationAsked, ...]: ...

    @property
    def unfinished(self) -> str: ...
