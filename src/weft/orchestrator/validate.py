"""From what a step returned to artifacts that may count: written out, checked against the schema, then the checks.

Every fault is a finding with its place, what is wrong and how to put it right, because it goes back to whoever makes
the next attempt. Checks run only on what fits its schema: their faults would be noise before.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import field, replace
from typing import Any, Final

import weft.checks
from weft.checks import CheckCall, CheckInput
from weft.checks.schema import schema_findings
from weft.protocol.commands import Artifact
from weft.protocol.errors import Finding
from weft.protocol.hashes import hash_bytes
from weft.protocol.json_text import json_value
from weft.protocol.values import dataclass
from weft.redaction import REDACTOR
from weft.workspace.pipeline import Step


@dataclass(frozen=True, slots=True)
class Documents:
    """What checks may compare an artifact with: inputs by name, artifacts of required steps by file name."""

    texts: Mapping[str, Any]
    parameters: Mapping[str, Any]
    plain: Mapping[str, str] = field(default_factory=dict)
    """Inputs without what they say of themselves, as steps read them: for a pack's own checks."""


def is_json(artifact: str) -> bool:
    return artifact.endswith(".json")


def write_out(step: Step, value: Any) -> tuple[list[Artifact], list[Finding]]:
    """The bytes of each artifact from what the step's code returned, which knows them by its own pipeline's names."""
    value = REDACTOR.value(value)
    own = step.own.artifacts
    if len(own) == 1:
        values: Any = {step.artifacts[0]: value}
    elif isinstance(value, Mapping):
        outer = dict(zip(own, step.artifacts, strict=True))
        values = {outer.get(name, name): one for name, one in value.items()}
    else:
        names = ", ".join(own)
        return [], [Finding(step.artifacts[0], "", f"the step makes {names} but returned one value", _ONE_EACH)]
    extra = sorted(str(name) for name in values.keys() - {*step.artifacts})
    findings = [Finding(name, "", "is not an artifact of this step", _ONE_EACH) for name in extra]
    findings += [Finding(name, "", "was not made", _ONE_EACH) for name in step.artifacts if name not in values]
    made: list[Artifact] = []
    for name in step.artifacts:
        if name in values:
            data = _bytes(name, values[name])
            if isinstance(data, Finding):
                findings.append(data)
            else:
                made.append(Artifact(name, data, hash_bytes(data)))
    return made, findings


_ONE_EACH: Final = "return a mapping from artifact name to value"


def _bytes(name: str, value: Any) -> bytes | Finding:
    if not is_json(name):
        if isinstance(value, str):
            return value.encode("utf-8", "replace")
        return Finding(name, "", f"must be text, but the step returned {type(value).__name__}", "return a string")
    try:
        return json.dumps(value, ensure_ascii=False, indent=2, allow_nan=False).encode() + b"\n"
    except UnicodeEncodeError:
        return Finding(name, "", "holds half of a surrogate pair, which is not text", "check how the text was cut")
    except (TypeError, ValueError) as error:
        return Finding(name, "", f"can't be written as JSON: {error}", "return only JSON values")


def parse(name: str, data: bytes) -> tuple[Any, Finding | None]:
    """An artifact's value from its bytes: parsed JSON, or text."""
    try:
        text = data.decode()
    except UnicodeDecodeError as error:
        return None, Finding(name, "", f"is not UTF-8 text (byte {error.start})")
    if not is_json(name):
        return text, None
    try:
        return json_value(text), None
    except ValueError as error:
        what = "is empty" if not text.strip() else f"is not JSON: {error}"
        return None, Finding(name, "", what)


def validate(step: Step, name: str, value: Any, documents: Documents) -> list[Finding]:
    """Schema, then the built-in checks. A pack's own checks run where its code runs."""
    schema = step.schemas.get(name)
    findings = schema_findings(name, value, schema.schema, schema.hash) if schema else []
    if findings:
        return [replace(found, kind="schema") for found in findings]
    if not step.checks:
        return []
    given = CheckInput(artifact=name, value=value, documents=documents.texts, parameters=documents.parameters)
    for artifact, call in step.checks:
        if artifact != name:
            continue
        missing = [document for document in call.reads if document not in documents.texts]
        if missing:
            findings.append(
                Finding(name, "", f"{call.name} can't check it without {', '.join(missing)}", _GIVE_IT, kind=call.name)
            )
        elif not is_code(call):
            findings += (replace(found, kind=call.name) for found in weft.checks.run_check(call, given))
    return findings


_GIVE_IT: Final = "give that input, or make the check's step do without it"


def is_code(call: CheckCall) -> bool:
    return ":" in call.name


def fault_of(step: Step, name: str, data: bytes, documents: Documents) -> str:
    """Why an artifact on the disk would not pass now, in one line; "" when it would."""
    value, broken = parse(name, data)
    found: Sequence[Finding] = [broken] if broken else validate(step, name, value, documents)
    return "" if not found else f"{found[0].at + ': ' if found[0].at else ''}{found[0].message}"
