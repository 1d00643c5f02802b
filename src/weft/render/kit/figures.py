"""Numbers, languages and measures in the words of a reader."""

from __future__ import annotations

from typing import Final

_LANGUAGES: Final = {
    "ar": "Arabic",
    "de": "German",
    "en": "English",
    "es": "Spanish",
    "fa": "Persian",
    "fr": "French",
    "he": "Hebrew",
    "hi": "Hindi",
    "it": "Italian",
    "ja": "Japanese",
    "ko": "Korean",
    "nl": "Dutch",
    "pl": "Polish",
    "pt": "Portuguese",
    "ru": "Russian",
    "tr": "Turkish",
    "uk": "Ukrainian",
    "ur": "Urdu",
    "zh": "Chinese",
    "und": "not determined",
}
_MEASURES: Final = {"flesch": "Flesch reading ease", "lix": "LIX", "length": "length of sentences"}


def number(value: float) -> str:
    """`12,400`, `85.6`: never more figures than the kit has, never an exponent."""
    if isinstance(value, int) or float(value).is_integer():
        return f"{int(value):,}"
    return f"{value:,.2f}".rstrip("0").rstrip(".")


def percent(share: float) -> str:
    return f"{number(round(share * 100, 1))}\u00a0%"


def counted(value: float, one: str, many: str = "") -> str:
    return f"{number(value)} {one if value == 1 else many or one + 's'}"


def language_name(code: str) -> str:
    """`German`; nothing for a code nobody knows."""
    return _LANGUAGES.get(code.lower().replace("_", "-").split("-")[0], "")


def measure_name(measure: str) -> str:
    return _MEASURES.get(measure, measure)
