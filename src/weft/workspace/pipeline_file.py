"""The pipeline file as people write it. The descriptions here are the reference, the editors' schema and the hints.

What one key alone can't tell (one of two keys, names that must exist) is in step_rules.py and pipeline_rules.py.
"""

from __future__ import annotations

from typing import Annotated, Any, Final, Literal

from pydantic import Field

from weft.protocol.ids import NAME
from weft.workspace.fields import (
    CheckEntry,
    Given,
    Moment,
    Number,
    OptionalNames,
    OptionalText,
    SchemaFiles,
    Seconds,
    Share,
    Strict,
    Text,
    Version,
)
from weft.workspace.flow_file import (
    BudgetEntry,
    ConditionEntry,
    DepthModes,
    GateEntry,
    LoopEntry,
    RepairEntry,
    RetryEntry,
    VerdictsEntry,
)
from weft.workspace.pipeline import InputKind
from weft.workspace.rule_entry import StepRuleEntry

DEFAULT_ATTEMPTS: Final = 3
DEFAULT_TIMEOUT: Final = 600.0
NAMES_SCHEMA: Final[dict[str, Any]] = {"propertyNames": {"pattern": f"^{NAME.pattern.removesuffix(chr(92) + 'Z')}$"}}


class InputEntry(Strict):
    """A document that a person gives to the pipeline."""

    description: str = Field(default="", description="What the input is, for the person who gives it")
    required: bool = Field(default=True, description="Whether a run needs it: true or false")
    kind: InputKind = Field(
        default="document",
        description="document: any format, read and brought into one normal form; text: UTF-8 text, taken "
        "as it is; image: a picture or a PDF that a model looks at",
    )


class ParameterEntry(Strict):
    """A value that a person may choose for a run."""

    type: Literal["integer", "number", "string", "boolean", "date", "list", "object", "file", "folder", "secret"] = (
        Field(
            description="The kind of value; a file (steps read its text), a folder and a secret are named by a person"
        )
    )
    default: Any = Field(
        default=None, description="The value when a person gives none; a file, a folder and a secret have none"
    )
    description: str = Field(default="", description="What the parameter changes")
    minimum: Annotated[Number | None, Given] = Field(
        default=None, description="The smallest good value of an integer or number"
    )
    maximum: Annotated[Number | None, Given] = Field(
        default=None, description="The largest good value of an integer or number"
    )
    choices: Annotated[Annotated[list[Any], Field(min_length=1)] | None, Given] = Field(
        default=None, description="The list of the good values; of a list, of each of its values"
    )


class EachEntry(Strict):
    """One call for each value at a place of an artifact."""

    artifact: Text = Field(description="The artifact of a required step")
    at: str = Field(
        default="", description="The place in it, such as queries[*]; at most 200 values, a map has no limit"
    )
    as_: Text = Field(alias="as", description="The key of the tool's input that the value is given as")


class MapEntry(Strict):
    """A step made item by item: what its items are, how many at once, and what comes of those that fail."""

    artifact: OptionalText = Field(default=None, description="Over the values at a place of this artifact")
    at: str = Field(default="", description="The place in it, such as ideas[*]")
    step: OptionalText = Field(default=None, description="Over the items of this step, which has a map itself")
    folder: OptionalText = Field(default=None, description="Over the files of a folder: a parameter of the type folder")
    files: OptionalText = Field(default=None, description="Which of its files: a pattern, *.md or **/*.pdf; else all")
    rows: OptionalText = Field(default=None, description="Over the rows of this input, a CSV with a line of names")
    pages: OptionalText = Field(default=None, description="Over the pages of this input, a document that has pages")
    as_: Text = Field(default="item", alias="as", description="What each of them is called for what makes it")
    key: OptionalText = Field(default=None, description="The place in each that names it, such as id")
    at_once: int = Field(default=4, ge=1, le=64, description="How many are made side by side: 1 to 64")
    failed: Literal["stop", "keep", "skip"] = Field(
        default="stop",
        description="What an item that fails for good leads to: stop, the step fails; keep, it is told in its place; "
        "skip, it is left out",
    )
    most_failed: Annotated[Share | None, Given] = Field(
        default=None, description='How many may fail before the step does all the same: a number, or a share "10%"'
    )


class StepEntry(Strict):
    """A step: what it makes, what makes it, what it needs, and how its result is judged."""

    artifact: OptionalText = Field(default=None, description="The file the step makes, such as summary.json")
    artifacts: OptionalNames = Field(default=None, description="The files the step makes, when there are several")
    code: OptionalText = Field(
        default=None, description="The function that makes them: a file in code/ and a function, f.py:make"
    )
    agent: OptionalText = Field(
        default=None, description="The agent that makes them: the name of a file in .claude/agents/"
    )
    tool: OptionalText = Field(
        default=None, description="The tool whose calls make it, without a model: its name, as in weft tools"
    )
    pipeline: OptionalText = Field(
        default=None, description="The pipeline that this step is: the name of a file in pipelines/"
    )
    requires: list[Text] = Field(default=[], description="The steps whose artifacts this step reads")
    inputs: OptionalNames = Field(
        default=None, description="The pipeline's inputs that this step reads; all when not given"
    )
    parameters: OptionalNames = Field(
        default=None, description="The pipeline's parameters that this step reads; all when not given"
    )
    profile: list[Text] = Field(
        default=[], description="The parts of profile.json that this step reads, such as style.tone"
    )
    skills: list[Text] = Field(default=[], description="Skills given to the step besides those of its agent")
    model: OptionalText = Field(
        default=None, description="The model of this step; else the agent's, else the workspace's"
    )
    schema_: Annotated[SchemaFiles | None, Given] = Field(
        default=None,
        alias="schema",
        description="The JSON Schema of the artifact: a file in schemas/; for several artifacts a mapping to files",
    )
    checks: list[CheckEntry] = Field(
        default=[], description="Tests of the artifacts beyond their schema: a list of checks, each with its options"
    )
    attempts: int = Field(default=DEFAULT_ATTEMPTS, ge=1, le=10, description="How often the step is tried: 1 to 10")
    retry: Annotated[RetryEntry | None, Given] = Field(
        default=None, description="The wait before another try, and after which failures: delay, factor, most, on"
    )
    timeout: Seconds = Field(
        default=DEFAULT_TIMEOUT, description='The longest one try may take: seconds, or "90s", "5m", "1h"'
    )
    final: bool = Field(False, description="True for the one step whose artifact the pipeline is for")
    wait: Annotated[Seconds | None, Given] = Field(
        default=None, description='How long it waits before it is made, once all is there: seconds, "90s", "2h", "3d"'
    )
    until: Annotated[Moment | None, Given] = Field(
        default=None, description="When it is made at the earliest: a date and a time, such as 2026-12-01T09:00"
    )
    when: Annotated[ConditionEntry | None, Given] = Field(
        default=None,
        description="The step is passed over unless this holds: a condition on parameters and artifacts it requires",
    )
    else_: OptionalText = Field(
        default=None,
        alias="else",
        description="The step with a 'when' in whose place this one is made, when that does not hold",
    )
    on_failure: bool = Field(
        default=False, description="True: made only when a step has failed for good, after all that can be made is"
    )
    finally_: bool = Field(
        default=False, alias="finally", description="True: made last, whether the run succeeds or a step has failed"
    )
    gate: Annotated[GateEntry | None, Given] = Field(
        default=None,
        description="After the step, or before it, the run waits for a person: message, show, form, when, choices, "
        "before, within",
    )
    loop: Annotated[LoopEntry | None, Given] = Field(
        default=None, description="After the step the run may go back: to, when, at_most, feedback"
    )
    replies: list[Text] = Field(
        default=[], description="Steps at whose gates a person's replies are given to this step too"
    )
    verdicts: Annotated[VerdictsEntry | None, Given] = Field(
        default=None,
        description="Where its verdicts on claims stand, each of which a person may overrule: artifact, at",
    )
    prior: list[Text] = Field(
        default=[],
        description="Artifacts whose results of the session's earlier finished runs, on other inputs, the step reads",
    )
    budget: Annotated[BudgetEntry | None, Given] = Field(
        default=None, description="The most this step may spend in a run: usd, tokens, minutes"
    )
    executor: Annotated[Literal["model", "agent"] | None, Given] = Field(
        default=None,
        description="How an agent makes it: model, one call (when not given), or agent, a conversation with tools",
    )
    tools: OptionalNames = Field(
        default=None, description="The tools the agent may use in this step; all that it names when not given"
    )
    sources: OptionalNames = Field(
        default=None, description="The sources whose tools the agent may use in this step; all that it names otherwise"
    )
    folder: OptionalText = Field(
        default=None, description="The folder that the tools work in and can't leave: a parameter of the type folder"
    )
    allow: list[StepRuleEntry] = Field(
        default=[], description="What the tools of this step may do besides: rules as in permissions.yaml"
    )
    turns: Annotated[int | None, Given] = Field(
        default=None, ge=2, le=500, description="How often its agent may ask the model in one try: 2 to 500, else 40"
    )
    with_: Annotated[dict[str, Any] | None, Given] = Field(
        default=None,
        alias="with",
        description="The tool's input, or what the pipeline is given: values, or where one is from: {parameter: …}, "
        "{input: …}, {artifact: …, at: …}",
    )
    each: Annotated[EachEntry | None, Given] = Field(
        default=None,
        description="The older form of map for a tool: one call for each value at a place of an artifact",
    )
    map_: Annotated[MapEntry | None, Given] = Field(
        default=None,
        alias="map",
        description="The step is made for each item by itself, then gathered: over what, as, key, at_once, failed",
    )
    secrets: list[Text] = Field(
        default=[], description="The secrets that its code is given, by the names that `weft secrets list` shows"
    )
    network: list[Text] = Field(
        default=[], description="The hosts that its code may reach, such as api.example.com; none when not given"
    )
    resources: list[Text] = Field(
        default=[],
        description="What a try of it uses, by its name under [limits] of config.toml: it waits for its turn",
    )
    cache: Annotated[bool | None, Given] = Field(
        default=None,
        description="Whether a result that another session has of the same inputs is taken over; else only a model's",
    )
    hears_rounds: bool = Field(
        default=True,
        description="Whether it is told the round it is in; if not, it is made again only where what it reads is new",
    )


class PipelineFile(Strict):
    """A pipeline: named steps, what each makes and what it requires."""

    name: Text = Field(description="The pipeline's name: the same as the file's name without .yaml")
    description: Text = Field(description="What the pipeline makes, in one sentence")
    version: Version = Field(default="1", description="The version of the pipeline: a whole number or text")
    inputs: dict[str, InputEntry] = Field(
        default={"source": InputEntry()},
        description="The documents a run is given, by name; {} for none; one called 'source' when not given",
        json_schema_extra=NAMES_SCHEMA,
    )
    parameters: dict[str, ParameterEntry] = Field(
        default={}, description="The values a person may choose for a run, by name", json_schema_extra=NAMES_SCHEMA
    )
    depth: Annotated[DepthModes | None, Given] = Field(
        default=None,
        description="Named modes, each with the parameters it sets; a person chooses one with --depth",
    )
    budget: Annotated[BudgetEntry | None, Given] = Field(
        default=None, description="The most a run may spend: usd, tokens, minutes"
    )
    timeout: Annotated[Seconds | None, Given] = Field(
        default=None, description='The longest a run may take from its start, waits and gates included: "90m", "3d"'
    )
    repair: list[RepairEntry] = Field(
        default=[], description="Units of steps that are made again while their verifier says failed"
    )
    steps: dict[str, StepEntry] = Field(
        description="The steps by name, at least one", json_schema_extra={**NAMES_SCHEMA, "minProperties": 1}
    )


def pipeline_json_schema() -> dict[str, Any]:
    """The format as a JSON Schema, for editors. `outputs` is the older word for `steps`: exactly one of them."""
    schema = PipelineFile.model_json_schema(by_alias=True)
    for model in (schema, *schema["$defs"].values()):
        for key, described in model["properties"].items():
            model["properties"][key] = _without_null(described)
    properties = schema["properties"]
    properties["outputs"] = {**properties["steps"], "description": "The older word for steps"}
    schema["required"].remove("steps")
    schema["oneOf"] = [{"required": ["steps"]}, {"required": ["outputs"]}]
    folder = {"properties": {"type": {"enum": ["folder", "secret"]}}}
    schema["$defs"]["ParameterEntry"] |= {
        "if": folder,
        "then": {"not": {"required": ["default"]}},
        "else": {"required": ["default"]},
    }
    schema["$defs"]["StepEntry"]["allOf"] = [
        {"oneOf": [{"required": [key]} for key in ("artifact", "artifacts", "pipeline")]},
        {"oneOf": [{"required": [key]} for key in ("code", "agent", "tool", "pipeline")]},
    ]
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **schema, "title": "Weft pipeline"}


def _without_null(described: dict[str, Any]) -> dict[str, Any]:
    """None is how a model says "not given"; in the file a key without a value is a fault."""
    kept = {key: value for key, value in described.items() if key != "title" and (key, value) != ("default", None)}
    options = [option for option in kept.pop("anyOf", ()) if option != {"type": "null"}]
    if len(options) == 1:
        return {**options[0], **kept}
    return {**kept, "anyOf": options} if options else kept
