"""`weft build` and `weft new` as a person types them: what they say to type next is right, and a sample is run."""

from __future__ import annotations

import json
import shlex
from pathlib import Path

from tests.e2e.test_models_command import serving
from tests.made import Weft
from weft.app.library.scaffolding import new_files
from weft.testing.wire import Reply

POINTS = json.dumps({"points": [{"point": "It depends.", "quote": "so much depends"}]})


def test_a_pipeline_that_was_drafted_is_run_on_the_sample(workspace: Path, tmp_path: Path) -> None:
    (tmp_path / "poem.txt").write_text("so much depends upon a red wheel barrow\n")
    files = [{"path": path, "text": text} for path, text in new_files("pipeline", "mail").items()]
    drafted = json.dumps({"kind": "pipeline", "name": "mail", "files": files})
    weft = Weft(workspace)
    with serving([Reply(text=drafted), Reply(text=POINTS), Reply(text="It depends.")]) as server:
        words = ["models", "add", "desk", "--kind", "openai", "--model", "m", "--base-url", server.url, "--no-key"]
        assert weft(*words).code == 0
        assert weft("models", "default", "desk").code == 0
        built = weft("build", "the points of a letter", "--yes", "--sample", tmp_path / "poem.txt")
        assert built.code == 0, built.err
    assert "It depends." in next((workspace / "sessions").glob("poem-*/text.md")).read_text()


def test_what_a_new_pipeline_says_to_type_is_a_command(workspace: Path, tmp_path: Path) -> None:
    (tmp_path / "poem.txt").write_text("so much depends upon a red wheel barrow\n")
    weft = Weft(workspace)
    made = weft("new", "pipeline", "mail")
    assert made.code == 0
    assert made.err.endswith("run mail FILE\n")
    text = (workspace / "pipelines/mail.yaml").read_text()
    typed = next(line.partition("weft ")[2] for line in text.splitlines() if "weft run" in line)
    words = [str(tmp_path / "poem.txt") if word == "FILE" else word for word in shlex.split(typed)]
    ran = weft(*words)
    assert "needs a model" in ran.err, ran.err  # none is connected: up to there everything is right
