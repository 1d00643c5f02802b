"""Which of `(i)`, `(v)`, `(x)` are roman numbers and which are letters, by the company they keep.

A label is read with the one before it and the one after it: `(h) (i) (j)` are letters, `(h) (i) (ii)` is a letter with
two roman items, `(b) (i)` is the first item of `(b)`.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

_ROMAN: Final = re.compile(r"(?=[ivxl])(x{0,3}|xl|l)(ix|iv|v?i{0,3})\Z")
_VALUES: Final = {"i": 1, "v": 5, "x": 10, "l": 50}


def roman(label: str) -> int:
    """The value of a small roman number up to 59; 0 for what is none."""
    if not _ROMAN.match(label):
        return 0
    digits = [_VALUES[sign] for sign in label]
    return sum(-a if a < b else a for a, b in zip(digits, [*digits[1:], 0], strict=True))


def letters_after(label: str) -> str:
    """`b` after `a`, `aa` after `z`; "" after what is no such label. The first is `a`."""
    if not label:
        return "a"
    if not (label.isalpha() and label == label[0] * len(label)):
        return ""
    return "a" * (len(label) + 1) if label[0] == "z" else chr(ord(label[0]) + 1) * len(label)


def item_levels(labels: Sequence[str]) -> list[tuple[str, str]]:
    """For the labels of one paragraph's items, in order: which item each is, and which sub-item of it."""
    result: list[tuple[str, str]] = []
    item = sub = ""
    roman_items = False
    for index, label in enumerate(labels):
        following = labels[index + 1] if index + 1 < len(labels) else ""
        if not item and label == "i" and roman(following) == 2:
            roman_items = True
        if roman_items or not _is_sub_item(label, item, sub, following):
            item, sub = label, ""
        else:
            sub = label
        result.append((item, sub))
    return result


def _is_sub_item(label: str, item: str, sub: str, following: str) -> bool:
    value = roman(label)
    if not value or not item or item.isdigit() != label.isdigit():
        return bool(item.isdigit() and label.isalpha())
    continues = value == (roman(sub) + 1 if sub else 1)
    next_letter = label == letters_after(item)
    if continues and next_letter:
        return roman(following) == value + 1
    if continues:
        return True
    if next_letter:
        return False
    return bool(sub) and value > roman(sub)
