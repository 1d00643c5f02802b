"""The words around a kit in the reader's language: as the profile says, else as the document is; English elsewhere."""

from __future__ import annotations

import tomllib
from functools import cache
from importlib.resources import files
from typing import Final

from weft.render.kit.figures import language_name, number

LOST: Final = (
    "{} place that this kit refers to can't be found in the source as it is now.",
    "{} places that this kit refers to can't be found in the source as it is now.",
)
WORDS: Final = ("{} word", "{} words")
MORE: Final = "With a model connected: angles with a thesis each, and `weft run draft`."
"""What a kit that was made without a model says at its end."""


class Labels:
    def __init__(self, *languages: str) -> None:
        """The first of the languages that anything is said for."""
        known = _labels()
        codes = [language.lower().replace("_", "-").split("-")[0] for language in languages if language]
        self.language = next((code for code in codes if code == "en" or code in known), "en")
        self._words = known.get(self.language, {})

    def __call__(self, english: str) -> str:
        return self._words.get(english, english)

    def number(self, value: float) -> str:
        """`12,400` is `12.400` where a comma stands before decimals."""
        return number(value).translate(str.maketrans(",.", self(",") + self(".")))

    def named(self, code: str) -> str:
        """A language, with its code where it is known."""
        name = language_name(code)
        return f"{self(name)} ({code})" if name else code

    def percent(self, share: float) -> str:
        return f"{self.number(round(share * 100, 1))}\u00a0%"

    def counted(self, value: float, one: str, many: str) -> str:
        """`{} word` and `{} words`, with the number in its place."""
        return self(one if value == 1 else many).format(self.number(value))

    def item(self, id: str) -> str:
        """What an item of the kit is called where the source refers back to it: `Point 3`."""
        name, _, at = id.replace("-", " ").capitalize().rpartition(" ")
        return f"{self(name)} {at}" if at.isdecimal() else self(f"{name} {at}".strip())


@cache
def _labels() -> dict[str, dict[str, str]]:
    return tomllib.loads(files(__package__).joinpath("labels.toml").read_text("utf-8"))
