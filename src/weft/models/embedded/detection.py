"""Which language a text is in: first by script, then, where several share one, by the small words of each.

A word that five languages have says a fifth for each of them. Too little to go by is `und`, never a guess.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from functools import lru_cache
from typing import Final

from weft.models.embedded.languages import LANGUAGES
from weft.models.embedded.words import tokens

SAMPLE: Final = 20_000
"""How many characters of a long text are looked at."""
_ENOUGH: Final = 0.1
"""The least share of a text's words that must speak for a language."""
_SCRIPTS: Final = {
    "latin": re.compile("[A-Za-z\u00c0-\u024f\u1e00-\u1eff]"),
    "cyrillic": re.compile("[\u0400-\u052f]"),
    "arabic": re.compile("[\u0620-\u06d3\u06fa-\u06ff\u0750-\u077f\ufb50-\ufdff\ufe70-\ufefc]"),
    "devanagari": re.compile("[\u0900-\u0963\u0970-\u097f]"),
    "han": re.compile("[\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff]"),
    "kana": re.compile("[\u3041-\u30ff\uff66-\uff9f]"),
    "hangul": re.compile("[\uac00-\ud7a3\u1100-\u11ff]"),
    "hebrew": re.compile("[\u05d0-\u05ea]"),
    "greek": re.compile("[\u0370-\u03ff]"),
    "thai": re.compile("[\u0e01-\u0e4e]"),
}
_OF_SCRIPT: Final = {
    "cyrillic": ("ru", "uk", "bg"),
    "arabic": ("ar", "fa", "ur"),
    "devanagari": ("hi",),
    "hangul": ("ko",),
    "hebrew": ("he",),
    "greek": ("el",),
    "thai": ("th",),
}
_SINGLE: Final = frozenset(code for codes in _OF_SCRIPT.values() for code in codes) | {"zh", "ja"}
_LATIN: Final = tuple(code for code in LANGUAGES if code not in _SINGLE)
_LETTERS: Final = {
    "de": "ßäöü", "es": "ñ¿¡", "fr": "œçêèàùëï", "pt": "ãõ", "pl": "łąęśżźćń", "cs": "řěůčšž", "tr": "ğışİ",
    "ro": "țșă", "hu": "őű", "sv": "å", "da": "øæ", "no": "øæ", "vi": "ơưđ", "uk": "іїєґ", "fa": "پچژگ",
    "ur": "ٹڈڑے", "it": "òì",
}  # fmt: skip
_LETTER_WEIGHT: Final = 0.34
_PRIOR: Final = {"en": 1.2, "de": 1.15, "fr": 1.15, "es": 1.25, "it": 1.15, "pt": 1.1, "nl": 1.1, "ru": 1.2, "ar": 1.2}
"""What decides in a text so short that its few small words belong to several languages."""


@lru_cache(maxsize=1)
def _speakers() -> dict[str, tuple[str, ...]]:
    """For each small word, the languages that have it."""
    found: dict[str, tuple[str, ...]] = {}
    for code, known in LANGUAGES.items():
        for word in known.function:
            found[word] = (*found.get(word, ()), code)
    return found


def detect(text: str) -> str:
    sample = _sample(text)
    scripts = {name: len(pattern.findall(sample)) for name, pattern in _SCRIPTS.items()}
    # A character of Chinese or Korean says as much as two or three letters.
    weights = {name: count * (2.5 if name in ("han", "kana", "hangul") else 1) for name, count in scripts.items()}
    main = max(weights, key=lambda name: weights[name])
    if not scripts[main]:
        return "und"
    if main in ("han", "kana"):
        return "ja" if scripts["kana"] > 0.08 * scripts["han"] else "zh"
    candidates = _OF_SCRIPT.get(main, _LATIN)
    if len(candidates) == 1:
        return candidates[0]
    return _by_words(sample, candidates)


def main_language(parts: Iterable[str]) -> tuple[str, tuple[str, ...]]:
    """The language most of the parts are in, and the others with a fair share of the whole."""
    sizes: Counter[str] = Counter()
    whole: list[str] = []
    for part in parts:
        whole.append(part)
        sizes[detect(part)] += len(part)
    known = {code: size for code, size in sizes.items() if code != "und"}
    if not known:
        return detect("\n".join(whole)), ()
    total = sum(known.values())
    main = max(known, key=lambda code: (known[code], code))
    return main, tuple(sorted(code for code, size in known.items() if code != main and size >= 0.1 * total))


def _sample(text: str) -> str:
    if len(text) <= SAMPLE:
        return text
    third = SAMPLE // 3
    middle = len(text) // 2
    return f"{text[:third]}\n{text[middle : middle + third]}\n{text[-third:]}"


def _by_words(sample: str, candidates: tuple[str, ...]) -> str:
    found = tokens(sample)
    speakers = _speakers()
    scores = dict.fromkeys(candidates, 0.0)
    for word in found:
        if len(word) == 1 and candidates is _LATIN:
            # A single letter is a small word in too many languages to speak for one.
            continue
        of_word = [code for code in speakers.get(word, ()) if code in scores]
        for code in of_word:
            scores[code] += 1 / len(of_word)
    lowered = sample.lower()
    for code, letters in _LETTERS.items():
        if code in scores:
            scores[code] += _LETTER_WEIGHT * min(len(found), sum(lowered.count(letter) for letter in letters))
    best = max(scores, key=lambda code: scores[code] * _PRIOR.get(code, 1.0))
    if candidates is not _LATIN:
        return best if scores[best] > 0 else candidates[0]
    least = 0.8 if best in _PRIOR else 2.0
    return best if found and scores[best] >= max(least, _ENOUGH * len(found)) else "und"
