"""What whoever begins to talk is shown first: the conversation so far, and what the run beside it asks."""

from __future__ import annotations

from weft.cli.chat.ports import ChatSession
from weft.protocol.conversation_events import ConversationEvent
from weft.protocol.events import Event, NoticeGiven, Record

MAIN = "main"


def of_main(record: Record) -> bool:
    """Whether it is of the conversation itself; what a run did before is in its own pages."""
    event = record.event
    return isinstance(event, ConversationEvent) and (
        event.conversation == MAIN or event.conversation.startswith(f"{MAIN}/")
    )


def greeting(session: ChatSession) -> list[Event]:
    """What the run of the session asks now, or that it could be taken up again."""
    if text := session.unfinished:
        return [NoticeGiven(text=text)]
    return [*session.asks]
