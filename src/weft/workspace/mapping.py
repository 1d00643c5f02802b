"""What a step is made for item by item: where its items come from and what comes of those that fail. Values, no I/O.

An item has a key, which names it in its step, and a file of its own, `<step>/<file of the key>.json`. The step's
artifact gathers them in their order:

    {"items": [{"item": "anna", "value": …}, {"item": "ben", "failed": "took longer than 60 s"}], "failed": ["ben"]}
"""

from __future__ import annotations

from typing import Final, Literal

from weft.protocol.hashes import hash_bytes
from weft.protocol.ids import slug
from weft.protocol.patterns import pattern
from weft.protocol.values import dataclass
from weft.workspace.flow import ArtifactPlace

Failed = Literal["stop", "keep", "skip"]
_PLAIN: Final = pattern(r"[a-z0-9][a-z0-9_-]{0,59}\Z")
ITEMS: Final = "items[*]"
"""Where a gathered artifact has its items."""


@dataclass(frozen=True)
class ItemPart:
    """An input of a pipeline that is made for each item: the item, or what is at a place in it."""

    at: str = ""


@dataclass(frozen=True)
class Map:
    look: ArtifactPlace | None = None
    """Over the values at a place of an artifact."""
    gathered: bool = False
    """They are the items of a step that has a map itself."""
    folder: str | None = None
    """Over the files of the folder that this parameter names."""
    files: str = "*"
    rows: str | None = None
    """Over the rows of an input."""
    pages: str | None = None
    """Over the pages of an input."""
    name: str = "item"
    """What each is called for what makes it."""
    key: str | None = None
    """The place in each that names it."""
    at_once: int = 4
    failed: Failed = "stop"
    most_failed: int | str | None = None
    """How many may fail: a number, or a share."""
    taken_from: str | None = None
    """The artifact that the input is, whose rows or pages it is over."""

    @property
    def sources(self) -> tuple[str, ...]:
        """The inputs of the step that are its items: each item depends on its own part of them alone."""
        if self.taken_from is not None:
            return (f"artifact:{self.taken_from}",)
        if self.look is not None:
            return (f"artifact:{self.look.artifact}",)
        if self.folder is not None:
            return (f"files:{self.folder}", f"parameter:{self.folder}")
        return (f"input:{self.rows or self.pages}",)

    def allowed(self, items: int) -> int:
        """How many of so many items may fail."""
        if self.failed == "stop":
            return 0
        if self.most_failed is None:
            return items
        if isinstance(self.most_failed, int):
            return self.most_failed
        return int(items * float(self.most_failed.rstrip("% ")) / 100)


def item_name(key: str) -> str:
    """A key made fit for a name; no two have the same, also on a disk that does not tell capital letters."""
    return key if _PLAIN.match(key) else f"{slug(key) or 'item'}-{hash_bytes(key.encode('utf-8', 'surrogatepass'))[:6]}"


def item_file(step: str, key: str) -> str:
    """The file of an item."""
    return f"{step}/{item_name(key)}.json"
