"""Sentences that send the reader elsewhere. They name what is spoken of, often in the very words of a question or a
title, and say nothing of it: they are no answer and no point.
"""

from __future__ import annotations

import re
from typing import Final

_FOUND_AT: Final = (
    r"\b(?:discussion|description|details?|information|introduction|overview|explanation)s?\b[^.]{0,200}"
    r" (?:is|are|can be) (?:given|found|provided|available) (?:in|at|on|from)\b"
)
_POINTS: Final = re.compile(
    r"^\W*(?:(?:please|but|also|then),? )?see\b(?! that\b| how\b| if\b| whether\b| what\b)"
    r"|^\W*see\b.*\?\W*$"
    r"|\bsee (?:also )?(?:the )?(?:answers?|questions?|entry|section|chapter|appendix|next|previous)\b"
    r"|\bsee (?:also )?(?:\w+: )?[\"“‘/]"
    r"|\b(?:refer to|(?:described|explained|covered|discussed)(?: \w+)? (?:in|under)) (?:the )?"
    r"(?:section|chapter|answer)\b"
    r"|\b(?:section|chapter|appendix|abschnitt|kapitel|chapitre|sección|capítulo) [\dA-Z][\d.]*, ?[“\"‘«„]"
    r"|^\W*(?:finally,? |(?:in )?)(?:section|chapter|appendix|abschnitt|kapitel|chapitre|sección"
    r"|capítulo) [\dA-Z][\d.]*,?"
    r" (?:we )?(?:also )?(?:describe|present|introduce|discuss|point|conclude|finishe|give|show|explain|review|outline"
    r"|summari[sz]e|deal|beschreib|behandel|décri|présent|describ|presenta)"
    r"|\bsee (?:above|below)\W*$|^\W*for (?:more |further )?(?:details?|information)\b.*\bsee\b"
    rf"|{_FOUND_AT}"
    r"|\bplease (?:consult|refer to|read the|check the)\b"
    r"|\b(?:is|are) (?:both )?also available\W*$|\blook in (?:the )?[\"“‘'/]?(?-i:[A-Z])"
    r"|[“\"][^”\"]{8,}\?[”\"]|\?[”\"]\W*$",
    re.IGNORECASE,
)
"""The last two name a section by its title, or quote a question."""


_ASIDE: Final = re.compile(r"\s*\((?:see|cf\.?) [^()]*\)", re.IGNORECASE)
"""What is said in brackets does not make a sentence point elsewhere that says something without it."""


_TELLS_WHERE: Final = re.compile(rf"{_FOUND_AT}|https?://|www\.", re.IGNORECASE)


def tells_where(text: str) -> bool:
    """Whether what points elsewhere says where that is: to who asks where something is found, an answer."""
    return _TELLS_WHERE.search(text) is not None


def points_elsewhere(text: str) -> bool:
    return _POINTS.search(_ASIDE.sub("", text)) is not None
