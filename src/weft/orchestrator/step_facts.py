"""What is known of a step when a run begins: all it is made from except what the run itself makes, and its files."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from typing import Any

from weft.protocol.values import dataclass


@dataclass(frozen=True, slots=True)
class OnDisk:
    """An artifact's file as it is now."""

    hash: str | None
    """None: it is not there."""
    fault: str = ""
    """Why it would not pass today ("" when it would)."""
    size: int = 0


@dataclass(frozen=True, slots=True)
class StepFacts:
    made_from: Mapping[str, str]
    files: Mapping[str, OnDisk]
    schema_version: str = ""
    seen: Mapping[str, tuple[Any, ...]] = field(default_factory=dict)
    """What conditions, gates and units look at in its files, by `artifact#path`."""
    model: str = ""
    """The model that makes it; "" for code."""
    reads: int = 0
    """About how many tokens it gives to the model, without artifacts."""
    items: tuple[tuple[str, str], ...] | None = None
    """Of a step with a map: the key and the hash of each of its items, as what it is over stands now; None when that
    can't be told."""
    edited: tuple[str, ...] = ()
    """Files of its items that a person changed."""
    until: float = 0.0
    """The moment before which it is not made."""
