"""The judgement held against a real shell: what was allowed is run, with every program replaced by one that tells.

The stand-ins write down their words. So two things are seen rather than believed: the shell makes of an allowed command
exactly the words we read, and nothing that was slipped into it is ever run or written.
"""

from __future__ import annotations

import os
import random
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.tools.test_shell_corpus import ALWAYS
from weft.tools.shell.programs import PROGRAMS
from weft.tools.shell.reading import read_shell

BASH = shutil.which("bash")
pytestmark = [pytest.mark.process, pytest.mark.needs("bash")]

STAND_IN = '#!/bin/sh\nprintf \'%s\\0\' "${0##*/}" "$@" > "$TOLD/$$"\n'
NATIVE = ("cd", "command")
DISABLED = "enable -n echo printf pwd true false type\n"


class Stage:
    """A folder with stand-ins for every program, a place to write, and a place to tell."""

    def __init__(self, place: Path) -> None:
        self.programs, self.told, self.folder = place / "programs", place / "told", place / "folder"
        for folder in (self.programs, self.told, self.folder):
            folder.mkdir()
        for name in {*PROGRAMS, "evil", "sh", "bash", "rm", "id", "sed", "xargs", "tee"} - set(NATIVE):
            path = self.programs / name
            path.write_text(STAND_IN)
            path.chmod(0o755)
        (self.folder / "src").mkdir()
        for name in ("a.py", "b.py", "-o", "x", "src/c.py"):
            (self.folder / name).write_text("")
        self.before = self._names()

    def _names(self) -> set[str]:
        return {str(path.relative_to(self.folder)) for path in self.folder.rglob("*")}

    def perform(self, command: str) -> list[list[str]]:
        """The programs that a real shell runs for this command, with their words."""
        for path in self.told.iterdir():
            path.unlink()
        assert BASH
        subprocess.run(
            [BASH, "--norc", "--noprofile", "-c", DISABLED + command],
            cwd=self.folder,
            env={"PATH": str(self.programs), "TOLD": str(self.told), "LC_ALL": "C.UTF-8"},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            timeout=30,
            check=False,
        )
        assert self._names() == self.before, command
        return sorted(
            [os.fsdecode(word) for word in path.read_bytes().split(b"\0")[:-1]] for path in self.told.iterdir()
        )


@pytest.fixture(scope="module")
def stage(tmp_path_factory: pytest.TempPathFactory) -> Stage:
    return Stage(tmp_path_factory.mktemp("stage"))


def hold(stage: Stage, command: str) -> None:
    reading = read_shell(command)
    ran = stage.perform(command)
    assert {words[0] for words in ran} <= {part.program for part in reading.commands}, command
    if any(word.pattern for part in reading.commands for word in part.words) or "||" in command or "&&" in command:
        return
    expected = [[word.text for word in part.words] for part in reading.commands if part.program not in NATIVE]
    assert ran == sorted(expected), command


@pytest.mark.parametrize("command", [command for command in ALWAYS if "<" not in command])
def test_the_shell_makes_the_same_words_of_it(stage: Stage, command: str) -> None:
    hold(stage, command)


SLIPPED = [
    *("; evil", "&& evil", "| evil", "|| evil", "& evil", "\nevil", "$(evil)", "`evil`", "<(evil)", ">(evil)"),
    *("> made", ">> made", ">| made", "&> made", "2> made", "1>made", "<> made", ">&made", "${x:=$(evil)}"),
    *("$((x[$(evil)]))", "\\\nevil", "\r\nevil", "{evil,x}", "'; evil; '", '"; evil; "', "' $(evil) '", '"$(evil)"'),
    *("-exec evil {} ;", "\\; evil", ";evil", "|evil", "&evil", "(evil)", "{ evil; }", "\n{ evil\n}", "#\nevil"),
    *("A=1 evil", "! evil", "!(evil)", "$'\\n'evil", "\tevil", "<<x\nevil\nx", "\\", "'", '"', "`", "$", "~", "*"),
    *("if evil; then x; fi", "for x in `evil`; do x; done", "[[ $(evil) ]]", "evil", "-o made", "--output=made", ")"),
]


@pytest.mark.slow
@pytest.mark.timeout(240)
def test_nothing_slipped_into_a_safe_command_is_ever_run(stage: Stage) -> None:
    """Every insertion at every place of many commands; those still allowed are run for the truth."""
    chosen = random.Random(7)
    allowed: set[str] = set()
    tried = 0
    for command in chosen.sample(ALWAYS, 15):
        for slipped in SLIPPED:
            for at in range(len(command) + 1):
                for mutated in (command[:at] + slipped + command[at:], command[:at] + f" {slipped} " + command[at:]):
                    tried += 1
                    if read_shell(mutated).read_only:
                        allowed.add(mutated)
    assert tried > 25_000
    dubious = sorted(command for command in allowed if "<" not in command)
    for command in chosen.sample(dubious, min(120, len(dubious))):
        hold(stage, command)


PIECES = [
    *("ls", "cat", "echo", "grep", "a", "b", " ", " ", " ", " ", "  ", "\t", "\n", ";", "|", "||", "&&", "&", "(", ")"),
    *("{", "}", "'", "'", '"', '"', "\\", "$", "`", "evil", "$(evil)", ">", "<", "2>&1", "2>/dev/null", "#", "~", "*"),
    *(
        "?",
        "[",
        "]",
        "!",
        "=",
        "-l",
        "--",
        "x y",
        "'x y'",
        '"x y"',
        "\\;",
        "\\ ",
        "{ ",
        "; }",
        "( ",
        " )",
        "é",
        "1",
        "&>",
    ),
]


@pytest.mark.slow
@pytest.mark.timeout(240)
def test_whatever_is_allowed_of_chance_texts_means_what_we_read(stage: Stage) -> None:
    chance = random.Random(11)
    allowed: set[str] = set()
    for _ in range(30_000):
        command = chance.choice(("ls", "echo", "cat", "grep", "(ls", "{ ls")) + "".join(
            chance.choices(PIECES, k=chance.randint(1, 9))
        )
        if read_shell(command).read_only:
            allowed.add(command)
    assert len(allowed) > 150
    rich = sorted((command for command in allowed if "<" not in command), key=lambda each: (-len(set(each)), each))
    for command in rich[:120]:
        hold(stage, command)
