"""What stands above the text: YAML between two lines of `---`, or TOML between two lines of `+++`.

People write it by hand and older systems wrote it without escaping, so that it is read with patience: values stay the
text they were written as, a block that is no YAML is read line by line, and one that is no mapping is no front matter.
Lines that hold a whole JSON value (which is YAML too) are read as such: the marks of a long transcript are large.
"""

from __future__ import annotations

import json
import re
import warnings
from collections.abc import Mapping
from dataclasses import field
from typing import Any, Final

from weft.documents.characters import one_line
from weft.protocol.patterns import pattern
from weft.protocol.values import dataclass

_OPENING: Final = pattern(r"\s*(---|\+\+\+)[ \t]*\n")
_CLOSING: Final = {
    "---": re.compile(r"^(?:---|\.\.\.)[ \t]*$", re.MULTILINE),
    "+++": re.compile(r"^\+\+\+[ \t]*$", re.MULTILINE),
}
_FIRST_KEY: Final = pattern(r"(?:[ \t]*+(?:#[^\n]*+)?\n)*+[\"']?[\w.@-][\w .@/-]{0,60}[\"']?[ \t]*(?::[ \t\n]|=|:\Z)")
_PLAIN_LINE: Final = pattern(r"([A-Za-z_][\w-]*): ([\[{\"].*|[1-9][0-9]*)")
"""A value that is JSON, or a whole number, which stays text: read without the reader of YAML, as most blocks are."""
_SIMPLE_LINE: Final = pattern(r"([\w.@-][\w .@/-]{0,60}?)[ \t]*:[ \t]*(.*)")
_YAML_LIMIT: Final = 1 << 16
_BRACKET_LIMIT: Final = 1_000
"""The library's time grows with the square of open brackets."""
_DEPTH_LIMIT: Final = 8
_VALUE_LIMIT: Final = 2_000
_NAMES: Final = {
    "title": ("title", "headline"),
    "author": ("author", "authors", "byline", "creator", "by"),
    "published": ("published", "published_at", "publishedat", "date", "pubdate", "date_published", "datepublished"),
    "language": ("language", "lang", "locale"),
    "url": ("url", "source_url", "sourceurl", "canonical_url", "canonical", "permalink", "link"),
}


@dataclass
class DocumentFront:
    """The fields as written (text, lists and mappings of text), what follows them, and what had to be repaired."""

    fields: dict[str, Any]
    body: str
    notes: list[str] = field(default_factory=list)
    present: bool = False


def split_front_matter(text: str) -> DocumentFront:
    """Takes the first block off `text`, whose lines must end in `\\n`."""
    found = _block(text)
    if not found:
        return DocumentFront({}, text)
    fence, block, end = found
    fields, notes = _toml(block) if fence == "+++" else _yaml(block)
    return DocumentFront(fields, text[end:], notes, present=True)


def has_front_matter(text: str) -> bool:
    return _block(text) is not None


def _block(text: str) -> tuple[str, str, int] | None:
    """The fence, what stands between the fences, and where the text goes on."""
    opening = _OPENING.match(text)
    closing = _CLOSING[opening[1]].search(text, opening.end()) if opening else None
    if not opening or not closing:
        return None
    block = text[opening.end() : closing.start()]
    if block.strip() and not _FIRST_KEY.match(block):
        return None
    return opening[1], block, closing.end()


def _toml(block: str) -> tuple[dict[str, Any], list[str]]:
    import tomllib

    try:
        return _bounded(tomllib.loads(block)), []
    except (ValueError, RecursionError):
        return _line_by_line(block.replace("=", ":")), ["the front matter is not valid TOML; it was read line by line"]


def _yaml(block: str) -> tuple[dict[str, Any], list[str]]:
    fields: dict[str, Any] = {}
    rest: list[str] = []
    for line in block.split("\n"):
        found = _PLAIN_LINE.fullmatch(line)
        try:
            value = (found[2] if found[2].isdecimal() else _bounded_value(json.loads(found[2]))) if found else None
        except (ValueError, RecursionError):
            value = None
        if found and value is not None:
            fields.setdefault(found[1], value)
        else:
            rest.append(line)
    remaining = "\n".join(rest)
    if not remaining.strip():
        return fields, []
    notes: list[str] = []
    small = len(remaining) <= _YAML_LIMIT and remaining.count("[") + remaining.count("{") <= _BRACKET_LIMIT
    others = _composed(remaining) if small else None
    if others is None:
        others = _line_by_line(remaining)
        notes.append("the front matter is not valid YAML; it was read line by line")
    return {**others, **fields}, notes


def _composed(block: str) -> dict[str, Any] | None:
    from ruamel.yaml import YAML
    from ruamel.yaml.error import YAMLError

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # an anchor that is defined again is allowed
            root = YAML(typ="safe", pure=True).compose(block)
        value = _Composer().value(root, 0) if root is not None else {}
    except (YAMLError, ValueError, OverflowError, RecursionError, AttributeError, TypeError, LookupError):
        return None
    return value if isinstance(value, dict) else None


class _Composer:
    """Makes plain values of composed YAML, counting them: an alias may unfold to more than memory holds."""

    def __init__(self) -> None:
        self.count = 0

    def value(self, node: Any, depth: int) -> Any:
        self.count += 1
        if depth > _DEPTH_LIMIT or self.count > _VALUE_LIMIT:
            raise ValueError("too deep or too large")
        if isinstance(node.value, str):
            return "" if node.style is None and node.value in ("~", "null", "Null", "NULL") else node.value
        if node.value and isinstance(node.value[0], tuple):
            pairs: dict[str, Any] = {}
            for key, value in node.value:
                if isinstance(key.value, str):
                    pairs.setdefault(key.value, self.value(value, depth + 1))
            return pairs
        return [self.value(child, depth + 1) for child in node.value]


def _line_by_line(block: str) -> dict[str, Any]:
    fields: dict[str, Any] = {}
    for line in block.split("\n"):
        found = _SIMPLE_LINE.match(line)
        if found:
            value = found[2].strip()
            quoted = len(value) > 1 and value[0] == value[-1] and value[0] in "\"'"
            fields.setdefault(found[1], value[1:-1] if quoted else value)
    return fields


def _bounded(value: Mapping[str, Any]) -> dict[str, Any]:
    return {str(key): _bounded_value(child) for key, child in list(value.items())[:_VALUE_LIMIT]}


def _bounded_value(value: Any, depth: int = 0) -> Any:
    """JSON and TOML as text, lists and mappings; numbers stay what they are."""
    if depth > _DEPTH_LIMIT:
        raise ValueError("too deep")
    if isinstance(value, dict):
        return {str(key): _bounded_value(child, depth + 1) for key, child in value.items()}
    if isinstance(value, list):
        return [_bounded_value(child, depth + 1) for child in value]
    return value if isinstance(value, str | int) and not isinstance(value, bool) else str(value)


# -- what the fields mean


@dataclass
class Described:
    """The fields that every document has, and all others as text."""

    title: str = ""
    author: str = ""
    published: str = ""
    language: str = ""
    url: str = ""
    extra: dict[str, str] = field(default_factory=dict)


def describe(fields: Mapping[str, Any]) -> Described:
    known = {name: meaning for meaning, names in _NAMES.items() for name in names}
    ranks = {name: rank for names in _NAMES.values() for rank, name in enumerate(names)}
    described = Described()
    for key in sorted(fields, key=lambda key: ranks.get(_plain(key), 0)):
        text = as_text(fields[key])
        meaning = known.get(_plain(key))
        if meaning and text and not getattr(described, meaning):
            setattr(described, meaning, text)
        elif text:
            described.extra.setdefault(one_line(key, 100), text)
    described.extra = {
        key: described.extra[key] for key in (one_line(key, 100) for key in fields) if key in described.extra
    }
    return described


def _plain(key: str) -> str:
    return key.lower().replace("-", "_").replace(" ", "_")


def as_text(value: Any) -> str:
    """A field on one line: lists with commas, and of a mapping its name, or all of it."""
    if isinstance(value, dict):
        if isinstance(value.get("name"), str):
            return one_line(value["name"], 2_000)
        return one_line("; ".join(f"{key}: {as_text(child)}" for key, child in value.items()), 2_000)
    if isinstance(value, list):
        return one_line(", ".join(filter(None, map(as_text, value))), 2_000)
    return one_line(str(value), 2_000)
