"""What a person is asked and what their answers mean: the letters for a call or a plan, and the questions of a tool,
one at a time, whose answers are given together."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final

from weft.protocol.commands import AnswerQuestion, SessionCommand
from weft.protocol.conversation_commands import ClearTaint, DecideApproval
from weft.protocol.conversation_events import Decision, PlanDecision
from weft.protocol.events import QuestionAsked
from weft.render.conversation_view import CallView


class Questions:
    def __init__(self) -> None:
        self._answers: dict[str, dict[str, str]] = {}
        """What was answered so far, by the name of what was asked."""

    def current(self, asked: Mapping[str, QuestionAsked]) -> Mapping[str, Any] | None:
        """The question to show now."""
        waiting = self._waiting(asked)
        return self._next(waiting) if waiting else None

    def answer(self, asked: Mapping[str, QuestionAsked], text: str) -> AnswerQuestion | None:
        """Takes an answer to the current question; all of them once the last is there."""
        waiting = self._waiting(asked)
        question = self._next(waiting) if waiting else None
        if waiting is None or question is None or not (chosen := choice(question, text)):
            return None
        answers = self._answers.setdefault(waiting.question, {})
        answers[str(question["text"])] = chosen
        if self._next(waiting) is not None:
            return None
        return AnswerQuestion(question=waiting.question, answers=answers)

    def _waiting(self, asked: Mapping[str, QuestionAsked]) -> QuestionAsked | None:
        return next((one for one in asked.values() if self._next(one) is not None), None)

    def _next(self, asked: QuestionAsked) -> Mapping[str, Any] | None:
        known = self._answers.get(asked.question, {})
        return next((one for one in asked.questions if one["text"] not in known), None)


def letters(call: CallView) -> set[str]:
    """The letters that answer the question about a call."""
    offered = {"y", "n", "r", *("a" if call.key else ""), *("t" if call.tainted else "")}
    return offered | {"f"} if call.always else offered


def decided(call: CallView, letter: str, reason: str = "") -> list[SessionCommand]:
    """What a letter says to a call."""
    decisions: dict[str, Decision] = {"n": "denied", "r": "denied", "a": "session"}
    said = DecideApproval(
        conversation=call.conversation,
        call=call.call,
        decision=decisions.get(letter, "once"),
        reason=reason,
        always=letter == "f",
        turn=call.turn,
    )
    return [ClearTaint(conversation="main"), said] if letter == "t" else [said]


PLAN_LETTERS: Final[dict[str, PlanDecision]] = {"y": "accepted", "c": "compacted", "n": "dropped"}


def choice(question: Mapping[str, Any], text: str) -> str:
    """What a person meant: the numbers of options, or an answer of their own."""
    words = [word for word in re.split(r"[\s,]+", text.strip()) if word]
    numbers = [int(word) for word in words if word.isdecimal()]
    options = question.get("options") or ()
    if options and numbers and len(numbers) == len(words):
        inside = all(1 <= number <= len(options) for number in numbers)
        if inside and (question.get("several") or len(numbers) == 1):
            return ", ".join(str(options[number - 1]) for number in dict.fromkeys(numbers))
    return text.strip()
