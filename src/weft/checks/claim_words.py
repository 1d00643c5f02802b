"""What a sentence says, word by word: its terms, which of them it denies, how strongly it obliges."""

from __future__ import annotations

import re
from collections.abc import Iterator
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
_CLAUSE: Final = re.compile(r"[,;:()–—]|\b(?:but|unless|except|because|although|which|who|that|where|when|if)\b")
SCOPE: Final = 5
"""How many terms after a negation it denies, within its clause."""

_STRENGTHS: Final = (
    (
        re.compile(
            r"\b(?:must|shall|(?:is|are|be) (?:required|obliged|obligated) to|has to|have to|mandatory|needs? to)\b"
        ),
        3,
    ),
    (re.compile(r"\b(?:should|ought to|(?:is|are|be) (?:recommended|advised|encouraged))\b"), 2),
    (re.compile(r"\b(?:may|might|can|could|optional|(?:is|are|be) (?:allowed|permitted|free) to)\b"), 1),
)

_OPPOSITES: Final = (
    "required optional", "mandatory optional", "mandatory voluntary", "permitted prohibited", "allowed prohibited",
    "allowed forbidden", "permitted forbidden", "always never", "increase decrease", "increases decreases",
    "increased decreased", "before after", "above below", "minimum maximum", "include exclude", "includes excludes",
    "included excluded", "including excluding", "accept reject", "accepted rejected", "internal external",
    "more less", "more fewer", "first last", "earlier later", "higher lower", "greater less", "greater smaller",
    "least most", "all none", "enable disable", "enabled disabled", "valid invalid", "lawful unlawful",
    "legal illegal", "public private", "direct indirect", "sufficient insufficient", "appropriate inappropriate",
    "possible impossible", "add remove", "added removed", "grant deny", "granted denied", "grants denies",
    "terminate reinstate", "terminated reinstated", "succeed fail", "succeeds fails", "true false", "start stop",
    "begin end", "open closed", "with without", "binding nonbinding", "same different",
    "irrevocable revocable", "perpetual temporary", "exclusive non-exclusive", "everyone nobody",
)  # fmt: skip
OPPOSITES: Final[dict[str, frozenset[str]]] = {}
for _pair in _OPPOSITES:
    _one, _other = _pair.split()
    OPPOSITES[_one] = OPPOSITES.get(_one, frozenset()) | {_other}
    OPPOSITES[_other] = OPPOSITES.get(_other, frozenset()) | {_one}


def word_list(text: str) -> list[str]:
    return [word.lower().replace("’", "'") for word in _WORD.findall(text)]


def terms(text: str) -> list[str]:
    """The stems of the words that carry the sense, in order."""
    return [stem(word) for word in word_list(text) if word not in STOP and word not in NEGATIONS and len(word) > 2]


def denied(text: str) -> set[str]:
    """The terms a negation reaches: the next few in its clause."""
    found: set[str] = set()
    lowered = _NOT_DENYING.sub(" ", text.lower().replace("’", "'"))
    for clause in _clauses(lowered):
        words = word_list(clause)
        for index, word in enumerate(words):
            if word in NEGATIONS:
                following = [stem(w) for w in words[index + 1 :] if w not in STOP and w not in NEGATIONS and len(w) > 2]
                found.update(following[:SCOPE])
    return found


def _clauses(text: str) -> Iterator[str]:
    position = 0
    for match in _CLAUSE.finditer(text):
        yield text[position : match.start()]
        position = match.start()
    yield text[position:]


def denials(text: str) -> int:
    """How often something is denied."""
    lowered = _NOT_DENYING.sub(" ", text.lower().replace("’", "'"))
    return sum(word in NEGATIONS for word in word_list(lowered))


def strengths(text: str) -> set[int]:
    """3 for what must be, 2 for what should, 1 for what may; what a negation turns round is left to the negation."""
    lowered = text.lower()
    return {strength for pattern, strength in _STRENGTHS if pattern.search(lowered)}


def opposites(claim: str, source: str) -> list[tuple[str, str]]:
    """Words of the claim whose opposite the source has, where the source has not the word itself."""
    said, there = set(word_list(claim)), set(word_list(source))
    return sorted(
        (word, other)
        for word in said - there
        for other in OPPOSITES.get(word, frozenset())
        if other in there and other not in said
    )
