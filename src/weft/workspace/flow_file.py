"""What a pipeline file says of how a run flows: `when`, `gate`, `repair`, `loop`, `depth`, `budget`."""

from __future__ import annotations

from typing import Annotated, Any, Final, Literal

from pydantic import Field, PlainValidator, WithJsonSchema

from weft.workspace.document import describe
from weft.workspace.fields import Given, Number, OptionalText, Seconds, Strict, Text, fault

RetryKind = Literal["error", "rejected", "timeout", "crashed"]
OPERATORS: Final = ("is", "is_not", "one_of", "above", "below", "at_least", "at_most", "exists")
JOINS: Final = ("all", "any", "none")


class BudgetEntry(Strict):
    """The most that may be spent."""

    usd: Annotated[Number | None, Given] = Field(default=None, description="US dollars, by the price of each model")
    tokens: Annotated[int | None, Given] = Field(default=None, description="Tokens read and written by models", ge=1)
    minutes: Annotated[Number | None, Given] = Field(default=None, description="Minutes of work, over all attempts")


class ShownEntry(Strict):
    at: str = Field(default="", description="The place in the artifact, such as sections[*].title")
    label: OptionalText = Field(default=None, description="What stands before it; the place itself when not given")
    artifact: OptionalText = Field(default=None, description="Which artifact, in a step that makes several")


class ChoiceEntry(Strict):
    label: Text = Field(description="What the person reads")
    does: OptionalText = Field(default=None, description="What it does: proceed, amend or cancel")
    set: dict[str, Any] = Field(default={}, description="Parameters that choosing it sets, with their values")


def _shown(value: Any) -> dict[str, Any]:
    if isinstance(value, str) and value:
        return {"at": value}
    if isinstance(value, dict):
        return value
    raise fault(f"must be a place such as title, or a mapping with at and label, not {describe(value)}")


def _choices(value: Any) -> dict[str, Any]:
    if not isinstance(value, dict) or not value:
        raise fault(f"must be a mapping of ids to labels, not {describe(value)}", "write {proceed: Go on}")
    return {str(key): {"label": entry} if isinstance(entry, str) else entry for key, entry in value.items()}


def _condition(value: Any) -> dict[str, Any]:
    if not isinstance(value, dict) or not value:
        hint = "write {parameter: web, is: true}, or {artifact: plan.json, at: clarity, below: 0.7}"
        what = "is empty" if value == {} else f"must be a condition, not {describe(value)}"
        raise fault(what, hint)
    return dict(value)


def _rounds(value: Any) -> Any:
    if isinstance(value, str) and value:
        return value
    if isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= 100:
        return value
    raise fault(f"must be a number from 0 to 100, or the name of a parameter, not {describe(value)}")


def _modes(value: Any) -> dict[str, dict[str, Any]]:
    if not isinstance(value, dict) or not value or not all(isinstance(mode, dict) for mode in value.values()):
        raise fault(
            "must be a mapping of modes, each with the parameters it sets", "write {quick: {sources: 3}, deep: {…}}"
        )
    return {str(name): dict(mode) for name, mode in value.items()}


ConditionEntry = Annotated[dict[str, Any], PlainValidator(_condition), WithJsonSchema({"type": "object"})]
Rounds = Annotated[
    int | str, PlainValidator(_rounds), WithJsonSchema({"anyOf": [{"type": "integer"}, {"type": "string"}]})
]
ShownPlace = Annotated[
    dict[str, Any], PlainValidator(_shown), WithJsonSchema({"anyOf": [{"type": "string"}, {"type": "object"}]})
]
Choices = Annotated[dict[str, Any], PlainValidator(_choices), WithJsonSchema({"type": "object"})]
DepthModes = Annotated[
    dict[str, dict[str, Any]],
    PlainValidator(_modes),
    WithJsonSchema({"type": "object", "additionalProperties": {"type": "object"}, "minProperties": 1}),
]


class GateEntry(Strict):
    """Where the run waits for a person, after the step."""

    message: str = Field(default="", description="The question, for the person who replies")
    show: list[ShownPlace] = Field(default=[], description="What of the artifact is shown: places, each with a label")
    when: Annotated[ConditionEntry | None, Given] = Field(
        default=None, description="Only then; always when not given: a condition on parameters and artifacts"
    )
    form: list[Text] = Field(
        default=[], description="Parameters that the person is asked for here, in this order; later steps read them"
    )
    auto: bool = Field(default=False, description="True: show it and go on without a reply")
    choices: Annotated[Choices | None, Given] = Field(
        default=None, description="What a person may choose, by id: a label, or label, does and set; in this order"
    )
    before: bool = Field(
        default=False, description="True: it stands before the step, which is made when a person lets it pass"
    )
    assignee: OptionalText = Field(default=None, description="Who should reply, for those who see it")
    within: Annotated[Seconds | None, Given] = Field(
        default=None, description='How long a reply is awaited: seconds, "90m", "2h", "3d"; as long as it takes else'
    )
    then: OptionalText = Field(
        default=None, description="What happens then: remind (when not given), or the id of the choice that is made"
    )


class VerdictsEntry(Strict):
    """Where a step's verdicts on claims stand."""

    artifact: OptionalText = Field(default=None, description="The artifact; the step's first .json when not given")
    at: Text = Field(description="The place of the claims in it, such as sentences[*]: each has id, text and state")


class RetryEntry(Strict):
    """How long a step waits before it is tried again, and after which failures it is."""

    delay: Seconds = Field(default=1.0, description='The wait before the second try: seconds, or "90s", "5m", "1h"')
    factor: Number = Field(default=2, description="What the wait grows by with every further try; 1 for none")
    most: Seconds = Field(default=300.0, description="The longest wait, in the same way")
    on: Annotated[list[RetryKind] | None, Given] = Field(
        default=None, description="The failures it is tried again after: error, rejected, timeout, crashed; else all"
    )


class LoopEntry(Strict):
    """Going back to an earlier step."""

    to: Text = Field(description="The step to go back to; it, and all up to this one, are made again")
    when: ConditionEntry = Field(description="What makes it go back: a condition on parameters and artifacts")
    at_most: Rounds = Field(description="How often: a number, or the name of a parameter")
    feedback: OptionalText = Field(
        default=None, description="The place in this step's artifact that the steps made again are given"
    )


class RepairEntry(Strict):
    """A unit of steps that is made again while its verifier says that it failed."""

    steps: list[Text] = Field(description="The steps of the unit; the last one is the verifier", min_length=2)
    rounds: Rounds = Field(description="How often it is made again at most: a number, or the name of a parameter")
    verdict: Text = Field(
        default="verdict",
        description="The place in the verifier's artifact that says passed, failed or not_checked (or true, false)",
    )
    counts: OptionalText = Field(
        default=None, description="The place in it with how many claims are quoted, judged, contradicted, not_checked"
    )
    feedback: Text = Field(
        default="feedback", description="The place in it with what every step of the unit is given in the next round"
    )
