"""A value against a JSON Schema: the one way a fault of shape becomes a finding, for artifacts and for answers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

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
        import jsonschema_rs  # a run whose steps are all made validates nothing

        validator = _VALIDATORS[schema_hash] = jsonschema_rs.validator_for(dict(schema))
    errors = list(validator.iter_errors(value))
    findings = [_finding(artifact, error) for error in _spread(errors, FINDINGS_LIMIT)]
    if len(errors) > FINDINGS_LIMIT:
        more = f"and {len(errors) - FINDINGS_LIMIT} more that do not fit the schema"
        findings.append(Finding(artifact, "", more, "correct these first; the others are told next time"))
    return findings


def _spread(errors: Sequence[Any], most: int) -> list[Any]:
    """As many as allowed, in their order, from every part of it: fifty bad quotes must not hide a bad date."""
    seen: dict[Any, int] = {}
    ranks = []
    for error in errors:
        part = error.instance_path[0] if error.instance_path else None
        seen[part] = seen.get(part, -1) + 1
        ranks.append(seen[part])
    chosen = sorted(sorted(range(len(errors)), key=lambda index: ranks[index])[:most])
    return [errors[index] for index in chosen]


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
