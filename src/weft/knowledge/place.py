"""Where a passage stands in a document's own numbering, and the one text each such place has.

    315                document
    315.12             paragraph                  (`Policy 7.2`: document policy, paragraph 7.2)
    315.12(a)          item of it                 315.12(a)(ii)   item of the item
    315.A2             application paragraph: numbered through the document, whatever paragraph it explains

A document that uses a number twice has two passages with the same place; the second's text ends in `~2`. A part of a
passage that was too long ends in `_part2`. So a text names one passage, and an id is a hash of it.
"""

from __future__ import annotations

import hashlib
import re
from dataclasses import replace
from typing import Final, Literal

from weft.protocol.values import dataclass

EdgeKind = Literal["sub_paragraph", "cross_ref", "app_material", "standard_ref"]

WEIGHTS: Final[dict[EdgeKind, float]] = {
    "sub_paragraph": 0.95,
    "cross_ref": 0.90,
    "app_material": 0.85,
    "standard_ref": 0.60,
}
"""How much a reference of each precision is worth when it is followed."""

_ID_DIGITS: Final = 16
"""64 bits: with 32, two of 100,000 passages would be expected to share an id."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CitedPlace:
    document: str
    paragraph: str = ""
    item: str = ""
    subitem: str = ""
    application: str = ""

    @property
    def ref(self) -> str:
        if not (self.paragraph or self.application):
            return self.document
        text = f"{self.document}.{self.paragraph}" if self.paragraph else self.document
        text += "".join(f"({part})" for part in (self.item, self.subitem) if part)
        return f"{text}.{self.application}" if self.application else text

    @property
    def kind(self) -> EdgeKind:
        """How precise a reference to this place is. What names an application paragraph means that paragraph."""
        if self.application:
            return "app_material"
        if self.item:
            return "sub_paragraph"
        return "cross_ref" if self.paragraph else "standard_ref"

    @property
    def weight(self) -> float:
        return WEIGHTS[self.kind]

    def parent(self) -> CitedPlace | None:
        """The place around this one; None around a document."""
        if self.application:
            return CitedPlace(document=self.document)
        for name in ("subitem", "item", "paragraph"):
            if getattr(self, name):
                return replace(self, **{name: ""})
        return None

    def stored(self) -> CitedPlace:
        """As a passage is filed: an application paragraph by its own number alone, since that is unique."""
        return CitedPlace(document=self.document, application=self.application) if self.application else self


_KEY_NOISE: Final = re.compile(r"[\s_\-–—]+")


def same_key(text: str) -> str:
    """Documents' keys compare without case, spaces and hyphens: `RFC 9110`, `rfc9110` and `RFC-9110` are one."""
    return _KEY_NOISE.sub("", text).casefold()


def passage_id(file: str, ref: str) -> str:
    return _digest("p", f"{file}\0{ref}")


def document_id(file: str) -> str:
    return _digest("d", file)


def _digest(prefix: str, text: str) -> str:
    return f"{prefix}_{hashlib.sha256(text.encode('utf-8', 'surrogatepass')).hexdigest()[:_ID_DIGITS]}"
