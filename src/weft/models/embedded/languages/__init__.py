"""The languages the engine knows, by code. One module per language or family; `language` says what is known of each.

`UNKNOWN` stands for every other: it has no words, and whatever reads it falls back on what all languages share.
"""

from __future__ import annotations

from typing import Final

from weft.models.embedded.languages.arabic import ARABIC
from weft.models.embedded.languages.dutch import DUTCH
from weft.models.embedded.languages.east_asian import CHINESE, JAPANESE, KOREAN
from weft.models.embedded.languages.english import ENGLISH
from weft.models.embedded.languages.french import FRENCH
from weft.models.embedded.languages.german import GERMAN
from weft.models.embedded.languages.hindi import HINDI
from weft.models.embedded.languages.italian import ITALIAN
from weft.models.embedded.languages.language import ROLES, Language, Role
from weft.models.embedded.languages.neighbours import NEIGHBOURS
from weft.models.embedded.languages.portuguese import PORTUGUESE
from weft.models.embedded.languages.russian import RUSSIAN
from weft.models.embedded.languages.spanish import SPANISH

UNKNOWN: Final = Language(code="und")
LANGUAGES: Final[dict[str, Language]] = {
    known.code: known
    for known in (
        ENGLISH,
        GERMAN,
        FRENCH,
        SPANISH,
        ITALIAN,
        PORTUGUESE,
        DUTCH,
        RUSSIAN,
        CHINESE,
        JAPANESE,
        KOREAN,
        ARABIC,
        HINDI,
        *NEIGHBOURS,
    )
}

__all__ = ["LANGUAGES", "ROLES", "UNKNOWN", "Language", "Role", "language"]


def language(code: str) -> Language:
    return LANGUAGES.get(code, UNKNOWN)
