"""The OpenAPI document is true: what it says is what the server does, for requests that nobody thought of.

A sample of each operation in the default lane; more of each is a campaign. The server is a real one with a real
workspace; requests carry a token, so that they get past the guard to what is behind it.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any, cast

import pytest
import schemathesis
import schemathesis.errors
from hypothesis import HealthCheck, Phase, given, settings
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import response_schema_conformance, status_code_conformance

from tests.web.served import Client, Running, begin, until
from weft.web.api import FIRST, ApiInSteps, make_api
from weft.web.asking import Served

pytestmark = pytest.mark.process

STREAMS = ("follow", "follow_all")
"""They do not end."""
LEFT_OUT = (
    "revoke_token",
    "trash_session",
    "try_model",
    "choose_model",
    "lay_pack",
    "save_profile",
    "begin",
    "upload",
    "plan_new",
)
"""They would sign the test out, take its session away, call models, or fetch whatever address comes along."""
EXAMPLES = int(os.environ.get("WEFT_REQUESTS", "3"))


@pytest.fixture(scope="module")
def session(browser: Client) -> str:
    name = begin(browser)
    until(browser, name, "run_ended")
    return name


def _operations() -> list[str]:
    paths = make_api(cast(Served, None)).openapi()["paths"]
    found = [one["operationId"] for methods in paths.values() for one in methods.values()]
    return [name for name in found if name not in (*STREAMS, *LEFT_OUT)]


@pytest.fixture(scope="module")
def schema(server: Running) -> schemathesis.BaseSchema:
    client = server.with_token("read", "write")
    return schemathesis.openapi.from_url(f"{server.address}/api/openapi.json", headers=client.headers)


def test_every_operation_does_what_the_document_says(
    schema: schemathesis.BaseSchema, server: Running, session: str, home: Path
) -> None:
    headers = server.with_token("read", "write").headers
    checks = [not_a_server_error, status_code_conformance, response_schema_conformance]
    wanted, tried, wrong = set(_operations()), set[str](), list[str]()
    for result in schema.get_all_operations():
        operation = cast(Any, result).ok()
        name = operation.definition.raw["operationId"]
        if name not in wanted:
            continue
        tried.add(name)

        @settings(
            max_examples=EXAMPLES,
            phases=[Phase.generate],
            deadline=None,
            derandomize=True,
            database=None,
            suppress_health_check=list(HealthCheck),
        )
        @given(case=operation.as_strategy())
        def try_it(case: Any) -> None:
            case.path_parameters = {
                **case.path_parameters,
                **{
                    key: known
                    for key, known in (("workspace", "desk"), ("session", session))
                    if key in case.path_parameters
                },
            }
            case.call_and_validate(checks=checks, headers=headers, timeout=60)

        try:
            try_it()
        except (schemathesis.errors.SchemathesisError, BaseExceptionGroup, AssertionError) as error:
            wrong.append(f"{name}: {error}")
    assert wrong == []
    assert tried == wanted


def test_what_the_first_step_of_the_api_does_not_know_is_asked_of_the_second() -> None:
    api = ApiInSteps(cast(Served, None))
    whole = make_api(cast(Served, None)).openapi()["paths"]
    first = make_api(cast(Served, None), FIRST).openapi()["paths"]
    for path, methods in whole.items():
        for method in methods:
            scope = {"type": "http", "method": method.upper(), "path": path, "headers": [], "path_params": {}}
            assert api.is_later(scope) is (method not in first.get(path, ())), f"{method} {path}"
    assert api.is_later({"type": "http", "method": "GET", "path": "/api/openapi.json", "headers": []})
    assert not api.is_later({"type": "http", "method": "GET", "path": "/s/tides", "headers": []})
