"""`weft eval`: what verdicts on claims are worth, on claims with labels; what a pipeline is worth, on a folder of
inputs. Both give one result: `kind`, `of`, `cases`, and how many `asks`, what `failed`, what it `cost`."""

from __future__ import annotations

import asyncio
import json
import sys
from pathlib import Path
from typing import Any

import click

from weft.app import evaluate, evaluate_with, read_labelled
from weft.cli.models import model_settings
from weft.cli.place import json_option, open_app, pairs, trust_option, workspace_option
from weft.protocol.errors import EXIT_DONE, EXIT_FAILED


@click.group("eval")
def command() -> None:
    """Measure what verdicts and pipelines are worth."""


@command.command("claims")
@click.argument("file", type=click.Path(exists=True, dir_okay=False))
@click.option(
    "--model", default=None, help="Let this model judge what code does not know; it is really called, and paid."
)
@click.option("--limit", type=click.IntRange(1), default=None, help="Only the first so many claims.")
@click.option("--at-most", type=float, default=None, metavar="DOLLARS", help="Ask no more once it has cost this much.")
@click.option("--keep", type=click.Path(dir_okay=False), default=None, help="Keep answers here, and ask none twice.")
@json_option
@workspace_option
def claims(
    file: str, model: str | None, limit: int | None, at_most: float | None, keep: str | None, as_json: bool
) -> int:
    """Precision and recall of quoted, judged and contradicted on FILE: JSON lines of claim, evidence and label."""
    rows = read_labelled(Path(file))[:limit]
    if model is None:
        told = evaluate(rows)
    else:
        chosen, kept = model_settings().chosen(model), Path(keep) if keep else None
        told = asyncio.run(
            evaluate_with(chosen, rows, tell=lambda text: print(text, file=sys.stderr), at_most=at_most, keep=kept)
        )
    whole = {"kind": "claims", "of": file, "cases": len(rows), **told}
    print(json.dumps(whole, ensure_ascii=False) if as_json else _table(told))
    return EXIT_DONE


@command.command("pipeline")
@click.argument("name")
@click.argument("folder", type=click.Path(exists=True, file_okay=False, path_type=Path))
@click.option(
    "--model", "models", multiple=True, help="A variant in which this model makes every step; several may be."
)
@click.option(
    "--set",
    "sets",
    multiple=True,
    metavar="NAME=VALUE",
    help="A variant with this value of a parameter; several may be.",
)
@click.option(
    "--agent",
    "agents",
    multiple=True,
    metavar="NAME=OTHER",
    help="A variant in which the agent OTHER is in the place of NAME: another prompt; several may be.",
)
@click.option("--judge", default=None, metavar="MODEL", help="The model that says yes or no to what `judge` expects.")
@json_option
@workspace_option
@trust_option
def pipeline(
    name: str,
    folder: Path,
    models: tuple[str, ...],
    sets: tuple[str, ...],
    agents: tuple[str, ...],
    judge: str | None,
    as_json: bool,
) -> int:
    """Run the pipeline NAME over the files of FOLDER, variants side by side, and hold results to what is expected.

    `FILE.expect.yaml` beside a file says what: by artifact, checks as a pipeline has them, and `judge: SENTENCE`. Cut
    off, the same command goes on; each file with each variant is an archived session.
    """
    from weft.app.library.pipeline_evaluation import Variant, evaluate_pipeline, read_cases
    from weft.protocol.commands import StartRun

    cases = read_cases(folder)
    variants = [Variant(one, StartRun(model=one)) for one in models]
    variants += [Variant(word, StartRun(parameters=pairs([word], "--set", "VALUE"))) for word in sets]
    variants += [Variant("as it is", StartRun())] if agents and not variants else []
    variants += [Variant(word, StartRun(), pairs([word], "--agent", "OTHER")) for word in agents]
    with open_app(runs=True) as app:
        asked = app.models().open(judge, dict) if judge else None
        told = asyncio.run(
            evaluate_pipeline(
                app,
                name,
                cases,
                variants or [Variant("as it is", StartRun())],
                judge=asked,
                tell=lambda text: print(text, file=sys.stderr),
            )
        )
    print(json.dumps(told, ensure_ascii=False) if as_json else _pipeline_table(told))
    return EXIT_FAILED if any(one["failed"] for one in told["variants"].values()) else EXIT_DONE


def _pipeline_table(told: dict[str, Any]) -> str:
    lines = [f"{told['of']} over {told['cases']} inputs"]
    for name, one in told["variants"].items():
        first = "–" if one["first_share"] is None else f"{one['first_share']:.0%}"
        cost = "unknown" if one["cost"] is None else f"${one['cost']:.4f}"
        lines.append(f"{name}: {one['done']} done, {one['failed']} failed, {first} of steps at the first try")
        unsaid = f", {one['not_checked']} need --judge" if one["not_checked"] else ""
        lines.append(f"  expectations {one['passed']} of {one['expected']}{unsaid}; {one['asks']} calls, cost {cost}")
        lines.append(f"  time {'–' if one['ms'] is None else str(one['ms']) + ' ms'} (the middle one)")
        if one["differs"]:
            lines.append(
                f"  differs in {', '.join(f'{count} {artifact}' for artifact, count in one['differs'].items())}"
            )
    lines += [f"  {one['case']} ({one['variant']}): {found}" for one in told["results"] for found in one["findings"]]
    return "\n".join(lines)


def _table(told: dict[str, Any]) -> str:
    by = f", judged by {told['model']}" if "model" in told else ", by code alone"
    lines = [f"{told['claims']} claims{by}", f"{'':<14}{'called':>8}{'right':>8}{'precision':>11}{'recall':>9}"]
    for state, one in told["verdicts"].items():
        shown = [f"{one[name]:.3f}" if one[name] is not None else "–" for name in ("precision", "recall")]
        lines.append(f"{state:<14}{one['called']:>8}{one['right']:>8}{shown[0]:>11}{shown[1]:>9}")
    lines.append(f"{'not checked':<14}{told['not_checked']:>8}")
    lines += [
        f"said {one['said']:.0%} sure, right {one['was']:.0%} ({one['claims']} claims)" for one in told["calibration"]
    ]
    if "model" in told:
        price = "unknown" if told["cost"] is None else f"${told['cost']:.4f}"
        lines.append(f"{told['asks']} calls, cost {price}" + (f", {told['failed']} failed" if told["failed"] else ""))
    return "\n".join(lines)
