"""Whether a claim says in the same words, in another order, what a sentence says.

Order is a matter of form as long as nobody takes another's place. So three things are asked, for which no grammar is
needed. Every word of the claim that tells something stands in the sentence, and between the first and the last of them
the sentence tells nothing else. Every word that rules over others (a negation, a modal, a quantity, a condition, a
limit) stands in both. And every small word that leads another (`by`, `than`, `not`, `from`) leads the same one in both:
whoever takes another's place is led by the other's word. What stands before a verb and behind it is led by nothing, so
of the parts that nothing leads only one may move.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Final

from weft.checks.order import WHOSE, owns
from weft.checks.statements import FACTS, TURNING, Role, Statement, Token, is_saying, same
from weft.language.sentences import words
from weft.language.stems import stem

_TELLS: Final[frozenset[Role]] = FACTS | {"content", "unit"}
_LEADS: Final[frozenset[Role]] = TURNING | {"place", "light"}
Leads = tuple[frozenset[str], frozenset[str]]
"""The small words that lead a word in the claim, and in the sentence."""
_NOUNS: Final[frozenset[Role]] = frozenset({"content", "name"})
_ARTICLES: Final = words("a an the")
_FEWEST: Final = 5
"""Telling words that a claim must have: few words stand together in many senses."""
_BEFORE, _BEHIND = 4, 2
"""How many words before and behind what a claim takes from a sentence may still rule over it."""
_ANYWHERE: Final[frozenset[Role]] = frozenset({"condition", "negation"})
"""What rules over the whole of a sentence, wherever it stands."""
_WHEN: Final = words("before after until till since during when whenever while once without under")
"""What says when the rest is so, or how."""
_LIGHTEST: Final = words("of in on at to as")
"""They stand in nearly every sentence, so that one which leads another word there says nothing."""
_BINDING: Final = words(
    "by than because although though while whereas without against before after unlike despite until since"
)
"""What changes the sense by being there."""
_UNDONE: Final = frozenset(
    map(stem, words("try want plan intend fail refuse seem appear attempt hope wish pretend lack avoid prevent"))
)
"""Verbs behind which something need not be so."""
THIRD: Final = words("he him his she her it its")
"""With `they`, `them` and `their`, whose keys these are."""


def says_the_same(claim: Statement, source: Statement, earlier: Statement | None, mate: Mapping[int, int]) -> bool:
    """`mate`: the words of the source that are words of the claim, by their places; `earlier` is the sentence that says
    whom a pronoun of the source means."""
    ours, theirs = claim.tokens, source.tokens
    telling = [at for at, token in enumerate(ours) if token.role in _TELLS]
    if len(telling) < _FEWEST or (source.asks and not claim.asks):
        return False
    missing = [at for at in telling if at not in mate]
    if missing and not _are_meant(ours, theirs, missing, earlier):
        return False
    telling = [at for at in telling if at in mate]
    if any(ours[at].role == "number" and ours[at].key != theirs[mate[at]].key for at in telling):
        return False  # it may be read as either
    if len(telling) < 2 or not _are_ruled_alike(ours, theirs, telling, mate):
        return False
    here, there = _led(ours), _led(theirs)
    leads = [(here[at], there.get(mate[at], here[at])) for at in telling]  # `using` may be a small word
    elsewhere = frozenset().union(*(small for at, small in there.items() if at not in mate.values()))
    if not _lead_the_same(leads, elsewhere):
        return False
    joined = any(token.role == "joint" for token in ours)
    return _keep_their_places([mate[at] for at in telling], leads, joined=joined)


def _are_meant(
    ours: Sequence[Token], theirs: Sequence[Token], missing: Sequence[int], earlier: Statement | None
) -> bool:
    """A noun for the pronoun that the source begins with: what the sentence before begins with, and it names nobody
    else."""
    if earlier is None or not theirs or theirs[0].key not in THIRD:
        return False
    named = [ours[at] for at in missing]
    told = [token for token in earlier.tokens if token.role in _TELLS]
    others = [token for token in told if token.role == "name" and not any(same(one, token) for one in named)]
    together = missing[-1] - missing[0] < len(missing)
    begun = len(told) >= len(named) and all(map(same, named, told))
    return together and begun and not others and all(one.role in _NOUNS for one in named)


def _are_ruled_alike(
    ours: Sequence[Token], theirs: Sequence[Token], telling: Sequence[int], mate: Mapping[int, int]
) -> bool:
    places, taken = [mate[at] for at in telling], set(mate.values())
    low, high = min(places), max(places)
    if any((token.role in TURNING or token.word in WHOSE) and at not in mate for at, token in enumerate(ours)):
        return False
    if any(owns(ours[at]) != owns(theirs[mate[at]]) for at in telling):
        return False
    if {token.key for token in ours if token.role == "joint"} ^ {
        token.key for token in theirs[low : high + 1] if token.role == "joint"
    }:
        return False
    before = next((at for at in range(low - 1, -1, -1) if theirs[at].word not in _ARTICLES and at not in taken), -1)
    if before > 0 and theirs[before].word == "that" and low - before <= _BEFORE:
        return False  # `it is possible that …`
    behind = theirs[high + 1 : high + 2]
    if any(not token.before or token.role == "joint" for token in behind):
        return False  # it belongs to what the claim ends with
    for at, token in enumerate(theirs):
        if at in taken:
            continue
        within = low <= at <= high
        if token.role in _TELLS and (within or is_saying(token) or token.key in _UNDONE):
            return False
        if token.word in WHOSE and low - 1 <= at <= high and len(telling) == _telling(ours):
            return False
        if token.role in TURNING and (low - _BEFORE <= at <= high + _BEHIND or token.role in _ANYWHERE):
            return False
        if token.word in _WHEN and (at < low or high < at <= high + _BEHIND):
            return False
    return True


def _telling(tokens: Sequence[Token]) -> int:
    return sum(token.role in _TELLS for token in tokens)


def _led(tokens: Sequence[Token]) -> dict[int, frozenset[str]]:
    """Of every telling word the small words that lead it; an adverb passes them on."""
    found: dict[int, frozenset[str]] = {}
    leading: list[str] = []
    for at, token in enumerate(tokens):
        if token.role in _LEADS:
            leading.append(token.key)
        elif token.role in _TELLS:
            found[at] = frozenset(leading)
            if not token.word.endswith("ly"):
                leading = []
    return found


def _lead_the_same(leads: Sequence[Leads], elsewhere: frozenset[str]) -> bool:
    """`elsewhere`: what leads words of the sentence that the claim leaves out."""
    for here, there in leads:
        only_here, only_there = here - there, there - here
        if (only_here | only_there) & _BINDING or (only_here and only_there):
            return False
        if only_here & elsewhere - _LIGHTEST:
            return False
        # It led another word, which has lost it.
        if any(word in other_there - other_here for word in only_here for other_here, other_there in leads):
            return False
        if any(word in other_here - other_there for word in only_there for other_here, other_there in leads):
            return False
    return True


def _keep_their_places(places: Sequence[int], leads: Sequence[Leads], *, joined: bool) -> bool:
    """Of the parts that stand together in both, those that moved stand first in one of them and are led by the same
    words in both; none has changed places with one that is led by the same word. One may move that nothing leads, where
    nothing is joined."""
    order = {place: at for at, place in enumerate(sorted(places))}
    ranks = [order[place] for place in places]
    starts = [0, *(at for at, (one, other) in enumerate(pairwise(ranks), 1) if other != one + 1), len(ranks)]
    parts = [(ranks[first], end - first, leads[first]) for first, end in pairwise(starts)]
    stays = _staying([(rank, size) for rank, size, _ in parts])
    moved = [at for at in range(len(parts)) if at not in stays]
    if any(here != there for _, _, (here, there) in (parts[at] for at in moved)):
        return False
    bare = [at for at in moved if not parts[at][2][0]]
    if bare and (joined or len(moved) > 1):
        return False
    if any(at and parts[at][0] for at in moved):
        return False
    return not any(
        parts[one][2][0] & parts[other][2][0] and (one < other) != (parts[one][0] < parts[other][0])
        for one in moved
        for other in range(len(parts))
        if one != other
    )


def _staying(parts: Sequence[tuple[int, int]]) -> set[int]:
    """The heaviest of them that stand in one order, by where they stand and how many words they have."""
    best: list[tuple[int, int]] = []
    for at, (rank, size) in enumerate(parts):
        before = [(best[one][0], one) for one in range(at) if parts[one][0] < rank]
        weight, last = max(before, default=(0, -1))
        best.append((weight + size, last))
    at = max(range(len(best)), key=lambda one: best[one][0])
    found: set[int] = set()
    while at >= 0:
        found.add(at)
        at = best[at][1]
    return found
