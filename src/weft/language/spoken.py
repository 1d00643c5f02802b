"""Where somebody who speaks begins anew, in words that nobody has set stops in: automatic captions.

Nothing but words tells: one that begins (`so`, `and`, `but`, `now`) with a new subject behind it, after enough words to
be a statement; a hesitation; a greeting. The small words at both ends of a piece (`um`, `so`, `right`) say nothing and
are left off, and so is a piece that only greets. For the languages whose kits were read and checked, as data.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from weft.language.sentences import words as word_set

_WORD: Final = re.compile(r"[^\s]+")
_FEW, _LEAST, _LONG, _MOST = 4, 7, 26, 40
"""Words: before a hesitation, of a statement, from which any joint will do, and after which it is cut anywhere."""
_HESITATIONS: Final = word_set("um uh uhm erm ähm äh öhm euh heu eh ehm")
_HANGING: Final = word_set(
    "the a an of to in at from by into that because if when than as with for and or but que qu' parce de du"
    " des le la les un une si"
    " quand depuis comme chez à pour et ou el los las en con para por sin porque cuando entre y o der die das den dem"
    " ein eine im zum mit für von auf weil dass wenn ob und oder"
)
"""What no statement ends with."""
_COUNTED: Final = word_set(
    "first second third fourth last next erste zweite dritte letzte nächste premier première deuxième troisième"
    " dernier dernière primer primera segundo segunda tercero tercera último última"
)
"""`the second thing is`: whoever counts begins anew."""
_GREETINGS: Final = word_set(
    "thank thanks hello welcome danke hallo willkommen merci bonjour bonsoir bienvenue gracias hola bienvenidos"
)
_GREETING: Final = re.compile(
    r"\b(?:see you (?:next|soon|later|tomorrow|in the|then)|for (?:watching|listening|joining|tuning in)"
    r"|welcome (?:back|to)"
    r"|(?:like|subscribe) (?:button|to (?:the|my|this) channel)|leave a comment|in the comments"
    r"|bis zum nächsten|bis nächste woche|fürs (?:zuschauen|zuhören)|willkommen (?:zurück|auf|zu|bei)|abonniert"
    r"|in die kommentare"
    r"|bienvenue (?:dans|sur|à)|à la semaine prochaine|à bientôt|un pouce|abonnez|d'avoir regardé|en commentaires?"
    r"|bienvenid[oa]s|nos vemos|hasta (?:la próxima|luego|pronto)|suscrib|en los comentarios|por (?:ver|escuchar))\b",
    re.I,
)
_ANNOUNCED: Final = re.compile(
    r"(?:today|in this (?:video|episode)|heute|in diesem video|aujourd'hui|dans cette vidéo|hoy|en este vídeo)\b", re.I
)


@dataclass(frozen=True, slots=True)
class _Speech:
    joints: frozenset[str]
    """Where a long statement may be cut."""
    ands: frozenset[str]
    anew: frozenset[str]
    """What begins something else, with any phrase behind it."""
    subjects: frozenset[str]
    own: frozenset[str]
    """Subjects that begin a statement without anything before them: nobody asks by turning the words."""
    phrases: frozenset[str]
    """What may stand behind `and` within a statement as well: `flour and the water`."""
    fillers: frozenset[str]
    leaning: frozenset[str]
    """What a piece begins with that goes on from another."""


_SPEECH: Final[Mapping[str, _Speech]] = {
    "en": _Speech(
        joints=word_set("and but so or because then"),
        ands=word_set("and then"),
        anew=word_set("but so now well okay ok anyway alright first second finally today"),
        subjects=word_set(
            "i we you he she they it this that these those there what when if let somebody someone everybody everyone"
            " nobody i'm i've i'd we're we've you're they're it's that's there's he's she's what's let's don't please"
        ),
        own=frozenset(),
        phrases=word_set("the a an my our your his her their in some people most many one all every each"),
        fillers=word_set("and so but okay ok now well like right yeah anyway then alright"),
        leaning=word_set("it they he she this that these those because which or then"),
    ),
    "de": _Speech(
        joints=word_set("und aber also oder weil denn dann so"),
        ands=word_set("und dann"),
        anew=word_set("also aber so nun heute zuerst erstens zweitens drittens außerdem übrigens"),
        subjects=word_set("ich wir du ihr er sie es man das da wenn was viele manche niemand jeder dann jetzt mein"),
        own=frozenset(),
        phrases=word_set("der die ein eine meine unser unsere im in bei zum zur wie alle geht habe haben ist sind"),
        fillers=word_set("und also aber ja so nun jetzt okay genau naja halt"),
        leaning=word_set("er sie es das dies diese die weil denn oder davon dazu dann"),
    ),
    "fr": _Speech(
        joints=word_set("et mais donc alors ou parce puis"),
        ands=word_set("et"),
        anew=word_set("alors donc mais ensuite puis bon maintenant aujourd'hui d'abord enfin voilà"),
        subjects=word_set(
            "je j'ai on nous vous il elle ils elles c'est ça ce moi si quand depuis puis beaucoup certains"
        ),
        own=word_set("je j'ai moi beaucoup"),
        phrases=word_set("le la les un une mon ma mes notre votre dans pour avec tout tous chaque"),
        fillers=word_set("et alors donc mais bon ben voilà oui ok puis ensuite"),
        leaning=word_set("il elle ils elles ça cela ce c'est parce qui que donc ou"),
    ),
    "es": _Speech(
        joints=word_set("y pero entonces o porque luego así"),
        ands=word_set("y"),
        anew=word_set("entonces pero bueno ahora luego después hoy además finalmente primero"),
        subjects=word_set(
            "yo nosotros tú él ella ellos esto eso si cuando hay mucha muchas mucho muchos nadie desde nada siempre"
        ),
        own=word_set("yo nosotros"),
        phrases=word_set("el la los las un una mi mis nuestro en para con se todo todos cada vamos"),
        fillers=word_set("y pero entonces bueno pues vale ahora luego así"),
        leaning=word_set("él ella ellos esto eso que porque así o"),
    ),
}


def can_cut(language: str) -> bool:
    return language in _SPEECH


def announces(text: str) -> bool:
    """Whether somebody says at the beginning what a talk is about."""
    return _ANNOUNCED.match(text) is not None


def goes_on(word: str, language: str) -> bool:
    """Whether a piece that begins with this goes on from another."""
    return word in _SPEECH[language].leaning


def spoken_spans(text: str, start: int, end: int, language: str = "en") -> Iterator[tuple[int, int]]:
    """The places of what is said piece by piece in `text[start:end]`, without fillers around them and greetings."""
    speech = _SPEECH[language]
    words = [
        (match.group().lower().strip(",.?!").replace("’", "'"), match.start(), match.end())
        for match in _WORD.finditer(text, start, end)
    ]
    piece: list[tuple[str, int, int]] = []
    for at, word in enumerate(words):
        following, after = (words[near][0] if near < len(words) else "" for near in (at + 1, at + 2))
        if _begins(speech, word[0], following, after, piece):
            yield from _trimmed(speech, text, piece)
            piece = []
        piece.append(word)
    yield from _trimmed(speech, text, piece)


def _begins(speech: _Speech, word: str, following: str, after: str, piece: list[tuple[str, int, int]]) -> bool:
    size = len(piece)
    if size >= _MOST or (size >= _FEW and word in _HESITATIONS):
        return True
    greeted = size > 1 and any(one in _GREETINGS for one, _, _ in piece[:3])
    counted = following in _COUNTED if word in speech.phrases else after in _COUNTED and following in speech.phrases
    if (
        counted
        and size >= _LEAST
        and (word in speech.ands or (word in speech.phrases and piece[-1][0] not in _HANGING))
    ):
        return True
    if (size < _LEAST and not greeted) or piece[-1][0] in _HANGING or (word, following) == ("so", "that"):
        return False
    phrase = following in speech.subjects or following in speech.phrases
    if word in _GREETINGS or word in speech.own or (size >= _LONG and word in speech.joints and phrase):
        return True
    if word in speech.anew:
        return phrase or following in speech.fillers or following in _HESITATIONS
    return word in speech.ands and following in speech.subjects


def _trimmed(speech: _Speech, text: str, piece: list[tuple[str, int, int]]) -> Iterator[tuple[int, int]]:
    low, high = 0, len(piece)
    empty = speech.fillers | _HESITATIONS
    while low < high and piece[low][0] in empty:
        low += 1
    while high > low and piece[high - 1][0] in empty:
        high -= 1
    if low == high or (high - low < _LEAST and piece[low][0] in _GREETINGS):
        return
    if not _GREETING.search(text, piece[low][1], piece[high - 1][2]):
        yield piece[low][1], piece[high - 1][2]
