"""The ideas artifact: hooks, angles and questions from one text for one person, each with its places in the source."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from weft.models.embedded.angles import find_angles, score
from weft.models.embedded.hooks import find_hooks
from weft.models.embedded.material import Material
from weft.models.embedded.profile import parse_profile
from weft.models.embedded.questions import find_questions
from weft.models.embedded.reading import read


def ideas(text: str, summary: Mapping[str, Any], *, profile: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """WritingIdeas for a text and its summary. ValueError for a text without words or a profile that can't be meant."""
    material = Material(read(text), parse_profile(profile), summary)
    hooks, questions = find_hooks(material), find_questions(material)
    # Stable: angles that score the same keep the order of their strength.
    angles = sorted(find_angles(material), key=lambda angle: -score(angle, material))
    return {
        "contentId": summary["contentId"],
        "hooks": [{"text": hook.line.text, "type": hook.type} for hook in hooks],
        "angles": [
            {"title": angle.title, "description": angle.line.text, "relevanceScore": score(angle, material)}
            for angle in angles
        ],
        "questions": [{"question": question.line.text, "type": question.type} for question in questions],
        "evidence": {
            "hooks": [hook.line.evidence for hook in hooks],
            "angles": [angle.line.evidence for angle in angles],
            "questions": [question.line.evidence for question in questions],
        },
    }
