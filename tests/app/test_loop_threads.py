"""The threads that a loop hands blocking work to."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator

import pytest

from weft.app.loop_threads import LoopPosts, LoopThreads


@pytest.fixture
def threads() -> Iterator[LoopThreads]:
    made = LoopThreads(2, "test")
    yield made
    made.close()


def test_results_and_errors_come_back(threads: LoopThreads) -> None:
    async def go() -> None:
        def fails() -> int:
            raise LookupError("not there")

        def stops() -> int:
            raise StopIteration

        assert await asyncio.gather(*(threads.run(lambda n=n: n * n) for n in range(50))) == [n * n for n in range(50)]  # type: ignore[misc]
        with pytest.raises(LookupError, match="not there"):
            await threads.run(fails)
        with pytest.raises(RuntimeError, match="StopIteration"):
            await threads.run(stops)
        assert await threads.run(lambda: "still there") == "still there"

    asyncio.run(go())


def test_no_more_threads_than_it_may_have_and_they_work_at_once(threads: LoopThreads) -> None:
    async def go() -> None:
        both, names = threading.Barrier(2), set[str]()

        def meets() -> None:
            names.add(threading.current_thread().name)
            both.wait(20)

        await asyncio.gather(*(threads.run(meets) for _ in range(10)))
        assert names == {"test-1", "test-2"}

    asyncio.run(go())


def test_whoever_stops_waiting_leaves_the_work_to_end_by_itself(threads: LoopThreads) -> None:
    async def go() -> None:
        begun, may_end, ended = threading.Event(), threading.Event(), threading.Event()

        def work() -> None:
            begun.set()
            may_end.wait(20)
            ended.set()

        task = asyncio.create_task(threads.run(work))
        await threads.run(lambda: begun.wait(20))
        task.cancel()
        await asyncio.wait({task})
        assert task.cancelled()
        assert not ended.is_set()
        may_end.set()
        assert await threads.run(lambda: ended.wait(20))
        assert await threads.run(lambda: 7) == 7

    asyncio.run(go())


def test_what_is_told_from_a_thread_is_heard_before_its_result(threads: LoopThreads) -> None:
    async def go() -> None:
        heard: list[int] = []
        posts = threads.posts()

        def tells(number: int) -> None:
            posts.post(heard.append, number)

        for number in range(20):
            await threads.run(lambda number=number: tells(number))  # type: ignore[misc]
            assert heard == [*range(number + 1)]

    asyncio.run(go())


def test_many_threads_post_and_all_is_heard_in_each_ones_order() -> None:
    async def go() -> None:
        heard: list[tuple[int, int]] = []
        posts, enough = LoopPosts(asyncio.get_running_loop()), asyncio.Event()

        def take(who: int, number: int) -> None:
            heard.append((who, number))
            if len(heard) == 4 * 2_000:
                enough.set()

        def tells(who: int) -> None:
            for number in range(2_000):
                posts.post(take, who, number)

        tellers = [threading.Thread(target=tells, args=(who,)) for who in range(4)]
        for one in tellers:
            one.start()
        async with asyncio.timeout(60):
            await enough.wait()
        for one in tellers:
            one.join()
        for who in range(4):
            assert [number for one, number in heard if one == who] == [*range(2_000)]

    asyncio.run(go())


def test_what_was_given_is_done_before_it_closes_and_nothing_after() -> None:
    done: list[int] = []
    threads, may_begin = LoopThreads(1, "test"), threading.Event()

    def work(number: int) -> None:
        may_begin.wait(20)
        done.append(number)

    async def gives() -> None:
        tasks = [asyncio.create_task(threads.run(lambda number=number: work(number))) for number in range(5)]  # type: ignore[misc]
        await asyncio.sleep(0)
        for task in tasks:
            task.cancel()
        await asyncio.wait(tasks)

    asyncio.run(gives())
    may_begin.set()
    threads.close()
    assert done == [*range(5)]

    async def late() -> None:
        await threads.run(lambda: None)

    with pytest.raises(RuntimeError, match="closed"):
        asyncio.run(late())


def test_a_loop_that_is_gone_hears_nothing_and_harms_nobody() -> None:
    threads = LoopThreads(1, "test")

    async def posts() -> LoopPosts:
        return threads.posts()

    gone = asyncio.run(posts())
    gone.post(print, "nobody hears this")

    async def again() -> int:
        assert threads.posts() is not gone
        return await threads.run(lambda: 3)

    assert asyncio.run(again()) == 3
    threads.close()
