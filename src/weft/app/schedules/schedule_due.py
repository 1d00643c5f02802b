"""What of a schedule is to be begun now: pure. `due` looks at the schedule, what was decided before and the clock,
and says what is to be decided; nothing is begun before that is on the disk, and each decision has a key of its own, so
that what it begins is begun once, whatever dies in between.

    time     every time of the cron line after the last one decided; late ones as `missed` says
    change   files that are not as they were when last looked at
    call     whoever called, by the key they gave
    person   `weft schedules run`
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import field
from datetime import UTC, datetime, timedelta
from itertools import takewhile
from typing import Any, Final, Literal
from zoneinfo import ZoneInfo

from cronsim import CronSim, CronSimError

from weft.protocol.hashes import hash_value
from weft.protocol.values import dataclass
from weft.workspace.schedule import Schedule, StartEntry

GRACE: Final = timedelta(seconds=60)
"""A time is missed when nobody was there for so long after it."""
MOST_COUNTED: Final = 1000
"""Missed times that are counted one by one."""
MOST_MADE_UP: Final = 100
"""Missed times that `missed: all` makes up for; the older ones are skipped. And what may wait for the run before."""

EntryKind = Literal["seen", "decided", "skipped", "begun", "failed", "paused", "resumed", "carried"]
Cause = Literal["time", "change", "call", "person"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ScheduleEntry:
    """One line of a schedule's history."""

    at: str
    kind: EntryKind
    key: str = ""
    cause: Cause = "time"
    due: str = ""
    """The time that is meant; of `skipped`, the last one."""
    times: int = 0
    """How many times were skipped; of `carried`, how much was decided before."""
    session: str = ""
    seq: int = 0
    timing: str = ""
    digest: str = ""
    """Of the files that are looked at."""
    why: str = ""
    parameters: Mapping[str, Any] = field(default_factory=dict)


@dataclass(slots=True)
class ScheduleHistory:
    """What the lines add up to."""

    timing: str = ""
    since: datetime | None = None
    last: datetime | None = None
    digest: str = ""
    paused: bool = False
    decided: int = 0
    open: dict[str, ScheduleEntry] = field(default_factory=dict)
    """Decided, and not known to have begun."""
    entries: list[ScheduleEntry] = field(default_factory=list)

    def add(self, entry: ScheduleEntry) -> None:
        self.entries.append(entry)
        match entry.kind:
            case "seen" | "resumed":
                self.since, self.digest = moment(entry.at), entry.digest or self.digest
                self.last = None if self.last and self.last > self.since else self.last
                self.timing = entry.timing or self.timing
                self.paused = self.paused and entry.kind == "seen"
            case "carried":
                self.since, self.timing, self.digest = moment(entry.at), entry.timing, entry.digest
                self.decided, self.paused = entry.times, entry.why == "paused"
            case "decided":
                self.decided += 1
                self.digest = entry.digest or self.digest
                self.open[entry.key] = entry
            case "begun" | "failed":
                self.open.pop(entry.key, None)
            case "paused":
                self.paused = True
            case "skipped":
                self.digest = entry.digest or self.digest
        if entry.due and entry.kind in ("decided", "skipped", "carried"):
            self.last = moment(entry.due)

    def knows(self, key: str) -> ScheduleEntry | None:
        """What was decided under a key."""
        return next((one for one in reversed(self.entries) if one.kind == "decided" and one.key == key), None)


def folded(entries: Iterable[ScheduleEntry]) -> ScheduleHistory:
    history = ScheduleHistory()
    for entry in entries:
        history.add(entry)
    return history


def due(schedule: Schedule, history: ScheduleHistory, now: datetime, digest: str | None = None) -> list[ScheduleEntry]:
    """What is to be decided now, in order. `digest` is that of the files a schedule looks at, once they have stopped
    changing."""
    if schedule.changed and digest is None:
        return []
    if history.since is None or history.timing != schedule.timing:
        return [ScheduleEntry(at=stamp(now), kind="seen", timing=schedule.timing, digest=digest or "")]
    if history.paused:
        return []
    if schedule.changed:
        return [] if digest == history.digest else [decided_change(schedule, history, now, digest or "")]
    if schedule.cron and max(history.since, history.last or history.since) - now > GRACE:
        # What is decided up to is still to come: nothing would be due until the clock is there again.
        return [ScheduleEntry(at=stamp(now), kind="seen", timing=schedule.timing, why="the clock went back")]
    return list(_times_due(schedule, history, now)) if schedule.cron else []


def held_back(
    schedule: Schedule, history: ScheduleHistory, decided: list[ScheduleEntry], *, going: bool
) -> list[ScheduleEntry]:
    """What becomes of what is due as `overlap` says. `going`: the run before is."""
    begun = [one for one in decided if one.kind == "decided"]
    waiting = len(history.open) + going
    room = {"start": len(begun), "queue": max(0, MOST_MADE_UP - len(history.open)), "skip": int(not waiting)}
    over = begun[: max(0, len(begun) - room[schedule.overlap])]
    if not over:
        return decided
    why = "the run before it was still going" if schedule.overlap == "skip" else f"{MOST_MADE_UP} wait already"
    last = over[-1]
    skipped = ScheduleEntry(
        at=last.at, kind="skipped", cause=last.cause, due=last.due, digest=last.digest, times=len(over), why=why
    )
    return [*(one for one in decided if one.kind != "decided"), skipped, *begun[len(over) :]]


def next_open(schedule: Schedule, history: ScheduleHistory, *, going: bool) -> list[ScheduleEntry]:
    """What is decided and may begin now; what is asked for by somebody waits for nothing."""
    found = [*history.open.values()]
    queued = [one for one in found if is_queued(schedule, one)]
    return [*(one for one in found if one not in queued), *([] if going else queued[:1])]


def is_queued(schedule: Schedule, entry: ScheduleEntry) -> bool:
    """It waits for the end of the run before."""
    return schedule.overlap == "queue" and entry.cause in ("time", "change")


def _times_due(schedule: Schedule, history: ScheduleHistory, now: datetime) -> Iterator[ScheduleEntry]:
    assert history.since is not None
    base = max(history.since, history.last or history.since)
    found = times(schedule, after=base, until=now)
    on_time = [one for one in found if now - one <= GRACE]
    begun, why = {
        "skip": (on_time, "nobody was there at the time"),
        "once": (found[-1:], "made up for by the last"),
        "all": (found[-MOST_MADE_UP:], f"only the last {MOST_MADE_UP} are made up for"),
    }[schedule.missed]
    left = found[: len(found) - len(begun)]
    if left:
        yield ScheduleEntry(at=stamp(now), kind="skipped", due=stamp(left[-1]), times=len(left), why=why)
    for one in begun:
        key = f"{one.astimezone(UTC):%Y%m%dt%H%Mz}"
        yield ScheduleEntry(
            at=stamp(now), kind="decided", key=key, cause="time", due=stamp(one), session=session_of(schedule, key)
        )


def times(schedule: Schedule, *, after: datetime, until: datetime) -> list[datetime]:
    """The times of a schedule after one moment and up to another, in order: the last thousand of them. Where the clock
    goes forward, what would be in the hour that is left out is begun right after it; where it goes back, once."""
    zone = ZoneInfo(schedule.zone)
    end = until.astimezone(zone).replace(microsecond=0) + timedelta(seconds=1)
    found: list[datetime] = []
    back = CronSim(schedule.cron, end, reverse=True)
    for one in takewhile(lambda one: one.astimezone(UTC) > after.astimezone(UTC), back):
        found.append(one)
        if len(found) == MOST_COUNTED:
            break
    return found[::-1]


def next_time(schedule: Schedule, history: ScheduleHistory, now: datetime) -> datetime | None:
    if not schedule.cron or history.paused:
        return None
    try:
        return next(CronSim(schedule.cron, now.astimezone(ZoneInfo(schedule.zone)).replace(microsecond=0)))
    except (CronSimError, StopIteration):
        return None


def decided_change(schedule: Schedule, history: ScheduleHistory, now: datetime, digest: str) -> ScheduleEntry:
    key = f"{history.decided + 1}-{digest[:8]}"
    return ScheduleEntry(
        at=stamp(now), kind="decided", key=key, cause="change", digest=digest, session=session_of(schedule, key)
    )


def decided_call(
    schedule: Schedule, now: datetime, given: str, cause: Cause, parameters: Mapping[str, Any]
) -> ScheduleEntry:
    """`given` is the key of whoever asked: the same key is the same thing, however often it is asked for."""
    key = f"{cause}-{hash_value(given)[:12]}"
    return ScheduleEntry(
        at=stamp(now),
        kind="decided",
        key=key,
        cause=cause,
        session=session_of(schedule, key),
        parameters=parameters,
    )


def session_of(schedule: Schedule, key: str) -> str:
    """The session that it is begun in: one of its own for each key, unless the schedule names one."""
    if schedule.what.session is not None:
        return schedule.what.session
    assert isinstance(schedule.what, StartEntry)
    return f"{schedule.name.replace('_', '-')[:50]}-{key}"


def stamp(moment: datetime) -> str:
    return moment.astimezone(UTC).isoformat(timespec="seconds")


def moment(text: str) -> datetime:
    return datetime.fromisoformat(text)
