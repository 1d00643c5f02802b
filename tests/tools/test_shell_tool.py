"""Shell with real processes: what it says, what it sees, and that nothing of it is alive after its end."""

from __future__ import annotations

import asyncio
import os
import secrets
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import psutil
import pytest

from tests.tools.calling import DEADLINE, Place
from weft.protocol.messages import ToolCall
from weft.tools.boundary import Need, Policy, boundary_here
from weft.tools.builtin.shell import SHELL
from weft.tools.permission import judge
from weft.tools.permission_file import Rules
from weft.tools.processes import Process, Supervised, plain_environment
from weft.tools.shell.needs import Ground
from weft.tools.shell.reading import read_shell
from weft.tools.shell_state import ShellState
from weft.tools.tool import Handle, Outcome

pytestmark = [pytest.mark.process, pytest.mark.needs("bash")]

needs_proc = pytest.mark.skipif(sys.platform != "linux", reason="only Linux lets us find what left its group")


def marked(mark: str) -> list[int]:
    """The processes alive whose words carry this mark."""
    found = []
    for process in psutil.process_iter():
        try:
            if mark in " ".join(process.cmdline()) and process.status() != psutil.STATUS_ZOMBIE:
                found.append(process.pid)
        except (psutil.NoSuchProcess, psutil.AccessDenied):
            continue
    return found


@pytest.fixture
def mark() -> str:
    """A number of seconds that nobody else sleeps for."""
    return f"9{secrets.randbelow(10**9):09}"


def alive(mark: str) -> list[int]:
    return [pid for pid in marked(mark) if "sleep" in _name(pid)]


def _name(pid: int) -> str:
    try:
        return psutil.Process(pid).name()
    except (psutil.NoSuchProcess, psutil.AccessDenied):
        return ""


# -- what it says


def test_output_and_errors_come_in_order(place: Place) -> None:
    outcome = place.call("Shell", {"command": "echo one; echo two >&2; echo three"})
    assert outcome.text == "one\ntwo\nthree"
    assert not outcome.is_error
    assert outcome.summary.startswith("done in ")
    assert "one\n" in "".join(place.progress)


def test_exit_codes_and_signals(place: Place) -> None:
    failing = place.call("Shell", {"command": "echo no; exit 3"})
    assert failing.is_error
    assert failing.text == "no\n[exit code 3]"
    assert place.call("Shell", {"command": "kill -KILL $$"}).text == "[signal 9 ended it]"
    assert "command not found" in place.call("Shell", {"command": "no-such-program-at-all"}).text
    assert place.call("Shell", {"command": "true"}).text == "[no output]"


def test_it_runs_in_the_working_folder_without_input(place: Place) -> None:
    place.write("here.txt", "")
    assert place.call("Shell", {"command": "ls; cat; echo end"}).text == "here.txt\nend"


def test_a_long_result_is_kept_whole_and_can_be_read_on(place: Place) -> None:
    outcome = place.call("Shell", {"command": "seq 1 20000"})
    assert outcome.blob is not None
    assert (place.session / "blobs" / outcome.blob).read_text().split("\n") == [str(n) for n in range(1, 20001)]
    assert outcome.text.startswith("1\n2\n")
    assert outcome.text.endswith("\n19999\n20000")
    assert len(outcome.text) < 25_000
    hidden = int(outcome.text.split('"offset": ')[1].split("}")[0])
    assert f"\n{hidden - 1}\n" in outcome.text
    assert f"\n{hidden}\n" not in outcome.text
    more = place.call("Read", {"path": f"@session/blobs/{outcome.blob}", "offset": hidden, "limit": 1})
    assert more.text.split("\n")[0].split("\t")[1] == str(hidden)


def test_a_flood_is_ended(place: Place, mark: str) -> None:
    outcome = place.call("Shell", {"command": f"yes {mark}"})
    assert outcome.is_error
    assert "8,388,608 bytes of output" in outcome.text
    assert marked(mark) == []


def test_what_it_sees_of_our_environment(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("ANTHROPIC_API_KEY", "GITHUB_TOKEN", "MY_PASSWORD", "LD_PRELOAD_NOT", "BASH_ENV", "GIT_EXTERNAL_DIFF"):
        monkeypatch.setenv(name, "secret")
    monkeypatch.setenv("BASH_FUNC_ls%%", "() { echo secret; }")
    outcome = place.call("Shell", {"command": "printenv; ls"})
    assert "secret" not in outcome.text
    assert "PATH=" in outcome.text


def test_a_plain_environment_has_only_whole_folders_to_look_for_programs_in() -> None:
    found = plain_environment({"PATH": ".:/usr/bin::bin:/bin", "X": "1", "LC_ALL": "C", "LD_PRELOAD": "/x"})
    assert found["PATH"] == "/usr/bin:/bin"
    assert "X" not in found
    assert "LD_PRELOAD" not in found
    assert found["LC_ALL"] == "C"


@needs_proc
def test_our_own_environment_can_be_shielded() -> None:
    words = "from weft.tools.processes import shield_environment as s; import ctypes; s(); "
    told = subprocess.run(
        [sys.executable, "-c", words + "print(ctypes.CDLL(None).prctl(3, 0, 0, 0, 0))"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert told.stdout == "0\n"


def test_a_program_in_the_working_folder_can_not_pass_for_one_of_the_system(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("ls", "only-here"):
        place.write(f"bin/{name}", "#!/bin/sh\necho forged\n").chmod(0o755)
    monkeypatch.setenv("PATH", f"{place.working}/bin{os.pathsep}{os.environ['PATH']}")
    assert "forged" not in place.call("Shell", {"command": "ls"}).text
    assert place.call("Shell", {"command": "only-here"}).text == "forged"


@pytest.mark.needs("git")
def test_what_only_looks_runs_no_program_of_the_folder(place: Place) -> None:
    """A folder's own git settings name programs; none of them is run by what is allowed without a question."""
    trap = place.write("trap.sh", "#!/bin/sh\ntouch trapped\n")
    trap.chmod(0o755)
    git = ["git", "-c", "user.name=x", "-c", "user.email=x@example.org"]
    for words in (["init", "-q"], ["add", "trap.sh"], ["commit", "-qm", "x"]):
        subprocess.run([*git, *words], cwd=place.working, check=True, capture_output=True)
    for key in ("core.fsmonitor", "core.pager", "core.editor", "gpg.program"):
        subprocess.run(["git", "config", key, str(trap)], cwd=place.working, check=True)
    hooks = place.working / ".git" / "hooks"
    for name in ("post-index-change", "pre-auto-gc", "post-checkout"):
        shutil.copy(trap, hooks / name)
    for command in ("git status", "git diff", "git log -p", "git show HEAD", "git branch -v", "git ls-files -s"):
        trap.touch()
        outcome = place.call("Shell", {"command": command})
        assert not outcome.is_error, outcome.text
    assert not (place.working / "trapped").exists()


@pytest.mark.skipif(shutil.which("git") is None, reason="there is no git here")
@pytest.mark.parametrize("boundary", ["none", ""])
def test_git_runs_nothing_that_a_repository_names_when_it_only_looks(
    place: Place, monkeypatch: pytest.MonkeyPatch, boundary: str
) -> None:
    """Filters, external diffs, converters, monitors: the trap leaves a mark where no boundary would stop it."""
    monkeypatch.setenv("WEFT_BOUNDARY", boundary)
    sprung = place.working.parent / "sprung"
    trap = place.write("trap.sh", f'#!/bin/sh\ntouch {sprung}\ncat "$1" 2>/dev/null || cat\n')
    trap.chmod(0o755)
    git = ["git", "-c", "user.name=x", "-c", "user.email=x@example.org"]
    place.write("a.txt", "one\n")
    place.write("b.dat", "one\n")
    for words in (["init", "-q"], ["add", "."], ["commit", "-qm", "x"]):
        subprocess.run([*git, *words], cwd=place.working, check=True, capture_output=True)
    place.write(".gitattributes", "*.txt filter=evil diff=evil\n*.dat diff=other\n")
    for key in ("diff.external", "diff.evil.textconv", "diff.other.command", "filter.evil.clean", "filter.evil.smudge"):
        subprocess.run(["git", "config", key, str(trap)], cwd=place.working, check=True)
    for key in ("core.fsmonitor", "core.pager", "interactive.diffFilter", "filter.evil.process"):
        subprocess.run(["git", "config", key, str(trap)], cwd=place.working, check=True)
    place.write("a.txt", "two\n")
    place.write("b.dat", "two\n")
    looking = (
        "git status",
        "git diff",
        "git diff --no-index a.txt b.dat",
        "git log -p",
        "git show",
        "git show HEAD:a.txt",
    )
    for command in (
        *looking,
        "git diff HEAD -- b.dat",
        "git --no-pager diff --stat",
        "git blame a.txt",
        "git grep one",
    ):
        outcome = place.call("Shell", {"command": command})
        assert "fatal" not in outcome.text, outcome.text
        assert not sprung.exists(), command
    assert "-one" in place.call("Shell", {"command": "git diff"}).text


@pytest.mark.skipif(shutil.which("git") is None, reason="there is no git here")
def test_git_that_looks_runs_nothing_by_the_side_ways_of_a_repository(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Who verifies a signature, merges once more for showing it, fetches what is missing, looks into a submodule, or
    converts for the stash and the reflog: each is a program that the repository's settings name."""
    monkeypatch.setenv("WEFT_BOUNDARY", "none")
    sprung = place.working.parent / "sprung"
    trap = place.write("trap.sh", f'#!/bin/sh\necho "$0 $*" >> {sprung}\n')
    trap.chmod(0o755)

    def git(*words: str, folder: Path = place.working, given: str = "") -> str:
        named = ("git", "-c", "user.name=x", "-c", "user.email=x@example.org", *words)
        ran = subprocess.run(named, cwd=folder, check=True, capture_output=True, text=True, input=given)
        return ran.stdout.strip()

    def looked(*looking: str) -> None:
        sprung.unlink(missing_ok=True)
        for command in looking:
            assert read_shell(command).read_only, command
            place.call("Shell", {"command": command})
            assert not sprung.exists(), (command, sprung.read_text())

    git("init", "-q", "-b", "main")
    place.write("a.txt", "one\n")
    git("add", "a.txt")
    git("commit", "-qm", "one")
    # signatures
    head = git("cat-file", "commit", "HEAD").replace("\n\n", "\ngpgsig -----BEGIN PGP SIGNATURE-----\n \n x\n\n", 1)
    signed = git("hash-object", "-t", "commit", "-w", "--stdin", "--literally", given=head + "\n")
    git("update-ref", "refs/heads/main", signed)
    git("config", "gpg.program", str(trap))
    git("config", "pretty.mine", "%G? %s")
    git("config", "format.pretty", "mine")
    looked("git log", "git show --pretty=mine")
    git("config", "--unset", "format.pretty")
    # converters
    place.write(".git/info/attributes", "*.txt diff=mine merge=mine\n")
    git("config", "diff.mine.textconv", str(trap))
    place.write("a.txt", "two\n")
    git("stash")
    place.write("a.txt", "three\n")
    git("add", "a.txt")
    looked("git stash list -p", "git reflog -p", "git reflog show -Sone", "git status -v")
    git("commit", "-qm", "three")
    # a merge that is made once more
    git("checkout", "-qb", "side", "HEAD~1")
    place.write("a.txt", "four\n")
    git("commit", "-qam", "four")
    git("merge", "-q", "-s", "ours", "-m", "both", "main")
    git("config", "merge.mine.driver", f"{trap} %A")
    git("config", "log.diffMerges", "remerge")
    looked("git log -p -m", "git show -m")
    # a submodule with settings of its own
    inner = place.working / "inner"
    inner.mkdir()
    git("init", "-q", folder=inner)
    for text in ("1", "2"):
        place.write("inner/f", text)
        git("add", "f", folder=inner)
        git("commit", "-qm", text, folder=inner)
        git("add", "inner")
        git("commit", "-qm", f"inner {text}")
    git("config", "diff.external", str(trap), folder=inner)
    git("config", "diff.submodule", "diff")
    looked("git show", "git diff HEAD~1")
    # what is said to be kept elsewhere
    missing = git("rev-parse", "HEAD:a.txt")
    (place.working / ".git" / "objects" / missing[:2] / missing[2:]).unlink()
    for key, value in {
        "core.repositoryFormatVersion": "1",
        "extensions.partialClone": "o",
        "remote.o.promisor": "true",
    }.items():
        git("config", key, value)
    for key, value in {"url": str(place.working), "uploadpack": str(trap)}.items():
        git("config", f"remote.o.{key}", value)
    looked("git cat-file -p HEAD:a.txt")
    git("config", "remote.o.url", f"ext::{trap}")
    git("config", "protocol.ext.allow", "always")
    looked("git cat-file -p HEAD:a.txt", "git log -p")


@pytest.mark.skipif(shutil.which("git") is None, reason="there is no git here")
@pytest.mark.parametrize("boundary", ["none", ""])
def test_a_pointer_to_a_repository_makes_nothing_run(
    place: Place, monkeypatch: pytest.MonkeyPatch, boundary: str
) -> None:
    """`.git` as a file names a folder whose settings name a program; what only looks does not run it."""
    monkeypatch.setenv("WEFT_BOUNDARY", boundary)
    sprung = place.working.parent / "sprung"
    subprocess.run(["git", "init", "-q", "--bare", "evil"], cwd=place.working, check=True)
    with (place.working / "evil" / "config").open("a") as file:
        file.write(f'[core]\n\tbare = false\n[diff]\n\texternal = "touch {sprung}; true"\n')
    place.write(".git", "gitdir: evil\n")
    place.write("a", "one\n")
    place.write("b", "two\n")
    outcome = place.call("Shell", {"command": "git diff --no-index a b"})
    assert "+two" in outcome.text
    assert not sprung.exists()


def test_what_came_over_the_network_is_from_outside(place: Place) -> None:
    assert place.call("Shell", {"command": "echo hi"}).outside == ()
    assert place.call("Shell", {"command": "curl -m 1 http://127.0.0.1:9/; true"}).outside != ()
    assert place.call("Shell", {"command": "echo $(true || wget x)"}).outside != ()


@pytest.mark.parametrize(
    "command",
    [
        "timeout 9 curl -s http://127.0.0.1:9/",
        "env curl -s http://127.0.0.1:9/",
        "bash -c 'curl -s http://127.0.0.1:9/'",
        "python3 -c \"import urllib.request as r; r.urlopen('http://127.0.0.1:9/')\"",
        "git submodule update --init",
        "python3 fetch.py",
        "x=$(make what-is-new)",
    ],
)
def test_what_a_network_was_opened_for_is_from_outside_by_whatever_it_was_fetched(place: Place, command: str) -> None:
    opened = frozenset[Need]({"network", "write"})
    assert place.call("Shell", {"command": command}, needs=opened).outside
    if boundary_here().strength == "strong":
        assert not place.call("Shell", {"command": command}, needs=frozenset[Need]({"write"})).outside


@pytest.mark.parametrize(
    "command",
    [
        "git add . && git commit -m update && git push 2>&1 | tail -3",
        "git commit -m \"$(cat <<'EOF'\nFix it.\nEOF\n)\" && git push origin $BRANCH",
        "mkdir -p dist; git remote add origin x; git push > pushed.txt",
        "git submodule status",
    ],
)
def test_what_is_sent_alone_brings_nothing(place: Place, command: str) -> None:
    opened = frozenset[Need]({"network", "keys", "git", "write"})
    assert not place.call("Shell", {"command": command}, needs=opened).outside


# -- its end


def test_the_time_limit_ends_it(place: Place, mark: str) -> None:
    outcome = place.call("Shell", {"command": f"echo begun; sleep {mark}", "seconds": 1})
    assert outcome.is_error
    assert outcome.text.endswith("[it was ended after 1 seconds, its time limit]")
    assert outcome.effect == "unknown"
    assert marked(mark) == []


async def _until(condition: object) -> None:
    assert callable(condition)
    while not condition():
        await asyncio.sleep(0.01)


ESCAPES = {
    "alone": "sleep {mark}",
    "children": "sleep {mark} & sleep {mark} & wait",
    "deep": "bash -c 'bash -c \"sleep {mark} & sleep {mark}\" & sleep {mark}'",
    "own session": "setsid sleep {mark} & sleep {mark}",
    "daemon": "(setsid bash -c 'setsid sleep {mark} & exit' &) ; sleep {mark}",
    "no environment": "setsid env -i $(command -v sleep) {mark} & disown; sleep {mark}",
    "deaf": "trap '' TERM INT HUP; (trap '' TERM INT HUP; sleep {mark}; sleep {mark}) & sleep {mark}; sleep {mark}",
    "stopped": "sleep {mark} & until grep -q sleep /proc/$!/comm; do :; done; kill -STOP $!; sleep {mark}",
}


@needs_proc
@pytest.mark.parametrize("escape", ESCAPES)
def test_after_an_interrupt_nothing_is_alive(place: Place, mark: str, escape: str) -> None:
    wanted = 1 if escape == "alone" else 2

    async def stopped(handle: Handle) -> Outcome:
        await _until(lambda: len(alive(mark)) >= wanted)
        handle.interrupt("the person stopped it")
        outcome = await handle.result()
        await handle.closed()
        return outcome

    outcome = place.started("Shell", {"command": ESCAPES[escape].format(mark=mark)}, stopped)
    assert outcome.interrupted
    assert outcome.effect == "unknown"
    assert "the person stopped it" in outcome.text
    assert alive(mark) == []


@needs_proc
def test_the_result_of_an_interrupt_does_not_wait_for_the_processes(place: Place, mark: str) -> None:
    async def stopped(handle: Handle) -> bool:
        await _until(lambda: alive(mark))
        handle.interrupt("stop")
        waiting = asyncio.ensure_future(handle.result())
        await asyncio.sleep(0)
        settled = waiting.done()
        handle.interrupt("again")
        assert (await handle.result()).text.startswith("interrupted: stop")
        await handle.closed()
        return settled

    assert place.started("Shell", {"command": f"trap '' TERM; sleep {mark}; sleep {mark}"}, stopped)
    assert alive(mark) == []


def test_an_interrupt_right_after_the_start_counts(place: Place, mark: str) -> None:
    async def stopped(handle: Handle) -> Outcome:
        handle.interrupt("at once")
        outcome = await handle.result()
        await handle.closed()
        return outcome

    assert place.started("Shell", {"command": f"sleep {mark}"}, stopped).interrupted
    assert alive(mark) == []


@needs_proc
def test_nothing_stays_behind_a_command_that_ended_by_itself(place: Place, mark: str) -> None:
    outcome = place.call("Shell", {"command": f"sleep {mark} & setsid sleep {mark} & echo started"})
    assert not outcome.is_error
    assert "started" in outcome.text
    assert "in the background" in outcome.text
    assert alive(mark) == []


@needs_proc
def test_a_command_that_ends_its_supervisor_gains_nothing(place: Place, mark: str) -> None:
    outcome = place.call("Shell", {"command": f"setsid sleep {mark} & sleep {mark} & kill -KILL $PPID; sleep {mark}"})
    assert outcome.is_error
    assert "ended its own supervisor" in outcome.text
    assert alive(mark) == []


PARENT = """
import asyncio, sys
from pathlib import Path
from tests.tools.calling import Place
place = Place(Path(sys.argv[1]))
place.call("Shell", {"command": f"setsid sleep {sys.argv[2]} & sleep {sys.argv[2]}"})
"""


@needs_proc
def test_when_weft_itself_is_killed_its_commands_end_too(tmp_path: Path, mark: str) -> None:
    root = Path(__file__).parent.parent.parent
    parent = subprocess.Popen([sys.executable, "-c", PARENT, str(tmp_path), mark], cwd=root)
    deadline = time.monotonic() + DEADLINE
    while len(alive(mark)) < 2:
        assert time.monotonic() < deadline, "the command never began"
        time.sleep(0.01)
    parent.send_signal(signal.SIGKILL)
    parent.wait()
    while alive(mark):
        assert time.monotonic() < deadline, "its processes live on"
        time.sleep(0.01)


@needs_proc
def test_many_at_once_do_not_end_each_other(place: Place) -> None:
    async def whole() -> list[Outcome]:
        from weft.protocol.messages import ToolCall
        from weft.tools.builtin import builtin_tools
        from weft.tools.toolbox import Toolbox

        toolbox, context = Toolbox(builtin_tools()), place.context()
        try:
            calls = [
                ToolCall(call=str(n), tool="Shell", input={"command": f"sleep 0.{n}; echo {n}; sleep 60 &"})
                for n in range(1, 5)
            ]
            handles = [await toolbox.start(call, context) for call in calls]
            outcomes = [await handle.result() for handle in handles]
            for handle in handles:
                await handle.closed()
            return outcomes
        finally:
            context.working.close()
            if context.session:
                context.session.close()

    assert [outcome.text.split("\n")[0] for outcome in asyncio.run(whole())] == ["1", "2", "3", "4"]


@needs_proc
@pytest.mark.parametrize("moments", [0, 1, 2, 3, 5, 8])
def test_who_is_cancelled_while_it_starts_leaves_nothing_behind(moments: int, tmp_path: Path, mark: str) -> None:
    folder = os.open(tmp_path, os.O_RDONLY)
    handles = len(os.listdir("/proc/self/fd"))

    async def go() -> None:
        start = Supervised.start(
            ["sleep", mark],
            folder=folder,
            environment=plain_environment(os.environ),
            policy=Policy(working=tmp_path, home=tmp_path),
            takes_input=True,
        )
        starting = asyncio.create_task(start)
        for _ in range(moments):
            await asyncio.sleep(0)
        starting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await starting

    asyncio.run(asyncio.wait_for(go(), DEADLINE))
    assert not marked(mark)
    assert len(os.listdir("/proc/self/fd")) == handles
    os.close(folder)


@pytest.mark.skipif(boundary_here().strength != "strong", reason="there is no strong boundary here")
def test_what_was_exported_is_not_given_to_a_command_that_the_boundary_does_not_hold(place: Place) -> None:
    """`kubectl get` only looks, so nobody is asked: whose settings it obeys is not for a command before it to say."""
    tools = place.working.parent / "tools"
    tools.mkdir()
    for folder, who in ((tools, "the machine's"), (place.working / "bin", "a planted one")):
        folder.mkdir(exist_ok=True)
        program = folder / "kubectl"
        program.write_text(f'#!/bin/sh\necho "{who}, with ${{KUBECONFIG:-nothing}}"\n')
        program.chmod(0o755)
    shell, environment = ShellState(), {**os.environ, "PATH": f"{tools}:{os.environ['PATH']}"}
    ground = Ground(str(place.working), "/root", "strong")

    def run(command: str, *, needs: frozenset[Need] | None = None) -> Outcome:
        call = ToolCall(call="call-1", tool="Shell", input={"command": command})
        ruling = judge(call, SHELL, mode="ask", rules=Rules(()), ground=ground)
        assert needs is not None or ruling.decision == "allow", ruling.reason
        granted = ruling.needs if needs is None else needs
        return place.call("Shell", {"command": command}, needs=granted, shell=shell, environment=environment)

    run("export KUBECONFIG=$PWD/theirs PATH=$PWD/bin:$PATH")
    looked = run("kubectl get pods")
    assert looked.text.startswith("the machine's, with nothing")
    assert "without what was exported before: KUBECONFIG, PATH" in looked.text
    for needs in ("git", "keys", "outside"):
        approved = run("kubectl apply -f x", needs=frozenset({"write", needs}))
        assert approved.text.startswith("the machine's, with nothing"), needs
    held = run("kubectl apply -f x", needs=frozenset({"write"}))
    assert held.text.startswith(f"a planted one, with {place.working}/theirs"), "it still holds where the kernel does"


@pytest.mark.skipif(boundary_here().strength != "strong", reason="there is no strong boundary here")
@pytest.mark.skipif(shutil.which("git") is None, reason="there is no git here")
def test_a_command_with_more_than_the_boundary_holds_does_not_begin_in_another_repository(place: Place) -> None:
    """Who allows `git push` was shown these words, and not that a command before it went where a build made a
    repository of its own, whose settings name programs."""

    def git(*words: str, folder: Path) -> None:
        subprocess.run(["git", *words], cwd=folder, check=True, capture_output=True)

    for name in ("deep/inner", "plain"):
        (place.working / name).mkdir(parents=True)
    git("init", "-q", folder=place.working)
    git("init", "-q", folder=place.working / "deep")
    git("config", "alias.send", "!touch sprung", folder=place.working / "deep")
    shell, needs = ShellState(), frozenset[Need]({"network", "keys", "git", "write"})
    place.call("Shell", {"command": "cd deep/inner"}, shell=shell, needs=frozenset())
    sent = place.call("Shell", {"command": "git send"}, shell=shell, needs=needs)
    assert "'send' is not a git command" in sent.text
    assert "[it ran in the working folder, as deep/inner is of another repository]" in sent.text
    assert not list(place.working.rglob("sprung"))
    told = place.call("Shell", {"command": "cd deep && git send && pwd"}, shell=shell, needs=needs)
    assert told.text == f"{place.working}/deep", "its own words said so"
    place.call("Shell", {"command": "cd ../plain"}, shell=shell, needs=frozenset())
    assert place.call("Shell", {"command": "pwd"}, shell=shell, needs=needs).text == f"{place.working}/plain"


@pytest.mark.skipif(shutil.which("git") is None, reason="there is no git here")
@pytest.mark.parametrize("where", [".", "deep"])
def test_a_folder_that_is_laid_out_like_a_repository_is_none_to_what_a_person_allows(place: Place, where: str) -> None:
    """A build needs no `.git` for it: to git a folder with HEAD, objects and refs is a repository, with settings."""
    build = "git init -q --bare made && mkdir -p deep && git -C made config alias.send '!touch sprung; echo sprung'"
    place.write("build.sh", f"{build} && mv made/* {where}")
    shell, needs = ShellState(), frozenset[Need]({"network", "keys", "git", "write"})
    place.call("Shell", {"command": "sh ./build.sh"}, shell=shell, needs=frozenset[Need]({"write"}))
    place.call("Shell", {"command": f"cd {where}"}, shell=shell, needs=frozenset())
    assert place.call("Shell", {"command": "git send"}, shell=shell, needs=frozenset()).text.endswith("sprung")
    for command in ("git send", f"cd {place.working}/{where} && git send"):
        sent = place.call("Shell", {"command": command}, shell=shell, needs=needs)
        assert "'send' is not a git command" in sent.text
    assert not list(place.working.rglob("sprung"))
    own = "git init -q --bare far && git init -q near && cd near && git -c user.name=x -c user.email=x commit -qm x"
    pushed = place.call(
        "Shell", {"command": f"{own} --allow-empty && git push -q ../far HEAD && echo yes"}, needs=needs
    )
    assert pushed.text == "yes", "one that is named is taken"


@pytest.mark.skipif(boundary_here().strength != "strong", reason="there is no strong boundary here")
def test_what_was_exported_chooses_no_boundary_and_opens_nothing_in_it(place: Place) -> None:
    """Who puts the boundary around a command stands outside of it; and what is hidden inside stays so."""
    sprung, hidden = place.working.parent / "sprung", place.working.parent / "theirs"
    for folder in (hidden / "bin", place.working / "bin"):
        folder.mkdir(parents=True)
    for name in ("bwrap", "sandbox-exec", "python3"):
        trap = place.write(f"bin/{name}", f"#!/bin/sh\necho {name} > {sprung}\n")
        trap.chmod(0o755)
    (hidden / "kept").write_text("a passing file of another program")
    shell = ShellState()
    place.call("Shell", {"command": f"export PATH=$PWD/bin:{hidden}/bin:$PATH"}, shell=shell)
    outcome = place.call("Shell", {"command": f"cat {hidden}/kept; bwrap; cat {sprung}"}, shell=shell)
    assert shell.environment["PATH"].startswith(f"{place.working}/bin:")
    assert f"{hidden}/kept: No such file" in outcome.text
    assert outcome.text.endswith("\nbwrap"), "the command itself gets what was exported"
    assert not sprung.exists()


@pytest.mark.skipif(boundary_here().strength != "strong", reason="there is no strong boundary here")
def test_a_program_of_ours_is_not_taken_from_the_folder_that_a_command_changes(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    sprung = place.working.parent / "sprung"
    place.write("bin/bwrap", f"#!/bin/sh\necho sprung > {sprung}\n").chmod(0o755)
    monkeypatch.setenv("PATH", f"{place.working}/bin:{os.environ['PATH']}")
    assert place.call("Shell", {"command": "echo fine"}).text == "fine"
    assert not sprung.exists()


@pytest.mark.skipif(boundary_here().strength != "strong", reason="there is no strong boundary here")
def test_what_tells_programs_to_load_something_is_obeyed_inside_alone(tmp_path: Path) -> None:
    """A server's settings or an export may name it; what starts the command obeys its loader as any program does."""
    working, told = tmp_path / "working", tmp_path / "told"
    working.mkdir()
    folder = os.open(working, os.O_RDONLY)

    async def go() -> bytes:
        environment = {**plain_environment(os.environ), "LD_DEBUG": "libs", "LD_DEBUG_OUTPUT": str(told)}
        policy = Policy(working=working, home=Path.home())
        words = ("/bin/sh", "-c", "echo with $LD_DEBUG")
        process = await Process.start(words, folder=folder, environment=environment, policy=policy, output_limit=2**20)
        return (await process.finished()).output

    assert asyncio.run(asyncio.wait_for(go(), DEADLINE)).endswith(b"with libs\n")
    assert [path.name for path in tmp_path.iterdir()] == ["working"]
    os.close(folder)


@pytest.mark.skipif(boundary_here().strength != "strong", reason="there is no strong boundary here")
@pytest.mark.parametrize("how", ["file", "link", "shared"])
def test_git_opens_what_a_pointer_leads_to_only_if_a_repository_is_kept_there(place: Place, how: str) -> None:
    """A folder from anybody says that its repository is your home; a commit is no reason to let that be changed."""
    home = Path(tempfile.mkdtemp(dir=Path.home()))
    try:
        if how == "file":
            place.write(".git", f"gitdir: {home}\n")
        elif how == "link":
            (place.working / ".git").symlink_to(home)
        else:
            subprocess.run(["git", "init", "-q"], cwd=place.working, check=True)
            place.write(".git/commondir", f"{home}\n")
        needs: frozenset[Need] = frozenset({"git", "write"})
        outcome = place.call("Shell", {"command": f"echo evil > {home}/.bashrc"}, needs=needs)
        assert "Read-only file system" in outcome.text
        assert not (home / ".bashrc").exists()
    finally:
        shutil.rmtree(home)
