"""From what a person typed to clauses that can be compared: the first half of judging a reply.

Words are compared whole, never as parts of words, so the text is brought to one form first: one case, no accents, one
kind of quote, contractions written out ("don't" is "do not"), hyphens as spaces. It is then cut where a speaker would
pause. What a clause is part of is kept with it, because it can turn its meaning round: a question, a condition, an
"or", a negation that reaches over an "and". What stands in quotes is spoken about, not said, and is taken out.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import replace
from functools import lru_cache
from typing import Final, Literal

from weft.protocol.values import dataclass

Joint = Literal["", "but", "and", "or", "because"]

LONGEST: Final = 300
"""Characters of a clause that are looked at: no phrase is longer."""
QUOTED: Final = "quotation"
"""Stands where something in quotes was."""

_SIGNS: Final = {
    **dict.fromkeys("‘’‚‛ʼ`´", "'"),
    **dict.fromkeys("“”„‟«»", '"'),
    **dict.fromkeys("。", "."),
    **dict.fromkeys("，、", ","),
    **dict.fromkeys("¿¡*~", " "),
    **dict.fromkeys("👍👌✅✔", " thumbsup "),
    **dict.fromkeys("👎❌", " thumbsdown "),
}
_CONTRACTIONS: Final = (
    (r"\bcan'?t\b|\bcannot\b", "can not"),
    (r"\bwon'?t\b", "will not"),
    (r"\bshan'?t\b", "shall not"),
    (r"\blet'?s\b", "let us"),
    (r"\bd'accord\b", "daccord"),
    (r"n't\b", " not"),
    (r"\b(do|does|did|is|are|was|were|would|should|could|has|have|had|need|must)nt\b", r"\1 not"),
    (r"\b(i)'?m\b", r"\1 am"),
    (r"\b(i|we|you|they)'?ve\b", r"\1 have"),
    (r"'re\b", " are"),
    (r"'ll\b", " will"),
    (r"'d\b", " would"),
    (r"\b(it|that|there|here|what|where|how|who|all|everything|this|he|she)'s\b", r"\1 is"),
    (r"\b(that|what|there)s\b", r"\1 is"),
)
_ALIASES: Final = {
    slip: meant.strip()
    for slips, meant in (
        line.split("=")
        for line in re.split(
            r"[;\n]",
            """
pls plz plese pleas = please; thx ty thanx = thanks; u = you; lemme = let me; wanna = want to
gonna = going to; gotta = have to; gimme = give me; ok okey okk oki k kk okie = okay
yess yees yas aye thumbsup = yes; yeh yea ye = yeah; yepp = yep; noo thumbsdown = no; nop = nope; goo = go
alrite allright = alright; procede proceede procceed proced preceed prceed porceed proceeed = proceed
contine contiue contiune coninue continu conitnue continune contnue = continue
aprove approv approove = approve; aproved = approved; cancle cancell cansel = cancel; stopp = stop
chnage cahnge chagne = change; ammend = amend; nevermind nvm = never mind; resumee = resume
breakout = break out; websearch = web search
""".strip(),
        )
    )
    for slip in slips.split()
}
"""Short forms, and slips of the finger that can't be another word."""
_CONJUNCTIONS: Final[dict[str, Joint]] = {
    **dict.fromkeys(("but", "however", "though", "although", "except", "aber", "mais", "pero"), "but"),
    **dict.fromkeys(("and", "then", "und", "dann", "et", "puis", "&", "+"), "and"),
    **dict.fromkeys(("or", "oder", "ou"), "or"),
    **dict.fromkeys(("because", "since", "weil", "denn"), "because"),
}
_PAUSE: Final = re.compile(r"[,:()\[\]{}|/]+(?=\s|$|[^\W\d_])|\s[-–—]+\s|[—–]|--+|\s[-–—]+$|^[-–—]+\s")
_SENTENCE: Final = re.compile(r"(?<=[.!?…])\s+|[\n;]+|…")
_WORD: Final = re.compile(r"[^\W_]+(?:[.,/@:'][^\W_]+)*|[#&+%$€]")
_CONDITION: Final = re.compile(
    r"\b(?:if|unless|once|until|till|provided|assuming|supposing|whenever|when|while|as (?:soon|long) as|in case|"
    r"only|after|before|wenn|falls|sobald|quand|cuando|otherwise|depends|depending)\b|^si \S"
)
_READY: Final = re.compile(
    r"\b(?:when(?:ever)?|once) you (?:are ready|can|like|want)\b|\bif you (?:please|like|would)\b|\bif possible\b"
    r"|(?<=\bready) when you are\b|\bbefore (?:we|i|you) (?:continue|proceed|go on|start)\b"
)
NEGATION: Final = re.compile(
    r"\b(?:not|no|never|none|nothing|nobody|neither|nor|without|hardly|nein|nicht|kein|keine|"
    r"pas|jamais|nunca|dont|nope|nah)\b"
)

INTERROGATIVE: Final = re.compile(
    r"(?:what|how|why|when|where|who|whom|whose|which|should|shall|am|is|are|was|were|do (?:i|we|you|they)|does|"
    r"did|has|have (?:you|we)|had|may|might|can|could|will|would (?:it|that|you|this)|wie|warum|wann|soll|kann|darf|"
    r"est|pourquoi|comment|que|como|puedo)\b"
)
"""How a question begins."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Clause:
    """One stretch of what was said: its words in one form, and what they are part of."""

    words: str
    joint: Joint = ""
    """What joins it to the one before."""
    question: bool = False
    conditional: bool = False
    """Its sentence names a condition or a time: what it says does not hold now."""
    conditional_before: bool = False
    """The condition is named before it or in it."""
    reached: bool = False
    """A negation before an "and" or "or" reaches it."""


@lru_cache(maxsize=128)
def plain(text: str) -> str:
    """The text in one form: case, accents, quotes, contractions, letters held down."""
    text = "".join(_SIGNS.get(char, char) for char in unicodedata.normalize("NFKC", text))
    text = "".join(char for char in unicodedata.normalize("NFKD", text) if not unicodedata.combining(char))
    text = "".join(char for char in text if char in "\n\t" or unicodedata.category(char)[0] != "C").casefold()
    for pattern, written in _CONTRACTIONS:
        text = re.sub(pattern, written, text)
    return re.sub(r"([^\W\d_])\1{2,}", r"\1\1", text).strip()


@lru_cache(maxsize=128)
def words_of(text: str) -> str:
    """The words alone, one space between them: how names and labels are compared."""
    return " ".join(_aliased(_WORD.findall(re.sub(r"(?<=\w)[-_](?=\w)", " ", plain(text).replace('"', " ")))))


def clauses_of(text: str) -> tuple[Clause, ...]:
    text = _unquoted(plain(text))
    text = re.sub(r"(?m)^\s*>.*$", " ", text)
    text = re.sub(r"\[(?:agent|skill|pipeline):[^\]]*\]|(?<!\S)@[\w-]+", " ", text)
    text = re.sub(r"(?<=[^\W_])[-_](?=[^\W_])", " ", text)
    found: list[Clause] = []
    for sentence in _SENTENCE.split(text):
        if sentence and sentence.strip():
            found.extend(_sentence(sentence.strip()))
    return tuple(found)


def _sentence(sentence: str) -> list[Clause]:
    found: list[Clause] = []
    parts = [_READY.sub(" ", " ".join(_aliased(_WORD.findall(part)))) for part in _PAUSE.split(sentence)]
    parts = [re.sub(r"\bgo ahead and (?=\w)", "", part) for part in parts if part.strip()]
    asked = "?" in sentence[-4:]
    if asked and not parts:
        return [Clause(words="", question=True)]
    asking = False
    for at, part in enumerate(parts):
        # A mark at the end makes questions of the last part, and of all from where the asking began.
        asking = asking or (asked and (at == len(parts) - 1 or bool(INTERROGATIVE.match(part))))
        found.extend(replace(clause, question=asking) for clause in _joined(part.split()))
    conditions = [bool(_CONDITION.search(clause.words)) for clause in found]
    return [
        replace(clause, conditional=any(conditions), conditional_before=any(conditions[: at + 1]))
        for at, clause in enumerate(found)
    ]


def _joined(words: list[str]) -> list[Clause]:
    """One pause's words, cut at its conjunctions. A negation holds until the speaker pauses or turns."""
    found: list[Clause] = []
    joint: Joint = ""
    held: list[str] = []
    reached = False

    def end() -> None:
        nonlocal held, reached
        said = _once(held)[:LONGEST]
        if said:
            found.append(Clause(words=said, joint=joint, reached=reached))
            reached = reached or bool(NEGATION.search(said))
        held = []

    for word in words:
        if word in _CONJUNCTIONS:
            end()
            joint = _CONJUNCTIONS[word]
            if joint in ("but", "because"):
                reached = False
        else:
            held.append(word)
    end()
    return found


def _once(words: list[str]) -> str:
    """Repeated for emphasis is said once: "no no no", "go go go"."""
    return " ".join(word for at, word in enumerate(words) if at == 0 or word != words[at - 1])


def _aliased(words: list[str]) -> list[str]:
    return " ".join(_ALIASES.get(word, word) for word in words).split()


def _unquoted(text: str) -> str:
    """Without what is in quotes, unless that is all there is."""
    bare = text.strip()
    if len(bare) > 1 and bare[0] == bare[-1] and bare[0] in "\"'" and bare[0] not in bare[1:-1]:
        return bare[1:-1].strip()
    text = re.sub(r'"[^"\n]*"', f" {QUOTED} ", text)
    return re.sub(r"(?<!\w)'[^'\n]*'(?!\w)", f" {QUOTED} ", text)
