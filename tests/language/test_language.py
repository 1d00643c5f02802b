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
