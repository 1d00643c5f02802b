"""The model's questions: one after the other, answered by number or in words, taken back by an interrupt."""

from __future__ import annotations

import asyncio

import pytest

from weft.cli.chat.questions import Questions, choice
from weft.protocol.errors import UserError
from weft.tools.tool import Question

COLOUR = Question(text="Which colour?", options=("red", "green", "blue"))
COLOURS = Question(text="Which colours?", options=("red", "green", "blue"), several=True)
WHY = Question(text="Why?")


@pytest.mark.parametrize(
    ("question", "typed", "meant"),
    [
        (COLOUR, "2", "green"),
        (COLOUR, " 2 ", "green"),
        (COLOUR, "4", "4"),
        (COLOUR, "0", "0"),
        (COLOUR, "1 2", "1 2"),
        (COLOUR, "violet", "violet"),
        (COLOURS, "3, 1", "blue, red"),
        (COLOURS, "1 1", "red"),
        (COLOURS, "1 and 2", "1 and 2"),
        (WHY, "2", "2"),
        (WHY, "  ", ""),
    ],
)
def test_what_a_person_means(question: Question, typed: str, meant: str) -> None:
    assert choice(question, typed) == meant


def test_questions_are_asked_in_order_and_answered_by_their_text() -> None:
    async def scene() -> None:
        desk = Questions()
        changes: list[str] = []
        desk.changed = lambda: changes.append(desk.current.text if desk.current else "")
        asking = asyncio.create_task(desk.ask((COLOUR, WHY, COLOUR)))
        await asyncio.sleep(0)
        assert desk.current == COLOUR
        assert desk.answer("1")
        assert not desk.answer(" ")
        assert desk.current == WHY
        assert desk.answer("so")
        assert desk.current is None
        assert not desk.answer("nobody asked")
        assert await asking == {"Which colour?": "red", "Why?": "so"}
        assert changes == ["Which colour?", "Why?", "", ""]

    asyncio.run(scene())


def test_a_question_that_is_taken_back_makes_room_for_the_next() -> None:
    async def scene() -> None:
        desk = Questions()
        first, second = asyncio.create_task(desk.ask((COLOUR,))), asyncio.create_task(desk.ask((WHY,)))
        await asyncio.sleep(0)
        assert desk.current == COLOUR
        first.cancel()
        await asyncio.wait({first})
        assert desk.current == WHY
        desk.answer("so")
        assert await second == {"Why?": "so"}

    asyncio.run(scene())


def test_where_nobody_answers_a_question_is_refused() -> None:
    async def scene() -> None:
        desk = Questions()
        desk.nobody_answers("nobody is there")
        with pytest.raises(UserError, match="nobody is there"):
            await desk.ask((WHY,))

    asyncio.run(scene())
    assert asyncio.run(Questions().ask(())) == {}
