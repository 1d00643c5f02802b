"""`weft eval claims`: what verdicts are worth, by code alone and with a model on a loopback address."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.test_models_command import serving
from weft.cli.commands import run_command_line
from weft.testing.wire import Reply

MILL = "The mill burned down in 1871. It was rebuilt two years later."
ROWS = [
    {"claim": "The mill burned down in 1871.", "evidence": MILL, "label": "SUPPORTS"},
    {"claim": "The mill burned down in 1875.", "evidence": MILL, "label": "REFUTES"},
    {"claim": "Fire destroyed the mill in 1871.", "evidence": MILL, "label": "supported"},
    {"claim": "The miller was poor.", "evidence": MILL, "label": "not_enough"},
]


def said(claim: str, verdict: str, words: str, sure: float) -> Reply:
    one = {"claim": claim, "verdict": verdict, "label": "1", "words": words, "sure": sure}
    return Reply(text=json.dumps({"claims": [one]}))


@pytest.fixture
def run(workspace: Path, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> Any:
    file = tmp_path / "claims.jsonl"
    file.write_text("".join(json.dumps(row) + "\n" for row in ROWS))

    def call(*words: str, code: int = 0) -> str:
        given = run_command_line(["--workspace", str(workspace), "eval", "claims", str(file), *words])
        told = capsys.readouterr()
        assert given == code, told.err
        return told.out if code == 0 else told.err

    return call


def test_code_alone_calls_what_it_knows_and_leaves_the_rest(run: Any) -> None:
    told = json.loads(run("--json"))
    assert told["verdicts"]["quoted"] == {"called": 1, "right": 1, "precision": 1.0, "recall": 0.5}
    assert told["verdicts"]["contradicted"] == {"called": 1, "right": 1, "precision": 1.0, "recall": 1.0}
    assert told["not_checked"] == 2
    assert "by code alone" in run()


def test_a_model_judges_the_rest_and_is_held_to_its_words(run: Any, workspace: Path, tmp_path: Path) -> None:
    keep = str(tmp_path / "kept.jsonl")
    replies = [
        said(ROWS[2]["claim"], "supported", "The mill burned down in 1871", 0.95),
        said(ROWS[3]["claim"], "supported", "the miller had no money", 0.9),
    ]
    with serving(replies) as server:
        (workspace / "config.toml").write_text(
            f'[models.work]\nkind = "openai"\nmodel = "m"\nbase_url = "{server.url}"\nkey = "none"\n'
            "price = {input = 1000.0, output = 2000.0}\n"
        )
        told = json.loads(run("--model", "work/m", "--keep", keep, "--json"))
        assert told["verdicts"]["judged"] == {"called": 1, "right": 1, "precision": 1.0, "recall": 0.5}
        assert told["not_checked"] == 1, "words that are not in the evidence are not believed"
        assert told["calibration"] == [{"said": 0.95, "was": 1.0, "claims": 1}]
        assert (told["asks"], told["model"]) == (2, "work/m")
        assert told["cost"] > 0
        again = json.loads(run("--model", "work/m", "--keep", keep, "--json"))
        assert (again["asks"], again["cost"]) == (0, 0.0), "nothing is asked twice"
        assert again["verdicts"] == told["verdicts"]
        assert "judged by work/m" in run("--model", "work/m", "--keep", keep)
        assert len(server.seen) == 2
        stopped = json.loads(run("--model", "work/m", "--at-most", "0", "--json"))
        assert (stopped["claims"], stopped["asks"]) == (2, 0)


def test_a_limit_in_money_needs_a_price_and_counts_what_was_of_no_use(run: Any, workspace: Path) -> None:
    connection = '[models.work]\nkind = "openai"\nmodel = "m"\nbase_url = "{}"\nkey = "none"\n'
    with serving([Reply(text="I would rather not.")] * 20) as server:
        (workspace / "config.toml").write_text(connection.format(server.url))
        told = run("--model", "work/m", "--at-most", "0.5", code=1)
        assert "the evaluation has a limit of $0.5, but the price of work/m is not known" in told
        assert "set a price in config.toml, or give --limit" in told
        assert not server.seen
        (workspace / "config.toml").write_text(connection.format(server.url) + "price = {input = 1e6, output = 1e6}\n")
        stopped = json.loads(run("--model", "work/m", "--at-most", "0.5", "--json"))
        assert (stopped["claims"], stopped["failed"]) == (3, 1), "the second is not asked for"
        assert stopped["cost"] > 0.5
        assert stopped["asks"] == len(server.seen)


def test_what_is_wrong_with_the_file_is_said(run: Any, tmp_path: Path) -> None:
    (tmp_path / "claims.jsonl").write_text('{"claim": "x"}\n')
    assert "line 1 is not" in run(code=2)
    (tmp_path / "claims.jsonl").write_text("\n\n")
    empty = run(code=2)
    assert "has no claims" in empty
    assert '"evidence"' in empty
    (tmp_path / "claims.jsonl").write_text(json.dumps(ROWS[0]) + "\n")
    assert "the embedded model judges nothing" in run("--model", "embedded", code=2)
