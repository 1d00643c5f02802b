"""Rulings: what each mode does with each kind of tool, rules that add up, narrow memory, and taint."""

from __future__ import annotations

import itertools
import json
from collections.abc import Collection
from dataclasses import replace
from pathlib import Path
from typing import Any, get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from weft.protocol.messages import ToolCall
from weft.tools import permission_file
from weft.tools.boundary import PROTECTED
from weft.tools.builtin import builtin_tools
from weft.tools.permission import Mode, Ruling, judge
from weft.tools.permission_file import APP_FILE, Rule, Rules, app_rules
from weft.tools.shell.needs import Ground
from weft.tools.tool import Tool, ToolKind
from weft.tools.toolbox import Toolbox

MODES: tuple[Mode, ...] = get_args(Mode)
TOOLS = Toolbox(builtin_tools())
TAINT = ("the web: example.org",)


def verdict(
    tool: str,
    given: dict[str, Any],
    mode: Mode = "ask",
    *rules: Rule,
    taint: Collection[str] = (),
    remembered: Collection[str] = (),
) -> Ruling:
    call = ToolCall(call="1", tool=tool, input=given)
    return judge(call, TOOLS.get(tool), mode=mode, rules=app_rules() + Rules(rules), taint=taint, remembered=remembered)


def shell(command: str, mode: Mode = "ask", *rules: Rule, **more: Any) -> Ruling:
    return verdict("Shell", {"command": command}, mode, *rules, **more)


def fetch(url: str, mode: Mode = "ask", *rules: Rule, **more: Any) -> Ruling:
    return verdict("WebFetch", {"url": url}, mode, *rules, **more)


def rule(verb: Any, tool: str, **more: Any) -> Rule:
    command = tuple(more.pop("command", "").split())
    open_ended = verb != "allow" or command[-1:] == ("*",)
    words = command[:-1] if command[-1:] == ("*",) else command
    return Rule(verb=verb, tool=tool, file="permissions.yaml", line=3, command=words, open_ended=open_ended, **more)


# -- modes


@pytest.mark.parametrize(
    ("tool", "given", "decisions"),
    [
        ("Read", {"path": "a"}, "allow allow allow allow"),
        ("Glob", {"pattern": "*"}, "allow allow allow allow"),
        ("Grep", {"pattern": "x"}, "allow allow allow allow"),
        ("Skill", {"name": "x"}, "allow allow allow allow"),
        ("Task", {"description": "x", "prompt": "x"}, "allow allow allow allow"),
        ("TodoWrite", {"todos": []}, "allow allow allow allow"),
        ("AskUser", {"questions": []}, "allow allow allow allow"),
        ("Write", {"path": "a", "content": ""}, "deny ask allow allow"),
        ("Edit", {"path": "a", "old": "x", "new": ""}, "deny ask allow allow"),
        ("WebFetch", {"url": "https://example.org/"}, "deny ask ask allow"),
        ("Shell", {"command": "ls -la | head"}, "allow allow allow allow"),
        ("Shell", {"command": "make"}, "deny ask ask allow"),
        ("Shell", {"command": "echo $("}, "deny ask ask allow"),
        ("Nothing", {}, "deny deny deny deny"),
    ],
)
def test_what_each_mode_does(tool: str, given: dict[str, Any], decisions: str) -> None:
    found = [verdict(tool, given, mode) for mode in MODES if mode != "plan"]
    assert " ".join(each.decision for each in found) == decisions
    assert all(each.reason and each.rule and each.file for each in found)


def test_every_built_in_tool_is_judged_by_a_rule_or_asked_about() -> None:
    reading = {tool.name for tool in TOOLS if verdict(tool.name, _plain(tool), "safe").decision == "allow"}
    reading_tools = {"Read", "Glob", "Grep", "Skill", "Task", "TodoWrite", "AskUser"}
    assert reading == reading_tools | {"SubmitPlan", "ShellOutput", "ShellStop"}


def _plain(tool: Tool) -> dict[str, Any]:
    if tool.subject is None:
        return {}
    return {tool.subject[1]: {"path": "a", "url": "https://example.org/", "command": "make"}[tool.subject[0]]}


@pytest.mark.parametrize("effect", ["read", "write", "network", "process"])
@pytest.mark.parametrize("mode", MODES)
def test_a_tool_of_a_source_is_never_taken_at_its_word(effect: ToolKind, mode: Mode) -> None:
    """What a source says of its own tool does not make it safe; nor does the name of one of ours."""
    for name in ("notes__search", "Read"):
        tool = Tool(name=name, description="", input_schema={}, kind=effect, start=_never, source="notes")
        found = judge(ToolCall(call="1", tool=name, input={}), tool, mode=mode, rules=app_rules())
        assert found.decision == {"plan": "deny", "safe": "deny", "ask": "ask", "edits": "ask", "auto": "allow"}[mode]


async def _never(*_: object) -> Any:
    raise AssertionError("a judgement starts nothing")


@pytest.mark.parametrize("path", ["../x", "a/../../x", "a/..", "..", "@session/../x", "x\0y"])
def test_a_path_that_climbs_is_denied_in_every_mode(path: str) -> None:
    for tool, mode in itertools.product(("Read", "Write", "Edit", "Grep"), MODES):
        assert verdict(tool, {"path": path}, mode).decision == "deny"


@pytest.mark.parametrize("given", [{}, {"command": 5}, {"command": None}, {"command": ["ls"]}])
def test_a_subject_that_is_not_there_is_no_permission(given: dict[str, Any]) -> None:
    for mode in MODES:
        assert verdict("Shell", given, mode).decision == "deny"


def test_malformed_input_is_denied() -> None:
    call = ToolCall(call="1", tool="Read", input={}, malformed="{path:")
    assert judge(call, TOOLS.get("Read"), mode="auto", rules=app_rules()).decision == "deny"


# -- what is guarded even in auto


@pytest.mark.parametrize(
    "path",
    [
        "permissions.yaml",
        "./permissions.yaml",
        "deep/permissions.yaml",
        "/abs/workspace/permissions.yaml",
        "PERMISSIONS.yaml",
        "sources/x/permissions.json",
        "sources//x/config.json",
        "config.toml",
        ".git/config",
        ".git/hooks/pre-commit",
        "sub/.GIT/config",
        ".claude/agents/x.md",
        "AGENTS.md",
        "docs/agents.md",
        "CLAUDE.md",
        "CLAUDE.local.md",
        "AGENTS.override.md",
        ".git",
        "sub/.git",
        "deep/er/.GIT",
        ".bashrc",
        "home/.zshrc",
        ".profile",
        ".gitconfig",
        ".gitattributes",
        ".gitmodules",
        ".ssh/authorized_keys",
        ".vscode/tasks.json",
        ".idea/workspace.xml",
        ".husky/pre-commit",
        ".envrc",
        ".mcp.json",
        ".npmrc",
        ".config/autostart/x.desktop",
        ".github/workflows/ci.yml",
        ".pre-commit-config.yaml",
    ],
)
def test_what_rules_and_instructs_is_asked_about_even_in_auto(path: str) -> None:
    for tool in ("Write", "Edit", "MultiEdit"):
        found = verdict(tool, {"path": path}, "auto")
        assert found.decision == "ask"
        assert found.remember_key is None
        assert found.file == "weft's own rules"
        assert found.rule.startswith(f"ask {tool.removeprefix('Multi')} **/")
    assert verdict("Read", {"path": path}, "auto").decision == "allow"


@pytest.mark.parametrize(
    "path", ["notes/a.md", "/home/me/work/notes/a.md", "/home/me/./work//notes/a.md", "/led/notes/a.md"]
)
def test_a_rule_about_a_path_is_about_the_whole_path_too(path: str) -> None:
    """Models call files by whole paths, and a rule names them from the working folder on."""
    ground = Ground("/home/me/work", "/home/me", named="/led")
    for verb in ("deny", "ask", "allow"):
        rules = app_rules() + Rules((rule(verb, "Write", path="notes/**"),))
        call = ToolCall(call="1", tool="Write", input={"path": path, "content": ""})
        mode: Mode = "ask" if verb == "allow" else "auto"
        assert judge(call, TOOLS.get("Write"), mode=mode, rules=rules, ground=ground).decision == verb
    call = ToolCall(call="1", tool="Write", input={"path": path, "content": ""})
    asked = judge(call, TOOLS.get("Write"), mode="ask", rules=app_rules(), ground=ground)
    assert asked.remember_key == "write notes/a.md"


def test_a_rule_about_edit_is_about_many_edits_at_once_too() -> None:
    several = {"path": "notes/a.md", "edits": []}
    assert verdict("MultiEdit", several, "auto", rule("deny", "Edit", path="notes/**")).decision == "deny"
    assert verdict("MultiEdit", several, "ask", rule("allow", "Edit", path="notes/**")).decision == "allow"
    assert verdict("MultiEdit", {"path": "sessions/a/log.jsonl", "edits": []}, "auto").decision == "deny"
    for tool in builtin_tools():
        if tool.kind == "write" and tool.subject == ("path", "path"):
            assert verdict(tool.name, {"path": ".git/config"}, "auto").decision == "ask", tool.name


@pytest.mark.parametrize(
    "path", ["@session/log.jsonl", "@session/blobs/x", "sessions/a/log.jsonl", "sessions/a/blobs/x"]
)
def test_the_log_is_nobody_elses(path: str) -> None:
    for mode in MODES:
        assert verdict("Write", {"path": path}, mode, rule("allow", "Write")).decision == "deny"


# -- rules


def test_a_rule_that_allows_spares_the_question_and_says_where_it_stands() -> None:
    allowing = rule("allow", "Write", path="notes/**", why="notes are mine")
    found = verdict("Write", {"path": "notes/a.md"}, "ask", allowing)
    assert (found.decision, found.file, found.rule) == ("allow", "permissions.yaml:3", "allow Write notes/**")
    assert "notes are mine" in found.reason
    for path in ("other/a.md", "/elsewhere/notes/a.md", "Notes/a.md"):
        assert verdict("Write", {"path": path}, "ask", allowing).decision == "ask"
    assert verdict("Write", {"path": "notes/a.md"}, "safe", allowing).decision == "deny"
    assert verdict("Write", {"path": "notes/a.md"}, "safe", rule("allow", "Write", read_only=True)).decision == "allow"


def test_denial_stands_above_question_above_permission() -> None:
    allow, ask, deny = (rule(verb, "WebFetch", host="example.org") for verb in ("allow", "ask", "deny"))
    for order in itertools.permutations((allow, ask, deny)):
        assert fetch("https://example.org/", "auto", *order).decision == "deny"
    for order in itertools.permutations((allow, ask)):
        assert fetch("https://example.org/", "auto", *order).decision == "ask"
    assert fetch("https://example.org/", "ask", allow).decision == "allow"


@pytest.mark.parametrize(
    ("host", "url", "covered"),
    [
        ("example.org", "https://example.org/x", True),
        ("example.org", "https://EXAMPLE.org/x", True),
        ("example.org", "https://www.example.org/", False),
        ("example.org", "https://example.org:8443/", False),
        ("example.org:8443", "https://example.org:8443/", True),
        ("*.example.org", "https://www.example.org/", True),
        ("*.example.org", "https://evilexample.org/", False),
        ("*.example.org", "https://example.org.evil.test/", False),
    ],
)
def test_hosts(host: str, url: str, covered: bool) -> None:
    assert (fetch(url, "ask", rule("allow", "WebFetch", host=host)).decision == "allow") == covered


@pytest.mark.parametrize("host", ["evil.org", "*.evil.org"])
def test_a_host_that_is_denied_is_denied_at_every_port(host: str) -> None:
    below = "www." if host.startswith("*") else ""
    for url in ("https://{}evil.org/", "https://{}evil.org:8443/", "http://{}evil.org:443/"):
        assert fetch(url.format(below), "auto", rule("deny", "WebFetch", host=host)).decision == "deny"
        assert fetch(url.format(below), "auto", rule("ask", "WebFetch", host=host)).decision == "ask"
    allowed = rule("allow", "WebFetch", host=host)
    assert fetch(f"https://{below}evil.org:8443/", "ask", allowed).decision == "ask"
    assert fetch(f"https://{below}evil.org.example/", "auto", rule("deny", "WebFetch", host=host)).decision == "allow"


@pytest.mark.parametrize("url", ["https://example.org@evil.test/", "http://127.1/", "file:///etc/passwd", "x", ""])
def test_an_address_that_is_none_is_denied(url: str) -> None:
    for mode in MODES:
        assert fetch(url, mode, rule("allow", "WebFetch", host="example.org")).decision == "deny"


@pytest.mark.parametrize(
    ("allowed", "command", "covered"),
    [
        ("npm test", "npm test", True),
        ("npm test", "npm   test", True),
        ("npm test", "npm test -- --watch", False),
        ("npm test *", "npm test -- --watch", True),
        ("npm test *", "npm testing", False),
        ("npm test", "npm test; rm -rf x", False),
        ("npm test", "npm test && npm test", True),
        ("npm test *", "npm test $(evil)", False),
        ("npm test *", "npm test > out", False),
        ("npm test *", "npm test & evil", False),
        ("npm test *", "npm test\nevil", False),
        ("npm test", "PATH=/evil npm test", False),
        ("npm test", "sudo npm test", False),
        ("npm test", "/evil/npm test", False),
        ("make *", "make all", True),
    ],
)
def test_a_command_is_allowed_word_by_word(allowed: str, command: str, covered: bool) -> None:
    found = shell(command, "ask", rule("allow", "Shell", command=allowed))
    assert (found.decision == "allow") == covered


@pytest.mark.parametrize(
    "command",
    [
        "git push",
        "git push --force origin main",
        "ls && git push",
        "(git push)",
        "ls | git push",
        "git -C . push",
        "git --no-pager push -f",
        "git -c a=b --git-dir .git push",
        "git 'push'",
        "git pu\\\nsh",
        "$(echo git) push",
        "bash -c 'git push'",
        "env git push",
        "echo `git push`",
    ],
)
def test_what_a_rule_denies_is_denied_or_at_least_asked_about_when_it_may_hide(command: str) -> None:
    found = shell(command, "auto", rule("deny", "Shell", command="git push"))
    assert found.decision in ("deny", "ask")
    for other in ("git pull", "git log push", "git -C . log", "git commit -m push", "git --no-pager diff -- push"):
        assert shell(other, "auto", rule("deny", "Shell", command="git push")).decision == "allow"
    assert shell("make all", "auto", rule("deny", "Shell", command="git push")).decision == "allow"
    both = (rule("deny", "Shell", command="git push"), rule("allow", "Shell", command="bash build.sh"))
    assert shell("bash build.sh", "ask", *both).decision == "allow"


def test_no_rule_allows_a_shell_as_a_whole() -> None:
    for name in ("Shell", "*", "S*"):
        assert shell("rm -rf x", "ask", rule("allow", name)).decision == "ask"


# -- for this session


@pytest.mark.parametrize(
    ("command", "key"),
    [
        ("git commit -m x", "shell git commit"),
        ("git commit -m x && git status", "shell git commit"),
        ("pytest -x tests", "shell pytest"),
        ("cargo build --release", "shell cargo build"),
        ("frobnicate a b", "shell exactly frobnicate a b"),
        ("git push", None),
        ("git -C /x commit", None),
        ("git commit -m x && git push", None),
        ("git add x && git commit -m y", None),
        ("rm x", None),
        ("sudo ls", None),
        ("curl https://example.org", None),
        ("bash x.sh", None),
        ("python3.12 x.py", None),
        ("env x", None),
        ("xargs x", None),
        ("find . -delete", None),
        ("sed -i s/a/b/ x", None),
        ("mkfs.ext4 /dev/x", None),
        ("echo $(x)", None),
        ("echo x > y", None),
        ("pytest; echo x > y", None),
        ("git commit -m x; docker ps", None),
        ("git commit -m x; docker ps; cat link", None),
        ("git commit -m x; cat ../of-mine", None),
        ("git commit -F ../of-mine", "shell exactly git commit -F ../of-mine"),
    ],
)
def test_what_is_remembered_is_narrow_or_nothing(command: str, key: str | None) -> None:
    found = shell(command)
    assert found.decision == "ask"
    assert found.remember_key == key
    if key is not None:
        assert shell(command, remembered={key}).decision == "allow"
        assert shell(f"{command}; rm x", remembered={key}).decision == "ask"
        assert shell(f"{command} > x", remembered={key}).decision == "ask"


def test_what_is_remembered_covers_nothing_else() -> None:
    assert shell("git commit -m other", remembered={"shell git commit"}).decision == "allow"
    assert shell("git add x && git commit -m y", remembered={"shell git commit", "shell git add"}).decision == "allow"
    for command in (
        *("git push", "git add x", "git -c a=b commit", "frobnicate a c"),
        *("git commit -m x; docker ps; cat link", "git commit -m x; cat ../of-mine", "git commit -F ../of-mine -m x"),
        *("git commit -m x; kubectl get pods", "git commit -m x .env"),
    ):
        assert shell(command, remembered={"shell git commit", "shell exactly frobnicate a b"}).decision == "ask"
    assert shell("git commit -m x", "safe", remembered={"shell git commit"}).decision == "deny"
    key = verdict("Write", {"path": "a/b.md"}).remember_key
    assert key == "write a/b.md"
    assert verdict("Edit", {"path": "a/b.md"}, remembered={key}).decision == "allow"
    assert verdict("Write", {"path": "a/c.md"}, remembered={key}).decision == "ask"
    host = fetch("https://example.org/a").remember_key
    assert host == "WebFetch example.org"
    assert fetch("https://example.org/b", remembered={host}).decision == "allow"
    assert fetch("https://other.org/b", remembered={host}).decision == "ask"


def test_a_rule_that_asks_is_not_silenced_by_memory() -> None:
    asking = rule("ask", "Shell", command="git commit")
    found = shell("git commit -m x", "auto", asking, remembered={"shell git commit"})
    assert (found.decision, found.remember_key) == ("ask", None)


# -- taint


@pytest.mark.parametrize(
    ("tool", "given"),
    [
        ("WebFetch", {"url": "https://example.org/?q=secret"}),
        ("Shell", {"command": "make"}),
        ("Shell", {"command": "curl https://example.org"}),
        ("Shell", {"command": "echo $(x)"}),
        ("Shell", {"command": "kubectl get pods"}),
    ],
)
def test_what_can_send_asks_even_in_auto_and_says_why(tool: str, given: dict[str, Any]) -> None:
    assert verdict(tool, given, "auto").decision == "allow"
    found = verdict(tool, given, "auto", taint=TAINT)
    assert found.decision == "ask"
    assert "the web: example.org" in found.reason
    assert found.rule == "tainted conversation"
    asked = verdict(tool, given, "ask", taint=TAINT)
    assert "the web: example.org" in asked.reason
    assert verdict(tool, given, "safe", taint=TAINT).decision == "deny"


@pytest.mark.parametrize(
    ("tool", "given"),
    [
        ("Read", {"path": "a"}),
        ("Write", {"path": "a", "content": ""}),
        ("Shell", {"command": "ls | grep x"}),
        ("Task", {"description": "x", "prompt": "x"}),
    ],
)
def test_what_stays_here_is_not_asked_about_for_it(tool: str, given: dict[str, Any]) -> None:
    assert verdict(tool, given, "auto", taint=TAINT).decision == "allow"


def test_a_tool_of_a_source_can_always_send() -> None:
    tool = Tool(name="notes__search", description="", input_schema={}, kind="read", start=_never, source="notes")
    call = ToolCall(call="1", tool=tool.name, input={})
    asked = judge(call, tool, mode="auto", rules=app_rules(), taint=TAINT)
    assert asked.decision == "ask"
    trusted = Rules((rule("allow", "notes__*", when_tainted=True, read_only=True),))
    assert judge(call, tool, mode="auto", rules=trusted, taint=TAINT).decision == "allow"
    assert judge(call, tool, mode="safe", rules=trusted, taint=TAINT).decision == "allow"


def test_what_was_allowed_before_does_not_count_afterwards() -> None:
    before = fetch("https://example.org/").remember_key
    assert before
    found = fetch("https://example.org/", remembered={before}, taint=TAINT)
    assert found.decision == "ask"
    assert found.remember_key == f"tainted {before}"
    assert fetch("https://example.org/", "auto", remembered={f"tainted {before}"}, taint=TAINT).decision == "allow"
    assert fetch("https://other.org/", "auto", remembered={f"tainted {before}"}, taint=TAINT).decision == "ask"
    asked = shell("pytest", remembered={"shell pytest", "tainted shell pytest"}, taint=TAINT)
    assert (asked.decision, asked.remember_key) == ("ask", None)


def test_a_rule_that_asks_does_not_hide_the_taint() -> None:
    found = shell("make", "auto", rule("ask", "Shell", command="make"), taint=TAINT)
    assert found.file == "permissions.yaml:3"
    assert "the web: example.org" in found.reason


def test_a_rule_allows_in_taint_only_if_it_says_so() -> None:
    assert (
        fetch("https://example.org/", "auto", rule("allow", "WebFetch", host="example.org"), taint=TAINT).decision
        == "ask"
    )
    trusting = rule("allow", "WebFetch", host="example.org", when_tainted=True)
    assert fetch("https://example.org/", "ask", trusting, taint=TAINT).decision == "allow"


# -- what always holds

commands = st.sampled_from(["ls", "make", "git push", "rm x", "echo $(x)", "curl x", "git commit", "kubectl get pods"])
calls: st.SearchStrategy[tuple[str, dict[str, Any]]] = st.one_of(
    commands.map(lambda command: ("Shell", {"command": command})),
    st.sampled_from(["a", "notes/a", "AGENTS.md", "../x", "@session/log.jsonl"]).map(
        lambda path: ("Write", {"path": path})
    ),
    st.sampled_from(["https://example.org/", "https://other.org/", "http://x@y/"]).map(
        lambda url: ("WebFetch", {"url": url})
    ),
    st.just(("Nothing", {})),
)
rules = st.lists(
    st.builds(
        rule,
        st.sampled_from(["allow", "ask", "deny"]),
        st.sampled_from(["Shell", "Write", "WebFetch", "*"]),
        read_only=st.booleans(),
        when_tainted=st.booleans(),
    ),
    max_size=3,
)
ORDER = {"deny": 0, "ask": 1, "allow": 2}


@given(calls, st.sampled_from(MODES), rules, st.sampled_from([(), TAINT]))
def test_more_rules_that_deny_or_ask_never_allow_more(
    call: tuple[str, dict[str, Any]], mode: Mode, some: list[Rule], taint: tuple[str, ...]
) -> None:
    found = verdict(*call, mode, *some, taint=taint)
    for verb in ("ask", "deny"):
        stricter = verdict(*call, mode, *some, rule(verb, "*"), taint=taint)
        assert ORDER[stricter.decision] <= ORDER[found.decision]
    assert ORDER[verdict(*call, mode, *some, taint=TAINT).decision] <= ORDER[verdict(*call, mode, *some).decision]


@given(calls, rules, st.sampled_from([(), TAINT]))
def test_safe_never_asks_and_allows_no_more_than_ask_and_auto(
    call: tuple[str, dict[str, Any]], some: list[Rule], taint: tuple[str, ...]
) -> None:
    plan, safe, ask, edits, auto = (verdict(*call, mode, *some, taint=taint) for mode in MODES)
    assert safe.decision != "ask"
    assert replace(plan, reason="", rule="") == replace(safe, reason="", rule="")
    assert ORDER[safe.decision] <= ORDER[ask.decision] <= ORDER[edits.decision] <= ORDER[auto.decision]
    assert safe.remember_key is None


@pytest.mark.parametrize("name", sorted(PROTECTED))
def test_what_the_boundary_keeps_is_asked_about_when_a_tool_of_files_writes_it(name: str) -> None:
    """One idea in two lists: neither forgets what the other has."""
    inside = f"{name}/x.yaml" if name in ("sources", "schedules", "sessions", ".config", ".local") else name
    within = [verdict("Write", {"path": path}, "auto").decision for path in (inside, f"{name}/x.yaml")]
    assert "ask" in within or name == "sessions"


def test_our_own_rules_are_such_as_a_person_may_write() -> None:
    value = json.loads((Path(permission_file.__file__).parent / "permissions.json").read_text(encoding="utf-8"))
    model = permission_file.PermissionFile.model_validate(value)
    read = [permission_file.rule_of(verb, entry, APP_FILE) for verb, _, entry in permission_file.entries_of(model)]
    assert app_rules() == Rules(tuple(read))
