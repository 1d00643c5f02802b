"""Skill, Task, TodoWrite, AskUser, SubmitPlan: tools that reach into the workspace, another agent, and to the person.

Each works through a port of the context, so that the conversation decides what stands behind it; without the port the
call ends with words the model can act on.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final

from weft.protocol.errors import UserError
from weft.tools.builtin.schema import closed, text, yes_or_no
from weft.tools.results import bounded
from weft.tools.threads import in_thread
from weft.tools.tool import Context, Outcome, Question, Tool, runs

# -- Skill


async def _skill(given: Mapping[str, Any], context: Context) -> Outcome:
    name, skills = given["name"], context.skills
    if skills is None:
        raise UserError("there are no skills here")
    known = await in_thread(skills.names, "weft-skill")
    if name not in known:
        raise UserError(f"there is no skill {name[:80]!r}", hint=f"the skills are: {', '.join(known) or 'none'}")
    body = await in_thread(lambda: skills.text(name), "weft-skill")
    return await bounded(Outcome(text=body, summary=f"the skill {name}"), context)


# -- Task


async def _task(given: Mapping[str, Any], context: Context) -> Outcome:
    """A conversation makes a sub-conversation of such a call and never starts it: where it is started there is none."""
    raise UserError("sub-agents can't be started here: do the work yourself")


# -- TodoWrite


async def _todos(given: Mapping[str, Any], context: Context) -> Outcome:
    todos = given["todos"]
    current = [todo["text"] for todo in todos if todo["status"] == "in_progress"]
    if len(current) > 1:
        raise UserError(f"only one thing is in progress at a time, not {len(current)}")
    done = sum(todo["status"] == "done" for todo in todos)
    signs = {"pending": "[ ]", "in_progress": "[>]", "done": "[x]"}
    lines = [f"{signs[todo['status']]} {todo['text']}" for todo in todos]
    summary = f"{done} of {len(todos)} done"
    return Outcome(text="\n".join(lines) or "the list is empty", summary=summary, data={"todos": todos})


# -- AskUser


async def _ask(given: Mapping[str, Any], context: Context) -> Outcome:
    if context.ask_person is None:
        raise UserError("nobody is there to ask: decide yourself, and say what you assumed")
    questions = tuple(
        Question(text=each["question"], options=tuple(each.get("options", ())), several=each.get("several", False))
        for each in given["questions"]
    )
    answers = await context.ask_person(questions)
    lines = [f"{question.text}\n{answers.get(question.text, '') or '(no answer)'}" for question in questions]
    return await bounded(Outcome(text="\n\n".join(lines), summary="answered", data={"answers": dict(answers)}), context)


# -- SubmitPlan


async def _submit(given: Mapping[str, Any], context: Context) -> Outcome:
    if context.submit_plan is None:
        raise UserError("nobody is there to say yes to a plan: do the work, and say what you did")
    await context.submit_plan(given["plan"], tuple(given.get("steps") or plan_steps(given["plan"])))
    return Outcome(text="The person has the plan and will say something to it.", summary="submitted", ends=True)


def plan_steps(text: str) -> list[str]:
    """The steps that a plan in words has: the outermost list of it, the numbered one if there is one."""
    found = [(len(m[1]), m[2], m[3].strip()) for m in _LISTED.finditer(text)]
    numbered = [one for one in found if one[1][0].isdigit()] or found
    outermost = min((indent for indent, _, _ in numbered), default=0)
    return [words for indent, _, words in numbered if indent == outermost][:50]


_LISTED: Final = re.compile(r"^([ \t]*)([-*+]|\d{1,3}[.)])[ \t]+(.+)$", re.MULTILINE)


SKILL: Final = Tool(
    name="Skill",
    description="Load the whole text of a skill whose description fits what is to be done, and follow it.",
    input_schema=closed({"name": text("The skill's name", shortest=1, longest=100)}),
    kind="read",
    start=runs(_skill),
    retryable=True,
)
TASK: Final = Tool(
    name="Task",
    description=(
        "Give a piece of work to a sub-agent with a conversation of its own; its last message is the result. Say all "
        "it needs to know: it sees nothing of this conversation."
    ),
    input_schema=closed(
        {
            "description": text("What it is about, in a few words", shortest=1, longest=200),
            "prompt": text("The work, in full", shortest=1, longest=100_000),
        },
        {"agent": text("The agent's name; without it the sub-agent is like you", shortest=1, longest=100)},
    ),
    kind="read",
    start=runs(_task),
)
TODO_WRITE: Final = Tool(
    name="TodoWrite",
    description="Write down the whole list of what is to be done, each with its state, for the person to follow.",
    input_schema=closed(
        {
            "todos": {
                "type": "array",
                "maxItems": 50,
                "items": closed(
                    {
                        "text": text("What is to be done", shortest=1, longest=500),
                        "status": {"type": "string", "enum": ["pending", "in_progress", "done"]},
                    }
                ),
            }
        }
    ),
    kind="read",
    start=runs(_todos),
    retryable=True,
)
ASK_USER: Final = Tool(
    name="AskUser",
    description="Ask the person what only they can decide. Give options where there are some; any answer may come.",
    input_schema=closed(
        {
            "questions": {
                "type": "array",
                "minItems": 1,
                "maxItems": 4,
                "items": closed(
                    {"question": text("The question, one sentence", shortest=1, longest=1000)},
                    {
                        "options": {
                            "type": "array",
                            "maxItems": 8,
                            "items": text("An answer", shortest=1, longest=200),
                        },
                        "several": yes_or_no("More than one option may be chosen"),
                    },
                ),
            }
        }
    ),
    kind="read",
    start=runs(_ask),
)
SUBMIT_PLAN: Final = Tool(
    name="SubmitPlan",
    description=(
        "Show the person what you would do, once you know enough to say it, and end your turn. Nothing is changed "
        "before they accept it. Write what you will change where, how you will check it, and what you leave out."
    ),
    input_schema=closed(
        {"plan": text("The plan, as Markdown", shortest=1, longest=50_000)},
        {
            "steps": {
                "type": "array",
                "maxItems": 50,
                "items": text("One step, a line", shortest=1, longest=500),
                "description": "Its steps, to be checked off; without them the list in the plan is taken",
            }
        },
    ),
    kind="read",
    start=runs(_submit),
)
