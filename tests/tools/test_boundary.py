"""The boundary, row by row: each thing it stops, tried with a real command by each means this machine has.

As root the rows are also tried as an unprivileged user, for whom the kernel makes namespaces differently.
"""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

import weft.protocol.values
import weft.tools.boundary
import weft.tools.confine
from tests.lanes import program
from weft.tools.boundary import (
    KINDS,
    Boundary,
    Kind,
    Need,
    Policy,
    _found,
    boundary_here,
    program_folders,
    repository,
    seatbelt_profile,
)

STRONG: tuple[Kind, ...] = ("bubblewrap", "namespaces")
NOBODY = 65534
pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="the means of Linux")


def means(kind: Kind) -> Boundary:
    how = ""
    if kind == "bubblewrap" and program("bubblewrap") is None:  # installed here, where that may be done
        how = ": apt-get install bubblewrap"
    found = _found(kind)
    if found.kind != kind:
        pytest.skip(f"not here: {'; '.join(found.tried)}{how}")
    return found


class Scene:
    """A home with secrets, a project in it with a repository, and a neighbour."""

    def __init__(self, top: Path) -> None:
        self.home, self.working = top / "home", top / "home" / "project"
        for name, text in {
            ".ssh/id_rsa": "SECRET-KEY",
            ".aws/credentials": "SECRET-CLOUD",
            ".bash_history": "SECRET-HISTORY",
            ".config/weft/credentials.json": "SECRET-STORE",
            "letter.txt": "a letter",
            "project/README.md": "read me",
            "project/.git/config": "[core]\n",
            "project/.vscode/tasks.json": "{}",
            "project/inner/.git": "gitdir: ../kept/inner.git\n",
            "project/kept/inner.git/config": "[core]\n",
        }.items():
            path = self.home / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)

    def run(self, boundary: Boundary, command: str, *needs: Need, user: int | None = None) -> tuple[int, str]:
        policy = Policy(
            working=self.working,
            home=self.home,
            needs=frozenset(needs),
            readable=program_folders(os.environ),
        )
        words = boundary.wrap(("/bin/bash", "-c", command), policy)
        if user is not None:
            words = self._as_another(boundary.kind, command, needs)
        ran = subprocess.run(
            words,
            cwd=self.working,
            env={"PATH": "/usr/bin:/bin", "HOME": str(self.home)},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
            user=user,
            group=user,
            extra_groups=[] if user is not None else None,
        )
        return ran.returncode, ran.stdout + ran.stderr

    def _as_another(self, kind: Kind, command: str, needs: tuple[Need, ...]) -> tuple[str, ...]:
        """Somebody else finds out and runs it all themselves, from a copy that they can read."""
        top = self.home.parent
        for module in (weft.tools.boundary, weft.tools.confine):
            shutil.copy(str(module.__file__), top)
        (top / "weft" / "protocol").mkdir(parents=True, exist_ok=True)
        shutil.copy(str(weft.protocol.values.__file__), top / "weft" / "protocol")
        for folder in (top, *list(top.parents)[:-1]):
            if folder.stat().st_uid == os.getuid() and folder.stat().st_mode & 0o005 != 0o005:
                folder.chmod(folder.stat().st_mode | 0o005)
        subprocess.run(["chmod", "-R", "a+rwX", str(top)], check=True)
        return (OTHERS_PYTHON, "-c", DRIVER, str(top), kind, str(self.working), str(self.home), command, *needs)


DRIVER = """
import os, sys
from pathlib import Path
top, kind, working, home, command, *needs = sys.argv[1:]
sys.path.insert(0, top)
import boundary
found = boundary._found(kind)
if found.kind != kind:
    sys.exit(f"not here: {found.tried}")
policy = boundary.Policy(working=Path(working), home=Path(home), needs=frozenset(needs))
words = found.wrap(("/bin/bash", "-c", command), policy)
os.execvp(words[0], words)
"""


def _others_python() -> str:
    """An interpreter that somebody else can run too; "" when there is none."""
    if os.getuid() != 0:
        return ""
    for candidate in (sys.executable, "/usr/bin/python3"):
        asked = [candidate, "-c", "import sys; sys.exit(sys.version_info < (3, 11))"]
        try:
            ran = subprocess.run(asked, user=NOBODY, group=NOBODY, extra_groups=[], capture_output=True, check=False)
        except OSError:
            continue
        if ran.returncode == 0:
            return candidate
    return ""


OTHERS_PYTHON = _others_python()


@pytest.fixture
def scene(tmp_path: Path) -> Scene:
    return Scene(tmp_path)


@pytest.fixture(params=[None, NOBODY], ids=["as-we-are", "unprivileged"])
def user(request: pytest.FixtureRequest) -> int | None:
    if request.param is not None and not OTHERS_PYTHON:
        pytest.skip("only root can become somebody else, who then needs an interpreter")
    return request.param  # type: ignore[no-any-return]


# -- what every means stops


@pytest.mark.parametrize("kind", [*STRONG, "landlock"])
def test_the_working_folder_alone_can_be_changed(scene: Scene, kind: Kind, user: int | None) -> None:
    boundary = means(kind)
    code, said = scene.run(boundary, "echo x > inner/new; echo y > ../letter.txt; echo z > /usr/x", "write", user=user)
    assert code != 0
    assert (scene.working / "inner" / "new").read_text() == "x\n", said
    assert (scene.home / "letter.txt").read_text() == "a letter"
    assert not Path("/usr/x").exists()


@pytest.mark.parametrize("kind", [*STRONG, "landlock"])
def test_without_a_need_nothing_can_be_changed(scene: Scene, kind: Kind, user: int | None) -> None:
    code, _ = scene.run(means(kind), "rm -rf README.md inner; echo x > new", user=user)
    assert code != 0
    assert (scene.working / "README.md").read_text() == "read me"
    assert (scene.working / "inner" / ".git").exists()
    assert not (scene.working / "new").exists()


@pytest.mark.parametrize("kind", [*STRONG, "landlock"])
def test_secrets_can_not_be_read_even_where_the_home_can(scene: Scene, kind: Kind, user: int | None) -> None:
    boundary = means(kind)
    _, said = scene.run(boundary, 'grep -rh "" ~ 2>/dev/null; cat ~/.ssh/id_rsa ~/.bash_history', "write", user=user)
    assert "SECRET" not in said
    if kind in STRONG:
        assert "read me" in said
        assert "a letter" in said


@pytest.mark.parametrize("kind", STRONG)
def test_secrets_can_not_be_read_where_a_variable_has_moved_them(
    scene: Scene, kind: Kind, monkeypatch: pytest.MonkeyPatch
) -> None:
    moved = scene.home / "settings"
    for name in ("weft/credentials.json", "gh/hosts.yml", "keyrings/login"):
        (moved / name).parent.mkdir(parents=True, exist_ok=True)
        (moved / name).write_text("SECRET")
    (moved / "editor").write_text("plain")
    for variable in ("XDG_CONFIG_HOME", "XDG_DATA_HOME"):
        monkeypatch.setenv(variable, str(moved))
    assert scene.run(means(kind), f'grep -rh "" {moved} 2>/dev/null')[1] == "plain\n"
    assert scene.run(means(kind), f'grep -rh "" {moved} 2>/dev/null', "keys")[1].count("SECRET") == 3


@pytest.mark.parametrize("kind", STRONG)
def test_agents_and_docker_can_not_be_asked_where_their_sockets_lie_elsewhere(
    scene: Scene, kind: Kind, monkeypatch: pytest.MonkeyPatch
) -> None:
    (scene.home / "a").mkdir()
    (scene.home / ".1password").mkdir()
    (scene.home / ".Xauthority").write_text("COOKIE")
    assert "COOKIE" not in scene.run(means(kind), "cat ~/.Xauthority", "network")[1]
    agent, docker = scene.home / "a" / "agent", scene.home / "a" / "docker"
    usual = scene.home / ".1password" / "agent.sock"
    asking = "import socket; socket.socket(socket.AF_UNIX).connect('{}'); print('ANSWERS')"
    with ExitStack() as open_ones:
        for place in (agent, docker, usual):
            door = open_ones.enter_context(socket.socket(socket.AF_UNIX))
            door.bind(str(place))
            door.listen()
        monkeypatch.setenv("SSH_AUTH_SOCK", str(agent))
        monkeypatch.setenv("DOCKER_HOST", f"unix://{docker}")
        for place in (agent, docker, usual):
            command = f'{sys.executable} -c "{asking.format(place)}"'
            assert "ANSWERS" not in scene.run(means(kind), command, "network")[1]
            assert "ANSWERS" in scene.run(means(kind), command, "network", "keys")[1]
        monkeypatch.setattr(tempfile, "tempdir", str(agent.parent))
        monkeypatch.setenv("DOCKER_HOST", "tcp://127.0.0.1:1")
        assert scene.run(means(kind), "cat README.md") == (0, "read me"), "also where it is covered as well"


@pytest.mark.parametrize("kind", [*STRONG, "landlock"])
def test_the_repository_is_not_changed_unless_that_is_opened(scene: Scene, kind: Kind, user: int | None) -> None:
    boundary = means(kind)
    hurt = "for f in .git/config kept/inner.git/config inner/.git .vscode/tasks.json; do echo evil > $f; done"
    scene.run(boundary, hurt, "write", user=user)
    for name in (".git/config", ".vscode/tasks.json"):
        assert "evil" not in (scene.working / name).read_text(), name
    if kind in STRONG:
        for name in ("kept/inner.git/config", "inner/.git"):
            assert "evil" not in (scene.working / name).read_text(), name
    code, said = scene.run(boundary, "echo good > .git/config", "write", "git", user=user)
    assert code == 0, said
    assert (scene.working / ".git" / "config").read_text() == "good\n"


@pytest.mark.parametrize("kind", STRONG)
def test_what_decides_is_kept_in_folders_below_and_changed_by_a_git_that_was_allowed(scene: Scene, kind: Kind) -> None:
    """A checkout that could change some of its files and not others would leave nobody's version."""
    boundary = means(kind)
    names = ("AGENTS.md", "packages/a/.envrc", "packages/a/CLAUDE.md")
    for name in names:
        (scene.working / name).parent.mkdir(parents=True, exist_ok=True)
        (scene.working / name).write_text("mine\n")
    hurt = f"for f in {' '.join(names)} plain.txt; do echo theirs > $f; done"
    scene.run(boundary, hurt, "write")
    assert [(scene.working / name).read_text() for name in names] == ["mine\n"] * 3
    assert (scene.working / "plain.txt").exists()
    scene.run(boundary, hurt, "write", "git")
    assert [(scene.working / name).read_text() for name in names] == ["theirs\n"] * 3


@pytest.fixture
def listener() -> Iterator[tuple[int, list[bytes]]]:
    """A service of the machine, outside, and what it heard."""
    heard: list[bytes] = []
    server = socket.create_server(("127.0.0.1", 0))

    def serve() -> None:
        while True:
            try:
                connection, _ = server.accept()
            except OSError:
                return
            with connection:
                heard.append(connection.recv(100))

    threading.Thread(target=serve, daemon=True).start()
    yield server.getsockname()[1], heard
    server.close()


@pytest.mark.parametrize("kind", [*STRONG, "landlock"])
def test_there_is_no_network_unless_it_is_opened(
    scene: Scene, kind: Kind, user: int | None, listener: tuple[int, list[bytes]]
) -> None:
    port, heard = listener
    send = f"echo hello > /dev/tcp/127.0.0.1/{port}"
    boundary = means(kind)
    code, _ = scene.run(boundary, send, "write", user=user)
    assert code != 0
    assert heard == []
    code, said = scene.run(boundary, send, "network", user=user)
    assert code == 0, said


@pytest.mark.parametrize("kind", STRONG)
def test_a_loopback_of_its_own_works(scene: Scene, kind: Kind) -> None:
    program = (
        "import socket as s; a=s.create_server(('127.0.0.1',0)); s.create_connection(a.getsockname()); print('ok')"
    )
    code, said = scene.run(means(kind), f'{sys.executable} -I -c "{program}"')
    assert (code, said) == (0, "ok\n")


@pytest.mark.parametrize("kind", STRONG)
def test_it_sees_no_process_but_its_own_and_no_inside_of_others(scene: Scene, kind: Kind, user: int | None) -> None:
    seen = f"ls /proc | grep -c '^[0-9]'; test -e /proc/{os.getpid()}/environ && echo SEEN; kill -9 {os.getpid()}"
    _, said = scene.run(means(kind), seen, user=user)
    assert int(said.split("\n")[0]) < 10
    assert "SEEN" not in said


@pytest.mark.parametrize("kind", STRONG)
def test_it_gets_no_more_rights_and_no_devices(scene: Scene, kind: Kind, user: int | None) -> None:
    tries = (
        "grep CapEff /proc/self/status; ls /dev | tr '\\n' ' '; echo; "
        # opened only: to write there would change the machine if the boundary did not hold
        "(exec 3>> /proc/sys/kernel/core_pattern) && echo KERNEL; (exec 3>> /proc/sysrq-trigger) && echo RESET; "
        "mount -t tmpfs none /mnt && echo MOUNTED; mount -o remount,rw / && echo REMOUNTED; "
        "umount /tmp && echo UNCOVERED"
    )
    _, said = scene.run(means(kind), tries, "write", user=user)
    assert "CapEff:\t0000000000000000" in said
    assert not {"sda", "vda", "mem", "kmsg"} & set(said.split("\n")[1].split())
    for sign in ("MOUNTED", "REMOUNTED", "UNCOVERED", "KERNEL", "RESET"):
        assert sign not in said


@pytest.mark.parametrize("kind", STRONG)
def test_sockets_and_passing_files_of_the_machine_are_not_there(scene: Scene, kind: Kind, tmp_path: Path) -> None:
    (tmp_path / "passing").write_text("of another program")
    _, said = scene.run(means(kind), f"ls /run /var/run 2>&1; cat {tmp_path}/passing; touch /tmp/mine && ls /tmp")
    assert "docker.sock" not in said
    assert "of another program" not in said
    assert "mine" in said
    assert not Path("/tmp/mine").exists()


@pytest.mark.parametrize("kind", [*STRONG, "landlock"])
def test_a_link_out_of_the_working_folder_leads_to_what_is_read_only(
    scene: Scene, kind: Kind, user: int | None
) -> None:
    for name, target in {"out": "..", "file": "../letter.txt", "hooks": ".git", "keys": "../.ssh"}.items():
        (scene.working / name).symlink_to(target)
    hurt = "for f in out/letter.txt file hooks/config out/new; do echo x > $f; done"
    code, _ = scene.run(means(kind), f"{hurt}; ln -s / all; echo x > all/etc/x", "write", user=user)
    assert code != 0
    assert (scene.home / "letter.txt").read_text() == "a letter"
    assert (scene.working / ".git/config").read_text() == "[core]\n"
    assert not (scene.home / "new").exists()
    assert "SECRET" not in scene.run(means(kind), "cat keys/id_rsa out/.aws/credentials", "write", user=user)[1]


@pytest.mark.parametrize("kind", STRONG)
def test_a_secret_place_that_is_a_link_is_closed_where_it_leads(scene: Scene, kind: Kind) -> None:
    real = scene.home / "elsewhere"
    (scene.home / ".ssh").rename(real)
    (scene.home / ".ssh").symlink_to(real)
    _, said = scene.run(means(kind), f"cat ~/.ssh/id_rsa {real}/id_rsa")
    assert "SECRET" not in said


# -- what is found out about it


def test_the_strongest_that_works_is_in_force_and_a_person_may_choose(monkeypatch: pytest.MonkeyPatch) -> None:
    program("bubblewrap")
    _found.cache_clear()  # it may have been installed since this process looked
    for kind in KINDS:
        monkeypatch.setenv("WEFT_BOUNDARY", kind)
        assert boundary_here().kind in (kind, "none")
    monkeypatch.delenv("WEFT_BOUNDARY")
    assert boundary_here().kind == next((kind for kind in KINDS if _found(kind).kind == kind), "none")


def test_where_there_is_none_it_is_said_and_the_command_runs_as_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nonexistent")
    _found.cache_clear()
    try:
        found = _found("bubblewrap")
    finally:
        _found.cache_clear()
    assert found.kind == "none"
    assert found.strength == "none"
    assert found.tried[0] == "bubblewrap: bwrap is not installed"
    policy = Policy(working=Path("/"), home=Path("/"))
    assert found.wrap(("ls", "-l"), policy) == ("ls", "-l")


def test_a_boundary_that_does_not_hold_is_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A program that is only called bwrap, and runs what it is given."""
    forged = tmp_path / "bwrap"
    forged.write_text('#!/bin/sh\nwhile [ "$1" != -- ]; do shift; done; shift; exec "$@"\n')
    forged.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    _found.cache_clear()
    try:
        found = _found("bubblewrap")
    finally:
        _found.cache_clear()
    assert found.kind == "none"


@pytest.mark.parametrize("kind", STRONG)
def test_where_passing_files_and_sockets_lie_for_this_person_is_empty_too(
    kind: Kind, scene: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A folder of theirs could not be written, so that nothing that needs one worked, and the door of their session
    stood open in it."""
    boundary, run = means(kind), scene.home / "run"
    for folder in (scene.home / "passing" / "deep", run):
        folder.mkdir(parents=True)
    monkeypatch.setattr(tempfile, "tempdir", str(scene.home / "passing" / "deep"))
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(run))
    with socket.socket(socket.AF_UNIX) as door:
        door.bind(str(run / "door"))
        door.listen()
        code, said = scene.run(boundary, f"ls {run}; mktemp -p {scene.home}/passing/deep; cat {scene.home}/letter.txt")
    assert code == 0, said
    assert "door" not in said
    assert said.endswith("a letter")
    assert not list((scene.home / "passing" / "deep").iterdir())
    monkeypatch.setattr(tempfile, "tempdir", str(scene.home))
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(scene.working))
    assert scene.run(boundary, "cat README.md ../letter.txt") == (0, "read mea letter")


def test_what_is_outside_by_the_persons_word_has_no_boundary(scene: Scene) -> None:
    for kind in STRONG:
        policy = Policy(working=scene.working, home=scene.home, needs=frozenset({"outside"}))
        assert means(kind).wrap(("ls",), policy) == ("ls",)


@pytest.mark.parametrize(
    ("files", "expected"),
    [
        ({".git/config": ""}, [".git"]),
        ({".git": "gitdir: .kept\n", ".kept/config": ""}, [".git", ".kept"]),
        (
            {".git": "gitdir: main/worktrees/w\n", "main/worktrees/w/commondir": "../..\n", "main/config": ""},
            [".git", "main/worktrees/w", "main"],
        ),
        ({".git": "gitdir: nowhere\n"}, [".git"]),
        ({"x": ""}, []),
    ],
)
def test_where_a_repository_is_kept(tmp_path: Path, files: dict[str, str], expected: list[str]) -> None:
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    found = repository(str(tmp_path), upwards=False)
    assert [os.path.relpath(path, tmp_path) for path in found] == expected


def test_the_profile_for_macos_closes_the_same_places(scene: Scene) -> None:
    """Its words only: it was not run on this system."""
    closed = seatbelt_profile(Policy(working=scene.working, home=scene.home, needs=frozenset({"write"})))
    lines = closed.split("\n")
    assert "(deny file-write*)" in lines
    assert any(line.startswith("(allow file-write*") and f'"{scene.working}"' in line for line in lines)
    assert any(line.startswith("(deny file-write*") and f'"{scene.working}/.git"' in line for line in lines)
    assert any(line.startswith("(deny file-read*") and f'"{scene.home}/.ssh"' in line for line in lines)
    assert "(deny network*)" in closed
    everything = seatbelt_profile(
        Policy(working=scene.working, home=scene.home, needs=frozenset({"network", "keys", "git", "write"}))
    )
    assert "network" not in everything
    assert ".ssh" not in everything


def test_only_scripts_that_a_command_names_are_shown_in_places_that_are_empty(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(weft.tools.boundary, "_covered", lambda: [str(tmp_path / "covered")])
    for name in ("covered", "elsewhere"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "serve.py").write_text("")
    script, other = tmp_path / "covered" / "serve.py", tmp_path / "elsewhere" / "serve.py"
    words = ("python", str(script), str(other), str(tmp_path / "covered"), str(tmp_path / "covered" / "no.py"), "x")
    assert weft.tools.boundary.command_files(words) == (script,)


def test_what_a_command_stands_among_is_shown_with_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A program of an environment, a script of a package, a script beside its modules, a folder that is named."""
    covered = tmp_path / "covered"
    monkeypatch.setattr(weft.tools.boundary, "_covered", lambda: [str(covered)])
    files = ["venv/bin/serve", "node/node_modules/@a/b/dist/index.js", "mine/serve.py"]
    for name in files:
        (covered / name).parent.mkdir(parents=True)
        (covered / name).write_text("")
    (covered / "node/node_modules/.bin").mkdir()
    (covered / "node/node_modules/.bin/b").symlink_to("../@a/b/dist/index.js")
    (covered / "data").mkdir()
    words = [*(str(covered / name) for name in files), str(covered / "node/node_modules/.bin/b")]
    words.append(f"--folder={covered / 'data'}")
    shown = weft.tools.boundary.command_files(words)
    assert shown == tuple(covered / name for name in ("venv", "node", "mine", "data"))
