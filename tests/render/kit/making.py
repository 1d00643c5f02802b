"""Kits to show: of the engine's own texts, and one with a sign of its own in every field that the schema knows."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import count
from typing import Any

from tests.models import pack_schemas
from tests.models.kits import make, text_of
from weft.render.kit import Source

ARABIC = """# السوق الذي لا ينام

في كل صباح يفتح سوق السمك أبوابه قبل شروق الشمس بساعتين. يعمل فيه 340 تاجراً، ويبيعون نحو 12 طناً من السمك كل يوم.
تقول مريم الخطيب، وهي تعمل هنا منذ عشرين عاماً: «البحر لا يكذب، لكن الميزان قد يكذب».

لكن السوق تغيّر كثيراً. انخفضت كمية الصيد بنسبة 40 في المئة خلال عشر سنوات. لماذا يبقى الناس هنا إذن؟
"""
CHINESE = """# 老茶馆的最后一年

城南的老茶馆开了八十七年，今年年底就要关门了。老板王德明说：“不是没有客人，是没有人愿意凌晨四点起来烧水。”

茶馆的房租在五年里涨了三倍，而一杯茶的价格只涨了两块钱。2010年全市有214家老茶馆，现在只剩下19家。🍵
"""
ONE = "The lighthouse at Skerry Point was switched off on a Tuesday, and nobody in the village noticed until Friday."


@dataclass(frozen=True)
class At:
    """A cue."""

    start: float
    offset: int


def kit_and_source(text: str, kind: str = "markdown", **more: Any) -> tuple[dict[str, Any], Source]:
    kit = make(text)
    return kit.whole, Source(text=text, kind=kind, language=kit.code, **more)


def shown() -> dict[str, tuple[dict[str, Any], Source]]:
    """Kits that differ as much as documents do."""
    named = {name: kit_and_source(text_of(f"{name}.md")) for name in ("night-trains", "wald", "mercado")}
    bees = text_of("interview-bees.txt")
    cues = tuple(At(start=4 + 30 * at, offset=place) for at, place in enumerate(_places(bees, "[00:")))
    named["bees"] = kit_and_source(bees, "text", cues=cues, title="Bees", author="R. A.", published="2021-03-04")
    named |= {"arabic": kit_and_source(ARABIC), "chinese": kit_and_source(CHINESE), "one": kit_and_source(ONE, "text")}
    return named


def _places(text: str, sign: str) -> Iterator[int]:
    at = text.find(sign)
    while at >= 0:
        yield at
        at = text.find(sign, at + 1)


def from_schema(words: str = "sign {n} of the schema, which is longer than fifty characters and so long enough") -> Any:
    """A value with every field that the kit's schema has, each leaf with a number of its own."""
    whole = pack_schemas.schema("writing-kit")
    numbers = count(101)

    def value(schema: dict[str, Any], key: str = "") -> Any:
        if "$ref" in schema:
            return value(whole["$defs"][schema["$ref"].rsplit("/", 1)[-1]], key)
        if "enum" in schema:
            return schema["enum"][-1]
        kind = schema["type"]
        if kind == "object":
            return {name: value(child, name) for name, child in schema["properties"].items()}
        if kind == "array":
            return [value(schema["items"], key) for _ in range(max(schema.get("minItems", 1), 2))]
        if kind == "number":
            return next(numbers) / (1000 if schema.get("maximum") == 1 else 10)
        if kind == "integer":
            return next(numbers)
        if key == "timestamp":
            return f"{next(numbers) % 60:02d}:{next(numbers) % 60:02d}"
        return "de" if key == "language" else words.format(n=next(numbers))

    kit = value(whole)
    kit["summary"]["contentId"] = kit["ideas"]["contentId"] = kit["contentId"]
    return _with_spans(kit)


def _with_spans(kit: Any, path: str = "") -> Any:
    """Offsets in the order that offsets have."""
    if isinstance(kit, dict):
        return {key: _with_spans(child, f"{path}.{key}") for key, child in kit.items()}
    if isinstance(kit, list):
        pair = len(kit) == 2 and all(isinstance(one, int) for one in kit)
        return sorted(kit) if pair else [_with_spans(child, path) for child in kit]
    return kit
