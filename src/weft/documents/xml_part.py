"""XML out of an archive, as a tree. Entities of its own making are refused, nothing is fetched, and depth is bounded.

Office documents have no document type at all; a file that declares entities is an attack or a mistake, and is named
as such. The parser is expat with our own handlers: `xml.etree` gives no way to see a declaration before it is used.
"""

from __future__ import annotations

from typing import Any, Final
from xml.etree.ElementTree import Element, TreeBuilder
from xml.parsers import expat

from weft.documents.document import RefusedError

DEPTH_LIMIT: Final = 200
_DAMAGED: Final = "Open it where it was made and save it anew"


def parse_xml(data: bytes, name: str) -> Element:
    """The root element, with names as `{namespace}local`."""
    builder = TreeBuilder()
    parser = expat.ParserCreate(namespace_separator="}")
    parser.buffer_text = True
    depth = 0

    def start(tag: str, attributes: dict[str, str]) -> None:
        nonlocal depth
        depth += 1
        if depth > DEPTH_LIMIT:
            raise RefusedError(f"has a part ({name[:80]}) that is nested more than {DEPTH_LIMIT} levels deep", _DAMAGED)
        builder.start(_named(tag), {_named(key): value for key, value in attributes.items()})

    def end(tag: str) -> None:
        nonlocal depth
        depth -= 1
        builder.end(_named(tag))

    def declared(*_: Any) -> None:
        raise RefusedError(
            f"declares XML entities in its part {name[:80]}, which no such document does",
            "Nothing was expanded. Open it where it was made and save it anew",
        )

    parser.StartElementHandler = start
    parser.EndElementHandler = end
    parser.CharacterDataHandler = builder.data
    parser.EntityDeclHandler = declared
    try:
        parser.Parse(data, True)
        return builder.close()
    except (expat.ExpatError, ValueError, LookupError, AssertionError) as error:
        raise RefusedError(f"is damaged: its part {name[:80]} is not well-formed XML ({error})", _DAMAGED) from error


def _named(name: str) -> str:
    return "{" + name if "}" in name else name
