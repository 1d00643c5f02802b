"""The same input gives the same bytes, in any process."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.models import kits
from weft.models import embedded
from weft.models.embedded.reading import read

ROOT = Path(__file__).parent.parent.parent
SCRIPT = """
import hashlib
from tests.models import kits
from weft.models import embedded
found = hashlib.sha256()
for name in kits.NAMES:
    found.update(kits.as_bytes(kits.kit_of(name)))
print(found.hexdigest())
"""


@pytest.mark.slow
def test_the_same_bytes_in_every_process() -> None:
    """Python shuffles its sets anew in each process; nothing of that may show."""
    found = set()
    for seed in ("0", "4242"):
        surroundings = {**os.environ, "PYTHONHASHSEED": seed}
        done = subprocess.run(
            [sys.executable, "-c", SCRIPT],
            cwd=ROOT,
            env=surroundings,
            capture_output=True,
            text=True,
            check=True,
            timeout=50,
        )
        found.add(done.stdout)
    assert len(found) == 1


@pytest.mark.parametrize("name", kits.NAMES)
def test_the_same_bytes_again(name: str) -> None:
    first = kits.as_bytes(kits.make(kits.text_of(name)))
    read.cache_clear()
    assert kits.as_bytes(kits.make(kits.text_of(name))) == first


@pytest.mark.parametrize("name", ["night-trains.md", "wald.md", "minutes.md"])
def test_a_topic_the_text_does_not_have_is_never_claimed(name: str) -> None:
    kit = kits.make(kits.text_of(name), {"topics": [{"topic": "glaciology", "interestLevel": 5}]})
    assert kit.summary["score"]["relevanceToUser"] == 0.0
    assert "glaciology" not in str(kit.whole)


def test_an_edited_summary_changes_what_follows() -> None:
    """What a person puts into the summary is told there, and not again among the ideas."""
    kit = kits.kit_of("night-trains.md")
    figure = kit.ideas["numbers"][0]["text"]
    edited = {**kit.summary, "bullets": [*kit.summary["bullets"], figure]}
    assert figure not in str(embedded.ideas(kit.text, edited))
