"""A session that leaves: as a page, markdown, or as a bundle that another Weft opens. What would leave is said first.

A bundle is a zip of the session's folder: its log, its documents, what it made. Taken in, it is a session like any
other, under its own name or the next free one; its log is the same, so that nothing of it is made again.
"""

from __future__ import annotations

import io
import re
import tempfile
import zipfile
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final

from weft.app.connections.secrets import learn_all
from weft.app.library.installation import UNPACK_FAULTS
from weft.app.live.slash_commands import Export, ExportKind
from weft.app.parts import Parts
from weft.app.session_requests import check_named
from weft.files import Folder
from weft.protocol.conversation_events import MAIN, ApprovalDecided, ConversationOpened, ToolRequested, ToolSettled
from weft.protocol.envelope import PERSON
from weft.protocol.errors import UserError
from weft.protocol.events import DurableEvent, GateResolved, RunEnded, RunStarted
from weft.protocol.ids import SESSION_ID
from weft.protocol.values import dataclass
from weft.redaction import REDACTOR
from weft.render.export import session_html, session_markdown, story
from weft.session.log import LOG, LogReader
from weft.session.session import OWN_FOLDERS
from weft.session.snapshot import SNAPSHOT
from weft.session.state import fold

MOST_BUNDLE: Final = 512 * 2**20
"""Bytes of a bundle, unpacked."""
MOST_FILES: Final = 20_000
MOST_TEXT: Final = 400_000
"""Characters of one artifact that a page shows."""
_MAKES_ONE: Final = "weft sessions export ID --as bundle makes one"
_LEFT_OUT: Final = (".lock", SNAPSHOT)
_ENDINGS: Final = {"html": ".html", "markdown": ".md", "bundle": ".weft.zip"}
_PATHS: Final = re.compile(r"(?:/(?:home|Users|root|tmp|var|etc|opt|srv|mnt)|[A-Z]:\\)[^\s\"'<>|]*")
_KEYS: Final = re.compile(
    r"sk-[A-Za-z0-9_-]{16,}|gh[pousr]_[A-Za-z0-9]{20,}|github_pat_\w{20,}|glpat-[\w-]{16,}|xox[abp]-[\w-]{10,}"
    r"|AKIA[0-9A-Z]{16}|AIza[\w-]{30,}|eyJ[\w-]{20,}\.[\w-]{10,}\.|-----BEGIN [A-Z ]*PRIVATE KEY"
)
_ADDRESSES: Final = re.compile(r"[\w.+-]+@[\w-]+\.[\w.]+")


@dataclass(frozen=True, slots=True)
class LeavingShown:
    """What would leave with a session."""

    files: tuple[str, ...]
    size: int
    persons: tuple[str, ...]
    paths: tuple[str, ...]
    addresses: tuple[str, ...]
    keys: tuple[str, ...]
    """What looks like a key, cut short."""


def exported(parts: Parts, session: str, kind: ExportKind) -> tuple[str, bytes]:
    """The name of a file, and what is in it: no secret of the person's. UserError for a bundle that would hold one, as
    it has to be exact."""
    learn_all(parts.surroundings)
    name = f"{session}{_ENDINGS[kind]}"
    if kind == "bundle":
        return name, _bundle(parts, session)
    with parts.sessions.folder(session) as folder:
        records = list(LogReader(folder).read())
        artifacts = {name: text for name in fold(records).artifacts if (text := _text(folder, name)) is not None}
    entry = parts.catalogue.entry(session)
    title = entry.title if entry else session
    write = session_html if kind == "html" else session_markdown
    return name, REDACTOR.text(write(title, story(session, records), artifacts)).encode()


def export_to(parts: Parts, session: str, wanted: Export, working: Path) -> Path:
    """Writes it where it is wanted, in the folder that is worked in. Nothing that is there is written over."""
    name, data = exported(parts, session, wanted.kind)
    first = working / Path(wanted.path).expanduser() if wanted.path else working / name
    numbered = (first.with_name(f"{session}-{number}{_ENDINGS[wanted.kind]}") for number in range(2, 1000))
    for path in (first,) if wanted.path else (first, *numbered):
        try:
            with path.open("xb") as file:
                file.write(data)
        except FileExistsError:
            continue
        except OSError as error:
            raise UserError(
                f"{path} can't be written: {error.strerror}", hint="/export html FILE names another"
            ) from None
        return path
    raise UserError(f"there is something at {first} already", hint="give another name: /export html FILE")


def would_leave(parts: Parts, session: str, kind: ExportKind) -> LeavingShown:
    _, data = exported(parts, session, kind)
    with parts.sessions.folder(session) as folder:
        records = list(LogReader(folder).read())
        names = list(_files(folder)) if kind == "bundle" else [*fold(records).artifacts]
        text = data.decode() if kind != "bundle" else "\n".join(_text(folder, name) or "" for name in names)
    persons = {one.envelope.by.name for one in records if one.envelope and one.envelope.by.kind == "person"}
    return LeavingShown(
        tuple(names),
        len(data),
        tuple(sorted(persons - {""})),
        _found(_PATHS, text),
        _found(_ADDRESSES, text),
        tuple(f"{key[:8]}…" for key in _found(_KEYS, text)),
    )


def taken_in(parts: Parts, data: bytes) -> str:
    """A session from a bundle; its name. UserError for what is none, or would reach outside its folder. Nothing is laid
    before all of it was looked at. What it says that somebody allowed was allowed elsewhere: nothing runs by that."""
    home, files = _unpacked(data)
    events = _events(files[LOG])
    if still := _allowed_and_open(events):
        raise UserError(
            f"the bundle holds a call of {still} that somebody allowed and that has not ended",
            hint="export the session when it is at rest: what was allowed elsewhere is not run here",
        )
    for event in events:
        if isinstance(event, RunStarted | GateResolved):  # a run that goes on reads again what was named for it
            check_named(dict.fromkeys(event.parameters, "file"), event.parameters)
    name, number = home, 2
    while parts.sessions.exists(name):
        name, number = f"{home[:70]}-{number}", number + 1
    with parts.workspace.folder.folder("sessions", create=True) as sessions, sessions.laying(name, "import") as folder:
        for inside, content in files.items():
            folder.put(inside, content)
    if any(isinstance(event, ConversationOpened) and event.conversation == MAIN for event in events):
        with parts.sessions.open(name) as session:
            session.record([ConversationOpened(conversation=MAIN, tainted=True)], by=PERSON)
    parts.catalogue.update(name)
    return name


def _unpacked(data: bytes) -> tuple[str, dict[str, bytes]]:
    """What the session was called, and its files."""
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as bundle:
            entries = [one for one in bundle.infolist() if not one.is_dir()]
            home = next((one.filename.rpartition("/")[0] for one in entries if one.filename.endswith(f"/{LOG}")), "")
            if not SESSION_ID.match(home):
                raise UserError("there is no log in this bundle", hint=_MAKES_ONE)
            if len(entries) > MOST_FILES or sum(one.file_size for one in entries) > MOST_BUNDLE:
                raise UserError(f"the bundle is larger than {MOST_BUNDLE // 2**20} MB", hint="copy its folder instead")
            names = [one.filename.removeprefix(f"{home}/") for one in entries]
            if bad := [one for one in names if not _is_ours(one) or names.count(one) > 1]:
                raise UserError(
                    f"the bundle has {bad[0][:80]!r}, which is no file of a session", hint="it was not taken in"
                )
            return home, {inside: bundle.read(one) for one, inside in zip(entries, names, strict=True)}
    except UNPACK_FAULTS as error:
        raise UserError(f"this is no bundle of a session: {error}", hint=_MAKES_ONE) from error


def _events(log: bytes) -> list[DurableEvent]:
    with tempfile.TemporaryDirectory(prefix="weft-") as place, Folder.open(Path(place)) as folder:
        folder.replace(LOG, log)
        reader = LogReader(folder)
        events = [record.event for record in reader.read()]
    if reader.damage or not events:
        what = str(reader.damage[0]) if reader.damage else "there is nothing in it"
        raise UserError(f"the log in this bundle can't be read: {what}", hint=_MAKES_ONE)
    return events


def _allowed_and_open(events: Iterable[DurableEvent]) -> str:
    """A tool that a step has been allowed to use, and would use without a question once its run goes on; "" for none. A
    conversation settles such a call by itself when it is opened."""
    open_calls: dict[tuple[str, str], str] = {}
    tools: dict[tuple[str, str], str] = {}
    for event in events:
        match event:
            case ToolRequested():
                tools[event.conversation, event.call] = event.tool
                if event.verdict == "allow":
                    open_calls[event.conversation, event.call] = event.tool
            case ApprovalDecided() if event.decision != "denied":
                place = (event.conversation, event.call)
                open_calls[place] = tools.get(place, "a tool")
            case ToolSettled():
                open_calls.pop((event.conversation, event.call), None)
            case RunEnded(outcome="done" | "cancelled"):
                open_calls.clear()
            case _:
                pass
    return next((tool for (conversation, _), tool in open_calls.items() if conversation.partition("/")[0] != MAIN), "")


def _bundle(parts: Parts, session: str) -> bytes:
    made = io.BytesIO()
    with parts.sessions.folder(session) as folder, zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as bundle:
        for name in _files(folder):
            data = folder.read_or_none(name)
            if data is not None:
                told = data.decode("utf-8", "ignore")
                if REDACTOR.text(told) != told:
                    raise UserError(
                        f"{name} of session {session} holds one of your secrets, from before it was one",
                        hint="a bundle is exact: export it as a page or as markdown, where it is left out",
                    )
                bundle.writestr(zipfile.ZipInfo(f"{session}/{name}", (1980, 1, 1, 0, 0, 0)), data)
    return made.getvalue()


def _files(folder: Folder) -> Iterator[str]:
    for name in folder.names():
        if name in _LEFT_OUT:
            continue
        if not folder.is_folder(name):
            yield name
        elif name in OWN_FOLDERS:
            with folder.folder(name) as inner:
                yield from (f"{name}/{one}" for one in inner.names() if not inner.is_folder(one))


def _is_ours(name: str) -> bool:
    first, _, rest = name.partition("/")
    parts = name.split("/")
    if first.casefold() in _LEFT_OUT:  # what a log adds up to is found out here
        return False
    return bool(first) and ".." not in parts and "" not in parts and "\\" not in name and (
        not rest or (first in OWN_FOLDERS and "/" not in rest)
    )  # fmt: skip


def _text(folder: Folder, name: str) -> str | None:
    data = folder.read_or_none(name)
    try:
        return data.decode()[:MOST_TEXT] if data is not None else None
    except UnicodeDecodeError:
        return None


def _found(pattern: re.Pattern[str], text: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys(match[0] for match in pattern.finditer(text)))[:50]
