"""The writing kit: the three artifacts and what the source is, put together by code."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from weft.models.embedded.summary import reading_minutes


def writing_kit(
    summary: Mapping[str, Any], ideas: Mapping[str, Any], outline: Mapping[str, Any], *, source: Mapping[str, str]
) -> dict[str, Any]:
    """`source`: {id, label, url}; all may be left out. ValueError when the artifacts are of different content."""
    content_id = summary["contentId"]
    for name, part in (("ideas", ideas), ("outline", outline)):
        if part["contentId"] != content_id:
            raise ValueError(f"the {name} are of {part['contentId']!r}, the summary is of {content_id!r}")
    label = source.get("label") or source.get("url") or summary["headline"]
    return {
        "contentId": content_id,
        "source": {"id": source.get("id") or content_id, "label": label, "url": source.get("url", "")},
        "summary": dict(summary),
        "ideas": dict(ideas),
        "suggestedOutline": [dict(section) for section in outline["sections"]],
        "meta": {
            **({"relevanceToUser": summary["score"]["relevanceToUser"]} if "score" in summary else {}),
            "estimatedReadingTimeMinutes": summary.get("readingTimeMinutes")
            or reading_minutes(summary.get("wordCount", 0)),
        },
    }
