"""YAML 1.2 to plain values with the place of each, every fault in words.

The file is only composed by the library; values are made here, with the 1.2 core schema (`on` and `2024-01-01` are
text), no tags, text keys, no key twice, and a bound on depth and on what aliases may unfold to.
"""

from __future__ import annotations

import math
import warnings
from functools import lru_cache
from typing import Any, Final, NamedTuple

from weft.protocol.errors import Problem, WorkspaceError
from weft.protocol.patterns import pattern
from weft.workspace.document import MarkedDocument, Path, SourceMark, dotted, mark_of, shortened

DEPTH_LIMIT: Final = 64
VALUE_LIMIT: Final = 50_000
LONGEST_NUMBER: Final = 100

_TAG: Final = "tag:yaml.org,2002:"
_PLAIN_TAGS: Final = frozenset(_TAG + kind for kind in ("int", "float", "bool", "null", "timestamp", "merge", "value"))
_INTEGER: Final = pattern(r"[-+]?[0-9]+\Z|0o[0-7]+\Z|0x[0-9a-fA-F]+\Z")
_FLOAT: Final = pattern(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?\Z")
_NOT_FINITE: Final = pattern(r"[-+]?\.(inf|Inf|INF)\Z|\.(nan|NaN|NAN)\Z")
_WORDS: Final[dict[str, bool | None]] = {
    **dict.fromkeys(("true", "True", "TRUE"), True),
    **dict.fromkeys(("false", "False", "FALSE"), False),
    **dict.fromkeys(("", "~", "null", "Null", "NULL"), None),
}


REMEMBERED: Final = 50_000
"""Characters of a text whose parse is kept for the next time the very same text is read."""


class _Complaint(NamedTuple):
    """What the library says, and what a person is told."""

    part: str
    message: str
    hint: str
    where_it_begins: bool = False
    """Told where the part begins that the library could not end, not where it gave up."""


_COMPLAINTS: Final = (
    _Complaint("'\\t' that cannot start", "a tab stands here", "YAML is indented with spaces"),
    _Complaint(
        "mapping values are not", "a ': ' stands where no key can be", "put the text in quotes, or mend the indent"
    ),
    _Complaint("another document", "a second document begins here", "one file holds one document: remove the ---"),
    _Complaint("undefined alias", "this alias has no anchor", "put the text in quotes if a * is meant"),
    _Complaint("expected <block end>", "the indent here does not fit the lines above", "align it with its neighbours"),
    _Complaint("that cannot start any", "YAML keeps this character for itself", "put the text in quotes"),
    _Complaint("unexpected end of stream", "this quoted text is never closed", "add the closing quote", True),
    _Complaint("could not find expected ':'", "this is no 'key: value'", "add the ':', or mend the indent", True),
    _Complaint("expected ',' or ']'", "this list is not closed, or lacks a comma", "add the ], or the comma", True),
    _Complaint("expected ',' or '}'", "this mapping is not closed, or lacks a comma", "add the }, or the comma", True),
)


def parse_yaml(file: str, text: str, first_line: int = 1) -> MarkedDocument:
    """The document in `text`, which begins at `first_line` of the file. WorkspaceError when it can't be read at all."""
    from ruamel.yaml.error import MarkedYAMLError, YAMLError

    def refusal(message: str, mark: SourceMark, hint: str = "") -> WorkspaceError:
        return WorkspaceError([Problem(file, message, mark.line + first_line - 1, mark.column, hint=hint)])

    try:
        root = _remembered(text) if len(text) <= REMEMBERED else _composed(text)
    except RecursionError as error:
        raise refusal("this is nested too deeply", SourceMark(1, 1)) from error
    except MarkedYAMLError as error:
        raise refusal(*_explained(error)) from error
    except YAMLError as error:
        mark = mark_of(text, getattr(error, "position", 0) or 0)
        raise refusal("a character stands here that YAML does not allow", mark, "remove it") from error
    except (ValueError, OverflowError) as error:
        offset = max(text.find("\\U"), 0)
        raise refusal("this names a character that does not exist", mark_of(text, offset), "correct it") from error
    if root is None:
        raise refusal("nothing is written here", SourceMark(1, 1))
    builder = _Builder(file, first_line)
    value = builder.build(root, ())
    return MarkedDocument(file, value, builder.keys, builder.values, builder.problems, frozenset(builder.unreadable))


def _composed(text: str) -> Any:
    from ruamel.yaml import YAML

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # an anchor that is defined again is allowed
        return YAML(typ="safe", pure=True).compose(text)


_remembered = lru_cache(maxsize=128)(_composed)
"""A server reads the same files for every list that it shows; what is built from the nodes is new each time."""


def _explained(error: Any) -> tuple[str, SourceMark, str]:
    said = " ".join(filter(None, (error.context, error.problem)))
    unknown = _Complaint("", f"this is not valid YAML: {said}", "")
    known = next((complaint for complaint in _COMPLAINTS if complaint.part in said), unknown)
    places = [place for place in (error.problem_mark, error.context_mark) if place]
    if not places:
        return known.message, SourceMark(1, 1), known.hint
    place = places[-1 if known.where_it_begins else 0]
    return known.message, SourceMark(place.line + 1, place.column + 1), known.hint


class _Builder:
    def __init__(self, file: str, first_line: int) -> None:
        self.file = file
        self.first_line = first_line
        self.keys: dict[Path, SourceMark] = {}
        self.values: dict[Path, SourceMark] = {}
        self.problems: list[Problem] = []
        self.unreadable: set[Path] = set()

    def build(self, node: Any, path: Path) -> Any:
        """The value of a composed node. Recursion is bounded by DEPTH_LIMIT, also for an alias that holds itself."""
        mark = self._mark(node)
        if len(path) > DEPTH_LIMIT:
            raise WorkspaceError([Problem(self.file, f"this is nested more than {DEPTH_LIMIT} levels deep", *mark)])
        if len(self.values) >= VALUE_LIMIT:
            message = f"the file holds more than {VALUE_LIMIT:,} values once its aliases are followed"
            raise WorkspaceError([Problem(self.file, message, *mark)])
        self.values[path] = mark
        if isinstance(node.value, str):
            return self._scalar(node, path)
        if node.tag == f"{_TAG}map":
            return self._mapping(node, path)
        if node.tag != f"{_TAG}seq":
            self._refuse_tag(node, path)
            self.unreadable.add(path)
            return None
        return [self.build(child, (*path, index)) for index, child in enumerate(node.value)]

    def _mapping(self, node: Any, path: Path) -> dict[str, Any]:
        result: dict[str, Any] = {}
        for key_node, value_node in node.value:
            key, mark = self._key(key_node, path), self._mark(key_node)
            if key is None:
                continue
            if key in result:
                first = self.keys[(*path, key)].line
                message = f"'{key}' stands here twice; the first is on line {first}"
                self._report((*path, key), mark, message, "remove one of them")
                continue
            self.keys[(*path, key)] = mark
            result[key] = self.build(value_node, (*path, key))
            if value_node.value == "" and value_node.style is None:
                # the parser places a value that was not written at whatever comes next, perhaps lines below
                self.values[(*path, key)] = mark
        return result

    def _key(self, node: Any, path: Path) -> str | None:
        if not isinstance(node.value, str):
            self._report(path, self._mark(node), "a key must be text, not a list or a mapping")
            return None
        if node.tag in _PLAIN_TAGS and not isinstance(_core_value(node.value), str):
            hint = f"put it in quotes: '{node.value}'" if node.value else "write a key before the ':'"
            self._report((*path, node.value), self._mark(node), f"the key {node.value or 'here'} is not text", hint)
        elif node.tag not in _PLAIN_TAGS and node.tag != f"{_TAG}str":
            self._refuse_tag(node, (*path, node.value))
        return node.value

    def _scalar(self, node: Any, path: Path) -> Any:
        if node.tag == f"{_TAG}str":
            return node.value
        if node.tag not in _PLAIN_TAGS:
            self._refuse_tag(node, path)
            self.unreadable.add(path)
            return None
        value = _core_value(node.value)
        if isinstance(value, float) and not math.isfinite(value):
            self._report(path, self._mark(node), f"{shortened(node.value)} is not a number that can be worked with")
            self.unreadable.add(path)
            return None
        return value

    def _refuse_tag(self, node: Any, path: Path) -> None:
        tag = str(node.tag).replace(_TAG, "!!")
        self._report(
            path, self._mark(node), f"the tag {tag} has no meaning here", "remove it, or put the text in quotes"
        )

    def _report(self, path: Path, mark: SourceMark, message: str, hint: str = "") -> None:
        self.problems.append(Problem(self.file, message, *mark, key=dotted(path), hint=hint))

    def _mark(self, node: Any) -> SourceMark:
        return SourceMark(node.start_mark.line + self.first_line, node.start_mark.column + 1)


def _core_value(text: str) -> Any:
    """A plain scalar by the core schema of YAML 1.2. A number too large to work with is infinite."""
    if text in _WORDS:
        return _WORDS[text]
    if _INTEGER.match(text):
        return (int(text, 0) if text[:2] in ("0o", "0x") else int(text)) if len(text) < LONGEST_NUMBER else math.inf
    if _FLOAT.match(text):
        return float(text)
    return math.inf if _NOT_FINITE.match(text) else text
