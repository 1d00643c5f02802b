"""Ideas that the text itself carries: what it asks and leaves open, its figures, where it sets one thing against
another, what it leaves out that a reader would need. Few, and none where there is none.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from itertools import islice, pairwise
from typing import Any, Final

from weft.models.embedded.kind_parts import is_talk
from weft.models.embedded.layout import Span
from weft.models.embedded.lexicon import sign_words, signs
from weft.models.embedded.quotes import spoken_quotes
from weft.models.embedded.reading import Reading, Sentence, opens_with_speech, says_unknown, sets_against
from weft.models.embedded.words import tokens

_QUESTIONS, _NUMBERS, _TENSIONS = 3, 3, 2
_NUMBER: Final = r"(?:\d{1,3}(?:[ \u00a0\u202f]\d{3})+(?!\d)(?:,\d+)?|\d[\d.,]*)"
"""Thousands may stand apart: `1 600 euros`."""
_FIGURE: Final = re.compile(
    rf"(?<![\w.,/-])(?:[$€£¥]\s?{_NUMBER}(?:\s?(?:million|billion|trillion|bn|m|k)\b)?|{_NUMBER}\s?(?:%|€|(?:{signs('unit')})\b)"
    r"|\d{1,3}(?:[.,]\d{3})+)(?![\w%$]|\.\d)"
)
_VARIABLE: Final = re.compile(r"\$\d\W*$")
"""What a program calls so, more often than a price."""
_WHOLE: Final = re.compile(r"100\s?(?:%|per|Prozent|pour|por)")
"""A way to say `quite`."""
_ACRONYM: Final = re.compile(r"(?<![\w-])[A-Z]{3,5}(?![\w-])")
_ROMAN: Final = re.compile(r"[IVXLCDM]+")
_COMMON: Final = sign_words("abbreviations")
_EMPTY: Final = re.compile(r"it (?:is|was|remains) ")
_DECLINED: Final = re.compile(rf"\b(?:{signs('declined')})\b", re.I)
_FEW: Final = 14
"""Words of a sentence that says of a question, and of nothing else, that nobody answered it."""
_BEFORE: Final = 3
"""Words before what says that something is not known: `So far it is unclear …`."""
_LED: Final = 4
"""Questions that stand above their answers: from so many on, that is what the text is made of."""
_LAST: Final = 0.85
"""From this part of a document on, a question in a paragraph of its own is left open, not answered below."""
_DATE: Final = re.compile(r"\b(?:1[5-9]|20)\d\d\b")
_OF_A_DAY: Final = ("news", "letter")
_TOLD_KINDS: Final = ("news", "article", "essay", "letter", "story", "interview", "transcript", "newsletter")
_BY_SENTENCES: Final = ("news", "letter", "newsletter", "note", "meeting")
"""Kinds that are read sentence by sentence, so that one may bring a new subject anywhere in its paragraph."""
_ASKING: Final = ("news", "essay", "letter", "note", "meeting")
"""Kinds that ask what they don't answer; elsewhere a question is answered, put to a reader, or an example."""
_MEASURING: Final = (*_TOLD_KINDS, "meeting", "paper", "note")
"""Kinds in which a figure says something; elsewhere it is a setting or an example."""
_FOR_ALL: Final = ("news", "letter", "newsletter", "essay")
"""Kinds whose readers need not know what letters stand for."""
_BACK: Final = sign_words("meant_before")
_TO_SOMEBODY: Final = sign_words("to_somebody")
_ASKED_BY: Final = re.compile(r"[A-ZÀ-Þ][\w.'’ -]{1,30}: ")
"""A question to a reader or a guest is not one that the text leaves open."""


def carried(reading: Reading, kind: str, summary: Mapping[str, Any], *, published: str, room: int) -> dict[str, Any]:
    """What goes into the ideas: each with its places."""
    used = _told_already(reading, summary)
    finder = _Carried(reading, kind, used, room)
    found: dict[str, list[tuple[Any, tuple[Span, ...]]]] = {
        "questions": list(islice(finder.questions(), _QUESTIONS)),
        "tensions": list(islice(finder.tensions(), _TENSIONS)),
        "numbers": list(islice(finder.numbers(), _NUMBERS)),
        "missing": list(finder.missing(published)),
    }
    return {
        **{name: [value for value, _ in items] for name, items in found.items()},
        "evidence": {name: [[list(span) for span in spans] for _, spans in items] for name, items in found.items()},
    }


def _told_already(reading: Reading, summary: Mapping[str, Any]) -> set[int]:
    """Sentences that the summary has: by their words, since a model may have written it."""
    said = " ".join(tokens(" \n ".join(_texts(summary))))
    evidence = summary.get("evidence", {})
    # A part may tell a sentence without what stands before it: `Action: …`.
    told = [*evidence.get("importantQuotes", ()), *(spans for part in evidence.get("parts", ()) for spans in part)]
    places = [span for spans in told for span in spans]
    return {
        one.index
        for one in reading.sentences
        if (one.words and " ".join(one.words) in said)
        or any(low < one.end and one.start < high for low, high in places)
    }


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for key, item in value.items():
            if key not in ("evidence", "contentId"):
                yield from _texts(item)
    elif isinstance(value, list | tuple):
        for item in value:
            yield from _texts(item)


class _Carried:
    def __init__(self, reading: Reading, kind: str, used: set[int], room: int) -> None:
        self._reading = reading
        self._kind = kind
        self._used = used
        self._room = room
        led = sum(1 for one in reading.sentences if one.asks and self._is_led(one))
        self._answers_itself = led >= _LED
        """A list of frequent questions."""
        self._talk = is_talk(reading, kind)

    def _takes(self, *sentences: Sentence) -> bool:
        size = sum(one.size for one in sentences)
        if size > self._room or any(one.index in self._used for one in sentences):
            return False
        self._room -= size
        self._used.update(one.index for one in sentences)
        return True

    def questions(self) -> Iterator[tuple[dict[str, str], tuple[Span, ...]]]:
        """What it asks and nobody in it answers; what it says is not known."""
        for one in self._reading.sentences:
            found = self._with_what_it_means(one) if self._is_open(one) else ()
            if found and self._takes(*found):
                yield (
                    {"question": " ".join(each.text for each in found)},
                    tuple(span for each in found for span in each.spans),
                )

    def _with_what_it_means(self, one: Sentence) -> tuple[Sentence, ...]:
        """`It is unclear whether the insurance covers it`: with the sentence before, or not at all."""
        if _BACK.isdisjoint(one.words[2:]) or one.asks:
            return (one,)
        before = self._reading.sentences[max(0, one.index - 1)]
        return (before, one) if before.block == one.block and not before.leans and before is not one else ()

    def _is_open(self, one: Sentence) -> bool:
        if self._talk or one.kind not in ("prose", "item") or not 5 <= one.size <= 40 or one.quoted:
            return False
        said = " ".join(one.words)
        if says_unknown(one, self._reading.known):
            if not self._is_about_that(one, said):
                return False
            # `It is not known` leans on nothing.
            stands = not one.leans or bool(_EMPTY.match(said))
            known = self._reading.known
            return one.sound and (stands or (known.code == "en" and said.startswith(tuple(known.unknown))))
        spoken = any(mark in one.text for mark in '"“„«')
        if not _TO_SOMEBODY.isdisjoint(one.words) or _ASKED_BY.match(one.text):
            return False
        if not one.asks or not one.sound or self._answers_itself or self._kind not in _ASKING or one.leans or spoken:
            return False
        return not self._is_led(one)

    def _is_about_that(self, one: Sentence, said: str) -> bool:
        """Whether that something is not known is what a sentence says, and not an aside of it: `a name that is not
        known is left out`."""
        marks = self._reading.known.unknown
        mark = one.mark_of(marks)
        before = f" {said} ".partition(f" {mark} ")[0].split() if mark else []
        return not mark or len(before) <= _BEFORE or said.endswith(mark)

    def _is_led(self, one: Sentence) -> bool:
        """A question that what comes next goes on to answer: the rest of its paragraph, or the next one, where it
        stands alone above it as a heading does; or somebody's words behind it."""
        sentences = self._reading.sentences
        after = next((other for other in sentences[one.index + 1 :] if not other.asks), None)
        if after is None:
            return False
        if _DECLINED.search(after.text) and after.size <= _FEW:
            return False
        above = one.first and one.index < _LAST * len(sentences)
        return after.block == one.block or after.text[:1] in '"“„«' or above

    def tensions(self) -> Iterator[tuple[dict[str, str], tuple[Span, ...]]]:
        """A sentence that sets itself against the one before with a word that says so; both are shown."""
        known = self._reading.known
        if self._talk or self._kind in ("manual", "code", "list", "poem", "captions", "transcript"):
            return  # of a talk it is not known who answers whom
        for before, one in pairwise(self._reading.sentences):
            if before.text[0] == "(":
                continue
            if opens_with_speech(before.text, known) or opens_with_speech(one.text, known):
                continue  # it is in what somebody says
            if not sets_against(one, known) or one.block != before.block:
                continue
            if not (one.sound and before.sound) or before.leans or one.asks or min(one.size, before.size) < 6:
                continue
            if self._kind not in _BY_SENTENCES and not self._reading.brings_its_subject(before):
                continue
            if max(one.size, before.size) <= 36 and self._takes(before, one):
                yield {"one": before.text, "other": one.text}, (*before.spans, *one.spans)

    def numbers(self) -> Iterator[tuple[dict[str, str], tuple[Span, ...]]]:
        """Figures with what they measure, from the sentences that are not told yet; the largest claims first."""
        found = []
        # In a talk a figure is somebody's, and somebody else may doubt it.
        for one in self._reading.sentences if not self._talk else ():
            stands = one.sound and not one.leans and not one.quoted
            stands = stands and (self._kind in _BY_SENTENCES or self._reading.brings_its_subject(one))
            match = _FIGURE.search(one.text) if stands and 6 <= one.size <= 34 else None
            if match and not _WHOLE.match(match.group()) and not _VARIABLE.match(match.group()):
                crowded = len(_FIGURE.findall(one.text)) > 2
                found.append((crowded, "%" not in match.group() and match.group()[0] not in "$€£¥", one, match))
        found.sort(key=lambda item: (*item[:2], item[2].index))
        for _, _, one, match in found:
            if self._kind in _MEASURING and self._takes(one):
                yield {"figure": match.group().strip(" .,"), "text": one.text}, one.spans

    def missing(self, published: str) -> Iterator[tuple[str, tuple[Span, ...]]]:
        """What the text uses and does not say. Each of these is a fact about the text, not an opinion."""
        if self._kind in _TOLD_KINDS and self._reading.word_count >= 150 and self._room >= 12:
            unspelled = self._unspelled() if self._kind in _FOR_ALL else ()
            yield from (*unspelled, *self._undated(published), *self._one_voice())

    def _unspelled(self) -> Iterator[tuple[str, tuple[Span, ...]]]:
        seen: dict[str, list[Span]] = {}
        for one in self._reading.sentences:
            loud = sum(1 for word in one.text.split() if len(word) > 2 and word.isupper())
            for name in _ACRONYM.findall(one.text) if loud < 3 and one.sound else ():
                seen.setdefault(name, []).append(one.spans[0])
        for name, spans in seen.items():
            written = (
                name in _COMMON
                or _ROMAN.fullmatch(name)
                or any(name.lower() in one.words for one in self._reading.sentences if name not in one.text)
            )
            if len(spans) > 1 and not written and not self._is_spelled(name):
                yield self._reading.says("acronym", name=name), (spans[0],)
                return

    def _is_spelled(self, name: str) -> bool:
        """`National Rail Authority (NRA)`, `NRA (National …)`, or the words anywhere in the text."""
        if re.search(rf"\({name}\)|{name}\s?\(|{name}s\b", self._reading.text):
            return True
        initials = r"\W+(?:(?-i:[a-zà-ÿ]{1,4})\W+){0,2}".join(rf"{letter}[\w'’-]+" for letter in name)
        return bool(re.search(initials, self._reading.text, re.I))

    def _undated(self, published: str) -> Iterator[tuple[str, tuple[Span, ...]]]:
        # Elsewhere `tomorrow` is any day.
        if published or _DATE.search(self._reading.text) or self._kind not in _OF_A_DAY:
            return
        for one in self._reading.sentences:
            mark = one.mark_of(self._reading.known.relative)
            at = one.text.lower().find(mark) if mark else -1
            if at >= 0:
                yield self._reading.says("when", name=one.text[at : at + len(mark)]), one.spans
                return

    def _one_voice(self) -> Iterator[tuple[str, tuple[Span, ...]]]:
        if self._kind != "news":
            return
        spoken = spoken_quotes(self._reading)
        names = {quote.speaker.split()[-1] if quote.speaker else "" for quote in spoken}
        saying = [one for one in self._reading.sentences if not self._reading.known.saying.isdisjoint(one.words)]
        alone = len(names) == 1 and "" not in names and all(min(names) in one.text for one in saying)
        if len(spoken) > 1 and alone:
            yield self._reading.says("voice", name=max((one.speaker for one in spoken), key=len)), (spoken[0].span,)
