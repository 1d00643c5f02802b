"""Short forms in a question, with the words they stand for added.

A short form counts only as a whole word, in the case it is declared in; in small letters only when it is longer than
three letters, so that `it` and `am` stay the words they are. What the question says already is not said again.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

_WORD: Final = re.compile(r"\w+")
_SAFE_IN_SMALL_LETTERS: Final = 4


def expand(query: str, acronyms: Mapping[str, str]) -> str:
    small = {name.lower(): name for name in acronyms if len(name) >= _SAFE_IN_SMALL_LETTERS and name.upper() == name}
    said = " ".join(query.lower().split())
    added: list[str] = []
    for word in _WORD.findall(query):
        name = word if word in acronyms else small.get(word, "")
        if not name:
            continue
        words = acronyms[name]
        if not re.search(rf"(?<!\w){re.escape(words.lower())}(?!\w)", said):
            added.append(words)
            said += f" {words.lower()}"
    return " ".join([query, *added]) if added else query
