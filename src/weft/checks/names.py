"""Names in a text, as far as capitals tell."""

from __future__ import annotations

import re
from typing import Final

_NAME: Final = re.compile(
    r"\b(?:[A-Z][\w&’'-]*[a-z][\w’'-]*|[A-Z]{2,}[\w&-]*)(?:\s+(?:(?:of|the|and|for|de|van|von)\s+)*(?:[A-Z][\w&’'-]+))*"
)
_NOT_NAMES: Final = frozenset(
    word
    for line in (
        "The A An This That These Those It He She We They You I In On At By For From With To Of And Or But If When",
        "Where While As After Before Any All Each Every No Not Such Some There Here What Which Who How Why Its Their",
        "His Her Our Your My Both Either Neither However Therefore Thus Also Other Otherwise Unless",
        "Until Since Although Because Under Within Without Once Only One Two Three Note See Per Upon Do Does Is Are",
        "Was Were Be Has Have Must Shall Should May Can Will Would Could Might NOT MUST SHALL SHOULD MAY",
    )
    for word in line.split()
)


def names(text: str) -> list[str]:
    """Names as far as capitals tell: no first word of a sentence that stands alone and is an ordinary word."""
    found: list[str] = []
    for match in _NAME.finditer(text):
        words = match[0].split()
        while words and words[0] in _NOT_NAMES:
            words = words[1:]
        begins = not text[: match.start()].rstrip() or text[: match.start()].rstrip()[-1] in '.!?:;"“(*•-'
        if not words or (begins and len(words) == 1 and not words[0].isupper() and len(match[0].split()) == 1):
            continue
        while words and words[-1].lower() in ("of", "the", "and", "for", "de", "van", "von"):
            words = words[:-1]
        found.append(" ".join(words))
    return list(dict.fromkeys(name for name in found if len(name) > 1))


def mentions(text: str, name: str) -> bool:
    """Whether a name occurs as whole words, in any case; a one-letter name never does by chance."""
    wanted = r"[\s`*_]+".join(map(re.escape, name.split()))  # mark-up stands between words as well
    return bool(wanted) and re.search(rf"(?<!\w){wanted}(?:'s|’s|s)?(?!\w)", text, re.IGNORECASE) is not None
