"""Several documents as one: each under its title, with the times of all of them still at their places."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Final, TypeVar

from weft.documents.document import Cue, Document

T = TypeVar("T")
PARTS: Final = "parts"
"""In `extra` of several as one: where in the text each begins, with a heading that is its title."""


def join_documents(documents: Sequence[Document]) -> Document:
    """One document that says what all of them say, in their order. A single one is returned as it is."""
    if len(documents) == 1:
        return documents[0]
    text, cues, begin = "", list[Cue](), list[str]()
    for document in documents:
        head = "" if _begins_with_title(document) else f"# {document.title}\n\n"
        text += "\n\n" if text else ""
        begin.append(str(len(text)))
        text += head
        cues += [replace(cue, offset=cue.offset + len(text)) for cue in document.cues]
        text += document.text
    return Document(
        kind=_common([document.kind for document in documents]) or "markdown",
        title=_titles([document.title for document in documents]),
        text=text,
        words=sum(document.words for document in documents),
        author=_common([document.author for document in documents]) or "",
        published=_common([document.published for document in documents]) or "",
        language=_common([document.language for document in documents]) or "",
        cues=tuple(cues),
        extra={PARTS: " ".join(begin)},
        notes=tuple(f"{document.title}: {note}" for document in documents for note in document.notes),
    )


def _begins_with_title(document: Document) -> bool:
    first = document.text.split("\n", 1)[0]
    return first.startswith("# ") and first[2:].strip() == document.title


def _common(values: Sequence[T]) -> T | None:
    return values[0] if len(set(values)) == 1 else None


def _titles(titles: Sequence[str]) -> str:
    if len(titles) == 2:
        return f"{titles[0]} · {titles[1]}"
    return f"{titles[0]} · {titles[1]} · {len(titles) - 2} more"
