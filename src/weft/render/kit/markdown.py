"""The kit as Markdown for an editor: short enough to be read instead of the source.

What the kit and the source say is written so that it renders as the same text: whatever Markdown (or one of its common
dialects) would read as syntax is escaped. A paragraph is one line, so that only its first character can begin a block.
Places in the source are on the page and in the JSON; here a quote has its speaker and its time.

What is only around the kit (its measures, the parts of the source, search words) is left out where the whole would
become longer than the source.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

from weft.render.kit.characters import one_line, paragraphs
from weft.render.kit.contents import Contents, Group, KitItem, read_kit
from weft.render.kit.labels import LOST, MORE, WORDS, Labels
from weft.render.kit.passages import Passages, find_passages
from weft.render.kit.source import Source

_ALWAYS: Final = re.compile(
    r"[\\`*_\[\]<>|~$^{}]|&(?=#?\w+;)|(?<!\S)#|(?<=\w):(?=//)|:(?=[A-Za-z+-][\w+-]*:)|==|%%|@(?=\w)|(?<=www)\."
)
_AT_START: Final = re.compile(r"^(?:[-+:=](?=\s|$|[-=])|\d{1,9}(?=[.)](?:\s|$)))")
_NUMBERING: Final = re.compile(r"^(?:\d+(?:\.\d+)*[.)]?|[IVX]+\.)\s+(?=\w)")
_LETTER: Final = re.compile(r"[^\W_]")


def kit_markdown(kit: Mapping[str, Any], *, source: Source) -> str:
    """The same bytes for the same kit and source."""
    contents = read_kit(kit, source)
    writer = _Writer(contents, find_passages(contents.items(), source))
    needed = [block for block in writer.needed() if block]
    room = _words(source.text) - sum(map(_words, needed))
    around: list[str] = []
    for part in writer.around():
        size = sum(map(_words, part))
        if size <= room or not source.text:
            around += part
            room -= size
    return "\n\n".join([*needed, *around]) + "\n"


def _words(text: str) -> int:
    return sum(1 for chunk in text.split() if _LETTER.search(chunk))


def escaped(text: str) -> str:
    """One line of Markdown that renders as the text."""
    line = _ALWAYS.sub(lambda found: "".join(f"\\{one}" for one in found[0]), one_line(text))
    start = _AT_START.match(line)
    if start is None:
        return line
    return f"{start[0]}\\{line[start.end() :]}" if start[0].isdigit() else f"\\{line}"


class _Writer:
    def __init__(self, contents: Contents, passages: Passages) -> None:
        self._contents = contents
        self._passages = passages
        self._say: Labels = contents.label

    def needed(self) -> Iterator[str]:
        contents, say = self._contents, self._say
        yield f"# {escaped(contents.headline.text or say('Writing kit'))}"
        yield escaped(contents.tldr.text)
        yield f"*{escaped(contents.note)}*" if contents.note else ""
        yield from under(self._head("Key points"), [listed(self._line(item) for item in contents.points)])
        for group in contents.groups:
            yield from under(f"## {escaped(group.title)}", [self._group(group)])
        yield from self._prose("Overview", contents.overview)
        yield from under(self._head("Core ideas"), (block for item in contents.ideas for block in self._idea(item)))
        yield from self._prose("Detailed analysis", contents.analysis)
        yield from self._prose("How it unfolds", contents.course)
        yield from self._prose("Setting", contents.context)
        yield from under(self._head("Worth quoting"), map(self._quote, contents.quotes))
        yield from under(self._head("Open questions"), [listed(self._line(item) for item in contents.questions)])
        yield from under(self._head("Tensions"), [listed(map(self._tension, contents.tensions))])
        yield from under(self._head("Figures"), [listed(map(self._figure, contents.numbers))])
        yield from under(self._head("What is missing"), [listed(self._line(item) for item in contents.missing)])
        yield from under(self._head("Hooks"), [listed(self._line(item) for item in contents.hooks)])
        yield from under(self._head("Angles"), (block for item in contents.angles for block in self._angle(item)))
        if contents.thought:
            yield from under(self._head("Outline"), self._outline())
        if contents.rest:
            lines = (f"{escaped(path)}: {escaped(value)}" for path, value in contents.rest)
            yield from under(self._head("Details"), [listed(lines)])
        if self._passages.lost:
            yield say.counted(self._passages.lost, *LOST)

    def around(self) -> Iterator[list[str]]:
        """What is good to have, the most useful first."""
        contents, say = self._contents, self._say
        if not contents.thought:
            yield [f"*{say(MORE)}*"]
            if contents.outline:
                parts = (
                    f"{at}. {escaped(_NUMBERING.sub('', item.title))}" for at, item in enumerate(contents.outline, 1)
                )
                yield [self._head("Its own parts"), "\n".join(parts)]
        terms = ", ".join(map(escaped, contents.themes or contents.tags))
        more = ", ".join(map(escaped, contents.related))
        if terms or more:
            yield [f"{say('Themes')}: {', '.join(one for one in (terms, more) if one)}"]

    def _head(self, label: str) -> str:
        return f"## {self._say(label)}"

    def _line(self, item: KitItem) -> str:
        kind = f" *({escaped(self._say(item.kind))})*" if item.kind else ""
        return f"{escaped(item.text)}{kind}"

    def _group(self, group: Group) -> str:
        lines = []
        for item in group.items:
            due = f"{self._say('by')} {escaped(item.due)}" if item.due and item.due not in item.text else ""
            owner = escaped(item.owner) if item.owner not in item.text else ""
            who = ", ".join(one for one in (owner, due) if one)
            under = f"**{escaped(item.under)}** " if item.under else ""
            lines.append(f"{under}{escaped(item.text)}{f' ({who})' if who else ''}")
        return listed(lines)

    def _prose(self, title: str, item: KitItem) -> Iterator[str]:
        lines = [escaped(one) for one in paragraphs(item.text)]
        if lines:
            yield from (self._head(title), *lines)

    def _idea(self, item: KitItem) -> Iterator[str]:
        yield f"**{escaped(item.title)}** {escaped(item.text)}" if item.title else escaped(item.text)
        yield listed(escaped(example) for example in item.examples)

    def _tension(self, item: KitItem) -> str:
        return f"{escaped(item.text)} — {escaped(item.against)}" if item.against else escaped(item.text)

    def _figure(self, item: KitItem) -> str:
        """The sentence, with its figure in bold."""
        text, figure = escaped(item.text), escaped(item.title)
        return text.replace(figure, f"**{figure}**", 1) if figure and figure in text else f"{figure} {text}".strip()

    def _angle(self, item: KitItem) -> Iterator[str]:
        score = f" ({self._say.percent(item.score)})" if item.score is not None else ""
        yield f"### {escaped(item.title)}{score}"
        yield f"**{self._say('Thesis')}:** {escaped(item.thesis)}" if item.thesis else ""
        yield escaped(item.text)
        yield listed(escaped(one) for one in item.support)
        yield f"{self._say('Against it')}: {escaped(item.against)}" if item.against else ""

    def _quote(self, item: KitItem) -> str:
        said = [f"> {escaped(one)}" for one in paragraphs(item.text)]
        by = [escaped(one) for one in (item.speaker, item.time) if one]
        if item.id in self._passages.missing:
            by.append(f"**{self._say('not found word for word in the source')}**")
        context = escaped(item.context)
        told = "\n>\n".join([*said, f"> — {', '.join(by)}"] if by else said)
        return f"{told}\n\n{context}" if context else told

    def _outline(self) -> Iterator[str]:
        for at, item in enumerate(self._contents.outline, 1):
            yield f"### {at}. {escaped(item.title)}" + (
                f" ({self._say.counted(item.words, *WORDS)})" if item.words is not None else ""
            )
            yield "\n\n".join(escaped(one) for one in paragraphs(item.text))
            yield ", ".join(map(escaped, item.rests_on))


def under(title: str, blocks: Iterable[str]) -> Sequence[str]:
    """A heading over what there is; neither when there is nothing."""
    found = [block for block in blocks if block]
    return [title, *found] if found else []


def listed(lines: Iterable[str]) -> str:
    return "\n".join(f"- {line}" for line in lines)
