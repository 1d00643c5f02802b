"""The words around a kit in the reader's language: as the profile says, else as the document is; English elsewhere."""

from __future__ import annotations

import tomllib
from functools import cache
from importlib.resources import files
from typing import Final

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


@cache
def _labels() -> dict[str, dict[str, str]]:
    return tomllib.loads(files(__package__).joinpath("labels.toml").read_text("utf-8"))
