"""The embedded model answers with sentences of the documents, and says plainly what it can't do."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping

import pytest

from weft.models.embedded.answers import find_answers
from weft.models.embedded_model import LIMITS, NO_DOCUMENTS, EmbeddedModel
from weft.models.model import ModelError, Part, Request, Stop, TextDelta
from weft.protocol.messages import Message, Text, Usage

WATER = (
    "The village sold its waterworks for 1.8 million euros. Today a cubic metre costs 4.10 euros. "
    "Karin Vogt is the mayor. She hopes that the price falls when the new pipes are laid in 2027."
)
BEES = "Two of the six hives did not survive the winter. Lucy wants to plant borage instead of feeding sugar."
TALK = "Mara: I repaired accordions for nineteen years.\n\nHost: Why not teach?\n\nMara: A school wants a plan."


def said(documents: Mapping[str, str], *texts: str) -> tuple[str, list[Part]]:
    messages = tuple(
        Message(role="user" if index % 2 == 0 else "assistant", content=(Text(text=text),))
        for index, text in enumerate(texts)
    )

    async def go() -> list[Part]:
        return [part async for part in EmbeddedModel(lambda: documents).stream(Request(system="", messages=messages))]

    parts = asyncio.run(go())
    return "".join(part.text for part in parts if isinstance(part, TextDelta)), parts


@pytest.mark.parametrize(
    ("question", "document", "words"),
    [
        ("What does a cubic metre cost?", "water.md", "4.10 euros"),
        ("Who is the mayor?", "water.md", "Karin Vogt"),
        ("How many hives survived?", "bees.txt", "Two of the six hives"),
        ("what about the accordion repairs", "talk.vtt", "nineteen years"),
    ],
)
def test_the_best_sentence_is_quoted_from_the_right_document(question: str, document: str, words: str) -> None:
    documents = {"water.md": WATER, "bees.txt": BEES, "talk.vtt": TALK}
    best = find_answers(question, documents)[0]
    assert best.document == document
    assert words in best.text
    assert documents[document][best.start : best.end].strip() == best.text


def test_other_scripts_and_nothing_at_all() -> None:
    chinese = "潮汐机器是用黄铜制成的。它在利物浦运转了四十年。"
    assert "黄铜" in find_answers("黄铜机器", {"a": chinese})[0].text
    assert find_answers("What is the capital of Peru?", {"water.md": WATER}) == []
    assert find_answers("anything", {}) == []
    assert find_answers("anything", {"a": " *** "}) == []
    assert find_answers("", {"water.md": WATER}) == []


def test_an_answer_is_made_of_quotes_and_the_limits_are_said_once() -> None:
    text, parts = said({"water.md": WATER}, "Who is the mayor?")
    assert text.startswith("water.md:\n> Karin Vogt is the mayor.")
    assert text.endswith(LIMITS)
    assert isinstance(parts[-2], Usage)
    assert parts[-1] == Stop(reason="end")
    again, _ = said({"water.md": WATER}, "Who is the mayor?", text, "And what does water cost?")
    assert "4.10 euros" in again
    assert LIMITS not in again


def test_it_says_what_it_can_t_do() -> None:
    assert said({}, "Hello")[0].startswith(NO_DOCUMENTS)
    text, _ = said({"water.md": WATER, "bees.txt": BEES}, "What is the capital of Peru?")
    assert text.startswith("No sentence in water.md and bees.txt says anything about that.")
    assert LIMITS in text

    async def with_schema() -> None:
        request = Request(system="", messages=(), schema={"type": "object"})
        async for _ in EmbeddedModel(dict).stream(request):
            raise AssertionError("nothing may come")

    with pytest.raises(ModelError, match="schema") as refused:
        asyncio.run(with_schema())
    assert refused.value.kind == "invalid_request"
    assert "weft models add" in refused.value.hint
