"""The inputs of a session: from the files a person gives to the text that steps read.

A *document* of any format becomes `content.md`, one normal form with its metadata; the file itself is kept beside it.
Of a picture `content.md` says what it is, and a model is shown the file. An input of kind *text* is copied as it is.
What the log has recorded decides who wins: a given file that changed since then is read anew; otherwise the session's
copy counts, also when a person has edited it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict, field, replace
from pathlib import PurePath
from typing import Any, Final

from weft.documents import (
    Document,
    DocumentError,
    from_content_md,
    join_documents,
    read_document,
    read_picture,
    to_content_md,
)
from weft.protocol.commands import STANDARD_INPUT, GivenFile
from weft.protocol.errors import EXIT_USAGE, UsageError, UserError
from weft.protocol.hashes import hash_bytes
from weft.protocol.ids import CONTENT, ORIGINAL
from weft.protocol.values import dataclass
from weft.session.state import InputState, SessionState
from weft.workspace.pipeline import InputKind, Pipeline
from weft.workspace.spelling import suggest

ReadFile = Callable[[str], bytes | None]
"""A session file's bytes, or None when it is not there."""

_ENDINGS: Final = {
    "markdown": ".md",
    "text": ".txt",
    "html": ".html",
    "pdf": ".pdf",
    "docx": ".docx",
    "epub": ".epub",
    "webvtt": ".vtt",
    "srt": ".srt",
    "whisper": ".json",
}


@dataclass(frozen=True, slots=True)
class GivenInput:
    """One input as the person gives it: a file, or several that are to be read as one."""

    files: tuple[GivenFile, ...]

    @property
    def origin(self) -> str:
        return " + ".join(file.origin for file in self.files if file.origin)

    def is_recorded(self, known: InputState) -> bool:
        """Whether these are the very bytes that the log knows."""
        hashes = [hash_bytes(file.data) for file in self.files]
        return hashes == (list(known.originals.values()) or [known.hash])


@dataclass(frozen=True, slots=True)
class InputText:
    """What steps read of an input: its text, and for a document what it says of itself."""

    text: str
    hash: str
    about: Mapping[str, Any] | None = None

    @property
    def whole(self) -> str:
        """What checks compare with: a document's title, author and date are its words too."""
        said = [str(self.about[key]) for key in ("title", "author", "published")] if self.about else []
        return "\n\n".join([self.text, *filter(None, said)])


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionInput:
    file: str
    data: bytes
    origin: str
    text: InputText
    new: bool
    """It differs from what the log has."""
    originals: Mapping[str, bytes] = field(default_factory=dict)
    """The given files to keep beside it."""
    known: Mapping[str, str] = field(default_factory=dict)
    """The originals that are kept already, each with its hash."""
    edited: bool = False
    """It is the copy as a person changed it."""
    notes: tuple[str, ...] = ()
    """What was left out or repaired when it was read."""


def take_inputs(
    pipeline: Pipeline,
    session: str,
    state: SessionState,
    given: Mapping[str, GivenInput],
    read: ReadFile,
    *,
    adopting: bool,
) -> dict[str, SessionInput]:
    """Each input as this run takes it. `adopting` a folder without a log, a copy in it counts too."""
    for name in given.keys() - pipeline.inputs.keys():
        what = f"has no input {name!r}" if name else "takes no file"
        raise UsageError(f"the pipeline {pipeline.name} {what}", hint=suggest(name, pipeline.inputs, "inputs"))
    found: dict[str, SessionInput] = {}
    for index, (name, spec) in enumerate(pipeline.inputs.items()):
        known = state.inputs.get(name)
        taken_up = any(one.file == CONTENT for other, one in state.inputs.items() if other != name)
        reader = _Reader(name, session, first=index == 0 and not taken_up, kind=spec.kind)
        taken = reader.take(given.get(name), known, read if known or adopting else _nothing)
        if taken:
            found[name] = taken
        elif spec.required:
            raise UsageError(
                f"the pipeline {pipeline.name} needs the input {name!r}",
                hint=f"weft run {pipeline.name} FILE" if index == 0 else f"add {as_input(name)}",
            )
    return found


class _Reader:
    """Reads one input, from what is given or from the session's copy."""

    def __init__(self, name: str, session: str, *, first: bool, kind: InputKind) -> None:
        self._name = name
        self._session = session
        self._first = first
        self._is_document = kind != "text"
        self._is_picture = kind == "image"
        self._read = _picture if self._is_picture else _read

    def take(self, given: GivenInput | None, known: InputState | None, read: ReadFile) -> SessionInput | None:
        copied = read(known.file if known else self._file(given))
        recorded = known is not None and given is not None and given.is_recorded(known)
        if given and (copied is None or not (recorded or copied == given.files[0].data)):
            return self._from_given(given, known)
        if copied is None:
            if known is None:
                return None
            again = f"weft run --session-id {self._session} {known.origin or 'FILE'}"
            raise UserError(
                f"the session's copy of the input {self._name} is gone ({known.file})",
                hint=f"put it back, or give the file again: {again}",
            )
        return self._from_copy(copied, given, known)

    def _from_given(self, given: GivenInput, known: InputState | None) -> SessionInput:
        file = known.file if known else self._file(given)
        originals: dict[str, bytes] = {}
        notes: tuple[str, ...] = ()
        if not self._is_document:
            data = self._one(given).data
            text = plain_text(data, given.origin or STANDARD_INPUT)
        else:
            parts = (self._one(given),) if self._is_picture else given.files
            documents = [self._read(part) for part in parts]
            document = join_documents(documents)
            data = to_content_md(document, id=self._session)
            # Read back, so that the first run and every later one work on the very same value.
            text = document_text(data, f"{self._session}/{file}")
            originals, notes = self._originals(given, documents), document.notes
        hashes = {name: hash_bytes(kept) for name, kept in originals.items()}
        new = known is None or text.hash != known.hash or hashes != dict(known.originals)
        return SessionInput(
            file=file,
            data=data,
            origin=given.origin,
            text=text,
            new=new,
            originals=originals,
            known=known.originals if known else {},
            notes=notes,
        )

    def _from_copy(self, copied: bytes, given: GivenInput | None, known: InputState | None) -> SessionInput:
        file = known.file if known else self._file(given)
        place = f"{self._session}/{file}"
        text = document_text(copied, place) if self._is_document else plain_text(copied, place)
        return SessionInput(
            file=file,
            data=copied,
            origin=given.origin if given else known.origin if known else "",
            text=text,
            new=known is None or text.hash != known.hash,
            known=known.originals if known else {},
            edited=known is not None and (known.edited or text.hash != known.hash),
        )

    def _one(self, given: GivenInput) -> GivenFile:
        if len(given.files) > 1:
            raise UsageError(f"the input {self._name!r} is taken as it is: several files can't be read together")
        return given.files[0]

    def _file(self, given: GivenInput | None) -> str:
        if self._first:
            return CONTENT
        ending = ".md" if self._is_document else _ending(given.files[0]) if given else ".txt"
        return f"attachments/{self._name}{ending}"

    def _originals(self, given: GivenInput, documents: list[Document]) -> dict[str, bytes]:
        stem = ORIGINAL if self._first else f"attachments/{self._name}.{ORIGINAL}"
        several = len(given.files) > 1
        return {
            f"{stem}{f'-{number}' if several else ''}{_ending(part, _ending_of(document))}": part.data
            for number, (part, document) in enumerate(zip(given.files, documents, strict=True), 1)
        }


def as_input(name: str) -> str:
    """How a person gives the input of this name."""
    return f"--input {name}=FILE, or in a conversation {name}=@FILE"


def given_text(data: bytes, name: str) -> InputText:
    """A file in its normal form, as a step reads it, without being kept as an input."""
    return _as_read(read_document(data, name), data)


def _as_read(document: Document, data: bytes) -> InputText:
    about = asdict(document)
    del about["text"]
    return InputText(document.text, hash_bytes(data), {**about, "extra": dict(document.extra)})


def plain_text(data: bytes, place: str) -> InputText:
    """An input that is taken as it is, or an error that says what is wrong with it and where it is."""
    try:
        return InputText(data.decode("utf-8-sig"), hash_bytes(data))
    except UnicodeDecodeError as error:
        raise UserError(
            f"{place} is not UTF-8 text (byte {error.start + 1} of {len(data)})",
            hint="give a text file; one in another encoding must be saved as UTF-8 first",
            exit_code=EXIT_USAGE,
        ) from error


def document_text(data: bytes, place: str) -> InputText:
    try:
        return _as_read(from_content_md(data), data)
    except DocumentError as error:
        raise DocumentError(f"{place}: {error.message}", hint=error.hint) from error


def _read(given: GivenFile) -> Document:
    document = read_document(given.data, given.name)
    if not document.url and given.is_address:
        return replace(document, url=given.origin)
    return document


def _picture(given: GivenFile) -> Document:
    return read_picture(given.data, given.name)


def _ending_of(document: Document) -> str:
    if document.kind == "image":
        return f".{document.extra['media_type'].rpartition('/')[2]}"
    return _ENDINGS[document.kind]


def _ending(given: GivenFile, otherwise: str = ".txt") -> str:
    ending = PurePath(given.name).suffix
    return ending.lower() if 2 <= len(ending) <= 9 and ending[1:].isascii() and ending[1:].isalnum() else otherwise


def _nothing(_: str) -> None:
    """The files of a session that has none."""
