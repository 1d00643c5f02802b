"""Gathers what a conversation's prompt is made of, anew for every model call: files that changed count at once.

`last` keeps, for each conversation, the prompt that its model was last given, so that it can be shown.
"""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import field
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import Any, Final

from weft.conversation.compaction import Summary, fitted
from weft.conversation.projections import Said, Transcript, last_messages, messages_of
from weft.conversation.prompt import Fragment, Prompt, build_prompt, fence
from weft.models.media import media_kind, media_taken, within_limits
from weft.models.model import Model, Request, turns_read
from weft.protocol.errors import UserError, WorkspaceError
from weft.protocol.messages import Content, Media, Text, ToolSpec
from weft.protocol.values import dataclass
from weft.session.state import SessionState
from weft.tools.skills import Skills
from weft.workspace.workspace import Workspace

INSTRUCTIONS: Final = """\
You work for one person, in their session of Weft. Answer in their language. Say what you know and what you don't.

- Use tools when they get you facts; don't announce them, use them. Read before you change. Never make up the content of
  a file, a quote, a number or a source: look it up, quote it word for word, and name where it stands.
- A tool call may be refused or interrupted. Take that as the person's decision, and ask if you don't see why.
- Be brief. Lead with the answer. When you have changed something, say what, and what you did not check."""
INSTRUCTION_FILES: Final = ("AGENTS.md", "CLAUDE.md")
_FILE_LIMIT: Final = 60
MEDIA_LIMIT: Final = 16 * 2**20
"""Bytes of a picture or a PDF that a model is given; what is larger is told as text."""
_INSTRUCTION_BYTES: Final = 64 * 1024


@dataclass(frozen=True, slots=True, kw_only=True)
class Speaker:
    """Who answers in a conversation: the person's own assistant, or the agent of a sub-conversation."""

    model: Model
    tools: tuple[ToolSpec, ...]
    instructions: str


@dataclass(slots=True)
class SessionContext:
    workspace: Workspace
    session: Callable[[], SessionState]
    speaker: Callable[[str], Speaker]
    """Of each conversation, by its name."""
    skills: Skills
    nonce: str
    off_loop: Callable[[Callable[[], list[Fragment]]], Awaitable[list[Fragment]]]
    compact: Callable[[str, Summary], None]
    """Has a summary recorded, for the conversation of that name."""
    run: Callable[[str], str]
    """What is to be known of the session's run, bounded, and fenced with the nonce; "" when there is none."""
    working: Path | None = None
    """The folder that tools work in: its own instructions count too."""
    kept: Callable[[str], bytes | None] = lambda _: None
    """What a file of the session's folder holds."""
    place: Callable[[], str] = lambda: ""
    """Where tools work, and which day it is."""
    last: dict[str, Prompt] = field(default_factory=dict)
    _shown: dict[str, Media | None] = field(default_factory=dict)
    """Attachments as models are shown them, by their files; None for what can't be shown."""

    async def build(self, conversation: str, transcript: Transcript) -> Request:
        speaker = self.speaker(conversation)
        fragments = await self.off_loop(lambda: self._read(speaker, transcript))
        prompt = await fitted(
            speaker.model,
            last_messages(transcript.entries, turns_read(speaker.model)),
            lambda entries: self._prompt(speaker, fragments, entries),
            self.nonce,
            partial(self.compact, conversation),
        )
        self.last[conversation] = prompt
        return prompt.request

    def preview(self, conversation: str, transcript: Transcript) -> Prompt:
        """What the model would be told now: from the log and the files as they are, without calling anything."""
        speaker = self.speaker(conversation)
        entries = last_messages(transcript.entries, turns_read(speaker.model))
        return self._prompt(speaker, self.fragments(speaker), entries)

    def _prompt(self, speaker: Speaker, fragments: list[Fragment], entries: Sequence[Said]) -> Prompt:
        return build_prompt(
            fragments,
            messages_of(entries, partial(self._attached, speaker.model)),
            speaker.tools,
            window=speaker.model.window,
            nonce=self.nonce,
            outside=frozenset(said.call for said in entries if said.outside),
        )

    def _attached(self, model: Model, one: Mapping[str, Any]) -> Content:
        """What a message brings, as the model takes it: as it is, or as text between the marks of data."""
        name, where = str(one["name"]), str(one["file"])
        if (shown := self._media(model, one)) is not None:
            return shown
        unseen = f"{one['size']:,} bytes, which you can't see" + (f"; @session/{where}" if where else "")
        text = str(one["text"]) or unseen
        return Text(text=fence(f"{name} ({one['kind']}):\n{text}", self.nonce, name))

    def _media(self, model: Model, one: Mapping[str, Any]) -> Media | None:
        """An attachment that the model takes as it is, within the limits of providers."""
        where, kind = str(one["file"]), media_kind(str(one["media_type"]))
        if not where or kind is None or kind not in media_taken(model):
            return None
        if where not in self._shown:
            data = self.kept(where)
            found = None
            if data is not None and len(data) <= MEDIA_LIMIT:
                with suppress(UserError):  # it was said when it was given
                    found = within_limits(Media(media_type=str(one["media_type"]), data=data, name=str(one["name"])))
            self._shown[where] = found
        return self._shown[where]

    def _read(self, speaker: Speaker, transcript: Transcript) -> list[Fragment]:
        """All that takes time: files, and pictures that are made smaller."""
        for said in transcript.entries:
            for one in said.attached:
                self._media(speaker.model, one)
        return self.fragments(speaker)

    def fragments(self, speaker: Speaker) -> list[Fragment]:
        found = [Fragment(kind="instructions", text=speaker.instructions)]
        found += [Fragment(kind="workspace", text=text, name=name) for name, text in self._instructions()]
        if any(tool.name == "Skill" for tool in speaker.tools):
            found.append(Fragment(kind="skills", text=_skills(self.skills)))
        found.append(Fragment(kind="profile", text=_profile(self._profile())))
        found.append(Fragment(kind="place", text=self.place()))
        found.append(Fragment(kind="run", text=self.run(self.nonce)))
        files = _files(self.session())
        found.append(Fragment(kind="files", text=fence(files, self.nonce, "files") if files else ""))
        return found

    def _instructions(self) -> Iterator[tuple[str, str]]:
        """What people wrote for whoever works here, each with where it stands: in the workspace, then in the working
        folder and those above it up to the repository's root, the nearest last. The same words are told once."""
        seen: set[str] = set()
        for name in INSTRUCTION_FILES:
            data = self.workspace.folder.read_or_none(name)
            text = data.decode("utf-8", "replace").strip() if data is not None else ""
            if text and text not in seen:
                seen.add(text)
                yield f"{name} of the workspace", text
        for path in reversed(project_files(self.working)) if self.working else ():
            text = read_text(path)
            if text and text not in seen:
                seen.add(text)
                yield str(path), f"From {path}:\n\n{text}"

    def _profile(self) -> Mapping[str, Any]:
        try:
            return self.workspace.profile()
        except WorkspaceError as error:
            return {"profile.json": f"can't be read: {error.message}"}


def place_words(working: Path, now: float, system: str) -> str:
    """What a model can't know and is asked about: the folder, its repository and branch, the day."""
    root = next((folder for folder in (working, *working.parents) if (folder / ".git").exists()), None)
    head = read_text(root / ".git" / "HEAD") if root else ""
    branch = head.removeprefix("ref: refs/heads/") if head.startswith("ref: refs/heads/") else ""
    within = "" if root == working else f" of {root}"
    git = f", a git repository{within}{f' on the branch {branch}' if branch else ''}" if root else ""
    day = datetime.fromtimestamp(now).astimezone().strftime("%Y-%m-%d (%A)")
    return f"Tools work in {working}{git}; paths count from there. The system is {system}. Today is {day}."


def project_files(working: Path) -> list[Path]:
    """The instruction files of a folder and those above it, the nearest first: up to the root of its repository, and of
    a folder in none only its own."""
    above = [working, *working.parents]
    root = next((number for number, folder in enumerate(above) if (folder / ".git").exists()), 0)
    places = [folder / name for folder in above[: root + 1] for name in reversed(INSTRUCTION_FILES)]
    return [path for path in places if path.is_file()]


def read_text(path: Path) -> str:
    """ "" for what can't be read: it must not keep anybody from talking."""
    try:
        with path.open("rb") as file:
            return file.read(_INSTRUCTION_BYTES).decode("utf-8", "replace").strip()
    except OSError:
        return ""


def _skills(skills: Skills) -> str:
    """A line for each, and what is wrong with those that can't be read: named, and not in the way."""
    found, problems = skills.index()
    lines = [f"- {skill.name}: {skill.description}" for skill in found]
    return "\n".join([*lines, *(f"- (broken, not usable) {problem.file}: {problem.message}" for problem in problems)])


def _profile(value: Mapping[str, Any]) -> str:
    told = {key: part for key, part in value.items() if part not in ("", [], {}, None) and key != "writingSamples"}
    return json.dumps(told, ensure_ascii=False, indent=1) if told else ""


def _files(state: SessionState) -> str:
    names = [
        f"- {given.file} (the input {name}, from {given.origin or 'standard input'})"
        for name, given in state.inputs.items()
    ]
    names += [f"- {name}" for name in state.artifacts]
    if len(names) > _FILE_LIMIT:
        names = [*names[:_FILE_LIMIT], f"- and {len(names) - _FILE_LIMIT} more"]
    return "\n".join(names)
