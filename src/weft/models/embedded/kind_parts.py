"""What a reader wants of one kind of document and not of another: decisions of a meeting, answers of an interview,
the items of a newsletter, the groups of a list. Each is only what the text marks as such.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import groupby, pairwise, takewhile
from typing import Any, Final

from weft.language.leaning import leans_back
from weft.models.embedded.layout import Span
from weft.models.embedded.lexicon import KNOWN, Lexicon, lexicon, sign_words, signs
from weft.models.embedded.ranking import Ranks
from weft.models.embedded.reading import BACK, Reading, Sentence, clean, is_clean, sets_against
from weft.models.embedded.words import tokens
from weft.protocol.values import dataclass

_DECISIONS: Final = re.compile(rf"\W*\d*\W*(?:{signs('decisions')})\b", re.I)
_ACTIONS: Final = re.compile(rf"\W*\d*\W*(?:{signs('actions')})\b", re.I)
_LABEL: Final = re.compile(rf"(?:{signs('label')})s?\s*[:—–-]\s*", re.I)
_PRESENT: Final = re.compile(rf"\W*(?:{signs('present')})\W*[:：]\s*(?P<names>\S.*)", re.I)
_ABSENT: Final = re.compile(rf"\s(?:{signs('absent')})\W*[:：].*", re.I | re.S)
_NEXT: Final = re.compile(rf"\W*\d*\W*(?:(?:the|our|die|das|la) )?(?:{signs('next_meeting')})\b", re.I)
_WHEN: Final = re.compile(r"\d")
_OWNER: Final = re.compile(
    rf"(?P<name>(?:(?:{signs('before_names')})\.?\s)?[A-ZÀ-Þ][\w'’-]+(?:\s[A-ZÀ-Þ][\w'’-]+)?)"
    rf"(?=\s+(?:{signs('will')})\b|\s*[:—–-]\s|,\s+(?:by|until|bis|avant|antes)\b)"
)
_NAMED_DAYS: Final = "|".join(sorted({name for code in KNOWN for name in lexicon(code).months}))
_DAY: Final = rf"(?:{_NAMED_DAYS}|(?:jan|feb|mar|apr|jun|jul|aug|sept?|o[ck]t|nov|de[cz])\b\.?|{signs('feasts')})"
_DUE: Final = re.compile(
    r"\b(?:by|until|before|due|bis(?: zum)?|avant(?: le)?|d'ici(?: le| au)?|antes del?|para el)\s+(?P<date>"
    rf"(?:{signs('part_of_time')})(?:{signs('time_in_parts')}|\d{{4}})|(?:{signs('part_of_time')}|the\s|next\s|nächsten?\s)?"
    rf"(?:\d{{1,2}}(?:st|nd|rd|th|\.)?\s(?:of\s|de\s)?{_DAY}(?:\s\d{{4}})?|{_DAY}(?:\s\d{{1,2}})?(?:,?\s\d{{4}})?"
    r"|\d{4}-\d\d-\d\d|\d{1,2}\.\d{1,2}\.(?:\d{2,4})?|week|month|woche|monat))(?!\w)",
    re.I,
)

_NAMES: Final = frozenset(("may", "will"))
"""Small words that are somebody's name too."""


@dataclass(frozen=True, slots=True)
class Entry:
    text: str
    spans: tuple[Span, ...]
    sentences: tuple[int, ...] = ()
    owner: str = ""
    due: str = ""
    under: str = ""
    """The question, heading or group it stands under."""


@dataclass(frozen=True, slots=True)
class Part:
    name: str
    """Of what the engine says: `decisions`."""
    entries: tuple[Entry, ...]
    whole: bool = False
    """Whether some of it are no use without the others: steps."""

    def value(self, reading: Reading) -> dict[str, Any]:
        items = [
            {
                key: said
                for key, said in (("under", one.under), ("text", one.text), ("owner", one.owner), ("due", one.due))
                if said
            }
            for one in self.entries
        ]
        return {"title": reading.says(self.name), "items": items}


def find_parts(reading: Reading, kind: str, ranks: Ranks, used: set[int], room: int) -> list[Part]:
    finder = _FINDERS.get(kind) or (_questions if asks_itself(reading) else _recommended)
    found: list[Part] = []
    for part in finder(reading, ranks):
        kept: list[Entry] = []
        if part.whole and sum(len(one.text.split()) for one in part.entries) > room:
            used.update(at for one in part.entries for at in one.sentences)  # nor are some of them told elsewhere
            continue
        for one in part.entries:
            size = len(one.text.split()) + len(one.under.split())
            if size <= room and not used.intersection(one.sentences):
                kept.append(one)
                used.update(one.sentences)
                room -= size
        if kept:
            found.append(Part(part.name, tuple(kept)))
    return found


def _line(one: Sentence, under: str = "") -> Entry:
    return Entry(one.text, one.spans, (one.index,), under=under)


# -- meeting


def _meeting(reading: Reading, ranks: Ranks) -> Iterator[Part]:
    titles = [section.title for section in reading.sections]
    decided: list[Entry] = []
    todo: list[Entry] = []
    postponed: list[Entry] = []
    present: list[Entry] = []
    dates: list[Entry] = []
    for one in reading.sentences:
        title = titles[one.section] if one.section >= 0 else ""
        label = _LABEL.match(one.text)
        names = _PRESENT.match(one.text)
        if names:
            present.append(Entry(_ABSENT.sub("", names["names"]).rstrip("."), one.spans, (one.index,)))
        elif (_NEXT.match(one.text) or _NEXT.match(title)) and _WHEN.search(one.text):
            dates.append(_line(one))
        elif _ACTIONS.match(title) or (label and _ACTIONS.match(label.group())):
            before = reading.sentences[one.index - 1] if one.index else one
            if one.size > 5 or before.block != one.block:
                todo.append(_action(one, reading.known))
            else:
                # `Action: Peter, by 20 May.` says who and when; what is to be done stands in the sentence before.
                decided = [entry for entry in decided if before.index not in entry.sentences]
                who = _action(one, reading.known)
                places = (before.index, one.index)
                todo.append(Entry(before.text, (*before.spans, *one.spans), places, who.owner, who.due))
        elif (told := _outcome(one, reading.known)) == "postponed" and one.sound:
            postponed.append(_line(one))
        elif told != "none" and (
            ((_DECISIONS.match(title) or (label and _DECISIONS.match(label.group()))) and one.size > 2)
            or (one.sound and told == "decided")
        ):
            decided.append(Entry(_LABEL.sub("", one.text, count=1), one.spans, (one.index,)))
        elif one.sound and one.size <= 24 and (_takes_on(one, present) or _is_owned(one.text, reading.known)):
            todo.append(_action(one, reading.known))
    yield Part("decisions", tuple(decided))
    yield Part("postponed", tuple(postponed))
    yield Part("actions", tuple(todo))
    yield Part("dates", tuple(dates))
    yield Part("present", tuple(present[:1]))


_CLAUSE: Final = re.compile(r"[,;:.()]\s|\s[—–-]\s")
_BEFORE: Final = 4
"""Words before a decision among which `not` denies it."""
_JOINS: Final = sign_words("joins")
"""What stands before these is not about what stands behind."""
_EMPTY: Final = sign_words("leaves_nothing")
"""Words behind it that leave nothing of it; `beschlossen werden` is what is still to be."""
_DENIES: Final = sign_words("denies")
"""Beside the words that deny: what makes it a condition, or of another day."""
_TO_BE: Final = sign_words("to_be")
"""What is to be decided is not decided yet."""
_RESOLVED: Final = sign_words("resolved")


def _outcome(one: Sentence, known: Lexicon) -> str:
    """What a sentence says became of something: `decided`, `postponed`, `none` where it says that nothing was, and ""
    where it speaks of no decision. `The trees were discussed but not agreed on` has the word for it all the same."""
    clauses = [tokens(clause) for clause in _CLAUSE.split(one.text)]
    said = [denied for clause in clauses for denied in _signs_of(clause, known.decided, known)]
    if not all(said):
        return "decided"
    if not all(denied for clause in clauses for denied in _signs_of(clause, known.postponed, known)):
        return "postponed"
    return "none" if said or any(any(_signs_of(clause, _RESOLVED, known)) for clause in clauses) else ""


def _signs_of(clause: Sequence[str], marks: Iterable[str], known: Lexicon) -> Iterator[bool]:
    """Of each of these phrases in a clause, whether it is denied there."""
    for sign in marks:
        parts = sign.split()
        for at in range(len(clause) - len(parts) + 1):
            if clause[at : at + len(parts)] == parts:
                yield _denied(clause, at, at + len(parts), known)


def _denied(clause: Sequence[str], at: int, end: int, known: Lexicon) -> bool:
    """Whether words before a sign in its clause, or right behind it, say that it did not come to that."""
    before: list[str] = []
    for word in reversed(clause[max(0, at - _BEFORE) : at]):
        if word in _JOINS:
            break
        before.append(word)
    denies = known.negations | _DENIES
    behind = clause[end : end + 1]
    return not denies.isdisjoint(before) or not _TO_BE.isdisjoint(before[:2]) or not _EMPTY.isdisjoint(behind)


def _takes_on(one: Sentence, present: Sequence[Entry]) -> bool:
    """`Nia writes the rules by 20 February.`: somebody who was there, and a day."""
    name = one.text.split()[0]
    return name[:1].isupper() and any(name in entry.text for entry in present) and _DUE.search(one.text) is not None


def _is_owned(said: str, known: Lexicon) -> bool:
    """`Ann will …`, `Ann, by Friday: …`; what Ann said, behind a colon, is no task without a day."""
    found = _owner(said, known)
    return found is not None and (said[found.end() :].lstrip()[:1].isalpha() or _DUE.search(said) is not None)


def _owner(said: str, known: Lexicon) -> re.Match[str] | None:
    """Who will do it; a clause behind a semicolon may say so. `That will …` names nobody, `Ella` nobody in Spanish."""
    small = known.function - _NAMES
    found = (_OWNER.match(clause) for clause in re.split(r";\s+", said))
    return next((one for one in found if one and one["name"].split()[0].lower() not in small), None)


def _action(one: Sentence, known: Lexicon) -> Entry:
    said = _LABEL.sub("", one.text, count=1)
    owner, due = _owner(said, known), _DUE.search(said)
    return Entry(said, one.spans, (one.index,), owner=owner["name"] if owner else "", due=due["date"] if due else "")


# -- interview


OWN: Final = sign_words("own")
_PRINTED: Final = re.compile(r"\s*(\*\*|__)(?:(?!\1).)+\?\s*\1\s*", re.S)
_ASKED: Final = 3
"""Questions from which it is an interview, where there are not as many headings."""
_INTERVIEWED: Final = re.compile(rf"\b(?:{signs('interviewed')})\b", re.I)
_ASKING: Final = 3
"""Sentences of a question to a guest."""


def asked_in_turn(reading: Reading) -> frozenset[int]:
    """The paragraphs in which an interview asks, as it is printed: in bold, with answers in which somebody speaks of
    themselves. (Answers to frequent questions speak of the reader.)"""
    blocks = reading.layout.blocks
    asking = {
        at
        for at, block in enumerate(blocks)
        if block.kind in ("prose", "heading") and _PRINTED.fullmatch(reading.text, block.start, block.end)
    }
    if not asking and reading.title is not None and _INTERVIEWED.search(reading.title.title):
        # It says what it is, so that a paragraph that does nothing but ask is a question to the guest.
        asking = {mine[0].block for mine in _paragraphs(reading.sentences) if mine[-1].asks and len(mine) <= _ASKING}
    if len(asking) <= sum(1 for section in reading.sections if not section.guessed and section is not reading.title):
        return frozenset()
    own: set[int] = set()
    for one in reading.sentences:
        before = max((at for at in asking if at < one.block), default=-1)
        if before >= 0 and one.block not in asking and not OWN.isdisjoint(one.words):
            own.add(before)
    return frozenset(asking) if len(asking) >= _ASKED and 2 * len(own) > len(asking) else frozenset()


def is_talk(reading: Reading, kind: str) -> bool:
    """Whether several people speak in turn, so that nothing may be told of it without who said it."""
    return kind in ("interview", "transcript") and (len(reading.speakers) > 1 or bool(asked_in_turn(reading)))


_SO: Final = re.compile(r"^(?:(?:So|And|But|Well|Now|OK|Okay|Right|Also|Und|Also|Et|Alors|Y|Entonces)\b,?\s+)+")
_QUESTION: Final = (4, 30)
_FEW: Final = 6
"""Words of a question that has a pronoun for what was said before: `What happened to it?`"""
_ENOUGH, _ANSWER, _ANSWERS = 14, 45, 6
"""Words of a question that is told; from which an answer says something, and of which it has no more; and how many."""


def _interview(reading: Reading, ranks: Ranks) -> Iterator[Part]:
    """What was asked, and with what the answer to it begins. That leans on its question, which stands above it; a
    question that leans on what was said before is left out."""
    found: list[tuple[float, Entry]] = []
    guests = len(reading.speakers) - (reading.host in reading.speakers)
    for question, span, places, answer in _turns(reading):
        turns = [_beginning(list(turn)) for _, turn in groupby(answer, key=lambda one: one.speaker)]
        told = [one for turn in turns for one in turn]
        least, most = _QUESTION
        fits = least <= len(question.split()) <= most and any(one.sound for one in told)
        said = [_words_of(reading, turn, named=guests > 1) for turn in turns if turn]
        bare = _SO.sub("", question)
        back = len(bare.split()) <= _FEW and not BACK.isdisjoint(tokens(bare))
        if fits and not back and not leans_back(bare, reading.known.code):
            spans = (span, *(each for _, places_of in said for each in places_of))
            worth = max(ranks[one.index] for one in told)
            text = " ".join(words for words, _ in said)
            found.append((worth, Entry(text, spans, (*places, *(one.index for one in told)), under=question)))
    best = sorted(found, key=lambda pair: -pair[0])[:_ANSWERS]
    yield Part("asked", tuple(sorted((entry for _, entry in best), key=lambda entry: entry.spans)))


def _beginning(answer: Sequence[Sentence]) -> list[Sentence]:
    """With what an answer begins, until it has said something."""
    told: list[Sentence] = []
    for one in answer:
        size = sum(each.size for each in told)
        if size >= _ENOUGH or size + one.size > _ANSWER or one.asks:
            break
        told.append(one)
    return told


def _words_of(reading: Reading, turn: Sequence[Sentence], *, named: bool) -> tuple[str, tuple[Span, ...]]:
    """What somebody said; where several answer, with their name before it."""
    text, spans = " ".join(one.text for one in turn), tuple(span for one in turn for span in one.spans)
    name = turn[0].speaker
    at = reading.text.rfind(name, 0, turn[0].start) if named else -1
    return (f"{name}: {text}", ((at, at + len(name)), *spans)) if at >= 0 else (f"{name}: " * named + text, spans)


def _turns(reading: Reading) -> Iterator[tuple[str, Span, tuple[int, ...], list[Sentence]]]:
    """Each question with its place, the sentences it has, and what was answered."""
    if printed := asked_in_turn(reading):
        for at, until in pairwise((*sorted(printed), len(reading.layout.blocks))):
            block = reading.layout.blocks[at]
            asked = clean(reading.layout.plain[block.start : block.end])
            places = tuple(one.index for one in reading.sentences if one.block == at)
            answer = [one for one in reading.sentences if at < one.block < until]
            yield asked, (block.start, block.end), places, answer
        return
    question: Sentence | None = None
    answer = []
    for one in reading.sentences:
        if one.speaker == reading.host:
            if answer and question is not None:
                yield question.text, question.spans[0], (question.index,), answer
            answer = []
            # Something that is held before somebody asks as well: `In the book you write that …`
            question = one if one.asks or (one.first and one.sound and one.ended) else None
        elif one.speaker:
            answer.append(one)
    if question is not None:
        yield question.text, question.spans[0], (question.index,), answer


# -- questions of its own


_FREQUENT: Final = re.compile(rf"\b(?:{signs('frequent')})\b", re.I)


def asks_itself(reading: Reading) -> bool:
    """Whether it is a list of frequent questions: most of its headings ask, or it says so."""
    asking = sum(1 for section in reading.sections if section.title.endswith("?"))
    if asking > 2 and 2 * asking >= len(reading.sections):
        return True
    return any(_FREQUENT.search(section.title) for section in reading.sections[:3]) and len(_asked(reading)) > 2


def _paragraphs(sentences: Sequence[Sentence]) -> list[list[Sentence]]:
    return [list(mine) for _, mine in groupby(sentences, key=lambda one: one.block)]


def _asked(reading: Reading) -> list[tuple[Sentence, list[Sentence]]]:
    """Questions in a paragraph or a line of their own, each with what stands behind it."""
    found: list[tuple[Sentence, list[Sentence]]] = []
    question: Sentence | None = None
    for mine in _paragraphs(reading.sentences):
        if all(one.asks for one in mine):
            # Several are a list of what is asked, with the answers further down.
            question = mine[0] if len(mine) == 1 else None
        elif (
            mine[0].asks
            and reading.text[mine[0].end :].lstrip(" \t*_")[:1] == "\n"
            and any(one.sound for one in mine[1:])
        ):
            found.append((mine[0], mine[1:]))
            question = None
        elif question is not None and any(one.sound for one in mine):
            found.append((question, mine))
            question = None
    return found


def _questions(reading: Reading, ranks: Ranks) -> Iterator[Part]:
    """What it asks, each with the beginning of its answer: that leans on the question, which stands above it."""
    entries: list[Entry] = []
    if not any(section.title.endswith("?") for section in reading.sections):
        for one, mine in _asked(reading):
            entries += _answered(reading, one.text, one.spans, (one.index,), mine)
    for title, span, mine in _by_section(reading):
        if title.endswith("?"):
            entries += _answered(reading, title, (span,), (), mine)
    yield Part("asked", tuple(entries))


_NOD: Final = 4
"""Words: `No.` says something behind a question only."""


def _answered(
    reading: Reading, question: str, spans: tuple[Span, ...], places: tuple[int, ...], answer: Sequence[Sentence]
) -> Iterator[Entry]:
    """A question with the first paragraph of its answer, as far as it says something. What takes that back behind it
    is told too, or nothing is."""
    first = [one for one in answer if one.block == answer[0].block and one.kind in ("prose", "item")]
    told = list(takewhile(lambda one: one.sound or one.size < _NOD, _beginning(first)))
    after = first[len(told)] if len(told) < len(first) else None
    if told and after is not None and sets_against(after, reading.known):
        told = [*told, after] if sum(one.size for one in told) + after.size <= _ANSWER + _ENOUGH else []
    if any(one.sound for one in told):
        text = " ".join(one.text for one in told)
        every = (*spans, *(span for one in told for span in one.spans))
        yield Entry(text, every, (*places, *(one.index for one in told)), under=question)


# -- sections


def _by_section(reading: Reading) -> Iterator[tuple[str, Span, list[Sentence]]]:
    own = any(not section.guessed for section in reading.sections)
    for number, section in enumerate(reading.sections):
        mine = [one for one in reading.sentences if one.section == number]
        if mine and section is not reading.title and not (section.guessed and own):
            yield section.title, section.span, mine


_RECOMMENDED: Final = re.compile(rf"\W*[\d.]*\W*(?:[\w-]+ ){{0,2}}(?:{signs('recommendations')})\W*$", re.I)


def _recommended(reading: Reading, ranks: Ranks) -> Iterator[Part]:
    """What a report advises, in a section that is called so."""
    advised = [
        _line(one)
        for title, _, mine in _by_section(reading)
        if _RECOMMENDED.match(title)
        for one in mine
        if one.sound and not one.asks and (one.kind == "item" or not one.leans)
    ]
    yield Part("recommendations", tuple(advised))


def _newsletter(reading: Reading, ranks: Ranks) -> Iterator[Part]:
    entries = []
    for title, span, mine in _by_section(reading):
        good = [one for one in mine if one.sound and not one.asks and one.size >= 6]
        if not any(one.kind == "prose" or one.ended for one in mine):
            listed = _together(mine[:_LISTED], "; ")
            entries.append(replace(listed, spans=(span, *listed.spans), under=title))
        elif good:
            # Each begins with what it is about.
            best = next((one for one in good[:3] if not one.leans), good[0])
            entries.append(Entry(best.text, (span, *best.spans), (best.index,), under=title))
    yield Part("items", tuple(entries) if len(entries) > 1 else ())


_LISTED: Final = 4
"""Of the dates and the like in an item: what is told of it."""
_GROUPS: Final = 6
"""Of a list: what is told of it; how many there are is said beside."""


def _list(reading: Reading, ranks: Ranks) -> Iterator[Part]:
    groups: list[Entry] = []
    twice = Counter(section.title for section in reading.sections)
    for title, span, mine in _by_section(reading):
        if len(groups) == _GROUPS:
            break
        # What an entry begins with names it; what else stands under it is told of it.
        told = [one for one in mine if any(word.isalpha() for word in one.words) and is_clean(one.text)]
        if not told:
            continue
        named = [mine[0] for mine in _paragraphs(told)[:3]]
        said = ", ".join(one.text.rstrip(".,;") for one in named) + (", …" if len(told) > len(named) else "")
        places = tuple(one.index for one in named)
        under = title if twice[title] == 1 else _with_what_stands_above(reading, mine[0].section)
        groups.append(Entry(said, (span, *(one.spans[0] for one in named)), places, under=under))
    if groups:
        yield Part("groups", tuple(groups))
        return
    items = [one for one in reading.sentences if one.kind == "item" and one.first]
    yield Part("items", tuple(_line(one) for one in items[:_GROUPS]))


def _with_what_stands_above(reading: Reading, at: int) -> str:
    """`2.1: Fixed`: a heading that comes again means something with the one above it only."""
    section = reading.sections[at]
    above = [one.title for one in reading.sections[:at] if one.level < section.level and one is not reading.title]
    return f"{above[-1]}: {section.title}" if above else section.title


INGREDIENTS: Final = re.compile(rf"^\W*(?:{signs('ingredients')})\b\s*:?", re.I | re.M)
_STEPS: Final = re.compile(rf"\W*(?:{signs('steps')})\b", re.I)


def _together(sentences: Sequence[Sentence], between: str) -> Entry:
    said = between.join(one.text.rstrip(".,;") if between != " " else one.text for one in sentences)
    spans = tuple(span for one in sentences for span in one.spans)
    return Entry(INGREDIENTS.sub("", said).strip(), spans, tuple(one.index for one in sentences))


def _recipe(reading: Reading, ranks: Ranks) -> Iterator[Part]:
    """What goes into it, and all that is done, in order."""
    needed: list[Entry] = []
    steps: list[Entry] = []
    for title, _, mine in _by_section(reading):
        paragraphs = _paragraphs(mine)
        items = [told for told in paragraphs if told[0].kind == "item"]
        if INGREDIENTS.match(title) and items:
            needed.append(_together([one for told in items for one in told], ", "))
        elif _STEPS.match(title):
            steps += [_together(told, " ") for told in items or paragraphs]
    if not needed and not steps:
        # In plain text: from the label on what is needed, line by line, and then whole sentences.
        listed = next((one.index for one in reading.sentences if INGREDIENTS.match(one.text)), len(reading.sentences))
        done = next(
            (one.index for one in reading.sentences[listed:] if one.sound and one.ended), len(reading.sentences)
        )
        needed += [_together(reading.sentences[listed:done], ", ")] if listed < done else []
        steps += [_line(one) for one in reading.sentences[done:] if one.sound]
    yield Part("ingredients", tuple(needed), whole=True)
    yield Part("steps", tuple(steps), whole=True)


_FINDERS: Final[dict[str, Callable[[Reading, Ranks], Iterator[Part]]]] = {
    "meeting": _meeting,
    "interview": _interview,
    "newsletter": _newsletter,
    "list": _list,
    "recipe": _recipe,
}


def spans_of(parts: Sequence[Part]) -> list[list[list[list[int]]]]:
    return [[[list(span) for span in one.spans] for one in part.entries] for part in parts]
