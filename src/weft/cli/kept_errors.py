"""What ended a command unexpectedly, kept redacted in a folder of the person's own: the last few, for a bug report."""

from __future__ import annotations

import os
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from weft.redaction import REDACTOR

MOST_KEPT: Final = 10


def kept_errors() -> list[Path]:
    """The newest last."""
    return sorted(_folder().glob("error-*.txt"))


def keep_error(text: str) -> Path | None:
    """Where it is; None when it can't be kept, which must hide nothing."""
    REDACTOR.learn_environment({**os.environ})
    folder = _folder()
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        path = folder / f"error-{datetime.now(UTC):%Y%m%dT%H%M%S}-{os.getpid()}.txt"
        path.write_text(REDACTOR.text(text), encoding="utf-8")
        for old in kept_errors()[:-MOST_KEPT]:
            old.unlink(missing_ok=True)
    except OSError:
        return None
    return path


def _folder() -> Path:
    state = os.environ.get("XDG_STATE_HOME") or str(Path(os.environ.get("HOME", "~")).expanduser() / ".local" / "state")
    return Path(state) / "weft" / "errors"
