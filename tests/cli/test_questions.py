"""The questions of tools: one after the other, answered by number or in words, given together."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from weft.cli.chat.questions import Questions, choice
from weft.protocol.commands import AnswerQuestion
from weft.protocol.events import QuestionAsked

COLOUR = {"text": "Which colour?", "options": ("red", "green", "blue"), "several": False}
COLOURS = {"text": "Which colours?", "options": ("red", "green", "blue"), "several": True}
WHY = {"text": "Why?", "options": (), "several": False}


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
def test_what_a_person_means(question: Mapping[str, Any], typed: str, meant: str) -> None:
    assert choice(question, typed) == meant


def test_questions_are_asked_in_order_and_answered_together() -> None:
    desk = Questions()
    asked = {"q1": QuestionAsked(question="q1", questions=(COLOUR, WHY))}
    assert desk.current(asked) == COLOUR
    assert desk.answer(asked, "1") is None
    assert desk.answer(asked, " ") is None
    assert desk.current(asked) == WHY
    assert desk.answer(asked, "so") == AnswerQuestion(question="q1", answers={"Which colour?": "red", "Why?": "so"})
    assert desk.current(asked) is None
    assert desk.answer(asked, "nobody asked") is None


def test_a_question_that_is_taken_back_makes_room_for_the_next() -> None:
    desk = Questions()
    asked = {
        "q1": QuestionAsked(question="q1", questions=(COLOUR,)),
        "q2": QuestionAsked(question="q2", questions=(WHY,)),
    }
    assert desk.current(asked) == COLOUR
    del asked["q1"]
    assert desk.current(asked) == WHY
    assert desk.answer(asked, "so") == AnswerQuestion(question="q2", answers={"Why?": "so"})
