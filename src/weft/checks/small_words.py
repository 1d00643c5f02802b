"""Small words: which of them one sentence may have where another has others, or none, and say the same.

What the claim has and the source has not, and the other way round, comes here place by place. A pronoun stands for what
the sentence before was about; some prepositions and conjunctions stand for each other before the same words; some words
are implied by others. What adds something (`still`, `her`) a claim may leave out and must not bring.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Final

from weft.checks.clauses import BE, HELPING, has_verb, is_clause
from weft.checks.order import SLIGHT
from weft.checks.statements import Token, same
from weft.checks.word_forms import are_forms, is_doing
from weft.language.sentences import words
from weft.language.stems import stem


def without_subject(
    ours: Sequence[Token], theirs: Sequence[Token], said: list[int], there: list[int], subject: Sequence[Token]
) -> tuple[list[int], list[int]]:
    """`[The keepers] must` for `[They] may`: whom a pronoun means is no difference, what follows may be one."""
    heard = [j for j in there if theirs[j].role != "free"]
    told = [i for i in said if ours[i].role != "free"]
    if len(heard) > 1 and len(told) > 1:
        for size in range(len(told) - 1, 0, -1):
            if is_meant([ours[i] for i in told[:size]], theirs, heard[0], subject):
                return [i for i in said if i > told[size - 1]], [j for j in there if j > heard[0]]
    return said, there


_OPENING: Final = words("before after when whenever while until since once although though because if unless")
"""What begins a clause that may have no subject of its own: `before being lit`."""


def is_small(
    ours: Sequence[Token], theirs: Sequence[Token], said: Sequence[int], there: Sequence[int], subject: Sequence[Token]
) -> bool:
    """Whether what the claim has at its own places, and the source at its own, differs in small words alone. `subject`:
    the sentence before, which says what a pronoun means."""
    told = [i for i in said if ours[i].role != "free"]
    heard = [j for j in there if theirs[j].role != "free" and not _is_of(theirs, j)]
    if len(told) == len(heard) == 1:
        at = told[0], heard[0]
        if {ours[told[0]].word, theirs[heard[0]].word} == {"as", "to"}:
            return any(tokens[one].word == "be" for tokens, side in ((ours, said), (theirs, there)) for one in side)
        return (
            _is_said_alike(ours, theirs, *at)
            or _is_near(ours, theirs, *at)
            or is_meant([ours[told[0]]], theirs, heard[0], subject)
            or (any(map(_tells, ours[: told[0]])) and is_meant([theirs[heard[0]]], ours, told[0], ()))
        )
    if len(told) == 1 and not heard:
        return (
            _is_implied(ours, told[0], theirs, there)
            or _is_said_again(ours, told[0])
            or (ours[told[0]].word not in _THIRD and _is_named(ours, theirs, told, there, subject))
        )
    if len(heard) == 1 and not told:
        return _is_unsaid(ours, theirs, said, heard[0]) or _is_said_again(theirs, heard[0])
    if 1 in (len(told), len(heard)) and _written(ours, told) == _written(theirs, heard):
        return True
    if {" ".join(tokens[at].word for at in side) for tokens, side in ((ours, told), (theirs, heard))} == _RATHER:
        return True
    if _is_neither(ours, told, theirs, heard):
        return True
    if len(told) == 1 and any(map(_tells, ours[: told[0]])):
        return is_meant([theirs[j] for j in heard], ours, told[0], ())
    return len(heard) == 1 and is_meant([ours[i] for i in told], theirs, heard[0], subject)


def _tells(token: Token) -> bool:
    return token.role not in SLIGHT


def _is_of(tokens: Sequence[Token], at: int) -> bool:
    """`all [of] the lamps`."""
    return tokens[at].word == "of" and at > 0 and tokens[at - 1].role == "quantifier"


def _is_neither(tokens: Sequence[Token], more: Sequence[int], others: Sequence[Token], less: Sequence[int]) -> bool:
    """`no oil and no wick` for `no oil or wick`."""
    if [tokens[at].word for at in more] != ["and", "no"] or [others[at].word for at in less] != ["or"]:
        return False
    return any(token.word == "no" for token in others[max(0, less[0] - 4) : less[0]])


def _is_named(
    ours: Sequence[Token],
    theirs: Sequence[Token],
    told: Sequence[int],
    there: Sequence[int],
    subject: Sequence[Token],
) -> bool:
    """`the blur filter` for `this filter`, where the sentence before has the blur."""
    known = {token.key for token in subject if token.role not in SLIGHT}
    pointing = any(theirs[j].word in ("this", "these", "that", "those") for j in there)
    return pointing and all(ours[i].role in ("name", "content") and ours[i].key in known for i in told)


def _is_unsaid(ours: Sequence[Token], theirs: Sequence[Token], said: Sequence[int], at: int) -> bool:
    """What a claim may leave out, and must not add: `[still] lit`, `the lamp` for `her lamp` or `every lamp`."""
    token = theirs[at]
    if token.word in ("still", "instead", "simply"):
        return True
    if token.word in _OWNING and any(ours[i].word in ("the", "a", "an") for i in said):
        return True
    if token.key in ("every", "all", "any") and _is_of_all(ours, theirs, said, at):
        return True
    if token.word == "it" and at == 0:  # `it is the oil that burns`
        return theirs[1].word in BE and any(one.word in ("that", "which", "who") for one in theirs[2:])
    return _is_implied(theirs, at, ours, said)


def _is_near(ours: Sequence[Token], theirs: Sequence[Token], here: int, there: int) -> bool:
    """A preposition for another where what it belongs to and what follows are the same words: which of them it is says
    little, unless it says who did it, when, how far, or the reverse."""
    if not {ours[here].role, theirs[there].role} <= {"light", "place", "bound"}:
        return False
    pair = frozenset({ours[here].key, theirs[there].key})
    places = (ours, here), (theirs, there)
    behind = [tokens[at + 1] for tokens, at in places if at + 1 < len(tokens)]
    if all(
        "which" in tokens[at].word.split() or any(one.word == "which" for one in tokens[at + 1 : at + 2])
        for tokens, at in places
    ):
        return pair <= _PREPOSITIONS | {"where"}  # `in which`, `for which`
    if any(token.role in ("number", "date", "unit") for token in behind):
        return pair == {"from", "between"} and all(token.role in ("number", "date") for token in behind)
    if (acting := _are_acting(places, behind)) is not None:
        return acting and (pair <= _PREPOSITIONS or pair in _DOING)
    head = ours[here - 1] if here else ours[here]
    if pair == {"of", "from"} or ("of" in pair and head.key in _MADE):
        return head.key in _MADE and "from" in pair
    if pair == {"by", "with"} and any(token.word.endswith(_PERSONS) for token in theirs[there + 1 : there + 4]):
        return False
    if pair <= _DIFFERING and head.key in ("differ", "different"):
        return True
    if pair == {"against", "from"}:
        return any(token.key in _SHIELDING for token in ours[max(0, here - 5) : here])
    if any(token.role in ("name", "pronoun") for token in behind):
        if pair in ({"to", "for"}, {"to", "with"}):
            return head.word.endswith(_QUALITY) if "for" in pair else head.key in _JOINING
        return any(pair <= alike for alike in _NAMED)
    return any(pair <= alike for alike in (_PREPOSITIONS, _MEANS, _SPANS, _LOWER, _HIGHER, _AMONG))


def _are_acting(places: Sequence[tuple[Sequence[Token], int]], behind: Sequence[Token]) -> bool | None:
    """Whether a doing follows in both: `by lighting`, `in the computation` for `while computing`; None where nothing
    of the kind does."""
    acts = [next((one for one in tokens[at + 1 :] if one.role != "free"), None) for tokens, at in places]
    if acts[0] and acts[1] and (is_doing(acts[0].word, acts[1].word) or is_doing(acts[1].word, acts[0].word)):
        return True
    return True if behind and all(token.word.endswith("ing") for token in behind) else None


def _is_said_again(tokens: Sequence[Token], at: int) -> bool:
    """`by day and [by] night`."""
    before = tokens[at - 1] if at else None
    if before is None:
        return False
    again = tokens[at].key in {token.key for token in tokens[max(0, at - 14) : at]}
    return tokens[at].role in ("place", "light", "modal") and before.role == "joint" and again


def _written(tokens: Sequence[Token], places: Sequence[int]) -> str:
    """Without what parts a word: `sub-projects` and `subprojects`."""
    return "".join(tokens[at].word for at in places)


def _is_said_alike(ours: Sequence[Token], theirs: Sequence[Token], here: int, there: int) -> bool:
    """`all stars` for `every star`, `since` for `because`, `right after` for `just after`."""
    pair = frozenset({ours[here].key, theirs[there].key})
    if pair in ({"to", "until"}, {"to", "and"}):
        return _is_range(ours, here) and _is_range(theirs, there)
    if pair in _JOINED:
        return here > 0 and there > 0
    if pair in ({"both", "2"}, {"one", "you"}):
        return any(_is_told_so(*one) for one in ((ours, here), (theirs, there)))
    behind = [tokens[at + 1] for tokens, at in ((ours, here), (theirs, there)) if at + 1 < len(tokens)]
    if pair == {"just", "right"}:
        return {token.word for token in behind} <= _THEN
    if pair == {"just", "only"}:
        return not {token.word for token in behind} & {*_THEN, "as", "like", "possibly"}
    if {ours[here].word, theirs[there].word} in ({"something", "anything"}, {"some", "any"}):
        return any(token.role == "negation" for token in (*ours, *theirs))
    if any(token.role in ("number", "date", "unit") for token in behind):
        return False
    if pair == {"any", "all"} or pair == {"any", "every"}:
        # `read from any lamp` may be read from one; what is said of any lamp, or for any, is said of all.
        begins = all(token.role == "free" or token.word == "for" for token in (*ours[:here], *theirs[:there]))
        return begins and not any(token.role in ("negation", "condition") for token in (*ours, *theirs))
    return pair in _TIMES or pair == {"all", "every"} or _opens_alike(ours, theirs, here, there, pair)


def _opens_alike(ours: Sequence[Token], theirs: Sequence[Token], here: int, there: int, pair: frozenset[str]) -> bool:
    """A clause: `since` for `because`, `where possible` for `when possible`, `if` for `when` in general."""
    if pair == {"if", "whether"}:
        return here > 0 and ours[here - 1].role == "content"
    if pair in _REASONS:
        weaker = ours[here].word == "as" and _opens_clause(ours, here) and theirs[there].word == "because"
        return weaker or (_is_reason(ours, here) and _is_reason(theirs, there))
    if pair == {"when", "where"}:
        return _is_able(ours, here) and _is_able(theirs, there)
    return pair <= _WHENEVER and all(
        is_clause(tokens[at + 1 :]) and _is_general(tokens) for tokens, at in ((ours, here), (theirs, there))
    )


_WHENEVER: Final = words("if when whenever once")
"""What is said of all times when something is so: `when it burns, it smokes`. Of one time they are different: `she
went when he came`, `she will go if he comes`."""


def _is_general(tokens: Sequence[Token]) -> bool:
    if any(token.word in _WAS for token in tokens):
        return False
    done = any(
        token.word.endswith("ed") and before.role in ("pronoun", "name") and before.word not in HELPING
        for before, token in pairwise(tokens)
    )
    told = any(token.word in ("you", "your") for token in tokens)
    return not done and (told or not any(token.word in _COMING for token in tokens))


_WAS: Final = words("was were had did went came became began said gave took got made")
_COMING: Final = words("will shall would")
_LIKE: Final = words("as so such same just like known used serve serves regarded treated seen described")
_ABLE: Final = words("possible necessary needed appropriate applicable required desired available")


def _is_able(tokens: Sequence[Token], at: int) -> bool:
    """`where possible`, `when needed`."""
    return any(token.word in _ABLE for token in tokens[at + 1 : at + 2])


def _opens_clause(tokens: Sequence[Token], at: int) -> bool:
    """`… as there is none`, not `as bright as the lamp`."""
    behind = tokens[at + 1 : at + 2]
    return (
        at > 0
        and tokens[at - 1].word not in _LIKE
        and not any(token.word == "as" for token in tokens[max(0, at - 4) : at])
        and (
            any(token.role in ("pronoun", "quantifier") or token.word in _BEGINNING for token in behind)
            or has_verb(tokens[at + 2 : at + 3])
        )
        and is_clause(tokens[at + 1 :])
    )


_BEGINNING: Final = words("there the this these those")


def _is_told_so(tokens: Sequence[Token], at: int) -> bool:
    """`[the] two lamps` are both, `one [can]` is you."""
    if tokens[at].key == "2":
        return at > 0 and tokens[at - 1].word in ("the", "these", "those")
    return tokens[at].word == "one" and any(token.role == "modal" for token in tokens[at + 1 : at + 2])


def _is_range(tokens: Sequence[Token], at: int) -> bool:
    return any(token.word in ("from", "between") for token in tokens[max(0, at - 5) : at])


def _is_reason(tokens: Sequence[Token], at: int) -> bool:
    """`he has slept since the bell rang` gives no reason, nor need `he sang as he worked`."""
    if tokens[at].word == "because" or at == 0 or "," in tokens[at].before:
        return True
    return tokens[at].word == "since" and not any(token.word in ("has", "have", "had") for token in tokens[:at])


def _is_implied(tokens: Sequence[Token], at: int, others: Sequence[Token], beside: Sequence[int]) -> bool:
    """A word that one sentence has and the other can do without: `and [it] can`, `the reason [why]`, `[both] red and
    green`, `not [any] lamp` for `not a lamp`, `those [with] merit` for `those who have merit`, `[will] burn` for
    `burns`, `when [you] paint` for `when painting`, `[from] May to June`."""
    word, before, behind = tokens[at].word, tokens[max(0, at - 1) : at], tokens[at + 1 : at + 2]
    there = {others[other].word for other in beside}
    if word in _THIRD or word == "them":
        again = any(token.role == "joint" for token in behind) and word in {token.word for token in tokens[at + 1 :]}
        opened = _is_joined(tokens, at) or any(token.word in _OPENING for token in before)
        lead = next((token for token in tokens if token.role not in SLIGHT), tokens[at])
        if _is_joined(tokens, at) and lead.word in _SUBJECTS and lead.key != tokens[at].key:
            return False  # `I saw Anna and [she] was sad`
        # `drag [it] or move it`, `and [it] can`
        return again or (word in _THIRD and at > 0 and (opened or "," in tokens[at].before))
    if word in _ACTING and _is_joined(tokens, at) and any(token.word == word for token in tokens[:at]):
        return True  # `I rose but [I] was tired`
    if word in _OWNING and (word in _HERE or not there & {"a", "an", "the"}) and _is_owner_known(tokens, at):
        return True
    match word:
        case "any":
            return bool(there & {"a", "an"}) or any(token.role == "negation" for token in tokens[:at])
        case "both":
            return any(token.key == "and" for token in tokens[at + 1 : at + 8])
        case "will":
            return _is_present(_told(tokens, at), others)
        case "you":
            done = [token.word for token in others if token.word.endswith(("ing", "ed", "wn", "en"))]
            return any(are_forms(token.word, one) for token in _told(tokens, at) for one in done)
        case "for":
            lasting = any(token.role in ("number", "quantifier") for token in behind) and any(
                token.key in _LASTING for token in tokens[at + 2 : at + 3]
            )
            return lasting or ("that" in there and any(token.word == "to" for token in tokens[at + 1 : at + 6]))
        case "by" | "why":  # `by yourself`
            return any(token.word.endswith(("self", "selves")) for token in behind if word == "by") or any(
                token.word == "reason" for token in before if word == "why"
            )
        case "from":
            return any(token.word in ("to", "until") for token in tokens[at + 1 : at + 6])
    return bool(there & _FOR.get(word, frozenset()))


_ACTING: Final = words("i we you")
_SUBJECTS: Final = words("i we you he she it they")
_HERE: Final = words("our your")


def _is_joined(tokens: Sequence[Token], at: int) -> bool:
    """Directly behind `and`, or `and then`."""
    return any(
        token.role == "joint" and all(one.role == "free" for one in tokens[place + 1 : at])
        for place, token in enumerate(tokens[max(0, at - 2) : at], start=max(0, at - 2))
    )


def _is_owner_known(tokens: Sequence[Token], at: int) -> bool:
    """`they differ in colour` for `in their colour`: an owner says nothing new where the sentence has one whom it may
    mean, or where it is whoever speaks or reads."""
    behind = tokens[at + 1 : at + 2]
    if not behind or behind[0].before or behind[0].role not in ("content", "name", "number"):
        return False
    if tokens[at].word in _HERE:
        return True
    return any(token.role in ("content", "name", "pronoun") for token in tokens[:at]) or any(
        token.word in _THIRD for token in tokens[at:]
    )


_LASTING: Final = frozenset(map(stem, words("second minute hour day week month year decade century")))
_FOR: Final = {
    "what": words("which"),
    **dict.fromkeys(("its", "their"), words("the")),
    **dict.fromkeys(("people", "persons"), words("those")),
    **dict.fromkeys(("per", "one"), words("a an")),
    "with": words("has have had"),
}
"""What one sentence says so, and the other with a word that is free."""


def _told(tokens: Sequence[Token], at: int) -> Sequence[Token]:
    """The verb behind an auxiliary or a pronoun: past `to` and adverbs."""
    for place in range(at + 1, min(at + 4, len(tokens))):
        if tokens[place].word not in ("to", "also", "then", "therefore") and not tokens[place].word.endswith("ly"):
            return tokens[place : place + 1]
    return ()


def _is_present(behind: Sequence[Token], others: Sequence[Token]) -> bool:
    """Whether what `will` stands before is said of now in the other sentence."""
    forms = {form for token in behind for form in (token.word, f"{token.word}s", f"{token.word}es")}
    forms |= {"is", "are"} if "be" in forms else {"has"} if "have" in forms else set()
    return any(token.word in forms for token in others)


def _is_of_all(ours: Sequence[Token], theirs: Sequence[Token], said: Sequence[int], at: int) -> bool:
    """`a lamp`, `lamps` or `the three lamps` for `every lamp`, `all three lamps`; not where `not all` are meant."""
    if any(token.role == "negation" for token in theirs) or at + 1 >= len(theirs):
        return False
    if theirs[at].key == "any" and (
        any(token.role != "free" for token in theirs[:at]) or any(token.role == "condition" for token in theirs)
    ):
        return False
    behind = theirs[at + 1]
    if any(ours[i].word == "the" for i in said):
        return behind.role in ("content", "name", "number", "light")
    if [token.word for token in theirs[at + 1 : at + 3] if token.word != "of"][:1] == ["the"]:
        return True  # `all of the lamps` are the lamps
    named = [token for token in theirs[at + 1 : at + 4] if token.role in ("content", "name")]
    several = any(same(token, one) and token.word.endswith("s") for token in ours for one in named)
    return behind.role in ("content", "name") and (several or any(ours[i].word in ("a", "an") for i in said))


_JOINED: Final = frozenset(
    map(frozenset, (("and", "as well as"), ("and", "although"), ("and", "whereas"), ("although", "whereas")))
)
"""Between two things that are both said; how they stand to each other is said by what they are."""
_THEN: Final = frozenset({"before", "after", "when", "then", "now"})
_REASONS: Final = frozenset(map(frozenset, (("because", "since"), ("because", "as"), ("since", "as"))))
_TIMES: Final = frozenset(map(frozenset, (("while", "whereas"), ("when", "whenever"))))


_OWNING: Final = words("my our your his her its their")
_RATHER: Final = frozenset({"rather than", "instead of"})
_THIRD: Final = frozenset({"it", "he", "she", "they"})
_INSIDE: Final = words("in on at into onto")
_PREPOSITIONS: Final = _INSIDE | words("of to for with about within inside during toward among")
"""Those that only tie one word to another. All others carry something: who, from where, when, above or below."""
_DOING: Final = frozenset(
    map(frozenset, (("by", "from"), ("when", "on"), ("when", "in"), ("while", "in"), ("among", "between")))
)
_MEANS: Final = words("by with via through in on")
_LOWER: Final = words("under below")
_AMONG: Final = words("among between")
_HIGHER: Final = words("over above")
_MADE: Final = frozenset(map(stem, words("make made build built form derive compose produce die suffer")))
_DIFFERING: Final = words("from to than")
_SPANS: Final = words("over across throughout through during along in")
_NAMED: Final = tuple(
    map(words, ("of for", "of about on", "in on at of within inside during", "over across", "by via", "via through"))
)
"""Before a name or a pronoun less is alike: `for Anna`, `to Anna`, `with Anna` and `by Anna` say what she has to do
with it."""
_QUALITY: Final = ("ful", "able", "ible", "ous", "ive", "ant", "ent", "al", "less")
"""How a quality may end that somebody has to or for others: `meaningful to you`."""
_PERSONS: Final = ("ers", "ors", "ist", "ists", "ian", "ians", "man", "men", "person", "people", "body", "one")
_JOINING: Final = frozenset(map(stem, words("talk speak communicate connect compare correspond relate link attach")))
_SHIELDING: Final = frozenset(map(stem, words("protect defend guard shield secure safe immune insulate")))


def is_meant(told: Sequence[Token], theirs: Sequence[Token], at: int, subject: Sequence[Token]) -> bool:
    """Whether a pronoun stands for what the sentence, or the one before where it begins this one, began with."""
    pronoun = theirs[at]
    if pronoun.role != "pronoun" or pronoun.key not in ("he", "she", "his", "her", "it", "its") or not told:
        return False
    if any(token.role not in SLIGHT for token in theirs[:at]):
        several = told[-1].word.endswith("s") and not told[-1].word.endswith(("ss", "us", "'s"))
        if told[-1].role != "name" and several != pronoun.word.startswith("the"):
            return False
        subject = theirs[:at]
    telling = [token.role not in SLIGHT for token in subject]
    for start in _subjects(subject):
        places = [at for at in range(start, len(subject)) if telling[at]]
        if len(told) > len(places):
            continue
        named = [at for at in places if subject[at].role == "name"]
        last = next((at for at in named if subject[at + 1 : at + 2] and subject[at + 1].role != "name"), -1)
        ends = [at for at in places if at <= last] if named[:1] == places[:1] else []
        for whole in (places[: len(told)], ends[-len(told) :]):
            if len(whole) == len(told) and all(same(one, subject[at]) for one, at in zip(told, whole, strict=True)):
                if pronoun.key.startswith("it"):
                    return True
                return bool(named) and named[0] <= whole[-1] and not _others_named(subject, whole[-1] + 1)
    return False


def _subjects(tokens: Sequence[Token]) -> list[int]:
    """Where what a sentence is about may begin: with it, behind a comma, behind a phrase in front."""
    front = bool(tokens) and tokens[0].role in ("place", "light")
    return [0] + [
        at
        for at, token in enumerate(tokens[:12])
        if at
        and (
            (at == 1 and tokens[0].role == "place")
            or "," in token.before
            or (front and token.word in ("the", "a", "an") and tokens[at - 1].role == "content")
        )
    ]


def _others_named(tokens: Sequence[Token], start: int) -> bool:
    """Whether another name stands there without a preposition, so that `he` may be that one; nobody is called OPEC."""
    return any(
        tokens[at].role == "name"
        and not (len(tokens[at].text) > 1 and tokens[at].text.isupper())
        and tokens[at - 1].role not in ("place", "light", "name", "free", "joint")
        and not tokens[at].before
        for at in range(max(start, 1), len(tokens))
    )
