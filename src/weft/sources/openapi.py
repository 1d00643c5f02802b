"""From an OpenAPI document (3.x and Swagger 2.0, JSON or YAML) to tools: one for each operation, with the schema of all
it takes. Pure.

What it refers to inside itself is put in place, as deep as a schema can hold; what stands elsewhere is not fetched. An
operation that can't be described is left out and named.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import field
from typing import Any, Final, Literal
from urllib.parse import unquote, urljoin

from weft.protocol.values import dataclass
from weft.sources.listing import OfferedTool
from weft.sources.schemas import schema_fault

METHODS: Final = ("get", "head", "post", "put", "patch", "delete")
BODY: Final = "body"
MOST: Final = 200
DEPTHS: Final = (12, 7, 5, 3)
"""How deep what is referred to is put in place: less when it would be too much."""
MOST_PARTS: Final = 2500
"""Of the schema of one operation."""
FORM: Final = "application/x-www-form-urlencoded"
MULTIPART: Final = "multipart/form-data"
_NAMED: Final = frozenset({"properties", "patternProperties", "definitions", "$defs", "dependentSchemas"})
"""Keys of a schema whose values have names of their own as keys."""
_NOT_TAKEN: Final = frozenset({"example", "examples", "xml", "discriminator", "externalDocs", "deprecated", "readOnly"})
Where = Literal["path", "query", "header", "body"]
Style = Literal["repeated", "comma", "space", "pipe", "keys", "brackets", "json"]
"""How a list or an object is written where only texts go."""


@dataclass(frozen=True, slots=True)
class Place:
    """Where the value of a parameter goes, and under which name."""

    where: Where
    name: str
    style: Style = "repeated"


@dataclass(frozen=True, slots=True, kw_only=True)
class Operation:
    name: str
    method: str
    path: str
    description: str = ""
    places: Mapping[str, Place] = field(default_factory=dict)
    schema: Mapping[str, Any] = field(default_factory=dict)
    media_type: str = "application/json"

    @property
    def tool(self) -> OfferedTool:
        return OfferedTool(
            name=self.name,
            description=self.description or f"{self.method.upper()} {self.path}",
            input_schema=self.schema,
            effect="network",
            repeatable=self.method in ("get", "head", "put", "delete"),
        )


def operations(document: Any, only: tuple[str, ...] = ()) -> tuple[dict[str, Operation], dict[str, str]]:
    """By name; and what was left out, with the reason."""
    found: dict[str, Operation] = {}
    left_out: dict[str, str] = {}
    paths = document.get("paths") if isinstance(document, Mapping) else None
    for path, method, shared, entry in _entries(paths, document):
        name = _name(entry, method, path)
        if only and name not in only:
            continue
        if name in found:
            name = _name({}, method, path)
        if name in found:
            left_out[f"{name} ({method} {path})"] = "another operation has this name"
            continue
        if len(found) >= MOST:
            left_out[name] = f"there are more than {MOST} operations: name those you want under 'operations'"
            continue
        given = [*shared, *_list(entry.get("parameters"))]
        made = _operation(name, method, path, given, entry, document)
        if fault := schema_fault(dict(made.schema)):
            left_out[name] = fault
        else:
            found[name] = made
    return found, left_out


def addresses(document: Any, read_from: str = "") -> list[str]:
    """Where the API says it is, whole addresses only; `read_from`: where the document itself was."""
    found = []
    for server in _list(_mapping(document).get("servers")):
        url, variables = str(_mapping(server).get("url", "")), _mapping(_mapping(server).get("variables"))
        for name, variable in variables.items():
            url = url.replace(f"{{{name}}}", str(_mapping(variable).get("default", "")))
        found.append(url)
    if isinstance(_mapping(document).get("host"), str):  # Swagger 2.0
        schemes = [str(one) for one in _list(document.get("schemes"))]
        scheme = "https" if "https" in schemes or not schemes else schemes[0]
        found.append(f"{scheme}://{document['host']}{document.get('basePath') or ''}")
    elif isinstance(_mapping(document).get("basePath"), str):
        found.append(document["basePath"])
    whole = [urljoin(read_from, url) for url in found or ["/"]]
    return [url for url in whole if url.startswith(("http://", "https://"))]


def sign_in_of(document: Any) -> dict[str, Any] | None:
    """How the API knows who asks, in the words of a config; None when it does not ask, or not in a way we have."""
    document = _mapping(document)
    schemes = _mapping(_mapping(document.get("components")).get("securitySchemes")) or _mapping(
        document.get("securityDefinitions")
    )
    wanted = _list(document.get("security"))
    if not wanted and "security" not in document:
        wanted = [
            one for *_, entry in _entries(document.get("paths"), document) for one in _list(entry.get("security"))
        ]
        wanted = wanted or [{name: []} for name in schemes]
    if any(_mapping(one) == {} for one in wanted):
        return None
    for one in wanted:
        for name, scopes in _mapping(one).items():
            if found := _auth_of(_mapping(schemes.get(name)), [str(scope) for scope in _list(scopes)]):
                return found
    return None


def _auth_of(scheme: Mapping[str, Any], scopes: list[str]) -> dict[str, Any] | None:
    kind, word = scheme.get("type"), str(scheme.get("scheme", "")).lower()
    if kind == "basic" or (kind == "http" and word == "basic"):
        return {"type": "basic"}
    if kind == "http" and word == "bearer":
        return {"type": "bearer"}
    if kind == "apiKey" and scheme.get("in") in ("header", "query") and isinstance(scheme.get("name"), str):
        return {"type": scheme["in"], scheme["in"]: scheme["name"]}
    if kind == "oauth2":
        flow = _mapping(_mapping(scheme.get("flows")).get("authorizationCode")) or scheme
        urls = {"authorization_url": flow.get("authorizationUrl"), "token_url": flow.get("tokenUrl")}
        if all(isinstance(url, str) and url.startswith(("http://", "https://")) for url in urls.values()):
            return {"type": "oauth", **urls, **({"scopes": scopes} if scopes else {})}
    return None


def _entries(paths: Any, document: Any) -> Iterator[tuple[str, str, list[Any], Mapping[str, Any]]]:
    for path, item in paths.items() if isinstance(paths, Mapping) else ():
        if isinstance(item, Mapping) and isinstance(item.get("$ref"), str):
            item = _found(item["$ref"], document)
        if not isinstance(item, Mapping):
            continue
        for method in METHODS:
            entry = item.get(method)
            if isinstance(entry, Mapping):
                yield str(path), method, _list(item.get("parameters")), entry


def _name(entry: Mapping[str, Any], method: str, path: str) -> str:
    said = entry.get("operationId")
    words = said if isinstance(said, str) and said else f"{method}_{path}"
    return re.sub(r"[^A-Za-z0-9-]+", "_", words).strip("_")[:48] or method


def _operation(
    name: str, method: str, path: str, parameters: list[Any], entry: Mapping[str, Any], document: Any
) -> Operation:
    """As deep as a schema can hold."""
    for depth in DEPTHS[:-1]:
        reading = _Reading(document, depth)
        made = _read_operation(name, method, path, parameters, entry, reading)
        if reading.parts <= MOST_PARTS:
            return made
    return _read_operation(name, method, path, parameters, entry, _Reading(document, DEPTHS[-1]))


def _read_operation(
    name: str, method: str, path: str, parameters: list[Any], entry: Mapping[str, Any], reading: _Reading
) -> Operation:
    made = _Making()
    form: dict[str, Any] = {}
    form_required: list[str] = []
    body, media_type, body_required = reading.body(entry.get("requestBody"))
    for one in map(_mapping, map(reading.whole, parameters)):
        said, where = one.get("name"), one.get("in")
        if not isinstance(said, str):
            continue
        schema = _schema_of(one)
        if where == "body":  # Swagger 2.0
            body, media_type = schema, _consumes(entry, reading.document) or "application/json"
            body_required = bool(one.get("required"))
        elif where == "formData":
            is_file = schema.get("type") == "file"
            form[said] = {"type": "string", "format": "binary"} if is_file else schema
            form_required += [said] if one.get("required") else []
            media_type = MULTIPART if is_file or media_type == MULTIPART else _consumes(entry, reading.document) or FORM
        elif where in ("path", "query", "header") and said.lower() not in ("accept", "content-type", "authorization"):
            made.add(said, where, schema, _style(one, where), required=bool(one.get("required")) or where == "path")
    for named in re.findall(r"{([^{}]+)}", path):
        if named not in {place.name for place in made.places.values() if place.where == "path"}:
            made.add(named, "path", {"type": "string"}, "comma", required=True)  # it is needed, whoever forgot it
    if form:
        body = {"type": "object", "properties": form, "required": form_required}
        body_required = bool(form_required)
    if body is not None:
        made.add(BODY, "body", body, "json", required=body_required)
    said_of = [str(entry.get(key)) for key in ("summary", "description") if entry.get(key)]
    return Operation(
        name=name,
        method=method,
        path=path,
        description=(". ".join(said_of) + f" ({method.upper()} {path})").lstrip()[:2000],
        places=made.places,
        schema={
            "type": "object",
            "properties": made.properties,
            "required": made.required,
            "additionalProperties": False,
        },
        media_type=media_type,
    )


class _Making:
    """The parameters of one operation, each under a name of its own."""

    def __init__(self) -> None:
        self.properties: dict[str, Any] = {}
        self.required: list[str] = []
        self.places: dict[str, Place] = {}

    def add(self, name: str, where: Where, schema: Mapping[str, Any], style: Style, *, required: bool) -> None:
        key = name
        while key in self.places and (self.places[key].where, self.places[key].name) != (where, name):
            key = f"{where}_{key}"
        self.properties[key], self.places[key] = schema, Place(where, name, style)
        if required and key not in self.required:
            self.required.append(key)


def _schema_of(parameter: Mapping[str, Any]) -> dict[str, Any]:
    """Also as Swagger 2.0 has it, beside the name; and of a value that is JSON itself."""
    schema = parameter.get("schema")
    if not isinstance(schema, Mapping):
        content = _mapping(next(iter(_mapping(parameter.get("content")).values()), None))
        schema = content.get("schema")
    if not isinstance(schema, Mapping):
        taken = (
            "type",
            "items",
            "enum",
            "default",
            "minimum",
            "maximum",
            "minLength",
            "maxLength",
            "pattern",
            "format",
        )
        schema = {key: parameter[key] for key in taken if key in parameter} or {"type": "string"}
    about = str(parameter.get("description") or schema.get("description", ""))[:400]
    return {**schema, **({"description": about} if about else {})}


def _style(parameter: Mapping[str, Any], where: Where) -> Style:
    if "content" in parameter:
        return "json"
    said, kind = parameter.get("style"), parameter.get("collectionFormat")
    known: dict[Any, Style] = {"spaceDelimited": "space", "ssv": "space", "pipeDelimited": "pipe", "pipes": "pipe"}
    if said == "deepObject":
        return "brackets"
    if parameter.get("explode") is not True and (said in known or kind in known):
        return known[said if said in known else kind]
    if where != "query" or kind == "csv" or parameter.get("explode") is False:
        return "comma"
    if kind is None and "schema" not in parameter and parameter.get("type") == "array":
        return "comma"  # what Swagger 2.0 means when it says nothing
    object_like = _mapping(parameter.get("schema")).get("type") == "object"
    return "keys" if object_like else "repeated"


def _consumes(entry: Mapping[str, Any], document: Any) -> str:
    kinds = [str(one) for one in _list(entry.get("consumes")) or _list(_mapping(document).get("consumes"))]
    return next((kind for kind in kinds if "json" in kind), kinds[0] if kinds else "")


class _Reading:
    """Puts what a document refers to in place, as deep as it is told, and counts what that makes."""

    def __init__(self, document: Any, depth: int) -> None:
        self.document = document
        self._depth = depth
        self.parts = 0

    def body(self, given: Any) -> tuple[dict[str, Any] | None, str, bool]:
        """Its schema, its media type, and whether it is required."""
        if isinstance(given, Mapping) and isinstance(given.get("$ref"), str):
            given = _found(given["$ref"], self.document)
        content = _mapping(given).get("content")
        if not isinstance(content, Mapping) or not content:
            return None, "", False
        kinds = [str(kind) for kind in content]
        ranked = [kind for kind in kinds if "json" in kind] + [kind for kind in kinds if kind in (FORM, MULTIPART)]
        kind = (ranked or kinds)[0]
        if kind in (FORM, MULTIPART) or "json" in kind:
            schema = self.whole(_mapping(content[kind]).get("schema", {}))
        else:
            schema = {"type": "string", "description": f"The body, as {kind}"}
        return schema if isinstance(schema, dict) else {}, kind, bool(_mapping(given).get("required"))

    def whole(self, value: Any, depth: int = 0, seen: tuple[str, ...] = (), *, names: bool = False) -> Any:
        """With what it refers to in the same document in place; what refers to itself ends as anything. `names`: its
        keys are names that the document gave, and mean nothing to us."""
        self.parts += 1
        if isinstance(value, list):
            return [self.whole(one, depth + 1, seen) for one in value]
        if not isinstance(value, Mapping):
            return value
        if depth > self._depth or self.parts > MOST_PARTS:
            return {}
        if names:
            return {str(name): self.whole(one, depth, seen) for name, one in value.items()}
        reference = value.get("$ref")
        if isinstance(reference, str):
            if reference in seen:
                return {}
            return self.whole(_found(reference, self.document), depth + 1, (*seen, reference))
        found = {
            str(key): self.whole(one, depth + 1, seen, names=key in _NAMED)
            for key, one in value.items()
            if key not in _NOT_TAKEN and not str(key).startswith("x-")
        }
        return _as_json_schema(found)


def _as_json_schema(found: dict[str, Any]) -> dict[str, Any]:
    """What 3.0 writes otherwise than JSON Schema does."""
    if found.pop("nullable", None) is True and isinstance(found.get("type"), str):
        found["type"] = [found["type"], "null"]
        if isinstance(found.get("enum"), list) and None not in found["enum"]:
            found["enum"] = [*found["enum"], None]
    for key in ("exclusiveMinimum", "exclusiveMaximum"):  # a truth value in 3.0, a number in 3.1
        if isinstance(found.get(key), bool):
            limit = "minimum" if key == "exclusiveMinimum" else "maximum"
            if found.pop(key) and limit in found:
                found[key] = found.pop(limit)
    if isinstance(found.get("required"), bool) and "in" not in found:  # of a property, in documents that mean well
        found.pop("required")
    return found


def _found(reference: str, document: Any) -> Any:
    """What stands there in the same document; {} for what stands elsewhere."""
    if not reference.startswith("#/"):
        return {}
    at = document
    for part in reference[2:].split("/"):
        key = unquote(part).replace("~1", "/").replace("~0", "~")
        at = (
            at[int(key)] if isinstance(at, list) and key.isdigit() and int(key) < len(at) else _mapping(at).get(key, {})
        )
    return at


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def _mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}
