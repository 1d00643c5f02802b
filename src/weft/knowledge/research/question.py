"""A question to sub-queries, by its structure alone, and how clearly it says what it wants.

    several sentences     each is asked for; what is said before a question is its context
    and how …, or when …  two questions in one
    A compared with B     the comparison, and each side
    A, B and C            each of them
    ISA 315.12, names     what the question points at
    the matter itself     what it means, where it applies, what is excepted: as far as the depth has room

Roles: primary (what was asked), supporting (its parts), context (what surrounds it). The order is that of worth, so a
bound cuts from the end. The words of structure are English ones; any other question is asked as it stands.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from typing import Any, Final, Literal

from weft.checks import claim_words as words
from weft.checks.names import names
from weft.knowledge.grammar import Grammar
from weft.knowledge.research.depth import Depth
from weft.language.sentences import sentences as split
from weft.protocol.values import dataclass

Role = Literal["primary", "supporting", "context"]
CLEAR: Final = 0.7
ALIKE: Final = 0.8
"""The share of terms from which two sub-queries are one."""
QUESTION_LIMIT: Final = 4_000
_ASKING: Final = (
    r"(?:what|when|where|which|who|whom|whose|why|how|is|are|was|were|does|do|did|can|could|must|may|should|shall|will"
    r"|would|has|have|under what|to what|in which|in what|for how|by when)"
)
_JOINT: Final = re.compile(rf"\s*[,;]?\s+(?:and|or|but|as well as)\s+(?={_ASKING}\b)", re.IGNORECASE)
_MARK: Final = re.compile(r"^\s*(?:[-*•]|\(?\w{1,3}[.)])\s+")
_INLINE_MARK: Final = re.compile(r"\s*[,;]?\s*(?:and\s+)?\((?:[a-z]|[ivx]{1,4}|\d)\)\s+")
_COMPARING: Final = (
    re.compile(
        r"\b(?:differences?|distinctions?|relationships?|relations?|comparisons?|links?|conflicts?) between (?P<a>.+?)"
        r" and (?P<b>.+)",
        re.I,
    ),
    re.compile(
        r"\bhow (?:do|does|did|is|are) (?P<a>.+?) (?:differ|different|compare[sd]?)(?: from| to| with) (?P<b>.+)", re.I
    ),
    re.compile(r"\bcompar(?:e|ing|ed) (?P<a>.+?) (?:with|to|and|against) (?P<b>.+)", re.I),
    re.compile(r"(?P<a>[^,;]+?) (?:vs\.?|versus|as opposed to|rather than|compared (?:to|with)) (?P<b>.+)", re.I),
)
_PREPOSITION: Final = re.compile(r"^(?P<head>.*\b(?:of|for|in|about|on|to|with|regarding|concerning|by|from))\s+", re.I)
_LEADING: Final = re.compile(
    rf"^(?:please\s+|so\s+|and\s+|tell me\s+|explain\s+|describe\s+)*(?:{_ASKING}\s+)*"
    r"(?:(?:the|an|a|there|it|we|i|you|one)\b)?\s*",
    re.I,
)
_DETERMINED: Final = re.compile(
    r"(?:the|an?|any|each|every|all|no|other|others|another|its|their|my|your|our|his|her|this|that|these|those|how|what"
    r"|when|where|why)\b",
    re.IGNORECASE,
)
"""What has an article or the like of its own shares no noun with what stands before."""
_INVERTED: Final = re.compile(
    r"\b(?:is|are|was|were|does|do|did|can|could|must|may|should|shall|will|would|has|have)"
    r" (?:I|you|we|they|he|she|one|it)\b"
)
_MEASURED: Final = re.compile(r"\bhow (?:long|many|much|often|far|soon|large|big|old)\b", re.I)
_VAGUE: Final = frozenset("stuff thing things something anything everything best good better bad nice etc".split())  # noqa: SIM905
_POINTING: Final = frozenset("it this that these those they them he she its their".split())  # noqa: SIM905
_TRAILING: Final = re.compile(
    r"\s+(?:says?|means?|requires?|contains?|appl(?:y|ies)|works?|needed|required|done|used|happen(?:s|ed)?)\Z", re.I
)
AROUND: Final = "what surrounds the matter"
"""Why a sub-query is asked that nobody asked: its words are not the person's."""
_FACETS: Final = ("definition of {}", "requirements for {}", "exceptions to {}", "scope of {}", "documentation of {}")


@dataclass(frozen=True, slots=True)
class SubQuery:
    text: str
    role: Role
    why: str


def plan_question(
    question: str, depth: Depth, grammar: Grammar, *, follows: bool = False, meant: Sequence[str] = ()
) -> dict[str, Any]:
    """The plan as `plan.json` has it. `follows`: there is an earlier answer, to which words may point. `meant` is what
    the person said when they were asked back; it comes first."""
    asked = tidy("\n".join([question, *meant]))
    said = (SubQuery(_capital(tidy(text).strip(" .?!")), "primary", "you said so") for text in meant)
    found = _bounded(chain(said, _sub_queries(asked, grammar)), depth.sub_queries)
    score, reasons, questions = clarity(asked, follows=follows)
    return {
        "clarity_score": score,
        "clarity_reasons": reasons,
        "clarifying_questions": questions,
        "recommended_action": "proceed" if score >= CLEAR else "clarify",
        "sub_queries": [
            {"id": f"q{number}", "text": one.text, "role": one.role, "why": one.why}
            for number, one in enumerate(found, start=1)
        ],
        "references": list(dict.fromkeys(reference.text for reference in grammar.find(asked))),
        "entities": names(asked),
    }


def is_asked(query: Mapping[str, Any]) -> bool:
    """Whether a sub-query wants an answer: context helps to find, and is none. What a first search found nothing about
    is asked all the same."""
    return query["role"] != "context" or bool(query.get("demoted"))


_BRIEF: Final = re.compile(r"\d+(?:\.\d+)*|(?<![\w-])-\w{1,2}(?![\w-])|\b(?![AI]\b)[A-Z]\b(?!['’])")


def terms_of(text: str) -> tuple[str, ...]:
    """What carries the sense of a sub-query, each once; numbers count, as `315.12` may be all there is, and so may an
    option (`-N`) and a capital letter by itself (`What is R?`)."""
    return tuple(dict.fromkeys([*words.terms(_MEASURED.sub("how", text)), *_BRIEF.findall(text)]))


# -- taking apart


def _sub_queries(asked: str, grammar: Grammar) -> Iterator[SubQuery]:
    sentences, items = _sentences(asked)
    questions = [one for one in sentences if _asks(one)] or sentences
    told = [one for one in sentences if one not in questions]
    parts = [_with_what_was_told(part, told) for one in questions for part in _parts(one)]
    several = len(parts) > 1
    for part in parts:
        yield SubQuery(part, "primary", "one of several questions" if several else "the question")
    for item in items:
        head = _topic(parts[-1]) if parts else ""
        short = f"{head}: {item}" if head and item not in head else item
        yield SubQuery(_capital(short), "primary", "an item of the question's list")
    for side in (side for part in parts for side in _sides(part)):
        yield SubQuery(side, "supporting", "one side of a comparison")
    for reference in dict.fromkeys(reference.text for reference in grammar.find(asked)):
        yield SubQuery(reference, "supporting", "the question names it")
    english = _is_english(asked)
    for item in (item for part in parts if english for item in _enumerated(part)):
        yield SubQuery(item, "supporting", "one of several things asked about")
    for statement in told:
        yield SubQuery(statement, "context", "said before the question")
    for name in names(asked):
        if len(name) > 3:
            yield SubQuery(name, "context", "a name in the question")
    if english and parts and not items and not grammar.find(asked):
        yield from _around(_topic(parts[0]))


_JOINING: Final = frozenset("a an and at by for from in of on or the to with".split())  # noqa: SIM905


def _around(topic: str) -> Iterator[SubQuery]:
    """Only around a thing: `the gate may be` is half a sentence, and has no definition."""
    said = words.word_list(topic)
    if 1 <= len(topic.split()) <= 5 and not {*said} & ((words.STOP | words.NEGATIONS) - _JOINING):
        for facet in _FACETS:
            yield SubQuery(facet.format(topic), "context", AROUND)


def _bounded(found: Iterator[SubQuery], limit: int) -> list[SubQuery]:
    kept: list[SubQuery] = []
    seen: list[set[str]] = []
    for one in found:
        terms = set(terms_of(one.text))
        if len(kept) >= limit:
            break
        if not terms or any(len(terms & other) >= ALIKE * max(len(terms), len(other)) for other in seen):
            continue
        kept.append(one)
        seen.append(terms)
    return kept


def tidy(question: str) -> str:
    cut = question[:QUESTION_LIMIT]
    return "\n".join(line for line in (" ".join(line.split()) for line in cut.splitlines()) if line)


def _sentences(asked: str) -> tuple[list[str], list[str]]:
    """Its sentences, and the items of a list in it."""
    sentences: list[str] = []
    items: list[str] = []
    for line in asked.splitlines():
        if _MARK.match(line) and sentences:
            items.append(_MARK.sub("", line).rstrip(" ,;.?"))
            continue
        head, *inline = _INLINE_MARK.split(line)
        if len(inline) >= 2:
            items += [item.rstrip(" ,;.?") for item in inline]
            line = " ".join([head.rstrip(" :,"), *inline])
        sentences += [part.strip(" :") for part in split(line) if part.strip(" :")]
    return sentences, [item for item in items if item]


def _asks(sentence: str) -> bool:
    return sentence.endswith("?") or re.match(rf"{_ASKING}\b", sentence, re.I) is not None


def _parts(sentence: str) -> list[str]:
    found = [part.strip(" ,;?.!") for part in _JOINT.split(sentence)]
    return [_capital(part) for part in found if len(terms_of(part)) >= 1]


def _sides(part: str) -> Iterator[str]:
    for pattern in _COMPARING:
        if match := pattern.search(part):
            for side in _with_one_noun(match["a"], match["b"].strip(" ,;?.")):
                text = _LEADING.sub("", side.strip(" ,;?.")).strip()
                if terms_of(text) and len(text) > 1:  # `R` alone asks nothing
                    yield _capital(text)
            return


def _with_one_noun(one: str, other: str) -> tuple[str, str]:
    """`the spring and neap tides` are spring tides and neap tides: two adjectives under one article."""
    found = re.fullmatch(r"the (?P<own>[\w-]*[^\Ws])", one, re.I)
    words_of_other = other.split()
    if not found or not 1 < len(words_of_other) <= 4 or not re.search(r"[^s]s\Z", other) or _DETERMINED.match(other):
        return one, other
    return " ".join((found["own"], *words_of_other[1:])), other


def _enumerated(part: str) -> Iterator[str]:
    """`the rules for A, B and C`: the rules for A, the rules for B, the rules for C."""
    if next(_sides(part), None) is not None:
        return
    pieces = [piece.strip() for piece in re.split(r",\s*(?:and\s+|or\s+)?|\s+and\s+|\s+or\s+", part) if piece.strip()]
    if not 2 <= len(pieces) <= 8 or any(len(piece.split()) > 8 for piece in pieces[1:]):
        return
    found = _PREPOSITION.match(pieces[0])
    head = found["head"] if found else ""
    first = pieces[0][found.end() :] if found else ""
    if not head or not first:
        return
    head = _LEADING.sub("", head).strip()
    if _INVERTED.search(f"{head} {first}"):
        return  # `Which kind of name should I give, A or B`: there is no kind of name A
    for piece in (first, *pieces[1:]):
        yield _capital(f"{head} {piece}")


def _topic(part: str) -> str:
    """What a question is about: its words without those that ask."""
    topic = _TRAILING.sub("", _LEADING.sub("", part).strip(" ?.:"))
    return topic if terms_of(topic) and not _POINTING.intersection(words.word_list(topic)) else ""


def _with_what_was_told(part: str, told: list[str]) -> str:
    """`How must I name it` after `I maintain a shared library` is about a shared library, and so is `Which name
    is best`: what a person says first is what the question is about."""
    return f"{part} ({told[-1].strip(' .!')})" if told else part


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]


def _is_english(text: str) -> bool:
    found = words.word_list(text)
    return text.isascii() and any(word in words.STOP for word in found)


# -- how clear it is


def clarity(asked: str, *, follows: bool = False) -> tuple[float, list[str], list[str]]:
    """From 1 down, each reason with what it takes off, and what one would ask back."""
    found = words.word_list(asked)
    terms = terms_of(asked)
    named = bool(names(asked))
    taken: list[tuple[float, str, str]] = []
    if not terms:
        taken.append((0.8, "no word says what it is about", "What is it about?"))
    elif len(terms) <= 2 and not named and not any(term[0].isdigit() for term in terms):
        taken.append((0.25, "few words say what it is about", "Which side of it: what it is, who must, when, how?"))
    pointing = [word for word in found[:6] if word in _POINTING]
    if pointing and not follows and len(terms) <= 3:
        taken.append((0.2, f"“{pointing[0]}” points at something that was not said", f"What is “{pointing[0]}”?"))
    if vague := [word for word in found if word in _VAGUE]:
        taken.append((0.15, f"“{vague[0]}” can mean much", f"What makes it “{vague[0]}” for you?"))
    if len(found) > 80:
        taken.append((0.15, "it is long, and may ask several things", "Which part matters most?"))
    score = round(max(0.0, 1.0 - sum(amount for amount, _, _ in taken)), 2)
    return score, [reason for _, reason, _ in taken], [question for _, _, question in taken]
