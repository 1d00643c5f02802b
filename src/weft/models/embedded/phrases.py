"""Key phrases: what a document is about, in its own words.

Runs of content words are counted by their stems. A run counts for more the oftener it comes, the longer it is, the
earlier it comes, and if it does not come only inside a longer one. Without a grammar, what can name a subject is told
by company: a word that mostly follows articles and prepositions is a noun, one that follows `to` and `they` is not
(German says it by a capital). Scripts without spaces give runs of characters that come again, or, in Japanese, runs
of one kind of character.
"""

from __future__ import annotations

import math
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from weft.language.stems import stem
from weft.models.embedded.languages import Language
from weft.models.embedded.languages.language import words as word_set
from weft.models.embedded.sentence import Sentence
from weft.models.embedded.words import UNSPACED_RUN, is_unspaced

Key = tuple[str, ...]
_LONGEST: Final = 4
_LONGEST_WORD: Final = 40
_MOST: Final = 60
_CONSIDERED: Final = 600
_OFTEN: Final = 4
"""What comes oftener is known by its short name."""
_JAPANESE: Final = re.compile("[\u4e00-\u9fff々]{2,6}|[\u30a1-\u30fa\u30fc]{2,14}")
_COUNTING: Final = re.compile("^[一二三四五六七八九十百千数毎同各約第]|^[天年月日封本条名座间场句声级只件双匹辆].")
"""Begins with a numeral, or with what only stands behind one."""
_VAGUE: Final = word_set("""
时候 以后 之后 以前 之前 现在 没有 不是 自己 可以 因为 所以 但是 已经 如果 还是 只有 起来 出来 大家 今天 昨天
明天 去年 今年 后来 从前 开始 觉得 知道 认为 事情 东西 地方 一样 这样 那样 时间 人们 变成 成为 大概 也许 問題
場合 同様 理由 時間 最後 以上 以下 今月 今年 昨年 来年 年間 自分 自身 全体 一部 現在 当時 必要 可能 使用 指定
午前 午後 朝食 今回
""")
_ARTICLES: Final = word_set("""
the a an his her its their my our your der die das den dem ein eine einen le la les un une des el los las una il
lo gli o os as um uma de het een
""")
_OF: Final = word_set("de d of")
"""Between two nouns there is rarely one of these; between a verb and what it does something to, mostly."""
_BENT: Final = ("у", "ю", "ой", "ей", "ам", "ям", "ах", "ях", "ом", "ем", "ами", "ями")
_NO_PLURAL: Final = ("ss", "us", "is", "'s", "’s")
_HAN: Final = re.compile("[\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff]")
_DULL: Final = re.compile(r"^(?:\d|.$)|https?$|^www$")


@dataclass(frozen=True, slots=True)
class Phrase:
    text: str
    """As the document mostly writes it."""
    key: Key
    count: int
    score: float
    sentences: tuple[int, ...]
    """Where it stands, by number."""
    shown: int
    """A sentence that has it in exactly this form."""
    full: str = ""
    """A fuller name for the same: `passenger boat` for `boat`; "" when it has none."""
    full_shown: int = -1

    @property
    def label(self) -> tuple[str, int]:
        """What to call it in a list of subjects, and a sentence that says so."""
        return (self.full, self.full_shown) if self.full else (self.text, self.shown)


@dataclass(slots=True)
class _Found:
    count: int = 0
    forms: Counter[str] = field(default_factory=Counter)
    seen: dict[str, int] = field(default_factory=dict)
    """The first sentence with each form."""
    sentences: list[int] = field(default_factory=list)
    whole: int = 0
    """How often it is all of a run, with nothing more on either side."""
    describes: int = 0
    """How often it stands right before another noun, as an adjective would."""
    definite: int = 0
    nested: int = 0
    """How often it comes inside a longer run that comes again."""

    def note(self, form: str, at: int) -> None:
        self.forms[form] += 1
        self.seen.setdefault(form, at)
        self.sentences.append(at)


def key_phrases(
    sentences: Sequence[Sentence], language: Language, small: frozenset[str], title: Iterable[str] = ()
) -> list[Phrase]:
    """The phrases, best first."""
    found = _spaced(sentences, language, small)
    for key, item in _unspaced(sentences, language, small).items():
        found.setdefault(key, item)
    title_terms = frozenset(title)
    for key, item in found.items():
        if title_terms.issuperset(key):
            item.count += 1
    _nest(found)
    weights = Counter(term for sentence in sentences for term in sentence.terms)
    scored = [
        Phrase(
            form := _form(item, language), key, item.count, score, tuple(dict.fromkeys(item.sentences)), item.seen[form]
        )
        for key, item in found.items()
        if (score := _score(key, item, len(sentences), weights, title_terms)) > 0 and _can_name(key, item, language)
    ]
    scored.sort(key=lambda phrase: (-phrase.score, phrase.sentences[0], phrase.text))
    fuller = _fuller(found, language) if language.code in ("en", "nl") else {}
    kept = _distinct(scored[:_CONSIDERED])
    return [
        replace(phrase, full=fuller[phrase.key][0], full_shown=fuller[phrase.key][1])
        if phrase.key in fuller and phrase.count <= _OFTEN and not title_terms.issuperset(phrase.key)
        else phrase
        for phrase in kept
    ]


def _can_name(key: Key, item: _Found, language: Language) -> bool:
    """Whether a run names a subject.

    A single word does not if it only ever describes another, and in Arabic only with its article. Several words that
    come once may be half a sentence: `oil collects dust`, `a kettle eleven dollars cheaper`.
    """
    if is_unspaced(key[0]):
        return True
    if len(key) > 1:
        if item.count > 1 or not language.before_nouns:
            return True
        form = _form(item, language)
        inner = form.lower().split()[:-1]
        verbal = language.code == "en" and any(word.endswith("s") and word[-2:] not in _NO_PLURAL for word in inner)
        named = all(word[:1].isupper() for word in form.split() if word not in language.joining)
        return named or not (verbal or any(word in language.numerals for word in inner) or len(key) > 3)
    if language.code == "ar":
        return item.definite > 0 or item.count > 2
    return item.describes < item.count


def _fuller(found: dict[Key, _Found], language: Language) -> dict[Key, tuple[str, int]]:
    """For single words: the commonest longer name that ends with them."""
    best: dict[Key, tuple[int, int, str, int]] = {}
    for key, item in found.items():
        if not 2 <= len(key) <= 3 or not item.whole:
            continue
        form = _form(item, language)
        if " of " in form or "'s " in form or "’s " in form:
            continue
        rated = (item.count, -len(key), form, item.seen[form])
        best[key[-1:]] = max(best.get(key[-1:], rated), rated)
    return {key: (form, shown) for key, (_, _, form, shown) in best.items()}


def _spaced(sentences: Sequence[Sentence], language: Language, small: frozenset[str]) -> dict[Key, _Found]:
    nouns = _Nouns(sentences, language)
    found: defaultdict[Key, _Found] = defaultdict(_Found)
    for sentence in sentences:
        words = sentence.words
        usable = [_is_content(word, small) for word in words]
        for start in range(len(words)):
            if not usable[start] or _is_weak(words[start], language):
                continue
            ends = list(_ends(sentence, start, usable, language))
            begins = start == 0 or start in sentence.breaks or not usable[start - 1]
            for end in ends:
                if (
                    _is_weak(words[end - 1], language)
                    or words[end - 1] in language.thin
                    or not nouns.name(sentence, start, end)
                ):
                    continue
                key = tuple(stem(word, language.code) for word in words[start:end] if word not in language.joining)
                item = found[key]
                item.count += 1
                item.whole += begins and end == ends[-1] and nouns.is_led(sentence, start, end)
                item.note(_bare(sentence.words_from(start, end)), sentence.index)
                if end - start == 1:
                    item.describes += _is_before_noun(sentence, end, usable, language)
                    item.definite += words[start].startswith(("ال", "لل", "وال", "بال"))
    return dict(found)


def _is_before_noun(sentence: Sentence, at: int, usable: list[bool], language: Language) -> bool:
    if language.code not in ("en", "nl") or at >= len(usable) or at in sentence.breaks or not usable[at]:
        return False
    return sentence.words[at] not in language.verbs and not sentence.words[at].endswith("ly")


def _bare(form: str) -> str:
    return form[:-2] if form.endswith(("'s", "’s")) else form


def _is_weak(word: str, language: Language) -> bool:
    if word in language.weak or word in language.numerals or word in language.months:
        return True
    return "-" in word and word.split("-")[0] in language.numerals


def _is_content(word: str, small: frozenset[str]) -> bool:
    return word not in small and len(word) <= _LONGEST_WORD and not _DULL.search(word) and not is_unspaced(word)


def _ends(sentence: Sentence, start: int, usable: list[bool], language: Language) -> Iterator[int]:
    """Where a run that begins at `start` can end: after each content word before the next break."""
    content = 0
    for at in range(start, min(len(usable), start + _LONGEST + 2)):
        if at > start and at in sentence.breaks:
            return
        if usable[at]:
            content += 1
            if content > _LONGEST:
                return
            yield at + 1
        elif sentence.words[at] not in language.joining or content != 1 or at - start > 2:
            return
        elif sentence.words[at] in _ARTICLES - _OF and usable[at - 1]:
            # `rate of the change`, but not `sees the change`.
            return


class _Nouns:
    """Which words name things, by the company they keep in this document."""

    def __init__(self, sentences: Sequence[Sentence], language: Language) -> None:
        self._language = language
        self._things: Counter[str] = Counter()
        self._deeds: Counter[str] = Counter()
        self._capitals: Counter[str] = Counter()
        self._all: Counter[str] = Counter()
        self._roots = Counter(term for sentence in sentences for term in sentence.terms)
        for sentence in sentences:
            before = ""
            for at, word in enumerate(sentence.words):
                if word in _ARTICLES and at and at not in sentence.breaks:
                    self._deeds[before] += 1
                if at and at not in sentence.breaks:
                    if before in language.before_nouns:
                        self._things[word] += 1
                    elif before in language.before_verbs:
                        self._deeds[word] += 1
                if at:
                    self._all[word] += 1
                    self._capitals[word] += sentence.surface[at][:1].isupper()
                before = word

    def name(self, sentence: Sentence, start: int, end: int) -> bool:
        words = sentence.words
        last = words[end - 1]
        if self._language.code == "de":
            led = start > 0 and start not in sentence.breaks and words[start - 1] in self._language.before_nouns
            return self._is_capital(last) and (end - start == 1 or led or self._is_capital(words[start]))
        if not self._language.before_nouns:
            return True
        if self._deeds[last] > self._things[last] or self._deeds[words[start]] > self._things[words[start]]:
            return False
        if last.endswith("ly") and self._language.code == "en":
            return False
        if end - start > 1:
            if end < len(words) and end not in sentence.breaks and words[end] in _ARTICLES:
                return False
            return not (self._language.code == "en" and (words[start].endswith("ly") or last.endswith("ed")))
        thing = self._things[last] > 0 or self._capitals[last] > 0 or sentence.kind not in ("prose", "item")
        # Without articles a noun shows itself only by coming again in other forms.
        thing = thing or (self._language.code == "ru" and self._roots[stem(last, self._language.code)] > 2)
        return thing and not (self._language.code == "en" and last.endswith("ed"))

    def is_led(self, sentence: Sentence, start: int, end: int) -> bool:
        """Whether an article or a preposition stands before it, as before a noun; or it begins something."""
        if end - start > 1 and self._may_claim(sentence, start, end):
            return False
        if end - start > 1 and self._language.code == "de" and self._is_capital(sentence.words[start]):
            return False
        if end - start > 1 and self._language.code not in ("en", "de") and not self._is_joined(sentence, start, end):
            return False
        if not self._language.before_nouns or start == 0 or start in sentence.breaks:
            return True
        return sentence.words[start - 1] in self._language.before_nouns

    def _may_claim(self, sentence: Sentence, start: int, end: int) -> bool:
        """Whether a run may be a subject with its verb: `benefit persists` would say something, not name it."""
        words, verbs = sentence.words, self._language.verbs
        if any(word in verbs for word in words[start:end]):
            return True
        goes_on = end < len(words) and end not in sentence.breaks and words[end] not in verbs
        ending = self._language.code == "en" and words[end - 1].endswith("s") and not words[end - 1].endswith("ss")
        return ending and goes_on

    def _is_joined(self, sentence: Sentence, start: int, end: int) -> bool:
        """Held together by `de` or by capitals; elsewhere the second word may well be a verb."""
        if any(word in self._language.joining for word in sentence.words[start:end]):
            return True
        return self._language.cased and all(word[:1].isupper() for word in sentence.surface[start:end])

    def _is_capital(self, word: str) -> bool:
        return 2 * self._capitals[word] > self._all[word] or not self._all[word]


def _unspaced(sentences: Sequence[Sentence], language: Language, small: frozenset[str]) -> dict[Key, _Found]:
    found: defaultdict[Key, _Found] = defaultdict(_Found)
    for sentence in sentences:
        if sentence.text.isascii():
            continue
        for part in _parts(sentence.text, language, small):
            item = found[tuple(part)]
            item.count += 1
            item.whole += 1
            item.note(part, sentence.index)
    if language.code != "zh":
        return dict(found)
    again = {key: item for key, item in found.items() if item.count > 1}
    return again if len(again) >= 3 else {key: item for key, item in found.items() if len(key) in (2, 4)}


def _parts(text: str, language: Language, small: frozenset[str]) -> Iterator[str]:
    if language.code == "ja":
        found = _JAPANESE.findall(text)
        yield from (word for word in found if word not in small and not _COUNTING.match(word) and word not in _VAGUE)
        return
    for run in UNSPACED_RUN.findall(text):
        if not _HAN.match(run):
            # Thai and its neighbours part phrases, not words, by spaces.
            yield from [run] if 2 <= len(run) <= 20 else []
            continue
        for start in range(len(run)):
            if run[start] in small:
                continue
            for end in range(start + 2, min(len(run), start + _LONGEST) + 1):
                part = run[start:end]
                if run[end - 1] not in small and not _COUNTING.match(part) and part not in _VAGUE:
                    yield part


def _nest(found: dict[Key, _Found]) -> None:
    """A run that comes only inside a longer one that comes again is that one's part, not a phrase."""
    for key, item in found.items():
        if item.count < 2 or len(key) < 2:
            continue
        for size in range(1, len(key)):
            for start in range(len(key) - size + 1):
                inner = found.get(key[start : start + size])
                if inner is not None:
                    inner.nested = max(inner.nested, item.count)


def _score(key: Key, item: _Found, total: int, weights: Counter[str], title: frozenset[str]) -> float:
    if item.count == 1 and len(key) > 1 and not item.whole:
        return 0.0
    free = item.count - item.nested
    if free <= 0 and item.nested:
        return 0.0
    own = item.count - 0.7 * item.nested
    length = 1 + 0.8 * (min(len(key), 3) - 1)
    company = sum(weights[term] for term in key) / len(key)
    if item.count == 1:
        # Something said once is a phrase by the weight of its words only.
        length = 1.15 if len(key) == 2 else 0.9 if len(key) == 1 else 0.8
        own = 0.5
    early = 1 + 0.4 * (1 - item.sentences[0] / max(1, total))
    named = 1.6 if title and title.issuperset(key) else 1.0
    return length * early * named * (math.pow(own, 0.85) + 0.15 * math.sqrt(company))


def _form(item: _Found, language: Language) -> str:
    """As it is mostly written; in Russian rather as a dictionary has it than as a sentence bends it."""
    return max(
        item.forms,
        key=lambda form: (
            not (language.code == "ru" and form.endswith(_BENT)),
            item.forms[form],
            -sum(map(str.isupper, form)),
            form,
        ),
    )


def _distinct(phrases: Sequence[Phrase]) -> list[Phrase]:
    """Without those that mostly repeat the words of a better one."""
    kept: list[Phrase] = []
    by_term: defaultdict[str, list[Phrase]] = defaultdict(list)
    for phrase in phrases:
        rivals = {rival.key: rival for term in phrase.key for rival in by_term[term]}.values()
        if any(_covers(rival.key, phrase.key) for rival in rivals):
            continue
        kept.append(phrase)
        for term in phrase.key:
            by_term[term].append(phrase)
        if len(kept) == _MOST:
            break
    return kept


def _covers(better: Key, other: Key) -> bool:
    if all(len(term) == 1 for term in better):
        return "".join(other) in "".join(better) or "".join(better) in "".join(other)
    shared = len(set(better) & set(other))
    return shared / len(other) > 0.6 or (len(other) > 1 and shared / len(set(better) | set(other)) >= 0.5)
