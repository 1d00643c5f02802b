"""DOCX: paragraphs, headings, lists, tables and footnotes of the document as it is now, without deleted text.

Read here and not with a library: mammoth 1.13 takes 90 ms to import, recurses as deep as the file says, and knows no
limits. The document is turned into the same tree of elements that a page has, so that one writer makes the markdown.
"""

from __future__ import annotations

import posixpath
from collections.abc import Iterator
from dataclasses import field
from typing import Final
from xml.etree.ElementTree import Element as Xml

from weft.documents.archive import Archive
from weft.documents.characters import one_line, word_set
from weft.documents.document import Draft, RefusedError
from weft.documents.docx_styles import Numbering, Styles, flag, inside, local, value_of
from weft.documents.markdown import inline_text, to_markdown
from weft.documents.markup import Element
from weft.documents.xml_part import parse_xml
from weft.protocol.values import dataclass

_MAIN: Final = "word/document.xml"
_RELATIONS: Final = "_rels/.rels"
_GONE: Final = frozenset(("del", "moveFrom", "delText", "instrText", "rPr", "pPr", "commentReference", "annotationRef"))
_TRANSPARENT: Final = word_set(
    "sdt sdtContent ins moveTo hyperlink smartTag customXml fldSimple dir bdo body document drawing pict inline"
    " anchor graphic graphicData wsp txbx shape textbox group wgp rect oval roundrect Choice Fallback ruby rubyBase"
    " object"
)
_FIELDS: Final = (("title", "title"), ("creator", "author"), ("language", "language"))
_STALE_TITLES: Final = ("microsoft word", "document", "untitled", "dokument", "word document")


def is_docx(archive: Archive) -> bool:
    return _MAIN in archive or (
        _RELATIONS in archive and "[Content_Types].xml" in archive and _main_part(archive) != ""
    )


def read_docx(archive: Archive) -> Draft:
    main = _main_part(archive) or _MAIN
    if main not in archive:
        raise RefusedError("is a DOCX without a document in it", "Open it where it was made and save it anew")
    folder = posixpath.dirname(main)
    styles = Styles.read(_part(archive, f"{folder}/styles.xml"))
    numbering = Numbering.read(_part(archive, f"{folder}/numbering.xml"))
    reader = _Reader(styles, numbering)
    root = Element("body", None, *reader.blocks(parse_xml(archive.read(main), main)))
    notes = _footnotes(reader, _part(archive, f"{folder}/footnotes.xml"), _part(archive, f"{folder}/endnotes.xml"))
    if notes:
        root.children.append(notes)
    draft = Draft(kind="docx", text=to_markdown(root), title=reader.title, language=styles.language)
    _describe(draft, _part(archive, "docProps/core.xml"))
    if reader.deleted:
        draft.notes.append("text that is marked as deleted was left out")
    if reader.pictures:
        draft.notes.append("pictures were left out")
    return draft


def _part(archive: Archive, name: str) -> Xml | None:
    return parse_xml(archive.read(name), name) if name in archive else None


def _main_part(archive: Archive) -> str:
    relations = _part(archive, _RELATIONS)
    for relation in relations if relations is not None else ():
        target = posixpath.normpath(relation.get("Target", "").lstrip("/"))
        if relation.get("Type", "").endswith("/officeDocument") and target.startswith("word/") and target in archive:
            return target
    return ""


def _describe(draft: Draft, core: Xml | None) -> None:
    for child in core if core is not None else ():
        name, text = local(child), one_line(child.text or "")
        known = dict(_FIELDS).get(name)
        if known == "title" and text.lower().startswith(_STALE_TITLES):
            continue
        if known:
            setattr(draft, known, getattr(draft, known) or text)
        elif name in ("subject", "keywords", "description", "created", "modified", "lastModifiedBy") and text:
            draft.extra[name] = text


@dataclass
class _Reader:
    styles: Styles
    numbering: Numbering
    title: str = ""
    deleted: bool = False
    pictures: bool = False
    cited: list[str] = field(default_factory=list)

    def blocks(self, parent: Xml) -> list[Element | str]:
        """The blocks in an element, lists put together from the paragraphs that say they belong to one."""
        result: list[Element | str] = []
        lists = _Lists()
        for child in _opened(parent):
            name = local(child)
            if name == "p":
                for block, level, ordered in self._paragraph(child):
                    if level is None:
                        lists.end()
                        result.append(block)
                    elif (whole := lists.add(block, level, ordered)) is not None:
                        result.append(whole)
            elif name == "tbl":
                lists.end()
                result.append(self._table(child))
        return result

    def _paragraph(self, paragraph: Xml) -> Iterator[tuple[Element, int | None, bool]]:
        """Each with its level in a list and whether that is numbered; after it what floats beside it."""
        properties = inside(paragraph, "pPr")
        style = self.styles.named(value_of(inside(properties, "pStyle")))
        floating: list[Xml] = []
        pieces = list(self._runs(paragraph, floating))
        if style.is_contents:
            return
        number = self.numbering.level(properties, style)
        heading = style.heading or self.styles.outline(properties)
        if heading:
            element = Element(f"h{heading}", None, *pieces)
            if style.is_title and not self.title:
                self.title = inline_text(element)
            yield element, None, False
        elif number is not None:
            yield Element("li", None, *pieces), number.depth, number.ordered
        elif style.is_code:
            yield Element("pre", None, *pieces), None, False
        elif style.is_quote:
            yield Element("blockquote", None, Element("p", None, *pieces)), None, False
        else:
            yield Element("p", None, *pieces), None, False
        for box in floating:
            yield Element("div", None, *self.blocks(box)), None, False

    def _runs(self, parent: Xml, floating: list[Xml]) -> Iterator[Element | str]:
        for child in parent:
            name = local(child)
            if name in ("del", "moveFrom"):
                self.deleted = True
            elif name == "AlternateContent":
                # the same thing twice, for newer and for older programs
                choice = inside(child, "Choice")
                chosen = choice if choice is not None else inside(child, "Fallback")
                if chosen is not None:
                    yield from self._runs(chosen, floating)
            elif name == "txbxContent":
                floating.append(child)
            elif name == "r":
                if not flag(inside(inside(child, "rPr"), "vanish")):
                    yield from self._runs(child, floating)
            elif name in _TRANSPARENT:
                yield from self._runs(child, floating)
            elif name not in _GONE:
                yield from self._text(child, name)

    def _text(self, element: Xml, name: str) -> Iterator[Element | str]:
        if name == "t":
            yield element.text or ""
        elif name in ("tab", "ptab"):
            yield " "
        elif name in ("br", "cr"):
            yield Element("br")
        elif name == "noBreakHyphen":
            yield "-"
        elif name in ("footnoteReference", "endnoteReference"):
            self.cited.append(f"{name[:3]}{element.get(_attribute(element, 'id'), '')}")
        elif name in ("pic", "imagedata", "blip"):
            self.pictures = True
        elif name == "oMath" or name == "oMathPara":
            yield "".join(part.text or "" for part in element.iter() if local(part) == "t")

    def _table(self, table: Xml) -> Element:
        rows: list[Element | str] = []
        for row in _opened(table):
            if local(row) != "tr":
                continue
            cells: list[Element | str] = []
            for cell in _opened(row):
                if local(cell) != "tc":
                    continue
                properties = inside(cell, "tcPr")
                merge = inside(properties, "vMerge")
                below = merge is not None and value_of(merge) != "restart"
                span = value_of(inside(properties, "gridSpan"))
                cells.append(Element("td", {"colspan": span} if span else None, *([] if below else self.blocks(cell))))
            rows.append(Element("tr", None, *cells))
        return Element("table", None, *rows)


def _opened(parent: Xml) -> Iterator[Xml]:
    """The children, with wrappers that mean nothing to a reader opened and what was deleted left out."""
    for child in parent:
        name = local(child)
        if name in ("sdt", "sdtContent", "ins", "moveTo", "customXml", "body", "smartTag"):
            yield from _opened(child)
        elif name == "AlternateContent":
            choice = inside(child, "Choice")
            yield from _opened(choice if choice is not None else child)
        elif name not in ("del", "moveFrom"):
            yield child


def _attribute(element: Xml, name: str) -> str:
    return next((key for key in element.attrib if key.rsplit("}", 1)[-1] == name), name)


class _Lists:
    """Puts items into lists in lists, by their levels."""

    def __init__(self) -> None:
        self.open: list[Element] = []

    def end(self) -> None:
        self.open = []

    def add(self, item: Element, level: int, ordered: bool) -> Element | None:
        """The list that begins with this item, when it is a new one at the top."""
        tag = "ol" if ordered else "ul"
        del self.open[level + 1 :]
        if self.open and len(self.open) == level + 1 and self.open[-1].tag != tag:
            del self.open[level:]
        top: Element | None = None
        while len(self.open) <= level:
            inner = Element(tag)
            if not self.open:
                top = inner
            else:
                parent = self.open[-1].children
                last = parent[-1] if parent else None
                if not isinstance(last, Element):
                    last = Element("li")
                    parent.append(last)
                last.children.append(inner)
            self.open.append(inner)
        self.open[-1].children.append(item)
        return top


def _footnotes(reader: _Reader, *parts: Xml | None) -> Element | None:
    """The notes at the foot of pages, in the order they are cited, as a list at the end."""
    if not reader.cited:
        return None
    texts: dict[str, list[Element | str]] = {}
    cited = list(reader.cited)
    for part, prefix in zip(parts, ("foo", "end"), strict=True):
        for note in part if part is not None else ():
            texts[f"{prefix}{note.get(_attribute(note, 'id'), '')}"] = reader.blocks(note)
    items = [Element("li", None, *texts[key]) for key in dict.fromkeys(cited) if texts.get(key)]
    return Element("ol", None, *items) if items else None
