"""Reads what systems older than the log left in a session folder: three shapes of manifest, or none at all.

| shape | version 1 manifest with |
|---|---|
| `hashes`   | `createdAt`, `sourceHash`, and per phase a status with a content hash |
| `phases`   | per phase the word "done" |
| `pipeline` | `pipeline`, `desiredOutput`, and per step of that pipeline the word "done" |
| `none`     | nothing: artifacts and perhaps `content.md` |

A manifest is only a claim. Here it is parsed and nothing more: whether an artifact counts is decided by validating it.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import field
from typing import Any, Final, Literal

from weft.files import Folder
from weft.protocol.json_text import json_value
from weft.protocol.values import dataclass
from weft.session.log import LOG
from weft.session.manifest import MANIFEST
from weft.session.session import OWN_FOLDERS

Shape = Literal["hashes", "phases", "pipeline", "none"]

PHASES: Final = {
    "analyzing": "summary.json",
    "generating_ideas": "ideas.json",
    "building_outline": "outline.json",
    "assembling_kit": "writing-kit.json",
}
"""What the fixed phases of the older manifests produced."""
_BY_THEMSELVES: Final = "the artifacts are judged by themselves"


@dataclass(frozen=True, slots=True)
class Claim:
    """What the old manifest says of a phase or step."""

    done: bool
    status: str
    hash: str | None = None
    """The first 16 hex digits of the artifact's SHA-256, where the shape has one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Legacy:
    shape: Shape
    pipeline: str | None = None
    desired: str | None = None
    source_hash: str | None = None
    by_artifact: Mapping[str, Claim] = field(default_factory=dict)
    by_step: Mapping[str, Claim] = field(default_factory=dict)
    notes: tuple[str, ...] = ()

    def claim(self, step: str, artifact: str) -> Claim | None:
        return self.by_step.get(step) or self.by_artifact.get(artifact)


def older_files(folder: Folder) -> set[str]:
    """What lies in a folder without a log and is not of our own making."""
    return {name for name in folder.names() if not name.startswith(".")} - {LOG, *OWN_FOLDERS}


def read_legacy(folder: Folder) -> Legacy:
    """What an older system says of this folder. Never fails: what can't be read becomes a note."""
    data = folder.read_or_none(MANIFEST)
    if data is None:
        return Legacy(shape="none")
    try:
        found = json_value(data)
    except ValueError as error:
        return Legacy(shape="none", notes=(f"{MANIFEST} is not JSON ({error}); {_BY_THEMSELVES}",))
    if not isinstance(found, dict) or found.get("version") != 1 or not isinstance(found.get("steps"), dict):
        return Legacy(shape="none", notes=(f"{MANIFEST} has no known shape; {_BY_THEMSELVES}",))
    claims: dict[str, Claim] = {}
    notes: list[str] = []
    for name, value in found["steps"].items():
        claim = _claim(value)
        if claim is None:
            notes.append(f"{MANIFEST} says {json.dumps(value)[:60]} of {name}: not understood, taken as not done")
        else:
            claims[name] = claim
    if isinstance(found.get("pipeline"), str):
        return Legacy(
            shape="pipeline",
            pipeline=found["pipeline"],
            desired=_text(found.get("desiredOutput")),
            by_step=claims,
            notes=tuple(notes),
        )
    notes += [f"{MANIFEST} names a phase {name!r} that no older version had" for name in claims if name not in PHASES]
    return Legacy(
        shape="hashes" if "sourceHash" in found else "phases",
        source_hash=_text(found.get("sourceHash")),
        by_artifact={PHASES[name]: claim for name, claim in claims.items() if name in PHASES},
        notes=tuple(notes),
    )


def old_hash(data: bytes) -> str:
    """How the older manifests named content."""
    return hashlib.sha256(data).hexdigest()[:16]


def _claim(value: Any) -> Claim | None:
    if value == "done":
        return Claim(done=True, status="done")
    if isinstance(value, dict) and value.get("status") in ("pending", "in_progress", "completed", "failed"):
        status = value["status"]
        return Claim(done=status == "completed", status=status, hash=_text(value.get("contentHash")))
    return None


def _text(value: Any) -> str | None:
    return value if isinstance(value, str) and value else None
