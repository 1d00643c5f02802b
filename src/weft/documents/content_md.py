"""`content.md` of a session: one block of front matter, then the text; and back again.

Each line of the front matter is `key: JSON`, which is YAML for whoever else reads it and needs no quoting rules here.
Reading is forgiving: a person may have edited any of it, and an older system wrote two blocks, or none. The key
`kind` tells ours from theirs: below ours there is only text, however much it looks like a second block.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Final, cast

from weft.documents.characters import normalise
from weft.documents.document import KINDS, Document, DocumentError, Draft, Kind, RefusedError, counted
from weft.documents.encodings import decode
from weft.documents.finish import finished
from weft.documents.front_matter import DocumentFront, as_text, describe, split_front_matter
from weft.documents.marks import (
    BadMarksError,
    cues_as_line,
    cues_from_line,
    pages_as_line,
    pages_from_line,
    speakers_of,
)
from weft.protocol.patterns import pattern

NAME: Final = "content.md"
_OURS: Final = ("id", "kind", "words", "speakers", "cues", "pages", "notes", "extra")
_NOT_IN_YAML: Final = pattern("[\x7f-\x9f\u2028\u2029\ud800-\udfff\ufeff\ufffe\uffff]")


def to_content_md(document: Document, *, id: str) -> bytes:
    """The same bytes for the same document. What is empty is not written."""
    extra = {key: value for key, value in document.extra.items() if key != "id"}
    fields: dict[str, Any] = {
        "id": id,
        "title": document.title,
        "kind": document.kind,
        "author": document.author,
        "published": document.published,
        "language": document.language,
        "url": document.url,
        "words": document.words,
        "notes": list(document.notes),
        "extra": extra,
        "speakers": speakers_of(document.cues),
        "cues": cues_as_line(document.cues, document.text),
        "pages": pages_as_line(document.pages, document.text),
    }
    always = ("id", "title", "kind", "words")
    lines = [f"{key}: {_as_json(value)}" for key, value in fields.items() if value or key in always]
    return "\n".join(["---", *lines, "---", "", document.text, ""]).encode()


def _as_json(value: Any) -> str:
    return _NOT_IN_YAML.sub(lambda found: f"\\u{ord(found[0]):04x}", json.dumps(value, ensure_ascii=False))


def from_content_md(data: bytes, name: str = "") -> Document:
    """The document of a session's `content.md`. Its id, when it has one, is in `extra`. `name`: of the file that it was
    made from, after which one without a title is called."""
    try:
        decoded = decode(data)
        draft = read_with_front_matter(_with_line_ends(decoded.text))
        draft.notes = [*decoded.notes, *draft.notes]
        return finished(draft, name)
    except RefusedError as refusal:
        raise DocumentError(f"{NAME} {refusal.what}", hint=refusal.hint) from refusal


def read_with_front_matter(text: str) -> Draft:
    """Markdown with no, one or two blocks of front matter; one that `to_content_md` wrote is read as what it was."""
    front = split_front_matter(text)
    if front.fields.get("kind") in KINDS:
        return _restored(front)
    fields, notes, body = front.fields, front.notes, front.body
    second = split_front_matter(body) if front.present else None
    if second and second.present and second.fields:
        fields = {**second.fields, **{key: value for key, value in fields.items() if value not in ("", [], {})}}
        notes = [*notes, *second.notes]
        body = second.body
    found = describe(fields)
    return Draft(
        kind="markdown",
        text=body,
        title=found.title,
        author=found.author,
        published=found.published,
        language=found.language,
        url=found.url,
        notes=notes,
        extra=found.extra,
    )


def _restored(front: DocumentFront) -> Draft:
    fields = front.fields
    found = describe({key: value for key, value in fields.items() if key not in _OURS})
    extra = {**_texts(fields.get("extra")), **found.extra}
    if fields.get("id"):
        extra["id"] = as_text(fields["id"])
    written = fields.get("notes")
    draft = Draft(
        kind=cast(Kind, fields["kind"]),
        text=normalise(front.body),
        title=found.title,
        author=found.author,
        published=found.published,
        language=found.language,
        url=found.url,
        notes=[as_text(note) for note in written] if isinstance(written, list) else [],
        extra=extra,
        normal=True,
    )
    draft.notes += front.notes
    _place_marks(draft, fields)
    return draft


def _place_marks(draft: Draft, fields: Mapping[str, Any]) -> None:
    lost = 0
    try:
        if isinstance(fields.get("cues"), str):
            speakers = fields.get("speakers")
            names = [as_text(name) for name in speakers] if isinstance(speakers, list) else []
            draft.cues, lost = cues_from_line(fields["cues"], names, draft.text)
        if isinstance(fields.get("pages"), str):
            draft.pages, _ = pages_from_line(fields["pages"], draft.text)
    except BadMarksError:
        draft.notes.append("the times in the front matter can't be read; they were left out")
    if lost:
        draft.notes.append(f"{counted(lost, 'cue')} no longer found in the text, which was edited")


def _texts(value: Any) -> dict[str, str]:
    return {key: as_text(child) for key, child in value.items()} if isinstance(value, dict) else {}


def _with_line_ends(text: str) -> str:
    return text.replace("\r\n", "\n").replace("\r", "\n")
