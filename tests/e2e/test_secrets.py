"""A secret is given by name, to the code that declares it and that the person agreed to, and stands in nothing else."""

from __future__ import annotations

import io
import json
from pathlib import Path

import pytest

from tests.e2e.test_consent import hash_in
from tests.made import Ran, Weft
from weft.cli.commands import run_command_line

SECRET = "correct-horse-battery"
PIPELINE = """\
name: letters
description: Uses secrets.
parameters:
  token: {type: secret, description: Which token to use}
steps:
  plain:
    artifact: plain.json
    code: letters.py:plain
    parameters: []
  use:
    artifact: use.json
    code: letters.py:use
    requires: [plain]
    secrets: [own]
    final: true
"""
CODE = """\
import os

def plain(step):
    return {"secrets": sorted(step.secrets)}

def use(step):
    print("progress with", step.secrets["own"])
    own, token = step.secrets["own"], step.secrets[step.parameters["token"]]
    in_environment = own in str(dict(os.environ))
    return {"names": sorted(step.secrets), "leaked": own, "token": len(token), "environment": in_environment}
"""


@pytest.fixture
def secretive(weft: Weft, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Weft:
    monkeypatch.setenv("WEFT_CREDENTIALS_KEY", "open sesame")
    (weft.workspace / "pipelines/letters.yaml").write_text(PIPELINE)
    (weft.workspace / "code/letters.py").write_text(CODE)
    for name, secret in (("own", SECRET), ("other", "another-secret-12")):
        monkeypatch.setattr("sys.stdin", io.StringIO(f"{secret}\n"))
        assert run_command_line(["secrets", "set", name]) == 0
    assert run_command_line(["secrets", "list"]) == 0
    told = capsys.readouterr()
    assert told.out == "other\nown\n"
    assert SECRET not in told.err
    return weft


def everything(weft: Weft, ran: Ran) -> str:
    files = [path.read_bytes().decode("utf-8", "replace") for path in weft.workspace.rglob("*") if path.is_file()]
    return "\n".join([ran.out, ran.err, *files])


def test_nothing_is_left_of_a_secret_where_a_long_error_is_cut(secretive: Weft, source: Path) -> None:
    (secretive.workspace / "code/letters.py").write_text(
        CODE.replace(
            "    own, token =",
            '    raise ValueError("x " * 1_995 + step.secrets["own"] + " y" * 500)\n    own, token =',
        )
    )
    words = ("run", source, "--session-id", "poem", "--json", "--set", "token=other")
    refused = secretive(*words)
    ran = secretive(*words, "--trust", hash_in(refused.err))
    assert ran.code == 1
    assert "characters)" in everything(secretive, ran)
    assert SECRET[:8] not in everything(secretive, ran)


def test_a_key_in_several_lines_is_kept_whole(secretive: Weft, source: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    key = "-----BEGIN KEY-----\nq8w7e6r5t4z3u2i1\n-----END KEY-----"
    monkeypatch.setattr("sys.stdin", io.StringIO(f"{key}\n"))
    assert run_command_line(["secrets", "set", "other"]) == 0
    words = ("run", source, "--session-id", "poem", "--json", "--set", "token=other")
    refused = secretive(*words)
    ran = secretive(*words, "--trust", hash_in(refused.err))
    assert ran.code == 0, ran.err
    assert json.loads((secretive.session("poem") / "use.json").read_text())["token"] == len(key)


def test_a_secret_reaches_its_step_and_nothing_else(secretive: Weft, source: Path) -> None:
    words = ("run", source, "--session-id", "poem", "--json", "--set", "token=other")
    refused = secretive(*words)
    assert refused.code == 5, "own code, but what it is given is asked about"
    assert "secret own" in refused.err
    ran = secretive(*words, "--trust", hash_in(refused.err))
    assert ran.code == 0, ran.err
    made = json.loads((secretive.session("poem") / "use.json").read_text())
    assert made == {"names": ["other", "own"], "leaked": "[secret own]", "token": 17, "environment": False}
    assert json.loads((secretive.session("poem") / "plain.json").read_text()) == {"secrets": []}
    assert SECRET not in everything(secretive, ran)
    assert "progress with [secret own]" in ran.out
    again = secretive("run", source, "--session-id", "poem", "--json")
    assert again.code == 0, again.err


def test_code_that_was_changed_on_the_way_is_given_nothing(secretive: Weft, source: Path) -> None:
    """In a folder of the person's own nobody is asked about code, and a step before it can write there."""
    code = secretive.workspace / "code/letters.py"
    theirs = "def use(step):\n    return {'names': [value[::-1] for value in step.secrets.values()]}\n"
    other = secretive.workspace / "code/first.py"
    other.write_text(f"def plain(step):\n    open({str(code)!r}, 'w').write({theirs!r})\n    return {{}}\n")
    pipeline = secretive.workspace / "pipelines/letters.yaml"
    pipeline.write_text(PIPELINE.replace("letters.py:plain", "first.py:plain"))
    words = ("run", source, "--session-id", "poem", "--set", "token=other")
    ran = secretive(*words, "--trust", hash_in(secretive(*words).err))
    assert ran.code == 1, ran.err
    assert "nobody has agreed to what the step letters.py:use is given" in ran.err
    assert SECRET[::-1] not in everything(secretive, ran)


def test_a_parameter_takes_the_name_alone(secretive: Weft, source: Path) -> None:
    for given in ("ghp_0123456789abcdefghij", "Not A Name!"):
        refused = secretive("run", source, "--session-id", "poem", "--set", f"token={given}")
        assert refused.code == 2
        assert "looks like a secret" in refused.err
        assert given not in everything(secretive, refused)
    assert secretive("run", source).code == 2, "it has to be named"
    missing = secretive("run", source, "--set", "token=nobody")
    assert missing.code in (1, 5)
    assert not list(secretive.workspace.glob("sessions/*/log.jsonl")), "nothing was recorded"
