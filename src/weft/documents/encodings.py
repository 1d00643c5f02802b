"""From bytes to text: byte order marks, UTF-8, UTF-8 with stray bytes, UTF-16 without a mark, older code pages.

Strict UTF-8 first. Bytes that are mostly UTF-8 are repaired where they are not; the rest is a code page, chosen in
`code_pages` by which language the result looks like. Whatever was assumed is said in a note.
"""

from __future__ import annotations

import codecs
import re
from dataclasses import field
from typing import Final

from weft.documents.code_pages import guess
from weft.documents.document import RefusedError, counted
from weft.protocol.patterns import pattern
from weft.protocol.values import dataclass

_MARKS: Final = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_SEQUENCE: Final = pattern(
    rb"[\xc2-\xdf][\x80-\xbf]|\xe0[\xa0-\xbf][\x80-\xbf]|[\xe1-\xec\xee\xef][\x80-\xbf]{2}|\xed[\x80-\x9f][\x80-\xbf]"
    rb"|\xf0[\x90-\xbf][\x80-\xbf]{2}|[\xf1-\xf3][\x80-\xbf]{3}|\xf4[\x80-\x8f][\x80-\xbf]{2}"
)
_CUT: Final = pattern(rb"(?:[\xc2-\xdf]|[\xe0-\xef][\x80-\xbf]?|[\xf0-\xf4][\x80-\xbf]{0,2})\Z")
"""Half a character at the end, where a file was cut off."""
_PRINTED_OVER: Final = re.compile(
    rb"(?P<letter>[!-~]|[\xc2-\xf4][\x80-\xbf]{1,3})\x08(?=(?P=letter))|_\x08(?=[!-~\xc2-\xf4])"
)
_STRAYS: Final = pattern("[\udc80-\udcff]+")
_HIGH: Final = pattern(rb"[\x80-\xff]")
_NOT_TEXT: Final = bytes(byte for byte in range(32) if byte not in b"\0\t\n\v\f\r\x1b") + b"\x7f"
_SAMPLE: Final = 1 << 20
_NO_TEXT: Final = "is not text and no kind of document that can be read"
_WHAT_CAN: Final = "Give text, Markdown, HTML, PDF, DOCX, EPUB, WebVTT, SRT or Whisper JSON"


@dataclass
class Decoded:
    text: str
    encoding: str
    notes: list[str] = field(default_factory=list)


def decode(data: bytes, declared: str = "") -> Decoded:
    """The text of `data`. `declared` is what the document says of its own encoding, believed when it fits."""
    for mark, encoding in _MARKS:
        if data.startswith(mark):
            return _marked(data[len(mark) :], encoding)
    wide = _wide_encoding(data)
    if wide:
        return Decoded(data.decode(wide), wide, [f"the text has no byte order mark; it was read as {wide.upper()}"])
    filled = len(data)
    data = data.rstrip(b"\0")
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError:
        decoded = _not_utf8(data, declared)
    else:
        _refuse_binary(data, most_controls=0.1, most_zeros=0.3)
        decoded = Decoded(text, "utf-8")
    if filled > len(data):
        decoded.notes.append(f"{counted(filled - len(data), 'zero byte')} at the end removed")
    return decoded


def _marked(data: bytes, encoding: str) -> Decoded:
    if encoding == "utf-8":
        return decode(data)
    text = data.decode(encoding, "replace")
    broken = text.count("\ufffd")
    if broken > len(text) / 10:
        raise RefusedError(f"begins like {encoding[:6].upper()} text, but is not", _WHAT_CAN)
    return Decoded(text, encoding, [f"{counted(broken, 'broken character')} replaced by \ufffd"] if broken else [])


def _wide_encoding(data: bytes) -> str:
    """UTF-16 or UTF-32 by where its zero bytes stand; "" when they stand nowhere in particular."""
    sample = data[:_SAMPLE]
    if len(sample) < 4 or sample.count(0) < len(sample) / 5:
        return ""
    for encoding, width, zero in (("utf-32-le", 4, 3), ("utf-32-be", 4, 0), ("utf-16-le", 2, 1), ("utf-16-be", 2, 0)):
        unit = sample[zero::width]
        other = sample[width - 1 - zero :: width]
        if len(data) % width or not unit or unit.count(0) < 0.7 * len(unit) or other.count(0) > 0.2 * len(other):
            continue
        try:
            text = data.decode(encoding)
        except UnicodeDecodeError:
            continue
        controls = sum(1 for character in text[:4096] if character < " " and character not in "\t\n\r\f\v")
        if controls <= len(text[:4096]) / 50:
            return encoding
    return ""


def _not_utf8(data: bytes, declared: str) -> Decoded:
    _refuse_binary(data, most_controls=0.02, most_zeros=0.05)
    if declared:
        text = _as_declared(data, declared)
        if text is not None:
            return Decoded(text, declared, [f"the text was read as {declared}, as it says of itself"])
    sample = data[:_SAMPLE]
    high = len(_HIGH.findall(sample))
    good = sum(len(sequence) for sequence in _SEQUENCE.findall(sample))
    if good > high / 2:
        return _repaired(_CUT.sub(b"", data))
    encoding, sure = guess(sample)
    text = data.decode(encoding, "replace")
    how = "the text is not UTF-8; it was read as" if sure else "the encoding of the text is not clear; it was read as"
    return Decoded(text, encoding, [f"{how} {encoding}"])


def _as_declared(data: bytes, declared: str) -> str | None:
    # browsers read these as the code page that has them all
    name = {"iso-8859-1": "cp1252", "latin-1": "cp1252", "latin1": "cp1252", "us-ascii": "cp1252"}.get(
        declared.lower(), declared
    )
    try:
        return data.decode(name)
    except (LookupError, ValueError):
        return None


def _repaired(data: bytes) -> Decoded:
    text = data.decode("utf-8", "surrogateescape")
    strays = 0

    def as_code_page(found: re.Match[str]) -> str:
        nonlocal strays
        strays += len(found[0])
        return found[0].encode("utf-8", "surrogateescape").decode("cp1252", "replace")

    text = _STRAYS.sub(as_code_page, text)
    notes = [f"{counted(strays, 'byte')} that were not UTF-8 were read as Windows-1252"] if strays else []
    return Decoded(text, "utf-8", notes or ["half a character at the end, where the file was cut off, was removed"])


def printed_once(data: bytes) -> bytes:
    """Without what `man` prints for old printers: each bold letter twice in its place, and `_` under others."""
    return _PRINTED_OVER.sub(b"", data) if b"\x08" in data else data


def _refuse_binary(data: bytes, most_controls: float, most_zeros: float) -> None:
    sample = data[:_SAMPLE]
    controls = len(sample) - len(sample.translate(None, _NOT_TEXT))
    zeros = sample.count(0)
    if (controls > 4 and controls > most_controls * len(sample)) or (zeros > 8 and zeros > most_zeros * len(sample)):
        raise RefusedError(_NO_TEXT, _WHAT_CAN)
