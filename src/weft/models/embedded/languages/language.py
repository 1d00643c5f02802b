"""What the engine knows about one language: words, not grammar.

Every field may be empty; whatever reads it then says less. Word sets are in small letters. A mark is a word or a row of
words that gives a sentence a role ("on the other hand"); in scripts without spaces it is any run of characters.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final, Literal

Role = Literal[
    "contrast",
    "cause",
    "example",
    "close",
    "claim",
    "advice",
    "problem",
    "change",
    "measure",
    "scene",
    "unknown",
    "surprise",
]
ROLES: Final[tuple[Role, ...]] = (
    "contrast",  # sets one thing against another
    "cause",  # says why, or what follows
    "example",
    "close",  # draws the sum
    "claim",  # takes a position
    "advice",  # says what to do
    "problem",
    "change",  # says what is no longer as it was
    "measure",  # compares
    "scene",  # a moment in somebody's life
    "unknown",  # says that something is not known, or asks
    "surprise",  # says that something was not expected
)


def words(text: str) -> frozenset[str]:
    return frozenset(text.split())


def endings(text: str) -> tuple[str, ...]:
    return tuple(text.split())


def marks(text: str) -> tuple[str, ...]:
    """Parted by commas; line breaks inside count as spaces."""
    return tuple(" ".join(part.split()) for part in text.split(",") if part.strip())


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Language:
    code: str
    spaced: bool = True
    """Whether words are parted by spaces."""
    cased: bool = True
    """Whether a capital inside a sentence marks a name."""
    function: frozenset[str] = frozenset()
    """Words that carry no content."""
    weak: frozenset[str] = frozenset()
    """Words of content that say too little to name a subject."""
    commands: frozenset[str] = frozenset()
    """First words of a sentence that tells somebody to do something."""
    thin: frozenset[str] = frozenset()
    """Words that name something only together with the next: the `night` in `night train`."""
    verbs: frozenset[str] = frozenset()
    """Finite verbs: a clause with one of them can stand alone."""
    before_nouns: frozenset[str] = frozenset()
    """Articles, possessives, prepositions: what follows is rarely a verb."""
    before_verbs: frozenset[str] = frozenset()
    joining: frozenset[str] = frozenset()
    """Words that may stand inside a phrase: the `of` in `rate of change`."""
    leaning: frozenset[str] = frozenset()
    """First words of a sentence that can't be understood without the one before."""
    pronouns: frozenset[str] = frozenset()
    """Words for somebody or something named before, anywhere in a sentence."""
    first_person: frozenset[str] = frozenset()
    openers: tuple[str, ...] = ()
    """What may be left out at the beginning of a sentence: `However,`."""
    asides: tuple[str, ...] = ()
    """Words after a comma that begin a part which may be left out at the end of a sentence: `which`."""
    limits: frozenset[str] = frozenset()
    """Words that take something back: a part that has one may never be left out."""
    abbreviations: frozenset[str] = frozenset()
    roles: dict[Role, tuple[str, ...]] = field(default_factory=dict)
    because: tuple[str, ...] = ()
    """Conjunctions between an effect and its cause, in this order."""
    but: tuple[str, ...] = ()
    """Conjunctions between a statement and what stands against it."""
    copulas: frozenset[str] = frozenset()
    """What stands between a word and what it means: `is`."""
    pointers: tuple[str, ...] = ()
    """First words of a sentence that only sends the reader elsewhere: `see`."""
    saying: frozenset[str] = frozenset()
    titles: frozenset[str] = frozenset()
    """Words before a person's name."""
    bodies: frozenset[str] = frozenset()
    """Words inside the name of an organisation."""
    places: frozenset[str] = frozenset()
    """Prepositions before a place."""
    months: frozenset[str] = frozenset()
    scales: frozenset[str] = frozenset()
    """Words that multiply the number before them, and `percent`."""
    numerals: frozenset[str] = frozenset()
    """Numbers from two on, and parts of a whole, in words."""
    references: frozenset[str] = frozenset()
    """Words before a number that only points somewhere: `section`, `version`."""
    positive: frozenset[str] = frozenset()
    negative: frozenset[str] = frozenset()
    negations: frozenset[str] = frozenset()
