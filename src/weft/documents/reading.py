"""From any bytes to one normal document: finds the kind, hands over to its reader, and names the file in an error.

A reader is loaded when the first document of its kind is read.
"""

from __future__ import annotations

from weft.documents.characters import one_line, without_controls
from weft.documents.document import MAX_BYTES, MAX_TEXT, Document, DocumentError, Draft, RefusedError, counted
from weft.documents.encodings import decode, printed_once
from weft.documents.finish import finished
from weft.documents.kinds import (
    OTHER_MARKUPS,
    declared_charset,
    is_asciidoc,
    is_html,
    is_json,
    is_pdf,
    is_srt,
    is_svg,
    is_webvtt,
    is_xml,
    is_zip,
    refuse_foreign,
)
from weft.documents.manual_text import is_info, is_manual_page, read_info, read_manual_page
from weft.documents.prose import is_markdown, read_markdown, read_text


def read_document(data: bytes, name: str) -> Document:
    """The document in `data`. `name` helps where content does not decide, and is what an error calls the file."""
    try:
        return finished(_draft(data, name), name)
    except RefusedError as refusal:
        shown = {"": "the document", "-": "standard input"}.get(name, one_line(name, 120) or "the document")
        raise DocumentError(f"{shown} {refusal.what}", hint=refusal.hint) from refusal


def _draft(data: bytes, name: str) -> Draft:
    if not data:
        raise RefusedError("is empty", "Give a document that has words")
    if len(data) > MAX_BYTES:
        raise RefusedError(f"has {len(data):,} bytes; the limit is {MAX_BYTES:,}", "Split it, or take the pictures out")
    if is_pdf(data):
        from weft.documents.pdf import read_pdf

        return read_pdf(data)
    if is_zip(data):
        return _from_archive(data)
    refuse_foreign(data)
    if len(data) > MAX_TEXT:
        raise RefusedError(f"has {len(data):,} bytes; the limit for text is {MAX_TEXT:,}", "Split it into parts")
    return _from_text(data, name)


def _from_archive(data: bytes) -> Draft:
    from weft.documents.archive import Archive
    from weft.documents.docx import is_docx, read_docx
    from weft.documents.epub import is_epub, read_epub

    archive = Archive.open(data)
    if is_epub(archive):
        return read_epub(archive)
    if is_docx(archive):
        return read_docx(archive)
    raise RefusedError(*archive.what_it_is())


def _from_text(data: bytes, name: str) -> Draft:
    data = printed_once(data)
    decoded = decode(data, declared_charset(data))
    text, controls = without_controls(decoded.text)
    text = text.replace("\r\n", "\n").replace("\r", "\n").lstrip("\ufeff")
    if not text.strip():
        raise RefusedError("holds nothing but white space", "Give a document that has words")
    draft = _from_characters(text, name)
    notes = list(decoded.notes)
    if controls:
        notes.append(f"{counted(controls, 'control character')} removed")
    draft.notes = [*notes, *draft.notes]
    return draft


def _from_characters(text: str, name: str) -> Draft:
    if name.lower().endswith(OTHER_MARKUPS) or is_asciidoc(text):
        from weft.documents.other_markup import read_other_markup

        return read_other_markup(text, name if name.lower().endswith(OTHER_MARKUPS) else ".adoc")
    if is_webvtt(text):
        from weft.documents.captions import read_webvtt

        return read_webvtt(text)
    if is_json(text, name):
        from weft.documents.whisper import read_whisper

        return read_whisper(text)
    if is_srt(text):
        from weft.documents.captions import read_srt

        return read_srt(text)
    if is_svg(text):
        raise RefusedError("is an SVG picture", "Give the text as a document: what is written in pictures is not read")
    if is_html(text, name):
        from weft.documents.web_page import read_html

        return read_html(text)
    if is_xml(text):
        raise RefusedError("is XML of a kind that is not known", "Give the document as HTML, text, PDF or DOCX")
    if is_manual_page(text):
        return read_manual_page(text)
    if is_info(text):
        return read_info(text)
    return read_markdown(text) if is_markdown(text, name) else read_text(text)
