"""Where sentences end, with their places in the text.

A stop ends a sentence unless something speaks against it: an abbreviation, an initial, a number that goes on, a small
letter behind it, a quotation that goes on, a closing quotation mark with `she said` behind it. A blank line and the
mark of a list end one; another line break only where the line could have gone on: short lines that were meant as lines.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Final, Protocol

GAP: Final = "\0"
"""What a reader of mark-up leaves where it took something out, so that places stay what they are."""
UNSPACED_LETTERS: Final = (
    "\u0e01-\u0e3a\u0e40-\u0e4e\u0e81-\u0eb9\u0ec0-\u0ecd\u1000-\u109f\u1780-\u17d3\u3005-\u3007\u3041-\u3096\u309d-\u309f"
    "\u30a1-\u30fa\u30fc-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\uff66-\uff9f\U00020000-\U0003ffff"
)
"""Of scripts that put no spaces between words, for a class of a regular expression."""
QUOTATION_LIMIT: Final = 300
"""What is longer, in characters, is a speech with sentences of its own."""

_UNSPACED: Final = re.compile(f"[{UNSPACED_LETTERS}]")
_CLOSERS: Final = "\"'”’»›)\\]』」）〉》】"
_END: Final = re.compile(rf"[.!?…。！？｡؟۔।॥]+[{_CLOSERS}*_{GAP}]*")
_GUILLEMET: Final = re.compile(rf"[.!?…]+(?:[ \u00a0\u202f]?»)?[{_CLOSERS}*_{GAP}]*")
"""Where a closing » has a space before it; elsewhere it opens."""
_FULL: Final = "。！？｡।॥"
_BEFORE: Final = re.compile(r"([^\s(\[\"'“‘«„]+)$")
_NEXT: Final = re.compile(rf"[\s{GAP}\"'“‘«„(\[¿¡—–*_-]*(\S)?(\w*)")
_FIRST_LETTER: Final = re.compile(r"[^\W\d_]")
_WORDS_BEHIND: Final = re.compile(r"[\w'’]+")
_LABEL: Final = re.compile(r"\s*[^\W\d_a-z][\w'’]*(?: [\w'’]+){0,2}:\s+\S")
"""`Present: …`, line by line: a form, not prose that goes on."""
_PARTED: Final = re.compile(r"\n[ \t]*\n\s*|\n(?=[ \t]*(?:[-*•+]|\(\w{1,4}\)|\d{1,3}[.)])[ \t])")
_SURE: Final = re.compile(
    r"(?:The|This|That|These|Those|It|He|She|We|They|I|In|On|At|But|And|For|When|If|As|After|There"
    r"|However|Unfortunately|Fortunately|Although|While|His|Her|Its|Their|Then|Since|Both|Later"
    r"|Every|Everyone|Everything|Everybody|Each|Either|Neither|Nobody|Nothing|None|Some|Many|Most|All|Another|Such"
    r"|What|Who|Where|Why|How|Which|You|My|Our|Your|From|With|By|During|Before|Because|Until|Once|Here|Now|Nor|Yet)$"
)
_SURE_IN_GERMAN: Final = re.compile(
    r"(?:D(?:er|ie|as|ies\w*|ann|ort|och|abei|afür)|Eine?|Es|Er|Sie|Wir|Ich|I[nm]|A[nm]|Auf|Bei|Und|Aber|Jede[rs]?"
    r"|Alle|Auch|Heute|Seit|Nach|Mit|Für|Von|Zu[mr]?|Wenn|Als|So|Wer|Was|Wie|Nur|Manche|Viele|Niemand|Ob)$"
)
_QUOTATIONS: Final = tuple(
    re.compile(pattern, re.S)
    for pattern in (
        rf"“[^“”]{{1,{QUOTATION_LIMIT}}}”",
        rf"„[^„“”]{{1,{QUOTATION_LIMIT}}}[“”]",
        rf"«[^«»]{{1,{QUOTATION_LIMIT}}}»",
        rf"「[^「」]{{1,{QUOTATION_LIMIT}}}」",
        rf"(?<!`)`[^`\n]{{1,{QUOTATION_LIMIT}}}`(?!`)",
        rf"(?<![\w\"])\"(?=\S)[^\"]{{1,{QUOTATION_LIMIT}}}(?<=\S)\"(?!\w)",
        rf"(?<!\w)‘(?=\S)[^‘\n]{{1,{QUOTATION_LIMIT}}}?(?<=[.,!?…])’(?!\w)",
        rf"(?<![\w'])'(?=\S)[^\n]{{1,{QUOTATION_LIMIT}}}?(?<=[.,!?…])'(?!\w)",
    )
)


def words(text: str) -> frozenset[str]:
    return frozenset(text.split())


class SentenceMarks(Protocol):
    """What must be known of a language to tell where its sentences end."""

    @property
    def code(self) -> str: ...
    @property
    def abbreviations(self) -> frozenset[str]:
        """In small letters, without the last stop."""

    @property
    def saying(self) -> frozenset[str]:
        """Verbs that tie a quotation to who spoke it."""


@dataclass(frozen=True, slots=True)
class _Marks:
    code: str
    abbreviations: frozenset[str]
    saying: frozenset[str]


ENGLISH: Final = _Marks(
    code="en",
    abbreviations=words("""
        mr mrs ms dr prof sr jr st rev gen col capt lt sgt hon pres gov sen rep vs etc inc ltd co corp dept univ
        assn bros no nos vol vols pp p fig figs eq eqs ch sec al cf ca approx est ed eds jan feb mar apr jun jul
        aug sep sept oct nov dec mon tue tues wed thu thur fri sat sun ave blvd rd mt ft min max resp incl ie eg
        i.e e.g a.m p.m u.s u.k u.n e.u ph.d m.d b.a m.a d.c viz op cit n.b art arts para paras"""),
    saying=words("""
        said says say told tells asked asks added adds wrote writes argued argues explained explains replied
        answered noted notes recalled recalls admitted admits insisted insists warned warns claimed claims
        stated states observed remarked whispered shouted cried continued concluded concludes announced declared
        believes thinks thought remembers confirmed suggested suggests joked"""),
)
_BEFORE_NUMBERS: Final = words("""
no nos vol vols p pp fig figs eq eqs ch sec art arts para paras nr bd núm pág págs blz стр рис табл
""")
_AT_THE_END: Final = words("""
etc inc ltd co corp bros dept univ jr sr al a.m p.m u.s u.k u.n e.u d.c ph.d m.d b.a m.a usw ecc enz min ft ave blvd rd
jan feb mar apr jun jul aug sep sept oct nov dec mon tue tues wed thu thur fri sat sun
""")


def sentences(text: str, marks: SentenceMarks = ENGLISH) -> list[str]:
    """The sentences of a text, each on one line."""
    return [" ".join(text[start:end].split()) for start, end in sentence_spans(text, marks=marks)]


def sentence_spans(
    text: str, start: int = 0, end: int | None = None, marks: SentenceMarks = ENGLISH
) -> list[tuple[int, int]]:
    """The places of the sentences in `text[start:end]`, without the white space around them."""
    end = len(text) if end is None else end
    found: list[tuple[int, int]] = []
    # Where nothing has a capital, a small letter behind a stop proves nothing.
    first = _FIRST_LETTER.search(text, start, end)
    small = first is not None and first.group().islower()
    stops = _GUILLEMET if marks.code == "fr" else _END
    for low, high in _lines(text, start, end):
        position = low
        inside = _quotations(text, low, high)
        for match in stops.finditer(text, low, high):
            if any(opened < match.start() and match.end() < closed for opened, closed in inside):
                continue
            if match.start() >= position and _ends(text, match, high, marks, small=small):
                found.append((position, match.end()))
                position = match.end()
        found.append((position, high))
    placed = (trim(text, low, high) for low, high in found)
    return [(low, high) for low, high in placed if low < high]


def trim(text: str, low: int, high: int) -> tuple[int, int]:
    while low < high and (text[low].isspace() or text[low] == GAP):
        low += 1
    while high > low and (text[high - 1].isspace() or text[high - 1] == GAP):
        high -= 1
    return low, high


def _quotations(text: str, low: int, high: int) -> list[tuple[int, int]]:
    """Where a quotation with a stop inside stands, marks included."""
    return [match.span() for pattern in _QUOTATIONS for match in pattern.finditer(text, low, high)]


def _ends(text: str, match: re.Match[str], high: int, marks: SentenceMarks, *, small: bool) -> bool:
    stop, after = match.group(), match.end()
    closed = len(stop.rstrip(GAP + "*_")) > 1 and stop.rstrip(GAP + "*_")[-1] in "\"'”’»›』」）〉》】)]"
    following = text[after : after + 1]
    if stop[0] in _FULL:
        return not (closed and following in "と，、,的")
    if after >= high:
        return True
    if following and not following.isspace() and not _UNSPACED.match(following):
        return False
    behind = _NEXT.match(text, after, high)
    letter = behind.group(1) or "" if behind else ""
    word = letter + (behind.group(2) if behind else "")
    if letter.islower() and not small:
        # A mark with spaces on both sides is one that is written about: `a ! behind the name`.
        return stop[0] in "!?" and not closed and not text[match.start() - 1 : match.start()].isspace()
    if closed and _is_attribution(text, after, high, marks):
        return False
    if stop[0] == "." and not stop.startswith("..."):
        return _stop_ends(text, match.start(), word, marks)
    return True


def _stop_ends(text: str, at: int, following: str, marks: SentenceMarks) -> bool:
    before = _BEFORE.search(text, max(0, at - 30), at)
    if before is None:
        return True
    word = before.group(1).strip(GAP + "*_")
    small = word.lower()
    if len(word) == 1 and word.isalpha():
        # An initial, or the end of `vitamin C.`: only a word that can't be a surname decides for the end.
        # What a line begins with is its mark: `b. The answer`; and `v.` stands between two parties.
        marks_line = not text[text.rfind("\n", 0, at) + 1 : at].rstrip(GAP + "*_")[:-1].strip(" \t" + GAP)
        return bool(_SURE.match(following)) and word not in "IAv" and not marks_line
    if small in _BEFORE_NUMBERS:
        return not following[:1].isdigit()
    if small in marks.abbreviations or small.rstrip(".") in marks.abbreviations:
        return small in _AT_THE_END and bool(_SURE.match(following))
    if re.fullmatch(r"\d+[.,]\d+", word):
        # `uses 0.6. Everything else is wasted.`
        return following[:1].isupper()
    if "." in word and len(word) <= 6 and all(len(part) <= 2 for part in word.split(".")):
        return bool(_SURE.match(following)) or marks.code not in ("en", "und")
    if word.isdigit() and len(word) <= 2 and marks.code in ("de", "da", "no", "cs", "sl", "hr", "fi", "hu"):
        # `Der 31. Mai` goes on; `… waren es 31. Jedes Jahr …` does not.
        return following[:1].isdigit() or (marks.code == "de" and _SURE_IN_GERMAN.match(following) is not None)
    return not (small == "al" and following[:1].isupper() is False)


def _is_attribution(text: str, after: int, high: int, marks: SentenceMarks) -> bool:
    """Whether `she said` or `said Anna Berg` stands behind a closing quotation mark."""
    behind = _WORDS_BEHIND.findall(text[after : min(high, after + 60)].replace(GAP, ""))[:4]
    if not behind or marks.code == "und":
        return False
    return any(word.lower() in marks.saying for word in behind[:3])


def _lines(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    low = start
    for match in _PARTED.finditer(text, start, end):
        yield from _meant_lines(text, low, match.start())
        low = match.end()
    yield from _meant_lines(text, low, end)


def _meant_lines(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """Parts between line breaks that were made on purpose: the next word would have had room."""
    lines = text[start:end].split("\n")
    if len(lines) == 1:
        yield start, end
        return
    # The address of a link is masked and takes no room.
    seen = [len(line.replace(GAP, "").rstrip()) for line in lines]
    width = max(seen)
    low = position = start
    for (line, following), size in zip(pairwise(lines), seen, strict=False):
        position += len(line) + 1
        first = following.split(None, 1)[0] if following.strip() else ""
        room = size + 1 + len(first) <= 0.8 * width
        fresh = not first.strip("\"'“‘«(*_" + GAP)[:1].islower()
        if first and fresh and (room or (_LABEL.match(following) and _LABEL.match(line))):
            yield low, position - 1
            low = position
    yield low, end
