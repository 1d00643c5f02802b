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
    from weft.access import BROWSER_DAYS, ME, Access, AccessToken, Browser, Identity, Role, Scope
    from weft.app.catalogue import Catalogue
    from weft.app.connecting import person_access
    from weft.app.door import AttachedSession
    from weft.app.listing import open_sessions
    from weft.app.live import LiveSession
    from weft.app.opened import OpenedSession, Showing
    from weft.app.parts import RegisteredFunction
    from weft.app.requests import SessionRequest, read_given
    from weft.app.root import App
    from weft.app.wire import command_from_wire, item_to_wire
    from weft.documents import MAX_BYTES
    from weft.files import Folder
    from weft.protocol.commands import GivenFile, is_address
    from weft.protocol.envelope import PERSON
    from weft.session.codec import event_fields, record_fields, record_json, to_json
    from weft.session.index import Filter, FoundListing, ListedSession, TextHit
    from weft.workspace.spelling import suggest
else:
    __getattr__ = front(
        __name__,
        {
            "Access": "weft.access",
            "AccessToken": "weft.access",
            "App": "weft.app.root",
            "AttachedSession": "weft.app.door",
            "BROWSER_DAYS": "weft.access",
            "Browser": "weft.access",
            "Catalogue": "weft.app.catalogue",
            "Filter": "weft.session.index",
            "Folder": "weft.files",
            "FoundListing": "weft.session.index",
            "GivenFile": "weft.protocol.commands",
            "Identity": "weft.access",
            "ListedSession": "weft.session.index",
            "LiveSession": "weft.app.live",
            "MAX_BYTES": "weft.documents",
            "ME": "weft.access",
            "OpenedSession": "weft.app.opened",
            "PERSON": "weft.protocol.envelope",
            "RegisteredFunction": "weft.app.parts",
            "Role": "weft.access",
            "Scope": "weft.access",
            "SessionRequest": "weft.app.requests",
            "Showing": "weft.app.opened",
            "TextHit": "weft.session.index",
            "command_from_wire": "weft.app.wire",
            "event_fields": "weft.session.codec",
            "is_address": "weft.protocol.commands",
            "item_to_wire": "weft.app.wire",
            "open_sessions": "weft.app.listing",
            "person_access": "weft.app.connecting",
            "read_given": "weft.app.requests",
            "record_fields": "weft.session.codec",
            "record_json": "weft.session.codec",
            "suggest": "weft.workspace.spelling",
            "to_json": "weft.session.codec",
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
    "BROWSER_DAYS",
    "MAX_BYTES",
    "ME",
    "PERSON",
    "Access",
    "AccessToken",
    "App",
    "AttachedSession",
    "Browser",
    "Catalogue",
    "Filter",
    "Folder",
    "FoundListing",
    "GivenFile",
    "Identity",
    "ListedSession",
    "LiveSession",
    "OpenedSession",
    "RegisteredFunction",
    "Role",
    "Scope",
    "SessionRequest",
    "Showing",
    "TextHit",
    "command_from_wire",
    "event_fields",
    "is_address",
    "item_to_wire",
    "json_line",
    "open_sessions",
    "open_workspace",
    "person_access",
    "read_given",
    "record_fields",
    "record_json",
    "suggest",
    "to_json",
]
