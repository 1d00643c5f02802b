"""A moment as seconds since 1970, and as text in UTC, which sorts as the moments do."""

from __future__ import annotations

from datetime import UTC, datetime


def timestamp(moment: datetime) -> str:
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def moment_text(seconds: float) -> str:
    return timestamp(datetime.fromtimestamp(seconds, UTC))


def moment_seconds(text: str) -> float:
    """A text without a zone is a local time."""
    return datetime.fromisoformat(text).timestamp()
