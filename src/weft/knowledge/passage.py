"""The value everything here works with: a stretch of a document, its place in the document's own order, its context."""

from __future__ import annotations

from functools import cached_property

from weft.knowledge.place import CitedPlace, document_id
from weft.protocol.hashes import hash_bytes
from weft.protocol.values import dataclass


def indexed(heading: str, lead: str, content: str) -> str:
    """What stands for a passage when meanings are compared."""
    return "\n".join(part for part in (heading, lead, content) if part)


def text_hash(text: str) -> str:
    return hash_bytes(text.encode("utf-8", "surrogatepass"))


@dataclass(frozen=True, kw_only=True)
class Passage:
    id: str
    ref: str
    """Names this passage and no other of its document: `315.12(a)`, `315.A2`, `315.9_part2`, `315.1~2`, `guide#one`."""
    place: CitedPlace
    content: str
    heading: str = ""
    """The headings above it, the outermost first."""
    lead: str = ""
    """The sentence a sub-paragraph completes: what its paragraph says before its items begin."""
    start: int = 0
    end: int = 0
    page: int = 0
    """Counted from 1; 0 for a document without pages."""
    mentions: tuple[tuple[str, CitedPlace], ...] = ()
    """The places its text refers to, each with the words that do."""
    links: tuple[tuple[str, str, str], ...] = ()
    """Its links into the collection: the words, the file, the anchor in it."""
    anchors: tuple[str, ...] = ()
    """The names under which links lead here."""

    @cached_property
    def indexed(self) -> str:
        return indexed(self.heading, self.lead, self.content)

    @cached_property
    def hash(self) -> str:
        return text_hash(self.indexed)


@dataclass(frozen=True, kw_only=True)
class CutDocument:
    """A document as the index keeps it."""

    file: str
    hash: str
    """Of the file's bytes and of everything that decides how they are read."""
    key: str
    title: str
    tier: str
    passages: tuple[Passage, ...]
    version: str = ""
    effective_date: str = ""
    kind: str = "text"
    pages: int = 0
    notes: tuple[str, ...] = ()

    @property
    def id(self) -> str:
        return document_id(self.file)
