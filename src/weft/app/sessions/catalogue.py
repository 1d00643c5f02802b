"""All sessions of a workspace at a glance: the index, kept up with the logs.

Whoever writes to a session says so (`grown`): whoever looks next sees what it has become, and when nobody looks the
entry follows when writing pauses, off the loop, so that no run waits for it; a failure costs freshness only. Entries
that are behind, because another program wrote or a process died, are found by the size and time of their logs and made
anew when a list is asked for; in a shared workspace they are taken over from the machine that made them. Of the
sessions that grew last it is kept what their logs added up to, so that only what is new is read.
"""

from __future__ import annotations

import os
import sqlite3
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from dataclasses import field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Final

from weft.files import Folder
from weft.protocol.errors import WeftError
from weft.protocol.events import InputRecorded
from weft.protocol.values import dataclass
from weft.session.cuts import find_cuts
from weft.session.glance import entry_of, readable, texts_of
from weft.session.index import FILE, Filter, FoundListing, IndexedText, ListedSession, SessionIndex, SessionKind
from weft.session.legacy import older_files
from weft.session.log import LOG, LogHead, LogReader
from weft.session.manifest import read_known
from weft.session.sessions import Sessions
from weft.session.shared import LogMark
from weft.session.snapshot import read_snapshot
from weft.session.state import SessionState

if TYPE_CHECKING:
    from weft.app.sessions.session_listing import SessionListing
    from weft.models.spending import Price
    from weft.session.postgres import PostgresLog
    from weft.session.postgres_listings import PostgresListings

MOST_KEPT: Final = 64
"""Sessions of which it is kept what their logs added up to."""
PAUSE: Final = 0.3
"""Seconds without a word of growth after which the entries of what has grown follow, when nobody looks."""
LONGEST_LAG: Final = 10.0
"""Seconds that they lag behind at most, as long as growth goes on."""


@dataclass(slots=True)
class _Folded:
    """What a log adds up to, as far as a list shows it."""

    listing: SessionListing
    state: SessionState = field(default_factory=SessionState)
    head: LogHead | None = None
    file: int = 0
    """Which file the log is, whatever it is called."""


class Catalogue:
    """May be used from any thread, one at a time."""

    def __init__(self, sessions: Sessions, path: Path, price: Price, listings: PostgresListings | None = None) -> None:
        self._sessions = sessions
        self._listings = listings
        """What other machines know of sessions at rest."""
        self._path = path
        self._price = price
        self._index: SessionIndex | None = None
        self._folded: OrderedDict[str, _Folded] = OrderedDict()
        self._lock = threading.RLock()
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="weft-index")
        """One of its own: who writes to a session never waits for it."""
        self._grown: set[str] = set()
        """What its entry lags behind; put here from any thread."""
        self._follows = False
        """Whether somebody is about to bring these up to date."""
        self._grew = 0.0
        """When something last did."""
        self._closing = False
        self._hurry = threading.Event()
        """Somebody waits for the thread: it waits for no pause."""

    def close(self) -> None:
        """What has grown is brought up to date first."""
        self._closing = True
        self._hurry.set()
        self._thread.shutdown()
        with self._lock:
            if self._index is not None:
                self._index.close()
                self._index = None

    # -- looking

    def page(self, wanted: Filter = Filter(), *, refresh: bool = True) -> list[ListedSession]:  # noqa: B008  it is frozen
        if refresh:
            self.refresh()
        with self._lock:
            return self._caught_up().page(wanted)

    def search(self, words: str, wanted: Filter = Filter(), *, refresh: bool = True) -> list[FoundListing]:  # noqa: B008
        if refresh:
            self.refresh()
        with self._lock:
            return self._caught_up().search(words, wanted)

    def count(self, wanted: Filter = Filter()) -> dict[str, int]:  # noqa: B008
        with self._lock:
            return self._caught_up().count(wanted)

    def entry(self, session: str) -> ListedSession | None:
        """As it is now."""
        with self._lock:
            if self._sessions.exists(session):
                self.update(session)
            return self._opened().entry(session)

    def changed_since(self, revision: int) -> tuple[int, list[ListedSession], list[str] | None]:
        """The revision now, what was put since another one, and, when some were taken out, the names that are left."""
        with self._lock:
            return self._caught_up().changed_since(revision)

    # -- keeping up

    def refresh(self) -> list[str]:
        """Bring everything up to date that is behind its log; the sessions that were. One that somebody was at work on
        is behind as soon as nobody is."""
        present = self._sessions.log_marks()  # nobody waits for this long look at every folder
        with self._lock:
            index = self._opened()
            known = index.marks()
            behind = [name for name, mark in present.items() if known.get(name) != mark]
            taken = self._take_over({name: present[name] for name in behind})
            behind += [name for name in index.working() if name in present and known.get(name) == present[name]]
            for name in behind:
                if name not in taken:
                    self.update(name)
            for name in known.keys() - present.keys():
                if not self._sessions.exists(name):  # it may have been made since
                    self.forget(name)
            return behind

    def refresh_soon(self, told: Callable[[], None]) -> None:
        """The same behind whoever asks; `told` when it is done. That it can't be done now harms nobody."""

        def refreshed() -> None:
            with suppress(WeftError, OSError, sqlite3.Error):
                self.refresh()
            told()

        self._hurry.set()
        self._thread.submit(refreshed)

    def _take_over(self, behind: Mapping[str, LogMark]) -> set[str]:
        """What another machine has made of these logs as they are now."""
        if self._listings is None or not behind:
            return set()
        found = self._listings.get(behind)
        for name, (entry, texts) in found.items():
            self._opened().put(entry, behind[name], texts, whole=True)
        return set(found)

    def update(self, session: str) -> None:
        """Bring a session's entry up to date with its log, unless it is."""
        with self._lock, self._sessions.folder(session) as folder:
            mark, held = self._sessions.log_mark(session), self._sessions.holder(session, folder) is not None
            index = self._opened()
            before = index.entry(session)
            if before is not None and index.mark(session) == mark and (before.state != "working" or held):
                return
            kept, file = self._folded.pop(session, None), _file(folder)
            if kept is None or before is None or before.seq != kept.state.seq:
                kept = None  # somebody else has put it since, or it was never whole
            elif kept.file != file:
                kept = None  # another log of this name: one went into the trash, or came back from there
            if kept is None and before is not None:
                kept = _from_snapshot(folder, before.seq)
            known = index.mark(session)
            if known is not None and mark.size < known.size:
                index.forget(session)
            try:
                folded, texts = self._read(folder, kept)
                entry = self._entry(folder, session, folded, held=held)
            except WeftError as error:
                entry = ListedSession(id=session, seq=0, title=session, kind="unreadable", problem=error.message)
                index.put(entry, mark, [], whole=True)
                return
            index.put(entry, mark, texts, whole=kept is None)
            if self._listings is not None and entry.seq and entry.state != "working" and not entry.problem:
                self._listings.put(mark, entry, index.texts(session))
            folded.file = file
            self._folded[session] = folded
            if len(self._folded) > MOST_KEPT:
                self._folded.popitem(last=False)

    def listing(self, session: str) -> SessionListing:
        """What its log adds up to now, for the session's snapshot."""
        with self._lock:
            self.update(session)
            folded = self._folded.get(session)
            if folded is None:
                with self._sessions.folder(session) as folder:
                    folded, _ = self._read(folder, None)
            return folded.listing

    def grown(self, session: str) -> None:
        """A session has grown: never waits, not even for who brings others up to date."""
        self._grown.add(session)
        self._grew = time.monotonic()
        if not self._follows and not self._closing:
            self._follows = True
            self._thread.submit(self._follow)

    def soon(self, session: str) -> Future[None]:
        """Bring a session up to date behind whoever asks, and at once."""
        self._hurry.set()
        return self._thread.submit(self.follow_up, session)

    def _follow(self) -> None:
        latest = time.monotonic() + LONGEST_LAG
        while (pause := min(self._grew + PAUSE, latest) - time.monotonic()) > 0 and not self._hurry.wait(pause):
            pass  # it has grown again meanwhile
        if not self._closing:
            self._hurry.clear()
        self._follows = False
        while self._grown:
            with self._lock:  # of one at a time: who looks is let in between
                self._catch_up(1)

    def _caught_up(self) -> SessionIndex:
        self._catch_up(len(self._grown))
        return self._opened()

    def _catch_up(self, most: int) -> None:
        for _ in range(most):
            try:
                session = self._grown.pop()
            except KeyError:  # another thread was faster
                return
            self.follow_up(session)

    def follow_up(self, session: str) -> None:
        """The same for whoever has just written: that it can't be done now harms nobody, the next list will."""
        try:
            self.update(session)
        except (WeftError, OSError, sqlite3.Error):
            self._folded.pop(session, None)

    def forget(self, session: str) -> None:
        with self._lock:
            self._folded.pop(session, None)
            self._opened().forget(session)

    def _read(self, folder: Folder, kept: _Folded | None) -> tuple[_Folded, list[IndexedText]]:
        folded = kept or _nothing_folded()
        texts: dict[tuple[str, str], IndexedText] = {}
        known, reader, inputs = read_known(folder), LogReader(folder, folded.head), False
        for record in reader.read():
            folded.state.apply(record)
            folded.listing.take(record, self._price)
            texts |= {(text.kind, text.name): text for text in texts_of(record)}
            inputs = inputs or isinstance(record.event, InputRecorded)
        folded.head = reader.head
        cuts = find_cuts(known, reader.head, reader.damage, folded.state)
        if cuts:
            what = "was cut" if reader.seq else "is lost"
            folded.listing.problem = f"its log {what}: weft sessions verify {folder.path.name}"
        elif reader.damage:
            folded.listing.problem = f"{len(reader.damage)} damaged lines in the log"
        elif kept is None:
            folded.listing.problem = ""
        found = [*texts.values()]
        if inputs:
            folded.listing.title, documents = _documents(folder, folded.state)
            found += documents
        return folded, found

    def _entry(self, folder: Folder, session: str, folded: _Folded, *, held: bool) -> ListedSession:
        if not folded.state.seq and folded.listing.problem:
            return ListedSession(id=session, seq=0, title=session, kind="unreadable", problem=folded.listing.problem)
        if not folded.state.seq:
            older = bool(older_files(folder))
            note = "made by an older system; weft run --session-id takes it in" if older else "its creation was cut off"
            kind: SessionKind = "older" if older else "empty"
            return ListedSession(id=session, seq=0, title=session, kind=kind, state=kind, problem=note)
        listing, spent = folded.listing, folded.listing.tally.spent
        usd = None if spent.unpriced else float(spent.usd)
        entry = entry_of(
            folded.state,
            listing.glance,
            title=listing.title,
            held=held,
            tokens=spent.tokens,
            usd=usd,
            problem=listing.problem,
        )
        return replace(entry, id=session)  # a folder that was copied or taken in has another name than its log says

    def _opened(self) -> SessionIndex:
        if self._index is None:
            self._index = SessionIndex(self._path / FILE)
        return self._index


def _file(folder: Folder) -> int:
    try:
        return os.stat(LOG, dir_fd=folder.fd, follow_symlinks=False).st_ino
    except FileNotFoundError:
        return 0


def _nothing_folded() -> _Folded:
    from weft.app.sessions.session_listing import SessionListing  # a list of what is known does without

    return _Folded(SessionListing())


def _from_snapshot(folder: Folder, listed: int) -> _Folded | None:
    """What a long log added up to at one of the events that are listed already; None when nothing is kept of it."""
    snapshot = read_snapshot(folder)
    if snapshot is None or listed < snapshot.head.seq:
        return None
    from weft.app.sessions.session_listing import SessionListing

    state, listing = snapshot.of("session", SessionState), snapshot.of("listing", SessionListing)
    if state is None or listing is None or state.seq != snapshot.head.seq:
        return None
    return _Folded(listing, state, snapshot.head)


def _documents(folder: Folder, state: SessionState) -> tuple[str, list[IndexedText]]:
    """What the session's documents are called and say."""
    from weft.documents import from_content_md

    title, texts = "", []
    for name, given in state.inputs.items():
        data = folder.read_or_none(given.file)
        if data is None:
            continue
        if given.file.endswith(".md"):
            document = from_content_md(data, Path(given.origin).name if given.origin.startswith("/") else "")
            title = title or document.title
            texts.append(IndexedText(kind="input", name=name, body=document.text))
        else:
            texts.append(IndexedText(kind="input", name=name, body=readable(data.decode("utf-8", "replace"))))
    return title, texts


def shared_listings(shared: PostgresLog | None) -> PostgresListings | None:
    if shared is None:
        return None
    from weft.session.postgres_listings import PostgresListings

    return PostgresListings(shared)
