"""Whether two words are forms of one: `tide` and `tides`, `light` and `lit`, `colour` and `color`."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

from weft.language.sentences import words
from weft.language.stems import stem

ALIKE: Final = {
    "whilst": "while", "upon": "on", "till": "until", "towards": "toward", "percentage": "percent",
    "though": "although", "around": "about", "approximately": "about", "roughly": "about", "using": "with",
    "each": "every", "another": "other", "concerning": "about", "regarding": "about", "amongst": "among",
    "underneath": "under", "beneath": "under", "everybody": "everyone", "somebody": "someone", "anybody": "anyone",
}  # fmt: skip
"""Two small words that are one."""
_FORMS: Final = """
be am is are was were been being|have has had having|do does did done doing|go goes went gone going|make made
take took taken|give gave given|get got gotten|come came|see saw seen|know knew known|find found|write wrote written
read read|say said|tell told|think thought|keep kept|hold held|begin began begun|bring brought|buy bought
build built|choose chose chosen|drive drove driven|fall fell fallen|feel felt|fly flew flown|grow grew grown
hear heard|hide hid hidden|lay laid|lead led|leave left|lend lent|lose lost|mean meant|meet met|pay paid
ride rode ridden|rise rose risen|run ran|seek sought|sell sold|send sent|set set|shake shook shaken
show showed shown|sing sang sung|sink sank sunk|sit sat|sleep slept|speak spoke spoken|spend spent|stand stood
steal stole stolen|swim swam swum|teach taught|throw threw thrown|understand understood|wear wore worn|win won
become became|draw drew drawn|eat ate eaten|fight fought|forget forgot forgotten|break broke broken|catch caught
bind bound|bear bore borne|beat beaten|bite bit bitten|blow blew blown|deal dealt|dig dug|drink drank drunk|feed fed
freeze froze frozen|grind ground|overcome overcame|strike struck|swear swore sworn|tear tore torn|wake woke woken
light lit|hang hung|shoot shot|stick stuck|sweep swept|bend bent|arise arose arisen|bleed bled|breed bred
burn burnt|cling clung|creep crept|dream dreamt|flee fled|forbid forbade forbidden|forgive forgave forgiven
foresee foresaw foreseen|kneel knelt|learn learnt|mislead misled|mistake mistook mistaken|overtake overtook overtaken
override overrode overridden|oversee oversaw overseen|overwrite overwrote overwritten|prove proven|rebuild rebuilt
repay repaid|rewrite rewrote rewritten|ring rang rung|sew sewn|shine shone|shrink shrank shrunk|slide slid|sow sown
speed sped|spell spelt|spill spilt|spin spun|spoil spoilt|spring sprang sprung|strive strove striven|swell swollen
swing swung|undergo underwent undergone|undertake undertook undertaken|undo undid undone|uphold upheld
weave wove woven|wind wound|withdraw withdrew withdrawn|withhold withheld
child children|man men|woman women|foot feet|tooth teeth|mouse mice|goose geese|person people|datum data
criterion criteria|phenomenon phenomena|medium media|bacterium bacteria|spectrum spectra|maximum maxima|minimum minima
stratum strata|curriculum curricula|index indices|matrix matrices|vertex vertices|appendix appendices|radius radii
nucleus nuclei|stimulus stimuli|genus genera|corpus corpora|formula formulae|nebula nebulae|supernova supernovae
analysis analyses|crisis crises|thesis theses|hypothesis hypotheses|synthesis syntheses|wife wives|knife knives
life lives|half halves|shelf shelves|wolf wolves|thief thieves|loaf loaves|calf calves|elf elves|dwarf dwarves
hoof hooves|scarf scarves|sheaf sheaves|wharf wharves|self selves
try tries tried trying attempt attempts attempted attempting|seem seems seemed seeming appear appears
appeared appearing|start starts started starting begin begins began begun beginning
"""
IRREGULAR: Final = {
    form: stem(forms.split()[0])
    for line in _FORMS.strip().splitlines()
    for forms in line.split("|")
    for form in forms.split()
}
_INFLECTIONS: Final = re.compile(r"(?:'s|s'|'|s|es|k?ed|d|k?ing|e|y|ies|ied|ying|t|n|en)?")
_SPELT: Final = (
    (re.compile(r"(?<=\w{3})our(?=(?:s|ed|ing|ful|able|ite|ites|er|ers|hood|hoods)?$)"), "or"),
    (re.compile(r"(?<=\w{3})is(?=(?:e|es|ed|ing|er|ers|ation|ations)$)"), "iz"),
    (re.compile(r"(?<=\w{3}y)s(?=(?:e|es|ed|ing|er|ers)$)"), "z"),
    (re.compile(r"(?<=[a-z]{2}[tb])re(?=s?$)"), "er"),
    (re.compile(r"(?<=[a-z]{2}[fc]en)c(?=es?$)"), "s"),
)
"""British and American."""


@lru_cache(maxsize=65_536)
def spelt(word: str) -> str:
    """One way to write a word that has two."""
    for written, other in _SPELT:
        word = written.sub(other, word)
    return word


def is_plural(word: str, one: str) -> bool:
    return word == f"{one}s" or (one[-1:] in ("s", "x", "z") and word == f"{one}es")


def is_past(word: str) -> bool:
    """Whether it is a form of an irregular verb that `had` stands before, and `would` does not."""
    return word in ("come", "become") or (word in IRREGULAR and IRREGULAR[word] != stem(word))


@lru_cache(maxsize=65_536)
def are_forms(one: str, other: str) -> bool:
    """Whether two words with one stem are forms of one word: `require` and `required`, not `import` and `important`."""
    one, other = (ALIKE.get(word, word) for word in (one.lower(), other.lower()))
    if one == other or is_plural(one, other) or is_plural(other, one):
        return True
    if one in IRREGULAR and IRREGULAR[one] == (IRREGULAR.get(other) or stem(other)):
        return True
    if other in IRREGULAR and IRREGULAR[other] == stem(one):
        return True
    one, other = spelt(one), spelt(other)
    shared = 0
    while shared < min(len(one), len(other)) and one[shared] == other[shared]:
        shared += 1
    if shared < 2 or (shared < 5 and stem(one) != stem(other)):
        return False
    rests = [one[shared:], other[shared:]]
    for at in (0, 1):
        # A doubled consonant: `stop`, `stopped`.
        rest = rests[at]
        if len(rest) > 2 and rest[0] == (one, other)[at][shared - 1] and rest[0] not in "aeiou":
            rests[at] = rest[1:]
    return all(_INFLECTIONS.fullmatch(rest) for rest in rests)


_DOINGS: Final = (
    ("", words("ment ance ence al age ure")), ("e", words("ement ment ance ence al age ure ison")),
    ("d", words("sion se")), ("de", words("sion")), ("t", words("sion ssion")), ("ve", words("ution f ption")),
    ("be", words("ption")), ("ify", words("ification")), ("y", words("ication iance")), ("ceive", words("ception")),
    ("duce", words("duction")), ("quire", words("quisition")), ("er", words("ery")), ("ir", words("iry")),
    ("ow", words("owth")),
)  # fmt: skip
"""How a verb may end, and what stands there in the noun that names its doing."""
_GERUND: Final = 6
"""Letters: `using` and `going` lead others."""


@lru_cache(maxsize=65_536)
def is_doing(noun: str, gerund: str) -> bool:
    """`delivery` and `delivering`, `expansion` and `expanding`: one doing, by a noun of its own and by its verb."""
    if not gerund.endswith("ing") or len(gerund) < _GERUND or noun.endswith("ing"):
        return False
    if noun.endswith("s") and not noun.endswith("ss"):
        noun = noun[:-1]
    if noun.endswith("ion") and stem(noun) == stem(gerund):
        return True  # `connection`, `computation`; not `mission` and `missing`
    root = gerund.removesuffix("ing")
    roots = {root, f"{root}e", *([root[:-1]] if root[-1:] == root[-2:-1] else [])}
    return any(
        noun.startswith(base := one.removesuffix(ending)) and noun.removeprefix(base) in nouns
        for one in roots
        for ending, nouns in _DOINGS
        if one.endswith(ending)
    )


_RANKS: Final = (
    "first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth thirteenth fourteenth"  # noqa: SIM905
    " fifteenth sixteenth seventeenth eighteenth nineteenth twentieth".split()
)
ORDINALS: Final = frozenset(_RANKS)
RANK: Final = {word: frozenset({str(at)}) for at, word in enumerate(_RANKS, start=1)}
USING: Final = words("use uses used using usage")
