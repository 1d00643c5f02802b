"""Markdown as blocks and marks with their places in the text: the one reader, on markdown-it-py.

    blocks(text)        headings, paragraphs, items, quotes, tables, code: each with the place of every line
    marks(text, block)  what inside a block is syntax, and what is strong, emphasis or code
    links(text, block)  the links inside a block: their words, and where they lead

Nothing here changes a character; all are ranges of the text. A line that is only indented is no code here: letters,
manuals and minutes are indented too, and whoever needs to know looks at what the line says.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Final, Literal, NamedTuple

from markdown_it import MarkdownIt
from markdown_it.parser_inline import ParserInline
from markdown_it.rules_block import StateBlock
from markdown_it.rules_inline import StateInline
from markdown_it.token import Token

BlockKind = Literal["heading", "paragraph", "table", "code", "html"]
MarkKind = Literal["syntax", "strong", "em", "code"]
Span = tuple[int, int]
InlineMark = tuple[int, int, MarkKind]
_SIGNS: Final = re.compile(r"[*_`\[\\<~]")
_TAG: Final = re.compile(
    r"</?(?:a|abbr|b|big|br|center|cite|code|del|details|div|dfn|em|font|hr|i|img|ins|kbd|li|mark|ol|p|picture|pre|q|s|samp"
    r"|small|source|span|strike|strong|sub|summary|sup|svg|table|tbody|td|th|thead|tr|tt|u|ul|var|video)\b|<!--",
    re.I,
)
"""`<branch>` is a word of a manual, not a mark."""
_PLAIN: Final = re.compile(
    r"(?:[ \t]*+(?:[^\s`~>*_+#<|:=0-9-]|[*_]+[^\s*_]|-+[^\s|:-]|`{1,2}[^\s`]|~{1,2}[^\s~]|#+[^\s#]|\+\S|:+[^\s|:-]"
    r"|=+[^\s=]|[0-9]+(?:[^\s0-9.)]|[ \t]|[.)]\S))[^\n]*+(?:\n|\Z))++(?=[ \t]*(?:\n|\Z))"
)
"""Lines up to a blank one, none of which begins anything or makes something else of the line before it."""
_STRETCH: Final = 2000
_PAIRED: Final = {"strong": "strong", "em": "em", "s": "em"}


@dataclass(frozen=True, slots=True)
class Block:
    kind: BlockKind
    start: int
    end: int
    lines: tuple[Span, ...]
    """What is said in each line, without the marks before it."""
    level: int = 0
    """Of a heading: 1 is the title of the whole."""
    items: int = 0
    """How many list items it stands in."""
    number: str = ""
    """The mark of the list item it begins: `-`, `3.`; "" when it begins none."""
    quoted: bool = False
    info: str = ""
    """Of fenced code: what stands behind the fence."""


class LinkPlace(NamedTuple):
    start: int
    end: int
    words: Span
    target: str


def blocks(text: str, wanted: re.Pattern[str] | None = None) -> list[Block]:
    """In order. What is between them is white space, rules and the marks of structure; and paragraphs that nothing
    `wanted` stands in, where that is told at a glance."""
    tokens = _blocks_only().parse(text.replace("\r", " "), {"wanted": wanted})
    starts = [0, *(match.end() for match in re.finditer("\n", text))]
    return list(_walk(text, tokens, [*starts, len(text) + 1]))


def _walk(text: str, tokens: Sequence[Token], starts: Sequence[int]) -> Iterator[Block]:
    quotes, items, number, level, tables = 0, 0, "", 0, 0
    for token in tokens:
        match token.type:
            case "blockquote_open" | "blockquote_close":
                quotes += token.nesting
            case "list_item_open":
                items, number = items + 1, f"{token.info}{token.markup}"
            case "list_item_close":
                items, number = items - 1, ""
            case "heading_open":
                level = int(token.tag[1:])
            case "fence" | "html_block" | "table_open" if token.map:
                low, high = starts[token.map[0]], starts[token.map[1]] - 1
                lines = tuple((starts[at], starts[at + 1] - 1) for at in range(*token.map))
                kind: BlockKind = {"fence": "code", "html_block": "html"}.get(token.type, "table")  # type: ignore[assignment]
                end = low + len(text[low:high].rstrip())
                yield Block(kind, low, end, lines, 0, items, number, quotes > 0, token.info.strip())
                number, tables = "", tables + token.nesting
            case "table_close":
                tables -= 1
            case "inline" if token.map and not tables:
                lines = _content(text, token, starts)
                if lines:
                    kind = "heading" if level else "paragraph"
                    yield Block(kind, lines[0][0], lines[-1][1], lines, level, items, number, quotes > 0)
                number, level = "", 0


def _content(text: str, token: Token, starts: Sequence[int]) -> tuple[Span, ...]:
    """Where the lines of a token stand. What the parser keeps of a line is its end, after the marks of structure."""
    found = []
    assert token.map is not None
    for at, said in zip(range(*token.map), token.content.split("\n"), strict=False):
        low, high = starts[at], min(starts[at + 1] - 1, len(text))
        line, words = text[low:high].replace("\r", " "), said.strip()
        place = line.rstrip().rfind(words)
        if words and place >= 0:
            found.append((low + place, low + place + len(words)))
    return tuple(found)


def marks(text: str, block: Block) -> list[InlineMark]:
    """In order, none inside another: strong inside emphasis counts as strong."""
    if block.kind == "code":
        return _fences(text, block)
    said, place = _said(text, block)
    before = [(text.rfind("\n", 0, low) + 1, low) for low, _ in block.lines[1:]]
    found: list[InlineMark] = [(low, high, "syntax") for low, high in before if text[low:high].strip()]
    if not _SIGNS.search(said):
        return found
    for start, end in _stretches(said):
        for low, high, kind in inline(said[start:end])[0]:
            parts = re.finditer("[^\n]+", said[start + low : start + high])
            at = start + low
            found += [(place(at + part.start()), place(at + part.end() - 1) + 1, kind) for part in parts]
    return sorted(found)


def links(text: str, block: Block) -> list[LinkPlace]:
    """In order. A link in code is none."""
    said, place = _said(text, block)
    if block.kind == "code" or "](" not in said:
        return []
    return [
        LinkPlace(
            place(start + one.start),
            place(start + one.end - 1) + 1,
            (place(start + one.words[0]), place(start + max(one.words[0], one.words[1] - 1)) + 1),
            one.target,
        )
        for start, end in _stretches(said)
        for one in inline(said[start:end])[1]
    ]


def _said(text: str, block: Block) -> tuple[str, Callable[[int], int]]:
    """What a block says, and the way from a place in that to the place in the text."""
    starts, size = [], 0
    for low, high in block.lines:
        starts.append(size)
        size += high - low + 1

    def place(at: int) -> int:
        line = bisect_right(starts, at) - 1
        return min(block.lines[line][0] + at - starts[line], block.lines[line][1])

    return "\n".join(text[low:high] for low, high in block.lines), place


def _stretches(said: str) -> Iterator[Span]:
    """What is looked at in one go: marks that are never closed cost the parser the square of the length."""
    low = 0
    while len(said) - low > _STRETCH:
        cut = max(said.rfind("\n", low + 1, low + _STRETCH), said.rfind(" ", low + _STRETCH // 2, low + _STRETCH))
        high = cut if cut > low else low + _STRETCH
        yield low, high
        low = high
    yield low, len(said)


def _fences(text: str, block: Block) -> list[InlineMark]:
    """The first and the last line of fenced code."""
    first, last = block.lines[0], block.lines[-1]
    opened = text[slice(*first)].strip()[:3]
    found: list[InlineMark] = [(block.start, min(first[1] + 1, block.end), "syntax")]
    if len(block.lines) > 2 and text[slice(*last)].strip().startswith(opened):
        found.append((last[0] - 1, block.end, "syntax"))
    return found


@lru_cache(maxsize=4096)
def inline(said: str) -> tuple[tuple[InlineMark, ...], tuple[LinkPlace, ...]]:
    """The marks and the links of what is read in one go: a line, or the lines of a paragraph."""
    parser = _inline()
    env: dict[str, list[Any]] = {"marks": [], "links": []}
    tokens: list[Token] = []
    parser.inline.parse(said, parser, env, tokens)
    found: list[InlineMark] = env["marks"]
    opened: list[tuple[str, int]] = []
    for token in tokens:
        place = token.meta.get("place") if token.meta else None
        if place is None:
            continue
        size = 2 if token.tag in ("strong", "s") else 1
        if token.nesting == 1:
            opened.append((token.tag, place + 1 if token.tag == "strong" else place + size))
            found.append((place + 1 - size if token.tag == "strong" else place, opened[-1][1], "syntax"))
        elif token.nesting == -1 and opened:
            tag, low = opened.pop()
            found += [(low, place, _PAIRED.get(tag, "em")), (place, place + size, "syntax")]  # type: ignore[list-item]
    return tuple(_apart(found)), tuple(env["links"])


def _apart(found: Sequence[InlineMark]) -> Iterator[InlineMark]:
    """Syntax first, then the innermost of what is left; each character belongs to one mark."""
    order = sorted(found, key=lambda mark: (mark[2] != "syntax", mark[2] != "code", mark[1] - mark[0], mark[0]))
    taken: list[Span] = []
    kept: list[InlineMark] = []
    for low, high, kind in order:
        for start, end in _free(low, high, taken):
            kept.append((start, end, kind))
        taken = sorted([*taken, (low, high)])
    return iter(sorted(kept))


def _free(low: int, high: int, taken: Sequence[Span]) -> Iterator[Span]:
    for start, end in taken:
        if start >= high:
            break
        if end > low:
            if start > low:
                yield low, start
            low = max(low, end)
    if low < high:
        yield low, high


def _is_times(text: str, at: int) -> bool:
    """`10*1024` is a product, though the letter of the standard reads two such stars as emphasis."""
    return text[at] == "*" and text[max(0, at - 1)].isalnum() and text[at + 1 : at + 2].isalnum() and at > 0


class _Placed(ParserInline):
    """The parser's own loop, which also remembers where each rule was at work."""

    def tokenize(self, state: StateInline) -> None:
        rules = list(zip(self.ruler.get_active_rules(), self.ruler.getRules(""), strict=True))
        end = state.posMax
        while state.pos < end:
            before, count = state.pos, len(state.tokens)
            name = ""
            if state.level < state.md.options["maxNesting"] and not _is_times(state.src, before):
                name = next((name for name, rule in rules if rule(state, False)), "")
            if name:
                self._note(state, name, before, count)
                if state.pos >= end:
                    break
            else:
                state.pending += state.src[state.pos]
                state.pos += 1
        if state.pending:
            state.pushPending()

    def _note(self, state: StateInline, name: str, before: int, count: int) -> None:
        found: list[InlineMark] = state.env["marks"]
        after = state.pos
        if name in ("emphasis", "strikethrough"):
            size = after - before if name == "emphasis" else (after - before) // 2
            step = 1 if name == "emphasis" else 2
            for number, token in enumerate(state.tokens[-size:]):
                token.meta["place"] = before + number * step
        elif name == "backticks" and len(state.tokens) > count and state.tokens[-1].type == "code_inline":
            size = len(state.tokens[-1].markup)
            found += [(before, before + size, "syntax"), (before + size, after - size, "code")]
            found.append((after - size, after, "syntax"))
        elif name in ("link", "image"):
            opened = before + (2 if name == "image" else 1)
            closed = state.md.helpers.parseLinkLabel(state, opened - 1, name == "link")
            closed = closed if closed >= opened else after
            found += [(before, opened, "syntax"), (closed, after, "syntax")]
            to = next((token.attrGet("href") for token in state.tokens[count:] if token.type == "link_open"), None)
            if to is not None:
                state.env["links"].append(LinkPlace(before, after, (opened, closed), str(to)))
        elif name == "escape":
            found.append((before, before + 1, "syntax"))
        elif name == "autolink":
            found += [(before, before + 1, "syntax"), (after - 1, after, "syntax")]
        elif name == "html_inline" and _TAG.match(state.src, before, after):
            found.append((before, after, "syntax"))


def _plain_paragraph(state: StateBlock, line: int, _end: int, silent: bool) -> bool:
    """Most paragraphs at a glance: the parser's own rules try every line for all that could begin there, twice."""
    begin = state.bMarks[line] + state.tShift[line]
    found = _PLAIN.match(state.src, begin)
    if found is None or silent:
        return False
    after = line + state.src.count("\n", begin, found.end() - 1) + 1
    if after > state.lineMax:
        return False
    state.line = after
    wanted: re.Pattern[str] | None = state.env["wanted"]
    if wanted and not wanted.search(state.src, begin, found.end()):
        return True
    content = state.getLines(line, after, state.blkIndent, False).strip()
    state.push("paragraph_open", "p", 1).map = [line, after]
    token = state.push("inline", "", 0)
    token.content, token.map, token.children = content, [line, after], []
    state.push("paragraph_close", "p", -1)
    return True


@lru_cache(maxsize=1)
def _blocks_only() -> MarkdownIt:
    parser = MarkdownIt("commonmark", {"html": True}).enable("table").disable(["code", "inline", "reference"])
    parser.block.ruler.before("table", "plain_paragraph", _plain_paragraph)
    return parser


@lru_cache(maxsize=1)
def _inline() -> MarkdownIt:
    parser = MarkdownIt("commonmark", {"html": True}).enable("strikethrough").disable(["entity"])
    placed = _Placed()
    placed.ruler, placed.ruler2 = parser.inline.ruler, parser.inline.ruler2
    parser.inline = placed
    return parser
