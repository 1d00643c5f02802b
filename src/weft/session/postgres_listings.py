"""What lists and searches know of the sessions of a shared workspace, so that a machine need not read logs that it has
nothing to do with: whoever brought a session at rest up to date leaves its entry and its texts here, by the mark of its
log. A machine's own index takes them over; what is not here it makes from the log."""

from __future__ import annotations

import json
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any, Final

from weft.session.index import IndexedText, ListedSession
from weft.session.shared import LogMark

if TYPE_CHECKING:
    from weft.session.postgres import PostgresLog

FORM: Final = 1
"""Of what is kept: another one is passed over."""
AT_ONCE: Final = 200
_TABLES: Final = """
CREATE TABLE IF NOT EXISTS weft.listings (
    session text PRIMARY KEY, size bigint NOT NULL, mtime bigint NOT NULL, form int NOT NULL, listing bytea NOT NULL);
"""


class PostgresListings:
    def __init__(self, shared: PostgresLog) -> None:
        self._shared = shared

    def put(self, mark: LogMark, entry: ListedSession, texts: Sequence[IndexedText]) -> None:
        self._shared.have("weft.listings", lambda: _TABLES)
        told = {"entry": asdict(entry), "texts": [asdict(text) for text in texts]}
        self._shared.rows(
            "INSERT INTO weft.listings (session, size, mtime, form, listing) VALUES (%s, %s, %s, %s, %s) "
            "ON CONFLICT (session) DO UPDATE SET size = excluded.size, mtime = excluded.mtime, form = excluded.form, "
            "listing = excluded.listing WHERE listings.mtime < excluded.mtime OR listings.form < excluded.form",
            (entry.id, mark.size, mark.mtime, FORM, zlib.compress(json.dumps(told).encode())),
        )

    def get(self, wanted: Mapping[str, LogMark]) -> dict[str, tuple[ListedSession, list[IndexedText]]]:
        """Of those whose logs have exactly these marks."""
        self._shared.have("weft.listings", lambda: _TABLES)
        names, found = list(wanted), dict[str, tuple[ListedSession, list[IndexedText]]]()
        for begin in range(0, len(names), AT_ONCE):
            some = names[begin : begin + AT_ONCE]
            rows = self._shared.rows(
                "SELECT l.session, l.listing FROM weft.listings l JOIN unnest(%s::text[], %s::bigint[], %s::bigint[]) "
                "w(session, size, mtime) ON w.session = l.session AND w.size = l.size AND w.mtime = l.mtime "
                "WHERE form = %s",
                (some, [wanted[name].size for name in some], [wanted[name].mtime for name in some], FORM),
            )
            for session, listing in rows:
                told: dict[str, Any] = json.loads(zlib.decompress(listing))
                waits = tuple(told["entry"].pop("waits"))
                texts = [IndexedText(**text) for text in told["texts"]]
                found[session] = (ListedSession(**told["entry"], waits=waits), texts)
        return found
