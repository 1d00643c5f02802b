"""Reading a document once: everything the artifacts are made from, each thing with its place in the text.

    read(text) -> Reading       language, sections, sentences with what they are, quotations, speakers

Nothing here depends on anything but the text: no clock, no randomness, no order of sets.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import cached_property, lru_cache
from typing import Final

from weft.language.leaning import leans_back
from weft.language.pointing import points_elsewhere
from weft.language.sentences import GAP, sentence_spans, trim
from weft.language.spoken import can_cut, goes_on, spoken_spans
from weft.models.embedded.layout import ASKED, DECK, Kind, LaidBlock, Layout, Span, as_it_is, lay_out
from weft.models.embedded.lexicon import UNSPACED, Lexicon, detect, lexicon, sign_words, signs
from weft.models.embedded.words import ANY_WORD, count_words, surface_words, terms, tokens
from weft.protocol.values import dataclass

_BULLETS: Final = re.compile(r"^(?:[•‣◦▪●○□■☐✓✔]\s*)+")
_OPENERS, _CLOSERS = "\"'“‘«„¿", "\"'”’»"
"""`… 'of what use is it?'` tells of a question and asks none."""
_ASKS: Final = re.compile(r"[?？؟][\"'”’»)\]*_]*$")
_SAYING: Final = 6
"""Words of a piece of speech that says something."""
_SPONSORED: Final = re.compile(rf"\b(?:{signs('sponsor')})\b", re.I)
_RUN_ON: Final = 24
"""Words of it at least."""
_STOPS: Final = re.compile(r"[.!?](?:\s|\Z)")
_ENDED: Final = re.compile(r"[.!?…。！？｡؟।۔:][\"'”’»)\]』」）*_]*$")
_OPENED: Final = re.compile(r"^[\s\"'“‘«„(\[¿¡—–-]*")
_PAUSE: Final = re.compile(r"[,;:—–]\s|\s(?=(?:and|so|but|then|because|und|aber|dann|weil|et|mais|y|pero)\s)")
_LONGEST, _PIECE = 70, 22
"""In words: what is longer has lost its stops, and is cut where one could breathe."""
_SIGNS: Final = re.compile(r"[`$<>{}=\\|~^]|--\w|/\w+/|::|\(\)|\w_\w|https?:")
_ALL: Final = 1_000_000
_SHORT: Final = 8
"""Words: what is no longer and has a pronoun is about something that was said before."""
_LEFT_OUT: Final = sign_words("left_out")
"""What ends so leaves out what was said before: `Of the forty thirty-six did.`"""
BACK: Final = sign_words("back")
_ANSWERS: Final = sign_words("answers")
"""What begins so behind a question says nothing without it."""
_SPOKEN: Final = 10
"""Words: what is no longer and answers somebody else is half of what was said."""
_TITLED: Final = 0.75
"""The share of words with a capital from which a line is a title, and no sentence."""
_SMALL_TITLES: Final = ("en", "fr", "es")
"""Languages in which a sentence has few capitals."""


@dataclass(slots=True, eq=False)
class Sentence:
    index: int
    text: str
    """What is said, on one line, without marks."""
    spans: tuple[Span, ...]
    block: int
    kind: Kind
    words: tuple[str, ...]
    terms: tuple[str, ...]
    size: int
    """Its words as a person counts."""
    section: int
    """The number of the last heading before it; -1 before the first."""
    first: bool
    """Whether it begins its block."""
    speaker: str = ""
    label: str = ""
    quoted: bool = False
    ended: bool = True
    asks: bool = False
    leans: bool = False
    """Whether it can't be understood without the one before."""
    sound: bool = True
    """Whether it can be told at all: whole, said in words, about the subject."""

    @property
    def start(self) -> int:
        return self.spans[0][0]

    @property
    def end(self) -> int:
        return self.spans[-1][1]

    def mark_of(self, marks: Sequence[str]) -> str:
        """The first of these phrases that it has, in whole words: who oversees the yard does not say `see the`."""
        said = f" {' '.join(self.words)} "
        return next((mark for mark in marks if f" {mark} " in said), "")


@dataclass(frozen=True, slots=True)
class Section:
    title: str
    span: Span
    level: int
    guessed: bool = False


_SUBJECT, _OFTEN = 4, 3
"""Among how many of its first words a sentence names what it is about; and the sentences in which that is named."""
_SOON: Final = 10
"""Sentences in which `this section` may be all of it."""
_OF_A_PART: Final = re.compile(rf"\b(?:{signs('of_a_part')})\b", re.I)
_DEFINITE: Final = sign_words("definite")
_SAID_OF: Final = sign_words("said_of")
_RANKED: Final = sign_words("ranked")


@dataclass(frozen=True, eq=False)
class Reading:
    text: str
    layout: Layout
    known: Lexicon
    sections: tuple[Section, ...]
    sentences: tuple[Sentence, ...]
    word_count: int
    speakers: tuple[str, ...]
    """Of a transcript, in the order of their first words."""
    host: str
    """Of a conversation: who asks most, and so says least."""
    unpunctuated: bool
    """Whether it is speech that nobody has set stops in."""

    @cached_property
    def title(self) -> Section | None:
        """The heading of the whole."""
        if not self.sections:
            return None
        first = self.sections[0]
        before = [one for one in self.sentences if one.start < first.span[0]]
        return None if any(one.sound or first.level > 1 for one in before) else first

    def time_at(self, place: int) -> str:
        """The last time the text names before a place; "" when it names none."""
        times = self.layout.times
        at = bisect_right(times, (place, "\uffff")) - 1
        return times[at][1] if at >= 0 else ""

    def brings_its_subject(self, one: Sentence, title: str = "") -> bool:
        """Whether it begins a paragraph, or with what the text or its section is about: others go on from what was
        said before, whether or not a word of theirs says so. With `the` begins what is known already: that must be
        what the text speaks of again and again, or what the sentence goes on to say."""
        heads = [title, self.title.title if self.title else ""]
        heads += [self.sections[one.section].title] if one.section >= 0 else []
        named = frozenset(terms(tokens(" ".join(heads)), self.known))
        begins = frozenset(terms(list(one.words[:_SUBJECT]), self.known))
        if self.number_of_parts > 1 and one.index >= _SOON and _OF_A_PART.search(one.text):
            return False
        definite = one.words[0] in _DEFINITE and _SAID_OF.isdisjoint(one.words[2 : _SUBJECT + 2])
        if definite and not _RANKED.isdisjoint(one.words[1:2]):
            return False
        if not begins.isdisjoint(named):
            return True
        known_of = frozenset(terms(list(one.words[1:3]), self.known))
        return one.first and not (definite and known_of.isdisjoint(self.often))

    @cached_property
    def number_of_parts(self) -> int:
        return sum(1 for one in self.sections if not one.guessed and one is not self.title)

    @cached_property
    def often(self) -> frozenset[str]:
        """The terms that several of its sentences have."""
        found = Counter(term for one in self.sentences for term in frozenset(one.terms))
        return frozenset(term for term, count in found.items() if count >= _OFTEN)

    def says(self, key: str, **parts: object) -> str:
        return self.known.says[key].format(**parts)


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
    told = [block for block in layout.blocks if block.kind in ("prose", "item")] or list(layout.blocks)
    sample = "\n".join(layout.plain[block.start : block.end].replace(GAP, "") for block in told)
    known = lexicon(detect(sample))
    sections = tuple(
        Section(clean(layout.plain[block.start : block.end]), (block.start, block.end), block.level, block.guessed)
        for block in layout.blocks
        if block.kind == "heading"
    )
    stops, size = sum(sample.count(sign) for sign in ".!?。！？।"), len(sample.split())
    # One piece of small letters without any stop is speech however short it is.
    run_on = size > _RUN_ON and not stops and len(told) < 3 and told[0].kind == "prose" and not sections
    run_on = run_on and _OPENED.sub("", sample)[:1].islower()
    unpunctuated = known.spaced and ((size > 120 and stops * 70 < size) or run_on)
    captioned = unpunctuated and can_cut(known.code)
    sentences = list(_sentences(layout, known, spoken=captioned))
    if not sentences:
        return _read(text, as_it_is(text))
    speakers = tuple(dict.fromkeys(one.speaker for one in sentences if one.speaker))
    named = frozenset(tokens(sections[0].title)) if sections else frozenset()
    _judge(sentences, known, named, spoken=bool(speakers))
    if captioned:
        for one in sentences:
            one.leans = one.leans or goes_on(one.words[0], known.code)
            one.sound = one.sound and one.size >= _SAYING and not asks_listeners(one.text)
    return Reading(
        text=text,
        layout=layout,
        known=known,
        sections=sections,
        sentences=tuple(sentences),
        word_count=max(1, count_words(text[layout.body :])),
        speakers=speakers,
        host=_host(sentences, speakers),
        unpunctuated=unpunctuated,
    )


def clean(text: str) -> str:
    """One line, without what was masked."""
    return " ".join(text.replace(GAP, "").split())


def _sentences(layout: Layout, known: Lexicon, *, spoken: bool) -> Iterator[Sentence]:
    index, section = 0, -1
    for at, block in enumerate(layout.blocks):
        if block.kind == "heading":
            section += 1
            continue
        if block.kind == "aside":
            continue
        for number, (low, high) in enumerate(_spans(layout.plain, block, known, spoken=spoken)):
            said = clean(layout.plain[low:high])
            if not ANY_WORD.search(said):
                continue
            yield _sentence(index, said, (low, high), at, block, section, known, first=number == 0)
            index += 1
    if index:
        return
    for at, block in enumerate(layout.blocks):
        # Nothing but headings: then they are what is said.
        low, high = trim(layout.plain, block.start, block.end)
        if low < high and ANY_WORD.search(layout.plain, low, high):
            said = clean(layout.plain[low:high])
            yield _sentence(index, said, (low, high), at, block, -1, known, first=True)
            index += 1


def _spans(plain: str, block: LaidBlock, known: Lexicon, *, spoken: bool) -> Iterator[Span]:
    if block.kind in ("table", "code"):
        yield trim(plain, block.start, block.end)
        return
    if spoken and block.kind == "prose" and not _STOPS.search(plain, block.start, block.end):
        yield from spoken_spans(plain, block.start, block.end, known.code)
        return
    for low, high in sentence_spans(plain, block.start, block.end, known):
        yield from _short_enough(plain, low, high)


def _short_enough(plain: str, low: int, high: int) -> Iterator[Span]:
    text = plain[low:high]
    unspaced = bool(UNSPACED.search(text)) and text.count(" ") < len(text) / 20
    limit, wanted = (160, 60) if unspaced else (_LONGEST * 6, _PIECE * 6)
    if (unspaced and len(text) <= limit) or (not unspaced and len(text.split()) <= _LONGEST):
        yield low, high
        return
    while high - low > 2 * wanted:
        window = (low + wanted // 2, low + 2 * wanted)
        places = [match.end() for match in _PAUSE.finditer(plain, *window)]
        places = places or [match.end() for match in re.finditer(r"\s", plain[: window[1]][window[0] :])]
        places = [place if place > low else place + window[0] for place in places]
        aim = low + wanted
        while not places and (plain[aim - 1].isdigit() or plain[aim].isdigit()) and aim > low + 1:
            aim -= 1
        cut = min(places, key=lambda place: (abs(place - aim), place)) if places else aim
        piece = trim(plain, low, cut)
        if piece[0] < piece[1]:
            yield piece
        low = cut
    rest = trim(plain, low, high)
    if rest[0] < rest[1]:
        yield rest


def _sentence(
    index: int, said: str, span: Span, at: int, block: LaidBlock, section: int, known: Lexicon, *, first: bool
) -> Sentence:  # fmt: skip
    said = _BULLETS.sub("", said)
    words = tokens(said)
    return Sentence(
        index=index,
        text=said,
        spans=(span,),
        block=at,
        kind=block.kind if block.kind != "heading" else "prose",
        words=tuple(words),
        terms=terms(words, known),
        size=count_words(said),
        section=section,
        first=first,
        speaker=block.speaker,
        label=block.label,
        quoted=block.quoted or block.set_off,
        ended=bool(_ENDED.search(said)),
        asks=block.label == ASKED or bool(_ASKS.search(said) and (said[-1] not in _CLOSERS or said[0] in _OPENERS)),
    )


def _judge(sentences: Sequence[Sentence], known: Lexicon, named: frozenset[str], *, spoken: bool) -> None:
    seen: Counter[str] = Counter()
    told = [one for one in sentences if one.kind == "prose"]
    small = sum(1 for one in told if _OPENED.sub("", one.text)[:1].islower())
    # A chat, or captions that nobody has set stops in: neither capitals nor stops prove anything there.
    casual = 2 * small > len(told)
    lasts = {one.block: one.index for one in sentences}
    again = Counter(" ".join(one.words) for one in sentences)
    for sentence in sentences:
        said = " ".join(sentence.words)
        begin = _OPENED.sub("", sentence.text)
        sentence.leans = _leans(sentence, begin, known, spoken=spoken) or _answers(sentence, sentences)
        seen[said] += 1
        signs = len(_SIGNS.findall(sentence.text))
        letters = sum(1 for sign in sentence.text if sign.isalpha() or sign.isspace())
        following = sentences[sentence.index + 1 : sentence.index + 2]
        # `Alas! cried the mouse` goes on behind its mark.
        goes_on = any(one.block == sentence.block and _GOES_ON.match(one.text) for one in following) and not casual
        whole = (sentence.ended and not goes_on) or not known.spaced or casual or sentence.label == DECK
        sentence.sound = (
            sentence.kind in ("prose", "item")
            and seen[said] == 1
            # What stands in a list and again over what it names is a line of contents.
            and not (sentence.kind == "item" and again[said] > 1)
            and (sentence.size >= 4 if known.spaced else len(sentence.text) >= 8)
            and (whole or (sentence.kind == "item" and lasts[sentence.block] == sentence.index))
            and (casual or _begins(begin, sentence, named))
            and not sentence.text.endswith((" .", " ,"))
            and signs <= 1 + sentence.size // 12
            and letters > 0.72 * len(sentence.text)
            and not sentence.mark_of(known.elsewhere)
            and not points_elsewhere(sentence.text)
            and not is_titled(sentence.text, known)
            and not _GLUED.search(sentence.text)
            and not sentence.text.endswith(":")
            and is_even(sentence.text)
            and is_clean(sentence.text)
            and not _SYMBOL.search(sentence.text)
            and known.courtesy.isdisjoint(sentence.words[: _courteous(sentence)])
            and not _ADDRESS.match(sentence.text)
        )


_MARRED: Final = re.compile(
    r"\]_|[^\W\d_]{2}- (?!(?:and|or|to|und|oder|bis|et|ou|y|o)\b)[a-zß-ÿ]{2}|(?:^|\s)\*+\w|\w\*+(?:\s|$)"
)
"""What a mark-up that is not read, or a word cut at the end of a line, has left."""
_SYMBOL: Final = re.compile(r"#\d\b|(?<![\w.'’&/-])[BD-HJ-QT-WYZ](?![\w.'’+#&/-])")
"""What a figure or a formula calls so: a single letter. C, R and X are things by name."""
_OPENING: Final = re.compile(r"(?<![^\W_])['‘](?=[^\W\d_])(?!(?:tis|twas|em|cause|til|n)\b)", re.I)
_CLOSING: Final = re.compile(r"(?<=[\w.,!?…])['’](?!\w)")


def is_clean(text: str) -> bool:
    """Whether nothing is left in it that is not said: a mark, half a word, a bare address."""
    return _MARRED.search(text) is None and "://" not in text


def is_even(text: str) -> bool:
    """Whether what is opened in it is closed in it: else it is a piece of somebody's speech, or of an aside."""
    pairs = all(text.count(low) == text.count(high) for low, high in ("“”", "«»", "()"))
    return pairs and text.count('"') % 2 == 0 and len(_OPENING.findall(text)) <= len(_CLOSING.findall(text))


_GOES_ON: Final = re.compile(r"[a-zß-ÿ]|\.+ ")
"""What follows on a mark that has ended nothing: `Alas! cried …`, the dots of a table of contents."""
_ADDRESS: Final = re.compile(rf"(?:{signs('address')})$")
"""Nothing but whom somebody speaks to."""
_ONE_S_OWN: Final = sign_words("one_s_own")


def _courteous(sentence: Sentence) -> int:
    """Among how many of its first words thanks and greetings are all that it says."""
    return 4 if sentence.size < 14 else 5 if sentence.words[0] in _ONE_S_OWN else 1


_GLUED: Final = re.compile(r"[a-z] (?:But|However|It|He|She|They|We|There|Although) [a-z]")
"""A heading that a page has lost the end of: `Won't wait years But she warned …`."""
_POSTED: Final = re.compile(r"(?<!\w)[@#][^\W\d_]\w+|https?://")


def is_post(text: str) -> bool:
    """Whether it is a post to somebody, or has the address of another page: no sentence of the text's own."""
    return _POSTED.search(text) is not None


_WHETHER: Final = re.compile(rf"(?:{signs('whether')}) ")
_UNSURE: Final = re.compile(rf"\b(?:{signs('unsure')})\b")
"""What is said of a question that a sentence begins with."""


def says_unknown(one: Sentence, known: Lexicon) -> bool:
    """Whether it says that something is not known: `It is unclear who …`, `Whether … remains open`."""
    return bool(one.mark_of(known.unknown)) or (begins_as_question(one) and _UNSURE.search(one.text) is not None)


def begins_as_question(one: Sentence) -> bool:
    """Whether it asks in a clause of its own what it then speaks of: `Whether …`, `Ob …`."""
    return _WHETHER.match(" ".join(one.words[:2])) is not None


def asks_listeners(text: str) -> bool:
    """Whether it asks something of listeners for the show, or names who paid for it."""
    return _SPONSORED.search(text) is not None


_QUOTED_FIRST: Final = re.compile(r"[\"“„«‘]([^\"“”„«»]{1,60})[\"“”»’]\s+(?=[^\W\d_])")
_QUOTED_SIMPLY: Final = re.compile(r"'[^\W\d_a-z]\w*[ ,!?.]")
_TERM, _SAID_SOON = 5, 6
"""Words of a quoted name at most, and those behind it in which a verb of saying makes it somebody's words."""


def opens_with_speech(text: str, known: Lexicon) -> bool:
    """Whether it begins with somebody's words: with a mark of quotation, and not for the name of a film or a term."""
    if text[:1] not in '"“„«‘' and not _QUOTED_SIMPLY.match(text):
        return False
    found = _QUOTED_FIRST.match(text)
    if found is None or len(found[1].split()) > _TERM or not text[found.end()].islower():
        return True
    return not known.saying.isdisjoint(tokens(text[found.end() :])[:_SAID_SOON])


def is_titled(text: str, known: Lexicon) -> bool:
    """Whether most of its longer words begin with a capital: a heading, a link to another page."""
    longer = [word for word in surface_words(text) if len(word) > 3]
    loud = sum(1 for word in longer if word[0].isupper())
    return known.code in _SMALL_TITLES and len(longer) > 3 and loud >= _TITLED * len(longer)


def _begins(begin: str, sentence: Sentence, named: frozenset[str]) -> bool:
    """With a capital or a figure; a program's name at the beginning of a paragraph may be small: `w3m`."""
    if begin[:1].islower():
        first = sentence.words[0] if sentence.words else ""
        return sentence.first and (first in named or any(sign.isdigit() for sign in first))
    return begin[:1].isalnum() or not begin[:1].isascii()


_ABOVE: Final = re.compile(rf"\b(?:{signs('above')})")
"""What it is about stands further up."""


_NOTHING: Final = re.compile(
    r"it(?:['’]s| (?:is|was|seems|seemed|rains|snows|depends|turns|turned)"
    r"| (?:takes|took)\b.*\b(?:to|until|before|for))\b",
    re.I,
)
"""An `it` that may mean nothing: `It takes years until somebody hears a crack.`"""
_OTHERS: Final = re.compile(signs("others_say"), re.I)
"""What others hold is told so that something can be held against it."""


def sets_against(sentence: Sentence, known: Lexicon) -> bool:
    """Whether it begins with a word that sets it against what was said before."""
    said = " ".join(sentence.words[:4])
    return any(said.startswith(f"{mark.rstrip(',')} ") for mark in known.contrast)


def _leans(sentence: Sentence, begin: str, known: Lexicon, *, spoken: bool) -> bool:
    if sets_against(sentence, known):
        return True
    first = sentence.words[0]
    if first in ("it", "they", "he", "she", "this", "that") and spoken:
        return first != "it" or sentence.size < 8 or not _NOTHING.match(begin)
    if sentence.size <= _SHORT and not BACK.isdisjoint(sentence.words):
        return True
    if sentence.size <= _SPOKEN and sentence.words[-1] in _LEFT_OUT:
        return True
    if _ABOVE.search(sentence.text) or _OTHERS.match(begin):
        return True
    return leans_back(sentence.text, known.code) or (known.code != "en" and first in known.leaning)


def _answers(sentence: Sentence, sentences: Sequence[Sentence]) -> bool:
    """Whether it is a short answer to the question before it, in its paragraph or by somebody else; or begins as
    answers do."""
    before = sentences[sentence.index - 1] if sentence.index else sentence
    if not before.asks or not sentence.words or sentence.asks:
        return False
    turned = before.speaker != sentence.speaker
    if before.block != sentence.block and not turned:
        return False
    return sentence.size <= (_SPOKEN if turned else _SHORT) or sentence.words[0] in _ANSWERS


def _host(sentences: Sequence[Sentence], speakers: Sequence[str]) -> str:
    asked = Counter(sentence.speaker for sentence in sentences if sentence.asks and sentence.speaker)
    if len(speakers) < 2 or asked.total() < 2:
        return ""
    return max(sorted(asked), key=lambda speaker: asked[speaker])
