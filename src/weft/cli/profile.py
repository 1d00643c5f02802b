"""`weft profile`: what Weft knows of the person it writes for, in profile.json."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import click

from weft.app import PROFILE_FILE, WriterProfile, change_profile, profile_parts
from weft.cli.place import ensure_workspace, json_option, open_app, workspace_option, workspace_path
from weft.cli.run_options import profile_options
from weft.protocol.errors import UsageError


@click.group("profile")
def command() -> None:
    """Show or change what is known of you: topics, tone, length, voice, samples of your writing."""


@command.command("show")
@json_option
@workspace_option
def show(as_json: bool) -> None:
    """Show the profile, with the defaults for what is not set."""
    with open_app() as app:
        value, writer = app.workspace.profile(), app.workspace.writer()
    if as_json:
        print(json.dumps(value, ensure_ascii=False))
        return
    print(_told(writer))
    print(f"in {workspace_path() / PROFILE_FILE}", file=sys.stderr)


@command.command("set")
@click.option(
    "--sample", "samples", multiple=True, metavar="FILE", help="A piece of your own writing; may be repeated."
)
@click.option("--no-samples", is_flag=True, help="Forget the samples.")
@workspace_option
def set_(samples: tuple[str, ...], no_samples: bool, **given: Any) -> None:
    """Change the parts that are named; everything else stays as it is. The next run makes again what depends on it."""
    parts = profile_parts(given)
    if not parts and not samples and not no_samples:
        raise UsageError(
            "there is nothing to set", hint="name a part, such as --topics, --tone, --word-count, --voice or --sample"
        )
    ensure_workspace(workspace_path())
    with open_app() as app:
        print(_told(change_profile(app.workspace, parts, [Path(name) for name in samples], forget_samples=no_samples)))


for _option in reversed(profile_options("from now on")):
    set_ = _option(set_)


def _told(profile: WriterProfile) -> str:
    topics = ", ".join(f"{topic.topic}:{topic.interestLevel}" for topic in profile.topics)
    samples = sum(len(sample.split()) for sample in profile.writingSamples)
    style = profile.style
    lines = {
        "topics": topics or "none",
        "tone": style.tone,
        "word count": str(style.targetWordCount),
        "voice": style.voice,
        "samples": f"{len(profile.writingSamples)} with {samples:,} words" if profile.writingSamples else "none",
    }
    return "\n".join(f"{name:<11} {value}" for name, value in lines.items())
