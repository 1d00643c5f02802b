"""The index of sessions: what a disk that refuses leaves."""

from __future__ import annotations

from pathlib import Path

import pytest

from weft.protocol.errors import ExternalError
from weft.session.index import IndexedText, ListedSession, SessionIndex
from weft.session.shared import LogMark


def test_a_disk_that_refuses_is_said_and_the_next_change_goes_through(tmp_path: Path) -> None:
    index = SessionIndex(tmp_path / "index.db")
    try:
        (pages,) = index._db.execute("pragma page_count").fetchone()
        index._db.execute(f"pragma max_page_count = {pages}")
        large = [IndexedText(kind="artifact", name="kit.md", body="a long word or two " * 20_000)]
        with pytest.raises(ExternalError, match=r"index\.db: database or disk is full"):
            index.put(ListedSession(id="poem", seq=1, title="Poem", kind="run"), LogMark(1, 1), large)
        assert index.entry("poem") is None
        index._db.execute("pragma max_page_count = 100000")
        index.put(ListedSession(id="poem", seq=1, title="Poem", kind="run"), LogMark(1, 1), large)
        assert index.entry("poem") is not None
    finally:
        index.close()
