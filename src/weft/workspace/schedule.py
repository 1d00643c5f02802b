"""`schedules/NAME.yaml`: when something is begun by itself, and what.

When is one of three: a `cron` line in a time zone, `changed` (files of the workspace, by pattern), or `call` (whoever
has a token for it asks the server). What is one of two: `start` a run, or `say` something in a session.
"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any, Final, Literal
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from cronsim import CronSim, CronSimError
from pydantic import Field

from weft.files import Folder
from weft.protocol.errors import Problem, UsageError
from weft.protocol.hashes import hash_value
from weft.protocol.ids import NAME, check_session_id
from weft.protocol.values import dataclass
from weft.workspace.document import MarkedDocument, read_source
from weft.workspace.explain import check
from weft.workspace.fields import OptionalText, Strict, Text
from weft.workspace.names import file_names
from weft.workspace.spelling import suggest
from weft.workspace.yaml_document import parse_yaml

FOLDER: Final = "schedules"
ENDING: Final = ".yaml"
Missed = Literal["skip", "once", "all"]
"""What becomes of times at which nobody was there to begin it."""
Overlap = Literal["skip", "queue", "start"]
"""What becomes of a time that comes while the run before is still going."""


class StartEntry(Strict):
    """A run that is begun."""

    pipeline: OptionalText = Field(default=None, description="Which pipeline; else the workspace's own choice")
    input: OptionalText = Field(
        default=None, description="The first input: a file of the workspace, or an address that is fetched"
    )
    session: OptionalText = Field(
        default=None, description="The session that is brought up to date each time; else a new one each time"
    )
    parameters: dict[Text, Any] = Field(default={}, description="Values of parameters; folders lie in the workspace")
    answers: dict[Text, Text] = Field(default={}, description="Replies given in advance, by the step of the gate")
    budget: dict[Literal["usd", "tokens", "minutes"], float] = Field(
        default={}, description="In place of the pipeline's limits"
    )
    model: OptionalText = Field(default=None, description="The model of every step, whatever files say")


class SayEntry(Strict):
    """Words that are said in a session."""

    session: Text = Field(description="Where; a session that is not there is made, to talk in")
    text: Text = Field(description="What is said")


class CallEntry(Strict):
    """A call over HTTP begins it."""

    parameters: list[Text] = Field(default=[], description="The parameters that whoever calls may set")


class ScheduleFile(Strict):
    """When something is begun by itself, and what."""

    description: OptionalText = Field(default=None, description="What it is for")
    cron: OptionalText = Field(
        default=None, description='Minute, hour, day of the month, month, day of the week: "0 7 * * MON"'
    )
    zone: OptionalText = Field(default=None, description="The time zone of cron, as Europe/Berlin; else UTC")
    missed: Missed | None = Field(
        default=None,
        description="Times at which nobody was there: skip them, once for all of them (default), or all of them",
    )
    overlap: Overlap | None = Field(
        default=None,
        description="A time or a change while the run before is still going: skip it, queue it until that has ended "
        "(default with a session), or start it beside it (default else)",
    )
    changed: OptionalText = Field(default=None, description="Files of the workspace, by pattern: notes/*.md")
    call: CallEntry | bool | None = Field(default=None, description="Begun by POST …/schedules/NAME/call with a token")
    start: StartEntry | None = Field(default=None, description="The run that is begun")
    say: SayEntry | None = Field(default=None, description="What is said, and where")


@dataclass(frozen=True, slots=True)
class Schedule:
    name: str
    what: StartEntry | SayEntry
    cron: str = ""
    zone: str = "UTC"
    missed: Missed = "once"
    changed: str = ""
    call: CallEntry | None = None
    description: str = ""
    overlap: Overlap = "start"

    @property
    def timing(self) -> str:
        """Names when it is begun: with another, times of before are nobody's."""
        return hash_value([self.cron, self.zone, self.changed])[:16]

    @property
    def when(self) -> str:
        """In words."""
        if self.cron:
            return f"{CronSim(self.cron, datetime.now(UTC)).explain()} ({self.zone})"
        return f"when {self.changed} changes" if self.changed else "when it is called"


def schedule_names(folder: Folder) -> list[str]:
    return sorted(file_names(folder, FOLDER, ENDING))


def read_schedule(folder: Folder, name: str) -> Schedule:
    """UsageError when there is none of that name; WorkspaceError with all that is wrong with it."""
    file = f"{FOLDER}/{name}{ENDING}"
    try:
        if not NAME.match(name) and name not in schedule_names(folder):
            raise FileNotFoundError(file)  # what can't name a file is not looked for
        source = read_source(folder, file)
    except FileNotFoundError:
        names = schedule_names(folder)
        hint = suggest(name, names, "schedules") if names else f"a schedule is a file {FOLDER}/NAME{ENDING}"
        raise UsageError(f"there is no schedule {name!r}", hint=hint) from None
    document = parse_yaml(source.file, source.text)
    found = check(ScheduleFile, document)
    problems: list[Problem] = []
    if not NAME.match(name):
        problems.append(Problem(file, f"{name!r} can't name a schedule", hint="small letters, digits, '-' and '_'"))
    if found.model is not None:
        problems += _faults(found.model, document, found.dropped)
    return _schedule(name, found.good(document, problems))


def _schedule(name: str, file: ScheduleFile) -> Schedule:
    call = CallEntry() if file.call is True else file.call or None
    what = file.start or file.say
    assert what is not None
    return Schedule(
        name,
        what,
        file.cron or "",
        file.zone or "UTC",
        file.missed or "once",
        file.changed or "",
        call,
        file.description or "",
        file.overlap or ("queue" if isinstance(what, StartEntry) and what.session is not None else "start"),
    )


def _faults(file: ScheduleFile, document: MarkedDocument, dropped: frozenset[tuple[str | int, ...]]) -> list[Problem]:
    """What is wrong beyond the kinds of values; of a key that is wrong already nothing more is said."""
    there = {path[0] for path in dropped if path} | {name for name, value in file if value}
    told = [("", *one) for one in (*_none_or_both(there, _WHEN, "when"), *_none_or_both(there, _WHAT, "what is begun"))]
    told += _faults_of_when(file) + _faults_of_session(file)
    placed = [(tuple(key.split(".")) if key else (), words) for key, *words in told]
    return [document.at_value(place, *words) for place, words in placed if place not in dropped]


_WHEN: Final = ("cron", "changed", "call")
_WHAT: Final = ("start", "say")


def _none_or_both(there: set[Any], names: tuple[str, ...], what: str) -> list[tuple[str, str]]:
    said = [name for name in names if name in there]
    if len(said) == 1:
        return []
    return [(f"it says {' and '.join(said)}" if said else f"it does not say {what}", f"say one of: {', '.join(names)}")]


def _faults_of_when(file: ScheduleFile) -> list[tuple[str, str, str]]:
    found = []
    if file.cron:
        try:
            CronSim(file.cron, datetime(2026, 1, 1, tzinfo=UTC))
            if len(file.cron.split()) != 5:
                found.append(("cron", "it must have five parts", "nothing is begun more often than once a minute"))
        except CronSimError as error:
            hint = 'five parts, such as "0 7 * * MON": minute, hour, day of the month, month, day of the week'
            found.append(("cron", f"{file.cron!r} is no cron line: {str(error).lower()}", hint))
    if file.zone and not _is_zone(file.zone):
        found.append(("zone", f"there is no time zone {file.zone!r} here", "write it as Europe/Berlin or UTC"))
    alone = [key for key in ("zone", "missed") if getattr(file, key) and not file.cron]
    found += [(key, f"'{key}' is for schedules with a cron line", "leave it out") for key in alone]
    if file.overlap and file.start is None:
        found.append(("overlap", "'overlap' is for runs", "leave it out"))
    elif file.overlap and file.call:
        found.append(("overlap", "'overlap' is for times and changes; whoever calls wants a run", "leave it out"))
    elif file.overlap == "start" and file.start and file.start.session:
        hint = "write skip or queue, or leave 'session' out"
        found.append(("overlap", "the runs of one session can't go side by side", hint))
    if file.changed and (file.changed.startswith("/") or ".." in file.changed.split("/")):
        found.append(("changed", "it must lie in the workspace", "write a pattern such as notes/*.md"))
    return found


def _faults_of_session(file: ScheduleFile) -> list[tuple[str, str, str]]:
    named = {"start": file.start and file.start.session, "say": file.say and file.say.session}
    found = []
    for key, name in named.items():
        try:
            if name:
                check_session_id(name)
        except UsageError as error:
            found.append((f"{key}.session", error.message, error.hint))
    return found


def _is_zone(name: str) -> bool:
    try:
        ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        return False
    return True
