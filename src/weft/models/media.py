"""What a model takes besides text: pictures, PDF. What it says of itself counts; else what is known by its name."""

from __future__ import annotations

import re
from typing import Final, Literal

from weft.models.model import Model

MediaKind = Literal["image", "pdf"]
IMAGES: Final = ("image/png", "image/jpeg", "image/gif", "image/webp")
_NAMES: Final[tuple[tuple[re.Pattern[str], frozenset[MediaKind]], ...]] = (
    (re.compile(r"claude-(?:2|instant)|gpt-3|o1-mini|o3-mini|gpt-4-\d|deepseek|embed"), frozenset()),
    (re.compile(r"claude|gemini|gpt-4o|gpt-4\.\d|gpt-5|\bo[134]\b|\bo[134]-"), frozenset({"image", "pdf"})),
    (
        re.compile(r"llava|pixtral|[-_.\d]vl\b|[-_]vision|gemma-?3|llama-?4|qwen.*vl|minicpm-v|grok-4"),
        frozenset({"image"}),
    ),
)


def media_taken(model: Model) -> frozenset[MediaKind]:
    own: frozenset[MediaKind] | None = getattr(model, "media", None)
    if own is not None:
        return own
    name = model.name.rpartition("/")[2].lower() if "/" in model.name else model.name.lower()
    return next((taken for pattern, taken in _NAMES if pattern.search(name)), frozenset())


def media_kind(media_type: str) -> MediaKind | None:
    if media_type in IMAGES:
        return "image"
    return "pdf" if media_type == "application/pdf" else None
