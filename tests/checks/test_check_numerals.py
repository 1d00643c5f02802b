"""Reading numbers: where they are in a text, and every way in which they can be meant."""

from __future__ import annotations

import pytest
from tests.lanes import lives

from weft.checks.number_words import spelled_out
from weft.checks.numerals import numbers_in, offered


@pytest.mark.parametrize(
    ("text", "readings"),
    [
        ("42", [("42",)]),
        ("1,234,567", [("1234567",)]),
        ("1.234.567", [("1234567",)]),
        ("1'234'567", [("1234567",)]),
        ("1’234’567.5", [("1234567.5",)]),
        ("1\u00a0234\u00a0567", [("1234567",)]),
        ("1\u202f234,5", [("1234.5",)]),
        ("1 234 567", [("1234567",), ("1", "234", "567")]),
        ("12 345,60", [("12345.6",), ("12", "345.6")]),
        ("12,34,567", [("1234567",)]),
        ("1,234.50", [("1234.5",)]),
        ("1.234,50", [("1234.5",)]),
        ("1,234", [("1.234",), ("1234",)]),
        ("1.234", [("1.234",), ("1234",)]),
        ("0.234", [("0.234",)]),
        ("1.2345", [("1.2345",)]),
        ("1234.567", [("1234.567",)]),
        ("3.5", [("3.5",)]),
        ("3,50", [("3.5",)]),
        ("007", [("7",)]),
        ("0", [("0",)]),
        ("0.0", [("0",)]),
        ("12.03.2024", [("12", "3", "2024")]),
        ("1,2,3", [("1", "2", "3")]),
        ("3.5,4", [("3.5", "4")]),
        ("192.168.1.10", [("192", "168", "1", "10")]),
        ("5'10", [("5", "10")]),
        ("١٬٢٣٤٫٥", [("1234.5",)]),
        ("٣٫٢٥٠", [("3.25",)]),
        ("۱۳۹۹", [("1399",)]),
        ("२०२४", [("2024",)]),
        ("１２３４", [("1234",)]),
        ("１，２３４．５", [("1234.5",)]),
        ("１，２，３．５", [("1", "2", "3.5")]),
        ("1\u2009234\u2007567", [("1234567",)]),
        ("123,45,678", [("123", "45", "678")]),
        ("012.345", [("12.345",)]),
        ("1234,567,890", [("1234", "567", "890")]),
        (".05", [("0.05",)]),
    ],
)
def test_readings_of_one_number(text: str, readings: list[tuple[str, ...]]) -> None:
    (number,) = numbers_in(text)
    assert list(number.readings) == readings
    assert number.text == text


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("", []),
        ("no numbers, not even ½ or ² or 三", []),
        ("-5% of $4.20, (€3) £2. US$7 and 8°", ["5", "4.20", "3", "2", "7", "8"]),
        ("the 2nd, 3e and 1. of 4th", ["2", "3", "1", "4"]),
        ("COVID-19 in Q3, 10x, 5km, the 1990s", ["19", "3", "10", "5", "1990"]),
        ("第3章，2024年，300人", ["3", "2024", "300"]),
        ("到2020，300人", ["2020", "300"]),
        ("10:30, 3/4, 10-20, 1990–95", ["10", "30", "3", "4", "10", "20", "1990", "95"]),
        ("in 2019, 300 came", ["2019", "300"]),
        ("in 2019 300 came", ["2019", "300"]),
        ("it ended.5 more (p<.05)", ["5", ".05"]),
        ("1\n234", ["1", "234"]),
        ("1\t234", ["1", "234"]),
        ("3.5 234 567", ["3.5", "234", "567"]),
        ("12 3456", ["12", "3456"]),
        ("12 345.6.7", ["12", "345.6.7"]),
        ("12 345.6 789", ["12", "345.6", "789"]),
        ("12 345'678", ["12", "345'678"]),
        ("012 345", ["012", "345"]),
        ("1234 567", ["1234", "567"]),
        ("3.", ["3"]),
        ("عام ٢٠٢٤، و٣٫٥٪", ["٢٠٢٤", "٣٫٥"]),
    ],
)
def test_numbers_are_found_in_running_text(text: str, written: list[str]) -> None:
    numbers = list(numbers_in(text))
    assert [number.text for number in numbers] == written
    assert all(text[number.start :].startswith(number.text) for number in numbers)


@pytest.mark.parametrize(
    ("text", "numbers"),
    [
        ("one", ["1"]),
        ("Twenty", ["20"]),
        ("zero", ["0"]),
        ("twenty-five", ["25"]),
        ("seventeen", ["17"]),
        ("a hundred", ["100"]),
        ("two hundred and fifty thousand", ["250000"]),
        ("one million two hundred thousand and five", ["1200005"]),
        ("three thousand five hundred", ["3500"]),
        ("nineteen ninety-nine", ["19", "99"]),
        ("one trillion", ["1000000000000"]),
        ("a thousand and one nights", ["1001"]),
        ("six billion seven million", ["6007000000"]),
        ("twelve hundred", ["1200"]),
        ("one hundred and two thousand", ["102000"]),
        ("between one hundred and two hundred", ["100", "200"]),
        ("two thousand and three thousand", ["2000", "3000"]),
        ("two thousand twenty-five thousand", ["2000", "25000"]),
        ("twenty zero one", ["20", "0", "1"]),
        ("twenty ten", ["20", "10"]),
        ("thirty\nfour", ["34"]),
        ("nine  -  ninety", ["9", "90"]),
        ("one two three", ["1", "2", "3"]),
        ("twenty and five", ["20", "5"]),
        ("two and three", ["2", "3"]),
        ("hundred hundred", ["100", "100"]),
        ("five thousand million", ["5000"]),
        ("five, six", ["5", "6"]),
        ("FORTY-TWO people", ["42"]),
        ("someone often weighs ſix tents", []),
    ],
)
def test_english_numbers_in_words(text: str, numbers: list[str]) -> None:
    assert list(spelled_out(text)) == numbers


def test_a_scale_gives_readings_more_only_when_words_count() -> None:
    assert [number.readings for number in numbers_in("1 250 thousand, 2.5 million, 7")] == [
        (("1250",), ("1", "250")),
        (("2.5",),),
        (("7",),),
    ]
    assert [number.readings for number in numbers_in("1 250 thousand, 2.5 million, 7", words=True)] == [
        (("1250",), ("1", "250"), ("1250000",), ("1", "250000")),
        (("2.5",), ("2500000",)),
        (("7",),),
    ]
    assert offered("five and 2 hundred") == {"2"}
    assert offered("five and 2 hundred", words=True) == {"5", "2", "100", "200"}


def test_a_row_of_a_table_offers_each_number_it_may_hold() -> None:
    row = "12 345 678 901 234"
    assert {"12", "345", "12345", "345678", "678901234", "12345678901234", "345678901234"} <= offered(row)
    assert offered("12\u00a0345\u00a0678") == {"12345678"}
    assert offered("012 345.6 789") == {"12", "345.6", "789"}


@pytest.mark.parametrize(
    ("part", "times"), [("1,", 200_000), ("123 ", 50_000), ("é1.", 100_000), ("9", 200_000), ("one ", 50_000)]
)
def test_long_rows_of_numbers_are_read(part: str, times: int) -> None:
    text = part * lives(times, times)
    assert offered(text, words=True)
    assert all(number.readings for number in numbers_in(text, words=True))
