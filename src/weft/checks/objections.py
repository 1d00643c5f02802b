"""What code can see that speaks against a model's yes: the words were cut out of a sentence that takes them back, one
says the opposite of the other, or two have changed places.

An objection proves nothing about the claim; it only keeps a yes from being believed. So it may be wider than what
`claims` calls contradicted, which has to be right.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product
from typing import Final

from weft.checks.exact_words import around, opposites
from weft.checks.figures import clauses_of, mistaken_figures
from weft.checks.matching import align
from weft.checks.statements import Statement, Token, is_saying, read_statement
from weft.language.sentences import words

_OPPOSED: Final = """
pass reject, pass defeat, pass fail, adopt reject, carry defeat, win lose, rise fall, rise drop, rise sink, grow shrink,
grow fall, grow drop, increase fall, increase drop, climb fall, gain lose, profit loss, surplus deficit, buy sell,
arrive leave, arrive depart, confirm deny, support oppose, back oppose, allow forbid, allow prohibit, allow ban,
build demolish, hire fire, hire dismiss, strengthen weaken, expand shrink, expand contract, widen narrow,
praise criticise, acquit convict, guilty innocent, attack defend, lend borrow, import export, succeed fail,
remember forget, love hate, cheap dear, cheap expensive, young old, rich poor, hot cold, warm cold, wet dry, early late,
long short, tall short, wide narrow, heavy light, strong weak, fast slow, large small, big small, high low,
deep shallow, full empty, hard soft, admit deny, join leave, lengthen shorten, raise lower, raise cut, rise decline,
grow decline, gain decline,
few many, few most, few all, most none, keep abandon, save spend, present absent, victory defeat, strength weakness
"""
_DENYING: Final = words("deny doubt dispute refute rebut false untrue myth misconception wrong incorrect mistaken")
_RULING: Final = ("condition", "limit")


def _key(word: str) -> str:
    return read_statement(word).tokens[0].key


_PAIRS: Final = frozenset(frozenset(map(_key, pair.split())) for pair in _OPPOSED.replace("\n", " ").split(","))
_DENIALS: Final = frozenset(map(_key, _DENYING))


def objection(claim: str, rests_on: str, passage: str) -> str:
    """Why a model is not believed that the words say what is claimed; "" where nothing is seen."""
    if word := left_out(claim, rests_on, passage):
        return f"“{rests_on}” leaves out the “{word}” of its sentence"
    said, there = read_statement(claim), read_statement(rests_on)
    if pair := opposites(claim, rests_on) or _opposite(said, there):
        return f"the claim has “{pair[0]}” where the passage has “{pair[1]}”"
    denial = next((token for token in there.tokens if token.key in _DENIALS), None)
    if denial is not None and not any(token.key in _DENIALS or token.role == "negation" for token in said.tokens):
        return f"the passage has “{denial.text}”, and the claim denies nothing"
    found = [_of_sentence(claim, said, whole) for _, _, whole in around(rests_on, passage)]
    return found[0] if found and all(found) else ""


def _of_sentence(claim: str, said: Statement, sentence: str) -> str:
    """What the whole sentence says against it, however little of it the words are."""
    there = read_statement(sentence)
    keys = {token.key for token in said.tokens}
    for at, token in enumerate(there.tokens):
        told = [one for one in there.tokens[at + 1 : at + 4] if one.role in ("content", "name")][:1]
        if token.key == "only" and told and told[0].key not in keys and "only" not in keys:
            return f"the passage says it only of “{told[0].text}”"
    if swapped := _exchanged(said, there):
        return f"“{swapped[0]}” and “{swapped[1]}” have changed places"
    return mistaken_figures(claim, sentence)


def left_out(claim: str, rests_on: str, passage: str) -> str:
    """The word of the sentence, outside the words that were cut out of it, that they depend on: who said it, on which
    condition. "" where the words stand somewhere without one, or the claim has it too."""
    told = read_statement(claim).tokens
    keys = {token.key for token in told}
    says = any(is_saying(token) and token.key not in _DENIALS for token in told)
    ruling = [
        next((token.text for token in _ruling(before, behind, says=says) if token.key not in keys), "")
        for before, behind, _ in around(rests_on, passage)
    ]
    return ruling[0] if ruling and all(ruling) else ""


def _ruling(*parts: str, says: bool) -> Iterator[Token]:
    for token in (token for part in parts for token in read_statement(part).tokens):
        if token.role in _RULING or token.key in _DENIALS or (is_saying(token) and not says):
            yield token


def _opposite(said: Statement, there: Statement) -> tuple[str, str] | None:
    """Two words of which each stands on one side alone and one can't be so while the other is."""
    ours, theirs = ([token for token in one.tokens if token.role != "negation"] for one in (said, there))
    denied = [sum(token.role == "negation" for token in one.tokens) % 2 for one in (said, there)]
    if denied[0] != denied[1]:
        return None
    mine = [token for token in ours if token.key not in there.keys and token.role in ("content", "bound", "quantifier")]
    other = [
        token for token in theirs if token.key not in said.keys and token.role in ("content", "bound", "quantifier")
    ]
    for one, two in product(mine, other):
        if frozenset({one.key, two.key}) in _PAIRS or _turns(one.word, two.word):
            return one.text, two.text
    return None


def _turns(one: str, other: str) -> bool:
    """What turns a statement round when it alone is exchanged does so here."""
    found = align(read_statement(one), read_statement(other)).differences
    return any(item.kind == "opposite" and item.turns for item in found)


def _exchanged(said: Statement, there: Statement) -> tuple[str, str] | None:
    """`Dahl accused Bruun` and `Bruun accused Dahl`: the same two on either side of the same word. In the passive they
    stand so by right."""
    names = {token.key for one in (said, there) for token in one.tokens if token.role == "name"}
    for (ours, verb, passive), (theirs, other, turned) in product(_beside(said, names), _beside(there, names)):
        if verb != other:
            continue
        straight = ours[0].key == theirs[0].key and ours[1].key == theirs[1].key
        crossed = ours[0].key == theirs[1].key and ours[1].key == theirs[0].key
        if crossed if passive == turned else straight:
            return ours[0].text, ours[1].text
    return None


def _beside(one: Statement, names: set[str]) -> Iterator[tuple[tuple[Token, Token], str, bool]]:
    """Each word with those on either side of it, and whether the second is the doer: the next names of its clause, or
    nouns with an article at most between."""
    for clause in clauses_of(one.tokens):
        for at, token in enumerate(clause):
            if token.role != "content" or token.key in names:
                continue
            by = at + 1 < len(clause) and clause[at + 1].word == "by"
            for before, behind in product(_next(clause[:at][::-1], names), _next(clause[at + 1 :], names)):
                if before.key != behind.key:
                    yield (before, behind), token.key, by


def _next(tokens: Sequence[Token], names: set[str]) -> list[Token]:
    name = next((token for token in tokens if token.key in names), None)
    noun = next((token for token in tokens if token.role not in ("free", "modal") and token.word != "by"), None)
    return [one for one in (name, noun) if one is not None and one.role in ("content", "name")]
