"""A collection whose text something else wrote is said to be that, wherever a person looks whether all is in order."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

from tests.made import Weft


def test_doctor_and_status_say_that_a_passage_is_not_as_it_was_filed(tmp_path: Path) -> None:
    weft = Weft(tmp_path / "desk")
    assert weft("init", "--pack", "digest").code == 0
    (tmp_path / "tides.md").write_text("# Tides\n\nThe tide rises twice a day, and falls as often.\n")
    assert weft("kb", "create", "tides", tmp_path / "tides.md", "--no-vectors").code == 0
    good = weft("doctor")
    assert "ok    collection tides" in good.out
    with closing(sqlite3.connect(weft.workspace / "knowledge" / "tides" / "index.db")) as index, index:
        index.execute("UPDATE passages SET content = replace(content, 'twice', 'once')")
    bad = weft("doctor")
    assert bad.code == 1
    assert "collection tides: 1 of its passages are not as they were filed (tides#tides of tides.md)" in bad.out
    assert "weft kb update tides" in bad.out
    assert '"altered": ["tides.md: tides#tides"]' in weft("kb", "status", "tides").out
