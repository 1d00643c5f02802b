"""HTML by construction: an element is made of elements and plain text, and plain text is always escaped.

`Html` is the only type that is taken as mark-up, and only `element` and the page's own parts make one; so a text that
somebody else wrote can't become mark-up by being forgotten.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Sequence
from html import escape
from typing import Final

from weft.render.kit.characters import visible

Child = str | None
_VOID: Final = frozenset({"meta", "link", "br", "hr"})


class Html(str):
    """Finished mark-up."""

    __slots__ = ()


def text(value: str) -> Html:
    return value if isinstance(value, Html) else Html(escape(visible(value), quote=False))


def element(name: str, /, *children: Child, **attributes: str | None) -> Html:
    """Attributes that are None are left out; a trailing underscore and underscores inside stand for hyphens."""
    given = "".join(
        f' {key.rstrip("_").replace("_", "-")}="{escape(visible(value))}"'
        for key, value in attributes.items()
        if value is not None
    )
    if name in _VOID:
        return Html(f"<{name}{given}>")
    return Html(f"<{name}{given}>{join(*children)}</{name}>")


def join(*children: Child) -> Html:
    return Html("".join(text(child) for child in children if child is not None))


Section = tuple[str, str, Html | None]
"""Its id, its title and what is in it; one with nothing in it is left out."""


def whole_page(
    title: str,
    style: str,
    masthead: Html,
    sections: Sequence[Section],
    *,
    main: str,
    skip: str,
    contents: str,
    made: Child,
    language: str,
    way: str,
) -> str:
    """A page that stands alone. `main`: the id of what it is about, to which `skip` leads. `made`: what made it."""
    shown = [section for section in sections if section[2]]
    links = [element("li", element("a", name, href=f"#{id}")) for id, name, _ in shown]
    body = element(
        "body",
        element("a", skip, href=f"#{main}", class_="skip"),
        element(
            "div",
            masthead,
            element("nav", element("ol", *links), aria_label=contents),
            element("main", *(_section(*section) for section in shown), id=main, tabindex="-1"),
            element("footer", element("p", made)),
            class_="page",
        ),
        dir=way,
    )
    return "<!DOCTYPE html>\n" + element("html", _head(title, style), "\n", body, lang=language) + "\n"


def _section(id: str, title: str, inside: Html | None) -> Html:
    return element("section", element("h2", title, id=f"{id}-title"), inside, id=id, aria_labelledby=f"{id}-title")


def _head(title: str, style: str) -> Html:
    """Its security policy allows exactly this style, by hash, and no more."""
    digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    policy = f"default-src 'none'; style-src 'sha256-{digest}'; base-uri 'none'; form-action 'none'"
    return element(
        "head",
        element("meta", charset="utf-8"),
        element("meta", http_equiv="Content-Security-Policy", content=policy),
        element("meta", name="viewport", content="width=device-width, initial-scale=1"),
        element("meta", name="color-scheme", content="light dark"),
        element("meta", name="referrer", content="no-referrer"),
        element("title", title),
        element("style", Html(style)),
    )
