"""What is asked for twice with one key is made once."""

from __future__ import annotations

import asyncio

import pytest

from weft.protocol.errors import UserError
from weft.web.once import Once


def test_the_same_key_is_the_same_answer_also_at_once() -> None:
    async def check() -> None:
        once = Once()
        made: list[int] = []

        async def make() -> int:
            await asyncio.sleep(0)
            made.append(len(made))
            return made[-1]

        wish = ("ada", "token")
        assert await asyncio.gather(*(once(wish, "a", make, "said") for _ in range(3))) == [0, 0, 0]
        assert await once(wish, "a", make, "said") == 0
        assert await once(("bob", "token"), "a", make, "said") == 1, "another's wish is another one"
        assert [await once(wish, "", make, "said"), await once(wish, "", make, "said")] == [2, 3]

    asyncio.run(check())


def test_what_failed_or_was_given_up_can_be_asked_for_again() -> None:
    async def check() -> None:
        once = Once()
        tries: list[str] = []

        async def make() -> str:
            tries.append("try")
            if len(tries) == 1:
                raise OSError("the disk is full")
            if len(tries) == 2:
                await asyncio.sleep(60)
            return "made"

        with pytest.raises(OSError, match="full"):
            await once(("ada",), "a", make, "said")
        given_up = asyncio.create_task(once(("ada",), "a", make, "said"))
        while len(tries) < 2:
            await asyncio.sleep(0)
        waits = asyncio.create_task(once(("ada",), "a", make, "said"))
        await asyncio.sleep(0)
        given_up.cancel()
        assert await waits == "made"
        assert len(tries) == 3

    asyncio.run(check())


def test_other_words_under_a_key_that_was_used_are_refused() -> None:
    async def story() -> None:
        once = Once()

        async def make() -> str:
            return "made"

        assert await once(("ada", "token"), "a", make, "for a week") == "made"
        with pytest.raises(UserError, match="the key a was given with another command before"):
            await once(("ada", "token"), "a", make, "for a year")

    asyncio.run(story())
