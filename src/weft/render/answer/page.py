"""An answer as one HTML file that needs nothing else: no request, no script, its own style, ready for paper.

What a reader wants first comes first, and everything behind it is one click below: the answer with the confidence of
each section; its sources with the exact passage, what was quoted marked in it, and the way into the file; the four
axes with every item that was looked at; what was not checked; how it was found.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from importlib.resources import files
from typing import Any, Final

from weft.render.answer import wording
from weft.render.kit.characters import direction, one_line, visible
from weft.render.kit.elements import Child, Html, Section, element, join, whole_page
from weft.render.kit.figures import counted, number, percent
from weft.render.kit.parts import bar

_GLIMPSE: Final = 220
_LEGEND: Final = "A label in a box leads to the source that a sentence rests on."


def answer_page(answer: Mapping[str, Any]) -> str:
    """The same bytes for the same answer."""
    return whole_page(
        f"{one_line(answer['original_query'])} – answer",
        _style(),
        _masthead(answer),
        _sections(answer),
        main="content",
        skip="Skip to the answer",
        contents="Contents",
        made="Made with Weft.",
        language="en",
        way=direction(answer["original_query"]) or "ltr",
    )


@cache
def _style() -> str:
    kit = files("weft.render.kit").joinpath("style.css").read_text("utf-8")
    return kit + "\n" + files(__package__).joinpath("style.css").read_text("utf-8")


def _masthead(answer: Mapping[str, Any]) -> Html:
    found, follows = answer["verification"], answer["follows"]
    kicker = ["Answer", answer["collection"]["title"], f"depth {answer['depth_mode']}"]
    spread = [part for one in kicker for part in (" ", element("span", one))]
    known = _sentences(answer)
    short = [element("p", *_said(known[name], answer), class_="standfirst") for name in answer["summary"]]
    if answer["nothing_found"]:
        short = [
            element("p", wording.refusal(answer), class_="standfirst"),
            element("p", wording.NOTHING_MORE, class_="byline"),
        ]
    elif not short:
        first = [one for section in answer["sections"] for one in wording.standing(section)][:1]
        short = [element("p", *_said(one, answer), class_="standfirst") for one in first]
    glance = [
        ("Confidence", wording.confidence(answer["confidence"], answer["level"])),
        ("Sentences", wording.counts(found)),
        ("Verification", wording.state(found["state"])),
        ("Sources", number(len(answer["sources"]))),
        ("Sub-queries", number(len(answer["sub_queries"]))),
        ("Passages read", number(answer["effort"]["passages_read"])),
    ]
    return element(
        "header",
        element("p", *spread, class_="kicker"),
        element("h1", answer["original_query"]),
        element(
            "div",
            element("p", f"Follows: {follows['question']}", class_="byline") if follows else None,
            *short,
            element("p", _LEGEND, class_="legend") if answer["sources"] else None,
            class_="opening",
        ),
        element(
            "dl",
            *(element("div", element("dt", label), element("dd", value)) for label, value in glance),
            class_="glance",
        ),
        class_="masthead",
    )


def _sections(answer: Mapping[str, Any]) -> list[Section]:
    return [
        ("answer", "The answer", join(*(_part(section, answer) for section in answer["sections"]))),
        ("nearest", "What comes nearest", join(*(_source(source, answer, "nearest") for source in answer["nearest"]))),
        ("missing", "What was not found", _listed(answer["not_answered"])),
        ("sources", "Sources", join(*(_source(source, answer) for source in answer["sources"]))),
        ("verification", "Verification", _verification(answer) if answer["sections"] else None),
        ("open", "What was not checked", _open_ends(answer["open_ends"])),
        ("course", "How it was found", _course(answer)),
    ]


# -- the answer


def _sentences(answer: Mapping[str, Any]) -> dict[str, Mapping[str, Any]]:
    return {one["id"]: one for section in answer["sections"] for one in section["sentences"]}


def _part(section: Mapping[str, Any], answer: Mapping[str, Any]) -> Html:
    """Quotes of different passages stand one below the other; what a model wrote in one piece is read as one."""
    if answer["effort"]["made_by"] == "embedded":
        said = _claims(wording.standing(section), answer)
    else:
        spans = [
            part
            for one in wording.standing(section)
            for part in (element("span", *_said(one, answer), id=one["id"], class_=_class(one)), " ")
        ]
        said = element("p", *spans)
    score = element(
        "p",
        bar(section["confidence"]),
        f"confidence that this answers: {wording.confidence(section['confidence'], section['level'])}",
        class_="score",
    )
    heading = element("h3", section["heading"]) if section["heading"] else None
    against = wording.contradicted(section)
    told = [element("p", wording.AGAINST, class_="where"), _claims(against, answer)] if against else []
    return element("section", heading, said, score, *told, id=section["id"], class_="prose")


def _claims(sentences: Iterable[Mapping[str, Any]], answer: Mapping[str, Any]) -> Html:
    lines = [element("li", *_said(one, answer), id=one["id"], class_=_class(one)) for one in sentences]
    return element("ul", *lines, class_="claims")


def _class(sentence: Mapping[str, Any]) -> str | None:
    return None if sentence["state"] in wording.SURE else "doubtful"


def _said(sentence: Mapping[str, Any], answer: Mapping[str, Any]) -> Iterator[Child]:
    if sentence.get("lead"):
        yield element("span", one_line(sentence["lead"]), class_="leadin")
        yield " "
    yield sentence["text"]
    if sentence.get("code"):
        yield element("code", visible(sentence["code"]), class_="lines")
    if sentence["labels"]:
        links = [part for label in sentence["labels"] for part in (" ", _link(label, answer))]
        yield element("span", *links, class_="refs")
    if told := wording.mark(sentence):
        sure = sentence["state"] in wording.SURE
        yield element(
            "small" if sure else "strong", f" {told}", class_=None if sure else "missing", title=sentence["reason"]
        )


def _link(label: str, answer: Mapping[str, Any]) -> Html:
    source = next(one for one in answer["sources"] if one["label"] == label)
    text = one_line(source["text"])
    short = text if len(text) <= _GLIMPSE else text[:_GLIMPSE].rstrip() + " …"
    return element("a", label, href=f"#source-{label}", aria_label=f"Source {label}", title=f"{source['ref']}: {short}")


def _listed(texts: Iterable[str]) -> Html | None:
    found = [element("li", text) for text in texts]
    return element("ul", *found, class_="claims") if found else None


# -- what it rests on


def _source(source: Mapping[str, Any], answer: Mapping[str, Any], what: str = "source") -> Html:
    known = _sentences(answer)
    cited = source.get("cited_by", ())
    quoted = [text for name in cited for text in (known[name]["text"], known[name].get("code", ""))]
    back = [
        part
        for at, name in enumerate(cited, start=1)
        for part in (" ", element("a", f"sentence {at}" if len(cited) > 1 else "its sentence", href=f"#{name}"))
    ]
    place: Child = wording.place(source)
    if source["kind"] == "web" and str(source["url"]).lower().startswith(("https://", "http://")):
        place = element("a", place, href=source["url"], rel="noopener noreferrer", class_="address")
    elif source.get("link") and not wording.runs_scripts(source["link"]):
        place = element("a", place, href=source["link"], class_="address")
    above = " › ".join(one for one in (source["title"], source.get("heading", "")) if one)
    heading = element("p", above, class_="where") if source["kind"] == "passage" else None
    lead = element("p", source["lead"], class_="where") if source.get("lead") else None
    summary = element(
        "summary",
        element("span", source["label"], class_="number"),
        element("span", element("b", _name(source)), ", ", source["ref"]),
    )
    # The passage carries the anchor: a link to what a closed element holds opens it.
    passage = element(
        "div",
        heading,
        lead,
        element("blockquote", *_marked(source["text"], quoted), class_="passage", id=f"{what}-{source['label']}"),
        element("p", place, *([" · for", *back] if back else []), class_="where"),
        class_="held",
    )
    # What is shown instead of an answer is not one click away.
    return element("details", summary, passage, class_="source", open=None if cited else "")


def _name(source: Mapping[str, Any]) -> str:
    """What a reader knows it by: its own heading, else its document."""
    headings = str(source.get("heading", "")).split(" › ")
    return headings[-1] or source["title"]


# -- verification


def _table(head: Sequence[str], rows: Iterable[Sequence[Child]], caption: str) -> Html:
    return element(
        "div",
        element(
            "table",
            element("caption", caption),
            element("thead", element("tr", *(element("th", one, scope="col") for one in head))),
            element("tbody", *(element("tr", *(element("td", cell) for cell in row)) for row in rows)),
        ),
        class_="wide",
        tabindex="0",
        role="region",
        aria_label=caption,
    )


def _verification(answer: Mapping[str, Any]) -> Html:
    axes = answer["verification"]["axes"]
    rows = [
        [
            wording.AXES[axis["axis"]],
            wording.axis_score(axis),
            element("span", wording.state(axis["state"]), class_=f"state {axis['state']}"),
        ]
        for axis in axes
    ]
    return join(
        _table(["Axis", "Found", "State"], rows, "What was checked, against the passages as they were read"),
        *(_items(axis) for axis in axes if axis["details"]),
    )


def _items(axis: Mapping[str, Any]) -> Html:
    rows = [list(_item(axis["axis"], detail)) for detail in axis["details"]]
    title = f"{wording.AXES[axis['axis']]}: {counted(len(rows), 'item')}"
    return element(
        "details",
        element("summary", title),
        _table(["What", "State", "Why"], rows, title),
        class_="items",
    )


def _item(axis: str, detail: Mapping[str, Any]) -> Iterator[Child]:
    state = str(detail.get("state", "contradicted"))
    match axis:
        case "entities":
            yield str(detail["entity"])
            why = detail.get("evidence") or detail.get("reason", "")
        case "citations":
            yield f"[{detail['label']}] {detail['claim']}" if detail.get("label") else str(detail["claim"])
            why = detail["reason"]
        case "relations":
            yield f"{detail.get('source')} → {detail.get('target')}"
            why = detail.get("evidence") or detail.get("reason", "")
        case _ if "claim" in detail:
            yield f"{detail['paragraph_1']['ref']} and: {detail['claim']}"
            why = detail["reason"]
        case _:
            yield " and ".join(str(detail[key]["ref"]) for key in ("paragraph_1", "paragraph_2") if key in detail)
            why = detail["reason"]
    yield element("span", wording.state(state), class_=f"state {state}")
    yield one_line(str(why))


def _open_ends(found: Sequence[Mapping[str, Any]]) -> Html | None:
    if not found:
        return None
    rows = [
        [
            wording.WHATS.get(one["what"], one["what"]),
            one["text"] if one["what"] != "axis" else wording.AXES[one["text"]],
            element("span", wording.state(one["state"]), class_=f"state {one['state']}"),
            one_line(one["reason"]),
        ]
        for one in found
    ]
    return _table(["What", "Which", "State", "Why"], rows, "Not checked, or checked and not held")


# -- how


def _course(answer: Mapping[str, Any]) -> Html:
    rows = [
        [one["role"], one["text"], number(one["found"]), ", ".join(one["standards"]), one["why"]]
        for one in answer["sub_queries"]
    ]
    changes = [f"{one['id']} {one['change']}: {one['why']}" for one in answer["changes"]]
    clear = answer["clarity"]
    doubts = f": {'; '.join(clear['reasons'])}" if clear["reasons"] else ""
    told = [
        f"The question was {percent(clear['score'])} clear{doubts}.",
        wording.effort(answer),
        wording.limits(answer),
        wording.cost(answer),
        wording.FORMULA,
        *answer["notes"],
    ]
    return element(
        "details",
        element("summary", f"{counted(len(rows), 'sub-query', 'sub-queries')}, effort and cost"),
        _table(["Role", "Sub-query", "Found", "In", "Why"], rows, "What was looked up") if rows else None,
        _listed(changes),
        *(element("p", one, class_="lead") for one in told),
        class_="items",
    )


def _marked(text: str, quotes: Sequence[str]) -> Iterator[Child]:
    """The passage in pieces, plain and marked. A quote that is not in it word for word marks nothing; white space may
    differ: a quote is on one line, a passage on many."""
    spans: list[tuple[int, int]] = []
    for quote in quotes:
        words = quote.split()
        found = re.search(r"\s+".join(map(re.escape, words)), text) if words else None
        if found:
            spans.append(found.span())
    position = 0
    for start, end in sorted(spans):
        start = max(start, position)
        if start >= end:
            continue
        yield text[position:start]
        yield element("mark", text[start:end])
        position = end
    yield text[position:]
