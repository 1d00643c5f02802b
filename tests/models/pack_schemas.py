"""The schemas of the writing pack, which the engine's artifacts are held to."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Final

import weft

ARTIFACTS: Final = ("summary", "ideas", "outline", "writing-kit")
_FOLDER: Final = Path(weft.__file__).parent / "packs/writing/schemas"


def schema(artifact: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((_FOLDER / f"{artifact}.schema.json").read_text("utf-8"))
    return found
