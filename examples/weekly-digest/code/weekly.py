"""A folder of notes to one digest, without a model: an agent in place of `note` would choose better what to quote."""

import re


def note(step):
    """One note: its title and its longest sentences, in the order in which they stand there."""
    sentences = [one.strip() for one in re.split(r"(?<=[.!?])\s+", step.item) if len(one.split()) > 4]
    longest = sorted(sentences, key=len, reverse=True)[: step.parameters["lines"]]
    title = step.documents["note"].get("title") or step.item_key
    return {"title": title, "quotes": [one for one in sentences if one in longest]}


def digest(step):
    notes = [one["value"] for one in step.artifacts["notes.json"]["items"] if "value" in one]
    lines = ["# This week", "", f"{len(notes)} notes.", ""]
    for one in notes:
        lines += [f"## {one['title']}", "", *(f"- {quote}" for quote in one["quotes"]), ""]
    return "\n".join(lines)
