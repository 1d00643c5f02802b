"""All sessions of a workspace at a glance: the index, kept up with the logs.

Whoever writes to a session tells the catalogue after each decision; it puts the entry into the index a moment later,
off the loop, and a failure costs freshness only. Entries that are behind, because another program wrote or a process
died, are found by the size and time of their logs and made anew when a list is asked for.
"""

from __future__ import annotations

import threading
from pathlib import Path

from weft.documents import from_content_md
from weft.files import Folder
from weft.models.spending import NOTHING, CallReader, Price, Spent
from weft.protocol.errors import WeftError
from weft.protocol.events import Record
from weft.session.glance import Glance, entry_of, readable, texts_of
from weft.session.index import FILE, Filter, FoundListing, IndexedText, ListedSession, LogMark, SessionIndex
from weft.session.legacy import older_files
from weft.session.lock import held_by
from weft.session.log import LOG, LogReader
from weft.session.sessions import Sessions
from weft.session.state import SessionState


class Catalogue:
    """May be used from any thread, one at a time."""

    def __init__(self, sessions: Sessions, path: Path, price: Price) -> None:
        self._sessions = sessions
        self._path = path
        self._price = price
        self._index: SessionIndex | None = None
        self._lock = threading.RLock()

    def close(self) -> None:
        with self._lock:
            if self._index is not None:
                self._index.close()
                self._index = None

    # -- looking

    def page(self, wanted: Filter = Filter(), *, refresh: bool = True) -> list[ListedSession]:  # noqa: B008  it is frozen
        with self._lock:
            if refresh:
                self.refresh()
            return self._opened().page(wanted)

    def search(self, words: str, wanted: Filter = Filter(), *, refresh: bool = True) -> list[FoundListing]:  # noqa: B008
        with self._lock:
            if refresh:
                self.refresh()
            return self._opened().search(words, wanted)

    def count(self, wanted: Filter = Filter()) -> dict[str, int]:  # noqa: B008
        with self._lock:
            return self._opened().count(wanted)

    def entry(self, session: str) -> ListedSession | None:
        """As it is now."""
        with self._lock:
            if self._sessions.exists(session):
                self.update(session)
            return self._opened().entry(session)

    def changed_since(self, revision: int) -> tuple[int, list[ListedSession], list[str] | None]:
        """The revision now, what was put since another one, and, when some were taken out, the names that are left."""
        with self._lock:
            return self._opened().changed_since(revision)

    # -- keeping up

    def refresh(self) -> list[str]:
        """Bring everything up to date that is behind its log; the sessions that were."""
        with self._lock:
            index, known = self._opened(), self._opened().marks()
            present = self._marks()
            behind = [name for name, mark in present.items() if known.get(name) != mark]
            for name in behind:
                self.update(name)
            for name in known.keys() - present.keys():
                index.forget(name)
            return behind

    def update(self, session: str) -> None:
        """Make a session's entry from its log, unless it has not grown since."""
        with self._lock:
            with self._sessions.folder(session) as folder:
                mark = _mark(folder)
                held = held_by(folder) is not None
                index = self._opened()
                before = index.entry(session)
                if before is not None and index.mark(session) == mark and (before.state != "working" or held):
                    return
                try:
                    entry, texts = self._read(folder, session, held)
                except WeftError as error:
                    entry, texts = (
                        ListedSession(id=session, seq=0, title=session, kind="unreadable", problem=error.message),
                        [],
                    )
            index.put(entry, mark, texts, whole=True)

    def _read(self, folder: Folder, session: str, held: bool) -> tuple[ListedSession, list[IndexedText]]:
        state, glance, calls, spent = SessionState(), Glance(), CallReader(), NOTHING
        texts: dict[tuple[str, str], IndexedText] = {}
        reader = LogReader(folder)
        for record in reader.read():
            state.apply(record)
            glance.apply(record)
            spent = self._plus(spent, calls, record)
            texts |= {(text.kind, text.name): text for text in texts_of(record)}
        if not state.seq:
            older = bool(older_files(folder))
            return ListedSession(id=session, seq=0, title=session, kind="older" if older else "empty"), []
        title, inputs = _documents(folder, state)
        usd = None if spent.unpriced else float(spent.usd)
        entry = entry_of(state, glance, title=title, held=held, tokens=spent.tokens, usd=usd)
        return entry, [*texts.values(), *inputs]

    def _plus(self, spent: Spent, calls: CallReader, record: Record) -> Spent:
        for call in calls.take(record):
            spent = spent.plus(call, self._price(call))
        return spent

    def _marks(self) -> dict[str, LogMark]:
        found = {}
        for name in self._sessions.ids():
            with self._sessions.folder(name) as folder:
                found[name] = _mark(folder)
        return found

    def _opened(self) -> SessionIndex:
        if self._index is None:
            self._index = SessionIndex(self._path / FILE)
        return self._index


def _mark(folder: Folder) -> LogMark:
    """Of a log, without reading it."""
    try:
        found = (folder.path / LOG).stat()
    except FileNotFoundError:
        return LogMark(0, 0)
    return LogMark(found.st_size, found.st_mtime_ns)


def _documents(folder: Folder, state: SessionState) -> tuple[str, list[IndexedText]]:
    """What the session's documents are called and say."""
    title, texts = "", []
    for name, given in state.inputs.items():
        data = folder.read_or_none(given.file)
        if data is None:
            continue
        if given.file.endswith(".md"):
            document = from_content_md(data)
            title = title or document.title
            texts.append(IndexedText(kind="input", name=name, body=document.text))
        else:
            texts.append(IndexedText(kind="input", name=name, body=readable(data.decode("utf-8", "replace"))))
    return title, texts
