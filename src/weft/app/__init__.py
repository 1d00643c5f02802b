"""The doors every face goes through.

    app = App.open(Path("~/.weft").expanduser())
    plan = app.plan(Ask(pipeline="digest", file=Path("article.md")))          # what would happen, and why
    async with app.session(Ask(pipeline="digest", file=…), publish) as session:
        outcome = await session.submit(StartRun())                             # "done", "failed", "interrupted"
    for record in app.sessions.records("article-1a2b3c"): …                    # the log, also while it is written

root.py   App: the composition root      asks.py   what a person asks for, and the files they name
runs.py   a session that is run          talks.py  a session that is talked with
"""

from __future__ import annotations

from weft.app.asks import Ask, read_given
from weft.app.root import App, RegisteredFunction
from weft.app.runs import OpenSession
from weft.documents import MAX_BYTES
from weft.orchestrator.inputs import GivenFile, is_address

__all__ = [
    "MAX_BYTES",
    "App",
    "Ask",
    "GivenFile",
    "OpenSession",
    "RegisteredFunction",
    "is_address",
    "read_given",
]
