"""The embedded language engine: reads a document and writes artifacts from it, with no key, no network and no weights.

    summary(text, content_id=...)   what it says, with the places it comes from
    ideas(text, summary)            what the text carries: open questions, figures, tensions, what it leaves out
    outline(text, summary, ideas)   its matter in the length that is wanted
    writing_kit(...)                all of it in one value
    read(text)                      the reading they are all made from

True by construction: every sentence is the source's, whole; the engine's own words only name what something is. Every
item carries its places in the source, none is said twice, and all together are shorter than the source. The same input
gives the same bytes. `meaning` (a sentence model) makes the choice better; without it words decide.

How it works, in the order of reading: `layout` (blocks, on the one markdown reader), `lexicon` (languages as data),
`reading` (sentences and what they are), `kinds`, `ranking`, `themes`, `quotes`, `parts` (of one kind and not another),
`summary`; `carried`, `ideas`; `kit`. `profile` says for whom, `answers` finds sentences for a question.
"""

from __future__ import annotations

from weft.models.embedded.ideas import ideas, outline
from weft.models.embedded.kit import writing_kit
from weft.models.embedded.profile import Profile, parse_profile, relevance
from weft.models.embedded.ranking import Meaning
from weft.models.embedded.reading import Reading, read
from weft.models.embedded.summary import reading_minutes, summary
from weft.models.embedded_version import VERSION

__all__ = [
    "VERSION",
    "Meaning",
    "Profile",
    "Reading",
    "ideas",
    "outline",
    "parse_profile",
    "read",
    "reading_minutes",
    "relevance",
    "summary",
    "writing_kit",
]
