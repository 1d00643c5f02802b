"""Tools as models know them: what they say is understood, and what they said is told to them as they said it."""

from __future__ import annotations

from typing import Any

import jsonschema_rs
import pytest

from weft.protocol.messages import ToolCall
from weft.tools.builtin import builtin_tools
from weft.tools.tool_spellings import told, told_name
from weft.tools.toolbox import Toolbox

BOX = Toolbox(builtin_tools())
TRAINED: list[tuple[str, dict[str, Any], str, dict[str, Any]]] = [
    ("Read", {"file_path": "a.md", "offset": 2}, "Read", {"path": "a.md", "offset": 2}),
    ("Write", {"file_path": "a", "content": "x"}, "Write", {"path": "a", "content": "x"}),
    (
        "Edit",
        {"file_path": "a", "old_string": "x", "new_string": "y", "replace_all": True},
        "Edit",
        {"path": "a", "old": "x", "new": "y", "all": True},
    ),
    (
        "MultiEdit",
        {"file_path": "a", "edits": [{"old_string": "x", "new_string": "y"}]},
        "MultiEdit",
        {"path": "a", "edits": [{"old": "x", "new": "y"}]},
    ),
    ("Bash", {"command": "make", "timeout": 5000}, "Shell", {"command": "make", "seconds": 5}),
    ("Bash", {"command": "serve", "run_in_background": True}, "Shell", {"command": "serve", "background": True}),
    ("BashOutput", {"bash_id": "process-1"}, "ShellOutput", {"process": "process-1"}),
    ("KillShell", {"shell_id": "process-1"}, "ShellStop", {"process": "process-1"}),
    ("Glob", {"pattern": "*.py", "path": "src"}, "Glob", {"pattern": "*.py", "path": "src"}),
    (
        "TodoWrite",
        {"todos": [{"content": "a", "status": "completed"}, {"content": "b", "status": "pending"}]},
        "TodoWrite",
        {"todos": [{"text": "a", "status": "done"}, {"text": "b", "status": "pending"}]},
    ),
    (
        "Task",
        {"description": "d", "prompt": "p", "subagent_type": "reviewer"},
        "Task",
        {"description": "d", "prompt": "p", "agent": "reviewer"},
    ),
    (
        "AskUser",
        {"questions": [{"question": "Which?", "options": ["a", "b"], "multiSelect": True}]},
        "AskUser",
        {"questions": [{"question": "Which?", "options": ["a", "b"], "several": True}]},
    ),
    ("WebFetch", {"url": "https://example.org/"}, "WebFetch", {"url": "https://example.org/"}),
]
OTHERS: list[tuple[str, dict[str, Any], str, dict[str, Any]]] = [
    (
        "Task",
        {"description": "d", "prompt": "p", "subagent_type": "general-purpose"},
        "Task",
        {"description": "d", "prompt": "p"},
    ),
    (
        "bash",
        {"cmd": "ls", "description": "lists", "timeout": 30},
        "Shell",
        {"command": "ls", "description": "lists", "seconds": 30},
    ),
    ("Shell", {"command": "ls", "seconds": 5}, "Shell", {"command": "ls", "seconds": 5}),
    ("read_file", {"filename": "a"}, "Read", {"path": "a"}),
    ("str_replace", {"path": "a", "old_str": "x", "new_str": "y"}, "Edit", {"path": "a", "old": "x", "new": "y"}),
    (
        "Grep",
        {"pattern": "x", "-i": True, "-n": True, "output_mode": "files_with_matches", "head_limit": 5, "type": "py"},
        "Grep",
        {"pattern": "x", "ignore_case": True, "limit": 5, "names_only": True, "glob": "*.py"},
    ),
    (
        "AskUserQuestion",
        {"questions": [{"question": "Q", "header": "H", "options": [{"label": "a", "description": "d"}]}]},
        "AskUser",
        {"questions": [{"question": "Q", "options": ["a: d"]}]},
    ),
    (
        "TodoWrite",
        {"todos": [{"content": "a", "status": "in_progress", "activeForm": "doing a", "id": "1"}]},
        "TodoWrite",
        {"todos": [{"text": "a", "status": "in_progress"}]},
    ),
    ("ExitPlanMode", {"plan": "do it"}, "SubmitPlan", {"plan": "do it"}),
    ("WebFetch", {"url": "https://a.org/", "prompt": "what?"}, "WebFetch", {"url": "https://a.org/"}),
]


@pytest.mark.parametrize(("name", "given", "own", "meant"), TRAINED + OTHERS)
def test_what_models_say_is_understood(name: str, given: dict[str, Any], own: str, meant: dict[str, Any]) -> None:
    call = BOX.corrected(ToolCall(call="1", tool=name, input=given))
    assert (call.tool, call.input) == (own, meant)
    assert BOX.fault(call) is None


@pytest.mark.parametrize(("name", "given", "own", "meant"), TRAINED)
def test_what_they_said_is_told_as_they_said_it_and_fits_what_they_are_offered(
    name: str, given: dict[str, Any], own: str, meant: dict[str, Any]
) -> None:
    assert (told_name(own), told(own, meant)) == (name, given)
    (offered,) = [spec for spec in BOX.specs() if spec.name == name]
    jsonschema_rs.validator_for(dict(offered.input_schema)).validate(given)


def test_what_is_wrong_is_said_in_their_words() -> None:
    fault = BOX.fault(BOX.corrected(ToolCall(call="1", tool="Edit", input={"file_path": "a", "old_string": "x"})))
    assert fault is not None
    assert "new_string" in fault
    unknown = BOX.fault(ToolCall(call="1", tool="Fly", input={}))
    assert unknown is not None
    assert "Bash" in unknown
