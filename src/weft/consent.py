"""Consent: what others bring runs, is reached or gets a key only after the person agreed to exactly that.

    request = ConsentRequest(kind="code", subject=folder, folder=folder, parts={"code/a.py": hash, …})
    consents.check(request)            # NotAgreedError unless it was agreed to; a face asks before it comes to that
    consents.agree(request, "asked")

A request names what would run (each file with its hash) or be reached (the exact words of a command, an address, the
place of a key): whatever is changed is another request. What was agreed to is one file of the person's own, outside
every workspace: a folder that was cloned can't bring its own consent. What Weft itself ships needs none, and of a pack
that was agreed to neither does what it laid. A person may also say that they write what a folder holds themselves: then
its code, hooks and scripts are not asked about; where keys go and what is reached always is.
"""

from __future__ import annotations

import os
import pwd
import shlex
from collections.abc import Callable, Collection, Mapping
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, ClassVar, Final, Literal

from weft.own_file import OwnFile
from weft.protocol.errors import EXIT_NOT_AGREED, UserError
from weft.protocol.hashes import hash_value
from weft.protocol.values import dataclass

FILE: Final = "consents.json"
Kind = Literal["code", "pack", "hook", "skill", "source", "model", "step", "rules"]
Shipped = Callable[[str], Collection[str]]
"""The hashes that a file has which comes with Weft, by its place."""
How = Literal["asked", "in advance", "by command"]
"""On a terminal; by `--trust`; by a command that itself names what it is about, such as `weft models add`."""
OWN_WORK: Final[tuple[Kind, ...]] = ("code", "pack", "hook", "skill", "rules")
"""What a folder covers that the person writes themselves."""
_FILES: Final[tuple[Kind, ...]] = ("code", "pack", "skill", "rules")
"""Made of files that stand for themselves: less of them is nothing new."""
_WORDS: Final[Mapping[Kind, str]] = {
    "code": "code of steps in {subject}",
    "pack": "code of the pack {subject}",
    "hook": "a hook of {subject}",
    "skill": "scripts of the skill {subject}",
    "source": "the source {subject}",
    "model": "the model connection {subject}",
    "step": "what the step {subject} is given",
    "rules": "what rules of {subject} allow unasked",
}


_FORBIDDING: Final = {"extra": "forbid"}
"""Of what stands in the file: a key that nothing knows is a fault."""


@dataclass(frozen=True, kw_only=True)
class ConsentRequest:
    __pydantic_config__: ClassVar[Mapping[str, Any]] = _FORBIDDING
    kind: Kind
    subject: str
    """What a person knows it by."""
    folder: str = ""
    """The folder that brings it: a workspace, or a pack."""
    parts: dict[str, str]
    """Each file that would run, with its hash; each thing that would be reached or sent, as it is written."""

    @property
    def hash(self) -> str:
        """Of what is asked for, wherever it stands: a second copy of it needs no second question."""
        return hash_value({"kind": self.kind, "parts": self.parts})

    @property
    def words(self) -> str:
        return _WORDS[self.kind].format(subject=self.subject)


@dataclass(frozen=True, kw_only=True)
class Consent(ConsentRequest):
    """A request that was agreed to."""

    by: str
    at: datetime
    how: How


@dataclass(frozen=True, kw_only=True)
class OwnWorkFolder:
    """A folder whose content the person writes themselves."""

    __pydantic_config__: ClassVar[Mapping[str, Any]] = _FORBIDDING

    path: str
    below: bool = False
    """With every folder in it."""
    by: str
    at: datetime

    def covers(self, folder: str) -> bool:
        return folder == self.path or (self.below and folder.startswith(self.path.rstrip("/") + "/"))


@dataclass(frozen=True, kw_only=True)
class ConsentBook:
    __pydantic_config__: ClassVar[Mapping[str, Any]] = _FORBIDDING
    version: Literal[1] = 1
    consents: tuple[Consent, ...] = ()
    folders: tuple[OwnWorkFolder, ...] = ()


def open_parts(request: ConsentRequest, book: ConsentBook, shipped: Shipped) -> dict[str, str]:
    """The parts that neither Weft ships as they are nor a pack laid that was agreed to."""
    laid = (
        [one.parts for one in book.consents if one.kind == "pack"] if request.kind in ("code", "pack", "rules") else []
    )
    return {
        name: hash_
        for name, hash_ in request.parts.items()
        if hash_ not in shipped(name) and not any(parts.get(name) == hash_ for parts in laid)
    }


def is_agreed(request: ConsentRequest, book: ConsentBook, shipped: Shipped) -> bool:
    left = open_parts(request, book, shipped)
    if not left and request.kind in _FILES:
        return True
    if request.kind in OWN_WORK and request.folder and any(one.covers(request.folder) for one in book.folders):
        return True
    given = [one.parts for one in book.consents if one.kind == request.kind]
    if request.kind in _FILES:
        return any(left.items() <= parts.items() for parts in given)
    return request.parts in given


def earlier(request: ConsentRequest, book: ConsentBook) -> dict[str, str]:
    """Of the same subject, what was agreed to before: for telling what is new."""
    found: dict[str, str] = {}
    for one in book.consents:
        if one.kind in (request.kind, "pack") and one.subject == request.subject:
            found |= one.parts
    return found


class NotAgreedError(UserError):
    """Something would run, be reached or get a key that nobody agreed to. Nothing of it has happened."""

    exit_code = EXIT_NOT_AGREED

    def __init__(self, request: ConsentRequest) -> None:
        self.request = request
        named = ", ".join(f"{name} {told}" for name, told in list(request.parts.items())[:4])
        more = len(request.parts) - 4
        hint = f"in a terminal you are asked (`weft trust`); in a script, after looking: --trust {request.hash}"
        if request.kind in OWN_WORK and request.folder:
            hint += f"; if you write what is in it yourself: weft trust folder {shlex.quote(request.folder)}"
        super().__init__(
            f"nobody has agreed to {request.words}: {named}" + (f" and {more} more" if more > 0 else ""), hint=hint
        )


def _nothing(_: str) -> Collection[str]:
    return ()


class Consents:
    """What the person agreed to."""

    def __init__(
        self,
        folder: Path,
        *,
        shipped: Shipped = _nothing,
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
        by: str = "",
    ) -> None:
        lost = "then nothing is agreed to, and you are asked again"
        self._file: OwnFile[ConsentBook] = OwnFile(folder, FILE, ConsentBook(), lost)
        self._shipped = shipped
        self._now = now
        self._by = by or _me()
        self.in_advance: frozenset[str] = frozenset()
        """Hashes that the person named when they gave the command."""
        self.ask: Callable[[ConsentRequest], bool] | None = None
        """Asks the person who sits in front, and keeps what they agree to; set by a face that can, where it can."""

    def book(self) -> ConsentBook:
        return self._file.read()

    def is_agreed(self, request: ConsentRequest) -> bool:
        if is_agreed(request, ConsentBook(), self._shipped):
            return True  # what Weft ships needs no look at what was agreed to
        return is_agreed(request, self.book(), self._shipped)

    def open_parts(self, request: ConsentRequest) -> dict[str, str]:
        return open_parts(request, self.book(), self._shipped)

    def check(self, request: ConsentRequest | None) -> None:
        """NotAgreedError unless it was agreed to, or is now, in advance; None needs nobody's consent."""
        if request is None or self.is_agreed(request):
            return
        if request.hash in self.in_advance:
            self.agree(request, "in advance")
        elif self.ask is None or not self.ask(request):
            raise NotAgreedError(request)

    def agree(self, request: ConsentRequest | None, how: How) -> None:
        if request is None:
            return
        with self._file.changing() as (book, save):
            given = Consent(**vars(request), by=self._by, at=self._now(), how=how)
            kept = tuple(one for one in book.consents if (one.hash, one.subject) != (request.hash, request.subject))
            save(replace(book, consents=(*kept, given)))

    def own_work(self, path: Path, *, below: bool = False) -> OwnWorkFolder:
        """The person writes what this folder holds themselves."""
        folder = OwnWorkFolder(path=os.path.realpath(path), below=below, by=self._by, at=self._now())
        with self._file.changing() as (book, save):
            kept = tuple(one for one in book.folders if one.path != folder.path)
            save(replace(book, folders=(*kept, folder)))
        return folder

    def revoke(self, word: str) -> list[str]:
        """What is named by its hash, the beginning of it, its subject or its folder; what that was, in words."""
        place = os.path.realpath(Path(word).expanduser())
        with self._file.changing() as (book, save):
            gone = [
                one for one in book.consents if word == one.subject or (len(word) > 5 and one.hash.startswith(word))
            ]
            left = [one for one in book.folders if one.path == place]
            if not gone and not left:
                raise UserError(f"nothing was agreed to that is called {word!r}", hint="`weft trust list` shows it all")
            save(
                replace(
                    book,
                    consents=tuple(one for one in book.consents if one not in gone),
                    folders=tuple(one for one in book.folders if one not in left),
                )
            )
        return [*(one.words for one in gone), *(f"{one.path} as a folder of your own" for one in left)]


def _me() -> str:
    try:
        return pwd.getpwuid(os.getuid()).pw_name
    except KeyError:
        return str(os.getuid())
