"""The rules of a step that is made item by item."""

from __future__ import annotations

from typing import Final

from weft.checks.paths import parse_path
from weft.protocol.ids import NAME
from weft.workspace.document import Path
from weft.workspace.flow import ArtifactPlace
from weft.workspace.flow_rules import Flow, look
from weft.workspace.maker_rules import named_folder
from weft.workspace.mapping import ITEMS, Map
from weft.workspace.pipeline_file import MapEntry
from weft.workspace.spelling import suggest
from weft.workspace.step_rules import artifacts_of

SOURCES: Final = ("artifact", "step", "folder", "rows", "pages")
KEPT_FOLDERS: Final = ("aside", "attachments", "blobs", "logs")
"""Folders of a session that no step can have."""


def map_of(flow: Flow, step: str) -> Map | None:
    draft, entry = flow.draft, flow.draft.steps[step].map_
    if entry is None:
        return None
    at: Path = ("steps", step, "map")
    made = artifacts_of(draft.steps[step])
    if len(made) > 1 or any(not name.endswith(".json") for name in made):
        key = "artifact" if draft.steps[step].artifact is not None else "artifacts"
        message = "a step with 'map' makes one .json file, in which its items are gathered"
        draft.report(("steps", step, key), message, f"write 'artifact: {step}.json'")
    if draft.steps[step].each is not None:
        message = "a step has 'map' or 'each', not both"
        draft.report_key(("steps", step, "each"), message, "remove it: 'each' is the older form")
    if step in KEPT_FOLDERS:
        message = f"its items would be in {step}/, which the session keeps for itself"
        draft.report_key(("steps", step), message, "give the step another name")
    given = [key for key in SOURCES if getattr(entry, key) is not None]
    if len(given) != 1:
        what = (
            f"a map is over one thing, not over '{given[0]}' and '{given[1]}'" if given else "a map is over something"
        )
        if given or not any(draft.lost(*map(str, at), key) for key in SOURCES):
            draft.report_key(at, what, "write one of artifact (with at), step, folder (with files), rows, pages")
        return None
    _alone(flow, at, entry, given[0])
    if not NAME.match(entry.as_):
        draft.report((*at, "as"), f"'{entry.as_}' is not a good name", "small letters, digits, _ and -")
    elif entry.as_ in draft.names("inputs"):
        draft.report((*at, "as"), f"'{entry.as_}' is an input's name", "call the items something else")
    if entry.key is not None:
        try:
            parse_path(entry.key)
        except ValueError as error:
            draft.report((*at, "key"), str(error))
    found = _over(flow, at, entry, step)
    return Map(
        look=found,
        gathered=entry.step is not None,
        folder=entry.folder,
        files=entry.files or "*",
        rows=entry.rows,
        pages=entry.pages,
        name=entry.as_,
        key=entry.key,
        at_once=entry.at_once,
        failed=entry.failed,
        most_failed=entry.most_failed,
    )


def _alone(flow: Flow, at: Path, entry: MapEntry, source: str) -> None:
    """Keys that say something of one source only."""
    written = entry.model_fields_set
    for key, only, why in (
        ("at", "artifact", "is a place in an artifact"),
        ("files", "folder", "says which files of a folder"),
    ):
        if key in written and source != only:
            flow.draft.report_key((*at, key), f"'{key}' {why}, and this map is over {source}", "remove it")
    if entry.key is not None and source in ("folder", "pages", "step"):
        what = {"folder": "a file is named by its path", "pages": "a page by its number"}
        message = what.get(source, "an item keeps its name")
        flow.draft.report_key((*at, "key"), f"nothing reads 'key' here: {message}", "remove it")
    if entry.most_failed is not None and entry.failed == "stop":
        message = "'most_failed' has no meaning with 'failed: stop', where the first is too many"
        flow.draft.report_key((*at, "most_failed"), message, "write 'failed: keep' or 'failed: skip'")


def _over(flow: Flow, at: Path, entry: MapEntry, step: str) -> ArtifactPlace | None:
    draft = flow.draft
    if entry.artifact is not None:
        found = look(flow, at, entry.artifact, entry.at, step, own=False)
        if found and not parse_path(found.at).many:
            hint = f"write at: {entry.at}[*]" if entry.at else 'write at: "[*]" for a list'
            draft.report_key((*at, "at" if entry.at else "artifact"), "this place has one value, not several", hint)
        return found
    if entry.step is not None:
        mapped = [name for name, one in draft.steps.items() if one.map_ is not None and name != step]
        if entry.step not in mapped:
            hint = suggest(entry.step, mapped, "steps with a map")
            draft.report((*at, "step"), f"'{entry.step}' is no step with a map", hint)
            return None
        made = artifacts_of(draft.steps[entry.step])
        return look(flow, (*at, "step"), made[0], ITEMS, step, own=False) if made else None
    if entry.folder is not None:
        named_folder(draft, (*at, "folder"), entry.folder)
        return None
    kind, name = ("text", entry.rows) if entry.rows is not None else ("document", entry.pages or "")
    key = "rows" if entry.rows is not None else "pages"
    known = [one for one, given in draft.file.inputs.items() if given.kind == kind]
    if name not in known and not draft.lost("inputs"):
        hint = suggest(str(name), known, f"inputs of the kind {kind}") if known else f"add one of the kind {kind}"
        if name in draft.names("inputs"):
            hint = f"write 'kind: {kind}' under inputs: {name}"
        draft.report((*at, key), f"there is no input '{name}' of the kind {kind}", hint)
    return None
