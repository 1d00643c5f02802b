"""Fields of a kit that have no place of their own on a page, so that nothing is ever only in the JSON.

A kit that fits today's schema has none. One from an older folder, a newer version or a person's hand may.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

Leftover = tuple[str, str]
"""Where it stands in the kit, and what it says."""

_SUMMARY: Final = (
    "contentId headline tldr bullets[] tags[] sentiment category score.relevanceToUser overview keyThemes[]"
    " detailedAnalysis narrativeFlow coreIdeas[].concept coreIdeas[].explanation coreIdeas[].examples[]"
    " importantQuotes[].text importantQuotes[].timestamp importantQuotes[].context importantQuotes[].speaker context"
    " relatedConcepts[] detectedSource language readability.measure readability.score readability.level"
    " readability.wordsPerSentence wordCount readingTimeMinutes note parts[].title parts[].items[].text"
    " parts[].items[].under parts[].items[].owner parts[].items[].due"
)
_SUMMARY_SPANS: Final = "headline tldr overview detailedAnalysis narrativeFlow context"
_SUMMARY_EACH: Final = "bullets keyThemes coreIdeas importantQuotes"
_IDEAS: Final = (
    "contentId hooks[].text hooks[].type angles[].title angles[].description angles[].relevanceScore"
    " angles[].thesis angles[].support[] angles[].against questions[].question questions[].type"
    " numbers[].figure numbers[].text tensions[].one tensions[].other missing[]"
)
_IDEAS_EACH: Final = "hooks angles questions numbers tensions missing"
_SECTION: Final = "heading notes estimatedWords evidence[][] restsOn[]"
_REST: Final = "contentId source.id source.label source.url meta.relevanceToUser meta.estimatedReadingTimeMinutes"

SHOWN: Final = frozenset(
    [
        *_REST.split(),
        *(f"summary.{path}" for path in _SUMMARY.split()),
        *(f"summary.evidence.{field}[][]" for field in _SUMMARY_SPANS.split()),
        *(f"summary.evidence.{field}[][][]" for field in _SUMMARY_EACH.split()),
        *(f"ideas.{path}" for path in _IDEAS.split()),
        *(f"ideas.evidence.{field}[][][]" for field in _IDEAS_EACH.split()),
        "summary.evidence.parts[][][][]",
        *(f"suggestedOutline[].{path}" for path in _SECTION.split()),
    ]
)
"""The paths that `contents` reads."""
_FIGURES: Final = re.compile(
    r"(?:relevance\w+|readability\.score|wordsPerSentence|wordCount|\w*eadingTimeMinutes|estimatedWords|\[\]\[\])$"
)
"""What `contents` can only show when it is a number."""


def leftovers(kit: Mapping[str, Any]) -> tuple[Leftover, ...]:
    return tuple((path, _written(value)) for path, value in leaves(kit) if value != "" and not _is_shown(path, value))


def _is_shown(path: str, value: Any) -> bool:
    place = re.sub(r"\[\d+\]", "[]", path)
    if place not in SHOWN:
        return False
    return not _FIGURES.search(place) or (isinstance(value, int | float) and not isinstance(value, bool))


def _written(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)


def leaves(value: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    """Every value that is neither a list nor an object, with its path: `summary.bullets[2]`."""
    if isinstance(value, Mapping):
        for key, child in value.items():
            yield from leaves(child, f"{path}.{key}" if path else str(key))
    elif isinstance(value, Sequence) and not isinstance(value, str):
        for at, child in enumerate(value):
            yield from leaves(child, f"{path}[{at}]")
    else:
        yield path, value
