"""What stands elsewhere in one sentence than in the other, and whether that says something else.

A word without a mark has its part in the statement by where it stands: who did it stands before what was done. A phrase
with a preposition or a conjunction of its own carries its part with it, and so does an adverb or a date: it says the
same wherever it stands in its clause. So both sentences are cut into the blocks that have kept their order, and of two
blocks that have changed places one must be such a phrase, whole in both. Lists have one order by then (`clauses`).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from operator import itemgetter
from typing import Final

from weft.checks.clauses import may_go
from weft.checks.statements import Role, Token, is_saying
from weft.language.sentences import words

Block = list[tuple[int, int]]
"""Places of the same words in both sentences."""
SLIGHT: Final[frozenset[Role]] = frozenset({"free", "light", "joint"})
_BOUND: Final = frozenset({"of", "than"})
"""What a phrase that begins so belongs to stands before it, always."""
_FIXED: Final = frozenset({"to", "for", "from", "with", "by"})
"""And here mostly: such a phrase moves from one end to the other, with its commas, or past another phrase."""


def displaced(
    ours: Sequence[Token], theirs: Sequence[Token], pairs: Sequence[tuple[int, int]]
) -> Iterator[tuple[Sequence[Token], Sequence[Token]]]:
    """What has changed places and may not: as it stands in the claim, and in the source."""
    told = [pair for pair in sorted(pairs) if ours[pair[0]].role not in SLIGHT]
    if all(one[1] < other[1] for one, other in pairwise(told)):
        return
    blocks = [[pair] for pair in told]
    kept = _joined(ours, theirs, blocks, exchanging=False)
    in_place = [both for both in _crossed(kept) if _are_in_each_others_place(ours, theirs, *both)]
    for one, other in in_place or _crossed(_joined(ours, theirs, kept, exchanging=True)):
        if in_place or not _may_cross(ours, theirs, one, other):
            (low, high), (left, right) = _places(min(one, other, key=len))
            yield ours[low : high + 1], theirs[left : right + 1]


def _places(block: Block) -> tuple[tuple[int, int], tuple[int, int]]:
    """From where to where it goes in the claim, and in the source."""
    here, there = [i for i, _ in block], [j for _, j in block]
    return (min(here), max(here)), (min(there), max(there))


def _crossed(blocks: Sequence[Block]) -> list[tuple[Block, Block]]:
    lows = [min(j for _, j in block) for block in blocks]
    return [
        (one, other)
        for at, one in enumerate(blocks)
        for beside, other in enumerate(blocks[at + 1 :], start=at + 1)
        if lows[beside] < lows[at]
    ]


def _are_in_each_others_place(ours: Sequence[Token], theirs: Sequence[Token], one: Block, other: Block) -> bool:
    """`at ten … at seventeen`: what is marked alike and does not stand side by side."""
    (_, (left, right)), (_, (start, end)) = _places(one), _places(other)
    near = max(right, end) - min(left, start) < len(one) + len(other) + 4
    mark = _mark(ours, theirs, one)
    return bool(mark) and mark == _mark(ours, theirs, other) and not near


def _joined(
    ours: Sequence[Token], theirs: Sequence[Token], blocks: Sequence[Block], *, exchanging: bool
) -> list[Block]:
    """Neighbours made one for as long as that goes: those that follow each other in both, and those that may change
    places. A whole sentence made one says what the other says."""
    rank = {j: at for at, j in enumerate(sorted(j for block in blocks for _, j in block))}
    found = list(blocks)
    at = 0
    while at + 1 < len(found):
        one, other = found[at], found[at + 1]
        (_, mine), (_, beside) = _places(one), _places(other)
        follows = rank[beside[0]] == rank[mine[1]] + 1
        leads = rank[mine[0]] == rank[beside[1]] + 1
        if follows or (exchanging and leads and _may_cross(ours, theirs, one, other)):
            found[at : at + 2] = [[*one, *other]]
            at = max(0, at - 1)
        else:
            at += 1
    return found


def _may_cross(ours: Sequence[Token], theirs: Sequence[Token], one: Block, other: Block) -> bool:
    if any(_is_apart(ours, theirs, block) or _goes_round(ours, theirs, block) for block in (one, other)):
        return True
    return any(rule(ours, theirs, one, other) for rule in _MOVES) or all(
        _carries(ours, theirs, unit, beside) or _carries(ours, theirs, beside, unit)
        for unit in _units(theirs, one)
        for beside in _units(theirs, other)
    )


def _units(tokens: Sequence[Token], block: Block) -> list[Block]:
    """A block cut where a phrase or what is said of it begins: before prepositions, auxiliaries, `which`. What is bound
    by `of` stays with what it belongs to."""
    ordered = sorted(block, key=itemgetter(1))
    units = [[ordered[0]]]
    for before, pair in pairwise(ordered):
        begins = any(
            token.role in ("place", "condition", "modal", "negation")
            or (token.role == "light" and token.word not in _BOUND)
            or (token.role == "free" and token.word in _SAID)
            for token in tokens[before[1] + 1 : pair[1] + 1]
        )
        if begins and tokens[before[1]].role not in ("place", "condition"):
            units.append([pair])
        else:
            units[-1].append(pair)
    return units


_SAID: Final = words("is are was were has have had does do did which who whom that")


def _mark(ours: Sequence[Token], theirs: Sequence[Token], block: Block) -> str | None:
    """What a block begins with in both; nothing where that is not the same."""
    (low, _), (left, _) = _places(block)
    mark = _marker(theirs, left)
    if (low, left) not in block or mark != _marker(ours, low) or mark.split(" ")[0] in _BOUND:
        return None
    if len(block) == 1 and ours[low].role in ("place", "condition"):
        return None
    return mark


def _is_apart(ours: Sequence[Token], theirs: Sequence[Token], block: Block) -> bool:
    """A phrase or clause with its own mark, or a participle, that stands between commas, or at an end, in both."""
    mark = _mark(ours, theirs, block)
    (low, _), (left, _) = _places(block)
    doing = is_participle(ours[low]) and ours[low].word == theirs[left].word
    return (
        mark is not None
        and (mark != "" or doing)
        and _is_between(ours, [i for i, _ in block])
        and _is_between(theirs, [j for _, j in block])
    )


def _goes_round(ours: Sequence[Token], theirs: Sequence[Token], block: Block) -> bool:
    """A phrase in front of one sentence and at the end of the other."""
    mark = _mark(ours, theirs, block)
    if mark is None:
        return False
    (low, high), (left, right) = _places(block)
    lasting = _is_lasting(ours, low)
    doing = is_participle(ours[low]) and ours[low].word == theirs[left].word
    if not (mark or lasting or doing or _is_free(ours, low)):
        return False
    dated = any(token.role in ("number", "date") for token in ours[low : low + 2])
    comma = (mark.split(" ")[0] in _FIXED and not dated) or (not mark and not lasting)
    places = (ours, low, high), (theirs, left, right)
    return any(_is_fronted(*one, comma=comma) and _is_last(*place) for one, place in (places, places[::-1]))


def _is_lasting(tokens: Sequence[Token], at: int) -> bool:
    """`two days`, `every day`."""
    counts = tokens[at].role == "number" or tokens[at].key == "every"
    return counts and any(token.key in _LASTING for token in tokens[at + 1 : at + 2])


def _is_free(tokens: Sequence[Token], at: int) -> bool:
    """A date, an adverb of time or manner, `deep in`: what needs no preposition to say where it belongs."""
    head, behind = tokens[at], tokens[at + 1 : at + 2]
    how = head.word.endswith("ly") and head.word not in _SINGLING
    far = head.word in _FAR and any(token.role in ("light", "place") for token in behind)
    return how or far or head.role == "date" or head.word in _TIMES


def _carries(ours: Sequence[Token], theirs: Sequence[Token], block: Block, other: Block) -> bool:
    """Whether a phrase says the same before and behind the other: it carries its part with it."""
    mark, beside = _mark(ours, theirs, block), _mark(ours, theirs, other)
    if mark is None:
        return False
    ((low, _), (left, right)), (_, (start, end)) = _places(block), _places(other)
    if not (mark or _is_lasting(ours, low) or _is_free(ours, low)):
        return False
    if _goes_round(ours, theirs, block):
        return True
    if mark.split(" ")[0] in _FIXED and not beside:
        return False
    first, last = min(left, start), max(right, end)
    return not any(
        is_saying(token)
        or token.role == "condition"
        or (token.role == "joint" and not left <= at <= right)
        or token.word in ("which", "who", "that")
        for at, token in enumerate(theirs[first : last + 1], start=first)
    )


_FAR: Final = words("deep far high low long soon early late right straight just")
_LASTING: Final = words("second minute hour day week month year decade century")
_SINGLING: Final = words("only merely solely exclusively just even hardly barely scarcely mainly mostly partly longer")
"""What rules over the words behind it, and says something else before others."""
_TIMES: Final = words("today yesterday tomorrow now then currently recently later earlier once already far")


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
        all(token.role in (*SLIGHT, "place", "condition") for token in tokens[:first])
        and last + 1 < len(tokens)
        and ("," in tokens[last + 1].before or not comma)
    )


def _is_last(tokens: Sequence[Token], _: int, last: int) -> bool:
    """At the end of the sentence, or of what is said in it before a part that stands for itself."""
    return all(token.role in SLIGHT for token in tokens[last + 1 :]) or (
        bool(tokens[last + 1].before) and may_go(tokens, last + 1, len(tokens) - 1)
    )


def _is_between(tokens: Sequence[Token], places: Sequence[int]) -> bool:
    """Between two commas, or before the first or behind the last."""
    low, high = min(places), max(places)
    while low and tokens[low - 1].role == "free" and not tokens[low].before:
        low -= 1
    return (not low or "," in tokens[low].before) and (high + 1 == len(tokens) or "," in tokens[high + 1].before)


# -- what moves by a rule of its own


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
            begins = all(token.role in SLIGHT for token in one[: min(first)])
            low = min(last)
            while low and two[low - 1].role == "free" and not two[low].before:
                low -= 1
            ends = max(last) + 1 == len(two) and bool({",", '"'} & set(two[low].before))
            if begins and ends:
                return True
    return False


def is_participle(token: Token) -> bool:
    return token.role == "content" and len(token.word) > 3 and token.word.endswith(("ing", "ed", "en"))


def _is_adverb(
    ours: Sequence[Token], theirs: Sequence[Token], run: Sequence[tuple[int, int]], over: Sequence[tuple[int, int]]
) -> bool:
    """`is temporarily set` for `is set temporarily`: an adverb on the other side of its verb."""
    involved = [*run, *over]
    if len(involved) > 6 or not any(all(is_how(ours[i]) for i, _ in part) for part in (run, over)):
        return False
    if len(involved) > 2 and any(ours[i].word in _SINGLING for i, _ in involved):
        return False  # `only Anna lit it`, `Anna lit only it`
    here = ours[min(i for i, _ in involved) : max(i for i, _ in involved) + 1]
    there = theirs[min(j for _, j in involved) : max(j for _, j in involved) + 1]
    return not any(
        token.role in ("negation", "joint", "condition") or token.before for token in (*here[1:], *there[1:])
    )


def is_how(token: Token) -> bool:
    return token.word in ("only", "also", "always", "often", "usually", "sometimes", "first", "afterwards") or (
        token.role in ("content", "limit") and token.word.endswith("ly")
    )


_MOVES: Final = (_is_adverb, _is_attribution)


_ONE: Final = words("a an the")
_BETWEEN: Final = words("which who whose is are was were has have had does do did")
