"""Sixty interviews to one report, without a model: an agent in place of `notes` would read each of them better."""

import re
from collections import Counter

COMMON = """
about after again another because been before being could does every first from have into just leave like lived more
near never only other over should since some still than that their them then there they this those very want wanted were
what when where which while with work would years your
"""


def notes(step):
    """One interview: who spoke, the sentences that say most, and the words that come up."""
    text = step.item
    sentences = [one.strip() for one in re.split(r"(?<=[.!?])\s+", text) if len(one.split()) > 6]
    words = [word for word in re.findall(r"[a-z]{4,}", text.lower()) if word not in COMMON.split()]
    ranked = sorted(sentences, key=lambda one: -len(set(one.lower().split()) - set(COMMON.split())))
    return {
        "who": step.documents["interview"].get("title") or step.item_key,
        "quotes": ranked[:2],
        "words": [word for word, _ in Counter(words).most_common(8)],
    }


def themes(step):
    people = [one["value"] for one in step.artifacts["notes.json"]["items"] if "value" in one]
    counted = Counter(word for person in people for word in person["words"])
    said = " ".join(step.replies.get("themes", ()))
    left = {word for word in counted if re.search(rf"\bwithout\b.*\b{re.escape(word)}\b", said.lower())}
    chosen = [(word, times) for word, times in counted.most_common() if word not in left]
    return {"themes": [{"word": word, "people": times} for word, times in chosen[: step.parameters["themes"]]]}


def report(step):
    gathered = step.artifacts["notes.json"]
    people = [one["value"] for one in gathered["items"] if "value" in one]
    lines = [f"# {step.parameters['title']}", "", f"{len(people)} people were asked.", ""]
    for theme in step.artifacts["themes.json"]["themes"]:
        lines += [f"## {theme['word']} ({theme['people']} of {len(people)})", ""]
        said = [(one["who"], quote) for one in people for quote in one["quotes"] if theme["word"] in quote.lower()]
        lines += [*(f"- {who}: \u201c{quote}\u201d" for who, quote in said[: step.parameters["quotes"]]), ""]
    if gathered["failed"]:
        lines += [f"Not read: {', '.join(gathered['failed'])}", ""]
    return "\n".join(lines)
