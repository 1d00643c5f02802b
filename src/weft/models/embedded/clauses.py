"""Making a sentence shorter without making it say something else.

Words are only ever left out, and only where what is left stands by itself: an opening `However,`, a part in brackets,
an aside at the end. A part that limits what is said before (`unless`, `but`, `not`) is never left out. What can't be
made short enough is refused; the caller takes another sentence.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

from weft.models.embedded.languages import Language
from weft.models.embedded.languages.language import words as word_set
from weft.models.embedded.words import tokens

_BRACKETS: Final = re.compile(r"\s*(?:\([^()]*\)|\[[^\[\]]*\])(?=[\s,.;:!?]|$)")
_DASHED: Final = re.compile(r"\s+[—–]\s+[^—–]{3,120}?\s+[—–]\s+")
_STOPS: Final = " .。।۔;；,，、:："
_LEAST: Final = 4
"""The fewest words that can stand by themselves."""
_WITHOUT_COMMA: Final = word_set("""
but and yet or aber und doch mais et pero y ma e mas maar en но и однако لكن ولكن लेकिन और
""")
_NO_CONTRAST: Final = re.compile(
    r"\b(?:not only|nothing|anything|all|none|no choice|never|nicht nur|non seulement|no sólo|no solo)\W*$"
)
_NO_CAUSE: Final = re.compile(
    r"\b(?:not|just|only|simply|solely|merely|precisely|nicht|nur|pas|no|solo|partly|mainly|largely|,)\s*$"
)
_CLAUSES: Final = word_set("""
if unless when whether that who which wenn falls ob dass si que cuando quand se che quando als dat если что
""")
_VERBAL: Final = word_set("is are was were be has have had can could may might must will would should do does did")
_SUBJECTS: Final = word_set("""
i you he she it we they nobody none someone everyone everything nothing something that this these those there one
most all some many others both each few
""")
_ADVERBS: Final = word_set("""
also still even only then later never not often just rather perhaps always mostly auch nicht noch nur dann sogar immer
aussi encore pas seulement también no solo todavía anche non solo ancora também não ainda ook niet nog
""")
_CUT_OFF: Final = _VERBAL | word_set(
    "not isn't aren't wasn't weren't don't doesn't didn't can't won't hasn't haven't nicht pas"
)
_LEAD_IN: Final = re.compile(r"^[^,]{3,90},\s+")
_SUBORDINATE: Final = word_set("""
when while if although though because since after before as once until unless whenever where whereas despite by
with without to in on at for from during through given under over wenn als obwohl weil nachdem bevor während
seit falls nach bei mit ohne durch quand lorsque si comme puisque après avant depuis pendant malgré sans dans
cuando si aunque porque como después antes desde durante sin con en which who that whose and or but than not
""")


def finished(text: str) -> str:
    """With a stop at the end, of the kind its script has."""
    text = text.rstrip(" ,;:،；，、")
    if not text or re.search(r"[.!?…。！？؟।｡][\"'”’»›)\]』」）]*$", text):
        return text
    if re.search(r"[\u3040-\u30ff\u4e00-\u9fff]$", text):
        return text + "。"
    return text + ("।" if re.search(r"[\u0900-\u097f]$", text) else ".")


def unfinished(text: str) -> str:
    """Without the stop: for titles and for the middle of a sentence."""
    return text.rstrip(_STOPS) or text


def capital(text: str) -> str:
    return text[:1].upper() + text[1:] if text[:1].islower() and text[:2].lower() == text[:2] else text


@lru_cache(maxsize=32)
def _opening(language: Language) -> re.Pattern[str]:
    longest = sorted(language.openers, key=lambda opener: (-len(opener), opener))
    return re.compile(rf"^(?:{'|'.join(map(re.escape, longest))})(?P<comma>\s*[,،、:]|\s+[—–-])?\s+", re.I)


def without_opener(text: str, language: Language) -> str:
    """Without the words that only tie it to the sentence before."""
    for _ in range(2):
        if not language.openers:
            break
        match = _opening(language).match(text)
        if match is None:
            break
        opener = match.group().strip(" ,،、:—–-").lower()
        if not match.group("comma") and opener not in _WITHOUT_COMMA:
            break
        rest = text[match.end() :]
        if len(rest.split()) < _LEAST:
            break
        text = capital(rest)
    return text


def shortened(text: str, limit: int, language: Language) -> str:
    """At most `limit` characters, or "" when that can't be done in good faith."""
    text = without_opener(text, language)
    if len(text) <= limit:
        return text
    for pattern, put in ((_BRACKETS, ""), (_DASHED, " "), (_relative(language), " ")):
        text = pattern.sub(put, text) if _harmless(pattern.findall(text), language) else text
        if len(text) <= limit:
            return text
    for cut in reversed(list(_asides(language).finditer(text))):
        head, tail = text[: cut.start()], text[cut.start() :]
        if len(head.split()) < _LEAST + 1 or not language.limits.isdisjoint(tokens(tail, language.code)):
            continue
        if len(head) < limit and _stands(head, language):
            return finished(head)
    return ""


@lru_cache(maxsize=32)
def _relative(language: Language) -> re.Pattern[str]:
    """A clause between commas that only adds something: `the operator, which has run it since 1998, says`."""
    marks = {"en": "which|who|whose", "de": "der|die|das|dessen|deren", "fr": "qui|dont", "es": "que|cuyo|cuya"}
    found = marks.get(language.code)
    return re.compile(rf",\s(?:{found})\s[^,;:.]{{8,90}},\s" if found else "(?!)")


def _harmless(parts: list[str], language: Language) -> bool:
    return all(language.limits.isdisjoint(tokens(part, language.code)) for part in parts)


@lru_cache(maxsize=32)
def _asides(language: Language) -> re.Pattern[str]:
    marks = "|".join(sorted(map(re.escape, language.asides), key=lambda mark: (-len(mark), mark))) or "(?!)"
    return re.compile(rf"[;；]\s|\s+[—–]\s+|,\s+(?:{marks})\s", re.I)


def _stands(text: str, language: Language) -> bool:
    """Whether it can be a sentence: it has a verb, where verbs are known, and closes what it opens."""
    if not balanced(text):
        return False
    if not language.verbs:
        return True
    found = tokens(text, language.code)
    finite = language.code != "en"
    if any(word in language.verbs and (finite or not word.endswith("ing")) for word in found[1:]):
        return True
    # Only the English list is long enough for its silence to mean something.
    return any(word.endswith("ed") for word in found[1:]) if language.code == "en" else len(found) > _LEAST


def main_clause(text: str, limit: int, language: Language) -> str:
    """The part of a sentence that says the most in the fewest words, as a title; "" when there is none that stands."""
    whole = unfinished(shortened(text, limit + 1, language))
    # Words were left out of it: what is left has to prove that it stands. A whole sentence has nothing to prove.
    sure = len(whole) >= len(unfinished(without_opener(text, language))) and re.search(r"[.!?…][\"'”’»)]*$", text)
    enough = not language.spaced or len(whole.split()) >= _LEAST
    if whole and enough and len(whole) <= limit and (sure or _stands(whole, language)) and balanced(whole):
        return whole
    plain = without_opener(text, language)
    aside = _relative(language)
    if _harmless(aside.findall(plain), language):
        plain = aside.sub(" ", plain)
    shorter = _without_tail(plain, limit, language)
    if shorter:
        return shorter
    head = text.partition(": ")[0]
    if (
        head != text
        and len(head) <= limit
        and len(head.split()) >= _LEAST
        and _stands(head, language)
        and balanced(head)
    ):
        return without_opener(head, language)
    reason = halves(text, language.because, language, cause=True)
    if reason and len(reason[0]) <= limit and len(reason[0].split()) >= _LEAST:
        return unfinished(without_opener(reason[0], language))
    bare = without_opener(text, language)
    lead = _LEAD_IN.match(bare)
    first = tokens(bare, language.code)[:1]
    if lead and first and first[0] in _SUBORDINATE and language.limits.isdisjoint(tokens(lead.group(), language.code)):
        rest = unfinished(shortened(capital(bare[lead.end() :]), limit + 1, language))
        if tokens(rest, language.code)[:1] and tokens(rest, language.code)[0] in language.leaning:
            return ""
        if rest and len(rest) <= limit and len(rest.split()) >= _LEAST and _stands(rest, language) and balanced(rest):
            return rest
    return ""


_TAILS: Final = {
    "en": re.compile(r",? (?:and (?=[a-z']+)|after (?=(?:a|an|the|its|their|it|they)\b)|while (?=the|they|it))"),
    "de": re.compile(r",? (?:und (?=\w+t\b)|nachdem |während )"),
    "fr": re.compile(r",? (?:et (?=\w+)|après que |depuis que )"),
    "es": re.compile(r",? (?:y (?=\w+)|después de que |desde que )"),
}


_MEASURED: Final = word_set("""
long soon shortly even just only right minutes hours days weeks months years minute hour day week month year
""")
"""`Long after it has gone` is one thing; so is `two years after the flood`."""


def _without_tail(text: str, limit: int, language: Language) -> str:
    """Without the second half of a predicate or a clause that only says when: the longest part that stands."""
    pattern = _TAILS.get(language.code)
    for cut in reversed(list(pattern.finditer(text))) if pattern else ():
        head, tail = text[: cut.start()], text[cut.end() :]
        if len(head) > limit or len(head.split()) < _LEAST + 1:
            continue
        if tokens(head, language.code)[-1] in _MEASURED:
            continue
        follows = tokens(tail, language.code)[:1]
        joined = cut.group().strip(" ,") in ("and", "und", "et", "y")
        if joined and not (follows and follows[0] in language.verbs):
            continue
        if not language.limits.isdisjoint(tokens(tail, language.code)) or "," in head[-40:]:
            continue
        if _stands(head, language) and balanced(head):
            return unfinished(head)
    return ""


def clause_within(text: str, limit: int) -> str:
    """The first clauses of a sentence in a script without spaces, as many as fit."""
    parts = re.split(r"(?<=[，、；,;])", unfinished(text))
    kept = ""
    for part in parts:
        if len(kept) + len(part) > limit:
            break
        kept += part
    return kept.strip("，、；,; ")


def condition(text: str, limit: int, language: Language) -> str:
    """The clause a sentence begins with, `If the tenant owes two months' rent`: a title that asserts nothing."""
    lead = _LEAD_IN.match(text)
    first = tokens(text, language.code)[:1]
    if not lead or not first or first[0] not in _SUBORDINATE:
        return ""
    clause = lead.group().rstrip(" ,")
    return clause if len(clause.split()) > _LEAST and len(clause) <= limit and balanced(clause) else ""


def balanced(text: str) -> bool:
    """Whether it closes every bracket and every quotation mark that it opens."""
    if any(text.count(one) != text.count(other) for one, other in ("()", "[]", "«»", "「」", "『』")):
        return False
    low = text.count("„")
    if low:
        # „…“, „…” and, by careless typists, „…".
        return low == text.count("“") + text.count("”") + text.count('"')
    return text.count('"') % 2 == 0 and text.count("“") == text.count("”")


def halves(text: str, conjunctions: tuple[str, ...], language: Language, *, cause: bool) -> tuple[str, str, str] | None:
    """What stands before and behind a conjunction, and the conjunction; each half can stand by itself."""
    if not conjunctions or "?" in text:
        return None
    for match in _conjunction(conjunctions, language.spaced).finditer(text):
        left, right = text[: match.start()], text[match.end() :]
        if (_NO_CAUSE if cause else _NO_CONTRAST).search(left.lower().rstrip(", ") + (" " if cause else "")):
            continue
        first = tokens(left, language.code)[:1]
        lead_in = bool(first) and first[0] in _SUBORDINATE
        if cause and not _CLAUSES.isdisjoint(tokens(left, language.code)):
            # The reason may belong to the clause inside and not to the whole.
            continue
        if lead_in or _is_scrap(left, right, language) or not (balanced(left) and balanced(right)):
            continue
        if not cause and tokens(right, language.code)[-1:] and tokens(right, language.code)[-1] in _CUT_OFF:
            # `but the valve is not`: the rest of it stands before the conjunction.
            continue
        if _stands(left, language) and (cause or (_stands(f"x {right}", language) and _has_subject(right, language))):
            return left.rstrip(" ,;—–"), right.strip(), match.group("word")
    return None


def _has_subject(right: str, language: Language) -> bool:
    """Whether it does not go straight on with the verb of what stands before: `but might need more`."""
    if not language.spaced:
        return True
    first, second = (*tokens(right, language.code)[:2], "", "")[:2]
    if first in _ADVERBS and second not in _SUBJECTS:
        # `but also renders a column`, `aber auch auf never gesetzt werden`
        return False
    if language.code == "en":
        if first in language.verbs or (first in language.function and second in _VERBAL and first not in _SUBJECTS):
            return False
        adverb = first in language.weak or (first in language.function and first not in _SUBJECTS)
        return not (adverb and second in language.verbs)
    return first in language.function or not right[:1].islower()


def _is_scrap(left: str, right: str, language: Language) -> bool:
    if not language.spaced:
        return len(left) < 6 or len(right) < 5
    return len(left.split()) < _LEAST or len(right.split()) < 3


def is_command(text: str, language: Language) -> bool:
    """Whether it tells somebody to do something, and so states nothing that could be explained or doubted."""
    first = tokens(text, language.code)[:1]
    return bool(first) and first[0] in language.commands


@lru_cache(maxsize=64)
def _conjunction(conjunctions: tuple[str, ...], spaced: bool) -> re.Pattern[str]:
    longest = sorted(conjunctions, key=lambda word: (-len(word), word))
    if not spaced:
        return re.compile(rf"[，,；;]\s*(?P<word>{'|'.join(map(re.escape, longest))})[，,]?")
    return re.compile(rf"(?:[,;،]|\s[—–])?\s(?P<word>{'|'.join(map(re.escape, longest))})\s", re.I)
