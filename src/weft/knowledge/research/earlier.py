"""An earlier answer as a follow-up reads it: its sections as [P1], [P2] …, and the passages it has used up.

The labels follow the order of the earlier answer's sections, so they are the same whoever asks and however often.
Reads our own answers and those of the reference's form (version absent or 1, `answer` in markdown).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final

from weft.protocol.errors import UserError
from weft.protocol.json_text import json_value

VERSION: Final = 1
EXCERPT: Final = 500
_HEADING: Final = re.compile(r"^## +(.+)$", re.M)
_OURS: Final = frozenset(
    {
        "original question",
        "verification summary",
        "verification",
        "citations used",
        "sources",
        "external good practice references",
        "external references",
        "prior research references",
        "earlier answers",
        "appendix: research decomposition",
        "out-of-scope notes",
        "out of scope",
        "in short",
        "how it was found",
        "what could not be verified",
        "what was not checked",
        "what was not found",
    }
)
"""Headings of what stands around an answer, which is no answer itself."""
_LABEL: Final = re.compile(r"\s*\[[WP]?\d{1,4}\]")


def fault_of(value: Any) -> str:
    """Why this is not an answer that can be followed up; "" when it is."""
    if not isinstance(value, Mapping):
        return "it is not an object"
    if value.get("version", VERSION) != VERSION:
        return f"its version is {value['version']!r}, and this Weft reads {VERSION}"
    if not isinstance(value.get("answer"), str) or not value["answer"].strip():
        return "it has no answer"
    if not isinstance(value.get("original_query", ""), str):
        return "its original_query is not text"
    number = value.get("followup_number", 0)
    if isinstance(number, bool) or not isinstance(number, int | float):
        return "its followup_number is not a number"
    for key in ("citations", "sub_queries"):
        if not isinstance(value.get(key, []), list):
            return f"its {key} is not a list"
    return ""


def read_earlier(text: str) -> dict[str, Any] | None:
    """None for no text at all; UserError when it can't be followed up."""
    if not text.strip():
        return None
    try:
        value = json_value(text)
    except ValueError as error:
        raise UserError(f"the earlier answer is not JSON: {error}") from error
    if fault := fault_of(value):
        raise UserError(f"the earlier answer can't be followed up: {fault}")
    lifted = {"original_query": "", "followup_number": 0, "citations": [], "sub_queries": [], **value}
    return {**lifted, "citations": [_lifted(one) for one in lifted["citations"]]}


def _lifted(citation: Any) -> Any:
    """An older answer's *verified* was words in common, which is not a check."""
    if isinstance(citation, Mapping) and citation.get("state") in ("verified", "not_verified"):
        return {**citation, "state": "not_checked"}
    return citation


def prior_sections(answer: str) -> list[dict[str, str]]:
    """The sections of an answer in markdown, each with its label, heading and whole text."""
    found: list[dict[str, str]] = []
    pieces = _HEADING.split(answer)
    for heading, body in zip(pieces[1::2], pieces[2::2], strict=True):
        text = "\n".join(line for line in body.strip().splitlines() if not line.startswith(">")).strip()
        if heading.strip().lower() not in _OURS and text:
            found.append({"label": f"P{len(found) + 1}", "heading": heading.strip(), "text": _LABEL.sub("", text)})
    if not found and (text := _LABEL.sub("", "\n".join(pieces[:1]).strip())):
        found.append({"label": "P1", "heading": "", "text": text})
    return found


def excerpt(text: str, limit: int = EXCERPT) -> str:
    """Its beginning, cut between words."""
    whole = " ".join(text.split())
    if len(whole) <= limit:
        return whole
    cut = whole[:limit]
    space = cut.rfind(" ")
    return f"{cut[:space] if space > limit // 2 else cut} …"


def known_passages(earlier: Mapping[str, Any] | None) -> frozenset[str]:
    """The passages that were cited before, in this answer or in one before it: they need not be found again."""
    if earlier is None:
        return frozenset()
    cited = {str(one.get("paragraph_id") or one.get("source_ref") or "") for one in earlier["citations"]}
    return frozenset(cited | {str(one) for one in earlier.get("known_passages", [])}) - {""}
