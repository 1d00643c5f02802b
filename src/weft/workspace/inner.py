"""A pipeline that is a step of another, put in the place of the step. How it is read, and what it is given, is in
inner_rules.py.

What comes out is one graph, so that a run has one machine, one log, one budget and one plan; nothing behind this knows
of pipelines in pipelines, except that what makes a step is given the names of its own file (`Step.own`).

    research            the step                research.outline     a step of its pipeline
    research/plan.json  an artifact of it       research.tone        a parameter of it

Whoever requires `research` requires the final step of its pipeline.

With a map there is one such pipeline for each item, `research.anna.outline`, and the step stays: it gathers what they
come to. Its items are known when a run is, so that `unfolded` puts them in then.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import field, replace

from weft.protocol.values import dataclass
from weft.workspace.flow import ArtifactPlace, Budget, Condition, Gate, Unit
from weft.workspace.mapping import ItemPart, item_name
from weft.workspace.pipeline import Given, InnerPipeline, Inside, MappedPipeline, ParameterSpec, Pipeline, Step
from weft.workspace.scope import Taken


def inner_name(place: str, name: str) -> str:
    """A step or a parameter of the pipeline that the step `place` is."""
    return f"{place}.{name}"


def inner_file(place: str, name: str) -> str:
    """An artifact of it: all of them are in one folder, those of a pipeline in it in another."""
    return f"{place}.{name}" if "/" in name else f"{place}/{name}"


@dataclass(frozen=True)
class _Placed:
    """What stands in the place of a step that is a pipeline."""

    steps: Mapping[str, Step]
    parameters: Mapping[str, ParameterSpec]
    units: tuple[Unit, ...]
    held: tuple[InnerPipeline, ...]
    mapped: Mapping[str, MappedPipeline] = field(default_factory=dict)


def expanded(
    pipeline: Pipeline,
    inner: Mapping[str, Given],
    mapped: Mapping[str, MappedPipeline],
    makers: Mapping[str, str],
) -> Pipeline:
    """The pipeline with the steps of its inner ones in the place of theirs."""
    if not inner:
        return pipeline
    finals = {place: inner_name(place, one.child.final) for place, one in inner.items() if place not in mapped}
    steps: dict[str, Step] = {}
    parameters = dict(pipeline.parameters)
    units = [*pipeline.units]
    held: list[InnerPipeline] = []
    unknown: dict[str, MappedPipeline] = {}
    for name, step in pipeline.steps.items():
        one = inner.get(name)
        if one is None or name in mapped:
            steps[name] = replace(
                step, requires=_with_finals(step.requires, finals), replies=_with_finals(step.replies, finals)
            )
        if one is None:
            continue
        placed = _placed(name, step, one, makers, finals)
        parameters |= placed.parameters
        if name in mapped:
            gathers = replace(steps[name], inputs=(), parameters=(), map=None, wait=0.0, until="", budget=Budget())
            steps[name] = replace(gathers, after=_with_finals(step.after, finals))
            found = mapped[name]
            resolved = {artifact: finals.get(maker, maker) for artifact, maker in found.makers.items()}
            outer = replace(steps[name], wait=step.wait, until=step.until)
            unknown[name] = replace(found, makers=resolved, outer=outer)
            held += _held_for_items(name, step, placed.held)
            continue
        steps |= placed.steps
        unknown |= placed.mapped
        units = [_around(unit, name, placed.steps) for unit in units] + [*placed.units]
        held += placed.held
    return replace(
        pipeline,
        steps=steps,
        parameters=parameters,
        units=tuple(sorted(units, key=lambda unit: len(unit.steps))),
        final=finals.get(pipeline.final, pipeline.final),
        inner=tuple(held),
        mapped=unknown,
        warnings=tuple(dict.fromkeys((*pipeline.warnings, *(w for one in inner.values() for w in one.child.warnings)))),
    )


def _placed(name: str, step: Step, one: Given, makers: Mapping[str, str], finals: Mapping[str, str]) -> _Placed:
    steps = {}
    for child in one.child.steps.values():
        embedded = _embedded(name, step, child, one, makers, finals)
        steps[embedded.name] = embedded
    parameters: dict[str, ParameterSpec] = {}
    for key, spec in one.child.parameters.items():
        said = one.parameters.get(key)
        fixed = said is not None and said.parameter is None
        parameters[inner_name(name, key)] = replace(spec, default=said.value) if said and fixed else spec
    units = tuple(_unit(name, unit) for unit in one.child.units)
    mapped = {
        inner_name(name, place): _mapped_within(name, steps[inner_name(name, place)], found, one, makers, finals)
        for place, found in one.child.mapped.items()
    }
    return _Placed(steps, parameters, units, tuple(_held(name, step, one)), mapped)


def _mapped_within(
    name: str,
    step: Step,
    found: MappedPipeline,
    around: Given,
    makers: Mapping[str, str],
    finals: Mapping[str, str],
) -> MappedPipeline:
    """What is made for each item in a pipeline that is itself a step: what it is given comes from further out."""
    inputs: dict[str, str | ArtifactPlace | ItemPart] = {}
    made_by = {inner_file(name, artifact): inner_name(name, maker) for artifact, maker in found.makers.items()}
    for key, source in found.given.inputs.items():
        if isinstance(source, ArtifactPlace):
            inputs[key] = _place(name, source)
        elif isinstance(source, ItemPart):
            inputs[key] = source
        elif (outer := _of_item(name, around).get(source)) is not None:
            inputs[key] = outer
            if isinstance(outer, ArtifactPlace):
                made_by[outer.artifact] = finals.get(makers[outer.artifact], makers[outer.artifact])
    outer_step = replace(step, wait=found.outer.wait, until=found.outer.until) if found.outer else step
    return replace(found, given=replace(found.given, inputs=inputs), makers=made_by, outer=outer_step)


def _held_for_items(name: str, step: Step, held: Iterable[InnerPipeline]) -> list[InnerPipeline]:
    """A person sets the parameters for all items at once, and the step's budget is over all of them."""
    own, *below = held
    budgets = (step.budget,) if step.budget != Budget() else ()
    return [replace(own, steps=(name,), final=name, budgets=budgets)] + [
        replace(one, steps=(), budgets=()) for one in below
    ]


def unfolded(pipeline: Pipeline, place: str, items: Sequence[str], known: str | None) -> Pipeline:
    """The pipeline with the steps of these items before the step that gathers them. `known`: the hash of what the items
    are in."""
    one, gathers = pipeline.mapped[place], pipeline.steps[place]
    child = one.given.child
    outer = replace(one.outer or gathers, gate=None, final=False, looks=(), budget=Budget())
    theirs = {key: Taken(parameter=inner_name(place, key)) for key in child.parameters}
    new: dict[str, Step] = {}
    parameters, units, held = dict(pipeline.parameters), [*pipeline.units], list[InnerPipeline]()
    mapped: dict[str, MappedPipeline] = {}
    finals: list[str] = []
    for key in items:
        spot = inner_name(place, item_name(key))
        placed = _placed(spot, outer, Given(child, one.given.inputs, theirs), one.makers, {})
        new |= placed.steps
        parameters |= placed.parameters
        units += placed.units
        held += placed.held
        mapped |= placed.mapped
        finals.append(inner_name(spot, child.final))
    waits = tuple(name for name in gathers.before if name not in finals)
    steps: dict[str, Step] = {}
    for name, step in pipeline.steps.items():
        if name == place:
            steps |= new
            step = replace(step, requires=tuple(finals), after=waits)
        steps[name] = step
    inside = (*new, place)
    return replace(
        pipeline,
        steps=steps,
        parameters=parameters,
        units=tuple(sorted((_around(unit, place, inside) for unit in units), key=lambda unit: len(unit.steps))),
        inner=(*(replace(one, steps=inside) if one.place == place else one for one in pipeline.inner), *held),
        mapped={**pipeline.mapped, place: replace(one, items=tuple(items), known=known), **mapped},
    )


def written_steps(pipeline: Pipeline) -> dict[str, Step]:
    """Every step as the files have it: one that is made for each item is there once, also before any item is known."""
    found = {name: step for name, step in pipeline.steps.items() if not pipeline.items_around(name)}
    left = [(place, one) for place, one in pipeline.mapped.items() if not pipeline.items_around(place)]
    while left:
        place, one = left.pop()
        placed = _placed(place, one.outer or found[place], one.given, one.makers, {})
        found |= placed.steps
        left += placed.mapped.items()
    return found


def _of_item(place: str, given: Given) -> dict[str, str | ArtifactPlace]:
    """What the inputs of a pipeline are. A part of an item is an input of the run that its step has brought along."""
    return {
        name: item_input(place, source.at) if isinstance(source, ItemPart) else source
        for name, source in given.inputs.items()
    }


def item_input(place: str, at: str) -> str:
    """The input of a run that an item is, or what is at a place in it."""
    return f"{place} {at}" if at else place


def _with_finals(names: tuple[str, ...], finals: Mapping[str, str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(finals.get(name, name) for name in names))


def _embedded(
    place: str, outer: Step, step: Step, given: Given, makers: Mapping[str, str], finals: Mapping[str, str]
) -> Step:
    own, last = step.own, step.name == given.child.final
    first = not step.requires and step.runs == "in_order"
    inputs: dict[str, str | ArtifactPlace] = {}
    taken: list[str] = []
    known = step.inside.inputs if step.inside else {name: name for name in given.child.inputs}
    around = _of_item(place, given)
    reads = {*own.inputs, *(document for _, call in own.checks for document in call.reads)}
    for name, source in known.items():
        if not isinstance(source, str):
            inputs[name] = _place(place, source)
        elif source in around:
            inputs[name] = found = around[source]
            if not isinstance(found, str) and name in reads:
                taken.append(makers[found.artifact])
    requires = tuple(
        dict.fromkeys([*(inner_name(place, one) for one in step.requires), *_with_finals((*taken,), finals)])
    )
    waits = _with_finals(outer.before, finals) if not step.requires or outer.when else ()
    after = tuple(
        one for one in dict.fromkeys([*(inner_name(place, name) for name in step.after), *waits]) if one not in requires
    )
    name = inner_name(place, step.name)
    asks = outer.gate is not None and (first if outer.gate.before else last)
    gate = _gate(place, step.gate) if step.gate else outer.gate if asks else None
    runs, at_end = (step.runs, inner_name(place, step.at_end) if step.at_end else "")
    if outer.runs != "in_order":
        runs, at_end = outer.runs, place
    replies = tuple(inner_name(place, one) for one in step.replies) or ((name,) if gate else ())
    files = dict(zip(step.artifacts, (inner_file(place, one) for one in step.artifacts), strict=True))
    mapped = step.map
    if mapped is not None:
        over = inputs.get(mapped.rows or mapped.pages or "")
        mapped = replace(
            mapped,
            look=_place(place, mapped.look) if mapped.look else None,
            taken_from=over.artifact if isinstance(over, ArtifactPlace) else None,
        )
    return replace(
        step,
        name=name,
        artifacts=tuple(files.values()),
        requires=requires,
        after=after,
        inputs=tuple(one for read in own.inputs if isinstance(one := inputs.get(read), str)),
        parameters=tuple(inner_name(place, one) for one in step.parameters),
        schemas={files[artifact]: schema for artifact, schema in step.schemas.items()},
        checks=tuple((files[artifact], call) for artifact, call in step.checks),
        final=outer.final and last,
        when=_both(outer.when, _condition(place, step.when) if step.when else None),
        gate=gate,
        wait=step.wait + (outer.wait if first else 0.0),
        until=step.until or (outer.until if first else ""),
        runs=runs,
        at_end=at_end,
        map=mapped,
        replies=replies,
        looks=(*(_place(place, one) for one in step.looks), *(outer.looks if last else ())),
        verdicts=_place(place, step.verdicts) if step.verdicts else None,
        prior=tuple(inner_file(place, one) for one in step.prior),
        inside=Inside(
            own,
            inner_name(place, step.inside.place) if step.inside else place,
            inputs,
            step.inside.file if step.inside else given.child.file,
        ),
    )


def _held(place: str, step: Step, given: Given) -> list[InnerPipeline]:
    child = given.child
    own = InnerPipeline(
        place=place,
        pipeline=child.name,
        steps=tuple(inner_name(place, name) for name in child.steps),
        final=inner_name(place, child.final),
        parameters=tuple(inner_name(place, name) for name in child.parameters if not _of_inner(child, name)),
        given={inner_name(place, name): said for name, said in given.parameters.items() if not _of_inner(child, name)},
        budgets=tuple(one for one in (child.budget, step.budget) if one != Budget()),
        depth=child.depth,
        files={child.file: child.hash},
    )
    below = [
        replace(
            one,
            place=inner_name(place, one.place),
            steps=tuple(inner_name(place, name) for name in one.steps),
            final=inner_name(place, one.final),
            parameters=tuple(inner_name(place, name) for name in one.parameters),
            given={
                **{inner_name(place, name): _taken(place, said) for name, said in one.given.items()},
                **{
                    inner_name(place, name): given.parameters[name]
                    for name in one.parameters
                    if name in given.parameters
                },
            },
        )
        for one in child.inner
    ]
    return [own, *below]


def _of_inner(child: Pipeline, name: str) -> bool:
    return any(name in one.parameters for one in child.inner)


def _taken(place: str, said: Taken) -> Taken:
    return said if said.parameter is None else replace(said, parameter=inner_name(place, said.parameter))


def _place(place: str, one: ArtifactPlace) -> ArtifactPlace:
    return replace(one, artifact=inner_file(place, one.artifact))


def _condition(place: str, one: Condition) -> Condition:
    return replace(
        one,
        look=_place(place, one.look) if one.look else None,
        parameter=inner_name(place, one.parameter) if one.parameter is not None else None,
        parts=tuple(_condition(place, part) for part in one.parts),
    )


def _both(outer: Condition | None, own: Condition | None) -> Condition | None:
    return Condition(join="all", parts=(outer, own)) if outer and own else outer or own


def _gate(place: str, gate: Gate) -> Gate:
    return replace(
        gate,
        choices=tuple(
            replace(one, set={inner_name(place, name): value for name, value in one.set.items()})
            for one in gate.choices
        ),
        show=tuple(replace(one, look=_place(place, one.look)) for one in gate.show),
        when=_condition(place, gate.when) if gate.when else None,
        form=tuple(inner_name(place, name) for name in gate.form),
    )


def _unit(place: str, unit: Unit) -> Unit:
    return replace(
        unit,
        steps=tuple(inner_name(place, name) for name in unit.steps),
        most=unit.most if isinstance(unit.most, int) else inner_name(place, unit.most),
        look=_place(place, unit.look) if unit.look else None,
        feedback=_place(place, unit.feedback) if unit.feedback else None,
        when=_condition(place, unit.when) if unit.when else None,
        claims=_place(place, unit.claims) if unit.claims else None,
    )


def _around(unit: Unit, place: str, inside: Iterable[str]) -> Unit:
    """A unit that holds the step holds every step of its pipeline."""
    if place not in unit.steps:
        return unit
    return replace(unit, steps=tuple(new for name in unit.steps for new in (inside if name == place else [name])))
