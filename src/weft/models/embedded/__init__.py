"""The embedded language engine: reads a document and writes artifacts from it, with no key, no network and no weights.

    summary(text, content_id=...)   what it says, with the places it comes from
    ideas(text, summary)            hooks, angles and questions for a piece of one's own
    outline(text, summary, ideas)   sections in the length that is wanted
    writing_kit(...)                all of it in one value
    read(text)                      the reading they are all made from

True by construction: every sentence is the source's, shortened at most; the engine's own words only tie sentences
together and say what to do with them. Every item carries its places in the source. The same input gives the same bytes.

How it works, in the order of reading: `layout` (blocks), `detection` and `languages` (which language, and its words),
`splitting` and `sentence`, `ranking` (what carries the text), `phrases`, `names`, `themes`, `numbers`, `quotes`,
`argument`; then `clauses` (shortening), `compose` and `wording` (own words), `telling` and `content_summary`,
`material` with `hooks`, `angles`, `questions` and `writing_ideas`, `suggested_outline`, `kit`. `profile` says for whom.
"""

from __future__ import annotations

from typing import Final

from weft.models.embedded.content_summary import reading_minutes, summary
from weft.models.embedded.kit import writing_kit
from weft.models.embedded.profile import Profile, parse_profile, relevance
from weft.models.embedded.reading import Reading, read
from weft.models.embedded.schemas import ARTIFACTS, schema
from weft.models.embedded.suggested_outline import outline
from weft.models.embedded.writing_ideas import ideas

VERSION: Final = "2"
"""Changes whenever the same text may give other artifacts. `tests/models/test_version.py` pins what it stands for."""

__all__ = [
    "ARTIFACTS",
    "VERSION",
    "Profile",
    "Reading",
    "ideas",
    "outline",
    "parse_profile",
    "read",
    "reading_minutes",
    "relevance",
    "schema",
    "summary",
    "writing_kit",
]
