"""Nothing a terminal would obey survives, and everything fits."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rich.cells import cell_len

from weft.render.cells import clean, cut, fold, paragraphs, wrap

from .strategies import texts


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain [bold]text[/bold]", "plain [bold]text[/bold]"),
        ("\x1b[2J\x1b[31mred", "␛[2J␛[31mred"),
        ("\x1b]8;;http://evil\x07link", "␛]8;;http://evil␇link"),
        ("\x9b31m", "�31m"),
        ("nul\x00bel\x07del\x7f", "nul␀bel␇del␡"),
        ("over\u202egnp.exe", "over�gnp.exe"),
        ("\u2066isolated\u2069 \u200emark\u061c", "�isolated� �mark�"),
        ("two\nlines\r\nthree\rx", "two↵lines↵three␍x"),
        ("line\u2028para\u2029next\x85", "line↵para↵next↵"),
        ("a\tb", "a b"),
        ("lone \ud800 surrogate", "lone � surrogate"),
        ("\ufeffmark\u200bzero", "�mark�zero"),
        ("soft\u00adhyphen", "softhyphen"),
        ("👩\u200d👧 👍🏽 ❤\ufe0f", "👩👧 👍 ❤"),
        ("e\u0301 日本 می\u200cخواهم", "e\u0301 日本 می\u200cخواهم"),
    ],
)
def test_clean_shows_what_it_takes_out(text: str, shown: str) -> None:
    assert clean(text) == shown


def test_clean_for_an_ascii_terminal_spells_everything_else() -> None:
    assert clean("é\x1b[31m日\n\u202e", ascii=True) == r"\xe9\x1b[31m\u65e5\n\u202e"


@settings(deadline=None)
@given(texts)
def test_no_control_survives(text: str) -> None:
    left = clean(text)
    assert not [c for c in left if unicodedata.category(c) in ("Cc", "Cs", "Cf", "Zl", "Zp") and c != "\u200c"]
    left.encode("utf-8")
    assert clean(left) == left


@settings(deadline=None)
@given(texts)
def test_ascii_is_ascii_and_printable(text: str) -> None:
    left = clean(text, ascii=True)
    assert left.isascii()
    assert left.isprintable()


@settings(deadline=None)
@given(texts)
def test_the_width_of_clean_text_is_the_sum_of_its_parts(text: str) -> None:
    left = clean(text)
    assert cell_len(left) == sum(cell_len(character) for character in left)


@settings(deadline=None)
@given(texts, st.integers(0, 50))
def test_cut_fits_and_keeps_the_beginning(text: str, width: int) -> None:
    whole = clean(text)
    short = cut(whole, width)
    assert cell_len(short) <= width
    assert short == whole or width == 0 or short.endswith("…")
    assert whole.startswith(short.removesuffix("…"))


def test_cut_does_not_split_a_wide_character() -> None:
    assert cut("日本語", 4) == "日…"
    assert cut("日本語", 5) == "日本…"
    assert cut("日本語", 6) == "日本語"


@settings(deadline=None)
@given(texts, st.integers(2, 50))
def test_wrap_and_fold_fit_and_lose_nothing(text: str, width: int) -> None:
    whole = clean(text)
    assert all(cell_len(line) <= width for line in wrap(whole, width) + fold(whole, width))
    assert "".join(fold(whole, width)) == whole
    assert "".join("".join(wrap(whole, width)).split()) == "".join(whole.split())


def test_wrap_breaks_between_words() -> None:
    assert wrap("one two three", 8) == ["one two", "three"]
    assert wrap("a verylongword b", 5) == ["a", "veryl", "ongwo", "rd b"]
    assert wrap("", 5) == [""]


def test_paragraphs_follow_the_line_breaks() -> None:
    assert paragraphs("one\r\ntwo\n\n \x1bthree\n") == ["one", "two", " ␛three"]


def test_what_a_person_wrote_is_broken_between_words_and_keeps_its_indents() -> None:
    assert fold("one two three", 8, words=True) == ["one two", "three"]
    assert fold("one two  three", 7, words=True) == ["one two", " three"]
    assert fold("    indented words", 12, words=True) == ["    indented", "words"]
    assert fold("abcdefghij kl", 4, words=True) == ["abcd", "efgh", "ij", "kl"]
    assert fold("abcdefghij kl", 4) == ["abcd", "efgh", "ij k", "l"]
