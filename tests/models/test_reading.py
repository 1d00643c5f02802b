"""Reading a text: where sentences end, which language it is, what is prose, who speaks, what carries it."""

from __future__ import annotations

import pytest

from tests.models import kits
from weft.models.embedded.detection import detect
from weft.models.embedded.languages import LANGUAGES, language
from weft.models.embedded.ranking import likeness, pick
from weft.models.embedded.reading import read
from weft.models.embedded.splitting import split_sentences


def sentences(text: str, code: str = "en") -> list[str]:
    return [text[start:end] for start, end in split_sentences(text, 0, len(text), language(code))]


@pytest.mark.parametrize(
    ("code", "parts"),
    [
        ("en", ["Dr. J. Smith of the U.S. Labor Dept. said so.", "It rose 3.5 percent... and then fell.", "Really?!"]),
        ("en", ['"Is it?" she asked.', '"Stop!" Anna Berg said.', "He lives in the U.S.", "The end came at 5 p.m."]),
        ("en", ["See Fig. 3 and No. 7, e.g. on p. 12.", "No.", "I have a hedge."]),
        ("en", ["Wait… what?", "She (at last!) agreed.", "“It is over.”", "Nobody moved."]),
        (
            "de",
            ["Am 3. Oktober war es kalt.", "Das kostet z. B. 5 Euro.", "„Warum?“, fragte Frau Dr. Weiß.", "Er ging."],
        ),
        ("fr", ["M. Lefort est venu.", "« Pourquoi ? » demande-t-il.", "Personne ne sait."]),
        ("es", ["El Sr. Ortega llegó.", "¿Por qué?", "Nadie lo sabe."]),
        ("zh", ["他说：“我不去。”", "然后走了。", "真的吗？", "是的！"]),
        ("ja", ["「行きます。」と彼は言った。", "雨だ。"]),
        ("ar", ["هل تعلم؟", "نعم.", "لا أعرف."]),
        ("hi", ["यह एक वाक्य है।", "यह दूसरा है।"]),
    ],
)
def test_sentences_end_where_people_end_them(code: str, parts: list[str]) -> None:
    gap = "" if code in ("zh", "ja") else " "
    assert sentences(gap.join(parts), code) == parts


def test_wrapped_lines_go_on_and_meant_lines_do_not() -> None:
    wrapped = "The sea rises twice a day and nobody\nhas ever been able to stop it from doing\nso."
    assert len(sentences(wrapped)) == 1
    assert sentences("Roses are red\nViolets are blue\nThis line is meant to be the longest of them all") == [
        "Roses are red",
        "Violets are blue",
        "This line is meant to be the longest of them all",
    ]


def test_speech_without_stops_is_cut_where_a_thought_begins() -> None:
    said = "so we went there and we looked at the house and then nobody was at home but the light was on " * 6
    parts = sentences(said)
    assert 2 < len(parts) < 25
    assert "".join("".join(parts).split()) == "".join(said.split())
    assert sum(part.split()[0] in ("so", "and", "then", "but") for part in parts) > len(parts) / 2


LANGUAGE_SAMPLES = {
    "en": "The house is old, but nobody wants to leave it.",
    "de": "Das Haus ist alt, aber niemand will es verlassen.",
    "fr": "La maison est vieille, mais personne ne veut la quitter.",
    "es": "La casa es vieja, pero nadie quiere dejarla.",
    "it": "La casa è vecchia, ma nessuno vuole lasciarla.",
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


def test_two_languages_in_one_text() -> None:
    reading = read(kits.text_of("wald.md") + "\n\n" + kits.text_of("bibliotheque.md"))
    assert reading.language.code == "de"
    assert reading.also == ("fr",)


def test_every_language_has_consistent_words() -> None:
    for known in LANGUAGES.values():
        for group in (known.function, known.weak, known.leaning, known.saying, known.positive, known.negative):
            assert all(word == word.lower() for word in group), known.code
        assert not known.positive & known.negative, (known.code, known.positive & known.negative)


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
    said = [sentence.text for sentence in reading.sentences]
    assert "Water it in the evening; see the notes and never at noon." in said
    assert not any("code_here" in text or "120" in text or "Hidden" in text for text in said)
    assert any(text.startswith("An indented paragraph") for text in said)


def test_places_in_the_plain_text_are_places_in_the_text() -> None:
    for name in kits.NAMES:
        reading = read(kits.text_of(name))
        assert len(reading.layout.plain) == len(reading.text)
        for sentence in reading.sentences:
            if sentence.verbatim:
                assert " ".join(reading.text[sentence.start : sentence.end].split()) == sentence.text


def test_labels_are_no_speakers() -> None:
    text = "Note: this is a long line of text about a thing.\nUsage: call it with care and patience every day.\n" * 3
    assert read(text).speakers == ()
    assert read(kits.text_of("interview-bees.txt")).speakers == ("Host", "Rosalind Achterberg")
    assert read(kits.text_of("interview-bees.txt")).host == "Host"


def test_speakers_in_many_styles() -> None:
    for style in ("**{}:** {}", "{}: {}", "[0:12] {}: {}", "{} (00:12): {}", "- {}: {}"):
        turns = [("Ana Ruiz", "What did you find in the cellar that night?"), ("Ben", "Nothing but an old map of it.")]
        text = "\n\n".join(style.format(*turn) for turn in turns * 3)
        assert read(text).speakers == ("Ana Ruiz", "Ben"), style


@pytest.mark.parametrize(
    ("text", "speaker", "said"),
    [
        (
            '"We will not leave this valley," said Maria Lopez on Monday.',
            "Maria Lopez",
            "We will not leave this valley",
        ),
        ("“We will not leave this valley,” Dr. Lopez told us.", "Dr. Lopez", "We will not leave this valley"),
        ("Maria Lopez, who lives here, said: “We will not leave.”", "Maria Lopez", "We will not leave."),
        ("„Wir bleiben alle hier im Tal“, sagt Frau Anna Weber.", "Anna Weber", "Wir bleiben alle hier im Tal"),
        ("« Nous ne partirons pas d'ici », explique Claire Delmas.", "Claire Delmas", "Nous ne partirons pas d'ici"),
        ("«No nos vamos de este valle», dice Lucía Ferrer.", "Lucía Ferrer", "No nos vamos de este valle"),
        ("“我们不会离开这个山谷。”陈守义说。", "陈守义", "我们不会离开这个山谷。"),
        ("“We will not leave this valley,” she said, and went.", "", "We will not leave this valley"),
    ],
)
def test_quotations_in_many_styles(text: str, speaker: str, said: str) -> None:
    quotations = read(text).quotations
    assert [(one.speaker, one.text) for one in quotations] == [(speaker, said)]


@pytest.mark.parametrize(
    ("text", "speaker"),
    [
        ("Tomas Brandl built the bridge. “It is ugly and far too long,” said a neighbour.", ""),
        ("Tomas Brandl built the bridge. “It is ugly and far too long,” he said.", "Tomas Brandl"),
        ("Tomas Brandl met Ann Weber. “It is ugly and far too long,” he said.", ""),
        ("“It is ugly,” said Tomas Brandl, the builder. “It is also far too long for us.”", "Tomas Brandl"),
    ],
)
def test_a_pronoun_is_somebody_only_where_one_person_is_named(text: str, speaker: str) -> None:
    assert read(text).quotations[-1].speaker == speaker


def test_terms_and_messages_in_inverted_commas_are_no_speech() -> None:
    text = 'The "contributor version" is "any later version", and it prints "%s: cannot open the file for reading".'
    assert read(text).quotations == ()


def test_names_are_told_by_what_stands_around_them() -> None:
    names = {name.text: name.kind for name in read(kits.text_of("night-trains.md")).names}
    assert names["Helena Voss"] == names["Tomas Brandl"] == names["Mira Kostova"] == "person"
    assert names["University of Graz"] == "organisation"
    assert names["Varna"] == "place"
    assert "Voss" not in names, "a surname is the person named in full"
    assert not {"Bookings", "Track", "Nobody"} & set(names), "a capital at the beginning proves nothing"


def test_numbers_have_strength_and_measure() -> None:
    numbers = read(kits.text_of("night-trains.md")).numbers
    assert numbers[0].text in ("18 percent", "64 percent", "31")
    assert {"2021", "2016", "2029"}.isdisjoint(number.text for number in numbers), "years measure nothing"
    measured = {number.text: number.measures for number in numbers}
    assert measured["36"] == "beds"
    assert measured["212"] == "passengers"


def test_references_are_no_numbers() -> None:
    text = "See section 12 and version 3.11.7 of chapter 4. The pump moves 250 litres of water in an hour."
    assert [number.text for number in read(text).numbers] == ["250"]


def test_the_argument_has_an_opening_a_turn_and_a_close() -> None:
    reading = read(kits.text_of("night-trains.md"))
    argument, told = reading.argument, reading.sentences
    assert argument.turn is not None
    assert told[argument.turn].text == "But the arithmetic behind the line is brutal."
    assert told[argument.close].text.endswith("began to sing.")
    assert any(pair.left.startswith("Track charges rose") and "tariffs" in pair.right for pair in argument.causes)
    assert any(pair.word == "yet" for pair in argument.contrasts)


def test_the_sentence_that_all_others_are_like_comes_first() -> None:
    text = (
        "Bees live in many gardens of the town. The bees of the town need flowers in every garden. "
        "Gardens feed bees all summer long. Flowers in the gardens feed the bees of the town. A tram was late. "
        "Somebody lost a red umbrella near the port."
    )
    reading = read(text)
    best = max(reading.sentences, key=lambda sentence: sentence.rank)
    assert "bees" in best.words
    worst = min(reading.sentences, key=lambda sentence: sentence.rank)
    assert "bees" not in worst.words


def test_picked_sentences_do_not_say_the_same() -> None:
    same = "The committee of the town decided to close the old bridge over the river."
    text = f"{same} {same.replace('decided', 'voted')} {same.replace('old', 'ancient')} Nobody asked the ferryman."
    chosen = pick(read(text).sentences, 3)
    assert len(chosen) == 2
    assert likeness(chosen[0], chosen[1]) < 0.5


def test_sentiment_is_neutral_when_in_doubt() -> None:
    assert (
        read("The pump has a valve. The valve opens at noon. It is made of brass and weighs a lot.").sentiment
        == "neutral"
    )
    assert (
        read("It was a wonderful, happy day. We love this beautiful garden. What a great success.").sentiment
        == "positive"
    )
    assert read("A terrible disaster. Many people died, and the crisis destroyed the town.").sentiment == "negative"
    assert read("It is not good, not beautiful and never a success, they said.").sentiment == "negative"


def test_readability_knows_easy_from_hard() -> None:
    easy = read("The cat sat. The dog ran. We all had fun. It was a good day for us.").readability
    hard = read(
        "Notwithstanding considerable methodological heterogeneity of these investigations, which are longitudinal, "
        "they consistently demonstrate that there are statistically significant associations between the determinants."
    ).readability
    assert (easy.measure, easy.level) == ("flesch", "easy")
    assert hard.level == "hard"
    assert easy.score > hard.score
    assert read(kits.text_of("wald.md")).readability.measure == "lix"
    assert read(kits.text_of("tea.txt")).readability.measure == "length"
