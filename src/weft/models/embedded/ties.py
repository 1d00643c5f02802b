"""What a sentence leaves to the ones before it: pronouns and pointers that nothing inside it explains.

Judged by words alone and only where the words are sure: `"...," she said` needs somebody named before; `their number`
needs several of something; `against those` needs to be told what. Whoever is in doubt lets the sentence stand.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from weft.models.embedded.languages import Language
from weft.models.embedded.languages.language import words as word_set

_MARKS: Final = tuple('"“”„«»「」')
_PERSONS: Final = word_set("""
he she they er sie il elle ils elles él ella ellos ellas lui lei loro ele ela eles elas hij zij ze он она они
""")
_ANSWERS: Final = word_set("yes no ja nein oui non sí no sì sim não да нет")
_HALF: Final = word_set("although though whereas because obwohl weil bien aunque sebbene embora")
_ECHO: Final = word_set("does do did one ones")
_ANNOUNCED: Final = word_set("things reasons points ways questions problems lessons steps kinds")
_COUNTED: Final = word_set("two three four five several some few many following these")
_THE_OTHER: Final = word_set("other others latter former one ones rest")
_ORDINAL: Final = word_set("first second third last best worst same")
_IS: Final = word_set("is are was were has had can will would sets gives takes turns means")
_SINGLE: Final = word_set("he she him her his hers himself herself")
_PLURAL: Final = word_set("they them their theirs themselves")
_POINTING: Final = word_set("those these")
_BEFORE: Final = word_set("""
at in on of from by with to for against into under about after before until since than off during within through
throughout
""")
_SOMEBODY: Final = word_set("""
man woman boy girl mother father brother sister son daughter wife husband friend aunt uncle child student person
anyone someone nobody everyone who whoever somebody user client patient neighbour neighbor nurse worker player
grandmother grandfather reader owner customer member developer parent boss colleague scientist artist poet
""")
_SEVERAL: Final = word_set("people children men women and both many others everyone nobody anyone someone who police")


def has_verb(found: Sequence[str], language: Language) -> bool:
    """Whether one of the words may be a finite verb."""
    english = language.code == "en"
    for at, word in enumerate(found):
        if english and (word.endswith("ing") or (at and found[at - 1] == "to")):
            continue
        if word in language.verbs or (english and at and word.endswith(("ed", "s", "n't"))):
            return True
    return False


def lacks_antecedent(
    text: str, surface: Sequence[str], found: Sequence[str], breaks: frozenset[int], language: Language
) -> bool:
    if found and found[0] in _ANSWERS and 1 in breaks:
        return True
    if found and found[0] in _HALF and not breaks:
        # `Although practicality beats purity.`
        return True
    if any(mark in text for mark in _MARKS) and _said_by_pronoun(found, language):
        return True
    return language.code == "en" and (
        _names_no_thing(found)
        or _nobody_named(surface, found, language)
        or _nothing_counted(found, language)
        or _points_back(found, breaks, language)
    )


def _names_no_thing(found: Sequence[str]) -> bool:
    """`The other is ...`, `The first sets ...`, `I never met anyone who does.`"""
    if found[-1:] and found[-1] in _ECHO:
        return True
    if len(found) > 2 and found[-1] in _ANNOUNCED and found[-2] in _COUNTED:
        # `Customers told us two things.` It only announces.
        return True
    if len(found) < 4 or found[0] != "the":
        return False
    return found[1] in _THE_OTHER or (found[1] in _ORDINAL and found[2] in _IS)


def _said_by_pronoun(found: Sequence[str], language: Language) -> bool:
    for at in range(len(found) - 1):
        first, second = found[at], found[at + 1]
        if (first in _PERSONS and second in language.saying) or (first in language.saying and second in _PERSONS):
            return True
    return False


def _nobody_named(surface: Sequence[str], found: Sequence[str], language: Language) -> bool:
    at = next((at for at, word in enumerate(found) if word in _SINGLE), -1)
    if at < 0:
        return False
    for number in range(at):
        word = found[number]
        bare = word[:-2] if word.endswith("'s") else word
        if bare in _SOMEBODY or bare in language.titles:
            return False
        if surface[number][:1].isupper() and word not in language.function and word not in language.weak:
            return False
    return True


def _nothing_counted(found: Sequence[str], language: Language) -> bool:
    """`Their` without several of anything before it; close to the beginning it may look ahead: `despite their...`."""
    at = next((at for at, word in enumerate(found) if word in _PLURAL), -1)
    if at < 3:
        return False
    several = (word for word in found[:at] if word not in language.function or word in _SEVERAL)
    return not any((word.endswith("s") and len(word) > 3) or word in _SEVERAL for word in several)


def _points_back(found: Sequence[str], breaks: frozenset[int], language: Language) -> bool:
    for at, word in enumerate(found):
        last = at + 1 == len(found) or at + 1 in breaks
        if word in _POINTING and last:
            return True
        led = at > 0 and found[at - 1] in _BEFORE
        if word in ("that", "this") and last and led:
            return True
        if word in ("that", "those") and led and not last and found[at + 1] not in language.function:
            return True
    return False
