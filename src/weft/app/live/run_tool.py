"""RunPipeline: a model begins a pipeline in the session it speaks in, as a person does with /run.

The run is the session's own: its steps stand in the conversation and its gates are the person's to answer. The call
ends when it has begun; what comes of it the model is told with the next message, as of every run.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any, Final

from weft.tools.builtin.schema import closed, text
from weft.tools.tool import Context, Handle, Outcome, Tool, begin

BeginRun = Callable[[str, str, Mapping[str, Any]], Awaitable[None]]
"""Takes the pipeline, the text of its first input, and parameters. UserError when it can't begin."""
LONGEST: Final = 200_000


def run_pipeline_tool(pipelines: Sequence[str], begin_run: BeginRun) -> Tool:
    async def start(given: Mapping[str, Any], context: Context) -> Handle:
        return await begin(_begun(given, begin_run))

    return Tool(
        name="RunPipeline",
        description=(
            "Begin a pipeline of the workspace in this session, on a text. Its steps and its questions stand in the "
            "conversation, and the person answers them: end your turn after it. You are told of its result with the "
            f"person's next message. There are: {', '.join(pipelines)}."
        ),
        input_schema=closed(
            {
                "pipeline": text("The pipeline's name", shortest=1, longest=200),
                "text": text("Its first input: a text, or a question", shortest=1, longest=LONGEST),
            },
            {"parameters": {"type": "object", "description": "Parameters of the pipeline, by name"}},
        ),
        kind="process",
        start=start,
    )


async def _begun(given: Mapping[str, Any], begin_run: BeginRun) -> Outcome:
    await begin_run(given["pipeline"], given["text"], given.get("parameters", {}))
    return Outcome(
        text=f"{given['pipeline']} has begun. The person sees how it goes, and answers what it asks.",
        outside=(f"the run of {given['pipeline']}",),  # what it makes is told in every prompt from now on
    )
