"""Bringing an index up to date with the documents of its collection, in whole documents, small ones together.

What a document's entry was made of (its bytes, its name, what the collection says) is hashed; while the hash is the
same nothing is read. A process that is killed leaves whole documents behind, and the next one goes on with the rest.
Of files with the same bytes one is in the index, the first by name, and links to the others lead to it; which others
there are, and what was passed over and why (an empty file is, and a page that only leads to another), is in the report.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import field
from pathlib import Path
from typing import Final, Literal, get_args

from weft.documents import MAX_BYTES, DocumentError, read_document
from weft.documents.document import counted
from weft.files import Folder
from weft.knowledge.code_and_tables import is_other, read_other
from weft.knowledge.collection import DOCUMENTS, Collection
from weft.knowledge.cutting import content_key, cut_document
from weft.knowledge.folder_scan import FolderScan, gather
from weft.knowledge.passage import CutDocument
from weft.knowledge.store import Store
from weft.protocol.errors import ExternalError, UserError
from weft.protocol.hashes import hash_bytes
from weft.protocol.values import dataclass

FILE_LIMIT: Final = 100_000
FILED_TOGETHER: Final = 512 * 1024
"""Bytes of documents that wait for each other, so that the disk is not waited for after each; a second's work at most,
which a process that is killed leaves to the next."""
SIGNPOST: Final = 60
"""A page that a browser leaves at once for another, with fewer words than these, is no document."""
State = Literal["unchanged", "added", "changed", "removed", "failed", "identical", "signposts", "empty"]


@dataclass(frozen=True, slots=True)
class IngestProgress:
    """One document is done: which, what became of it, and how many of all are."""

    file: str
    state: State
    done: int
    total: int
    passages: int = 0
    problem: str = ""


@dataclass(slots=True)
class IngestReport:
    counts: dict[State, int] = field(default_factory=lambda: dict.fromkeys(get_args(State), 0))
    passages: int = 0
    problems: list[str] = field(default_factory=list)
    skipped: dict[str, list[str]] = field(default_factory=dict)
    """What was passed over, by the reason."""
    notes: list[str] = field(default_factory=list)


def find_documents(folder: Folder, collection: Collection) -> FolderScan:
    """Every document of the collection by the name the index files it under, and what is passed over."""
    found = FolderScan()
    roots = [("", folder.path / DOCUMENTS)]
    for name in collection.folders:
        path = Path(name).expanduser()
        roots.append((f"{name.rstrip('/')}/", path if path.is_absolute() else folder.path / path))
    for prefix, root in roots:
        if prefix and not root.is_dir():
            raise UserError(f"the folder {root} is not there", hint="correct `folders` in collection.yaml")
        inside = gather(root, folder.path.parent if prefix else None)
        found.documents |= {prefix + name: path for name, path in inside.documents.items()}
        for reason, names in inside.skipped.items():
            found.skipped.setdefault(reason, []).extend(prefix + name for name in names)
        found.unknown += [prefix + name for name in inside.unknown]
        if len(found.documents) > FILE_LIMIT:
            raise UserError(f"there are more than {FILE_LIMIT:,} documents in {root}", hint="make several collections")
    found.documents = dict(sorted(found.documents.items()))
    return found


def update(
    store: Store, folder: Folder, collection: Collection, progress: Callable[[IngestProgress], None] = lambda _: None
) -> IngestReport:
    """What is new or changed is put in, what is gone is taken out. A document that can't be read is reported, and what
    the index had of it is kept until it can, or until the file is gone."""
    known = store.hashes()
    found = find_documents(folder, collection)
    files = found.documents
    report = IngestReport(skipped=found.skipped)
    gone = sorted(name for name in set(known) - set(files) if not found.lost(name))
    total = len(files) + len(gone)
    done = 0

    def tell(file: str, state: State, passages: int = 0, problem: str = "") -> None:
        nonlocal done
        done += 1
        report.counts[state] += 1
        report.passages += passages
        if problem:
            report.problems.append(problem)
        progress(IngestProgress(file, state, done, total, passages, problem))

    if gone:
        store.remove(gone)
        for file in gone:
            tell(file, "removed")
    filing = _Filing(store, lambda cut: tell(cut.file, "changed" if cut.file in known else "added", len(cut.passages)))
    seen: dict[str, str] = {}
    twins: dict[str, str] = {}
    left: list[Mapping[str, int]] = []
    for file, path in files.items():
        try:
            data = _read(path)
        except (DocumentError, ExternalError) as error:
            tell(file, "failed", 0, str(error))
            continue
        first = seen.setdefault(hash_bytes(data), file)
        said = bool(data.strip())
        if first != file or not said:
            filing.end()  # the one that stays is in the index before the other leaves it
            report.counts["removed"] += store.remove([file])
            if said:
                twins[file] = first
            report.skipped.setdefault(f"the same as {first}" if said else "empty", []).append(file)
            tell(file, "identical" if said else "empty")
            continue
        key = content_key(hash_bytes(data), file, collection)
        if known.get(file) == key:
            tell(file, "unchanged")
            continue
        try:
            document = read_other(data, file) if is_other(file) else read_document(data, file)
            if document.extra.get("leads_to") and document.words < SIGNPOST:
                report.counts["removed"] += store.remove([file])
                report.skipped.setdefault("only leads to another page", []).append(file)
                tell(file, "signposts")
                continue
            cut = cut_document(document, file, key, collection)
            left += [document.left_out] if document.left_out else []
        except DocumentError as error:
            tell(file, "failed", 0, str(error))
            continue
        filing.add(cut, len(data))
    filing.end()
    report.notes += _left_out(left)
    _tidy(store, report, twins)
    return report


def _tidy(store: Store, report: IngestReport, twins: Mapping[str, str]) -> None:
    if twins or report.counts["added"]:
        store.follow_twins(twins)
    if report.counts["changed"]:
        with store.change() as connection:
            store.drop_orphans(connection)
        store.compact()


def _left_out(left: Sequence[Mapping[str, int]]) -> Iterator[str]:
    """Of all documents together."""
    words = sum(map(Counter, left), Counter[str]())
    if words:
        told = ", ".join(f"{what} ({counted(count, 'word')})" for what, count in words.most_common())
        yield f"left out of {counted(len(left), 'document')}: {told}"


class _Filing:
    """Documents on their way into the index, those that are small together."""

    def __init__(self, store: Store, filed: Callable[[CutDocument], None]) -> None:
        self._store = store
        self._filed = filed
        self._waiting: list[CutDocument] = []
        self._size = 0

    def add(self, cut: CutDocument, size: int) -> None:
        self._waiting.append(cut)
        self._size += size
        if self._size >= FILED_TOGETHER:
            self.end()

    def end(self) -> None:
        if self._waiting:
            self._store.put(*self._waiting)
        for cut in self._waiting:
            self._filed(cut)
        self._waiting, self._size = [], 0


def _read(path: Path) -> bytes:
    try:
        if path.stat().st_size > MAX_BYTES:
            raise DocumentError(f"{path} has more than {MAX_BYTES:,} bytes", hint="split it, or take the pictures out")
        return path.read_bytes()
    except OSError as error:
        raise ExternalError(f"can't read {path}: {error.strerror}", retryable=True) from error
