"""An answer for a terminal or a pipe: what it says, what it rests on, what is open."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from weft.render.answer import wording
from weft.render.kit.characters import one_line
from weft.render.kit.figures import counted


def answer_text(answer: Mapping[str, Any], *, details: bool = False) -> str:
    """Lines without a width of their own: whoever prints them wraps them. `details` adds what the page has below."""
    return "\n".join(_lines(answer, details=details)) + "\n"


def _lines(answer: Mapping[str, Any], *, details: bool) -> Iterator[str]:
    if answer["nothing_found"]:
        yield wording.refusal(answer)
        yield from _nearest(answer)
        yield ""
        yield wording.NOTHING_MORE
        yield from _notes(answer)
        return
    several = len(answer["sections"]) > 1
    for at, section in enumerate(answer["sections"]):
        if several:
            if at:
                yield ""
            yield f"{one_line(section['heading'])}  [{wording.confidence(section['confidence'], section['level'])}]"
        for sentence in wording.standing(section):
            yield f"- {said(sentence)}"
            yield from wording.code_lines(sentence)
    yield ""
    yield "Sources"
    for source in answer["sources"]:
        yield _source(source)
    yield ""
    found = answer["verification"]
    yield (
        f"Confidence that this answers: {wording.confidence(answer['confidence'], answer['level'])};"
        f" of {counted(found['total'], 'sentence')} {wording.counts(found)}"
    )
    if answer["nearest"]:
        yield ""
        yield wording.NEAREST[answer["level"]]
        yield from _nearest(answer)
        yield ""
    yield from (f"Not found: {one_line(text)}" for text in answer["not_answered"])
    wanted = [one for one in answer["open_ends"] if details or one["what"] != "axis"]
    for one in wanted:
        what = f"{wording.WHATS.get(one['what'], one['what'])} {wording.state(one['state'])}"
        yield f"{what}: {one_line(one['text'])} ({one_line(one['reason'])})"
    yield from _notes(answer)


def _nearest(answer: Mapping[str, Any]) -> Iterator[str]:
    for source in answer["nearest"]:
        yield ""
        yield _source(source)
        yield from (f"  {line}" for line in wording.glimpse(source))


def _source(source: Mapping[str, Any]) -> str:
    return f"[{source['label']}] {one_line(source['title'])}, {one_line(source['ref'])} ({wording.place(source)})"


def _notes(answer: Mapping[str, Any]) -> Iterator[str]:
    for note in answer["notes"]:
        if "no page of the web was given" not in note:
            yield f"Note: {one_line(note)}"


def said(sentence: Mapping[str, Any]) -> str:
    lead = f"{one_line(sentence['lead'])} " if sentence.get("lead") else ""
    labels = "".join(f"[{label}]" for label in sentence["labels"])
    mark = f" ({said})" if (said := wording.mark(sentence)) else ""
    return f"{lead}{one_line(sentence['text'])} {labels}{mark}".rstrip()
