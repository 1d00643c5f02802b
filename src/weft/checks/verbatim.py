"""`verbatim`: what claims to be a quote stands in the document, word by word (see `folding` for what is forgiven)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from typing import Final

from pydantic import Field

from weft.checks.contract import CheckInput
from weft.checks.faults import Fault, showable, shown
from weft.checks.folding import Folded, fold, text_of
from weft.checks.options import CheckDefinition, DocumentNames, OptionalData, look
from weft.checks.passages import CheckedPassage, difference, focus, nearest, passage_shown
from weft.checks.paths import kind
from weft.protocol.patterns import pattern

_CUT: Final = pattern(r" ?[\[(]? ?(?:\.{3,}|…|\. \. \.) ?[\])]? ?")
_BRIDGE: Final = 500
"""How far apart the ends of a cut quote may be for the whole passage to be worth showing."""


class VerbatimOptions(OptionalData):
    sources: DocumentNames = Field(
        alias="in", description="The document the texts come from, or a list: any one of them."
    )

    def reads(self) -> tuple[str, ...]:
        return self.sources


def check_verbatim(options: VerbatimOptions, given: CheckInput) -> Iterator[Fault]:
    documents = [fold(text_of(given.documents[name]), name) for name in options.sources]
    names = " or ".join(options.sources)
    for place in look(options, given.value):
        if isinstance(place, Fault):
            yield place
            continue
        if not isinstance(place.value, str):
            hint = "a quote is one text; a path to the texts of a list ends in [*]"
            yield Fault(place.pointer, f"{shown(place.value)} is {kind(place.value)}, not text", hint)
            continue
        quote = fold(place.value)
        if not quote.text:
            yield Fault(
                place.pointer, f"{shown(place.value)} is an empty quote", f"quote a passage of {names} or leave it out"
            )
        elif not any(quote.text in document.text for document in documents):
            message = f"{shown(place.value)} is not in {names} word by word"
            yield Fault(place.pointer, message, partial(_hint, quote, documents))


def _hint(quote: Folded, documents: Sequence[Folded]) -> str:
    names = " or ".join(document.name for document in documents)
    pieces = [piece for piece in _CUT.split(quote.text) if piece]
    if pieces and _CUT.search(quote.text):
        return f"A quote cut with an ellipsis is not verbatim. {_cut_hint(pieces, documents)}"
    part = focus(quote, documents)
    passage = nearest(part, documents)
    if passage is None:
        return f"Nothing like it is in {names}: copy a passage that is there, or leave the quote out"
    return _nearest_hint(passage, part)


def _nearest_hint(passage: CheckedPassage, quote: Folded) -> str:
    near = f"Nearest in {passage.document.name}: {passage_shown(passage, quote)}."
    return f"{near} {difference(quote, passage)}. Copy the passage as it is"


def _cut_hint(pieces: Sequence[str], documents: Sequence[Folded]) -> str:
    for document in documents:
        start, end = _stretch(pieces, document.text)
        if end and end - start <= _BRIDGE:
            return f"Nothing left out, {document.name} has: “{showable(document.shown[start:end])}”. Quote it whole"
    strange = [piece for piece in pieces if not any(piece in document.text for document in documents)]
    if not strange:
        return "Its parts are there, each by itself: quote one of them without the ellipsis, or make them two quotes"
    part = focus(fold(max(strange, key=len)), documents)
    passage = nearest(part, documents)
    if passage is None:
        return f"{shown(part.shown)} is not there at all: quote one unbroken passage that is"
    return _nearest_hint(passage, part)


def _stretch(pieces: Sequence[str], text: str) -> tuple[int, int]:
    """From the first piece to the end of the last, when all stand there in order; (0, 0) otherwise."""
    start = position = text.find(pieces[0])
    for piece in pieces:
        position = text.find(piece, position) if position >= 0 else -1
        if position < 0:
            return 0, 0
        position += len(piece)
    return start, position


VERBATIM: Final = CheckDefinition(
    "verbatim", "Every text occurs in a document, word by word.", VerbatimOptions, check_verbatim
)
