"""JSON that others wrote: a file, an answer, a line on a pipe."""

from __future__ import annotations

import json
from typing import Any


def json_value(text: str | bytes) -> Any:
    """ValueError for what is no JSON, and for what is nested so deeply that reading it would end the program."""
    try:
        return json.loads(text)
    except RecursionError:
        raise ValueError("it is nested too deeply") from None
