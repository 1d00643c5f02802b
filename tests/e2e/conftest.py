from __future__ import annotations

from pathlib import Path

import pytest

from tests.made import Weft, lay_out


@pytest.fixture
def weft(tmp_path: Path, workspace: Path) -> Weft:
    lay_out(workspace)
    return Weft(workspace)


@pytest.fixture
def source(tmp_path: Path) -> Path:
    path = tmp_path / "poem.txt"
    path.write_text("so much depends upon a red wheel barrow\n")
    return path
