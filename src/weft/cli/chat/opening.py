"""What whoever begins to talk is shown first: the conversation so far, and what the run beside it asks."""

from __future__ import annotations

from datetime import datetime

from weft.app import OpenedSession
from weft.protocol.conversation_events import ConversationEvent
from weft.protocol.events import Event, NoticeGiven, Record
from weft.render.conversation_view import MAIN, ConversationBlock, ConversationView


async def begin(session: OpenedSession, view: ConversationView, now: float) -> tuple[list[ConversationBlock], int]:
    """Folds what was so far; gives the blocks of that, and the number of the log after which it goes on."""
    past = await session.records()
    for record in past:
        if _of_main(record):
            view.apply(record.event, _moment(record.at))
    view.rebase(now)
    blocks = view.take()
    for event in _greeting(session):
        view.apply(event, now)
    return blocks, past[-1].seq if past else 0


def _of_main(record: Record) -> bool:
    """Whether it is of the conversation itself; what a run did before is in its own pages."""
    event = record.event
    return isinstance(event, ConversationEvent) and (
        event.conversation == MAIN or event.conversation.startswith(f"{MAIN}/")
    )


def _greeting(session: OpenedSession) -> list[Event]:
    """What the run of the session asks now, or that it could be taken up again."""
    if text := session.unfinished:
        return [NoticeGiven(text=text)]
    return [*session.asks]


def _moment(at: str) -> float:
    try:
        return datetime.fromisoformat(at).timestamp()
    except ValueError:
        return 0.0
