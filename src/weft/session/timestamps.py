"""A moment as seconds since 1970, and as text in UTC, which sorts as the moments do."""

from __future__ import annotations

from datetime import UTC, datetime


def moment_text(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def moment_seconds(text: str) -> float:
    """A text without a zone is a local time."""
    return datetime.fromisoformat(text).timestamp()
