"""The values of the package: a document, its cues, and the one error a face sees.

A reader works on bytes and knows no file name. It answers with a `Draft`, or raises `RefusedError` with half a sentence
("is encrypted …") that `read_document` completes with the name of the file.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from typing import Final, Literal, get_args

from weft.protocol.errors import EXIT_USAGE, UserError
from weft.protocol.values import dataclass

Kind = Literal["markdown", "text", "html", "pdf", "docx", "epub", "webvtt", "srt", "whisper", "image"]
KINDS: Final[tuple[Kind, ...]] = get_args(Kind)

MAX_BYTES: Final = 128 * 2**20
"""The largest file that is looked at: a PDF, a DOCX or an EPUB may be mostly pictures."""
MAX_TEXT: Final = 32 * 2**20
"""The most bytes a file of text, HTML or captions may have, and the most characters taken from any other."""


@dataclass(frozen=True, slots=True)
class Cue:
    """When something was said, by whom, and where it stands in the text of the document. Times are in seconds."""

    start: float
    end: float
    speaker: str
    offset: int
    length: int


@dataclass(frozen=True, slots=True)
class Link:
    """A link into the same set of files: where it stands in the text, its words, and its target as it is written."""

    start: int
    text: str
    target: str


@dataclass(frozen=True, kw_only=True)
class Document:
    """Any document after reading: what it says of itself, and its text in one normal form."""

    kind: Kind
    title: str
    """From front matter, a heading, metadata or the file's name; never empty."""
    text: str
    """Markdown or plain text: NFC, `\\n` at line ends, no control characters, no spaces at the end of a line."""
    words: int
    author: str = ""
    published: str = ""
    language: str = ""
    url: str = ""
    cues: tuple[Cue, ...] = ()
    pages: tuple[int, ...] = ()
    """For a PDF: where in the text each page begins."""
    notes: tuple[str, ...] = ()
    """What was left out or repaired, in words."""
    left_out: Mapping[str, int] = field(default_factory=dict)
    """Of a page: how many words stood around the text, by what they stood in."""
    links: tuple[Link, ...] = ()
    """Of a page: those that lead into the same set of files."""
    anchors: Mapping[str, int] = field(default_factory=dict)
    """Of a page: the places that links may name, each with where it is in the text."""
    extra: Mapping[str, str] = field(default_factory=dict)
    """Other front matter or metadata, as text."""


class DocumentError(UserError):
    """A document that can't be read: which file, what is wrong with it, and what to do."""

    exit_code = EXIT_USAGE


@dataclass(kw_only=True)
class Draft:
    """What a reader found. `normal` says that the text is in normal form already, with offsets into it."""

    kind: Kind
    text: str
    title: str = ""
    author: str = ""
    published: str = ""
    language: str = ""
    url: str = ""
    cues: tuple[Cue, ...] = ()
    pages: tuple[int, ...] = ()
    notes: list[str] = field(default_factory=list)
    left_out: dict[str, int] = field(default_factory=dict)
    links: tuple[Link, ...] = ()
    anchors: dict[str, int] = field(default_factory=dict)
    extra: dict[str, str] = field(default_factory=dict)
    normal: bool = False


class RefusedError(Exception):
    """Why these bytes are no document: the end of a sentence that begins with the file's name, and what to do."""

    def __init__(self, what: str, hint: str = "") -> None:
        super().__init__(what)
        self.what = what
        self.hint = hint


def counted(number: int, thing: str) -> str:
    """For notes: "1 byte", "2,000 bytes"."""
    return f"{number:,} {thing}{'' if number == 1 else 's'}"
