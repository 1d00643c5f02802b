"""Hooks: first sentences for a piece, from what this text has. At most one of each type, and only where there is one.

statistic    its strongest number          curiosity    what it asks, what is unknown, an effect before its cause
controversy  two things that don't fit     story        a moment, a person in it         emotional   what hurts or warms
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final, Literal

from weft.models.embedded.argument import Pair
from weft.models.embedded.clauses import capital, finished, is_command, without_opener
from weft.models.embedded.compose import NOTHING, Line, spans_of
from weft.models.embedded.languages.language import words as word_set
from weft.models.embedded.material import Material, asks_openly, rule_pairs
from weft.models.embedded.ranking import leans
from weft.models.embedded.sentence import Sentence, Span
from weft.models.embedded.sentiment import colour

HookType = Literal["statistic", "curiosity", "controversy", "story", "emotional"]
_LEAST: Final = {"statistic": 0.95, "curiosity": 0.3, "controversy": 0.35, "story": 0.45, "emotional": 0.6}
_THINGS: Final = word_set("it it's they them they're es sie dies ils elles cela esto eso ciò isto isso")
_HIDDEN: Final = word_set("""
nobody never nothing somebody someone once secret strange until without no longer niemand nie nichts jemand einst
personne jamais rien quelqu'un nadie nunca nada alguien никто никогда ничего кто-то nessuno mai nulla ninguém nunca
""")
"""Words with which a story holds something back."""
_MAIN_ORDER: Final = word_set("denn want")
"""Behind these stands a whole sentence; behind `weil` none that could stand alone."""
_FIRST: Final[dict[str, HookType]] = {
    "first-person": "curiosity",
    "third-person": "statistic",
    "instructional": "controversy",
}
_ORDER: Final[dict[str, tuple[HookType, ...]]] = {
    "beginner": ("story", "curiosity", "emotional", "statistic", "controversy"),
    "intermediate": ("curiosity", "statistic", "story", "controversy", "emotional"),
    "expert": ("controversy", "statistic", "curiosity", "emotional", "story"),
    "mixed": ("statistic", "story", "controversy", "curiosity", "emotional"),
}


@dataclass(frozen=True, slots=True)
class Hook:
    type: HookType
    line: Line
    score: float
    sentence: int


def find_hooks(material: Material) -> list[Hook]:
    """The hooks in the order that suits the person; never none."""
    chosen: dict[HookType, Hook] = {}
    taken: set[Span] = set()
    candidates = [*_statistics(material), *_curiosities(material), *_controversies(material), *_stories(material)]
    candidates += _feelings(material)
    for hook in sorted(candidates, key=lambda hook: (-hook.score, hook.sentence, hook.type)):
        if (
            hook.type in chosen
            or not taken.isdisjoint(hook.line.spans)
            or hook.score < _LEAST[hook.type]
            or len(hook.line.text) < 5
        ):
            continue
        chosen[hook.type] = hook
        taken.update(hook.line.spans)
        taken.update(material.reading.sentences[hook.sentence].spans)
    # The voice says what to begin with, the tone how to go on.
    order = [_FIRST[material.profile.voice], *_ORDER[material.profile.tone]]
    return sorted(chosen.values(), key=lambda hook: order.index(hook.type)) or [_plain(material)]


def _plain(material: Material) -> Hook:
    best = max(material.reading.sentences, key=lambda sentence: (sentence.sound, sentence.rank, -sentence.index))
    line = material.statement(best) or Line(best.text, best.spans)
    return Hook("curiosity", material.writer.at_least(line, 5), best.rank, best.index)


def _statistics(material: Material) -> Iterator[Hook]:
    for number in material.reading.numbers[:16]:
        sentence = material.reading.sentences[number.sentence]
        line = material.standing(sentence)
        if line and number.text.split()[0] in line.text and sentence.sound and material.leads(sentence):
            strength = number.strength - material.dull(number) + 0.3 * _pull(material, sentence)
            yield Hook("statistic", line, strength, sentence.index)


def _pull(material: Material, sentence: Sentence) -> float:
    return material.weight(sentence) - sentence.rank


def _curiosities(material: Material) -> Iterator[Hook]:
    reading = material.reading
    for pair in reading.argument.causes[:6]:
        line = _effect_first(material, pair)
        if line:
            at = pair.sentences[0]
            yield Hook("curiosity", line, 0.75 + 0.5 * material.weight(reading.sentences[at]), at)
    by_role = reading.argument.by_role
    for sentence in material.best([*by_role.get("unknown", ()), *by_role.get("surprise", ())]):
        line = material.standing(sentence)
        if line:
            yield Hook("curiosity", line, 0.45 + 0.6 * material.weight(sentence), sentence.index)
    if material.writer.group == "told":
        for sentence in material.best([one.index for one in reading.sentences if not _HIDDEN.isdisjoint(one.words)]):
            line = material.standing(sentence)
            if line:
                yield Hook("curiosity", line, 0.5 + 0.4 * material.weight(sentence), sentence.index)
    for at in reading.argument.questions[:6]:
        asked = reading.sentences[at]
        if (
            asked.size < (4 if asks_openly(asked) else 6)
            or asked.tied
            or not asked.sound
            or not (material.leads(asked) or asked.speaker)
        ):
            continue
        line = _asked_and_answered(material, asked)
        if line and len(line.text) <= 1.2 * material.limit and not material.is_greeting(asked):
            yield Hook("curiosity", line, 0.5 + 0.5 * material.weight(asked) + 0.1 * (asked.size > 6), at)


def _effect_first(material: Material, pair: Pair) -> Line:
    sentence = material.reading.sentences[pair.sentences[0]]
    if leans(sentence, material.language) or not material.leads(sentence):
        return NOTHING
    effect = Line(finished(without_opener(pair.left, material.language)), sentence.spans)
    key = "hook.cause.main" if pair.word.lower() in _MAIN_ORDER else "hook.cause"
    line = material.writer.say(key, a=effect, b=Line(finished(pair.right), sentence.spans))
    return line if len(line.text) <= 1.2 * material.limit else NOTHING


def _asked_and_answered(material: Material, asked: Sentence) -> Line:
    """A question and, where somebody else answers it at once, the first words of the answer."""
    sentences = material.reading.sentences
    question = Line(capital(without_opener(asked.text, material.language)), asked.spans)
    if asked.index + 1 >= len(sentences):
        return question
    answer = sentences[asked.index + 1]
    if not asked.speaker or answer.speaker == asked.speaker or answer.asks or not 3 <= answer.size <= 24:
        return question
    return Line(f"{question.text} {finished(answer.text)}", spans_of([question, Line(answer.text, answer.spans)]))


def _controversies(material: Material) -> Iterator[Hook]:
    reading = material.reading
    for pair in reading.argument.contrasts[:8]:
        line = against(material, pair)
        if line:
            at = pair.sentences[-1]
            strong = 0.2 * any(word in reading.sentences[at].roles for word in ("claim", "problem"))
            yield Hook("controversy", line, 0.5 + 0.5 * material.weight(reading.sentences[at]) + strong, at)
    for allowed, forbidden in rule_pairs(material)[:1]:
        both = material.writer.row([material.statement(allowed), material.statement(forbidden)])
        yield Hook("controversy", both, 0.7 + 0.4 * material.weight(forbidden), forbidden.index)
    for sentence in material.best(reading.argument.by_role.get("claim", ())):
        line = material.standing(sentence)
        if line:
            yield Hook("controversy", line, 0.25 + 0.6 * material.weight(sentence), sentence.index)


def against(material: Material, pair: Pair) -> Line:
    """Both sides of a contrast as two sentences, in the words and the order of the source."""
    sentences = material.sentences(pair.sentences)
    if leans(sentences[0], material.language) and len(sentences) == 1:
        return NOTHING
    left = finished(without_opener(pair.left, material.language))
    gap = " " if material.language.spaced else ""
    right = finished(pair.right if not pair.word else f"{capital(pair.word)}{gap}{pair.right}")
    if len(left) + len(right) > 1.2 * material.limit:
        return NOTHING
    return Line(f"{left}{gap}{right}", spans_of(Line(one.text, one.spans) for one in sentences))


def _stories(material: Material) -> Iterator[Hook]:
    reading = material.reading
    opening = reading.sentences[reading.argument.opening]
    people = {at for name in reading.names if name.kind == "person" for at in name.sentences}
    told = _is_narrative(material)
    if material.writer.group in ("rules", "steps"):
        return
    if (
        opening.kind == "prose"
        and opening.size > 7
        and material.leads(opening)
        and (told or opening.index in people or opening.roles & {"scene"} or _is_set(opening, material))
    ):
        line = material.standing(opening)
        if line:
            yield Hook("story", line, 0.5 + 0.3 * material.weight(opening), opening.index)
    for sentence in material.best(reading.argument.by_role.get("scene", ()), 8):
        line = material.standing(sentence)
        if line and sentence.kind == "prose" and not is_command(sentence.text, material.language):
            yield Hook(
                "story", line, 0.45 + 0.4 * material.weight(sentence) + 0.1 * (sentence.index in people), sentence.index
            )


def _is_narrative(material: Material) -> bool:
    """Whether somebody is followed through the text: he and she in every third sentence."""
    people = material.language.pronouns - _THINGS
    told = [sentence for sentence in material.reading.sentences if not people.isdisjoint(sentence.words)]
    return len(told) > 4 and 3 * len(told) > len(material.reading.sentences)


def _is_set(sentence: Sentence, material: Material) -> bool:
    """Whether it says when or where: a time, a day, a place."""
    if not material.language.months.isdisjoint(sentence.words):
        return True
    places = {at for name in material.reading.names if name.kind == "place" for at in name.sentences}
    return sentence.index in places


def _feelings(material: Material) -> Iterator[Hook]:
    reading = material.reading
    for quotation in material.quotations:
        sentence = reading.sentences[quotation.sentence]
        bright, dark = colour(sentence, material.language)
        if len(quotation.text) > material.limit or (not quotation.speaker and bright + dark == 0):
            continue
        said = Line(finished(quotation.text), ((quotation.start, quotation.end),))
        line = material.writer.say(
            "hook.speech", a=material.writer.quoted(said), n=material.named(quotation.speaker, quotation.start)
        )
        named = bool(quotation.speaker) and quotation.speaker not in quotation.text
        line = line if named and line else material.writer.quoted(said)
        score = 0.5 + 0.15 * (bright + dark) + 0.3 * sentence.rank + 0.1 * bool(quotation.speaker)
        yield Hook("emotional", line, score, sentence.index)
    coloured = [sentence for sentence in reading.sentences if sentence.sound and _moves(sentence, material)]
    for sentence in sorted(coloured, key=lambda one: (-one.rank, one.index))[:8]:
        line = material.standing(sentence)
        if line and sentence.size <= 26:
            strength = sum(colour(sentence, material.language)) / sentence.size
            yield Hook("emotional", line, 0.4 + 1.5 * strength + 0.3 * material.weight(sentence), sentence.index)
    for sentence in _spoken(material):
        yield Hook("emotional", material.standing(sentence), 0.62 + 0.2 * sentence.rank, sentence.index)


def _moves(sentence: Sentence, material: Material) -> bool:
    """Two words with a colour, or one where somebody speaks of themselves."""
    least = 1 if not material.language.first_person.isdisjoint(sentence.words) else 2
    return sum(colour(sentence, material.language)) >= least and material.leads(sentence)


def _spoken(material: Material) -> list[Sentence]:
    """In a transcript: short sentences in which somebody speaks of themselves or warns."""
    if not material.reading.speakers:
        return []
    found = [
        sentence
        for sentence in material.reading.sentences
        if sentence.speaker
        and sentence.sound
        and material.leads(sentence)
        and not sentence.asks
        and 5 <= sentence.size <= 18
        and sentence.roles & {"problem", "claim", "advice"}
    ]
    return [one for one in sorted(found, key=lambda one: (-one.rank, one.index))[:6] if material.standing(one)]
