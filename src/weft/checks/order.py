"""What stands elsewhere in one sentence than in the other, and whether that says something else.

A word without a mark has its part in the statement by where it stands: who did it stands before what was done. A phrase
with a preposition or a conjunction of its own carries its part with it, and so does an adverb or a date: it says the
same wherever it stands in its clause. Members of a list, and a noun and what belongs to it (`the keeper's lamp`, `the
lamp of the keeper`), say the same in either order. So both sentences are cut into the blocks that have kept their
order; two that stand side by side in both and may change places are made one, until nothing more can be. What has
changed places then says something else.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import combinations, pairwise
from operator import itemgetter
from typing import Final

from weft.checks.clauses import BE, HELPING, is_clause, may_go
from weft.checks.statements import Role, Token, is_saying
from weft.language.sentences import words
from weft.language.stems import stem

Block = list[tuple[int, int]]
"""Places of the same words in both sentences."""
Rule = Callable[[Sequence[Token], Sequence[Token], Block, Block], bool]
"""Whether two blocks that stand side by side in both sentences say the same in either order."""
Span = tuple[int, int]
SLIGHT: Final[frozenset[Role]] = frozenset({"free", "light", "joint"})
_BOUND: Final = frozenset({"of", "than"})
"""What a phrase that begins so belongs to stands before it, always."""
_FIXED: Final = frozenset({"to", "for", "from", "with", "by"})
"""And here mostly: such a phrase moves from one end to the other, with its commas, or past another phrase."""


def displaced(
    ours: Sequence[Token], theirs: Sequence[Token], pairs: Sequence[tuple[int, int]]
) -> Iterator[tuple[Sequence[Token], Sequence[Token]]]:
    """What has changed places and may not: as it stands in the claim, and in the source."""
    told = [pair for pair in sorted(pairs) if ours[pair[0]].role not in SLIGHT and ours[pair[0]].word not in _BESIDE]
    if all(one[1] < other[1] for one, other in pairwise(told)):
        return
    told = _side_by_side(theirs, told)
    kept = _relisted(ours, theirs, _joined(ours, theirs, [[pair] for pair in told], _BINDING))
    in_place = [both for both in _crossed(kept) if _are_in_each_others_place(ours, theirs, *both)]
    for one, other in in_place or _crossed(_joined(ours, theirs, kept, (_may_cross, _are_listed))):
        if in_place or not _may_cross(ours, theirs, one, other):
            (low, high), (left, right) = _places(min(one, other, key=len))
            yield ours[low : high + 1], theirs[left : right + 1]


def _side_by_side(theirs: Sequence[Token], told: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """A word that both have twice is the one that stands beside what stands beside it in the claim."""
    rank = {j: at for at, j in enumerate(sorted(j for _, j in told))}
    mates = [j for _, j in told]
    again: dict[str, list[int]] = {}
    for at, j in enumerate(mates):
        again.setdefault(theirs[j].key, []).append(at)

    def beside() -> int:
        following = [(one, other) for one, other in pairwise(mates) if rank[other] - rank[one] == 1]
        return len(following) + sum(_is_near(theirs, one, other) for one, other in following)

    for one, other in (both for places in again.values() for both in combinations(places[:_AGAIN], 2)):
        before = beside()
        mates[one], mates[other] = mates[other], mates[one]
        if beside() <= before:
            mates[one], mates[other] = mates[other], mates[one]
    return [(i, j) for (i, _), j in zip(told, mates, strict=True)]


def _is_near(tokens: Sequence[Token], one: int, other: int) -> bool:
    return not tokens[other].before and all(
        token.role == "free" and not token.before for token in tokens[one + 1 : other]
    )


_AGAIN: Final = 4
_BESIDE: Final = words("while whereas")
"""What joins two clauses that may stand in either order."""


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
    between = theirs[min(right, end) + 1 : max(left, start)]
    near = not any(_tells(token) for token in between)
    mark = _mark(ours, theirs, one)
    return bool(mark) and mark == _mark(ours, theirs, other) and not near


def _tells(token: Token) -> bool:
    return token.role not in SLIGHT and not _is_mark(token)


def _joined(
    ours: Sequence[Token], theirs: Sequence[Token], blocks: Sequence[Block], rules: Sequence[Rule]
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
        if follows or (leads and any(rule(ours, theirs, one, other) for rule in rules)):
            found[at : at + 2] = [[*one, *other]]
            at = max(0, at - 1)
        else:
            at += 1
    return found


def _may_cross(ours: Sequence[Token], theirs: Sequence[Token], one: Block, other: Block) -> bool:
    (here, mine), (there, beside) = _places(one), _places(other)
    if _is_adverb(ours, theirs, one, other):
        return True
    told = _marker(ours, here[0]), _marker(ours, there[0])
    if told[0] != told[1] and told == (_marker(theirs, beside[0]), _marker(theirs, mine[0])):
        return False  # `into May in the hall`
    if any(theirs[at].word in _SINGLING for block in (one, other) for at in (max(block)[1], max(j for _, j in block))):
        return False  # what it rules over would be another
    if any(_is_apart(ours, theirs, block) or _goes_round(ours, theirs, block) for block in (one, other)):
        return True
    return _is_attribution(ours, theirs, one, other) or all(
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
    mark, told = _marker(theirs, left), _marker(ours, low)
    if (low, left) not in block or _INTO.get(mark, mark) != _INTO.get(told, told) or mark.split(" ")[0] in _BOUND:
        return None
    if len(block) == 1 and _is_mark(ours[low]):
        return None
    return mark


def _is_apart(ours: Sequence[Token], theirs: Sequence[Token], block: Block) -> bool:
    """A phrase or clause with its own mark, or a participle, that stands between commas, or at an end, in both."""
    mark = _mark(ours, theirs, block)
    (low, high), (left, _) = _places(block)
    doing = (is_participle(ours[low]) or ours[high].word == "wise") and ours[low].word == theirs[left].word
    return (
        mark is not None
        and (mark != "" or doing)
        and _is_between(ours, [i for i, _ in block])
        and _is_between(theirs, [j for _, j in block])
    )


def _goes_round(ours: Sequence[Token], theirs: Sequence[Token], block: Block) -> bool:
    """A phrase that stands apart in one sentence, in front or beside the verb, and so or at the end in the other."""
    mark = _mark(ours, theirs, block)
    if mark is None:
        return False
    (low, high), (left, right) = _places(block)
    doing = is_participle(ours[low]) and ours[low].word == theirs[left].word
    lasting = _is_lasting(ours, low)
    if not (mark or doing or lasting or _is_free(ours, low)):
        return False
    dated = any(token.role in ("number", "date") for token in ours[low : low + 2])
    comma = (mark.split(" ")[0] in _FIXED and not dated) or (not mark and not lasting)
    places = (ours, low, high), (theirs, left, right)
    return any(
        (_is_fronted(*one, comma=comma, marked=bool(mark)) or (mark and _is_between(one[0], one[1:])))
        and _is_last(*place)
        for one, place in (places, places[::-1])
    )


def _phrase_start(tokens: Sequence[Token], at: int) -> int:
    """Where a phrase begins, with the prepositions and articles before its first telling word."""
    while at and not tokens[at].before and (_is_mark(tokens[at - 1]) or tokens[at - 1].word in _LEADING):
        at -= 1
    return at


def _is_lasting(tokens: Sequence[Token], at: int) -> bool:
    """`two days`, `every day`."""
    counts = tokens[at].role == "number" or tokens[at].key == "every"
    return counts and any(token.key in _LASTING for token in tokens[at + 1 : at + 2])


_LASTING: Final = words("second minute hour day week month year decade century")


def _is_free(tokens: Sequence[Token], at: int) -> bool:
    """A date, an adverb of time or manner, `deep in`: what needs no preposition to say where it belongs."""
    head, behind = tokens[at], tokens[at + 1 : at + 2]
    how = (is_how(head) or head.word.endswith("wise")) and head.word not in _SINGLING
    far = head.word in _FAR and any(token.role in ("light", "place") for token in behind)
    return how or far or head.role == "date" or head.word in _TIMES


def _carries(ours: Sequence[Token], theirs: Sequence[Token], block: Block, other: Block) -> bool:
    """Whether a phrase says the same before and behind the other: it carries its part with it."""
    mark, beside = _mark(ours, theirs, block), _mark(ours, theirs, other)
    if mark is None:
        return False
    ((low, high), (left, right)), ((here, _), (start, end)) = _places(block), _places(other)
    if not (mark or _is_free(ours, low)):
        return False
    places = (ours, low, high), (theirs, left, right)
    if mark and any(_is_of_subject(*one) and _is_behind_verb(*place) for one, place in (places, places[::-1])):
        return False  # `the lamp [in the hall] may burn the oil`
    if mark.split(" ")[0] in _FIXED and not beside and not (_is_helped(ours, low) or _is_helped(theirs, left)):
        return False
    if _marker(ours, here) != _marker(theirs, start) or not _is_one(ours, theirs, block, other):
        return False
    first, last = min(left, start), max(right, end)
    plain = not any(token.before.strip("\"'") for token in theirs[left + 1 : right + 1])
    return not any(
        token.role == "condition"
        or (is_saying(token) and not (plain and left <= at <= right))
        or (token.role == "joint" and not left <= at <= right)
        or token.word in ("which", "who", "that")
        for at, token in enumerate(theirs[first : last + 1], start=first)
    )


def _is_behind_noun(tokens: Sequence[Token], at: int) -> bool:
    start = _phrase_start(tokens, at)
    return start > 0 and not tokens[start].before and tokens[start - 1].role == "content"


def _is_of_subject(tokens: Sequence[Token], first: int, last: int) -> bool:
    """Whether a phrase stands between a noun and the verb, and so may belong to the noun."""
    behind = tokens[last + 1] if last + 1 < len(tokens) else None
    dated = any(token.role in ("number", "date") for token in tokens[first : last + 1])
    return behind is not None and not dated and _helps(behind) and _is_behind_noun(tokens, first)


def _is_behind_verb(tokens: Sequence[Token], first: int, _last: int) -> bool:
    """Whether it stands behind a noun that the verb stands before."""
    return any(map(_helps, tokens[:first])) and _is_behind_noun(tokens, first)


def _helps(token: Token) -> bool:
    return token.role == "modal" or token.word in HELPING


def _is_helped(tokens: Sequence[Token], at: int) -> bool:
    """Whether a phrase stands between a verb and what helps it, and so belongs to no noun: `may [by law] be made`."""
    start = _phrase_start(tokens, at)
    return start > 0 and tokens[start - 1].role == "modal"


def _is_one(ours: Sequence[Token], theirs: Sequence[Token], block: Block, other: Block) -> bool:
    """Whether a phrase ends where the block does: not `above the [quota]`, `in the hall) and [burns]`."""
    (here, there), (mine, beside) = _places(block), _places(other)
    if any(set("();:") & set(token.before) for token in theirs[there[0] + 1 : there[1] + 1]):
        return False
    first, second = ((ours, here, mine), (theirs, there)) if here < mine else ((theirs, there, beside), (ours, here))
    tokens, phrase, following = first
    touching = phrase[1] + 1 == following[0] and not tokens[following[0]].before
    others, (_, last) = second
    cut = last + 1 < len(others) and not others[last + 1].before and others[last + 1].role in ("content", "name")
    return not (touching and cut)


_FAR: Final = words("deep far high low long soon early late right straight just")
_SINGLING: Final = words("only merely solely exclusively just even hardly barely scarcely mainly mostly partly longer")
"""What rules over the words behind it, and says something else before others."""
_TIMES: Final = words("today yesterday tomorrow now then currently recently later earlier once already far")


def _marker(tokens: Sequence[Token], at: int) -> str:
    """The prepositions and conjunctions that a phrase begins with: `as of`; not the `on` of `turn on`."""
    marks: list[str] = [tokens[at].key] if _is_mark(tokens[at]) and tokens[at].role != "light" else []
    while at > 0 and not tokens[at].before.strip("\"'"):
        at -= 1
        if _is_mark(tokens[at]):
            marks.insert(0, tokens[at].key)
        elif tokens[at].word not in _LEADING:
            if len(marks) > 1 and marks[0] in _PARTICLES:
                marks.pop(0)
            break
    return " ".join(marks)


def _is_mark(token: Token) -> bool:
    return token.role in ("light", "place", "condition") or (token.role == "bound" and token.word in _PLACED)


_PLACED: Final = words("over under above below about around")
"""Prepositions, where no number follows."""
_PARTICLES: Final = words("on in up out off down above below")
_LEADING: Final = words("a an the this that these those such very quite really even do be have")
"""What may stand between a preposition and the rest of its phrase, or before it."""
_INTO: Final = {"into": "in", "onto": "on", "within": "in", "inside": "in"}


def _is_fronted(tokens: Sequence[Token], first: int, last: int, *, comma: bool, marked: bool) -> bool:
    """At the beginning of what is said, with a comma behind it, or a word that begins anew, where it could belong to
    what follows."""
    start = next((at for at in range(first - 1, 0, -1) if tokens[at].word == "that" and is_saying(tokens[at - 1])), 0)
    leading = tokens[start:first]
    if last + 1 >= len(tokens) or any(
        token.role not in SLIGHT and not _is_mark(token) and token.word not in _TIMES for token in leading
    ):
        return False
    behind = tokens[last + 1]
    anew = (behind.word in _NEW or behind.role in ("pronoun", "quantifier", "name")) and not behind.before
    return "," in behind.before or not comma or (marked and anew and not _is_mark(tokens[last]))


_NEW: Final = words("a an the this these those his her its their your our")


def _is_last(tokens: Sequence[Token], first: int, last: int) -> bool:
    """At the end of the sentence, or of what is said in it before a part that stands for itself."""
    if all(token.role in SLIGHT for token in tokens[last + 1 :]):
        return True
    behind = tokens[last + 1]
    begins = behind.role == "joint" and (
        any(token.role == "pronoun" for token in tokens[last + 2 : last + 3])
        or ("," in behind.before and is_clause(tokens[last + 2 :]))
    )
    if (begins or behind.role in ("place", "light")) and is_clause(tokens[:first]):
        return True
    return bool(behind.before) and may_go(tokens, last + 1, len(tokens) - 1)


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
    for part, rest in ((run, over), (over, run)):
        if not is_how(ours[part[-1][0]]) or not all(
            is_how(ours[i]) or ours[i].word in ("most", "more", "less") for i, _ in part
        ):
            continue
        involved = [*part, *rest]
        here = ours[min(i for i, _ in involved) : max(i for i, _ in involved) + 1]
        there = theirs[min(j for _, j in involved) : max(j for _, j in involved) + 1]
        if any(token.role in ("negation", "condition") or token.before for token in (*here[1:], *there[1:])):
            continue
        if not any(ours[i].word in _SINGLING for i, _ in part):
            return len(involved) <= _ACROSS
        low, left = part[0]
        (one, at), (two, beside) = ((ours, low), (theirs, left)) if part is run else ((theirs, left), (ours, low))
        return _rules_verb(one, at) and two[beside - 1].word not in _ARTICLES
    return False


_ACROSS: Final = 6
"""The most words that an adverb and what it moves across have together."""


def _rules_verb(tokens: Sequence[Token], at: int) -> bool:
    """Whether `only` stands before a verb, and so belongs to any part of what follows: `she [only] lit the lamp`, not
    `[only] she` or `she lit [only] the lamp`."""
    before, (behind, following) = tokens[at - 1 : at], (tokens[at + 1 : at + 2], tokens[at + 2 : at + 3])
    if not before or tokens[at].before or not behind or behind[0].before:
        return False
    helped = before[0].role == "modal" or before[0].word in HELPING
    acts = behind[0].role == "content" and any(
        one.word in _NEW or one.role in ("pronoun", "name", "number", "quantifier", "bound") for one in following
    )
    return helped or (acts and before[0].role in ("content", "name", "pronoun"))


def is_how(token: Token) -> bool:
    return token.word in _HOW or (token.role in ("content", "limit") and token.word.endswith("ly"))


_HOW: Final = words("only just also always often usually sometimes first afterwards")


# -- what a list and a noun phrase hold together

IN_TURN: Final = words("respectively respective then")
_LISTED: Final = 48
"""The most words from one member of a list to the joint before its last."""


def _are_listed(ours: Sequence[Token], theirs: Sequence[Token], one: Block, other: Block) -> bool:
    """`oil and lamps` for `lamps and oil`: members of one list."""
    (here, mine), (there, beside) = _places(one), _places(other)
    sides = (ours, here, there), (theirs, beside, mine)
    joints = [_joint(*side) for side in sides]
    if not joints[0] or joints[0] != joints[1] or any(token.word in IN_TURN for token in theirs):
        return False
    if any(_are_parallel(*side) or _is_qualified(side[0], side[1][0]) for side in sides):
        return False
    if all(_is_closed(tokens, last) for tokens, _, (_, last) in sides):
        return not any(_is_ruled(*side) for side in sides)
    # `dogs and cat food` is not `cats and dog food`
    ends = [pair for block in (one, other) for pair in (max(block), max(block, key=itemgetter(1)))]
    if any(ours[i].word != theirs[j].word for i, j in ends):
        return False
    if all(_begins(tokens, first) for tokens, (first, _), _ in sides):
        return not any(_is_ruled(*side) for side in sides)
    parted = any("," in token.before for token in ours[here[1] + 1 : there[0] + 1])
    single = not parted and len(one) == len(other) == 1
    return single and all(_is_tight(tokens, first) for tokens, (first, _), _ in sides)


def _are_parallel(tokens: Sequence[Token], one: Span, other: Span) -> bool:
    """`oil for [lamps] and [wood] for stoves`: each belongs to what stands beside it."""
    before, behind = tokens[_start(tokens, one[0]) - 1 : _start(tokens, one[0])], tokens[other[1] + 1 : other[1] + 2]
    led = [token.word for token in before if token.role in ("place", "light") and _start(tokens, one[0]) > 1]
    return bool(led) and led == [token.word for token in behind]


def _is_qualified(tokens: Sequence[Token], first: int) -> bool:
    """`religious [belief], gender or race`: what stands before the first member may belong to it alone."""
    before = tokens[first - 1 : first] if first and not tokens[first].before else ()
    return any(token.role == "content" and token.word.endswith(_QUALITIES) for token in before)


_QUALITIES: Final = ("ous", "ic", "al", "ful", "less", "able", "ible", "ive", "ary")


def _relisted(ours: Sequence[Token], theirs: Sequence[Token], blocks: list[Block]) -> list[Block]:
    """With a list whose members stand in any other order made one, and what follows it joined again."""
    spans = [_places(block) for block in blocks]
    for first in range(len(blocks) - _SHUFFLED + 1):
        joints = {_joint(ours, one[0], other[0]) for one, other in pairwise(spans[first : first + 2])}
        for last in range(len(blocks), first + _SHUFFLED - 1, -1) if "" not in joints else ():
            members = [there for _, there in sorted(spans[first:last], key=itemgetter(1))]
            apart = any(members[0] < there < members[-1] for _, there in (*spans[:first], *spans[last:]))
            joints = {_joint(ours, one[0], other[0]) for one, other in pairwise(spans[first:last])}
            joints |= {_joint(theirs, one, other) for one, other in pairwise(members)}
            if not apart and len(joints) == 1 and "" not in joints:
                made = [pair for block in blocks[first:last] for pair in block]
                return _joined(ours, theirs, [*blocks[:first], made, *blocks[last:]], _BINDING)
    return blocks


_SHUFFLED: Final = 4
"""Members in an order that no exchange of neighbours explains are at least so many."""


def _joint(tokens: Sequence[Token], one: Span, other: Span) -> str:
    """What joins two members: the joint between them, or that before the last member where there is a comma."""
    between = tokens[one[1] + 1 : other[0]]
    if any(token.role not in SLIGHT and token.word not in _BESIDE for token in between):
        return ""
    joint = next((token.key for token in between if token.role == "joint" or token.word in _BESIDE), "")
    comma = any("," in token.before for token in tokens[one[1] + 1 : other[0] + 1])
    if joint and comma and not _is_long(tokens, one):
        return joint if all(is_clause(tokens[low : high + 1]) for low, high in (one, other)) else ""
    if joint or not comma:
        return joint
    for at in range(other[0] + 1, min(len(tokens), other[0] + _LISTED)):
        signs = tokens[at].before
        if tokens[at].role == "joint" or tokens[at].word == "etc":
            return "and" if tokens[at].word == "etc" else tokens[at].key
        if ")" in signs or ";" in signs or ":" in signs:
            break
    return "," if any("(" in token.before for token in tokens[: one[0] + 1]) else ""


def owns(token: Token) -> bool:
    return token.word.endswith(("'s", "s'"))


def _is_long(tokens: Sequence[Token], one: Span) -> bool:
    """Whether a list has had a comma before, so that one before its joint begins no clause."""
    return "," in tokens[_start(tokens, one[0])].before or any(
        "," in token.before for token in tokens[one[0] + 1 : one[1] + 1]
    )


def _start(tokens: Sequence[Token], at: int) -> int:
    """Where a phrase begins, with its article."""
    while at and tokens[at - 1].role == "free" and not tokens[at].before:
        at -= 1
    return at


def _is_closed(tokens: Sequence[Token], last: int) -> bool:
    """Whether what follows belongs to what stands before, and goes on with nothing."""
    at = last + 1
    if at >= len(tokens) or tokens[at].before or tokens[at].word in _ACTING:
        return True
    return tokens[at].role in ("place", "light", "joint", "condition")


_ACTING: Final = words("i we he she they")


def _begins(tokens: Sequence[Token], first: int) -> bool:
    start = _start(tokens, first)
    both = start > 0 and tokens[start - 1].word in ("both", "either", "neither", "between")
    return both or bool(tokens[start].before) or all(token.role in (*SLIGHT, "place") for token in tokens[:first])


def _is_tight(tokens: Sequence[Token], first: int) -> bool:
    """Whether a word stands behind a small one, so that it can't be the end of a clause: `to [read] and write`."""
    return (
        not first or bool(tokens[first].before) or tokens[first - 1].role in (*SLIGHT, "place", "modal", "quantifier")
    )


def _is_ruled(tokens: Sequence[Token], one: Span, other: Span) -> bool:
    """Whether what stands before or behind a list may belong to the member beside it alone: `the king and the queen
    [of Spain]`, `[private] lamps and rooms`."""
    behind = tokens[other[1] + 1] if other[1] + 1 < len(tokens) else None
    if behind is None or behind.before:
        return False
    anew = any(token.role == "free" for token in tokens[one[1] + 1 : other[0]])
    return behind.word in _RELATIVE or (anew and behind.word in _BOUND)


_RELATIVE: Final = words("that which who whose whom where")
_HEAD: Final = frozenset({"content", "name"})
VESSELS: Final = words("""
cup glass bottle box bag can jar pot bucket tank bowl basket barrel pack packet number amount lot dozen hundred thousand
million billion half third quarter majority minority pair couple
""")
"""A lamp box is not a box of lamps, and dozens of lamps are lamps."""
_GIVING: Final = frozenset(map(stem, words("give bring send offer show tell teach lend pay sell grant hand pass")))
_INSIDE: Final = words("of in on at")
_KIND: Final = 3
"""The most words before a noun that say of what kind it is."""
WHOSE: Final = words("my our your his her its their")


def _is_modifier(ours: Sequence[Token], theirs: Sequence[Token], one: Block, other: Block) -> bool:
    """`the keeper's lamp` or `the keeper lamp` for `the lamp of the keeper`, `red lamps` for `lamps that are red`."""
    (here, mine), (there, beside) = _places(one), _places(other)
    return _is_held(ours, here, there, theirs, beside, mine) or _is_held(theirs, beside, mine, ours, here, there)


def _is_held(
    tokens: Sequence[Token], modifier: Span, head: Span, others: Sequence[Token], noun: Span, phrase: Span
) -> bool:
    """Whether what stands directly before a noun in one sentence is what stands behind it in the other."""
    between = others[noun[1] + 1 : phrase[0]]
    if modifier[1] + 1 != head[0] or any(
        token.before.strip("\"'") for token in (tokens[head[0]], *others[noun[1] + 1 : phrase[0] + 1])
    ):
        return False
    inner, things = tokens[modifier[0] : modifier[1] + 1], tokens[head[0] : head[1] + 1]
    owned = owns(inner[-1]) or inner[0].word in WHOSE
    if (
        not between
        or owns(things[-1])
        or owns(others[phrase[1]])
        or not _is_whole(tokens, others, head, phrase, owned=owned)
    ):
        return False
    tie, articles = between[0].word, all(token.word in _ARTICLES for token in between[1:])
    before = tokens[modifier[0] - 1] if modifier[0] and not inner[0].before else None
    if owned:
        # `the old keeper's lamp` is not the old lamp of the keeper
        apart = before is None or before.role not in (*_HEAD, "number", "quantifier") or _has_article(others, noun[0])
        return apart and articles and tie in _INSIDE and all(token.role in _OWNED for token in (*inner, *things))
    if (
        any(token.role not in _HEAD for token in (*things, *inner))
        or any(token.before for token in inner[1:])
        or len(inner) > _KIND
    ):
        return False
    if tie in _RELATIVE:
        return len(inner) == 1 and len(between) == 2 and between[1].word in BE
    if tie == "to":
        return articles and before is not None and before.key in _GIVING
    named = all(token.role == "name" for token in (*things, *inner))
    return articles and tie == "of" and not named and things[-1].word.removesuffix("s") not in VESSELS


_ARTICLES: Final = words("a an the this that these those such")
_OWNED: Final = (*_HEAD, "pronoun", "quantifier", "number", "unit", "joint", "light")


def _has_article(tokens: Sequence[Token], at: int) -> bool:
    return 0 < at <= len(tokens) and tokens[at - 1].word in _ARTICLES and not tokens[at - 1].before


def _is_whole(tokens: Sequence[Token], others: Sequence[Token], head: Span, phrase: Span, *, owned: bool) -> bool:
    """Whether the phrase ends where it seems to: not `the group of user [settings]`, `the price of oil [and lamps]`."""
    if phrase[1] + 1 >= len(others) or others[phrase[1] + 1].before:
        return True
    behind, following = others[phrase[1] + 1], tokens[head[1] + 1 : head[1] + 2]
    if behind.role == "joint":
        return phrase[1] + 2 < len(others) and others[phrase[1] + 2].role in ("light", "place", "modal")
    same = any(token.key == behind.key for token in following)
    plural, acts = others[phrase[1]].word.endswith("s"), _has_article(others, phrase[1] + 3)
    return behind.role not in _HEAD or (same and (owned or plural or acts))


def _are_equal(ours: Sequence[Token], theirs: Sequence[Token], one: Block, other: Block) -> bool:
    """`the keeper is Anna` for `Anna is the keeper`: one thing under two names, each with its article in both."""
    (here, mine), (there, beside) = _places(one), _places(other)
    for tokens, first, second in ((ours, here, there), (theirs, beside, mine)):
        between = [token.word for token in tokens[first[1] + 1 : second[0]]]
        if not between or between[0] not in _EQUALS or between[1:] not in ([], ["the"]):
            return False
        if any(token.role not in SLIGHT for token in tokens[: first[0]]) or second[1] + 1 != len(tokens):
            return False
    articles = [[_article(ours, at), _article(theirs, to)] for at, to in ((here[0], mine[0]), (there[0], beside[0]))]
    return (
        all(both in (["the", "the"], ["", ""]) for both in articles)
        and ["the", "the"] in articles
        and all(
            ours[at].role == "name"
            or article[0] == "the"
            or any(token.role in ("number", "name") for token in ours[at : end + 1])
            for (at, end), article in zip((here, there), articles, strict=True)
        )
    )


_EQUALS: Final = words("is are was were")


def _article(tokens: Sequence[Token], at: int) -> str:
    return tokens[at - 1].word if at and tokens[at - 1].word in _ARTICLES and not tokens[at].before else ""


_BINDING: Final = (_are_listed, _is_modifier, _are_equal)
