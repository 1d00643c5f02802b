"""Any text gives valid, true artifacts or, without a single word in it, a ValueError that says so."""

from __future__ import annotations

import random
import time

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from tests.models import kits
from weft.models import embedded

ODD = {
    "a word": "Hello",
    "a sentence": "The ship sank on a Tuesday, with nobody on board.",
    "a question": "Why?",
    "a number": "42",
    "emoji": "🎉 Wow 🎉🎉 that was great 👍🏽 see you tomorrow 👩‍👩‍👧",
    "chinese": "你好",
    "a chinese sentence": "猫不吃东西，因为它病了。",
    "japanese": "猫は何も食べません。「お腹が痛い」と医者は言った。薬は三日分あります。",
    "korean": "고양이는 아무것도 먹지 않는다. 수의사는 약을 주었다. 그러나 고양이는 약도 먹지 않았다.",
    "arabic": "القط لا يأكل شيئا لأنه مريض. ماذا نفعل؟",
    "hindi": "बिल्ली कुछ नहीं खाती, क्योंकि वह बीमार है। डॉक्टर ने दवा दी। लेकिन उसने दवा भी नहीं खाई।",
    "russian": "Кошка не ест, потому что она больна. Врач дал лекарство. Но кошка не ест и лекарство.",
    "thai": "สวัสดีครับ ผมชื่อจอห์น วันนี้อากาศดีมาก",
    "italian": "Il gatto non mangia perché è malato. Il medico ha dato una medicina. Ma il gatto non la prende.",
    "portuguese": "O gato não come porque está doente. O médico deu um remédio. Mas o gato não o toma.",
    "dutch": "De kat eet niet omdat hij ziek is. De dokter gaf een medicijn. Maar de kat wil het niet.",
    "polish": "Kot nie je, bo jest chory. Lekarz dał mu lekarstwo, ale kot go nie chce. To już trzeci dzień.",
    "four languages": "The cat does not eat. Die Katze ist krank, aber nicht sehr. Le chat est là. 猫在这里。",
    "code": "def add(a, b):\n    # Adds two numbers, and nothing else.\n    return a + b\n\n\nprint(add(1, 2))\n",
    "fenced code": "```python\nx = 1\nprint(x)\n```",
    "json": '{"name": "Ada", "tags": ["one", "two"], "size": 3}',
    "a table": "| town | people |\n|---|---|\n| Oslo | 700,000 |\n| Bern | 134,000 |\n| Rome | 2,800,000 |\n",
    "values and commas": "name,age,city\nAnn,31,Rome\nBob,42,Oslo\nCid,53,Bern\n",
    "columns": "NAME     SIZE   OWNER\nalpha      12   root\nbeta      340   anna\ngamma       7   bert\n",
    "front matter only": "---\ntitle: A title\n---\n",
    "front matter and a word": "---\ntitle: A title\n---\n\nHi.",
    "a comment only": "<!-- nothing but a comment here -->",
    "headings only": "# One\n\n## Two\n\n## Three\n",
    "bullets": "- milk\n- bread\n- eggs and butter\n",
    "captions": "WEBVTT\n\n00:01.000 --> 00:04.000\nHello and welcome\n\n00:05.000 --> 00:09.000\nto the show today\n",
    "stamped lines": "[00:01] hello there\n[00:02] my name is Ann\n[00:03] what will you do today\n",
    "turns": "A: hi there my friend\nB: hello to you too\nA: how is your cat today\nB: it does not eat anything\n",
    "small letters": "so i went there. it was closed. nobody knew why. then we left, and that was it.",
    "one long word": "a" * 5000,
    "one word often": "word " * 3000,
    "no stops": "and then we went there and it was good " * 200,
    "nul and bell": "a\x00b\x07c and some more words here",
    "right to left mark": "\u202eabc def",
    "combining": "e\u0301te\u0301 a\u0308 ne\u0301 plus",
    "only quotes": '"""" "" "a" \'b\' «c» „d“',
    "an address": "https://example.com/some/path?query=1#part",
    "windows lines": "First line here.\r\nSecond line here.\r\n\r\nThird paragraph, longer than the others.\r\n",
    "byte order mark": "\ufeffA text that begins with a mark. And it goes on a little.",
    "markup": "**Bold** and _soft_ and [a link](http://x.y/z) and `code` and ~~gone~~ <b>tags</b> and a note[^1].",
    "unclosed": "A ( bracket, a “quote, an *emphasis and a [link( that nobody closes. Then more.",
}


@pytest.mark.parametrize("name", ODD)
def test_odd_texts_give_valid_and_true_kits(name: str) -> None:
    kit = kits.make(ODD[name])
    assert kits.schema_errors(kit) == []
    assert kits.findings(kit) == []
    assert kits.misplaced(kit) == []
    assert kits.unsupported(kit) == []


@pytest.mark.parametrize("text", ["", "   \n\t ", "🎉🎉🎉", "---", "***", "…?!", "\x00", "\u200b"])
def test_a_text_without_words_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="no words"):
        embedded.summary(text, content_id="c")


def test_what_is_short_is_said_once_and_nothing_is_added() -> None:
    kit = kits.make(ODD["a sentence"])
    assert kit.summary["headline"] == ODD["a sentence"].rstrip(".")
    assert kit.summary["bullets"] == []
    assert len(kit.outline["sections"]) == 1
    assert kit.markdown == f"# {ODD['a sentence'].rstrip('.')}\n"


@pytest.mark.parametrize("before", [60, 75, 85, 95, 150, 190, 390])
def test_no_number_is_cut_in_half(before: int) -> None:
    """Where a text without spaces has to be cut, half of a number would be another number."""
    kit = kits.make("字" * before + "1234567890,55" + "字" * 700)
    assert kits.findings(kit) == []
    assert kits.schema_errors(kit) == []


@pytest.mark.parametrize("name", ["a table", "values and commas", "columns"])
def test_a_table_is_said_to_be_one_with_the_names_of_its_columns(name: str) -> None:
    kit = kits.make(ODD[name])
    header = ODD[name].splitlines()[0].replace("|", " ").replace(",", " ").split()
    told = kit.summary.get("note", kit.summary["headline"])
    assert all(column in told for column in header)


@pytest.mark.slow
@pytest.mark.parametrize(
    "piece",
    [
        "*a ",
        "**a* ",
        '"a ',
        "“a ",
        "[x](",
        "![x](",
        "<a ",
        "<!-- a ",
        "$$ a ",
        "`a ",
        "(((a",
        "A: b c d e f\n",
        "a, ",
        "00:01 a\n",
        "1. x\n",
    ],
)
def test_marks_without_end_cost_no_more_than_words(piece: str) -> None:
    """20,000 characters of something that is never closed; a pattern that looks too far would take minutes."""
    text = piece * (20_000 // len(piece))
    begun = time.process_time()
    kit = kits.make(text)
    assert time.process_time() - begun < 4
    assert kits.schema_errors(kit) == []


@pytest.mark.slow
def test_a_transcript_of_two_hours() -> None:
    """About 20,000 words by two people, with times, and hardly any two sentences the same."""
    chance = random.Random(7)
    pool = [
        part
        for name in ("interview-bees.txt", "night-trains.md", "essay-maps.md")
        for part in kits.text_of(name).split()
    ]
    lines = []
    for turn in range(400):
        said = " ".join(chance.choice(pool).strip("[]*#") for _ in range(50))
        minutes, seconds = divmod(turn * 18, 60)
        speaker = ("Ana Ruiz", "Host")[turn % 2]
        lines.append(f"[{minutes // 60:02d}:{minutes % 60:02d}:{seconds:02d}] {speaker}: {said}.\n")
    kit = kits.make("\n".join(lines))
    assert kits.schema_errors(kit) == []
    assert kits.findings(kit) == []
    assert kits.misplaced(kit) == []
    assert kit.summary["detectedSource"] == "transcript"
    assert kit.summary["readingTimeMinutes"] > 60
    assert {quote["speaker"] for quote in kit.summary["importantQuotes"]} <= {"Ana Ruiz", "Host"}


PIECES = st.sampled_from(
    [
        *ODD.values(),
        *(line for name in kits.NAMES for line in kits.text_of(name).splitlines() if line.strip()),
        *("\n\n", "\n", " ", "# ", "- ", "> ", "| ", "```\n", "**", "_", "(", "“", "”", '"', ": ", "..."),
        *("00:01:02 ", "Ann: ", "Note: ", "1. ", "*3", "\t", "—"),
    ]
)
TEXTS = st.one_of(
    st.text(max_size=300),
    st.lists(PIECES, max_size=14).map("".join),
    st.lists(st.one_of(PIECES, st.text(max_size=30)), max_size=10).map("\n".join),
)
STYLES = st.fixed_dictionaries(
    {
        "tone": st.sampled_from(["beginner", "intermediate", "expert", "mixed"]),
        "voice": st.sampled_from(["first-person", "third-person", "instructional"]),
        "targetWordCount": st.integers(100, 10_000),
    }
)
WISHES = st.lists(
    st.fixed_dictionaries(
        {"topic": st.sampled_from(["bees", "AI", "茶", "web 2.0", "Wald"]), "interestLevel": st.integers(1, 5)}
    )
)


@pytest.mark.slow
@settings(max_examples=150, deadline=None, suppress_health_check=list(HealthCheck), derandomize=True)
@given(text=TEXTS, style=STYLES, topics=WISHES)
@example(text="a  b", style={"tone": "expert", "voice": "instructional", "targetWordCount": 100}, topics=[])
def test_any_text_at_all(text: str, style: dict[str, object], topics: list[dict[str, object]]) -> None:
    if not any(sign.isalnum() for sign in text):
        with pytest.raises(ValueError, match="no words"):
            kits.make(text, {"topics": topics, "style": style})
        return
    kit = kits.make(text, {"topics": topics, "style": style})
    assert kits.schema_errors(kit) == []
    assert kits.findings(kit) == []
    assert kits.misplaced(kit) == []
    assert sum(part["estimatedWords"] for part in kit.outline["sections"]) == style["targetWordCount"]
