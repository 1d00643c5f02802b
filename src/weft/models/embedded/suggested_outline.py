"""The outline artifact: sections for a piece of one's own, in its length, from what the text offers.

The number of sections grows with the length that is wanted, as far as there is something to put into them. The opening
takes the hook that suits the tone; the middle goes theme by theme in the order of the source, with a place for the
turn, the figure, the voice and the practice where the text has them; the close is a question or the source's last word.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from weft.models.embedded.clauses import capital, finished, main_clause, unfinished
from weft.models.embedded.compose import NOTHING, Line, fits, spans_of
from weft.models.embedded.material import HEADING, Material, Subject, close_to
from weft.models.embedded.profile import parse_profile
from weft.models.embedded.reading import Section, read
from weft.models.embedded.sentence import Sentence

_SECTIONS: Final = ((180, 2), (400, 3), (800, 4), (1200, 5), (1800, 6), (2600, 7), (4000, 8), (6500, 10), (10_000, 12))
_OPENERS: Final[dict[str, tuple[str, ...]]] = {
    "beginner": ("story", "curiosity"),
    "intermediate": (),
    "expert": ("statistic", "controversy"),
    "mixed": ("statistic", "story"),
}
_EXTRAS: Final[dict[str, tuple[str, ...]]] = {
    "beginner": ("terms", "voice", "turn", "practice", "number"),
    "intermediate": ("turn", "voice", "number", "practice"),
    "expert": ("number", "turn", "practice", "voice"),
    "mixed": ("turn", "terms", "number", "voice", "practice"),
}
_NUMBERING: Final = re.compile(r"^(?:\d+(?:\.\d+)*[.)]?|[IVX]+\.|[A-Z]\.)\s+(?=\w)")
_SHARES: Final = {"open": 0.75, "terms": 0.7, "close": 0.65, "number": 0.9, "turn": 1.1, "voice": 0.9, "practice": 1.0}


@dataclass(frozen=True, slots=True)
class Part:
    kind: str
    heading: Line
    notes: Line
    share: float
    place: int
    """Where in the source it belongs."""


def outline(
    text: str,
    summary: Mapping[str, Any],
    ideas: Mapping[str, Any],
    *,
    profile: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    """Sections whose words add up to what the profile wants. ValueError as for `ideas`."""
    plan = _Plan(Material(read(text), parse_profile(profile), summary), ideas)
    parts = plan.parts()
    words = _shared_out([part.share for part in parts], plan.material.profile.words)
    return {
        "contentId": summary["contentId"],
        "targetWordCount": plan.material.profile.words,
        "sections": [
            {
                "heading": part.heading.text,
                "notes": part.notes.text,
                "estimatedWords": count,
                "evidence": [[start, end] for start, end in spans_of([part.heading, part.notes])],
            }
            for part, count in zip(parts, words, strict=True)
        ],
    }


def _key(heading: str) -> str:
    """What of a heading is compared: two that differ in case or spacing read the same."""
    return " ".join(heading.casefold().split())


def _shared_out(shares: Sequence[float], total: int) -> list[int]:
    """Whole numbers in proportion to the shares, in tens where there is room, that add up to the total."""
    step = 10 if total >= 20 * len(shares) else 1
    whole = sum(shares)
    found = [max(1, round(total * share / whole / step) * step) for share in shares]
    found[found.index(max(found))] += total - sum(found)
    return found


class _Plan:
    def __init__(self, material: Material, ideas: Mapping[str, Any]) -> None:
        self.material = material
        self.ideas = ideas
        self.writer = material.writer
        self.reading = material.reading
        self.used: set[int] = set()
        self.headings: set[str] = set()
        self.told: set[str] = set()
        wanted = material.profile.words
        self.count = next(count for most, count in _SECTIONS if wanted <= most)
        self.room = 1 if wanted / self.count < 140 else 2 if wanted / self.count < 320 else 3
        """How many sentences of the source a section takes along."""

    def parts(self) -> list[Part]:
        opening = self._opening()
        if len(self.reading.sentences) == 1:
            return [self._toned(opening, 0, [opening])]
        extras = [name for name in self._extras() if self.count > 3]
        close = self._close()
        middle: list[Part] = []
        themes = self._themes()
        while len(middle) < self.count - 2:
            takes_extra = bool(extras) and (len(middle) % 2 == 1 or extras[0] == "terms")
            part = self._extra(extras.pop(0)) if takes_extra else next(themes, None)
            if part is None and not takes_extra:
                if not extras:
                    break
                part = self._extra(extras.pop(0))
            if part is not None:
                middle.append(part)
        parts = [opening, *self._ordered(middle), *([close] if close else [])]
        return [self._toned(part, at, parts) for at, part in enumerate(parts)]

    def _extras(self) -> list[str]:
        names = list(_EXTRAS[self.material.profile.tone])
        if self.material.profile.voice == "instructional":
            names = ["practice", *(name for name in names if name != "practice")]
        if self.material.profile.voice == "third-person":
            names = ["voice", *(name for name in names if name != "voice")]
        return names

    def _ordered(self, middle: list[Part]) -> list[Part]:
        """Terms first, practice last, the rest as in the source; for experts the figure before everything."""
        first = "number" if self.material.profile.tone == "expert" else "terms"
        last = "practice" if self.material.profile.voice == "instructional" else ""
        return sorted(middle, key=lambda part: ((part.kind != first) + (part.kind == last), part.place))

    # -- the two ends

    def _opening(self) -> Part:
        hooks = list(self.ideas.get("hooks", ()))
        wanted = _OPENERS[self.material.profile.tone]
        at = next((at for kind in wanted for at, hook in enumerate(hooks) if hook["type"] == kind), 0)
        line = self._idea("hooks", at, "text")
        lead = self._sentence(line)
        self._use(line)
        kind = hooks[at]["type"] if hooks else "curiosity"
        told = self.writer.say(f"outline.open.{kind}", a=Line(finished(line.text), line.spans)) or line
        angle = self._idea("angles", 0, "title")
        argued = self.writer.say("outline.line", a=Line(unfinished(angle.text), angle.spans)) if angle else NOTHING
        if argued and unfinished(angle.text) in told.text:
            argued = NOTHING
        first = main_clause(line.text.split(". ")[0], HEADING, self.reading.language)
        heading = self._heading("open", lead, label=Line(first, line.spans), clause=True)
        return Part("open", heading, self.writer.row([told, argued]), _SHARES["open"], -1)

    def _close(self) -> Part | None:
        sentences = self.reading.sentences
        last = sentences[self.reading.argument.close]
        question = self._idea("questions", 0, "question")
        # A last sentence that leans on the one before is no last word.
        statement = self.material.standing(last)
        lines: list[Line] = []
        if question and len(question.text) <= 240:
            lines.append(self.writer.say("outline.close.question", a=question) or question)
        if statement and last.index not in self.used:
            lines.append(self.writer.say("outline.close.statement", a=statement) or statement)
            self.used.add(last.index)
        if not lines:
            return None
        lead = last if statement else self._sentence(question)
        # A question that begins with what it is about is two sentences, and no heading.
        single = not re.search(r"[.!?。！？]['\"”»」]*\s*\S", question.text)
        short = single and len(question.text) <= HEADING and _key(question.text) not in self.headings
        asked = question if short and not self.material.title(lead, HEADING) else NOTHING
        heading = self._heading("close", lead, label=asked, clause=True)
        if not heading:
            return None
        return Part("close", heading, self.writer.row(lines), _SHARES["close"], len(sentences))

    def _idea(self, group: str, at: int, field: str) -> Line:
        """One of the ideas, with its places; an idea that a person wrote has none."""
        items = list(self.ideas.get(group, ()))
        if at >= len(items):
            return NOTHING
        places = (self.ideas.get("evidence") or {}).get(group, ())
        spans = tuple((int(start), int(end)) for start, end in places[at]) if at < len(places) else ()
        return Line(str(items[at][field]), spans)

    def _sentence(self, line: Line) -> Sentence:
        """The sentence a line comes from; the document's best when it comes from none."""
        sentences = self.reading.sentences
        if line.spans:
            start = line.spans[0][0]
            near = [sentence for sentence in sentences if sentence.start <= start < sentence.end]
            if near:
                return near[0]
        return max(sentences, key=lambda sentence: (sentence.sound, sentence.rank, -sentence.index))

    def _use(self, line: Line) -> None:
        places = set(line.spans)
        self.used |= {one.index for one in self.reading.sentences if (one.start, one.end) in places}

    # -- the middle

    def _themes(self) -> Iterator[Part]:
        for theme in self.material.themes:
            yield from self._theme(theme)
        for theme in self.material.themes:
            yield from self._theme(theme)

    def _theme(self, theme: Subject) -> Iterator[Part]:
        free = [sentence for sentence in self.material.best(theme.sentences, 12) if self._is_free(sentence)]
        part = self._built("point", free[0], free[1:], label=theme.line) if free else None
        if part:
            yield part

    def _is_free(self, sentence: Sentence) -> bool:
        if sentence.index in self.used or sentence.asks or not self.material.leads(sentence):
            return False
        return bool(self.material.standing(sentence))

    def _built(
        self, kind: str, lead: Sentence, more: Sequence[Sentence], *, label: Line = NOTHING, name: Line = NOTHING
    ) -> Part | None:
        """A section: its point in the source's sentence, then what goes along with it. None: it could not be told from
        another by its heading."""
        self.used.add(lead.index)
        heading = self._heading(kind, lead, label=label)
        if not heading:
            return None
        statement = self.material.statement(lead)
        self.told.add(statement.text)
        told = [self.writer.say(f"outline.{kind}", a=statement, n=name) or statement]
        company = [one for one in dict.fromkeys([*more, *close_to(lead, self.reading.sentences)]) if self._is_free(one)]
        for sentence in company:
            statement = self.material.statement(sentence)
            if len(told) > self.room or statement.text in self.told:
                continue
            self.used.add(sentence.index)
            self.told.add(statement.text)
            framed = self.writer.say("outline.support", a=statement) if len(told) == 1 else NOTHING
            told.append(framed or statement)
        spans = (*heading.spans, *name.spans)
        share = _SHARES.get(kind, 1.0 + 0.08 * min(4, len(told)))
        return Part(kind, Line(heading.text, spans), self.writer.row(told), share, lead.index)

    def _extra(self, name: str) -> Part | None:
        argument = self.reading.argument
        if name == "voice":
            return self._voice()
        places: dict[str, Sequence[int]] = {
            "terms": argument.definitions,
            "turn": [argument.turn] if argument.turn is not None else argument.by_role.get("contrast", ()),
            "number": [number.sentence for number in self.reading.numbers[:10] if number.strength > 0.8],
            "practice": argument.by_role.get("advice", ()),
        }
        free = [one for one in self.material.best(dict.fromkeys(places[name]), 8) if self._is_free(one)]
        return self._built(name, free[0], free[1:]) if free else None

    def _voice(self) -> Part | None:
        for quotation in self.material.quotations:
            lead = self.reading.sentences[quotation.sentence]
            if not quotation.speaker or lead.index in self.used or len(quotation.text) > 220:
                continue
            said = Line(finished(quotation.text), ((quotation.start, quotation.end),))
            name = self.material.named(quotation.speaker, quotation.start)
            part = self._built("voice", lead, (), name=name) if self._is_free(lead) else None
            if part is None:
                continue
            quote = self.writer.quoted(said)
            notes = self.writer.say("outline.voice", n=name, a=Line(finished(quote.text), quote.spans)) or quote
            rest = part.notes.text.partition(finished(self.material.statement(lead).text))[2].strip()
            return replace(part, notes=Line(f"{notes.text} {rest}".strip(), spans_of([part.notes, notes])))
        return None

    # -- wording

    def _heading(self, kind: str, lead: Sentence, *, label: Line = NOTHING, clause: bool = False) -> Line:
        """NOTHING when every heading it could have is taken."""
        section = self._section(lead) if kind == "point" else None
        if section is not None:
            line = Line(_NUMBERING.sub("", section.title), (section.span, *lead.spans))
        else:
            line = label if label and clause else self.material.heading(lead, label)
        if _key(line.text) in self.headings:
            others = (text for text in self._others(lead, label) if text and _key(text) not in self.headings)
            text = next(others, "")
            if not text:
                return NOTHING
            line = Line(text, (*lead.spans, *label.spans))
        line = Line(capital(line.text), line.spans)
        self.headings.add(_key(line.text))
        if self.material.profile.voice == "instructional":
            return self.writer.say(f"task.{kind}", a=line) or line
        return line

    def _others(self, lead: Sentence, label: Line) -> Iterator[str]:
        """Further headings for a part whose own one is taken, all from its own sentence."""
        yield self.material.thing(lead)
        yield self.material.figured(lead)
        yield self.material.paired(lead)
        yield label.text
        yield from self.material.named_in(lead)
        yield fits(unfinished(lead.text), 70)

    def _section(self, lead: Sentence) -> Section | None:
        """The source's heading over the sentence, where it has several and this one says something."""
        if lead.section < 0 or len(self.reading.sections) < 4:
            return None
        section = self.reading.sections[lead.section]
        good = section.level > 1 and 6 <= len(section.title) <= 70 and len(section.title.split()) > 1
        return section if good and _key(_NUMBERING.sub("", section.title)) not in self.headings else None

    def _toned(self, part: Part, at: int, parts: Sequence[Part]) -> Part:
        """With a word on how to write it, for this tone and voice; not in every section, so that it stays heard."""
        profile, added = self.material.profile, []
        if part.kind in ("open", "close"):
            added.append(self.writer.say(f"voice.{profile.voice}.{part.kind}"))
        elif at == 1 and self.material.themes:
            added.append(self.writer.say(f"tone.{profile.tone}", t=self.writer.quoted(self._label(part))))
        elif at % 2 == 0:
            added.append(self.writer.say(f"voice.{profile.voice}.body", a=part.notes))
        added.append(self._topic(part, at, parts))
        notes = self.writer.row([part.notes, *added])
        return replace(part, notes=notes)

    def _label(self, part: Part) -> Line:
        said = part.notes.text.lower()
        themes = self.material.themes
        return next((theme for theme in themes if theme.label.lower() in said), themes[0]).line

    def _topic(self, part: Part, at: int, parts: Sequence[Part]) -> Line:
        for topic in sorted(self.material.profile.topics, key=lambda one: (-one.interest, one.name))[:2]:
            if any(sign.isdigit() for sign in topic.name) and topic.name not in self.reading.text:
                continue
            home = next((number for number, one in enumerate(parts) if topic.named_in(one.notes.text)), len(parts) // 2)
            if home == at:
                return self.writer.say("outline.topic", t=topic.name)
        return NOTHING
