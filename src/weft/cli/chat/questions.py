"""Where the model's questions meet the person: the AskUser tool awaits `ask`, the face shows `current` and answers.

An interrupt cancels the call that waits, and with it the question disappears.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from weft.protocol.errors import UserError
from weft.tools.tool import Question


def _nobody() -> None:
    """No face looks."""


@dataclass(slots=True)
class _Asked:
    questions: tuple[Question, ...]
    done: asyncio.Future[Mapping[str, str]]
    answers: dict[str, str] = field(default_factory=dict)

    @property
    def next(self) -> Question:
        return self.questions[len(self.answers)]


class Questions:
    def __init__(self) -> None:
        self.changed: Callable[[], None] = _nobody
        """Called when there is something else to show."""
        self._asked: list[_Asked] = []
        self._absent = ""

    def nobody_answers(self, why: str) -> None:
        """From now on a question is refused at once."""
        self._absent = why

    async def ask(self, questions: tuple[Question, ...]) -> Mapping[str, str]:
        """The answers by the questions' text. Waits as long as it takes."""
        if self._absent:
            raise UserError(self._absent, hint="go on without the answer, and say what you assumed")
        # Answers go by the text, so a question that comes twice is asked once.
        unique = tuple({question.text: question for question in questions}.values())
        if not unique:
            return {}
        asked = _Asked(unique, asyncio.get_running_loop().create_future())
        self._asked.append(asked)
        self.changed()
        try:
            return await asked.done
        finally:
            self._asked.remove(asked)
            self.changed()

    @property
    def current(self) -> Question | None:
        """The question to show now."""
        waiting = self._waiting()
        return waiting.next if waiting else None

    def answer(self, text: str) -> bool:
        """Takes an answer to the current question. False when it is none: an empty line."""
        asked = self._waiting()
        if asked is None or not (chosen := choice(asked.next, text)):
            return False
        asked.answers[asked.next.text] = chosen
        if len(asked.answers) == len(asked.questions):
            asked.done.set_result(dict(asked.answers))
        self.changed()
        return True

    def _waiting(self) -> _Asked | None:
        return next((asked for asked in self._asked if not asked.done.done()), None)


def choice(question: Question, text: str) -> str:
    """What a person meant: the numbers of options, or an answer of their own."""
    words = [word for word in re.split(r"[\s,]+", text.strip()) if word]
    numbers = [int(word) for word in words if word.isdecimal()]
    if question.options and numbers and len(numbers) == len(words):
        inside = all(1 <= number <= len(question.options) for number in numbers)
        if inside and (question.several or len(numbers) == 1):
            return ", ".join(question.options[number - 1] for number in dict.fromkeys(numbers))
    return text.strip()
