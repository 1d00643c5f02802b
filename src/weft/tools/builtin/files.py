"""Read, Write and Edit: text files of the working folder and the session, written atomically, each with its diff.

A change is a compare-and-swap: under a lock that every writer of the folder takes, the file is compared with what the
model last saw of it, and replaced only when it is still that. So of two that change one file, in whichever
conversation, step or process, one comes after the other, and nobody overwrites what they did not know.
"""

from __future__ import annotations

import asyncio
import difflib
import errno
import fcntl
import os
import stat
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from typing import Any, Final

from weft.documents import read_document
from weft.files import Folder
from weft.language.line_difference import unified_lines
from weft.protocol.errors import UserError
from weft.protocol.hashes import hash_bytes
from weft.protocol.values import dataclass
from weft.tools.builtin.schema import closed, text, whole, yes_or_no
from weft.tools.threads import THREADS, in_thread
from weft.tools.tool import Context, Outcome, Start, Tool, runs
from weft.tools.tool_paths import FilePlace, place

READ_LIMIT: Final = 32 * 2**20
WRITE_LIMIT: Final = 8 * 2**20
LINES: Final = 2_000
LINE_LENGTH: Final = 2_000
PAGE_LIMIT: Final = 60_000
"""Characters of one reading."""
DIFF_LINES: Final = 20_000
DIFF_LIMIT: Final = 100_000
SHOWN_DIFF: Final = 8_000
"""Characters of a diff that the model reads as well. Of a new file it reads none: it just wrote it."""
LOCK_SECONDS: Final = 10.0
"""How long a change waits for whoever else writes in the folder."""
_LOOKS_AGAIN: Final = 0.01
_DOCUMENTS: Final = (b"%PDF-", b"PK\x03\x04")


@dataclass(frozen=True, slots=True)
class Replacement:
    """A file that a change is taken back of. Hashes; "" is a file that is not there."""

    left: str
    """As the change left it."""
    was: str
    data: bytes | None
    """What it was; None for nothing."""


# -- Read


def _read(given: Mapping[str, Any], context: Context) -> Outcome:
    where = place(given["path"], context)
    data = _bytes_of(where, READ_LIMIT)
    outside = (f"the document {where.shown}",) if where.from_outside else ()
    if data.startswith(_DOCUMENTS):
        document = read_document(data, where.shown)
        content, outside = document.text, (f"the document {where.shown}",)
    else:
        content = _decoded(data, where)
    lines = content.split("\n")
    if lines and not lines[-1]:
        lines.pop()
    first = given.get("offset", 1)
    if lines and first > len(lines):
        raise UserError(f"{where.shown} has only {len(lines):,} lines")
    shown: list[str] = []
    size = 0
    for number, line in enumerate(lines[first - 1 : first - 1 + given.get("limit", LINES)], first):
        cut = line if len(line) <= LINE_LENGTH else f"{line[:LINE_LENGTH]}… [{len(line):,} characters]"
        size += len(cut) + 8
        if size > PAGE_LIMIT and shown:
            break
        shown.append(f"{number:>6}\t{cut}")
    last = first + len(shown) - 1
    text_shown = "\n".join(shown) or f"{where.shown} is empty"
    if last < len(lines):
        text_shown += f"\n[lines {first:,} to {last:,} of {len(lines):,}; go on with offset {last + 1}]"
    return Outcome(
        text=text_shown,
        summary=f"{len(shown):,} of {len(lines):,} lines",
        outside=outside,
        seen={where.shown: hash_bytes(data)},
    )


def _bytes_of(where: FilePlace, limit: int) -> bytes:
    if not where.name:
        raise UserError(f"{where.shown} is a folder", hint="list it with Glob")
    try:
        return where.folder.read(where.name, limit)
    except FileNotFoundError:
        raise UserError(f"{where.shown} is not there", hint="look for it with Glob") from None


def _decoded(data: bytes, where: FilePlace) -> str:
    try:
        found = data.decode("utf-8")
    except UnicodeDecodeError:
        if data.startswith((b"\xff\xfe", b"\xfe\xff")):
            return data.decode("utf-16", "replace")
        found = ""
    if "\0" in found or (data and not found):
        raise UserError(f"{where.shown} is not text ({len(data):,} bytes)", hint="it can't be shown")
    return found


# -- Write and Edit


Change = Callable[[Mapping[str, Any], Context, threading.Event], Outcome]


def _changes(change: Change) -> Start:
    """The `start` of a tool that changes a file."""

    async def changing(given: Mapping[str, Any], context: Context) -> Outcome:
        stopped = threading.Event()
        try:
            outcome = await in_thread(lambda: change(given, context, stopped), "weft-change")
        except asyncio.CancelledError:
            stopped.set()  # the thread can't be ended, but it looks once more before it puts anything in place
            raise
        if context.processes is not None:
            context.processes.allow(outcome.seen)
        return outcome

    return runs(changing)


def _write(given: Mapping[str, Any], context: Context, stopped: threading.Event) -> Outcome:
    where = _writable(place(given["path"], context))
    new = given["content"].encode("utf-8", "surrogatepass")
    with _alone(where, create=True):
        old = where.folder.read_or_none(where.name, READ_LIMIT)
        if old == new:
            return Outcome(
                text=f"{where.shown} was so already", summary="no change", seen={where.shown: hash_bytes(new)}
            )
        if old is not None and context.seen is not None and where.shown not in context.seen:
            raise UserError(f"{where.shown} is there already and was not read", hint="read it before you replace it")
        _check_seen(where, old, context)
        before = _kept(where, old, context)
        diff = _put(where, old, new, stopped)
    verb = "wrote" if old is not None else "made"
    lines = given["content"].count("\n") + (not given["content"].endswith("\n"))
    said = f"{verb} {where.shown} ({lines:,} line{'s' * (lines != 1)})" + (
        f":\n{diff[:SHOWN_DIFF]}" if old is not None else ""
    )
    return Outcome(text=said, summary=_counts(diff), diff=diff, seen={where.shown: hash_bytes(new)}, before=before)


def _edit(given: Mapping[str, Any], context: Context, stopped: threading.Event) -> Outcome:
    return _change(given, context, stopped, _edited)


def _multi_edit(given: Mapping[str, Any], context: Context, stopped: threading.Event) -> Outcome:
    return _change(given, context, stopped, _edited_often)


def _change(
    given: Mapping[str, Any],
    context: Context,
    stopped: threading.Event,
    edited: Callable[[FilePlace, bytes, Mapping[str, Any]], bytes],
) -> Outcome:
    where = _writable(place(given["path"], context))
    with _alone(where):
        data = _bytes_of(where, READ_LIMIT)
        _check_seen(where, data, context)
        changed = edited(where, data, given)
        before = _kept(where, data, context)
        diff = _put(where, data, changed, stopped)
    return Outcome(
        text=f"changed {where.shown}:\n{diff[:SHOWN_DIFF]}",
        summary=_counts(diff),
        diff=diff,
        seen={where.shown: hash_bytes(changed)},
        before=before,
    )


def _edited_often(where: FilePlace, data: bytes, given: Mapping[str, Any]) -> bytes:
    """One after the other, each on what the one before left; all of them or none."""
    for number, edit in enumerate(given["edits"], 1):
        try:
            data = _edited(where, data, edit)
        except UserError as error:
            raise UserError(f"edit {number}: {error.message}; nothing was changed", hint=error.hint) from error
    return data


def _edited(where: FilePlace, data: bytes, given: Mapping[str, Any]) -> bytes:
    content = _decoded(data, where)
    old, new = given["old"], given["new"]
    if old == new:
        raise UserError("old and new are the same")
    count = content.count(old)
    if not count and "\r\n" in content and "\r\n" not in old:
        old, new = old.replace("\n", "\r\n"), new.replace("\n", "\r\n")
        count = content.count(old)
    if not count:
        raise UserError(f"that text is not in {where.shown}", hint=_nearest(content, given["old"]))
    if count > 1 and not given.get("all", False):
        raise UserError(
            f"that text is in {where.shown} {count} times", hint="give more of the lines around it, or set all"
        )
    return content.replace(old, new).encode("utf-8", "surrogatepass")


def _kept(where: FilePlace, old: bytes | None, context: Context) -> dict[str, str]:
    """What stood there is kept before anything takes its place, so that the change can be taken back."""
    if context.keep is None:
        return {}
    return {where.shown: context.keep(old) if old is not None else ""}


def put_back(files: Mapping[str, Replacement], context: Context) -> list[str]:
    """Files as they were before a change: each only if it is still what the change left. UserError, and nothing is
    touched, when one is not. The names of those that were not so already."""
    done: list[str] = []
    with ExitStack() as locks:
        places = {name: _writable(place(name, context)) for name in files}
        for _, where in sorted({one.name.rpartition("/")[0]: one for one in places.values()}.items()):
            locks.enter_context(_alone(where, create=True))
        found = {name: where.folder.read_or_none(where.name, READ_LIMIT) for name, where in places.items()}
        changed = [
            name
            for name, data in found.items()
            if (hash_bytes(data) if data is not None else "") not in (files[name].left, files[name].was)
        ]
        if changed:
            raise UserError(
                f"{', '.join(changed)} changed since; nothing was put back", hint="put it back by hand, or change it on"
            )
        for name, where in places.items():
            now, wanted = found[name], files[name].data
            if now == wanted:
                continue
            if now is not None and context.keep is not None:
                context.keep(now)  # what is taken back is not lost either
            if wanted is None:
                _remove(where)
            else:
                where.folder.replace(where.name, wanted, mode=0o644 if now is None else _mode(where))
            done.append(name)
    return done


def _remove(where: FilePlace) -> None:
    inner, _, last = where.name.rpartition("/")
    with where.folder.folder(inner) if inner else _anew(where.folder) as folder:
        os.unlink(last, dir_fd=folder.fd)


def _mode(where: FilePlace) -> int:
    handle = where.folder.open_fd(where.name, os.O_RDONLY)
    try:
        return stat.S_IMODE(os.fstat(handle).st_mode)
    finally:
        os.close(handle)


def _check_seen(where: FilePlace, now: bytes | None, context: Context) -> None:
    """A file that is gone is nobody's loss; one that is otherwise than the model knows it is."""
    known = (context.seen or {}).get(where.shown)
    if known is not None and now is not None and hash_bytes(now) != known:
        raise UserError(
            f"{where.shown} has changed since you last saw it; it was left as it is",
            hint="read it again, then make your change to what is there now",
        )


@contextmanager
def _alone(where: FilePlace, *, create: bool = False) -> Iterator[None]:
    """One writer at a time in the folder of a file: among threads, conversations and processes that use these tools.

    The lock is on the folder itself, so that nothing is left behind and a process that ends lets go of it.
    """
    inner = where.name.rpartition("/")[0]
    try:
        with where.folder.folder(inner, create=create) if inner else _anew(where.folder) as folder:
            _lock(folder, where)
            yield
    except FileNotFoundError:
        raise UserError(f"{where.shown} is not there", hint="look for it with Glob") from None


def _anew(folder: Folder) -> Folder:
    """The same folder under a handle of its own: a lock belongs to a handle."""
    handle = os.open(".", os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC, dir_fd=folder.fd)
    return Folder(folder.path, folder.disk, handle)


def _lock(folder: Folder, where: FilePlace) -> None:
    threads = THREADS.get()
    until = threads.now() + LOCK_SECONDS
    while True:
        try:
            return fcntl.flock(folder.fd, fcntl.LOCK_EX | fcntl.LOCK_NB)  # closing the folder lets go of it
        except BlockingIOError:
            if threads.now() >= until:
                raise UserError(
                    f"somebody else has been writing beside {where.shown} for {LOCK_SECONDS:g} seconds",
                    hint="try again later",
                ) from None
            threads.sleep(_LOOKS_AGAIN)
        except OSError as error:
            if error.errno in (errno.ENOLCK, errno.ENOTSUP, errno.EINVAL):
                return None  # a file system without locks: the comparison right before the change is all there is
            raise


def _nearest(content: str, wanted: str) -> str:
    first = next((line.strip() for line in wanted.split("\n") if line.strip()), "")
    lines = {line.strip(): number for number, line in enumerate(content.split("\n")[:5000], 1)}
    close = difflib.get_close_matches(first, list(lines), n=1, cutoff=0.7) if first and len(first) < 200 else []
    if close:
        return f"line {lines[close[0]]} is near: {close[0][:160]!r}; every space has to be the same"
    return "read the file and copy the text exactly"


def _writable(where: FilePlace) -> FilePlace:
    if not where.name:
        raise UserError(f"{where.shown} is a folder")
    if where.machine_made:
        raise UserError(f"{where.shown} is written by the session itself")
    return where


def _put(where: FilePlace, old: bytes | None, new: bytes, stopped: threading.Event) -> str:
    """Puts the file in place atomically, unless somebody else changed it meanwhile, and returns the diff."""
    if len(new) > WRITE_LIMIT:
        raise UserError(f"{len(new):,} bytes are too many for one file; the limit is {WRITE_LIMIT:,}")
    diff = unified_diff(where.shown, old, new)
    mode = 0o644 if old is None else _mode(where)
    if where.folder.read_or_none(where.name, READ_LIMIT) != old:
        raise UserError(f"{where.shown} changed in the meantime", hint="read it again")
    if stopped.is_set():
        raise UserError(f"{where.shown} was left as it is: the call was stopped")
    where.folder.replace(where.name, new, mode=mode)
    return diff


def unified_diff(name: str, old: bytes | None, new: bytes) -> str:
    before = (old or b"").decode("utf-8", "replace").splitlines()
    after = new.decode("utf-8", "replace").splitlines()
    if len(before) + len(after) > DIFF_LINES:
        return (
            f"--- {name}\n+++ {name}\n@@ too long to compare: {len(before):,} lines before, {len(after):,} after @@\n"
        )
    source = "/dev/null" if old is None else name
    diff = "\n".join(unified_lines(before, after, source, name)) + "\n"
    if diff == "\n":
        return f"--- {name}\n+++ {name}\n@@ only the ends of lines differ @@\n"
    return diff if len(diff) <= DIFF_LIMIT else f"{diff[:DIFF_LIMIT]}\n… {len(diff) - DIFF_LIMIT:,} more characters\n"


def _counts(diff: str) -> str:
    lines = diff.split("\n")[2:]
    added = sum(line.startswith("+") for line in lines)
    return f"+{added} -{sum(line.startswith('-') for line in lines)}"


_PATH: Final = "Inside the working folder, or @session/… for the session's own files"

READ: Final = Tool(
    name="Read",
    description=(
        "Read a text file (or a PDF, DOCX or EPUB as text), with line numbers. Long files come in pages: go on with "
        "offset."
    ),
    input_schema=closed(
        {"path": text(_PATH, shortest=1, longest=1024)},
        {
            "offset": whole("The first line, from 1", least=1),
            "limit": whole(f"How many lines, {LINES:,} unless told", least=1, most=LINES),
        },
    ),
    kind="read",
    start=runs(lambda given, context: in_thread(lambda: _read(given, context), "weft-read")),
    retryable=True,
    subject=("path", "path"),
)
WRITE: Final = Tool(
    name="Write",
    description="Write a whole text file, new or in place of the one that is there. Folders are made as needed.",
    input_schema=closed({"path": text(_PATH, shortest=1, longest=1024), "content": text("The file's whole text")}),
    kind="write",
    start=_changes(_write),
    subject=("path", "path"),
)
_OLD_AND_NEW: Final = {
    "old": text("The text to replace, exactly as it is in the file, without line numbers", shortest=1),
    "new": text("The text in its place"),
}
_ALL: Final = {"all": yes_or_no("Replace every occurrence")}
EDIT: Final = Tool(
    name="Edit",
    description="Replace a piece of text in a file. The old text has to be there exactly, once unless all is set.",
    input_schema=closed({"path": text(_PATH, shortest=1, longest=1024), **_OLD_AND_NEW}, _ALL),
    kind="write",
    start=_changes(_edit),
    subject=("path", "path"),
)
MULTI_EDIT: Final = Tool(
    name="MultiEdit",
    description="Several replacements in one file, one after the other, each as for Edit: all of them or none.",
    input_schema=closed(
        {
            "path": text(_PATH, shortest=1, longest=1024),
            "edits": {"type": "array", "minItems": 1, "maxItems": 100, "items": closed(_OLD_AND_NEW, _ALL)},
        }
    ),
    kind="write",
    start=_changes(_multi_edit),
    subject=("path", "path"),
)
