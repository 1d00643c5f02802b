"""Sentences that lean on another: what they say can't be understood where they stand alone.

    leans_back("A person can do that for one hour.")     True: what can a person do?
    leans_back("If a disk is full, write to another.")   False

A pronoun leans when nothing before it in its own clause can be what it means; a connective at the beginning leans on
what it goes on from. `This manual` and `this year` mean what the reader has before them, and lean on nothing. Where it
can't be told, it is taken to lean: a sentence that is passed over costs less than one that nobody understands.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

_OWN: Final = (
    r"(?:paper|article|document|documentation|manual|guide|handbook|section|chapter|book|page|report|study|work|package"
    r"|program|library|file|vignette|tutorial|appendix|readme|faq|note|release|version|project|software|module|website"
    r"|site|essay|post|blog|newsletter|issue|letter|review|thesis|survey|tool|standard|specification|text|story|list"
    r"|[Ll]icen[cs]e|[Aa]greement|[Cc]ontract|[Pp]olicy|[Tt]reaty|Directive|Regulation|Act"
    r"|year|week|month|day|morning|afternoon|evening|night|summer|winter|spring|autumn|fall|season|century|decade|time"
    r"|country|city|world)\b"
)
_BEGINS: Final = re.compile(
    rf"\W*(?:(?:It|Its|Them|Their|They|He|She|Him|His|Hers?|Such|Both|Neither|Either|However|Therefore|Thus|Hence|Also"
    r"|But|And|Or|Nor|So|Then|Instead|Otherwise|Moreover|Furthermore|Additionally|Consequently|Accordingly|Likewise|Anyway"
    r"|Similarly|Nevertheless|Nonetheless|Conversely|Meanwhile|Again|Indeed|Yet|Another|Others|Secondly|Thirdly|Finally"
    r"|Lastly|Actually|Eventually|First of all|Previously|Since then|Afterwards?|Thereafter"
    r"|Elsewhere|Too|Which|Worse|Rather(?=,)|Still(?=,)|Next(?=,)|First(?=,)|Before(?=,)"
    r"|Second(?=,)|Third(?=,)|Here(?! (?:in|at|and)\b)|There(?! (?:is|are|was|were|has|have|had|will|would|may|might"
    r"|can|could|must|should|exists?|remains?|comes?|goes)\b))\b"
    rf"|(?:This|These|That|Those)\b(?! {_OWN})"
    r"|(?:If|When|Even|Not|Only|Just|Quite) (?:so|not|then|that|this)\b"
    r"|(?:If|When|Unless) (?:enabled|disabled|(?:un)?set|true|false|specified|given|present|omitted|defined|selected"
    r"|turned (?:on|off)|non-?zero)\b"
    rf"|(?:In|At|By|From|For|On|After|Before|Since|With|Until|Because of|Despite|Like|Unlike|To do|Of|During|Under)"
    rf" (?:that|this|these|those|it|them|such|him|either|both|doing so)\b(?! {_OWN})"
    r"|(?:For (?:example|instance|one thing|the same)|As (?:a (?:result|consequence)|such|before|well)|In (?:addition"
    r"|other words|fact|turn|contrast|return|response|particular|the same way|the meantime)|By (?:contrast|then"
    r"|comparison)|On the (?:other hand|contrary)|More than that|Better still|Of course|What['’]s more|To this end"
    r"|That['’]s|It['’]s|(?:He|She)['’][sd]|They['’](?:re|ve|d|ll))\b"
    r"|(?:Do|Does|Did) (?:this|that|so|it|they)\b"
    r"|(?:What|When|If|As|Because|While|Where|How|Why|Although|Though|Since|Once|Unless|Until|After|Before|Whether|Now"
    r"|Today|(?:In|By|Since|Until) \d{4})\s+(?:they|he|she|it(?! (?:is|was|rains|snows|seems|takes|comes|makes|turns"
    r"|would|will)\b))\b"
    r"|(?:Now|Well|Okay|OK|Sure|Yes|No|Today|[A-Z][a-z]+ly),\s+(?:they|he|she|it(?! (?:is|was|seems|takes|turns|would"
    r"|will)\b))\b"
    r"|(?:The|An?) [\w-]+ (?:that|who|which) \w+ (?:it|them|him)\b"
    r"|(?:Why|How|What|Where|When)\b[\w, ]{0,12} (?:does|do|did|is|was|are|were|can|could|will|would|should|has|have)"
    r" (?:it|they|he|she|this|that)\b(?! (?:take|possible|true|worth|mean to)\b)"
    r"|(?:People|(?:Many|Some|Most)(?: people)?|You|One|We) (?:often |might |may |sometimes |usually |tend to )?"
    r"(?:think|believe|thought|believed|assume|assumed|are told|were told)\b"
    r"|The (?:former|latter|above|same|others?|second|third|rest)\b"
    r"|\d[\d.,]*\s?(?:%|per ?cent)\s+(?:were|was|are|is|have|had|said|did|could)\b"
    # who does it stands in the heading of an entry: `Returns the name …`
    r"|(?!(?:Sometimes|Besides|Towards|Thus|Perhaps|Always|Plus|Does|Was|Has|Whereas|Afterwards|Nowadays)\b)(?:Is|[A-Z][a-z]+(?<!s)s)"
    r" (?:the(?! [A-Z])|an?|whether|users|one|two|true|false|zero|NULL)\b(?!.*\?)"
    r"|The reason (?:for|why) (?:not|this|that|it|these|doing)\b"
    r"|The (?:reason|answer|result|results|problem|difference|trick|effect|consequence|alternative|exception|solution"
    r"|one|ones) (?:is|was|are|were|will|lies|lay)\b"
    r"|The (?:two|three|four|five|last) [\w-]+ (?:is|was|are|were|will|has|have|can|does|do)\b"
    r"|There (?:is|are|was|were) (?:also|another|other|more|further)\b)"
)
_HARD: Final = re.compile(
    r"[,;:—–(]|\b(?:and|but|or|that|which|who|whom|whose|because|since|if|when|while|where|although|though|unless|until"
    r"|as|than|so|whether|how|what)\b",
    re.IGNORECASE,
)
"""Ends a clause, so that what stands before it can be what a pronoun means."""
_SOFT: Final = re.compile(
    r"[,;:—–(]|\b(?:and|but|or|because|if|when|while|although|though|unless|until|so)\b", re.IGNORECASE
)
_APART: Final = re.compile(
    r"(?<!^)[;:—–]|(?<!^)\b(?:and|but|or|because|if|when|while|although|though|unless|until|so)\b", re.IGNORECASE
)
"""The same for `this boat`: an aside or a condition names no boat by itself."""
_AFTER: Final = (
    r"(?=\s*[.,;:!?)]|\s*$|\s(?:for|of|in|on|at|to|with|by|from|into|over|under|about|without|and|or|but|as|well|again|this|next|last"
    r"|also|too|only|now|all|alone|away|back|up|down|out|off|because|is|was|are|were|twice|once|\w+ly)\b)"
)
_OBJECT: Final = re.compile(
    rf"(?<=\w )(?:it|them|him){_AFTER}"
    r"|\b(?:of|behind|with|for|to|in|on|at|by|from|about|under|over|after|before|without|into|like|around|against)"
    r" (?:it|them|him)\b(?!\w)",
)
_EMPTY: Final = re.compile(r"\bit (?:is|was|are|were)\b.*\b(?:to|that|for|whether)\b")
"""`Today it is possible to …` means nothing that was named."""
_NAME: Final = re.compile(r"(?<!^)\b[A-Z][a-z]")
"""Somebody or something with a name, which the pronoun may mean."""
_POINTED: Final = re.compile(
    r"(?<=\w )there\b(?!['’])(?! (?:is|are|was|were|has|have|had|will|would|may|might|can|could|must|should|be|being"
    r"|to be|exists?|remains?|comes?|goes|seems?|appears?)\b)"
    r"|\b(?:[Tt]he|new|old|other|\w+er) ones\b|"
    r"(?<=\w )this(?=\s*[.,;:!?)]|\s*$|\s(?:is|was|has|had|does|did|means|meant|makes|made|can|could|will|would|may"
    r"|might|should|must|for|in|on|at|to|with|by|from|and|or|but|because|as|into)\b)"
    r"|\b(?:do|does|did|done|doing|know|knew|knows|like|after|before|about|with|for|from|by|at|to|than|all)"
    rf" that{_AFTER}"
    r"|\b(?:times|twice|half|at|of|with|for|in|on|by|from|about) that"
    r" (?!the\b|an?\b|\w+ (?:is|are|was|were|will|can)\b)[a-z]+"
    rf"|\b(?:of|all|both|like|do|for|with|from|to|among|between) (?:these|those){_AFTER}"
    r"|\b(?:raised?|lowered|cut|built|closed|opened|paid|sold|bought|changed|ended|used|kept|lost|won|passed|signed|took"
    r"|held|moved|reached|met) that [a-z]+"
    r"|\b(?:do|does|did|doing|done|said|say|says|think|thinks|thought) so\b(?! (?:much|many|well|far|that|\w+ly)\b)"
)
_NAMED: Final = re.compile(
    rf"\b(?:this|these)\s+(?!{_OWN})(?!(?:is|was|are|were|has|had|have|can|could|will|would|may|might|must|should|in|on|at"
    r"|to|for|of|with|by|from|and|or|but|as|into|does|did|because)\b)(?P<noun>[a-z][\w-]+)"
    r"|\bsuch (?!as\b|that\b|thing\b|things\b)(?:an? )?(?P<kind>[a-z][\w-]+)(?! as\b| that\b)(?!\s+\w+ (?:as|that)\b)"
)
_LATTER: Final = re.compile(r"\bthe (?:latter\b|former(?=\W*$|[,.;]| (?:is|are|was|were|has|had)\b))", re.IGNORECASE)
_TWO: Final = re.compile(r",|\b(?:and|or)\b")
"""What is named before it, so that one is the latter."""
_SAID: Final = re.compile(r",[”\"'’]? (?:he|she|they) (?:said|says|added|told|noted|explained|wrote)\b")
_LAST: Final = re.compile(r"\b(?:too|either|as well|likewise|the other|the others|first)\W*$")
_OTHERS: Final[Mapping[str, re.Pattern[str]]] = {
    "de": re.compile(
        r"^\W*(?:Der|Die|Das) (?:erste|zweite|dritte|vierte|andere) (?:ist|war|hat|wird|will|soll|kann|muss|heißt)\b|"
        r", (?:sagte?|erklärte?|betonte?|meinte?) (?:er|sie)\b"
        r"|\b(?i:davon|dazu|dafür|dagegen|daran|darauf|daraus|darin|darüber|darum|dadurch|hierfür|hierzu|hiermit|deshalb|deswegen"
        r"|daher|letzterer?s?|ersterer?s?|andererseits|hingegen|dennoch)\b(?!,)"
        r"|^\W*Das\b(?! (?:[a-zäöüß]+(?<![td])e )?[»„A-ZÄÖÜ])"
        r"|^\W*(?:Dies(?:e[rsnm]?)?|Jene[rsnm]?|Solche[rsnm]?|Zweitens|Drittens|Außerdem|Zudem|Trotzdem"
        r"|Dennoch|Stattdessen|Andernfalls|Sonst|Seitdem|Seither|Zum Beispiel|De[rn] Rest|Die (?:anderen|übrigen)"
        r"|Der Grund (?:ist|war|liegt|dafür)|Auch)\b"
        r"(?! (?:Handbuch|Dokument|Seite|Anleitung|Artikel|Buch|Jahr|Woche|Abschnitt|Kapitel|Bericht|Programm)\w*)"
    ),
    "fr": re.compile(
        r"^\W*(?:La|Le) (?:premi(?:er|ère)|second|seconde|deuxième|troisième|autre)"
        r" (?:est|était|a|avait|ne|n['’]|se|veut|voudrait|sera|doit|peut)\b"
        r"|\bl(?:a|e|es) (?:suivante?|premi(?:er|ère)|derni(?:er|ère)|même|autre)s?\W*$|"
        r"\b(?:dit|a-t|affirme-t|explique-t|ajoute-t)-(?:il|elle)\b"
        r"|\b(?:cela|ça|ceci|celui-ci|celle-ci|ceux-ci|celles-ci|ce dernier|cette dernière|ces derniers)\b"
        r"|^\W*(?:Par exemple|En effet|De plus|En outre|Ainsi|Donc|Alors|Pourtant|Toutefois|Cependant|Ensuite|Enfin"
        r"|Depuis lors|Dès lors"
        r"|La raison (?:est|était)|C['’]était|C['’]est (?!à\b|en\b))"
        r"|^\W*(?:Vous|On|Nous|Il faut|Ils?|Elles?)(?: \w+)? (?:le|la|les|y|en|l['’]) ?"
        r"(?!\w+ (?:de|du|des|d['’]))\w+(?:er|ir|re)\b",
        re.IGNORECASE,
    ),
    "es": re.compile(
        r"^\W*(?:El|La) (?:primer[oa]|segund[oa]|tercer[oa]|otr[oa]) (?:es|era|fue|ha|había|será|no|quiere|debe)\b|"
        r"\b(?:eso|esto|ello|aquello|este último|esta última|estos últimos)\b"
        r"|^\W*(?:Por ejemplo|Además|Así|Entonces|Sin embargo|No obstante|Por eso|Después|Desde entonces|Finalmente"
        r"|La razón (?:es|era))\b",
        re.IGNORECASE,
    ),
}


def leans_back(text: str, language: str = "en") -> bool:
    """Languages of which it knows nothing lean on nothing."""
    if language != "en":
        other = _OTHERS.get(language)
        return other is not None and other.search(text) is not None
    return (
        _BEGINS.match(text) is not None
        or _LAST.search(text) is not None
        or any(not _NAME.search(text, 1, match.start()) for match in _SAID.finditer(text))
        or any(
            _open(text, match, _HARD)
            and not _EMPTY.search(text)
            and ("them" in match.group() or not _NAME.search(text, 1, match.start()))
            for match in _OBJECT.finditer(text)
        )
        or any(_open(text, match, _SOFT) for match in _POINTED.finditer(text))
        or any(not _TWO.search(text, 0, match.start()) for match in _LATTER.finditer(text))
        or any(
            _open(text, match, _APART)
            and not re.search(rf"\b{match['noun'] or match['kind']}", text[: match.start()], re.IGNORECASE)
            for match in _NAMED.finditer(text)
        )
    )


def _open(text: str, match: re.Match[str], bound: re.Pattern[str]) -> bool:
    """Whether it stands in the first clause still, where nothing was said yet that it could mean."""
    return bound.search(text, 0, match.start()) is None
