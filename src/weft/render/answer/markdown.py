"""An answer as Markdown. What it and its sources say is escaped, so that it renders as the same text."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from weft.render.answer import wording
from weft.render.kit.characters import visible
from weft.render.kit.markdown import escaped, listed, under


def answer_markdown(answer: Mapping[str, Any]) -> str:
    """The same bytes for the same answer."""
    return "\n\n".join(block for block in _blocks(answer) if block) + "\n"


def _blocks(answer: Mapping[str, Any]) -> Iterator[str]:
    yield f"# {escaped(answer['original_query'])}"
    if answer["follows"]:
        yield f"*Follows:* {escaped(answer['follows']['question'])}"
    yield _facts(answer)
    if answer["nothing_found"]:
        yield wording.refusal(answer)
        yield from (block for source in answer["nearest"] for block in _source(source, wording.glimpse(source)))
        yield wording.NOTHING_MORE
    known = {one["id"]: one for section in answer["sections"] for one in section["sentences"]}
    yield from under("## In short", [listed(_said(known[name]) for name in answer["summary"])])
    for section in answer["sections"]:
        yield f"## {escaped(section['heading'] or answer['original_query'])}"
        yield listed(_said(one) for one in wording.standing(section))
        yield f"*Confidence that this answers: {wording.confidence(section['confidence'], section['level'])}*"
        yield from under(wording.AGAINST, [listed(_said(one) for one in wording.contradicted(section))])
    if answer["nearest"] and not answer["nothing_found"]:
        yield wording.NEAREST[answer["level"]]
        yield from (block for source in answer["nearest"] for block in _source(source, wording.glimpse(source)))
    yield from under("## What was not found", [listed(escaped(one) for one in answer["not_answered"])])
    yield from under(
        "## Sources", (block for source in answer["sources"] for block in _source(source, _passage(source)))
    )
    yield "## Verification"
    yield from _verification(answer)
    yield from under("## What was not checked", [listed(map(_open_end, answer["open_ends"]))])
    yield "## How it was found"
    yield from _course(answer)


def _facts(answer: Mapping[str, Any]) -> str:
    found = answer["verification"]
    return "  \n".join(
        [
            f"**Confidence:** {wording.confidence(answer['confidence'], answer['level'])}",
            f"**Sentences:** {wording.counts(found)}",
            f"**Collection:** {escaped(answer['collection']['title'])}",
            f"**Depth:** {answer['depth_mode']}",
        ]
    )


def _said(sentence: Mapping[str, Any]) -> str:
    lead = f"{escaped(sentence['lead'])} " if sentence.get("lead") else ""
    labels = "".join(f"[{label}]" for label in sentence["labels"])
    mark = f" **({escaped(said)})**" if (said := wording.mark(sentence)) else ""
    said = f"{lead}{escaped(sentence['text'])} {labels}{mark}".rstrip()
    lines = wording.code_lines(sentence)
    # inside an item: two columns of its own, four of code
    return "\n".join([said, "", *(f"  {line}" for line in lines), ""]) if lines else said


def _passage(source: Mapping[str, Any]) -> list[str]:
    return wording.read_passage(source["text"]).splitlines()


def _source(source: Mapping[str, Any], lines: Sequence[str]) -> Iterator[str]:
    place = escaped(wording.place(source))
    linked = source.get("link") and not wording.runs_scripts(source["link"])
    where = f"[{place}](<{source['link']}>)" if linked else place
    heading = f", {escaped(source['heading'])}" if source.get("heading") else ""
    yield f"**[{source['label']}]** {escaped(source['title'])}, {escaped(source['ref'])}{heading} – {where}"
    yield _quotation(lines) or "> (empty)"


def _quotation(lines: Sequence[str]) -> str:
    """Lines of code stand right below each other, all else apart."""
    said = ""
    for before, line in zip(("", *lines), lines, strict=False):
        together = before.startswith(wording.CODE) and line.startswith(wording.CODE)
        said += ("\n" if together else "\n>\n") if said else ""
        said += f"> {_line(line)}".rstrip()
    return said


def _line(text: str) -> str:
    """An item stays one, and so does a line of code."""
    if text.startswith(wording.CODE):
        return visible(text)
    return f"- {escaped(text[2:])}" if text.startswith("- ") else escaped(text)


def _verification(answer: Mapping[str, Any]) -> Iterator[str]:
    rows = [
        [wording.AXES[axis["axis"]], wording.axis_score(axis), wording.state(axis["state"])]
        for axis in answer["verification"]["axes"]
    ]
    yield _table(["Axis", "Found", "State"], rows)
    cited = [[f"[{one['label']}]", wording.state(one["state"]), escaped(one["claim"])] for one in answer["citations"]]
    if cited:
        yield _table(["Source", "State", "Claim"], cited)


def _open_end(one: Mapping[str, Any]) -> str:
    what = wording.WHATS.get(one["what"], one["what"])
    return f"{what} ({wording.state(one['state'])}): {escaped(one['text'])} – {escaped(one['reason'])}"


def _course(answer: Mapping[str, Any]) -> Iterator[str]:
    rows = [
        [
            one["role"],
            escaped(one["text"]),
            str(one["found"]),
            escaped(", ".join(one["standards"])),
            escaped(one["why"]),
        ]
        for one in answer["sub_queries"]
    ]
    yield _table(["Role", "Sub-query", "Found", "In", "Why"], rows) if rows else ""
    yield listed(f"{one['id']} {one['change']}: {escaped(one['why'])}" for one in answer["changes"])
    yield wording.effort(answer)
    yield wording.limits(answer)
    yield escaped(wording.cost(answer))
    yield wording.FORMULA
    yield listed(escaped(note) for note in answer["notes"])


def _table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)
