"""The command line's own promises: exit codes, errors that list what is right, stdout for data only."""

from __future__ import annotations

import json
import os
import re
import shlex
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from tests.made import Weft
from tests.terminal import Terminal
from weft import __version__
from weft.cli.commands import run_command_line
from weft.cli.commands import weft as weft_group
from weft.cli.front_page import COMMANDS, front_page


def test_the_front_page_is_what_the_real_help_says() -> None:
    assert CliRunner().invoke(weft_group, ["--help"], prog_name="weft").output.rstrip() == front_page()


def leaves(command: click.Command, words: str) -> Iterator[tuple[str, click.Command]]:
    inner = command.commands if isinstance(command, click.Group) else {}
    if not inner:
        yield words, command
    for name, one in inner.items():
        yield from leaves(one, f"{words} {name}")


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_shows_what_a_person_would_type_and_it_is_a_command(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "old" / "sessions").mkdir(parents=True)
    (tmp_path / "cases").mkdir()
    for file in ("claims.jsonl", "rivers.weft.zip"):
        (tmp_path / file).touch()
    context = click.Context(weft_group)
    command = weft_group.get_command(context, name)
    assert command is not None
    help = CliRunner().invoke(weft_group, [name, "--help"], prog_name="weft")
    assert (help.exit_code, help.stderr) == (0, "")
    assert help.output.startswith(f"Usage: weft {name}")
    assert "..." not in help.output.partition("Commands:")[2]
    for words, leaf in leaves(command, name):
        shown = CliRunner().invoke(weft_group, [*words.split(), "--help"], prog_name="weft").output
        examples = shown.partition("For example:\n")[2].splitlines()
        assert examples, words
        for line in filter(None, examples):
            typed = re.split(r"[|>)]", line.rpartition("weft ")[2])[0]
            given = shlex.split(typed)
            given = given[2:] if given[0] == "--workspace" else given
            assert given[: len(words.split())] == words.split(), line
            parsed = leaf.make_context(words, given[len(words.split()) :], parent=click.Context(weft_group))
            assert parsed.args == [], line


def test_version_and_help_import_nothing_heavy() -> None:
    for words in (["--version"], ["--help"], []):
        code = (
            f"import sys; sys.argv = ['weft', *{words}]; from weft.cli import main; main(); print(sorted(sys.modules))"
        )
        out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
        heavy = {"click", "rich", "pydantic", "asyncio", "ruamel.yaml", "jsonschema_rs", "json"}
        assert not heavy & set(eval(out.splitlines()[-1]))


@pytest.mark.parametrize("words", [[], ["--help"], ["--version"], ["run", "--help"], ["packs", "list"]])
def test_a_reader_that_goes_away_is_no_error(words: list[str]) -> None:
    read, write = os.pipe()
    os.close(read)
    with os.fdopen(write, "wb") as out:
        command = [sys.executable, "-m", "weft", *words]
        ran = subprocess.run(command, stdout=out, stderr=subprocess.PIPE, text=True, check=False)
    assert (ran.returncode, ran.stderr) == (0, "")


@pytest.mark.fresh
def test_version(weft: Weft) -> None:
    ran = subprocess.run([sys.executable, "-m", "weft", "--version"], capture_output=True, text=True, check=True)
    assert ran.stdout == f"weft {__version__}\n"


@pytest.mark.fresh
def test_what_python_kept_of_our_code_on_a_full_disk_is_named(weft: Weft, tmp_path: Path) -> None:
    """However often the command is given, it would not go away by itself."""
    env = {**weft.env, "PYTHONPYCACHEPREFIX": str(tmp_path / "compiled"), "PYTHONDONTWRITEBYTECODE": ""}

    def listed() -> subprocess.CompletedProcess[str]:
        command = weft.command("sessions", "list")
        return subprocess.run(command, env=env, capture_output=True, text=True, timeout=120, check=False)

    assert listed().returncode == 0
    (kept,) = (tmp_path / "compiled").rglob("catalogue.*.pyc")
    kept.write_bytes(kept.read_bytes()[:4096])
    spoilt = listed()
    assert (spoilt.returncode, spoilt.stderr.strip().splitlines()) == (
        1,
        [f"weft: {kept} is cut short", "  remove it, make room where it lies, and say it again"],
    )
    kept.unlink()
    assert listed().returncode == 0


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["rnu"], "there is no command 'rnu'; did you mean 'run'?"),
        (["status"], "there is no command 'status'; did you mean 'weft sessions list'?"),
        (["run", "--frce"], "No such option '--frce'"),
        (["run", "leters", "POEM"], "did you mean 'letters'?"),
        (["run", "letters"], "needs the input 'source'"),
        (["run", "letters", "no-such-file.txt"], "there is no file no-such-file.txt"),
        (["run", "letters", "POEM", "--force", "cuont"], "did you mean 'count'?"),
        (["run", "letters", "POEM", "--until", "nothing"], "the steps are: count, list, report"),
        (["run", "letters", "POEM", "--set", "shout"], "write it as --set NAME=VALUE"),
        (["run", "letters", "POEM", "--set", "shout=maybe"], "true"),
        (["run", "letters", "POEM", "--set", "shuot=true"], "shout"),
        (["run", "letters", "POEM", "--input", "extra=POEM"], "has no input 'extra'"),
        (["run", "letters", "POEM", "--session-id", "../../x"], "is not a session id"),
        (["run", "letters", "POEM", "--session-id", "Ab"], "is not a session id"),
        (["run", "letters", "POEM", "--accept", "count", "--force", "count"], "can't both name count"),
        (["run", "letters", "POEM", "other.txt", "--session-id", "poem"], "several files"),
        (["run", "letters", "POEM", "--together"], "at least two files"),
        (["run", "letters", "POEM", "--topics", "rain:3"], "no step of the pipeline letters reads topics"),
        (["run", "letters", "POEM", "--tone", "loud"], "'beginner', 'intermediate', 'expert', 'mixed'"),
        (["run", "letters", "POEM", "--word-count", "99"], "100<=x<=10000"),
        (["run", "letters", "https://example.org/"], "add --allow-network"),
        (["profile", "set", "--topics", "rain:6"], "is no topic"),
        (["profile", "set"], "nothing to set"),
        (["completion", "tcsh"], "'bash', 'zsh', 'fish'"),
        (["init", "--pack", "digets"], "did you mean 'digest'?"),
        (["init", "research"], "weft init --pack research lays it; a folder of that name: weft init ./research"),
        (["init", "elsewhere"], "two workspaces are named"),
        (["kb"], "weft kb [OPTIONS] COMMAND"),
        (["kb", "serch"], "there is no command 'serch' in weft kb; did you mean 'search'?"),
        (["packs", "compare"], "the commands are: add, diff, list, rm, update"),
    ],
)
def test_a_bad_word_is_a_usage_error_that_lists_the_good_ones(
    weft: Weft, source: Path, words: list[str], said: str
) -> None:
    ran = weft(*[str(source) if word == "POEM" else word.replace("POEM", str(source)) for word in words])
    assert ran.code == 2, ran.err
    assert said in ran.err
    assert ran.out == ""
    assert "Traceback" not in ran.err
    assert weft.ran() == []


def test_an_unknown_session_is_a_clear_error(weft: Weft) -> None:
    for words in (
        ["run", "--session-id", "nobody", "letters"],
        ["sessions", "show", "nobody"],
        ["plan", "--session-id", "nobody", "letters"],
    ):
        ran = weft(*words)
        assert ran.code in (1, 2), words
        assert "nobody" in ran.err or "needs the input" in ran.err
        assert not weft.session("nobody").exists()


def test_a_session_is_offered_whose_name_begins_like_what_was_said(weft: Weft, source: Path) -> None:
    assert weft("run", "letters", source, "--session-id", "poem-1a2b3c").code == 0
    for words in (["sessions", "show", "poem"], ["reply", "poem", "yes"], ["sessions", "log", "peom-1a2b3c"]):
        assert "there is no session" in weft(*words).err
        assert "did you mean 'poem-1a2b3c'?" in weft(*words).err, words


def test_a_group_alone_shows_its_commands_once_and_whole(weft: Weft) -> None:
    shown = weft("kb").err
    assert shown.startswith("Usage: weft kb")
    assert shown.count("Usage:") == 1
    assert "For example:" not in shown.split("Commands:")[0]
    assert "..." not in shown.split("Commands:")[1]
    assert shown == weft("kb", "-h").out


def test_a_list_is_in_columns_on_a_terminal_and_has_tabs_for_a_program(weft: Weft) -> None:
    assert "letters\tcount -> list -> report\t" in weft("pipelines").out
    for words, shown in (
        ("pipelines", "letters  count -> list -> report  Counts the words of a text"),
        ("sources", "there are no sources yet: weft sources add connects one"),
    ):
        terminal = Terminal(weft, words, width=90)
        assert terminal.end() == 0
        assert shown in terminal.text()


def test_what_has_nothing_to_list_says_so(weft: Weft, source: Path) -> None:
    assert weft("run", "letters", source, "--session-id", "poem").code == 0
    assert weft("overrule", "poem").err == "no claim of poem has a verdict\n"
    assert weft("chat", "--session", "talk-1", "Hello").code == 0
    talk = weft("overrule", "talk-1")
    assert (talk.code, talk.err) == (0, "no claim of talk-1 has a verdict\n")
    assert weft("sources", "test").err == "there are no sources yet: weft sources add connects one\n"


def test_init_makes_the_folder_that_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("WEFT_WORKSPACE", str(tmp_path / "elsewhere"))
    assert run_command_line(["plan", "--workspace", "desk"]) == 1
    assert f"weft init {tmp_path}/desk" in capsys.readouterr().err
    assert run_command_line(["init", "desk"]) == 0
    told = capsys.readouterr()
    assert told.out == f"{tmp_path}/desk\n"
    assert f"--workspace {tmp_path}/desk run FILE" in told.err
    assert (tmp_path / "desk/pipelines/writing.yaml").is_file()
    assert not (tmp_path / "elsewhere").exists()


def test_stdout_carries_data_only(weft: Weft, source: Path) -> None:
    ran = weft("run", source)
    assert ran.code == 0
    assert Path(ran.out.strip()).name == "report.md"
    assert "step count done" in ran.err
    printed = weft("run", source, "--output", "-")
    assert printed.out == Path(ran.out.strip()).read_text()
    copied = weft("run", source, "-o", source.with_name("copy.md"))
    assert copied.code == 0
    assert source.with_name("copy.md").read_text() == printed.out


def test_a_session_belongs_to_one_pipeline(weft: Weft, source: Path) -> None:
    text = (weft.workspace / "pipelines/letters.yaml").read_text()
    (weft.workspace / "pipelines/other.yaml").write_text(text.replace("name: letters", "name: other"))
    assert weft("run", "letters", source, "--session-id", "poem").code == 0
    refused = weft("run", "other", source, "--session-id", "poem")
    assert refused.code == 1
    assert "belongs to the pipeline letters, not other" in refused.err
    both = weft("run", source)
    assert both.code == 2
    assert "letters, other" in both.err
    (weft.workspace / "config.toml").write_text('default_pipeline = "other"\n')
    assert weft("run", source).code == 0


def test_several_files_get_a_session_each_and_the_worst_exit_code(weft: Weft, source: Path) -> None:
    empty = source.with_name("empty.txt")
    empty.write_text("")
    ran = weft("run", "letters", empty, source)
    assert ran.code == 1
    assert len(ran.out.splitlines()) == 1
    assert "empty.txt is empty" in ran.err
    assert "2 documents: 1 done, 1 failed" in ran.err


def test_input_that_is_no_document(weft: Weft, tmp_path: Path) -> None:
    binary = tmp_path / "picture.gif"
    binary.write_bytes(b"GIF89a\x01\x00\x01\x00\x80\x00\x00\xff\xff\xff\x00\x00\x00!\xf9\x04" * 4)
    ran = weft("run", binary)
    assert ran.code == 2
    assert "picture.gif" in ran.err
    assert not (weft.workspace / "sessions").exists()
    pipeline = weft.workspace / "pipelines/letters.yaml"
    pipeline.write_text(pipeline.read_text().replace("steps:", "inputs: {source: {kind: text}}\nsteps:"))
    binary.write_bytes(b"GIF89a\xff\xfe")
    ran = weft("run", binary)
    assert ran.code == 2
    assert "is not UTF-8 text (byte 7 of 8)" in ran.err
    folder = weft("run", "letters", tmp_path)
    assert folder.code == 2
    assert "is a folder" in folder.err


def test_a_broken_pipeline_names_file_line_and_key(weft: Weft, source: Path) -> None:
    path = weft.workspace / "pipelines/letters.yaml"
    path.write_text(path.read_text().replace("requires: [count]", "requires: [cuont]"))
    ran = weft("run", source)
    assert ran.code == 1
    line = 1 + path.read_text().splitlines().index("    requires: [cuont]")
    assert f"pipelines/letters.yaml:{line}:" in ran.err
    assert "did you mean 'count'?" in ran.err
    validated = weft("pipelines", "validate")
    assert validated.code == 1
    assert f"pipelines/letters.yaml:{line}:" in validated.err
    assert "broken" in weft("pipelines", "list").out


def test_the_first_run_on_a_fresh_machine_works(tmp_path: Path) -> None:
    text = tmp_path / "note.md"
    text.write_text(
        "# Rain\n\nIt rained for 12 days in March and the river rose by 3 metres in one night. The bridge to the mill "
        "was closed for a week. Farmers moved their cattle to the hill before the water reached the lower fields. "
        "Nobody was hurt, but two houses by the ford can't be lived in any more. The council wants to build a dam "
        "of stone above the village. It has asked every household for a day of work in the autumn.\n"
    )
    fresh = Weft(tmp_path / "nowhere" / "yet")
    ran = fresh("run", text)
    assert ran.code == 0, ran.err
    assert "made the workspace" in ran.err
    kit, markdown, page = (Path(line).read_text() for line in ran.out.splitlines())
    assert all("It rained for 12 days in March" in text for text in (kit, markdown, page))


def test_pipelines_show(weft: Weft) -> None:
    assert "step list after count: agent lister -> list.json" in weft("pipelines", "show", "letters").out
    drawn = weft("pipelines", "show", "letters", "--graph").out
    assert all(name in drawn for name in ("count", "list", "report"))
    mermaid = weft("pipelines", "show", "letters", "--mermaid").out
    assert mermaid.startswith("flowchart")
    schema = json.loads(weft("pipelines", "schema").out)
    assert "steps" in schema["properties"]


def test_sessions_can_be_looked_into_and_moved_to_the_trash(weft: Weft, source: Path) -> None:
    assert weft("run", "letters", source, "--session-id", "poem").code == 0
    assert weft("sessions").out.startswith("poem\tletters\tdone\t3")
    assert "count.json" in weft("sessions", "show", "poem").out
    assert json.loads(weft("sessions", "show", "poem", "--json").out)["steps"]["count"]["status"] == "completed"
    assert weft("sessions", "log", "poem", "--json").events == weft.log("poem")
    assert "step count done" in weft("sessions", "log", "poem").out
    assert weft("sessions", "follow", "poem", "--json").events == weft.log("poem")
    assert weft("sessions", "verify", "poem").code == 0
    removed = weft("sessions", "rm", "poem")
    assert removed.code == 0
    assert (weft.workspace / "trash/poem/log.jsonl").exists()
    assert weft("sessions").out.strip() == ""
    assert weft("run", "letters", source, "--session-id", "poem").code == 0
    assert weft("sessions", "rm", "poem").code == 0
    assert (weft.workspace / "trash/poem-2/log.jsonl").exists()


def test_doctor_finds_what_is_wrong(weft: Weft, source: Path) -> None:
    assert weft("run", "letters", source, "--session-id", "poem").code == 0
    good = weft("doctor")
    assert good.code == 0, good.out
    assert "1 of 1 sessions intact" in good.out
    (weft.workspace / "schemas/count.schema.json").write_text("{")
    log = weft.session("poem") / "log.jsonl"
    log.write_bytes(b"rubbish\n" + log.read_bytes())
    bad = weft("doctor")
    assert bad.code == 1
    assert "schemas/count.schema.json" in bad.out
    assert "log.jsonl line 1" in bad.out


def test_completion_scripts_and_what_they_complete(weft: Weft) -> None:
    for shell in ("bash", "zsh", "fish"):
        assert "_WEFT_COMPLETE" in weft("completion", shell).out
    for words, expected in (("weft ", {"run", "plan", "sessions"}), ("weft run --a", {"--accept"})):
        env = {**weft.env, "_WEFT_COMPLETE": "bash_complete", "COMP_WORDS": words, "COMP_CWORD": str(words.count(" "))}
        done = subprocess.run([sys.executable, "-m", "weft"], env=env, capture_output=True, text=True, check=False)
        assert expected <= {line.partition(",")[2] for line in done.stdout.splitlines()}, done.stderr


@pytest.mark.parametrize(
    "words", [["no-such-file.txt"], [], ["POEM", "--set", "shout=maybe"], ["POEM", "--force", "x"]]
)
def test_what_can_not_begin_leaves_nothing_behind(weft: Weft, source: Path, words: list[str]) -> None:
    assert weft("run", "letters", *[source if word == "POEM" else word for word in words]).code == 2
    assert not (weft.workspace / "sessions").exists()


def test_the_same_file_by_another_way_is_the_same_session(weft: Weft, source: Path) -> None:
    assert weft("run", source).code == 0
    assert weft("run", source.parent / "workspace" / ".." / source.name).code == 0
    assert weft.ran() == ["count", "list", "report"]


def test_a_changed_default_reaches_a_session_that_did_not_choose(weft: Weft, source: Path) -> None:
    assert weft("run", "letters", source, "--session-id", "poem").code == 0
    path = weft.workspace / "pipelines/letters.yaml"
    path.write_text(path.read_text().replace("default: false", "default: true"))
    assert "the parameter shout was changed (false -> true)" in weft("plan", "--session-id", "poem").out


def test_a_check_against_an_input_that_was_not_given_is_a_finding(weft: Weft, source: Path) -> None:
    path = weft.workspace / "pipelines/letters.yaml"
    text = path.read_text().replace(
        "parameters:\n  shout", "inputs: {source: {}, notes: {required: false}}\nparameters:\n  shout"
    )
    path.write_text(
        text.replace("at: first, in: source", "at: first, in: notes").replace(
            "inputs: [source]", "inputs: [source, notes]"
        )
    )
    ran = weft("run", "letters", source, "--session-id", "poem")
    assert ran.code == 1
    assert "verbatim can't check it without notes" in ran.err
    notes = source.with_name("notes.txt")
    notes.write_text("so it goes")
    assert weft("run", "letters", source, "--session-id", "poem", "--input", f"notes={notes}").code == 0
    assert (weft.session("poem") / "attachments/notes.md").read_text().endswith("\n\nso it goes\n")
    assert (weft.session("poem") / "attachments/notes.original.txt").read_text() == "so it goes"


def test_an_edit_must_pass_a_pack_s_own_check_too(weft: Weft, source: Path) -> None:
    code = weft.workspace / "code/letters.py"
    code.write_text(
        code.read_text()
        + "\ndef odd(value, options, documents):\n    return [] if value['words'] % 2 == 0 else ['odd']\n"
    )
    path = weft.workspace / "pipelines/letters.yaml"
    path.write_text(path.read_text().replace("    checks:\n", "    checks:\n      - letters.py:odd: {}\n"))
    assert weft("run", "letters", source, "--session-id", "poem").code == 0
    (weft.session("poem") / "count.json").write_text('{"words": 3, "first": "so"}')
    refused = weft("run", "--session-id", "poem", "--accept", "count")
    assert refused.code == 1
    assert "can't accept count: count.json: odd" in refused.err
    (weft.session("poem") / "count.json").write_text('{"words": 4, "first": "so"}')
    assert weft("run", "--session-id", "poem", "--accept", "count").code == 0


def test_ctrl_c_ends_a_batch(weft: Weft, source: Path) -> None:
    code = weft.workspace / "code/letters.py"
    code.write_text(code.read_text().replace("def count(step):\n", "def count(step):\n    time.sleep(60)\n"))
    other = source.with_name("other.txt")
    other.write_text("another one")
    process = subprocess.Popen(
        weft.command("run", "letters", source, other, "--json"), env=weft.env, stdout=subprocess.PIPE
    )
    assert process.stdout is not None
    started: set[str] = set()
    while len(started) < min(2, os.cpu_count() or 1):
        line = json.loads(process.stdout.readline())
        if line["type"] == "step_started":
            started.add(line["session"])
    process.send_signal(signal.SIGINT)
    rest = [json.loads(line) for line in process.stdout.read().splitlines()]
    assert process.wait(20) == 130
    process.stdout.close()
    assert {line["session"] for line in rest if line["type"] == "run_ended"} == started
    assert all(line["outcome"] == "interrupted" for line in rest if line["type"] == "run_ended")


def test_init_lays_a_pack_and_never_overwrites(tmp_path: Path) -> None:
    weft = Weft(tmp_path / "ws")
    assert weft("init", "--pack", "digest").code == 0
    agent = weft.workspace / ".claude/agents/reader.md"
    agent.write_text(agent.read_text() + "My own line.\n")
    (weft.workspace / "sessions/keep-me").mkdir(parents=True)
    again = weft("init", "--pack", "digest")
    assert again.code == 0
    assert agent.read_text().endswith("My own line.\n")
    assert "kept" in again.err
    assert (weft.workspace / "sessions/keep-me").is_dir()
    assert (
        "+My own line." in weft("packs", "diff", "digest").out or "-My own line." in weft("packs", "diff", "digest").out
    )
    assert "digest" in weft("packs").out


def test_a_workspace_that_can_not_be_written_is_looked_at(weft: Weft, source: Path) -> None:
    """One on a mounted backup, or of somebody else: what only reads works."""
    assert weft("run", "letters", source, "--session-id", "poem").code == 0
    for has_index in (True, False):
        for name in ("index.db", "index.db-wal", "index.db-shm"):
            (weft.workspace / name).unlink(missing_ok=not has_index or name != "index.db")
        if has_index:
            assert weft("sessions", "list").code == 0
        for words in (["sessions", "list"], ["sessions", "search", "wheel"], ["sessions", "show", "poem"]):
            ran = _unwritable(weft, *words)
            assert (ran.returncode, ran.stderr) == (0, "")
            assert "poem" in ran.stdout


def _unwritable(weft: Weft, *words: str) -> subprocess.CompletedProcess[str]:
    """The command in a workspace that is mounted read-only."""
    place = shlex.quote(str(weft.workspace))
    mounted = (
        f"mount --bind {place} {place} && mount -o remount,ro,bind {place} && exec {shlex.join(weft.command(*words))}"
    )
    command = ["unshare", "--mount", "--map-root-user", "sh", "-c", mounted]
    if subprocess.run([*command[:3], "true"], capture_output=True, check=False).returncode:
        pytest.skip("nothing can be mounted here")
    return subprocess.run(command, env=weft.env, capture_output=True, text=True, check=False)


def test_whoever_stands_in_a_workspace_and_names_none_is_told_which_is_used(
    weft: Weft, source: Path, tmp_path: Path
) -> None:
    env = {**weft.env, "HOME": str(tmp_path / "home")}
    env.pop("WEFT_WORKSPACE", None)

    def here(*words: str) -> str:
        command = [sys.executable, "-m", "weft", *words]
        return subprocess.run(command, cwd=weft.workspace, env=env, capture_output=True, text=True, check=True).stderr

    used = tmp_path / "home" / ".weft"
    told = (
        f"weft: this folder is a workspace too, and {used} is used; --workspace . or WEFT_WORKSPACE=. takes this one\n"
    )
    assert here("run", str(source), "--plain").count(told) == 1
    assert here("sessions", "list").count(told) == 1
    assert told not in here("--workspace", ".", "sessions", "list")
    assert told not in here("sessions", "list", "--workspace", ".")
    env["WEFT_WORKSPACE"] = "."
    assert told not in here("sessions", "list")


def test_a_command_that_is_proposed_can_be_copied(tmp_path: Path) -> None:
    """Also where the workspace's path has spaces, and where the program is not on the path, as after `make run`."""
    (tmp_path / "my work's" / "pipelines").mkdir(parents=True)
    (tmp_path / "my work's" / "code").mkdir()
    weft = Weft(tmp_path / "my work's")
    pipeline = "name: one\ndescription: One.\ninputs: {}\nsteps:\n  one: {artifact: one.json, code: 'one.py:one'}\n"
    (weft.workspace / "pipelines" / "one.yaml").write_text(pipeline)
    (weft.workspace / "code" / "one.py").write_text("def one(step):\n    return 1 / 0\n")
    program = Path(sys.executable).parent / "weft"
    elsewhere = {**weft.env, "PATH": "/usr/bin:/bin"}
    words = [str(program), "--workspace", str(weft.workspace), "run", "one", "--plain"]
    failed = subprocess.run(words, env=elsewhere, capture_output=True, text=True, check=False)
    proposed = next(line.partition(": ")[2] for line in failed.stderr.splitlines() if "every attempt: " in line)
    assert proposed.startswith(f"{program} --workspace ")
    told = subprocess.run(["sh", "-c", proposed], env=elsewhere, capture_output=True, text=True, check=True).stdout
    assert "ZeroDivisionError" in told
    on_path = {**weft.env, "PATH": f"{program.parent}:/usr/bin:/bin"}
    again = subprocess.run(words, env=on_path, capture_output=True, text=True, check=False)
    assert f"try again: weft --workspace {shlex.quote(str(weft.workspace))} run" in again.stderr


def test_a_source_that_is_nothing_here_is_not_kept(weft: Weft, tmp_path: Path) -> None:
    """A folder with a slip of the pen is no command."""
    added = weft("sources", "add", tmp_path / "nots", "--as", "notes")
    assert added.code == 2
    assert f"there is no folder, file or command '{tmp_path / 'nots'}' here" in added.err
    assert weft("sources", "list").out == ""


def test_a_source_that_makes_a_file_is_given_its_folder(weft: Weft, tmp_path: Path) -> None:
    place = tmp_path / "books"
    place.mkdir()
    program = tmp_path / "keeper.py"
    program.write_text("import sys; open(sys.argv[1], 'a').close()")
    added = weft("sources", "add", "--as", "books", "--", sys.executable, program, place / "books.db")
    assert f"may read and not change {place / 'books.db'} (--write {place})" in added.err
    allowed = weft("sources", "allow", "books", "--write", place / "books.db")
    assert allowed.code == 1
    assert f"may change {place / 'books.db'}, which is not there" in allowed.out
    assert f"weft sources allow books --write {place}" in allowed.out
    listed = weft("sources", "list").out
    assert "\n" not in listed.strip()
    assert f"--write {place}; to reach it: weft sources test books" in listed
    assert not (place / "books.db").exists()
    weft("sources", "allow", "books", "--write", place)
    assert (place / "books.db").is_file()


def test_an_answer_says_how_to_open_it_in_this_workspace(weft: Weft, tmp_path: Path) -> None:
    (tmp_path / "tides.md").write_text("The tide rises twice a day.\n")
    assert weft("kb", "create", "sea", tmp_path / "tides.md").code == 0
    asked = weft("ask", "How often does the tide rise?")
    proposed = asked.err.rpartition(": ")[2].strip()
    assert proposed.startswith(f"weft --workspace {weft.workspace} open ask-")


def test_a_link_in_a_workspace_is_refused_with_what_to_do(weft: Weft, source: Path, tmp_path: Path) -> None:
    (weft.workspace / "code" / "letters.py").rename(tmp_path / "letters.py")
    (weft.workspace / "code" / "letters.py").symlink_to(tmp_path / "letters.py")
    ran = weft("run", "letters", source)
    assert ran.code == 1
    assert "letters.py goes through a link or is not a regular file: refused" in ran.err
    assert "put the file itself there" in ran.err
