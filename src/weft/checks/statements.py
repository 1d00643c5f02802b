"""A sentence as the row of what it states: words with their roles, numbers, dates, names.

A role says what may happen to a word while the statement stays the same. *Free* words (articles, auxiliaries, `also`)
come and go; *light* ones (`of`, `in`, `to`) may be left out; everything else has to be there. What turns a statement
round when it changes has a role of its own: numbers, dates, names, negations, modals, quantifiers, conditions, bounds.
Words that are not known here (another language) are content, so that they must be the same.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from functools import lru_cache
from itertools import zip_longest
from typing import Final, Literal

from weft.checks.dates import Day, dates_in
from weft.checks.number_words import spelled_runs
from weft.checks.numerals import numbers_in
from weft.checks.units import UNITS, are_of_one_kind
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
themselves myself yourself ourselves one's whose who's
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
_WHOLE: Final = {"can't": "can not", "cannot": "can not", "won't": "will not", "shan't": "shall not", "ain't": "is not"}
_LET: Final = {
    "whilst": "while", "upon": "on", "till": "until", "towards": "toward", "percentage": "percent",
    "though": "although", "around": "about", "approximately": "about", "roughly": "about", "using": "with",
    "each": "every", "another": "other", "concerning": "about", "regarding": "about",
}  # fmt: skip
_PHRASES: Final = {
    ("prior", "to"): "before", ("because", "of"): "because of", ("due", "to"): "because of",
    ("owing", "to"): "because of", ("in", "order", "to"): "to", ("in", "order", "for"): "for",
    ("in", "spite", "of"): "despite", ("by", "using"): "with", ("by", "means", "of"): "with", ("in", "which"): "where",
    ("at", "which"): "where", ("on", "which"): "where", ("of", "which"): "whose", ("out", "of"): "from",
    ("with", "no"): "without", ("without", "any"): "without",
    ("has", "to"): "must", ("have", "to"): "must", ("had", "to"): "must", ("need", "to"): "must",
    ("needs", "to"): "must", ("needed", "to"): "must", ("is", "able", "to"): "can", ("are", "able", "to"): "can",
    ("will", "have", "to"): "must", ("will", "need", "to"): "must", ("as", "if"): "like", ("as", "though"): "like",
    ("of", "course"): "of course", ("in", "fact"): "of course", ("for", "example"): "of course",
    ("for", "instance"): "of course", ("on", "the", "other", "hand"): "of course",
    ("no", "longer"): "no longer", ("other", "than"): "except", ("except", "for"): "except",
    ("apart", "from"): "except", ("all", "but"): "all except", ("all", "except"): "all except",
}  # fmt: skip
"""Several small words that are one."""
_ON: Final = {"upon": "on"}
_PHRASE_ROLES: Final[dict[str, Role]] = {
    "to": "light", "except": "condition", "all except": "quantifier", "must": "modal", "can": "modal",
    "no longer": "negation", "whose": "pronoun", "of course": "free",
}  # fmt: skip
"""Of those that are no prepositions."""
_BROKEN: Final = re.compile(
    r"(?<=\w)(?:\u2010\s+|\u00ad\s*)(?=\w)|(?<=[a-z]{2})-\s+(?!(?:and|or|nor|to|und|oder)\b)(?=[a-z]{2})"
)
"""Where a line ended inside a word."""
_MARKUP: Final = re.compile(
    r"(?:(?<=\s)|(?<=[.,;:)\"'”]))\[\d{1,3}(?:[,–-] ?\d{1,3})*\]"
    r"|\{(?=\w[^{}]*\})|(?<=\w)\}"
    r"|`+|\*{1,3}(?=\S)|(?<=\S)\*{1,3}|(?<!\w)_{1,2}(?=\w)|(?<=\w)_{1,2}(?!\w)"
)
_ITEM: Final = re.compile(r"\A\s*(?:[-*•+]\s+|\((?:\w{1,3})\)\s+|\d{1,3}[.)]\s+|[a-z][.)]\s+|#{1,6}\s+)")
_OPENER: Final = re.compile(
    r"\A\W*(?:(?:for example|for instance|in addition|in fact|in particular|of course|by contrast|in contrast"
    r"|as a result|as such|that is|because of this|for this reason|in other words"
    r"|on the other hand|finally|lastly|similarly|likewise|instead|overall|importantly|notably"
    r"|interestingly|in conclusion|in summary|however|therefore|moreover|furthermore|indeed|thus|also|nevertheless"
    r"|nonetheless|consequently|besides|remember|yes|no)(?:,| [—–-]) |(?:note|warning|caution|important|tip|hint): "
    r"|(?:please )?note that )",
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
_ADDRESS: Final = re.compile(r" ?<[\w.+-]+@[\w.-]+>")
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

    @property
    def word(self) -> str:
        return self.text.lower()


@dataclass(frozen=True, slots=True)
class Statement:
    text: str
    tokens: tuple[Token, ...]
    asks: bool

    @property
    def keys(self) -> frozenset[str]:
        """Of what carries the sense."""
        return frozenset(token.key for token in self.tokens if token.role not in ("free", "light", "joint"))


@lru_cache(maxsize=8192)
def read_statement(sentence: str) -> Statement:
    """One sentence, without its mark-up."""
    text = _OWNER.sub("'s", _LINK.sub(r"\1", _BROKEN.sub("", sentence)))
    if _ROW.match(text):  # a cell and the next are what a person writes with a colon
        text = _CELLS.sub(": ", _ROW.sub("", text).rstrip("| "))
    text = " ".join(_ITEM.sub("", _MARKUP.sub("", text)).replace("’", "'").replace("‘", "'").split())
    text = _OPENER.sub("", re.sub(r"[“”„«»]", '"', _ADDRESS.sub("", _PARTED.sub("/", text))))
    named = list(_named(_had(list(_tokens(text))), stopped=text.endswith(".")))
    tokens = tuple(_measured(list(_phrased(_pointing(named)))))
    return Statement(text, tokens, text.rstrip("\"') ").endswith("?"))


def _had(tokens: list[Token]) -> list[Token]:
    """`it'd been lit` is `it had been lit`, `it'd be lit` is `it would be lit`."""
    return [
        replace(_token("had", "had", token.start), before=token.before)
        if token.text == "'d"
        and at + 1 < len(tokens)
        and (tokens[at + 1].word in _PAST or tokens[at + 1].word.endswith("ed"))
        else token
        for at, token in enumerate(tokens)
    ]


def _tokens(text: str) -> Iterator[Token]:
    facts = _facts(text)
    signs = ""
    position = 0
    while match := _TOKEN.search(text, position):
        fact = facts.get(match.start())
        if fact is None and any(match.start() < start < match.end() for start in facts):
            # A sign written close to a number: `$12`, `(5`.
            end = min(start for start in facts if match.start() < start < match.end())
            piece = text[match.start() : end]
        else:
            piece = match.group()
        if fact is not None:
            token, position = fact
            yield replace(token, before=signs)
            signs = ""
            continue
        position = match.start() + len(piece)
        if all(sign in _BREAKS or sign in "!?.'-" for sign in piece) and not piece.isalnum():
            signs += piece
            continue
        for token in _word_tokens(piece, match.start()):
            yield replace(token, before=signs)
            signs = ""


def _facts(text: str) -> dict[int, tuple[Token, int]]:
    """The dates and numbers of a text by where they begin, with where they end."""
    found: dict[int, tuple[Token, int]] = {}
    taken: list[tuple[int, int]] = []
    for start, end, day in dates_in(text):
        found[start] = Token(text[start:end], f"date {day}", "date", start, day=day), end
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
        found[start] = Token(text[start:end], min(values), "number", start, values=values), end
    return found


def _inside_a_word(text: str, start: int, end: int) -> bool:
    """`mp3`, `/dev/sda1`, `2.4-rc1` are names; `110mm` and `3rd` are not."""
    before = text[max(0, start - 2) : start]
    if before[-1:].isalnum() or (before[-1:] in tuple("_./\\-@") and before[:-1].strip("0123456789 ") != ""):
        return True
    return re.match(r"[A-Za-z_]", text[end : end + 1]) is not None and not _glued_unit(text, end)


def _glued_unit(text: str, end: int) -> bool:
    glued = re.match(r"[A-Za-zµμ]+", text[end:])
    return glued is not None and (glued[0].lower() in UNITS or glued[0].lower() in ("st", "nd", "rd", "th"))


def _word_tokens(piece: str, start: int) -> Iterator[Token]:
    small = piece.lower()
    if small in _WHOLE:
        for word in _WHOLE[small].split():
            yield _token(word, word, start)
        return
    for ending in ("n't", *_CONTRACTED):
        if small.endswith(ending) and len(small) > len(ending):
            yield _token(piece[: -len(ending)], piece[: -len(ending)], start)
            word = _CONTRACTED.get(ending, ending)
            yield _token(ending if ending == "'d" else word, word, start + len(piece) - len(ending))
            return
    if small in ("st", "nd", "rd", "th"):
        return
    if small.endswith("'s") and small[:-2] in _PRONOUNS | _FREE:
        yield _token(piece[:-2], piece[:-2], start)
        yield _token("'s", "'s", start + len(piece) - 2)
        return
    piece = _LETTER.sub(r"\1", piece)
    if (plain := piece.rstrip(_RAISED)) != piece and plain.lower() not in UNITS:
        piece = plain  # the number of a footnote
    parts = _SLASHED.sub(r"\1-\2", piece).split("-")
    slight = all(part.lower() in _FREE | _LIGHT for part in parts)  # `to-do` is a word
    if len(parts) > 1 and not piece.startswith("-") and all(part.isalpha() for part in parts) and not slight:
        for part in parts:
            one = part[:-1] if part in _PARTICLES and part is not parts[0] else part
            yield _token(part, one, start)
        return
    yield _token(piece, piece, start)


def _is_inner(word: str) -> bool:
    """A capital inside a word makes it a name: `libFuzzer`, not `MiB`."""
    return _INNER.search(word) is not None and word.lower() not in UNITS


def _token(text: str, word: str, start: int) -> Token:
    if word.lower() in ("i.e", "e.g"):
        return Token(text, word.lower(), "free", start)
    if text in _CAPITAL_WORDS or (_CODE.match(word) and (not word.isalpha() or _is_inner(word))):
        return Token(text, word if word.startswith("-") else word.lower(), "name", start)
    small = _LET.get(word.lower(), word.lower())
    role, key = _KNOWN.get(small, ("content", ""))
    if word == "May":
        role = "name"
    return Token(text, key or _IRREGULAR.get(small) or stem(small), role, start)


def _named(tokens: list[Token], *, stopped: bool) -> Iterator[Token]:
    """Names as far as capitals tell; the first word of a sentence only where more speaks for it. In a title they tell
    nothing; what ends in a stop is none, however many names it has."""
    capitals = sum(token.text[:1].isupper() for token in tokens if token.role == "content")
    title = not stopped and capitals > 3 and capitals >= 0.8 * sum(token.role == "content" for token in tokens)
    for at, token in enumerate(tokens):
        titled = at > 0 and tokens[at - 1].word in ENGLISH.abbreviations and token.before == "."
        first = at == 0 or (any(sign in token.before for sign in '.!?:"') and not titled)
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


GET: Final = _words("get gets got gotten getting")
"""`get` before what was done is an auxiliary."""
_OF_THEM: Final = (["of", "them"], ["one"])
_PAST: Final = _words("been had done made taken given seen known found come become begun gone kept left lost")
_POINTING: Final = {"this": "it", "that": "it", "these": "it", "those": "it"}


def _pointing(tokens: list[Token]) -> list[Token]:
    """`This is` at the beginning of a clause says what `it is` says: what was spoken of."""

    def points(at: int) -> bool:
        begins = at == 0 or (tokens[at].word != "that" and (bool(tokens[at].before) or tokens[at - 1].role == "joint"))
        behind = tokens[at + 1]
        return begins and not behind.before.strip("\"'") and (behind.word in _HELPING or behind.role == "modal")

    return [
        replace(token, key=_POINTING[token.word], role="pronoun")
        if token.word in _POINTING and at + 1 < len(tokens) and points(at)
        else token
        for at, token in enumerate(tokens)
    ]


def _phrased(tokens: list[Token]) -> Iterator[Token]:
    """With phrases that are one small word in the place of their words; `each of them` and `each one` are each."""
    at = 0
    while at < len(tokens):
        meant = [word for word in _OF_THEM if [token.word for token in tokens[at : at + len(word)]] == word]
        if at and tokens[at - 1].role == "quantifier" and meant:
            at += len(meant[0])
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
        for size in (4, 3, 2):
            key = _PHRASES.get(tuple(_ON.get(token.word, token.word) for token in tokens[at : at + size]))
            if key is not None and not any(token.before for token in tokens[at + 1 : at + size]):
                text = " ".join(token.text for token in tokens[at : at + size])
                yield replace(tokens[at], text=text, key=key, role=_PHRASE_ROLES.get(key, "place"))
                at += size
                break
        else:
            yield tokens[at]
            at += 1


def _is_helping(tokens: list[Token], at: int) -> bool:
    """`get lit` is `be lit`, `has got a lamp` is `has a lamp`."""
    before, behind = tokens[at - 1 : at], tokens[at + 1 : at + 2]
    owned = tokens[at].word == "got" and any(token.word in ("has", "have", "had", "'s") for token in before)
    done = any(token.role == "content" and token.word.endswith(("ed", "en", "wn", "ne")) for token in behind)
    return owned or (done and not behind[0].before)


def _measured(tokens: list[Token]) -> Iterator[Token]:
    """Numbers with the unit that stands behind them."""
    for token, behind in zip_longest(tokens, tokens[1:]):
        measured = token.role == "number" and behind is not None and behind.role == "unit" and not behind.before
        yield replace(token, unit=behind.key) if measured else token


def is_saying(token: Token) -> bool:
    return token.word in ENGLISH.saying or token.key in _SAYING


_SAYING: Final = frozenset(
    stem(word)
    for word in _words("""
        say tell claim allege believe think suppose assume argue suggest report according assert deny doubt dispute
        propose hypothesize speculate rumour imagine pretend wish hope fear expect predict accuse deem consider
        false untrue myth misconception wrong incorrect mistaken hypothesis
    """)
)
_FORMS: Final = """
be am is are was were been being|have has had having|do does did done doing|go goes went gone going|make made
take took taken|give gave given|get got gotten|come came|see saw seen|know knew known|find found|write wrote written
read read|say said|tell told|think thought|keep kept|hold held|begin began begun|bring brought|buy bought
build built|choose chose chosen|drive drove driven|fall fell fallen|feel felt|fly flew flown|grow grew grown
hear heard|hide hid hidden|lay laid|lead led|leave left|lend lent|lose lost|mean meant|meet met|pay paid
ride rode ridden|rise rose risen|run ran|seek sought|sell sold|send sent|set set|shake shook shaken
show showed shown|sing sang sung|sink sank sunk|sit sat|sleep slept|speak spoke spoken|spend spent|stand stood
steal stole stolen|swim swam swum|teach taught|throw threw thrown|understand understood|wear wore worn|win won
become became|draw drew drawn|eat ate eaten|fight fought|forget forgot forgotten|break broke broken|catch caught
bind bound|bear bore borne|beat beaten|bite bit bitten|blow blew blown|deal dealt|dig dug|drink drank drunk|feed fed
freeze froze frozen|grind ground|overcome overcame|strike struck|swear swore sworn|tear tore torn|wake woke woken
child children|man men|woman women|foot feet|tooth teeth|mouse mice|person people|datum data|criterion criteria
light lit|hang hung|shoot shot|stick stuck|sweep swept|bend bent
index indices|try tries tried trying attempt attempts attempted attempting|seem seems seemed seeming appear appears
appeared appearing|start starts started starting begin begins began begun beginning
"""
_IRREGULAR: Final = {
    form: stem(forms.split()[0])
    for line in _FORMS.strip().splitlines()
    for forms in line.split("|")
    for form in forms.split()
}
_INFLECTIONS: Final = re.compile(r"(?:'s|s'|'|s|es|k?ed|d|k?ing|e|y|ies|ied|ying|t|n|en)?")


def _is_plural(word: str, one: str) -> bool:
    return word == f"{one}s" or (one[-1:] in "sxz" and word == f"{one}es")


@lru_cache(maxsize=65_536)
def are_forms(one: str, other: str) -> bool:
    """Whether two words with one stem are forms of one word: `require` and `required`, not `import` and `important`."""
    one, other = (_LET.get(word, word) for word in (one.lower(), other.lower()))
    if one == other or _is_plural(one, other) or _is_plural(other, one):
        return True
    if one in _IRREGULAR and _IRREGULAR[one] == (_IRREGULAR.get(other) or stem(other)):
        return True
    if other in _IRREGULAR and _IRREGULAR[other] == stem(one):
        return True
    shared = 0
    while shared < min(len(one), len(other)) and one[shared] == other[shared]:
        shared += 1
    if shared < 2 or (shared < 5 and stem(one) != stem(other)):
        return False
    rests = [one[shared:], other[shared:]]
    for at in (0, 1):
        # A doubled consonant: `stop`, `stopped`.
        rest = rests[at]
        if len(rest) > 2 and rest[0] == (one, other)[at][shared - 1] and rest[0] not in "aeiou":
            rests[at] = rest[1:]
    return all(_INFLECTIONS.fullmatch(rest) for rest in rests)


_RANKS: Final = (
    "first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth thirteenth fourteenth"  # noqa: SIM905
    " fifteenth sixteenth seventeenth eighteenth nineteenth twentieth".split()
)
ORDINALS: Final = frozenset(_RANKS)
_RANK: Final = {word: frozenset({str(at)}) for at, word in enumerate(_RANKS, start=1)}
_USING: Final = _words("use uses used using")
_SINGLE: Final = frozenset({"1"})


def same(one: Token, other: Token) -> bool:
    """Whether two words are one, in whatever form and however it is written."""
    if (one.values == _SINGLE and other.word == "one") or (other.values == _SINGLE and one.word == "one"):
        return True
    if "unit" not in (one.role, other.role) and (one.word in _RANK or other.word in _RANK):
        return _RANK.get(one.word, one.values) == _RANK.get(other.word, other.values)
    if one.word in _USING and other.word in _USING:
        return True
    if one.values and other.values:
        return bool(one.values & other.values) and not are_of_one_kind(one.unit, other.unit)
    if one.day or other.day:
        return one.day == other.day
    words: tuple[Role, ...] = ("content", "name")
    if one.role in words and other.role in words:
        if one.word.replace("-", "") == other.word.replace("-", ""):
            return one.word[0] != "-" and other.word[0] != "-"  # `RS-232` and `RS232`; options differ in their signs
        alike = one.key == other.key or one.key[:5] == other.key[:5] or _is_plural(one.word, other.word)
        return (alike or _is_plural(other.word, one.word)) and are_forms(one.text, other.text)
    return one.key == other.key and one.role == other.role
