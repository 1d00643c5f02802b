"""The engine's own words, by language and purpose: what ties sentences together and says what to do with them.

Every wording is a whole sentence or a label, so that a sentence of the source never has to be bent to fit into it.
`{a}`, `{b}`: sentences; `{n}`, `{m}`: names; `{t}`: a theme or a topic. A purpose that a language lacks is left out.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from weft.models.embedded.wording.english import ENGLISH
from weft.models.embedded.wording.french import FRENCH
from weft.models.embedded.wording.german import GERMAN
from weft.models.embedded.wording.labels import LABELS
from weft.models.embedded.wording.spanish import SPANISH

Wording = Mapping[str, tuple[str, ...]]
WORDINGS: Final[dict[str, Wording]] = {"en": ENGLISH, "de": GERMAN, "fr": FRENCH, "es": SPANISH, **LABELS}
ENGLISH_ONLY: Final = ENGLISH["only"]
"""For a text too short for its fields, in a language the engine has no words of."""
ENGLISH_FORMS: Final = ENGLISH["form"]
NONE: Final[Wording] = {}

__all__ = ["ENGLISH_FORMS", "ENGLISH_ONLY", "WORDINGS", "Wording", "wording"]


def wording(code: str) -> Wording:
    return WORDINGS.get(code, NONE)
