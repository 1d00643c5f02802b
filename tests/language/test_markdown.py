"""Paragraphs that are read at a glance are those that the parser's own rules find, line by line."""

from __future__ import annotations

import random
import re

import pytest
from markdown_it import MarkdownIt

from weft.language.markdown import blocks

_LINES = (
    *("", "", "plain words", "  indented", "      far indented", "\ttab", "é x", "& x", "\\# x", "3.14 of it", "1984"),
    *("- item", "* item", "+ item", "1. one", "12) two", "-", "*", "+", "1", "12.", "12.x", "123456789012. x"),
    *("> quote", "> # head", "> - item", "# head", "## head ##", "#no head", "===", "---", "--option", "=x", "= x"),
    *("- - -", "***", "___", "**bold** x", "*em*", "_em_ x", "| a | b |", "|---|---|", "a | b", "--|--", ":--:", ":x"),
    *("`code` x", "```", "````py", "~~~", "~x", "<div>", "</div>", "<b>x", "<!-- c", "-->", "[words](x.md) x", "<?php"),
)


def _text(seed: int) -> str:
    choose = random.Random(seed)
    lines = choose.choices(_LINES, k=choose.randint(1, 14))
    marked = [f"{choose.choice(('', '', '', '', ' ', '   ', '    ', '> ', '> > '))}{line}" for line in lines]
    return "\n".join(marked) + choose.choice(("", "\n", "\n  "))


def _by_the_parser(text: str) -> list[tuple[int, list[str]]]:
    parser = MarkdownIt("commonmark", {"html": True}).enable("table").disable(["code", "inline", "reference"])
    found, level, tables = [], 0, 0
    for token in parser.parse(text):
        tables += {"table_open": 1, "table_close": -1}.get(token.type, 0)
        if token.type == "heading_open":
            level = int(token.tag[1:])
        elif token.type == "inline" and not tables:
            said = [line.strip() for line in token.content.split("\n") if line.strip()]
            found += [(level, said)] if said else []
            level = 0
    return found


@pytest.mark.parametrize("first", range(0, 2000, 200))
def test_paragraphs_and_headings_are_those_of_the_parsers_own_rules(first: int) -> None:
    wanted = re.compile(r"\]\(")
    for seed in range(first, first + 200):
        text = _text(seed)
        found = [block for block in blocks(text) if block.kind in ("heading", "paragraph")]
        assert [(block.level, [text[slice(*line)] for line in block.lines]) for block in found] == _by_the_parser(text)
        told = [block for block in found if block.level or wanted.search(text, block.start, block.end)]
        assert [one for one in blocks(text, wanted) if one.kind in ("heading", "paragraph") and one in told] == told


def test_a_plain_paragraph_without_what_is_wanted_is_left_out() -> None:
    text = "# Head\n\nNothing\nhere.\n\nA [link](x.md)\nhere.\n"
    found = blocks(text, re.compile(r"\]\("))
    assert [text[block.start : block.end] for block in found] == ["Head", "A [link](x.md)\nhere."]
