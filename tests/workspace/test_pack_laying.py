"""Laying a pack: what a person changed is never overwritten, nothing is deleted, and what differs is said."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from weft.files import Disk
from weft.protocol.errors import UserError, WorkspaceError
from weft.protocol.hashes import hash_bytes
from weft.workspace.pack import FileDifference, LaidFile, Pack, compare_pack, lay_pack, load_pack

WriteFiles = Callable[[Path, Mapping[str, str | bytes]], None]
MakePack = Callable[..., Pack]
SEE = "`weft packs diff kit` shows how it differs"


@pytest.fixture
def make_pack(tmp_path: Path, write_files: WriteFiles) -> MakePack:
    def make(files: Mapping[str, str | bytes], *, name: str = "kit", version: str = "1.0", fits: str = ">=0.1") -> Pack:
        text = f'name: {name}\nversion: "{version}"\ndescription: d\nweft: "{fits}"\n'
        folder = tmp_path / f"{name}-{version}"
        write_files(folder, {"pack.yaml": text, **files})
        return load_pack(folder)

    return make


@pytest.fixture
def target(tmp_path: Path) -> Path:
    return tmp_path / "workspace"


def actions(laid: list[LaidFile]) -> dict[str, tuple[str, str]]:
    return {file.path: (file.action, file.note) for file in laid}


def states(differences: list[FileDifference]) -> dict[str, str]:
    return {difference.path: difference.state for difference in differences}


def test_a_first_lay_creates_everything_and_records_it(make_pack: MakePack, target: Path) -> None:
    pack = make_pack({"AGENTS.md": "one", "agents/writer.md": "two", "skills/tone/more/x.md": b"\xff"})
    assert states(compare_pack(pack, target)) == dict.fromkeys(pack.files, "not laid")
    assert not target.exists()
    assert lay_pack(pack, target) == [
        LaidFile(".claude/agents/writer.md", "created"),
        LaidFile(".claude/skills/tone/more/x.md", "created"),
        LaidFile("AGENTS.md", "created"),
    ]
    assert (target / ".claude/agents/writer.md").read_text() == "two"
    assert (target / ".claude/skills/tone/more/x.md").read_bytes() == b"\xff"
    assert json.loads((target / ".weft/packs.json").read_text()) == {
        "version": 1,
        "packs": {
            "kit": {
                "version": "1.0",
                "files": {
                    ".claude/agents/writer.md": hash_bytes(b"two"),
                    ".claude/skills/tone/more/x.md": hash_bytes(b"\xff"),
                    "AGENTS.md": hash_bytes(b"one"),
                },
            }
        },
    }
    assert states(compare_pack(pack, target)) == dict.fromkeys(pack.files, "same")
    assert {file.action for file in lay_pack(pack, target)} == {"same"}


def test_an_upgrade_updates_what_was_left_alone_and_keeps_the_rest(make_pack: MakePack, target: Path) -> None:
    old = {"code/a.py": "a1", "code/b.py": "b1", "code/c.py": "c1", "code/d.py": "d1", "code/gone.py": "g1"}
    new = {"code/a.py": "a1", "code/b.py": "b2", "code/c.py": "c1", "code/d.py": "d2", "code/e.py": "e2"}
    lay_pack(make_pack(old), target)
    (target / "code/c.py").write_text("mine")
    (target / "code/d.py").write_text("mine too")
    (target / "code/e.py").write_text("mine before")
    pack = make_pack(new, version="2.0")
    assert states(compare_pack(pack, target)) == {
        "code/a.py": "same",
        "code/b.py": "new version",
        "code/c.py": "changed by you",
        "code/d.py": "both",
        "code/e.py": "changed by you",
    }
    assert actions(lay_pack(pack, target)) == {
        "code/a.py": ("same", ""),
        "code/b.py": ("updated", ""),
        "code/c.py": ("kept", f"you changed it; {SEE}"),
        "code/d.py": ("kept", f"you changed it, and the pack has a new version; {SEE}"),
        "code/e.py": ("kept", f"it was there before; {SEE}"),
        "code/gone.py": ("kept", "kit 2.0 no longer has it"),
    }
    found = {name: (target / f"code/{name}.py").read_text() for name in ("a", "b", "c", "d", "e", "gone")}
    assert found == {"a": "a1", "b": "b2", "c": "mine", "d": "mine too", "e": "mine before", "gone": "g1"}
    record = json.loads((target / ".weft/packs.json").read_text())["packs"]["kit"]
    assert record["version"] == "2.0"
    assert record["files"]["code/d.py"] == hash_bytes(b"d1"), "kept files keep the hash they were laid with"
    assert "code/e.py" not in record["files"]


def test_what_a_person_puts_back_may_be_updated_again(make_pack: MakePack, target: Path) -> None:
    lay_pack(make_pack({"code/a.py": "1"}), target)
    (target / "code/a.py").write_text("mine")
    pack = make_pack({"code/a.py": "2"}, version="2.0")
    assert actions(lay_pack(pack, target))["code/a.py"][0] == "kept"
    (target / "code/a.py").write_text("1")
    assert actions(lay_pack(pack, target))["code/a.py"] == ("updated", "")
    (target / "code/a.py").write_text("mine")
    assert states(compare_pack(pack, target)) == {"code/a.py": "changed by you"}


def test_what_is_gone_comes_back(make_pack: MakePack, target: Path) -> None:
    pack = make_pack({"code/a.py": "1"})
    lay_pack(pack, target)
    (target / "code/a.py").unlink()
    assert compare_pack(pack, target) == [FileDifference("code/a.py", "missing")]
    assert lay_pack(pack, target) == [LaidFile("code/a.py", "created", "it was gone")]


def test_the_difference_is_shown_from_the_persons_file_to_the_packs(make_pack: MakePack, target: Path) -> None:
    pack = make_pack({"code/a.py": "one\ntwo\n", "code/b.py": b"\xff"})
    lay_pack(pack, target)
    (target / "code/a.py").write_text("one\n2\n")
    (target / "code/b.py").write_bytes(b"\xfe")
    text, binary = compare_pack(pack, target)
    assert text.diff.splitlines() == [
        "--- code/a.py (yours)",
        "+++ code/a.py (pack)",
        "@@ -1,2 +1,2 @@",
        " one",
        "-2",
        "+two",
    ]
    assert binary.diff == "code/b.py: not text, and the two differ"


def test_a_file_of_another_pack_is_kept_and_its_owner_named(make_pack: MakePack, target: Path) -> None:
    lay_pack(make_pack({"AGENTS.md": "other"}, name="other"), target)
    pack = make_pack({"AGENTS.md": "kit", "code/a.py": "1"})
    assert actions(lay_pack(pack, target)) == {
        "AGENTS.md": ("kept", f"it came with the pack other; {SEE}"),
        "code/a.py": ("created", ""),
    }
    packs = json.loads((target / ".weft/packs.json").read_text())["packs"]
    assert set(packs) == {"kit", "other"}
    assert (target / "AGENTS.md").read_text() == "other"
    assert states(compare_pack(pack, target))["AGENTS.md"] == "another pack's"


@pytest.mark.parametrize("mine", [None, "changed by the person"])
def test_two_packs_with_different_files_of_one_name_are_not_laid_together(
    mine: str | None, make_pack: MakePack, target: Path
) -> None:
    lay_pack(make_pack({"agents/judge.md": "other"}, name="other"), target)
    if mine is not None:
        (target / ".claude/agents/judge.md").write_text(mine)
    pack = make_pack({"agents/judge.md": "kit", "code/a.py": "1"})
    assert states(compare_pack(pack, target))[".claude/agents/judge.md"] == "another pack's"
    with pytest.raises(UserError) as caught:
        lay_pack(pack, target)
    assert "the pack kit has a .claude/agents/judge.md, and the pack other has laid another" in caught.value.message
    assert "weft packs rm other" in (caught.value.hint or "")
    assert not (target / "code").exists(), "nothing of it was laid"
    (target / ".claude/agents/judge.md").unlink()
    assert actions(lay_pack(pack, target))[".claude/agents/judge.md"] == ("created", "")


def test_packs_may_share_a_file_until_one_of_them_has_another(make_pack: MakePack, target: Path) -> None:
    for name in ("kit", "other"):
        lay_pack(make_pack({"agents/judge.md": "shared"}, name=name), target)
    newer = make_pack({"agents/judge.md": "newer"}, version="2.0")
    with pytest.raises(UserError, match="the pack other has laid another"):
        lay_pack(newer, target)
    assert (target / ".claude/agents/judge.md").read_text() == "shared"


def test_a_pack_that_does_not_fit_says_both_versions_and_lays_nothing(make_pack: MakePack, target: Path) -> None:
    pack = make_pack({"code/a.py": "1"}, fits=">=9,<10")
    with pytest.raises(UserError) as caught:
        lay_pack(pack, target, engine="0.1.0")
    assert caught.value.message == "the pack kit 1.0 fits weft >=9,<10, and this is weft 0.1.0"
    assert not target.exists()
    assert lay_pack(pack, target, engine="9.1") == [LaidFile("code/a.py", "created")]


def test_a_link_in_the_way_is_left_alone(make_pack: MakePack, target: Path, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    target.mkdir()
    (target / "code").symlink_to(outside)
    pack = make_pack({"code/a.py": "1", "AGENTS.md": "x"})
    laid = actions(lay_pack(pack, target))
    assert laid["code/a.py"][0] == "kept"
    assert "link" in laid["code/a.py"][1]
    assert laid["AGENTS.md"] == ("created", "")
    assert list(outside.iterdir()) == []
    assert states(compare_pack(pack, target)) == {"AGENTS.md": "same", "code/a.py": "changed by you"}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{", "this is not valid JSON: expecting property name enclosed in double quotes"),
        ("[]", "this is not the record of laid packs"),
        ('{"version": 9, "packs": {}}', "this record has version 9, and only 1 is known here"),
        ('{"version": 1, "packs": {"kit": {}}}', "the record of the pack kit is damaged"),
    ],
)
def test_a_damaged_record_stops_before_anything_is_written(
    text: str, message: str, make_pack: MakePack, target: Path
) -> None:
    pack = make_pack({"code/a.py": "1"})
    (target / ".weft").mkdir(parents=True)
    (target / ".weft/packs.json").write_text(text)
    with pytest.raises(WorkspaceError) as caught:
        lay_pack(pack, target)
    (problem,) = caught.value.problems
    assert (problem.file, problem.message) == (".weft/packs.json", message)
    assert not (target / "code").exists()
    assert (target / ".weft/packs.json").read_text() == text


class DiskThatEnds(Disk):
    """A disk on which the process ends at the n-th replacement."""

    def __init__(self, replacements: int) -> None:
        super().__init__(sync=False)
        self.left = replacements

    def replace(self, source: str, target: str, dir_fd: int) -> None:
        if self.left == 0:
            raise KeyboardInterrupt
        self.left -= 1
        super().replace(source, target, dir_fd)


@pytest.mark.parametrize("replacements", range(4))
def test_an_upgrade_that_ends_half_way_is_finished_by_the_next(
    replacements: int, make_pack: MakePack, target: Path
) -> None:
    names = ["code/a.py", "code/b.py", "code/c.py"]
    lay_pack(make_pack(dict.fromkeys(names, "1")), target)
    pack = make_pack(dict.fromkeys(names, "2"), version="2.0")
    with pytest.raises(KeyboardInterrupt):
        lay_pack(pack, target, DiskThatEnds(replacements))
    assert [(target / name).read_text() for name in names].count("2") == replacements
    laid = lay_pack(pack, target)
    assert [file.action for file in laid].count("updated") == 3 - replacements
    assert states(compare_pack(pack, target)) == dict.fromkeys(names, "same")
