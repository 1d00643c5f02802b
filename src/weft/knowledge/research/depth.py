"""What quick, standard and deep mean. The one table: every bound that research keeps is read from here."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, fields
from typing import Any, Final, Literal

from weft.protocol.errors import UsageError
from weft.protocol.values import dataclass
from weft.workspace.spelling import suggest

DepthName = Literal["quick", "standard", "deep"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Depth:
    name: DepthName
    sub_queries: int
    """At most so many."""
    passages: int
    """Of each sub-query, at most."""
    repairs: int
    """Rounds in which a draft that failed verification is written again."""
    context_tokens: int
    """All passages together; four characters count as a token."""
    answer_tokens: int
    web: bool
    """Whether pages of the web that were given are used."""
    hops: int
    """How many references are followed in a row, from the best finds."""
    sentences: int
    """Of each section of an embedded answer, at most."""

    def bounds(self) -> dict[str, Any]:
        return asdict(self)


DEPTHS: Final[dict[str, Depth]] = {
    depth.name: depth
    for depth in (
        Depth(name="quick", sub_queries=3, passages=10, repairs=0, context_tokens=4_000, answer_tokens=2_048,
              web=False, hops=1, sentences=3),
        Depth(name="standard", sub_queries=8, passages=20, repairs=2, context_tokens=12_000, answer_tokens=4_096,
              web=True, hops=2, sentences=4),
        Depth(name="deep", sub_queries=15, passages=30, repairs=3, context_tokens=24_000, answer_tokens=8_192,
              web=True, hops=3, sentences=6),
    )
}  # fmt: skip


def depth_of(limits: Mapping[str, Any]) -> Depth:
    """From bounds that were written down, or set one by one; what is no bound is passed over."""
    names = {one.name for one in fields(Depth)} - {"name"}
    given = {key: value for key, value in limits.items() if key in names}
    return Depth(name=limits.get("depth", limits["name"]), **given)


def depth_named(name: str) -> Depth:
    if name not in DEPTHS:
        raise UsageError(f"there is no depth {name!r}", hint=suggest(name, DEPTHS, "depths"))
    return DEPTHS[name]
