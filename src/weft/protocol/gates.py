"""What a gate offers: one value for the pipeline that declares it, the gate that asks and the words that answer it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from weft.protocol.values import dataclass, field

ChoiceKind = Literal["proceed", "amend", "cancel", "goto"]
"""`goto` leads somewhere else than on, back or to the end; pipelines declare the other three."""


@dataclass(frozen=True, slots=True)
class Choice:
    id: str
    label: str
    does: ChoiceKind
    set: Mapping[str, Any] = field(default_factory=dict)
    """Parameters that choosing it sets."""
    step: str = ""
    """Where a `goto` leads."""
    says: tuple[str, ...] = ()
    """Further phrases that mean it."""
