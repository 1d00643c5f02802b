"""The prose of a summary: the short version, the points, the overview, the analysis by theme, the course, the setting.

Everything is the source's own sentences, chosen so that they do not repeat each other and kept in the order of the
source; the engine's words only tie them together.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Final

from weft.models.embedded.argument import stated
from weft.models.embedded.clauses import finished
from weft.models.embedded.compose import NOTHING, Line, Writer, fits, line_of
from weft.models.embedded.kinds import Category
from weft.models.embedded.languages import Role
from weft.models.embedded.languages.language import words as word_set
from weft.models.embedded.names import Name
from weft.models.embedded.ranking import leans, pick, points_elsewhere
from weft.models.embedded.reading import Reading
from weft.models.embedded.sentence import Sentence, Span
from weft.models.embedded.themes import Theme

SHORT: Final = 500
_LONG: Final = 3000
_MEDIUM: Final = 700
"""In words: from where on a document is long, or not short any more."""
_FEWEST: Final = 3
_NUMBERING: Final = re.compile(r"^(?:\d+(?:\.\d+)*[.)]?|[IVX]+\.)\s+(?=\w)")
_FIGURES: Final = re.compile(r"\d+")
_SHE: Final = word_set("he she her his")
_SPEECH: Final = tuple('"“„«「')
_YEAR: Final = re.compile(r"(?<![\w.,/-])(1[5-9]\d\d|20\d\d)(?![\w/-]|[.,]\d)")
_TIES: Final[tuple[tuple[Role, str], ...]] = (
    ("contrast", "analysis.contrast"),
    ("cause", "analysis.cause"),
    ("example", "analysis.example"),
    ("advice", "analysis.advice"),
    ("problem", "analysis.problem"),
)


class Teller:
    def __init__(self, reading: Reading) -> None:
        self.reading = reading
        self.language = reading.language
        self.writer = Writer(reading)
        aside, host = reading.spoken, reading.host
        sound = [one for one in reading.sentences if one.sound and not points_elsewhere(one, self.language)]
        answered = [
            one for one in sound if one.index not in aside and (one.speaker != host or not host or one.index < 3)
        ]
        self.sound = answered if len(answered) > 2 else sound
        self._numbered = {number.sentence: number.strength for number in reversed(reading.numbers[:400])}

    def statement(self, sentence: Sentence, limit: int = 320) -> Line:
        text = stated(sentence, limit, self.language)
        return line_of(sentence, text) if text else NOTHING

    def standing(self) -> list[Sentence]:
        """Sentences that can be read without the one before, and are no questions."""
        found = [one for one in self.sound if not leans(one, self.language) and not one.asks]
        return found or self.sound or list(self.reading.sentences)

    def in_order(self, sentences: Iterable[Sentence]) -> list[Sentence]:
        return sorted(sentences, key=lambda one: one.index)

    # -- short

    def short(self) -> tuple[Line, list[Sentence]]:
        """Three or four sentences that stand for the whole, in at most 500 characters."""
        pool = [one for one in self.standing() if self.statement(one, 230) and not self._is_speech(one)]
        lead = self._lead(pool)
        # Where little stands by itself, something is left for the points.
        chosen = [*lead, *pick(pool, 3 if len(pool) > _FEWEST + 2 else 1, besides=lead, score=self._worth)]
        kept: list[Sentence] = []
        size = 0
        for sentence in chosen:
            length = len(self.statement(sentence, 230).text) + 1
            if sentence not in kept and size + length <= SHORT:
                kept.append(sentence)
                size += length
        ordered = self.in_order(kept)
        line = self.writer.row(self.statement(one, 230) for one in ordered)
        if not line:
            best = max(self.reading.sentences, key=lambda one: (one.sound, one.rank, -one.index))
            line, ordered = line_of(best, fits(finished(best.text), SHORT)), [best]
        line = self.writer.at_least(line, 20)
        return Line(fits(line.text, SHORT), line.spans), ordered

    def _is_speech(self, sentence: Sentence) -> bool:
        """Whether it is mostly somebody's words: a quote, not a report."""
        text = sentence.text
        return text[:1] in _SPEECH and not sentence.speaker and len(self.sound) > 6

    def _lead(self, pool: Sequence[Sentence]) -> list[Sentence]:
        """What opens it, if that carries anything; else the best of the beginning."""
        early = [one for one in pool if one.index <= max(4, len(self.reading.sentences) // 12)]
        if not early:
            return []
        best = max(early, key=lambda one: (one.rank, -one.index))
        first = next((one for one in early if one.size > 8 and one.kind == "prose"), best)
        if len(_FIGURES.findall(first.text)) > 4:
            return [best]
        carries = first.rank > 0.55 * best.rank and not first.roles & {"scene"} and not first.speaker
        return [first if carries else best]

    def points(self, told: Sequence[Sentence]) -> list[Line]:
        """The points a reader should take away; none that the short version or another point already makes."""
        count = min(8, max(3, round(1.1 * len(self.sound) ** 0.5)))
        pool = [
            one for one in self.standing() if self.statement(one, 260) and one.size <= 40 and not self._is_speech(one)
        ]
        pool += [one for one in self._about_one() if one not in pool and self.statement(one, 260)]
        fresh = [one for one in pool if one not in told]
        # The rows of a table share the names of its columns, and still say different things.
        limit = 0.9 if any(one.kind == "table" for one in pool[:3]) else 0.55
        chosen = pick(fresh, count, besides=told, score=self._worth, limit=limit)
        if len(chosen) < _FEWEST:
            chosen += pick([one for one in told if one in pool], _FEWEST - len(chosen), score=self._worth)
        lines = [self.statement(one, 260) for one in self.in_order(chosen)]
        if lines:
            return lines
        best = max(self.reading.sentences, key=lambda one: (one.sound, one.rank, -one.index))
        return [line_of(best, fits(best.text, 400))]

    def _about_one(self) -> list[Sentence]:
        """Sentences with `she` in a text about one person: there is nobody else she could be."""
        people = [name for name in self.reading.names if name.kind == "person"]
        if not people or people[0].count < 3 or (len(people) > 1 and people[1].count > 1):
            return []
        others = {self.reading.sentences[at].block for name in people[1:] for at in name.sentences}
        return [
            one
            for one in self.sound
            if one.words[0] in _SHE and one.block not in others and not one.asks and not self._is_speech(one)
        ]

    def _worth(self, sentence: Sentence) -> float:
        roles = 0.12 * len(sentence.roles & {"cause", "contrast", "claim", "change", "advice", "problem"})
        number = 0.15 * min(1.5, self._numbered.get(sentence.index, 0.0))
        return sentence.rank + roles + number - 0.2 * (not roles and not number)

    # -- long

    def overview(self, told: Sequence[Sentence]) -> Line:
        """Beginning, middle and end, a paragraph each."""
        pool = [one for one in self.sound if self.statement(one) and not one.asks] or self.sound
        total = len(self.reading.sentences)
        if total <= 6:
            everything = self.writer.row(line_of(one, finished(one.text)) for one in self.reading.sentences)
            return self.writer.at_least(Line(fits(everything.text, 2400), everything.spans), 50)
        paragraphs = []
        for part in range(3):
            mine = [one for one in pool if part * total // 3 <= one.index < (part + 1) * total // 3]
            chosen = self.in_order(pick(mine, 3, limit=0.7))
            paragraphs.append(self.writer.row(self._joined(chosen)))
        return self.writer.at_least(self.writer.paragraphs(paragraphs), 50, (line_of(one) for one in told))

    def _joined(self, sentences: Sequence[Sentence]) -> list[Line]:
        """A sentence that leans keeps its opening when the one it leans on stands before it."""
        lines = []
        for at, sentence in enumerate(sentences):
            follows = at > 0 and sentences[at - 1].index == sentence.index - 1
            if follows:
                lines.append(line_of(sentence, finished(sentence.text)))
            elif not leans(sentence, self.language) or sentence.words[0] in self.language.openers:
                lines.append(self.statement(sentence))
        return lines

    def analysis(self) -> Line:
        """Theme by theme: what is said about it, and what stands against or behind it."""
        used: set[int] = set()
        paragraphs = [self._about(theme, used) for theme in self.reading.themes[:6]]
        line = self.writer.paragraphs(paragraphs)
        if len(line.text) < 100:
            more = [line_of(one, finished(one.text)) for one in self.reading.sentences[:40] if one.index not in used]
            line = self.writer.at_least(line or (more[0] if more else self.short()[0]), 100, more)
        return line

    def _about(self, theme: Theme, used: set[int]) -> Line:
        mine = [self.reading.sentences[at] for at in theme.sentences[:30] if at not in used]
        good = [
            one for one in mine if one.sound and not one.asks and self.statement(one) and not leans(one, self.language)
        ]
        if not good:
            return NOTHING
        first, *more = pick(good, 3, score=self._worth)
        used.update(one.index for one in (first, *more))
        told = [self.statement(first), *(self._tied(one) for one in more)]
        said = self.writer.row(told)
        label = theme.label[:1].upper() + theme.label[1:]
        shown = self.reading.sentences[theme.phrase.shown].spans
        return Line(f"{label}{self.writer.colon}{said.text}", tuple(dict.fromkeys((*said.spans, *shown))))

    def _tied(self, sentence: Sentence) -> Line:
        statement = self.statement(sentence)
        if self._numbered.get(sentence.index, 0.0) > 1.2:
            return self.writer.say("analysis.number", a=statement) or statement
        key = next((key for role, key in _TIES if role in sentence.roles), "")
        return (self.writer.say(key, a=statement) if key else NOTHING) or statement

    # -- course and setting

    def course(self) -> Line:
        """How the document goes: what opens it, what it passes, where it turns, how it ends."""
        argument, sentences = self.reading.argument, self.reading.sentences
        opening, close = sentences[argument.opening], sentences[argument.close]
        lines = [self._moment("flow.open", opening)]
        if len(self.reading.speakers) > 1:
            names = self.writer.listed(self.reading.speakers[:4])
            lines = [self.writer.say("flow.talk", n=self._speakers(names)), *self._first_question(), *lines]
        lines.append(self._way(opening))
        if argument.turn is not None and argument.turn not in (opening.index, close.index):
            lines.append(self._moment("flow.turn", sentences[argument.turn]))
        if close.index != opening.index:
            lines.append(self._moment("flow.close", close))
        told = self.writer.row(lines)
        return self.writer.at_least(told, 50, (line_of(one, finished(one.text)) for one in sentences[:10]))

    def _first_question(self) -> list[Line]:
        asked = min(self.reading.argument.questions, default=-1)
        return [self._moment("flow.ask", self.reading.sentences[asked])] if asked >= 0 else []

    def _speakers(self, names: str) -> Line:
        spans = []
        for speaker in self.reading.speakers[:4]:
            place = self.reading.text.find(speaker)
            spans.append((place, place + len(speaker)))
        return Line(names, tuple(spans))

    def _moment(self, key: str, sentence: Sentence) -> Line:
        statement = line_of(sentence, fits(sentence.text, 220))
        return self.writer.say(key, a=self.writer.quoted(statement)) or line_of(sentence, finished(statement.text))

    def _way(self, opening: Sentence) -> Line:
        titles = [section for section in self.reading.sections if section.level > 1 and 3 < len(section.title) <= 70]
        if len(titles) >= 3:
            shown = titles[:7]
            names = self.writer.listed([_NUMBERING.sub("", section.title).rstrip(".:") for section in shown])
            return self.writer.say("flow.sections", t=Line(names, tuple(section.span for section in shown)))
        later = [theme for theme in self.reading.themes if theme.phrase.sentences[0] > opening.index]
        later.sort(key=lambda theme: theme.phrase.sentences[0])
        if len(later) < 2:
            return NOTHING
        spans = tuple(self.reading.sentences[theme.phrase.label[1]].spans[0] for theme in later[:4])
        return self.writer.say("flow.move", t=Line(self.writer.listed([theme.label for theme in later[:4]]), spans))

    def setting(self, kind: Category) -> Line:
        """What kind of document it is, whom it names, where and when it plays."""
        size = self.reading.word_count
        length = "long" if size >= _LONG else "medium" if size >= _MEDIUM else "short"
        lines = [self.writer.say(f"context.{length}", t=self.writer.say(f"kind.{kind}"))]
        lines += [
            self._names("context.names", ("person", "organisation"), 5),
            self._names("context.places", ("place",), 4),
        ]
        lines.append(self._years())
        told = self.writer.row(lines)
        if len(told.text) < 60:
            opening = self.reading.sentences[self.reading.argument.opening]
            about = line_of(opening, fits(finished(opening.text), 260))
            told = self.writer.row([told, self.writer.say("context.about", a=about) or about])
        return self.writer.at_least(told, 20)

    def _names(self, key: str, kinds: tuple[str, ...], most: int) -> Line:
        names = [name for name in self.reading.names if name.kind in kinds and name.sentences][:most]
        if not names:
            return NOTHING
        spans = tuple(self._place(name) for name in names)
        return self.writer.say(key, n=Line(self.writer.listed([name.text for name in names]), spans))

    def _place(self, name: Name) -> Span:
        """The first sentence that has the whole name, not only a part of it."""
        there = [self.reading.sentences[at] for at in name.sentences]
        return next((one for one in there if name.text in one.text), there[0]).spans[0]

    def _years(self) -> Line:
        found: dict[str, Sentence] = {}
        for sentence in self.reading.sentences:
            for year in _YEAR.findall(sentence.text):
                found.setdefault(year, sentence)
        if not 1 <= len(found) <= 12:
            return NOTHING
        years = sorted(found)[:6]
        return self.writer.say(
            "context.years", n=Line(self.writer.listed(years), tuple(found[year].spans[0] for year in years))
        )
