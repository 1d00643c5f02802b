"""Weft: agent work you can stop, inspect, resume and trust.

    with weft.open_workspace("~/.weft") as app:
        async with app.session(weft.SessionRequest(pipeline="essay", file=Path("subject.txt"))) as session:
            outcome = await session.run(weft.StartRun())

`docs/python.md` has all of it. Importing this loads nothing: each name comes when it is first used.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

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

__version__ = "0.1.0"

_HOMES = {
    "weft.app": ("App", "LiveSession", "OpenedSession", "RegisteredFunction", "SessionRequest", "open_workspace"),
    "weft.protocol.commands": (
        "Accepted", "CancelRun", "Interrupt", "Refused", "ReplyToGate", "ResolveConfirmation", "Say", "StartRun",
    ),
    "weft.protocol.envelope": ("Actor",),
    "weft.protocol.errors": ("WeftError",),
    "weft.protocol.events": ("Record",),
    "weft.protocol.conversation_commands": ("DecideApproval",),
}  # fmt: skip
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names}

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


def __getattr__(name: str) -> Any:
    if name not in _HOME_OF:
        raise AttributeError(f"module 'weft' has no attribute {name!r}")
    return getattr(importlib.import_module(_HOME_OF[name]), name)
