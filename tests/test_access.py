"""Who may come in: secrets told once and kept as hashes, links used once, persons with roles."""

from __future__ import annotations

import json
import stat
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from weft.access import BROWSER_DAYS, FILE, LINK_MINUTES, ME, ROLES, Access, Identity, Role
from weft.protocol.errors import UserError

START = datetime(2026, 5, 1, 12, tzinfo=UTC)


class Clock:
    def __init__(self) -> None:
        self.now = START

    def __call__(self) -> datetime:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def access(tmp_path: Path, clock: Clock) -> Access:
    return Access(tmp_path / "own", clock)


def test_alone_there_is_one_person_without_any_set_up(access: Access, tmp_path: Path) -> None:
    assert [(one.name, one.role) for one in access.persons()] == [(ME, "administer")]
    assert not (tmp_path / "own").exists()  # looking makes nothing


def test_a_link_signs_one_browser_in_once(access: Access) -> None:
    link = access.sign_in_secret()
    cookie = access.use_link(link, "Firefox")
    assert cookie is not None
    found = access.identify_browser(cookie)
    assert found is not None
    assert (found.person, found.role, found.by) == (ME, "administer", "browser")
    assert access.use_link(link, "Firefox") is None
    assert [one.agent for one in access.browsers()] == ["Firefox"]


def test_a_link_is_over_after_some_minutes(access: Access, clock: Clock) -> None:
    link = access.sign_in_secret()
    clock.now += timedelta(minutes=LINK_MINUTES)
    assert access.use_link(link, "") is None


def test_a_browser_is_signed_out_after_its_days(access: Access, clock: Clock) -> None:
    cookie = access.use_link(access.sign_in_secret(), "")
    assert cookie
    clock.now += timedelta(days=BROWSER_DAYS)
    assert access.identify_browser(cookie) is None


def test_of_many_who_use_one_link_at_the_same_time_one_comes_in(tmp_path: Path) -> None:
    link = Access(tmp_path).sign_in_secret()
    with ThreadPoolExecutor(8) as many:
        found = list(many.map(lambda _: Access(tmp_path).use_link(link, ""), range(16)))
    assert sum(one is not None for one in found) == 1


def test_a_token_is_told_once_and_kept_as_a_hash(access: Access, tmp_path: Path) -> None:
    token, secret = access.add_token(ME, ["read", "write"], "nightly")
    found = access.identify_token(secret)
    assert found == Identity(person=ME, role="administer", by="token", id=token.id, scopes=("read", "write"))
    kept = (tmp_path / "own" / FILE).read_text()
    assert secret.rsplit("_", 1)[1] not in kept
    assert stat.S_IMODE((tmp_path / "own" / FILE).stat().st_mode) == 0o600


def test_a_token_is_no_cookie_and_a_cookie_no_token(access: Access) -> None:
    _, secret = access.add_token(ME, ["read"], "")
    cookie = access.use_link(access.sign_in_secret(), "")
    assert cookie
    assert access.identify_browser(secret) is None
    assert access.identify_token(cookie) is None


@pytest.mark.parametrize("wrong", ["", "x", "weft__", "weft_a_b", "_", "__", "weft_\x00_\x00"])
def test_what_is_no_secret_lets_nobody_in(access: Access, wrong: str) -> None:
    access.add_token(ME, ["read"], "")
    assert access.identify_token(wrong) is None
    assert access.identify_browser(wrong) is None
    assert access.use_link(wrong, "") is None


def test_the_right_id_with_another_secret_lets_nobody_in(access: Access) -> None:
    token, secret = access.add_token(ME, ["read"], "")
    other = secret[:-1] + ("0" if secret[-1] != "0" else "1")
    assert access.identify_token(other) is None
    assert access.identify_token(f"weft_{token.id}_{token.hash}") is None


def test_what_is_revoked_is_refused_at_once_also_by_a_server_that_knew_it(access: Access, tmp_path: Path) -> None:
    token, secret = access.add_token(ME, ["read"], "")
    cookie = access.use_link(access.sign_in_secret(), "")
    assert cookie
    assert access.identify_token(secret)
    assert access.identify_browser(cookie)
    beside = Access(tmp_path / "own")
    beside.revoke(token.id)
    beside.revoke(access.browsers()[0].id)
    assert access.identify_token(secret) is None
    assert access.identify_browser(cookie) is None
    with pytest.raises(UserError, match="no token, browser or share"):
        beside.revoke(token.id)


def test_a_token_ends_when_it_should(access: Access, clock: Clock) -> None:
    _, secret = access.add_token(ME, ["read"], "", days=2)
    clock.now += timedelta(days=1)
    assert access.identify_token(secret)
    clock.now += timedelta(days=1)
    assert access.identify_token(secret) is None


@pytest.mark.parametrize("role", ROLES)
def test_a_role_includes_the_ones_before_it_and_no_other(role: Role) -> None:
    who = Identity(person="ada", role=role, by="browser", id="1")
    assert [one for one in ROLES if who.may(one)] == list(ROLES[: ROLES.index(role) + 1])


def test_a_token_can_do_what_its_scope_says_and_no_more_than_its_person() -> None:
    reading = Identity(person="ada", role="administer", by="token", id="1", scopes=("read",))
    assert (reading.may("look"), reading.may("answer"), reading.may_use("mcp")) == (True, False, False)
    writing = Identity(person="ada", role="look", by="token", id="1", scopes=("write",))
    assert [one for one in ROLES if writing.may(one)] == []
    mcp = Identity(person="ada", role="run", by="token", id="1", scopes=("mcp",))
    assert (mcp.may_use("mcp"), mcp.may_use("trigger"), mcp.may("look")) == (True, False, False)


def test_a_passphrase_signs_in_and_a_wrong_one_does_not(access: Access) -> None:
    assert not access.has_passphrase
    access.put_person("ada", "run", "correct horse battery")
    assert access.has_passphrase
    assert access.use_passphrase("ada", "correct horse batterx", "") is None
    assert access.use_passphrase("bob", "correct horse battery", "") is None
    assert access.use_passphrase(ME, "", "") is None  # who has none can't use an empty one
    cookie = access.use_passphrase("ada", "correct horse battery", "")
    assert cookie
    found = access.identify_browser(cookie)
    assert found is not None
    assert (found.person, found.role) == ("ada", "run")


def test_another_passphrase_signs_out_who_came_in_with_the_one_before(access: Access) -> None:
    access.put_person("ada", "run", "correct horse battery")
    cookies = {name: access.use_link(access.sign_in_secret(name), "") or "" for name in ("ada", ME)}
    access.put_person("ada", "answer")
    assert access.identify_browser(cookies["ada"]), "her role alone was changed"
    access.put_person("ada", "answer", "another horse battery")
    assert access.identify_browser(cookies["ada"]) is None
    assert access.identify_browser(cookies[ME])


def test_a_short_passphrase_is_refused(access: Access) -> None:
    with pytest.raises(UserError, match="at least"):
        access.put_person("ada", "run", "short")


def test_who_is_removed_is_out_with_everything(access: Access) -> None:
    access.put_person("ada", "run", "correct horse battery")
    cookie = access.use_passphrase("ada", "correct horse battery", "")
    _, secret = access.add_token("ada", ["read"], "")
    link = access.sign_in_secret("ada")
    access.remove_person("ada")
    assert cookie
    assert access.identify_browser(cookie) is None
    assert access.identify_token(secret) is None
    assert access.use_link(link, "") is None


def test_somebody_who_may_administer_is_always_left(access: Access) -> None:
    access.put_person("ada", "run")
    with pytest.raises(UserError, match="administer"):
        access.put_person(ME, "look")
    with pytest.raises(UserError, match="administer"):
        access.remove_person(ME)
    access.put_person("ada", "administer")
    access.remove_person(ME)
    assert [one.name for one in access.persons()] == ["ada"]


def test_a_changed_role_counts_from_the_next_request(access: Access) -> None:
    access.put_person("ada", "administer")
    cookie = access.use_link(access.sign_in_secret("ada"), "")
    access.put_person("ada", "look")
    assert cookie
    found = access.identify_browser(cookie)
    assert found is not None
    assert found.role == "look"


@pytest.mark.parametrize("content", ["", "{", "[]", '{"version": 2}', '{"persons": [{"name": 1}]}', '{"odd": 1}'])
def test_a_damaged_file_lets_nobody_in_and_says_what_is_wrong(tmp_path: Path, content: str) -> None:
    access = Access(tmp_path)
    _, secret = access.add_token(ME, ["read"], "")
    (tmp_path / FILE).write_text(content)
    with pytest.raises(UserError, match="can't be read"):
        access.identify_token(secret)
    with pytest.raises(UserError, match="can't be read"):
        access.add_token(ME, ["read"], "")
    assert (tmp_path / FILE).read_text() == content


def test_nothing_secret_is_in_the_file(access: Access, tmp_path: Path) -> None:
    access.put_person("ada", "run", "correct horse battery")
    access.sign_in_secret("ada")
    kept = json.loads((tmp_path / "own" / FILE).read_text())
    assert "correct" not in json.dumps(kept)
    assert set(kept["links"][0]) == {"id", "person", "expires", "hash"}


@pytest.mark.parametrize("name", ["", "Ada", "a b", "-a", "a" * 65, "a\n"])
def test_odd_names_are_refused(access: Access, name: str) -> None:
    with pytest.raises(UserError, match="name"):
        access.put_person(name, "look")
