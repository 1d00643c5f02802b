"""The door to one collection: its declaration, its index, search, references, verification.

knowledge/<name>/collection.yaml   documents/   index.db   index.db.*   origins.json

What is added is copied, and where it came from is kept in `origins.json`: an update follows it, so that what changed,
came or went in a folder changes, comes and goes here. Only copies are ever removed, and only of what is gone from a
folder that is still there.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterable, Sequence
from dataclasses import field
from functools import cached_property
from pathlib import Path
from typing import Any, Final

from weft.files import Folder, translated
from weft.knowledge.collection import DOCUMENTS, FILE, Collection, parse_collection, read_collection
from weft.knowledge.embedding import Embedder, Unavailable, load_embedder
from weft.knowledge.folder_scan import ENDINGS, FolderScan, gather
from weft.knowledge.hops import Hop, follow
from weft.knowledge.ingest import IngestProgress, IngestReport, update
from weft.knowledge.pieces import FILE as PIECES
from weft.knowledge.pieces import MANY, PieceTable, make_table, read_table, table_name
from weft.knowledge.resolve import Resolution, resolve
from weft.knowledge.search import Search
from weft.knowledge.store import Store
from weft.knowledge.vectors import fill, missing
from weft.knowledge.word_scores import keep_word_scores
from weft.protocol.errors import UsageError, UserError
from weft.protocol.ids import NAME
from weft.protocol.json_text import json_value
from weft.protocol.values import dataclass
from weft.workspace.spelling import listed, nearest

FOLDER: Final = "knowledge"
INDEX: Final = "index.db"
ORIGINS: Final = "origins.json"


class KnowledgeBase:
    """Close it, or use it in a `with`.

    `embedder` is the model that comes with the install unless another is given. `web` is a connected source that
    searches the web: queries and how many results of each, to the answer of the tool of that name.
    """

    def __init__(
        self,
        name: str,
        folder: Folder,
        embedder: Embedder | Unavailable | None = None,
        web: Callable[[Sequence[str], int], dict[str, Any]] | None = None,
    ) -> None:
        self.name = name
        self.web = web
        self.folder = folder
        self._embedder = embedder
        self.collection: Collection = read_collection(folder)
        folder.exists(INDEX)  # refuses a link or a device in its place
        self.store = Store(folder.path / INDEX)

    def __enter__(self) -> KnowledgeBase:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        self.store.close()
        self.folder.close()

    @property
    def embedder(self) -> Embedder | Unavailable:
        if self._embedder is None:
            self._embedder = load_embedder()
        return self._embedder

    @cached_property
    def search(self) -> Search:
        return Search(self.store, self.collection, self.embedder, self._table)

    def _table(self) -> PieceTable | None:
        return None if isinstance(self.embedder, Unavailable) else read_table(self.folder, self.embedder.model)

    def resolve(self, identifier: str) -> Resolution:
        return resolve(self.store, self.collection.grammar, identifier)

    def hops(self, seed: int, *, depth: int = 3, decay: float = 0.7, floor: float = 0.01, limit: int = 30) -> list[Hop]:
        return follow(seed, self.store.edges_from, depth=depth, decay=decay, floor=floor, limit=limit)

    def update(self, progress: Callable[[IngestProgress], None] = lambda _: None) -> IngestReport:
        """Bring the copies up to date with where they came from, and the index with them; `fill` makes vectors."""
        followed = follow_origins(self)
        report = update(self.store, self.folder, self.collection, progress)
        report.notes += followed.notes
        for reason, names in followed.skipped.items():
            report.skipped.setdefault(reason, []).extend(names)
        return report

    def fill(self, progress: Callable[[int, int], None] = lambda _done, _all: None) -> int:
        """Make the vectors that are missing; 0 when there is no model. Where many are, quick ones by a table of word
        pieces come first, and go when the model's are all made; it can be left at any time and goes on where it was.
        Of a very large index, what makes its search by words quick is made before."""
        keep_word_scores(self.store)
        if isinstance(self.embedder, Unavailable):
            return 0
        if missing(self.store, self.embedder.model) >= MANY:
            fill(self.store, self._table() or make_table(self.store, self.folder, self.embedder), progress)
        made = fill(self.store, self.embedder, progress)
        if self.folder.exists(PIECES):
            with self.store.change() as connection:
                connection.execute("DELETE FROM vectors WHERE model = ?", (table_name(self.embedder.model),))
            (self.folder.path / PIECES).unlink()
        return made


# -- the collections of a workspace


def collection_names(workspace: Folder) -> list[str]:
    if not workspace.is_folder(FOLDER):
        return []
    with workspace.folder(FOLDER) as folder:
        return [
            name for name in folder.names() if NAME.match(name) and folder.is_folder(name) and _declared(folder, name)
        ]


def _declared(folder: Folder, name: str) -> bool:
    return folder.exists(f"{name}/{FILE}")


def create_collection(workspace: Folder, name: str, title: str = "", *, go_on: bool = False) -> Path:
    """A new collection with the least declaration there is. UserError when there is one of that name.

    `go_on`: one that this very command made, before something ended it, is taken up again.
    """
    if not NAME.match(name):
        raise UsageError(
            f"{name[:80]!r} is not a name for a collection",
            hint="use small letters, digits, hyphens and underscores, beginning with a letter or digit",
        )
    text = f"title: {_yaml_text(title or name)}\n"
    parse_collection(text)
    if name in collection_names(workspace):
        with workspace.folder(f"{FOLDER}/{name}") as folder:
            if go_on and folder.read_or_none(FILE) == text.encode():
                return folder.path
        raise UserError(f"there is a collection {name} already", hint=f"weft kb show {name}, or weft kb add {name}")
    with workspace.folder(f"{FOLDER}/{name}/{DOCUMENTS}", create=True), workspace.folder(f"{FOLDER}/{name}") as folder:
        folder.replace(FILE, text.encode())
        return folder.path


def _yaml_text(text: str) -> str:
    return "'" + " ".join(text.split()).replace("'", "''") + "'"


def open_collection(workspace: Folder, name: str, embedder: Embedder | Unavailable | None = None) -> KnowledgeBase:
    names = collection_names(workspace)
    if name not in names:
        close = nearest(name, names)
        hint = f"did you mean '{close}'?" if close else f"weft kb create {name}"
        known = f"; there are: {listed(names)}" if names else "; there is none yet"
        raise UsageError(f"there is no collection '{name}'{known}", hint=hint)
    return KnowledgeBase(name, workspace.folder(f"{FOLDER}/{name}"), embedder)


@dataclass(slots=True)
class FollowedOrigins(FolderScan):
    """What following the origins found, with what a person should know."""

    notes: list[str] = field(default_factory=list)


def add_files(knowledge: KnowledgeBase, paths: Iterable[Path]) -> list[str]:
    """Copy documents into the collection, a folder with all in it that can be read, and remember where they came from.
    The names they have there."""
    wanted: dict[str, str] = {}
    for path in paths:
        if not path.exists():
            raise UserError(f"{path} is not there", hint="check how it is spelled; a folder is taken with all in it")
        if path.is_file() and path.suffix.lower() not in ENDINGS:
            raise UserError(f"{path} is of no kind that is read", hint=f"the endings are: {' '.join(sorted(ENDINGS))}")
        whole = path.resolve()
        if whole.name in wanted:
            raise UserError(f"two of the files are called {whole.name}", hint="name the folders they are in instead")
        wanted[whole.name] = str(whole)
    known = read_origins(knowledge.folder)
    without = [name for name in known.without if name.split("/")[0] not in wanted]
    write_origins(knowledge.folder, Origins({**known.places, **wanted}, without))
    found = follow_origins(knowledge)
    return [name for name in found.documents if name.split("/")[0] in wanted]


def add_documents(knowledge: KnowledgeBase, files: Iterable[tuple[str, bytes]]) -> None:
    """Put documents that have no place of their own into the collection: name and bytes each."""
    given = [(Path(name).name, data) for name, data in files]
    unread = [name for name, _ in given if name.startswith(".") or Path(name).suffix.lower() not in ENDINGS]
    if unread:
        told = ", ".join(name[:80] or "a file without a name" for name in unread[:5])
        more = f" and {len(unread) - 5} more" if len(unread) > 5 else ""
        others = "; nothing was added" if len(given) > len(unread) else ""
        raise UserError(
            f"{told}{more} {'is' if len(unread) == 1 else 'are'} of no kind that is read{others}",
            hint=f"the endings are: {' '.join(sorted(ENDINGS))}",
        )
    with knowledge.folder.folder(DOCUMENTS, create=True) as documents:
        for name, data in given:
            documents.replace(name, data)


@dataclass(slots=True)
class Origins:
    places: dict[str, str] = field(default_factory=dict)
    """Where what was added came from, by its name here."""
    without: list[str] = field(default_factory=list)
    """What was removed here, and does not come back although it is still there."""


def read_origins(folder: Folder) -> Origins:
    if not folder.exists(ORIGINS):
        return Origins()
    try:
        found = json_value(folder.read(ORIGINS))
        places = {str(name): str(path) for name, path in found["from"].items()}
        return Origins(places, [str(name) for name in found["without"]])
    except (ValueError, AttributeError, TypeError, KeyError) as error:
        raise UserError(
            f"{folder.path / ORIGINS} can't be read: {error}", hint="move it away; `weft kb add` writes it anew"
        ) from error


def write_origins(folder: Folder, origins: Origins) -> None:
    value = {"from": origins.places, "without": origins.without}
    folder.replace(ORIGINS, (json.dumps(value, ensure_ascii=False, indent=1) + "\n").encode())


def follow_origins(knowledge: KnowledgeBase) -> FollowedOrigins:
    """Bring the copies up to date: what is new or changed is copied, what is gone from a folder is removed."""
    found = FollowedOrigins()
    origins = read_origins(knowledge.folder)
    with knowledge.folder.folder(DOCUMENTS, create=True) as documents:
        for name, place in origins.places.items():
            path = Path(place)
            if path.is_file():
                try:
                    _put(documents, name, path)
                except PermissionError as error:
                    raise translated(error, f"can't read {path}") from error
                found.documents[name] = path
            elif path.is_dir():
                inside = gather(path, knowledge.folder.path.parent)
                for below in [one for one in inside.documents if f"{name}/{one}" in origins.without]:
                    inside.skip("removed from the collection", below)
                    del inside.documents[below]
                for below, file in inside.documents.items():
                    try:
                        _put(documents, f"{name}/{below}", file)
                    except PermissionError as error:
                        inside.skip(f"can't be read: {error.strerror}", below)
                        continue
                    found.documents[f"{name}/{below}"] = file
                for reason, names in inside.skipped.items():
                    found.skipped.setdefault(reason, []).extend(f"{name}/{below}" for below in names)
                gone = set(gather(documents.path / name).documents) - set(inside.documents)
                for below in (one for one in gone if not inside.lost(one)):
                    (documents.path / name / below).unlink()
            else:
                found.notes.append(f"{path} is not there any more; what was copied from it stays")
    return found


def _put(documents: Folder, name: str, file: Path) -> None:
    *inside, last = name.split("/")
    try:
        data = file.read_bytes()
        known = documents.path / name
        if known.is_file() and known.stat().st_size == len(data) and known.read_bytes() == data:
            return
    except PermissionError:
        raise  # one of a folder is passed over, one that was named is an error
    except OSError as error:
        raise translated(error, f"can't read {file}") from error
    if inside:
        with documents.folder("/".join(inside), create=True) as folder:
            folder.replace(last, data)
    else:
        documents.replace(last, data)


def remove_documents(knowledge: KnowledgeBase, files: Iterable[str]) -> None:
    """Delete the collection's own copies; the next update takes them out of the index. Nothing outside is touched."""
    origins = read_origins(knowledge.folder)
    with knowledge.folder.folder(DOCUMENTS) as documents:
        for name in files:
            if not documents.exists(name):
                raise UserError(
                    f"{name} is no document of {knowledge.name}", hint=f"weft kb show {knowledge.name} lists them"
                )
            (documents.path / name).unlink()
            if origins.places.pop(name, None) is None and name.split("/")[0] in origins.places:
                origins.without.append(name)
            write_origins(knowledge.folder, origins)


def remove_collection(workspace: Folder, name: str) -> None:
    """Everything of it: the declaration, the copies of the documents, the index."""
    with open_collection(workspace, name, Unavailable("removing")) as knowledge:
        path = knowledge.folder.path
    try:
        shutil.rmtree(path)
    except OSError as error:
        raise translated(error, f"can't remove {path}") from error
