"""Programs, tables and data as documents: read as what they are, and cut where they have parts.

code      its definitions, each under its name; what stands before the first is the module's own
tables    `column: value` row by row, so that a row says by itself what its numbers mean; workbooks sheet by sheet
data      JSON as `path: value`, a line for each value; other data as it is written
"""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import PurePosixPath
from typing import Any, Final

from weft.documents import Document, DocumentError, read_document
from weft.documents.characters import count_words, normalise
from weft.documents.document import RefusedError
from weft.documents.encodings import decode
from weft.documents.spreadsheet import read_sheets
from weft.knowledge.numbered import Piece
from weft.knowledge.place import CitedPlace


def _endings(text: str) -> frozenset[str]:
    return frozenset(text.split())


CODE: Final = _endings(
    ".py .pyi .js .mjs .cjs .ts .tsx .jsx .java .kt .scala .c .h .cc .cpp .hpp .cs .go .rs .rb .php .pl .pm .lua .sh"
    " .bash .zsh .sql .swift .r .jl .ex .exs .hs .ml .clj .el .vim .proto .graphql .css .scss"
)
TABLES: Final = _endings(".csv .tsv")
WORKBOOKS: Final = _endings(".xlsx")
DATA: Final = _endings(".json .jsonl .yaml .yml .toml .ini .cfg .conf .properties .xml")
ROW_LIMIT: Final = 100_000
_DEFINITION: Final = re.compile(
    r"^(?:@\w.*\n)*(?:(?:export|default|public|private|protected|static|final|abstract|async|pub(?:\(\w+\))?|unsafe"
    r"|extern|inline|CREATE|create)\s+(?:OR REPLACE\s+)?)*"
    r"(?:def|class|function|func|fn|interface|struct|enum|impl|trait|module|namespace|type|const|sub|TABLE|table|VIEW|view"
    r"|FUNCTION|INDEX|message|service)\s+(?P<name>[\w$]+(?:(?:\.|::)[\w$]+)*)",
    re.MULTILINE,
)


def is_other(file: str) -> bool:
    """Whether a file is code, a table or data, and no document."""
    return PurePosixPath(file).suffix.lower() in CODE | TABLES | WORKBOOKS | DATA


def read_other(data: bytes, file: str) -> Document:
    """The document of a file that `is_other`. DocumentError as for any other."""
    ending = PurePosixPath(file).suffix.lower()
    if ending in (".json", ".xml"):
        try:
            return read_document(data, file)  # a transcript, or a page
        except DocumentError:
            pass
    notes: list[str] = []
    text = "" if ending in WORKBOOKS else decode(data, "").text.replace("\r\n", "\n").replace("\r", "\n")
    if ending in WORKBOOKS:
        text = _workbook(data, file, notes)
    elif ending in TABLES:
        text = _table(text, "\t" if ending == ".tsv" else ",", notes)
    elif ending in (".json", ".jsonl"):
        text = _values(text, lines=ending == ".jsonl")
    text = normalise(text)
    if not text:
        raise DocumentError(f"{file} holds no text", hint="Look into it, and give a file that has words")
    name = PurePosixPath(file).name
    return Document(kind="text", title=name, text=text, words=count_words(text), notes=tuple(notes))


def code_pieces(text: str, document: str, file: str) -> list[Piece]:
    """The definitions of a program, each with what belongs to it. A file without any is one piece."""
    name = PurePosixPath(file).name
    found = [
        (match.start(), match["name"]) for match in _DEFINITION.finditer(text) if text[match.start()] not in " \t\n"
    ]
    starts = [(0, ""), *found] if not found or text[: found[0][0]].strip() else found
    ends = [*(start for start, _ in starts[1:]), len(text)]
    return [
        Piece(CitedPlace(document=document), start, end, f"{name} › {title}" if title else name, title=title or name)
        for (start, title), end in zip(starts, ends, strict=True)
        if text[start:end].strip()
    ]


def _table(text: str, separator: str, notes: list[str]) -> str:
    rows = csv.reader(io.StringIO(text), delimiter=separator)
    try:
        head = next(rows, [])
        lines = [_row(head, row) for row in islice(rows, ROW_LIMIT)]
        rest = sum(1 for _ in rows)
    except csv.Error:
        return text  # no table after all: as it is written
    if rest:
        notes.append(f"{rest:,} rows left out: the limit is {ROW_LIMIT:,}; split the table to have them")
    return "\n".join(lines) or text


def _row(head: Sequence[str], row: Sequence[str]) -> str:
    named = zip([*head, *[""] * len(row)], row, strict=False)
    told = "; ".join(f"{key}: {value}" if key else value for key, value in named if value.strip())
    return f"- {told}" if told else ""  # a row is read by itself, not as the next part of the one before


def _workbook(data: bytes, file: str, notes: list[str]) -> str:
    try:
        sheets = read_sheets(data)
    except RefusedError as refusal:
        raise DocumentError(f"{file} {refusal.what}", hint=refusal.hint) from refusal
    lines = []
    for sheet in sheets:
        head, *rows = sheet.rows or [()]
        lines += [f"# {sheet.name}", "", *(_row(head, row) for row in rows), *(() if rows else head), ""]
        if sheet.all_rows > len(sheet.rows):
            rest = sheet.all_rows - len(sheet.rows)
            notes.append(f"{rest:,} rows of {sheet.name} left out; save the sheet as CSV to have them")
    return "\n".join(lines)


def _values(text: str, *, lines: bool) -> str:
    try:
        found = [json.loads(line) for line in text.splitlines() if line.strip()] if lines else [json.loads(text)]
    except (ValueError, RecursionError):
        return text
    return "\n".join(line for value in found for line in _leaves(value, ""))


def _leaves(value: Any, path: str, depth: int = 0) -> Iterator[str]:
    if isinstance(value, dict | list) and value and depth < 50:
        entries = value.items() if isinstance(value, dict) else ((str(at), one) for at, one in enumerate(value))
        for key, one in entries:
            yield from _leaves(one, f"{path}.{key}" if path else str(key), depth + 1)
    else:
        yield f"{path}: {value}" if path else str(value)
