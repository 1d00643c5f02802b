"""Reading a text: which language it is, what is prose and what stands beside it, who speaks, what carries it."""

from __future__ import annotations

from collections.abc import Sequence

import numpy
import pytest

from tests.models import kits
from weft.models.embedded.lexicon import KNOWN, detect, lexicon
from weft.models.embedded.ranking import likeness, pick, rank
from weft.models.embedded.reading import read


def test_speech_without_stops_is_cut_where_one_could_breathe() -> None:
    said = "so we went there and we looked at the house and then nobody was at home but the light was on " * 12
    parts = [one.text for one in read(said).sentences]
    assert 4 < len(parts) < 40
    assert read(said).unpunctuated
    assert not any(part.split()[0] in ("so", "and", "but", "then") for part in parts)
    whole, lost = iter(said.split()), set()
    for word in " ".join(parts).split():
        for one in whole:
            if one == word:
                break
            lost.add(one)
    assert lost <= {"so", "and", "but", "then"}, "nothing but what joins the pieces is left off"


LANGUAGE_SAMPLES = {
    "en": "The house is old, but nobody wants to leave it.",
    "de": "Das Haus ist alt, aber niemand will es verlassen.",
    "fr": "La maison est vieille, mais personne ne veut la quitter.",
    "es": "La casa es vieja, pero nadie quiere dejarla.",
    "it": "La casa è vecchia, ma nessuno vuole che gli altri la lascino.",
    "pt": "A casa é velha, mas ninguém quer deixá-la, não.",
    "nl": "Het huis is oud, maar niemand wil het verlaten.",
    "ru": "Дом старый, но никто не хочет его покидать.",
    "zh": "房子很旧，但是没有人想离开。",
    "ja": "家は古いが、誰も離れたくない。",
    "ko": "집은 낡았지만 아무도 떠나고 싶어 하지 않는다.",
    "ar": "البيت قديم، لكن لا أحد يريد أن يتركه.",
    "hi": "घर पुराना है, लेकिन कोई उसे छोड़ना नहीं चाहता।",
    "sv": "Huset är gammalt, men det är ingen som vill lämna det.",
    "pl": "Dom jest stary, ale nikt nie chce się z niego wyprowadzić.",
    "tr": "Ev eski, ama hiç kimse bu evi bırakmak için bir şey yapmıyor.",
    "und": "xq zzk vrrt 123",
}


@pytest.mark.parametrize("code", LANGUAGE_SAMPLES)
def test_languages_are_told_apart(code: str) -> None:
    assert detect(LANGUAGE_SAMPLES[code]) == code


@pytest.mark.parametrize("name", kits.NAMES)
def test_the_texts_are_in_the_languages_they_are_in(name: str) -> None:
    expected = {"wald.md": "de", "bibliotheque.md": "fr", "mercado.md": "es", "tea.txt": "zh", "water.txt": "ar"}
    expected |= {"zeitung-schwimmbad.md": "de", "essay-lu.txt": "zh", "japanese-kissa.txt": "ja"}
    expected |= {"arabic-water.txt": "ar", "portuguese-rio.txt": "pt", "russian-school.txt": "ru"}
    expected |= {"dijk.txt": "nl", "forno.txt": "it", "kater.txt": "de", "gare.md": "fr", "apicultora.txt": "es"}
    assert kits.kit_of(name).code == expected.get(name, "en")


def test_what_is_known_of_a_language_is_consistent() -> None:
    for code in KNOWN:
        known = lexicon(code)
        for group in (known.function, known.weak, known.leaning, known.saying, known.positive, known.negative):
            assert group
            assert all(word == word.lower() for word in group), code
        assert not known.positive & known.negative, (code, known.positive & known.negative)
        assert set(known.says) == set(lexicon("en").says)
    assert not lexicon("it").known
    assert lexicon("it").says == lexicon("en").says


DOCUMENT = """\
---
title: Hidden
---

# The garden book

Some prose about the garden that goes on for a while. It has two sentences.

| plant | height |
|-------|--------|
| rose  | 120    |

```
code_here = "is not prose"
```

1. Dig a hole that is deep enough.
2. Put the plant into it, and wait.

    An indented paragraph of prose is still prose, as licences show.

Usage
-----
Water it in the evening; see [the notes](http://example.com/notes) and **never** at noon.
"""


def test_blocks_are_told_apart() -> None:
    reading = read(DOCUMENT)
    kinds = [block.kind for block in reading.layout.blocks]
    assert kinds.count("heading") == 2
    assert kinds.count("item") == 2
    assert kinds.count("code") == 1
    assert kinds.count("table") >= 2
    assert [section.title for section in reading.sections] == ["The garden book", "Usage"]
    said = [one.text for one in reading.sentences if one.kind in ("prose", "item")]
    assert "Water it in the evening; see the notes and never at noon." in said
    assert not any("code_here" in text or "120" in text or "Hidden" in text for text in said)
    assert any(text.startswith("An indented paragraph") for text in said)


def test_places_in_the_plain_text_are_places_in_the_text() -> None:
    for name in kits.NAMES:
        reading = read(kits.text_of(name))
        assert len(reading.layout.plain) == len(reading.text)
        for one in reading.sentences:
            assert kits.squeezed(one.text) in kits.squeezed(reading.text[one.start : one.end])


def test_labels_are_no_speakers() -> None:
    text = "Note: this is a long line of text about a thing.\nUsage: call it with care and patience every day.\n" * 3
    assert read(text).speakers == ()
    assert read(kits.text_of("interview-bees.txt")).speakers == ("Host", "Rosalind")
    assert read(kits.text_of("interview-bees.txt")).host == "Host"


def test_code_to_use_is_no_code_of_a_sponsor() -> None:
    text = "# Files\n\nYou can use the code below for every file.\n\nAll hoes are cheaper with the code SLOW15.\n"
    kinds = [block.kind for block in read(text + "\nThe rest is about files and what they hold.\n" * 3).layout.blocks]
    assert kinds[:3] == ["heading", "prose", "aside"]


def test_speakers_in_many_styles() -> None:
    for style in ("**{}:** {}", "{}: {}", "[0:12] {}: {}", "{} (00:12): {}", "- {}: {}"):
        turns = [("Ana Ruiz", "What did you find in the cellar that night?"), ("Ben", "Nothing but an old map of it.")]
        text = "\n\n".join(style.format(*turn) for turn in turns * 3)
        assert read(text).speakers == ("Ana Ruiz", "Ben"), style


def test_the_sentence_that_all_others_are_like_is_worth_most() -> None:
    text = (
        "Bees live in many gardens of the town. The bees of the town need flowers in every garden. "
        "Gardens feed bees all summer long. Flowers in the gardens feed the bees of the town. A tram was late. "
        "Somebody lost a red umbrella near the port."
    )
    reading = read(text)
    ranks = rank(reading, "transcript")
    best, worst = (by(reading.sentences, key=lambda one: ranks[one.index]) for by in (max, min))
    assert "bees" in best.words
    assert "bees" not in worst.words


def test_meaning_moves_what_words_alone_do_not_see() -> None:
    text = " ".join(
        f"The {name} stands in the yard behind the house of the mayor." for name in ("oak", "car", *"abcdefghijkl")
    )
    reading = read(text)

    def meaning(texts: Sequence[str]) -> numpy.typing.NDArray[numpy.float32]:
        trees = [[0.0, 1.0] if "car" in one else [1.0, 0.0] for one in texts]
        return numpy.array(trees, dtype=numpy.float32)

    plain, weighed = rank(reading, "transcript"), rank(reading, "transcript", meaning=meaning)
    assert weighed[1] < plain[1]
    assert weighed[2] > plain[2]


def test_picked_sentences_do_not_say_the_same() -> None:
    same = "The committee of the town decided to close the old bridge over the river."
    text = f"{same} {same.replace('decided', 'voted')} {same.replace('old', 'ancient')} Nobody asked the ferryman."
    reading = read(text)
    chosen = pick(reading.sentences, rank(reading, "news"), 3, 100)
    assert len(chosen) == 2
    assert likeness(chosen[0], chosen[1]) < 0.5


@pytest.mark.parametrize(
    ("text", "mood"),
    [
        ("The pump has a valve. The valve opens at noon. It is made of brass and weighs a lot.", "neutral"),
        ("It was a wonderful, happy day. We love this beautiful garden. What a great success.", "positive"),
        ("A terrible disaster. Many people died, and the crisis destroyed the town.", "negative"),
    ],
)
def test_sentiment_is_neutral_when_in_doubt(text: str, mood: str) -> None:
    assert kits.make(text).summary["sentiment"] == mood


def test_an_article_with_long_listings_is_no_program() -> None:
    listing = "\n".join(f"let y{number} = x;" for number in range(9))
    told = (
        "A reference is a kind of pointer, and one way to think of it is as an arrow to a value stored elsewhere. " * 2
    )
    text = f"## Following the pointer\n\n{told}\n\n{listing}\n\n## Using a box\n\n{told}\n\n{listing}\n"
    assert [section.title for section in read(text).sections] == ["Following the pointer", "Using a box"]
    assert read(f"# what it does\n{listing}\n# and again\n{listing}\n").layout.program


def test_a_standard_that_a_page_shows_as_it_was_typed_is_read_as_text() -> None:
    typed = "Abstract\n\n   This draft describes how pages talk to stores elsewhere.\n   They keep every version of it."
    code = "let y = x;\nlet z = y;\nprint(z);"
    assert "code" not in {block.kind for block in read(f"```\n{typed}\n```\n").layout.blocks}
    assert {block.kind for block in read(f"It is short.\n\n```\n{code}\n```\n").layout.blocks} == {"prose", "code"}
