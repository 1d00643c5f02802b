"""The rules of one step: each reports what is wrong into the draft and gives back what is right.

The step that comes out counts only when the draft has no problems in the end.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

from weft.checks import CHECKS, CheckCall, CheckProblem, parse_check
from weft.files import split_name
from weft.protocol.errors import UserError, WorkspaceError
from weft.protocol.patterns import pattern
from weft.workspace import graph
from weft.workspace.document import Path
from weft.workspace.draft import PipelineDraft
from weft.workspace.explain import key_names
from weft.workspace.fields import HOST
from weft.workspace.maker_rules import function, include_skill, maker, read_names, scope
from weft.workspace.pipeline import Step
from weft.workspace.pipeline_file import StepEntry
from weft.workspace.schema_file import SchemaFile
from weft.workspace.spelling import suggest

_PROFILE_PART: Final = pattern(r"[^.\s]+(\.[^.\s]+)*\Z")
_OWN_CHECK: Final = pattern(r".*\.py(:|\Z)")


def resolve_step(draft: PipelineDraft, name: str, final: str, makers: Mapping[str, str]) -> Step:
    """`final` is the name of the final step; `makers` says which step makes each artifact of the pipeline."""
    entry, at = draft.steps[name], ("steps", name)
    artifacts = artifacts_of(entry)
    executor = maker(draft, at, entry)
    _requires(draft, at, entry, makers)
    inputs = _subset(draft, at, "inputs", read_names(entry, "inputs"))
    parameters = _subset(draft, at, "parameters", read_names(entry, "parameters"))
    _skills(draft, at, entry)
    for index, part in enumerate(_once(draft, (*at, "profile"), entry.profile)):
        if not _PROFILE_PART.match(part):
            draft.report(
                (*at, "profile", index), f"'{part}' is not a part of the profile", "write topics, or style.tone"
            )
    schemas = dict(_schemas(draft, at, entry, artifacts))
    return Step(
        name=name,
        artifacts=artifacts,
        code=entry.code,
        agent=entry.agent,
        executor=executor,
        scope=scope(draft, at, entry, executor),
        requires=tuple(entry.requires),
        inputs=inputs,
        parameters=parameters,
        profile=tuple(entry.profile),
        secrets=tuple(_once(draft, (*at, "secrets"), entry.secrets)),
        network=tuple(_hosts(draft, (*at, "network"), entry.network)),
        resources=tuple(_resources(draft, (*at, "resources"), entry.resources)),
        cache=_cache(draft, at, entry),
        hears_rounds=entry.hears_rounds,
        skills=tuple(entry.skills),
        model=entry.model,
        schemas=schemas,
        checks=tuple(_checks(draft, at, entry, artifacts, parameters, makers)),
        attempts=entry.attempts,
        timeout=entry.timeout,
        final=name == final,
    )


def _hosts(draft: PipelineDraft, path: Path, hosts: Sequence[str]) -> Sequence[str]:
    for index, host in enumerate(_once(draft, path, hosts)):
        if not HOST.match(host):
            hint = "write a name such as api.example.com, with a port if it has one of its own: localhost:8080"
            draft.report((*path, index), f"'{host}' is not the name of a host", hint)
    return hosts


def _resources(draft: PipelineDraft, path: Path, names: Sequence[str]) -> Sequence[str]:
    known = draft.library.limit_names() if names else []
    for index, name in enumerate(_once(draft, path, names)):
        if name not in known:
            hint = suggest(name, known, "limits") if known else f'write {name} = "1 at once" under [limits]'
            draft.report((*path, index), f"config.toml has no limit '{name}'", hint)
    return sorted(names)


def _cache(draft: PipelineDraft, at: Path, entry: StepEntry) -> bool | None:
    for key in ("network", "secrets", "each"):
        if entry.cache and getattr(entry, key):
            what = f"a step with '{key.rstrip('_')}' is not taken over from another session"
            draft.report((*at, "cache"), what, "remove 'cache': it is made in each session")
    return entry.cache


def artifacts_of(entry: StepEntry) -> tuple[str, ...]:
    return (entry.artifact,) if entry.artifact is not None else tuple(entry.artifacts or ())


def _once(draft: PipelineDraft, path: Path, names: Sequence[str]) -> Sequence[str]:
    for index, name in enumerate(names):
        if name in names[:index]:
            draft.report((*path, index), f"'{name}' is named twice", "remove one of them")
    return names


def _requires(draft: PipelineDraft, at: Path, entry: StepEntry, makers: Mapping[str, str]) -> None:
    steps = draft.names("steps")
    for index, name in enumerate(_once(draft, (*at, "requires"), entry.requires)):
        if name in steps:
            continue
        hint = (
            f"it is made by the step '{makers[name]}': write that" if name in makers else suggest(name, steps, "steps")
        )
        draft.report((*at, "requires", index), f"unknown step '{name}'", hint)


def _bounds(draft: PipelineDraft) -> set[str]:
    """The parameters that say how often something is made again: who raises one goes on from where the rounds are, so
    no step is made from it unless it names it."""
    loops = [entry.loop.at_most for entry in draft.steps.values() if entry.loop]
    return {written for written in (*loops, *(one.rounds for one in draft.file.repair)) if isinstance(written, str)}


def _asked_later(draft: PipelineDraft, step: str) -> set[str]:
    """The parameters that a person is asked for at a gate behind this step, or at its own."""
    requires = {name: entry.requires for name, entry in draft.steps.items()}
    return {
        asked
        for name, entry in draft.steps.items()
        if entry.gate
        and entry.gate.form
        and ((name == step and not entry.gate.before) or step in graph.upstream(requires, name))
        for asked in entry.gate.form
    }


def _subset(draft: PipelineDraft, at: Path, section: str, names: Sequence[str] | None) -> tuple[str, ...]:
    """The inputs or parameters a step reads: those it names, or all."""
    known = draft.names(section)
    if names is None:
        left = _bounds(draft) | _asked_later(draft, str(at[1])) if section == "parameters" else set()
        return tuple(name for name in known if name not in left)
    if section == "parameters" and draft.file.depth:
        known = [*known, "depth"]
    for index, name in enumerate(_once(draft, (*at, section), names)):
        if name not in known and (section,) not in draft.dropped:
            word = section.removesuffix("s")
            draft.report((*at, section, index), f"unknown {word} '{name}'", suggest(name, known, section))
    return tuple(names)


def _skills(draft: PipelineDraft, at: Path, entry: StepEntry) -> None:
    if not entry.skills:
        return
    known = draft.library.skill_names()
    for index, name in enumerate(_once(draft, (*at, "skills"), entry.skills)):
        if name not in known:
            draft.report((*at, "skills", index), f"unknown skill '{name}'", suggest(name, known, "skills"))
        else:
            include_skill(draft, name)


def _schemas(
    draft: PipelineDraft, at: Path, entry: StepEntry, artifacts: tuple[str, ...]
) -> Iterator[tuple[str, SchemaFile]]:
    if entry.schema_ is None:
        return
    path = (*at, "schema")
    if isinstance(entry.schema_, str):
        if not artifacts:  # that is reported already; the file is still worth a look
            _schema(draft, path, entry.schema_)
            return
        if len(artifacts) > 1:
            hint = f"write a mapping: {{{artifacts[0]}: {entry.schema_}}}"
            draft.report(path, "a step with several artifacts says which of them a schema is for", hint)
            return
        places = {artifacts[0]: (path, entry.schema_)}
    else:
        places = {artifact: ((*path, artifact), file) for artifact, file in entry.schema_.items()}
    for artifact, (place, file) in places.items():
        if artifacts and artifact not in artifacts:
            hint = suggest(artifact, artifacts, "artifacts of this step")
            draft.report_key(place, f"this step makes no '{artifact}'", hint)
        elif not artifact.endswith(".json"):
            draft.report(place, f"a schema describes JSON, and {artifact} is text", "remove it, or use checks")
        elif schema := _schema(draft, place, file):
            yield artifact, schema


def _schema(draft: PipelineDraft, place: Path, file: str) -> SchemaFile | None:
    try:
        split_name(file)
        return draft.library.schema(file)
    except FileNotFoundError:
        hint = suggest(file, draft.library.schema_names(), "files in schemas/")
        draft.report(place, f"there is no schemas/{file}", hint)
    except WorkspaceError as error:
        draft.problems.extend(error.problems)
    except UserError as error:
        draft.report(place, error.message, "name a file in schemas/")
    return None


# -- checks


def _checks(
    draft: PipelineDraft,
    at: Path,
    entry: StepEntry,
    artifacts: tuple[str, ...],
    parameters: tuple[str, ...],
    makers: Mapping[str, str],
) -> Iterator[tuple[str, CheckCall]]:
    for index, declared in enumerate(entry.checks):
        ((name, options),) = declared.items()
        path: Path = (*at, "checks", index)
        if (*path, name) in draft.document.keys:
            path = (*path, name)
        artifact, options = _judged(draft, path, dict(options), artifacts)
        call = _call(draft, path, name, options, artifact)
        if call is None:
            continue
        _documents(draft, path, call, _readable(draft, at, artifacts), makers)
        _parameters(draft, path, call, parameters)
        if artifact is not None:
            yield artifact, call


def _judged(
    draft: PipelineDraft, path: Path, options: dict[str, Any], artifacts: tuple[str, ...]
) -> tuple[str | None, dict[str, Any]]:
    """Which artifact a check is about, and its options without that one."""
    if not artifacts:
        return None, options
    if "artifact" not in options:
        if len(artifacts) == 1:
            return artifacts[0], options
        hint = f"add 'artifact: {artifacts[0]}' to its options"
        draft.report_key(path, "a step with several artifacts says which of them a check is for", hint)
        return None, options
    artifact = options.pop("artifact")
    if artifact in artifacts:
        return str(artifact), options
    hint = suggest(str(artifact), artifacts, "artifacts of this step")
    draft.report((*path, "artifact"), f"this step makes no '{artifact}'", hint)
    return None, options


def _call(
    draft: PipelineDraft, path: Path, name: str, options: dict[str, Any], artifact: str | None
) -> CheckCall | None:
    if _OWN_CHECK.match(name):
        function(draft, path, name, is_key=True)
    elif name not in CHECKS:
        draft.report_key(path, f"unknown check '{name}'", suggest(name, CHECKS, "checks"))
        return None
    elif unknown := [option for option in options if option not in key_names(CHECKS[name].options)]:
        for option in unknown:
            hint = suggest(option, key_names(CHECKS[name].options), f"options of {name}")
            draft.report_key((*path, option), f"unknown option '{option}'", hint)
        return None
    try:
        return parse_check(name, options, artifact=artifact or "")
    except CheckProblem as error:
        place = (*path, error.key) if error.key else path
        (draft.report if error.key in options else draft.report_key)(place, error.message)
        return None


def _readable(draft: PipelineDraft, at: Path, artifacts: tuple[str, ...]) -> list[str]:
    """What a check of this step may compare with: inputs, the step's artifacts, those of the steps it requires itself,
    the session and the profile.

    An artifact further back is no input of the step, so a change of it would go unnoticed.
    """
    before = draft.steps[str(at[-1])].requires
    earlier = [artifact for name in draft.steps if name in before for artifact in artifacts_of(draft.steps[name])]
    own = ["session", *(["profile"] if draft.steps[str(at[-1])].profile else [])]
    if (mapped := draft.steps[str(at[-1])].map_) is not None:
        own.append(mapped.as_)
    return [*draft.names("inputs"), *earlier, *artifacts, *own]


def _documents(
    draft: PipelineDraft, path: Path, call: CheckCall, readable: Iterable[str], makers: Mapping[str, str]
) -> None:
    if draft.lost_in_steps("requires", "artifact", "artifacts") or draft.lost("inputs"):
        return
    good = list(dict.fromkeys(readable))
    for document in call.reads:
        if document in good:
            continue
        hint = suggest(document, good, "documents it can read")
        if document == "profile":
            hint = "name the parts of the profile that the step reads in its 'profile'"
        elif document in makers:
            hint = f"it is made by the step '{makers[document]}': add that to 'requires'"
        place = next((place for place, text in texts_in(call.options, path) if text == document), path)
        draft.report(place, f"this step can't read '{document}'", hint)


def _parameters(draft: PipelineDraft, path: Path, call: CheckCall, readable: tuple[str, ...]) -> None:
    """A check may compare with a parameter; it must be one the step reads, or a change of it would go unnoticed."""
    for place, text in texts_in(call.options, path):
        if place[-1] == "parameter" and text not in readable and not draft.lost("parameters"):
            hint = suggest(text, readable, "parameters this step reads")
            draft.report(place, f"this step reads no parameter '{text}'", hint)


def texts_in(value: Any, path: Path) -> Iterator[tuple[Path, str]]:
    """Every text in the options of a check, with its place."""
    if isinstance(value, str):
        yield path, value
    elif isinstance(value, Mapping):
        for key, part in value.items():
            yield from texts_in(part, (*path, key))
    elif isinstance(value, list | tuple):
        for index, part in enumerate(value):
            yield from texts_in(part, (*path, index))
