"""Two texts side by side, without a model: the same pipeline reads each of them."""

import re
from collections import Counter


def words(step):
    """The words that come up most, the short ones left out."""
    found = re.findall(r"[a-z]{5,}", step.text.lower())
    return {"words": [word for word, _ in Counter(found).most_common(12)]}


def brief(step):
    """The sentences that have most of them, in the order of the text."""
    often = set(step.artifacts["words.json"]["words"])
    sentences = [one.strip() for one in re.split(r"(?<=[.!?])\s+", step.text) if len(one.split()) > 4]
    ranked = sorted(sentences, key=lambda one: -len(often & set(re.findall(r"[a-z]{5,}", one.lower()))))
    kept = set(ranked[: step.parameters["sentences"]])
    return {"sentences": [one for one in sentences if one in kept], "words": sorted(often)}


def report(step):
    one, other = step.artifacts["one/brief.json"], step.artifacts["other/brief.json"]
    shared = sorted(set(one["words"]) & set(other["words"]))
    lines = ["# In common", "", ", ".join(shared) or "Nothing.", ""]
    for title, brief in (("The first", one), ("The second", other)):
        lines += [f"# {title}", "", *(f"- {sentence}" for sentence in brief["sentences"]), ""]
    return "\n".join(lines)
