"""Are the embedded engine's answers right, does its confidence mean what it says, and is it silent when it must be?

    python -m benchmarks.answers [--docs ROOT] [--fit] [--of NAME …] [--picture FILE.svg]

Two kinds of questions, from manuals that Debian installs (ROOT is /usr/share, or where their packages were unpacked):

- lists of frequent questions, written by those who wrote the manuals (`faqs.py`): what stands under a question is its
  answer, and with that taken out of the collection the same question has none.
- `questions/*.tsv`: questions to a whole manual, each with a pattern that a right answer matches, or with none where
  the manual does not say it. Each was written from the manual alone, before an answer to it was seen.

The weights of `weft.knowledge.research.answering` are fitted on the lists in `faqs.TUNE` and on the manuals in `FITTED`
(`--fit` prints them anew, made to say what was right where each list and manual was left out); everything that is
reported is measured on the lists in `faqs.TEST` and on the manuals in `KEPT`, whose questions were first asked when all
weights and rules were there.

Beside the answers stand what BM25 alone would show first, and its first three passages; and how well the overlap of
words, instead of the fitted confidence, would tell right from wrong.
"""

from __future__ import annotations

import argparse
import math
import re
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import astuple, dataclass, fields, replace
from pathlib import Path
from typing import TypeVar

import numpy

from benchmarks.faqs import TEST, TUNE, questions
from benchmarks.reliability import bins, picture, table
from weft.files import Folder
from weft.knowledge.embedding import Embedder, Unavailable, load_embedder
from weft.knowledge.knowledge_base import KnowledgeBase, add_documents, add_files, create_collection, open_collection
from weft.knowledge.research import answering, weighing
from weft.knowledge.research.answering import Asked, JudgedPassage
from weft.knowledge.research.calibrate import calibrate
from weft.knowledge.research.depth import depth_named
from weft.knowledge.research.question import is_asked, plan_question
from weft.knowledge.research.quick import answer_question
from weft.knowledge.research.retrieve import retrieve
from weft.knowledge.research.weighing import AmongOthers, AnswerSigns, Weights
from weft.knowledge.search import Hit

QUESTIONS = Path(__file__).parent / "questions"
FITTED = {
    "developers-reference": ("developers-reference/*.html",),
    "debian-policy": ("doc/debian-policy/policy.html/*.html",),
    "maint-guide": ("doc/maint-guide/html/*.en.html",),
    "homebank": ("doc/homebank-data/help/*.html",),
    "privoxy": ("doc/privoxy/user-manual/*.html",),
    "rsnapshot": ("doc/rsnapshot/html/*.html",),
    "borgbackup": tuple(
        f"doc/borgbackup/html/{page}.html"
        for page in (
            *("introduction", "quickstart", "faq", "usage/prune", "usage/init", "usage/compact"),
            *("usage/check", "usage/general", "usage/create", "usage/mount", "usage/extract"),
        )
    ),
    "debian-history": ("doc/debian-history/docs/*.en.html",),
    "freedombox": ("freedombox/manual/en/[A-Z]*.part.html",),
    "calcurse": ("doc/calcurse/manual.html",),
    "gnubg": ("doc/gnubg/gnubg.html",),
    "gpsbabel": ("doc/gpsbabel/html/*.html",),
    "ntpsec": ("doc/ntpsec-doc/html/*.html",),
    "rsyslog": tuple(
        f"doc/rsyslog-doc/html/{pages}.html"
        for pages in (
            *("configuration/modules/[!i]*", "configuration/modules/im*", "rainerscript/queue*"),
            *("concepts/[!i]*", "tutorials/[!i]*"),
        )
    ),
    "mutt": ("doc/mutt/html/[!im]*.html", "doc/mutt/html/intro.html", "doc/mutt/html/mi*.html"),
}
KEPT = {
    "bibletime": ("doc/bibletime-data/handbook/html/en/*.html",),
    "vdirsyncer": ("doc/vdirsyncer-doc/html/*.html", "doc/vdirsyncer-doc/html/tutorials/[!i]*.html"),
    "exim": ("doc/exim4-doc-html/spec_html/ch-*.html", "doc/exim4-doc-html/spec_html/filter_ch-*.html"),
    "bind9": tuple(
        f"doc/bind9-doc/arm/{page}.html"
        for page in ("chapter*", "dnssec-guide", "general", "history", "manpages", "reference")
    ),
    "securing-debian": tuple(
        f"doc/harden-doc/html/en-US/{page}.html" for page in ("[!ci]*", "ch[!a]*", "credits", "intr*")
    ),
    "fetchmail-notes": ("doc/fetchmail/design-notes.html", "doc/fetchmail/fetchmail-features.html"),
    "brewing": ("doc/qbrew/primer/*.html", "doc/qbrew/book/*.html"),
    "crawl": ("crawl/docs/crawl_manual.txt",),
    "debian-edu": ("doc/debian-edu-doc-en/debian-edu-bookworm-manual.html",),
    "geeqie": ("doc/geeqie/html/*.html",),
    "apcupsd": ("doc/apcupsd/manual/manual.html",),
    "hacker-culture": ("doc/cfi-en/html/ch[1-9]web.htm",),
}
UNANSWERED = 0.3
"""What a question of a list counts whose answer was taken out: people mostly ask what is there."""
FOUND = 40
LINE = "# -- what was fitted\n\n"


@dataclass(frozen=True)
class Tried:
    """A question as it was judged: one of a list, with or without its answer in the collection, or one to a manual."""

    name: str
    """Of the list or the manual."""
    without: bool
    judged: list[JudgedPassage]
    holds: list[bool]
    """Of each, whether it is the answer."""
    most: list[float]
    """Of each, how likely it is at most."""
    keyword: list[bool]
    """Of the passages that BM25 alone finds, in order: whether each belongs to the answer."""

    @property
    def right(self) -> bool:
        return any(self.holds[:1])

    @property
    def shown(self) -> bool:
        return any(self.holds[:3])


@dataclass(frozen=True)
class Held:
    """A question that was judged by weights which know nothing of its list."""

    name: str
    chance: float
    """By the signs alone."""
    most: float
    right: bool
    without: bool

    @property
    def said(self) -> float:
        return min(self.most, self.chance)

    @property
    def counts(self) -> float:
        return UNANSWERED if self.without and self.name in TUNE else 1.0


@dataclass(frozen=True)
class Places:
    docs: Path
    """Where the manuals are."""
    collections: Path
    """Where what is made of them is kept, or a folder that goes with the process."""


def row(hit: Hit) -> dict[str, object]:
    passage = hit.passage
    named = {"heading": passage.heading, "title": "", "lead": passage.lead, "file": passage.file}
    return {**named, "content": passage.content, "likeness": hit.likeness}


def tried(name: str, at: Places, embedder: Embedder | Unavailable) -> Iterator[Tried]:
    listed = questions(name, at.docs)
    texts = [(one.file, one.answer.encode()) for one in listed]
    with collection_of(name, lambda knowledge: add_documents(knowledge, texts), at, embedder) as knowledge:
        total = knowledge.store.counts()["passages"]
        for one in listed:
            found = knowledge.search.find(one.question, limit=FOUND, rerank=False)
            keyword = knowledge.search.find(one.question, limit=FOUND, mode="keyword")
            asked = answering.read_question(one.question, knowledge.store.frequencies, total)
            for without in (False, True):
                rows = [row(hit) for hit in found.hits if not (without and hit.passage.file == one.file)]
                files = [hit.passage.file for hit in keyword.hits]
                judged = answering.judge(asked, rows, embedder)
                yield Tried(
                    name,
                    without,
                    judged,
                    [each.row["file"] == one.file for each in judged],
                    [answering.most_likely(asked, each) for each in judged],
                    [file == one.file for file in files if not (without and file == one.file)],
                )


@contextmanager
def manual(name: str, at: Places, embedder: Embedder | Unavailable) -> Iterator[KnowledgeBase]:
    """A manual as a collection."""
    pages = sorted(page for pattern in {**FITTED, **KEPT}[name] for page in at.docs.glob(pattern))
    if not pages:
        sys.exit(f"{name} is not under {at.docs}: unpack its package there, or name others with --of")
    with collection_of(name, lambda knowledge: add_files(knowledge, pages), at, embedder) as knowledge:
        yield knowledge


@contextmanager
def collection_of(
    name: str, add: Callable[[KnowledgeBase], object], at: Places, embedder: Embedder | Unavailable
) -> Iterator[KnowledgeBase]:
    """Made where collections are kept, and only as far as it is not there yet."""
    at.collections.mkdir(parents=True, exist_ok=True)
    with Folder.open(at.collections) as workspace:
        if not (at.collections / "knowledge" / name).exists():
            create_collection(workspace, name)
        with open_collection(workspace, name, embedder) as knowledge:
            add(knowledge)
            knowledge.update()
            knowledge.fill()
            yield knowledge


def questions_to(name: str) -> list[tuple[str, str]]:
    """The questions to a manual, each with the pattern of a right answer, or none where it does not say it."""
    lines = (QUESTIONS / f"{name}.tsv").read_text().splitlines()
    return [(question, pattern) for question, _, pattern in (line.partition("\t") for line in lines)]


def tried_on_manual(name: str, at: Places, embedder: Embedder | Unavailable) -> Iterator[Tried]:
    """Through the whole search, as a question is that somebody asks."""
    with manual(name, at, embedder) as knowledge:
        for question, pattern in questions_to(name):
            asked, judged = judged_as_asked(knowledge, question)
            said = [" ".join(each.shown for each in answering.answer_of(one)[0]) for one in judged]
            holds = [bool(pattern) and re.search(pattern, text, re.DOTALL) is not None for text in said]
            yield Tried(name, not pattern, judged, holds, [answering.most_likely(asked, one) for one in judged], [])


def judged_as_asked(knowledge: KnowledgeBase, question: str) -> tuple[Asked, list[JudgedPassage]]:
    bounds = depth_named("quick")
    plan = plan_question(question, bounds, knowledge.collection.grammar)
    sub_queries = calibrate(knowledge, plan, bounds)["sub_queries"]
    found = retrieve(knowledge, sub_queries, bounds)
    first = next((one for one in sub_queries if is_asked(one)), sub_queries[0])
    asked = answering.read_question(first["text"], knowledge.store.frequencies, knowledge.store.counts()["passages"])
    return asked, answering.judged_for(first, found["passages"], knowledge)


# -- fitting


def logistic(signs: numpy.ndarray, right: numpy.ndarray, counts: numpy.ndarray, least: float = 3.0) -> list[float]:
    """Weights, the constant first, on signs as they are; kept small by `least` on signs made comparable."""
    mean, spread = signs.mean(axis=0), signs.std(axis=0) + 1e-9
    given = numpy.c_[numpy.ones(len(signs)), (signs - mean) / spread]
    weights = numpy.zeros(given.shape[1])
    small = numpy.eye(given.shape[1]) * least
    small[0, 0] = 1e-6
    for _ in range(60):
        chance = 1 / (1 + numpy.exp(-given @ weights))
        slope = given.T @ (counts * (right - chance)) - small @ weights
        weights += numpy.linalg.solve(given.T @ (given * (counts * chance * (1 - chance))[:, None]) + small, slope)
    raw = weights[1:] / spread
    return [float(weights[0] - (raw * mean).sum()), *map(float, raw)]


def preferring(questions: Sequence[tuple[numpy.ndarray, numpy.ndarray]], least: float = 3.0) -> list[float]:
    """Weights by which the passages of a question that hold its answer come before its others: what all passages of a
    question have alike tells nothing about their order."""
    spread = numpy.vstack([signs for signs, _ in questions]).std(axis=0) + 1e-9
    weights = numpy.zeros(len(spread))
    for _ in range(25):
        slope, curve = -least * weights, least * numpy.eye(len(spread))
        for signs, holds in questions:
            given = signs / spread
            worth = given @ weights
            chance = numpy.exp(worth - worth.max())
            chance /= chance.sum()
            wanted = chance * holds / (chance @ holds)
            mean = given.T @ chance
            slope += given.T @ (wanted - chance)
            curve += (given.T * chance) @ given - numpy.outer(mean, mean)
        weights += 0.7 * numpy.linalg.solve(curve, slope)
    return list(map(float, weights / spread))


Kind = TypeVar("Kind", AnswerSigns, AmongOthers)


def _of(kind: type[Kind], values: Sequence[float]) -> Kind:
    return kind(**{one.name: float(value) for one, value in zip(fields(kind), values, strict=True)})


FOR_ORDER = ("told", "rank")
"""Signs that say which passage is best, and not how likely that one is right. By words alone `told` says both."""
FOR_SURE = ("heading", "bare")
"""And the other way round: where a heading names what was asked, other passages under it are as good."""


def without(signs: AnswerSigns, names: Sequence[str]) -> tuple[float, ...]:
    return astuple(replace(signs, **dict.fromkeys(names, 0.0)))


def fit(every: Sequence[Tried]) -> Weights:
    by_words = not any(one.signs.meaning for each in every for one in each.judged)
    for_order = [name for name in FOR_ORDER if not (by_words and name == "told")]
    order = _of(
        AnswerSigns,
        preferring(
            [
                (numpy.array([without(one.signs, FOR_SURE) for one in each.judged]), numpy.array(each.holds, float))
                for each in every
                if any(each.holds)
            ]
        ),
    )
    by_order = Weights(order=order, sure=order, among=_of(AmongOthers, [0.0] * 4), start=0.0)
    rows, right, counts = [], [], []
    for each in every:
        if (first := first_of(each, by_order)) is not None:
            best, among, holds, _ = first
            rows.append([*without(best.signs, for_order), *astuple(among)])
            right.append(float(holds))
            counts.append(UNANSWERED if each.without and each.name in TUNE else 1.0)
    given = numpy.array(rows), numpy.array(right)
    start, *weights = calibrated(logistic(*given, numpy.ones(len(rows))), *given, numpy.array(counts))
    size = len(fields(AnswerSigns))
    among = _of(AmongOthers, weights[size:])
    return Weights(order=order, sure=_of(AnswerSigns, weights[:size]), among=among, start=start)


def calibrated(
    weights: Sequence[float], signs: numpy.ndarray, right: numpy.ndarray, counts: numpy.ndarray
) -> list[float]:
    """The same weights, made to say how often the answer is right where what is not there is asked as often as it is:
    to tell right from wrong every question counts the same."""
    said = weights[0] + signs @ numpy.array(weights[1:])
    start, slope = logistic(said[:, None], right, counts)
    return [start + slope * weights[0], *(slope * one for one in weights[1:])]


def first_of(each: Tried, weights: Weights) -> tuple[JudgedPassage, AmongOthers, bool, float] | None:
    """The passage that these weights put first, how it stands among the others, whether it is the answer, and how
    likely that is at most."""
    if not each.judged:
        return None
    found = answering.in_order(each.judged, weights)
    at = next(at for at, one in enumerate(each.judged) if one.row is found[0].row)
    return found[0], answering.among_others(found, 0), each.holds[at], each.most[at]


def weighed(each: Tried, weights: Weights) -> Held | None:
    """What these weights say of a question: how likely its best passage answers, and whether it does."""
    if (first := first_of(each, weights)) is None:
        return None
    best, among, holds, most = first
    return Held(each.name, weights.likely(best.signs, among), most, holds, each.without)


def held_out(every: Sequence[Tried]) -> list[Held]:
    """Each list and manual by weights that were fitted on the others: the bounds `ANSWER` and `HIGH` are chosen so."""
    lists = dict.fromkeys(one.name for one in every)
    found = []
    for name in lists:
        weights = fit([one for one in every if one.name != name])
        found += [weighed(one, weights) for one in every if one.name == name]
    return [one for one in found if one is not None]


def recalibrated(weights: Weights, held: Sequence[Held]) -> tuple[Weights, list[Held]]:
    """The same weights, and what they said, made to say how often the answer was right on manuals they know nothing of:
    a list of answers is asked otherwise than a manual."""
    some = [one for one in held if one.name in FITTED and one.most > answering.ANSWER] or list(held)
    right = numpy.array([float(one.right) for one in some])
    start, slope = logistic(numpy.array([[log_odds(one.chance)] for one in some]), right, numpy.ones(len(some)))
    made = Weights(
        order=weights.order,
        sure=_of(AnswerSigns, [slope * one for one in astuple(weights.sure)]),
        among=_of(AmongOthers, [slope * one for one in astuple(weights.among)]),
        start=start + slope * weights.start,
    )
    return made, [replace(one, chance=1 / (1 + math.exp(-start - slope * log_odds(one.chance)))) for one in held]


def log_odds(chance: float) -> float:
    return math.log(chance / (1 - chance))


def report_held(held: Sequence[Held]) -> None:
    """What was said of lists and manuals that were left out, and how often it was right."""
    for names, kind in ((FITTED, "manuals"), (TUNE, "lists")):
        own = [one for one in held if one.name in names]
        if own:
            sure = auc([one.said for one in own], [one.right for one in own])
            print(f"\n{kind}, each by weights fitted on the others; AUC {sure:.3f}\n")
            print(table(bins([(one.said, one.right, one.counts) for one in own])))
            print()
            report_bounds(own)


def report_bounds(held: Sequence[Held]) -> None:
    print("| from | direct | right of direct | refused | right of all | said |\n| --- | --- | --- | --- | --- | --- |")
    there, absent = [one for one in held if not one.without], [one for one in held if one.without]
    for bound in (0.45, 0.5, 0.55, 0.6, 0.65, 0.7, 0.75, 0.8, 0.85, 0.87, 0.9):
        direct = [one for one in there if one.said >= bound]
        wrong = [one for one in absent if one.said >= bound]
        right = sum(one.right for one in direct)
        whole = sum(one.counts for one in (*direct, *wrong)) or 1.0
        cells = [
            share(len(direct), len(there)),
            share(right, len(direct)),
            share(len(absent) - len(wrong), len(absent)),
            f"{right / whole:.2f}",
            f"{sum(one.said * one.counts for one in (*direct, *wrong)) / whole:.2f}",
        ]
        print(f"| {bound} | {' | '.join(cells)} |")


def shown(name: str, weights: Weights) -> str:
    def told(values: AnswerSigns | AmongOthers, among: Sequence[str]) -> str:
        return ", ".join(f"{one}={getattr(values, one):.2f}" for one in among)

    names = [one.name for one in fields(AnswerSigns)]
    lines = [
        f"    {part}=AnswerSigns({told(values, names[:4])},\n        {told(values, names[4:])}),\n"
        for part, values in (("order", weights.order), ("sure", weights.sure))
    ]
    among = told(weights.among, [one.name for one in fields(AmongOthers)])
    return (
        f"{name}: Final = Weights(\n{''.join(lines)}    among=AmongOthers({among}), start={weights.start:.2f},\n)"
        "  # fmt: skip"
    )


# -- measuring


def auc(scores: Sequence[float], right: Sequence[bool]) -> float:
    """How often a right one has the higher score than a wrong one."""
    order = numpy.argsort(numpy.argsort(numpy.array(scores))) + 1
    good = numpy.array(right, dtype=bool)
    count = int(good.sum())
    others = len(good) - count
    return float(order[good].sum() - count * (count + 1) / 2) / (count * others) if count and others else float("nan")


def report_lists(every: Sequence[Tried]) -> None:
    print("| list | asked | right first | in three | BM25 first | BM25 in three | direct | right of direct | refused |")
    print("| --- | --- | --- | --- | --- | --- | --- | --- | --- |")
    for name in (*dict.fromkeys(one.name for one in every), "all"):
        own = [one for one in every if name in (one.name, "all")]
        there = [one for one in own if not one.without]
        absent = [one for one in own if one.without]
        direct = [one for one in there if one.judged and one.judged[0].probability >= answering.ANSWER]
        wrong = [one for one in absent if one.judged and one.judged[0].probability >= answering.ANSWER]
        cells = [
            share(sum(one.right for one in there), len(there)),
            share(sum(one.shown for one in there), len(there)),
            share(sum(any(one.keyword[:1]) for one in there), len(there)),
            share(sum(any(one.keyword[:3]) for one in there), len(there)),
            share(len(direct), len(there)),
            share(sum(one.right for one in direct), len(direct)),
            share(len(absent) - len(wrong), len(absent)),
        ]
        print(f"| {name} | {len(there)} | {' | '.join(cells)} |")
    some = [one for one in every if one.judged]
    right = [one.right for one in some]
    print(
        f"\nAUC of right against wrong: confidence {auc([one.judged[0].probability for one in some], right):.3f},",
        end="",
    )
    print(f" likeness of meaning {auc([one.judged[0].signs.meaning for one in some], right):.3f},", end="")
    print(f" overlap of words {auc([one.judged[0].signs.share for one in some], right):.3f}")
    high = [one for one in some if one.judged[0].probability >= answering.HIGH]
    of = sum(UNANSWERED if one.without else 1 for one in high)
    print(
        f"of those called high right: {sum(one.right for one in high) / of:.2f}\n" if high else "none is called high\n"
    )


def share(part: int, whole: int) -> str:
    return f"{100 * part / whole:.0f} %" if whole else "–"


def report_manual(name: str, at: Places, embedder: Embedder | Unavailable) -> None:
    """Whole answers, through the door that a conversation uses."""
    rows = questions_to(name)
    counts = dict.fromkeys(("right", "partly", "wrong", "missed", "refused", "BM25", "high", "high right"), 0)
    with manual(name, at, embedder) as knowledge:
        for question, pattern in rows:
            one_question(knowledge, question, pattern, counts)
    asked = sum(bool(pattern) for _, pattern in rows)
    print(
        f"| {name} | {asked} | {counts['right']} | {counts['partly']} | {counts['wrong']} | {counts['missed']} |"
        f" {counts['BM25']} |",
        end="",
    )
    print(f" {len(rows) - asked} | {counts['refused']} | {counts['high right']} of {counts['high']} |")


def one_question(knowledge: KnowledgeBase, question: str, pattern: str, counts: dict[str, int]) -> None:
    answer = answer_question(knowledge, question, session="bench")
    direct = answer["outcome"] == "answered"
    said = re.compile(pattern, re.S)
    sentences = " ".join(one["text"] for section in answer["sections"] for one in section["sentences"])
    right = direct and bool(pattern) and bool(said.search(sentences))
    if direct and answer["level"] == "high":
        counts["high"] += 1
        counts["high right"] += right
    if not pattern:
        counts["refused"] += not direct
        return
    nearest = any(said.search(f"{one['heading']} {one.get('glimpse', one['text'])}") for one in answer["nearest"])
    counts[("right" if right else "wrong") if direct else "partly" if nearest else "missed"] += 1
    hits = knowledge.search.find(question, limit=3, mode="keyword").hits
    counts["BM25"] += any(said.search(hit.passage.indexed) for hit in hits)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--docs", type=Path, default=Path("/usr/share"), metavar="ROOT")
    parser.add_argument("--collections", type=Path, metavar="FOLDER", help="keep what is made of the manuals here")
    parser.add_argument("--fit", action="store_true", help="fit the weights anew, and print them")
    parser.add_argument("--write", action="store_true", help="with --fit: put them where they are read from")
    parser.add_argument("--picture", type=Path, help="draw the reliability diagram into this file")
    parser.add_argument("--of", nargs="+", default=[], metavar="NAME", help="only these lists and manuals")
    given = parser.parse_args()

    def wanted(names: Iterable[str]) -> list[str]:
        return [name for name in names if not given.of or name in given.of]

    with tempfile.TemporaryDirectory() as place:
        measure(given, Places(given.docs, given.collections or Path(place)), wanted)


def measure(given: argparse.Namespace, at: Places, wanted: Callable[[Iterable[str]], list[str]]) -> None:
    embedder = load_embedder()
    if isinstance(embedder, Unavailable):
        sys.exit(f"not measured: {embedder.reason}")
    if given.fit:
        fitted: list[str] = []
        for name, by in (("BY_MEANING", embedder), ("BY_WORDS", Unavailable("not wanted"))):
            every = [one for each in wanted(TUNE) for one in tried(each, at, by)]
            every += [one for each in wanted(FITTED) for one in tried_on_manual(each, at, by)]
            weights, held = recalibrated(fit(every), held_out(every))
            fitted.append(shown(name, weights))
            print(f"{fitted[-1]}\n", flush=True)
            report_held(held)
        if given.write:
            path = Path(weighing.__file__)
            above, line, _ = path.read_text().partition(LINE)
            path.write_text("\n".join([f"{above}{line}{fitted[0]}", *fitted[1:], ""]))
        return
    every = [one for each in wanted(TEST) for one in tried(each, at, embedder)]
    report_lists(every)
    found = [(one.judged[0].probability, one.right, UNANSWERED if one.without else 1.0) for one in every if one.judged]
    print(table(bins(found)))
    if given.picture:
        given.picture.write_text(picture(bins(found)))
    print(
        "\n| manual | answerable | right | partly | wrong | not found | BM25 in three | without answer | refused"
        " | high and right |"
    )
    print("| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |")
    for name in wanted((*FITTED, *KEPT)):
        report_manual(name, at, embedder)


if __name__ == "__main__":
    main()
