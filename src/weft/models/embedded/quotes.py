"""What is worth quoting: words in quotation marks and turns of a talk, with who said them.

A speaker is named only where a verb of saying or a label ties the name to these words: `"…," said Ann Berg`,
`Ann Berg, the mayor, says: "…"`, `ANN: …`. `She said` names nobody, unless it goes on in the same paragraph from words
that were tied to one person. A sentence about somebody is not theirs.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any, Final

from weft.language.sentences import GAP
from weft.models.embedded.kind_parts import asked_in_turn
from weft.models.embedded.layout import Span
from weft.models.embedded.lexicon import Lexicon, sign_words
from weft.models.embedded.ranking import Ranks, likeness
from weft.models.embedded.reading import Reading, Sentence, asks_listeners, clean, is_titled
from weft.models.embedded.speaker_turns import clock
from weft.models.embedded.words import tokens
from weft.protocol.values import dataclass

_STYLES: Final = ("“”", "„“", "„”", "«»", "»«", "「」", "『』", "‹›")


def _between(opening: str, closing: str) -> str:
    inner = f"[^{re.escape(opening + closing)}]"
    return rf"{re.escape(opening)}({inner}{{4,700}}?){re.escape(closing)}"


_MARKED: Final = re.compile("|".join([*(_between(*style) for style in _STYLES), r"(?<!\w)\"(\S[^\"]{4,700}?)\"(?!\w)"]))
_UPPER: Final = "[A-ZÀ-ÖØ-ÞŁŠŽĆČ]"
_WORD: Final = rf"(?:{_UPPER}\w{{0,2}}\.\s+)*{_UPPER}[\w'’\-]+"
_NAME: Final = rf"{_WORD}(?:\s+(?:de|da|del|la|van|von|der|den|bin|al|du)\b){{0,2}}(?:\s+{_WORD}){{0,3}}"
_PRONOUN: Final = re.compile(
    r"^[\s,.—–-]*(?:(?:\w+)\s+(?:he|she|they|er|sie|il|elle|él|ella)|(?:he|she|they|er|sie|il|elle|él|ella)\s+\w+)\b",
    re.I,
)
_PRONOUNS: Final = sign_words("persons")
_ACTING: Final = re.compile(rf"(?P<name>{_NAME}),?\s+(?P<next>[a-zà-ÿ][\w'’-]*)")
_MARK_SIGNS: Final = '"“”„«»「」『』‹›,，、، \u00a0\u202f'
_CUT_NAME: Final = re.compile(
    rf"\s+(?:and|und|et|y|for|of|für|pour)\s+{_UPPER}[\w'’-]+(?:\s+{_UPPER}|\s+[a-z]+\s+{_UPPER})"
)
_NOT_OF: Final = (
    r"(?!(?:from|in|at|for|of|with|near|to|by|on|off|outside|who|whose|aus|bei|von|vom|für|mit|de|du|des|à|en|pour|del|para"
    r"|con)\b)"
)
"""`said a doctor from Hebron` names where somebody is from, `said a friend of Ann Berg` who they belong to."""
_OFFICE_BEHIND: Final = re.compile(rf"\s+([a-z]+)(?:\s+[a-z]+){{0,4}}\s+{_UPPER}")
_SMALL_BEHIND: Final = re.compile(r"\s+[a-z]{4,}")
"""`says CNN meteorologist`: somebody of theirs."""
_HEADS: Final = sign_words("heads")
"""`said England director of cricket Andrew Strauss`."""
_LEAST: Final = 5
"""Words: fewer are a title or a term."""
_ASKED: Final = sign_words("asked")
"""What questions and answers are marked by: it names nobody."""
_SEARCHING: Final = sign_words("hesitates")
_PAUSED: Final = re.compile(r"…|\.\.\.")
_POINTED: Final = sign_words("pointed")


@dataclass(frozen=True, slots=True)
class Quote:
    text: str
    span: Span
    speaker: str
    sentence: int
    """The number of the sentence it stands in."""


def spoken_quotes(reading: Reading) -> list[Quote]:
    """Everything in quotation marks that is somebody's words, in the order of the text."""
    starts = [sentence.start for sentence in reading.sentences]
    found: list[Quote] = []
    plain = reading.layout.plain
    for block in reading.layout.blocks:
        if block.kind not in ("prose", "item"):
            continue
        inside = plain[block.start : block.end]
        speaker, behind = "", 0
        for low, high in _marked(inside):
            said = clean(inside[low:high])
            at = bisect_right(starts, block.start + low) - 1
            if len(said.split()) < _LEAST or said.istitle() or is_titled(said, reading.known):
                continue
            tied = _speaker(inside, low, high, reading.known)
            if not tied and speaker and _goes_on(inside, (behind, low, high), speaker, reading.known):
                tied = speaker
            speaker, behind = tied, high
            if tied or _is_speech(said):
                place = (block.start + low, block.start + high)
                found.append(Quote(said, place, tied, at))
    return found


def _marked(inside: str) -> Iterator[Span]:
    for match in _MARKED.finditer(inside):
        low, high = match.span(match.lastindex or 0)
        while high > low and (inside[high - 1] in ",，、، \u00a0\u202f" or inside[high - 1].isspace()):
            high -= 1
        while low < high and inside[low].isspace():
            low += 1
        yield low, high


def _is_speech(said: str) -> bool:
    """Whether words that nobody is named for are a sentence, and not a term or a message of a program."""
    return said[:1].isupper() and len(said.split()) > _LEAST and said[-1] in ".!?…"


@lru_cache(maxsize=32)
def _patterns(known: Lexicon) -> tuple[tuple[re.Pattern[str], ...], tuple[re.Pattern[str], ...]]:
    """How a name is tied to words before it, and to words behind it."""
    if not known.saying:
        return (), ()
    verbs = "|".join(sorted(map(re.escape, known.saying), key=lambda verb: (-len(verb), verb)))
    titles = "|".join(sorted(map(re.escape, known.titles), key=lambda one: (-len(one), one))) or "(?!)"
    # What stands before a name is no part of it; of the White House it is.
    last = rf"{_NOT_OF}{'[a-zà-ÿ]' if known.cased else ''}[\w-]+"
    office = (
        rf"(?:(?i:the|der|die|le|la|el|une?|a|an|its|their|\w+['’]s)\s+"
        rf"(?:(?:[\w-]+\s+){{0,3}}{last},|(?:{_NOT_OF}[\w-]+\s+){{0,3}}{last})\s+|(?i:{titles})\.?\s+)?"
    )
    aside = r"(?:,[^,.\"“”„«»]{2,80},)?"
    verb = rf"(?i:\b(?:{verbs})\b)"
    behind = (
        re.compile(rf"^[,.\s—–-]*{verb}(?:-(?:t-)?(?:il|elle))?\s+{office}(?P<name>{_NAME})"),
        re.compile(rf"^[,.\s—–-]*{office}(?P<name>{_NAME}){aside}\s+(?:\w+ly\s+|has\s+|hat\s+|a\s+)?{verb}"),
        re.compile(rf"^\s*[—–-]{{1,2}}\s*(?P<name>{_UPPER}[\w'’-]+(?:\s{_UPPER}[\w.'’-]*){{0,3}})\s*$"),
    )
    before = (
        re.compile(
            rf"(?:^|[.!?…:;\"“”»]\s*|\n|,\s|\b(?:[Aa]s|[Bb]ut"
            rf"|[Aa]nd)\s){office}(?P<name>{_NAME}){aside}\s+(?:\w+ly\s+|has\s+|hat\s+"
            rf"|a\s+)?{verb}(?:\s+[\w'’]+){{0,4}}\s*[,:—–-]?\s*$"
        ),
        re.compile(rf"(?:^|[.!?…:;]\s+|\n)(?i:according to|laut|selon|según)\s+{office}(?P<name>{_NAME}){aside},?\s*$"),
        re.compile(rf"(?:^|\n)(?P<name>{_NAME})\s*:\s*$"),
    )
    return behind, before


def _speaker(inside: str, low: int, high: int, known: Lexicon) -> str:
    behind_patterns, before_patterns = _patterns(known)
    behind = _flat(inside[high : high + 160]).lstrip(_MARK_SIGNS)
    # What is behind the next stop is about the next sentence.
    ended = inside[high - 1 : high] in ".!?…" and not _flat(inside[high : high + 3]).strip(_MARK_SIGNS)[:1].islower()
    before = _flat(inside[max(0, low - 200) : low]).rstrip(_MARK_SIGNS + '"“„«')
    for pattern in behind_patterns:
        match = pattern.search(behind)
        # Behind a full stop begins a sentence of its own: `"… the problem." The union said the plan …`.
        stopped = inside[high - 1 : high] == "." and behind[:1] not in "—–-"
        if match and not (ended and (stopped or not _near(inside, high))):
            # `said Palestinian Tourism and Antiquities Minister …`: what is read of it is no name.
            office = _OFFICE_BEHIND.match(behind, match.end("name"))
            theirs = office and office[1] in known.offices | known.titles | _HEADS
            of_a_house = match["name"].isupper() and _SMALL_BEHIND.match(behind, match.end("name"))
            cut = _CUT_NAME.match(behind, match.end("name")) or theirs or of_a_house
            return "" if cut else _bare(match["name"], known)
    for pattern in before_patterns:
        match = pattern.search(before)
        if match:
            return _bare(match["name"], known)
    return ""


def reports(reading: Reading) -> int:
    """How many sentences say that somebody said something: a name or an office, and a verb of saying beside it. What
    told sailors the time reports nothing."""
    small = {word for one in reading.sentences for word in one.text.split() if word.islower()}
    found = 0
    for one in reading.sentences:
        for match in _reporting(reading.known).finditer(one.text):
            name = match["name"] or match["other"]
            bare = _bare(name, reading.known).split() if name else []
            if not name or (bare and bare[0].lower() not in small):
                found += 1
                break
    return found


@lru_cache(maxsize=32)
def _reporting(known: Lexicon) -> re.Pattern[str]:
    if not known.reporting:
        return re.compile("(?!)")
    verb = rf"(?i:\b(?:{'|'.join(map(re.escape, sorted(known.reporting)))})\b)"
    office = rf"(?i:\b(?:{'|'.join(map(re.escape, sorted(known.offices)))})\b)"
    return re.compile(
        rf"(?P<name>{_NAME})(?:,[^,.\"“”„«»]{{2,80}},)?\s+(?:\w+ly\s+|has\s+|have\s+|had\s+|hat\s+|a\s+|ha\s+)?{verb}"
        rf"|{verb}\s+(?P<other>{_NAME})|{office}\s+(?:\w+ly\s+|has\s+|have\s+)?{verb}|{verb}\s+(?:\w+\s+)?{office}"
        r"|(?i:\b(?:according to|laut|nach angaben|selon|d['’]après|según)\b)"
    )


def _near(inside: str, high: int) -> bool:
    """Whether what stands behind the closing mark is on its line still: `"Stop!" Ann Berg said.`"""
    return not inside[high : high + 4].strip(_MARK_SIGNS + ".").startswith("\n")


def _flat(text: str) -> str:
    return text.replace(GAP, "").replace("\n", " ")


_OWNED: Final = re.compile(r"(?:['’]s|s['’])$")
"""`Berg's` says whose somebody is, and no name."""


def _bare(name: str, known: Lexicon) -> str:
    words = name.split()
    while words and (words[0].lower() in known.function or words[0].lower().rstrip(".") in known.titles):
        words.pop(0)
    if not words or words[0].lower() in known.months or any(map(_OWNED.search, words)):
        return ""
    while words and words[-1].islower():
        words.pop()
    return " ".join(words).rstrip(".,")


def _goes_on(inside: str, places: tuple[int, int, int], speaker: str, known: Lexicon) -> bool:
    """Whether words follow on a speaker's in the same paragraph with nobody and nothing else between: at most the end
    of the sentence that says whose those were, and behind these at most `she said`."""
    behind, low, high = places
    between = _flat(inside[behind:low]).strip(_MARK_SIGNS + ".")
    after = _flat(inside[high : high + 60]).lstrip(_MARK_SIGNS)
    words = tokens(between)
    others = [word for word in words if word in known.saying]
    # Another sentence between is about something else, or somebody else.
    if len(others) > 1 or len(words) > 14 or re.search(r"[.!?…]\s+\S", between):
        return False
    ties = not words or not _PRONOUNS.union(tokens(speaker)).isdisjoint(words)
    ended = inside[behind - 1 : behind] in ".!?…"
    if ((ended and words and not others) or (others and not ties)) or _acts(between, speaker, known):
        return False
    said = tokens(after)[:4]
    if not known.saying.isdisjoint(said) or (_tagged(inside, high) and after[:1].islower()):
        return bool(_PRONOUN.match(after))
    return True


def _tagged(inside: str, high: int) -> bool:
    """Whether a comma behind quoted words leads on to who said them."""
    closing = inside[high : high + 4].strip()
    return "," in closing and "." not in closing


def _acts(between: str, speaker: str, known: Lexicon) -> bool:
    """Whether somebody else is named and does something: `while Tom Hale laughed`."""
    own = frozenset(tokens(speaker)) | known.months | known.titles
    for match in _ACTING.finditer(between):
        name = [word for word in tokens(match["name"]) if word not in known.function]
        named = len(name) > 1 or known.cased
        if named and name and own.isdisjoint(name) and match["next"] not in known.function:
            return True
    return False


# -- the choice


def choose(
    reading: Reading, kind: str, ranks: Ranks, used: set[int], room: int, most: int
) -> list[Quote]:  # fmt: skip
    """The best of each stretch of the document, so that its whole length is heard. None that is told already."""
    pool = [one for one in _candidates(reading, kind) if one.sentence not in used and len(one.text.split()) <= 60]
    length = max(1, len(reading.sentences))
    zones: dict[int, list[Quote]] = {}
    for one in pool:
        zones.setdefault(one.sentence * most // length, []).append(one)
    worth = {id(one): _worth(one, reading, ranks) for one in pool}
    for found in zones.values():
        found.sort(key=lambda one: (-worth[id(one)], one.span))
    chosen: list[Quote] = []
    seen: set[str] = set()
    told = [reading.sentences[at] for at in sorted(used)]
    turn = 0
    while any(zones.values()) and len(chosen) < most:
        order = sorted((at for at in zones if zones[at]), key=lambda at: (-worth[id(zones[at][0])], at))
        for at in order if turn == 0 else order[:1]:
            one = zones[at].pop(0)
            size, key = len(one.text.split()) + len(one.speaker.split()), _key(one.text)
            repeated = any(key in other for other in seen) or _told(reading.sentences[one.sentence], told)
            if len(chosen) < most and size <= room and not repeated:
                chosen.append(one)
                seen.add(key)
                room -= size
        turn += 1
    return sorted(chosen, key=lambda one: one.span)


def _key(text: str) -> str:
    return " ".join(tokens(text))


def _told(sentence: Sentence, told: Sequence[Sentence]) -> bool:
    return any(likeness(sentence, other) > 0.8 for other in told)


def _candidates(reading: Reading, kind: str) -> list[Quote]:
    if kind in ("interview", "transcript", "captions"):
        asked = asked_in_turn(reading)
        return [
            Quote(one.text, one.spans[0], one.speaker, one.index)
            for one in reading.sentences
            if (one.sound or (kind == "captions" and not asks_listeners(one.text)))
            and not one.asks and one.size >= 7 and not one.leans
            and (one.speaker != reading.host or not reading.host) and one.block not in asked
            and (one.speaker or len(reading.speakers) < 2)
        ]  # fmt: skip
    return [one for one in spoken_quotes(reading) if one.speaker and _is_whole(one.text)]


def _is_whole(said: str) -> bool:
    """Whether it stands alone: not a piece of somebody else's sentence, not somebody looking for words."""
    first = next(iter(tokens(said)), "")
    searching = first in _SEARCHING or len(_PAUSED.findall(said)) > 1
    return not said.lstrip("([{—–-… ")[:1].islower() and not searching


def _worth(quote: Quote, reading: Reading, ranks: Ranks) -> float:
    size = len(quote.text.split())
    worth = ranks[quote.sentence] * 0.3 + 0.3 * bool(quote.speaker)
    worth += 0.3 if 8 <= size <= 30 else 0.0
    worth += 0.15 * min(2, sum(1 for word in tokens(quote.text) if word in _POINTED))
    first = tokens(quote.text)[:1]
    worth -= 0.3 * quote.text.endswith("?")
    return worth - 0.4 * bool(first and first[0] in reading.known.leaning) - 0.2 * (quote.text[-1] not in '.!?…”"')


def as_values(
    quotes: Sequence[Quote], reading: Reading, cues: Sequence[Mapping[str, Any]] | None
) -> list[dict[str, str]]:
    """As the artifact has them: words as they stand in the text, who and when."""
    places = sorted((int(cue["offset"]), float(cue["start"])) for cue in cues or ())
    offsets = [offset for offset, _ in places]
    found = []
    for quote in quotes:
        value = {"text": " ".join(reading.text[slice(*quote.span)].split())}
        at = bisect_right(offsets, quote.span[0]) - 1
        time = clock(places[at][1]) if at >= 0 else reading.time_at(quote.span[0])
        speaker = quote.speaker if quote.speaker.lower() not in _ASKED else ""
        found.append(value | ({"timestamp": time} if time else {}) | ({"speaker": speaker} if speaker else {}))
    return found
