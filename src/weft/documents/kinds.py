"""Which kind of document bytes are, by what they begin with; a file's name only decides between kinds of text."""

from __future__ import annotations

import re
from typing import Final

from weft.documents.document import RefusedError
from weft.protocol.patterns import pattern

OTHER_MARKUPS: Final = (".org", ".adoc", ".asciidoc", ".tex", ".ipynb", ".rst", ".rst.txt")
"""Endings of text that becomes markdown first."""
_MEDIA: Final = "Make a transcript of it first (WebVTT, SRT or Whisper JSON can be read)"
_PICTURE: Final = (
    "Give the text as a document: what is written in pictures is not read; a pipeline that looks at one has an input "
    "of `kind: image`"
)
_PACKED: Final = "Unpack it, and give the documents inside"
_SAVE_AS: Final = "Open it where it was made, and save it as DOCX, PDF or text"
_PROGRAM: Final = "Give text, Markdown, HTML, PDF, DOCX, EPUB, WebVTT, SRT or Whisper JSON"

_FOREIGN: Final = (
    (b"\x89PNG\r\n", "is a PNG picture", _PICTURE),
    (b"\xff\xd8\xff", "is a JPEG picture", _PICTURE),
    (b"GIF8", "is a GIF picture", _PICTURE),
    (b"BM", "is a bitmap picture", _PICTURE),
    (b"II*\0", "is a TIFF picture", _PICTURE),
    (b"MM\0*", "is a TIFF picture", _PICTURE),
    (b"ID3", "is an MP3 recording", _MEDIA),
    (b"\xff\xfb", "is an MP3 recording", _MEDIA),
    (b"OggS", "is a recording (Ogg)", _MEDIA),
    (b"fLaC", "is a recording (FLAC)", _MEDIA),
    (b"\x1aE\xdf\xa3", "is a video (Matroska or WebM)", _MEDIA),
    (b"\x7fELF", "is a program (ELF)", _PROGRAM),
    (b"MZ", "is a program (Windows)", _PROGRAM),
    (b"\xcf\xfa\xed\xfe", "is a program (Mach-O)", _PROGRAM),
    (b"\xca\xfe\xba\xbe", "is a program (Java or Mach-O)", _PROGRAM),
    (b"\0asm", "is a program (WebAssembly)", _PROGRAM),
    (b"\x1f\x8b", "is packed with gzip", _PACKED),
    (b"BZh", "is packed with bzip2", _PACKED),
    (b"\xfd7zXZ\0", "is packed with xz", _PACKED),
    (b"7z\xbc\xaf\x27\x1c", "is a 7-Zip archive", _PACKED),
    (b"Rar!\x1a\x07", "is a RAR archive", _PACKED),
    (b"\x28\xb5\x2f\xfd", "is packed with Zstandard", _PACKED),
    (b"SQLite format 3\0", "is an SQLite database", _PROGRAM),
    (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "is an old Office document, or one with a password", _SAVE_AS),
    (b"{\\rtf", "is Rich Text (RTF)", _SAVE_AS),
    (b"%!PS", "is PostScript", "Turn it into a PDF first (ps2pdf)"),
)
"""Also those that would pass as text; the ones that begin with letters are only believed with bytes of zero nearby."""
_LETTERS_ALONE: Final = (b"BM", b"MZ", b"ID3", b"BZh", b"OggS", b"fLaC", b"GIF8")

_PAGE: Final = pattern(
    r"(?:<\?xml[^>]{0,200}\?>|<!--(?:[^-]|-(?!->)){0,5000}-->|\s)*+<(?:!doctype\s+html|html)\b", re.IGNORECASE
)
_FRAGMENT: Final = pattern(
    r"\s*<(?:head|title|meta|body|main|article|section|header|nav|div|p|h[1-6]|ul|ol|table|blockquote|figure|center|font)\b",
    re.IGNORECASE,
)
_CLOSING_TAG: Final = pattern(r"</(?:p|div|body|article|section|h[1-6]|li|td|main|blockquote)\s*>", re.IGNORECASE)
_PICTURE_MARKUP: Final = pattern(
    r"(?:<\?xml[^>]{0,200}\?>|<!--(?:[^-]|-(?!->)){0,5000}-->|<!doctype[^>]{0,500}>|\s)*+<svg\b", re.IGNORECASE
)
_TIMING: Final = pattern(
    r"(?:\A|\n)[ \t]*(?:\d{1,7}[ \t]*\n[ \t]*)?(?:\d{1,3}:)?\d{1,2}:\d{2}(?:[.,]\d{1,3})?"
    r"[ \t]*-->[ \t]*(?:\d{1,3}:)?\d{1,2}:\d{2}"
)
_DECLARATION: Final = pattern(r"\s*<\?xml\s")
_WEBVTT: Final = pattern(r"\s*WEBVTT(?:[ \t\n]|\Z)")
_JSON: Final = pattern(r"\s*[\[{]")
_JSON_CLEARLY: Final = pattern(r"\s*(?:\{\s*\"|\[\s*\{\s*\")")
_ASCIIDOC: Final = pattern(r"\s*= [^\s=][^\n]*(?<!=)\n(?:[^\n]*\n)*?== [^\s=][^\n]*(?<!=)\n")
_CHARSET: Final = pattern(
    rb"<meta[^>]{0,200}?charset\s*=\s*[\"']?\s*([A-Za-z0-9_:.-]{2,40})|<\?xml[^>]{0,100}?encoding\s*=\s*[\"']([A-Za-z0-9_:.-]{2,40})",
    re.IGNORECASE,
)


def refuse_foreign(data: bytes) -> None:
    """Names what a file is when it is no document: clearer than calling it binary."""
    for beginning, what, hint in _FOREIGN:
        if data.startswith(beginning) and (beginning not in _LETTERS_ALONE or 0 in data[:512]):
            raise RefusedError(what, hint)
    if data[4:8] == b"ftyp" and 0 in data[:4]:
        raise RefusedError("is a video or a recording (MP4)", _MEDIA)
    if data[:4] == b"RIFF" and data[8:12] in (b"WAVE", b"AVI "):
        raise RefusedError("is a recording or a video (RIFF)", _MEDIA)
    if data[:4] == b"RIFF" and data[8:12] == b"WEBP":
        raise RefusedError("is a WebP picture", _PICTURE)


def is_pdf(data: bytes) -> bool:
    """Readers of PDF accept some bytes before the header; a text that begins with words and then shows one is text."""
    head = data[:1024]
    place = head.find(b"%PDF-")
    return place == 0 or (place > 0 and (not head[:place].strip(b"\xef\xbb\xbf\r\n\t \0") or b"\nendobj" in data))


def is_zip(data: bytes) -> bool:
    return data.startswith((b"PK\x03\x04", b"PK\x05\x06", b"PK\x07\x08"))


def is_html(text: str, name: str) -> bool:
    if _PAGE.match(text):
        return True
    lower = name.lower()
    if lower.endswith((".html", ".htm", ".xhtml")):
        return "<" in text
    if lower.endswith((".md", ".markdown", ".txt", ".vtt", ".srt", ".json")):
        return False
    head = text[:20_000]
    return bool(_FRAGMENT.match(head)) and len(_CLOSING_TAG.findall(head)) >= 2


def is_svg(text: str) -> bool:
    return bool(_PICTURE_MARKUP.match(text))


def is_xml(text: str) -> bool:
    return bool(_DECLARATION.match(text))


def is_webvtt(text: str) -> bool:
    return bool(_WEBVTT.match(text))


def is_srt(text: str) -> bool:
    return bool(
        _TIMING.match(text.lstrip("\n \t"))
        or (_TIMING.search(text[:2_000]) and len(_TIMING.findall(text[:20_000])) > 2)
    )


def is_asciidoc(text: str) -> bool:
    """Whether it begins with a title and has a heading: a wiki has `=` behind these as well."""
    return bool(_ASCIIDOC.match(text[:20_000]))


def is_json(text: str, name: str) -> bool:
    """Whether to take it as JSON and complain when it is broken."""
    return bool(_JSON.match(text)) and (name.lower().endswith(".json") or bool(_JSON_CLEARLY.match(text)))


def declared_charset(data: bytes) -> str:
    """What a page says of its own encoding, in its first bytes."""
    found = _CHARSET.search(data[:4096])
    return (found[1] or found[2] or b"").decode("ascii") if found else ""
