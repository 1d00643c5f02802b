"""Words for what the terminal and the page both tell. The page is built with the same file, `words.json`."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

_WORDS: Final[Mapping[str, Any]] = json.loads(Path(__file__).with_name("words.json").read_bytes())
INTERRUPTS: Final[Mapping[str, str]] = _WORDS["interrupts"]
"""Why a turn was interrupted, where it was not by the person."""
MEANINGS: Final[Mapping[str, str]] = _WORDS["meanings"]
"""What a person's words were understood as, where that is all there is to say."""
REPLIED: Final[Mapping[str, str]] = _WORDS["replied"]
"""By whom a gate was answered."""
TELLING: Final[Sequence[str]] = _WORDS["telling"]
"""The keys of an input that say best what a call is about, the best first."""
