"""Which part of a page is the article: navigation, banners, advertisements and lists of links are taken off the tree.

Three steps. What is something else by its tag, its role or how it is built (boxes of links, of forms, at the edge of
the page) goes, unless it holds most of the text; a class only says where to look, so that a section on copyright or
references stays, and so does a paragraph or a cell whatever its class is. Then
the way leads from the page down to where the paragraphs are: into an `article` or `main` that has most of them, then
into any child that has nearly all. In what is left, lists and boxes that are mostly links go too.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from typing import Final
from urllib.parse import urlsplit

from weft.documents.characters import squeezed, word_set
from weft.documents.markup import BLOCKS, Element
from weft.protocol.values import dataclass

_MACHINES: Final = word_set("script style template noscript svg iframe object embed canvas audio video head applet")
_NEVER: Final = _MACHINES | word_set("select textarea button input dialog nav menu datalist frame frameset map")
_ROLES: Final = word_set(
    "navigation banner contentinfo complementary search dialog alertdialog menu menubar toolbar tablist"
)
_NAMES: Final = word_set(
    "cookie cookies consent gdpr ccpa nav navbar navigation menu breadcrumb breadcrumbs sidebar footer share"
    " sharing sharebar social socials recommended recommendations recirculation newsletter subscribe"
    " subscription signup advert adverts advertisement advertising ads ad adsense sponsor sponsored promo"
    " promotion promotions popup modal overlay paywall comments disqus pagination pager toolbar"
    " masthead skip login signin outbrain taboola toc navbox catlinks printfooter jump"
    " trending popular teaser teasers byline authorbox tagcloud feedback"
)
"""Of boxes around an article: such a box goes when it is built like one, of links or with something to press."""
_BESIDE: Final = word_set("noprint hatnote mbox ambox infobox")
"""What encyclopedias set beside their text, by names that nothing else has: it goes unless it holds prose."""
_SUBJECTS: Final = word_set("related references reflist metadata comment copyright tags taglist")
"""Of such boxes, and as well of what a text is about: these go only when they are lists of links around the site."""
_TEXT: Final = word_set("p td th tr li dd dt caption figcaption blockquote pre address h1 h2 h3 h4 h5 h6")
"""Parts of a text, and no boxes, whatever class they have."""
_INLINE_NAMES: Final = word_set("headerlink permalink editsection sr sronly screenreader visually noprint tooltip")
_EDGES: Final = word_set("comments comment kommentare footer modal popup overlay cookie cookies consent newsletter")
_CONTAINERS: Final = frozenset(("html", "body", "main", "article"))
_HIDDEN: Final = re.compile(r"display\s*:\s*none|visibility\s*:\s*hidden", re.IGNORECASE)
_WORDS: Final = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])|\d+")
_HEADINGS: Final = ("h1", "h2", "h3", "h4", "h5", "h6")
_PARAGRAPH: Final = 40
_PROSE: Final = 2.5
_ANCHORS: Final = frozenset(("#", "¶", "§", "🔗"))
_ALONG: Final = re.compile(r"\W*(?:prev|previous|next|up|home|top|contents|index|back|forward)\W*", re.IGNORECASE)
_WAYS: Final = frozenset(("prev", "previous", "next", "up"))
_ALONG_LIMIT: Final = 400
_REFERENCE: Final = re.compile(r"\[[^\[\]]{1,30}\]")
_SIGNS: Final = tuple(".,;:!?)")
"""What stands close to the word before it, also where a footnote's number was between them."""
_NUMBER: Final = 5
"""Letters of a footnote's number, with its brackets."""
_CHATTER: Final = re.compile(
    r"(?:advertisement|anzeige|werbung|publicité|publicidad|реклама|share(?: this)?(?: article| story| page)?|tweet"
    r"|print|read more|read also|related(?: articles| stories| posts)?|more on this story"
    r"|(?:skip|jump) to (?:the )?(?:main )?(?:content|navigation|search)"
    r"|sign up|subscribe|back to top|edit|copy|copied!?|save|email|follow us|weiterlesen|teilen|lire aussi|leer más"
    r"|table of contents|(?:\d+ )?comments?|previous|next|loading\W*|continue reading\W*"
    r"|story continues below\W*|\[edit\]|¶|#|↑|↩)\s*",
    re.IGNORECASE,
)


@dataclass(slots=True)
class _Weight:
    text: int = 0
    links: int = 0
    line: int = 0
    """Text outside links that runs in this element's own lines."""
    mass: float = 0.0
    """What the paragraphs in it are worth."""


def find_article(page: Element) -> tuple[Element, bool, dict[str, int]]:
    """The article of a page, cut out of its tree, whether it could be told from the rest, and how many words were left
    out of it, by what they stood in.

    A small piece of a page of prose is not its article: then the answer is no.
    """
    body = page.first("body") or page
    asking, host = _asking(body), _own_host(page)
    left: Counter[str] = Counter()
    _drop_unseen(body, left)
    weights = _weigh(body)
    visible = weights[id(body)].text
    _drop_named(body, weights, asking, host, left)
    weights = _weigh(body)
    if not weights[id(body)].mass:
        short = _only_article(body, weights)
        left["what stands beside the article"] += _words(body) - _words(short or body)
        return short or body, short is not None, dict(+left)
    root = _descend(body, weights, host)
    left["what stands beside the article"] += _words(body) - _words(root)
    _drop_links(root, _weigh(root), host, left)
    kept = len(squeezed(root.all_text()))
    return root, kept >= min(200, visible / 4), dict(+left)


def without_ways(page: Element) -> tuple[Element, dict[str, int]]:
    """The whole text of a page that has no article, but for what only leads from it or stands at its edge by its tag,
    its role or its name; all of it where nothing else is there."""
    body = page.first("body") or page
    _drop(body, lambda element: element.tag in _MACHINES, Counter())
    weights, whole = _weigh(body), _words(body)
    between = _inside_article(body) or _between_paragraphs(body, weights)

    def around(element: Element) -> bool:
        if _holds_article(element):
            return False
        at_edge = element.tag in ("nav", "footer") or element.attributes.get("role", "").lower() in _ROLES
        edge = id(element) not in between and _is_edge(element)
        return at_edge or edge or _leads_along(element, weights[id(element)])

    if sum(map(_words, _matching(body, around))) == whole:
        return body, {}
    left: Counter[str] = Counter()
    _drop(body, around, left)
    return body, dict(+left)


def _words(element: Element) -> int:
    texts = (child for each in element.elements() for child in each.children if isinstance(child, str))
    return sum(len(text.split()) for text in texts)


def _only_article(body: Element, weights: dict[int, _Weight]) -> Element | None:
    """On a page without a whole paragraph: the one element that calls itself the article, if the text is in it."""
    called = [element for element in body.elements() if element.tag == "article"]
    called = called or [element for element in body.elements() if element.tag == "main"]
    if len(called) == 1 and 2 * weights[id(called[0])].text >= weights[id(body)].text > 0:
        return called[0]
    return None


def _weigh(root: Element) -> dict[int, _Weight]:
    weights: dict[int, _Weight] = {}
    for element in reversed(list(root.elements())):
        weight = _Weight()
        commas = 0
        for child in element.children:
            if isinstance(child, str):
                length = len(child.strip())
                weight.text += length
                weight.line += length
                commas += child.count(", ") + child.count("，") + child.count("、")
                continue
            below = weights[id(child)]
            weight.text += below.text
            weight.links += below.links
            weight.mass += below.mass
            if child.tag not in BLOCKS:
                weight.line += below.line
        if _is_link(element):
            weight.links, weight.line = weight.text, 0
        if element.tag in BLOCKS and weight.line >= _PARAGRAPH and element.tag not in _HEADINGS:
            weight.mass += 1 + min(3.0, weight.line / 100) + min(3, commas)
        weights[id(element)] = weight
    return weights


# -- what says of itself that it is not the article


def _drop_unseen(root: Element, left: Counter[str]) -> None:
    """Comments of machines: scripts, forms of choice, what is hidden from everybody."""
    _drop(root, lambda element: element.tag in _MACHINES, Counter())

    def unseen(element: Element) -> bool:
        attributes = element.attributes
        if element.tag in _NEVER or attributes.get("role", "").lower() in _ROLES:
            return True
        return "hidden" in attributes and attributes["hidden"] != "until-found"

    _drop(root, unseen, left)


def _asking(root: Element) -> set[int]:
    """The elements with a form or a button in them."""
    found: set[int] = set()
    for element in reversed(list(root.elements())):
        inside = any(isinstance(child, Element) and id(child) in found for child in element.children)
        if inside or element.tag in ("form", "button", "input", "textarea"):
            found.add(id(element))
    return found


def _drop_named(root: Element, weights: dict[int, _Weight], asking: set[int], host: str, left: Counter[str]) -> None:
    most = weights[id(root)].text / 2
    inside = _inside_article(root)
    between = inside or _between_paragraphs(root, weights)

    def other(element: Element) -> bool:
        if element.tag in _CONTAINERS or weights[id(element)].text > most:
            return False
        if element.attributes.get("aria-hidden") == "true" or _HIDDEN.search(element.attributes.get("style", "")):
            return True
        if element.tag in ("a", "sup"):
            return _is_reference(element)
        if element.tag == "aside":
            outside = bool(inside) and id(element) not in inside
            return outside or id(element) in asking or _is_menu(element, weights[id(element)], host)
        if element.tag == "header":
            return id(element) not in inside
        if element.tag in ("footer", "form"):
            return True
        if element.tag not in BLOCKS:
            return bool(_names_of(element) & _INLINE_NAMES)
        if _holds_article(element):
            return False
        weight, edge = weights[id(element)], id(element) not in between
        return (edge and _is_edge(element)) or _is_box(element, weight, host, asks=id(element) in asking)

    _drop(root, other, left)


def _is_box(element: Element, weight: _Weight, host: str, *, asks: bool) -> bool:
    """Whether a class says that an element is something around the article, and it is built so."""
    if _leads_along(element, weight):
        return True
    if element.tag in _TEXT or element.first("pre") is not None:
        return False
    names = _names_of(element)
    if names & _NAMES:
        return asks or _is_links(weight)
    if names & _BESIDE:
        return weight.mass < _PROSE
    return bool(names & _SUBJECTS) and (asks or _is_menu(element, weight, host))


def _is_edge(element: Element) -> bool:
    """A box at the edge of a page, outside its article, that has no place among the headings of the text."""
    named = _names_of(element) & _EDGES or element.attributes.get("id", "").lower() in _EDGES
    return bool(named) and element.tag in ("div", "section", "table") and element.first("h1") is None


def _between_paragraphs(root: Element, weights: dict[int, _Weight]) -> set[int]:
    """For a page that does not say which part is its article: what stands between the first paragraph and the last,
    those in boxes named as at the edge not counted. Nothing there is at an edge."""
    ordered: list[int] = []
    paragraphs: list[int] = []
    boxed: set[int] = set()
    for place, element in enumerate(root.elements()):
        ordered.append(id(element))
        if id(element) in boxed or _is_edge(element):
            boxed.update(id(child) for child in element.children if isinstance(child, Element))
        elif element.tag in BLOCKS and weights[id(element)].line >= _PARAGRAPH:
            paragraphs.append(place)
    return set(ordered[paragraphs[0] : paragraphs[-1]]) if paragraphs else set()


def _is_link(element: Element) -> bool:
    """What leads somewhere: `<a name="…"/>` is a place, and all of a page may stand in it, since nothing ends it."""
    return element.tag == "a" and bool(element.attributes.get("href"))


def _is_links(weight: _Weight) -> bool:
    return 2 * weight.links >= weight.text


def _is_menu(element: Element, weight: _Weight, host: str) -> bool:
    return _is_links(weight) and _leads_around_the_site(element, host)


def _leads_along(element: Element, weight: _Weight) -> bool:
    """A line that leads from page to page of a book: to the one before, after or above, and little else (a short part
    that begins with such a line has a heading; a sentence may name what is called `Next`). Of one link alone this is
    said only when it stands in a table without prose."""
    if weight.text > _ALONG_LIMIT or element.tag not in ("div", "p", "table", "ul"):
        return False
    if element.first(*_HEADINGS) is not None:
        return False
    links = [each for each in element.elements() if _is_link(each)]
    if weight.line >= _PARAGRAPH and not _has_link_at_its_edge(element.all_text().strip(), links):
        return False
    along = [link for link in links if _ALONG.fullmatch(_said(link)) or link.attributes.get("rel") in _WAYS]
    if len(along) == 1 == len(links):
        return not weight.mass and element.first("table") is not None
    return len(along) > 1 and 2 * len(along) >= len(links)


def _has_link_at_its_edge(text: str, links: Sequence[Element]) -> bool:
    """Whether a line begins or ends with one of its links: in a sentence that names one, words stand around it."""
    words = [said for link in links if (said := _said(link))]
    return any(text.startswith(said) or text.endswith(said) for said in words)


def _said(link: Element) -> str:
    """The words of a link, or those of the picture that it is."""
    picture = link.first("img")
    return link.all_text().strip() or (picture.attributes.get("alt", "") if picture is not None else "")


def _is_reference(element: Element) -> bool:
    """The raised number of a footnote: it leads to another place on the page, or stands in brackets; or the sign beside
    a heading that leads to it."""
    if element.tag == "a":
        said, names = element.all_text().strip(), _names_of(element)
        noted = bool(names & {"footnote", "noteref"}) or element.attributes.get("role") == "doc-noteref"
        leads_down = element.attributes.get("href", "").startswith("#") and len(said) <= _NUMBER
        return said in _ANCHORS or bool(names & _INLINE_NAMES) or (noted and leads_down)
    link = element.first("a")
    leads_down = link is not None and link.attributes.get("href", "").startswith("#")
    return leads_down or bool(_REFERENCE.fullmatch(element.all_text().strip()))


def _names_of(element: Element) -> set[str]:
    attributes = element.attributes
    return {word.lower() for word in _WORDS.findall(attributes.get("class", ""))}


def _inside_article(root: Element) -> set[int]:
    found: set[int] = set()
    for element in root.elements():
        if _is_article(element) or id(element) in found:
            found.update(id(child) for child in element.children if isinstance(child, Element))
    return found


def _is_article(element: Element) -> bool:
    return element.tag in ("article", "main") or element.attributes.get("role") == "main" or _is_body(element)


def _holds_article(element: Element) -> bool:
    return element.first("article", "main") is not None


def _drop(root: Element, unwanted: Callable[[Element], bool], left: Counter[str]) -> None:
    waiting = [root]
    while waiting:
        element = waiting.pop()
        kept: list[Element | str] = []
        gap = False
        for child in element.children:
            if isinstance(child, Element) and unwanted(child):
                left[_kind(child)] += _words(child)
                _drop_lonely_heading(kept)
                gap = child.tag in ("a", "sup")
                continue
            if gap and kept and isinstance(kept[-1], str) and isinstance(child, str) and child[:1] in _SIGNS:
                kept[-1] = kept[-1].rstrip()
            gap = False
            kept.append(child)
        element.children = kept
        # in code every span has a class of its own, and `print` is no button
        waiting.extend(child for child in kept if isinstance(child, Element) and child.tag not in ("pre", "code"))


def _kind(element: Element) -> str:
    role = element.attributes.get("role", "").lower()
    if element.tag in ("nav", "menu") or role in ("navigation", "menu", "menubar", "search", "tablist"):
        return "navigation"
    if element.tag in ("header", "footer") or role in ("banner", "contentinfo"):
        return "headers and footers"
    if element.tag in ("form", "dialog", "select", "textarea", "button") or role in ("dialog", "alertdialog"):
        return "forms and dialogs"
    return "boxes and links around the text"


def _drop_lonely_heading(kept: list[Element | str]) -> None:
    """A heading right before what is dropped was the heading of that, when it is below the top level."""
    last = len(kept) - 1
    while last >= 0 and isinstance(kept[last], str) and not str(kept[last]).strip():
        last -= 1
    heading = kept[last] if last >= 0 else None
    if isinstance(heading, Element) and heading.tag in _HEADINGS[2:]:
        del kept[last:]


# -- where the paragraphs are


def _descend(body: Element, weights: dict[int, _Weight], host: str) -> Element:
    total = weights[id(body)].mass
    root = body
    several = _articles_of_one(body, weights, host)
    best = [
        element
        for element in body.elements()
        if _is_article(element) and id(element) not in several and weights[id(element)].mass >= 0.5 * total
    ]
    if best:
        # the innermost of those that have most of the page: what says of itself that it is the article, is it whole
        return best[-1]
    while True:
        inside = [child for child in root.children if isinstance(child, Element) and child.tag in BLOCKS]
        heavy = max(inside, key=lambda child: weights[id(child)].mass, default=None)
        if heavy is None or heavy.tag not in (
            "div",
            "section",
            "article",
            "main",
            "center",
            "td",
            "table",
            "tbody",
            "tr",
        ):
            return root
        if weights[id(heavy)].mass < 0.9 * weights[id(root)].mass or _has_headline(root, heavy):
            return root
        if any(_is_text(child, weights[id(child)], host) for child in inside if child is not heavy):
            return root
        root = heavy


def _articles_of_one(body: Element, weights: dict[int, _Weight], host: str) -> set[int]:
    """The articles that stand side by side and are parts of one text, as the functions of a module are: none of them is
    the article of the page. One whose heading leads elsewhere on the site is a teaser, and no part."""
    found: set[int] = set()
    for element in body.elements():
        parts = [child for child in element.children if isinstance(child, Element) and child.tag == "article"]
        own = [part for part in parts if _is_part(part, weights[id(part)], host)]
        if len(own) > 1:
            found.update(map(id, own))
    return found


def _is_part(article: Element, weight: _Weight, host: str) -> bool:
    if weight.text < _PARAGRAPH or _is_links(weight):
        return False
    heading = article.first(*_HEADINGS)
    targets = [each.attributes["href"] for each in heading.elements() if "href" in each.attributes] if heading else []
    return not any(_from_the_root(target.strip(), host) for target in targets)


def _is_text(element: Element, weight: _Weight, host: str) -> bool:
    """Whether something beside most of the text is text as well, and not a box by its name: prose, code, a table, a
    section; also a section of links into the same set of files."""
    named = _names_of(element) | {word.lower() for word in _WORDS.findall(element.attributes.get("id", ""))}
    if named & (_NAMES | _EDGES) or not (weight.mass > 0 or weight.text >= _PARAGRAPH):
        return False
    if 2 * weight.links >= weight.text:
        return element.first(*_HEADINGS) is not None and not _leads_around_the_site(element, host)
    return weight.mass > 0 or element.first("pre", "table", "dl", *_HEADINGS) is not None


def _is_body(element: Element) -> bool:
    return element.attributes.get("itemprop") == "articleBody"


def _has_headline(root: Element, heavy: Element) -> bool:
    """A heading beside the heavy child belongs to it."""
    return any(
        isinstance(child, Element) and child is not heavy and child.first("h1") is not None for child in root.children
    )


# -- what is mostly links


def _drop_links(root: Element, weights: dict[int, _Weight], host: str, left: Counter[str]) -> None:
    def links(element: Element) -> bool:
        weight = weights[id(element)]
        if element.tag in ("ul", "ol", "dl"):
            mostly = weight.text > 0 and weight.links >= 0.75 * weight.text and weight.mass < 2
            return mostly and _leads_around_the_site(element, host)
        if element.tag in ("div", "section", "aside", "table", "p", "header"):
            if weight.links >= 0.6 * weight.text and weight.text > 0 and weight.mass < 3 and _is_list_of_links(element):
                return _leads_around_the_site(element, host)
            return _is_chatter(element, weight)
        return element.tag in ("h4", "h5", "h6", "figcaption") and _is_chatter(element, weight)

    # a page that is made of links, like a grammar or an index, would lose everything
    if sum(weights[id(element)].text for element in _matching(root, links)) <= 0.6 * weights[id(root)].text:
        _drop(root, links, left)


def _own_host(page: Element) -> str:
    """Where the page stands, as it says itself."""
    for element in page.elements():
        attributes = element.attributes
        if element.tag == "link" and "canonical" in attributes.get("rel", "").lower().split():
            return urlsplit(attributes.get("href", "")).netloc
        if element.tag == "meta" and attributes.get("property") == "og:url":
            return urlsplit(attributes.get("content", "")).netloc
    return ""


def _leads_around_the_site(element: Element, host: str) -> bool:
    """Menus and teasers lead from the root of the site. What leads into the same set of files (`use.html#when`), or to
    another site, is a reference that the text makes."""
    targets = [each.attributes["href"].strip() for each in element.elements() if "href" in each.attributes]
    around = sum(_from_the_root(target, host) for target in targets)
    return 2 * around >= len(targets)


def _from_the_root(target: str, host: str) -> bool:
    if target in ("", "#") or target.lower().startswith("javascript:"):
        return True
    try:
        parts = urlsplit(target)
    except ValueError:
        return False
    return parts.netloc == host if parts.netloc else target.startswith("/") and not parts.fragment


def _matching(root: Element, wanted: Callable[[Element], bool]) -> Iterator[Element]:
    """The outermost elements below `root` that are wanted."""
    waiting = [root]
    while waiting:
        for child in waiting.pop().children:
            if not isinstance(child, Element):
                continue
            if wanted(child):
                yield child
            else:
                waiting.append(child)


def _is_list_of_links(element: Element) -> bool:
    count = sum(1 for each in element.elements() if _is_link(each))
    return count > 1 or element.tag == "header"


def _is_chatter(element: Element, weight: _Weight) -> bool:
    if element.tag in _TEXT and not weight.links:  # a word by itself, such as the name of an option
        return False
    return 0 < weight.text < 60 and bool(_CHATTER.fullmatch(element.all_text().strip()))
