"""The numbers of a claim, held to the words it rests on: each stands there, with its sign, its unit and its bound, or
was computed from those that do.

What was computed from what, the claim says itself: `rose by` a change from the earlier to the later number, `more than
costs` the difference to what costs are, `a third of the workers` a share of theirs. The numbers are found by the words
that stand in their clause. Where that tells not which one is meant, nothing is computed: a number that comes out by
chance proves nothing.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import permutations
from typing import Final, Literal

from weft.checks.arithmetic import ABOUT, NEAR, became, change, derivation, part_spans, ratio
from weft.checks.statements import Statement, Token, read_statement
from weft.checks.units import measure
from weft.language.sentences import words
from weft.protocol.values import dataclass

Way = Literal["", "up", "down"]


@dataclass(frozen=True, slots=True)
class Figure:
    text: str
    readings: frozenset[Fraction]
    at: int
    """Its place among the words; of a part in words, that of its first."""
    end: int
    """The place behind it and its unit."""
    unit: str = ""
    part: bool = False
    """`a third`, `twice`."""
    clock: str = ""
    """`6:40` is no 6."""
    bound: str = ""

    @property
    def value(self) -> Fraction:
        """Where digits can be read in two ways, as a comma is read in English."""
        return max(self.readings, key=abs) if "," in self.text else min(self.readings, key=abs)


def _keys(text: str) -> frozenset[str]:
    return frozenset(token.key for token in read_statement(text).tokens)


_UP: Final = _keys("rise grow increase climb gain soar jump surge swell expand widen double triple raise")
_DOWN: Final = _keys("fall drop decrease decline shrink sink lose reduce plunge slump dwindle contract cut halve lower")
_MORE: Final = words("more higher greater larger bigger longer taller wider deeper heavier thicker older dearer")
_FEWER: Final = words("less fewer lower smaller shorter narrower shallower lighter thinner younger cheaper")
_EACH: Final = words("per each apiece average averages averaged")
_BELOW: Final = {"more": ">", "over": ">", "above": ">", "exceeding": ">", "least": ">=", "minimum": ">="}
_ABOVE: Final = {"less": "<", "fewer": "<", "under": "<", "below": "<", "most": "<=", "maximum": "<=", "up": "<="}
_NEARLY: Final = dict.fromkeys(("about", "approximately", "roughly", "around", "nearly", "almost"), "~")
_BOUNDS: Final = {**_BELOW, **_ABOVE, **_NEARLY}
_DENIED: Final = {"<": ">=", ">": "<=", "<=": ">", ">=": "<"}
_FILLING: Final = words("than at to of the a an")
_OR: Final = words("more over above less fewer under below")
_MINUS: Final = "-\u2212–"
_BREAKS: Final = frozenset(",;:()—–")
_YEARS: Final = range(1000, 2200)
_MONTHS: Final = (
    "january", "february", "march", "april", "may", "june", "july", "august", "september", "october", "november",
    "december",
)  # fmt: skip


def loose_figures(claim: str, rests_on: str) -> Iterator[str]:
    """What is wrong with the numbers, parts and units of a claim."""
    said, there = read_statement(claim), _Words(read_statement(rests_on))
    for figure in figures(said):
        if figure.part:
            stated = any(other.part and figure.readings == other.readings for other in there.figures)
        else:
            stated = any(_is_stated(figure, other) for other in there.figures) or there.has_year(figure)
        if not stated and not there.computed(figure, said):
            text = f"“{figure.text}”" if figure.part else figure.text
            yield f"{text} is not in the words it rests on, and does not come of their numbers"
    units = {token.key for token in there.tokens if token.role == "unit"}
    measured = {at for figure in figures(said) for at in range(figure.at, figure.end)}
    for at, token in enumerate(said.tokens):
        if token.role == "unit" and at not in measured and token.key not in units:
            yield f"{token.text} is not in the words it rests on"


def mistaken_figures(claim: str, sentence: str) -> str:
    """Why the numbers of a sentence speak against a claim: it says them of another, or compares them the wrong way."""
    said, there = read_statement(claim), _Words(read_statement(sentence))
    return there.compared(said) or next(filter(None, (there.misplaced(one, said) for one in figures(said))), "")


def figures(said: Statement) -> list[Figure]:
    """Every number and part of a statement; a number without a unit has that of the next one that it is tied to."""
    found = list(_parts(said))
    taken = {at for one in found for at in range(one.at, one.end)}
    tokens, at = said.tokens, 0
    while at < len(tokens):
        token = tokens[at]
        if at not in taken and token.role == "number":
            figure = _number(said, at)
            found.append(figure)
            at = figure.end
            continue
        if token.role == "unit" and at and tokens[at - 1].word in ("a", "an") and at not in taken:
            article = tokens[at - 1].text
            found.append(Figure(f"{article} {token.text}", frozenset({Fraction(1)}), at - 1, at + 1, token.key))
        at += 1
    found.sort(key=lambda one: one.at)
    for place in range(len(found) - 2, -1, -1):
        one, after = found[place], found[place + 1]
        between = tokens[one.end : after.at]
        tied = all(token.role in ("light", "joint", "place", "free") and not _parts_clauses(token) for token in between)
        if not one.unit and not one.part and after.unit and tied and not _parts_clauses(tokens[after.at]):
            found[place] = replace(one, unit=after.unit)
    return found


def _parts(said: Statement) -> Iterator[Figure]:
    for start, end, value in part_spans(said.text):
        inside = [at for at, token in enumerate(said.tokens) if start <= token.start < end]
        if inside:
            bound = _bound(said.tokens, inside[0])
            yield Figure(said.text[start:end], frozenset({value}), inside[0], inside[-1] + 1, part=True, bound=bound)


def _number(said: Statement, at: int) -> Figure:
    tokens = said.tokens
    token = tokens[at]
    end = at + 1
    behind = tokens[end] if end < len(tokens) else None
    if behind is not None and behind.role == "number" and behind.before == ":":
        joined = f"{token.text}:{behind.text}"
        if said.text.startswith(joined, token.start):
            return Figure(joined, frozenset(), at, end + 1, clock=joined)
    sign = -1 if _is_negative(said, at) else 1
    unit = token.unit or (tokens[at - 1].key if at and tokens[at - 1].role == "unit" else "")
    end += bool(token.unit)
    readings = frozenset(sign * Fraction(value) for value in token.values)
    text = f"-{token.text}" if sign < 0 else token.text
    return Figure(text, readings, at, end, unit, bound=_bound(tokens, at))


def _is_negative(said: Statement, at: int) -> bool:
    start = said.tokens[at].start
    if said.text[start - 1 : start] in tuple(_MINUS):
        return start < 2 or not (said.text[start - 2].isalnum() or said.text[start - 2] in "%°")
    before = [token.word for token in said.tokens[max(0, at - 2) : at]]
    if before[-1:] == ["minus"]:
        return len(before) < 2 or said.tokens[at - 2].role not in ("number", "unit")
    return [token.word for token in said.tokens[at + 1 : at + 4] if token.role != "unit"][:2] == ["below", "zero"]


def _bound(tokens: Sequence[Token], at: int) -> str:
    sign, denied = "", False
    for token in reversed(tokens[max(0, at - 3) : at]):
        if token.word in _BOUNDS:
            sign = sign or _BOUNDS[token.word]
        elif token.role == "negation" and sign:
            denied = True
        elif token.word not in _FILLING:
            break
        if token.before:
            break
    if not sign:  # `five years or more`
        behind = [token.word for token in tokens[at + 1 : at + 4] if token.role != "unit"][:2]
        return f"{_BOUNDS[behind[1]]}=" if behind[:1] == ["or"] and behind[1:] and behind[1] in _OR else ""
    return _DENIED.get(sign, sign) if denied else sign


def _is_stated(one: Figure, other: Figure) -> bool:
    if one.clock or other.clock:
        return one.clock == other.clock
    if one.part or other.part:
        return False
    if one.bound != other.bound and (one.bound, other.bound) != ("~", ""):
        return False
    if one.unit == other.unit or (one.unit == "" and other.unit != "percent"):
        return bool(one.readings & other.readings)
    ours, theirs = measure(one.value, one.unit), measure(other.value, other.unit)
    return ours is not None and theirs is not None and ours == theirs


def _parts_clauses(token: Token) -> bool:
    return any(sign in _BREAKS for sign in token.before)


class _Words:
    """The words that a claim rests on: their numbers, and what stands in one clause with each."""

    def __init__(self, said: Statement) -> None:
        self.tokens = said.tokens
        self.figures = figures(said)
        self._clauses = clauses_of(said.tokens)
        self._known = [one for one in self.figures if one.readings and not one.part]

    def has_year(self, figure: Figure) -> bool:
        return _is_year(figure) and any(token.day is not None and token.day[0] == figure.value for token in self.tokens)

    def computed(self, figure: Figure, said: Statement) -> str:
        """How the claim's number comes of those here; "" where it does not, or can't be told to."""
        if figure.clock or not figure.readings or figure.bound not in ("", "~"):
            return ""
        clause = _clause_of(said.tokens, figure)
        keys = {token.key for token in clause}
        near = ABOUT if figure.bound == "~" else NEAR
        share = figure.part or figure.unit == "percent"
        behind = said.tokens[figure.end].word if figure.end < len(said.tokens) else ""
        if _compares(clause):
            return self._difference(figure, clause, near, share=share or behind == "times")
        before = said.tokens[figure.at - 1].word if figure.at else ""
        of_them = share and behind == "of" and before != "by"
        if not of_them and (keys & (_UP | _DOWN) or became(figure.text)):
            return self._change(figure, clause, before, near)
        if share:
            return ratio(figure.value / (1 if figure.part else 100), self._shares(said.tokens[figure.end :]), near)
        if any(token.word in _EACH for token in said.tokens):
            pairs = [(one, other) for one, other in permutations(self._known, 2) if one.unit == figure.unit != ""]
            return ratio(figure.value, [(one.value, other.value) for one, other in pairs if other.unit != one.unit])
        return self._sum(figure, sums=before != "by")

    def compared(self, said: Statement) -> str:
        """`Costs were higher than revenue`, where the numbers of both say otherwise."""
        sides = self._sides(said.tokens) if _compares(said.tokens) else None
        more = sides is not None and _is_more(said.tokens)
        if sides is None or more is None or any(token.role == "negation" for token in said.tokens):
            return ""
        one, other = sides
        holds = one.value > other.value if more else one.value < other.value
        if one.unit != other.unit or holds or any(_is_year(side) for side in sides):
            return ""
        return f"the words it rests on have {one.text} for the one and {other.text} for the other"

    def _sum(self, figure: Figure, *, sums: bool) -> str:
        """Of numbers with one unit, which is the claim's; years make years."""
        for unit in sorted({one.unit for one in self._known}):
            known = [one for one in self._known if one.unit == unit]
            years = figure.unit == "year" and not unit and all(map(_is_year, known))
            fits = unit == figure.unit or not figure.unit or years
            if fits and (told := derivation(figure.value, [one.value for one in known], sums=sums)):
                return told
        return ""

    def misplaced(self, figure: Figure, said: Statement) -> str:
        """`Costs were 12`, where the clause with 12 has nothing of the claim's, and that with costs another number."""
        tied = self._tied({token.key for token in _clause_of(said.tokens, figure) if token.role in ("content", "name")})
        if not any(_is_stated(figure, one) for one in self._known) or any(_is_stated(figure, one) for one in tied):
            return ""
        return f"{figure.text} is said of something else there" if tied else ""

    def _difference(self, figure: Figure, clause: Sequence[Token], near: Fraction, *, share: bool) -> str:
        sides, more = self._sides(clause), _is_more(clause)
        if sides is None or sides[0].unit != sides[1].unit:
            return ""
        one, other = sides[0].value, sides[1].value
        by = figure.value / (100 if figure.unit == "percent" else 1)
        if more is None:  # `twice as high as`
            return ratio(by, [(one, other)], near) if share else ""
        if not share and figure.unit not in ("", sides[0].unit):
            return ""
        return change(by, [(other, one)], up=more, share=share, near=near)

    def _change(self, figure: Figure, clause: Sequence[Token], before: str, near: Fraction) -> str:
        keys = {token.key for token in clause}
        up, down = bool(keys & _UP), bool(keys & _DOWN)
        if up == down or before in ("to", "from", "at"):
            return ""
        pairs = [
            (one.value, other.value)
            for one, other in self._in_time(up=up)
            if one.unit == other.unit and (figure.part or figure.unit in ("", "percent", one.unit))
        ]
        if became(figure.text):
            return ratio(figure.value, [(later, earlier) for earlier, later in pairs], near)
        share = figure.part or figure.unit == "percent"
        by = figure.value / (100 if figure.unit == "percent" else 1)
        return change(by, pairs, up=up, share=share, near=near)

    def _in_time(self, *, up: bool) -> Iterator[tuple[Figure, Figure]]:
        """Pairs of an earlier and a later number, where the words say which it is: `from … to`, their dates, or that it
        went up or down."""
        keys = {token.key for token in self.tokens}
        went = bool(keys & (_UP if up else _DOWN)) and not keys & (_DOWN if up else _UP)
        known = [one for one in self._known if not _is_year(one)]
        for place, one in enumerate(known):
            for other in known[place + 1 :]:
                ties = tuple(self.tokens[side.at - 1].word if side.at else "" for side in (one, other))
                times = self._time(one), self._time(other)
                if "from" in ties:
                    yield (one, other) if ties[0] == "from" else (other, one)
                elif times[0] and times[1] and times[0] != times[1] and len(times[0]) == len(times[1]):
                    yield (one, other) if times[0] < times[1] else (other, one)
                elif went:
                    low, high = sorted((one, other), key=lambda side: side.value)
                    yield (low, high) if up else (high, low)

    def _time(self, figure: Figure) -> tuple[int, ...]:
        """The one date, year or month of its clause."""
        found: set[tuple[int, ...]] = set()
        for token in next((part for part in self._clauses if self.tokens[figure.at] in part), ()):
            if token.day is not None:
                found.add(token.day if token.day[0] else token.day[1:])
            elif token.role == "number" and len(token.text) == 4 and token.text.isdigit():
                found.add((int(token.text),))
            elif token.word in _MONTHS and token.text[:1].isupper():
                found.add((_MONTHS.index(token.word) + 1, 0))
        return found.pop() if len(found) == 1 else ()

    def _shares(self, behind: Sequence[Token]) -> Iterator[tuple[Fraction, Fraction]]:
        """Parts with their whole: that of the noun behind `of`, or the number that `of` stands before here."""
        whole: Figure | None = None
        if behind and behind[0].word == "of":
            nouns = [token.key for token in behind[1:4] if token.role in ("content", "name")][:1]
            whole = next(iter(tied), None) if nouns and len(tied := self._tied(nouns)) == 1 else None
        if whole is None:
            found = [one for one in self._known if self._is_whole(one)]
            whole = found[0] if len(found) == 1 else None
        if whole is not None:
            yield from ((one.value, whole.value) for one in self._known if one != whole and one.unit == whole.unit)

    def _is_whole(self, figure: Figure) -> bool:
        before = self.tokens[max(0, figure.at - 3) : figure.at]
        of = max((at for at, token in enumerate(before) if token.word == "of"), default=-1)
        return of >= 0 and all(token.role in ("free", "pronoun") for token in before[of + 1 :])

    def _tied(self, keys: Collection[str]) -> list[Figure]:
        """The numbers of the clauses that have one of these words."""
        keys = frozenset(keys)
        clauses = [part for part in self._clauses if keys & {token.key for token in part}]
        return [one for one in self._known if any(self.tokens[one.at] in part for part in clauses)]

    def _sides(self, clause: Sequence[Token]) -> tuple[Figure, Figure] | None:
        """The numbers of the two that are compared, where each has one of its own."""
        at = max(at for at, token in enumerate(clause) if token.word in ("than", "as"))
        bases = read_statement(" ".join(map(_base, clause[:at]))).tokens  # `wider` is how wide
        ours, theirs = (
            {token.key for token in side if token.role in ("content", "name")}
            for side in ((*clause[:at], *bases), clause[at + 1 :])
        )
        left, right = self._tied(ours - theirs), self._tied(theirs - ours)
        left = [one for one in left if one not in right]
        return (left[0], right[0]) if len(left) == len(right) == 1 else None


def _base(token: Token) -> str:
    if not token.word.endswith("er"):
        return ""
    return token.word.removesuffix("r") if token.word.endswith("der") else token.word.removesuffix("er")


def _compares(clause: Sequence[Token]) -> bool:
    """`higher than`, `as high as`; what stands before a number is a bound."""
    at = next((at for at, token in enumerate(clause) if token.word == "than"), 0)
    if at:
        return at + 1 < len(clause) and clause[at + 1].role != "number"
    return sum(token.word == "as" for token in clause) == 2


def _is_more(clause: Sequence[Token]) -> bool | None:
    found = {token.word for token in clause}
    more, fewer = bool(found & _MORE), bool(found & _FEWER)
    return None if more == fewer else more


def _is_year(figure: Figure) -> bool:
    return not figure.unit and figure.value in _YEARS and len(figure.text) == 4


def clauses_of(tokens: Sequence[Token]) -> list[Sequence[Token]]:
    """As commas, dashes and what joins clauses part them."""
    starts = [0, *(at for at, token in enumerate(tokens) if at and (_parts_clauses(token) or token.role == "joint"))]
    ends = [*starts[1:], len(tokens)]
    return [tokens[low:high] for low, high in zip(starts, ends, strict=True)]


def _clause_of(tokens: Sequence[Token], figure: Figure) -> Sequence[Token]:
    return next(part for part in clauses_of(tokens) if tokens[figure.at] in part)
