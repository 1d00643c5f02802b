"""One sentence in the other's turns of phrase, where grammar knows several for the same: `delays in delivery` and
`delivery delays`, `the contents of it` and `its contents`, `oil or gas` and `gas or oil`, `it is hard to see` and
`seeing is hard`, `more costly` and `costlier`.

A turn is taken only where the other sentence has it word for word, so that what is laid side by side afterwards differs
in nothing but what really is different. Each stretch is looked at by itself: a sentence may have several.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Final

from weft.checks.clauses import BE
from weft.checks.order import IN_TURN, VESSELS, owns
from weft.checks.statements import Statement, Token, same
from weft.language.sentences import words

Turn = tuple[int, int, tuple[Token, ...]]
"""From where to where a sentence is turned, and what stands there then."""
_NOUNS: Final = frozenset({"content", "name"})
_ARTICLES: Final = words("a an the")
_TIES: Final = words("of in for to on")
_KIND: Final = 3
"""The most words that say of what kind something is."""
_HEAD: Final = 2
_MEMBER: Final = 4
"""The most words of one of two things that are joined."""
_TURNS: Final = 8
"""How often a sentence is turned at the most."""
_OWNER: Final = {"it": "its", "him": "his", "her": "her"}


def reworded(claim: Statement, source: Statement) -> tuple[Statement, Statement]:
    """Both, each in the other's turns where it has the same words."""
    ours, theirs = claim.tokens, source.tokens
    for _ in range(_TURNS):
        turned = _turned(ours, theirs)
        beside = _turned(theirs, turned)
        if turned is ours and beside is theirs:
            break
        ours, theirs = turned, beside
    if ours is claim.tokens and theirs is source.tokens:
        return claim, source
    return replace(claim, tokens=ours), replace(source, tokens=theirs)


def _turned(tokens: tuple[Token, ...], others: tuple[Token, ...]) -> tuple[Token, ...]:
    for rule in _RULES:
        for first, end, made in rule(tokens, others):
            head, *rest = made
            return (*tokens[:first], replace(head, before=tokens[first].before), *rest, *tokens[end:])
    return tokens


def _plain(tokens: Sequence[Token]) -> Iterator[Token]:
    """Without the signs before the first."""
    for at, token in enumerate(tokens):
        yield token if at else replace(token, before="")


def _stands(part: Sequence[Token], others: Sequence[Token]) -> Iterator[int]:
    """Where another sentence has these words one behind the other, with nothing between them; what owns there owns
    here."""
    for at in range(len(others) - len(part) + 1):
        there = others[at : at + len(part)]
        if all(
            same(one, other) and owns(one) == owns(other) for one, other in zip(part, there, strict=True)
        ) and not any(token.before.strip("\"'") for token in there[1:]):
            yield at


def _goes_on(tokens: Sequence[Token], end: int) -> bool:
    """Whether the noun before this place is not the last of its phrase: `the settings of a user [file]`, `the price of
    oil [and lamps]`."""
    return end < len(tokens) and not tokens[end].before and (tokens[end].role in _NOUNS or tokens[end].role == "joint")


def _is_bare(tokens: Sequence[Token]) -> bool:
    """Nouns and what stands before them, in one piece, that own nothing."""
    return all(token.role in _NOUNS and not owns(token) for token in tokens) and not any(
        token.before for token in tokens[1:]
    )


def _compounds(tokens: tuple[Token, ...], others: tuple[Token, ...]) -> Iterator[Turn]:
    """`mail delivery delays` for `delays in mail delivery`, where the other sentence says it so."""
    for at in range(1, len(tokens) - 1):
        if tokens[at].word not in _TIES or tokens[at].before:
            continue
        kind = at + 1 + (tokens[at + 1].word in _ARTICLES)
        for size in range(_KIND, 0, -1):
            inner = tokens[kind : kind + size]
            if len(inner) < size or tokens[kind].before or not _is_bare(inner) or _goes_on(tokens, kind + size):
                continue
            for first in range(max(0, at - _HEAD), at):
                head = tokens[first:at]
                if not _is_bare(head):
                    continue
                if all(token.role == "name" for token in (*head, *inner)) or head[-1].word.rstrip("s") in VESSELS:
                    continue
                made = (*_plain(inner), *_plain(head))
                ends = [to for to in _stands(made, others) if not _goes_on(others, to + len(made))]
                larger = first > 0 and not tokens[first].before and tokens[first - 1].role in _NOUNS
                if larger or tokens[at].word != "of":  # a verb may stand there: `promotes to king`
                    ends = [to for to in ends if _is_beside_same(tokens, first, kind + size, others, to, len(made))]
                if ends:
                    yield first, kind + size, made


def _is_beside_same(tokens: Sequence[Token], first: int, end: int, others: Sequence[Token], to: int, size: int) -> bool:
    """Whether what stands directly before and behind, but for articles, is the same."""
    before = _beside(tokens[:first][::-1]), _beside(others[:to][::-1])
    behind = _beside(tokens[end:]), _beside(others[to + size :])
    return (
        before[0] is not None
        and before[1] is not None
        and same(before[0], before[1])
        and (behind == (None, None) or (behind[0] is not None and behind[1] is not None and same(behind[0], behind[1])))
    )


def _beside(tokens: Sequence[Token]) -> Token | None:
    return next((token for token in tokens if token.word not in _ARTICLES), None)


def _gerunds(tokens: tuple[Token, ...], others: tuple[Token, ...]) -> Iterator[Turn]:
    """`the art of music engraving` for `the art of engraving music`."""
    for at in range(1, len(tokens) - 1):
        led = (
            tokens[at - 1].role in ("light", "place", "joint") and tokens[at - 1].word != "by" and not tokens[at].before
        )
        if not led or not tokens[at].word.endswith("ing"):
            continue
        for end in range(at + 2, at + 2 + _KIND):
            if end > len(tokens) or not _is_bare(tokens[at:end]) or _goes_on(tokens, end):
                continue
            made = (*_plain(tokens[at + 1 : end]), tokens[at])
            if any(to and same(others[to - 1], tokens[at - 1]) for to in _stands(made, others)):
                yield at, end, made


def _possessives(tokens: tuple[Token, ...], others: tuple[Token, ...]) -> Iterator[Turn]:
    """`its contents` for `the contents of it`."""
    for at in range(1, len(tokens) - 1):
        owner = _OWNER.get(tokens[at + 1].key)
        if tokens[at].word != "of" or owner is None or tokens[at + 1].role != "pronoun":
            continue
        for first in range(max(0, at - _KIND), at):
            things = tokens[first:at]
            start = first - (first > 0 and tokens[first - 1].word == "the")
            if not _is_bare(things):
                continue
            for to in _stands(things, others):
                if to and others[to - 1].key == owner:
                    yield start, at + 2, (replace(others[to - 1], before=""), *_plain(things))


def _pairs(tokens: tuple[Token, ...], others: tuple[Token, ...]) -> Iterator[Turn]:
    """`oil or gas` for `gas or oil`: two words or phrases of the same form that are joined. What stands beside them may
    belong to one of them alone, so it has to be the same, or a small word."""
    if any(token.word in IN_TURN for token in (*tokens, *others)):
        return
    for at in range(1, len(tokens) - 1):
        if tokens[at].role != "joint" or tokens[at].before:
            continue
        for size in range(1, _MEMBER + 1):
            one = tokens[at - size : at]
            if at < size or not _is_bare(one) or _goes_back(tokens, at - size):
                continue
            for length in range(1, _MEMBER + 1):
                other = tokens[at + 1 : at + 1 + length]
                if len(other) < length or other[0].before or not _is_bare(other):
                    continue
                made = (*_plain(other), tokens[at], *_plain(one))
                for to in _stands(made, others):
                    alike = [token.word for token in made] == [token.word for token in others[to : to + len(made)]]
                    ends = tokens[at + 1 + length :][:1], others[to + len(made) :][:1]
                    shared = all(ends) and ends[0][0].word == ends[1][0].word
                    closed = shared or not (_goes_on(tokens, at + 1 + length) or _goes_on(others, to + len(made)))
                    parallel = _led_by(tokens, at - size) == {token.word for token in ends[0]}
                    if alike and closed and not parallel and not _goes_back(others, to):
                        yield at - size, at + 1 + length, made


def _led_by(tokens: Sequence[Token], first: int) -> set[str]:
    """The preposition before a noun: `oil for [lamps and wood] for stoves` joins no lamps and wood."""
    while first and tokens[first - 1].word in _ARTICLES:
        first -= 1
    return {token.word for token in tokens[first - 1 : first] if first and token.role in ("place", "light")}


def _goes_back(tokens: Sequence[Token], first: int) -> bool:
    """Whether what stands before may belong to the first of them alone: `the queen of Spain and …`, `lit the lamp
    and …`."""
    if not first or tokens[first].before:
        return False
    before = tokens[first - 1]
    if before.role == "free":
        return before.word not in _ARTICLES or _goes_back(tokens, first - 1)
    return before.role not in ("light", "place", "negation", "modal") and not owns(before)


def _extraposed(tokens: tuple[Token, ...], others: tuple[Token, ...]) -> Iterator[Turn]:
    """`seeing it is hard` for `it is hard to see it`, `a common practice is to read it` for `it is a common practice to
    read it`."""
    if len(tokens) < _LEAST:
        return
    it = 1 if tokens[0].role == "limit" else 0  # `sometimes it is …`
    be = next((at for at in range(it + 1, it + 4) if tokens[at].word in BE), None)
    if tokens[it].word != "it" or be is None:
        return
    if any(token.role not in ("modal", "free", "limit") for token in tokens[it + 1 : be]):
        return
    for to in range(be + 2, min(be + 8, len(tokens) - 1)):
        if tokens[to].word != "to" or tokens[to].before:
            continue
        what, act = tokens[be + 1 : to], tokens[to + 1 :]
        first = next((token for token in others if token.role not in ("free", "limit")), None)
        telling = next((token for token in what if token.role != "free"), None)
        if first is None or telling is None:
            return
        helping = tokens[it + 1 : be + 1]
        if same(first, telling):
            yield 0, len(tokens), (*tokens[:it], *_plain(what), *helping, tokens[to], *act)
        elif any(same(first, token) for token in act[:2]) and first.word.endswith("ing"):
            yield 0, len(tokens), (*tokens[:it], *_plain(act), *_plain(helping), *what)
        return


def _comparisons(tokens: tuple[Token, ...], others: tuple[Token, ...]) -> Iterator[Turn]:
    """`costlier` for `more costly`; `more light oil` may be more of it."""
    for at in range(len(tokens) - 1):
        ending = _DEGREES.get(tokens[at].word)
        if ending is None or tokens[at + 1].before or tokens[at + 1].role != "content":
            continue
        if _goes_on(tokens, at + 2) and not (at and tokens[at - 1].word in _ARTICLES):
            continue
        word = tokens[at + 1].word
        forms = {f"{word}{ending}", f"{word.removesuffix('e')}{ending}", f"{word}{word[-1]}{ending}"}
        if word.endswith("y"):
            forms.add(f"{word[:-1]}i{ending}")
        for other in others:
            if other.role == "content" and other.word in forms:
                yield at, at + 2, (replace(other, before=""),)


_DEGREES: Final = {"more": "er", "most": "est"}
_LEAST: Final = 6
_RULES: Final[tuple[Callable[[tuple[Token, ...], tuple[Token, ...]], Iterator[Turn]], ...]] = (
    _possessives,
    _compounds,
    _gerunds,
    _pairs,
    _extraposed,
    _comparisons,
)
