"""Reading a document once: everything the artifacts are made from, each thing with its place in the text.

    read(text) -> Reading       language, sentences by rank, phrases, themes, names, numbers, quotations, argument

Nothing here depends on anything but the text: no clock, no randomness, no order of sets.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from weft.language.stems import stem
from weft.models.embedded.argument import Argument, find_argument
from weft.models.embedded.detection import main_language
from weft.models.embedded.languages import Language, language
from weft.models.embedded.languages.language import words as word_set
from weft.models.embedded.layout import Layout, as_it_is, is_verse, lay_out
from weft.models.embedded.names import Name, find_names
from weft.models.embedded.numbers import Number, find_numbers
from weft.models.embedded.phrases import Phrase, key_phrases
from weft.models.embedded.quotes import Quotation, attribute, find_quotations
from weft.models.embedded.ranking import rank_sentences
from weft.models.embedded.readability import Readability, readability
from weft.models.embedded.sentence import Sentence, Span, build_sentences, clean
from weft.models.embedded.sentiment import Sentiment, sentiment
from weft.models.embedded.themes import Theme, find_themes
from weft.models.embedded.words import ANY_WORD, count_words, tokens

_COURTEOUS: Final = word_set("""
thank thanks welcome hello goodbye danke dank willkommen hallo merci bienvenue bonjour gracias bienvenidos
bienvenida hola grazie benvenuti obrigado obrigada bedankt welkom спасибо здравствуйте
""")


@dataclass(frozen=True, slots=True)
class Section:
    title: str
    span: Span
    level: int


@dataclass(frozen=True, slots=True, eq=False)
class Reading:
    text: str
    layout: Layout
    language: Language
    also: tuple[str, ...]
    """Other languages with a fair share."""
    sections: tuple[Section, ...]
    sentences: tuple[Sentence, ...]
    phrases: tuple[Phrase, ...]
    themes: tuple[Theme, ...]
    names: tuple[Name, ...]
    numbers: tuple[Number, ...]
    quotations: tuple[Quotation, ...]
    argument: Argument
    sentiment: Sentiment
    readability: Readability
    word_count: int
    speakers: tuple[str, ...]
    """Of a transcript, in the order of their first words."""
    host: str
    """Of a conversation: who asks most, and so says least."""
    verse: bool
    """Whether it is a poem."""
    spoken: frozenset[int]
    """Sentences that are nothing but somebody's words in quotation marks, with nobody named in them."""

    @property
    def title(self) -> Section | None:
        """The heading of the whole."""
        if not self.sections:
            return None
        first = self.sections[0]
        early = not self.sentences or first.span[0] <= self.sentences[0].start
        return first if early else None

    def time_at(self, place: int) -> str:
        """The last time the text names before a place; "" when it names none."""
        times = self.layout.times
        at = bisect_right(times, (place, "\uffff")) - 1
        return times[at][1] if at >= 0 else ""


@lru_cache(maxsize=2)
def read(text: str) -> Reading:
    """ValueError for a text without any word."""
    if not ANY_WORD.search(text):
        raise ValueError("the text has no words to work with")
    layout = lay_out(text)
    if not any(ANY_WORD.search(layout.plain, block.start, block.end) for block in layout.blocks):
        layout = as_it_is(text)
    return _read(text, layout)


def _read(text: str, layout: Layout) -> Reading:
    blocks = [block for block in layout.blocks if block.kind in ("prose", "item")] or list(layout.blocks)
    code, also = main_language(layout.plain[block.start : block.end] for block in blocks)
    known = language(code)
    small = known.function.union(*(language(other).function for other in also))
    sections = _sections(layout)
    sentences = build_sentences(text, layout, known, small)
    if not sentences:
        return _read(text, as_it_is(text))
    verse = is_verse(layout)
    for sentence in sentences if verse else ():
        sentence.free = True
    polite = _polite(sentences)
    for sentence in sentences:
        sentence.sound = sentence.sound and sentence.index not in polite
    title = (
        [stem(word, known.code) for word in tokens(sections[0].title, code) if word not in small] if sections else []
    )
    rank_sentences(sentences, known, title)
    speakers = tuple(dict.fromkeys(block.speaker for block in layout.blocks if block.speaker))
    phrases = key_phrases([one for one in sentences if one.index not in polite], known, small, title)
    names = find_names(sentences, known, speakers)
    phrases = [phrase for phrase in phrases if not _is_part_of_name(phrase, names)]
    speakers = _introduced(sentences, speakers, names)
    quotations = attribute(find_quotations(text, layout, sentences, known), sentences, names)
    return Reading(
        text=text,
        layout=layout,
        language=known,
        also=also,
        sections=sections,
        sentences=tuple(sentences),
        phrases=tuple(phrases),
        themes=tuple(find_themes(sentences, phrases, names)),
        names=tuple(names),
        numbers=tuple(find_numbers(sentences, known)),
        quotations=tuple(quotations),
        argument=find_argument(sentences, known),
        sentiment=sentiment(sentences, known, _name_words(names)),
        readability=readability(sentences, known),
        word_count=max(1, count_words(text[layout.body :])),
        speakers=speakers,
        host=_host(sentences, speakers),
        verse=verse,
        spoken=_spoken(sentences, quotations) | polite,
    )


def _is_part_of_name(phrase: Phrase, names: Sequence[Name]) -> bool:
    """`Voss` where `Helena Voss` is somebody, `San` where `San Telmo` is a place."""
    parts = phrase.text.split()
    for name in names:
        whole = name.text.split()
        if (
            len(whole) > len(parts)
            and set(parts) <= set(whole)
            and (name.kind == "person" or phrase.count <= name.count)
        ):
            return True
    return False


def _introduced(sentences: Sequence[Sentence], speakers: Sequence[str], names: Sequence[Name]) -> tuple[str, ...]:
    """Speakers by the name the text introduces them with: ILSE is Ilse Brandt, if there is one Ilse only."""
    known: dict[str, str] = {}
    for speaker in speakers:
        full = [
            name.text
            for name in names
            if name.kind == "person" and " " in name.text and speaker.lower() in name.text.lower().split()
        ]
        if len(full) == 1 and " " not in speaker:
            known[speaker] = full[0]
    for sentence in sentences if known else ():
        sentence.speaker = known.get(sentence.speaker, sentence.speaker)
    return tuple(dict.fromkeys(known.get(speaker, speaker) for speaker in speakers))


def _name_words(names: Sequence[Name]) -> frozenset[str]:
    return frozenset(part.lower() for name in names if name.kind == "person" for part in name.text.split())


def _host(sentences: Sequence[Sentence], speakers: Sequence[str]) -> str:
    asked = Counter(sentence.speaker for sentence in sentences if sentence.asks and sentence.speaker)
    if len(speakers) < 2 or asked.total() < 2:
        return ""
    return max(sorted(asked), key=lambda speaker: asked[speaker])


def _spoken(sentences: Sequence[Sentence], quotations: Sequence[Quotation]) -> frozenset[int]:
    starts = [one.start for one in quotations]
    within = []
    for sentence in sentences:
        at = bisect_right(starts, sentence.start + 2) - 1
        if at >= 0 and sentence.end <= quotations[at].end + 2:
            within.append(sentence.index)
    # Where nearly everything is dialogue, that is the text.
    return frozenset(within) if 2 * len(within) < len(sentences) else frozenset()


def _polite(sentences: Sequence[Sentence]) -> frozenset[int]:
    """The turns of a conversation in which people greet and thank each other."""
    blocks = Counter(sentence.block for sentence in sentences if sentence.speaker)
    polite = {
        sentence.block
        for sentence in sentences
        if sentence.speaker and blocks[sentence.block] <= 3 and not _COURTEOUS.isdisjoint(sentence.words)
    }
    found = frozenset(sentence.index for sentence in sentences if sentence.block in polite)
    return found if 3 * len(found) < len(sentences) else frozenset()


def _sections(layout: Layout) -> tuple[Section, ...]:
    return tuple(
        Section(clean(layout.plain[block.start : block.end]), (block.start, block.end), block.level)
        for block in layout.blocks
        if block.kind == "heading"
    )
