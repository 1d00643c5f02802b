"""What kind of thing a question asks for, and whether a sentence has one: how often a thing is done is not answered by
what it is, however near the words are. Told by the words of the question, in English, German, French and Spanish;
which, who and where ask for things that no sign tells.
"""

from __future__ import annotations

import re
from typing import Final

from weft.knowledge.keyword import stems

_NUMBER: Final = (
    r"\d|\b(?:one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|twenty|thirty|forty|fifty|hundred|thousand"
    r"|million|half|third|quarter|once|twice|dozen|several|no limit|unlimited|zero|eine[nrs]?|zwei|drei|vier|fünf|sechs"
    r"|sieben|acht|neun|zehn|elf|zwölf|hundert|tausend|keine|deux|trois|quatre|cinq|six|sept|huit|neuf|dix|cent|mille"
    r"|aucune?|dos|tres|cuatro|cinco|seis|siete|ocho|nueve|diez|cien|mil|ning[uú]n)\b"
)
_DATE: Final = (
    r"\d|\b(?:january|february|march|april|june|july|august|september|october|november|december|\w+day|januar|februar|märz"
    r"|mai|juni|juli|oktober|dezember|\w+tag|janvier|février|mars|avril|juin|juillet|août|septembre|octobre|novembre"
    r"|décembre|enero|febrero|marzo|abril|mayo|junio|julio|agosto|septiembre|octubre|noviembre|diciembre)s?\b"
)
_UNIT: Final = (
    r"(?:milli|micro|nano)?(?:seconds?|minutes?|hours?|days?|nights?|mornings?|weeks?|months?|quarters?|years?|decades?"
    r"|centur(?:y|ies)|sekunden?|minuten?|stunden?|tage?n?|nächte?n?|wochen?|monate?n?|jahre?n?|secondes?|heures?|jours?"
    r"|semaines?|mois|ans?|années?|segundos?|horas?|días?|semanas?|mes(?:es)?|años?)"
)
_OCCASION: Final = (
    rf"(?:{_UNIT}|times?|boots?|starts?|runs?|release|commits?|build|uploads?|login|requests?|changes?|other|few|\d+|two"
    r"|three|four|five|six|ten|zwei|drei|deux|trois|dos|tres)"
)
_BOUND: Final = (
    r"\b(?:at most|at least|up to|no more|not more|limit\w*|max\w*|min(?:imum|imal\w*)?|enough|any|than|exceed\w*|only"
    r"|between|within|höchstens|mindestens|bis|zwischen|als|au (?:plus|moins)|jusqu|entre"
    r"|hasta|máximo|mínimo|más|menos)\b"
)
_MONEY: Final = (
    r"[$€£¥]|\b(?:euros?|dollars?|pounds?|cents?|usd|eur|gbp|costs?|priced?|paid|pays?|fees?|free of charge|kostet"
    r"|kosten|kostenlos|coûte|gratuit|cuesta|gratis)\b"
)
_KINDS: Final = (
    (r"\b(?:costs?|price|expensive|salary|wages?|fees?|kostet|coûte|cuesta)\b", _MONEY, ""),
    (
        r"\bhow (?:often|frequently|regularly)\b|\bhow many times (?:an?|per|each|every)\b|\bat what intervals?\b"
        r"|\bwie oft\b|\bcombien de fois\b|\bquelle fréquence\b|\bcuántas veces\b|\bqué frecuencia\b",
        rf"\b(?:(?:every|each|jede[nrsm]?|alle|chaque|tou(?:te)?s les|cada) (?:\w+ )?{_OCCASION}"
        rf"|(?:once|twice|times|\d+|one|two|three|four|several|fois|veces|mal)(?: \w+)? (?:an?|per|each|every|in the"
        rf"|am|pro|im|par|al|por) {_UNIT}|once in a|twice|daily|weekly|monthly|yearly|hourly|nightly|annual(?:ly)?"
        r"|quarterly|never|always|regularly|periodically|occasionally|seldom|rarely|continuously|constantly|whenever|intervals?"
        r"|täglich|wöchentlich|monatlich|jährlich|stündlich|einmal|zweimal|dreimal|niemals|immer|regelmäßig|jamais|toujours"
        r"|quotidien\w*|diari\w+|nunca|siempre)\b",
        "",
    ),
    (
        r"\b(?:how long|how much time|wie lange|combien de temps|cuánto (?:tiempo|dura|tarda))\b",
        rf"(?:\d|\b(?:one|two|three|four|five|six|seven|eight|nine|ten|twelve|few|several|an?|half|eine[nr]?|zwei|drei"
        rf"|une?|deux|trois|un[ao]?|dos|tres))[\w.,/-]*\s(?:\w+\s)?(?:{_UNIT}|characters?|bytes?|bits?|letters?|lines?|words"
        r"|pages?|met(?:re|er)s?|kilomet(?:re|er)s?|km|cm|mm|inch(?:es)?|feet|foot|miles?)\b|\b\d+\s?(?:s|ms|min|h|m)\b"
        r"|\b(?:forever|indefinitely|overnight)\b",
        rf"\b(?:until|as long as|while|immediately|instantly|at once|limit|{_UNIT}|bis|solange|jusqu|hasta)\b",
    ),
    (
        r"\bhow (?:soon|late|early)\b|^\W*(?:when|wann|quand|cuándo)\b|\b(?:and|since|until|from|seit|bis|depuis"
        r"|desde) (?:when|wann|quand|cuándo)\b|\bwhat (?:year|date|time)\b",
        _DATE,
        _NUMBER
        + rf"|\b(?:may|after|before|when|if|as soon as|until|while|during|every|always|never|immediately|{_UNIT}|nach"
        r"|vor|sobald|wenn|bis|nie|après|avant|dès|pendant|quand|jusqu|jamais|después|antes|cuando|hasta|nunca)\b",
    ),
    (
        r"\bhow (?:many|much|old|far|large|big|small|high|tall|deep|wide|heavy|fast|strong|hot|cold|loud)\b"
        r"|\bwhat (?:number|percentage|share|size|amount)\b|\b(?:what|which) (?:version|port)\b"
        r"|\b(?:wie ?viele?|wie (?:groß|hoch|schwer|alt|weit|schnell|tief|breit)|combien|cuánt[oa]s?)\b",
        _NUMBER,
        "",
    ),
    (
        r"\b(?:what|which)(?:['’]s| is| are| \w+ (?:is|are))? (?:the |used by |used as )?(?:\w+ )?default\b"
        r"|\bby default\?|\b(?:standardmäßig|voreingestellt|par défaut|por defecto)\b",
        r"\bdefault\w*\b|\bunless\b|\b(?:if|when) (?:not|no|none|nothing|omitted|unset|absent|missing|you do not)\b"
        r"|\b(?:normally|usual(?:ly)?|standard\w*|automatically|initially|otherwise|preset|vorein\w+|défaut|defecto"
        r"|predetermin\w+)\b",
        "",
    ),
    (
        r"\bwhat(?:['’]s| is| are) the (?:\w+ )?(?:max(?:imum)?|min(?:imum)?|(?:upper|lower) limit|limits?)\b"
        r"|\b(?:maximal|höchstens|mindestens|au (?:plus|moins|maximum|minimum)|máximo|mínimo)\b",
        rf"^(?=.*(?:{_NUMBER}))(?=.*(?:{_BOUND}))",
        rf"\d|{_BOUND}",
    ),
    (
        r"\b(?:phone|telephone|fax) number\b|\be-?mail address\b|\b(?:url|web address|website)\b",
        r"\d{3}|\S@\S|https?:|www\.|\w\.(?:org|com|net|edu|de|fr|es|io)\b",
        "",
    ),
    (
        r"\bwhy\b|\bwhat is the reason\b|\b(?:warum|weshalb|wieso|pourquoi|por qué)\b",
        r"\b(?:because|since|as|reasons?|so|due|otherwise|therefore|thus|avoid|prevent|order to|cause[sd]?|result"
        r"|without|not|only|need(?:s|ed)?|would|means?|weil|da|denn|damit|wegen|sonst|nicht|parce|car|afin|éviter|sinon"
        r"|porque|para|evitar|debido)\b",
        "",
    ),
)
"""What a question asks for by its words, what a sentence has that is it, and what could be."""
_SIGNS_OF: Final = tuple(tuple(re.compile(sign, re.IGNORECASE) if sign else None for sign in signs) for signs in _KINDS)


_REASONS: Final = len(_KINDS) - 1
"""Which of them asks for a reason: that need not be marked by any word."""


_COUNTED: Final = re.compile(
    r"\b(?:how many|wie ?viele?|combien d(?:e |['’])|cuánt[oa]s)\s*(?P<thing>[^\W\d_]{3,})", re.IGNORECASE
)
_NEAR: Final = 4
"""Words within which a number stands before what it counts."""
_WORD: Final = re.compile(r"\w[\w.,'’-]*")


def _asked(question: str) -> int | None:
    """Which kind of thing is asked for, by its place; None where no sign tells."""
    return next((at for at, (sign, _, _) in enumerate(_SIGNS_OF) if sign is not None and sign.search(question)), None)


def fits(question: str, sentence: str) -> float:
    """Whether a sentence has the kind of thing that is asked for: 1 and 0; a half where it could, or none is asked."""
    asked = _asked(question)
    if asked is None:
        return 0.5
    _, surely, perhaps = _SIGNS_OF[asked]
    if surely is not None and surely.search(sentence):
        return 1.0 if _counts(question, sentence, surely) else 0.0
    return 0.5 if perhaps is not None and perhaps.search(sentence) else 0.0


def _counts(question: str, sentence: str, number: re.Pattern[str]) -> bool:
    """Where it is asked how many of something: whether a number stands before that, or is said of it behind it, and not
    before something else alone."""
    counted = _COUNTED.search(question)
    if counted is None:
        return True
    (thing,) = stems(counted["thing"])[:1] or ("",)
    words = _WORD.findall(sentence)
    places = [at for at, word in enumerate(words) if thing in stems(word)]
    said_of = re.search(rf"\b{thing}\w*(?: is| are|:| ?=| \()\W*((?:\w+ )?\S+)", sentence, re.IGNORECASE)
    if not places or (said_of and number.search(said_of[1])):
        return True
    return any(number.search(word) for at in places for word in words[max(0, at - _NEAR) : at])


def only_perhaps(question: str, sentence: str) -> bool:
    """Whether a kind of thing is asked for that the sentence may have, and may not."""
    return _asked(question) is not None and fits(question, sentence) == 0.5


def lacks_kind(question: str, sentence: str) -> bool:
    """Whether a number, a time, a price or the like is asked for, and nothing in the sentence could be one."""
    return _asked(question) not in (None, _REASONS) and fits(question, sentence) == 0
