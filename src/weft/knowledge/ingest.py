"""Bringing an index up to date with the documents of its collection, one whole document at a time.

What a document's entry was made of (its bytes, its name, what the collection says) is hashed; while the hash is the
same nothing is read. A process that is killed leaves whole documents behind, and the next one goes on with the rest.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, Literal

from weft.documents import MAX_BYTES, DocumentError, read_document
from weft.files import Folder
from weft.knowledge.collection import DOCUMENTS, Collection
from weft.knowledge.cutting import content_key, cut_document
from weft.knowledge.store import Store
from weft.protocol.errors import ExternalError, UserError
from weft.protocol.hashes import hash_bytes

ENDINGS: Final = frozenset(
    ".md .markdown .mdown .mkd .txt .text .html .htm .xhtml .pdf .docx .epub .vtt .srt .rst .adoc .org .log".split()  # noqa: SIM905
)
FILE_LIMIT: Final = 100_000
State = Literal["unchanged", "added", "changed", "removed", "failed"]


@dataclass(frozen=True, slots=True)
class Progress:
    """One document is done: which, what became of it, and how many of all are."""

    file: str
    state: State
    done: int
    total: int
    passages: int = 0
    problem: str = ""


@dataclass(slots=True)
class IngestReport:
    counts: dict[State, int] = field(
        default_factory=lambda: {"unchanged": 0, "added": 0, "changed": 0, "removed": 0, "failed": 0}
    )
    passages: int = 0
    problems: list[str] = field(default_factory=list)


def find_documents(folder: Folder, collection: Collection) -> dict[str, Path]:
    """Every document of the collection by the name the index files it under. Links below a folder are not followed."""
    found: dict[str, Path] = {}
    roots = [("", folder.path / DOCUMENTS)]
    for name in collection.folders:
        path = Path(name).expanduser()
        roots.append((f"{name.rstrip('/')}/", path if path.is_absolute() else folder.path / path))
    for prefix, root in roots:
        if prefix and not root.is_dir():
            raise UserError(f"the folder {root} is not there", hint="correct `folders` in collection.yaml")
        for path in _walk(root):
            if path.suffix.lower() in ENDINGS:
                found[prefix + path.relative_to(root).as_posix()] = path
            if len(found) > FILE_LIMIT:
                raise UserError(
                    f"there are more than {FILE_LIMIT:,} documents in {root}", hint="make several collections"
                )
    return dict(sorted(found.items()))


def _walk(root: Path) -> Iterator[Path]:
    def refuse(error: OSError) -> None:
        if not (isinstance(error, FileNotFoundError) and Path(error.filename) == root):
            raise ExternalError(f"can't list {error.filename}: {error.strerror}") from error

    for place, folders, files in os.walk(root, onerror=refuse):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        for name in sorted(files):
            path = Path(place, name)
            if not name.startswith(".") and stat.S_ISREG(path.lstat().st_mode):
                yield path


def update(
    store: Store, folder: Folder, collection: Collection, progress: Callable[[Progress], None] = lambda _: None
) -> IngestReport:
    """What is new or changed is put in, what is gone is taken out. A document that can't be read is reported, and what
    the index had of it is kept until it can, or until the file is gone."""
    report = IngestReport()
    known = store.hashes()
    files = find_documents(folder, collection)
    gone = sorted(set(known) - set(files))
    total = len(files) + len(gone)

    def tell(file: str, state: State, passages: int = 0, problem: str = "") -> None:
        report.counts[state] += 1
        report.passages += passages
        if problem:
            report.problems.append(problem)
        progress(Progress(file, state, sum(report.counts.values()), total, passages, problem))

    if gone:
        store.remove(gone)
        for file in gone:
            tell(file, "removed")
    for file, path in files.items():
        _one(store, file, path, collection, known, tell)
    if report.counts["changed"]:
        with store.change() as connection:
            store.drop_orphans(connection)
        store.compact()
    return report


def _one(
    store: Store,
    file: str,
    path: Path,
    collection: Collection,
    known: Mapping[str, str],
    tell: Callable[[str, State, int, str], None],
) -> None:
    try:
        data = _read(path)
        key = content_key(hash_bytes(data), file, collection)
        if known.get(file) == key:
            tell(file, "unchanged", 0, "")
            return
        cut = cut_document(read_document(data, file), file, key, collection)
    except (DocumentError, ExternalError) as error:
        tell(file, "failed", 0, str(error))
        return
    store.put(cut)
    tell(file, "changed" if file in known else "added", len(cut.passages), "")


def _read(path: Path) -> bytes:
    try:
        if path.stat().st_size > MAX_BYTES:
            raise DocumentError(f"{path} has more than {MAX_BYTES:,} bytes", hint="split it, or take the pictures out")
        return path.read_bytes()
    except OSError as error:
        raise ExternalError(f"can't read {path}: {error.strerror}", retryable=True) from error
