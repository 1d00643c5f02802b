"""A picture, or a PDF that is looked at rather than read, as an input: what it is, in words.

`content.md` then says what was given and by which hash, so that another picture is another input.
"""

from __future__ import annotations

import struct
from typing import Final

from weft.documents.characters import one_line
from weft.documents.document import Document, DocumentError, Draft
from weft.documents.finish import finished
from weft.documents.kinds import is_pdf
from weft.protocol.hashes import hash_bytes

MOST_PICTURE: Final = 16 * 2**20
"""Bytes; no provider takes more in one request."""
_NAMES: Final = {
    "image/png": "PNG",
    "image/jpeg": "JPEG",
    "image/gif": "GIF",
    "image/webp": "WebP",
    "application/pdf": "PDF",
}


def read_picture(data: bytes, name: str) -> Document:
    """The input in `data`, of the kind image. DocumentError when it is nothing that a model can look at."""
    shown = {"": "the picture", "-": "standard input"}.get(name, one_line(name, 120) or "the picture")
    media_type = media_type_of(data)
    if not media_type:
        raise DocumentError(
            f"{shown} is not a picture that a model can look at", hint="Give a PNG, JPEG, GIF or WebP picture, or a PDF"
        )
    if len(data) > MOST_PICTURE:
        raise DocumentError(
            f"{shown} has {len(data):,} bytes; the limit for a picture is {MOST_PICTURE:,}", hint="Make it smaller"
        )
    size = picture_size(data)
    what = f"{_NAMES[media_type]}, {f'{size[0]} × {size[1]} pixels' if size else f'{len(data):,} bytes'}"
    draft = Draft(kind="image", text=f"[{one_line(name, 120) or 'A picture'}: {what}. It is looked at, not read.]")
    draft.extra = {"media_type": media_type, "hash": hash_bytes(data)}
    return finished(draft, name)


def media_type_of(data: bytes) -> str:
    """By what it begins with; "" for anything else."""
    if data.startswith(b"\x89PNG\r\n\x1a\n"):
        return "image/png"
    if data.startswith(b"\xff\xd8\xff"):
        return "image/jpeg"
    if data.startswith((b"GIF87a", b"GIF89a")):
        return "image/gif"
    if data[:4] == b"RIFF" and data[8:12] == b"WEBP":
        return "image/webp"
    return "application/pdf" if is_pdf(data) else ""


def picture_size(data: bytes) -> tuple[int, int] | None:
    """Width and height, where the head says them plainly."""
    try:
        if data.startswith(b"\x89PNG"):
            width, height = struct.unpack(">II", data[16:24])
            return width, height
        if data.startswith(b"GIF8"):
            width, height = struct.unpack("<HH", data[6:10])
            return width, height
        if data.startswith(b"\xff\xd8"):
            return _jpeg_size(data)
    except (struct.error, IndexError):
        return None
    return None


def _jpeg_size(data: bytes) -> tuple[int, int] | None:
    at = 2
    while at + 9 < len(data) and data[at] == 0xFF:
        marker = data[at + 1]
        if 0xC0 <= marker <= 0xCF and marker not in (0xC4, 0xC8, 0xCC):
            height, width = struct.unpack(">HH", data[at + 5 : at + 9])
            return width, height
        at += 2 + int(struct.unpack(">H", data[at + 2 : at + 4])[0])
    return None
