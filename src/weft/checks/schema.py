"""A value against a JSON Schema: the one way a fault of shape becomes a finding, for artifacts and for answers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import jsonschema_rs

from weft.protocol.errors import Finding

FINDINGS_LIMIT: Final = 20
_KEPT: Final = 256
_VALIDATORS: dict[str, Any] = {}
"""By the schema's hash: building one costs far more than using it."""


def schema_findings(artifact: str, value: Any, schema: Mapping[str, Any], schema_hash: str) -> list[Finding]:
    validator = _VALIDATORS.get(schema_hash)
    if validator is None:
        if len(_VALIDATORS) >= _KEPT:
            _VALIDATORS.clear()
        validator = _VALIDATORS[schema_hash] = jsonschema_rs.validator_for(dict(schema))
    errors = list(validator.iter_errors(value))
    findings = [_finding(artifact, error) for error in errors[:FINDINGS_LIMIT]]
    if len(errors) > FINDINGS_LIMIT:
        findings.append(Finding(artifact, "", f"and {len(errors) - FINDINGS_LIMIT} more of the same kind"))
    return findings


def _finding(artifact: str, error: Any) -> Finding:
    at = "".join(f"/{part}" for part in error.instance_path)
    rule = [str(part) for part in error.schema_path]
    keyword = rule[-1] if rule else ""
    message = error.message if len(error.message) <= 300 else error.message[:300] + "…"
    return Finding(artifact, at, message, _HINTS.get(keyword, ""))


_HINTS: Final = {
    "required": "add the key that is missing",
    "additionalProperties": "remove the key or correct its spelling",
    "unevaluatedProperties": "remove the key or correct its spelling",
    "type": "use a value of the type the schema names",
    "enum": "use one of the values listed",
    "const": "use exactly that value",
    "minLength": "write more",
    "maxLength": "write less",
    "minItems": "add entries",
    "maxItems": "leave entries out",
    "uniqueItems": "remove the repetition",
    "pattern": "write it in the form the pattern asks for",
    "minimum": "use a larger number",
    "maximum": "use a smaller number",
    "exclusiveMinimum": "use a larger number",
    "exclusiveMaximum": "use a smaller number",
    "format": "write it in that format",
}
