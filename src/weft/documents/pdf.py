"""PDF: text in reading order with the places where pages begin, and what the file says of itself.

pypdf 7 was chosen over PDFium (five times as fast, and better at odd files) because it can be stopped and has limits:
2.8 kB of nested forms kept PDFium busy without end in a call that no Ctrl+C reaches, and 1 MB of packed spaces took
2 GB of memory.
"""

from __future__ import annotations

import io
import logging
import re
import struct
import warnings
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Final

from weft.documents.characters import normalise, one_line
from weft.documents.document import MAX_TEXT, Draft, RefusedError, counted
from weft.documents.pdf_lines import LineOnPage, lines_of
from weft.documents.pdf_paragraphs import paragraphs_of
from weft.documents.pdf_text import Glyphs, Painter

PAGE_LIMIT: Final = 5_000
CONTENT_LIMIT: Final = 256 * 2**20
"""The most bytes of unpacked page content: a page of prose has some 20,000, and a file may name a large one often."""
_DATE: Final = re.compile(r"D?:?(\d{4})(\d{2})?(\d{2})?")
_FILE_TITLE: Final = re.compile(
    r"(?:microsoft (?:word|powerpoint) - )?.*\.(?:docx?|pptx?|indd|tex|dvi|qxd|pdf|rtf)|untitled.*|microsoft word.*",
    re.IGNORECASE,
)
_CATALOG: Final = re.compile(rb"(\d{1,10} \d{1,5}) obj\s*<<(?:(?!endobj)[\s\S]){0,2000}?/Type\s*/Catalog")
_DAMAGED: Final = "Get it again; if it opens in a viewer, print it to a new PDF from there"
_NO_TEXT: Final = "Recognise its text first (OCR), for example with ocrmypdf, and give the result"
_PASSWORD: Final = "Save a copy without a password, for example by printing it to a new PDF from a viewer"
_INSTALL: Final = "Install the package 'cryptography' to read it, or print it to a new PDF from a viewer"


def read_pdf(data: bytes) -> Draft:
    from pypdf.errors import DependencyError

    draft = Draft(kind="pdf", text="", normal=True)
    try:
        with _quiet():
            reader = _opened(draft, data)
            _describe(draft, reader)
            _read_pages(draft, reader)
    except DependencyError as error:
        raise RefusedError("is encrypted with AES, which can't be read here", _INSTALL) from error
    return draft


@contextmanager
def _quiet() -> Iterator[None]:
    """The library tells the log about every oddity of a file. The person hears of what matters in notes and errors."""
    logger = logging.getLogger("pypdf")
    level = logger.level
    logger.setLevel(logging.CRITICAL + 1)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        logger.setLevel(level)


def _faults() -> tuple[type[Exception], ...]:
    """What reading a damaged file may raise: the library follows whatever the file says."""
    from pypdf.errors import PyPdfError

    return (
        PyPdfError, ArithmeticError, AssertionError, AttributeError, LookupError, OSError, RuntimeError, TypeError,
        ValueError, EOFError, struct.error, zlib.error, MemoryError,
    )  # fmt: skip


def _opened(draft: Draft, data: bytes) -> Any:
    reader = _attempt(data)
    if reader is None:
        reader = _attempt(_with_trailer(data))
        draft.notes.append("the file is damaged, perhaps cut off; it was read as far as it goes")
    if reader is None:
        raise RefusedError("is a damaged PDF, perhaps cut off", _DAMAGED)
    count = len(reader.pages)
    if not count:
        raise RefusedError("is a PDF without pages", _DAMAGED)
    if count > PAGE_LIMIT:
        raise RefusedError(f"has {count:,} pages; the limit is {PAGE_LIMIT:,}", "Split it into parts")
    return reader


def _attempt(data: bytes) -> Any:
    """The file opened and its pages counted; None when it can't be."""
    from pypdf import PdfReader

    try:
        reader = PdfReader(io.BytesIO(data), strict=False)
        if reader.is_encrypted and not reader.decrypt(""):
            raise RefusedError("is encrypted: it opens only with a password", _PASSWORD)
        len(reader.pages)
    except _faults():
        return None
    return reader


def _with_trailer(data: bytes) -> bytes:
    """A file that lost its end, with an end that names its catalog: the library finds the objects by itself then."""
    catalogs = _CATALOG.findall(data)
    root = catalogs[-1].decode() if catalogs else "1 0"
    return data + f"\nendstream\nendobj\ntrailer\n<</Root {root} R>>\nstartxref\n0\n%%EOF\n".encode()


def _read_pages(draft: Draft, reader: Any) -> None:
    fonts: dict[Any, Glyphs | None] = {}
    pages: list[list[LineOnPage]] = []
    unreadable = turned = artifacts = broken = length = followed = unsure = 0
    for index in range(len(reader.pages)):
        try:
            painted = Painter(fonts).page(reader.pages[index])
            lines, as_painted = lines_of(painted.pieces)
        except _faults():
            broken += 1
            lines = []
        else:
            unreadable += painted.unreadable
            turned += painted.turned
            artifacts += painted.artifacts
            followed += painted.followed
            unsure += as_painted
        pages.append(lines)
        length += sum(len(line.text) for line in lines)
        if length > MAX_TEXT:
            raise RefusedError(f"holds more than {MAX_TEXT:,} characters of text", "Split it into parts")
        if followed > CONTENT_LIMIT:
            raise RefusedError(f"has pages of more than {CONTENT_LIMIT:,} bytes of content", "Split it into parts")
    if not length:
        _refuse_empty(len(pages), broken, unreadable)
    found = paragraphs_of(pages)
    draft.text = normalise(found.text)
    draft.pages = tuple(min(page, len(draft.text)) for page in found.pages)
    told = (
        (broken, f"{counted(broken, 'page')} could not be read"),
        (
            sum(not page for page in pages) - broken,
            f"{counted(sum(not page for page in pages) - broken, 'page')} without text",
        ),
        (unreadable, f"{counted(unreadable, 'character')} in fonts that do not say which letters they show left out"),
        (turned, f"{counted(turned, 'character')} of turned text left out"),
        (unsure, f"{counted(unsure, 'page')} in the file's own order: which texts are columns could not be told"),
        (found.running or artifacts, "headers, footers and page numbers left out"),
        (found.contents, f"{counted(found.contents, 'line')} of a table of contents left out"),
        (found.mended, f"{counted(found.mended, 'word')} put together that the end of a line had cut"),
    )
    draft.notes += [note for count, note in told if count > 0]


def _refuse_empty(count: int, broken: int, unreadable: int) -> None:
    if broken == count:
        raise RefusedError("is a damaged PDF: none of its pages can be read", _DAMAGED)
    if unreadable:
        raise RefusedError("is a PDF whose fonts do not say which letters they show", _NO_TEXT)
    raise RefusedError("is a PDF without a text layer: its pages are pictures, or empty", _NO_TEXT)


def _describe(draft: Draft, reader: Any) -> None:
    try:
        facts = {str(key).lstrip("/"): one_line(str(value)) for key, value in (reader.metadata or {}).items() if value}
        language = reader.trailer["/Root"].get("/Lang", "")
    except _faults():
        draft.notes.append("what the file says of itself could not be read")
        return
    title = facts.get("Title", "")
    draft.title = "" if _FILE_TITLE.fullmatch(title) else title
    draft.author = facts.get("Author", "")
    draft.language = language if isinstance(language, str) else ""
    for name in ("Subject", "Keywords", "Creator"):
        if facts.get(name):
            draft.extra[name.lower()] = facts[name]
    date = _DATE.match(facts.get("CreationDate", ""))
    if date:
        draft.extra["created"] = "-".join(filter(None, date.groups()))
