"""The library that computes vectors reports to nobody, and leaves nothing in a person's home."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

PROGRAM = "from weft.knowledge.embedding import load_embedder; load_embedder().embed(['a tide'])"


@pytest.mark.process
def test_vectors_leave_no_trace(tmp_path: Path) -> None:
    environment = {**os.environ, "HOME": str(tmp_path), "XDG_CACHE_HOME": str(tmp_path / "cache")}
    environment.pop("ORT_DISABLE_TELEMETRY", None)
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM], env=environment, capture_output=True, timeout=120, check=True
    )
    assert done.stderr == b""
    assert list(tmp_path.iterdir()) == []
