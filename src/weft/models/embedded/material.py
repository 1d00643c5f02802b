"""What ideas and outline are built from: sentences as statements, titles and headings, weighed for one person.

A sentence weighs its rank, more when it touches a topic of the person, more or less by their tone: beginners get plain
and short sentences first, experts the ones with figures and contradictions.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from weft.language.stems import stem
from weft.models.embedded.argument import Pair, stated
from weft.models.embedded.clauses import (
    capital,
    clause_within,
    condition,
    finished,
    main_clause,
    unfinished,
    without_opener,
)
from weft.models.embedded.compose import NOTHING, Line, Writer, fits, line_of
from weft.models.embedded.kinds import group
from weft.models.embedded.languages import Language
from weft.models.embedded.languages.language import words as word_set
from weft.models.embedded.numbers import Number
from weft.models.embedded.phrases import Phrase
from weft.models.embedded.profile import Profile, Topic
from weft.models.embedded.ranking import is_untied, leans, likeness, points_elsewhere
from weft.models.embedded.reading import Reading
from weft.models.embedded.sentence import Sentence, Span
from weft.models.embedded.words import ANY_WORD, tokens

TITLE: Final = 98
"""The most characters of a title; a hundred are allowed."""
HEADING: Final = 90
_USUAL: Final = ("intermediate", "first-person")


@dataclass(frozen=True, slots=True)
class Subject:
    label: str
    sentences: tuple[int, ...]
    """Best first."""
    place: tuple[Span, ...]
    """Where the text has the label itself."""

    @property
    def line(self) -> Line:
        return Line(self.label, self.place)


def _subject(reading: Reading, label: str) -> Subject:
    known = next((theme for theme in reading.themes if theme.label == label), None)
    if known is not None:
        return Subject(label, known.sentences, reading.sentences[known.phrase.label[1]].spans)
    topic = Topic(label)
    about = [sentence for sentence in reading.sentences if topic.named_in(sentence.text)]
    ordered = sorted(about, key=lambda one: (-one.rank, one.index))
    return Subject(label, tuple(one.index for one in ordered), ordered[0].spans if ordered else ())


class Material:
    def __init__(self, reading: Reading, profile: Profile, summary: Mapping[str, Any]) -> None:
        self.reading = reading
        self.themes = [_subject(reading, str(label)) for label in summary.get("keyThemes", ())]
        """As the summary names them: a person may have changed it."""
        kept = {" ".join(str(quote.get("text", "")).split()) for quote in summary.get("importantQuotes", ())}
        # A quote may hold two of them, with who says it between.
        self.quotations = [one for one in reading.quotations if any(one.text in text for text in kept)]
        self.profile = profile
        self.language: Language = reading.language
        taste = "" if (profile.tone, profile.voice) == _USUAL else f"{profile.tone} {profile.voice}"
        self.writer = Writer(reading, group(str(summary.get("category", ""))), taste)
        self.limit = int(min(260, max(80, profile.rhythm * 9))) if profile.rhythm else 220
        self._quoted = {quotation.sentence: quotation for quotation in reversed(reading.quotations)}
        self._aside = reading.spoken
        self.host = reading.host
        self.accompanied: set[int] = set()
        """Sentences that already go along with an angle; each does so once."""
        self._numbered = frozenset(number.sentence for number in reading.numbers[:200])

    def sentences(self, places: Iterable[int]) -> list[Sentence]:
        return [self.reading.sentences[at] for at in places]

    def weight(self, sentence: Sentence) -> float:
        weight = sentence.rank
        topics = self.topics_in(sentence)
        if topics:
            weight *= 1 + 0.12 * max(topic.interest for topic in topics)
        if self.profile.tone == "beginner":
            weight *= 1.25 if sentence.size <= 16 else 0.8 if sentence.size > 24 else 1.0
        elif self.profile.tone == "expert":
            weight *= 1.3 if sentence.index in self._numbered or sentence.roles & {"contrast", "cause"} else 0.95
        return weight

    def topics_in(self, sentence: Sentence) -> list[Topic]:
        return [topic for topic in self.profile.topics if topic.named_in(sentence.text)]

    def best(self, places: Iterable[int], count: int = 6) -> list[Sentence]:
        found = [sentence for sentence in self.sentences(places) if sentence.sound and self.leads(sentence)]
        return sorted(found, key=lambda sentence: (-self.weight(sentence), sentence.index))[:count]

    def leads(self, sentence: Sentence) -> bool:
        """Whether a piece may start from it: not from words nobody is named for, nor from those of the host."""
        if sentence.index in self._aside or points_elsewhere(sentence, self.language):
            return False
        return not self.host or sentence.speaker != self.host

    def is_greeting(self, asked: Sentence) -> bool:
        """A question to somebody by name asks for a person, not for a thing."""
        return any(part in asked.surface for speaker in self.reading.speakers for part in speaker.split())

    def said(self, sentence: Sentence, limit: int) -> Line:
        """What the sentence says, in quotation marks: what is already quoted in it, or all of it."""
        quotation = self._quoted.get(sentence.index)
        if quotation is not None:
            fits_in = 12 <= len(quotation.text) <= limit
            return self.writer.quoted(Line(quotation.text, ((quotation.start, quotation.end),))) if fits_in else NOTHING
        line = self.standing(sentence, limit)
        return self.writer.quoted(line) if line and not sentence.asks else NOTHING

    def statement(self, sentence: Sentence, limit: int = 0) -> Line:
        """The sentence by itself; nothing when it is too long to be shown and can't be made shorter."""
        text = stated(sentence, limit or self.limit, self.language)
        return line_of(sentence, text) if text else NOTHING

    def standing(self, sentence: Sentence, limit: int = 0) -> Line:
        """The same, but nothing when it leans on the sentence before."""
        return (
            NOTHING
            if leans(sentence, self.language) and not is_untied(sentence, self.language)
            else self.statement(sentence, limit)
        )

    def title(self, sentence: Sentence, most: int = TITLE) -> str:
        """A title from a sentence: its main clause, or the thing it is about; "" when it gives neither."""
        if leans(sentence, self.language) and not is_untied(sentence, self.language):
            return ""
        if sentence.index in self._quoted:
            return self.said(sentence, most - 2).text or self._spoken_of(sentence)
        clause = main_clause(sentence.text, most, self.language)
        if clause and (self.language.spaced or len(clause) <= most):
            title = capital(unfinished(clause))
            own = not self.language.first_person.isdisjoint(tokens(title, self.language.code))
            return self.writer.quoted(Line(title)).text if own and len(title) + 4 <= most else title
        thing = self.thing(sentence, most)
        if len(thing.split()) > 3:
            return thing
        bare = without_opener(sentence.text, self.language)
        if not self.language.spaced:
            return thing or clause_within(bare, most)
        return condition(bare, most, self.language) or self.figured(sentence) or thing or self.paired(sentence)

    def _spoken_of(self, sentence: Sentence) -> str:
        """Who speaks, and of what, when the words themselves are too long for a title."""
        speaker = self._quoted[sentence.index].speaker
        about = [name for name in self.named_in(sentence) if name not in speaker]
        return f"{speaker}{self.writer.colon}{about[0]}" if speaker and about else ""

    def figured(self, sentence: Sentence) -> str:
        """What a sentence counts, with what it is about: `Landing stage: $4.2 million`."""
        number = next((one for one in self.reading.numbers[:80] if one.sentence == sentence.index), None)
        names = [name for name in self.named_in(sentence) if len(name) > 3]
        if number is None or not names:
            return ""
        amount = self.amount(number)
        name = next((name for name in names if name not in amount and amount not in name), "")
        return capital(f"{name}{self.writer.colon}{amount}") if name else ""

    def paired(self, sentence: Sentence) -> str:
        """The two things a sentence is about: `Client and translation`."""
        names = self.named_in(sentence)[:2]
        return capital(self.writer.listed(names)) if len(names) == 2 else ""

    def dull(self, number: Number) -> float:
        """How much less a number says where things are only counted out: `you need 20 GB`."""
        compared = self.reading.sentences[number.sentence].roles & {"measure", "change", "contrast", "problem"}
        plain = self.writer.group in ("steps", "listed", "rules") and number.kind == "count" and not compared
        return 0.5 if plain else 0.0

    def amount(self, number: Number) -> str:
        """A number as the text has it, with what it counts: `640 people`, `$4.2 million`, `71 percent`."""
        sentence = self.reading.sentences[number.sentence]
        if number.kind != "count" or not number.measures or not self.language.spaced:
            return number.text
        if self.language.code == "en":
            # `20 working days`, `14 busiest bus stops`, but `58 kilometres` without `away`.
            counted = re.search(
                re.escape(number.text) + r"(?:[\s-]+[a-z]+){0,3}?[\s-]+(?:[a-z]+[^usi\W\d_]s|people)\b", sentence.text
            )
            if counted and self.language.function.isdisjoint(tokens(counted.group())):
                return counted.group()
        first = number.measures.split()[0]
        found = re.search(rf"{re.escape(number.text)}[\s\u00a0-]+{re.escape(first)}\w*", sentence.text, re.I)
        return found.group() if found else number.text

    def thing(self, sentence: Sentence, most: int = HEADING) -> str:
        """The fullest naming of something in the sentence: the first sleeping car in eleven years."""
        sure = [phrase for phrase in self.phrases_in(sentence)[:6] if phrase.count > 1 or not phrase.text.endswith("s")]
        # What is said once and ends in s may be a subject with its verb, which would claim something.
        found = [self._naming(sentence, phrase) for phrase in sure[:4]]
        good = [text for text in found if len(text.split()) > 2 and len(text) <= most]
        return capital(max(good, key=lambda text: (len(text.split()) <= 8, len(text), text))) if good else ""

    def figure(self, sentence: Sentence) -> str:
        """The strongest number of a sentence with what it counts: 60 trees per hectare."""
        words = sentence.words
        for number in self.reading.numbers[:60]:
            if number.sentence != sentence.index or not number.measures:
                continue
            first = number.text.lower().split()[0].strip("$€£¥₹%")
            start = next((at for at, word in enumerate(words) if word == first), -1)
            end = start + 1
            while start >= 0 and end < len(words) and end - start < 6 and end not in sentence.breaks:
                if not (self._describes(words[end]) or words[end] in _TIES):
                    break
                end += 1
            while end > start + 1 and words[end - 1] in _TIES:
                end -= 1
            if start >= 0 and end - start > 1:
                return sentence.words_from(start, end)
        return ""

    def phrases_in(self, sentence: Sentence) -> list[Phrase]:
        return [phrase for phrase in self.reading.phrases if sentence.index in phrase.sentences]

    def named_in(self, sentence: Sentence) -> list[str]:
        """The phrases of a sentence, in its own forms."""
        found = [text for phrase in self.phrases_in(sentence)[:4] if (text := self._occurrence(sentence, phrase))]
        return list(dict.fromkeys(found))

    def _occurrence(self, sentence: Sentence, phrase: Phrase) -> str:
        """The phrase in the form this sentence has."""
        size = len(phrase.text.split())
        roots = [stem(word, self.language.code) for word in sentence.words]
        at = next((at for at, root in enumerate(roots) if root == phrase.key[0]), -1)
        if at < 0:
            return phrase.text if phrase.text in sentence.text else ""
        found = sentence.words_from(at, min(len(roots), at + size))
        return found[:-2] if found.endswith(("'s", "’s")) else found

    def _naming(self, sentence: Sentence, phrase: Phrase) -> str:
        language, words = self.language, sentence.words
        start = next((at for at, word in enumerate(words) if stem(word, language.code) == phrase.key[0]), -1)
        if start < 0 or not language.before_nouns:
            return ""
        end = min(len(words), start + len(phrase.text.split()))
        # Where adjectives stand behind the noun, what stands before it may be a verb.
        before = language.code in ("en", "de", "nl")
        while before and start > 0 and start not in sentence.breaks and self._describes(words[start - 1]):
            if language.code == "de" and sentence.surface[start - 1][:1].isupper():
                break
            if language.code == "en" and words[start - 1].endswith("s") and sentence.surface[start - 1].islower():
                # `council debates parking`: the word before may be the verb.
                break
            start -= 1
        if start > 0 and words[start - 1] in _OWNING:
            return ""
        if start > 0 and start not in sentence.breaks and self._determines(words[start - 1]):
            start -= 1
        end = self._extended(sentence, end)
        return sentence.words_from(start, end)

    def _determines(self, word: str) -> bool:
        # `de` is an article in Dutch and a preposition elsewhere.
        return word in _DETERMINERS and word not in _OWNING and (word != "de" or self.language.code == "nl")

    def _describes(self, word: str) -> bool:
        if word in self.language.function or word in self.language.verbs:
            return False
        if self.language.code == "en" and word.endswith("ly"):
            return False
        return ANY_WORD.match(word) is not None and not word[0].isdigit()

    def _extended(self, sentence: Sentence, end: int) -> int:
        """Behind the phrase: `in eleven years`, `between Varna and Linz`."""
        words = sentence.words
        for _ in range(2):
            at = end
            if at >= len(words) or at in sentence.breaks or words[at] not in _TIES:
                break
            at += 1
            while at < len(words) and at not in sentence.breaks and (self._determines(words[at]) or words[at] in _SAME):
                at += 1
            content = at
            while at < len(words) and at not in sentence.breaks and self._describes(words[at]) and at - content < 5:
                if at - content > 2 and not sentence.surface[at][:1].isupper():
                    break
                if at > content and self.language.code != "en" and not sentence.surface[at][:1].isupper():
                    break
                at += 1
            if at == content:
                break
            if at + 1 < len(words) and words[at] in _PAIRING and words[end] in _BETWEEN and at not in sentence.breaks:
                at += 2
            end = at
        return end

    def reason(self, pair: Pair) -> Line:
        """The cause of a pair; with its conjunction where nothing stands without it: `weil das Dach alt ist`."""
        sentence = self.reading.sentences[pair.sentences[0]]
        verb_last = self.language.code in ("de", "nl") and pair.word.lower() in ("weil", "omdat")
        return Line(finished(f"{pair.word} {pair.right}" if verb_last else pair.right), sentence.spans)

    def premise(self, sentence: Sentence, limit: int) -> Line:
        """What a sentence says, to ask about: in quotation marks when somebody speaks of themselves in it."""
        line = self.standing(sentence, limit)
        if not line or sentence.asks:
            return NOTHING
        own = not self.language.first_person.isdisjoint(tokens(line.text, self.language.code))
        if sentence.speaker:
            name, cited = self.named(sentence.speaker, sentence.start), self.writer.cited(line)
            return Line(f"{name.text}{self.writer.colon}{cited.text}", (*cited.spans, *name.spans))
        speech = any(mark in line.text for mark in '"“”„«»「」')
        return self.writer.cited(line) if own and not speech else line

    def named(self, name: str, near: int) -> Line:
        """A name with the place where the text has it, nearest to where it is needed."""
        text = self.reading.text
        before, behind = text.rfind(name, 0, near), text.find(name, near)
        places = [place for place in (before, behind) if place >= 0]
        if not places:
            return Line(name)
        place = min(places, key=lambda at: abs(at - near))
        return Line(name, ((place, place + len(name)),))

    def heading(self, lead: Sentence, label: Line = NOTHING) -> Line:
        """A heading for a part that a sentence leads: never more than fits on a line."""
        text = self.title(lead, HEADING) or self.thing(lead) or self.figured(lead) or self.paired(lead)
        if not text and label:
            return Line(capital(label.text), (*lead.spans, *label.spans))
        if not text:
            text = self.figure(lead) or unfinished(lead.text)
        return line_of(lead, fits(capital(unfinished(text)), HEADING + 16))


_DETERMINERS: Final = word_set("""
the a an this that these those his her its their our my der die das den dem des ein eine einen einem einer le la
les l un une des el los las una il lo gli i o a os as um uma de het een
""")
_OWNING: Final = word_set("his her its their")
"""Whose, nobody would know in a title."""
_SAME: Final = word_set("same other own very first last")
_BETWEEN: Final = word_set("between zwischen entre fra tra tussen")
_PAIRING: Final = word_set("and und et y e en")
_TIES: Final = word_set("""
of per in for between behind at with on from to under about der des im am für zwischen auf mit von vom aus de du
d à en entre sur pour avec del con sobre para por di da fra su van voor
""")


def close_to(sentence: Sentence, sentences: Sequence[Sentence]) -> list[Sentence]:
    """What stands around a sentence and what is most like it, nearest first."""
    around = [sentence.index + step for step in (1, -1, 2)]
    near = [at for at in around if 0 <= at < len(sentences) and sentences[at].section == sentence.section]
    like = [at for at, score in sentence.near if score > 0.08]
    found = dict.fromkeys([*near, *like])
    return [sentences[at] for at in found if at != sentence.index and sentences[at].sound]


_OPENLY: Final = word_set("""
why how what who whose which where when warum wieso wie was wer wessen wo wann pourquoi comment que qui où quand qué
cómo quién cuándo dónde perché come chi che por que como quem quando почему как кто что где когда waarom hoe wie wat
""")


def asks_openly(sentence: Sentence) -> bool:
    """Whether it begins as a question does that can stand at the head of a text: `Why does bread go stale?`"""
    return sentence.words[:1] != () and sentence.words[0] in _OPENLY and not sentence.speaker


_ALLOWS: Final = re.compile(r"\b(?:may|can|free to|permitted to|allowed to)\b(?! not\b)", re.I)
_FORBIDS: Final = re.compile(r"\b(?:may|must|shall|can|do) ?not\b|\bcannot\b|\bnot (?:permitted|allowed)\b", re.I)
_RULES_LOOKED_AT: Final = 120


def rule_pairs(material: Material) -> list[tuple[Sentence, Sentence]]:
    """In a text of rules: what is allowed and what is forbidden in nearly the same words, the nearest pairs first."""
    if material.writer.group != "rules" or material.language.code != "en":
        return []
    ranked = sorted(material.reading.sentences, key=lambda one: (-one.rank, one.index))[: 6 * _RULES_LOOKED_AT]
    fit = [one for one in ranked if one.sound and one.size <= 34 and material.standing(one, 170)]
    forbidden = [one for one in fit if _FORBIDS.search(one.text)][:_RULES_LOOKED_AT]
    allowed = [one for one in fit if _ALLOWS.search(one.text) and not _FORBIDS.search(one.text)][:_RULES_LOOKED_AT]
    spread = Counter(term for one in fit for term in one.terms)
    common = {term for term, count in spread.items() if 5 * count > len(fit)}
    found: list[tuple[float, Sentence, Sentence]] = []
    for no in forbidden:
        for yes in allowed:
            shared = (set(no.terms) & set(yes.terms)) - common
            if len(shared) > 1 and likeness(no, yes) >= 0.4:
                found.append((likeness(no, yes) + 0.1 * len(shared), yes, no))
    found.sort(key=lambda item: (-item[0], item[1].index, item[2].index))
    return [(yes, no) for _, yes, no in found[:3]]
