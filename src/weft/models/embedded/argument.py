"""How a document argues: what opens it, where it turns, how it closes, what it asks, claims, warns of and advises."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from weft.models.embedded.clauses import capital, finished, halves, shortened, without_opener
from weft.models.embedded.languages import Language, Role
from weft.models.embedded.languages.language import words as word_set
from weft.models.embedded.ranking import leans, points_elsewhere
from weft.models.embedded.sentence import Sentence

_MOST: Final = 24
_LONGEST_EFFECT: Final = 22
_ARTICLES: Final = word_set("a an any whoever ein eine un une una uno um uma een")
_MEANING: Final = word_set("means refers bedeutet heißt bezeichnet signifie désigne significa indica betekent означает")
"""What a definition goes on with, and verbs that define by themselves. `Is 58 kilometres away` defines nothing."""


@dataclass(frozen=True, slots=True)
class Pair:
    """Two statements that belong together: one against the other, or an effect and its cause."""

    left: str
    right: str
    word: str
    """The conjunction between them; "" when each has a sentence of its own."""
    sentences: tuple[int, ...]

    @property
    def has_speech(self) -> bool:
        """Whether somebody's words in quotation marks are in it, which can't be quoted once more."""
        return any(mark in self.left + self.right for mark in '"“”„«»「」')


@dataclass(frozen=True, slots=True)
class Argument:
    opening: int
    turn: int | None
    close: int
    questions: tuple[int, ...]
    contrasts: tuple[Pair, ...]
    causes: tuple[Pair, ...]
    by_role: dict[Role, tuple[int, ...]]
    """Sound sentences by what they do, best first."""
    definitions: tuple[int, ...]


def find_argument(sentences: Sequence[Sentence], language: Language) -> Argument:
    sound = [sentence for sentence in sentences if sentence.sound and not points_elsewhere(sentence, language)]
    told = sound or list(sentences)
    by_role: dict[Role, tuple[int, ...]] = {}
    for role in language.roles:
        mine = [sentence for sentence in sound if role in sentence.roles and not sentence.asks]
        by_role[role] = _best(mine)
    contrasts = _pairs(sentences, by_role.get("contrast", ()), lambda at: _contrast(sentences, at, language))
    causes = _pairs(sentences, by_role.get("cause", ()), lambda at: _cause(sentences[at], language))
    questions = [sentence for sentence in sentences if sentence.asks and sentence.size >= 4]
    return Argument(
        opening=_opening(told, language),
        turn=_turn(told, sentences, language),
        close=_close(told, language),
        questions=_best(questions),
        contrasts=contrasts,
        causes=causes,
        by_role=by_role,
        definitions=_best([sentence for sentence in sound if _defines(sentence, language)]),
    )


def _best(sentences: Sequence[Sentence]) -> tuple[int, ...]:
    ordered = sorted(sentences, key=lambda sentence: (-sentence.rank, sentence.index))
    return tuple(sentence.index for sentence in ordered[:_MOST])


def _pairs(
    sentences: Sequence[Sentence], places: Sequence[int], make: Callable[[int], Pair | None]
) -> tuple[Pair, ...]:
    return tuple(pair for at in places if (pair := make(at)) is not None)


def _contrast(sentences: Sequence[Sentence], at: int, language: Language) -> Pair | None:
    sentence = sentences[at]
    found = halves(sentence.text, language.but, language, cause=False)
    if found:
        return Pair(found[0], found[1], found[2], (at,))
    if not sentence.words or sentence.words[0] not in _turning(language) or at == 0:
        return None
    before = sentences[at - 1]
    if sentence.first:
        # A paragraph that turns does so against the paragraph before, which its first sentence stands for.
        before = next((one for one in reversed(sentences[:at]) if one.first), before)
        if before.block < sentence.block - 1 or not before.sound or before.asks or leans(before, language):
            return None
        return Pair(before.text, sentence.text, "", (before.index, at))
    if before.block != sentence.block or not before.sound or before.asks or leans(before, language):
        return None
    return Pair(before.text, sentence.text, "", (at - 1, at))


def _turning(language: Language) -> frozenset[str]:
    """Words that turn against what was said before when a sentence begins with them."""
    single = {mark for mark in language.roles.get("contrast", ()) if " " not in mark}
    opening = {opener for opener in language.openers if " " not in opener}
    return frozenset(single & opening)


def _cause(sentence: Sentence, language: Language) -> Pair | None:
    found = halves(sentence.text, language.because, language, cause=True)
    if found and (": " in found[0] or ";" in found[0] or len(found[0].split()) > _LONGEST_EFFECT):
        # The reason may belong to the last part only.
        return None
    return Pair(found[0], found[1], found[2], (sentence.index,)) if found else None


def _opening(told: Sequence[Sentence], language: Language) -> int:
    """The first sentence that stands by itself, not far from the beginning."""
    early = told[: max(3, len(told) // 10)]
    good = [sentence for sentence in early if not leans(sentence, language) and sentence.size >= 5]
    return (good or early)[0].index


def _close(told: Sequence[Sentence], language: Language) -> int:
    late = told[-max(3, len(told) // 12) :]
    drawn = [sentence for sentence in late if "close" in sentence.roles]
    good = [sentence for sentence in late[-3:] if not leans(sentence, language)]
    return (drawn or good or late)[-1].index


def _turn(told: Sequence[Sentence], sentences: Sequence[Sentence], language: Language) -> int | None:
    """The strongest contrast that is neither at the very beginning nor at the very end."""
    low, high = 0.12 * len(sentences), 0.92 * len(sentences)
    turning = _turning(language)
    found = [sentence for sentence in told if "contrast" in sentence.roles and low <= sentence.index < high]
    if not found:
        return None

    def strength(one: Sentence) -> float:
        turns = one.words[0] in turning
        return one.rank + 0.3 * turns + 0.4 * (turns and one.first)

    return max(found, key=lambda one: (strength(one), -one.index)).index


def _defines(sentence: Sentence, language: Language) -> bool:
    if not language.copulas or sentence.asks or leans(sentence, language):
        return False
    words = sentence.words
    if not language.first_person.isdisjoint(words):
        return False
    for at in range(1, min(6, len(words) - 1)):
        if words[at] in language.copulas and (words[at + 1] in _ARTICLES or words[at] in _MEANING):
            return sentence.size <= 34
    return False


def stated(sentence: Sentence, limit: int, language: Language) -> str:
    """The sentence as a statement of its own: short enough and without its tie to the one before; or ""."""
    text = shortened(sentence.text, limit, language)
    if not text:
        return ""
    # The names of columns are as the table has them.
    return finished(text) if sentence.kind == "table" else capital(finished(text))


def bare(sentence: Sentence, language: Language) -> str:
    return finished(without_opener(sentence.text, language))
