"""Workbooks as rows of what their cells show: values as they were last calculated, dates as dates. Formulas, charts and
colours are left out. Bounded: of a large sheet the beginning, with how many rows there are.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from posixpath import join, normpath
from typing import Final
from xml.etree.ElementTree import Element

from weft.documents.archive import Archive
from weft.documents.document import RefusedError
from weft.documents.xml_part import parse_xml
from weft.protocol.values import dataclass

MOST_ROWS: Final = 1_000
MOST_COLUMNS: Final = 100
_MAIN: Final = "{http://schemas.openxmlformats.org/spreadsheetml/2006/main}"
_RELATION: Final = "{http://schemas.openxmlformats.org/officeDocument/2006/relationships}id"
_BOOK: Final = "xl/workbook.xml"
_DATES: Final = frozenset([*range(14, 23), *range(45, 48)])
"""Formats of dates and times that need no text of their own."""
_DATE_LETTERS: Final = re.compile(r"[ymdhs]", re.IGNORECASE)
_NOT_LETTERS: Final = re.compile(r'"[^"]*"|\[[^\]]*\]|\\.')
_EPOCH: Final = datetime(1899, 12, 30)


@dataclass(frozen=True, slots=True)
class Sheet:
    name: str
    rows: tuple[tuple[str, ...], ...]
    all_rows: int


def read_sheets(data: bytes) -> tuple[Sheet, ...]:
    """The sheets of an .xlsx. RefusedError for what is none, is damaged or is made to do harm."""
    archive = Archive.open(data)
    if _BOOK not in archive:
        raise RefusedError("is no workbook", "Give an .xlsx, or a table as CSV")
    book = parse_xml(archive.read(_BOOK), _BOOK)
    parts, texts, dates = _parts(archive), _texts(archive), _date_styles(archive)
    found = []
    for sheet in book.iter(f"{_MAIN}sheet"):
        part = parts.get(sheet.get(_RELATION, ""), "")
        if part in archive:
            found.append(_sheet(sheet.get("name", ""), parse_xml(archive.read(part), part), texts, dates))
    return tuple(found)


def _parts(archive: Archive) -> Mapping[str, str]:
    """Where each sheet is, by the name that the workbook has for it."""
    name = "xl/_rels/workbook.xml.rels"
    if name not in archive:
        return {}
    targets = {one.get("Id", ""): one.get("Target", "") for one in parse_xml(archive.read(name), name)}
    return {key: normpath(join("xl", target)) if target[:1] != "/" else target[1:] for key, target in targets.items()}


def _texts(archive: Archive) -> Sequence[str]:
    name = "xl/sharedStrings.xml"
    return [_words(one) for one in parse_xml(archive.read(name), name)] if name in archive else []


def _words(item: Element) -> str:
    """Without what stands above characters to tell how they are said."""
    heads = [one for one in item if one.tag in (f"{_MAIN}t", f"{_MAIN}r")]
    return "".join(text.text or "" for head in heads for text in head.iter(f"{_MAIN}t"))


def _date_styles(archive: Archive) -> frozenset[int]:
    """The styles of cells whose number is a day."""
    name = "xl/styles.xml"
    if name not in archive:
        return frozenset()
    root = parse_xml(archive.read(name), name)
    own = {
        _number(one.get("numFmtId")): bool(_DATE_LETTERS.search(_NOT_LETTERS.sub("", one.get("formatCode", ""))))
        for one in root.iter(f"{_MAIN}numFmt")
    }
    formats = [_number(one.get("numFmtId")) for styles in root.iter(f"{_MAIN}cellXfs") for one in styles]
    return frozenset(index for index, kind in enumerate(formats) if kind in _DATES or own.get(kind))


def _sheet(name: str, root: Element, texts: Sequence[str], dates: frozenset[int]) -> Sheet:
    rows: list[tuple[str, ...]] = []
    last = 0
    for row in root.iter(f"{_MAIN}row"):
        last = _number(row.get("r")) or last + 1
        if last > MOST_ROWS:
            continue
        rows += [()] * (last - 1 - len(rows))
        rows.append(tuple(_cells(row, texts, dates)))
    width = max((len(row) for row in rows), default=0)
    return Sheet(name, tuple((*row, *("",) * (width - len(row))) for row in rows), last)


def _cells(row: Element, texts: Sequence[str], dates: frozenset[int]) -> Iterator[str]:
    at = 0
    for cell in row.iter(f"{_MAIN}c"):
        column = _column(cell.get("r", "")) or at + 1
        if column > MOST_COLUMNS:
            return
        yield from ("" for _ in range(column - 1 - at))
        yield _shown(cell, texts, dates)
        at = column


def _shown(cell: Element, texts: Sequence[str], dates: frozenset[int]) -> str:
    kind = cell.get("t", "n")
    if kind == "inlineStr":
        return "".join(_words(one) for one in cell.iter(f"{_MAIN}is"))
    value = next((one.text or "" for one in cell.iter(f"{_MAIN}v")), "")
    if kind == "s":
        index = _number(value)
        return texts[index] if index < len(texts) else ""
    if kind == "b":
        return "yes" if value == "1" else "no"
    if kind == "n" and value and _number(cell.get("s")) in dates:
        return _day(value)
    return value


def _day(value: str) -> str:
    try:
        moment = _EPOCH + timedelta(days=float(value))
    except (ValueError, OverflowError):
        return value
    moment = (moment + timedelta(milliseconds=500)).replace(microsecond=0)
    return moment.date().isoformat() if moment.time() == datetime.min.time() else moment.isoformat(" ")


def _column(reference: str) -> int:
    """The number of `AB` in `AB12`; 0 when nothing is said."""
    number = 0
    for letter in reference:
        if not "A" <= letter <= "Z":
            break
        number = number * 26 + ord(letter) - 64
    return number


def _number(text: str | None) -> int:
    return int(text) if text and text.isdecimal() and len(text) < 10 else 0
