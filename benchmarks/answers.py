"""Does the embedded engine answer what the documents say, and stay silent on what they do not?

    python -m benchmarks.answers [--cranfield FOLDER]

The documents are the Debian policy manual (the package `debian-policy`). Asked are questions it answers, written for
this; questions of everyday life it does not; and, from FOLDER or WEFT_CRANFIELD, every fourth question of the Cranfield
collection, which are about aerodynamics. Skipped with a word when the manual is not there.
"""

from __future__ import annotations

import argparse
import gzip
import os
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from benchmarks.retrieval import records
from weft.files import Folder
from weft.knowledge.knowledge_base import KnowledgeBase, add_files, create_collection, open_collection
from weft.knowledge.research.quick import answer_question

POLICY = Path("/usr/share/doc/debian-policy/policy.txt.gz")
ANSWERED = """
When should a package use Pre-Depends?
Where must log files be placed?
How must a shared library package be named?
Which user ids are statically allocated?
May a package modify conffiles of another package?
What must the copyright file contain?
How are man pages compressed?
What does the postinst script do when called with configure?
Which fields are mandatory in a source control file?
Can packages ask questions during installation?
What is an epoch in a version number?
Must init scripts support restart?
Where do cron jobs go?
How should scripts handle errors?
What is a virtual package?
"""
ELSEWHERE = """
How do I bake bread?
Who won the football world cup in 1998?
What is the capital of France?
How long do elephants live?
What are the side effects of aspirin?
How is the interest on a mortgage calculated?
Which poems did Goethe write about nature?
What should I wear to a wedding in summer?
How many moons does Jupiter have?
When was the French revolution?
"""


def lines(text: str) -> list[str]:
    return [line for line in text.splitlines() if line]


def measure(knowledge: KnowledgeBase, name: str, questions: Sequence[str]) -> None:
    begun = time.monotonic()
    answers = [answer_question(knowledge, question, session="bench") for question in questions]
    seconds = (time.monotonic() - begun) / max(1, len(questions))
    found = [answer for answer in answers if not answer["nothing_found"]]
    verified = sum(answer["verification"]["verified"] for answer in found)
    total = sum(answer["verification"]["total"] for answer in found)
    print(f"| {name} | {len(questions)} | {len(found)} | {verified} of {total} | {seconds:.2f} s |")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cranfield", type=Path, default=os.environ.get("WEFT_CRANFIELD"))
    given = parser.parse_args()
    if not POLICY.exists():
        sys.exit(f"skipped: {POLICY} is not there (apt-get install debian-policy)")
    with tempfile.TemporaryDirectory() as place, Folder.open(Path(place)) as workspace:
        manual = Path(place) / "policy.txt"
        manual.write_bytes(gzip.decompress(POLICY.read_bytes()))
        create_collection(workspace, "policy")
        with open_collection(workspace, "policy") as knowledge:
            add_files(knowledge, [manual])
            knowledge.update()
            knowledge.fill()
            print("| questions | asked | answered | sentences verified | each |\n| --- | --- | --- | --- | --- |")
            measure(knowledge, "the manual answers", lines(ANSWERED))
            measure(knowledge, "of everyday life", lines(ELSEWHERE))
            if given.cranfield:
                asked = [one["W"] for one in records(Path(given.cranfield) / "cran.qry")][::4]
                measure(knowledge, "of aerodynamics", asked)


if __name__ == "__main__":
    main()
