"""What comes in and what does not, as a pure function of a request's head."""

from __future__ import annotations

import asyncio
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from weft.access import ME, Access, Identity
from weft.web.guard import (
    FRAME_POLICY,
    PAGE_POLICY,
    Attempts,
    Guard,
    House,
    Message,
    Receive,
    RequestHead,
    Scope,
    Send,
    Way,
    loopback_origins,
    named_origins,
    refusal,
)
from weft.web.pages import is_place


@pytest.mark.parametrize("address", ["/", "/s/one", "/sessions?q=tide&state=done", "/s/é/step/x"])
def test_a_place_of_the_page_is_gone_on_to(address: str) -> None:
    assert is_place(address)


@pytest.mark.parametrize(
    "address", ["", "s/one", "//evil.example", "/\\evil.example", "https://x", "/a\r\nX: 1", "/a b", "/a\\b"]
)
def test_no_other_host_is_gone_on_to(address: str) -> None:
    assert not is_place(address)


HOUSE = House(
    loopback_origins(8700),
    (
        Way("/", "open"),
        Way("/api", "signed-in"),
        Way("/api/upload", "signed-in", limit=100),
        Way("/mcp", "token"),
        Way("/frame", "frame"),
        Way("/sign-in", "sign-in"),
    ),
)
BROWSER = Identity(person=ME, role="administer", by="browser", id="1")
TOKEN = Identity(person=ME, role="administer", by="token", id="2")
OWN = "http://127.0.0.1:8700"
GET = RequestHead("GET", "/api/sessions", host="127.0.0.1:8700")
POST = RequestHead("POST", "/api/sessions", host="127.0.0.1:8700", origin=OWN, fetched_by_page=True)


def status(head: RequestHead, who: Identity | None, house: House = HOUSE) -> int:
    found = refusal(head, house, who)
    return 200 if found is None else found.status


def test_who_is_signed_in_comes_in() -> None:
    assert status(GET, BROWSER) == status(POST, BROWSER) == status(GET, TOKEN) == status(POST, TOKEN) == 200


@pytest.mark.parametrize("path", ["/api", "/api/sessions", "/mcp", "/api/upload/x"])
@pytest.mark.parametrize("method", ["GET", "POST", "PUT", "DELETE", "PATCH", "HEAD", "OPTIONS"])
def test_nobody_else_does(path: str, method: str) -> None:
    assert status(replace(POST, path=path, method=method), None) == 401


@pytest.mark.parametrize(
    "host", ["evil.example:8700", "127.0.0.1", "127.0.0.1:80", "localhost.evil.example:8700", "", "\0", "[::2]:8700"]
)
@pytest.mark.parametrize("path", ["/", "/api/sessions", "/mcp", "/frame/x", "/sign-in"])
def test_a_name_that_is_not_ours_is_turned_away_everywhere(host: str, path: str) -> None:
    assert status(replace(GET, host=host, path=path), BROWSER) == 421


@pytest.mark.parametrize("host", ["localhost:8700", "LOCALHOST:8700", "[::1]:8700"])
def test_our_own_names_are_known(host: str) -> None:
    assert status(replace(GET, host=host), BROWSER) == 200


@pytest.mark.parametrize(
    "origin", ["http://evil.example", "https://127.0.0.1:8700", "http://127.0.0.1:8701", "null", "\0", "file://"]
)
@pytest.mark.parametrize("path", ["/api/sessions", "/sign-in", "/frame/x"])
def test_a_page_of_another_origin_is_turned_away(origin: str, path: str) -> None:
    for method in ("GET", "POST"):
        assert status(replace(POST, method=method, origin=origin, path=path), BROWSER) == 403


def test_a_cookie_alone_changes_nothing() -> None:
    """What a form or an image of another site can send: the cookie, and nothing that the page's script adds."""
    assert status(replace(POST, origin="", fetched_by_page=True), BROWSER) == 403
    assert status(replace(POST, fetched_by_page=False), BROWSER) == 403
    assert status(replace(POST, site="cross-site"), BROWSER) == 403
    assert status(replace(POST, origin="", fetched_by_page=False), TOKEN) == 200


def test_a_body_that_is_told_to_be_too_large_is_not_read() -> None:
    assert status(replace(POST, path="/api/upload/x", length=100), BROWSER) == 200
    assert status(replace(POST, path="/api/upload/x", length=101), BROWSER) == 413


def test_the_longest_way_counts_and_only_at_whole_parts() -> None:
    assert HOUSE.way("/api/upload").limit == 100
    assert HOUSE.way("/api/uploads").limit > 100
    assert HOUSE.way("/apix").kind == "open"
    assert House(HOUSE.origins, ()).way("/anything").kind == "signed-in"


def test_names_beyond_loopback() -> None:
    assert named_origins(["Weft.Example"], 443, "https") == {"https://weft.example:443", "https://weft.example"}
    assert named_origins(["weft.example"], 8443, "https") == {"https://weft.example:8443"}


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


def test_tries_to_sign_in_are_counted_for_each_and_for_all() -> None:
    clock = Clock()
    attempts = Attempts(clock)
    assert [attempts.allowed("a") for _ in range(7)] == [True] * 5 + [False] * 2
    assert attempts.allowed("b")
    clock.now = 61
    assert attempts.allowed("a")
    assert sum(attempts.allowed(str(number)) for number in range(50)) == 19


def ask(
    guard: Guard, method: str, path: str, headers: dict[str, str], body: list[bytes] | None = None
) -> tuple[int, dict[str, str], bytes]:
    sent: list[Message] = []
    chunks = [*(body or [b""])]

    async def receive() -> Message:
        data = chunks.pop(0)
        return {"type": "http.request", "body": data, "more_body": bool(chunks)}

    async def send(message: Message) -> None:
        sent.append(message)

    scope: Scope = {
        "type": "http",
        "method": method,
        "path": path,
        "headers": [(name.lower().encode(), value.encode()) for name, value in headers.items()],
        "client": ("127.0.0.1", 4000),
    }
    asyncio.run(guard(scope, receive, send))
    told = {name.decode(): value.decode() for name, value in sent[0]["headers"]}
    return sent[0]["status"], told, b"".join(message.get("body", b"") for message in sent[1:])


async def echo(scope: Scope, receive: Receive, send: Send) -> None:
    size, more = 0, True
    while more:
        message = await receive()
        size, more = size + len(message["body"]), message.get("more_body", False)
    who = scope["state"]["who"]
    body = json.dumps({"size": size, "who": who.person if who else None}).encode()
    await send({"type": "http.response.start", "status": 200, "headers": [(b"set-cookie", b"a=b")]})
    await send({"type": "http.response.body", "body": body})


@pytest.fixture
def access(tmp_path: Path) -> Access:
    return Access(tmp_path)


@pytest.fixture
def guard(access: Access) -> Guard:
    return Guard(echo, access, HOUSE, Attempts(Clock()))


def test_a_token_and_a_cookie_are_told_apart_and_named(guard: Guard, access: Access) -> None:
    _, token = access.add_token(ME, ["read"], "")
    cookie = access.use_link(access.sign_in_secret(), "")
    host = {"Host": "127.0.0.1:8700"}
    for headers in ({"Authorization": f"Bearer {token}"}, {"Cookie": f"other=1; weft={cookie}"}):
        found, told, body = ask(guard, "GET", "/api/x", {**host, **headers})
        assert (found, json.loads(body)["who"]) == (200, ME)
        assert told["content-security-policy"] == PAGE_POLICY
        assert told["cache-control"] == "no-store"
    assert ask(guard, "GET", "/api/x", {**host, "Cookie": f"weft={token}"})[0] == 401
    found, told, body = ask(guard, "GET", "/api/x", host)
    assert (found, told["www-authenticate"]) == (401, 'Bearer realm="weft"')
    assert set(json.loads(body)) == {"what", "where", "hint"}


def test_a_frame_takes_and_gives_no_cookie_and_has_no_origin(guard: Guard, access: Access) -> None:
    cookie = access.use_link(access.sign_in_secret(), "")
    found, told, body = ask(guard, "GET", "/frame/x", {"Host": "127.0.0.1:8700", "Cookie": f"weft={cookie}"})
    assert (found, json.loads(body)["who"]) == (200, None)
    assert told["content-security-policy"] == FRAME_POLICY
    assert "allow-same-origin" not in FRAME_POLICY
    assert "set-cookie" not in told


def test_a_body_that_grows_too_large_is_cut_off_while_it_arrives(guard: Guard, access: Access) -> None:
    _, token = access.add_token(ME, ["write"], "")
    headers = {"Host": "127.0.0.1:8700", "Authorization": f"Bearer {token}"}
    assert ask(guard, "POST", "/api/upload", headers, [b"x" * 60, b"x" * 40])[0] == 200
    found, _, body = ask(guard, "POST", "/api/upload", headers, [b"x" * 60, b"x" * 60, b"x" * 60])
    assert found == 413
    assert "larger" in json.loads(body)["what"]


@pytest.mark.parametrize("path", ["/api/upload", "/sign-in"])
def test_a_body_whose_rest_does_not_come_is_not_waited_for(
    guard: Guard, access: Access, path: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A stranger's must come at once; that of somebody who is let in may take its time, while something comes."""
    monkeypatch.setattr("weft.web.guard.PIECE_SECONDS", 0.2)
    monkeypatch.setattr("weft.web.guard.STRANGER_SECONDS", 0.25)
    _, token = access.add_token(ME, ["write"], "")
    headers = {"host": "127.0.0.1:8700", "origin": OWN, "authorization": f"Bearer {token}"}
    sent: list[Message] = []
    pieces = 0

    async def receive() -> Message:
        nonlocal pieces
        await asyncio.sleep(0.1 if pieces < 5 else 60)
        pieces += 1
        return {"type": "http.request", "body": b"x", "more_body": True}

    async def send(message: Message) -> None:
        sent.append(message)

    async def asked() -> None:
        named = [(name.encode(), value.encode()) for name, value in headers.items()]
        scope: Scope = {"type": "http", "method": "POST", "path": path, "headers": named, "client": ("127.0.0.1", 1)}
        async with asyncio.timeout(10):
            await guard(scope, receive, send)

    if path == "/sign-in":
        del headers["authorization"]
    asyncio.run(asked())
    assert sent[0]["status"] == 408
    assert pieces <= 2 if path == "/sign-in" else pieces == 5


def test_what_follows_ends_for_who_is_let_in_no_longer_without_a_fault_in_what_answers(access: Access) -> None:
    """What answers may be others' code, which would tell of a fault on the terminal and leave the stream cut off."""
    token, secret = access.add_token(ME, ["read"], "")

    async def tells(scope: Scope, receive: Receive, send: Send) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": []})
        for number in range(4):
            if number == 2:
                access.revoke(token.id)
            await send({"type": "http.response.body", "body": b"%d" % number, "more_body": True})
        await send({"type": "http.response.body", "body": b"the end"})
        answered.append(scope["path"])

    answered: list[str] = []
    headers = {"Host": "127.0.0.1:8700", "Authorization": f"Bearer {secret}"}
    assert ask(Guard(tells, access, HOUSE, Attempts(Clock())), "GET", "/api/x", headers)[::2] == (200, b"01")
    assert answered == ["/api/x"]


def test_what_just_stops_has_its_end(access: Access) -> None:
    """As the stream of others' code does when a server ends: cut off, it would be told as a fault of ours."""
    sent: list[Message] = []

    async def stops(scope: Scope, receive: Receive, send: Send) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": b"0", "more_body": True})

    async def send(message: Message) -> None:
        sent.append(message)

    async def receive() -> Message:
        return {"type": "http.request", "body": b""}

    scope: Scope = {"type": "http", "method": "GET", "path": "/", "headers": [(b"host", b"127.0.0.1:8700")]}
    asyncio.run(Guard(stops, access, HOUSE, Attempts(Clock()))(scope, receive, send))
    assert [message.get("more_body", False) for message in sent[1:]] == [True, False]


@pytest.mark.parametrize("twice", [b"host", b"origin"])
def test_a_header_told_twice_is_not_believed(guard: Guard, access: Access, twice: bytes) -> None:
    _, token = access.add_token(ME, ["write"], "")
    sent: list[Message] = []

    async def send(message: Message) -> None:
        sent.append(message)

    async def receive() -> Message:
        return {"type": "http.request", "body": b""}

    headers: list[tuple[bytes, Any]] = [
        (b"host", b"127.0.0.1:8700"),
        (b"origin", OWN.encode()),
        (b"authorization", f"Bearer {token}".encode()),
    ]
    headers.append((twice, dict(headers)[twice]))
    scope: Scope = {"type": "http", "method": "POST", "path": "/api/x", "headers": headers}
    asyncio.run(guard(scope, receive, send))
    assert sent[0]["status"] in (421, 403)


def test_signing_in_by_trying_ends_soon(guard: Guard) -> None:
    headers = {"Host": "127.0.0.1:8700", "Origin": OWN}
    assert [ask(guard, "POST", "/sign-in", headers)[0] for _ in range(6)] == [200] * 5 + [429]
    assert ask(guard, "GET", "/sign-in", headers)[0] == 200
