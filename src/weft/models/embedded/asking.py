"""A direct question out of a sentence that only says that something is open.

`Whether southern populations have lost the need for a cold period is unknown.` asks: Have southern populations lost
the need for a cold period? Only where the order of words is sure; everything else stays as it is.
"""

from __future__ import annotations

import re
from typing import Final

from weft.models.embedded.clauses import capital, unfinished
from weft.models.embedded.languages import Language
from weft.models.embedded.languages.language import endings
from weft.models.embedded.languages.language import words as word_set

_AUXILIARY: Final = word_set("is are was were has have had can could will would should may might must does do did")
_INSIDE: Final = word_set("which that who whom whose when where because if")
"""With one of these before the verb, the verb may belong to another clause."""
_OPEN: Final = r"(?:unknown|unclear|uncertain|open|an open question|disputed|not known|not clear|still debated)"
_ENGLISH: Final = (
    re.compile(rf"^Whether (?P<clause>[^,;:]{{12,140}}?),? (?:is|remains) (?:still |as yet |yet )?{_OPEN}\b", re.I),
    re.compile(
        r"\b(?:nobody|no one|none of them|we do not|we don't|it is not|it is) "
        r"(?:knows?|can say|could say|known|clear|unclear|unknown|open) whether (?P<clause>[^,;:]{12,140})$",
        re.I,
    ),
)
_GERMAN: Final = re.compile(
    r"^Ob (?P<clause>[^,;:]{8,140}), (?:ist|bleibt|steht|weiß) (?:noch |bislang |bisher |derzeit )?"
    r"(?:offen|unklar|ungewiss|fraglich|niemand|nicht fest)\b"
)
_PREFIXES: Final = endings("""
zurück ab an auf aus bei ein fest fort her hin los mit nach vor weg weiter zu zusammen um über unter wieder
""")
"""A verb with one of these may come apart in front: `zurückkommt` asks `kommt ... zurück`."""


def asked_directly(text: str, language: Language) -> str:
    """The question, or ""."""
    plain = unfinished(text)
    if language.code == "de":
        match = _GERMAN.search(plain)
        return _german(match.group("clause")) if match else ""
    if language.code != "en":
        return ""
    for pattern in _ENGLISH:
        match = pattern.search(plain)
        if match:
            return _english(match.group("clause"))
    return ""


def _english(clause: str) -> str:
    words = clause.split()
    at = next((at for at, word in enumerate(words) if word.lower() in _AUXILIARY), 0)
    subject = [word.lower() for word in words[:at]]
    if not at or at > 9 or not _INSIDE.isdisjoint(subject) or at + 1 >= len(words):
        return ""
    return f"{capital(words[at])} {' '.join(words[:at])} {' '.join(words[at + 1 :])}?"


def _german(clause: str) -> str:
    *rest, verb = clause.split()
    if len(rest) < 2 or verb[:1].isupper() or verb.startswith(_PREFIXES) or not verb.endswith(("t", "en", "d", "ß")):
        return ""
    return f"{capital(verb)} {' '.join(rest)}?"
