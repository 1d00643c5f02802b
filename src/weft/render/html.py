"""Texts as HTML for the page: markdown, code with colours, differences. Nothing active gets through.

The page shows what models, tools and documents wrote, so none of it is trusted: markup in markdown is text, links go to
the web or to places of the page only, pictures are named instead of loaded, and everything passes a cleaner that knows
which elements and attributes there may be. Colours are classes; the page's style sheet has them.
"""

from __future__ import annotations

import html
import math
import threading
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache
from typing import Any, Final

from weft.language.line_difference import unified_lines
from weft.render.cells import clean
from weft.render.formulas import ATTRIBUTES as FORMULA_ATTRIBUTES
from weft.render.formulas import ELEMENTS as FORMULA_ELEMENTS
from weft.render.formulas import add_formulas

LONGEST: Final = 200_000
"""Characters of one text that are formatted; a longer one is shown as it is."""
_COLOURING_SECONDS: Final = 2.0
"""For all the code in one text: there are patterns of Pygments that take the square of it, minutes for what a model may
write."""
_UNTIL: Final[ContextVar[float]] = ContextVar("colouring until", default=math.inf)
_IMPORTING: Final = threading.Lock()
"""Pygments puts other modules in the place of its own while it is imported, which a second thread must not see."""
_ELEMENTS: Final = {
    *(
        "p",
        "br",
        "hr",
        "h1",
        "h2",
        "h3",
        "h4",
        "h5",
        "h6",
        "ul",
        "ol",
        "li",
        "blockquote",
        "pre",
        "code",
        "em",
        "strong",
    ),
    *("s", "del", "a", "table", "thead", "tbody", "tr", "th", "td", "span", "div", "sup", "sub"),
    *FORMULA_ELEMENTS,
}
_ATTRIBUTES: Final = {
    "a": {"href", "title"},
    "code": {"class"},
    "span": {"class"},
    "div": {"class", "data-language"},
    "td": {"class"},
    "th": {"class"},
    "tr": {"class"},
    "li": {"class"},
    "ol": {"start"},
    "pre": {"class"},
    **FORMULA_ATTRIBUTES,
}


def markdown_html(text: str) -> str:
    if len(text) > LONGEST:
        return f"<pre>{html.escape(_plain(text))}</pre>"
    with _coloured_for_a_while():
        return _cleaned(_markdown().render(_plain(text)))


def code_html(text: str, language: str = "") -> str:
    """One block of code with colours; without a known language as it is."""
    with _coloured_for_a_while():
        shown = _coloured(_plain(text), language)
    return _cleaned(f'<pre class="code"><code>{shown}</code></pre>')


def difference_html(before: str, after: str, *, names: Sequence[str] = ("before", "after")) -> str:
    """What was changed, line by line, with a sign for each line so that it is not told by colour alone."""
    lines = unified_lines(_plain(before).splitlines(), _plain(after).splitlines(), names[0], names[1])
    kinds = {"+": "added", "-": "removed", "@": "place"}
    rows = []
    for number, line in enumerate(lines):
        kind = "file" if number < 2 else kinds.get(line[:1], "same")
        rows.append(f'<span class="line {kind}">{html.escape(line)}</span>')
    if not rows:
        return '<div class="difference none">no difference</div>'
    return _cleaned('<pre class="difference"><code>' + "\n".join(rows) + "</code></pre>")


def _plain(text: str) -> str:
    """Every line and tab as it is; nothing in between that moves a cursor or turns the direction of reading."""
    return "\n".join("\t".join(clean(part) for part in line.split("\t")) for line in text.splitlines())


def _coloured(text: str, language: str) -> str:
    if not language or len(text) > LONGEST:
        return html.escape(text)
    with _IMPORTING:
        from pygments import format as formatted
        from pygments.formatters import HtmlFormatter
        from pygments.lexers import get_lexer_by_name
        from pygments.util import ClassNotFound

    try:
        lexer = get_lexer_by_name(language, stripnl=False)
    except ClassNotFound:
        return html.escape(text)
    shown: str = formatted(_in_time(lexer.get_tokens(text), text), HtmlFormatter(nowrap=True))
    return shown


@contextmanager
def _coloured_for_a_while() -> Iterator[None]:
    before = _UNTIL.set(time.monotonic() + _COLOURING_SECONDS)
    try:
        yield
    finally:
        _UNTIL.reset(before)


def _in_time(tokens: Iterable[tuple[Any, str]], text: str) -> Iterator[tuple[Any, str]]:
    """The pieces of a text with their colours; when it takes too long, the rest of it as it is."""
    from pygments.token import Text

    done = 0
    for kind, piece in tokens:
        if time.monotonic() > _UNTIL.get():
            yield Text, text[done:]
            return
        done += len(piece)
        yield kind, piece


@cache
def _markdown() -> Any:
    from markdown_it import MarkdownIt

    made = MarkdownIt("commonmark", {"html": False, "linkify": False, "highlight": _fence})
    made.enable(["table", "strikethrough"])
    made.add_render_rule("image", _named_picture)
    for cell in ("th_open", "td_open"):
        made.add_render_rule(cell, _aligned_cell)
    add_formulas(made)
    return made


def _aligned_cell(_: Any, tokens: Sequence[Any], index: int, __: Any, ___: Any) -> str:
    """A column's side as a class: the page has no inline style."""
    token = tokens[index]
    sides = {"text-align:right": "right", "text-align:center": "centre"}
    side = sides.get(str(token.attrs.get("style", "")), "")
    return f'<{token.tag} class="{side}">' if side else f"<{token.tag}>"


def _fence(text: str, language: str, _: str) -> str:
    shown = _coloured(text, language)
    name = html.escape(language, quote=True)
    return f'<pre class="code"><code class="language-{name}">{shown}</code></pre>'


def _named_picture(_: Any, tokens: Sequence[Any], index: int, __: Any, ___: Any) -> str:
    """A picture from elsewhere would tell elsewhere that this is read: its name and address stand in its place."""
    token = tokens[index]
    name = html.escape(token.content or "picture")
    address = html.escape(str(token.attrs.get("src", "")), quote=True)
    return f'<a href="{address}" title="{address}">{name}</a>'


def _cleaned(text: str) -> str:
    import nh3

    return nh3.clean(
        text,
        tags=_ELEMENTS,
        attributes={name: set(allowed) for name, allowed in _ATTRIBUTES.items()},
        url_schemes={"http", "https", "mailto"},
        link_rel="noopener noreferrer nofollow",
        strip_comments=True,
    )
