"""Where a page's links stand in its text and where they lead, and which place in the text each of its anchors names.

Of Markdown both are read from the text itself: its links, and its headings under the names that hosts give them. Of a
page, text and places must stay together through everything that is done to the text. So a link and an anchor leave a
character in the tree that no document may use (of a private plane), and when the text is in its last form the
characters are taken out again, each telling its place.
"""

from __future__ import annotations

import re
from itertools import count
from typing import Final
from urllib.parse import unquote, urlsplit

from weft.documents.characters import normalise
from weft.documents.document import Link
from weft.documents.markup import Element
from weft.language.markdown import blocks, links

_FIRST: Final = 0x10_0000
_LIMIT: Final = 0xFFF0
"""So many links and anchors of one page are followed; a page with more is an index."""
_SIGN: Final = "[\U00100000-\U0010fff0]"
_MARKS: Final = re.compile(f"{_SIGN}+")
_ALONE: Final = re.compile(rf"(?:(?<=\n)|\A)({_SIGN}(?: ?{_SIGN})*)\n\n")
"""Marks in a block of their own belong to the next."""
_SPACED: Final = re.compile(rf"(?:(?<=[ \n])|\A)({_SIGN}(?: *{_SIGN})*) +| +({_SIGN}(?: *{_SIGN})*)(?=\n|\Z)")
"""Marks with a space that is one too many without them."""
_NAMED: Final = re.compile(r"""<a\s+(?:id|name)=["']([^"'<>]+)["']""")
_LINK_OR_NAME: Final = re.compile(r"\]\(|<a\s")
_FRAMES: Final = frozenset(("ul", "ol", "menu", "dir", "dl", "table", "thead", "tbody", "tfoot", "tr"))


class Marker:
    """Leaves its characters in a tree, and finds them again in the text that was made of it."""

    def __init__(self) -> None:
        self._known: list[tuple[str, str]] = []

    def mark(self, root: Element) -> None:
        for element in list(root.elements()):
            names = {element.attributes.get("id", ""), element.attributes.get("name", "") if element.tag == "a" else ""}
            for name in filter(None, names):
                self._leave(element, "", name)
            target = element.attributes.get("href", "").strip() if element.tag == "a" else ""
            if target and is_local(target):
                self._leave(element, without_marks(" ".join(element.all_text().split())), target)

    def _leave(self, element: Element, text: str, name: str) -> None:
        while element.tag in _FRAMES:
            inside = next((child for child in element.children if isinstance(child, Element)), None)
            if inside is None:
                return
            element = inside
        if len(self._known) < _LIMIT:
            element.children.insert(0, chr(_FIRST + len(self._known)))
            self._known.append((text, name))

    def collect(self, text: str) -> tuple[str, tuple[Link, ...], dict[str, int]]:
        """The text without the characters, the links in it, and the place that each anchor names."""
        text = _ALONE.sub(lambda found: found[1].replace(" ", ""), text)
        text = _SPACED.sub(lambda found: (found[1] or found[2]).replace(" ", ""), text)
        links: list[Link] = []
        anchors: dict[str, int] = {}
        pieces: list[str] = []
        length = position = 0
        for found in _MARKS.finditer(text):
            pieces.append(text[position : found.start()])
            length += len(pieces[-1])
            position = found.end()
            for sign in found.group():
                words, name = self._known[ord(sign) - _FIRST]
                if words:
                    links.append(Link(length, words, name))
                else:
                    anchors.setdefault(name, length)
        bare = "".join([*pieces, text[position:]])
        tidy = normalise(bare)
        # Where a mark stood between spaces that are one without it, the places behind it do not hold any more.
        return (bare, tuple(links), anchors) if tidy == bare else (tidy, (), {})


def markdown_links(text: str) -> tuple[tuple[Link, ...], dict[str, int]]:
    """The links of a Markdown text into its own set of files, and the places that links may name."""
    found: list[Link] = []
    anchors: dict[str, int] = {}
    for block in blocks(text, _LINK_OR_NAME):
        if block.kind == "heading":
            name = _heading_name(text[slice(*block.lines[0])])
            again = next(number for number in count() if (f"{name}-{number}" if number else name) not in anchors)
            anchors[f"{name}-{again}" if again else name] = block.start
        for place in links(text, block):
            words = " ".join(text[slice(*place.words)].split())
            if words and is_local(place.target):
                found.append(Link(place.start, words, place.target))
        for named in _NAMED.finditer(text, block.start, block.end):
            anchors.setdefault(named[1], named.start())
    return tuple(found), anchors


def _heading_name(heading: str) -> str:
    """As hosts of Markdown name a heading: small, with hyphens, without signs."""
    bare = "".join(letter for letter in heading.lower() if letter.isalnum() or letter in " -_")
    return bare.strip().replace(" ", "-")


def without_marks(text: str) -> str:
    """A page that uses these characters itself would be taken for marked."""
    return _MARKS.sub("", text)


def is_local(target: str) -> bool:
    try:
        parts = urlsplit(target)
    except ValueError:
        return False
    return not parts.scheme and not parts.netloc and not target.startswith("/")


def file_and_anchor(target: str) -> tuple[str, str]:
    """`../use.html#when` as the file and the anchor it names; the file is "" for the same page."""
    parts = urlsplit(target)
    return unquote(parts.path), unquote(parts.fragment)
