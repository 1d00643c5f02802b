"""The model that is always there: it answers from the session's documents, with their own sentences.

It needs no key and no network. It does not reason, write or use tools, and never pretends to: what it says beyond
quotes is where they stand, and how to connect a model that can do more.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping
from typing import TYPE_CHECKING, Final

from weft.models.model import ModelError, Part, Request, Stop, TextDelta
from weft.protocol.messages import Text, Usage

if TYPE_CHECKING:
    from weft.models.embedded.answers import AnsweringSentence

LIMITS: Final = (
    "I am the embedded engine: I find sentences in your documents and quote them. I don't reason, write or use tools. "
    "`weft models add` connects a model that does; this conversation goes on with it."
)
NO_DOCUMENTS: Final = (
    "I have no document to answer from. Begin a session with one: `weft run FILE`, or drop it on the page under New. "
    "What goes with a message only a connected model reads."
)
NOTHING_FOUND: Final = "No sentence in {documents} says anything about that."


class EmbeddedModel:
    """`documents` gives the texts to answer from, by the name a person knows them by. `collection` answers a question
    from a body of documents, with sources; it is asked when there are no documents, or none says anything."""

    turns_read: Final = 2
    """It answers what was said last; from the turn before it knows that it has said what it is."""

    def __init__(
        self, documents: Callable[[], Mapping[str, str]], collection: Callable[[str], str] | None = None
    ) -> None:
        self._documents = documents
        self._collection = collection

    @property
    def name(self) -> str:
        return "embedded"

    @property
    def window(self) -> int:
        return 1_000_000

    async def stream(self, request: Request) -> AsyncIterator[Part]:
        if request.schema is not None:
            raise ModelError(
                "invalid_request",
                "the embedded engine can't fill in a schema it was not made for",
                hint="connect a model with `weft models add`",
            )
        question = _last_said(request)
        first = not any(message.role == "assistant" for message in request.messages)
        # Reading a long document takes a while; the loop must stay free to interrupt it.
        text = await asyncio.to_thread(self._answer, question, first)
        for line in text.splitlines(keepends=True):
            yield TextDelta(text=line)
        yield Usage(input=0, output=0)
        yield Stop(reason="end")

    def _answer(self, question: str, first: bool) -> str:
        from weft.models.embedded.answers import find_answers  # much is behind it, and conversations open without it

        documents = self._documents()
        if self._collection and not (documents and find_answers(question, documents)):
            said = self._collection(question).rstrip()
            return f"{said}\n\n{LIMITS}" if first else said
        if not documents:
            return f"{NO_DOCUMENTS}\n\n{LIMITS}"
        found = find_answers(question, documents)
        said = _quoted(found) if found else NOTHING_FOUND.format(documents=_named(documents))
        return f"{said}\n\n{LIMITS}" if first or not found else said


def _last_said(request: Request) -> str:
    for message in reversed(request.messages):
        texts = [part.text for part in message.content if isinstance(part, Text)]
        if message.role == "user" and texts:
            return "\n".join(texts)
    return ""


def _quoted(found: list[AnsweringSentence]) -> str:
    lines: list[str] = []
    for document in dict.fromkeys(answer.document for answer in found):
        lines.append(f"{document}:")
        for answer in sorted((one for one in found if one.document == document), key=lambda one: one.start):
            where = ", ".join(part for part in (answer.speaker, answer.time) if part)
            lines.append(f"> {' '.join(answer.text.split())}" + (f" ({where})" if where else ""))
        lines.append("")
    return "\n".join(lines).rstrip()


def _named(documents: Mapping[str, str]) -> str:
    names = list(documents)
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
