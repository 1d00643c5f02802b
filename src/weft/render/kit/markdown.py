"""The kit as Markdown for an editor. Each passage of the source is a footnote: its words, its time, its place.

What the kit and the source say is written so that it renders as the same text: whatever Markdown (or one of its common
dialects) would read as syntax is escaped. A paragraph is one line, so that only its first character can begin a block.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

from weft.render.kit.characters import one_line, paragraphs
from weft.render.kit.contents import Contents, Item, read_kit
from weft.render.kit.figures import counted, number, percent
from weft.render.kit.passages import Passages, find_passages
from weft.render.kit.source import Source

_ALWAYS: Final = re.compile(
    r"[\\`*_\[\]<>|~$^{}]|&(?=#?\w+;)|(?<!\S)#|(?<=\w):(?=//)|:(?=[A-Za-z+-][\w+-]*:)|==|%%|@(?=\w)|(?<=www)\."
)
_WHOLE: Final = (
    "The whole text is in content.md. Its characters are counted from 0, below the front matter."
    " The passages that this kit rests on:"
)
_AT_START: Final = re.compile(r"^(?:[-+:=](?=\s|$|[-=])|\d{1,9}(?=[.)](?:\s|$)))")


def kit_markdown(kit: Mapping[str, Any], *, source: Source) -> str:
    """The same bytes for the same kit and source."""
    contents = read_kit(kit, source)
    passages = find_passages(contents.items(), source)
    blocks = [block for block in _Writer(contents, passages, source).blocks() if block]
    return "\n\n".join(blocks) + "\n"


def escaped(text: str) -> str:
    """One line of Markdown that renders as the text."""
    line = _ALWAYS.sub(lambda found: "".join(f"\\{one}" for one in found[0]), one_line(text))
    start = _AT_START.match(line)
    if start is None:
        return line
    return f"{start[0]}\\{line[start.end() :]}" if start[0].isdigit() else f"\\{line}"


class _Writer:
    def __init__(self, contents: Contents, passages: Passages, source: Source) -> None:
        self._contents = contents
        self._passages = passages
        self._source = source

    def blocks(self) -> Iterator[str]:
        contents = self._contents
        title = contents.headline.text or self._source.title or "Writing kit"
        yield f"# {escaped(title)}{self._refs(contents.headline)}"
        yield f"{escaped(contents.tldr.text)}{self._refs(contents.tldr)}"
        yield " · ".join(f"{fact.label}: {escaped(fact.value)}" for fact in contents.glance)
        yield from _under("## What it says", self._says())
        yield from _under("## Worth quoting", (block for item in contents.quotes for block in self._quote(item)))
        yield from _under("## Ideas for your own piece", self._ideas())
        yield from _under("## A suggested outline", self._outline())
        yield from _under("## Words to search with", self._terms())
        yield from _under("## Details", self._details())
        yield from _under("## The source", self._notes())

    def _says(self) -> Iterator[str]:
        contents = self._contents
        yield from _under("### Key points", [_listed(self._line(item) for item in contents.points)])
        yield from self._prose("### Overview", contents.overview)
        yield from _under("### Themes", [_listed(self._line(item) for item in contents.themes)])
        yield from _under("### Core ideas", (block for item in contents.ideas for block in self._idea(item)))
        yield from self._prose("### Detailed analysis", contents.analysis)
        yield from self._prose("### How it unfolds", contents.course)
        yield from self._prose("### Setting", contents.context)

    def _ideas(self) -> Iterator[str]:
        contents = self._contents
        yield from _under("### Hooks", [_listed(self._line(item) for item in contents.hooks)])
        yield from _under("### Angles", (block for item in contents.angles for block in self._angle(item)))
        yield from _under("### Questions", [_listed(self._line(item) for item in contents.questions)])

    def _terms(self) -> Iterator[str]:
        yield from _under("### Tags", [", ".join(map(escaped, self._contents.tags))])
        yield from _under("### Related concepts", [", ".join(map(escaped, self._contents.related))])

    def _line(self, item: Item) -> str:
        kind = f" *({escaped(item.kind)})*" if item.kind else ""
        return f"{escaped(item.text)}{kind}{self._refs(item)}"

    def _prose(self, title: str, item: Item) -> Iterator[str]:
        lines = [escaped(one) for one in paragraphs(item.text)]
        if lines:
            yield title
            yield from (*lines[:-1], lines[-1] + self._refs(item))

    def _idea(self, item: Item) -> Iterator[str]:
        yield f"#### {escaped(item.title)}" if item.title else ""
        yield f"{escaped(item.text)}{self._refs(item)}"
        yield _listed(f"For example: {escaped(example)}" for example in item.examples)

    def _angle(self, item: Item) -> Iterator[str]:
        yield f"#### {escaped(item.title)}"
        yield f"{escaped(item.text)}{self._refs(item)}"
        yield f"{percent(item.score)} relevant to you" if item.score is not None else ""

    def _quote(self, item: Item) -> Iterator[str]:
        said = [f"> {escaped(one)}" for one in paragraphs(item.text)]
        by = [escaped(one) for one in (item.speaker, item.time) if one]
        if item.id in self._passages.missing:
            by.append("**not found word for word in the source**")
        told = ", ".join(by)
        last = f"> — {told}{self._refs(item)}" if told else f"> {self._refs(item)}"
        yield "\n>\n".join([*said, last] if told or self._passages.of[item.id] else said)
        yield escaped(item.context)

    def _outline(self) -> Iterator[str]:
        sections = self._contents.sections
        total = math.fsum(item.words for item in sections if item.words is not None)
        yield f"{counted(len(sections), 'section')}, {counted(total, 'word')}" if total else ""
        for at, item in enumerate(sections, 1):
            yield f"### {at}. {escaped(item.title)}"
            yield f"*{counted(item.words, 'word')}*" if item.words is not None else ""
            notes = [escaped(one) for one in paragraphs(item.text)] or [""]
            yield from (*notes[:-1], notes[-1] + self._refs(item))

    def _details(self) -> Iterator[str]:
        rows = [(fact.label, escaped(fact.value)) for fact in self._contents.details]
        rows += [(escaped(path), escaped(value)) for path, value in self._contents.rest]
        yield "\n".join(["| Field | Value |", "|---|---|", *(f"| {label} | {value} |" for label, value in rows)])
        if self._passages.lost:
            lost = counted(self._passages.lost, "place")
            yield f"{lost} that this kit refers to can't be found in the source as it is now, and can't be shown."

    def _notes(self) -> Iterator[str]:
        """Begins each note with words of ours: a note of one word would be a link's definition to a strict reader."""
        if not self._passages.every:
            return
        yield _WHOLE
        for passage in self._passages.every:
            place = f"characters {number(passage.start)} to {number(passage.end)}"
            time = f", at {passage.time}" if passage.time else ""
            words = escaped(self._source.text[passage.start : passage.end])
            yield f"[^{passage.number}]: {place}{time}: {words}"

    def _refs(self, item: Item) -> str:
        return "".join(f"[^{passage.number}]" for passage in self._passages.of[item.id])


def _under(title: str, blocks: Iterable[str]) -> Sequence[str]:
    """A heading over what there is; neither when there is nothing."""
    found = [block for block in blocks if block]
    return [title, *found] if found else []


def _listed(lines: Iterable[str]) -> str:
    return "\n".join(f"- {line}" for line in lines)
