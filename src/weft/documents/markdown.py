"""A tree of elements as markdown: headings, lists, quotes, tables and code; of inline markup only code.

Emphasis and the targets of links are left out: the text is read for what it says, and a quote taken from it must be
what a reader of the page saw.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from weft.documents.characters import word_set
from weft.documents.markup import BLOCKS, Element

_DROPPED: Final = word_set(
    "script style template svg object embed applet iframe canvas audio video map head link meta title noscript"
    " select textarea button input datalist rp rt xmp noembed noframes frame colgroup col"
)
_HEADINGS: Final = {"h1": "#", "h2": "##", "h3": "###", "h4": "####", "h5": "#####", "h6": "######"}
_SPACE: Final = re.compile(r"[ \t\n\r\f\xa0]+")
_AROUND_BREAK: Final = re.compile(r" *\n *")
_SUPERSCRIPT: Final = str.maketrans("0123456789+-", "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻")
_SUBSCRIPT: Final = str.maketrans("0123456789+-", "₀₁₂₃₄₅₆₇₈₉₊₋")
_LANGUAGE: Final = re.compile(r"(?:^|\s)(?:language-|lang-|highlight-|brush:\s?)([A-Za-z0-9+#-]{1,20})")
_FENCE: Final = re.compile(r"^`{3,}", re.MULTILINE)


_ITEMS: Final = frozenset(("li", "ul", "ol", "menu", "dir"))


def to_markdown(element: Element) -> str:
    return "\n\n".join(_blocks(element, _BlockMap(element)))


class _BlockMap:
    """Which elements hold a block somewhere below: a link around a whole card is a block, a link in a line is not."""

    def __init__(self, root: Element) -> None:
        self.inside: set[int] = set()
        order = list(root.elements())
        for element in reversed(order):
            if any(isinstance(child, Element) and self.is_block(child) for child in element.children):
                self.inside.add(id(element))

    def is_block(self, element: Element) -> bool:
        return element.tag in BLOCKS or id(element) in self.inside


def _blocks(element: Element, blocks: _BlockMap) -> list[str]:
    result: list[str] = []
    line: list[str] = []

    def flush() -> None:
        text = _tidy("".join(line))
        line.clear()
        if text:
            result.append(text)

    for child in element.children:
        if isinstance(child, str):
            line.append(_SPACE.sub(" ", child))
        elif child.tag in _DROPPED:
            continue
        elif blocks.is_block(child):
            flush()
            result.extend(_block(child, blocks))
        else:
            _inline(child, line)
    flush()
    return result


def _block(element: Element, blocks: _BlockMap) -> list[str]:
    tag = element.tag
    if tag in _HEADINGS:
        text = inline_text(element).replace("\n", " ")
        return [f"{_HEADINGS[tag]} {text}"] if text else []
    if tag in ("ul", "ol", "menu", "dir"):
        return _list(element, blocks)
    if tag == "blockquote":
        inside = "\n\n".join(_blocks(element, blocks))
        return ["\n".join(f"> {line}".rstrip() for line in inside.split("\n"))] if inside else []
    if tag == "pre":
        return _code(element)
    if tag == "table":
        return _table(element, blocks)
    if tag == "li":
        return _item(element, "- ", blocks)
    return _blocks(element, blocks)


def _list(element: Element, blocks: _BlockMap) -> list[str]:
    """A list, and what stands in it outside of its items: old editors indent a paragraph with a list that has none."""
    if not any(isinstance(child, Element) and child.tag in _ITEMS for child in element.children):
        return _blocks(element, blocks)
    ordered = element.tag == "ol"
    start = element.attributes.get("start", "")
    number = int(start) if ordered and re.fullmatch(r"\d{1,6}", start) else 1
    result: list[str] = []
    items: list[str] = []
    line: list[str] = []

    def flush() -> None:
        if text := _tidy("".join(line)):
            end()
            result.append(text)
        line.clear()

    def end() -> None:
        if items:
            result.append(("\n\n" if any("\n\n" in item for item in items) else "\n").join(items))
        items.clear()

    for child in element.children:
        if isinstance(child, str):
            line.append(_SPACE.sub(" ", child))
        elif child.tag in _DROPPED:
            continue
        elif not blocks.is_block(child):
            _inline(child, line)
        else:
            flush()
            found = _item(child, f"{number}. " if ordered else "- ", blocks)
            items += found
            number += bool(found)
    flush()
    end()
    return result


def _item(element: Element, mark: str, blocks: _BlockMap) -> list[str]:
    if element.tag in ("ul", "ol"):
        # a list directly in a list, as old editors write it: one level deeper
        inside = "\n\n".join(_list(element, blocks))
        return [_indented(inside, "  ")] if inside else []
    parts = _blocks(element, blocks)
    if not parts:
        return []
    text = parts[0]
    for part in parts[1:]:
        tight = re.match(r"(?:- |\d+\. )", part) and "\n\n" not in part
        text += ("\n" if tight else "\n\n") + part
    return [mark + _indented(text, " " * len(mark)).lstrip(" ")]


def _indented(text: str, by: str) -> str:
    return "\n".join(by + line if line else line for line in text.split("\n"))


def _code(element: Element) -> list[str]:
    text = _preformatted(element).replace("\xa0", " ").strip("\n").rstrip()
    if not text:
        return []
    inner = element.first("code")
    classes = " ".join(each.attributes.get("class", "") for each in (element, inner) if each)
    language = _LANGUAGE.search(classes)
    fence = "`" * max(3, 1 + max((len(found) for found in _FENCE.findall(text)), default=0))
    return [f"{fence}{language[1] if language else ''}\n{text}\n{fence}"]


def _preformatted(element: Element) -> str:
    pieces: list[str] = []
    waiting: list[Element | str] = [element]
    while waiting:
        node = waiting.pop()
        if isinstance(node, str):
            pieces.append(node)
        elif node.tag == "br":
            pieces.append("\n")
        elif node.tag not in _DROPPED:
            waiting.extend(reversed(node.children))
    return "".join(pieces)


# -- tables


def _table(element: Element, blocks: _BlockMap) -> list[str]:
    rows, caption = _rows(element)
    heading = [caption] if caption else []
    cells = [cell for row in rows for cell in row]
    if max(map(len, rows), default=0) < 2 or len(rows) < 2 or any(_is_layout(cell, blocks) for cell in cells):
        return heading + [block for cell in cells for block in _blocks(cell, blocks)]
    spread = [texts for row in rows if any(texts := _spread(row, blocks))]
    width = max([*map(len, rows), *map(len, spread)])
    lines = ["| " + " | ".join([*texts, *[""] * (width - len(texts))]) + " |" for texts in spread]
    return [*heading, "\n".join([lines[0], "|" + " --- |" * width, *lines[1:]])] if lines else heading


def _rows(table: Element) -> tuple[list[list[Element]], str]:
    rows: list[list[Element]] = []
    caption = ""
    waiting = list(reversed(table.children))
    while waiting:
        node = waiting.pop()
        if not isinstance(node, Element):
            continue
        if node.tag == "tr":
            row = [child for child in node.children if isinstance(child, Element) and child.tag in ("td", "th")]
            if row:
                rows.append(row)
        elif node.tag == "caption":
            caption = inline_text(node).replace("\n", " ")
        elif node.tag != "table":
            waiting.extend(reversed(node.children))
    return rows, caption


def _is_layout(cell: Element, blocks: _BlockMap) -> bool:
    """A cell that holds a part of a page and not a value."""
    if not blocks.is_block(cell):
        return False
    tags = [element.tag for element in cell.elements()]
    return any(tag in tags for tag in ("table", "h1", "h2", "h3", "article", "section")) or tags.count("p") > 3


def _cell(cell: Element, blocks: _BlockMap) -> str:
    text = " ".join(_blocks(cell, blocks)).replace("\n", " ")
    if not text:  # a picture by itself is what the cell says: a tick, a warning
        text = " ".join(each.attributes.get("alt", "") for each in cell.elements() if each.tag == "img").strip()
    return _SPACE.sub(" ", text).replace("|", "\\|")


def _spread(row: Sequence[Element], blocks: _BlockMap) -> list[str]:
    """The texts of a row, column by column, up to the last that says something."""
    spread: list[str] = []
    for cell in row:
        span = cell.attributes.get("colspan", "1")
        spread += [_cell(cell, blocks), *[""] * (int(span) - 1 if re.fullmatch(r"[1-9]\d?", span) else 0)]
    while spread and not spread[-1]:
        spread.pop()
    return spread


# -- inside a line

_FORMULA: Final = re.compile(r"\s*(?:\$|\{?\\(?:[a-zA-Z]|[\[(]))")


def inline_text(element: Element) -> str:
    pieces: list[str] = []
    for child in element.children:
        _inline(child, pieces)
    return _tidy("".join(pieces))


def _inline(node: Element | str, pieces: list[str]) -> None:
    if isinstance(node, str):
        pieces.append(_SPACE.sub(" ", node))
        return
    tag = node.tag
    if tag in _DROPPED:
        return
    if tag == "br":
        pieces.append("\n")
    elif tag == "img":
        # only a picture that stands for a character or a formula belongs to the line
        alternative = node.attributes.get("alt", "")
        sign = 0 < len(alternative) <= 4 and not alternative.isascii()
        pieces.append(alternative if sign or _FORMULA.match(alternative) else "")
    elif tag == "math":
        pieces.append(_formula(node))
    elif tag in ("code", "kbd", "samp", "tt"):
        text = _SPACE.sub(" ", node.all_text()).strip()
        pieces.append(f"`{text}`" if text and "`" not in text else text)
    elif tag in ("sup", "sub"):
        pieces.append(raised(_SPACE.sub(" ", node.all_text()).strip(), tag))
    elif tag == "q":
        pieces.append("“")
        _children(node, pieces)
        pieces.append("”")
    else:
        block = tag in BLOCKS
        pieces.append(" " if block else "")
        _children(node, pieces)
        pieces.append(" " if block else "")


def raised(text: str, tag: str) -> str:
    """What `sup` and `sub` set higher or lower."""
    table = _SUPERSCRIPT if tag == "sup" else _SUBSCRIPT
    return text.translate(table) if re.fullmatch(r"[0-9+-]{1,6}", text) else text


def _formula(node: Element) -> str:
    """As it is written in TeX, where the page has that; its signs else."""
    noted = next((each for each in node.elements() if each.tag == "annotation"), None)
    written = node.attributes.get("alttext", "") or (noted.all_text() if noted else "")
    return _SPACE.sub(" ", written or " ".join(node.all_text().split()))


def _children(element: Element, pieces: list[str]) -> None:
    for child in element.children:
        _inline(child, pieces)


def _tidy(text: str) -> str:
    text = re.sub(" {2,}", " ", text)
    return _AROUND_BREAK.sub("\n", text).strip()
