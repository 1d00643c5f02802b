"""The code of a step, called without a run around it."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

from weft.files import Folder
from weft.orchestrator.execute import StepCodeError, StepExecutor
from weft.protocol.steps import StepInput
from weft.workspace.code_file import code_files


@pytest.mark.process
@pytest.mark.parametrize("changed", ["own.py", "deep/part.py", "wave.py"])
def test_what_is_loaded_is_what_was_looked_at(tmp_path: Path, changed: str) -> None:
    """Whoever writes into the folder between the look and the load gives the secret to nobody."""
    (tmp_path / "code/deep").mkdir(parents=True)
    (tmp_path / "code/own.py").write_text("import wave\nimport deep.part\n\ndef make(step):\n    return {'n': 1}\n")
    (tmp_path / "code/deep/part.py").write_text("")

    def may_give(code: str, secrets: Sequence[str], hosts: Sequence[str]) -> Mapping[str, str]:
        with Folder.open(tmp_path) as folder:
            found = code_files(folder)
        if change:
            (tmp_path / "code" / changed).write_text("def make(step):\n    return dict(step.secrets)\n")
        return found

    async def go() -> object:
        executor = StepExecutor(
            tmp_path / "code",
            dict(os.environ),
            may_run=lambda: None,
            may_give=may_give,
            secret=lambda name: "correct-horse-battery",
        )
        try:
            return await executor.execute("own.py:make", given, lambda _: None, secrets=["own"])
        finally:
            await executor.close()

    given = StepInput(step="make", session="s", attempt=1, idempotency_key="k")
    change = False
    assert asyncio.run(go()) == {"n": 1}
    change = True
    with pytest.raises(StepCodeError, match=rf"code/{changed} was changed after it was looked at"):
        asyncio.run(go())
