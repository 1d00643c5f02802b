"""The summary artifact: what a document says, in its own sentences, none of them twice, and far fewer than it has.

`room(words)` is how many words all artifacts together may have; the page adds a few labels. Every line is a run of the
source: a line whose words can't be found there again is left out, never the artifact.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from weft.language.spoken import announces
from weft.models.embedded.kind_parts import asks_itself, find_parts, is_talk, spans_of
from weft.models.embedded.kinds import abstract, category, detected_source, stanzas
from weft.models.embedded.layout import DATELINE, DECK, Span
from weft.models.embedded.lexicon import sign_words, signs
from weft.models.embedded.profile import ProfileTopic, parse_topics, relevance
from weft.models.embedded.quotes import Quote, as_values, choose
from weft.models.embedded.ranking import Meaning, Ranks, pick, rank
from weft.models.embedded.reading import Reading, Sentence, clean, is_post, opens_with_speech, read, says_unknown
from weft.models.embedded.tables import cells
from weft.models.embedded.themes import find_themes
from weft.models.embedded.words import terms, tokens

WORDS_PER_MINUTE: Final = 238
_PAGE: Final = 330
"""Words of the artifacts for an article: with labels, quotes' speakers and headings that is one page."""
_SHARE: Final = 0.55
_SHARES: Final[Mapping[str, float]] = {"recipe": 0.85, "meeting": 0.7}
"""Half a recipe is none, and nobody is told of some decisions."""
_LITTLE: Final = 45
"""Words: what has no more is told whole."""
_FIRST: Final = 70
"""The most words of a first sentence that is taken although it fills more than its share."""
_EARLY, _NAMED = 5, 3
"""Sentences among which news begins, and words of the title from which one of them is surely about it."""
_SHORT, _SHORT_OF_NEWS, _POINT = 62, 40, 40
"""The most words of the short version, and of one point. News says in its first sentence or two what happened; what
comes next are the points."""
_POINT_OF_NEWS, _RUN = 52, 60
"""Reports have long sentences; and what leans on one is told with it, up to so many words of both."""
_SPEAKERS: Final = 3
_BEGUN: Final = 10
"""Words of a sentence with which a text is headed that has no title; it is told whole below."""
_DATE_WORDS: Final = 3
_TITLE: Final = 18
"""Words of a sentence that may stand as a title."""
_SMALL: Final = 3
"""Letters of a word that any text may have."""
_LEAST_POINT, _LEAST_POINT_OF_NEWS, _NO_POINT = 9, 6, 4
"""Words: what has fewer is seldom what a text says; a report says it in a few."""
_FILE_NAME: Final = re.compile(r"^\S+\.\w{1,5}$|^[A-Za-z0-9_-]+$|^(?:untitled|readme|document|content|index)$", re.I)
_PLAIN_NAME: Final = re.compile(r"[^\W\d_][^\W\d_]?[a-zà-ÿ]{2,}(?:[ _-](?:README|[^\W\d_]?[a-zà-ÿ]+))*$")
"""Words, as people name a file; no number of a film."""
_NAMELESS: Final = re.compile(
    r"(?:untitled|document|content|index|captions?|subtitles?|transcript|video|audio|table|data|text|notes?|draft|page)"
    r"(?:\.\w{1,5})?$",
    re.I,
)
_PAGE_HEAD: Final = re.compile(r"^(\S+\(\d\w?\)) (?:.*\1$|Manual Page$)")
"""The line over every page of a manual."""
_MAN_NAME: Final = re.compile(r"^(?:NAME|BEZEICHNUNG|NOM|NOMBRE)$")
_DATED: Final = re.compile(
    r"(?:\w+,? )?\d{1,2}\.? \w+ \d{4}$|\w[\w ]{1,30}, (?:the )?\d{1,2}\.? \w+(?: \d{4})?$"
    r"|\w+ \d{1,2}(?:st|nd|rd|th)?,? \d{4}$|\d{4}-\d\d-\d\d$|\w+ \d{4}$"
)
_FIRST_LINE: Final = re.compile(
    r"\s*(?:(?:Rezept|Recipe|Recette|Receta):\s+)?(?P<line>[^\W\d_][^\n.:!?]{8,78}[^\n.:!?,;\s])[ \t]*\n"
)
"""What minutes in plain text are called."""
_SUBJECT: Final = re.compile(r"^Subject: (?:(?:Re|Fwd?|AW|WG): )*(?P<subject>\S.*\S)[ \t]*\n", re.M)
"""The head of a letter that was mailed."""
_OF_ITSELF: Final = re.compile(signs("of_itself"))
"""A sentence in which a text says what it is."""
_SOON: Final = 30
"""Sentences within which it does."""
_LEAD_IN: Final = re.compile(r"^(?:[—–]+\s*|-+\s+)")
"""A dash before a sentence, and no option that it begins with."""
_OPENING: Final = ("news", "article", "essay", "letter", "newsletter", "paper", "manual", "note", "recipe", "story")
"""Kinds that say in their first sentence what they are about."""
_TOLD_FIRST: Final = ("news", "article", "essay", "note", "recipe", "story")
"""Kinds whose short version is how they begin: a sentence from further down says less beside it."""
_ALL_ALONG: Final = ("article", "essay", "story", "letter", "interview", "transcript", "captions", "note")
"""Kinds that say something over their whole length; news, papers and manuals say the most first."""
_SAME_EVENT: Final[Mapping[str, float]] = {"limit": 0.65, "sameness": 0.2}
"""The sentences of a report are about one event, so that they share its words and still say something new."""
_APART: Final = 6.0
_IN_ONES_OWN_VOICE: Final = ("essay", "letter", "story", "newsletter", "note", "captions", "transcript", "interview")
"""Kinds in which `I` is whoever writes; elsewhere a reader of the kit can't tell."""
_OWN_VOICE: Final = sign_words("own_voice")
_SENTENCE_BY_SENTENCE: Final = (
    "news", "newsletter", "letter", "note", "meeting", "transcript", "captions", "interview", "recipe", "poem",
)  # fmt: skip
"""Kinds whose paragraphs are no units of what they say."""
_ARTICLE: Final = 1500
_PARTS: Final[Mapping[str, float]] = {
    "interview": 0.7, "newsletter": 0.8, "meeting": 0.9, "list": 0.9, "recipe": 0.9,
}  # fmt: skip
"""Which share of a kit is what its kind is made of."""
_UNTAGGED: Final = re.compile(r"[^\w\s\-'’·.]+|_+|\.(?!\d)")


def room(words: int, kind: str = "") -> int:
    """How many words a kit of a source may have: a little over half of it, a page for an article, more for a book."""
    return int(
        min(max(_SHARES.get(kind, _SHARE) * words, min(words, _LITTLE)), _PAGE + max(0, words - 1500) / 60, 2 * _PAGE)
    )


def summary(
    text: str,
    *,
    content_id: str,
    title: str = "",
    profile_topics: Sequence[Mapping[str, Any]] = (),
    source_kind: str = "",
    cues: Sequence[Mapping[str, Any]] | None = None,
    meaning: Meaning | None = None,
) -> dict[str, Any]:
    """ContentSummary of a text. ValueError for a text without any word, or topics that can't be meant."""
    reading = read(text)
    topics = parse_topics(profile_topics)
    kind = category(reading, source_kind)
    ranks = rank(reading, kind, title, meaning)
    teller = _Teller(reading, kind, ranks, title)
    headline, headline_spans = teller.headline()
    asks = asks_itself(reading)
    told_later = kind in ("meeting", "interview", "newsletter", "recipe")
    first = teller.introduction() if asks else [] if told_later else teller.short()
    share = _PARTS.get(kind, 0.8 if asks else 0.35)
    parts = find_parts(reading, kind, ranks, teller.used, int(share * teller.room))
    teller.spend(sum(len(f"{one.text} {one.under}".split()) for part in parts for one in part.entries))
    later = kind in ("interview", "recipe") or (not parts and not asks)
    short = first or (teller.short() if later else [])
    # What was spoken is quoted before it is told.
    early = teller.quotes() if kind in ("interview", "transcript", "captions") else []
    entries = sum(len(part.entries) for part in parts)
    more = (
        []
        if (asks and entries) or (kind in ("recipe", "newsletter") and entries > 3)
        else teller.points(fewer=entries > 3)
    )
    # Whoever takes the points alone has the main one too; a page shows each statement once.
    points = sorted([*_runs(short), *_runs(more)], key=lambda run: run[0].index)
    said = early or teller.quotes()
    themes = find_themes(reading, 5 if reading.word_count > 120 else 3)
    labels = [theme.label for theme in themes]
    tags = _tags(labels, [topic.name for topic in topics if _speaks_of(reading, topic, headline)])
    note, between = teller.note(), _between(kind, reading, short)
    return {
        "contentId": content_id,
        "headline": headline,
        "tldr": between.join(_told(one) for one in short),
        "bullets": [between.join(_told(one) for one in run) for run in points],
        **({"note": note} if note else {}),
        **({"parts": [part.value(reading) for part in parts]} if parts else {}),
        "importantQuotes": as_values(said, reading, cues),
        "keyThemes": labels,
        "tags": tags,
        "sentiment": _sentiment(reading),
        "category": kind,
        **({"score": {"relevanceToUser": relevance(topics, [*tags, *labels])}} if topics else {}),
        "detectedSource": detected_source(reading, kind, source_kind),
        "language": reading.known.code,
        "wordCount": reading.word_count,
        "readingTimeMinutes": reading_minutes(reading.word_count),
        "evidence": {
            "headline": [list(span) for span in headline_spans],
            "tldr": [list(span) for one in short for span in one.spans],
            "bullets": [[list(span) for one in run for span in one.spans] for run in points],
            "importantQuotes": [[list(one.span)] for one in said],
            "keyThemes": [[list(reading.sentences[at].spans[0]) for at in theme.sentences[:3]] for theme in themes],
            **({"parts": spans_of(parts)} if parts else {}),
        },
    }


def reading_minutes(words: int) -> int:
    return max(1, int(words / WORDS_PER_MINUTE + 0.5))


def _between(kind: str, reading: Reading, short: Sequence[Sentence]) -> str:
    """What stands between two sentences; where nobody has set stops, one must see that something is left out."""
    return " … " if kind == "captions" else " " if reading.known.spaced else ""


def _runs(sentences: Iterable[Sentence]) -> list[list[Sentence]]:
    """Each by itself, and what leans on the sentence before it together with that."""
    found: list[list[Sentence]] = []
    for one in sentences:
        if found and one.leans and one.index == found[-1][-1].index + 1:
            found[-1].append(one)
        else:
            found.append([one])
    return found


def _told(sentence: Sentence) -> str:
    return _LEAD_IN.sub("", sentence.text)


class _Teller:
    def __init__(self, reading: Reading, kind: str, ranks: Ranks, title: str) -> None:
        self.reading = reading
        self.kind = kind
        self.room = room(reading.word_count, kind)
        self.used: set[int] = set()
        self._ranks = ranks
        self._title = " ".join(title.split())
        self._talk = is_talk(reading, kind)
        self._left = self.room
        host = reading.host
        sound = [one for one in reading.sentences if one.sound and (not host or one.speaker != host)]
        standing = [one for one in sound if not one.leans and not one.asks]
        self._around = _before_the_place(reading) if kind == "news" else frozenset()
        posts = kind not in ("manual", "code", "list", "letter", "note")
        # That something is not known is an idea for somebody, not what the document says.
        plain = [one for one in standing if not self._speaks(one) and not says_unknown(one, reading.known)]
        plain = [one for one in plain if not (posts and is_post(one.text)) and one.index not in self._around]
        plain = [one for one in plain if not one.quoted] or plain
        if kind not in _IN_ONES_OWN_VOICE:
            plain = [one for one in plain if _OWN_VOICE.isdisjoint(one.words)] or plain
        standing = plain if len(plain) > 1 else standing
        if kind not in _SENTENCE_BY_SENTENCE:
            own = [one for one in standing if reading.brings_its_subject(one, self._title)]
            standing = own if len(own) > 1 else standing
        told = [one for one in reading.sentences if one.kind in ("prose", "item")]
        self._pool = standing if len(standing) > 1 else sound or told or list(reading.sentences)
        own = [reading.sentences[at] for at in abstract(reading)]
        self._abstract = own or [one for one in reading.sentences if one.label == DECK and one.sound]

    def _speaks(self, one: Sentence) -> bool:
        return opens_with_speech(one.text, self.reading.known)

    def spend(self, words: int) -> None:
        self._left = max(0, self._left - words)

    def _take(self, sentences: Sequence[Sentence]) -> list[Sentence]:
        self.used.update(one.index for one in sentences)
        self.spend(sum(one.size for one in sentences))
        return list(sentences)

    # -- headline

    def headline(self) -> tuple[str, list[Span]]:
        """The title, where it says something; else the subject of a letter, the document's own heading, or its best
        short sentence."""
        reading = self.reading
        own = reading.title
        dated = own is not None and _DATED.match(own.title)
        of_meeting = self.kind == "meeting" and own is not None and len(own.title.split()) > _DATE_WORDS
        if dated and not of_meeting:
            own = None
        if (
            _is_telling(self._title)
            and not self._is_herald()
            and self._is_of_it()
            and all(number in reading.text for number in re.findall(r"\d+", self._title))
        ):
            place = reading.text.find(self._title)
            return self._headed(self._title, [(place, place + len(self._title))] if place >= 0 else [])
        if subject := _SUBJECT.search(reading.text, 0, reading.layout.body):
            return self._headed(subject["subject"], [subject.span("subject")])
        if own is not None and any(_MAN_NAME.match(one.title) for one in reading.sections[:2]):
            # A page of a manual says in its first line what it is about.
            self.used.add(0)
            return self._headed(reading.sentences[0].text, list(reading.sentences[0].spans))
        if own is not None and (own.level == 1 or len(own.title.split()) > 1):
            return self._headed(own.title, [own.span])
        if self._is_named():
            return self._headed(self._title, [])
        if first := self._first_line():
            return self._headed(*first)
        if self.kind == "data":
            return self._of_table()
        if self._has_file_name():
            return self._headed(self._title, [])  # neither a piece of what somebody says nor a heap of words is better
        if self._talk and reading.speakers:
            return self._headed(", ".join(reading.speakers[:_SPEAKERS]), [])
        return self._by_a_sentence()

    def _is_herald(self) -> bool:
        """Whether the title is what the text has over its own: `Press release`."""
        first = self.reading.layout.blocks[0]
        return first.kind == "aside" and clean(self.reading.text[first.start : first.end]) == self._title

    def _by_a_sentence(self) -> tuple[str, list[Span]]:
        # What somebody is told to have said is theirs: as a title it would be the document's.
        says = self.reading.known.saying | self.reading.known.reporting
        own_words = [one for one in self._pool if says.isdisjoint(one.words) and not one.leans] or self._pool
        if self.kind in _OPENING or self.kind == "captions":
            # A sentence that stands here is missing below: news without a title lost the one that says most.
            words = own_words[0].text.split()
            if len(words) > _BEGUN and self.reading.known.spaced:
                return self._headed(" ".join(words[:_BEGUN]).rstrip(" ,;:–—-") + " …", list(own_words[0].spans))
        early = [one for one in own_words if one.size <= _TITLE] or own_words
        best = max(early, key=lambda one: (self._ranks[one.index], -one.index))
        self.used.add(best.index)
        return self._headed(best.text.rstrip(".。") if best.size <= 24 else best.text, list(best.spans))

    def _has_file_name(self) -> bool:
        headed = any(section.title == self._title for section in self.reading.sections)
        return bool(_PLAIN_NAME.match(self._title)) and not _NAMELESS.match(self._title) and not headed

    def _of_table(self) -> tuple[str, list[Span]]:
        """A table is called by the name of its file, and else by its columns: its rows say nothing about it."""
        first = next((one for one in self.reading.sentences if one.kind == "table"), self.reading.sentences[0])
        if self._title and not _NAMELESS.match(self._title):
            return self._headed(self._title, [])
        names = [name for name in cells(first.text) if name]
        return self._headed(", ".join(names) or first.text, list(first.spans))

    def _first_line(self) -> tuple[str, list[Span]] | None:
        """What minutes and recipes in plain text are called; and a poem without a title goes by its first line."""
        reading = self.reading
        if self.kind == "poem":
            line = next(line for stanza in stanzas(reading) for line in stanza if line)
            place = max(0, reading.text.find(line))
            return line.rstrip(",;:.—– "), [(place, place + len(line))]
        first = _FIRST_LINE.match(reading.text, reading.layout.body) if self.kind in ("meeting", "recipe") else None
        return (first["line"], [first.span("line")]) if first and reading.title is None else None

    def _is_of_it(self) -> bool:
        """Whether a title without a capital, as files are named, is made of words of the text."""
        used = {word for one in self.reading.sentences for word in one.words}
        longer = [word for word in tokens(self._title) if len(word) > _SMALL]
        return self._title in self.reading.text or not self._title.islower() or used.issuperset(longer)

    def _is_named(self) -> bool:
        """Whether a short title is the text's own: no date, no name of a file, and of words that it uses."""
        found = tokens(self._title)
        used = {word for one in self.reading.sentences for word in one.words}
        return self._title[:1].isupper() and not _DATED.match(self._title) and len(found) > 1 and used.issuperset(found)

    def _headed(self, text: str, spans: list[Span]) -> tuple[str, list[Span]]:
        self.spend(len(text.split()))
        words = tuple(tokens(text))
        self.used.update(one.index for one in self.reading.sentences if one.words == words)
        return (text if len(text) <= 200 else text[:199].rsplit(" ", 1)[0].rstrip(" ,;:–—-") + "…"), spans

    # -- what it says

    def short(self) -> list[Sentence]:
        """Two or three sentences that stand for the whole; the author's own abstract before any of ours."""
        if self.kind in ("poem", "list", "data") or (self._talk and not self._abstract):
            return []
        most = _SHORT_OF_NEWS if self.kind == "news" else _SHORT
        space = min(most, int(0.3 * self.room), self._left)
        if self._abstract:
            good = [one for one in self._abstract if one.size <= 45 and one.index not in self.used]
            good = [one for one in good if one.ended or one.label == DECK]
            chosen = good[:1] + pick(
                good[1:], self._ranks, 2, max(0, 75 - sum(one.size for one in good[:1])), limit=0.8
            )
            if chosen or self._talk:
                return self._take(sorted(chosen, key=lambda one: one.index))
        pool = [one for one in self._pool if one.index not in self.used and one.kind == "prose"]
        pool = pool or [one for one in self._pool if one.index not in self.used]
        chosen = self._opening(pool, max(space, 12)) if self.kind in _OPENING else []
        if self.kind == "captions":
            chosen = [one for one in pool[:_EARLY] if announces(one.text) and one.size <= space][:1]
        if self.kind not in _TOLD_FIRST or not chosen:
            chosen += pick(
                [one for one in pool if one not in chosen],
                self._ranks,
                3 - len(chosen),
                max(space, 12) - sum(one.size for one in chosen),
                besides=chosen,
                limit=0.65,
            )
        if not chosen and pool and self._left >= 3:
            chosen = [one for one in pool if one.size <= self._left][:1]
        return self._take(sorted(chosen, key=lambda one: one.index))

    def introduction(self) -> list[Sentence]:
        """What stands before the first question of a list of them."""
        reading = self.reading
        asking = [section.span[0] for section in reading.sections if section.title.endswith("?")]
        asking += [one.start for one in reading.sentences if one.asks]
        before = [one for one in self._pool if one.kind == "prose" and one.end <= min(asking, default=0)]
        return self._take(pick([one for one in before if one.index not in self.used], self._ranks, 3, _SHORT))

    def _opening(self, pool: Sequence[Sentence], space: int) -> list[Sentence]:
        """What stands first says most where people write for readers who may leave: it, and what goes on from it."""
        if self.kind in ("manual", "article", "essay", "note", "paper") and (told := self._of_itself()):
            return [told] if told.size <= max(space, min(_FIRST, self._left)) else []
        # A report may begin with `it` and say what it is later in the sentence; and the first sentence of all leans on
        # nothing, for nothing was said before.
        gone = self.used | self._around
        every = [one for one in self.reading.sentences if one.sound and not one.asks and one.index not in gone]
        every = [one for one in every if not one.quoted] or every
        if self.kind in ("news", "recipe"):
            pool = every
        elif every and every[0].index == 0 and every[0].kind == "prose":
            pool = [every[0], *(one for one in pool if one.index)]
        plain = [one for one in pool if one.size > 3 and not self._speaks(one)]
        # A report of an agency begins with its place; what stands before that are pictures, offers and highlights.
        first = next((one for one in plain if one.label == DATELINE), self._first_told(plain))
        most = max(space, min(_FIRST, self._left))
        if first is None or first.size > most or first.index > 12:
            return []
        if self.kind not in _TOLD_FIRST:
            return [first]
        chosen = [first]
        for one in self.reading.sentences[first.index + 1 : first.index + 4]:
            near = one.block - chosen[-1].block <= 1 and one.index == chosen[-1].index + 1
            if near and one.sound and not one.asks and one.size <= space - sum(other.size for other in chosen):
                chosen.append(one)
            else:
                break
        return chosen[:3]

    def _first_told(self, plain: Sequence[Sentence]) -> Sentence | None:
        """The first sentence; of news, the first that is about what the title says: before it come captions of
        pictures and films."""
        if self.kind != "news":
            return next(iter(plain), None)
        named = frozenset(terms(tokens(self._title), self.reading.known))
        early = plain[:_EARLY]
        shares = [len(named.intersection(one.terms)) for one in early]
        best = max(shares, default=0)
        least = best / 3 if best >= _NAMED else 0
        first = next((one for one, share in zip(early, shares, strict=True) if share >= least), None)
        # A caption stands by itself: what opens the same paragraph opens the report.
        return next((one for one in early if first is not None and one.block == first.block), None)

    def _of_itself(self) -> Sentence | None:
        """Where a manual says what it is, or what the thing is that its title names."""
        soon = [one for one in self.reading.sentences[:_SOON] if one.sound and not one.quoted]
        soon = [one for one in soon if one.index not in self.used]
        for one in soon:
            if _OF_ITSELF.match(one.text) and one.kind == "prose":
                return one
        if self.kind != "manual":
            return None
        named = frozenset(
            terms(tokens(self._title or (self.reading.title.title if self.reading.title else "")), self.reading.known)
        )
        plain = [one for one in soon if not one.leans and not one.asks and one.kind == "prose" and one.size >= 6]
        return next(
            (one for one in plain if not named.isdisjoint(terms(list(one.words[:2]), self.reading.known))), None
        )

    def points(self, *, fewer: bool) -> list[Sentence]:
        """What a reader should take away; none that the short version or another point already says."""
        if self.kind in ("poem", "list", "data") or self._talk:
            return []
        told = [self.reading.sentences[at] for at in sorted(self.used)]
        rest = [one for one in self._abstract if one.index not in self.used and one.sound and one.size <= _POINT]
        news = self.kind == "news"
        most = _POINT_OF_NEWS if news else _POINT
        pool = [one for one in self._pool if one.index not in self.used and one.size <= most]
        if news:
            # What goes on from a point is told with it; what goes on from the short version can't be told below it.
            leaning = (one for one in self.reading.sentences if one.sound and one.leans and not one.asks)
            pool += [one for one in leaning if one.index not in self.used and not self._speaks(one)]
        least = _LEAST_POINT_OF_NEWS if news else _LEAST_POINT
        said = [one for one in pool if one.size >= _NO_POINT or not self.reading.known.spaced]
        pool = [one for one in said if one.size >= least or not self.reading.known.spaced] or said
        # What is needed for something is no point, nor is a row of a menu.
        whole = [one for one in pool if one.ended or self.kind == "captions" or not self.reading.known.spaced]
        pool = whole or [one for one in pool if one.kind == "item" and one.text[0].isupper()]
        count = min(6, max(1, round(0.9 * len(self._pool) ** 0.5))) - 2 * fewer
        space = min(int(0.38 * self.room), self._left)
        first = pick(rest, self._ranks, min(3, count), space, besides=told, limit=0.7, runs=_RUN)
        space -= sum(one.size for one in first)
        more = pick(
            [one for one in pool if one not in rest],
            self._ranks,
            max(0, count - len(first)),
            space,
            besides=[*told, *first],
            apart=self._apart(count),
            **_SAME_EVENT if news else {},
            runs=_RUN if news else 0,
        )
        return self._take(sorted([*first, *more], key=lambda one: one.index))

    def _apart(self, count: int) -> float:
        """How far points should be from each other. A long document has said most of it before its middle."""
        if self.kind not in _ALL_ALONG:
            return 0.0
        even = len(self.reading.sentences) / (count + 1)
        return even if self.reading.word_count <= _ARTICLE else min(_APART, even)

    def quotes(self) -> list[Quote]:
        if self.kind == "poem":
            return self._verses()
        if self.kind in ("manual", "list", "code", "data", "recipe", "paper"):
            return []
        # What has no points is told by what is said in it.
        space = min(int((0.6 if self._talk else 0.3) * self.room), self._left)
        most = (4 if self.reading.word_count > 400 else 3) + 2 * self._talk
        found = choose(self.reading, self.kind, self._ranks, self.used, space, most)
        self.spend(sum(len(one.text.split()) + 2 for one in found))
        self.used.update(one.sentence for one in found)
        return found

    def _verses(self) -> list[Quote]:
        """Two lines of a poem, from its end and its middle: they say nothing about the rest."""
        found = []
        text, space = self.reading.text, self._left
        every = stanzas(self.reading)
        for stanza in [every[-1], *every[1:2]] if len(every) > 1 else every[:1]:
            pair = [line for line in stanza if line][-2:]
            place = text.find(pair[0]) if pair else -1
            end = text.find(pair[-1], place) + len(pair[-1]) if place >= 0 else -1
            size = sum(len(line.split()) for line in pair)
            if place >= 0 and place < end <= place + 200 and size <= space:
                space -= size
                found.append(Quote(" ".join(text[place:end].split()), (place, end), "", 0))
        return sorted(found, key=lambda one: one.span)

    def note(self) -> str:
        """What the source is, where a reader would not see it from what is told."""
        if self._left < 8 and self.kind not in ("data", "captions"):
            return ""
        if self.kind == "captions":
            return self.reading.says("captions")
        if self.kind == "poem":
            every = stanzas(self.reading)
            lines = sum(1 for stanza in every for line in stanza if line)
            return self.reading.says("poem" if len(every) > 1 else "poem_one", lines=lines, parts=len(every))
        if self.kind == "data":
            return self._note_of_table()
        if self.kind == "list":
            items = sum(1 for block in self.reading.layout.blocks if block.kind == "item")
            groups = len({one.section for one in self.reading.sentences if one.section >= 0})
            return self.reading.says("list_groups" if groups > 1 else "list", items=items, parts=groups)
        return ""

    def _note_of_table(self) -> str:
        """Its rows and its columns; figures alone name no column. Where nothing is told between them all lines are
        rows, also those that do not stand in the columns of the others."""
        text, every = self.reading.text, self.reading.sentences
        rows = [one for one in every if one.kind == "table"]
        if not rows:
            return ""
        lines = [line for line in text[rows[0].start : rows[-1].end].split("\n") if line.strip(" |:-")]
        told = any(one.sound for one in every[rows[0].index : rows[-1].index])
        count = len(rows) if told else len(lines)
        names = [name for name in cells(lines[0]) if name]
        if not any(map(str.isalpha, "".join(names))):
            return self.reading.says("table_bare", rows=count)
        name = "table" if count != 2 else "table_one"
        return self.reading.says(name, rows=count - 1, columns=", ".join(names[:8]))


def _before_the_place(reading: Reading) -> frozenset[int]:
    """The paragraphs of a report that stand before its dateline: what pictures show, and what is asked of readers. The
    items of a list there are its own highlights."""
    first = next((one.index for one in reading.sentences if one.label == DATELINE), 0)
    early = reading.sentences[: first if first < len(reading.sentences) / 2 else 0]
    return frozenset(one.index for one in early if one.kind == "prose")


def _is_telling(title: str) -> bool:
    return (
        len(title) >= 10
        and not _FILE_NAME.match(title)
        and not _PAGE_HEAD.match(title)
        and not _DATED.match(title)
        and (len(title.split()) >= 3 or not title.isascii())
    )


# -- facts


def _speaks_of(reading: Reading, topic: ProfileTopic, headline: str) -> bool:
    """Named in passing is not what a text is about."""
    return topic.named_in(headline) or sum(1 for one in reading.sentences if topic.named_in(one.text)) > 1


def _tags(labels: Sequence[str], topics: Sequence[str]) -> list[str]:
    found: dict[str, None] = {}
    for label in [*topics, *labels]:
        tag = " ".join(_UNTAGGED.sub(" ", label.lower()).split()).strip("-'’·. ")
        if tag:
            found[tag] = None
    return list(found)[:8]


def _sentiment(reading: Reading) -> str:
    """By small lists of words, and neutral when in doubt."""
    known = reading.known
    bright = dark = size = 0
    for one in reading.sentences:
        size += max(1, one.size)
        for at, word in enumerate(one.words):
            if word in known.positive or word in known.negative:
                turned = not known.negations.isdisjoint(one.words[max(0, at - 3) : at])
                if (word in known.positive) != turned:
                    bright += 1
                else:
                    dark += 1
    total = bright + dark
    if total < 3 or total < 0.012 * size:
        return "neutral"
    lead = (bright - dark) / total
    return "positive" if lead > 0.28 else "negative" if lead < -0.28 else "neutral"
