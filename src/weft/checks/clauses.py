"""What of a sentence stands for itself, so that the rest can be said without it, or it without the rest; and the same
sentence in another voice.

Read from punctuation and small words alone: a parenthesis, a clause behind `and`, a relative clause behind a comma, an
apposition may be left out and what is left is still said. A condition, a date in front, a member of a list, a clause
that says who said it may not: without it something else would be said. Where nothing tells, nothing may go.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from itertools import islice, product
from typing import Final

from weft.checks.statements import Statement, Token, is_saying, same
from weft.checks.word_forms import is_past
from weft.language.sentences import ENGLISH, words

BE: Final = frozenset({"is", "are", "was", "were", "be", "been", "being", "am", "'s"})
HELPING: Final = BE | {"has", "have", "had", "does", "do", "did"}
_BESIDE: Final = words("""
which who whose whom where whereas while although though because since as so hence thus thereby rather instead including
very less more like unlike specifically particularly especially notably
""")
"""What begins a part that says more and takes nothing back."""
_TAKING_BACK: Final = words("""
depending barring failing pending supposing notwithstanding until till only not never no neither nor without if unless
when whenever except excluding assuming provided providing otherwise
""")
_SAYING_MORE: Final = frozenset({"and no", "just like", "just as", "not only"})
_ARTICLES: Final = frozenset({"a", "an", "the", "his", "her", "its", "their", "then", "our", "my"})
_ALONG: Final = frozenset({"with", "from", "again", "along", "alongside", "together"})
_ASIDES: Final = (
    "as well", "in fact", "of course", "for example", "for instance", "for its part", "in turn", "by contrast",
    "on the other hand", "in addition", "in contrast", "as a result", "in effect", "after all", "in short",
    "fortunately", "unfortunately", "luckily", "sadly", "instead", "finally", "similarly", "likewise", "overall",
    "importantly", "notably", "interestingly", "surprisingly",
)  # fmt: skip
"""What says nothing itself, wherever it stands."""
_ASIDE_WORDS: Final = {
    lead: [tuple(aside.split()) for aside in _ASIDES if aside.split()[0] == lead]
    for lead in {aside.split()[0] for aside in _ASIDES}
}
_RELATIVE: Final = frozenset({"that", "which", "who", "whom", "whose"})
_DASHES: Final = ("—", "–", "--")
_MEMBER: Final = 3
"""The most words of a list's last member but one: what stands behind it belongs to the list."""
_BORDERS: Final = 40
"""A stretch with more parts is a list, or a table."""
_SHORT: Final = 4
_OWN_CLAUSE: Final = 6
_DONE: Final = ("ed", "en", "wn", "t", "d", "un", "ne", "de", "ung", "unk", "um", "it", "ut", "ad")
"""How what was done may end."""
_AGENT: Final = 12
"""The most words behind `by` that can be one doer."""


def may_go(tokens: Sequence[Token], first: int, last: int) -> bool:
    """Whether the sentence says the rest all the same without these words: each part of them stands for itself."""
    starts = [first, *_borders(tokens, first, last)]
    if len(starts) > _BORDERS:
        return False
    gone = {last + 1}  # from here on, all may go
    for at in reversed(starts):
        if all(token.role == "free" for token in tokens[at : last + 1]) or any(
            end in gone and _stands_alone(tokens, at, end - 1) for end in (last + 1, *starts) if end > at
        ):
            gone.add(at)
    return first in gone


def peeled(tokens: Sequence[Token], first: int, last: int) -> tuple[int, int]:
    """What remains of a stretch when everything at its ends that may go is gone."""
    borders = _borders(tokens, first, last)
    high = next((at for at in borders if may_go(tokens, at, last)), last + 1) - 1
    low = next((at for at in reversed(borders) if at <= high and may_go(tokens, first, at - 1)), first)
    return low, high


def _borders(tokens: Sequence[Token], first: int, last: int) -> list[int]:
    """Where a part may begin inside a stretch: behind a sign, or with `and`."""
    return [
        at
        for at in range(first + 1, last + 1)
        if tokens[at].before or tokens[at].role == "joint" or tokens[at - 1].role == "joint"
    ]


def _stands_alone(tokens: Sequence[Token], first: int, last: int) -> bool:
    opened, closed = tokens[first].before, tokens[last + 1].before if last + 1 < len(tokens) else "."
    starts, ends = first == 0, last + 1 == len(tokens)
    part = tokens[first : last + 1]
    if (starts and _is_stop(closed, tokens[last])) or (ends and first and _is_stop(opened, tokens[first - 1])):
        # a sentence before or behind this one that begins with a small letter
        opens = sum(token.before.count('"') for token in part[1:]) % 2 == 1  # somebody goes on speaking behind it
        return not opens and not any(is_saying(token) for token in part)
    if not starts and not any(token.role == "condition" for token in part) and _is_first_of_two(tokens, first, last):
        return True
    if takes_back(part):
        return False
    inner = [token.before for token in part[1:]]
    if "[" in opened and ("]" in closed or ends):
        return True
    if "(" in opened:
        how = len(part) == 1 and part[0].word.endswith("ly")
        return (")" in closed or ends) and not how and not any(")" in signs for signs in inner)
    opening, closing = sum("(" in signs for signs in inner), sum(")" in signs for signs in (*inner, closed))
    if opening != closing and not (ends and opening == closing + 1):
        return False  # half of a bracket
    if any(dash in opened for dash in _DASHES) and (ends or any(dash in closed for dash in _DASHES)):
        return not _attributes(part)
    if starts:
        return _may_go_first(tokens, part, closed)
    if _attributes(part):
        return False
    whole = ends or ";" in closed
    if ";" in opened or (":" in opened and ends and not part[0].text.startswith("/")):
        return whole
    if "," in opened or any(dash in opened for dash in _DASHES):
        return _may_go_behind_a_comma(tokens, first, last, whole=whole, closed=closed)
    return _is_second_of_two(tokens, first, last, whole=whole)


def _may_go_first(tokens: Sequence[Token], part: Sequence[Token], closed: str) -> bool:
    """A clause before another one."""
    following = tokens[len(part)] if len(part) < len(tokens) else None
    if any(is_saying(token) for token in part):
        return False
    body = list(part)
    joined = False
    while body and (body[-1].role == "joint" or body[-1].word in ("so", "then", "hence", "thus", "therefore")):
        if body[-1].key == "or":
            return False
        joined = True
        closed = body.pop().before
    if not body or (following is not None and following.word in ("that", "or", "nor")):
        return False
    if ";" in closed or any(dash in closed for dash in _DASHES):
        return len(body) >= _SHORT
    if "," not in closed:
        return False
    if joined:
        return is_clause(body)
    if len(body) == 1 and body[0].word.endswith("ly"):
        return True
    if body[0].key == "while":  # `While it is lit, he must stay` says for how long
        return not any(token.role == "modal" for token in tokens[len(part) :])
    return body[0].key in ("although", "whereas", "because", "unlike", "despite", "like") or (
        _is_doing(body[0]) and len(body) > 2
    )


def _may_go_behind_a_comma(tokens: Sequence[Token], first: int, last: int, *, whole: bool, closed: str) -> bool:
    """Something more that is said of the same, or beside it."""
    part, told = tokens[first : last + 1], tokens[:first]
    lead, behind = part[0], part[min(1, last - first)]
    if not (whole or "," in closed or any(dash in closed for dash in _DASHES)):
        return False
    single = not any("," in token.before for token in part[1:])
    if lead.role == "joint":
        commas = [at for at in range(1, first) if "," in tokens[at].before]
        apart = not commas or first - commas[-1] > _MEMBER or tokens[commas[-1]].role == "joint"
        said = apart or has_verb([behind]) or behind.role == "pronoun"
        return lead.key == "and" and whole and len(part) > 2 and said
    if has_verb([lead]) or (lead.word, behind.word) == ("not", "only"):
        return whole and len(part) > 2
    if lead.word in _BESIDE:
        dated = behind.role in ("number", "date") or behind.word == "of"
        return not dated and (single or (whole and is_clause(told))) and (len(part) > 2 or lead.word == "including")
    if lead.word in _ALONG:
        facts = any(token.role in ("number", "date") for token in part)
        return single and whole and is_clause(told) and not facts
    return single and _is_beside(tokens, first, last, whole=whole)


def _is_beside(tokens: Sequence[Token], first: int, last: int, *, whole: bool) -> bool:
    """An apposition, an aside, a participle; no member of a list."""
    part = tokens[first : last + 1]
    lead = part[0]
    following = tokens[last + 1] if last + 1 < len(tokens) else None
    if following is not None and not whole and (following.role == "joint" or following.word in _ARTICLES):
        return False
    if _is_doing(lead) or (_is_done(lead) and len(part) > 2 and part[1].role in ("place", "light")):
        return len(part) > 2
    if any(token.key == "or" for token in part) or tokens[first - 1].role not in ("name", "content"):
        return False
    if lead.word in _ARTICLES:
        beside = not has_verb(part) or any(token.word in _RELATIVE for token in part)
        return beside and len(part) > 1 and not (whole and any(token.role == "joint" for token in part))
    named = all(token.role in ("name", "free") for token in part)
    return named and not whole and following is not None and following.role != "name"


def _is_second_of_two(tokens: Sequence[Token], first: int, last: int, *, whole: bool) -> bool:
    """`it is new [and can be changed]`: the second, where a small verb begins it or it is long."""
    part = tokens[first : last + 1]
    if part[0].role == "joint" and part[0].key == "and":
        ruled = any(token.word in ("both", "between", "or") or token.role == "condition" for token in tokens[:last])
        long = len(part) > _SHORT and not ruled and part[1].word != tokens[first - 1].word
        return whole and len(part) > 2 and (has_verb(part[1:2]) or long)
    if part[0].word in ("rather", "instead") or " ".join(token.word for token in part[:2]) == "so that":
        return whole and len(part) > 2
    return False


def _is_first_of_two(tokens: Sequence[Token], first: int, last: int) -> bool:
    """`it [is new and] can be changed`: the first of two things that are said of one."""
    part, behind = tokens[first : last + 1], tokens[last + 1 : last + 2]
    if any(is_saying(token) for token in part) or any(token.word in _RELATIVE for token in tokens[: last + 1]):
        return False
    if first == 1 and tokens[0].role == "pronoun":
        return any(token.key == "and" for token in part[-2:])
    helped = tokens[first - 1].role == "modal" or tokens[first - 1].word == "to"  # `must [light it and] ring`
    joined = len(part) > 2 and part[-1].key == "and" and part[-1].role == "joint"
    bare = all(token.role == "content" and not token.word.endswith(("ed", "s")) for token in behind)
    bare = bare and not any(is_past(token.word) for token in behind)
    denied = any(token.role == "negation" for token in part)
    return joined and (has_verb(behind) or (helped and bare and not denied))


def has_verb(tokens: Sequence[Token]) -> bool:
    return any(token.word in HELPING or token.role == "modal" for token in tokens)


def is_clause(tokens: Sequence[Token]) -> bool:
    """Whether it has a subject and a verb of its own, as far as small words and endings tell."""
    return len(tokens) >= _SHORT and any(
        token.word in HELPING
        or token.role in ("modal", "pronoun")
        or (token.role == "content" and token.word.endswith(("ed", "es", "s")))
        for token in tokens[1:]
    )


def takes_back(part: Sequence[Token]) -> bool:
    """Whether it makes less of what is said: a condition, an exception, a limit."""
    lead = next((token for token in part if token.role != "joint"), part[0])
    own = "(" in part[0].before and len(part) > _OWN_CLAUSE  # what stands there has its conditions for itself
    ruled = lead.role == "condition" or (not own and any(token.role == "condition" for token in part))
    more = " ".join(token.word for token in part[:2]) in _SAYING_MORE
    return ruled or (not more and (lead.word in _TAKING_BACK or lead.role == "limit"))


def _attributes(part: Sequence[Token]) -> bool:
    """Whether it may say who said the rest: `, she claims`, `, said the mayor`, `, according to him`."""
    said = [
        at
        for at, token in enumerate(part)
        if is_saying(token) and not (at and part[0].role == "joint" and part[at - 1].word in BE)
    ]
    quoted = any('"' in token.before for token in part[1:])
    return any(at < 2 or at >= len(part) - 2 or len(part) <= _SHORT or quoted for at in said)


def _is_doing(token: Token) -> bool:
    return token.word == "having" or (token.role == "content" and len(token.word) > 4 and token.word.endswith("ing"))


def _is_done(token: Token) -> bool:
    return token.role == "content" and token.word.endswith(("ed", "en", "wn", "known"))


def _is_stop(signs: str, before: Token) -> bool:
    return any(sign in signs for sign in ".!?") and len(before.text) > 2 and before.word not in ENGLISH.abbreviations


def without_asides(sentence: Statement) -> Statement:
    """Without what says nothing itself: `it is, in fact, new`."""
    tokens = sentence.tokens
    for at, token in enumerate(tokens):
        for aside in _ASIDE_WORDS.get(token.word, ()):
            end = at + len(aside)
            if tuple(one.word for one in tokens[at:end]) != aside or [one.word for one in tokens[end : end + 1]] == [
                "of"
            ]:
                continue
            parted = end >= len(tokens) or tokens[end].before or token.before or not at
            if parted or tokens[at - 1].word in HELPING or tokens[at - 1].role == "modal":
                behind = _opened(tokens[end:], token.before if token.before.strip(",") else "")
                return without_asides(Statement(sentence.text, (*tokens[:at], *behind), sentence.asks))
    return sentence


def reduced(sentence: Statement, kept: frozenset[str]) -> Statement:
    """The sentence without the parts that may go and have little of `kept`, wherever they stand."""
    tokens = list(sentence.tokens)
    while len(borders := [0, *_borders(tokens, 0, len(tokens) - 1), len(tokens)]) <= _BORDERS:
        parts = [(first, end) for at, first in enumerate(borders) for end in borders[at + 1 :]]
        shares = {part: _share(tokens[slice(*part)], kept) for part in parts if part != (0, len(tokens))}
        likely = sorted(
            (part for part, share in shares.items() if share < _LITTLE),
            key=lambda part: (shares[part], -part[1] + part[0]),
        )
        part = next((part for part in likely if _stands_alone(tokens, part[0], part[1] - 1)), None)
        if part is None:
            break
        tokens[part[0] :] = _opened(tokens[part[1] :], _signs_between(tokens, *part))
    return sentence if len(tokens) == len(sentence.tokens) else replace(sentence, tokens=tuple(tokens))


_LITTLE: Final = 0.4


def _share(tokens: Sequence[Token], kept: frozenset[str]) -> float:
    keys = _keys(tokens)
    return len(keys & kept) / len(keys) if keys else 1.0


def _signs_between(tokens: Sequence[Token], first: int, end: int) -> str:
    """What parts the rest, where a part is gone: neither its brackets nor the commas that set it off."""
    if not first or end == len(tokens):
        return ""
    opened, closed = tokens[first].before, tokens[end].before
    if "(" in opened:
        return closed.replace(")", "", 1)
    return closed if tokens[end].role == "joint" or closed.strip(",") else ""


# -- sentences in a sentence

_LEADS: Final = words("and but yet so while whereas because since although though as")
"""What begins, behind a comma, a clause that is said as well."""


def asserted(sentence: Statement) -> Iterator[tuple[str, str]]:
    """Each clause that the sentence says for itself, or several that follow each other, with the clause before that
    names what they are about. None behind what rules over more than its own clause: a condition, who said it."""
    tokens = sentence.tokens
    starts = [0, *(at for at in range(1, len(tokens)) if _begins_clause(tokens, at)), len(tokens)]
    if sentence.asks:
        return
    if _ALIAS.search(sentence.text):
        yield _ALIAS.sub(r"\2", sentence.text), ""
    yield from ((text, "") for text in _said_beside(sentence))
    if not 2 < len(starts) <= _CLAUSES:
        return
    subject = ""
    for number, first in enumerate(starts[:-1]):
        lead = first + 1 if first and tokens[first].word in (*_LEADS, "that") else first
        if lead >= len(tokens) or _announces(tokens, first):
            return
        # Behind a semicolon, behind a colon, and as a reason, it is said whatever else is.
        signs = tokens[first].before
        plain = ":" in signs and not any(token.role in ("negation", "condition") for token in tokens[:first])
        if ":" in signs and '"' in signs:
            continue  # whoever is named before says it
        own = plain or ";" in signs or tokens[first].word in _CONCEDING
        if any(map(is_saying if own else _rules_on, tokens[:first])):
            continue
        for end in starts[number + 1 :]:
            if (first, end) != (0, len(tokens)) and is_clause(tokens[lead:end]):
                yield _slice(sentence, lead, end), subject
        if tokens[lead].role != "pronoun":
            subject = _slice(sentence, lead, starts[number + 1])


_CLAUSES: Final = 8


_ALIAS: Final = re.compile(r"\b(?:([A-Z])[\w-]+ )(?:(?:of|for|the|and|[A-Z][\w-]+) ){0,5}[A-Z][\w-]+ \((\1[A-Z]+)\)")
"""`Open Database Connectivity (ODBC)` goes by either name."""


def _said_beside(sentence: Statement) -> Iterator[str]:
    """`Anna is a keeper of lamps` of `Anna, a keeper of lamps, left`: what is set off behind a noun is said of it."""
    tokens = sentence.tokens
    for first in range(1, len(tokens) - 2):
        signs, lead = tokens[first].before, tokens[first]
        about = lead.word in ("which", "who") or lead.word in _ARTICLES
        if not (("," in signs or "(" in signs) and about) or any(map(_rules_on, tokens[:first])):
            continue
        head = first
        while head and _is_of_name(tokens[head - 1]) and (head == first or not tokens[head].before.strip(".")):
            head -= 1
        leads = tokens[0].role not in ("place", "light", "joint", "pronoun")
        if head == first and leads and not has_verb(tokens[:first]) and first <= _HEAD:
            head = 0
        ends = (at for at in range(first + 1, len(tokens)) if tokens[at].before.strip("\"'"))
        end = next(ends, len(tokens))
        part = tokens[first:end]
        listed = any(token.role == "joint" for token in tokens[end : end + _SHORT])
        if head < first and len(part) > 2 and not listed and _stands_alone(tokens, first, end - 1):
            yield f"{_slice(sentence, head, first)} {_slice(sentence, first, end)}".replace(")", "")


def _is_of_name(token: Token) -> bool:
    return token.role == "name" or (len(token.text) == 1 and token.text.isupper())


_HEAD: Final = 6
"""The most words of what a sentence is about."""


def _slice(sentence: Statement, first: int, end: int) -> str:
    tokens = sentence.tokens
    until = tokens[end].start if end < len(tokens) else len(sentence.text)
    return sentence.text[tokens[first].start : until].rstrip(" ,;:(—–-")


def _begins_clause(tokens: Sequence[Token], at: int) -> bool:
    """Behind a colon, a semicolon or a dash; with a conjunction behind a comma; with `because`, or `and they are`."""
    signs, word, following = tokens[at].before, tokens[at].word, tokens[at + 1 : at + 4]
    if ";" in signs or ":" in signs or any(dash in signs for dash in _DASHES):
        return True
    if "," in signs and tokens[0].word in _CONCEDING and is_clause(tokens[:at]) and is_clause(tokens[at:]):
        return True  # `Although it rains, the lamp is lit`
    if "," in signs and word == "nor":
        return is_clause(tokens[:at])
    if word == "that" and tokens[at - 1].word in (*BE, "means", "meant"):
        return is_clause(tokens[at + 1 :])
    if (
        word not in _LEADS
        or len(following) < 3
        or (word in ("so", "as") and following[0].word in ("that", "as", "well", "far", "long", "much"))
    ):
        return False
    if word != "so" and (takes_back(following[:1]) or following[0].role == "negation"):
        return False
    if tokens[at - 1].role == "negation" or (
        "," not in signs and word == "because" and any(token.role == "negation" for token in tokens[:at])
    ):
        return False  # `not because it rained`
    said = following[0].role == "pronoun" and has_verb(following[1:2])
    if (
        "," not in signs
        and word not in ("because", "although", "whereas")
        and not (tokens[at].role == "joint" and said)
    ):
        return False
    anew = not (has_verb(following[:1]) or _is_done(following[0]) or _is_doing(following[0]))
    begun = is_clause(tokens[:at]) or ("," in signs and word in _CONCEDING)
    return anew and begun and is_clause(tokens[at + 1 :])


_CONCEDING: Final = words("although though whereas because")
_RULING: Final = words("""
when whenever until either neither nor both only whether suppose theory theories idea ideas plan plans goal aim argument
belief rumor possibility risk danger question view views opinion example examples
""")


def _rules_on(token: Token) -> bool:
    """Whether it may rule over what follows its own clause."""
    return token.role == "condition" or is_saying(token) or token.word in _RULING


def _announces(tokens: Sequence[Token], at: int) -> bool:
    """`There are two ways: …`: what follows is not said, but told apart."""
    return at > 0 and ":" in tokens[at].before and any(token.role == "number" for token in tokens[:at])


# -- the parts of a claim

_OWN: Final = frozenset({"and", "but"})


def clauses(claim: Statement) -> Iterator[tuple[str, str]]:
    """A claim as two that are both said, where `, and` or a semicolon parts them; each way to part it."""
    tokens = claim.tokens
    for at in range(_SHORT, len(tokens) - 2):
        token = tokens[at]
        parted = ";" in token.before or ("," in token.before and token.word in _OWN)
        if not parted:
            continue
        begins = at + 1 if token.word in _OWN else at
        one, other = tokens[:at], tokens[begins:]
        if len(other) < 3 or any(part.role == "condition" or is_saying(part) for part in tokens):
            continue
        if has_verb(other[:1]) or any(part.word in ("either", "neither", "both", "between") for part in one):
            continue
        yield (
            claim.text[: one[-1].start + len(one[-1].text)].rstrip(" ,;") + ".",
            claim.text[other[0].start :].strip(),
        )


# -- a noun and its pronoun

THIRD: Final = words("it its he him his she her they them their")
_AGAIN: Final = 2
_NOUN: Final = 3
"""The most words of a noun that a pronoun stands for."""


def renamed(claim: Statement, source: Statement) -> Iterator[Statement]:
    """`they burn if the lamps are dry` for `the lamps burn if they are dry`: the claim with the noun and its pronoun in
    each other's place, where what stands beside the noun in it stands beside the pronoun in the source."""
    ours, theirs = claim.tokens, source.tokens
    persons = {token.key for token in theirs if token.role in ("name", "content") and token.text.istitle()}
    for at, pronoun in enumerate(theirs):
        here = [place for place, token in enumerate(ours) if token.word == pronoun.word]
        if pronoun.word not in THIRD or not 0 < len(here) <= _AGAIN:
            continue
        if len(persons) > 1 and pronoun.key not in ("it", "its"):
            continue  # who of them is meant?
        for (first, end), place in product(_beside_same(ours, theirs, at), here):
            known = any(all(map(same, ours[first:end], theirs[to:])) for to in range(len(theirs) - (end - first) + 1))
            owns = ours[end - 1].word.endswith(("'s", "s'"))
            known = known and _is_noun(ours, first, end)
            if known and owns == (pronoun.key in _OWNING) and not first <= place < end:
                yield replace(claim, tokens=tuple(_exchanged(ours, (first, end), place)))


def _is_noun(tokens: Sequence[Token], first: int, end: int) -> bool:
    """Whether these are a noun as far as can be seen: a name, more than one, or with an article."""
    named = tokens[first].role == "name" or tokens[end - 1].word.endswith(("s", "s'", "'s"))
    return named or (first > 0 and tokens[first - 1].word in _ARTICLES)


def _beside_same(ours: Sequence[Token], theirs: Sequence[Token], at: int) -> Iterator[tuple[int, int]]:
    """Nouns of the claim before or behind what stands behind or before this place of the source."""
    behind, before = next(filter(_tells, theirs[at + 1 :]), None), next(filter(_tells, theirs[:at][::-1]), None)
    for place, token in enumerate(ours):
        if behind is not None and same(token, behind):
            end = place
            while end and not _tells(ours[end - 1]):
                end -= 1
            sizes = ((end - size, end) for size in range(1, _NOUN + 1))
        elif before is not None and same(token, before):
            start = next((to for to in range(place + 1, len(ours)) if ours[to].word not in _ARTICLES), place + 1)
            sizes = ((start, start + size) for size in range(1, _NOUN + 1))
        else:
            continue
        yield from (
            (first, last)
            for first, last in sizes
            if first >= 0 and last <= len(ours) and all(token.role in _NOUNS for token in ours[first:last])
        )


_NOUNS: Final = ("content", "name", "quantifier", "number")
_OWNING: Final = words("its his her")


def _exchanged(tokens: Sequence[Token], noun: tuple[int, int], pronoun: int) -> list[Token]:
    named = list(_opened(tokens[slice(*noun)], tokens[pronoun].before))
    short = list(_opened([tokens[pronoun]], tokens[noun[0]].before))
    if pronoun < noun[0]:
        return [*tokens[:pronoun], *named, *tokens[pronoun + 1 : noun[0]], *short, *tokens[noun[1] :]]
    return [*tokens[: noun[0]], *short, *tokens[noun[1] : pronoun], *named, *tokens[pronoun + 1 :]]


# -- voice


def in_active(passive: Statement, active: Statement, *, untold: bool = False) -> Iterator[Statement]:
    """`the lamp was lit by Anna` as `Anna lit the lamp`, where the other sentence says that Anna lit it; and `the lamp
    is lit` as `you light the lamp`, where the other says so of anybody. With `untold` the passive may leave out who of
    `we lit the lamp` it was, as long as nothing is denied: what we did not light may be lit. Several verbs are turned
    one behind the other."""
    doers = _ANYBODY | _SOMEBODY if untold and not any(_narrows(token) for token in active.tokens) else _ANYBODY
    yield from islice(_turned_often(passive, active, doers, _VERBS), _WAYS)


_VERBS: Final = 3
_WAYS: Final = 16
"""How many verbs of a sentence are turned, and how many ways to do it are tried."""


def _narrows(token: Token) -> bool:
    return token.role == "negation" or token.word in ("only", "just", "merely", "solely")


def _turned_often(passive: Statement, active: Statement, doers: Collection[str], most: int) -> Iterator[Statement]:
    for one in _turned_once(passive, active, doers):
        yield one
        if most > 1:
            yield from _turned_often(one, active, doers, most - 1)


def _turned_once(passive: Statement, active: Statement, doers: Collection[str]) -> Iterator[Statement]:
    tokens = passive.tokens
    if any(token.word in doers for token in active.tokens):
        yield from _by_anybody(passive, active.tokens, doers)
    for by in range(2, len(tokens) - 1):
        yield from _beside_noun(passive, by, active.tokens)
        signs = tokens[by].before.strip("\"'")
        found = _participle(tokens, by) if tokens[by].word == "by" and not signs else None
        if found is None:
            continue
        be, verb = found
        told = next((at for at, token in enumerate(active.tokens) if token.key == tokens[verb].key), 0)
        fronts = [0, *(at for at in range(1, told) if active.tokens[at].before)]
        for begins, front in product(_beginnings(tokens, be), fronts):
            start = _verb_start(tokens, begins, be)
            doer = _keys(active.tokens[front:told]) - _keys(tokens[:begins]) - _keys(tokens[start:verb])
            ends = _end_of_doer(tokens, by, doer)
            if doer and ends is not None:
                yield Statement(
                    passive.text, (*tokens[:begins], *_turned(tokens, begins, found, (by, ends))), passive.asks
                )


def _beside_noun(passive: Statement, by: int, active: Sequence[Token]) -> Iterator[Statement]:
    """`a lamp [which was] lit by Anna` as `a lamp which Anna lit`, where the other sentence says it so."""
    tokens = passive.tokens
    verb = by - 1
    if tokens[by].word != "by" or tokens[by].before or not tokens[verb].word.endswith(_DONE):
        return
    for told in (at for at, token in enumerate(active) if at > 2 and token.key == tokens[verb].key):
        lead = next((at for at in range(told - 2, max(-1, told - _AGENT), -1) if active[at].word in _RELATIVE), None)
        ends = _end_of_doer(tokens, by, _keys(active[lead:told]), active[told + 1 :]) if lead is not None else None
        noun = active[lead - 1] if lead else None
        start = verb
        while start and tokens[start - 1].role == "free" and not tokens[start].before:
            start -= 1
        if ends is not None and noun is not None and start and same(noun, tokens[start - 1]):
            doer = _opened(tokens[by + 1 : ends], tokens[start].before)
            yield replace(passive, tokens=(*tokens[:start], *doer, tokens[verb], *tokens[ends:]))


_ANYBODY: Final = frozenset({"you", "one"})
_SOMEBODY: Final = frozenset({"i", "we", "he", "she", "it", "they"})
_NOW: Final = frozenset({"is", "are", "be"})


def _by_anybody(passive: Statement, active: Sequence[Token], doers: Collection[str]) -> Iterator[Statement]:
    tokens = passive.tokens
    bes = _NOW if doers is _ANYBODY else BE
    for be in (at for at, token in enumerate(tokens) if at and token.word in bes):
        verb = _done(tokens, be, len(tokens))
        if verb is None:
            continue
        for told in (at for at, token in enumerate(active) if token.key == tokens[verb].key):
            doer = told
            while doer and (
                active[doer - 1].role in ("modal", "negation", "free") or active[doer - 1].word.endswith("ly")
            ):
                doer -= 1
            if not doer or active[doer - 1].word not in doers or active[told - 1].word in BE:
                continue
            for begins in _beginnings(tokens, be):
                if not any(token.role in ("content", "name") for token in tokens[begins:be]):
                    continue
                laid = [*tokens[: verb + 1], active[doer - 1], *tokens[verb + 1 :]]
                turned = _turned(laid, begins, (be, verb), (verb, verb + 2))
                yield Statement(passive.text, (*tokens[:begins], *turned), passive.asks)


def _turned(tokens: Sequence[Token], begins: int, done: tuple[int, int], doer: tuple[int, int]) -> Iterator[Token]:
    (be, verb), (by, ends) = done, doer
    start = _verb_start(tokens, begins, be)
    helping = [token for token in tokens[start:verb] if token.role in ("modal", "negation")]
    helping += [token for token in tokens[start:be] if _is_manner(token)]
    last = verb + 1 if verb + 2 == by and tokens[verb + 1].word in _PARTICLES else verb
    yield from _opened(tokens[by + 1 : ends], tokens[begins].before)
    yield from helping
    yield from (token for token in tokens[be + 1 : last + 1] if token not in helping)
    yield from _opened(tokens[begins:start], "")
    yield from _opened([*tokens[last + 1 : by], *tokens[ends:]], tokens[start].before)


_PARTICLES: Final = frozenset({"up", "over", "out", "off", "down", "away", "back"})
"""What belongs to the verb before it: `taken over by Anna`."""


def _verb_start(tokens: Sequence[Token], begins: int, be: int) -> int:
    """Where `can usually be` begins."""
    start = be
    while start > begins and not tokens[start].before and _goes_before_verb(tokens[start - 1]):
        start -= 1
    return start


def _goes_before_verb(token: Token) -> bool:
    return token.role in ("modal", "negation") or token.word in HELPING or _is_manner(token)


def _is_manner(token: Token) -> bool:
    return token.role == "limit" or (token.role == "content" and token.word.endswith("ly")) or token.word == "since"


def _opened(tokens: Sequence[Token], signs: str) -> Iterator[Token]:
    """With the signs that now stand before them."""
    for at, token in enumerate(tokens):
        yield token if at else replace(token, before=signs)


def _end_of_doer(tokens: Sequence[Token], by: int, doer: set[str], following: Sequence[Token] = ()) -> int | None:
    for end in range(by + 2, min(by + 2 + _AGENT, len(tokens) + 1)):
        if _keys(tokens[by + 1 : end]) == doer:
            # `by Anna Berg` is not by Anna
            goes_on = end < len(tokens) and not tokens[end].before and tokens[end].role in ("content", "name")
            said = next(filter(_tells, following), None)  # what follows is said of what was done in both
            return None if goes_on and not (said and same(said, tokens[end])) else end
    return None


def _keys(tokens: Sequence[Token]) -> set[str]:
    return {token.key for token in tokens if _tells(token)}


def _tells(token: Token) -> bool:
    return token.role not in ("free", "light", "joint", "modal", "negation")


def _participle(tokens: Sequence[Token], by: int) -> tuple[int, int] | None:
    """Where the nearest `was` before `by` stands, and what was done."""
    for be in range(by - 2, max(-1, by - 12), -1):
        if tokens[be].word in BE:
            verb = _done(tokens, be, by)
            return (be, verb) if verb is not None else None
    return None


def _done(tokens: Sequence[Token], be: int, end: int) -> int | None:
    told = (at for at in range(be + 1, min(be + 4, end)) if tokens[at].role == "content")
    return next((at for at in told if tokens[at].word.endswith(_DONE)), None)


def _beginnings(tokens: Sequence[Token], be: int) -> Iterator[int]:
    """Where what `was` is said of may begin: behind a phrase in front, behind `that`, or with the sentence."""
    yield from (
        at
        for at in range(be - 1, 0, -1)
        if "," in tokens[at].before
        or tokens[at - 1].word == "that"
        or tokens[at - 1].role in ("place", "condition")
        or is_saying(tokens[at - 1])
    )
    yield 0
