"""The queue as a server uses it: commands of a queued session, a worker in the same process."""

from __future__ import annotations

import asyncio
import gc
import threading
from collections.abc import AsyncIterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from procrastinate.jobs import Status

from tests.gated import lay_out_gated
from tests.postgres import Server
from tests.shared.fleet import log_of
from weft.app import App, SessionRequest, push_tree
from weft.app.fleet.queue import Queue, QueuedSession, Work, open_queue
from weft.app.fleet.queue_worker import QueueWorker, TooNewError
from weft.app.live.live_session import LiveSession
from weft.orchestrator.rest_commands import at_rest
from weft.protocol.commands import Accepted, Interrupt, Refused, ReplyToGate, StartRun
from weft.protocol.envelope import PERSON
from weft.protocol.events import LOG_VERSION, GateOpened, Record
from weft.protocol.hashes import hash_bytes
from weft.session.lock import SessionLockedError
from weft.session.postgres import PostgresLog

pytestmark = [pytest.mark.process, pytest.mark.needs("postgres")]


def lay(tmp_path: Path, store: str) -> Path:
    workspace = tmp_path / "workspace"
    lay_out_gated(workspace)
    (workspace / "config.toml").write_text(f'store = "{store}"\n')
    (tmp_path / "subject.txt").write_text("On rivers. They flow.\n")
    return workspace


@asynccontextmanager
async def working(tmp_path: Path, store: str) -> AsyncIterator[QueueWorker]:
    with log_of(store) as log:
        worker = QueueWorker(log, tmp_path / "workers", name="here", silence=4, grace=3)
        running = asyncio.create_task(worker.run())
        try:
            yield worker
        finally:
            worker.stop()
            await asyncio.wait_for(running, 60)


@asynccontextmanager
async def queued(tmp_path: Path, store: str) -> AsyncIterator[tuple[App, QueuedSession]]:
    """A session of a queue with a worker for it."""
    with App.open(tmp_path / "workspace") as app:
        app.queues_runs = True
        request = SessionRequest(session="essay", file=tmp_path / "subject.txt")
        async with working(tmp_path, store), app.session(request) as session:
            assert isinstance(session, QueuedSession)
            yield app, session


def test_a_face_gives_commands_and_sees_events_of_what_a_worker_does(tmp_path: Path, store: str) -> None:
    workspace = lay(tmp_path, store)

    async def go() -> None:
        async with queued(tmp_path, store) as (_app, session):
            seen: list[Record] = []
            async with session.shown(lambda item: seen.append(item) if isinstance(item, Record) else None, after=0):
                assert isinstance(await session.submit(StartRun(), key="k-1"), Accepted)
                assert await session.run_at_rest() == "waiting"
                (gate,) = session.state.gates.values()
                wrong = await session.submit(ReplyToGate(gate="nowhere", choice="proceed"))
                assert isinstance(wrong, Refused), wrong
                assert await session.run(ReplyToGate(gate=gate.gate, choice="proceed"), key="k-2") == "waiting"
                # the same command again is accepted, and nothing is done a second time
                before = session.state.seq
                assert isinstance(await session.submit(StartRun(), key="k-1"), Accepted)
                assert await session.run_at_rest() == "waiting"
                assert session.state.seq == before
            assert sum(isinstance(one.event, GateOpened) for one in seen) == 2
            assert [one.seq for one in seen] == list(range(1, len(seen) + 1))
            assert not (tmp_path / "workers" / "1").joinpath("sessions").exists()
            copy = workspace / "sessions" / "essay"
            assert (copy / "review.json").exists(), "the working copy here follows"

    asyncio.run(asyncio.wait_for(go(), 180))


def test_an_answer_given_in_advance_outlives_the_worker_that_had_it(
    tmp_path: Path, store: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The command is in the log, and whoever took it died at the gate: the next worker uses the answer, once."""
    lay(tmp_path, store)
    wish = StartRun(answers={"plan": "proceed"})

    async def dies(*_: object) -> None:
        return None

    async def go() -> None:
        async with queued(tmp_path, store) as (app, session):
            app.queues_runs = False
            with monkeypatch.context() as killed:
                killed.setattr(LiveSession, "_rested", dies)
                async with app.session(SessionRequest(session="essay", file=tmp_path / "subject.txt")) as held:
                    await held.submit(wish, key="k-1")
                    assert await held.rest() == "waiting"
                    assert list(held.state.gates) == ["plan"]
            app.queues_runs = True
            await session.submit(wish, key="k-1")
            assert await session.run_at_rest() == "waiting"
            assert list(session.state.gates) == ["review"]
            before = session.state.seq
            await session.submit(wish, key="k-1")
            assert await session.run_at_rest() == "waiting"
            assert session.state.seq == before

    asyncio.run(asyncio.wait_for(go(), 180))


def test_a_worker_that_was_thought_dead_and_one_whose_disk_is_full_lose_no_run(
    tmp_path: Path, store: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The queue has forgotten the worker: it signs in anew. It can't write: the run is given out again."""
    lay(tmp_path, store)
    monkeypatch.setattr("weft.app.fleet.queue_worker.AGAIN_SECONDS", 0.1)
    plain, refusals = LiveSession.submit, ["No space left on device"]

    async def full(self: LiveSession, *given: Any, **told: Any) -> Any:
        return Refused(reason=refusals.pop(), external=True) if refusals else await plain(self, *given, **told)

    async def go() -> None:
        async with queued(tmp_path, store) as (_app, session):
            with log_of(store) as log:
                while not log.rows("SELECT id FROM procrastinate_workers"):
                    await asyncio.sleep(0.05)
                log.rows("DELETE FROM procrastinate_workers")
            monkeypatch.setattr(LiveSession, "submit", full)
            assert isinstance(await session.submit(StartRun()), Accepted)
            assert await session.run_at_rest() == "waiting"
            assert not refusals

    asyncio.run(asyncio.wait_for(go(), 180))


def test_a_reply_that_was_recorded_and_not_followed_is_gone_on_with(tmp_path: Path, store: str) -> None:
    """The worker that took the reply died between the gate and the run: the next one goes on."""
    lay(tmp_path, store)
    reply = ReplyToGate(gate="plan", choice="proceed")

    async def go() -> None:
        async with queued(tmp_path, store) as (app, session):
            await session.submit(StartRun())
            assert await session.run_at_rest() == "waiting"
            app.queues_runs = False
            async with app.session(SessionRequest(session="essay")) as held:
                assert isinstance(held, LiveSession)
                await held._record(at_rest(held.state, reply), PERSON, "k-2")
            app.queues_runs = True
            assert session.state.status == "interrupted"
            await session.submit(reply, key="k-2")
            assert await session.run_at_rest() == "waiting"
            assert list(session.state.gates) == ["review"]

    asyncio.run(asyncio.wait_for(go(), 180))


def test_an_interrupt_reaches_the_worker(tmp_path: Path, store: str) -> None:
    workspace = lay(tmp_path, store)
    (workspace / "traces").mkdir()
    (workspace / "traces" / "hold-plan-0").touch()

    async def go() -> None:
        async with queued(tmp_path, store) as (_app, session):
            await session.submit(StartRun())
            while not list((tmp_path / "workers").glob("*/*/traces/held-plan-0")):
                await asyncio.sleep(0.05)
            assert isinstance(await session.submit(Interrupt()), Accepted)
            assert await session.run_at_rest() == "interrupted"

    asyncio.run(asyncio.wait_for(go(), 180))


def test_a_worker_leaves_the_work_of_a_newer_program_to_others(tmp_path: Path, store: str) -> None:
    with log_of(store) as log:
        worker = QueueWorker(log, tmp_path / "workers", name="old")
        with pytest.raises(TooNewError):
            asyncio.run(worker._work("s-1", "none", "none", LOG_VERSION + 1))
        worker.close()


def test_a_worker_that_is_told_to_end_does_not_wait_for_a_database_that_is_away(tmp_path: Path, server: Server) -> None:
    with server.database() as store:

        async def go() -> None:
            async with working(tmp_path, store):
                await asyncio.sleep(0.5)
                await asyncio.to_thread(server.stop, "immediate")
                await asyncio.sleep(1.5)  # it has noticed

        try:
            asyncio.run(asyncio.wait_for(go(), 90))
        finally:
            server.start()


@pytest.mark.parametrize("begun", [False, True])
def test_work_for_a_session_that_is_held_elsewhere_is_left_for_later(tmp_path: Path, store: str, begun: bool) -> None:
    """The lease of whoever had it is not over yet: the job comes again, and is not lost."""
    workspace = lay(tmp_path, store)

    async def go() -> None:
        with App.open(workspace) as app, log_of(store) as log:
            request = SessionRequest(session="essay", file=tmp_path / "subject.txt")
            async with app.session(request, StartRun()) as session:
                if begun:
                    assert await session.run(StartRun()) == "waiting"
                work = Work.of(request, "essay", "essay", StartRun(), "k", PERSON)
                tree, _, _ = push_tree(log, app.workspace.folder, "me")
                log.put_all({hash_bytes(work.to_bytes()): work.to_bytes()})
                worker = QueueWorker(log, tmp_path / "workers", name="here")
                try:
                    with pytest.raises(SessionLockedError):
                        await worker._work("essay", hash_bytes(work.to_bytes()), tree, LOG_VERSION)
                finally:
                    worker.close()

    asyncio.run(asyncio.wait_for(go(), 120))


def test_workers_that_begin_together_on_a_new_store_make_its_tables_once(store: str) -> None:
    logs = [PostgresLog(store) for _ in range(6)]
    together = threading.Barrier(len(logs))

    def prepared(log: PostgresLog) -> Queue:
        together.wait(60)
        return Queue(log)

    try:
        with ThreadPoolExecutor(len(logs)) as threads:
            assert all(threads.map(prepared, logs))
    finally:
        for log in logs:
            log.close()


def test_what_somebody_waits_for_and_what_was_begun_does_not_stand_behind_a_batch(tmp_path: Path, store: str) -> None:
    workspace = lay(tmp_path, store)

    async def go() -> None:
        with App.open(workspace) as app, log_of(store) as log:
            board, file = Queue(log), tmp_path / "subject.txt"

            def fetched() -> str:
                """As a worker that dies with it: what it was for."""
                (worker,) = log.rows("INSERT INTO procrastinate_workers DEFAULT VALUES RETURNING id")
                (row,) = log.rows("SELECT lock FROM procrastinate_fetch_job_v2(NULL, %s)", worker)
                log.rows("UPDATE procrastinate_workers SET last_heartbeat = now() - interval '1 hour'")
                return str(row[0])

            names = [f"batch-{n}" for n in range(3)]
            works = [
                Work.of(SessionRequest(session=n, file=file), n, "essay", StartRun(), f"b/{n}", PERSON) for n in names
            ]
            board.put(works, push_tree(log, app.workspace.folder, "me")[0])
            mine = QueuedSession(app, SessionRequest(session="mine"), board, "mine", app.workspace.pipeline("essay"))
            mine._put(StartRun(), "k-1", PERSON)
            assert [fetched(), fetched()] == ["mine", "batch-0"]
            worker, queue = QueueWorker(log, tmp_path / "workers", name="here"), open_queue(store)
            try:
                worker._offer(queue)
                async with queue.open_async():  # two that notice it at once
                    await asyncio.gather(worker._give_out_anew(queue), worker._give_out_anew(queue))
            finally:
                worker.close()
            assert board.depth() == {"failed": 2, "todo": 4}, "each is given out once"
            assert sorted([fetched(), fetched()]) == ["batch-0", "mine"], "before what nobody has begun"
            assert fetched() == "batch-1"
            # what is said to a session whose run was not begun yet does not come before it
            second = QueuedSession(app, SessionRequest(session="batch-2"), board, "batch-2", mine.pipeline)
            second._put(ReplyToGate(gate="plan", choice="proceed"), "k-2", PERSON)
            (order,) = log.rows("SELECT array_agg(priority ORDER BY id) FROM procrastinate_jobs WHERE lock = 'batch-2'")
            assert order == ([0, 0],)

    asyncio.run(asyncio.wait_for(go(), 120))


def test_the_end_of_a_job_that_others_have_is_said_in_a_line(tmp_path: Path, store: str) -> None:
    said: list[str] = []

    async def go() -> None:
        with log_of(store) as log:
            worker = QueueWorker(log, tmp_path / "workers", name="here", silence=4, grace=3, tell=said.append)
            running = asyncio.create_task(worker.run())
            while not log.rows("SELECT id FROM procrastinate_workers"):
                await asyncio.sleep(0.05)
            queue = open_queue(store)
            async with queue.open_async():
                finishing = queue.job_manager.finish_job_by_id_async(404, Status.FAILED, delete_job=False)
                forgotten = asyncio.create_task(finishing)
                await asyncio.wait({forgotten})
            del forgotten, finishing
            gc.collect()
            while not said:
                await asyncio.sleep(0.05)
            worker.stop()
            await running

    asyncio.run(asyncio.wait_for(go(), 60))
    assert said[0].startswith("the queue took no note of the end of a job: Job was not found")
