"""The rules of how a run flows: each reports what is wrong into the draft and gives back what is right."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final, TypeVar, cast

from pydantic import BaseModel, ValidationError

from weft.checks.paths import parse_path
from weft.protocol.errors import Problem
from weft.protocol.gates import Choice, ChoiceKind
from weft.protocol.ids import NAME
from weft.protocol.values import dataclass
from weft.workspace import graph
from weft.workspace.document import Path, describe
from weft.workspace.draft import PipelineDraft
from weft.workspace.explain import fault_in
from weft.workspace.flow import ArtifactPlace, Budget, Condition, Gate, Operator, Retry, Shown, Unit
from weft.workspace.flow_file import JOINS, OPERATORS, BudgetEntry, ChoiceEntry, GateEntry, ShownEntry
from weft.workspace.parameters import NAMED, ParameterSpec
from weft.workspace.pipeline import Runs
from weft.workspace.pipeline_file import StepEntry
from weft.workspace.spelling import listed, suggest
from weft.workspace.step_rules import artifacts_of

Entry = TypeVar("Entry", bound=BaseModel)
REMIND: Final = "remind"
DOES: Final[tuple[ChoiceKind, ...]] = ("proceed", "amend", "cancel")
DEFAULT_CHOICES: Final = (
    Choice("proceed", "Go on", "proceed"),
    Choice("amend", "Change it: say what", "amend"),
    Choice("cancel", "Stop here; what is made stays", "cancel"),
)
_NEEDS_TEXT: Final = ("above", "below", "at_least", "at_most")


@dataclass(frozen=True)
class Flow:
    """What the rules know of the pipeline while they judge."""

    draft: PipelineDraft
    parameters: Mapping[str, ParameterSpec]
    makers: Mapping[str, str]
    order: tuple[str, ...]


# -- depth and budgets


def depth(draft: PipelineDraft, parameters: dict[str, ParameterSpec]) -> Mapping[str, Mapping[str, Any]]:
    """The modes with good values. Declaring them makes the parameter `depth`."""
    modes = draft.file.depth
    if not modes:
        return {}
    if "depth" in parameters:
        draft.report_key(("parameters", "depth"), "the key 'depth' makes this parameter itself", "remove it here")
        return {}
    good: dict[str, dict[str, Any]] = {}
    for mode, values in modes.items():
        at: Path = ("depth", mode)
        if not NAME.match(mode):
            draft.report_key(at, f"'{mode}' is not a good name", "a name is small letters, digits, _ and -")
        good[mode] = {}
        for name, value in values.items():
            spec = parameters.get(name)
            if spec is None:
                draft.report_key((*at, name), f"unknown parameter '{name}'", suggest(name, parameters, "parameters"))
            elif problem := spec.problem(value):
                draft.report((*at, name), problem, "change it, or what the parameter allows")
            else:
                good[mode][name] = spec.settle(value)
    names = tuple(good)
    default = "standard" if "standard" in good else names[0]
    parameters["depth"] = ParameterSpec("string", default, "How thorough the run is", choices=names)
    return good


def budget(draft: PipelineDraft, at: Path, entry: BudgetEntry | None) -> Budget:
    if entry is None:
        return Budget()
    given = {key: value for key, value in entry.model_dump().items() if value is not None}
    if not given and not draft.lost(*map(str, at)):
        draft.report_key(at, "a budget has at least one limit", "write {usd: 2}, {tokens: 100000} or {minutes: 30}")
    for key, value in given.items():
        if value <= 0:
            draft.report((*at, key), f"must be more than 0, not {value}", "leave it out for no limit")
    return Budget(**given)


def retry(draft: PipelineDraft, at: Path, entry: StepEntry) -> Retry:
    written = entry.retry
    if written is None:
        return Retry()
    if entry.attempts == 1:
        draft.report_key((*at, "retry"), "this step is tried once: nothing reads 'retry'", "allow more 'attempts'")
    if written.factor < 1:
        draft.report((*at, "retry", "factor"), f"must be at least 1, not {written.factor:g}", "1 waits alike each time")
    if written.on == []:
        draft.report((*at, "retry", "on"), "may not be empty", "write 'attempts: 1' for a step that is tried once")
    return Retry(written.delay, float(written.factor), written.most, tuple(written.on or ()))


# -- conditions


def condition(flow: Flow, at: Path, value: Mapping[str, Any], step: str, *, own: bool) -> Condition | None:
    """`own`: it may look at the step's own artifacts too, because it is judged after the step."""
    draft = flow.draft
    joins = [key for key in JOINS if key in value]
    if joins:
        if len(value) > 1:
            draft.report_key((*at, joins[0]), f"'{joins[0]}' stands alone", "put the other keys into its list")
            return None
        entries = value[joins[0]]
        if not isinstance(entries, list) or not entries or not all(isinstance(one, dict) for one in entries):
            draft.report((*at, joins[0]), "must be a list of conditions", f"write {joins[0]}: [{{…}}, {{…}}]")
            return None
        parts = [condition(flow, (*at, joins[0], i), one, step, own=own) for i, one in enumerate(entries)]
        good = tuple(part for part in parts if part)
        return Condition(join=cast(Any, joins[0]), parts=good) if len(good) == len(entries) else None
    known = ("parameter", "artifact", "at", *OPERATORS, *JOINS)
    unknown = [key for key in value if key not in known]
    for key in unknown:
        draft.report_key((*at, key), f"unknown key '{key}'", suggest(key, known, "keys of a condition"))
    tests = [key for key in OPERATORS if key in value]
    if len(tests) != 1 and not unknown:
        hint = f"write one of {listed(OPERATORS)}"
        draft.report_key(at, "a condition has exactly one test" if tests else "this condition tests nothing", hint)
    if ("parameter" in value) == ("artifact" in value):
        draft.report_key(at, "a condition looks at a 'parameter' or at an 'artifact'", "write one of the two")
        return None
    if unknown or len(tests) != 1:
        return None
    operator, wanted = cast(Operator, tests[0]), value[tests[0]]
    if not _good_test(draft, (*at, operator), operator, wanted):
        return None
    if "parameter" in value:
        return _of_parameter(flow, at, value, operator, wanted)
    found = look(flow, at, value["artifact"], value.get("at", ""), step, own=own)
    return Condition(look=found, operator=operator, value=wanted) if found else None


def _good_test(draft: PipelineDraft, at: Path, operator: str, wanted: Any) -> bool:
    number = isinstance(wanted, int | float) and not isinstance(wanted, bool)
    if operator in _NEEDS_TEXT and not number:
        draft.report(at, f"must be a number, not {describe(wanted)}", f"write {operator}: 3")
    elif operator == "one_of" and not (isinstance(wanted, list) and wanted):
        draft.report(at, f"must be a list of values, not {describe(wanted)}", "write one_of: [a, b]")
    elif operator == "exists" and not isinstance(wanted, bool):
        draft.report(at, f"must be true or false, not {describe(wanted)}", "write exists: true")
    else:
        return True
    return False


def _of_parameter(flow: Flow, at: Path, value: Mapping[str, Any], operator: Operator, wanted: Any) -> Condition | None:
    name = value["parameter"]
    if "at" in value:
        flow.draft.report_key((*at, "at"), "'at' is a place in an artifact", "remove it")
        return None
    spec = flow.parameters.get(name) if isinstance(name, str) else None
    if spec is None:
        hint = suggest(str(name), flow.parameters, "parameters")
        flow.draft.report((*at, "parameter"), f"unknown parameter '{name}'", hint)
        return None
    for one in wanted if operator == "one_of" else [wanted] if operator in ("is", "is_not") else []:
        if problem := spec.problem(one):
            flow.draft.report((*at, operator), f"can never hold: the parameter {problem}", "change it")
            return None
    return Condition(parameter=name, operator=operator, value=wanted)


def look(
    flow: Flow, at: Path, artifact: Any, place: Any, step: str, *, own: bool, whole: bool = False
) -> ArtifactPlace | None:
    """`whole`: the whole of an artifact that is text will do."""
    draft = flow.draft
    entry = draft.steps[step]
    required = [
        name for before in entry.requires if before in draft.steps for name in artifacts_of(draft.steps[before])
    ]
    readable = [*(artifacts_of(entry) if own else ()), *required]
    if artifact not in readable:
        hint = suggest(str(artifact), readable, "artifacts it can look at")
        if artifact in flow.makers and not (own and flow.makers[artifact] == step):
            hint = f"it is made by the step '{flow.makers[artifact]}': add that to 'requires'"
            if flow.makers[artifact] == step:
                hint = "the step is not made yet when this is judged"
        draft.report((*at, "artifact"), f"can't look at '{artifact}'", hint)
        return None
    if not isinstance(place, str):
        draft.report((*at, "at"), f"must be a place in the artifact, not {describe(place)}", "write at: parts[*].title")
        return None
    if not str(artifact).endswith(".json") and not (whole and not place):
        hint = "let the step make a .json artifact too"
        draft.report((*at, "artifact"), f"{artifact} is text, and this looks into JSON", hint)
        return None
    try:
        parse_path(place)
    except ValueError as error:
        draft.report((*at, "at"), str(error))
        return None
    return ArtifactPlace(str(artifact), place)


# -- gates


def gate(flow: Flow, step: str) -> Gate | None:
    entry = flow.draft.steps[step].gate
    if entry is None:
        return None
    at: Path = ("steps", step, "gate")
    when = condition(flow, (*at, "when"), entry.when, step, own=not entry.before) if entry.when else None
    shown = tuple(_shown(flow, at, entry, step))
    choices = tuple(_choices(flow, at, entry))
    if entry.auto and entry.choices:
        flow.draft.report_key((*at, "choices"), "an automatic gate waits for no choice", "remove one of the two")
    elif entry.choices and len(choices) == len(entry.choices) and all(one.does != "proceed" for one in choices):
        flow.draft.report((*at, "choices"), "no choice lets the run go on", "add 'proceed: Go on'")
    if not choices:
        choices = tuple(one for one in DEFAULT_CHOICES if not entry.before or one.does != "amend")
    _before(flow, at, entry, choices)
    then = _then(flow, at, entry, choices)
    form = tuple(_form(flow, at, entry, step))
    return Gate(
        choices,
        entry.message,
        shown,
        when,
        entry.auto,
        form,
        entry.before,
        entry.assignee or "",
        entry.within,
        then,
    )


def _before(flow: Flow, at: Path, entry: GateEntry, choices: Sequence[Choice]) -> None:
    """Before a step there is nothing that could be changed."""
    if not entry.before:
        return
    for choice in choices:
        if choice.does == "amend":
            hint = "ask for what the step should know with a 'form', or put the gate behind the step"
            flow.draft.report_key((*at, "choices", choice.id), "before the step there is nothing to be changed", hint)
    if entry.auto:
        flow.draft.report_key((*at, "before"), "an automatic gate holds up nothing", "remove one of the two")


def _then(flow: Flow, at: Path, entry: GateEntry, choices: Sequence[Choice]) -> str:
    if entry.within is None:
        if entry.then is not None:
            flow.draft.report_key((*at, "then"), "'then' says what happens after 'within'", "add 'within: 2d'")
        return ""
    if entry.auto:
        flow.draft.report_key((*at, "within"), "an automatic gate waits for nobody", "remove one of the two")
    then = entry.then or REMIND
    chosen = next((one for one in choices if one.id == then), None)
    if then != REMIND and chosen is None:
        hint = suggest(then, [REMIND, *(one.id for one in choices)], "ways to go on")
        flow.draft.report((*at, "then"), f"the gate offers no choice '{then}'", hint)
    elif chosen is not None and chosen.does == "amend":
        flow.draft.report((*at, "then"), "nobody would say what is to be changed", "choose one that goes on or cancels")
    return then


def runs(flow: Flow, step: str) -> Runs:
    """When a step has its turn. What is made after a failure, or at the end, is no part of the way to the result."""
    draft, entry = flow.draft, flow.draft.steps[step]
    at: Path = ("steps", step)
    key = "on_failure" if entry.on_failure else "finally" if entry.finally_ else ""
    if entry.on_failure and entry.finally_:
        draft.report_key((*at, "finally"), "a step is made on failure or at the end, not both", "remove one of them")
    last = [name for name, one in draft.steps.items() if one.on_failure or one.finally_]
    if not key:
        for index, before in enumerate(entry.requires):
            if before in last:
                message = f"'{before}' is made when all else is"
                draft.report((*at, "requires", index), message, f"make '{step}' a step of the end too, or remove it")
        return "in_order"
    for other, meaningless in (("final", entry.final), ("gate", entry.gate), ("loop", entry.loop)):
        if meaningless:
            draft.report_key((*at, other), f"nothing reads '{other}' in a step with '{key}'", "remove one of them")
    for index, unit in enumerate(draft.file.repair):
        if step in unit.steps:
            draft.report(("repair", index, "steps"), f"'{step}' is made when all else is", "take it out of the unit")
    return "on_failure" if entry.on_failure else "finally"


def otherwise(flow: Flow, step: str) -> tuple[Condition | None, tuple[str, ...]]:
    """The condition of a step that is made in place of another, and what must be settled before it can be told."""
    draft, entry = flow.draft, flow.draft.steps[step]
    at: Path = ("steps", step, "else")
    other = draft.steps.get(entry.else_ or "")
    if entry.when is not None:
        draft.report_key(at, "a step has 'when' or 'else', not both", "remove one of them")
    conditional = [name for name, one in draft.steps.items() if one.when is not None and name != step]
    if other is None or entry.else_ not in conditional:
        what = f"'{entry.else_}' has no 'when'" if other else f"unknown step '{entry.else_}'"
        draft.report(at, what, suggest(entry.else_ or "", conditional, "steps with a 'when'"))
        return None, ()
    if step in graph.upstream(_requires(draft), entry.else_ or ""):
        draft.report(at, f"'{entry.else_}' requires '{step}'", "let neither of the two require the other")
        return None, ()
    said: list[Problem] = []
    quiet = replace(flow, draft=replace(draft, problems=said))
    held = condition(quiet, at, other.when or {}, entry.else_ or "", own=False)
    after = tuple(name for name in other.requires if name not in entry.requires)
    return (Condition(join="none", parts=(held,)) if held else None), after


def _form(flow: Flow, at: Path, entry: GateEntry, step: str) -> Iterator[str]:
    """What is asked at a gate is read behind it: a step before it would be made again, and ask again."""
    draft = flow.draft
    if entry.auto and entry.form:
        draft.report_key((*at, "form"), "an automatic gate asks nobody", "remove one of the two")
    requires = {name: one.requires for name, one in draft.steps.items()}
    before = [name for name in flow.order if name in graph.upstream(requires, step)]
    before += [] if entry.before else [step]
    for index, name in enumerate(entry.form):
        place: Path = (*at, "form", index)
        spec = flow.parameters.get(name)
        if spec is None:
            draft.report(place, f"unknown parameter '{name}'", suggest(name, flow.parameters, "parameters"))
        elif spec.type in NAMED and spec.type != "file":
            draft.report(place, f"the {spec.type} '{name}' is named when the run begins", "ask for it there")
        elif reader := next((one for one in before if name in (draft.steps[one].parameters or ())), None):
            message = f"the step '{reader}' reads '{name}' before it is asked for"
            draft.report(place, message, f"take it out of the 'parameters' of '{reader}'")
        else:
            yield name


def _shown(flow: Flow, at: Path, entry: GateEntry, step: str) -> Iterator[Shown]:
    draft = flow.draft
    own, required = artifacts_of(draft.steps[step]), draft.steps[step].requires
    above = [name for before in required if before in draft.steps for name in artifacts_of(draft.steps[before])]
    artifacts = above if entry.before else own
    for index, written in enumerate(entry.show):
        place: Path = (*at, "show", index)
        one = _entry(flow.draft, place, ShownEntry, written)
        if one is None:
            continue
        artifact = one.artifact or next((name for name in artifacts if name.endswith(".json")), "")
        found = look(flow, place, artifact, one.at, step, own=not entry.before)
        if found:
            yield Shown(found, one.label or one.at.replace("[*]", "").replace(".", " ") or artifact)


def _entry(draft: PipelineDraft, at: Path, model: type[Entry], written: Any) -> Entry | None:
    """One of the places or choices of a gate, which may be written in a short form; what is wrong with it is told."""
    try:
        return model.model_validate(written)
    except ValidationError as error:
        for detail in error.errors(include_url=False, include_context=True):
            path, on_key, message, hint = fault_in(model, detail)
            (draft.report_key if on_key else draft.report)((*at, *path), message, hint)
    return None


def _choices(flow: Flow, at: Path, entry: GateEntry) -> Iterator[Choice]:
    for id_, written in (entry.choices or {}).items():
        place: Path = (*at, "choices", id_)
        one = _entry(flow.draft, place, ChoiceEntry, written)
        if one is None:
            continue
        if not NAME.match(id_) or id_.isdigit():
            flow.draft.report_key(place, f"'{id_}' is not a good id", "small letters, digits, _ and -, not a number")
            continue
        does = one.does or (id_ if id_ in DOES else None)
        if does not in DOES:
            what = f"'{does}' is nothing a choice does" if does else f"what does '{id_}' do?"
            flow.draft.report_key(place, what, f"add 'does: ' with one of {listed(DOES)}")
            continue
        for name, value in one.set.items():
            spec = flow.parameters.get(name)
            if spec is None:
                hint = suggest(name, flow.parameters, "parameters")
                flow.draft.report_key((*place, "set", name), f"unknown parameter '{name}'", hint)
            elif problem := spec.problem(value):
                flow.draft.report((*place, "set", name), problem, "change it")
        yield Choice(id_, one.label, does, one.set)


# -- verdicts on claims


def verdicts(flow: Flow, step: str) -> ArtifactPlace | None:
    """Where the verdicts on claims stand that a person may overrule."""
    entry = flow.draft.steps[step]
    if entry.verdicts is None:
        return None
    at: Path = ("steps", step, "verdicts")
    if not entry.code:
        hint = "let a step of code after it give the verdicts"
        flow.draft.report_key(at, "only code puts the verdict of a person in the place of its own", hint)
        return None
    own = artifacts_of(entry)
    artifact = entry.verdicts.artifact or next((name for name in own if name.endswith(".json")), "")
    if artifact not in own:
        flow.draft.report(
            (*at, "artifact"), f"the step does not make '{artifact}'", suggest(artifact, own, "artifacts")
        )
        return None
    return look(flow, at, artifact, entry.verdicts.at, step, own=True)


# -- units


def units(flow: Flow) -> tuple[Unit, ...]:
    found = [*_repairs(flow), *_loops(flow)]
    found.sort(key=lambda item: len(item[1].steps))
    for index, (at, unit) in enumerate(found):
        _borders(flow, at, unit)
        for _, other in found[:index]:
            shared = {*unit.steps} & {*other.steps}
            if unit.name == other.name or (shared and not {*other.steps} <= {*unit.steps}):
                what = f"overlaps with the unit that {other.name} closes"
                flow.draft.report_key(at, what, "a unit is inside another one, or apart from it; each closes elsewhere")
    return tuple(unit for _, unit in found)


def _repairs(flow: Flow) -> Iterator[tuple[Path, Unit]]:
    draft = flow.draft
    for index, entry in enumerate(draft.file.repair):
        at: Path = ("repair", index)
        unknown = [(i, name) for i, name in enumerate(entry.steps) if name not in draft.steps]
        for i, name in unknown:
            if name not in draft.names("steps"):
                hint = suggest(name, draft.steps, "steps")
                draft.report((*at, "steps", i), f"unknown step '{name}'", hint)
        if unknown or len({*entry.steps}) < len(entry.steps):
            if not unknown:
                draft.report((*at, "steps"), "names a step twice", "remove one of them")
            continue
        steps = tuple(name for name in flow.order if name in entry.steps)
        verifier = entry.steps[-1]
        before = graph.upstream(_requires(draft), verifier)
        apart = [name for name in steps if name != verifier and name not in before]
        if apart:
            what = f"the verifier {verifier} does not depend on {apart[0]}"
            draft.report((*at, "steps"), what, "let it require it, or take it out of the unit")
            continue
        if draft.steps[verifier].pipeline is not None:
            what = f"the verifier {verifier} is a pipeline"
            draft.report((*at, "steps"), what, "let a step that requires it give the verdict")
            continue
        artifact = next((name for name in artifacts_of(draft.steps[verifier]) if name.endswith(".json")), "")
        verdict = _own_look(draft, (*at, "verdict"), artifact, entry.verdict)
        feedback = _own_look(draft, (*at, "feedback"), artifact, entry.feedback)
        counts = _own_look(draft, (*at, "counts"), artifact, entry.counts) if entry.counts is not None else None
        most = _bound(flow, (*at, "rounds"), entry.rounds)
        yield at, Unit("repair", steps, most, verdict, feedback, claims=counts)


def _loops(flow: Flow) -> Iterator[tuple[Path, Unit]]:
    draft = flow.draft
    requires = _requires(draft)
    for name in flow.order:
        entry = draft.steps[name].loop
        if entry is None:
            continue
        at: Path = ("steps", name, "loop")
        before = {*graph.upstream(requires, name), name}
        if entry.to not in before:
            what = (
                f"unknown step '{entry.to}'" if entry.to not in draft.names("steps") else f"{entry.to} is not before it"
            )
            draft.report((*at, "to"), what, suggest(entry.to, sorted(before), "steps before it"))
            continue
        path = {entry.to, name, *(graph.dependents(requires, entry.to) & before)}
        steps = tuple(step for step in flow.order if step in path)
        when = condition(flow, (*at, "when"), entry.when, name, own=True)
        artifact = next((one for one in artifacts_of(draft.steps[name]) if one.endswith(".json")), "")
        feedback = _own_look(draft, (*at, "feedback"), artifact, entry.feedback) if entry.feedback is not None else None
        most = _bound(flow, (*at, "at_most"), entry.at_most)
        yield at, Unit("loop", steps, most, None, feedback, when)


def _own_look(draft: PipelineDraft, at: Path, artifact: str, place: str) -> ArtifactPlace | None:
    if not artifact:
        draft.report_key(at[:-1], "the step that closes it makes no JSON to look into", "let it make a .json artifact")
        return None
    try:
        parse_path(place)
    except ValueError as error:
        draft.report(at, str(error))
        return None
    return ArtifactPlace(artifact, place)


def _bound(flow: Flow, at: Path, written: int | str) -> int | str:
    if isinstance(written, int):
        return written
    spec = flow.parameters.get(written)
    if spec is None:
        hint = suggest(written, flow.parameters, "parameters")
        flow.draft.report(at, f"unknown parameter '{written}'", hint)
    elif spec.type != "integer":
        flow.draft.report(at, f"the parameter {written} is a {spec.type}", "it must be an integer")
    elif spec.minimum is None or spec.minimum < 0:
        flow.draft.report(at, f"the parameter {written} could be negative", "give it 'minimum: 0'")
    return written


def _borders(flow: Flow, at: Path, unit: Unit) -> None:
    """Who reads what a unit makes must come after the unit, or it would read what is about to be made again."""
    requires = _requires(flow.draft)
    for name in flow.order:
        if name in unit.steps or unit.name in graph.upstream(requires, name):
            continue
        inner = [before for before in requires[name] if before in unit.steps]
        if inner:
            what = f"'{name}' reads {inner[0]}, which may be made again until {unit.name} is content"
            flow.draft.report_key(at, what, f"let '{name}' require {unit.name} too, or take it into the unit")


def _requires(draft: PipelineDraft) -> dict[str, Sequence[str]]:
    return {name: entry.requires for name, entry in draft.steps.items()}


def looks(flow: Flow, steps: Mapping[str, Any], found: Sequence[Unit]) -> dict[str, tuple[ArtifactPlace, ...]]:
    """By step: everything that is looked at in what it makes."""
    wanted: list[ArtifactPlace] = []
    for step in steps.values():
        for one in filter(None, (step.when, step.gate.when if step.gate else None)):
            wanted += one.looks()
        wanted += [shown.look for shown in step.gate.show] if step.gate else []
    for unit in found:
        wanted += [one for one in (unit.look, unit.feedback, unit.claims) if one]
        wanted += unit.when.looks() if unit.when else ()
    by_step: dict[str, dict[ArtifactPlace, None]] = {}
    for one in wanted:
        by_step.setdefault(flow.makers[one.artifact], {})[one] = None
    return {name: tuple(found) for name, found in by_step.items()}
