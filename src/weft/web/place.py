"""One workspace that is served: its app, the sessions held open, and who watches what."""

from __future__ import annotations

import asyncio
import json
import sys
import time
from collections.abc import AsyncIterator, Callable, Coroutine, Mapping, Sequence
from contextlib import aclosing, asynccontextmanager
from dataclasses import replace
from functools import partial
from itertools import islice
from typing import Final, TypeVar

from pydantic import BaseModel

from weft.app import TAKEN_UP, App, Filter, FoundListing, ListedSession, OpenQuestions, item_to_wire, open_questions
from weft.app.schedules.schedule_due import ScheduleEntry
from weft.app.schedules.schedules import Schedules
from weft.protocol.commands import DescribeSession, Reply, SwitchSource
from weft.protocol.envelope import Actor
from weft.protocol.events import FeedItem, QuestionAsked, Record
from weft.web.clock import SessionClock
from weft.web.jobs import Jobs
from weft.web.keeping import SessionKeeper
from weft.web.once import Once
from weft.web.streams import BEAT_SECONDS, Sent, Watch, stream

LOOK_SECONDS: Final = 0.5
"""How often the log of a watched session that nobody holds is looked at."""
CHUNK: Final = 500
"""Records of a long log that are read at once."""

JOBS_FILE: Final = ".weft/jobs.json"
REFRESH_SECONDS: Final = 2.0
"""Between two looks whether the list is behind a log,"""
REFRESH_SHARE: Final = 30
"""and so much longer for each second that a look takes."""
NOTICED_SECONDS: Final = 0.03
"""Longer than this nobody is made to wait for it."""
MOST_TAKEN_UP: Final = 1000
SETTLE_SECONDS: Final = 0.3
"""After the start: whoever asks first does not wait behind a look at every log."""
AGAIN_SECONDS: Final = 5.0
"""Until the schedules are watched again after that failed."""
MOST_WAITING: Final = 200
"""Sessions that wait for a person, shown with all they ask."""
T = TypeVar("T")


class _JobsFile:
    """In the workspace, beside what else the machine keeps there."""

    def __init__(self, app: App) -> None:
        self._folder = app.workspace.folder

    def read(self) -> bytes | None:
        return self._folder.read_or_none(JOBS_FILE)

    def write(self, data: bytes) -> None:
        self._folder.folder(JOBS_FILE.partition("/")[0], create=True).close()
        self._folder.replace(JOBS_FILE, data)


class _History:
    """What a session's log has, for one client."""

    def __init__(self, app: App, session: str, turns: int, since: int) -> None:
        self.begins = 0
        self._app = app
        self._session = session
        self._turns = turns
        self._since = since

    async def records(self, after: int, upto: int) -> AsyncIterator[Record]:
        sessions = self._app.sessions
        if self._turns:
            end = await self._app.off_loop(lambda: sessions.newest(self._session, self._turns, self._since))
            if end is not None:
                self.begins = end.begins
                for record in end.records:
                    if record.seq <= upto:
                        yield record
                return
        found = sessions.records(self._session, after)  # read on from where it is: a long log is read once
        try:
            while after < upto:
                records = await self._app.off_loop(lambda: list(islice(found, CHUNK)))
                for record in records:
                    if record.seq <= upto:
                        yield record
                if not records:
                    return
                after = records[-1].seq
        finally:
            found.close()


class ServedWorkspace:
    def __init__(
        self, name: str, app: App, tasks: asyncio.TaskGroup, trouble: Callable[[str, Exception], None]
    ) -> None:
        self.name = name
        self.app = app
        self.keeper = SessionKeeper(app, tasks, opened=self._has_opened, troubled=trouble)
        self.catalogue = app.catalogue
        self.once = Once()
        """The sessions and jobs that wishes with a key have begun."""
        self.jobs = Jobs(tasks, _JobsFile(app))
        self.schedules = Schedules(app)
        self._by_itself: list[asyncio.Task[None]] = []
        """What begins something, or goes on with it, without being asked."""
        self._tasks = tasks
        self._trouble = trouble
        self._watches: dict[str, tuple[Watch, asyncio.Task[None]]] = {}
        self._ending = False
        self._refreshed = -REFRESH_SECONDS
        self._refresh_took = 0.0
        self._moved = asyncio.Event()
        """Set, and made anew, when a session begins to be held: whoever watches it moves over."""

    def take_up(self) -> None:
        """Go on with every run that was going when a server that held it ended. Those of a queue are the workers'."""
        self._begin_by_itself(self._take_up(), f"takes up {self.name}")

    async def _take_up(self) -> None:
        if self.app.queues_runs:
            return
        left = Filter(states=("interrupted", "working", "waiting"), archived=None, limit=MOST_TAKEN_UP)
        await asyncio.sleep(SETTLE_SECONDS)
        try:
            names = [one.id for one in await self.app.off_loop(lambda: self.catalogue.page(left))]
        except Exception as error:  # noqa: BLE001  the server is there for the others all the same
            self._trouble("", error)
            return
        for name in names:
            try:
                wish = await self.app.off_loop(partial(self.app.left_going, name))
                if wish is not None:
                    async with self.keeper.using(name) as session:
                        await session.submit(wish, by=TAKEN_UP)
            except Exception as error:  # noqa: BLE001  what can't be taken up waits for a person
                self._trouble(name, error)

    def watch_clock(self) -> None:
        """Go on with what waited for its time, until everything is closed."""
        waiting = Filter(states=("waiting", "asleep"), archived=None, limit=MOST_TAKEN_UP)

        def listed() -> list[ListedSession]:
            self._refresh()
            return self.catalogue.page(waiting, refresh=False)

        async def watched() -> None:
            await asyncio.sleep(SETTLE_SECONDS)
            await SessionClock(self.app, self.keeper, listed, self._trouble).watch()

        self._begin_by_itself(watched(), f"clock of {self.name}")

    def watch_schedules(self) -> None:
        """Begin what is due, until everything is closed."""
        self._begin_by_itself(self._watch_schedules(), f"schedules of {self.name}")

    def _begin_by_itself(self, work: Coroutine[None, None, None], name: str) -> None:
        self._by_itself.append(self._tasks.create_task(work, name=name))

    async def _watch_schedules(self) -> None:
        told = ""
        while True:  # what failed may be right again: a store that could not be reached
            try:
                await self.schedules.watch(self.keeper.new, self._tell, takes_up=False)  # `take_up` does
            except Exception as error:  # noqa: BLE001  the server is there for the others all the same
                if str(error) != told:
                    self._trouble("", error)
                told = str(error)
            await asyncio.sleep(AGAIN_SECONDS)

    def carry_out(self, name: str, entry: ScheduleEntry) -> None:
        """Begin what was decided; who asked is not kept waiting."""
        self._tasks.create_task(self._carry_out(name, entry), name=f"begins {name}")

    async def _carry_out(self, name: str, entry: ScheduleEntry) -> None:
        try:
            schedule = await self.app.off_loop(partial(self.schedules.one, name))
            await self.schedules.carry_out(schedule, entry, self.keeper.new, self._tell)
        except Exception as error:  # noqa: BLE001  the server is there for the others all the same
            self._trouble(entry.session, error)

    def _tell(self, text: str) -> None:
        print(text, file=sys.stderr, flush=True)  # noqa: T201  what begins by itself is told where the server runs

    def end_streams(self) -> None:
        """The server is about to end: it does not wait for who follows something, who would follow for ever."""
        self._ending = True
        for watch, _ in self._watches.values():
            watch.close()

    async def close(self) -> None:
        for task in self._by_itself:
            task.cancel()
        if self._by_itself:
            await asyncio.wait(self._by_itself)
        await self.jobs.close()
        await self.keeper.close()
        for _, task in [*self._watches.values()]:
            task.cancel()

    async def describe(self, session: str, command: DescribeSession | SwitchSource, *, key: str, by: Actor) -> Reply:
        """What a person says of a session, held here or not. Nothing that runs is disturbed."""
        held = self.keeper.holding(session)
        if held is not None:
            return await held.submit(command, key=key, by=by)
        return await self.app.describe(session, command, key=key, by=by)

    # -- events

    async def events(self, session: str, after: int, turns: int = 0, since: int = 0) -> AsyncIterator[bytes]:
        """The events of a session for one client, as server-sent events. `turns`: of a conversation that is new to the
        client only the last ones, and as many more as it takes for the event `since` to be among them."""
        async with self._watched(session) as watch:
            history = _History(self.app, session, 0 if after else turns, since)
            async with aclosing(stream(watch, after, history, item_to_wire)) as told:
                async for data in told:  # it lets go of the watch before the watch is looked at
                    yield data

    async def earlier(self, session: str, turns: int, before: int) -> tuple[int, Sequence[Record]]:
        """Turns before an event, and the event they begin with; 0: with the conversation."""
        end = await self.app.off_loop(lambda: self.app.sessions.earlier(session, turns, before))
        return (0, await self.records(session, 0, before - 1)) if end is None else (end.begins, end.records)

    async def records(
        self, session: str, after: int, limit: int, fits: Callable[[Record], bool] | None = None
    ) -> list[Record]:
        def read() -> list[Record]:
            return list(islice(filter(fits, self.app.sessions.records(session, after)), limit))

        return await self.app.off_loop(read)

    # -- the list

    async def sessions(self, words: str, wanted: Filter) -> tuple[list[FoundListing], dict[str, int]]:
        def looked() -> tuple[list[FoundListing], dict[str, int]]:
            self._refresh()
            found = self.catalogue.search(words, wanted, refresh=False)
            return found, self.catalogue.count(replace(wanted, limit=1, offset=0))

        return await self.app.off_loop(looked)

    async def list_events(
        self, shown: Callable[[ListedSession, Sequence[QuestionAsked]], BaseModel]
    ) -> AsyncIterator[bytes]:
        """What changes in the list, for one client: first everything as it is."""
        revision, quiet = 0, 0.0
        before: Mapping[str, Sequence[QuestionAsked]] = {}
        while not self._ending:
            asked = self.asked()
            others = [name for name in {**before, **asked} if before.get(name) != asked.get(name)]
            before = asked
            revision, changed, left = await self.app.off_loop(partial(self._changes, revision, others))
            for entry in changed:
                yield Sent("session", shown(entry, asked.get(entry.id, ())).model_dump_json()).encoded()
            if left is not None:
                yield Sent("left", json.dumps(left)).encoded()
            quiet = 0.0 if changed or left else quiet + LOOK_SECONDS
            if quiet >= BEAT_SECONDS:
                quiet = 0.0
                yield Sent("beat", "{}").encoded()
            await asyncio.sleep(LOOK_SECONDS)

    def _changes(self, revision: int, others: Sequence[str]) -> tuple[int, list[ListedSession], list[str] | None]:
        """With the entries of `others`, in which something changed that the list does not keep."""
        self._refresh()
        revision, changed, left = self.catalogue.changed_since(revision)
        known = {entry.id for entry in changed}
        found = (self.catalogue.entry(name) for name in others if name not in known)
        return revision, [*changed, *(entry for entry in found if entry)], left

    def asked(self) -> dict[str, tuple[QuestionAsked, ...]]:
        """What tools ask now, by session. It is in no log: only who holds the session knows it."""
        held = {name: self.keeper.holding(name) for name in self.keeper.names}
        return {name: one.questions for name, one in held.items() if one and one.questions}

    def _refresh(self) -> None:
        """Who writes keeps the index up; now and then it is held against every log, for who was killed before that: at
        once while there are few, behind whoever asks and less often when there are so many that it takes a while."""
        now = time.monotonic()
        if now - self._refreshed < REFRESH_SECONDS + REFRESH_SHARE * self._refresh_took:
            return
        self._refreshed = now

        def told() -> None:
            self._refresh_took = min(time.monotonic() - now, 1.0)

        if self._refresh_took < NOTICED_SECONDS:
            self.catalogue.refresh()
            told()
        else:
            self.catalogue.refresh_soon(told)

    async def waiting(self, shown: Callable[[ListedSession, OpenQuestions, Sequence[QuestionAsked]], T]) -> list[T]:
        """Everything that waits for a person, the newest first."""
        asking = self.asked()

        def looked() -> list[T]:
            wanted = Filter(states=("waiting",), archived=None, limit=MOST_WAITING)
            self._refresh()
            entries = {one.id: one for one in self.catalogue.page(wanted, refresh=False)}
            for name in asking:
                if name not in entries and (entry := self.catalogue.entry(name)):
                    entries[name] = entry
            return [
                shown(entry, open_questions(self.app, name), asking.get(name, ())) for name, entry in entries.items()
            ]

        return await self.app.off_loop(looked)

    @asynccontextmanager
    async def _watched(self, session: str) -> AsyncIterator[Watch]:
        if session not in self._watches:
            seq = await self.app.off_loop(lambda: self.app.sessions.last_number(session))
        else:
            seq = 0
        found = self._watches.get(session)
        if found is None:
            watch = Watch(lambda after: self._source(session, after), item_to_wire, seq)
            found = (watch, self._tasks.create_task(self._run(session, watch), name=f"watches {session}"))
            self._watches[session] = found
        watch, task = found
        try:
            yield watch
        finally:
            if not watch.is_watched and self._watches.get(session) is found:
                del self._watches[session]
                task.cancel()
                await asyncio.wait({task})

    async def _run(self, session: str, watch: Watch) -> None:
        try:
            await watch.run()
        except Exception as error:  # noqa: BLE001  who watches is told to come again; the server goes on
            self._trouble(session, error)
        finally:
            found = self._watches.get(session)
            if found and found[0] is watch:
                del self._watches[session]

    async def _source(self, session: str, after: int) -> AsyncIterator[FeedItem]:
        """From wherever the session is held now; ends when that may have changed."""
        held = self.keeper.holding(session) or await self.app.attached(session)
        if held is not None:
            async for item in held.events(after):
                yield item
        # A long log is read only when there is more of it: its end says so.
        elif await self.app.off_loop(lambda: self.app.sessions.last_number(session)) > after:
            for record in await self.records(session, after, CHUNK):
                yield record
        # Also after a session that is being let go of: it has no more events, and is held until all of it has ended.
        try:
            async with asyncio.timeout(LOOK_SECONDS):
                await self._moved.wait()
        except TimeoutError:
            return

    def _has_opened(self, _: str) -> None:
        self._moved.set()
        self._moved = asyncio.Event()
