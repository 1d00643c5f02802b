"""HTML: the article of a page as markdown, and what it says of itself (title, author, date, address, language)."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any, Final

from weft.documents.article import find_article, without_ways
from weft.documents.characters import normalise, one_line
from weft.documents.document import Draft, RefusedError, counted
from weft.documents.links import Marker, without_marks
from weft.documents.markdown import inline_text, to_markdown
from weft.documents.markup import Element, parse_html

_SEPARATOR: Final = re.compile(r"\s+[|–—·•»:/-]\s+|\s+::\s+")
_DATE: Final = re.compile(
    r"\d{4}-\d{2}-\d{2}(?:[T ]\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?(?:Z|[+-]\d{2}:?\d{2})?)?|\d{4}-\d{2}|\d{4}/\d{2}/\d{2}"
)
_REFRESH: Final = re.compile(r"\s*[\d.]*\s*[;,]\s*url\s*=\s*['\"]?([^'\"]{1,2000})", re.IGNORECASE)
_BY: Final = re.compile(r"(?:written )?(?:by|von|par|por|di|door|av|автор:?)\s+", re.IGNORECASE)
_XML: Final = re.compile(r"\s*(?:<\?xml|<!doctype html public \"-//w3c//dtd xhtml)", re.IGNORECASE)
_JSON_LIMIT: Final = 500_000
_DEPTH_LIMIT: Final = 12
_ARTICLE_TYPES: Final = (
    "article",
    "posting",
    "report",
    "webpage",
    "book",
    "chapter",
    "techarticle",
    "recipe",
    "review",
)


def read_html(text: str) -> Draft:
    text = without_marks(text)
    xml = bool(_XML.match(text))
    page = parse_html(text, xml=xml)
    facts = _Facts(page)
    headline = _headline(page)
    root, found, left = find_article(page)
    headline = _headline(root) or headline
    notes: list[str] = []
    if not found:
        root, left = without_ways(parse_html(text, xml=xml))
        kept = "all of its text but that at its edges" if left else "all of its text"
        notes.append(f"no article could be told from the rest of the page; {kept} was kept")
    if left:
        told = ", ".join(f"{what} ({count:,})" for what, count in left.items())
        notes.append(f"left out around the text: {counted(sum(left.values()), 'word')}: {told}")
    marker = Marker()
    marker.mark(root)
    article, links, anchors = marker.collect(normalise(to_markdown(root)))
    if not article.strip():
        raise RefusedError(
            "is an HTML page without text", "It may be made by scripts: save the page from a browser, or as PDF"
        )
    return Draft(
        kind="html",
        text=article,
        title=_title(facts, headline),
        author=facts.author(),
        published=facts.published(),
        language=page.attributes.get("lang", page.attributes.get("xml:lang", ""))
        or facts.meta("language", "og:locale"),
        url=facts.url(),
        notes=notes,
        left_out=left,
        links=links,
        anchors=anchors,
        normal=True,
        extra={key: value for key, value in facts.others() if value},
    )


def _headline(element: Element) -> str:
    heading = element.first("h1")
    return inline_text(heading) if heading else ""


def _title(facts: _Facts, headline: str) -> str:
    headline = one_line(headline)
    social = one_line(facts.meta("og:title", "twitter:title") or facts.linked("headline"))
    written = one_line(facts.title)
    # a headline that is only the last part of the title is the name of the site
    if headline and any(_is_headline(headline.lower(), other.lower()) for other in (social, written)):
        return headline
    site = one_line(facts.meta("og:site_name"))
    chosen = social or written
    parts = _SEPARATOR.split(chosen)
    if len(parts) > 1 and (parts[-1].lower() == site.lower() or (chosen == written and len(parts[-1]) < len(parts[0]))):
        cut = chosen.rfind(parts[-1])
        chosen = re.sub(r"[\s|–—·•»:/-]+\Z", "", chosen[:cut])
    return chosen or headline


def _is_headline(headline: str, title: str) -> bool:
    return title.startswith(headline) or (headline in title and len(headline) > 0.75 * len(title))


class _Facts:
    """Everything a page says of itself: meta elements, linked data, links in its head, marked elements."""

    def __init__(self, page: Element) -> None:
        self.title = ""
        self.metas: dict[str, str] = {}
        self.canonical = ""
        self.leads_to = ""
        self.data: list[dict[str, Any]] = []
        self.marked: dict[str, str] = {}
        self.time = ""
        for element in page.elements():
            self._take(element)

    def _take(self, element: Element) -> None:
        attributes = element.attributes
        if element.tag == "title" and not self.title:
            self.title = element.all_text()
        elif element.tag == "meta" and attributes.get("http-equiv", "").lower() == "refresh":
            leads = _REFRESH.match(attributes.get("content", ""))
            self.leads_to = leads[1] if leads else ""
        elif element.tag == "meta":
            name = attributes.get("property") or attributes.get("name") or attributes.get("itemprop") or ""
            if name and attributes.get("content", "").strip():
                self.metas.setdefault(name.lower(), attributes["content"])
        elif element.tag == "link" and "canonical" in attributes.get("rel", "").lower().split():
            self.canonical = self.canonical or attributes.get("href", "")
        elif element.tag == "script" and "ld+json" in attributes.get("type", ""):
            self.data += _linked_data(element.all_text())
        elif element.tag == "time" and not self.time:
            self.time = attributes.get("datetime", "") or element.all_text()
        if "itemprop" in attributes or "rel" in attributes or "class" in attributes:
            self._mark(element)

    def _mark(self, element: Element) -> None:
        attributes = element.attributes
        names = {attributes.get("itemprop", ""), attributes.get("rel", ""), *attributes.get("class", "").split()}
        for meaning, signs in (
            (
                "author",
                ("author", "byline", "byline-name", "author-name", "p-author", "article-author", "byline__name"),
            ),
            ("published", ("datePublished", "dt-published", "published", "pubdate")),
        ):
            if names.intersection(signs) and meaning not in self.marked:
                text = attributes.get("datetime") or attributes.get("content") or inline_text(element)
                if text and len(text) <= 120 and "\n" not in text.strip():
                    self.marked[meaning] = text

    def meta(self, *names: str) -> str:
        return next((self.metas[name] for name in names if name in self.metas), "")

    def linked(self, name: str) -> str:
        return next((text for data in self.data if (text := _as_name(data.get(name)))), "")

    def author(self) -> str:
        found = self.meta("author", "dc.creator", "citation_author", "parsely-author") or self.linked("author")
        found = found or self.linked("creator") or self.marked.get("author", "") or self.meta("article:author")
        return "" if "://" in found else _BY.sub("", one_line(found), count=1)

    def published(self) -> str:
        names = (
            "article:published_time", "date", "dc.date", "dc.date.issued", "dcterms.date", "citation_publication_date",
            "citation_date", "pubdate", "publish-date", "datepublished", "og:published_time", "parsely-pub-date",
        )  # fmt: skip
        for text in (self.linked("datePublished"), self.meta(*names), self.marked.get("published", ""), self.time):
            date = _DATE.search(text)
            if date:
                return date[0]
        return ""

    def url(self) -> str:
        address = self.canonical or self.meta("og:url") or self.linked("url")
        return address if re.match(r"https?://", address) else ""

    def others(self) -> Iterator[tuple[str, str]]:
        yield "description", self.meta("description", "og:description", "twitter:description")
        yield "site", self.meta("og:site_name", "application-name")
        yield "keywords", self.meta("keywords", "news_keywords")
        yield "leads_to", self.leads_to
        yield "modified", self.meta("article:modified_time") or self.linked("dateModified")


def _linked_data(text: str) -> list[dict[str, Any]]:
    """The objects in a block of JSON-LD that describe the page, the most telling first."""
    if len(text) > _JSON_LIMIT:
        return []
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return []
    found: list[dict[str, Any]] = []
    waiting: list[tuple[Any, int]] = [(value, 0)]
    while waiting and len(found) < 200:
        item, depth = waiting.pop()
        if depth > _DEPTH_LIMIT:
            continue
        if isinstance(item, list):
            waiting.extend((child, depth + 1) for child in reversed(item))
        elif isinstance(item, dict):
            found.append(item)
            waiting.extend((item[name], depth + 1) for name in ("mainEntity", "@graph") if name in item)
    return sorted(found, key=lambda item: not _is_article(item))


def _is_article(item: dict[str, Any]) -> bool:
    kind = item.get("@type", "")
    kinds = kind if isinstance(kind, list) else [kind]
    return any(str(each).lower().endswith(_ARTICLE_TYPES) for each in kinds)


def _as_name(value: Any, depth: int = 0) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, dict):
        name = value.get("name")
        return name if isinstance(name, str) else ""
    if isinstance(value, list) and depth < 2:
        return ", ".join(filter(None, (_as_name(item, depth + 1) for item in value[:20])))
    return ""
