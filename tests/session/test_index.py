"""The index of sessions: what is counted and found, and what a disk that refuses leaves."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from weft.protocol.errors import ExternalError
from weft.session.index import Filter, IndexedText, ListedSession, SessionIndex
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


def test_a_session_in_which_a_tool_asks_is_counted_and_found_as_one_that_waits(tmp_path: Path) -> None:
    index = SessionIndex(tmp_path / "index.db")
    try:
        for name, state in (("talk", "working"), ("poem", "working"), ("gate", "waiting")):
            body = [IndexedText(kind="artifact", name="kit.md", body="the moon")]
            index.put(ListedSession(id=name, seq=1, title=name, kind="run", state=state), LogMark(1, 1), body)
        assert index.count() == {"working": 2, "waiting": 1}
        asking = Filter(asking=("talk", "gate", "elsewhere"))
        assert index.count(asking) == {"working": 1, "waiting": 2}
        assert len(index.page(asking)) == 3
        for state, names in (("waiting", ["gate", "talk"]), ("working", ["poem"])):
            wanted = replace(asking, states=(state,), flag=False)
            assert sorted(one.id for one in index.page(wanted)) == names
            assert sorted(one.entry.id for one in index.search("moon", wanted)) == names
            assert index.count(wanted) == {state: len(names)}
    finally:
        index.close()
