"""What a model takes besides text: pictures, PDF. What it says of itself counts; else what is known by its name.

A picture that is larger than providers take is made smaller on its way to the model; its file stays as it is.
"""

from __future__ import annotations

import io
import re
from typing import Final

from weft.documents.pictures import picture_size
from weft.models.model import Model
from weft.protocol.errors import UserError
from weft.protocol.messages import Media
from weft.workspace.model_table import MediaKind

LONGEST_EDGE: Final = 2000
"""Pixels: what every provider takes, however many pictures a request has."""
MOST_BYTES: Final = 3_750_000
"""Of a picture: 5 MB as it is sent."""
MOST_PIXELS: Final = 100_000_000
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


def within_limits(one: Media) -> Media:
    """The picture, made smaller when it is larger than providers take; anything else as it is. UserError when it can't
    be made smaller here. For a thread: a large one takes a part of a second."""
    size = picture_size(one.data) or (0, 0)
    if media_kind(one.media_type) != "image" or (len(one.data) <= MOST_BYTES and max(size) <= LONGEST_EDGE):
        return one
    by_hand = f"make it at most {LONGEST_EDGE:,} pixels wide and high, and {MOST_BYTES:,} bytes"
    try:
        from PIL import Image, ImageOps  # large, and few pictures need it
    except ImportError:
        raise UserError(
            f"{one.name} is larger than models take", hint=f"pip install 'weft[pictures]', or {by_hand}"
        ) from None
    try:
        with Image.open(io.BytesIO(one.data)) as found:
            if found.width * found.height > MOST_PIXELS:
                raise UserError(f"{one.name} has {found.width} × {found.height} pixels", hint=by_hand)
            found.draft("RGB", (LONGEST_EDGE, LONGEST_EDGE))
            picture = ImageOps.exif_transpose(found)
            picture.thumbnail((LONGEST_EDGE, LONGEST_EDGE))
    except (OSError, ValueError, SyntaxError, Image.DecompressionBombError) as error:
        raise UserError(f"{one.name} can't be read as a picture: {error}", hint=by_hand) from None
    ways = [("PNG", "image/png")] if one.media_type == "image/png" else []
    for form, media_type in (*ways, ("JPEG", "image/jpeg")):
        made = io.BytesIO()
        (picture if form == "PNG" else picture.convert("RGB")).save(made, form, quality=85)
        if made.tell() <= MOST_BYTES:
            return Media(media_type=media_type, data=made.getvalue(), name=one.name)
    raise UserError(f"{one.name} is larger than models take", hint=by_hand)
