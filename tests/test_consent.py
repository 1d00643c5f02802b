"""What others bring runs, is reached or gets a key only after consent: the decision, and the record of it."""

from __future__ import annotations

import stat
from collections.abc import Collection
from datetime import UTC, datetime
from itertools import chain, combinations
from pathlib import Path

import pytest

from weft.consent import (
    FILE,
    OWN_WORK,
    Consent,
    ConsentBook,
    ConsentRequest,
    Consents,
    Kind,
    NotAgreedError,
    OwnWorkFolder,
    is_agreed,
)
from weft.models.connections import Connection, consent_request
from weft.protocol.errors import UserError

AT = datetime(2026, 1, 1, tzinfo=UTC)
SHIPPED: dict[str, Collection[str]] = {"code/a.py": {"1"}}


def request(kind: Kind = "code", folder: str = "/w", **parts: str) -> ConsentRequest:
    named = {name.replace("_", "/", 1) + ".py": hash_ for name, hash_ in parts.items()}
    return ConsentRequest(kind=kind, subject=folder, folder=folder, parts=named)


def book(*given: ConsentRequest, folders: tuple[OwnWorkFolder, ...] = ()) -> ConsentBook:
    made = [Consent(**vars(one), by="me", at=AT, how="asked") for one in given]
    return ConsentBook(consents=tuple(made), folders=folders)


def own(path: str, *, below: bool = False) -> OwnWorkFolder:
    return OwnWorkFolder(path=path, below=below, by="me", at=AT)


def agreed(asked: ConsentRequest, known: ConsentBook) -> bool:
    return is_agreed(asked, known, lambda place: SHIPPED.get(place, ()))


def test_what_comes_with_weft_needs_no_question_and_what_was_changed_of_it_does() -> None:
    assert agreed(request(code_a="1"), book())
    assert not agreed(request(code_a="2"), book())
    assert not agreed(request(code_b="1"), book()), "the same content at another place is loaded by another name"
    assert not agreed(request(code_a="1", code_b="9"), book())
    assert agreed(request(), book()), "no code, nothing to ask"


def test_consent_is_to_exactly_what_was_shown() -> None:
    known = book(request(code_b="5", code_c="6"))
    assert agreed(request(code_b="5", code_c="6"), known)
    assert agreed(request(code_a="1", code_b="5"), known), "less of it, and what ships beside it"
    assert agreed(request(code_b="5", code_c="6", folder="/elsewhere"), known), "a copy is the same content"
    assert not agreed(request(code_b="5", code_c="7"), known)
    assert not agreed(request(code_b="5", code_c="6", code_d="1"), known)
    assert not agreed(request(code_b="6", code_c="5"), known)


def test_two_consents_do_not_add_up_to_one() -> None:
    assert not agreed(request(code_b="5", code_c="6"), book(request(code_b="5"), request(code_c="6")))


def test_over_every_small_world_no_part_runs_that_nobody_agreed_to() -> None:
    """The rule in other words: each file is shipped, of an agreed pack, or in one consent together with all others."""
    parts = [{"code/a.py": "1"}, {"code/a.py": "2"}, {"code/b.py": "1"}, {"code/b.py": "2"}]
    sets = [dict(chain.from_iterable(one.items() for one in some)) for n in (1, 2) for some in combinations(parts, n)]
    for asked in sets:
        for first in sets:
            for second in sets:
                for kind in ("code", "pack"):
                    given = book(
                        ConsentRequest(kind="code", subject="x", parts=first),
                        ConsentRequest(kind=kind, subject="y", parts=second),
                    )
                    free = {("code/a.py", "1")} | (set(second.items()) if kind == "pack" else set())
                    left = set(asked.items()) - free
                    allowed = [set(first.items())] + ([set(second.items())] if kind == "code" else [])
                    expected = not left or any(left <= one for one in allowed)
                    assert agreed(ConsentRequest(kind="code", subject="z", parts=asked), given) == expected


def test_a_folder_of_the_persons_own_covers_code_and_nothing_that_is_reached() -> None:
    assert OWN_WORK == ("code", "pack", "hook", "skill", "rules")
    exact, deep = book(folders=(own("/w"),)), book(folders=(own("/w", below=True),))
    for kind in OWN_WORK:
        assert agreed(request(kind, code_b="5"), exact)
        assert not agreed(request(kind, folder="/w/cloned", code_b="5"), exact)
        assert not agreed(request(kind, folder="/www", code_b="5"), deep)
        assert agreed(request(kind, folder="/w/cloned", code_b="5"), deep)
    for other in ("source", "model"):
        assert not agreed(request(other, code_b="5"), deep)


def test_of_what_is_reached_nothing_may_be_left_out() -> None:
    known = book(ConsentRequest(kind="source", subject="s", parts={"command": "x", "argument": "--read-only"}))
    assert not agreed(ConsentRequest(kind="source", subject="s", parts={"command": "x"}), known)
    assert not agreed(ConsentRequest(kind="source", subject="s", parts={}), known)


@pytest.mark.parametrize(
    ("connection", "asked"),
    [
        ({"kind": "openai", "key": "env:OPENAI_API_KEY"}, None),
        ({"kind": "claude-agent", "key": "env:ANTHROPIC_API_KEY"}, None),
        ({"kind": "openai", "key": "env:GITHUB_TOKEN"}, ("the own address of openai", "env:GITHUB_TOKEN")),
        ({"kind": "openai"}, ("the own address of openai", "store:x")),
        ({"kind": "openai", "base_url": "https://e.example/v1"}, ("https://e.example/v1", "store:x")),
        ({"kind": "openai", "base_url": "https://e.example", "key": "none"}, ("https://e.example", "none")),
        ({"kind": "openai", "base_url": "http://127.0.0.1:9", "key": "none"}, None),
        ({"kind": "openai", "base_url": "http://127.0.0.1:9"}, None),
        ({"kind": "openai", "base_url": "http://127.0.0.1:9", "key": "env:T"}, ("http://127.0.0.1:9", "env:T")),
        ({"kind": "gguf", "file": "m.gguf"}, None),
    ],
)
def test_a_key_belongs_to_its_address(connection: dict[str, str], asked: tuple[str, str] | None) -> None:
    found = consent_request(Connection(name="x", **connection), "/w")  # type: ignore[arg-type]
    assert (None if found is None else (found.parts["address"], found.parts["key"])) == asked


def test_the_record_is_the_persons_own_and_consent_can_be_taken_back(tmp_path: Path) -> None:
    consents = Consents(tmp_path / "own", by="ada")
    asked = request(code_b="5")
    with pytest.raises(NotAgreedError, match=f"code/b.py 5(.|\n)*--trust {asked.hash}") as refused:
        consents.check(asked)
    assert refused.value.exit_code == 5
    assert not (tmp_path / "own").exists(), "asking keeps nothing"
    consents.agree(asked, "asked")
    assert stat.S_IMODE((tmp_path / "own" / FILE).stat().st_mode) == 0o600
    again = Consents(tmp_path / "own")
    again.check(asked)
    kept = again.book().consents[0]
    assert (kept.by, kept.how, kept.hash) == ("ada", "asked", asked.hash)
    assert again.revoke(asked.hash[:8]) == [asked.words]
    with pytest.raises(NotAgreedError):
        consents.check(asked)
    with pytest.raises(UserError, match="nothing was agreed to"):
        consents.revoke(asked.hash)


def test_a_hash_given_in_advance_is_for_that_content_alone(tmp_path: Path) -> None:
    consents = Consents(tmp_path)
    consents.in_advance = frozenset({request(code_b="5").hash})
    with pytest.raises(NotAgreedError):
        consents.check(request(code_b="6"))
    consents.check(request(code_b="5"))
    assert [one.how for one in consents.book().consents] == ["in advance"]


def test_a_record_that_cannot_be_read_agrees_to_nothing(tmp_path: Path) -> None:
    (tmp_path / FILE).write_text('{"consents": [{"kind": "code"}]}')
    with pytest.raises(UserError, match=r"can't be read: consents\.0"):
        Consents(tmp_path).check(request(code_b="5"))
