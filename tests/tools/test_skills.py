"""Skills of several places: the last wins, and a broken one is named without hiding the rest."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path

import pytest

from tests.tools.calling import Place
from weft.files import Folder
from weft.protocol.errors import UserError
from weft.tools.skills import Skills


def lay(root: Path, name: str, text: str) -> None:
    folder = root / ".claude" / "skills" / name
    folder.mkdir(parents=True)
    (folder / "SKILL.md").write_text(text)


def skill(name: str, body: str) -> str:
    return f"---\nname: {name}\ndescription: when {name} is to be done\n---\n{body}\n"


def test_the_last_place_wins_and_what_is_broken_is_named(tmp_path: Path, place: Place) -> None:
    user, project, workspace = (tmp_path / word for word in ("user", "project", "home"))
    for root in (user, project, workspace):
        root.mkdir()
    lay(user, "reading", skill("reading", "as a user"))
    lay(user, "only-here", skill("only-here", "mine"))
    lay(project, "reading", skill("reading", "as the project says"))
    lay(workspace, "reading", "no front matter at all")
    lay(workspace, "broken", skill("other", "x"))
    with ExitStack() as stack:
        places = [
            (word, stack.enter_context(Folder.open(root)))
            for word, root in (("user", user), ("project", project), ("workspace", workspace))
        ]
        skills = Skills(places)
        good, problems = skills.index()
        assert [(each.name, each.text) for each in good] == [("only-here", "mine"), ("reading", "as the project says")]
        assert [problem.file for problem in problems] == [
            "workspace: .claude/skills/broken/SKILL.md",
            "workspace: .claude/skills/reading/SKILL.md",
        ]
        assert place.call("Skill", {"name": "reading"}, skills=skills).text == "as the project says"
        assert "only-here, reading" in place.call("Skill", {"name": "broken"}, skills=skills).text
        with pytest.raises(UserError):
            skills.text("nothing")
        lay(project, "later", skill("later", "written meanwhile"))
        assert "later" in skills.names()
