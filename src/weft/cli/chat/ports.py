"""What the face of a conversation needs: the conversation, and what its status line says."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Literal, Protocol

from weft.cli.chat.questions import Questions
from weft.conversation.control import Reply
from weft.conversation.feed import Item
from weft.protocol.events import Record
from weft.protocol.talk import Decision

Mode = Literal["safe", "ask", "edits", "auto"]


class Talk(Protocol):
    """`weft.conversation.conversation.Conversation`, as far as a face uses it."""

    name: str

    def say(self, text: str) -> str: ...

    def interrupt(self, target: str | None = None, reason: str = "user") -> Reply: ...

    def approve(self, call: str, decision: Decision, *, conversation: str | None = None, reason: str = "") -> None: ...

    def clear_taint(self) -> None: ...

    async def past(self) -> list[Record]: ...

    def events(self, after: int = 0) -> AsyncIterator[Item]: ...

    async def idle(self) -> None: ...

    async def shutdown(self, timeout: float = 5.0) -> bool:  # noqa: ASYNC109
        ...

    async def suspend(self, timeout: float = 5.0) -> bool:  # noqa: ASYNC109
        ...


class StatusSource(Protocol):
    """Asked for each frame, so it must answer from memory."""

    @property
    def mode(self) -> Mode: ...

    def cycle_mode(self) -> Mode:
        """The next mode, which holds from now on."""
        ...

    @property
    def model(self) -> str: ...

    @property
    def tokens(self) -> int | None: ...

    @property
    def cost(self) -> str:
        """In words, such as "$0.12"; "" when nothing is known of it."""
        ...

    @property
    def context_used(self) -> float | None:
        """The filled part of the model's window, from 0 to 1."""
        ...

    @property
    def session(self) -> str: ...

    @property
    def ask_person(self) -> Questions | None:
        """Where the AskUser tool puts its questions; None when there is no such tool."""
        ...
