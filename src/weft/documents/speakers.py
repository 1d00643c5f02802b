"""Names of speakers that stand in the words themselves: `ANA RUIZ: …`, `Ana Ruiz: …`, `[SPEAKER_00] …`.

Capitals or a bracket make a name by themselves. A word in mixed case before a colon may be anything ("Remember: …"), so
that it counts only when the file uses such labels again and again. A name holds until the next one.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from weft.documents.characters import word_set
from weft.documents.cue_text import CueLine, Spoken, speaker_name

_LABEL: Final = re.compile(
    r"\[([^\[\]:]{1,40})\]:?[ \t]+(?=\S)|([^\W\d_][^:：\[\]()\"“”?!]{0,39}?)[ \t]?(?::[ \t]+|：[ \t]*)(?=\S)"
)
_NUMBERED: Final = re.compile(
    r"(?:speaker|sprecher|locuteur|hablante|говорящий|说话人|host|guest|interviewer)[ _]?\w{0,3}", re.IGNORECASE
)
_PARTICLES: Final = word_set("de da del della di do dos la le van von der den of al bin y and")
_NO_NAMES: Final = word_set(
    "note notes remember warning question questions answer example examples conclusion step look so and but or"
    " yes no ok okay first second third finally today now here tip important summary attention fact problem"
    " solution result results hint chapter part section http https subtitles captions translation transcript"
    " edit update source sources caution reminder spoiler ps re nb faq diy tldr"
)


def name_speakers(captions: Sequence[Spoken]) -> tuple[list[Spoken], int]:
    """Captions with names taken out of the words, and how many turns have no name."""
    labels = Counter(label for caption in captions for line in caption.lines if (label := _label(line)))
    share = sum(labels.values()) / max(1, len(captions))
    names = {label for label, count in labels.items() if _is_name(label, count, share, sum(labels.values()))}
    result: list[Spoken] = []
    speaker = ""
    strangers = 0
    for caption in captions:
        lines: list[CueLine] = []
        for line in caption.lines:
            label = _label(line)
            if _is_manner(label) and label not in names and (manner := _LABEL.match(line.text)):
                line = replace(line, text=line.text[manner.end() :])
            found = _LABEL.match(line.text) if label in names else None
            if found:
                before, speaker = speaker, speaker_name(found[1] or found[2])
                turn = line.turn or speaker != before
                line = replace(line, text=line.text[found.end() :], speaker=speaker, turn=turn)
            elif line.voiced:
                speaker = ""
            elif line.turn:
                speaker = ""
                strangers += 1
            else:
                line = replace(line, speaker=speaker)
            lines.append(line)
        result.append(replace(caption, lines=tuple(lines)))
    return result, strangers


def _label(line: CueLine) -> str:
    """The label with its bracket when it has one, in the spelling that is counted."""
    found = None if line.voiced else _LABEL.match(line.text)
    if not found:
        return ""
    return f"[{found[1].strip()}]" if found[1] else found[2].strip()


def _is_manner(label: str) -> bool:
    """`[laughing]`, `[man]`: how something is said, or by anybody; a name has a capital."""
    return label.startswith("[") and label[1:2].islower()


def _is_name(label: str, count: int, share: float, total: int) -> bool:
    if label.startswith("["):
        return bool(_NUMBERED.fullmatch(label[1:-1])) or (count > 1 and not _is_manner(label))
    words = label.split()
    if label.lower() in _NO_NAMES or len(words) > 4 or label.endswith("."):
        return False
    if _NUMBERED.fullmatch(label):
        return True
    cased = [word for word in words if word.lower() != word.upper()]
    if not cased:
        return count > 1 or share >= 0.3
    if label.isupper() and sum(character.isalpha() for character in label) > 1:
        return True
    if not all(word[0].isupper() or word in _PARTICLES for word in cased):
        return False
    return count > 1 or (total > 1 and (len(words) > 1 or share >= 0.3))
