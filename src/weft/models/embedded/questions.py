"""Questions for a piece of one's own: the text's, where it asks any, and those its statements raise."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Final, Literal

from weft.models.embedded.angles import BARE, guidance_key
from weft.models.embedded.asking import asked_directly
from weft.models.embedded.clauses import capital, finished, is_command, unfinished, without_opener
from weft.models.embedded.compose import Line, fits, line_of, spans_of
from weft.models.embedded.languages.language import words as word_set
from weft.models.embedded.material import Material, asks_openly
from weft.models.embedded.ranking import leans
from weft.models.embedded.sentence import Sentence
from weft.models.embedded.words import tokens

QuestionType = Literal["analytical", "practical", "philosophical", "comparative"]
MOST: Final = 5
_LIMIT: Final = 140
"""The longest sentence to ask about."""
_OWN_LIMIT: Final = 170
_OPENING: Final = tuple('"“„«「')
_MODAL: Final = re.compile(
    r"\b(?:should|must|needs? to|has to|have to|ought to)\s+(?!not\b|be\b|have\b|never\b)"
    r"([a-z][^.?!;:]{12,90})[.;](?!\d)"
)
_BANS: Final = word_set("do don't never avoid")
_FINITE: Final = word_set("is are was were has have will would can")
_FIRST: Final[dict[str, tuple[QuestionType, ...]]] = {
    "first-person": ("philosophical", "analytical", "comparative", "practical"),
    "third-person": ("analytical", "comparative", "philosophical", "practical"),
    "instructional": ("practical", "analytical", "comparative", "philosophical"),
}
_ASKING: Final[dict[QuestionType, frozenset[str]]] = {
    "analytical": word_set("why warum wieso weshalb pourquoi qué perché почему لماذا 왜 क्यों"),
    "practical": word_set("how wie comment cómo come как كيف 어떻게 कैसे"),
    "comparative": word_set("which welche welcher quel quelle cuál better"),
}
_ASKING_UNSPACED: Final[dict[QuestionType, tuple[str, ...]]] = {
    "analytical": ("为什么", "为何", "なぜ"),
    "practical": ("怎么", "如何", "どう"),
    "comparative": ("哪", "どちら"),
}


@dataclass(frozen=True, slots=True)
class Question:
    type: QuestionType
    line: Line
    strength: float
    sentences: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class _Draft:
    """A question before it is chosen; as with angles, its words are written then."""

    type: QuestionType
    strength: float
    sentences: tuple[int, ...]
    write: Callable[[], Line]


def find_questions(material: Material) -> list[Question]:
    """At most five, in the order that suits the voice, of as many types as the text allows; never none."""
    drafts = sorted(_candidates(material), key=lambda one: (-one.strength, one.sentences, one.type))
    chosen: list[Question] = []
    for limit in (1, 2):
        for draft in drafts:
            same = sum(1 for other in chosen if other.type == draft.type)
            used = any(set(draft.sentences) & set(other.sentences) for other in chosen)
            if len(chosen) == MOST or same >= limit or used:
                continue
            line = draft.write()
            if 10 <= len(line.text) <= 320:
                spans = spans_of([line, *(line_of(sentence) for sentence in material.sentences(draft.sentences))])
                chosen.append(Question(draft.type, Line(capital(line.text), spans), draft.strength, draft.sentences))
    order = _FIRST[material.profile.voice]
    return sorted(chosen, key=lambda one: (order.index(one.type), -one.strength)) or [_plain(material)]


def _candidates(material: Material) -> Iterator[_Draft]:
    yield from _own(material)
    yield from _from_pairs(material)
    yield from _from_people(material)
    yield from _from_advice(material)
    yield from _from_numbers(material)
    roles = material.reading.argument.by_role
    yield from _from_open_ends(material)
    yield from _simple(material, "philosophical", "claim", roles.get("claim", ()), 0.35)
    yield from _simple(material, "philosophical", "open", roles.get("unknown", ()), 0.4)
    yield from _simple(material, "practical", "problem", roles.get("problem", ()), 0.3)
    yield from _simple(material, "practical", "advice", roles.get("advice", ()), 0.25)
    yield from _simple(material, "comparative", "measure", roles.get("measure", ()), 0.1)
    yield from _from_topics(material)
    for theme in material.themes[:4]:
        yield from _simple(material, "analytical", "theme", theme.sentences[:6], 0.05)


def _own(material: Material) -> Iterator[_Draft]:
    for at in material.reading.argument.questions[:8]:
        sentence = material.reading.sentences[at]
        text = capital(without_opener(sentence.text, material.language))
        if sentence.tied or not sentence.sound or leans(sentence, material.language):
            continue
        if (
            len(text) <= _OWN_LIMIT
            and sentence.terms
            and not (_is_small_talk(sentence) or material.is_greeting(sentence))
        ):
            worth = 0.4 if sentence.speaker and sentence.speaker == material.host else 0.8
            if _is_answered(material, sentence):
                worth -= 0.3
            line = Line(text, sentence.spans)
            yield _Draft(_type(sentence), worth + 0.6 * material.weight(sentence), (at,), partial(_as_it_is, line))


def _is_answered(material: Material, asked: Sentence) -> bool:
    """Whether the text answers at once, as a list of frequent questions does."""
    rest = material.reading.sentences[asked.index + 1 : asked.index + 2]
    return bool(rest) and rest[0].block <= asked.block + 1 and not rest[0].asks


def _as_it_is(line: Line) -> Line:
    return line


def _is_small_talk(sentence: Sentence) -> bool:
    """`What did you learn from that?` asks something only where it stands."""
    return (
        sentence.size < (4 if asks_openly(sentence) else 6)
        or sentence.text[:1] in _OPENING
        or (bool(sentence.speaker) and not {"that", "it", "this", "you", "your", "yourself"}.isdisjoint(sentence.words))
    )


def _type(sentence: Sentence) -> QuestionType:
    for kind, signs in _ASKING.items():
        if not signs.isdisjoint(sentence.words) or any(sign in sentence.text for sign in _ASKING_UNSPACED[kind]):
            return kind
    return "philosophical"


def _make(
    material: Material, kind: QuestionType, key: str, strength: float, *of: Sentence, **parts: Line | str
) -> Iterator[_Draft]:
    if material.writer.can(key):
        places = tuple(sentence.index for sentence in of)
        yield _Draft(kind, round(strength, 4), places, partial(material.writer.say, key, **parts))


def _simple(
    material: Material, kind: QuestionType, key: str, places: tuple[int, ...], worth: float
) -> Iterator[_Draft]:
    for sentence in material.best(places, 4):
        line = material.premise(sentence, _LIMIT)
        if line:
            told = is_command(sentence.text, material.language)
            if told and kind != "practical":
                continue
            # `Do not open the lid`: nothing goes wrong if one does not.
            order = "ban" if sentence.words[0] in _BANS else "step"
            asked = guidance_key(material, "question", order if told else key)
            asked = asked if material.writer.can(asked) else f"question.{key}"
            yield from _make(material, kind, asked, worth + 0.6 * material.weight(sentence), sentence, a=line)


def _from_open_ends(material: Material) -> Iterator[_Draft]:
    """What the text leaves open, asked straight out where that can be done, else asked about."""
    for sentence in material.best(material.reading.argument.by_role.get("unknown", ()), 4):
        asked = asked_directly(sentence.text, material.language)
        if asked:
            line = Line(asked, sentence.spans)
            yield _Draft(
                "philosophical", 0.9 + 0.4 * material.weight(sentence), (sentence.index,), partial(_as_it_is, line)
            )


def _from_pairs(material: Material) -> Iterator[_Draft]:
    sentences, writer = material.reading.sentences, material.writer
    for pair in material.reading.argument.causes[:6]:
        sentence = sentences[pair.sentences[0]]
        if leans(sentence, material.language) or not material.leads(sentence):
            continue
        if is_command(pair.left, material.language) or len(pair.left) > 120 or len(pair.right) > 140:
            continue
        effect = Line(without_opener(pair.left, material.language), sentence.spans)
        cause = writer.quoted(material.reason(pair))
        own = not material.language.first_person.isdisjoint(tokens(pair.left, material.language.code))
        if own or sentence.speaker:
            effect = writer.cited(effect)
        elif material.language.code == "en":
            effect = writer.inside(effect)
        else:
            effect = Line(finished(effect.text), effect.spans)
        bare = material.language.code == "en" and pair.left.split()[0].lower().endswith(BARE)
        if bare:
            effect = Line(finished(pair.left), sentence.spans)
        said = own or bare or bool(sentence.speaker)
        key = "question.cause.said" if said and writer.can("question.cause.said") else "question.cause"
        worth = 0.5 + 0.5 * material.weight(sentence)
        yield from _make(material, "analytical", key, worth, sentence, a=effect, b=cause)
    for pair in material.reading.argument.contrasts[:6]:
        both = material.sentences(pair.sentences)
        left = Line(finished(without_opener(pair.left, material.language)), both[0].spans)
        right = Line(finished(capital(without_opener(pair.right, material.language))), both[-1].spans)
        if leans(both[0], material.language) or pair.has_speech or len(left.text) + len(right.text) > 230:
            continue
        strength = 0.5 + 0.5 * material.weight(both[-1])
        yield from _make(
            material, "comparative", "question.contrast", strength, *both, a=writer.quoted(left), b=writer.quoted(right)
        )


def _from_people(material: Material) -> Iterator[_Draft]:
    """Two people who are quoted, one against the other."""
    said = [one for one in material.quotations if one.speaker and len(one.text) <= 110]
    for first in said:
        for second in said:
            if first.start < second.start and first.speaker != second.speaker:
                a, b = (material.writer.quoted(Line(one.text, ((one.start, one.end),))) for one in (first, second))
                n, m = (material.named(one.speaker, one.start) for one in (first, second))
                both = material.sentences((first.sentence, second.sentence))
                yield from _make(material, "comparative", "question.people", 0.75, *both, n=n, m=m, a=a, b=b)
                return


def _from_advice(material: Material) -> Iterator[_Draft]:
    if material.language.code != "en":
        return
    for sentence in material.best(material.reading.argument.by_role.get("advice", ()), 6):
        deed = _MODAL.search(sentence.text)
        if deed and not _FINITE.isdisjoint(deed.group(1).split()[1:3]):
            continue
        if deed and deed.group(1).split()[0] not in material.language.function and not {"(", ")"} & set(deed.group(1)):
            part = Line(unfinished(deed.group(1).split(", ")[0]), sentence.spans)
            yield from _make(
                material, "practical", "question.do", 0.5 + 0.5 * material.weight(sentence), sentence, a=part
            )


def _from_numbers(material: Material) -> Iterator[_Draft]:
    """The strongest figures: with the sentence they stand in, or by themselves when it is too long."""
    for number in material.reading.numbers[:6]:
        sentence = material.reading.sentences[number.sentence]
        if not material.leads(sentence) or is_command(sentence.text, material.language) or not sentence.sound:
            continue
        amount, worth = material.amount(number), 0.3 + 0.4 * material.weight(sentence)
        if number.strength <= 1.0 or material.writer.group == "told":
            continue
        line = material.premise(sentence, _LIMIT)
        if line and number.text.split()[0] in line.text:
            key = guidance_key(material, "question", f"number.{number.kind}")
            yield from _make(material, "analytical", key, worth, sentence, a=line, x=amount)
        elif len(amount.split()) > 1 or number.kind != "count":
            yield from _make(
                material, "analytical", "question.figure", worth - 0.1, sentence, x=Line(amount, sentence.spans)
            )


def _from_topics(material: Material) -> Iterator[_Draft]:
    known = material.reading.text
    for topic in sorted(material.profile.topics, key=lambda one: (-one.interest, one.name))[:2]:
        if any(sign.isdigit() for sign in topic.name) and topic.name not in known:
            continue
        named = [sentence for sentence in material.reading.sentences if topic.named_in(sentence.text)]
        pool = [one.index for one in named] or [one.index for one in material.reading.sentences]
        for sentence in material.best(pool, 3):
            line = material.premise(sentence, _LIMIT)
            if line:
                strength = 0.9 + 0.1 * topic.interest
                yield from _make(material, "comparative", "question.topic", strength, sentence, t=topic.name, a=line)
                break


def _plain(material: Material) -> Question:
    """For a text that raises nothing: what it says, as something to ask about."""
    best = max(material.reading.sentences, key=lambda sentence: (sentence.sound, sentence.rank, -sentence.index))
    line = material.premise(best, _LIMIT) or material.writer.quoted(line_of(best, fits(best.text, 200)))
    asked = material.writer.say(guidance_key(material, "question", "theme"), a=line) or Line(
        f"{fits(unfinished(best.text), 200)}?", best.spans
    )
    return Question("analytical", material.writer.at_least(asked, 10), best.rank, (best.index,))
