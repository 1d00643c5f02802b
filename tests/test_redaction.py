"""The one redactor: what it finds, in what, and what it leaves alone."""

from __future__ import annotations

import base64
import json
from dataclasses import dataclass
from urllib.parse import quote, quote_plus

from hypothesis import given
from hypothesis import strategies as st

from weft.redaction import Redactor

SECRET = 'pa"ss/word\n+1'


@dataclass(frozen=True)
class Fact:
    text: str
    more: tuple[object, ...] = ()
    number: int = 1


def knowing(*secrets: str) -> Redactor:
    redactor = Redactor()
    for index, secret in enumerate(secrets):
        redactor.learn(f"s{index}", secret)
    return redactor


def test_a_secret_is_found_however_it_is_written_and_whatever_holds_it() -> None:
    redactor = knowing(SECRET)
    encoded = base64.b64encode(SECRET.encode()).decode()
    for form in (SECRET, quote(SECRET, safe=""), encoded):
        assert redactor.text(f"a {form} b").startswith("a [secret s0]")
    kept = Fact("none", more=({"k": [SECRET, 2], SECRET: None}, Fact(SECRET)))
    assert redactor.value(kept) == Fact(
        "none", more=({"k": ["[secret s0]", 2], "[secret s0]": None}, Fact("[secret s0]"))
    )


@given(before=st.binary(max_size=7), after=st.binary(max_size=7))
def test_in_base64_it_is_found_also_between_other_bytes(before: bytes, after: bytes) -> None:
    """As a header for a name and a password has it."""
    redactor = knowing(SECRET)
    for encode in (base64.b64encode, base64.urlsafe_b64encode):
        assert "[secret s0]" in redactor.text(encode(before + SECRET.encode() + after).decode())


def test_in_addresses_and_in_json_it_is_found_as_they_are_written() -> None:
    redactor = knowing(SECRET, "schlüssel-42")
    lower = "pa%22ss%2fword%0a%2b1"
    for form in (quote(SECRET), quote_plus(SECRET), lower, json.dumps(SECRET)[1:-1]):
        assert redactor.text(f"key={form}&x") == "key=[secret s0]&x", form
    assert redactor.text(json.dumps(["schlüssel-42"])) == '["[secret s1]"]'


def test_of_a_key_in_several_lines_each_is_found_by_itself() -> None:
    """A file is read with numbers before its lines, and what code prints is told line by line."""
    body = ["MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQC7VJTUt9Us8cKj", "MzEfYyjiWA4R4/M2bS1GB4t7NXp98C3S"]
    redactor = knowing("\n".join(["-----BEGIN PRIVATE KEY-----", *body, "-----END PRIVATE KEY-----", ""]))
    told = redactor.text("\n".join(f"{number}\t{line}" for number, line in enumerate(body, 1)))
    assert told == "1\t[secret s0]\n2\t[secret s0]"
    assert body[0] not in redactor.text(json.dumps({"lines": body}))
    assert redactor.text("-----BEGIN PRIVATE KEY-----") == "-----BEGIN PRIVATE KEY-----"


def test_what_holds_none_is_the_very_same_value() -> None:
    fact = Fact("plain", more=({"k": ("v",)}, 2.5, None))
    assert knowing(SECRET).value(fact) is fact
    assert Redactor().value(fact) is fact


def test_what_is_short_or_a_path_is_left_alone() -> None:
    redactor = knowing("short")
    assert redactor.text("a short text") == "a short text"
    redactor.learn_environment(
        {"GITHUB_TOKEN": "ghp_0123456789abcdef", "PATH": "x" * 40, "A_TOKEN": "/etc/a/token/file"}
    )
    assert redactor.text("ghp_0123456789abcdef /etc/a/token/file") == "[secret GITHUB_TOKEN] /etc/a/token/file"


def test_of_two_secrets_of_which_one_begins_with_the_other_nothing_is_left() -> None:
    redactor = knowing("abcdefgh", "abcdefghijkl")
    assert redactor.text("abcdefghijkl abcdefgh") == "[secret s1] [secret s0]"


@given(st.text(min_size=8), st.text(), st.text())
def test_it_is_gone_from_any_text(secret: str, before: str, after: str) -> None:
    cleaned = knowing(secret).text(before + secret + after)
    assert secret not in cleaned.replace("[secret s0]", "") or secret in before + after or secret in "[secret s0]"
