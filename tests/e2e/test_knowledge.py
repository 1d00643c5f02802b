"""`weft kb` from the outside: make, fill, search, follow, verify, change, remove."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

ISA_315 = "1. The auditor shall assess risk within 30 days.\n2. See ISA 500.2.\n3. The end of it."
ISA_500 = "1. Evidence is gathered.\n2. Evidence shall be sufficient.\n3. Last one."


@pytest.fixture
def kb(tmp_path: Path) -> Kb:
    (tmp_path / "in").mkdir()
    (tmp_path / "in/isa-315.txt").write_text(ISA_315)
    (tmp_path / "in/isa-500.txt").write_text(ISA_500)
    return Kb(tmp_path)


class Kb:
    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def __call__(self, *words: str, code: int = 0) -> subprocess.CompletedProcess[str]:
        ran = subprocess.run(
            [sys.executable, "-m", "weft", "--workspace", str(self.folder / "desk"), "kb", *words],
            capture_output=True, text=True, check=False, cwd=self.folder, env={**os.environ, "COLUMNS": "80"},
        )  # fmt: skip
        assert ran.returncode == code, ran.stderr + ran.stdout
        return ran


def declare(folder: Path) -> None:
    (folder / "desk/knowledge/audit/collection.yaml").write_text(
        "title: Audit\nkey_from_name: '(\\d{3})'\n"
        "references: [{form: 'ISA {document}[.{paragraph}][({item})]'}]\nfields: {document: '\\d{3}'}\n"
    )


@pytest.mark.slow
def test_a_collection_from_beginning_to_end(kb: Kb) -> None:
    made = kb("create", "audit", "--title", "Audit", "in/isa-315.txt", "--no-vectors")
    assert made.stdout.splitlines()[1] == "1 added; 3 passages"
    declare(kb.folder)
    added = kb("add", "audit", "in/isa-500.txt")
    assert added.stdout == "1 added, 1 changed; 6 passages\n"
    assert kb("update", "audit").stdout == "2 unchanged; 6 passages\n"
    assert kb("list").stdout == "audit\t2 documents\t6 passages\tAudit\n"
    assert [line.split("\t")[0] for line in kb("show", "audit").stdout.splitlines()] == ["315", "500"]
    assert "cites\t500.2" in kb("show", "audit", "ISA 315.2").stdout

    found = [json.loads(line) for line in kb("search", "audit", "is", "proof", "enough?", "--json").stdout.splitlines()]
    assert found[0]["paragraph_ref"] == "500.2", "sufficient evidence, by meaning alone"
    assert "vector" in found[0]["retrieval_path"]
    assert kb("hops", "audit", "315.2").stdout.startswith("500.2  0.90 after 1")

    good = kb("verify", "audit", "Auditors shall assess risk within thirty days", "--passage", "ISA 315.1")
    assert good.stdout.startswith("quoted\t315.1\t")
    bad = kb("verify", "audit", "Auditors shall assess risk within 60 days", "--passage", "ISA 315.1", code=1)
    assert bad.stdout.startswith("contradicted\t315.1\t")
    assert "“60” where the passage has “30”" in bad.stdout

    assert json.loads(kb("status", "audit").stdout)["vectors"]["tables"]["passages"]["vector_count"] == 6
    kb("remove", "audit", "isa-315.txt")
    assert kb("list").stdout == "audit\t1 document\t3 passages\tAudit\n"
    kb("remove", "audit", "--yes")
    assert kb("list").stdout == ""


def test_what_is_wrong_is_told(kb: Kb) -> None:
    assert "make one with `weft init " in kb("list", code=1).stderr
    kb("create", "audit")
    assert "did you mean 'audit'" in kb("search", "audits", "x", code=2).stderr
    missing = kb("add", "audit", "nowhere.md", code=1).stderr
    assert "nowhere.md is not there\n" in missing
    assert "check how it is spelled" in missing
    (kb.folder / "desk/knowledge/audit/collection.yaml").write_text("title: a\nreferences: [{form: 'ISA'}]\n")
    wrong = "knowledge/audit/collection.yaml:2:21: references[0].form: a template needs"
    assert wrong in kb("update", "audit", code=1).stderr
    kb("create", "notes")
    listed = kb("list", code=1)
    assert listed.stdout == "notes\t0 documents\t0 passages\tnotes\n", "one that is broken hides no other"
    assert wrong in listed.stderr


def test_what_can_not_be_taken_in_leaves_no_collection_behind(kb: Kb) -> None:
    (kb.folder / "none").mkdir()
    (kb.folder / "broken.pdf").write_bytes(b"%PDF-1.7 nothing")
    for path in ("none", "nowhere", "broken.pdf"):
        made = kb("create", "audit", path, code=1)
        assert made.stdout == ""
        assert "\n  " in made.stderr, "what to do"
        assert kb("list").stdout == ""
    assert "no collection audit was made" in kb("create", "audit", "none", code=1).stderr
    kb("create", "audit", "in", "--no-vectors")
    assert "weft kb update audit" in kb("add", "audit", "none", code=1).stderr
    assert kb("list").stdout.startswith("audit\t2 documents")
    kb("create", "later")
    assert "weft kb add later FILE" in kb("update", "later").stderr


def test_what_is_asked_for_and_not_there_is_an_error_with_advice(kb: Kb) -> None:
    kb("create", "audit", "in", "--no-vectors")
    assert "weft kb search audit WORDS" in kb("hops", "audit", "zz", code=1).stderr
    assert "nothing to search for" in kb("search", "audit", "", code=2).stderr
    assert "weft kb verify audit" in kb("verify", "audit", "", code=2).stderr
    told = kb("verify", "audit", "Risk is assessed.", "--passage", "nope", code=1)
    assert "audit has no passage nope" in told.stderr
    assert told.stdout.startswith("not checked\tnope")
    (kb.folder / "many.json").write_text("[]")
    assert "a claim is empty" in kb("verify", "audit", "--file", "many.json", code=2).stderr
