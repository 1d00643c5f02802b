"""The summary artifact: ContentSummary with its evidence, from one reading of a text."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from weft.models.embedded.clauses import capital, finished, is_command, main_clause, unfinished
from weft.models.embedded.compose import Line, fits, line_of
from weft.models.embedded.kinds import category, detected_source
from weft.models.embedded.material import asks_openly
from weft.models.embedded.profile import Topic, parse_topics, relevance
from weft.models.embedded.quoting import as_values, important_quotes, times
from weft.models.embedded.ranking import leans
from weft.models.embedded.reading import Reading, read
from weft.models.embedded.sentence import Sentence
from weft.models.embedded.telling import Teller
from weft.models.embedded.themes import Theme
from weft.models.embedded.words import ANY_WORD, tokens

WORDS_PER_MINUTE: Final = 238
_TAGS, _THEMES, _IDEAS, _RELATED = 14, 7, 6, 12
_FEW_TAGS: Final = 6
_UNTAGGED: Final = re.compile(r"[^\w\s\-'’·.]+|_+|\.(?!\d)|(?<!\d)\.")
_NAME_HEADINGS: Final = frozenset(
    ("NAME", "BEZEICHNUNG", "NOM", "NOMBRE", "NOME", "NAAM", "ИМЯ", "НАЗВАНИЕ", "名前", "名称")
)
_FILE_NAME: Final = re.compile(r"^\S+\.\w{1,5}$|^[A-Za-z0-9_-]+$|^(?:untitled|readme|document|content|index)$", re.I)


def summary(
    text: str,
    *,
    content_id: str,
    title: str = "",
    profile_topics: Sequence[Mapping[str, Any]] = (),
    source_kind: str = "",
    cues: Sequence[Mapping[str, Any]] | None = None,
) -> dict[str, Any]:
    """ContentSummary of a text. ValueError for a text without any word, or topics that can't be meant."""
    reading = read(text)
    topics = parse_topics(profile_topics)
    teller = Teller(reading)
    short, told = teller.short()
    headline = _headline(teller, title, short)
    points, themes = teller.points(told), _themes(reading)
    core = _core_ideas(teller, themes)
    quotes = important_quotes(reading)
    labels = [line.text for line in themes]
    tags = _tags(reading, topics, headline.text)
    kind = category(reading)
    lines = {
        "headline": headline,
        "tldr": short,
        "overview": teller.overview(told),
        "detailedAnalysis": teller.analysis(),
        "narrativeFlow": teller.course(),
        "context": teller.setting(kind),
    }
    return {
        "contentId": content_id,
        **{name: line.text for name, line in lines.items()},
        "bullets": [line.text for line in points],
        "tags": tags,
        "sentiment": reading.sentiment,
        "category": kind,
        "score": {"relevanceToUser": relevance(topics, [*tags, *labels])},
        "keyThemes": labels,
        "coreIdeas": [value for value, _ in core],
        "importantQuotes": as_values(quotes, times(reading, cues)),
        "relatedConcepts": _related(reading, [*labels, *tags]),
        "detectedSource": detected_source(reading, kind, source_kind),
        "language": reading.language.code,
        "readability": _readability(reading),
        "wordCount": reading.word_count,
        "readingTimeMinutes": reading_minutes(reading.word_count),
        "evidence": {
            **{name: line.evidence for name, line in lines.items()},
            "bullets": [line.evidence for line in points],
            "keyThemes": [line.evidence for line in themes],
            "coreIdeas": [line.evidence for _, line in core],
            "importantQuotes": [[list(span) for span in (quote.span, quote.around) if span] for quote in quotes],
        },
    }


def reading_minutes(words: int) -> int:
    return max(1, int(words / WORDS_PER_MINUTE + 0.5))


def _readability(reading: Reading) -> dict[str, Any]:
    found = reading.readability
    return {
        "measure": found.measure,
        "score": found.score,
        "level": found.level,
        "wordsPerSentence": found.words_per_sentence,
    }


def _headline(teller: Teller, title: str, short: Line) -> Line:
    """The title, where it says something; else the document's own heading; else its best sentence as a title."""
    reading = teller.reading
    given = " ".join(title.split())
    if _is_telling(given) and _numbers_known(given, reading.text):
        place = reading.text.find(given)
        return Line(fits(given, 200), ((place, place + len(given)),) if place >= 0 else ())
    own = reading.title
    if own is not None and own.title.upper() in _NAME_HEADINGS and len(reading.sentences[0].text) >= 10:
        # A page of a manual says in its first line what it is about.
        return Line(fits(reading.sentences[0].text, 200), reading.sentences[0].spans)
    if own is not None and _is_telling(own.title):
        return Line(fits(own.title, 200), (own.span,))
    first = reading.sentences[0]
    if own is None and first.asks and asks_openly(first) and len(first.text) >= 10:
        return Line(fits(first.text, 200), first.spans)
    best = [one for one in teller.standing() if one.ended and not is_command(one.text, reading.language)]
    early = max(4, len(reading.sentences) // 12)
    for sentence in sorted(best, key=lambda one: (-one.rank - 0.3 * (one.index <= early), one.index))[:8]:
        clause = main_clause(sentence.text, 110, reading.language)
        if len(clause) >= 10:
            if own is None or own.level > 1 or len(own.title) > 60:
                return Line(capital(clause), sentence.spans)
            return Line(f"{own.title}{teller.writer.colon}{clause}", (own.span, *sentence.spans))
    if own is not None and own.level == 1 and len(own.title) >= 10:
        return Line(fits(own.title, 200), (own.span,))
    text = unfinished(fits(short.text, 200))
    return Line(text, short.spans) if len(text) >= 10 else teller.writer.at_least(Line(finished(text), short.spans), 10)


def _is_telling(title: str) -> bool:
    spoken = title.isascii() is False and len(title) >= 10
    return len(title) >= 10 and not _FILE_NAME.match(title) and (spoken or len(title.split()) >= 3)


def _numbers_known(title: str, text: str) -> bool:
    return all(number in text for number in re.findall(r"\d+", title))


def _themes(reading: Reading) -> list[Line]:
    """Three to seven: the themes, then whatever else names something, then the words that are there."""
    found: dict[str, Line] = {}
    for line in _theme_candidates(reading):
        if len(found) >= (_THEMES if len(found) < len(reading.themes) else 3):
            break
        key = line.text.lower()
        if key not in found and ANY_WORD.search(line.text):
            found[key] = line
    return list(found.values())


def _theme_candidates(reading: Reading) -> Iterator[Line]:
    for theme in reading.themes:
        yield Line(theme.label, _places(reading, theme))
    for phrase in reading.phrases:
        yield Line(phrase.label[0], reading.sentences[phrase.label[1]].spans)
    for section in reading.sections:
        yield Line(fits(section.title, 80), (section.span,))
    for sentence in reading.sentences[:20]:
        for word in sentence.surface:
            yield line_of(sentence, fits(word, 80))
    whole = (reading.sentences[0].start, reading.sentences[-1].end)
    for form in Teller(reading).writer.forms():
        yield Line(form, (whole,))


def _places(reading: Reading, theme: Theme) -> tuple[tuple[int, int], ...]:
    places = dict.fromkeys((theme.phrase.label[1], *theme.sentences[:6]))
    return tuple(dict.fromkeys(span for at in places for span in reading.sentences[at].spans))


def _core_ideas(teller: Teller, themes: Sequence[Line]) -> list[tuple[dict[str, Any], Line]]:
    """Each theme with the sentence that explains it best, and cases of it."""
    reading, used = teller.reading, set[int]()
    found: list[tuple[dict[str, Any], Line]] = []
    for theme in reading.themes[:_IDEAS]:
        mine = [reading.sentences[at] for at in theme.sentences[:24] if at not in used]
        good = [one for one in mine if one.sound and not one.asks and len(teller.statement(one).text) >= 10]
        if not good:
            continue
        best = max(good, key=lambda one: (_explains(one, theme, teller), -one.index))
        if leans(best, reading.language) and len(found) > 1:
            # What can't be understood alone explains nothing.
            continue
        used.add(best.index)
        examples = [one for one in good if one is not best and _is_case(one, reading)][:2]
        used.update(one.index for one in examples)
        lines = [teller.statement(one) for one in (best, *examples)]
        value: dict[str, Any] = {"concept": theme.label, "explanation": lines[0].text}
        if examples:
            value["examples"] = [line.text for line in lines[1:]]
        found.append((value, teller.writer.row(lines)))
    if found:
        return found
    sentence = max(reading.sentences, key=lambda one: (one.sound, one.rank, -one.index))
    line = teller.writer.at_least(line_of(sentence, fits(finished(sentence.text), 400)), 10)
    return [({"concept": themes[0].text, "explanation": line.text}, line)]


def _explains(sentence: Sentence, theme: Theme, teller: Teller) -> float:
    defines = sentence.index in teller.reading.argument.definitions
    early = theme.phrase.key[0] in sentence.terms[:3]
    why = bool(sentence.roles & {"cause", "claim", "contrast"})
    tied = leans(sentence, teller.language)
    shown = bool(sentence.roles & {"scene"}) or not (why or defines or sentence.roles)
    return sentence.rank + 0.3 * defines + 0.2 * early + 0.2 * why - 0.5 * tied - 0.2 * shown


def _is_case(sentence: Sentence, reading: Reading) -> bool:
    if leans(sentence, reading.language):
        return False
    return "example" in sentence.roles or any(number.sentence == sentence.index for number in reading.numbers[:60])


def _tags(reading: Reading, topics: Sequence[Topic], headline: str) -> list[str]:
    """Small letters, no signs; a topic of the person is among them when the text really speaks of it."""
    found: dict[str, None] = {}
    for topic in topics:
        times_named = sum(1 for sentence in reading.sentences if topic.named_in(sentence.text))
        if times_named >= 2 or topic.named_in(headline) or (times_named and len(reading.sentences) <= 8):
            found.setdefault(_tag(topic.name))
    names = [name.text for name in reading.names if name.count > 2 or name.kind in ("organisation", "place")]
    people = {part for name in reading.names if name.kind == "person" for part in name.text.split()}
    best = [phrase for phrase in reading.phrases[: _TAGS + 10] if phrase.count > 1 or len(phrase.key) > 1]
    best = best if len(best) > 3 else list(reading.phrases[:_FEW_TAGS])
    subjects = [phrase.label[0] for phrase in best if not people.issuperset(phrase.text.split())]
    for text in [*subjects[: _TAGS - 3], *names[:3]]:
        found.setdefault(_tag(text))
    tags = [tag for tag in found if tag][:_TAGS]
    return tags or [_tag(word) for word in tokens(reading.sentences[0].text)[:3] if _tag(word)] or ["text"]


def _tag(text: str) -> str:
    tag = " ".join(_UNTAGGED.sub(" ", text).lower().split())
    return tag if len(tag) <= 60 else ""


def _related(reading: Reading, known: Sequence[str]) -> list[str]:
    taken = {label.lower() for label in known}
    rest = [phrase for phrase in reading.phrases if phrase.text.lower() not in taken]
    several = [phrase.text for phrase in rest if len(phrase.key) > 1]
    single = [phrase.label[0] for phrase in rest if len(phrase.key) == 1 and (phrase.count > 1 or phrase.full)]
    return [label for label in dict.fromkeys([*several, *single]) if label.lower() not in taken][:_RELATED]
