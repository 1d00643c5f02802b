"""Weft: agent work you can stop, inspect, resume and trust.

    with weft.open_workspace("~/.weft") as app:
        async with app.session(weft.SessionRequest(pipeline="essay", file=Path("subject.txt"))) as session:
            outcome = await session.run(weft.StartRun())

`docs/python.md` has all of it. Importing this loads nothing: each name comes when it is first used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from weft.protocol.fronts import front
from weft.version import __version__ as __version__

if TYPE_CHECKING:
    from weft.app import App, LiveSession, OpenedSession, RegisteredFunction, SessionRequest, open_workspace
    from weft.protocol.commands import (
        Accepted,
        CancelRun,
        Interrupt,
        Refused,
        ReplyToGate,
        ResolveConfirmation,
        Say,
        StartRun,
    )
    from weft.protocol.conversation_commands import DecideApproval
    from weft.protocol.envelope import Actor
    from weft.protocol.errors import WeftError
    from weft.protocol.events import Record
else:
    __getattr__ = front(__name__)

__all__ = [
    "Accepted",
    "Actor",
    "App",
    "CancelRun",
    "DecideApproval",
    "Interrupt",
    "LiveSession",
    "OpenedSession",
    "Record",
    "Refused",
    "RegisteredFunction",
    "ReplyToGate",
    "ResolveConfirmation",
    "Say",
    "SessionRequest",
    "StartRun",
    "WeftError",
    "open_workspace",
]


def __dir__() -> list[str]:
    """What a shell or a notebook completes."""
    return [*__all__, "__version__"]
