"""One way to name content: the first 32 hex digits (128 bits) of SHA-256."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import Any, Final

HASH_SIZE: Final = 32
"""Hexadecimal digits."""


def hash_bytes(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()[:HASH_SIZE]


_ENCODER: Final = json.JSONEncoder(sort_keys=True, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
"""Built once: `json.dumps` with options of its own builds an encoder for every call."""


def canonical(value: Any) -> str:
    """The one JSON text of a value: sorted keys, no spaces, no escapes of letters."""
    return _ENCODER.encode(value)


def hash_value(value: Any) -> str:
    return hash_bytes(canonical(value).encode("utf-8", "surrogatepass"))


def combine(parts: Mapping[str, str]) -> str:
    """One hash for a map of named hashes; a single entry still gets a hash of its own name and value."""
    return hash_value(dict(parts))
