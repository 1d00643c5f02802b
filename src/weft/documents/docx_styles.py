"""What styles and numberings mean for a paragraph: a heading, a list, a quote, code, a table of contents."""

from __future__ import annotations

import re
from dataclasses import field
from typing import Final
from xml.etree.ElementTree import Element as Xml

from weft.protocol.values import dataclass

_HEADING: Final = re.compile(
    r"(?:heading|überschrift|titre|título|titolo|kop|rubrik|заголовок|标题|見出し|제목) ?([1-9])", re.IGNORECASE
)
_CONTENTS: Final = re.compile(
    r"(?:toc|verzeichnis|tm|index) ?\d|toc ?heading|table of (?:figures|contents)", re.IGNORECASE
)
_QUOTE: Final = re.compile(r".*\b(?:quote|quotation|zitat|citation|cita|block ?text)\b.*", re.IGNORECASE)
_CODE: Final = re.compile(
    r"html preformatted|.*\b(?:source )?code(?: block)?|macro text|plain text code|preformatted text", re.IGNORECASE
)
_DEEPEST: Final = 8


def local(element: Xml) -> str:
    return element.tag.rsplit("}", 1)[-1]


def inside(element: Xml | None, name: str) -> Xml | None:
    """The first child of that name, in whichever namespace."""
    if element is None:
        return None
    return next((child for child in element if local(child) == name), None)


def value_of(element: Xml | None, name: str = "val") -> str:
    if element is None:
        return ""
    return next((value for key, value in element.attrib.items() if key.rsplit("}", 1)[-1] == name), "")


def flag(element: Xml | None) -> bool:
    return element is not None and value_of(element).lower() not in ("0", "false", "off")


@dataclass(frozen=True)
class DocxStyle:
    heading: int = 0
    is_title: bool = False
    is_quote: bool = False
    is_code: bool = False
    is_contents: bool = False
    number: Xml | None = None


@dataclass
class Styles:
    styles: dict[str, DocxStyle] = field(default_factory=dict)
    language: str = ""

    @classmethod
    def read(cls, part: Xml | None) -> Styles:
        if part is None:
            return cls()
        elements = {value_of(child, "styleId"): child for child in part if local(child) == "style"}
        found = {key: cls._style(key, elements) for key in elements}
        defaults = inside(inside(inside(part, "docDefaults"), "rPrDefault"), "rPr")
        return cls(found, value_of(inside(defaults, "lang")))

    @classmethod
    def _style(cls, key: str, elements: dict[str, Xml]) -> DocxStyle:
        """A style and what it is based on: the nearest that says something decides."""
        heading, number = 0, None
        names: list[str] = []
        seen: set[str] = set()
        while key in elements and key not in seen and len(seen) < 20:
            seen.add(key)
            element = elements[key]
            name = value_of(inside(element, "name")) or key
            names.append(name)
            properties = inside(element, "pPr")
            found = _HEADING.fullmatch(name.strip())
            heading = heading or (min(6, int(found[1])) if found else cls.outline(properties))
            number = number if number is not None else inside(properties, "numPr")
            key = value_of(inside(element, "basedOn"))
        own = names[0].strip().lower() if names else ""
        return DocxStyle(
            heading=1 if own == "title" else heading,
            is_title=own == "title",
            is_quote=any(_QUOTE.fullmatch(name) for name in names),
            is_code=any(_CODE.fullmatch(name) for name in names),
            is_contents=bool(_CONTENTS.fullmatch(own)),
            number=number,
        )

    @staticmethod
    def outline(properties: Xml | None) -> int:
        """The level of a heading that the paragraph itself says it is; 0 for none."""
        level = value_of(inside(properties, "outlineLvl"))
        return int(level) + 1 if re.fullmatch("[0-5]", level) else 0

    def named(self, key: str) -> DocxStyle:
        if key in self.styles:
            return self.styles[key]
        found = _HEADING.fullmatch(key)
        return (
            DocxStyle(heading=min(6, int(found[1])))
            if found
            else DocxStyle(is_title=key == "Title", heading=int(key == "Title"))
        )


@dataclass(frozen=True)
class Level:
    depth: int
    ordered: bool


@dataclass
class Numbering:
    formats: dict[tuple[str, int], str] = field(default_factory=dict)
    """For a number and a level, how it is written: `bullet`, `decimal`, …"""

    @classmethod
    def read(cls, part: Xml | None) -> Numbering:
        if part is None:
            return cls()
        abstract: dict[str, dict[int, str]] = {}
        for child in part:
            if local(child) == "abstractNum":
                levels = [level for level in child if local(level) == "lvl"]
                abstract[value_of(child, "abstractNumId")] = {
                    _small(value_of(level, "ilvl")): value_of(inside(level, "numFmt")) for level in levels
                }
        formats: dict[tuple[str, int], str] = {}
        for child in part:
            if local(child) == "num":
                number = value_of(child, "numId")
                for depth, kind in abstract.get(value_of(inside(child, "abstractNumId")), {}).items():
                    formats[number, depth] = kind
        return cls(formats)

    def level(self, properties: Xml | None, style: DocxStyle) -> Level | None:
        """Where in a list a paragraph stands; None when it is in none."""
        own = inside(properties, "numPr")
        number = value_of(inside(own, "numId")) or value_of(inside(style.number, "numId"))
        if not number or number == "0":
            return None
        depth = _small(value_of(inside(own, "ilvl")) or value_of(inside(style.number, "ilvl")))
        kind = self.formats.get((number, depth), "bullet")
        return Level(depth, kind not in ("bullet", "none", ""))


def _small(text: str) -> int:
    return min(int(text), _DEEPEST) if re.fullmatch(r"\d{1,3}", text) else 0
