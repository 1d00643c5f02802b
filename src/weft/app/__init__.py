"""The doors every face goes through.

    app = App.open(Path("~/.weft").expanduser())
    request = SessionRequest(pipeline="digest", file=Path("article.md"))
    plan = app.plan(request)                                   # what would happen, and why
    async with app.session(request) as session:                # held open here, or attached to whoever holds it
        await session.submit(StartRun())                       # accepted with its place in the log, or refused
        async for item in session.events(after=0): …           # records in order, then what is live
        outcome = await session.rest()                         # "done", "waiting", "failed", …
    for record in app.sessions.records("article-1a2b3c"): …    # the log, also while it is written

root.py   App: opens sessions         live.py      LiveSession: one inbox, one writer, both machines
parts.py  what all is made of         door.py      the session's door to other processes
runs.py   the runs of a session       conversations.py   its conversation
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from weft.protocol.fronts import front

if TYPE_CHECKING:
    from weft.app.door import AttachedSession
    from weft.app.listing import open_sessions
    from weft.app.live import LiveSession
    from weft.app.opened import OpenedSession, Showing
    from weft.app.parts import RegisteredFunction
    from weft.app.requests import SessionRequest, read_given
    from weft.app.root import App
    from weft.documents import MAX_BYTES
    from weft.protocol.commands import GivenFile, is_address
    from weft.protocol.envelope import PERSON
else:
    __getattr__ = front(
        __name__,
        {
            "MAX_BYTES": "weft.documents",
            "PERSON": "weft.protocol.envelope",
            "App": "weft.app.root",
            "AttachedSession": "weft.app.door",
            "GivenFile": "weft.protocol.commands",
            "LiveSession": "weft.app.live",
            "OpenedSession": "weft.app.opened",
            "RegisteredFunction": "weft.app.parts",
            "SessionRequest": "weft.app.requests",
            "Showing": "weft.app.opened",
            "is_address": "weft.protocol.commands",
            "open_sessions": "weft.app.listing",
            "read_given": "weft.app.requests",
        },
    )


def open_workspace(path: str | Path) -> App:
    """The workspace in a folder; close it, or use it with `with`."""
    from weft.app.root import App

    return App.open(Path(path).expanduser().absolute())


def json_line(value: object) -> bytes:
    """A value as a program gets it on standard output."""
    from weft.session.codec import to_json

    return to_json(value) + b"\n"


__all__ = [
    "MAX_BYTES",
    "PERSON",
    "App",
    "AttachedSession",
    "GivenFile",
    "LiveSession",
    "OpenedSession",
    "RegisteredFunction",
    "SessionRequest",
    "Showing",
    "is_address",
    "json_line",
    "open_sessions",
    "open_workspace",
    "read_given",
]
