"""The checks of the devloop: what a plan, a test report and a decision may not claim."""

from __future__ import annotations

from typing import Any

GRAVE = ("critical", "major")


def findings_are_answered(value: Any, options: dict[str, Any], documents: dict[str, Any]) -> list[str]:
    """Every grave finding of the review is answered by the refined plan, under its id."""
    found = {finding["id"]: finding for finding in documents[options["in"]]["findings"]}
    answered = {answer["id"] for answer in value["answers"]}
    faults = [
        f"the {finding['severity']} finding {name} of the review is not answered: {finding['problem']}"
        for name, finding in found.items()
        if finding["severity"] in GRAVE and name not in answered
    ]
    return faults + [f"the review has no finding {name}" for name in sorted(answered - found.keys())]


def verdict_fits(value: Any, options: dict[str, Any], documents: dict[str, Any]) -> list[str]:
    """A verdict and what it rests on say the same."""
    verdict, failures, code = value["verdict"], value["failures"], value["exit_code"]
    if verdict == "passed" and (failures or code != 0):
        return ["the verdict is passed, but there are failures, or the command did not end with exit code 0"]
    if verdict == "failed" and not failures:
        return ["the verdict is failed, but no failure is named"]
    if verdict == "failed" and not value["feedback"].strip():
        return ["the verdict is failed, but the feedback does not say what to put right"]
    if verdict == "not_checked" and code == 0 and not failures:
        return ["the tests ended well: the verdict is passed"]
    return []


def done_needs_passing_tests(value: Any, options: dict[str, Any], documents: dict[str, Any]) -> list[str]:
    report = documents[options["in"]]
    if value["decision"] != "done" or report["verdict"] == "passed":
        return []
    return [f"done is not possible: the tests are {report['verdict'].replace('_', ' ')}; decide again or stop"]
