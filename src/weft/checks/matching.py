"""Two sentences laid side by side: is one the other, up to function words and form, and if not, what is different?

The words are aligned in order; whole phrases may have moved. What remains on either side are differences: a number for
a number, a name for a name, a negation more. A part of the source that the claim leaves out is no difference where it
stands for itself (a parenthesis, a clause behind `and`) and rules over nothing. All else makes them two statements.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Final, Literal

from weft.checks.clauses import BE, HELPING, has_verb, may_go, peeled, takes_back
from weft.checks.dates import same_day
from weft.checks.order import SLIGHT, displaced, is_how, is_participle
from weft.checks.same_words import THIRD, says_the_same
from weft.checks.small_words import is_small, without_subject
from weft.checks.statements import FACTS, GET, TURNING, Role, Statement, Token, is_saying, same
from weft.checks.units import Measure, measure
from weft.checks.word_forms import ORDINALS
from weft.language.sentences import words
from weft.language.stems import stem
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
    """Of what is left out: a part that rules over nothing of what the claim says."""
    place: tuple[int, int] | None = None
    """Of what is left out, and of a negation: where it stands in the source."""


@dataclass(frozen=True, slots=True)
class Alignment:
    shared: float
    """The share of the claim's telling words that the source has."""
    differences: tuple[Difference, ...]
    words: int = 0
    """How many telling words the claim has."""
    turned: bool = False
    """Whether one of the two was put into another voice or order first."""


_WEIGHT: Final[dict[Role, int]] = {"free": 10, "light": 30, "joint": 30, "place": 80, "pronoun": 80}
_TELLING: Final = 120
_BESIDE: Final = 2
"""What it is worth that two words stand side by side in both."""
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
directly indirectly, majority minority, little most, little much, both neither, either neither,
few all, few every, few both, always rarely, always seldom, often seldom, usually rarely, usually seldom,
never sometimes, never often
"""
_OPPOSITES: Final = frozenset(frozenset(pair.split()) for pair in _OPPOSITE_WORDS.split(","))
"""Only where one can't be so while the other is."""
_FOLD: Final = words("single double triple quadruple twofold threefold fourfold fivefold sixfold tenfold")
_SHARES: Final = words("half third quarter fifth tenth thirds quarters")
_SCALES: Final = words("dozens hundreds thousands millions billions trillions")
_EVERY: Final = frozenset({"all", "every", "each", "both", "everyone"})
_PART: Final = frozenset({"most", "majority", "many", "several", "some", "few", "minority"})
_NEAR_MODALS: Final = (
    frozenset({"may", "might"}), frozenset({"may", "can"}), frozenset({"may", "could"}), frozenset({"might", "could"}),
    frozenset({"can", "could"}), frozenset({"will", "would"}),
)  # fmt: skip


_PERMITTED: Final = frozenset({"may", "might", "can", "could"})
_DENYING: Final = {
    **dict.fromkeys(("must", "should"), _PERMITTED | {"must", "should", "need"}),
    **dict.fromkeys(_PERMITTED, _PERMITTED | {"must", "should"}),
    **dict.fromkeys(("will", "would"), frozenset({"will", "would", "can", "could"})),
}
"""What can't be so of the second, denied, while the first holds: `may be used` and `must not be used`."""


def align(claim: Statement, source: Statement, earlier: Statement | None = None) -> Alignment:
    """What of the claim is different in the source; nothing, when it is the source or a whole statement of it.
    `earlier` is the sentence before the source: whom `she` at its beginning means, as far as that can be known."""
    ours, theirs = claim.tokens, source.tokens
    telling = [token for token in ours if token.role not in SLIGHT]
    if not telling or not theirs:
        return Alignment(0.0, (Difference("nothing in common", claim.text, source.text),))
    pairs = _in_order(ours, theirs)
    moved = _moved(ours, theirs, pairs)
    pairs, moved = _together(ours, theirs, pairs, moved)
    found = {at for at, _ in (*pairs, *moved) if ours[at].role not in SLIGHT}
    shared = len(found) / len(telling)
    subject = earlier.tokens if earlier else ()
    differences = [
        Difference("order", _text(one), _text(other)) for one, other in displaced(ours, theirs, (*pairs, *moved))
    ]
    differences += _leading_others(ours, theirs, dict((*pairs, *moved)))
    differences += _purposes(ours, theirs, dict((*pairs, *moved)))
    differences += _edits(ours, theirs, pairs, moved, subject)
    roles = [*_roles(ours, theirs, (*pairs, *moved))]
    differences += roles
    differences = _in_scope([_weighed(item, theirs) for item in differences], theirs)
    if source.asks and not claim.asks:
        differences.append(Difference("question", claim.text, source.text))
    if not roles and not any(item.turns for item in differences):
        differences = [] if says_the_same(claim, source, earlier, dict((*pairs, *moved))) else differences
    return Alignment(shared, tuple(differences), len(telling))


_LEADING: Final = words("unlike than because despite against without")


def _leading_others(ours: Sequence[Token], theirs: Sequence[Token], mate: Mapping[int, int]) -> Iterator[Difference]:
    """`unlike lamps, candles` for `unlike candles, lamps`: what stands in the place of what a small word leads."""
    for here, there in mate.items():
        if ours[here].word not in _LEADING or ours[here].word != theirs[there].word:
            continue
        led = [
            next((at for at in range(place + 1, len(tokens)) if tokens[at].role not in SLIGHT), None)
            for tokens, place in ((ours, here), (theirs, there))
        ]
        if led[0] is None or led[1] is None or mate.get(led[0], led[1]) == led[1]:
            continue
        low, high = sorted((mate[led[0]], led[1]))
        listed = any(token.role == "joint" for token in theirs[low : high + 1])
        if not listed and any(token.before for token in theirs[low + 1 : high + 1]):
            yield Difference("order", ours[led[0]].text, theirs[led[1]].text)


_TO_DO: Final = frozenset(map(stem, words("stop remember forget regret try quit")))


def _purposes(ours: Sequence[Token], theirs: Sequence[Token], mate: Mapping[int, int]) -> Iterator[Difference]:
    """`stopped to smoke` for `stopped smoking`."""
    for here, there in mate.items():
        if ours[here].key in _TO_DO:
            behind = [
                next((token.word for token in tokens[at + 1 : at + 2]), "")
                for tokens, at in ((ours, here), (theirs, there))
            ]
            if any(one == "to" and other.endswith("ing") for one, other in (behind, behind[::-1])):
                yield Difference("other words", ours[here].text, theirs[there].text)


def _in_scope(differences: Sequence[Difference], theirs: Sequence[Token]) -> list[Difference]:
    """`not lit in May` is not contradicted by `lit`: what stands in the clause of a negation belongs to what it
    denies."""
    denied = [item.place for item in differences if item.kind == "negation" and not item.claim and item.place]

    def is_denied(item: Difference) -> bool:
        return item.place is not None and any(
            not any(token.before.strip("\"'") or token.role == "joint" for token in theirs[low + 1 : item.place[0] + 1])
            for low, _ in denied
            if low < item.place[0]
        )

    def is_excepted(item: Difference) -> bool:
        """What is denied of all is denied, whatever was excepted of what was said."""
        return item.kind == "left out" and bool(_EXCEPTING & set(item.source.lower().split()[:4]))

    def goes_along(item: Difference) -> bool:
        """`[in the least]`, `[either]`: nothing is said by it where the negation is gone."""
        return item.kind == "left out" and all(word in _DENIED for word in item.source.lower().split())

    turned = any(item.turns and item.kind in ("negation", "modal") for item in differences)
    lifted = any(item.turns and item.kind == "negation" and not item.claim for item in differences)
    differences = [item for item in differences if not (lifted and goes_along(item))]
    return [
        replace(item, slight=False)
        if item.slight and is_denied(item)
        else replace(item, slight=True)
        if turned and is_excepted(item)
        else item
        for item in differences
    ]


_EXCEPTING: Final = words("except excepting excluding exception exceptions")


def _weighed(item: Difference, theirs: Sequence[Token]) -> Difference:
    """A number or name that the source has elsewhere may be right: the claim may speak of that."""
    if item.turns and item.kind in ("number", "date", "name") and item.claim:
        words = item.claim.lower().split()
        there = [token.word for token in theirs]
        if all(word in there for word in words):
            return replace(item, turns=False)
    return item


def _in_order(ours: Sequence[Token], theirs: Sequence[Token]) -> list[tuple[int, int]]:
    """The heaviest common subsequence; of equal ones, that with the fewest gaps."""
    alike = [[same(one, other) for other in theirs] for one in ours]
    best = [[0] * (len(theirs) + 1) for _ in range(len(ours) + 1)]
    ends = [[0] * (len(theirs) + 1) for _ in range(len(ours) + 1)]  # of what begins with this pair
    for i in range(len(ours) - 1, -1, -1):
        weight = _WEIGHT.get(ours[i].role, _TELLING)
        for j in range(len(theirs) - 1, -1, -1):
            if alike[i][j]:
                beside = ends[i + 1][j + 1]
                ends[i][j] = weight + max(best[i + 1][j + 1], beside + _BESIDE if beside else 0)
            best[i][j] = max(best[i + 1][j], best[i][j + 1], ends[i][j])
    pairs: list[tuple[int, int]] = []
    i = j = 0
    while i < len(ours) and j < len(theirs):
        if alike[i][j] and best[i][j] == ends[i][j]:
            while True:
                pairs.append((i, j))
                rest = ends[i][j] - _WEIGHT.get(ours[i].role, _TELLING)
                i, j = i + 1, j + 1
                if not ends[i][j] or rest != ends[i][j] + _BESIDE:
                    break
        elif best[i][j] == best[i + 1][j]:
            i += 1
        else:
            j += 1
    return pairs


def _moved(ours: Sequence[Token], theirs: Sequence[Token], pairs: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """What both have, but in another place."""
    left = [j for j in range(len(theirs)) if j not in {at for _, at in pairs}]
    taken = {at for at, _ in pairs}
    found: list[tuple[int, int]] = []
    for i, token in enumerate(ours):
        if i in taken or token.role in SLIGHT:
            continue
        matching = [j for j in left if same(token, theirs[j])]
        if token.role in _RULING:
            matching = [j for j in matching if _goes_along(ours, theirs, i, j)]
        if matching:
            # Beside the one before, so that phrases stay together.
            before = found[-1][1] if found and found[-1][0] >= i - 3 else -2
            chosen = min(matching, key=lambda j: abs(j - before - 1))
            left.remove(chosen)
            found.append((i, chosen))
    return found


_RULING: Final = ("negation", "modal")


def _goes_along(ours: Sequence[Token], theirs: Sequence[Token], i: int, j: int) -> bool:
    """A negation or a modal is another one where it stands at another verb."""
    here, there = ours[i + 1 : i + 5], theirs[j + 1 : j + 5]
    return any(same(one, other) for one in _tell(here)[:2] for other in _tell(there)[:2])


def _tell(tokens: Sequence[Token]) -> list[Token]:
    return [token for token in tokens if token.role not in SLIGHT and token.role not in ("place", "pronoun")]


def _together(
    ours: Sequence[Token], theirs: Sequence[Token], pairs: list[tuple[int, int]], moved: list[tuple[int, int]]
) -> tuple[list[tuple[int, int]], list[tuple[int, int]]]:
    """A word that the source has twice is the one that stands beside what stands beside it in the claim."""
    mate = dict((*pairs, *moved))
    free = set(range(len(theirs))) - set(mate.values())
    for i, j in (pair for pair in sorted(mate.items()) if moved):
        before, behind = mate.get(i - 1, -9), mate.get(i + 1, -9)
        if before + 1 == j or behind - 1 == j:
            continue
        for other in (before + 1, behind - 1):
            if other in free and same(ours[i], theirs[other]):
                mate[i] = other
                free = (free | {j}) - {other}
                break
    changed = {i for i, j in (*pairs, *moved) if mate[i] != j}
    kept = [pair for pair in pairs if pair[0] not in changed]
    return kept, sorted((i, mate[i]) for i in {*(i for i, _ in moved), *changed})


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
        said, there = without_subject(ours, theirs, said, there, subject)
        # Where something has moved away, what tied it to this place is left behind.
        untied = [at for at in there if theirs[at].role != "light"] if gone and said else there
        if not any(is_small(ours, theirs, said, heard, subject) for heard in (there, untied)):
            known = _may_be_meant([ours[i] for i in said], [theirs[j] for j in there], subject)
            for item in _edit(ours, theirs, said, there, bool(gone)):
                yield replace(item, slight=item.slight or (known and not item.turns))
        before = pair


def _may_be_meant(claim: Sequence[Token], source: Sequence[Token], subject: Sequence[Token]) -> bool:
    """Whether the claim names, for a pronoun alone, what the sentence before has: who it is may be another, so nothing
    is quoted by it; but what is turned round beside it is turned round."""
    told, heard = ([token for token in side if token.role not in SLIGHT] for side in (claim, source))
    known = {token.key.removesuffix("'") for token in subject if token.role in ("content", "name")}
    named = [token.key.removesuffix("'s") for token in told if token.role in ("content", "name")]
    others = any(token.role == "name" and token.key.removesuffix("'") not in named for token in subject)
    if others and heard[:1] and not heard[0].key.startswith("it"):
        return False  # a person, and there are several
    return len(heard) == 1 and heard[0].key in THIRD and len(named) == len(told) > 0 and known.issuperset(named)


def _edit(
    ours: Sequence[Token], theirs: Sequence[Token], said: list[int], there: list[int], shifted: bool
) -> Iterator[Difference]:
    claim = [ours[i] for i in said if ours[i].role != "free"]
    source = [theirs[j] for j in there if theirs[j].role != "free"]
    if not claim and not source:
        return
    slight = all(token.role in ("light", "joint") for token in (*claim, *source))
    if slight and ((shifted and not _chooses(ours, theirs)) or _slight_change(claim, source)):
        return
    told = [token for token in claim if not (token.role == "light" or token.key == "and")]
    whole = there
    if there and there[-1] - there[0] + 1 == len(there):
        if not told and may_go(theirs, there[0], there[-1]):
            return
        low, high = peeled(theirs, there[0], there[-1])
        if rest := [theirs[j] for j in range(low, high + 1) if theirs[j].role != "free"]:
            source, there = rest, list(range(low, high + 1))
    if "but" in (token.word for token in (*claim, *source)) and any(token.role == "negation" for token in source):
        yield _but_not(claim, source, (there[0], there[-1]))
        return
    heard = [token for token in source if not (token.role == "light" or token.key == "and")]
    if told and heard:
        if not _same_amount(told, heard):
            one = _other_words(ours, said, told, theirs, there, heard)
            yield from _split(told, theirs, there) or _split(told, theirs, whole) or [one]
    elif told:
        single = _has_article(theirs, there)
        forced = ours[said[-1] + 1].key == "must" if said[-1] + 1 < len(ours) else False
        yield _more(told, single=single, forced=forced)
    elif heard:
        if heard[-1].role == "negation" and len(heard) > 1 and _goes_without(theirs, there):
            heard, there = heard[-1:], there[-1:]
        less = _less(heard, theirs, there)
        yield replace(less, slight=less.slight or (less.kind == "left out" and _rules_nothing(theirs, whole)))
    else:
        yield Difference("other words", _text(claim), _text(source))


def _other_words(
    ours: Sequence[Token],
    said: Sequence[int],
    told: Sequence[Token],
    theirs: Sequence[Token],
    there: Sequence[int],
    heard: Sequence[Token],
) -> Difference:
    named = _are_named_so(ours, told, theirs, heard)
    one = _replaced(told, heard, single=_has_article(ours, said), named=named)
    return replace(one, turns=one.turns and _denies(one, ours, said, theirs, there))


def _denies(
    one: Difference, ours: Sequence[Token], said: Sequence[int], theirs: Sequence[Token], there: Sequence[int]
) -> bool:
    """Whether what is different can't be so as well: `more than 200` is so where it is more than 300, and of `the old
    lamp` nothing is denied by what is said of the new one."""
    if one.kind == "opposite":
        return not (_tells_apart(ours, said) and _tells_apart(theirs, there))
    if one.kind != "number" or len(said) != 1 or len(there) != 1:
        return True
    bounds = [_bounding(tokens, at) for tokens, at in ((ours, said[0]), (theirs, there[0]))]
    signs = [_sign(words) for words in bounds]
    if signs[0] != signs[1] or signs[0] not in ("<", ">") or any(words & _CLOSED for words in bounds):
        return True  # another `at least` is another limit
    if any(token.role == "modal" for token in ours[said[0] :]):
        return False  # `whoever is over 60 may`: what holds for more holds for fewer
    mine, known = _amount(ours[said[0]]), _amount(theirs[there[0]])
    return mine > known if signs[0] == ">" else mine < known


def _bounding(tokens: Sequence[Token], at: int) -> frozenset[str]:
    """The words directly before a number that say on which side of it."""
    start = at
    while (
        start
        and not tokens[start].before
        and (tokens[start - 1].role == "bound" or tokens[start - 1].word in _OF_BOUNDS)
    ):
        start -= 1
    return frozenset(_FURTHER.get(token.word, token.word) for token in tokens[start:at])


_OF_BOUNDS: Final = words("than at longer shorter higher lower larger smaller older younger")
_FURTHER: Final = {
    **dict.fromkeys(("longer", "higher", "larger", "older"), "more"),
    **dict.fromkeys(("shorter", "lower", "smaller", "younger"), "less"),
}


def _tells_apart(tokens: Sequence[Token], places: Sequence[int]) -> bool:
    """Whether a word stands before the noun that the sentence is about, and says which of several it is."""
    behind = tokens[places[-1] + 1 : places[-1] + 2]
    noun = any(token.role in ("content", "name") and not token.before and not is_how(token) for token in behind)
    return noun and all(token.role in SLIGHT for token in tokens[: places[0]])


def _chooses(ours: Sequence[Token], theirs: Sequence[Token]) -> bool:
    """Whether one has `or` where the other has `and`, wherever they stand."""
    here, there = ([token.key for token in tokens if token.role == "joint"] for tokens in (ours, theirs))
    fewer = here.count("or") < there.count("or") and here.count("and") > there.count("and")
    return fewer or here.count("or") > there.count("or")


def _are_named_so(
    ours: Sequence[Token], claim: Sequence[Token], theirs: Sequence[Token], source: Sequence[Token]
) -> bool:
    """Whether two words are names in their places, though not both have a capital."""
    if _is_named_so(ours, claim) and _is_named_so(theirs, source):
        return True
    names = [all(token.role == "name" for token in side) for side in (claim, source)]
    words = source if names[0] else claim
    if names[0] == names[1] or len(words) != 1 or words[0].role != "content" or words[0].word.endswith(_QUALIFYING):
        return False
    one, other = _placed(ours, claim), _placed(theirs, source)
    if not one[0] or not other[0] or one[0][-1].word != other[0][-1].word:
        return False
    # `the film` may be the one that the claim names, and one of `keepers` too
    several = words[0].word.endswith("s") and one[0][-1].word == "the"
    behind = [*one[1][:1], *other[1][:1]]
    kind = len(behind) == 2 and same(*behind) and all(token.role == "content" and not token.before for token in behind)
    return several or (kind and not is_how(behind[0]))


def _placed(tokens: Sequence[Token], words: Sequence[Token]) -> tuple[Sequence[Token], Sequence[Token]]:
    """What stands before and behind some words of a sentence."""
    places = [at for at, token in enumerate(tokens) if token is words[0] or token is words[-1]]
    return tokens[: places[0]], tokens[places[-1] + 1 :]


def _is_named_so(tokens: Sequence[Token], words: Sequence[Token]) -> bool:
    """What something is called is its name, with a capital or not; and so is the noun that says which of a kind it is:
    `the libcap library`."""
    at = next((at for at, token in enumerate(tokens) if token is words[0]), 0)
    if len(words) != 1 or words[0].role != "content" or not at:
        return False
    if words[0].word.endswith(_QUALIFYING) or words[0].word in _WHICH:
        return False
    article = tokens[at - 1].word in ("the", "a", "an")
    before = [token.word for token in tokens[max(0, at - 3) : at - article]]
    behind = tokens[at + 1].word.removesuffix("s") if at + 1 < len(tokens) and not tokens[at + 1].before else ""
    called = before[-1:] in (["called"], ["named"]) or before[-2:] == ["known", "as"]
    kind = behind in _KINDS and article
    return kind or (called and (not behind or tokens[at + 1].role in ("place", "light", "joint", "free")))


_KINDS: Final = words(
    "library directive command function option tool package program utility module filter protocol key"
)
_QUALIFYING: Final = (
    "ing", "ed", "ly", "al", "ous", "ful", "able", "ible", "ive", "est", "ary", "ic", "ent", "ant", "less",
)  # fmt: skip
_WHICH: Final = words(
    "same other new old main own whole next last good best big small free simple single right left first"
)


def _but_not(claim: Sequence[Token], source: Sequence[Token], place: tuple[int, int]) -> Difference:
    """`, but not in May` says more; `not one but two`, `nobody but her` are what the rest depends on."""
    more = source[0].word == "but" and "," in source[0].before and [token.role for token in source[1:2]] == ["negation"]
    if claim or not more or any(token.role in ("condition", "limit") for token in source):
        return Difference("other words", _text(claim), _text(source))
    return Difference("left out", "", _text(source), slight=True, place=place)


def _has_article(tokens: Sequence[Token], places: Sequence[int]) -> bool:
    return any(tokens[at].word in ("a", "an") for at in places)


def _goes_without(theirs: Sequence[Token], there: Sequence[int]) -> bool:
    """`[gave much and did not] take`, `[clearly not]`: all but the negation may be left out."""
    last = there[-1]
    while last > there[0] and theirs[last].role in ("free", "negation"):
        last -= 1
    how = all(theirs[j].role == "free" or theirs[j].word.endswith("ly") for j in range(there[0], last + 1))
    return last < there[-1] and how


def _slight_change(claim: Sequence[Token], source: Sequence[Token]) -> bool:
    ours, theirs = {token.key for token in claim}, {token.key for token in source}
    if "or" in ours ^ theirs:
        return False
    ours, theirs = ours - {"and"}, theirs - {"and"}
    return not ours or not theirs


_DENIED: Final = words("either ever least all any yet anymore slightest")
"""What stands with a negation and goes with it: `not in the least`, `not … either`."""
_SOFTENING: Final = words("necessarily really actually always any exactly quite usually generally")


def _less(source: Sequence[Token], theirs: Sequence[Token], there: Sequence[int]) -> Difference:
    last, place = there[-1], (there[0], there[-1])
    if len(source) == 1 and source[0].role == "negation":
        # `nobody but her`, `not until then`: what follows is excepted.
        behind = theirs[last + 1].word if last + 1 < len(theirs) else ""
        turns = behind not in ("but", "other", "until", "else")
        return Difference("negation", "", source[0].text, turns=turns, place=place)
    if source[0].role == "negation" and all(token.word in _SOFTENING or token.word in _DENIED for token in source[1:]):
        return Difference("negation", "", _text(source), turns=True, place=place)
    if len(source) == 1 and source[0].role == "modal" and last + 1 < len(theirs) and theirs[last + 1].key == "must":
        return Difference("modal", "", source[0].text, turns=True, place=place)  # `must` for `may need to`
    return Difference("left out", "", _text(source), slight=_rules_nothing(theirs, there), place=place)


def _split(claim: Sequence[Token], theirs: Sequence[Token], there: Sequence[int]) -> list[Difference]:
    """`[May]` for `[April at the wish of the keepers]`: what is another, and what the claim leaves out beside it."""
    telling = [j for j in there if theirs[j].role not in SLIGHT]
    size = len(claim)
    for mine in (telling[:size], telling[-size:]) if len(telling) > size else ():
        found = _replaced(claim, [theirs[j] for j in mine])
        rest = [j for j in there if (j > mine[-1] if mine[0] == telling[0] else j < mine[0])]
        apart = mine[0] == telling[0] and (bool(theirs[rest[0]].before) or theirs[rest[0]].word in _OPENING)
        if found.turns and (found.kind != "name" or apart) and _rules_nothing(theirs, rest):
            return [found, _less([theirs[j] for j in rest], theirs, rest)]
    return []


_PHRASE: Final = 6
_UNTRUE: Final = words("""
deny denies denied doubt doubts doubted dispute disputes disputed false untrue myth misconception wrong incorrect
mistaken pretend pretends pretended wish wishes wished hope hopes hoped fear fears feared imagine imagines imagined
""")


def _rules_nothing(theirs: Sequence[Token], there: Sequence[int]) -> bool:
    """Whether the rest is told without it: a phrase, a clause, who said it; not what the rest depends on."""
    part = theirs[there[0] : there[-1] + 1]
    starts, ends = there[0] == 0, there[-1] + 1 == len(theirs)
    if takes_back(part) and part[0].word != "without" and not _has_its_own(part):
        return False
    if any(is_saying(token) for token in part):
        return (starts or ends) and not any(token.word in _UNTRUE for token in part)
    opened = starts or bool(part[0].before) or part[0].role in ("joint", "place", "light") or is_participle(part[0])
    opened = opened or part[0].word in _OPENING
    closed = ends or bool(theirs[there[-1] + 1].before) or part[-1].word in _OPENING
    return (opened and closed) or (len(part) <= _PHRASE and not any(token.role in TURNING for token in part))


_OPENING: Final = words("that which who when where with and but so")
"""What another clause begins with, so that what stands before it is whole."""


def _has_its_own(part: Sequence[Token]) -> bool:
    """Whether a condition in it rules over a clause of its own: `, and the bell rings if it rains`, `(wait if dark)`,
    `, but if it rains, the bell rings`."""
    ruled = next((at for at, token in enumerate(part) if token.role == "condition"), 0)
    if part[0].role == "joint" and ruled == 1:
        behind = [at for at in range(3, len(part) - 2) if "," in part[at].before]
        return bool(behind) and has_verb(part[behind[0] :])
    if "(" in part[0].before:
        return ruled > 0 and part[0].role != "limit"
    apart = bool(part[0].before) or part[0].role == "joint"
    return apart and ruled > 2 and has_verb(part[:ruled])


def _more(claim: Sequence[Token], *, single: bool, forced: bool) -> Difference:
    if len(claim) == 1 and claim[0].role == "number" and single:
        return Difference("number", claim[0].text, "a", turns="1" not in claim[0].values)  # `three miles` for `a mile`
    if len(claim) == 1 and claim[0].role == "negation":
        return Difference("negation", claim[0].text, "", turns=True)
    if len(claim) == 1 and claim[0].role == "modal" and forced:
        return Difference("modal", claim[0].text, "", turns=True)  # `may need to` for `must`
    return Difference("added", _text(claim), "")


def _replaced(
    claim: Sequence[Token], source: Sequence[Token], *, single: bool = False, named: bool = False
) -> Difference:
    ours, theirs = _text(claim), _text(source)
    if theirs == "no" and len(claim) == 1 and claim[0].role == "content" and single:
        return Difference("negation", ours, theirs, turns=True)  # `a good reason` for `no reason`
    bounded = _bounded(claim, source)
    if bounded is not None:
        return bounded
    if len(claim) == len(source) == 1:
        one = _exchanged(claim[0], source[0])
        if one.kind == "other words" and named:
            return replace(one, kind="name", turns=_other_names(claim, source))
        return one
    if named:
        return Difference("name", ours, theirs, turns=_other_names(claim, source))
    if (counted := _counted(claim, source)) is not None:
        return Difference("number", ours, theirs, turns=counted)
    roles = [
        {"name" if _begins_as_name(token) or _is_of_name(side, token) else token.role for token in side}
        for side in (claim, source)
    ]
    commas = [sum("," in token.before for token in side[1:]) for side in (claim, source)]
    if roles[0] == roles[1] == {"name"} and commas[0] == commas[1] and _other_names(claim, source):
        return Difference("name", ours, theirs, turns=True)
    without = [[token for token in side if token.role != "negation"] for side in (claim, source)]
    counts = len(claim) - len(without[0]), len(source) - len(without[1])
    without = [[token for token in side if token.word not in _BESIDE_MODALS] for side in without]
    if counts[0] == counts[1] and all(len(side) == 1 and side[0].role == "modal" for side in without):
        return replace(_exchanged(without[0][0], without[1][0]), claim=ours, source=theirs)
    if {*counts} == {0, 1} and all(len(side) == 1 and side[0].role == "modal" for side in without):
        held, denied = without if counts[0] == 0 else without[::-1]
        return Difference("modal", ours, theirs, turns=denied[0].key in _DENYING.get(held[0].key, ()))
    return Difference("other words", ours, theirs)


_TIMES: Final = {"once": Fraction(1), "twice": Fraction(2), "thrice": Fraction(3)}
_PARTS: Final = {"half": 2, "third": 3, "quarter": 4, "fourth": 4, "fifth": 5, "sixth": 6, "eighth": 8, "tenth": 10}


def _counted(claim: Sequence[Token], source: Sequence[Token]) -> bool | None:
    """Whether two amounts that are said in several words are different ones: `24-30` and `12-18`, `three fifths` and
    `two thirds`, `three times` and `twice`; None where they are no amounts."""
    if len(claim) == len(source) and all(token.role == "number" for token in (*claim, *source)):
        return not any(same(one, other) or _rounded(one, other) for one, other in zip(claim, source, strict=True))
    amounts = _amount_in_words(claim), _amount_in_words(source)
    if amounts[0] is None or amounts[1] is None or amounts[0][0] != amounts[1][0]:
        return None
    return amounts[0][1] != amounts[1][1]


def _amount_in_words(tokens: Sequence[Token]) -> tuple[str, Fraction] | None:
    if len(tokens) == 1 and tokens[0].word in _TIMES:
        return "times", _TIMES[tokens[0].word]
    if len(tokens) == 1 and tokens[0].word in _PARTS:
        return "part", Fraction(1, _PARTS[tokens[0].word])
    if len(tokens) != 2 or not (tokens[0].role == "number" or tokens[0].word == "one"):
        return None
    number = _amount(tokens[0]) if tokens[0].role == "number" else Fraction(1)
    part = tokens[1].word if tokens[1].word in _PARTS else tokens[1].word.removesuffix("s")
    if part in _PARTS:
        return "part", number / _PARTS[part]
    return ("times", number) if tokens[1].word == "times" else None


_BESIDE_MODALS: Final = words("""
always ever instead still also only just normally usually generally then surely certainly perhaps possibly probably
definitely doubtless well
""")


def _exchanged(one: Token, other: Token) -> Difference:
    ours, theirs = one.text, other.text
    roles = {one.role, other.role}
    if any(one.word in kind and other.word in kind for kind in (ORDINALS, _SCALES, _SHARES, _TIMES, _FOLD)):
        return Difference("number", ours, theirs, turns=True)
    if roles == {"number"}:
        same_size = {*map(Fraction, one.values)} & {*map(Fraction, other.values)}
        return Difference("number", ours, theirs, turns=not (same_size or _rounded(one, other)))
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
    stills = {one.key, other.key} == {stem("still"), "no longer"}
    if stills or any(side.role == "negation" and is_how(beside) for side, beside in ((one, other), (other, one))):
        return Difference("negation", ours, theirs, turns=True)
    some = {one.word, other.word} & _SOME
    if "negation" in roles and (roles & {"quantifier", "limit"} or some):
        return Difference("quantifier", ours, theirs, turns=True)
    if roles == {"quantifier"}:
        return Difference("quantifier", ours, theirs, turns=one.word in _EVERY and other.word in _PART)
    owning = ours.endswith("'s") and theirs.endswith("'s")  # what is no name seldom owns without an article
    named = roles == {"name"} or (all(map(_begins_as_name, (one, other))) and (roles == {"name", "content"} or owning))
    if named and _other_names([one], [other]):
        return Difference("name", ours, theirs, turns=True)
    return Difference("other words", ours, theirs)


_SOME: Final = words("one something anything everything someone somebody anyone anybody everyone everybody")
_PARTICLES: Final = words("de van von der den la le di da del du bin ibn al el zu")


def _is_of_name(tokens: Sequence[Token], token: Token) -> bool:
    """`Oracle 10g`, `Anna van Berg`, `Paris, France`: what belongs to the name beside it."""
    if tokens[0] is token:
        return token.start == 0 and token.text.istitle() and any(one.role == "name" for one in tokens[1:3])
    named = tokens[0].role == "name" or tokens[0].text.istitle()
    return named and (token.role in ("number", "unit") or token.text in _PARTICLES)


def _begins_as_name(token: Token) -> bool:
    """At the beginning of a sentence every word has a capital: a name there is one noun without an article."""
    first = token.start == 0 or ":" in token.before
    begins = token.role == "content" and first and token.text.removesuffix("'s").istitle()
    return token.role == "name" or (begins and (token.word.endswith("s's") or not _is_noun(token)))


def _is_noun(token: Token) -> bool:
    return token.word.removesuffix("'s").endswith(_NO_NAME)


_NO_NAME: Final = ("s", "ly", "ing", "ed", "tion", "sion", "ment", "ness", "ity", "ance", "ence", "ship", "ism")


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
    single = 1 in (len(ours), len(theirs))
    for at, one in enumerate(ours):
        for place, other in enumerate(theirs):
            a, b = (word.lower().strip(".").replace("'", "") for word in (one, other))
            beside = single or at == place or len(ours) - at == len(theirs) - place
            if a == b or (beside and (a[:4] == b[:4] or a in b or b in a)):
                return _is_code(one) and _is_code(other) and one != other
    for these, others in ((ours, theirs), (theirs, ours)):
        initials = "".join(word[0] for word in these).lower()
        if any(other.replace(".", "").lower() in (initials, initials[:2]) for other in others):
            return False
    return True


def _is_code(text: str) -> bool:
    return text.startswith("-") or any(sign in text for sign in "/_.+:\\") or any(letter.isdigit() for letter in text)


_AT_MOST: Final = frozenset({"less", "fewer", "under", "below", "most", "maximum"})
_AT_LEAST: Final = frozenset({"more", "over", "above", "least", "exceeding", "greater", "minimum"})
_NEARLY: Final = frozenset({"about", "approximately", "roughly", "around", "nearly", "almost", "some"})


def _same_amount(claim: Sequence[Token], source: Sequence[Token]) -> bool:
    """`90 minutes` where the source has 1.5 hours, `over` where it has more than."""
    one, other = _measured(claim), _measured(source)
    if one is None or other is None:
        words = _amount_in_words(claim), _amount_in_words(source)
        signs = [_side(side) for side in (claim, source)]
        return (bool(signs[0]) and signs[0] == signs[1]) or (words[0] is not None and words[0] == words[1])
    return one == other


def _side(tokens: Sequence[Token]) -> str:
    """On which side of a number: `no more than` is `at most`, and not `less than`."""
    words = {token.word for token in tokens} - _FILLING
    denied = any(token.role == "negation" for token in tokens)
    if any(token.role not in ("bound", "place", "quantifier", "light", "negation") for token in tokens):
        return ""
    sign = _sign(words)
    closed = bool(words & _CLOSED) or words == {"up"}
    if denied and (closed or sign not in ("<", ">")):
        return ""
    return {"<": ">=", ">": "<="}[sign] if denied else f"{sign}=" if closed else sign


_CLOSED: Final = frozenset({"most", "maximum", "least", "minimum"})


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


_DONE: Final = ("ed", "en", "wn", "t", "d")


def _roles(ours: Sequence[Token], theirs: Sequence[Token], pairs: Sequence[tuple[int, int]]) -> Iterator[Difference]:
    """`was sued` is not `sued`: an auxiliary is free, what it makes of a verb is not."""
    for i, j in pairs:
        done = any(word.endswith(_DONE) and not word.endswith("ment") for word in (ours[i].word, theirs[j].word))
        if ours[i].role != "content" or not done or is_how(ours[i]):
            continue
        if ours[i].word in ORDINALS:
            continue
        here, there = _is_passive(ours, i), _is_passive(theirs, j)
        if here == there or _is_said_of(*((ours, i, theirs, j) if here else (theirs, j, ours, i))):
            continue
        tokens, at = (theirs, j) if here else (ours, i)
        if not tokens[at].word.endswith(_DONE):
            yield Difference("role", ours[i].text, theirs[j].text)
        elif (
            at + 1 < len(tokens)
            and tokens[at + 1].role not in ("light", "place")
            and not tokens[at + 1].before
            and not is_how(tokens[at + 1])
        ):
            before = tokens[at - 1] if at else None
            if before is not None and is_how(before) and at > 1:
                before = tokens[at - 2]
            if before is None or before.role != "free" or before.key in ("has", "have", "had"):
                yield Difference("role", ours[i].text, theirs[j].text)


def _is_said_of(passive: Sequence[Token], at: int, other: Sequence[Token], there: int) -> bool:
    """`a lamp [which is] lit at night` for `a lamp lit at night`: behind the noun that both say it of."""
    place = at - 1
    while place and (passive[place].word in HELPING or is_how(passive[place])):
        place -= 1
    if passive[place].word not in ("which", "that", "who") or not place or not there or other[there].before.strip(","):
        return False
    return same(passive[place - 1], other[there - 1]) and other[there].word == passive[at].word


def _is_passive(tokens: Sequence[Token], at: int) -> bool:
    if tokens[at].word.endswith("ing"):
        return False
    joined = at > 1 and tokens[at - 1].role == "joint"
    member = at - 2 if joined else at - 1
    if member > 0 and (joined or "," in tokens[at].before) and tokens[member].word.endswith(_DONE):
        return _is_passive(tokens, member)  # `can be lit, [carried] or sold`
    for before in reversed(tokens[max(0, at - 3) : at]):
        if before.word in BE or (before.word in GET and before.role == "free"):
            return True
        if before.word in ("a", "an", "the", "this", "these", "those", "such", "there"):
            return False
        if before.role not in ("negation", "limit", "free") and not before.word.endswith("ly"):
            return False
    return False


def _text(tokens: Sequence[Token]) -> str:
    return " ".join(token.text for token in tokens)


__all__ = ["FACTS", "Alignment", "Difference", "Kind", "align"]
