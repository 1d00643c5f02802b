"""The collections of a workspace, as faces offer them: made, filled, listed, searched, asked, served and removed.

What is asked of one goes through the same tools that a model has (`ask`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import AbstractAsyncContextManager, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from weft.knowledge.knowledge_base import (
    KnowledgeBase,
    add_documents,
    add_files,
    collection_names,
    create_collection,
    open_collection,
    remove_collection,
    remove_documents,
)
from weft.knowledge.tools import call
from weft.language.sentences import words
from weft.language.stems import stem
from weft.protocol.errors import WeftError
from weft.protocol.values import dataclass
from weft.version import __version__
from weft.workspace.workspace import Workspace

if TYPE_CHECKING:
    from weft.knowledge.ingest import IngestReport
    from weft.knowledge.search import Mode
    from weft.knowledge.store import StoredDocument

Tell = Callable[[int, int, str], None]
"""How far something is: done, of how many, and at which file."""


@dataclass(frozen=True, slots=True)
class CollectionRow:
    name: str
    title: str
    counts: Mapping[str, int]
    """Of documents, passages, mentions, edges and vectors."""
    problem: str = ""
    """Why it does not open."""


class OpenCollection:
    """One collection, held open."""

    def __init__(self, name: str, knowledge: KnowledgeBase) -> None:
        self.name = name
        self._knowledge = knowledge

    def add(self, paths: Iterable[Path]) -> list[str]:
        """Copy files or folders into it; the names of the documents that they have. `update` reads them."""
        return add_files(self._knowledge, paths)

    def add_bytes(self, files: Iterable[tuple[str, bytes]]) -> None:
        """Put documents into it that have no place of their own: name and bytes each. `update` reads them."""
        add_documents(self._knowledge, files)

    def update(self, tell: Tell) -> IngestReport:
        """Bring the index up to date: what changed is read again, what is gone is taken out."""
        return self._knowledge.update(lambda step: tell(step.done, step.total, step.file))

    def make_vectors(self, tell: Tell) -> None:
        self._knowledge.fill(lambda done, total: tell(done, total, ""))

    def remove(self, files: Iterable[str]) -> None:
        remove_documents(self._knowledge, files)
        self._knowledge.update()

    @property
    def row(self) -> CollectionRow:
        return CollectionRow(self.name, self._knowledge.collection.title, dict(self._knowledge.store.counts()))

    def documents(self) -> list[StoredDocument]:
        return self._knowledge.store.documents()

    def ask(self, tool: str, arguments: Mapping[str, Any]) -> dict[str, Any]:
        """What one of its tools answers."""
        return call(self._knowledge, tool, arguments)

    def search(
        self,
        question: str,
        *,
        limit: int,
        mode: Mode,
        document: str = "",
        tier: str = "",
        rerank: bool = False,
        why: bool = False,
    ) -> tuple[list[dict[str, Any]], list[str]]:
        """Passages with their score, the best first, and what is to be known of the search. `why`: also the scores of
        each way it was found, and the words of the question that it has."""
        from weft.knowledge.answers import hit_row
        from weft.knowledge.search import Filters

        filters = Filters(documents=(document,) if document else (), tier=tier)
        found = self._knowledge.search.find(question, limit=limit, mode=mode, filters=filters, rerank=rerank or None)
        rows = [hit_row(hit) for hit in found.hits]
        if why:
            asked = {stem(word): word for word in words(question)}
            for row, hit in zip(rows, found.hits, strict=True):
                there = {stem(word) for word in words(hit.passage.content)}
                shared = sorted(word for root, word in asked.items() if root in there)
                row.update(bm25=hit.bm25, likeness=hit.likeness, words=shared)
        return rows, list(found.warnings)

    async def serve(self) -> None:
        """Offer its tools by the Model Context Protocol on standard input and output, until that ends."""
        from weft.knowledge.serving import make_server, serve_stdio

        await serve_stdio(make_server(self._knowledge, __version__))

    def answering_http(self, path: str) -> AbstractAsyncContextManager[Any]:
        """The same over HTTP, as an ASGI app that somebody else stands in front of."""
        from weft.knowledge.serving import answering_http, make_server

        return answering_http(make_server(self._knowledge, __version__), path)


class Collections:
    def __init__(self, workspace: Workspace) -> None:
        self._folder = workspace.folder

    @classmethod
    @contextmanager
    def of(cls, path: Path) -> Iterator[Self]:
        with Workspace.open(path) as workspace:
            yield cls(workspace)

    def create(self, name: str, title: str = "", *, go_on: bool = False) -> Path:
        """Make one; with `go_on` one that is there already is fine."""
        return create_collection(self._folder, name, title, go_on=go_on)

    def __contains__(self, name: object) -> bool:
        return name in collection_names(self._folder)

    def remove(self, name: str) -> None:
        """With its copies of the documents."""
        remove_collection(self._folder, name)

    @contextmanager
    def opened(self, name: str) -> Iterator[OpenCollection]:
        with open_collection(self._folder, name) as knowledge:
            yield OpenCollection(name, knowledge)

    def rows(self) -> list[CollectionRow]:
        found = []
        for name in collection_names(self._folder):
            try:
                with self.opened(name) as one:
                    found.append(one.row)
            except WeftError as error:
                found.append(CollectionRow(name, name, {}, str(error)))
        return found
