"""The schedules of a workspace at work: their history on the disk, and the one watcher that begins what is due.

Decide, write it down, then begin: a line of `schedules/history/NAME.jsonl` is durable before a session is opened, and
the session gets the command under the line's key. Whoever is killed in between leaves an open line; the next watcher
gives the same command under the same key, and a session carries out a key once. One process watches a workspace at a
time (the kernel's lock, or a lease in a shared one); others wait for it to end. `schedule_histories.py` has the places
where the lines are kept.
"""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import AsyncIterator, Callable, Iterable, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import asdict, fields, replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any, Final

from weft.app.live.opened_session import RUN_GOES_ON, OpenedSession
from weft.app.root import TAKEN_UP, App
from weft.app.schedules.schedule_due import (
    GRACE,
    ScheduleEntry,
    ScheduleHistory,
    decided_call,
    due,
    folded,
    held_back,
    is_queued,
    moment,
    next_open,
    next_time,
    stamp,
)
from weft.app.schedules.schedule_histories import HISTORY, FileHistories, Histories, SharedHistories
from weft.app.session_requests import SessionRequest, check_named, given_file
from weft.files import Folder
from weft.orchestrator.prepared_run import another_pipeline
from weft.protocol.commands import Accepted, GivenFile, Refused, Say, StartRun, is_address
from weft.protocol.envelope import Actor
from weft.protocol.errors import UsageError, UserError, WeftError
from weft.protocol.hashes import combine, hash_bytes
from weft.protocol.json_text import json_value
from weft.protocol.values import dataclass
from weft.session.lock import SessionLockedError
from weft.workspace.parameters import NAMED, check_names, parameter_values
from weft.workspace.schedule import ENDING, FOLDER, SayEntry, Schedule, StartEntry, read_schedule, schedule_names
from weft.workspace.spelling import suggest

LOOK_SECONDS: Final = 1.0
"""Between two looks at the clock and the files."""
KEPT_LINES: Final = 300
_FIELDS: Final = {one.name for one in fields(ScheduleEntry)}

Opener = Callable[[SessionRequest, StartRun | None], AbstractAsyncContextManager[OpenedSession]]
Told = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class ScheduleRow:
    """A schedule as a list shows it."""

    name: str
    description: str
    when: str
    paused: bool
    next: str
    last: ScheduleEntry | None
    problem: str = ""


class Schedules:
    def __init__(self, app: App) -> None:
        self._app = app
        self._workspace = app.workspace.folder
        self._kept: Histories = SharedHistories(app.shared) if app.shared else FileHistories(self._workspace)
        self._histories: dict[str, tuple[object, ScheduleHistory]] = {}
        self._read: dict[str, tuple[object, Schedule | WeftError]] = {}
        self._files: dict[str, tuple[object, str]] = {}
        """Of schedules that look at files: what they looked like, and the digest of what is in them."""
        self._quiet: dict[str, tuple[object, datetime, datetime]] = {}
        """From when until when nothing can be due, as long as neither the schedule nor its history is changed."""
        self._busy: set[str] = set()
        """What is being begun here, by schedule and key."""

    # -- what people ask

    def names(self) -> list[str]:
        return schedule_names(self._workspace)

    def one(self, name: str) -> Schedule:
        """UsageError when there is none, WorkspaceError when it is broken."""
        return read_schedule(self._workspace, name)

    def rows(self) -> list[ScheduleRow]:
        return [self._row(name) for name in self.names()]

    def _row(self, name: str) -> ScheduleRow:
        history = self.history(name)
        last = next((one for one in reversed(history.entries) if one.kind in _TOLD), None)
        try:
            schedule = self.one(name)
        except WeftError as error:
            return ScheduleRow(name, "", "", history.paused, "", last, _in_a_line(error))
        coming = next_time(schedule, history, self._now())
        shown = coming.isoformat(timespec="minutes") if coming else ""
        return ScheduleRow(
            name, schedule.description, schedule.when, history.paused, shown, last, self._unfit(schedule)
        )

    def _unfit(self, schedule: Schedule) -> str:
        """Why it could not begin as files are now; "" when nothing is known to be in its way. Said when somebody looks,
        not on the night of its time."""
        what = schedule.what
        if not isinstance(what, StartEntry) or not what.pipeline:
            return ""
        try:
            pipeline = self._app.workspace.pipeline(what.pipeline)
            for name in what.parameters:
                if name not in pipeline.parameters:
                    hint = suggest(name, pipeline.parameters, "parameters")
                    raise UsageError(f"unknown parameter '{name}'", hint=hint)
        except WeftError as error:
            return _in_a_line(error)
        return ""

    def pause(self, name: str) -> bool:
        """False when it was paused already."""
        return self._switch(name, "paused")

    def resume(self, name: str) -> bool:
        """What would have been begun meanwhile is not made up for."""
        return self._switch(name, "resumed")

    def _switch(self, name: str, kind: Any) -> bool:
        schedule = self.one(name)
        if self.history(name).paused == (kind == "paused"):
            return False
        digest = self._digest(schedule)[1] if schedule.changed and kind == "resumed" else ""
        self.record(name, [ScheduleEntry(at=stamp(self._now()), kind=kind, timing=schedule.timing, digest=digest)])
        return True

    def decide(self, name: str, key: str, cause: Any, parameters: Mapping[str, Any]) -> ScheduleEntry:
        """That it is begun now, because somebody asks for it; durable when this returns. With a key that was given
        before, what was decided then."""
        schedule = self.one(name)
        if cause == "call":
            self._check_call(schedule, parameters)
        entry = decided_call(schedule, self._now(), key, cause, parameters)
        known: ScheduleEntry | None = None

        def more(before: bytes) -> bytes:
            nonlocal known
            known = folded(_entries(before)).knows(entry.key)
            return b"" if known else _line(entry)

        self._kept.append(name, more, _shortened)
        return known or entry

    def _check_call(self, schedule: Schedule, parameters: Mapping[str, Any]) -> None:
        """Whoever calls hears at once what can't be; nobody would see it later."""
        if schedule.call is None:
            raise UserError(
                f"the schedule {schedule.name} is not begun by calls", hint=f"its file says: {schedule.when}"
            )
        for name in parameters:
            if name not in schedule.call.parameters:
                raise UserError(
                    f"a call of {schedule.name} may not set {name}", hint="its file names them: call: {parameters: […]}"
                )
        what = schedule.what
        if parameters and isinstance(what, StartEntry) and what.pipeline:
            specs = self._app.workspace.pipeline(what.pipeline).parameters
            check_names(specs, parameters)
            home = self._app.workspace.path
            whole = {name: str(home / Path(str(value)).expanduser()) for name, value in parameters.items()}
            check_named({name: spec.type for name, spec in specs.items()}, whole)
            given = {name: value for name, value in parameters.items() if specs[name].type not in NAMED}
            parameter_values({name: specs[name] for name in given}, given)

    # -- beginning

    @asynccontextmanager
    async def begin(self, schedule: Schedule, entry: ScheduleEntry, opener: Opener) -> AsyncIterator[OpenedSession]:
        """Give the command of a decision to its session, under its key, and write down how that went; then the session,
        for whoever wants to stay."""
        what = schedule.what
        start = await self._app.off_loop(partial(self._wish, what, entry)) if isinstance(what, StartEntry) else None
        request = await self._request(what, entry)
        if start and isinstance(request.file, GivenFile):  # a server may hold the session with the file of before
            start = replace(start, inputs={"": (request.file,)})
        by = Actor("rule", f"schedule {schedule.name}", "schedule")
        left = await self._app.off_loop(partial(self._left_going, entry.session)) if start else None
        async with opener(request, start) as session:
            named = what.pipeline if isinstance(what, StartEntry) else ""
            if named and session.state.pipeline not in ("", named):  # it may be held already
                raise another_pipeline(session.id, session.state.pipeline, named)
            command = start or Say(text=what.text if isinstance(what, SayEntry) else "")
            reply = await session.submit(command, key=_command_key(schedule, entry), by=by)
            if isinstance(reply, Refused):
                raise UserError(reply.reason, hint=reply.hint)
            assert isinstance(reply, Accepted)
            if left is not None:  # begun by a watcher that was killed before it wrote that down: it is gone on with
                await session.submit(left, by=TAKEN_UP)
            begun = ScheduleEntry(at=stamp(self._now()), kind="begun", key=entry.key, session=session.id, seq=reply.seq)
            await self._app.off_loop(partial(self.record, schedule.name, [begun]))
            yield session

    async def carry_out(self, schedule: Schedule, entry: ScheduleEntry, opener: Opener, told: Told) -> None:
        """The same to its end: the session is held until it is at rest. What can't be begun is written down."""
        busy = f"{schedule.name}:{entry.key}"
        if busy in self._busy:
            return
        self._busy.add(busy)
        try:
            async with self.begin(schedule, entry, opener) as session:
                told(f"{schedule.name}: began in session {session.id}")
                outcome = await session.rest()
                told(f"{schedule.name}: session {session.id} is {outcome or 'at rest'}")
        except SessionLockedError:
            pass  # another process has it and no door yet: the next look tries again
        except WeftError as error:
            if error.message == RUN_GOES_ON and is_queued(schedule, entry):
                return  # another was begun there since that was looked at: the next look sees it and waits
            told(f"{schedule.name}: {error}")
            failed = ScheduleEntry(at=stamp(self._now()), kind="failed", key=entry.key, why=str(error)[:500])
            await self._app.off_loop(partial(self.record, schedule.name, [failed]))
        finally:
            self._busy.discard(busy)

    def _wish(self, what: StartEntry, entry: ScheduleEntry) -> StartRun:
        parameters = {**what.parameters, **entry.parameters}
        if parameters:
            name = what.pipeline or self._app.default_pipeline
            specs = self._app.workspace.pipeline(name).parameters if name else {}
            for parameter, value in parameters.items():
                if parameter in specs and specs[parameter].type in ("folder", "file") and isinstance(value, str):
                    parameters[parameter] = str(self._app.workspace.path / Path(value).expanduser())
        return StartRun(
            parameters=parameters,
            answers=what.answers,
            budget={str(name): most for name, most in what.budget.items()},
            model=what.model or "",
        )

    async def _request(self, what: StartEntry | SayEntry, entry: ScheduleEntry) -> SessionRequest:
        working = self._app.workspace.path
        if isinstance(what, SayEntry):
            return SessionRequest(session=entry.session, talk=True, attended=False, working=working)
        file: GivenFile | None = None
        if what.input and is_address(what.input):
            file = await self._app.fetch_input(what.input)
        elif what.input:
            file = await self._app.off_loop(partial(_file_in, working, what.input))
        return SessionRequest(pipeline=what.pipeline, file=file, session=entry.session, attended=False, working=working)

    # -- watching

    async def watch(self, opener: Opener, told: Told, *, look: float = LOOK_SECONDS, takes_up: bool = True) -> None:
        """Until it is cancelled: begin what is due. Runs that were left going are gone on with first, unless somebody
        else does that."""
        while not await self._app.off_loop(self.names):  # noqa: ASYNC110  it gets no history before it has one
            await asyncio.sleep(look)
        with self._kept.watching() as hold:
            if not await self._app.off_loop(hold):
                told("another process watches these schedules; this one goes on when that ends")
            while not await self._app.off_loop(hold):  # noqa: ASYNC110  the other may be another process
                await asyncio.sleep(look)
            async with asyncio.TaskGroup() as tasks:  # inside: who comes next finds the sessions let go of
                if takes_up:
                    await self._take_up(tasks, opener, told)
                while True:
                    for schedule, entry in await self._app.off_loop(partial(self.look, told)):
                        if f"{schedule.name}:{entry.key}" not in self._busy:
                            tasks.create_task(self.carry_out(schedule, entry, opener, told))
                    await asyncio.sleep(look)

    def look(self, told: Told = lambda _: None) -> list[tuple[Schedule, ScheduleEntry]]:
        """One look at everything: what is due is decided and durable; all that is decided and not begun."""
        found, now, kept = [], self._now(), self._kept.marks()
        for name in self.names():
            marks = (_mark(self._workspace.path / FOLDER / f"{name}{ENDING}"), kept.get(name))
            quiet = self._quiet.get(name)
            if quiet is not None and quiet[0] == marks and quiet[1] <= now < quiet[2]:
                continue
            schedule = self._as_it_is(name, told)
            if schedule is None:
                continue
            left = self.history(name)
            decided = due(schedule, left, now, self._settled(schedule))
            going = bool(decided or left.open) and schedule.overlap != "start" and self._going(schedule, left)
            if decided:
                self.record(name, held_back(schedule, left, decided, going=going))
                left = self.history(name)
            found += [(schedule, entry) for entry in next_open(schedule, left, going=going)]
            coming = next_time(schedule, left, now)
            if coming is not None and not decided and not left.open:
                self._quiet[name] = (marks, now, coming)
        return found

    def _going(self, schedule: Schedule, history: ScheduleHistory) -> bool:
        """What it began last, or what anybody began in the session that it names, is being worked on or lies down until
        its time; one that waits for a person is not."""
        if any(one.startswith(f"{schedule.name}:") for one in [*self._busy]):
            return True
        session = self._begun_in(schedule, history)
        if not session or not self._app.sessions.exists(session):
            return False
        reading = self._app.sessions.read(session)
        if any(_command_key(schedule, one) in reading.state.keys for one in history.open.values()):
            return False  # that is what is open: begun by a watcher that was killed before it could write that down
        run = reading.state.run
        if run is None or run.outcome is not None:  # one that nobody woke, as a server does, is in nobody's way
            until = reading.state.due if run is not None and run.outcome == "asleep" else ""
            return bool(until) and self._now() < moment(until) + GRACE
        return bool(reading.holder) or self._left_going(session) is not None

    def _begun_in(self, schedule: Schedule | None, history: ScheduleHistory) -> str:
        """The session that is named, else that of the last run; "" for none."""
        last = next((one for one in reversed(history.entries) if one.kind == "begun"), None)
        named = schedule.what.session if schedule and isinstance(schedule.what, StartEntry) else None
        return named or (last.session if last is not None else "")

    def _as_it_is(self, name: str, told: Told) -> Schedule | None:
        """Read again when its file was changed; what is wrong with it is told once."""
        mark = _mark(self._workspace.path / FOLDER / f"{name}{ENDING}")
        known = self._read.get(name)
        if known is None or known[0] != mark:
            found: Schedule | WeftError
            try:
                found = self.one(name)
            except WeftError as error:
                found = error
                told(f"schedule {name}: {error}")
            known = self._read[name] = (mark, found)
        return known[1] if isinstance(known[1], Schedule) else None

    def _settled(self, schedule: Schedule) -> str | None:
        """The digest of the files a schedule looks at; None while they change."""
        if not schedule.changed:
            return None
        before = self._files.get(schedule.name)
        now = self._digest(schedule, before)
        self._files[schedule.name] = now
        return now[1] if before is not None and before[0] == now[0] else None

    def _digest(self, schedule: Schedule, before: tuple[object, str] | None = None) -> tuple[object, str]:
        base = self._workspace.path
        files = sorted(one for one in base.glob(schedule.changed) if one.is_file() and not one.is_symlink())
        marks = [(str(one), _mark(one)) for one in files]
        if before is not None and before[0] == marks:
            return before
        with Folder.open(base) as folder:
            names = [one.relative_to(base).as_posix() for one in files]
            return marks, combine({name: hash_bytes(folder.read_or_none(name) or b"") for name in names})

    async def _take_up(self, tasks: asyncio.TaskGroup, opener: Opener, told: Told) -> None:
        def left() -> list[tuple[str, StartRun]]:
            found = {}
            for name in self.names():
                session = self._begun_in(self._as_it_is(name, told), self.history(name))
                if session and (wish := self._left_going(session, told)) is not None:
                    found[session] = wish
            return list(found.items())

        async def go_on(session: str, wish: StartRun) -> None:
            try:
                async with opener(SessionRequest(session=session, attended=False), None) as opened:
                    await opened.submit(wish, by=TAKEN_UP)
                    await opened.rest()
            except WeftError as error:
                told(f"session {session} can't be gone on with: {error}")

        for session, wish in await self._app.off_loop(left):
            told(f"goes on with session {session}")
            tasks.create_task(go_on(session, wish))

    def _left_going(self, session: str, told: Told = lambda _: None) -> StartRun | None:
        """None also for one whose pipeline is broken or gone: that is in no other schedule's way."""
        try:
            return self._app.left_going(session) if self._app.sessions.exists(session) else None
        except WeftError as error:
            told(f"session {session} can't be gone on with: {error}")
            return None

    # -- history

    def history(self, name: str) -> ScheduleHistory:
        """Read again when it was changed."""
        mark = self._kept.mark(name)
        if mark is None:
            return ScheduleHistory()
        known = self._histories.get(name)
        if known is None or known[0] != mark:
            known = self._histories[name] = (mark, folded(_entries(self._kept.read(name))))
        return known[1]

    def record(self, name: str, entries: Iterable[ScheduleEntry]) -> None:
        """Durable when this returns."""
        data = b"".join(map(_line, entries))
        self._kept.append(name, lambda _: data, _shortened)

    def _now(self) -> datetime:
        return self._app.moment()


def _command_key(schedule: Schedule, entry: ScheduleEntry) -> str:
    """What a session knows the command of a decision by."""
    return f"schedule:{schedule.name}:{entry.key}"


_TOLD: Final = ("decided", "skipped", "begun", "failed")


def _shortened(data: bytes) -> bytes:
    """What the older lines add up to, as one line, and the last ones; what has not begun stays."""
    entries = _entries(data)
    older, newer = folded(entries[:-KEPT_LINES]), entries[-KEPT_LINES:]
    carried = ScheduleEntry(
        at=stamp(older.since or datetime.now(UTC)),
        kind="carried",
        timing=older.timing,
        digest=older.digest,
        due=stamp(older.last) if older.last else "",
        times=older.decided - len(older.open),
        why="paused" if older.paused else "",
    )
    return b"".join(map(_line, [carried, *older.open.values(), *newer]))


def _in_a_line(error: WeftError) -> str:
    return "; ".join(line.strip() for line in str(error).splitlines())


def _file_in(workspace: Path, name: str) -> GivenFile:
    return given_file(workspace / Path(name).expanduser())


def _entries(data: bytes) -> list[ScheduleEntry]:
    found = []
    for line in data[: _whole(data)].splitlines():
        try:
            read = json_value(line)
            found.append(ScheduleEntry(**{name: value for name, value in read.items() if name in _FIELDS}))
        except (ValueError, TypeError) as error:
            raise UserError(
                f"a line of a schedule's history can't be read: {line[:80]!r}",
                hint=f"put it right or take it out, in {HISTORY}",
            ) from error
    return found


def _whole(data: bytes) -> int:
    return data.rfind(b"\n") + 1


def _line(entry: ScheduleEntry) -> bytes:
    told = {name: value for name, value in asdict(entry).items() if value not in ("", 0, {})}
    return json.dumps(told, ensure_ascii=False).encode() + b"\n"


def _mark(path: Path) -> tuple[int, int, int]:
    try:
        status = os.stat(path)
    except OSError:
        return (0, 0, 0)
    return (status.st_ino, status.st_size, status.st_mtime_ns)
