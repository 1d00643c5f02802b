"""`weft completion`: the script that makes a shell complete Weft's words."""

from __future__ import annotations

import click
from click.shell_completion import get_completion_class


@click.command("completion")
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
def command(shell: str) -> None:
    """Print the completion script, for example: eval "$(weft completion bash)"."""
    from weft.cli.commands import weft

    completion = get_completion_class(shell)
    if completion is None:
        raise AssertionError(f"click knows no completion for {shell}")
    click.echo(completion(weft, {}, "weft", "_WEFT_COMPLETE").source())
