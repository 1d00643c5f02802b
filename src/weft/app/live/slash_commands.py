"""What a person types that begins with a slash: a command of the session, or a look at something. The same everywhere.

    read_slash("/run summarize notes.md", known)    StartRun(…)
    read_slash("/context", known)                   Look(what="context")
    read_slash("/usr/bin is full", known)           None: words, for whoever is spoken to
    read_slash("/rnu", known)                       UserError: it is never sent to a model

A skill is a command under its own name, and so is a file of `.claude/commands`. What is offered while somebody types
comes from the same table: `complete`.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import field, replace
from pathlib import Path
from typing import Any, Final, Literal, get_args

from weft.app.session_requests import given_file
from weft.protocol.commands import (
    Compact,
    GivenFile,
    Interrupt,
    Mode,
    Rewind,
    Say,
    SessionCommand,
    SetMode,
    SetModel,
    StartRun,
    StopProcess,
    SwitchSource,
    Undo,
)
from weft.protocol.conversation_commands import ClearTaint, DecidePlan, SetLimits
from weft.protocol.conversation_events import MAIN
from weft.protocol.errors import UserError
from weft.protocol.patterns import pattern
from weft.protocol.values import dataclass

ExportKind = Literal["html", "markdown", "bundle"]
OverviewName = Literal[
    "help",
    "context",
    "cost",
    "limits",
    "models",
    "plan",
    "processes",
    "result",
    "sessions",
    "skills",
    "pipelines",
    "sources",
]
_COMMAND: Final = pattern(r"/([A-Za-z][\w:.-]*)(?:\s+(.*))?\Z", re.DOTALL)
PLAN_WORDS: Final = ("show", "accept", "compact", "drop")
LIMITS: Final = ("turns", "tokens", "usd", "minutes")


@dataclass(frozen=True, slots=True)
class Slash:
    name: str
    takes: str
    about: str


SLASHES: Final = (
    Slash("help", "", "these commands"),
    Slash("run", "PIPELINE [FILE] [NAME=VALUE …] [NAME=@FILE …]", "start a pipeline here, on files or on text"),
    Slash("build", "WORDS|accept", "draft a pipeline, agent, skill or source; then lay the draft"),
    Slash("result", "", "what the run of this session made last"),
    Slash("stop", "", "stop what runs"),
    Slash("model", "[NAME]", "which model answers from now on; without a name: which there are"),
    Slash("mode", "plan|safe|ask|edits|auto", "what tools may do without asking"),
    Slash(
        "plan", "[show|accept|compact|drop]", "look around and propose, change nothing; then what to do with the plan"
    ),
    Slash("limits", "[turns=N tokens=N usd=N minutes=N|none]", "how much this conversation may take"),
    Slash("trust", "", "what came from outside until now is fine"),
    Slash("compact", "", "tell the model older turns in short"),
    Slash("context", "", "what the model is told, by part and size"),
    Slash("cost", "", "what this session took"),
    Slash("attach", "FILE", "give a file with your next message; @FILE in a message does too"),
    Slash("processes", "[stop NAME]", "what goes on in the background, and went on"),
    Slash("undo", "", "take back what was changed in files for your last message"),
    Slash("rewind", "[N]", "go back to before your last N messages: the conversation, and the files"),
    Slash("fork", "", "begin another session that shares everything up to here"),
    Slash("export", "[html|markdown|bundle] [FILE]", "write this session into a file, without secrets of yours"),
    Slash("sessions", "", "the sessions of this workspace"),
    Slash("pipelines", "", "what can be run"),
    Slash("sources", "[SLUG on|off|default]", "the sources there are; switch one for this session"),
    Slash("skills", "", "the skills there are; each is a command too: /NAME"),
    Slash("exit", "", "leave; nothing is lost"),
)


@dataclass(frozen=True, slots=True)
class Overview:
    """Something to be shown, that nobody is asked for: `OpenedSession.look` answers it."""

    what: OverviewName


@dataclass(frozen=True, slots=True)
class Fork:
    """Another session that shares everything up to here: `OpenedSession.fork` makes it."""


@dataclass(frozen=True, slots=True)
class Export:
    """The session as a file: `OpenedSession.export` writes it. `path` is "" for a name of its own."""

    kind: ExportKind = "html"
    path: str = ""


@dataclass(frozen=True, slots=True)
class Attach:
    """A file that goes with the next message: `Say.attachments`."""

    file: GivenFile


@dataclass(frozen=True, slots=True)
class Build:
    """Something for the library from words (`OpenedSession.build`); "accept" lays the draft that was shown."""

    words: str


@dataclass(frozen=True, slots=True)
class Leave:
    pass


@dataclass(frozen=True, slots=True)
class KnownWords:
    """What can follow a slash in one session, and where the files that are named lie."""

    working: Path
    pipelines: Collection[str] = ()
    models: Collection[str] = ()
    skills: Mapping[str, str] = field(default_factory=dict)
    """What each is for, by name."""
    own: Mapping[str, str] = field(default_factory=dict)
    """The texts of the person's own commands, by name."""
    sources: Collection[str] = ()
    reads_files: bool = True
    """Whether files can be named: not by somebody who is elsewhere, for whom none is looked for."""


Wanted = SessionCommand | Overview | Fork | Export | Attach | Build | Leave


def read_slash(text: str, known: KnownWords) -> Wanted | None:
    """None for words that are no command. UserError for a command that is none, or not whole."""
    if text.strip() == "/":
        return Overview("help")
    found = _COMMAND.match(text.strip())
    if found is None:
        return None
    name, rest = found[1], (found[2] or "").strip()
    if reader := _READERS.get(name):
        return reader(rest, known)
    if name in known.own:
        return Say(text=_filled(known.own[name], rest))
    if name in known.skills:
        return Say(text=f"Use the skill {name}." + (f" {rest}" if rest else ""))
    names = [*_READERS, *known.skills, *known.own]
    close = difflib.get_close_matches(name, names, n=1)
    raise UserError(
        f"there is no command /{name}", hint=f"did you mean /{close[0]}?" if close else "/help lists the commands"
    )


AT_THE_MACHINE: Final = {
    "build": "weft build drafts it in a terminal",
    "attach": "give files when you begin",
    "export": "Share has it",
    "exit": "leave the page; nothing is lost",
}
"""Commands that read or write files where the program runs, or leave it, and what there is elsewhere."""


def read_slash_elsewhere(text: str, known: KnownWords) -> SessionCommand | Overview | Fork | None:
    """As `read_slash`, for somebody who is not at the machine: no file of it is looked for. UserError for the rest."""
    found = _COMMAND.match(text.strip())
    if found is not None and found[1] in AT_THE_MACHINE:
        raise UserError(f"/{found[1]} is for a terminal", hint=AT_THE_MACHINE[found[1]])
    wanted = read_slash(text, replace(known, reads_files=False))
    assert not isinstance(wanted, Export | Attach | Build | Leave)
    return wanted


def complete(text: str, known: KnownWords) -> list[Slash]:
    """What a beginning may become, the table's own first: the name of a command, then what it is followed by."""
    if not text.startswith("/") or "\n" in text:
        return []
    name, space, rest = text[1:].partition(" ")
    if not space:
        own = [Slash(word, "", "your own command") for word in known.own]
        skills = [Slash(word, "", about) for word, about in known.skills.items()]
        return [one for one in (*SLASHES, *own, *skills) if one.name.startswith(name)]
    offered: Mapping[str, Sequence[str]] = {
        "run": sorted(known.pipelines),
        "model": sorted(known.models),
        "mode": get_args(Mode),
        "export": get_args(ExportKind),
        "sources": [f"{slug} {word}" for slug in sorted(known.sources) for word in ("on", "off")],
        "plan": PLAN_WORDS,
        "limits": [f"{limit}=" for limit in LIMITS],
    }
    return [Slash(f"{name} {word}", "", "") for word in offered.get(name, ()) if word.startswith(rest)]


def slash_help(known: KnownWords) -> str:
    lines = [f"- `/{one.name}{' ' + one.takes if one.takes else ''}` {one.about}" for one in SLASHES]
    lines += [f"- `/{name}` your own command" for name in known.own]
    lines += [f"- `/{name}` {about}" for name, about in known.skills.items()]
    return "\n".join(lines)


# -- the commands


def _run(rest: str, known: KnownWords) -> StartRun:
    words = _words(rest)
    if not words:
        raise UserError("which pipeline?", hint=f"there are: {', '.join(sorted(known.pipelines)) or 'none yet'}")
    name, told = words[0], words[1:]
    if name not in known.pipelines:
        close = difflib.get_close_matches(name, known.pipelines, n=1)
        raise UserError(
            f"there is no pipeline {name}",
            hint=f"did you mean {close[0]}?" if close else f"there are: {', '.join(sorted(known.pipelines)) or 'none'}",
        )
    parameters: dict[str, Any] = {}
    given: list[str] = []
    inputs: dict[str, tuple[GivenFile, ...]] = {}
    read = _files if known.reads_files else _no_files
    for word in told:
        key, sign, value = word.partition("=")
        if not sign or not key.isidentifier() or (known.reads_files and (known.working / word).exists()):
            given.append(word)
        elif (
            value.startswith("@")
            and (known.reads_files or _is_like_a_path(value))
            and (files := read([value], known.working))
        ):
            inputs[key] = (*inputs.get(key, ()), *files)
        else:
            parameters[key] = value
    if given:
        inputs[""] = read(given, known.working) or (GivenFile(" ".join(given).encode()),)
    return StartRun(pipeline=name, parameters=parameters, inputs=inputs)


def _files(words: list[str], working: Path) -> tuple[GivenFile, ...]:
    """The files that words name; () when they are words. UserError for the one that only looks like a file."""
    paths = [working / Path(word.removeprefix("@")).expanduser() for word in words]
    if all(path.is_file() for path in paths):
        return tuple(given_file(path) for path in paths)
    missing = next((word for word, path in zip(words, paths, strict=True) if not path.is_file()), "")
    if len(words) == 1 and _is_like_a_path(missing):
        raise UserError(f"there is no file {missing.removeprefix('@')} in {working}")
    return ()


def _no_files(words: list[str], working: Path) -> tuple[GivenFile, ...]:
    """The words are the text. What only names files is refused, whether they are there or not."""
    if all(word.startswith("@") or _is_like_a_path(word) for word in words):
        raise UserError(
            f"{words[0]} names a file, and a run that begins here takes words only",
            hint="attach the file to the command, or begin it under New",
        )
    return ()


def _is_like_a_path(word: str) -> bool:
    return ("/" in word or "." in word[:-1]) and " " not in word


def _build(rest: str, known: KnownWords) -> Build:
    if not rest:
        raise UserError("what is to be built?", hint="for example: /build a pipeline that finds the dates in a letter")
    return Build(rest)


def _attach(rest: str, known: KnownWords) -> Attach:
    if not rest:
        raise UserError("which file?", hint="for example: /attach picture.png")
    whole = known.working / Path(rest.removeprefix("@")).expanduser()
    if not whole.is_file():  # a name with spaces needs no quotes, and may have them
        words = _words(rest)
        if len(words) != 1:
            raise UserError(f"there is no file {rest} in {known.working}", hint="/attach takes one file at a time")
        whole = known.working / Path(words[0].removeprefix("@")).expanduser()
        if not whole.exists():
            raise UserError(f"there is no file {words[0]} in {known.working}", hint="check how it is spelled")
    return Attach(given_file(whole))


def _model(rest: str, known: KnownWords) -> Wanted:
    return SetModel(model=rest) if rest else Overview("models")


def _mode(rest: str, known: KnownWords) -> Wanted:
    modes: tuple[Mode, ...] = get_args(Mode)
    for mode in modes:
        if rest == mode:
            return SetMode(mode=mode)
    raise UserError(f"there is no mode {rest}" if rest else "which mode?", hint=f"one of: {', '.join(modes)}")


def _limits(rest: str, known: KnownWords) -> Wanted:
    if not rest:
        return Overview("limits")
    if rest == "none":
        return SetLimits(conversation=MAIN, limits={})
    limits: dict[str, float] = {}
    for word in rest.split():
        name, _, value = word.partition("=")
        try:
            limits[name] = float(value)
        except ValueError:
            limits[name] = -1
        if name not in LIMITS or not limits[name] > 0:
            raise UserError(f"{word} is no limit", hint="for example: /limits turns=20 usd=0.5")
    return SetLimits(conversation=MAIN, limits=limits)


def _sources(rest: str, known: KnownWords) -> Wanted:
    words = rest.split()
    if not words:
        return Overview("sources")
    switched = {"on": True, "off": False, "default": None}
    if len(words) != 2 or words[1] not in switched:
        raise UserError("which source, and how?", hint="for example: /sources notes off")
    return SwitchSource(source=words[0], on=switched[words[1]])


def _plan(rest: str, known: KnownWords) -> Wanted:
    word, _, words = rest.partition(" ")
    match word:
        case "":
            return SetMode(mode="plan")
        case "show":
            return Overview("plan")
        case "accept":
            return DecidePlan(decision="accepted", text=words)
        case "compact":
            return DecidePlan(decision="compacted", text=words)
        case "drop":
            return DecidePlan(decision="dropped")
    raise UserError(f"a plan can't be {word}", hint=f"one of: {', '.join(PLAN_WORDS)}; or say what should be otherwise")


def _processes(rest: str, known: KnownWords) -> Wanted:
    words = rest.split()
    if not words:
        return Overview("processes")
    if len(words) != 2 or words[0] != "stop":
        raise UserError("what is to be done with it?", hint="for example: /processes stop process-1")
    return StopProcess(process=words[1])


def _rewind(rest: str, known: KnownWords) -> Wanted:
    if rest and not (rest.isdecimal() and int(rest)):
        raise UserError(f"{rest} is no number of messages", hint="/rewind 2 goes back to before your last two")
    return Rewind(messages=int(rest or 1))


def _export(rest: str, known: KnownWords) -> Export:
    words = _words(rest)
    kinds: tuple[ExportKind, ...] = get_args(ExportKind)
    kind = next((one for one in kinds if words[:1] == [one]), None)
    words = words[1:] if kind else words
    if len(words) > 1:
        raise UserError("one session is one file", hint="for example: /export markdown talk.md")
    by_ending: dict[str, ExportKind] = {".md": "markdown", ".zip": "bundle"}
    named = words[0] if words else ""
    if named and not kind and Path(named).name == named and not Path(named).suffix:
        raise UserError(f"there is no form {named}", hint=f"one of: {', '.join(kinds)}; or a file: /export talk.md")
    return Export(kind or by_ending.get(Path(named).suffix, "html"), named)


def _bare(wanted: Callable[[], Wanted]) -> Callable[[str, KnownWords], Wanted]:
    def read(rest: str, known: KnownWords) -> Wanted:
        if rest:
            raise UserError("it stands alone: nothing can follow it")
        return wanted()

    return read


_READERS: Final[dict[str, Callable[[str, KnownWords], Wanted]]] = {
    "help": _bare(lambda: Overview("help")),
    "run": _run,
    "build": _build,
    "result": _bare(lambda: Overview("result")),
    "stop": _bare(Interrupt),
    "model": _model,
    "mode": _mode,
    "plan": _plan,
    "limits": _limits,
    "sources": _sources,
    "trust": _bare(lambda: ClearTaint(conversation=MAIN)),
    "compact": _bare(Compact),
    "context": _bare(lambda: Overview("context")),
    "cost": _bare(lambda: Overview("cost")),
    "attach": _attach,
    "processes": _processes,
    "undo": _bare(Undo),
    "rewind": _rewind,
    "fork": _bare(Fork),
    "export": _export,
    "sessions": _bare(lambda: Overview("sessions")),
    "pipelines": _bare(lambda: Overview("pipelines")),
    "skills": _bare(lambda: Overview("skills")),
    "exit": _bare(Leave),
}


_WORD: Final = pattern(r"""(\w+=)?(?:"([^"]*)"|'([^']*)')(?!\S)|((?:\\.|\S)+)""")


def _words(text: str) -> list[str]:
    """Quotation marks hold words together where a word begins with them; anywhere else they are signs of the text."""
    return [
        (m[1] or "") + (m[2] or m[3] or "") if m[4] is None else m[4].replace("\\ ", " ") for m in _WORD.finditer(text)
    ]


def _filled(text: str, rest: str) -> str:
    """A command of a file: `$ARGUMENTS` is what follows it, `$1` the first word of that."""
    words = rest.split()
    filled = re.sub(r"\$(\d)", lambda found: words[int(found[1]) - 1] if 0 < int(found[1]) <= len(words) else "", text)
    if "$ARGUMENTS" in filled:
        return filled.replace("$ARGUMENTS", rest)
    return f"{filled.rstrip()}\n\n{rest}" if rest and filled == text else filled
