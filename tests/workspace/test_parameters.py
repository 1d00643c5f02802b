"""Parameters: defaults, text from a command line, and an answer with the good values for everything else."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from weft.protocol.errors import UsageError
from weft.workspace.parameters import ParameterSpec, parameter_values

SPECS = {
    "words": ParameterSpec("integer", 200, "how long it gets", 50, 5000),
    "share": ParameterSpec("number", 0.5, minimum=0),
    "tone": ParameterSpec("string", "plain", choices=("plain", "warm")),
    "short": ParameterSpec("boolean", False),
}
WORDS = "parameter 'words' must be a whole number from 50 to 5000"


def test_without_anything_given_there_are_the_defaults() -> None:
    assert parameter_values(SPECS, {}) == {"words": 200, "share": 0.5, "tone": "plain", "short": False}


@pytest.mark.parametrize(
    ("name", "given_value", "value"),
    [
        ("words", "300", 300),
        ("words", " +300 ", 300),
        ("words", 50, 50),
        ("share", "1", 1.0),
        ("share", 1, 1.0),
        ("share", "1e3", 1000.0),
        ("tone", "warm", "warm"),
        ("short", "true", True),
        ("short", "YES", True),
        ("short", "no", False),
        ("short", True, True),
    ],
)
def test_a_good_value_arrives_in_its_one_form(name: str, given_value: Any, value: Any) -> None:
    found = parameter_values(SPECS, {name: given_value})[name]
    assert (found, type(found)) == (value, type(value))


@pytest.mark.parametrize(
    ("name", "given_value", "message", "hint"),
    [
        ("words", "many", f"{WORDS}, not the text 'many'", "how long it gets"),
        ("words", "49", f"{WORDS}, not the number 49", "how long it gets"),
        ("words", 5001, f"{WORDS}, not the number 5001", "how long it gets"),
        ("words", True, f"{WORDS}, not true (yes or no)", "how long it gets"),
        ("words", 99.5, f"{WORDS}, not the number 99.5", "how long it gets"),
        ("share", "-1", "parameter 'share' must be a number, at least 0, not the number -1.0", ""),
        ("share", "nan", "parameter 'share' must be a number, at least 0, not the number nan", ""),
        ("share", "inf", "parameter 'share' must be a number, at least 0, not the number inf", ""),
        ("tone", "cold", "parameter 'tone' must be one of plain, warm, not the text 'cold'", ""),
        ("tone", 3, "parameter 'tone' must be one of plain, warm, not the number 3", ""),
        ("short", "maybe", "parameter 'short' must be true or false, not the text 'maybe'", ""),
        ("short", 1, "parameter 'short' must be true or false, not the number 1", ""),
        ("wrods", "3", "unknown parameter 'wrods'", "did you mean 'words'?"),
        ("depth", "deep", "unknown parameter 'depth'", "this pipeline has no modes: it has no key 'depth'"),
        ("xyz", "3", "unknown parameter 'xyz'", "the parameters are: words, share, tone, short"),
    ],
)
def test_a_bad_value_is_answered_with_the_good_ones(name: str, given_value: Any, message: str, hint: str) -> None:
    with pytest.raises(UsageError) as caught:
        parameter_values(SPECS, {name: given_value})
    assert (caught.value.message, caught.value.hint) == (message, hint)
    assert caught.value.exit_code == 2


def test_a_pipeline_without_parameters_says_so() -> None:
    with pytest.raises(UsageError) as caught:
        parameter_values({}, {"words": "3"})
    assert caught.value.hint == "there are no parameters"


@given(st.integers(50, 5000))
def test_every_good_number_survives_the_command_line(number: int) -> None:
    assert parameter_values(SPECS, {"words": str(number)})["words"] == number


@given(st.text())
def test_any_text_is_taken_or_refused_never_a_crash(text: str) -> None:
    for name in SPECS:
        try:
            value = parameter_values(SPECS, {name: text})[name]
        except UsageError:
            continue
        assert SPECS[name].problem(value) is None
