"""Letting go of a conversation: in order, or as it stands when a question in it waits for its answer."""

from __future__ import annotations

from weft.app import OpenedSession
from weft.render.conversation_view import ConversationView, Noted
from weft.render.units import count


async def let_go(session: OpenedSession, view: ConversationView) -> bool:
    """Whether nothing of it was left running. An approval that waits survives, as it would survive a crash."""
    return await session.close(keep_open=bool(view.approvals))


def last_words(view: ConversationView, session: str, program: str, *, clean: bool) -> list[Noted]:
    """What a person should know who leaves now."""
    again = f"{program} chat --session {session}"
    words: list[Noted] = []
    if view.approvals:
        verb = "waits" if len(view.approvals) == 1 else "wait"
        words.append(Noted(f"{count(len(view.approvals), 'question')} still {verb} for you; answer with: {again}"))
    if view.queued:
        words.append(Noted(f"{count(len(view.queued), 'queued message')} kept; sent when you go on with: {again}"))
    if not clean:
        words.append(Noted("something did not end when it was told to, and was left behind", "warning"))
    return words or [Noted(f"go on with: {again}")]
