"""Killed at any statement of an update, an index is that of before or after each document; the next one goes on."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.knowledge.made import isa, write_documents
from weft.files import Folder
from weft.knowledge.ingest import update
from weft.knowledge.store import Store

OLD = {
    "isa-200.txt": "1. Old one, see ISA 315.2.\n2. Old two.\n3. Old three, see ISA 500.",
    "isa-315.txt": "1. Old one.\n2. Old two, see ISA 200.3.\n3. Old three.",
    "isa-500.txt": "1. Old one.\n2. Old two.\n3. Old three, see ISA 315.1.",
}
NEW = {
    "isa-200.txt": "1. New one, see ISA 315.3.\n2. New two.\n3. New three.\n4. New four.",
    "isa-315.txt": "1. New one.\n2. New two, see ISA 200.4 and ISA 600.2.\n3. New three.",
    "isa-600.txt": "1. New one.\n2. New two.\n3. New three, see ISA 315.2.",
}


def run(folder: Path, at: int) -> subprocess.CompletedProcess[str]:
    root = Path(__file__).parent.parent.parent
    return subprocess.run(
        [sys.executable, "-m", "tests.knowledge.killed_update", str(folder), str(at)],
        cwd=root, capture_output=True, text=True, check=False, env={**os.environ, "PYTHONPATH": str(root)},
    )  # fmt: skip


def contents(store: Store) -> dict[str, set[tuple[str, str]]]:
    found: dict[str, set[tuple[str, str]]] = {}
    for row in store.rows("SELECT d.file, p.ref, p.content FROM passages p JOIN documents d ON d.number = p.document"):
        found.setdefault(row["file"], set()).add((row["ref"], row["content"]))
    return found


def edges(store: Store) -> set[tuple[str, str, float]]:
    rows = store.rows(
        "SELECT s.ref AS source, t.ref AS target, weight FROM edges JOIN passages s ON s.number = source"
        " JOIN passages t ON t.number = target"
    )
    return {tuple(row) for row in rows}


def made(folder: Path, documents: dict[str, str]) -> Store:
    store = Store(Path(":memory:"))
    update(store, write_documents(folder, documents), isa())
    return store


def change_documents(folder: Path) -> None:
    write_documents(folder, NEW)
    (folder / "documents/isa-500.txt").unlink(missing_ok=True)


@pytest.mark.slow
@pytest.mark.timeout(300)
def test_killed_at_any_statement(tmp_path: Path) -> None:
    before = tmp_path / "before"
    write_documents(before, OLD)
    with Store(before / "index.db") as store, Folder.open(before) as place:
        update(store, place, isa())
    change_documents(before)
    shutil.copytree(before, tmp_path / "whole")
    statements = int(run(tmp_path / "whole", -1).stdout)
    old = contents(made(tmp_path / "old", OLD))
    new = contents(made(tmp_path / "new", NEW))
    texts = {**OLD, **NEW}
    for at in sorted({*range(2, statements, max(1, statements // 9)), statements}):
        folder = tmp_path / f"at-{at}"
        shutil.copytree(before, folder)
        assert run(folder, at).returncode == -signal.SIGKILL
        with Store(folder / "index.db") as store:
            assert store.rows("PRAGMA integrity_check")[0][0] == "ok"
            store.rows("INSERT INTO passages_fts (passages_fts, rank) VALUES ('integrity-check', 1)")
            found = contents(store)
            for file, passages in found.items():
                assert passages in (old.get(file), new.get(file)), f"{file} is half of two versions"
            mixture = {file: (OLD if passages == old.get(file) else texts)[file] for file, passages in found.items()}
            assert edges(store) == edges(made(tmp_path / f"mix-{at}", mixture)), "every edge belongs to what is there"
        with Store(folder / "index.db") as store, Folder.open(folder) as place:
            update(store, place, isa())
            assert contents(store) == new
            assert edges(store) == edges(made(tmp_path / f"end-{at}", NEW))
