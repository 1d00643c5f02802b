"""A sentence as the row of what it states: words with their roles, numbers, dates, names.

A role says what may happen to a word while the statement stays the same. *Free* words (articles, auxiliaries, `also`)
come and go; *light* ones (`of`, `in`, `to`) may be left out; everything else has to be there. What turns a statement
round when it changes has a role of its own: numbers, dates, names, negations, modals, quantifiers, conditions, bounds.
Words that are not known here (another language) are content, so that they must be the same.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import field, replace
from fractions import Fraction
from functools import lru_cache
from itertools import zip_longest
from typing import Final, Literal

from weft.checks.dates import Day, dates_in
from weft.checks.number_words import spelled_runs
from weft.checks.numerals import numbers_in
from weft.checks.phrases import PHRASES
from weft.checks.units import UNITS, are_of_one_kind, measure
from weft.checks.word_forms import ALIKE, IRREGULAR, RANK, USING, are_forms, is_doing, is_past, is_plural, spelt
from weft.language.sentences import ENGLISH
from weft.language.stems import stem
from weft.protocol.values import dataclass

Role = Literal[
    "free", "light", "joint", "place", "pronoun", "content", "number", "date", "unit", "name",
    "negation", "modal", "quantifier", "condition", "bound", "limit",
]  # fmt: skip
FACTS: Final[frozenset[Role]] = frozenset({"number", "date", "name"})
TURNING: Final[frozenset[Role]] = frozenset({"negation", "modal", "quantifier", "condition", "bound", "limit"})
"""Roles of words that rule over others."""


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_FREE: Final = _words("""
a an the this these those is are was were be been being am 's has have had having do does did doing that which who whom
there also moreover furthermore however therefore thus hence consequently additionally indeed accordingly
nevertheless nonetheless then so very quite really please such too even etc
""")
_HELPING: Final = _words("is are was were 's has have had does do did need needs")
_LIGHT: Final = _words("of in on at to as into onto upon")
_JOINTS: Final = {"and": "and", "&": "and", "but": "and", "or": "or", "yet": "and", "plus": "and"}
_PLACES: Final = _words("""
for by with from about after before during between among through against under over above below within without since
until till toward towards across along behind beyond near off out up down inside outside onto per via than like despite
because although though while whereas where when whenever once whether throughout amid beneath beside regarding
concerning unlike besides
""")
"""Prepositions and what begins a clause: they say where the next words belong."""
_PRONOUNS: Final = _words("""
i me my mine we us our ours you your yours he him his she her hers it its they them their theirs himself herself itself
themselves myself yourself ourselves one's whose
""")
_NEGATIONS: Final = {
    **dict.fromkeys(("not", "no", "never", "cannot", "none", "neither", "nor", "nothing", "nobody", "nowhere"), "not"),
    "n't": "not",
}
_MODALS: Final = {
    "must": "must", "shall": "must", "should": "should", "ought": "should", "may": "may", "might": "might",
    "can": "can", "could": "could", "will": "will", "would": "would",
}  # fmt: skip
_QUANTIFIERS: Final = _words(
    "all every each most many several some few any both either half majority minority everyone"
)
_CONDITIONS: Final = _words("if unless except provided assuming otherwise whether excluding")
_BOUNDS: Final = _words("""
least most more less fewer over under up nearly almost about approximately roughly around some exactly precisely
maximum minimum exceeding below above greater
""")
_LIMITS: Final = _words("""
only merely solely exclusively just hardly barely scarcely rarely seldom always often sometimes usually generally
typically normally mostly mainly partly possibly probably perhaps maybe allegedly reportedly supposedly
falsely wrongly incorrectly longer
""")
_MANY: Final = {"they": "it", "them": "it", "their": "its", "theirs": "its", "themselves": "itself"}
"""A pronoun goes with the number of its noun, which is a matter of form."""
_KNOWN: Final[dict[str, tuple[Role, str]]] = {
    **{word: ("pronoun", _MANY.get(word, word)) for word in _PRONOUNS},
    **{word: ("place", word) for word in _PLACES},
    **{word: ("bound", word) for word in _BOUNDS},
    **{form: ("unit", unit) for form, unit in UNITS.items()},
    **{word: ("quantifier", word) for word in _QUANTIFIERS},
    **{word: ("limit", word) for word in _LIMITS},
    **{word: ("condition", word) for word in _CONDITIONS},
    **{word: ("modal", key) for word, key in _MODALS.items()},
    **{word: ("negation", key) for word, key in _NEGATIONS.items()},
    **{word: ("joint", key) for word, key in _JOINTS.items()},
    **{word: ("light", word) for word in _LIGHT},
    **{word: ("free", word) for word in _FREE},
}
"""A word that could be several is the last of them."""
_CAPITAL_WORDS: Final = _words("US IT WHO AM PM")
"""In capitals these are names, not the small words they look like."""
_CONTRACTED: Final = {"'re": "are", "'ve": "have", "'ll": "will", "'d": "would", "'m": "am"}
_WHOLE: Final = {
    "can't": "can not", "cannot": "can not", "won't": "will not", "shan't": "shall not", "ain't": "is not",
    "let's": "let us",
}  # fmt: skip
_PHRASE_ROLES: Final[dict[str, Role]] = {
    "to": "light", "except": "condition", "if": "condition", "whether": "condition", "all except": "quantifier",
    "must": "modal", "may": "modal", "can": "modal", "no longer": "negation", "nobody": "negation",
    "whose": "pronoun", "about": "bound", "percent": "unit", "each other": "pronoun",
}  # fmt: skip
"""Of phrases that are no prepositions."""
_BROKEN: Final = re.compile(
    r"(?<=\w)(?:\u2010\s+|\u00ad\s*)(?=\w)|(?<=[a-z]{2})-\s+(?!(?:and|or|nor|to|und|oder)\b)(?=[a-z]{2})"
)
"""Where a line ended inside a word."""
_MARKUP: Final = re.compile(
    r"(?:(?<=\s)|(?<=[.,;:)\"'”]))\[\d{1,3}(?:[,–-] ?\d{1,3})*\]"
    r"|\{(?=\w[^{}]*\})|(?<=\w)\}"
    r"|`+|\*{1,3}(?=\S)|(?<=\S)\*{1,3}|(?<!\w)_{1,2}(?=\w)|(?<=[\w.,;:!?)])_{1,2}(?!\w)"
)
_ITEM: Final = re.compile(r"\A\s*(?:[-*•+]\s+|\((?:\w{1,3})\)\s+|\d{1,3}[.)]\s+|[a-z][.)]\s+|#{1,6}\s+)")
_OPENER: Final = re.compile(
    r"\A\W*(?:(?:for example|for instance|in addition|in fact|in particular|of course|by contrast|in contrast"
    r"|as a result|as such|that is|because of this|for this reason|in other words"
    r"|on the other hand|finally|lastly|similarly|likewise|instead|overall|importantly|notably"
    r"|interestingly|in short|by the way|in conclusion|in summary|however|therefore|moreover|furthermore|indeed|thus"
    r"|also|nevertheless|nonetheless|consequently|besides|remember|yes|no)(?:,| [—–-]) "
    r"|(?:note|warning|caution|important|tip|hint): |(?:fortunately|unfortunately|luckily|sadly),? "
    r"|(?:please )?(?:note|remember|be aware|(?:keep|bear) in mind) that "
    r"|(?:but )?you (?:should|must|may|will|need to)(?: also)?(?: be glad to)? (?:know|note|remember) that "
    r"|as (?:(?:you|we) (?:can |have |will )?)?(?:see|seen|know|discussed|mentioned|noted|described|explained)\b"
    r"(?! by\b)[^,]*, )",
    re.IGNORECASE,
)
"""What ties a sentence to others and says nothing itself."""
_ROW: Final = re.compile(r"\A\s*\|[\s|]*")
"""The beginning of a table's row."""
_CELLS: Final = re.compile(r"\s*\|[\s|]*")
_LINK: Final = re.compile(r"\[([^\[\]]{1,200})\]\([^()\s]{1,300}\)")
_TOKEN: Final = re.compile(
    r"(?<![^\s(\[{=|\"'`])--?[A-Za-z][\w-]*|/[\w./-]*[\w/]|[A-Za-z]:\\\S+|\w+(?:[._/@:+-]\w+)*(?:'\w+|\+\+)?|[%$€£¥°&#]|[,;:()\[\]\"!?.–—…]|\S"
)
_CODE: Final = re.compile(
    r"^(?:-.*|/.*|.*[_/\\@].*|.*\w\.\w.*|.*[a-z][A-Z].*|.*\d.*[A-Za-z].*|.*[A-Za-z].*\d.*|\w+\(\))$"
)
_PARTICLES: Final = _words("ins ons ups outs offs downs")
"""Of more than one: `plug-ins`, `add-ons`."""
_RAISED: Final = "⁰¹²³⁴⁵⁶⁷⁸⁹"
_SLASHED: Final = re.compile(r"\A([a-z]{3,})/([a-z]{3,})\Z")
"""`client/server` is `client-server`."""
_INNER: Final = re.compile(r"[a-z][A-Z]")
_LETTER: Final = re.compile(r"\A([eE])-(?=[a-z]{3,}\Z)")
"""`e-mail` is `email`."""
_PARTED: Final = re.compile(r"(?<=[a-z]) / (?=[a-z])")
_ADDRESS: Final = re.compile(r"\b([A-Z][\w.'-]*) ?<[\w.+-]+@[\w.-]+>")
"""Of whom a name was said before."""
_OWNER: Final = re.compile(r'(?<=\w)["”]s\b')
"""`the agency"s` is how some agencies write `the agency's`."""
_BREAKS: Final = frozenset(',;:()[]"–—…')


@dataclass(frozen=True, slots=True)
class Token:
    text: str
    """As written."""
    key: str
    """What is compared: the same for all forms of a word, all ways to write a number."""
    role: Role
    start: int
    before: str = ""
    """The signs between the word before and this one."""
    values: frozenset[str] = frozenset()
    """Of a number: every way its digits can be read."""
    unit: str = ""
    """Of a number: the unit behind it."""
    day: Day | None = None
    word: str = field(init=False, repr=False, compare=False)
    """In small letters."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "word", self.text.lower())


@dataclass(frozen=True, slots=True)
class Statement:
    text: str
    tokens: tuple[Token, ...]
    asks: bool
    keys: frozenset[str] = field(init=False, repr=False, compare=False)
    """Of what carries the sense."""

    def __post_init__(self) -> None:
        told = frozenset(token.key for token in self.tokens if token.role not in ("free", "light", "joint"))
        object.__setattr__(self, "keys", told)


@lru_cache(maxsize=8192)
def read_statement(sentence: str) -> Statement:
    """One sentence, without its mark-up."""
    text = _OWNER.sub("'s", _LINK.sub(r"\1", _BROKEN.sub("", sentence)))
    if _ROW.match(text):  # a cell and the next are what a person writes with a colon
        text = _CELLS.sub(": ", _ROW.sub("", text).rstrip("| "))
    text = " ".join(_ITEM.sub("", _MARKUP.sub("", text)).replace("’", "'").replace("‘", "'").split())
    text = _OPENER.sub("", re.sub(r"[“”„«»]", '"', _ADDRESS.sub(r"\1", _PARTED.sub("/", text))))
    named = list(_named(_had(list(_tokens(text))), stopped=text.endswith(".")))
    tokens = tuple(_measured(_able(list(_phrased(_pointing(named))))))
    return Statement(text, tokens, text.rstrip("\"') ").endswith("?"))


def _had(tokens: list[Token]) -> list[Token]:
    """`it'd been lit` is `it had been lit`, `it'd be lit` is `it would be lit`."""
    return [
        replace(_token("had", "had", token.start), before=token.before)
        if token.text == "'d"
        and at + 1 < len(tokens)
        and (is_past(tokens[at + 1].word) or tokens[at + 1].word.endswith("ed"))
        else token
        for at, token in enumerate(tokens)
    ]


def _tokens(text: str) -> Iterator[Token]:
    facts = _facts(text)
    signs = ""
    position = 0
    while match := _TOKEN.search(text, position):
        fact = facts.get(match.start())
        piece = match.group()
        inside = [start for start in facts if match.start() < start < match.end()] if len(piece) > 1 else []
        if fact is None and inside:
            piece = text[match.start() : min(inside)]  # A sign written close to a number: `$12`, `(5`.
        if fact is not None:
            token, position = fact
            yield replace(token, before=signs)
            signs = ""
            continue
        position = match.start() + len(piece)
        if all(sign in _BREAKS or sign in "!?.'-" for sign in piece) and not piece.isalnum():
            signs += piece
            continue
        for token in _word_tokens(piece):
            yield Token(token.text, token.key, token.role, match.start() + token.start, signs)
            signs = ""


def _facts(text: str) -> dict[int, tuple[Token, int]]:
    """The dates and numbers of a text by where they begin, with where they end."""
    found: dict[int, tuple[Token, int]] = {}
    taken: list[tuple[int, int]] = []
    for start, end, day in dates_in(text):
        found[start] = Token(text[start:end], f"date {day}", "date", start, day=day), end
        taken.append((start, end))
    for match in _PARTED_NUMBER.finditer(text):
        start, end = match.span()
        found[start] = Token(match[0], match[0].replace(",", ""), "name", start), end
        taken.append((start, end))
    for start, end, value in spelled_runs(text):
        if value != "1" and not any(low < end and start < high for low, high in taken):
            found[start] = Token(text[start:end], value, "number", start, values=frozenset({value})), end
            taken.append((start, end))
    for written in numbers_in(text, words=True):
        start, end = written.start, written.start + len(written.text)
        if any(low < end and start < high for low, high in taken):
            continue
        if _inside_a_word(text, start, end):
            continue
        scaled = [reading for reading in written.readings if len(reading) == 1]
        if not scaled:
            continue
        scale = re.match(r"[\s-]?(?:hundred|thousand|million|billion|trillion)\b", text[end : end + 12], re.I)
        # With a scale behind it only the scaled reading is meant.
        meant = scaled[len(scaled) // 2 :] if scale and len(scaled) > 1 else scaled
        values = frozenset(reading[0] for reading in meant)
        end += scale.end() if scale else 0
        start, end, values = _as_written(text, start, end, values)
        found[start] = Token(text[start:end], min(values), "number", start, values=values), end
    return found


_PARTED_NUMBER: Final = re.compile(
    r"(?<![\w.,:/])\d+(?::\d+(?:,\d{3})*)+(?![\w/])|(?<![\w.,:'])\d+(?:\.\d+)?['′″](?![\w'])"
)
"""A time of day, a result, a scale, feet: `6:40`, `3:2`, `1:25,000`, `12'`; its parts say nothing by themselves."""


def _as_written(text: str, start: int, end: int, values: frozenset[str]) -> tuple[int, int, frozenset[str]]:
    """A number with its sign; and `2.10` is no `2.1` where it measures nothing: a version, a section."""
    behind = _UNIT_BEHIND.match(text, end)
    measures = text[start - 1 : start] in _MONEY or (behind is not None and behind[1].lower() in UNITS)
    if not measures and re.fullmatch(r"\d+\.\d*0", text[start:end]):
        values = frozenset({text[start:end]})
    if _MINUS.search(text, 0, start):
        return start - 1, end, frozenset(f"-{value}" for value in values)
    return start, end, values


_MINUS: Final = re.compile(r"(?:^|(?<=[\s(]))[-−]\Z")
_UNIT_BEHIND: Final = re.compile(r"\s?([%$€£¥°]|[A-Za-zµμ]+)")
_MONEY: Final = tuple("$€£¥")


def _inside_a_word(text: str, start: int, end: int) -> bool:
    """`mp3`, `/dev/sda1`, `2.4-rc1` are names; `110mm` and `3rd` are not."""
    before = text[max(0, start - 2) : start]
    if before[-1:].isalnum() or (before[-1:] in tuple("_./\\-@") and before[:-1].strip("0123456789 ") != ""):
        return True
    return re.match(r"[A-Za-z_]", text[end : end + 1]) is not None and not _glued_unit(text, end)


def _glued_unit(text: str, end: int) -> bool:
    glued = re.match(r"[A-Za-zµμ]+", text[end:])
    return glued is not None and (glued[0].lower() in UNITS or glued[0].lower() in ("st", "nd", "rd", "th"))


@lru_cache(maxsize=16_384)
def _word_tokens(piece: str) -> tuple[Token, ...]:
    """What is written as one, as the words that it is; they begin where they begin in it."""
    return tuple(_words_in(piece))


def _words_in(piece: str) -> Iterator[Token]:
    small = piece.lower()
    if small in _WHOLE:
        for word in _WHOLE[small].split():
            yield _token(word, word)
        return
    for ending in ("n't", *_CONTRACTED):
        if small.endswith(ending) and len(small) > len(ending):
            yield _token(piece[: -len(ending)], piece[: -len(ending)])
            word = _CONTRACTED.get(ending, ending)
            yield _token(ending if ending == "'d" else word, word, len(piece) - len(ending))
            return
    if small in ("st", "nd", "rd", "th"):
        return
    if small.endswith("'s") and small[:-2] in _PRONOUNS | _FREE:
        yield _token(piece[:-2], piece[:-2])
        yield _token("'s", "'s", len(piece) - 2)
        return
    piece = _LETTER.sub(r"\1", piece)
    if (plain := piece.rstrip(_RAISED)) != piece and plain.lower() not in UNITS:
        piece = plain  # the number of a footnote
    parts = _SLASHED.sub(r"\1-\2", piece).split("-")
    slight = all(part.lower() in _FREE | _LIGHT for part in parts)  # `to-do` is a word
    if len(parts) > 1 and not piece.startswith("-") and all(part.isalpha() for part in parts) and not slight:
        for part in parts:
            yield _token(part, part[:-1] if part in _PARTICLES and part is not parts[0] else part)
        return
    yield _token(piece, piece)


def _is_inner(word: str) -> bool:
    """A capital inside a word makes it a name: `libFuzzer`, not `MiB`."""
    return _INNER.search(word) is not None and word.lower() not in UNITS


def _token(text: str, word: str, start: int = 0) -> Token:
    if word.lower() in ("i.e", "e.g"):
        return Token(text, word.lower(), "free", start)
    if text in _CAPITAL_WORDS or (_CODE.match(word) and (not word.isalpha() or _is_inner(word))):
        return Token(text, word if word.startswith("-") else word.lower(), "name", start)
    small = ALIKE.get(word.lower(), word.lower())
    role, key = _KNOWN.get(small, ("content", ""))
    if word == "May":
        role = "name"
    return Token(text, key or IRREGULAR.get(small) or stem(spelt(small)), role, start)


def _named(tokens: list[Token], *, stopped: bool) -> Iterator[Token]:
    """Names as far as capitals tell; the first word of a sentence only where more speaks for it. In a title they tell
    nothing; what ends in a stop is none, however many names it has."""
    capitals = sum(token.text[:1].isupper() for token in tokens if token.role == "content")
    title = not stopped and capitals > 3 and capitals >= 0.8 * sum(token.role == "content" for token in tokens)
    for at, token in enumerate(tokens):
        before = tokens[at - 1] if at else None
        initial = before is not None and len(before.text) == 1 and before.text.isupper()
        titled = before is not None and token.before == "." and (initial or before.word in ENGLISH.abbreviations)
        first = at == 0 or (any(sign in token.before for sign in '.!?:"') and not titled)
        behind = tokens[at + 1].word if at + 1 < len(tokens) else ""
        if (
            token.word in _DONE
            and before is not None
            and (before.word in _BEING or behind in ("by", "with", "for", "in", "as", "to", "at", "on", "from"))
        ):
            yield replace(token, key=stem(token.word), role="content")  # a condition only where it begins a clause
            continue
        if token.text == "None" and not first:
            yield replace(token, role="name")
            continue
        if token.role == "content" and token.text[:1].isupper() and not title:
            following = tokens[at + 1] if at + 1 < len(tokens) else None
            beside = (
                following is not None
                and following.text[:1].isupper()
                and not following.before
                and following.role == "content"
            )
            if not first or beside or (len(token.text) > 1 and not token.text[1:].islower()):
                yield replace(token, role="name")
                continue
        yield token


_BEING: Final = _words("is are was were be been am being has have had")
_DONE: Final = _words("assuming provided")
GET: Final = _words("get gets got gotten getting")
"""`get` before what was done is an auxiliary."""
_POINTING: Final = {"this": "it", "that": "it", "these": "it", "those": "it"}


def _pointing(tokens: list[Token]) -> list[Token]:
    """`This is` at the beginning of a clause says what `it is` says: what was spoken of."""

    def points(at: int) -> bool:
        plural = tokens[at].word in ("these", "those")
        led = plural and at > 0 and tokens[at - 1].role in ("light", "place")  # `more than a dozen of these were`
        begins = (
            at == 0
            or led
            or (tokens[at].word != "that" and (bool(tokens[at].before) or tokens[at - 1].role == "joint"))
        )
        if at + 1 == len(tokens):
            return led
        behind = tokens[at + 1]
        if led and behind.before.strip("\"'"):
            return True
        return begins and not behind.before.strip("\"'") and (behind.word in _HELPING or behind.role == "modal")

    return [
        replace(token, key=_POINTING[token.word], role="pronoun") if token.word in _POINTING and points(at) else token
        for at, token in enumerate(tokens)
    ]


def _phrased(tokens: list[Token]) -> Iterator[Token]:
    """With phrases that are one small word in the place of their words; `each of them` and `each one` are each."""
    at = 0
    while at < len(tokens):
        if at and tokens[at - 1].role == "quantifier" and (size := _of_them(tokens[at : at + 2])):
            at += size
            continue
        if tokens[at].word in GET and _is_helping(tokens, at):
            yield replace(tokens[at], key="be", role="free")
            at += 1
            continue
        denied = at + 1 < len(tokens) and tokens[at + 1].role == "negation"
        if tokens[at].word in ("need", "needs") and denied:  # `need not` is the other side of `must`
            yield replace(tokens[at], key="need", role="modal")
            at += 1
            continue
        for phrase, key in PHRASES.get(tokens[at].word, ()):
            size = len(phrase)
            if phrase == [token.word for token in tokens[at : at + size]] and _is_phrase(tokens, at, size):
                text = " ".join(token.text for token in tokens[at : at + size])
                role = _PHRASE_ROLES.get(key, "place")
                yield replace(tokens[at], text=text, key="not" if key == "nobody" else key, role=role)
                at += size
                break
        else:
            yield tokens[at]
            at += 1


def _of_them(tokens: list[Token]) -> int:
    """How many of these words say only what a quantifier before them says."""
    if tokens[0].word == "one":
        return 1
    return 2 if [token.word for token in tokens] == ["of", "them"] else 0


def _able(tokens: list[Token]) -> list[Token]:
    """`is not able to`, `is unable to` as `can not`."""
    made: list[Token] = []
    for at, token in enumerate(tokens):
        if (
            token.word == "to"
            and made
            and made[-1].word in _IS
            and [one.word for one in tokens[at + 1 : at + 2]] == ["be"]
        ):
            # what was to be done need not have been
            made.append(replace(token, key="must" if made[-1].word in ("is", "are") else "was to", role="modal"))
        elif token.word == "able to":
            past = any(one.word in ("was", "were") for one in made[-2:])
            modal = replace(token, key="could" if past else "can")
            denied = bool(made) and made[-1].role == "negation"
            made.insert(len(made) - denied, modal)
        elif token.word == "unable" and [one.word for one in tokens[at + 1 : at + 2]] == ["to"]:
            made += (replace(token, key="can", role="modal"), replace(token, text="not", key="not", role="negation"))
        else:
            made.append(token)
    return made


_IS: Final = _words("is are was were")


def _is_phrase(tokens: list[Token], at: int, size: int) -> bool:
    """Nothing parts its words; `as well` ends what it belongs to."""
    if any(token.before for token in tokens[at + 1 : at + size]):
        return False
    behind = tokens[at + size : at + size + 1]
    return tokens[at + 1].word != "well" or size > 2 or not any(token.role == "content" for token in behind)


def _is_helping(tokens: list[Token], at: int) -> bool:
    """`get lit` is `be lit`, `has got a lamp` is `has a lamp`."""
    before, behind = tokens[at - 1 : at], tokens[at + 1 : at + 2]
    owned = tokens[at].word == "got" and any(token.word in ("has", "have", "had", "'s") for token in before)
    done = any(token.role == "content" and token.word.endswith(("ed", "en", "wn", "ne")) for token in behind)
    return owned or (done and not behind[0].before)


def _measured(tokens: list[Token]) -> Iterator[Token]:
    """Numbers with the unit that stands behind them; `2 h 40 min` is 160 minutes."""
    tokens = _summed(tokens)
    for token, behind in zip_longest(tokens, tokens[1:]):
        measured = token.role == "number" and behind is not None and behind.role == "unit" and not behind.before
        yield replace(token, unit=behind.key) if measured else token


def _summed(tokens: list[Token]) -> list[Token]:
    made: list[Token] = []
    for token in tokens:
        made.append(token)
        whole, unit, part, less = ([*made[-4:], *[None] * 4])[:4] if len(made) > 3 else (None,) * 4
        if whole is None or unit is None or part is None or less is None or unit.before or part.before.strip():
            continue
        if (
            [one.role for one in made[-4:]] != ["number", "unit", "number", "unit"]
            or not whole.values
            or not part.values
        ):
            continue
        one, other, step = (
            measure(Fraction(min(whole.values)), unit.key),
            measure(Fraction(min(part.values)), less.key),
            measure(Fraction(1), less.key),
        )
        larger = measure(Fraction(1), unit.key)
        if one and other and step and larger and one.kind == other.kind and step.amount < larger.amount:
            total = (one.amount + other.amount) / step.amount
            if total.denominator == 1:
                text = f"{whole.text} {unit.text} {part.text}"
                made[-4:] = [replace(whole, text=text, key=str(total), values=frozenset({str(total)})), less]
    return made


def is_saying(token: Token) -> bool:
    return token.word in ENGLISH.saying or token.key in _SAYING


_SAYING: Final = frozenset(
    stem(spelt(word))
    for word in _words("""
        say tell claim allege believe think suppose assume argue suggest report according assert deny doubt dispute
        propose hypothesize speculate rumour imagine pretend wish hope fear expect predict accuse deem consider
        false untrue myth misconception wrong incorrect mistaken hypothesis
    """)
)
_SINGLE: Final = frozenset({"1"})


def same(one: Token, other: Token) -> bool:
    """Whether two words are one, in whatever form and however it is written."""
    if (one.values == _SINGLE and other.word == "one") or (other.values == _SINGLE and one.word == "one"):
        return True
    if "unit" not in (one.role, other.role) and (one.word in RANK or other.word in RANK):
        return RANK.get(one.word, one.values) == RANK.get(other.word, other.values)
    if one.word in USING and other.word in USING:
        return True
    if one.values and other.values:
        return bool(one.values & other.values) and not are_of_one_kind(one.unit, other.unit)
    if one.day or other.day:
        return one.day == other.day
    words: tuple[Role, ...] = ("content", "name")
    if one.role in words and other.role in words:
        if one.word.replace("-", "") == other.word.replace("-", ""):
            # `RS-232` and `RS232`; options differ in their signs, and in capitals
            return one.key == other.key or (one.word[0] != "-" and other.word[0] != "-")
        alike = one.key == other.key or one.key[:5] == other.key[:5] or is_plural(one.word, other.word)
        if (alike or is_plural(other.word, one.word)) and are_forms(one.text, other.text):
            return True
        return is_doing(one.word, other.word) or is_doing(other.word, one.word)
    return one.key == other.key and one.role == other.role
