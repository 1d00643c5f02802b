"""Markdown and plain text: already what we want, once front matter is off and the title is found."""

from __future__ import annotations

import re
from typing import Final

from weft.documents.content_md import read_with_front_matter
from weft.documents.document import Draft
from weft.documents.front_matter import has_front_matter
from weft.protocol.patterns import pattern

_NAMES: Final = (".md", ".markdown", ".mdown", ".mkd", ".mdx")
_HEADING: Final = pattern(r"(?:\A|\n)#{1,6} [^\n]+\n(?:\n|\Z|[=-]{3})")
_SIGNS: Final = (
    _HEADING,
    re.compile(r"^(?:```|~~~)", re.MULTILINE),
    re.compile(r"\[[^\]\n]{1,200}\]\((?:https?://|/|#|\./)[^()\s]{1,500}\)"),
    re.compile(r"\*\*[^\s*][^*\n]{0,200}\*\*"),
    re.compile(r"^\|? ?:?-{3,}:? ?\|", re.MULTILINE),
    re.compile(r"^[^\n]{1,100}\n={3,}$", re.MULTILINE),
)
_LOOKED_AT: Final = 50_000


def is_markdown(text: str, name: str) -> bool:
    if name.lower().endswith(_NAMES) or has_front_matter(text):
        return True
    head = text[:_LOOKED_AT]
    found = sum(1 for sign in _SIGNS if sign.search(head))
    return found > 1 or bool(_HEADING.search(head))


def read_markdown(text: str) -> Draft:
    return read_with_front_matter(text)


def read_text(text: str) -> Draft:
    return Draft(kind="text", text=text)
