"""A passage with what was quoted of it marked. White space may differ: a quote is on one line, a passage on many."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from weft.render.kit.elements import Child, element


def marked_passage(text: str, quotes: Sequence[str]) -> Iterator[Child]:
    """The passage in pieces, plain and marked. A quote that is not in it word for word marks nothing."""
    spans: list[tuple[int, int]] = []
    for quote in quotes:
        words = quote.split()
        found = re.search(r"\s+".join(map(re.escape, words)), text) if words else None
        if found:
            spans.append(found.span())
    position = 0
    for start, end in sorted(spans):
        start = max(start, position)
        if start >= end:
            continue
        yield text[position:start]
        yield element("mark", text[start:end])
        position = end
    yield text[position:]
