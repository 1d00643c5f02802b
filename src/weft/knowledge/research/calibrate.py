"""Before anything is retrieved: what the collection, and pages that a person gave, say to the plan.

Every sub-query is tried with a small search. One that finds nothing is demoted, one whose finds name passages the
question did not name gets them as a new sub-query, a supporting one that finds what nothing else finds is promoted.
Nothing is deleted, so a person who reads the plan sees all of it. Pages of the web come in only when they are given
(`weft research --page URL`): nothing is searched for behind one's back, and no page is ever made up.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, Final
from urllib.parse import urlsplit

from weft.knowledge.knowledge_base import KnowledgeBase
from weft.knowledge.research.depth import Depth
from weft.knowledge.research.question import ALIKE, terms_of
from weft.knowledge.research.relevance import about, share_of
from weft.protocol.errors import UserError

TRIAL: Final = 5
KEYS: Final = ("id", "text", "role", "why", "demoted")
ADDED: Final = 2
"""At most so many references that the finds name become sub-queries."""
_ORDER: Final = {"primary": 0, "supporting": 1, "context": 2}
PAGE_LIMIT: Final = 200_000


def calibrate(
    knowledge: KnowledgeBase,
    plan: Mapping[str, Any],
    depth: Depth,
    pages: Sequence[Mapping[str, str]] = (),
    wanted: Sequence[str] = (),
) -> dict[str, Any]:
    """The plan as it is to be retrieved, what changed and why, and the pages with their labels. `wanted` is what a
    person wants looked up besides."""
    changes: list[dict[str, str]] = []
    named: Counter[str] = Counter()
    tried: list[dict[str, Any]] = []
    asked = [{"text": text, "role": "primary", "why": "you asked for it"} for text in wanted if terms_of(text)]
    for one in _bounded([*asked, *plan["sub_queries"]], depth):
        found = knowledge.search.find(one["text"], limit=TRIAL, rerank=False)
        hits = [hit for hit in found.hits if about(one["text"], hit)]
        for hit in hits[:2]:
            for reference in knowledge.collection.grammar.find(hit.passage.content, hit.passage.place.document):
                named[reference.place.ref] += 1
        tried.append({**one, "tried": len(hits), "best": {hit.passage.id for hit in hits}})
    for one in tried:
        others = set().union(*(other["best"] for other in tried if other is not one), set())
        if not one["tried"] and one["role"] != "context":
            changes.append({"id": one["id"], "change": "demoted", "why": "a first search found nothing about it"})
            one |= {"role": "context", "demoted": True}
        elif one["role"] == "supporting" and one["best"] and not one["best"] & others:
            changes.append({"id": one["id"], "change": "promoted", "why": "it finds what nothing else finds"})
            one["role"] = "primary"
    refined: list[dict[str, Any]] = [{key: one[key] for key in KEYS if key in one} for one in tried]
    room = min(ADDED, depth.sub_queries - len(refined))
    for ref, count in named.most_common(ADDED * 3):
        if room <= 0:
            break
        if count >= 2 and not _covered(ref, refined) and knowledge.resolve(ref).passage is not None:
            name = f"q{len(refined) + 1}"
            why = "passages found for the question refer to it"
            refined.append({"id": name, "text": ref, "role": "supporting", "why": why})
            changes.append({"id": name, "change": "added", "why": f"{count} {why}"})
            room -= 1
    refined.sort(key=lambda one: _ORDER[one["role"]])
    return {
        "depth_mode": depth.name,
        "limits": depth.bounds(),
        "sub_queries": refined,
        "changes": changes,
        "web": _web(pages, depth, refined),
    }


def _bounded(sub_queries: Sequence[Mapping[str, Any]], depth: Depth) -> list[Mapping[str, Any]]:
    """Whoever made the plan, it keeps to the depth: what matters least is cut. Each has an id of its own."""
    kept = sorted(sub_queries, key=lambda one: _ORDER[one["role"]])[: depth.sub_queries]
    return [{**one, "id": f"q{number}"} for number, one in enumerate(kept, start=1)]


def _covered(ref: str, refined: Sequence[Mapping[str, Any]]) -> bool:
    wanted = set(terms_of(ref))
    return not wanted or any(len(wanted & set(terms_of(one["text"]))) >= ALIKE * len(wanted) for one in refined)


def _web(pages: Sequence[Mapping[str, str]], depth: Depth, sub_queries: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """A page's label is its place among those given: W1 is the first of them, in every text that names it. Of a long
    page the paragraphs are kept that say most about what is asked: all pages together have a quarter of the budget."""
    if not pages:
        return {"status": "none given", "sources": [], "note": "no page of the web was given; none was looked for"}
    if not depth.web:
        note = f"{len(pages)} pages were given, but research of depth {depth.name} does not use pages of the web"
        return {"status": "off", "sources": [], "note": note}
    room = depth.context_tokens // (len(pages))
    asked = terms_of(" ".join(one["text"] for one in sub_queries))
    sources = [
        {
            "label": f"W{number}",
            "url": page["url"],
            "title": page["title"] or host(page["url"]),
            "text": _telling(page["text"], asked, room),
        }
        for number, page in enumerate(pages, start=1)
    ]
    cut = [one["label"] for one, page in zip(sources, pages, strict=True) if len(one["text"]) < len(page["text"])]
    note = f"of {', '.join(cut)} only the paragraphs nearest to the question were read" if cut else ""
    return {"status": "used", "sources": sources, "note": note}


def _telling(text: str, asked: tuple[str, ...], room: int) -> str:
    """The paragraphs that share most with what is asked, in their order, as far as there is room for them."""
    if len(text) <= room:
        return text
    paragraphs = [part.strip() for part in re.split(r"\n\s*\n", text) if part.strip()]
    kept: set[int] = set()
    for at in sorted(range(len(paragraphs)), key=lambda at: (-share_of(asked, paragraphs[at]), at)):
        if len(paragraphs[at]) + 2 <= room:
            kept.add(at)
            room -= len(paragraphs[at]) + 2
    return "\n\n".join(paragraphs[at] for at in sorted(kept))


def host(url: str) -> str:
    return urlsplit(url).hostname or url


def pages_text(pages: Sequence[Mapping[str, str]]) -> str:
    """Pages as an input of the pipeline."""
    return json.dumps([dict(page) for page in pages], ensure_ascii=False, indent=1) + "\n"


def read_pages(text: str) -> list[dict[str, str]]:
    """Each address once: a page that is given twice is one source."""
    if not text.strip():
        return []
    try:
        found = {
            str(page["url"]): {
                "url": str(page["url"]),
                "title": str(page.get("title", "")),
                "text": str(page["text"])[:PAGE_LIMIT],
            }
            for page in json.loads(text)
        }
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        raise UserError(
            "the input `pages` is not a list of pages", hint='write [{"url": …, "title": …, "text": …}]'
        ) from error
    return list(found.values())
