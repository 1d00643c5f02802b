"""What words name with an at sign, and what is given with them: found, completed, and made into what a model is told.

    @notes.md  @src/  @"a file.txt"        files and folders of the working folder
    @agent:reviewer  @skill:verify  @collection:isa  @source:github  @session:id  @artifact:kit.md

A name that nothing has stays a word. Files come as a head of their text; pictures, PDF and office files are kept in the
session's `attachments/`, and whether a model gets them as they are or as text is decided when it is asked, by what it
takes. Files outside the working folder are read where the person sits (`files_named`), never by a server.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final, Literal, get_args

from weft.app.parts import Parts
from weft.app.session_requests import given_file
from weft.documents import read_document
from weft.files import Folder
from weft.models.media import media_kind
from weft.protocol.commands import GivenFile
from weft.protocol.errors import UserError, WeftError
from weft.protocol.hashes import hash_bytes
from weft.protocol.values import dataclass
from weft.tools.ignore import listed

MentionKind = Literal["file", "folder", "agent", "skill", "collection", "source", "session", "artifact"]
KINDS: Final[tuple[MentionKind, ...]] = get_args(MentionKind)
ATTACHMENTS: Final = "attachments"
HEAD: Final = 20_000
"""Characters of a text that a model is told at once; it reads the rest where it needs it."""
PASTED: Final = 100_000
"""Characters of a message from which on it is an attachment with a head."""
MOST_FILES: Final = 20
MOST_NAMES: Final = 200
OFFERED: Final = 40
_MENTION: Final = re.compile(r"""(?<![\w@/.])@(?:"([^"\n]+)"|([^\s@"'`,;!?(){}<>\[\]]+))""")
_TYPES: Final = (
    (b"\x89PNG\r\n", "image/png"),
    (b"\xff\xd8\xff", "image/jpeg"),
    (b"GIF8", "image/gif"),
    (b"%PDF-", "application/pdf"),
    (b"PK\x03\x04", "application/zip"),
)
Attached = dict[str, Any]
"""As `message_accepted` has it: name, kind, text, file, media_type, size; `outside` when it came from there."""


@dataclass(frozen=True, slots=True)
class Mentionable:
    kind: MentionKind
    name: str
    about: str = ""

    @property
    def words(self) -> str:
        """As it is written behind the at sign."""
        name = self.name if self.kind in ("file", "folder") else f"{self.kind}:{self.name}"
        return f'"{name}"' if re.search(r"""[\s"'`,;!?(){}<>\[\]]""", name) else name


def mentions(text: str) -> list[str]:
    """What is named, each once. A full stop or colon behind a name belongs to the sentence."""
    found = (one[1] or one[2].rstrip(".:") for one in _MENTION.finditer(text))
    return list(dict.fromkeys(name for name in found if name))


def being_typed(before: str) -> str | None:
    """The beginning of a name that stands right before the cursor; None when none is being typed."""
    found = re.search(r"""(?<![\w@/.])@("[^"\n]*|[^\s"'`,;!?(){}<>\[\]]*)\Z""", before)
    return found[1].removeprefix('"') if found else None


def ranked(typed: str, names: Iterable[Mentionable]) -> list[Mentionable]:
    """Those that what is typed may become, the best first: its letters come in the name, in order."""
    wanted = typed.lower()
    found = [(score, len(one.words), one.words, one) for one in names if (score := _score(wanted, one.words.lower()))]
    return [one for *_, one in sorted(found, key=lambda each: (-each[0], each[1], each[2]))[:OFFERED]]


def _score(wanted: str, name: str) -> int:
    if not wanted:
        return 1 if name.count("/") - name.endswith("/") <= 0 else 0
    base = name.rstrip("/").rpartition("/")[2]
    for score, good in ((9, name.startswith(wanted)), (8, base.startswith(wanted)), (6, wanted in base)):
        if good:
            return score
    if wanted in name:
        return 5
    letters = iter(name)
    return 2 if all(letter in letters for letter in wanted) else 0


# -- what there is


def mentionable(parts: Parts, working: Path, session: str) -> list[Mentionable]:
    """All that can be named here. Read anew: what was made a moment ago can be."""
    found: list[Mentionable] = []
    with Folder.open(working) as folder:
        found += [Mentionable("folder" if path.endswith("/") else "file", path) for path in listed(folder)]
    workspace = parts.workspace
    found += [Mentionable("agent", name) for name in workspace.agent_names()]
    found += [Mentionable("skill", name, about) for name, about in _skills(parts, working).items()]
    found += [Mentionable("collection", name) for name in _collections(workspace.folder)]
    if parts.may_have_sources(working):
        found += [Mentionable("source", slug) for slug in parts.sources().declared(working).sources]
    from weft.session.index import Filter

    found += [Mentionable("session", one.id, one.title) for one in parts.catalogue.page(Filter(limit=100))]
    found += [Mentionable("artifact", name) for name in _artifacts(parts, session)]
    return found


def _skills(parts: Parts, working: Path) -> dict[str, str]:
    from weft.tools.skills import Skills

    with Folder.open(working) as folder:
        good, _ = Skills([("workspace", parts.workspace.folder), ("project", folder)]).index()
    return {skill.name: skill.description for skill in good}


def _collections(workspace: Folder) -> list[str]:
    try:
        with workspace.folder("knowledge") as shelf:
            return [name for name in shelf.names() if shelf.is_folder(name)]
    except (FileNotFoundError, NotADirectoryError):
        return []


def _artifacts(parts: Parts, session: str) -> list[str]:
    try:
        return list(parts.sessions.read(session).state.artifacts)
    except (WeftError, OSError):
        return []


# -- what a message brings


class Attaching:
    """What the words and files of one message come to, for the session in this folder."""

    def __init__(self, parts: Parts, working: Folder, session: Folder) -> None:
        self._parts = parts
        self._working = working
        self._session = session

    def attached(self, text: str, files: Iterable[GivenFile]) -> list[Attached]:
        """UserError when a file that is given can't be taken; what is only named and can't be read is said in words."""
        given = list(files)
        if len(given) > MOST_FILES:
            raise UserError(f"{len(given)} files are too many for one message; {MOST_FILES} are the most")
        found = [self._given(one) for one in given]
        for name in mentions(text):
            try:
                one = self._named(name)
            except (WeftError, OSError) as error:
                one = _told(name, "file", f"It can't be read: {error}")
            if one is not None:
                found.append(one)
        return found

    async def with_resources(self, found: Sequence[Attached]) -> list[Attached]:
        """The resources of servers among what a message names, read now: pictures and documents go with it as they are,
        from outside; a text is read by the model itself, which bounds it."""
        told: list[Attached] = []
        for one in found:
            slug, _, uri = str(one["name"]).removeprefix("source:").partition("/")
            if one["kind"] != "source" or not uri:
                told.append(one)
                continue
            try:
                sources = self._parts.sources()
                source = sources.one(slug, self._working.path)
                parts = await sources.resource(source, uri, self._session.path.name)
            except (WeftError, OSError) as error:
                told.append({**one, "text": f"{one['text']} It could not be read now: {error}"})
                continue
            media = [data for _, data in parts if media_kind(_media_type(data))]
            told += [{**self._file(str(one["name"]), data, keep=True), "outside": True} for data in media] or [one]
        return told

    def shortened(self, text: str) -> tuple[str, list[Attached]]:
        """A message that is far too long to be told again and again: its head, and the whole of it as a file."""
        if len(text) <= PASTED:
            return text, []
        kept = self._given(GivenFile(text.encode("utf-8", "surrogatepass"), "message.txt"))
        head = text[: HEAD // 4]
        return f"{head}\n[… the message goes on: {len(text):,} characters in all, in @session/{kept['file']}]", [
            {**kept, "text": "", "outside": False}
        ]

    def _given(self, one: GivenFile) -> Attached:
        return {**self._file(one.name, one.data, keep=True), "outside": True}

    def _named(self, name: str) -> Attached | None:
        kind, colon, rest = name.partition(":")
        if colon and kind in KINDS and rest:
            return self._of_kind(kind, rest, name)
        return self._of_path(name)

    def _of_path(self, name: str) -> Attached | None:
        path = name.strip("/") or "."
        if name.startswith(("/", "~")) or ".." in path.split("/"):
            return None
        if path == "." or self._is_folder(path):
            return self._folder(path, name)
        data = self._working.read_or_none(path)
        if data is None:
            return None
        found = self._file(name, data, keep=False)
        return {**found, "outside": True} if found["media_type"] != "text/plain" else found

    def _is_folder(self, path: str) -> bool:
        try:
            self._working.folder(path).close()
        except (OSError, WeftError):
            return False
        return True

    def _folder(self, path: str, name: str) -> Attached:
        if path == ".":
            names = listed(self._working, MOST_NAMES + 1)
        else:
            with self._working.folder(path) as inner:
                names = listed(inner, MOST_NAMES + 1)
        more = ["… and more: list it with Glob"] if len(names) > MOST_NAMES else []
        return _told(name, "folder", "\n".join([*names[:MOST_NAMES], *more]) or "It is empty.")

    def _file(self, name: str, data: bytes, *, keep: bool) -> Attached:
        media_type = _media_type(data)
        where = self._keep(name, data) if keep or media_kind(media_type) else ""
        rest = f"@session/{where}" if keep and where else name
        return {
            **_told(name, "file", _text_of(name, data, media_type, rest)),
            "file": where,
            "media_type": media_type,
            "size": len(data),
        }

    def _keep(self, name: str, data: bytes) -> str:
        safe = re.sub(r"[^\w.-]+", "-", name.rpartition("/")[2])[-60:].lstrip(".-") or "file"
        where = f"{ATTACHMENTS}/{hash_bytes(data)[:8]}-{safe}"
        with self._session.folder(ATTACHMENTS, create=True) as folder:
            last = where.removeprefix(f"{ATTACHMENTS}/")
            if folder.read_or_none(last) != data:
                folder.replace(last, data)
        return where

    def _of_kind(self, kind: MentionKind, rest: str, name: str) -> Attached | None:
        teller: Mapping[MentionKind, Callable[[str], str | None]] = {
            "agent": self._agent,
            "skill": self._skill,
            "collection": self._collection,
            "source": self._source,
            "session": self._of_session,
        }
        if kind == "artifact":
            data = (
                self._session.read_or_none(rest) if rest in _artifacts(self._parts, self._session.path.name) else None
            )
            if data is None:
                return None
            return {**self._file(f"@session/{rest}", data, keep=False), "kind": "artifact", "outside": True}
        if kind in ("file", "folder"):
            return self._of_path(rest)
        told = teller[kind](rest)
        found = None if told is None else _told(name, kind, told)
        return {**found, "outside": True} if found and kind == "session" else found

    def _agent(self, name: str) -> str | None:
        if name not in self._parts.workspace.agent_names():
            return None
        about = self._parts.workspace.agent(name).description
        return f"An agent of this workspace ({about}). Give it the work it is named for with Task, agent {name!r}."

    def _skill(self, name: str) -> str | None:
        about = _skills(self._parts, self._working.path).get(name)
        return None if about is None else f"A skill ({about}). Load it with Skill, and follow it."

    def _collection(self, name: str) -> str | None:
        if name not in _collections(self._parts.workspace.folder):
            return None
        return f"A collection of documents. Look in it with the tools that begin with kb_, if {name} is open here."

    def _source(self, named: str) -> str | None:
        """A source, or one of its resources: `@source:SLUG/URI`."""
        slug, _, uri = named.partition("/")
        if not self._parts.may_have_sources(self._working.path):
            return None
        if slug not in self._parts.sources().declared(self._working.path).sources:
            return None
        if uri:
            return f"The resource {uri} of the source {slug}. Read it with {slug}__read_resource before you answer."
        return f"A source. Use its tools, which begin with {slug}__."

    def _of_session(self, name: str) -> str | None:
        entry = self._parts.catalogue.entry(name)
        if entry is None:
            return None
        words = "\n\n".join(_last_words(self._parts, name))
        return f"The session {name}: {entry.title} ({entry.state}).\n\n{words}"[:HEAD]


def _last_words(parts: Parts, session: str) -> Iterator[str]:
    from weft.protocol.conversation_events import MAIN, MessageAccepted, ModelSettled

    said: list[str] = []
    for record in parts.sessions.records(session):
        event = record.event
        if isinstance(event, MessageAccepted) and event.conversation == MAIN:
            said.append(f"The person: {event.text[:2000]}")
        elif isinstance(event, ModelSettled) and event.conversation == MAIN and event.text:
            said.append(f"The answer: {event.text[:4000]}")
    yield from said[-4:]
    state = parts.sessions.read(session).state
    if state.artifacts:
        yield f"What its run made: {', '.join(state.artifacts)}"


def _told(name: str, kind: MentionKind, text: str) -> Attached:
    return {"name": name, "kind": kind, "text": text, "file": "", "media_type": "", "size": 0}


def _media_type(data: bytes) -> str:
    if data[:4] == b"RIFF" and data[8:12] == b"WEBP":
        return "image/webp"
    return next((kind for head, kind in _TYPES if data.startswith(head)), "text/plain")


def _text_of(name: str, data: bytes, media_type: str, rest: str) -> str:
    """What a model is told of a file that it does not get as it is: its text as far as there is one."""
    if media_type.startswith("image/"):
        return ""
    try:
        if media_type != "text/plain":
            text = read_document(data, name).text
        else:
            text = data.decode("utf-8")
            if "\0" in text:
                raise UnicodeDecodeError("utf-8", data, 0, 1, "not text")
    except (WeftError, UnicodeDecodeError) as error:
        why = error.message if isinstance(error, WeftError) else "it is not text"
        return f"It can't be told as text ({why}); it has {len(data):,} bytes."
    if len(text) <= HEAD:
        return text
    return f"{text[:HEAD]}\n[… {len(text) - HEAD:,} more characters: read {rest}]"


# -- where the person sits


def files_named(text: str, working: Path) -> list[GivenFile]:
    """The files outside the working folder that words name, for whoever sits at this machine: read here and now.
    UserError for one that can't be read."""
    found = []
    for name in mentions(text):
        if name.startswith(("/", "~")) or ".." in name.split("/"):
            path = (working / Path(name).expanduser()).resolve()
            if path.is_file():
                found.append(given_file(path))
    return found


def dropped_path(text: str) -> str | None:
    """What a terminal types when a file is dropped on it: one path, quoted or escaped, as it is named here."""
    try:
        words = shlex.split(text.strip().removeprefix("file://"))
    except ValueError:
        return None
    if len(words) != 1 or not words[0].startswith(("/", "~/")) or not Path(words[0]).expanduser().is_file():
        return None
    return f'@"{words[0]}"' if re.search(r"\s", words[0]) else f"@{words[0]}"
