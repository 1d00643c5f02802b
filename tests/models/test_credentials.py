"""The credential store: kept, encrypted, opened by the right secret only, and never lost."""

from __future__ import annotations

import json
import os
import stat
from pathlib import Path

import pytest

from weft.models import credentials
from weft.models.credentials import FILE, CredentialStore, Unlocking, system_keyring
from weft.protocol.errors import UserError

SECRET = "sk-very-secret-0123456789"


class FakeKeyring:
    def __init__(self) -> None:
        self.kept: dict[tuple[str, str], str] = {}

    def get_password(self, service: str, name: str) -> str | None:
        return self.kept.get((service, name))

    def set_password(self, service: str, name: str, secret: str) -> None:
        self.kept[service, name] = secret


def by_variable(path: Path, secret: str = "horse battery") -> CredentialStore:
    return CredentialStore(path, Unlocking(variable=secret))


@pytest.fixture(autouse=True)
def little_work(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """What keeps people from guessing would be most of what these tests do: the first has it whole."""
    if request.function is not test_keys_are_kept_under_names:
        monkeypatch.setitem(credentials._SCRYPT, "n", 2**8)


def test_keys_are_kept_under_names(tmp_path: Path) -> None:
    store = by_variable(tmp_path)
    assert (store.get("work"), store.names()) == (None, [])
    store.put("work", SECRET)
    store.put("desk", "other")
    again = by_variable(tmp_path)
    assert (again.get("work"), again.names()) == (SECRET, ["desk", "work"])
    assert again.remove("desk")
    assert not again.remove("desk")
    assert again.names() == ["work"]
    assert json.loads((tmp_path / FILE).read_text())["n"] >= 2**15, "guessing is slow"


def test_asking_for_a_key_makes_no_store(tmp_path: Path) -> None:
    assert CredentialStore(tmp_path / "none", Unlocking()).get("work") is None
    assert not (tmp_path / "none").exists()


def test_nothing_readable_is_on_the_disk_and_only_the_owner_may_read(tmp_path: Path) -> None:
    by_variable(tmp_path).put("work", SECRET)
    for path in tmp_path.iterdir():
        data = path.read_bytes()
        assert SECRET.encode() not in data
        assert b"work" not in data, "not even the names"
        assert b"horse" not in data
        assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_looser_rights_are_put_right(tmp_path: Path) -> None:
    store = by_variable(tmp_path)
    store.put("work", SECRET)
    os.chmod(tmp_path / FILE, 0o644)
    assert store.get("work") == SECRET
    assert stat.S_IMODE((tmp_path / FILE).stat().st_mode) == 0o600


def test_every_save_uses_another_nonce(tmp_path: Path) -> None:
    store = by_variable(tmp_path)
    boxes = set()
    for _ in range(3):
        store.put("work", SECRET)
        boxes.add(json.loads((tmp_path / FILE).read_text())["box"])
    assert len(boxes) == 3


def test_a_wrong_passphrase_opens_nothing_and_moves_nothing(tmp_path: Path) -> None:
    by_variable(tmp_path).put("work", SECRET)
    with pytest.raises(UserError, match="does not open") as raised:
        by_variable(tmp_path, "wrong").get("work")
    assert "WEFT_CREDENTIALS_KEY" in raised.value.hint
    assert by_variable(tmp_path).get("work") == SECRET


def test_a_passphrase_is_asked_for(tmp_path: Path) -> None:
    asked: list[str] = []

    def ask(what: str) -> str:
        asked.append(what)
        return "pass"

    CredentialStore(tmp_path, Unlocking(ask=ask)).put("work", SECRET)
    assert CredentialStore(tmp_path, Unlocking(ask=ask)).get("work") == SECRET
    assert asked == ["a new passphrase", "the passphrase"]
    with pytest.raises(UserError, match="locked"):
        CredentialStore(tmp_path, Unlocking()).get("work")


def test_the_keyring_holds_the_secret_when_there_is_one(tmp_path: Path) -> None:
    keyring = FakeKeyring()
    CredentialStore(tmp_path, Unlocking(keyring=keyring, variable="x")).put("work", SECRET)
    assert len(keyring.kept) == 1
    assert CredentialStore(tmp_path, Unlocking(keyring=keyring)).get("work") == SECRET
    with pytest.raises(UserError, match="keyring, which is not there"):
        CredentialStore(tmp_path, Unlocking(variable="x")).get("work")
    with pytest.raises(UserError, match="no secret"):
        CredentialStore(tmp_path, Unlocking(keyring=FakeKeyring())).get("work")


def test_without_anything_to_protect_it_no_key_is_written(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="nothing to protect") as raised:
        CredentialStore(tmp_path, Unlocking()).put("work", SECRET)
    assert SECRET not in str(raised.value)
    assert not (tmp_path / FILE).exists()


@pytest.mark.parametrize("damage", ["not json", "cut", "box", "header", "shape", "work"])
def test_a_damaged_store_is_moved_aside_and_never_deleted(tmp_path: Path, damage: str) -> None:
    store = by_variable(tmp_path)
    store.put("work", SECRET)
    path = tmp_path / FILE
    value = json.loads(path.read_text())
    if damage == "not json":
        path.write_bytes(b"\0\0\0")
    elif damage == "cut":
        path.write_bytes(path.read_bytes()[:100])
    elif damage == "shape":
        path.write_text("[]")
    else:
        if damage == "box":
            value["box"] = value["box"][:-8] + "AAAAAAA="
        elif damage == "header":
            value["p"] = 2
            value["check"] = value["check"]
        else:
            value["n"] = 2**40
        path.write_text(json.dumps(value))
    broken = path.read_bytes()
    if damage == "header":
        with pytest.raises(UserError, match="does not open"):
            store.get("work")
        return
    with pytest.raises(UserError, match="can't be read") as raised:
        store.get("work")
    aside = tmp_path / f"{FILE}.unreadable-1"
    assert str(aside) in str(raised.value)
    assert aside.read_bytes() == broken
    store.put("work", "new")
    assert by_variable(tmp_path).get("work") == "new"
    assert aside.read_bytes() == broken


def test_a_store_of_a_newer_version_is_left_alone(tmp_path: Path) -> None:
    store = by_variable(tmp_path)
    store.put("work", SECRET)
    path = tmp_path / FILE
    path.write_text(json.dumps({**json.loads(path.read_text()), "version": 99}))
    with pytest.raises(UserError, match="newer"):
        store.get("work")
    assert path.exists()


def test_no_representation_shows_a_secret(tmp_path: Path) -> None:
    store = by_variable(tmp_path, "horse battery")
    store.put("work", SECRET)
    assert "horse" not in repr(store) + repr(store._unlocking)
    assert SECRET not in repr(store)


def test_a_machine_without_a_keyring_has_none(monkeypatch: pytest.MonkeyPatch) -> None:
    def no_such(name: str) -> object:
        raise ImportError(name)

    monkeypatch.setattr("weft.models.credentials.importlib.import_module", no_such)
    assert system_keyring() is None
