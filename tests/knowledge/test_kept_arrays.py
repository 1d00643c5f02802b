"""Arrays beside an index: what is not as it was written counts as none."""

from __future__ import annotations

from pathlib import Path

import numpy

from weft.knowledge.kept_arrays import keeping_arrays, read_arrays

FACTS = {"stamp": 7, "whole": True}


def test_every_damage_and_every_cut_of_what_it_says_of_itself_counts_as_none(tmp_path: Path) -> None:
    path, rows = tmp_path / "a.vectors", numpy.arange(12, dtype=numpy.int8).reshape(3, 4)
    with keeping_arrays(path) as writer:
        writer.put("rows", [rows[:2], rows[2:]])
        writer.end(FACTS)
    kept, good = read_arrays(path, 7), path.read_bytes()
    assert kept is not None
    assert kept.facts == FACTS
    assert (kept.arrays["rows"] == rows).all()
    assert read_arrays(path, 8) is None
    for at in range(rows.nbytes, len(good)):
        path.write_bytes(good[:at] + bytes([good[at] ^ 1]) + good[at + 1 :])
        assert read_arrays(path, 7) is None
    for length in range(len(good)):
        path.write_bytes(good[:length])
        assert read_arrays(path, 7) is None
