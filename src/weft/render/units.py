"""Durations, sizes and moments in the words a person uses."""

from __future__ import annotations

from datetime import UTC, datetime

from weft.render.cells import clean


def human_ms(ms: float) -> str:
    """`12 ms`, `0.4 s`, `2 min 05 s`, `1 h 02 min`."""
    if ms < 99.5:
        return f"{max(ms, 0):.0f} ms"
    return human_seconds(ms / 1000)


def human_seconds(seconds: float) -> str:
    """As `human_ms` without milliseconds: for a clock that ticks on a screen."""
    tenths = round(max(seconds, 0) * 10)
    if tenths < 600:
        return f"{tenths / 10:.1f} s"
    whole = round(seconds)
    if whole < 3600:
        return f"{whole // 60} min {whole % 60:02d} s"
    minutes = round(seconds / 60)
    return f"{minutes // 60} h {minutes % 60:02d} min"


def human_size(size: int) -> str:
    """`812 B`, `1.2 kB`, `34 MB`: decimal units, two figures are enough."""
    if size < 1000:
        return f"{size} B"
    value = float(size)
    for unit in ("kB", "MB", "GB"):
        value /= 1000
        if value < 9.95:
            return f"{value:.1f} {unit}"
        if value < 999.5:
            return f"{value:.0f} {unit}"
    return f"{value / 1000:.1f} TB"


def human_time(iso: str, now_iso: str) -> str:
    """`3 min ago`; the date when it is long ago or, by a clock that jumped, in the future; else the text as it is."""
    moment, now = _moment(iso), _moment(now_iso)
    if moment is None:
        return clean(iso)
    if now is None:
        return moment.strftime("%Y-%m-%d %H:%M")
    seconds = (now - moment).total_seconds()
    if seconds < -60:
        return moment.strftime("%Y-%m-%d %H:%M")
    if seconds < 60:
        return "just now"
    if seconds < 3600:
        return f"{int(seconds // 60)} min ago"
    if seconds < 86_400:
        return f"{int(seconds // 3600)} h ago"
    days = int(seconds // 86_400)
    if days < 14:
        return f"{days} day{'s' if days > 1 else ''} ago"
    return moment.strftime("%Y-%m-%d")


def told_retry(reason: str, wait_ms: int, instead: str = "") -> str:
    """That a model is asked again, or another in its place, in one quiet line."""
    then = f"asking {instead} instead" if instead else f"asking again in {human_ms(wait_ms)}"
    return f"{' '.join(reason.split())}; {then}"


def count(number: int, word: str) -> str:
    """`1 step`, `3 steps`."""
    return f"{number} {word}{'' if number == 1 else 's'}"


def _moment(iso: str) -> datetime | None:
    try:
        moment = datetime.fromisoformat(iso)
    except ValueError:
        return None
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)
