"""Trying again: only where it is safe, as long as it is told to, and everyone is told."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from pathlib import Path

import pytest

from weft.models.answer import Answer, gather
from weft.models.model import ModelError, Part, Request, Retried, TextDelta
from weft.models.pauses import KeptPause
from weft.models.retrying import LONGEST_WAIT, TRIES, Retrying
from weft.protocol.messages import Usage
from weft.testing.conformance import HELLO
from weft.testing.scripted import ScriptedModel, Turn, says

BUSY = ModelError("overloaded", "busy", retryable=True)


class Clock:
    """Notes each wait and does not wait."""

    def __init__(self) -> None:
        self.waits: list[float] = []

    async def sleep(self, seconds: float) -> None:
        self.waits.append(seconds)


def run(
    model: ScriptedModel,
    clock: Clock,
    told: list[Retried] | None = None,
    chance: float = 1.0,
    request: Request = HELLO,
) -> Answer:
    def hear(part: Part) -> None:
        if told is not None and isinstance(part, Retried):
            told.append(part)

    return asyncio.run(gather(Retrying(model, sleep=clock.sleep, chance=lambda: chance).stream(request), hear))


def test_it_tries_again_and_says_so() -> None:
    clock, told = Clock(), list[Retried]()
    model = ScriptedModel([Turn(BUSY), Turn(BUSY), Turn(says("there"))])
    assert run(model, clock, told).text == "there"
    assert clock.waits == [1.0, 2.0]
    assert told == [
        Retried(tries=1, wait=1.0, kind="overloaded", reason="busy"),
        Retried(tries=2, wait=2.0, kind="overloaded", reason="busy"),
    ]
    model.assert_done()


def test_waits_are_spread_out() -> None:
    clock = Clock()
    run(ScriptedModel([Turn(BUSY), Turn(says("x"))]), clock, chance=0.0)
    assert clock.waits == [0.5]


def test_it_stops() -> None:
    clock = Clock()
    model = ScriptedModel([Turn(BUSY)] * TRIES)
    with pytest.raises(ModelError, match="busy"):
        run(model, clock)
    model.assert_done()
    assert len(clock.waits) == TRIES - 1


def test_what_the_provider_asks_for_is_kept_unless_it_is_too_long() -> None:
    clock = Clock()
    soon = ModelError("rate_limited", "slow down", retryable=True, wait=20.0)
    run(ScriptedModel([Turn(soon), Turn(says("x"))]), clock)
    assert 20.0 <= clock.waits[0] <= 21.0
    late = ModelError("rate_limited", "slow down", retryable=True, wait=LONGEST_WAIT * 10)
    with pytest.raises(ModelError, match="slow down"):
        run(ScriptedModel([Turn(late)]), clock)
    assert len(clock.waits) == 1


class Remembered:
    """A pause in memory, on a clock that stands."""

    def __init__(self, seconds: float = 0.0) -> None:
        self.seconds = seconds

    def left(self) -> float:
        return self.seconds

    def begin(self, seconds: float) -> None:
        self.seconds = seconds


def test_a_long_pause_is_said_and_kept_by_whoever_comes_next() -> None:
    async def go(request: Request, pause: Remembered, *turns: Turn) -> tuple[ScriptedModel, Clock, Answer]:
        clock, model = Clock(), ScriptedModel(list(turns))
        answer = await gather(Retrying(model, pause=pause, sleep=clock.sleep).stream(request))
        model.assert_done()
        return model, clock, answer

    hour = ModelError("rate_limited", "slow down", retryable=True, wait=3600.0)
    pause = Remembered()
    with pytest.raises(ModelError, match=r"slow down; it asks to wait 1 h 00 min, until \d\d:\d\d") as first:
        asyncio.run(go(replace(HELLO, patience=600.0), pause, Turn(hour)))
    assert (first.value.retryable, pause.seconds) == (False, 3600.0)
    with pytest.raises(ModelError, match="asked for a pause that is not over; it asks to wait 1 h"):
        asyncio.run(go(HELLO, pause))  # nothing was asked: there is no turn
    _, clock, answer = asyncio.run(go(replace(HELLO, patience=7200.0), pause, Turn(says("rested"))))
    assert (answer.text, clock.waits) == ("rested", [3600.0])
    assert pause.left() == 3600.0
    _, clock, _ = asyncio.run(go(replace(HELLO, patience=7200.0), Remembered(), Turn(hour), Turn(says("x"))))
    assert 3600.0 <= clock.waits[0] < 3601.0


def test_a_pause_is_kept_in_a_file_and_survives_a_broken_one(tmp_path: Path) -> None:
    now = [1000.0]
    pause = KeptPause(tmp_path / "weft", "work https://one.example", lambda: now[0])
    assert pause.left() == 0.0
    pause.begin(3600.0)
    assert KeptPause(tmp_path / "weft", "work https://one.example", lambda: now[0]).left() == 3600.0
    assert KeptPause(tmp_path / "weft", "work https://two.example", lambda: now[0]).left() == 0.0
    now[0] += 4000
    assert pause.left() == 0.0
    (tmp_path / "weft" / "pauses.json").write_bytes(b'{"work https://one.example": "soon"')
    assert pause.left() == 0.0
    pause.begin(60.0)
    assert pause.left() == 60.0


def test_all_waits_together_keep_to_the_patience_of_the_request() -> None:
    clock = Clock()
    model = ScriptedModel([Turn(BUSY)] * 3)
    with pytest.raises(ModelError, match="busy"):
        run(model, clock, request=replace(HELLO, patience=3.5))
    assert clock.waits == [1.0, 2.0], "the third would have been 4 seconds more"


@pytest.mark.parametrize("kind", ["auth", "invalid_request", "context_too_long", "refused"])
def test_what_cannot_help_is_not_tried(kind: str) -> None:
    model = ScriptedModel([Turn(ModelError(kind, "no"))])  # type: ignore[arg-type]
    with pytest.raises(ModelError, match="no"):
        run(model, Clock())


def test_nothing_is_said_twice() -> None:
    model = ScriptedModel([Turn(says("half"), BUSY)])
    with pytest.raises(ModelError, match="busy"):
        run(model, Clock())
    assert len(model.requests) == 1


def test_what_a_failed_try_used_counts() -> None:
    model = ScriptedModel([Turn(Usage(input=10, output=1), BUSY), Turn(says("x"), Usage(input=10, output=5))])
    assert run(model, Clock()).usage == Usage(input=20, output=6)


def test_an_interrupt_ends_the_wait() -> None:
    async def go() -> None:
        waiting = asyncio.Event()

        async def sleep(seconds: float) -> None:
            waiting.set()
            await asyncio.Event().wait()

        model = ScriptedModel([Turn(BUSY)])
        task = asyncio.ensure_future(gather(Retrying(model, sleep=sleep).stream(HELLO)))
        await waiting.wait()
        task.cancel()
        await asyncio.wait({task})
        assert task.cancelled()
        assert len(model.requests) == 1

    asyncio.run(go())


def test_closing_closes_what_is_inside() -> None:
    async def go() -> None:
        model = ScriptedModel([Turn(says("one two"))])
        stream = Retrying(model).stream(HELLO)
        assert isinstance(await anext(aiter(stream)), TextDelta)
        await stream.aclose()  # type: ignore[attr-defined]
        assert model.closed == 1

    asyncio.run(go())
