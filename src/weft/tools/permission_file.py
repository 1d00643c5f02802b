"""Permission rules as people write them: `permissions.yaml` in a workspace, `permissions.json` in a source's folder.

    allow:                                  # not asked about
      - tool: Shell
        command: npm test
      - {tool: WebFetch, host: docs.python.org, when_tainted: true}
    ask:                                    # asked about, also in auto
      - {tool: Write, path: "*.lock"}
    deny:                                   # never
      - {tool: Shell, command: git push, why: releases go through the pipeline}

Rules only add up. A denial of any file stands whatever another allows, and so does a question. The app's own rules are
a file of the same format beside this module. A source's file speaks of that source's tools only.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from functools import cache
from pathlib import Path as FilePath
from typing import Final

from pydantic import Field

from weft.files import Folder
from weft.protocol.errors import Problem, UserError, WorkspaceError
from weft.protocol.hashes import hash_bytes
from weft.protocol.values import dataclass
from weft.workspace.document import MarkedDocument, read_source
from weft.workspace.explain import check
from weft.workspace.fields import Strict
from weft.workspace.json_document import locate_json, parse_json
from weft.workspace.rule_entry import RuleEntry, Verb, command_words, rule_faults
from weft.workspace.yaml_document import parse_yaml

FILE: Final = "permissions.yaml"
SOURCE_FILE: Final = "permissions.json"
APP_FILE: Final = "weft's own rules"


class PermissionFile(Strict):
    allow: list[RuleEntry] = Field(default=[], description="What is not asked about in ask")
    ask: list[RuleEntry] = Field(default=[], description="What is asked about even in auto, each time")
    deny: list[RuleEntry] = Field(default=[], description="What is never done")


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    verb: Verb
    tool: str
    file: str
    line: int = 0
    path: str | None = None
    host: str | None = None
    command: tuple[str, ...] = ()
    open_ended: bool = False
    """The command may have further words."""
    read_only: bool = False
    when_tainted: bool = False
    why: str = ""
    needs: frozenset[str] = frozenset()
    """What a call of the command may ask to be opened besides."""

    def __str__(self) -> str:
        about = self.path or self.host or " ".join(self.command)
        return f"{self.verb} {self.tool}{f' {about}' if about else ''}"

    @property
    def place(self) -> str:
        return f"{self.file}:{self.line}" if self.line else self.file


@dataclass(frozen=True, slots=True)
class Rules:
    """All rules that hold, of every file together."""

    rules: tuple[Rule, ...] = ()

    def __add__(self, other: Rules) -> Rules:
        return Rules((*self.rules, *other.rules))

    def of(self, verb: Verb) -> Iterator[Rule]:
        return (rule for rule in self.rules if rule.verb == verb)


@cache
def app_rules() -> Rules:
    """Ours, and known to be good: a test reads them as a person's are read."""
    text = (FilePath(__file__).parent / "permissions.json").read_text(encoding="utf-8")
    made: dict[Verb, list[RuleEntry]] = {
        verb: [RuleEntry.model_construct(**entry) for entry in entries] for verb, entries in json.loads(text).items()
    }
    return Rules(tuple(rule_of(verb, entry, APP_FILE) for verb, entries in made.items() for entry in entries))


def read_rules(workspace: Folder, own: FilePath | None = None) -> Rules:
    """The app's rules, the workspace's, and those of every source, also of those in the person's `own` folder.
    WorkspaceError with every problem of every file."""
    found = app_rules()
    problems: list[Problem] = []
    with ExitStack() as opened:
        folders = [workspace]
        if own is not None and (own / "sources").is_dir():
            folders.append(opened.enter_context(Folder.open(own)))
        readers: list[tuple[Folder, Callable[[Folder], Rules]]] = [(workspace, _workspace_rules)]
        readers += [(folder, _source_reader(slug)) for folder in folders for slug in _slugs(folder)]
        for folder, read in readers:
            try:
                found += read(folder)
            except WorkspaceError as error:
                problems += error.problems
    if problems:
        raise WorkspaceError(problems, hint="until they are mended no rule is used: nothing is guessed")
    return found


def allowing_files(workspace: Folder) -> dict[str, str]:
    """The permission files of a workspace that may allow something, with their hashes."""
    readers: dict[str, Callable[[Folder], Rules]] = {FILE: _workspace_rules}
    readers |= {f"sources/{slug}/{SOURCE_FILE}": _source_reader(slug) for slug in _slugs(workspace)}
    found = {name: workspace.read_or_none(name) for name in readers}
    return {
        name: hash_bytes(data)
        for name, data in found.items()
        if data is not None and (b"allow" in data or _allows(readers[name], workspace))
    }


def _allows(read: Callable[[Folder], Rules], workspace: Folder) -> bool:
    """Told from what is read, and not from the letters: `"\\x61llow"` is the same key."""
    try:
        return any(read(workspace).of("allow"))
    except WorkspaceError:
        return True


def _workspace_rules(workspace: Folder) -> Rules:
    try:
        source = read_source(workspace, FILE)
    except FileNotFoundError:
        return Rules()
    if not any(line.strip() and not line.lstrip().startswith("#") for line in source.text.splitlines()):
        return Rules()
    return _checked(parse_yaml(source.file, source.text), None)


def _source_reader(slug: str) -> Callable[[Folder], Rules]:
    def read(workspace: Folder) -> Rules:
        try:
            source = read_source(workspace, f"sources/{slug}/{SOURCE_FILE}")
        except FileNotFoundError:
            return Rules()
        return _checked(locate_json(source, parse_json(source)), slug)

    return read


def _slugs(workspace: Folder) -> list[str]:
    try:
        with workspace.folder("sources") as sources:
            return [name for name in sources.names() if not name.startswith(".") and sources.is_folder(name)]
    except FileNotFoundError:
        return []


def _checked(document: MarkedDocument, source: str | None) -> Rules:
    checked = check(PermissionFile, document)
    meanings = _meanings(checked.model, document, source) if checked.model is not None else ()
    return _rules(checked.good(document, meanings), document, source)


def entries_of(model: PermissionFile) -> Iterator[tuple[Verb, int, RuleEntry]]:
    lists: tuple[tuple[Verb, list[RuleEntry]], ...] = (
        ("allow", model.allow),
        ("ask", model.ask),
        ("deny", model.deny),
    )
    for verb, entries in lists:
        for index, entry in enumerate(entries):
            yield verb, index, entry


def _meanings(model: PermissionFile, document: MarkedDocument, source: str | None) -> Iterator[Problem]:
    for verb, index, entry in entries_of(model):
        for key, is_key, message, hint in rule_faults(verb, entry, own_tools=source is not None):
            place = document.at_key if is_key else document.at_value
            yield place((verb, index, key), message, hint)


def _rules(model: PermissionFile, document: MarkedDocument, source: str | None) -> Rules:
    found = []
    for verb, index, entry in entries_of(model):
        line = document.values[(verb, index)].line if (verb, index) in document.values else 0
        found.append(rule_of(verb, entry, document.file, line, source))
    return Rules(tuple(found))


def rule_of(verb: Verb, entry: RuleEntry, file: str, line: int = 0, source: str | None = None) -> Rule:
    words = command_words(entry.command) if entry.command else ()
    return Rule(
        verb=verb,
        tool=entry.tool if source is None else f"{source}__{entry.tool}",
        file=file,
        line=line,
        path=entry.path,
        host=entry.host.lower() if entry.host else None,
        command=words[:-1] if words[-1:] == ("*",) else words,
        open_ended=verb != "allow" or words[-1:] == ("*",),
        read_only=entry.read_only,
        when_tainted=entry.when_tainted,
        why=entry.why or "",
        needs=frozenset(entry.needs),
    )


def with_allowed(text: str, entry: RuleEntry) -> str:
    """The text of a permissions.yaml with one rule more under `allow`; the rest stays as it is, comments too. UserError
    when it can't be put in without touching what the person wrote."""
    item = entry.told
    lines = text.splitlines()
    at = next((index for index, line in enumerate(lines) if line.split("#")[0].rstrip() == "allow:"), None)
    if at is None:
        changed = "\n".join([*lines, "allow:", f"  - {item}"]) + "\n"
    else:
        after = next((line for line in lines[at + 1 :] if line.strip() and not line.lstrip().startswith("#")), "")
        indent = after[: len(after) - len(after.lstrip())] if after.lstrip().startswith("-") else "  "
        changed = "\n".join([*lines[: at + 1], f"{indent}- {item}", *lines[at + 1 :]]) + "\n"
    before, now = _parsed_rules(text), _parsed_rules(changed)
    if now is None or before is None or set(now) - set(before) != {_told_rule("allow", entry)}:
        raise UserError(f"{FILE} can't be changed without touching what you wrote", hint=f"add under allow: {item}")
    return changed


def _parsed_rules(text: str) -> list[str] | None:
    """Each rule as one text; None when it can't be read."""
    if not any(line.strip() and not line.lstrip().startswith("#") for line in text.splitlines()):
        return []
    try:
        found = check(PermissionFile, parse_yaml(FILE, text)).model
    except WorkspaceError:
        return None
    if found is None:
        return None
    return [_told_rule(verb, entry) for verb in ("allow", "ask", "deny") for entry in getattr(found, verb)]


def _told_rule(verb: str, entry: RuleEntry) -> str:
    return f"{verb} {json.dumps(entry.model_dump(exclude_defaults=True), sort_keys=True)}"
