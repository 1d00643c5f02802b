"""The last step of `draft`: the piece to read, with a note on each sentence of it and of its variants: what it rests
on, in which source, and what is known of it.

*quoted*: a source says it in its words; *contradicted*: one says the same with one thing turned round; else *judged*,
when a model says that a source supports it and shows the words, or *not_checked*, with the reason. The words that a
drafter cut out of a source say only where to look: a sentence is held against the whole sentences of the sources, since
what stands around a cut may deny it. A sentence that names none is the writer's own. What is contradicted stands in the
piece marked, never silently, and so does what the sources disagree on. What a person says against a verdict stands in
its place.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from weft.checks.claims import STATES as VERDICTS
from weft.checks.claims import Verdict
from weft.checks.folding import fold, places_of
from weft.checks.judging import held, judged_claims
from weft.checks.overruling import overruled
from weft.checks.statements import read_statement
from weft.checks.supported import held_against
from weft.language.sentences import sentence_spans, sentences
from weft.protocol.hashes import hash_value
from weft.protocol.steps import StepInput

STATES = ("quoted", "judged", "contradicted", "not_checked")
JUDGEMENT = "judgement.json"
VARIANTS = {"newsletter": "Newsletter", "thread": "Thread", "talk": "Talk", "subject_lines": "Subject lines"}
OWN = "no source has it in these words, and none are named for it"


def judge(step: StepInput) -> dict[str, Any]:
    """Without a model nothing is judged."""
    return {"judgements": []}


def hold(step: StepInput) -> dict[str, Any]:
    """Sends variants back that a source contradicts; what is still so at the end is marked in the piece."""
    found, variants = [], step.artifacts.get("variants.json") or {}
    for name, said in variants.items():
        title = VARIANTS[name]
        for text in [said] if isinstance(said, str) else said:
            for low, high in sentence_spans(text):
                verdict = held_against(text[low:high], [step.text])
                if verdict.state == "contradicted":
                    found.append(f"{title}: “{text[low:high]}”: {verdict.reason}; the source: “{verdict.sentence}”")
    return {"verdict": "failed" if found else "passed", "feedback": found}


def piece(step: StepInput) -> dict[str, Any]:
    draft, variants = step.artifacts["draft.json"], step.artifacts.get("variants.json") or {}
    desk = _Desk(step)
    sections, others = list(_sections(draft, desk)), list(_variants(variants, desk))
    body = "\n\n".join([*sections, *_disagreements(desk), *others, *desk.notes])
    found = list(desk.sentences.values())
    return {
        "piece.md": body + "\n",
        "sources.json": {
            "sentences": found,
            "counts": {state: sum(1 for one in found if one["state"] == state) for state in STATES},
            "disagreements": desk.disagreements,
        },
    }


@dataclass(frozen=True)
class _Source:
    title: str
    start: int
    text: str


class _Desk:
    """The sources, and what was found of each sentence so far: one that stands in several places is looked at once."""

    def __init__(self, step: StepInput) -> None:
        self._step = step
        self._sources = _sources(step)
        self._spans = sentence_spans(step.text)
        self._model = step.models.get(JUDGEMENT, "")
        self._claims = judged_claims(step.artifacts[JUDGEMENT]) if self._model else {}
        self._notes: dict[str, int] = {}
        self.sentences: dict[str, dict[str, Any]] = {}
        told = step.artifacts["angles.json"].get("contradictions", [])
        self.disagreements: list[dict[str, Any]] = [
            {"about": one["about"], "sides": [self._side(words) for words in one["passages"]]} for one in told
        ]

    @property
    def notes(self) -> list[str]:
        return [f"[^{number}]: {note}" for note, number in self._notes.items()]

    def told(self, text: str, place: str, rests_on: Sequence[str] = ()) -> str:
        """A sentence as the piece has it, with its mark."""
        name = f"s{hash_value(fold(text).lowered)[:8]}"
        if name not in self.sentences:
            self.sentences[name] = {"id": name, "text": text, "in": [], **self._judged(name, text, rests_on)}
        one = self.sentences[name]
        if place not in one["in"]:
            one["in"].append(place)
        note = self._note(one)
        number = self._notes.setdefault(note, len(self._notes) + 1)
        return f"{f'**{text}**' if one['state'] == 'contradicted' else text}[^{number}]"

    def _judged(self, name: str, text: str, rests_on: Sequence[str]) -> dict[str, Any]:
        around = self._sentences(span for words in rests_on for span in places_of(words, self._step.text))
        exact = self._exact(text, around)
        reason = exact.reason if rests_on or exact.state != "not_checked" else OWN
        verdict: dict[str, Any] = {"id": name, "state": exact.state, "reason": reason, "passages": around}
        if exact.state != "not_checked":
            verdict["passages"] = self._said(text, exact, around) or around
        claims = self._claims.get(fold(text).text, ())
        if exact.state == "not_checked" and self._model and (claims or rests_on):
            said = held(text, claims, {"source": self._step.text}, self._model)
            verdict |= {"state": said.state, "reason": said.reason}
            if said.state != "not_checked":
                verdict |= {"judged_by": self._model, "passages": self._shown(said.state, said.words, claims)}
        if verdict["state"] in ("quoted", "judged"):
            self._dispute(text, verdict["passages"])
        return overruled(verdict, self._step.overruled)

    def _exact(self, text: str, around: Sequence[Sequence[int]]) -> Verdict:
        """What the sources say of it: first where the drafter says it stands, each sentence with the one before it,
        which tells whom its pronouns mean."""
        whole = held_against(text, [source.text for source in self._sources])
        if not around:
            return whole
        near = held_against(text, [self._with_lead(at) for at, span in enumerate(self._spans) if list(span) in around])
        return min((near, whole), key=lambda verdict: VERDICTS.index(verdict.state))

    def _with_lead(self, at: int) -> str:
        low, high = self._spans[at]
        before = self._spans[at - 1] if at else (low, low)
        if self._source(before[0]) != self._source(low):
            before = low, low
        return f"{self._step.text[slice(*before)]}\n\n{self._step.text[low:high]}"

    def _sentences(self, spans: Iterable[Sequence[int]]) -> list[list[int]]:
        """The whole sentences in which something stands."""
        wanted = list(spans)
        return [list(one) for one in self._spans if any(_meet(one, span) for span in wanted)]

    def _said(self, text: str, exact: Verdict, around: Sequence[Sequence[int]]) -> list[list[int]]:
        """Where the sources have the sentences that a verdict of code names."""
        parts = sentences(text)
        told = [self._exact(part, around).sentence for part in parts] if len(parts) > 1 else []
        found: list[list[int]] = []
        for sentence in dict.fromkeys([exact.sentence, *told]):
            places = [list(span) for span in self._spans if self._reads(span) == sentence]
            places = places or self._sentences(places_of(sentence, self._step.text))
            found += [one for one in places if one in around][:1] or places[:1]
        return sorted(one for at, one in enumerate(found) if one not in found[:at])

    def _reads(self, span: Sequence[int]) -> str:
        return read_statement(" ".join(self._step.text[slice(*span)].split())).text

    def _shown(self, state: str, words: str, claims: Sequence[Mapping[str, Any]]) -> list[list[int]]:
        """The words that a judge shows: of all claims, or of the one that speaks against it."""
        told = [str(one["words"]) for one in claims] if state == "judged" else [words]
        return [list(span) for one in dict.fromkeys(told) for span in places_of(one, self._step.text)[:1]]

    def _dispute(self, text: str, spans: list[list[int]]) -> None:
        """Where another source says the same with one thing turned round, the sources disagree."""
        mine = {self._source(span[0]).start for span in spans}
        for source in self._sources:
            if not mine or source.start in mine or self._against(spans):
                continue
            other = held_against(text, [source.text])
            if other.state == "contradicted":
                sides = [self._told_side(span) for span in spans]
                self.disagreements.append({"about": other.reason, "sides": [*sides, self._side(other.sentence)]})

    def _side(self, words: str) -> dict[str, Any]:
        """In whole sentences: what stands around the words may deny them."""
        spans = self._sentences(places_of(words, self._step.text)[:1])
        if not spans:
            return {"source": self._sources[0].title, "words": " ".join(words.split())}
        return self._told_side([spans[0][0], spans[-1][1]])

    def _told_side(self, span: Sequence[int]) -> dict[str, Any]:
        words = " ".join(self._step.text[slice(*span)].split())
        return {"source": self._source(span[0]).title, "words": words, "passage": list(span)}

    def _source(self, at: int) -> _Source:
        return next((one for one in reversed(self._sources) if one.start <= at), self._sources[0])

    def _against(self, spans: Sequence[Sequence[int]]) -> list[dict[str, Any]]:
        """The other sides of what the sources disagree on, where one side is among these passages."""
        found = []
        for one in self.disagreements:
            mine = [side for side in one["sides"] if any(_meet(side.get("passage"), span) for span in spans)]
            found += [side for side in one["sides"] if mine and side not in mine]
        return found

    def _note(self, one: Mapping[str, Any]) -> str:
        by: dict[str, list[str]] = {}
        for side in map(self._told_side, one["passages"]):
            by.setdefault(side["source"], []).append(f"“{side['words']}”")
        rested = "; ".join(f"{source}: {' … '.join(said)}" for source, said in by.items())
        against = self._against(one["passages"]) if one["state"] in ("quoted", "judged") else []
        others = "".join(f"; but {side['source']}: “{side['words']}”" for side in against)
        return f"{rested} ({_state(one)}){others}" if rested else f"{_state(one)}{others}"


def _state(one: Mapping[str, Any]) -> str:
    state = one["state"].replace("_", " ") + (f" by {one['judged_by']}" if "judged_by" in one else "")
    if said := one.get("overruled"):
        return f"{state}: {said['why']}" if "judged_by" in one else f"{state}, says {said['by']}: {said['why']}"
    return state if one["state"] in ("quoted", "judged") else f"{state}: {one['reason']}"


def _sources(step: StepInput) -> list[_Source]:
    """Several that were given together begin with a heading each, where the document says."""
    text, about = step.text, step.document
    places = [int(at) for at in about.get("extra", {}).get("parts", "").split()]
    starts = [at for at in places if text.startswith("# ", at)]
    if len(starts) < 2:
        return [_Source(about.get("title", "source"), 0, text)]
    ends = [*starts[1:], len(text)]
    return [
        _Source(text[at:end].split("\n", 1)[0][2:].strip(), at, text[at:end])
        for at, end in zip(starts, ends, strict=True)
    ]


def _meet(one: Sequence[int] | None, other: Sequence[int]) -> bool:
    return one is not None and one[0] < other[1] and other[0] < one[1]


def _sections(draft: Mapping[str, Any], desk: _Desk) -> Iterator[str]:
    yield f"# {draft['title']}"
    for section in draft["sections"]:
        yield f"## {section['heading']}"
        yield " ".join(desk.told(one["text"], "draft", one["rests_on"]) for one in section["sentences"])


def _disagreements(desk: _Desk) -> Iterator[str]:
    if not desk.disagreements:
        return
    yield "## Where the sources disagree"
    lines = []
    for one in desk.disagreements:
        sides = "; ".join(f"{side['source']}: “{side['words']}”" for side in one["sides"])
        lines.append(f"- {one['about']}. {sides}")
    yield "\n".join(lines)


def _variants(variants: Mapping[str, Any], desk: _Desk) -> Iterator[str]:
    if not variants:
        return
    yield "---"
    for name, title in VARIANTS.items():
        place = title.lower()
        if isinstance(variants[name], str):
            yield f"## {title}\n\n{_marked(variants[name], place, desk)}"
            continue
        items = [_marked(text, place, desk) for text in variants[name]]
        numbered = name != "subject_lines"
        yield f"## {title}\n\n" + "\n".join(
            f"{f'{at}.' if numbered else '-'} {item}" for at, item in enumerate(items, 1)
        )


def _marked(text: str, place: str, desk: _Desk) -> str:
    """Each of its sentences with its mark, the lines as they are."""
    told, end = "", 0
    for low, high in sentence_spans(text):
        told += text[end:low] + desk.told(text[low:high], place)
        end = high
    return told + text[end:]
