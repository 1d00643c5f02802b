"""A person's word against the verdict on a claim. Pure.

A step says where its verdicts stand (`verdicts`); there every claim has an `id`, its `text` and its `state`. What a
person says is an event of its own and one more input of that step, which puts it in the place of its verdict for as
long as that is what it was. So the artifacts, and all that is made of them, show it, with who said it and why.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from weft.checks.paths import ValuePlace, find, parse_path
from weft.protocol.commands import OverruleVerdict
from weft.protocol.errors import UserError
from weft.protocol.events import ClaimVerdict, VerdictOverruled
from weft.protocol.values import dataclass
from weft.workspace.flow import CLAIM_VERDICTS
from weft.workspace.pipeline import Pipeline


@dataclass(frozen=True, slots=True)
class ClaimOnRecord:
    """A claim as an artifact has it."""

    step: str
    claim: str
    text: str
    verdict: ClaimVerdict
    was: ClaimVerdict
    """What the step itself says, when the verdict is a person's."""
    why: str = ""
    by: str = ""
    """The person, when the verdict is theirs."""
    judged_by: str = ""
    """The model or person that judged it, when it is judged."""


def claims_on_record(pipeline: Pipeline, artifacts: Mapping[str, Any]) -> Iterator[ClaimOnRecord]:
    """All that a person could overrule. `artifacts`: the values of those that are there."""
    for step in pipeline.steps.values():
        where = step.verdicts
        if where is None or where.artifact not in artifacts:
            continue
        for place in find(parse_path(where.at), artifacts[where.artifact]):
            if isinstance(place, ValuePlace) and isinstance(place.value, Mapping):
                found = _claim(step.name, place.value)
                if found is not None:
                    yield found


def _claim(step: str, value: Mapping[str, Any]) -> ClaimOnRecord | None:
    verdict, said = value.get("state"), value.get("overruled") or {}
    if verdict not in CLAIM_VERDICTS or not value.get("id"):
        return None  # older drafts have sentences without a verdict, the writer's own
    was = said.get("was", verdict)
    why = said.get("why") or value.get("reason") or ""
    return ClaimOnRecord(
        step=step,
        claim=str(value["id"]),
        text=str(value.get("text", "")),
        verdict=verdict,
        was=was,
        why=str(why),
        by=said.get("by", ""),
        judged_by=str(value.get("judged_by") or ""),
    )


def overrule(command: OverruleVerdict, claims: Sequence[ClaimOnRecord]) -> VerdictOverruled:
    """The event, or a UserError that says why not."""
    if not command.why.strip():
        raise UserError("why is it so?", hint="give the reason: it stays beside the verdict")
    if not claims:
        raise UserError("this session has no verdicts on claims", hint="they are made by research, ask and draft")
    found = [one for one in claims if command.step in ("", one.step)]
    exact = [one for one in found if one.claim == command.claim]
    found = exact or [one for one in found if command.claim and one.claim.startswith(command.claim)]
    if len({(one.step, one.claim) for one in found}) != 1:
        what = "there is no claim" if not found else "more than one claim begins with"
        raise UserError(f"{what} {command.claim!r}", hint="weft overrule SESSION lists the claims with their ids")
    one = found[0]
    if command.verdict == "quoted" and one.was != "quoted":
        raise UserError("quoted is what code finds in a passage", hint="say judged: you have judged it yourself")
    if command.verdict == one.verdict and not one.by:
        raise UserError(f"the verdict is {one.verdict.replace('_', ' ')} already")
    return VerdictOverruled(
        step=one.step,
        claim=one.claim,
        text=one.text,
        was=one.was,
        verdict=command.verdict,
        why=command.why.strip(),
    )
