"""Angles: pieces one could write from this text, each with a title in its own words and the sentences to start from.

Every kind of angle looks for its own material (a contradiction, a number, a cause, a person, an open end, advice, a
change); where the text has none, there is no such angle. No sentence leads two of them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from typing import Final

from weft.models.embedded.argument import Pair
from weft.models.embedded.clauses import capital, finished, is_command, main_clause, unfinished, without_opener
from weft.models.embedded.compose import NOTHING, Line, fits, line_of, spans_of
from weft.models.embedded.languages import Role
from weft.models.embedded.material import TITLE, Material, close_to, rule_pairs
from weft.models.embedded.profile import Topic
from weft.models.embedded.ranking import leans, likeness
from weft.models.embedded.sentence import Sentence
from weft.models.embedded.words import tokens

MOST: Final = 5
_WORTH: Final = {
    "topic": 0.9, "contrast": 0.4, "person": 0.34, "number": 0.32, "cause": 0.36, "open": 0.3, "question": 0.22,
    "claim": 0.26, "change": 0.24, "practice": 0.22, "problem": 0.22, "scene": 0.15, "meaning": 0.14, "theme": 0.1,
}  # fmt: skip
_TONES: Final[dict[str, tuple[str, ...]]] = {
    "beginner": ("practice", "meaning", "scene", "person", "question"),
    "intermediate": (),
    "expert": ("number", "cause", "contrast", "problem"),
    "mixed": ("change", "claim", "theme"),
}
_VOICES: Final[dict[str, tuple[str, ...]]] = {
    "first-person": ("claim", "person", "scene"),
    "third-person": ("number", "contrast", "change"),
    "instructional": ("practice", "problem", "meaning"),
}
_ROLES: Final[dict[Role, str]] = {
    "claim": "claim", "change": "change", "advice": "practice", "problem": "problem", "scene": "scene",
    "unknown": "open",
}  # fmt: skip


_STATING: Final = ("claim", "practice", "problem", "change", "meaning", "theme", "number", "advice", "measure")
_SPECIAL: Final[dict[str, dict[str, str]]] = {
    "told": dict.fromkeys((*_STATING, "scene"), "image"),
    "rules": dict.fromkeys(_STATING, "rule"),
    "listed": dict.fromkeys(_STATING, "item"),
    "changes": dict.fromkeys(_STATING, "news"),
    "steps": dict.fromkeys(("claim", "practice", "meaning", "theme", "number", "scene", "advice"), "step"),
}
"""What a kind of angle becomes in a document of another sort."""
_MOST_THEMES: Final = 2
_LEAST: Final = 6
"""The fewest words of a sentence that a piece can start from."""
BARE: Final = ("tion", "sion", "ment", "ness", "ity", "ance", "ence")
"""A noun without its article, as notes have it: `Decision postponed`. No question can be made of that."""
_REPEATED: Final = ("theme", "contrast")


@dataclass(frozen=True, slots=True)
class Angle:
    kind: str
    title: str
    line: Line
    strength: float
    sentences: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class _Draft:
    """An angle before it is chosen: its words are only written then, so that no wording is used up in vain."""

    kind: str
    title: str
    strength: float
    sentences: tuple[int, ...]
    write: Callable[[], Line]


def find_angles(material: Material) -> list[Angle]:
    """At most five, the strongest for this person first; never none."""
    drafts = sorted(_candidates(material), key=lambda draft: (-draft.strength, draft.sentences, draft.kind))
    chosen: list[Angle] = []
    for draft in drafts:
        if len(chosen) == MOST:
            break
        if len(draft.title) < 3 or any(_alike(draft, other, material) for other in chosen):
            continue
        same = sum(1 for one in chosen if one.kind == draft.kind)
        if draft.kind in _REPEATED and (same == _MOST_THEMES or (same and len(chosen) > _MOST_THEMES)):
            # What has nothing but a subject is worth a second angle only where there are few others.
            continue
        line = draft.write()
        if len(line.text) >= 10:
            spans = spans_of([line, *(line_of(sentence) for sentence in material.sentences(draft.sentences))])
            title = fits(draft.title, 100)
            chosen.append(Angle(draft.kind, title, Line(line.text, spans), draft.strength, draft.sentences))
    return chosen or [_plain(material)]


def score(angle: Angle, material: Material) -> float:
    """From 0 to 1: how well the text supports it and, where there are topics, how near it is to them."""
    strength = min(1.0, 0.3 + 0.5 * angle.strength)
    topics = material.profile.topics
    if not topics:
        return round(strength, 2)
    said = f"{angle.title} " + " ".join(material.reading.sentences[at].text for at in angle.sentences)
    near = max((topic.interest / 5 for topic in topics if topic.named_in(said)), default=0.0)
    return round(min(1.0, 0.6 * strength + 0.4 * near), 2)


def _alike(one: _Draft, other: Angle, material: Material) -> bool:
    if one.sentences[0] in other.sentences or other.sentences[0] in one.sentences or one.title == other.title:
        return True
    if one.kind.partition(".")[0] == other.kind.partition(".")[0] and one.kind not in ("topic", "theme", "contrast"):
        return True
    first, second = material.sentences((one.sentences[0], other.sentences[0]))
    return likeness(first, second) > 0.7


def _candidates(material: Material) -> Iterator[_Draft]:
    yield from _topics(material)
    yield from _contrasts(material)
    yield from _rules(material)
    yield from _causes(material)
    yield from _numbers(material)
    yield from _people(material)
    yield from _questions(material)
    for role, kind in _ROLES.items():
        for sentence in material.best(material.reading.argument.by_role.get(role, ()), 4):
            if kind != "scene" or not is_command(sentence.text, material.language):
                yield from _simple(material, kind, sentence)
    for sentence in material.best(material.reading.argument.definitions, 4):
        yield from _simple(material, "meaning", sentence)
    yield from _themes(material)


def _strength(material: Material, kind: str, *sentences: Sentence) -> float:
    weight = max(material.weight(sentence) for sentence in sentences)
    kind = kind.partition(".")[0]
    taste = 0.25 * (kind in _TONES[material.profile.tone]) + 0.2 * (kind in _VOICES[material.profile.voice])
    return round(_WORTH[kind] + 0.7 * weight + taste, 4)


def _draft(material: Material, kind: str, title: str, write: Callable[[], Line], *sentences: Sentence) -> _Draft:
    places = tuple(sentence.index for sentence in sentences)
    return _Draft(kind, title, _strength(material, kind, *sentences), places, write)


def _simple(material: Material, kind: str, sentence: Sentence, **parts: Line | str) -> Iterator[_Draft]:
    """One sentence leads; what stands beside it or is most like it goes along."""
    title, line = material.title(sentence), material.standing(sentence)
    if sentence.size < _LEAST and not sentence.speaker and sentence.kind == "prose" and not sentence.free:
        return
    if title and line and not sentence.asks:
        yield _draft(material, kind, title, partial(_told, material, kind, title, line, sentence, **parts), sentence)


def _told(
    material: Material, kind: str, title: str, line: Line, sentence: Sentence, **parts: Line | str
) -> Line:  # fmt: skip
    """The sentence, unless the title already says it; what to do with it; and what goes with it."""
    guidance = material.writer.say(guidance_key(material, "angle", kind), **parts)
    said = title.strip("“”„«»「」\u00a0")
    lead = NOTHING if said == unfinished(line.text) and guidance else line
    return material.writer.row([lead, guidance, _also(material, sentence, f"{title} {lead.text}")])


def guidance_key(material: Material, what: str, kind: str) -> str:
    """Which wording suits: a story is no case to argue, a rule no opinion, and a step no claim."""
    group = material.writer.group
    plain = kind.partition(".")[0]
    special = _SPECIAL.get(group, {}).get(plain, "")
    if special and material.writer.can(f"{what}.{special}"):
        return f"{what}.{special}"
    return f"{what}.{kind}" if material.writer.can(f"{what}.{kind}") else f"{what}.{plain}"


def _also(material: Material, sentence: Sentence, said: str) -> Line:
    more = _company(material, sentence, said)
    return (material.writer.say("angle.and", b=more) or more) if more else NOTHING


def _company(material: Material, sentence: Sentence, said: str) -> Line:
    for other in close_to(sentence, material.reading.sentences):
        line = material.standing(other, 180)
        if other.index in material.accompanied or other.asks or not material.leads(other):
            continue
        if other.size < _LEAST and other.kind == "prose":
            continue
        if line and unfinished(line.text) not in said:
            material.accompanied.add(other.index)
            return line
    return NOTHING


def _contrasts(material: Material) -> Iterator[_Draft]:
    for pair in material.reading.argument.contrasts[:6]:
        sentences = material.sentences(pair.sentences)
        if leans(sentences[0], material.language) or pair.has_speech or not all(map(material.leads, sentences)):
            continue
        left, right = _sides(pair, material)
        title = main_clause(finished(right.text), TITLE, material.language) or material.title(sentences[-1])
        if not title or _leaning(title, material):
            title = main_clause(finished(left.text), TITLE, material.language)
        if not title or len(left.text) + len(right.text) > 300:
            continue
        yield _draft(material, "contrast", capital(title), partial(_opposed, material, left, right), *sentences)


def _rules(material: Material) -> Iterator[_Draft]:
    """What is allowed beside what is forbidden in nearly the same words."""
    for allowed, forbidden in rule_pairs(material):
        left, right = material.statement(allowed, 150), material.statement(forbidden, 150)
        title = main_clause(forbidden.text, TITLE, material.language)
        if left and right and title:
            write = partial(_opposed, material, left, right)
            yield _draft(material, "contrast", capital(title), write, forbidden, allowed)


def _opposed(material: Material, left: Line, right: Line) -> Line:
    writer = material.writer
    return writer.say("angle.contrast", a=writer.quoted(left), b=writer.quoted(right)) or writer.row([left, right])


def _leaning(title: str, material: Material) -> bool:
    return title.split()[0].lower() in material.language.leaning if title else True


def _sides(pair: Pair, material: Material) -> tuple[Line, Line]:
    sentences = material.sentences(pair.sentences)
    left = without_opener(pair.left, material.language)
    right = without_opener(pair.right, material.language) if not pair.word else capital(pair.right)
    return Line(finished(left), sentences[0].spans), Line(finished(right), sentences[-1].spans)


def _causes(material: Material) -> Iterator[_Draft]:
    for pair in material.reading.argument.causes[:6]:
        sentence = material.reading.sentences[pair.sentences[0]]
        if leans(sentence, material.language) or not material.leads(sentence):
            continue
        if is_command(pair.left, material.language) or len(pair.right) > 220:
            continue
        effect, cause = Line(pair.left, sentence.spans), material.reason(pair)
        own = not material.language.first_person.isdisjoint(tokens(pair.left, material.language.code))
        bare = material.language.code == "en" and pair.left.split()[0].lower().endswith(BARE)
        why = NOTHING if own or bare else material.writer.say("title.why", a=material.writer.inside(effect))
        title = capital(why.text) or material.writer.quoted(effect).text
        if len(title) <= 100:
            yield _draft(material, "cause", title, partial(_explained, material, effect, cause, sentence), sentence)


def _explained(material: Material, effect: Line, cause: Line, sentence: Sentence) -> Line:
    writer = material.writer
    guidance = writer.say("angle.cause", b=writer.quoted(cause))
    if not guidance:
        return writer.row([Line(finished(effect.text), effect.spans), cause])
    return writer.row([guidance, _also(material, sentence, f"{effect.text} {cause.text}")])


def _numbers(material: Material) -> Iterator[_Draft]:
    for number in material.reading.numbers[:8]:
        sentence = material.reading.sentences[number.sentence]
        if number.strength < 0.95 + material.dull(number) or not sentence.sound or not material.leads(sentence):
            continue
        if is_command(sentence.text, material.language):
            continue
        for draft in _simple(material, f"number.{number.kind}", sentence, x=material.amount(number)):
            yield replace(draft, strength=draft.strength + 0.15 * (number.strength - 1))


def _people(material: Material) -> Iterator[_Draft]:
    reading = material.reading
    for quotation in material.quotations:
        if quotation.speaker and 15 <= len(quotation.text) <= 180:
            sentence = reading.sentences[quotation.sentence]
            said = Line(quotation.text, ((quotation.start, quotation.end),))
            yield from _person(material, quotation.speaker, said, sentence, quotation.start)
    if not reading.speakers:
        return
    for sentence in sorted(reading.sentences, key=lambda one: (-material.weight(one), one.index))[:16]:
        fit = sentence.speaker and sentence.sound and sentence.size <= 28 and not sentence.asks
        if fit and material.leads(sentence):
            yield from _person(material, sentence.speaker, line_of(sentence), sentence, sentence.start)


def _person(material: Material, speaker: str, said: Line, sentence: Sentence, near: int) -> Iterator[_Draft]:
    name, quote = material.named(speaker, near), material.writer.quoted(said)
    colon = material.writer.colon
    speaker = capital(speaker)
    title = quote.text if speaker in said.text else f"{speaker}{colon}{quote.text}"
    lead = NOTHING
    if len(title) > 100:
        thing = material.thing(sentence, 100 - len(speaker) - 2)
        title, lead = (f"{speaker}{colon}{thing}" if thing else ""), Line(finished(quote.text), quote.spans)
    if title:
        write = partial(_voiced, material, name, quote, lead, sentence, f"{title} {lead.text} {said.text}")
        yield _draft(material, "person", title, write, sentence)


def _voiced(material: Material, name: Line, quote: Line, lead: Line, sentence: Sentence, said: str) -> Line:
    guidance = material.writer.say("angle.person", n=name)
    line = material.writer.row([lead if guidance else quote, guidance, _also(material, sentence, said)])
    return Line(line.text, spans_of([line, name, quote]))


def _questions(material: Material) -> Iterator[_Draft]:
    for at in material.reading.argument.questions[:5]:
        asked = material.reading.sentences[at]
        text = capital(without_opener(asked.text, material.language))
        if len(text) > 100 or asked.size < 6 or not asked.terms or material.is_greeting(asked):
            continue
        if material.leads(asked) or asked.speaker:
            yield _draft(material, "question", text, partial(_asked, material, asked), asked)


def _asked(material: Material, asked: Sentence) -> Line:
    told = material.writer.row([material.writer.say("angle.question"), _also(material, asked, asked.text)])
    return told or line_of(asked)


def _topics(material: Material) -> Iterator[_Draft]:
    for topic in sorted(material.profile.topics, key=lambda one: (-one.interest, one.name))[:3]:
        about = [
            sentence for sentence in material.reading.sentences if topic.named_in(sentence.text) and sentence.sound
        ]
        for sentence in sorted(about, key=lambda one: (-one.rank, one.index))[:1]:
            yield from _topical(material, topic, sentence)


def _topical(material: Material, topic: Topic, sentence: Sentence) -> Iterator[_Draft]:
    """What the text says on a topic is offered even where the sentence leans on the one before."""
    line = material.statement(sentence)
    parts = [topic.name, *material.named_in(sentence)[:1]]
    title = material.title(sentence) or material.thing(sentence, TITLE) or capital(", ".join(dict.fromkeys(parts)))
    if line and not sentence.asks:
        write = partial(_told, material, "topic", title, line, sentence, t=Line(topic.name, sentence.spans))
        yield _draft(material, "topic", title, write, sentence)


def _themes(material: Material) -> Iterator[_Draft]:
    for theme in material.themes:
        for sentence in material.best(theme.sentences[:12], 3):
            yield from _simple(material, "theme", sentence, t=material.writer.quoted(theme.line))


def _plain(material: Material) -> Angle:
    best = max(material.reading.sentences, key=lambda sentence: (sentence.sound, sentence.rank, -sentence.index))
    label = material.themes[0].label if material.themes else ""
    title = material.title(best) or fits(unfinished(best.text), 100) or label
    title = title if len(title) >= 3 else f"{title} · {title} · {title}"
    line = material.writer.at_least(material.statement(best) or line_of(best, fits(best.text, 300)), 10)
    return Angle("theme", fits(title, 100), line, best.rank, (best.index,))
