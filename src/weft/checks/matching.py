"""Two sentences laid side by side: is one the other, up to function words and form, and if not, what is different?

The words are aligned in order; whole phrases may have moved. What remains on either side are differences: a number for
a number, a name for a name, a negation more. A part of the source that the claim leaves out is no difference where it
stands for itself (a parenthesis, a clause behind `and`) and rules over nothing. All else makes them two statements.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Final, Literal

from weft.checks.clauses import BE, may_go, peeled
from weft.checks.dates import same_day
from weft.checks.statements import FACTS, TURNING, Role, Statement, Token, are_forms, is_saying
from weft.checks.units import Measure, are_of_one_kind, measure
from weft.language.sentences import words
from weft.protocol.values import dataclass

Kind = Literal[
    "number", "unit", "date", "name", "negation", "modal", "quantifier", "bound", "opposite",
    "left out", "added", "other words", "order", "role", "question", "reported", "nothing in common",
]  # fmt: skip


@dataclass(frozen=True, slots=True)
class Difference:
    kind: Kind
    claim: str
    source: str
    turns: bool = False
    """Whether this alone makes the claim say something that the source denies."""
    note: str = ""
    slight: bool = False
    """Of what is left out: a phrase of few words that rules over nothing."""


@dataclass(frozen=True, slots=True)
class Alignment:
    shared: float
    """The share of the claim's telling words that the source has."""
    differences: tuple[Difference, ...]
    words: int = 0
    """How many telling words the claim has."""


_WEIGHT: Final[dict[Role, int]] = {"free": 1, "light": 3, "joint": 3, "place": 8, "pronoun": 8}
_TELLING: Final = 12
_SLIGHT: Final[frozenset[Role]] = frozenset({"free", "light", "joint"})
_ALIKE_LIGHT: Final = (frozenset({"in", "on", "at", "into", "onto", "within"}),)
_OPPOSITE_WORDS: Final = """
before after, above below, inside outside, with without, since until, more less, more fewer, higher lower,
greater smaller, greater less, larger smaller, bigger smaller, longer shorter, earlier later, faster slower,
better worse, best worst, highest lowest, largest smallest, first last, oldest newest, increase decrease,
increases decreases, increased decreased, increasing decreasing, rise fall, rose fell, rises falls,
minimum maximum, always never, always sometimes, often rarely, often never, usually never, allowed forbidden,
allowed prohibited, permitted prohibited, permitted forbidden, mandatory optional, required optional,
enabled disabled, enable disable, enables disables, true false, valid invalid, legal illegal, lawful unlawful,
possible impossible, include exclude, includes excludes, included excluded, including excluding, accept reject,
accepts rejects, accepted rejected, succeed fail, succeeds fails, succeeded failed, same different,
positive negative, internal external, public private, northern southern, eastern western, north south, east west,
left right, male female, won lost, wins loses, win lose, least most, all none, upper lower, ascending descending,
before behind, open closed, opens closes, start end, starts ends, started ended, begins ends, add remove,
adds removes, added removed, safe unsafe, alive dead, everyone nobody, few many, few most, agree disagree,
approve reject, approved rejected, grant deny, granted denied, read-only writable, synchronous asynchronous,
directly indirectly, majority minority, little most, little much
"""
_OPPOSITES: Final = frozenset(frozenset(pair.split()) for pair in _OPPOSITE_WORDS.split(","))
"""Only where one can't be so while the other is."""
_ORDINALS: Final = words("first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth")
_EVERY: Final = frozenset({"all", "every", "each", "both", "everyone"})
_PART: Final = frozenset({"most", "majority", "many", "several", "some", "few", "minority"})
_NEAR_MODALS: Final = (
    frozenset({"may", "might"}), frozenset({"may", "can"}), frozenset({"may", "could"}), frozenset({"might", "could"}),
    frozenset({"can", "could"}), frozenset({"will", "would"}),
)  # fmt: skip
_FIXED: Final = frozenset({"of", "to", "than", "for", "from", "with", "by"})
"""What a phrase that begins so belongs to stands before it: such a phrase does not move."""


def align(claim: Statement, source: Statement, earlier: Statement | None = None) -> Alignment:
    """What of the claim is different in the source; nothing, when it is the source or a whole statement of it.
    `earlier` is the sentence before the source: whom `she` at its beginning means, as far as that can be known."""
    ours, theirs = claim.tokens, source.tokens
    telling = [token for token in ours if token.role not in _SLIGHT]
    if not telling or not theirs:
        return Alignment(0.0, (Difference("nothing in common", claim.text, source.text),))
    pairs = _beside(ours, theirs, _in_order(ours, theirs))
    moved = _moved(ours, theirs, pairs)
    found = {at for at, _ in (*pairs, *moved) if ours[at].role not in _SLIGHT}
    shared = len(found) / len(telling)
    subject = earlier.tokens if earlier else ()
    differences = [*_order(ours, theirs, pairs, moved), *_edits(ours, theirs, pairs, moved, subject)]
    differences += _roles(ours, theirs, (*pairs, *moved))
    differences = [_weighed(item, theirs) for item in differences]
    if source.asks and not claim.asks:
        differences.append(Difference("question", claim.text, source.text))
    return Alignment(shared, tuple(differences), len(telling))


def _weighed(item: Difference, theirs: Sequence[Token]) -> Difference:
    """A number or name that the source has elsewhere may be right: the claim may speak of that."""
    if item.turns and item.kind in ("number", "date", "name") and item.claim:
        words = item.claim.lower().split()
        there = [token.word for token in theirs]
        if all(word in there for word in words):
            return replace(item, turns=False)
    return item


def same(one: Token, other: Token) -> bool:
    if one.values and other.values:
        return bool(one.values & other.values) and not are_of_one_kind(one.unit, other.unit)
    if one.day or other.day:
        return one.day == other.day
    words: tuple[Role, ...] = ("content", "name")
    if one.role in words and other.role in words:
        alike = one.key == other.key or one.key[:5] == other.key[:5] or f"{one.word}s" == other.word
        return (alike or f"{other.word}s" == one.word) and are_forms(one.text, other.text)
    return one.key == other.key and one.role == other.role


def _in_order(ours: Sequence[Token], theirs: Sequence[Token]) -> list[tuple[int, int]]:
    """The heaviest common subsequence; of equal ones, that with the fewest gaps."""
    best = [[0] * (len(theirs) + 1) for _ in range(len(ours) + 1)]
    for i in range(len(ours) - 1, -1, -1):
        weight = _WEIGHT.get(ours[i].role, _TELLING)
        for j in range(len(theirs) - 1, -1, -1):
            value = max(best[i + 1][j], best[i][j + 1])
            if same(ours[i], theirs[j]):
                value = max(value, best[i + 1][j + 1] + weight)
            best[i][j] = value
    pairs: list[tuple[int, int]] = []
    i = j = 0
    while i < len(ours) and j < len(theirs):
        weight = _WEIGHT.get(ours[i].role, _TELLING)
        if same(ours[i], theirs[j]) and best[i][j] == best[i + 1][j + 1] + weight:
            pairs.append((i, j))
            i, j = i + 1, j + 1
        elif best[i + 1][j] >= best[i][j + 1]:
            i += 1
        else:
            j += 1
    return pairs


def _beside(ours: Sequence[Token], theirs: Sequence[Token], pairs: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """Small words paired with those that stand by the same word, so that what is left out is left out whole."""
    kept = list(pairs)
    for at in range(len(kept) - 2, -1, -1):
        (i, j), (next_i, next_j) = kept[at], kept[at + 1]
        if next_i == i + 1 and next_j > j + 1 and ours[i].role in _SLIGHT and same(ours[i], theirs[next_j - 1]):
            kept[at] = i, next_j - 1
    return kept


def _moved(ours: Sequence[Token], theirs: Sequence[Token], pairs: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """What both have, but in another place."""
    left = [j for j in range(len(theirs)) if j not in {at for _, at in pairs}]
    taken = {at for at, _ in pairs}
    found: list[tuple[int, int]] = []
    for i, token in enumerate(ours):
        if i in taken or token.role in _SLIGHT:
            continue
        matching = [j for j in left if same(token, theirs[j])]
        if matching:
            # Beside the one before, so that phrases stay together.
            before = found[-1][1] if found and found[-1][0] >= i - 3 else -2
            chosen = min(matching, key=lambda j: abs(j - before - 1))
            left.remove(chosen)
            found.append((i, chosen))
    return found


# -- order


def _order(
    ours: Sequence[Token], theirs: Sequence[Token], pairs: Sequence[tuple[int, int]], moved: Sequence[tuple[int, int]]
) -> Iterator[Difference]:
    if moved and _is_list(ours, theirs, _between(ours, theirs, pairs, moved)):
        return
    runs = _runs(ours, theirs, moved)
    marked = Counter(_marker(theirs, run[0][1]) for run in runs)
    for run in runs:
        first, last = run[0], run[-1]
        low, high = min(j for _, j in run), max(j for _, j in run)
        over = [(i, j) for i, j in pairs if (i < first[0]) != (j < low) and ours[i].role not in _SLIGHT]
        if not over:
            continue
        mark = _marker(theirs, run[0][1])
        crossed = any((run[0][0] < other[0][0]) != (run[0][1] < other[0][1]) for other in runs)
        if crossed and marked[mark] > 1:  # `at ten … at seventeen`, `Anna … Bert`: each in the other's place
            yield Difference("order", _text(ours[first[0] : last[0] + 1]), _text(theirs[low : high + 1]))
            continue
        if _may_move(ours, theirs, run, over) or _may_move(ours, theirs, over, run, far=True):
            continue
        if any(rule(ours, theirs, run, over) for rule in _MOVES):
            continue
        yield Difference("order", _text(ours[first[0] : last[0] + 1]), _text(theirs[low : high + 1]))


def _between(
    ours: Sequence[Token], theirs: Sequence[Token], pairs: Sequence[tuple[int, int]], moved: Sequence[tuple[int, int]]
) -> list[tuple[int, int]]:
    """What has moved, and all that it moved over."""
    low, high = min(i for i, _ in moved), max(i for i, _ in moved)
    left, right = min(j for _, j in moved), max(j for _, j in moved)
    return [*moved, *((i, j) for i, j in pairs if low <= i <= high or left <= j <= right)]


def _is_listed(
    ours: Sequence[Token], theirs: Sequence[Token], run: Sequence[tuple[int, int]], over: Sequence[tuple[int, int]]
) -> bool:
    return _is_list(ours, theirs, [*run, *over])


def _is_owner(
    ours: Sequence[Token], theirs: Sequence[Token], run: Sequence[tuple[int, int]], over: Sequence[tuple[int, int]]
) -> bool:
    """`the lamp of the keeper` for `the keeper's lamp`."""
    mine, beside = sorted(run), sorted(over)
    sides = (ours, 0), (theirs, 1)
    for (one, here), (two, there) in (sides, sides[::-1]):
        for owner, owned in ((mine, beside), (beside, mine)):
            low, high = owned[0][here], owner[-1][here]
            between = [at for at in range(low, high + 1) if at not in {place[here] for place in (*owner, *owned)}]
            if (
                len(owner) + len(owned) <= _OWNED
                and owned[-1][here] < owner[0][here]
                and [one[at].word for at in between if one[at].role != "free"] == ["of"]
                and all(owned[-1][here] < at < owner[0][here] for at in between)
                and owner[-1][there] + 1 == owned[0][there]
                and _is_whole(two, [place[there] for place in (*owner, *owned)])
                and all(one[place[here]].role in ("content", "name") for place in (*owner, *owned))
                and not any(one[at].before for at in range(low + 1, high + 1))
            ):
                return True
    return False


_OWNED: Final = 5


def _is_aside(
    ours: Sequence[Token], theirs: Sequence[Token], run: Sequence[tuple[int, int]], over: Sequence[tuple[int, int]]
) -> bool:
    """`having lit the lamp`, between commas or at the beginning on both sides."""
    for part in (run, over):
        here, there = [i for i, _ in part], [j for _, j in part]
        if (
            _is_participle(ours[min(here)])
            and ours[min(here)].word == theirs[min(there)].word
            and all(_is_whole(tokens, at) and _is_between(tokens, at) for tokens, at in ((ours, here), (theirs, there)))
        ):
            return True
    return False


def _is_attribution(
    ours: Sequence[Token], theirs: Sequence[Token], run: Sequence[tuple[int, int]], over: Sequence[tuple[int, int]]
) -> bool:
    """`the keepers said that …` for `…, the keepers said`."""
    for part in (run, over):
        here, there = [i for i, _ in part], [j for _, j in part]
        if not (is_saying(ours[here[-1]]) and is_saying(theirs[there[-1]])):
            continue
        places = (ours, here), (theirs, there)
        for (one, first), (two, last) in (places, places[::-1]):
            begins = all(token.role in _SLIGHT for token in one[: min(first)]) and _is_whole(one, first)
            low = min(last)
            while low and two[low - 1].role == "free" and not two[low].before:
                low -= 1
            ends = max(last) + 1 == len(two) and _is_whole(two, last) and bool({",", '"'} & set(two[low].before))
            if begins and ends:
                return True
    return False


def _is_participle(token: Token) -> bool:
    return token.role == "content" and len(token.word) > 3 and token.word.endswith(("ing", "ed", "en"))


def _is_between(tokens: Sequence[Token], places: Sequence[int]) -> bool:
    """Between two commas, or before the first or behind the last."""
    low, high = min(places), max(places)
    while low and tokens[low - 1].role == "free" and not tokens[low].before:
        low -= 1
    return (not low or "," in tokens[low].before) and (high + 1 == len(tokens) or "," in tokens[high + 1].before)


def _is_adverb(
    ours: Sequence[Token], theirs: Sequence[Token], run: Sequence[tuple[int, int]], over: Sequence[tuple[int, int]]
) -> bool:
    """`is temporarily set` for `is set temporarily`: an adverb on the other side of its verb."""
    involved = [*run, *over]
    if len(involved) > 6 or not any(all(_is_how(ours[i]) for i, _ in part) for part in (run, over)):
        return False
    if len(involved) > 2 and any(ours[i].word in _SINGLING for i, _ in involved):
        return False  # `only Anna lit it`, `Anna lit only it`
    here = ours[min(i for i, _ in involved) : max(i for i, _ in involved) + 1]
    there = theirs[min(j for _, j in involved) : max(j for _, j in involved) + 1]
    return not any(
        token.role in ("negation", "joint", "condition") or token.before for token in (*here[1:], *there[1:])
    )


def _is_how(token: Token) -> bool:
    return token.word in ("only", "also", "always", "often", "usually", "sometimes", "first", "afterwards") or (
        token.role in ("content", "limit") and token.word.endswith("ly")
    )


_MOVES: Final = (_is_listed, _is_adverb, _is_owner, _is_aside, _is_attribution)


def _runs(
    ours: Sequence[Token], theirs: Sequence[Token], moved: Sequence[tuple[int, int]]
) -> list[list[tuple[int, int]]]:
    runs: list[list[tuple[int, int]]] = []
    for i, j in moved:
        if runs:
            before = runs[-1][-1]
            between = [*ours[before[0] + 1 : i], *theirs[before[1] + 1 : j]]
            if before[1] < j and all(token.role in _SLIGHT for token in between):
                runs[-1].append((i, j))
                continue
        runs.append([(i, j)])
    return runs


def _may_move(
    ours: Sequence[Token],
    theirs: Sequence[Token],
    run: Sequence[tuple[int, int]],
    over: Sequence[tuple[int, int]],
    *,
    far: bool = False,
) -> bool:
    """A phrase with its own preposition or conjunction, a date, an adverb of time says the same wherever it stands."""
    here, there = _marker(ours, run[0][0]), _marker(theirs, run[0][1])
    if (
        here != there
        or here.startswith("than")
        or not (_is_whole(ours, [i for i, _ in run]) and _is_whole(theirs, [j for _, j in run]))
    ):
        return False
    head = ours[run[0][0]]
    lasting = head.role == "number" and any(ours[i].key in _LASTING for i, _ in run[1:2])
    how = head.word.endswith("ly") and head.word not in _SINGLING
    moves = lasting or how or head.role == "date" or head.word in _TIMES
    if not here and not moves:
        return False
    if len(run) == 1 and head.role in ("place", "condition"):
        return False
    fixed = here.split(" ")[0] in _FIXED
    places = (ours, run[0][0], run[-1][0]), (theirs, run[0][1], run[-1][1])
    dated = any(ours[i].role in ("number", "date") for i, _ in run[:2])
    comma = (fixed and not dated) or (not here and not lasting)
    if any(_is_fronted(*one, comma=comma) and _is_last(*other) for one, other in (places, places[::-1])):
        return True
    if far or fixed:
        return False
    low, high = min(j for _, j in (*run, *over)), max(j for _, j in (*run, *over))
    inside = range(min(j for _, j in run), max(j for _, j in run) + 1)
    return not any(
        is_saying(token)
        or token.role == "condition"
        or (token.role == "joint" and at not in inside)
        or token.word in ("which", "who", "that")
        for at, token in enumerate(theirs[low : high + 1], start=low)
    )


def _is_whole(tokens: Sequence[Token], places: Sequence[int]) -> bool:
    """Whether what is named by its places stands together."""
    return all(at in places or tokens[at].role in _SLIGHT for at in range(min(places), max(places) + 1))


_LASTING: Final = words("second minute hour day week month year decade century")
_SINGLING: Final = words("only merely solely exclusively just even hardly barely scarcely mainly mostly partly longer")
"""What rules over the words behind it, and says something else before others."""
_TIMES: Final = frozenset(
    ["today", "yesterday", "tomorrow", "now", "then", "currently", "recently", "later", "earlier", "once", "already"]
)


def _marker(tokens: Sequence[Token], at: int) -> str:
    """The prepositions and conjunctions that a phrase begins with: `because of`."""
    marks: list[str] = [tokens[at].key] if tokens[at].role in ("place", "condition") else []
    while at > 0 and not tokens[at].before.strip("\"'"):
        at -= 1
        if tokens[at].role in ("light", "place", "condition"):
            marks.insert(0, tokens[at].key)
        elif tokens[at].role != "free" or tokens[at].key not in ("a", "an", "the", "this", "these", "those", "such"):
            break
    return " ".join(marks)


def _is_fronted(tokens: Sequence[Token], first: int, last: int, *, comma: bool) -> bool:
    """At the beginning, with a comma behind it where it could belong to what follows."""
    return (
        all(token.role in (*_SLIGHT, "place", "condition") for token in tokens[:first])
        and last + 1 < len(tokens)
        and ("," in tokens[last + 1].before or not comma)
    )


def _is_last(tokens: Sequence[Token], _: int, last: int) -> bool:
    """At the end of the sentence, or of what is said in it before a part that stands for itself."""
    return all(token.role in _SLIGHT for token in tokens[last + 1 :]) or (
        bool(tokens[last + 1].before) and may_go(tokens, last + 1, len(tokens) - 1)
    )


def _is_list(ours: Sequence[Token], theirs: Sequence[Token], involved: Sequence[tuple[int, int]]) -> bool:
    """Whether only the members of a list have changed places."""
    here = ours[min(i for i, _ in involved) : max(i for i, _ in involved) + 1]
    there = theirs[min(j for _, j in involved) : max(j for _, j in involved) + 1]
    turning = any(token.role in TURNING or token.key == "than" for token in (*here, *there))
    if turning or any(token.word == "respectively" for token in (*ours, *theirs)):
        return False
    if not all(any(token.role == "joint" for token in side) for side in (here, there)):
        return False
    if any(set("();:") & set(token.before) or token.word in _BETWEEN for side in (here, there) for token in side[1:]):
        return False  # members of one list have no verb and no bracket between them
    items, others = _items(here), _items(there)
    if len(items) == 2 and any(
        "," in token.before for side in (here, there) for token in side if token.role == "joint"
    ):
        return False  # `signed by France, and Germany refused`: two clauses, not two members
    sizes = [len(item) for item in items]
    ruled = any(
        tokens[at - 1].role in ("place", "condition")
        for tokens, at in ((ours, min(i for i, _ in involved)), (theirs, min(j for _, j in involved)))
        if at
    )
    edges = (ours, max(i for i, _ in involved) + 1), (theirs, max(j for _, j in involved) + 1)
    if any(_goes_on(tokens, at) and (max(sizes) > 1 or tokens[at - 2].word in _ONE) for tokens, at in edges):
        return False  # `a lamp and a poor bell`: of the last only half has moved
    return (
        len(items) > 1
        and Counter(items) == Counter(others)
        and (max(sizes) <= 2 or (min(sizes) >= 3 and max(sizes) <= 3 * min(sizes) and not ruled))
    )


_ONE: Final = words("a an the")
_BETWEEN: Final = words("which who whose is are was were has have had does do did")


def _goes_on(tokens: Sequence[Token], at: int) -> bool:
    return at < len(tokens) and not tokens[at].before and tokens[at].role in ("content", "name")


def _items(tokens: Sequence[Token]) -> list[tuple[str, ...]]:
    items: list[list[str]] = [[]]
    for at, token in enumerate(tokens):
        if token.role == "joint" or (at and ("," in token.before or ";" in token.before)):
            items.append([])
        if token.role not in _SLIGHT:
            items[-1].append(token.key)
    return [tuple(item) for item in items if item]


# -- what is left over


def _edits(
    ours: Sequence[Token],
    theirs: Sequence[Token],
    pairs: Sequence[tuple[int, int]],
    moved: Sequence[tuple[int, int]],
    subject: Sequence[Token],
) -> Iterator[Difference]:
    gone, away = {i for i, _ in moved}, {j for _, j in moved}
    before = (-1, -1)
    for pair in (*pairs, (len(ours), len(theirs))):
        said = [i for i in range(before[0] + 1, pair[0]) if i not in gone]
        there = [j for j in range(before[1] + 1, pair[1]) if j not in away]
        if not _is_small(ours, theirs, said, there, subject):
            yield from _edit(ours, theirs, said, there, bool(gone))
        before = pair


_OPENING: Final = words("before after when while until since once although though because")
"""What begins a clause that may have no subject of its own: `before being lit`."""


def _is_small(
    ours: Sequence[Token], theirs: Sequence[Token], said: Sequence[int], there: Sequence[int], subject: Sequence[Token]
) -> bool:
    """A difference of small words alone: who is meant by `it`, `but it can` for `but can`, `of` for `for`."""
    told = [i for i in said if ours[i].role != "free"]
    heard = [j for j in there if theirs[j].role != "free"]
    if len(told) == 1 and not heard and ours[told[0]].word in _THIRD:
        at = told[0]
        opened = ours[at - 1].word in _OPENING or "," in ours[at].before
        return at > 0 and (ours[at - 1].role == "joint" or opened)
    if not heard and len(told) == 1 and ours[told[0]].role == "number":
        return False
    if len(heard) == 1 and not told and theirs[heard[0]].word == "it" and heard[0] == 0:
        return theirs[1].word in BE and any(token.word in ("that", "which", "who") for token in theirs[2:])
    if len(told) == len(heard) == 1 and {ours[told[0]].role, theirs[heard[0]].role} <= {"light", "place", "bound"}:
        behind = [tokens[at + 1] for tokens, at in ((ours, told[0]), (theirs, heard[0])) if at + 1 < len(tokens)]
        pair = frozenset({ours[told[0]].key, theirs[heard[0]].key})
        doing = bool(behind) and all(token.word.endswith("ing") for token in behind)
        plain = not any(token.role in ("number", "date", "unit", "name", "pronoun") for token in behind)
        return (pair in _ALIKE_PLACES and plain) or pair == {"of", "about"} or (pair == {"by", "from"} and doing)
    return bool(told) and len(heard) == 1 and _is_meant([ours[i] for i in told], theirs, heard[0], subject)


_THIRD: Final = frozenset({"it", "he", "she", "they"})
_ALIKE_PLACES: Final = frozenset(
    frozenset(pair.split())
    for pair in (
        "of for",
        "of about",
        "of to",
        "of in",
        "of on",
        "on about",
        "to for",
        "in by",
        "in with",
        "over across",
    )
)
"""Of these one stands for the other where what it belongs to and what follows are the same words."""


def _is_meant(told: Sequence[Token], theirs: Sequence[Token], at: int, subject: Sequence[Token]) -> bool:
    """Whether a pronoun that begins a sentence stands for what the sentence before began with."""
    pronoun = theirs[at]
    if pronoun.role != "pronoun" or any(token.role not in _SLIGHT for token in theirs[:at]):
        return False
    if pronoun.key not in ("he", "she", "his", "her", "it", "its", "they", "their"):
        return False
    starts = [0, *(k for k, token in enumerate(subject[:12]) if "," in token.before)][:2]
    for start in starts:
        telling = [token for token in subject[start:] if token.role not in _SLIGHT]
        if len(told) <= len(telling) and all(same(one, other) for one, other in zip(told, telling, strict=False)):
            person = any(token.role == "name" for token in telling[: len(told)])
            return person or pronoun.key.startswith(("it", "they", "their"))
    return False


def _edit(
    ours: Sequence[Token], theirs: Sequence[Token], said: list[int], there: list[int], shifted: bool
) -> Iterator[Difference]:
    claim = [ours[i] for i in said if ours[i].role != "free"]
    source = [theirs[j] for j in there if theirs[j].role != "free"]
    if not claim and not source:
        return
    slight = all(token.role in ("light", "joint") for token in (*claim, *source))
    if slight and (shifted or _slight_change(claim, source)):
        return
    told = [token for token in claim if not (token.role == "light" or token.key == "and")]
    if there and there[-1] - there[0] + 1 == len(there):
        if not told and may_go(theirs, there[0], there[-1]):
            return
        low, high = peeled(theirs, there[0], there[-1])
        source = [theirs[j] for j in range(low, high + 1) if theirs[j].role != "free"] or source
    if "but" in (token.word for token in (*claim, *source)) and any(token.role == "negation" for token in source):
        yield Difference("other words", _text(claim), _text(source))
        return
    heard = [token for token in source if not (token.role == "light" or token.key == "and")]
    if told and heard:
        if not _same_amount(told, heard):
            yield _replaced(told, heard)
    elif told:
        single = any(theirs[j].word in ("a", "an") for j in there)
        yield _more(told, single=single)
    elif heard:
        if heard[-1].role == "negation" and len(heard) > 1 and _goes_without(theirs, there):
            heard = heard[-1:]
        yield _less(heard, theirs, there)
    else:
        yield Difference("other words", _text(claim), _text(source))


def _goes_without(theirs: Sequence[Token], there: Sequence[int]) -> bool:
    """`[gave much and did not] take`: all but the negation may be left out."""
    last = there[-1]
    while last > there[0] and theirs[last].role in ("free", "negation"):
        last -= 1
    return last - there[0] < len(there) and may_go(theirs, there[0], last)


def _slight_change(claim: Sequence[Token], source: Sequence[Token]) -> bool:
    ours, theirs = {token.key for token in claim}, {token.key for token in source}
    if "or" in ours ^ theirs:
        return False
    ours, theirs = ours - {"and"}, theirs - {"and"}
    if not ours or not theirs or ours == theirs:
        return True
    return any(ours | theirs <= alike for alike in _ALIKE_LIGHT)


def _less(source: Sequence[Token], theirs: Sequence[Token], there: Sequence[int]) -> Difference:
    last = there[-1]
    if len(source) == 1 and source[0].role == "negation":
        # `nobody but her`, `not until then`: what follows is excepted.
        behind = theirs[last + 1].word if last + 1 < len(theirs) else ""
        return Difference("negation", "", source[0].text, turns=behind not in ("but", "other", "until", "else"))
    return Difference("left out", "", _text(source), slight=_rules_nothing(source, theirs, there))


_PHRASE: Final = 6


def _rules_nothing(source: Sequence[Token], theirs: Sequence[Token], there: Sequence[int]) -> bool:
    """Whether what is left out is a phrase, or all between two commas: not what the rest depends on."""
    if any(token.role == "condition" or is_saying(token) for token in source):
        return False
    behind = theirs[there[-1] + 1].before if there[-1] + 1 < len(theirs) else "."
    parted = (there[0] == 0 or bool(theirs[there[0]].before)) and bool(behind)
    return parted or (len(source) <= _PHRASE and not any(token.role in TURNING for token in source))


def _more(claim: Sequence[Token], *, single: bool) -> Difference:
    if len(claim) == 1 and claim[0].role == "number" and single:
        return Difference("number", claim[0].text, "a", turns="1" not in claim[0].values)  # `three miles` for `a mile`
    if len(claim) == 1 and claim[0].role == "negation":
        return Difference("negation", claim[0].text, "", turns=True)
    return Difference("added", _text(claim), "")


def _replaced(claim: Sequence[Token], source: Sequence[Token]) -> Difference:
    ours, theirs = _text(claim), _text(source)
    bounded = _bounded(claim, source)
    if bounded is not None:
        return bounded
    if len(claim) == len(source) == 1:
        return _exchanged(claim[0], source[0])
    roles = {token.role for token in claim}, {token.role for token in source}
    commas = [sum("," in token.before for token in side[1:]) for side in (claim, source)]
    if roles[0] == roles[1] == {"name"} and commas[0] == commas[1] and _other_names(claim, source):
        return Difference("name", ours, theirs, turns=True)
    without = [token for token in claim if token.role != "negation"], [t for t in source if t.role != "negation"]
    counts = len(claim) - len(without[0]), len(source) - len(without[1])
    if abs(counts[0] - counts[1]) == 1 and [t.key for t in without[0]] == [t.key for t in without[1]]:
        return Difference("negation", ours, theirs, turns=True)
    return Difference("other words", ours, theirs)


def _exchanged(one: Token, other: Token) -> Difference:
    ours, theirs = one.text, other.text
    roles = {one.role, other.role}
    if one.word in _ORDINALS and other.word in _ORDINALS:
        return Difference("number", ours, theirs, turns=True)
    if roles == {"number"}:
        return Difference("number", ours, theirs, turns=not _rounded(one, other))
    if "number" in roles and "one" in (one.word, other.word):
        return Difference("number", ours, theirs, turns="1" not in one.values | other.values)
    if roles == {"date"}:
        assert one.day is not None
        assert other.day is not None
        return Difference("date", ours, theirs, turns=not same_day(one.day, other.day))
    if roles == {"unit"}:
        return Difference("unit", ours, theirs, turns=True)
    if roles == {"modal"}:
        return Difference("modal", ours, theirs, turns=frozenset({one.key, other.key}) not in _NEAR_MODALS)
    if _opposed(one, other):
        return Difference("opposite", ours, theirs, turns=True)
    if any(side.role == "negation" and _is_how(beside) for side, beside in ((one, other), (other, one))):
        return Difference("negation", ours, theirs, turns=True)
    if "negation" in roles and roles & {"quantifier", "limit"}:
        return Difference("quantifier", ours, theirs, turns=True)
    if roles == {"quantifier"}:
        return Difference("quantifier", ours, theirs, turns=one.word in _EVERY and other.word in _PART)
    if roles == {"name"} and _other_names([one], [other]):
        return Difference("name", ours, theirs, turns=True)
    return Difference("other words", ours, theirs)


def _opposed(one: Token, other: Token) -> bool:
    words = one.word, other.word
    if frozenset(words) in _OPPOSITES:
        return True
    short, long = sorted(words, key=len)
    return len(short) > 3 and long in (f"un{short}", f"non{short}")


def _rounded(one: Token, other: Token) -> bool:
    """Whether the claim's number is the source's with fewer digits: 1.2 million for 1,234,567, 3.1 for 3.14."""
    return any(_rounds(ours, theirs) for ours in one.values for theirs in other.values)


def _rounds(ours: str, theirs: str) -> bool:
    whole, _, fraction = ours.partition(".")
    exact = theirs.partition(".")[2]
    if fraction or exact:
        step = Fraction(1, 10 ** len(fraction))
        return len(fraction) < len(exact) and abs(Fraction(ours) - Fraction(theirs)) <= step / 2
    zeros = len(whole) - len(whole.rstrip("0"))
    return zeros >= 3 and not theirs.endswith("0" * zeros) and abs(int(ours) - int(theirs)) <= 10**zeros / 2


def _other_names(claim: Sequence[Token], source: Sequence[Token]) -> bool:
    """Whether two names can't be of one thing: no word, no beginning and no initials in common."""
    ours, theirs = [token.text for token in claim], [token.text for token in source]
    for one in ours:
        for other in theirs:
            a, b = one.lower().strip("."), other.lower().strip(".")
            if a[:4] == b[:4] or a in b or b in a:
                return _is_code(one) and _is_code(other) and one != other
    for these, others in ((ours, theirs), (theirs, ours)):
        initials = "".join(word[0] for word in these).lower()
        if any(other.replace(".", "").lower() in (initials, initials[:2]) for other in others):
            return False
    return True


def _is_code(text: str) -> bool:
    return text.startswith("-") or any(sign in text for sign in "/_.\\") or any(letter.isdigit() for letter in text)


_AT_MOST: Final = frozenset({"less", "fewer", "under", "below", "most", "maximum"})
_AT_LEAST: Final = frozenset({"more", "over", "above", "least", "exceeding", "greater", "minimum"})
_NEARLY: Final = frozenset({"about", "approximately", "roughly", "around", "nearly", "almost", "some"})


def _same_amount(claim: Sequence[Token], source: Sequence[Token]) -> bool:
    """`90 minutes` where the source has 1.5 hours, `over` where it has more than."""
    one, other = _measured(claim), _measured(source)
    if one is None or other is None:
        signs = [_sign({token.word for token in side} - _FILLING) for side in (claim, source)]
        return (
            bool(signs[0])
            and signs[0] == signs[1]
            and all(token.role in ("bound", "place", "quantifier") for token in (*claim, *source))
        )
    return one == other


def _measured(tokens: Sequence[Token]) -> Measure | None:
    """A number and its unit, and nothing else."""
    if [token.role for token in tokens] != ["number", "unit"]:
        return None
    return measure(_amount(tokens[0]), tokens[1].key)


def _rate(claim: Sequence[Token], source: Sequence[Token]) -> Measure | None:
    """How many of the claim's unit are one of the source's, where both end in units of one kind."""
    if len(claim) < 2 or len(source) < 2 or {claim[-1].role, source[-1].role} != {"unit"}:
        return None
    ours, theirs = measure(Fraction(1), claim[-1].key), measure(Fraction(1), source[-1].key)
    if ours is None or theirs is None or ours.kind != theirs.kind:
        return None
    return Measure(ours.kind, theirs.amount / ours.amount)


def _bounded(claim: Sequence[Token], source: Sequence[Token]) -> Difference | None:
    """`more than 100` where the source has 120, `2 hours` where it has 90 minutes: arithmetic, not wording."""
    ours, theirs = _text(claim), _text(source)
    rate = _rate(claim, source)
    if rate is not None:
        claim, source = claim[:-1], source[:-1]
    one, other = _range(claim), _range(source)
    if one is None or other is None or (rate is None and len(claim) == len(source) == 1):
        return None
    (sign, value), (there, known) = one, other
    if rate is not None:
        known *= rate.amount
    if sign == there == "" and rate is not None:
        kind: Kind = "unit" if value == other[1] else "number"
        near = Measure(rate.kind, value).near(Measure(rate.kind, known))
        return Difference(kind, ours, theirs, turns=not near, note="converted" if near else "")
    if there == "" and sign in ("<", ">"):
        holds = known > value if sign == ">" else known < value
        return Difference("number", ours, theirs, turns=not holds, note="it holds for that number" if holds else "")
    if {sign, there} == {"<", ">"}:
        apart = value >= known if sign == ">" else value <= known
        return Difference("bound", ours, theirs, turns=apart)
    if sign == "" and there in ("<", ">"):
        holds = value > known if there == ">" else value < known
        return Difference("bound", ours, theirs, turns=not holds)
    if "~" in (sign, there):
        far = abs(value - known) > max(abs(known), abs(value)) / 5
        return Difference("number", ours, theirs, turns=far)
    return Difference("bound", ours, theirs)


def _range(tokens: Sequence[Token]) -> tuple[str, Fraction] | None:
    numbers = [token for token in tokens if token.role == "number"]
    rest = [token for token in tokens if token.role != "number"]
    if len(numbers) != 1 or tokens[-1] is not numbers[0]:
        return None
    words = {token.word for token in rest} - {*_FILLING, "not", "no"}
    denied = any(token.role == "negation" for token in rest)
    value = _amount(numbers[0])
    if any(token.role not in ("bound", "place", "light", "quantifier", "negation") for token in rest):
        return None
    sign = _sign(words)
    if len(words) != (1 if sign else 0):
        return None
    if denied:
        sign = {"<": ">", ">": "<"}.get(sign, "?")
    return sign, value


_FILLING: Final = frozenset({"than", "at", "to", "of"})


def _sign(words: Collection[str]) -> str:
    bounds = frozenset(words)
    if bounds & _AT_MOST or bounds == {"up"}:
        return "<"
    return ">" if bounds & _AT_LEAST else "~" if bounds & _NEARLY else ""


def _amount(number: Token) -> Fraction:
    readings = sorted(Fraction(value) for value in number.values)
    return readings[-1] if "," in number.text else readings[0]


# -- who did it to whom


def _roles(ours: Sequence[Token], theirs: Sequence[Token], pairs: Sequence[tuple[int, int]]) -> Iterator[Difference]:
    """`was sued` is not `sued`: an auxiliary is free, what it makes of a verb is not."""
    for i, j in pairs:
        if ours[i].role != "content" or not theirs[j].word.endswith(("ed", "en", "wn", "t", "d")):
            continue
        here, there = _is_passive(ours, i), _is_passive(theirs, j)
        if here == there:
            continue
        tokens, at = (theirs, j) if here else (ours, i)
        if not tokens[at].word.endswith(("ed", "en", "wn", "t", "d")):
            yield Difference("role", ours[i].text, theirs[j].text)
        elif at + 1 < len(tokens) and tokens[at + 1].role not in ("light", "place") and not tokens[at + 1].before:
            before = tokens[at - 1] if at else None
            if before is None or before.role != "free" or before.key in ("has", "have", "had"):
                yield Difference("role", ours[i].text, theirs[j].text)


def _is_passive(tokens: Sequence[Token], at: int) -> bool:
    for before in reversed(tokens[max(0, at - 3) : at]):
        if before.word in BE:
            return True
        if before.word in ("a", "an", "the", "this", "these", "those", "such", "there"):
            return False
        if before.role not in ("negation", "limit", "free") and not before.word.endswith("ly"):
            return False
    return False


def _text(tokens: Sequence[Token]) -> str:
    return " ".join(token.text for token in tokens)


__all__ = ["FACTS", "Alignment", "Difference", "Kind", "align", "same"]
