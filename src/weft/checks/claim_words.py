"""The words of a sentence that tell what it is about, and how often it denies something."""

from __future__ import annotations

import re
from typing import Final

from weft.language.stems import stem

STOP: Final = frozenset(
    "a about after all also although an and any are as at be because been before being both but by can could did do"  # noqa: SIM905
    " does doing done during each either else ever every for from further had has have having he her here him his how"
    " however i if in into is it its itself just let may me might more most much must my neither no nor not of off on"
    " once only or other our out over own per same shall she should since so some such than that the their them then"
    " there these they this those through thus to too under until up upon us very was we were what when where whether"
    " which while who whom whose why will with within without would yet you your one case way therefore hereby".split()
)
_WORD: Final = re.compile(r"[^\W\d_]+(?:['’-][^\W\d_]+)*")
NEGATIONS: Final = frozenset(
    "not no never neither nor none cannot without nothing nobody isn't aren't wasn't weren't don't doesn't didn't won't"  # noqa: SIM905
    " wouldn't shouldn't mustn't can't couldn't needn't hasn't haven't hadn't shan't".split()
)
_NOT_DENYING: Final = re.compile(r"\bnot (?:only|limited to|merely|least|necessarily limited)\b", re.IGNORECASE)


def word_list(text: str) -> list[str]:
    return [word.lower().replace("’", "'") for word in _WORD.findall(text)]


def terms(text: str) -> list[str]:
    """The stems of the words that carry the sense, in order."""
    return [stem(word) for word in word_list(text) if word not in STOP and word not in NEGATIONS and len(word) > 2]


def denials(text: str) -> int:
    """How often something is denied."""
    lowered = _NOT_DENYING.sub(" ", text.lower().replace("’", "'"))
    return sum(word in NEGATIONS for word in word_list(lowered))
