"""HTML to a tree of elements: forgiving, in one pass, in time that grows with the text and not with its faults.

Written here because it must never hang: measured on a page of 100,000 nested `<div>`s, lexbor took 18 s (its time
grows with the square of the depth), lxml dropped all below level 256, and html.parser took over 20 s on unclosed
tags and comments. This keeps what an article needs: which end tags are implied, raw text in scripts, entities. Nothing
is fetched and no declaration is read, so that there are no external or expanding entities. Elements below `DEPTH` are
dissolved into the one above: their text is kept.
"""

from __future__ import annotations

import html
import re
from collections import Counter
from collections.abc import Iterator
from typing import Final

from weft.documents.characters import word_set
from weft.documents.document import RefusedError

DEPTH: Final = 100
NODE_LIMIT: Final = 500_000
_VOID: Final = word_set(
    "area base br col embed hr img input link meta param source track wbr basefont bgsound frame keygen"
)
_RAW: Final = frozenset(("script", "style", "xmp", "iframe", "noembed", "noframes", "plaintext"))
_TEXT_ONLY: Final = frozenset(("title", "textarea"))
BLOCKS: Final = word_set(
    "address article aside blockquote body center dd details dialog dir div dl dt fieldset figcaption figure"
    " footer form h1 h2 h3 h4 h5 h6 header hgroup hr html legend li main menu nav ol option p pre search"
    " section select summary table tbody td tfoot th thead tr ul caption"
)
_ENDS_PARAGRAPH: Final = BLOCKS - {
    "td",
    "th",
    "tr",
    "tbody",
    "thead",
    "tfoot",
    "caption",
    "option",
    "legend",
    "body",
    "html",
}
_LEAVES_A_CELL: Final = word_set("table tbody thead tfoot tr td th body html")
_ENDED_BY: Final = {
    "li": ({"li"}, {"ul", "ol", "menu", "dir"}),
    "dt": ({"dt", "dd"}, {"dl"}),
    "dd": ({"dt", "dd"}, {"dl"}),
    "tr": ({"tr", "td", "th", "caption", "colgroup"}, {"table"}),
    "td": ({"td", "th"}, {"table", "tr"}),
    "th": ({"td", "th"}, {"table", "tr"}),
    "tbody": ({"tbody", "thead", "tfoot", "tr", "td", "th", "caption", "colgroup"}, {"table"}),
    "thead": ({"tbody", "thead", "tfoot", "tr", "td", "th", "caption", "colgroup"}, {"table"}),
    "tfoot": ({"tbody", "thead", "tfoot", "tr", "td", "th", "caption", "colgroup"}, {"table"}),
    "option": ({"option"}, {"select", "datalist"}),
}
"""For a start tag: the elements it ends when they are open, up to the one it may not leave."""
_TAG: Final = re.compile(r"<(/?)([A-Za-z][^\s/>]{0,100}+)((?:[^>\"']++|\"[^\"]*+\"|'[^']*+')*+)>")
_SHORT_TAG: Final = re.compile(r"<(/?)([A-Za-z][^\s/>]{0,100}+)([^>]*+)>")
_ATTRIBUTE: Final = re.compile(r"([^\s=/>\"']++)(?:\s*+=\s*+(?:\"([^\"]*+)\"|'([^']*+)'|([^\s>]++)))?")
_LONG_REFERENCE: Final = re.compile(r"&#[xX]?0*[0-9a-fA-F]{8,};?")
_RAW_END: Final = {tag: re.compile(rf"</{tag}(?=[\s/>])", re.IGNORECASE) for tag in _RAW | _TEXT_ONLY}
_ATTRIBUTE_LIMIT: Final = 10_000


class Element:
    __slots__ = ("attributes", "children", "tag")

    def __init__(self, tag: str, attributes: dict[str, str] | None = None, *children: Element | str) -> None:
        self.tag = tag
        self.attributes = attributes or {}
        self.children: list[Element | str] = list(children)

    def elements(self) -> Iterator[Element]:
        """This element and all below it, in the order of the document."""
        waiting: list[Element] = [self]
        while waiting:
            element = waiting.pop()
            yield element
            waiting.extend(child for child in reversed(element.children) if isinstance(child, Element))

    def first(self, *tags: str) -> Element | None:
        return next((element for element in self.elements() if element.tag in tags), None)

    def all_text(self) -> str:
        pieces: list[str] = []
        waiting: list[Element | str] = [self]
        while waiting:
            node = waiting.pop()
            if isinstance(node, str):
                pieces.append(node)
            else:
                waiting.extend(reversed(node.children))
        return "".join(pieces)


def parse_html(text: str, *, xml: bool = False) -> Element:
    """`xml` for a page that is written as XML, where `<title/>` is a whole element."""
    return _Tree(text, xml).root


def unescape(text: str) -> str:
    if "&" not in text:
        return text
    return html.unescape(_LONG_REFERENCE.sub("\ufffd", text))


class _Tree:
    def __init__(self, text: str, xml: bool) -> None:
        self.text = text
        self.xml = xml
        self.root = Element("html")
        self.open = [self.root]
        self.dissolved: list[str] = []
        self.dissolved_tags: Counter[str] = Counter()
        self.failures = 0
        self.last_sign = text.rfind(">")
        self.typed = False
        self.count = 0
        place = 0
        while place < len(text):
            place = self._step(place)
            self.count += 1
            if self.count > NODE_LIMIT:
                raise RefusedError(f"is a page of more than {NODE_LIMIT:,} tags", "Save only the article, or split it")

    def _step(self, place: int) -> int:
        """Takes what stands at `place`; answers where the next thing begins."""
        text = self.text
        sign = text.find("<", place)
        if sign < 0:
            self._add_text(text[place:])
            return len(text)
        if sign > place:
            self._add_text(text[place:sign])
        after = text[sign + 1 : sign + 2]
        if after in ("!", "?"):
            return self._declaration(sign)
        if after.isalpha() or after == "/":
            found = self._tag(sign)
            if found:
                return self._take(found)
            if after == "/":
                end = text.find(">", sign)
                return end + 1 if end >= 0 else len(text)
        self._add_text("<")
        return sign + 1

    def _tag(self, sign: int) -> re.Match[str] | None:
        # a quote that is never closed makes the careful pattern run to the end of the text: it may do so a few times
        if self.failures < 4 and sign < self.last_sign:
            found = _TAG.match(self.text, sign)
            if found:
                return found
            self.failures += 1
        return _SHORT_TAG.match(self.text, sign) if sign < self.last_sign else None

    def _declaration(self, sign: int) -> int:
        text = self.text
        if text.startswith("<!--", sign):
            end = text.find("-->", sign + 2)
            return end + 3 if end >= 0 else len(text)
        if text.startswith("<![CDATA[", sign):
            end = text.find("]]>", sign)
            self._add_plain(text[sign + 9 : end if end >= 0 else len(text)])
            return end + 3 if end >= 0 else len(text)
        end = text.find(">", sign)
        if not self.typed and text[sign + 2 : sign + 9].lower() == "doctype":
            # what a document type declares is skipped, never used
            self.typed = True
            subset = text.find("[", sign, end) if end >= 0 else -1
            close = text.find("]>", subset, subset + 100_000) if subset >= 0 else -1
            end = close + 1 if close >= 0 else end
        return end + 1 if end >= 0 else len(text)

    def _take(self, found: re.Match[str]) -> int:
        tag = found[2].lower()
        if found[1]:
            self._end(tag)
            return found.end()
        self._start(tag, found[3])
        if found[3].endswith("/") and tag not in _VOID and (self.xml or self._in_drawing()):
            self._end(tag)
            return found.end()
        if tag not in _RAW_END:
            return found.end()
        close = _RAW_END[tag].search(self.text, found.end())
        inside = self.text[found.end() : close.start() if close else len(self.text)]
        if tag in _TEXT_ONLY:
            self._add_text(inside)
        else:
            self._add_plain(inside)
        self._end(tag)
        if not close:
            return len(self.text)
        end = self.text.find(">", close.end())
        return end + 1 if end >= 0 else len(self.text)

    def _in_drawing(self) -> bool:
        """Whether what is open is a drawing or a formula: in these, too, `<path/>` is a whole element."""
        return any(each.tag in ("svg", "math") for each in self.open)

    # -- the tree

    def _start(self, tag: str, attributes: str) -> None:
        if tag in ("html", "body") and len(self.open) > 1 and any(each.tag == tag for each in self.open):
            return
        if tag == "html":
            self.root.attributes.update(_attributes(attributes))
            return
        if tag in _ENDS_PARAGRAPH:
            self._close({"p"}, {"td", "th", "table", "blockquote", "li", "button"})
        if tag in _ENDED_BY:
            self._close(*_ENDED_BY[tag])
        element = Element(tag, _attributes(attributes))
        if tag in _VOID:
            self.open[-1].children.append(element)
        elif len(self.open) > DEPTH:
            # only the boundary between blocks is kept, once: the text goes on in the element that is open
            last = self.open[-1].children[-1:]
            if tag in BLOCKS and not (last and isinstance(last[0], Element) and last[0].tag == "hr"):
                self.open[-1].children.append(Element("hr"))
            self.dissolved.append(tag)
            self.dissolved_tags[tag] += 1
        else:
            self.open[-1].children.append(element)
            self.open.append(element)

    def _end(self, tag: str) -> None:
        if self.dissolved_tags[tag]:
            while (ended := self.dissolved.pop()) != tag:
                self.dissolved_tags[ended] -= 1
            self.dissolved_tags[tag] -= 1
            return
        if tag == "p" and not any(each.tag == "p" for each in self.open):
            return
        if tag == "br":
            self.open[-1].children.append(Element("br"))
            return
        for depth in range(len(self.open) - 1, 0, -1):
            if self.open[depth].tag == tag:
                del self.open[depth:]
                self.dissolved.clear()
                self.dissolved_tags.clear()
                return
            if self.open[depth].tag in ("td", "th") and tag not in _LEAVES_A_CELL:
                return

    def _close(self, tags: set[str], within: set[str]) -> None:
        if self.dissolved:
            return
        for depth in range(len(self.open) - 1, 0, -1):
            if self.open[depth].tag in within:
                break
            if self.open[depth].tag in tags:
                del self.open[depth:]

    def _add_text(self, text: str) -> None:
        self._add_plain(unescape(text))

    def _add_plain(self, text: str) -> None:
        if text:
            self.open[-1].children.append(text)


def _attributes(text: str) -> dict[str, str]:
    if not text.strip(" \t\n/"):
        return {}
    found: dict[str, str] = {}
    for match in _ATTRIBUTE.finditer(text[:_ATTRIBUTE_LIMIT]):
        value = match[2] or match[3] or match[4] or ""
        found.setdefault(match[1].lower(), unescape(value))
    return found
