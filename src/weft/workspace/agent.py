"""An agent: a markdown file with instructions, and in its front matter what it may use. How its file is read is in
agent_file.py."""

from __future__ import annotations

from typing import Final

from weft.protocol.values import dataclass

FOLDER: Final = ".claude/agents"


@dataclass(frozen=True)
class Agent:
    name: str
    description: str
    text: str
    file: str
    skills: tuple[str, ...]
    tools: tuple[str, ...]
    sources: tuple[str, ...]
    model: str | None
    embedded: str | None
    """`file.py:function` in code/: what runs when no model is connected."""
    hash: str
    profile: tuple[str, ...] = ()
    """Parts of the profile that its steps read."""
    artifacts: tuple[str, ...] = ()
    """Artifacts of earlier steps that its steps read, also when they require those only by way of others."""
    makes: tuple[str, ...] = ()
    """Artifacts that its steps make besides those that a pipeline names, unless another step makes them."""
