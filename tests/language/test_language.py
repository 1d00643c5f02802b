"""One stemmer and one splitter: forms of a word are one, sentences end where people end them."""

from __future__ import annotations

import pytest

from weft.language.sentences import QUOTATION_LIMIT, sentence_spans, sentences
from weft.language.stems import stem


@pytest.mark.parametrize(
    "forms",
    [
        "tide tides Tide tide's tides'",
        "make makes making",
        "face faces faced",
        "require requires required requiring",
        "rise rises rising",
        "study studies studied",
    ],
)
def test_the_forms_of_a_word_have_one_stem(forms: str) -> None:
    assert len({stem(form) for form in forms.split()}) == 1


def test_other_words_keep_stems_of_their_own() -> None:
    assert len({stem(word) for word in ("universe", "tide", "tidy", "news", "increase", "decrease")}) == 6


def test_a_language_has_its_own_stemmer_and_one_without_keeps_its_words() -> None:
    assert stem("Häuser", "de") == stem("Hauses", "de")
    assert stem("maisons", "fr") == stem("maison", "fr")
    assert stem("words", "xx") == "words"


@pytest.mark.parametrize(
    "parts",
    [
        ['She said: "We came. We saw." as if it were nothing.', "Then she left."],
        ["“I did it. I am glad,” she said.", "Nobody answered."],
        ["He wrote ‘It is so. It will be.’ and stopped.", "That was all."],
        ['The sign ("No dogs. No cats.") hangs there.', "It is old."],
        ["The dogs' bowls are here.", "They're empty."],
        ['It is 5" long.', 'That one is 6" long.'],
        ["See sec. 4 and art. 7 of the act.", "It applies."],
        ["Add 0.6.", "Everything else is wasted."],
    ],
)
def test_no_sentence_is_cut_inside_a_quotation(parts: list[str]) -> None:
    assert sentences(" ".join(parts)) == parts


@pytest.mark.parametrize(
    "parts",
    [
        ["The drawers are marked from a to z. Every one is locked."],
        ["The lamps go out at 9 a.m. Neither keeper stays."],
        ["Boil it for 30 min. He never did."],
        ["It came with Fig. 3 on 5 Jan. Nobody saw it."],
        ["The tide reaches 12 ft. Most boats stay in."],
    ],
)
def test_a_word_that_begins_a_sentence_ends_the_one_before_it(parts: list[str]) -> None:
    found = sentences(parts[0])
    assert (len(found), " ".join(found)) == (2, parts[0])


@pytest.mark.parametrize(
    "text",
    [
        "The book of J. Smith lies there.",
        "We asked Dr. He about the lamp.",
        "See No. 5 and vol. 2 of it.",
        "It was cited in Smith v. The Queen.",
        "b. The answer is on the back.",
        "Writing a ! after the name makes it loud.",
        "Put a ? or a ! behind it, as others do.",
        "Type `run! now` and wait.",
    ],
)
def test_a_stop_that_ends_nothing(text: str) -> None:
    assert sentences(text) == [text]


def test_a_long_speech_has_sentences_of_its_own() -> None:
    speech = " ".join(["This is one of the things that I have to say."] * (QUOTATION_LIMIT // 30))
    assert len(sentences(f"“{speech}”")) > 5


def test_blank_lines_and_items_part_sentences_and_wrapped_lines_do_not() -> None:
    text = "The auditor shall\nconsider the matter\n\n(a) the risk;\n(b) the answer to\n    it.\n- Last"
    parts = ["The auditor shall consider the matter", "(a) the risk;", "(b) the answer to it.", "- Last"]
    assert sentences(text) == parts


def test_places_are_those_of_the_text_and_nothing_is_lost() -> None:
    text = "  One. Two “three. four” five.\n\n* six\n* seven.  "
    spans = sentence_spans(text)
    assert all(text[start:end].strip() == text[start:end] for start, end in spans)
    assert "".join("".join(text[start:end].split()) for start, end in spans) == "".join(text.split())
