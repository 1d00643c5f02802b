"""JSON Schemas of the four artifacts, each in one file that needs no other.

What only the engine can give (evidence, readability, counts) is not required, so that another model may write the same
artifacts.
"""

from __future__ import annotations

import json
from importlib.resources import files
from typing import Any, Final

ARTIFACTS: Final = ("summary", "ideas", "outline", "writing-kit")


def schema(artifact: str) -> dict[str, Any]:
    """The schema of an artifact by its name. KeyError for another name."""
    if artifact not in ARTIFACTS:
        raise KeyError(artifact)
    found: dict[str, Any] = json.loads(files(__package__).joinpath(f"{artifact}.schema.json").read_text("utf-8"))
    return found
