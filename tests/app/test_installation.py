"""Packs and skills from a folder, an archive or a git address: agreed to, pinned by hash, updated, moved aside."""

from __future__ import annotations

import io
import json
import shutil
import subprocess
import tarfile
import zipfile
from pathlib import Path

import pytest

from weft.app import App
from weft.app.library.installation import (
    Installation,
    bring_pack,
    bring_skills,
    brought,
    origin_of,
    pack_changes,
    remove_pack,
    remove_skill,
)
from weft.consent import Consents, NotAgreedError
from weft.protocol.errors import ExternalError, UsageError, UserError
from weft.workspace.workspace import Workspace

ROOT = Path(__file__).parents[2]
SKILL = "---\nname: tidy\ndescription: Tidies up.\n---\nPut things away.\n"


def no_fetch(address: str) -> bytes:
    raise AssertionError(address)


class Person:
    """Agrees to everything, and remembers what they were asked about."""

    def __init__(self, home: Path) -> None:
        self.consents = Consents(home)
        self.asked: list[str] = []
        self.consents.ask = self._ask

    def _ask(self, request: object) -> bool:
        from weft.consent import ConsentRequest

        assert isinstance(request, ConsentRequest)
        self.asked.append(f"{request.kind} {request.subject}: {len(request.parts)}")
        self.consents.agree(request, "asked")
        return True


@pytest.fixture
def person(tmp_path: Path) -> Person:
    return Person(tmp_path / "own")


@pytest.fixture
def review(tmp_path: Path) -> Path:
    return Path(shutil.copytree(ROOT / "examples/review", tmp_path / "review"))


def actions(found: Installation) -> dict[str, str]:
    return {one.path: one.action for one in found.laid}


def archived(folder: Path, name: str) -> Path:
    target = folder.parent / name
    if name.endswith(".zip"):
        with zipfile.ZipFile(target, "w") as out:
            for one in folder.rglob("*"):
                out.write(one, f"review-1.0/{one.relative_to(folder)}")
    else:
        with tarfile.open(target, "w:gz") as tar:
            tar.add(folder, "review-1.0")
    return target


def git(folder: Path, *words: str) -> str:
    own = ["-c", "user.name=a", "-c", "user.email=a@b", "-c", "init.defaultBranch=main"]
    return subprocess.run(["git", "-C", str(folder), *own, *words], check=True, capture_output=True, text=True).stdout


def committed(folder: Path) -> str:
    if not (folder / ".git").exists():
        git(folder, "init", "-q")
    git(folder, "add", "-A")
    git(folder, "commit", "-qm", "x")
    return f"git+file://{folder}"


@pytest.mark.parametrize("how", ["folder", "pack.zip", "pack.tar.gz", "git"])
def test_a_pack_is_laid_after_it_was_agreed_to(how: str, review: Path, workspace: Path, person: Person) -> None:
    address = str(review) if how == "folder" else committed(review) if how == "git" else str(archived(review, how))
    with pytest.raises(NotAgreedError):
        bring_pack(address, workspace, Consents(workspace.parent / "nobody"), no_fetch)
    assert list(workspace.iterdir()) == [], "nothing is laid before"
    found = bring_pack(address, workspace, person.consents, no_fetch)
    assert set(actions(found).values()) == {"created"}
    assert person.asked == ["pack review: 4"]
    assert (found.origin.commit != "") == (how == "git")
    with App.open(workspace) as app:
        assert app.check_pipeline("abstract") == []
    again = bring_pack(address, workspace, person.consents, no_fetch)
    assert set(actions(again).values()) == {"same"}
    assert again.origin.hash == found.origin.hash
    assert person.asked == ["pack review: 4"], "the same needs no second question"


def test_an_update_asks_about_what_is_new_and_keeps_what_a_person_changed(
    review: Path, workspace: Path, person: Person
) -> None:
    address = committed(review)
    first = bring_pack(address, workspace, person.consents, no_fetch).origin
    (workspace / "schemas/outline.schema.json").write_text("{}")
    code = review / "code/abstract.py"
    code.write_text(code.read_text() + "\n# new\n")
    (review / "schemas/outline.schema.json").write_text('{"type": "object"}')
    committed(review)
    _, changes = pack_changes(first.origin, workspace, no_fetch)
    assert {one.path: one.state for one in changes if one.state != "same"} == {
        "code/abstract.py": "new version",
        "schemas/outline.schema.json": "both",
    }
    assert "+# new" in next(one.diff for one in changes if one.path == "code/abstract.py")
    second = bring_pack(first.origin, workspace, person.consents, no_fetch)
    assert actions(second)["code/abstract.py"] == "updated"
    assert actions(second)["schemas/outline.schema.json"] == "kept"
    assert len(person.asked) == 2
    assert second.origin.hash != first.hash
    assert second.origin.commit != first.commit
    gone = {one.path: one.action for one in remove_pack("review", workspace)}
    assert gone["code/abstract.py"] == "removed"
    assert gone["schemas/outline.schema.json"] == "kept"
    assert not (workspace / "code/abstract.py").exists()
    assert len(list((workspace / ".weft/removed").rglob("abstract.py"))) == 1, "moved aside, not deleted"
    assert origin_of(workspace, "pack", "review") is None
    with pytest.raises(UserError, match="no pack 'review' was laid"):
        remove_pack("review", workspace)


def test_skills_come_and_go(tmp_path: Path, workspace: Path, person: Person) -> None:
    skill = tmp_path / "skills/tidy"
    (skill / "scripts").mkdir(parents=True)
    (skill / "SKILL.md").write_text(SKILL)
    (skill / "scripts/go.sh").write_text("echo hi\n")
    (one,) = bring_skills(str(tmp_path / "skills"), workspace, person.consents, no_fetch)
    assert actions(one) == {
        ".claude/skills/tidy/SKILL.md": "created",
        ".claude/skills/tidy/scripts/go.sh": "created",
    }
    assert person.asked == ["skill tidy: 2"]
    (skill / "scripts/go.sh").unlink()
    (skill / "SKILL.md").write_text(SKILL + "More.\n")
    (one,) = bring_skills(str(skill), workspace, person.consents, no_fetch)
    assert set(actions(one).values()) == {"updated", "removed"}
    (workspace / ".claude/skills/tidy/SKILL.md").write_text(SKILL + "Mine.\n")
    with pytest.raises(UserError, match="you changed the skill tidy"):
        bring_skills(str(skill), workspace, person.consents, no_fetch)
    with Workspace.open(workspace) as opened:
        target = remove_skill("tidy", opened)
        assert "Mine." in (workspace / target / "SKILL.md").read_text()
        assert opened.skill_names() == []
        with pytest.raises(UsageError, match="unknown skill 'tidy'"):
            remove_skill("tidy", opened)


def test_an_archive_writes_nowhere_else(tmp_path: Path) -> None:
    bad = tmp_path / "bad.zip"
    with zipfile.ZipFile(bad, "w") as out:
        out.writestr("../evil.txt", "x")
    with pytest.raises(UserError, match="wants to write to"), brought(str(bad), no_fetch):
        pass
    tar = tmp_path / "bad.tar"
    with tarfile.open(tar, "w") as out_tar:
        info = tarfile.TarInfo("/etc/evil")
        info.size = 1
        out_tar.addfile(info, io.BytesIO(b"x"))
        link = tarfile.TarInfo("a/link")
        link.type, link.linkname = tarfile.SYMTYPE, "/etc/passwd"
        out_tar.addfile(link)
    with brought(str(tar), no_fetch) as (folder, _):
        assert not (folder / "link").exists()
    assert not (tmp_path / "evil.txt").exists()
    (tmp_path / "no.zip").write_bytes(b"nonsense")
    with pytest.raises(UserError, match="can't be unpacked"), brought(str(tmp_path / "no.zip"), no_fetch):
        pass
    with pytest.raises(UsageError, match="there is nothing at"), brought(str(tmp_path / "nosuch"), no_fetch):
        pass
    with pytest.raises(ExternalError, match="git can't clone"), brought(f"git+file://{tmp_path}/no.git", no_fetch):
        pass


def test_an_archive_of_the_web(review: Path, workspace: Path, person: Person) -> None:
    data = archived(review, "pack.zip").read_bytes()
    found = bring_pack("https://example.com/review.zip", workspace, person.consents, lambda _: data)
    assert found.origin.origin == "https://example.com/review.zip"
    assert json.loads((workspace / ".weft/origins.json").read_text())["origins"][0]["name"] == "review"
