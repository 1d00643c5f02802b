"""Sources over HTTP: sessions that expire, tokens that rotate, sign-in with each refusal, APIs and searches."""

from __future__ import annotations

import asyncio
import json
import socket
import threading
import urllib.error
import urllib.request
from collections.abc import Iterator
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlsplit

import httpx2
import pytest

from tests.sources.conftest import OpenShelf
from tests.sources.http_server import World, served
from tests.sources.made import Shelf
from weft.app.connections.web_searches import pages_about, web_search_of
from weft.protocol.commands import GivenFile
from weft.protocol.errors import UserError
from weft.protocol.messages import ToolCall
from weft.sources.grants import Grant
from weft.sources.http_client import Wire, open_client
from weft.sources.sign_in import SignInAsking, sign_in
from weft.tools.permission import judge
from weft.tools.permission_file import Rule, Rules

NOW = 2_000_000_000.0


@pytest.fixture
def world() -> Iterator[World]:
    with served(World()) as found:
        yield found


def browse(address: str) -> None:
    """A person's browser: follows what it is led to."""
    with urllib.request.urlopen(address, timeout=10) as page:
        page.read()


async def signed_in(shelf: Shelf, slug: str = "far", **more: Any) -> Grant:
    source = shelf.sources.one(slug)
    browsing: list[asyncio.Future[Any]] = []

    def show(address: str) -> None:
        browsing.append(asyncio.ensure_future(asyncio.to_thread(browse, address)))

    grant = await sign_in(source, shelf.sources.secrets(source), SignInAsking(show=show, **more), NOW)
    await asyncio.gather(*browsing)
    return grant


def test_an_expired_session_is_begun_anew_and_the_call_is_made_once(opened: OpenShelf, world: World) -> None:
    """A source that breaks is initialised again: what was refused for want of a session was never carried out."""

    async def life() -> None:
        async with opened() as shelf:
            shelf.add("far", {"kind": "mcp", "url": f"{world.base}/mcp"})
            assert (await shelf.reach("far")).state == "ready"
            assert (await shelf.call("far__echo", {"text": "a"})).text == "a"
            world.sessions.clear()
            assert (await shelf.call("far__echo", {"text": "b"})).text == "b"
            assert world.seen.count("call") == 2

    asyncio.run(life())


@pytest.mark.parametrize(
    ("kind", "body", "said"),
    [
        ("application/json", b"oops", "its answer can't be read: Failed to parse JSON response"),
        (
            "text/event-stream",
            b"event: message\ndata: oops\n\n",
            "its answer can't be read: Failed to parse SSE message",
        ),
        ("text/html", b"<h1>Sign in</h1>", "Unexpected content type: text/html"),
    ],
)
def test_of_an_answer_that_can_not_be_read_it_is_not_said_that_nothing_was_done(
    opened: OpenShelf, world: World, kind: str, body: bytes, said: str
) -> None:
    async def life() -> None:
        async with opened() as shelf:
            shelf.add("far", {"kind": "mcp", "url": f"{world.base}/mcp"})
            await shelf.reach("far")
            world.odd = (kind, body)
            answer = await shelf.call("far__echo", {"text": "a"})
            assert (answer.is_error, answer.effect, world.seen.count("call")) == (True, "unknown", 1)
            assert answer.text == f"the source far refused echo: {said}"

    asyncio.run(life())


def test_a_server_that_is_gone_and_comes_back(opened: OpenShelf) -> None:
    async def life() -> None:
        async with opened() as shelf:
            with served(World()) as world:
                port = int(world.base.rsplit(":", 1)[1])
                shelf.add("far", {"kind": "mcp", "url": f"{world.base}/mcp"})
                await shelf.reach("far")
            gone = await shelf.call("far__echo", {"text": "a"})
            assert gone.is_error
            assert "can't be reached" in gone.text
            assert (await shelf.reach("far")).state == "failed"
            assert shelf.box().get("far__echo") is not None, "it is still offered: the next call tries again"
            assert port

    asyncio.run(life())


def test_a_401_needs_sign_in_and_the_sign_in_is_used(opened: OpenShelf, world: World) -> None:
    async def life() -> None:
        async with opened() as shelf:
            world.tokens = set()
            shelf.add("far", {"kind": "mcp", "url": f"{world.base}/mcp", "auth": {"type": "oauth"}})
            reached = await shelf.reach("far")
            assert reached.state == "needs sign-in"
            assert "weft sources sign-in far" in shelf.box().sources["far"].trouble
            grant = await signed_in(shelf)
            shelf.sources.grants.put(shelf.sources.one("far").key, grant)
            assert (await shelf.reach("far")).state == "ready", "saved is never reported missing"
            assert (await shelf.call("far__echo", {"text": "in"})).text == "in"
            assert world.given[0]["resource"] == f"{world.base}/mcp"
            kept = (shelf.workspace / "sources" / "far" / "config.json").read_text()
            assert grant.access_token not in kept + repr(grant)

    asyncio.run(life())


def test_a_rotating_token_is_refreshed_once_for_all_calls(opened: OpenShelf, world: World) -> None:
    async def life() -> None:
        async with opened() as shelf:
            shelf.add("far", {"kind": "mcp", "url": f"{world.base}/mcp", "auth": {"type": "oauth"}})
            world.tokens = set()
            key = shelf.sources.one("far").key
            shelf.sources.grants.put(key, await signed_in(shelf))
            await shelf.reach("far")
            world.tokens = set()  # revoked: the next calls are refused, and one of them asks for a new one
            said = await asyncio.gather(*(shelf.call("far__echo", {"text": str(number)}) for number in range(5)))
            assert [one.text for one in said] == list("01234")
            refreshed = [form for form in world.given if form["grant_type"] == "refresh_token"]
            assert len(refreshed) == 1
            grant = shelf.sources.grants.get(key)
            assert grant is not None
            shelf.sources.grants.put(key, replace(grant, expires_at=1.0))
            assert (await shelf.call("far__echo", {"text": "early"})).text == "early"
            assert len([form for form in world.given if form["grant_type"] == "refresh_token"]) == 2
            world.tokens, world.refresh = set(), "another"
            lost = await shelf.call("far__echo", {"text": "no"})
            assert "needs sign-in" in lost.text
            assert shelf.sources.grants.get(key) is None

    asyncio.run(life())


def test_where_registration_is_refused_a_client_is_given(opened: OpenShelf, world: World) -> None:
    async def life() -> None:
        async with opened() as shelf:
            world.tokens, world.registers = set(), False
            shelf.add("far", {"kind": "mcp", "url": f"{world.base}/mcp", "auth": {"type": "oauth"}})
            with pytest.raises(UserError, match="registers no clients by itself") as told:
                await signed_in(shelf)
            assert "client_id" in told.value.hint
            shelf.store.put("secret/mine", "s3cret")
            auth = {"type": "oauth", "client_id": "me", "client_secret": "secret:mine", "scopes": ["a", "b"]}
            shelf.add("own", {"kind": "mcp", "url": f"{world.base}/mcp", "auth": auth})
            grant = await signed_in(shelf, "own")
            assert (grant.client_id, world.given[-1]["client_secret"]) == ("me", "s3cret")

    asyncio.run(life())


def test_each_refusal_of_a_sign_in_is_told(opened: OpenShelf, world: World) -> None:
    async def life() -> None:
        async with opened() as shelf:
            world.tokens = set()
            shelf.add("far", {"kind": "mcp", "url": f"{world.base}/mcp", "auth": {"type": "oauth"}})
            world.lies_about_issuer = True
            with pytest.raises(UserError, match="failed"):
                await signed_in(shelf)
            world.lies_about_issuer = False

            async def refused() -> str:
                return "http://127.0.0.1/callback?error=access_denied&error_description=not+today"

            async def other() -> str:
                return "http://127.0.0.1/callback?code=x&state=of-another"

            for paste, words in ((refused, "not today"), (other, "tate")):
                source = shelf.sources.one("far")
                asking = SignInAsking(show=lambda _: None, paste=paste)
                with pytest.raises(UserError, match=words):
                    await sign_in(source, shelf.sources.secrets(source), asking, NOW)
            assert [form for form in world.given if form["grant_type"] == "authorization_code"] == []

    asyncio.run(life())


def test_what_others_send_to_the_place_of_a_sign_in_does_not_end_it(opened: OpenShelf, world: World) -> None:
    """Any page that is open and any program of this machine can reach it."""

    def browse_behind_others(address: str) -> None:
        back = parse_qs(urlsplit(address).query)["redirect_uri"][0]
        for query in ("code=x&state=of-another", "code=x", "error=access_denied&state=of-another"):
            with pytest.raises(urllib.error.HTTPError, match="404"):
                browse(f"{back}?{query}")
        browse(address)

    async def life() -> None:
        async with opened() as shelf:
            world.tokens = set()
            shelf.add("far", {"kind": "mcp", "url": f"{world.base}/mcp", "auth": {"type": "oauth"}})
            source = shelf.sources.one("far")
            browsing: list[asyncio.Future[None]] = []

            def show(address: str) -> None:
                browsing.append(asyncio.ensure_future(asyncio.to_thread(browse_behind_others, address)))

            grant = await sign_in(source, shelf.sources.secrets(source), SignInAsking(show=show), NOW)
            await asyncio.gather(*browsing)
            assert grant.access_token

    asyncio.run(life())


def test_where_a_code_is_handed_out_is_found(opened: OpenShelf, world: World) -> None:
    """By the metadata of the resource and of its authorization server; a client is registered."""
    shown: list[str] = []
    asking = SignInAsking(show=shown.append, device=True)

    async def life() -> None:
        async with opened() as shelf:
            world.tokens = set()
            shelf.add("far", {"kind": "mcp", "url": f"{world.base}/mcp", "auth": {"type": "oauth"}})
            source, world.device = shelf.sources.one("far"), ["authorization_pending", ""]
            grant = await sign_in(source, shelf.sources.secrets(source), asking, NOW)
            shelf.sources.grants.put(source.key, grant)
            assert (await shelf.reach("far")).state == "ready"
            assert world.given[0] == {"client_id": "client-1", "resource": f"{world.base}/mcp"}
            assert shown == [f"{world.base}/activate with the code AB-12"]
            secrets = shelf.sources.secrets(source)
            for change, told in (
                ({"lies_about_issuer": True}, "says that it is https://elsewhere.example"),
                ({"registers": False}, "registers no clients by itself"),
                ({"hands_out_codes": False}, "hands out no codes"),
            ):
                for name, value in change.items():
                    setattr(world, name, value)
                with pytest.raises(UserError, match=told):
                    await sign_in(source, secrets, asking, NOW)
                world.lies_about_issuer = False

    asyncio.run(life())


def test_a_server_may_not_name_a_private_address() -> None:
    async def life() -> None:
        wire = Wire("https://mcp.example.org/mcp", faults_as_answers=False)
        try:
            for host in ("127.0.0.1", "10.0.0.1", "169.254.169.254"):
                with pytest.raises(UserError, match="nothing was sent"):
                    await wire.handle_async_request(httpx2.Request("GET", f"https://{host}/"))
        finally:
            await wire.aclose()

    asyncio.run(life())


def test_a_name_that_leads_elsewhere_the_second_time_gains_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """The address that was judged is the one that is connected to, while it answers; the name goes along."""
    told: list[tuple[str, str]] = []

    class Told(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            told.append((self.connection.getsockname()[0], self.headers["host"]))
            self.send_response(204)
            self.end_headers()

        def log_message(self, format: str, *args: Any) -> None:
            pass

    answers = iter(["127.0.0.1", *["127.0.0.2"] * 9])
    known = socket.getaddrinfo

    def getaddrinfo(host: Any, *rest: Any, **more: Any) -> Any:
        named = host.decode() if isinstance(host, bytes) else host
        return known(next(answers) if named == "far.example" else host, *rest, **more)

    async def life(port: int) -> None:
        monkeypatch.setattr(socket, "getaddrinfo", getaddrinfo)
        async with open_client(f"http://far.example:{port}", faults_as_answers=False) as client:
            for _ in range(2):
                await client.get(f"http://far.example:{port}/")

    with ThreadingHTTPServer(("127.0.0.1", 0), Told) as judged:
        port = judged.server_port
        with ThreadingHTTPServer(("127.0.0.2", port), Told) as other:
            for server in (judged, other):
                threading.Thread(target=server.serve_forever, daemon=True).start()
            try:
                asyncio.run(life(port))
            finally:
                judged.shutdown()
                other.shutdown()
    assert told == [("127.0.0.1", f"far.example:{port}")] * 2


@pytest.mark.parametrize("home", ["http://169.254.169.254/", "http://[::ffff:169.254.169.254]/", "http://127.0.0.1/"])
def test_no_source_is_where_a_cloud_tells_a_machine_its_keys(home: str) -> None:
    """Not by a document that names it as its server, nor by a redirect of one that is on this machine."""

    async def life() -> None:
        wire = Wire(home, faults_as_answers=False)
        try:
            asked = home if "169" in home else "http://169.254.169.254/latest"
            with pytest.raises(UserError, match=r"told their own keys"):
                await wire.handle_async_request(httpx2.Request("GET", asked))
        finally:
            await wire.aclose()

    asyncio.run(life())


SPEC = {
    "openapi": "3.1.0",
    "paths": {
        "/pets/{id}": {
            "get": {
                "operationId": "getPet",
                "parameters": [
                    {"name": "id", "in": "path", "schema": {"type": "integer"}},
                    {"name": "X-Trace", "in": "header", "schema": {"type": "string"}},
                ],
            }
        },
        "/pets": {
            "post": {
                "operationId": "addPet",
                "requestBody": {"required": True, "content": {"application/json": {"schema": {"type": "object"}}}},
            }
        },
    },
}


def test_an_api_is_tools_with_its_secret_put_on(opened: OpenShelf, world: World) -> None:
    async def life() -> None:
        async with opened() as shelf:
            auth = {"type": "header", "header": "X-Key", "secret": "env:PRIVATE_TOKEN"}
            config = {"kind": "api", "url": f"{world.base}/", "openapi": "openapi.json", "auth": auth}
            shelf.add("pets", {**config, "test": {"path": "pets/7"}})
            (shelf.workspace / "sources" / "pets" / "openapi.json").write_text(json.dumps(SPEC))
            assert (await shelf.reach("pets")).state == "ready"
            found = await shelf.call("pets__getPet", {"id": 7})
            assert '"key": "hidden"' in found.text
            assert "hidden" not in found.summary
            for said in ("é", "a\r\nX-Key: mine"):
                refused = await shelf.call("pets__getPet", {"id": 7, "X-Trace": said})
                assert (refused.effect, refused.bug) == ("none", "")
                assert "X-Trace goes into a header, which has plain letters on one line" in refused.text
            made = await shelf.call("pets__addPet", {"body": {"name": "Lassie"}})
            assert '"Lassie"' in made.text
            add = shelf.box().get("pets__addPet")
            assert add is not None
            assert add.in_order
            shelf.add("any", {"kind": "api", "url": f"{world.base}/", "test": {"path": "pets/7"}})
            await shelf.reach("any")
            assert "Rex" in (await shelf.call("any__get", {"path": "pets/7"})).text
            missing = await shelf.call("any__get", {"path": "nothing"})
            assert missing.is_error
            assert (await shelf.call("any__get", {"path": "//elsewhere.example/x"})).is_error

    asyncio.run(life())


@pytest.mark.parametrize(
    "path", ["../x", "a/%2e%2E/x", "..%2fx", "a/..%2F..%2Fx", "..%5cx", "..\\x", "https://else/x", "a\nb", "a\0"]
)
def test_a_request_goes_below_the_address_of_its_api_and_nowhere_else(
    opened: OpenShelf, world: World, path: str
) -> None:
    """Also where a server reads what is written as %2f."""

    async def life() -> None:
        async with opened() as shelf:
            shelf.add("any", {"kind": "api", "url": f"{world.base}/pets/", "test": {"path": "7"}})
            await shelf.reach("any")
            before = list(world.seen)
            refused = await shelf.call("any__get", {"path": path})
            assert (refused.is_error, refused.effect, refused.bug) == (True, "none", "")
            assert ("climbs out of" in refused.text) != ("is no path below" in refused.text)
            assert world.seen == before

    asyncio.run(life())


def test_what_an_api_without_a_sign_in_refuses_is_an_answer(opened: OpenShelf, world: World) -> None:
    """One path that is not for us, or one that is busy, takes nothing from the others."""

    async def life() -> None:
        async with opened() as shelf:
            shelf.add("any", {"kind": "api", "url": f"{world.base}/", "test": {"path": "pets/7"}})
            await shelf.reach("any")
            refused = await shelf.call("any__get", {"path": "private"})
            assert (refused.is_error, "status 401" in refused.text) == (True, True)
            assert "sign-in" not in refused.text
            assert "status 429, retry after 7 s" in (await shelf.call("any__get", {"path": "busy"})).text
            assert shelf.sources.kept.get(shelf.sources.one("any").key).state == "ready"
            shelf.add("shut", {"kind": "api", "url": f"{world.base}/", "test": {"path": "private"}})
            reached = await shelf.reach("shut")
            assert (reached.state, "check 'url', 'test' and 'auth'" in reached.why) == ("failed", True)

    asyncio.run(life())


def test_an_answer_that_is_odd_is_told_in_words_and_has_an_end(opened: OpenShelf, world: World) -> None:
    async def life() -> None:
        async with opened() as shelf:
            shelf.add("any", {"kind": "api", "url": f"{world.base}/", "test": {"path": "pets/7"}})
            await shelf.reach("any")
            bomb = await shelf.call("any__get", {"path": "bomb"})
            assert (bomb.is_error, "gave no whole answer: the answer is over 16 MB" in bomb.text) == (True, True)
            cut = await shelf.call("any__get", {"path": "cut"})
            assert (cut.is_error, cut.effect) == (True, "none")
            assert "gave no whole answer: the connection to 127.0.0.1 broke" in cut.text
            sent = await shelf.call("any__send", {"method": "POST", "path": "cut"})
            assert (sent.is_error, sent.effect) == (True, "unknown")
            assert '{"a": 2}' in (await shelf.call("any__get", {"path": "lines"})).text

    asyncio.run(life())


def test_a_search_answers_in_one_form(opened: OpenShelf, world: World) -> None:
    async def life() -> None:
        async with opened() as shelf:
            shelf.add("web", {"kind": "search", "provider": "searxng", "url": world.base})
            assert (await shelf.reach("web")).state == "ready"
            found = await shelf.call("web__search", {"query": "high tide", "count": 3})
            assert found.data == {
                "results": [{"title": "Tides", "url": "https://example.org/tides", "snippet": "about high tide"}]
            }
            shelf.add("other", {"kind": "search", "provider": "searxng", "url": world.base})
            await shelf.reach("other")
            offered = {spec.name for spec in shelf.box().specs()}
            assert len({"WebSearch", "web__search", "other__search"} & offered) == 2, "one has the name models know"
            named, missing = shelf.box().only(["WebSearch"])
            assert (len(named), missing) == (1, ())
            rule = Rule(tool="WebSearch", verb="deny", file="permissions.yaml", line=1)
            tool = next(iter(named))
            call = named.corrected(ToolCall(call="c", tool="web_search", input={"query": "x"}))
            assert call.tool == tool.name
            assert judge(call, tool, mode="auto", rules=Rules((rule,))).decision == "deny"

    asyncio.run(life())


def test_a_collection_and_research_search_the_web_through_it(opened: OpenShelf, world: World) -> None:
    fetched: list[str] = []

    async def fetch(url: str) -> GivenFile:
        fetched.append(url)
        return GivenFile(b"<h1>Tides</h1><p>The tide is high at noon.</p>", url)

    async def life() -> None:
        async with opened() as shelf:
            assert web_search_of(shelf.sources) is None
            shelf.add("web", {"kind": "search", "provider": "searxng", "url": world.base})
            await shelf.reach("web")
            search = web_search_of(shelf.sources)
            assert search is not None
            answer = await asyncio.to_thread(search, ["tides at noon"], 3)
            assert (answer["queries_executed"], answer["warnings"]) == (1, [])
            assert [row["url"] for row in answer["results"]] == ["https://example.org/tides"]
            pages, notes = await pages_about(shelf.sources, fetch, "When is high tide?", "standard")
            assert (fetched, notes) == (["https://example.org/tides"], [])
            assert pages[0].origin == "https://example.org/tides"
            assert (await pages_about(shelf.sources, fetch, "When?", "quick"))[0] == []

    asyncio.run(life())


def oauth_api(world: World, **more: Any) -> dict[str, Any]:
    auth = {"authorization_url": f"{world.base}/authorize", "token_url": f"{world.base}/token"}
    device = {"device_url": f"{world.base}/device"}
    return {
        "kind": "api",
        "url": f"{world.base}/",
        "auth": {"type": "oauth", "client_id": "weft", **auth, **device, **more},
        "test": {"path": "private"},
    }


def test_an_api_with_oauth_is_signed_in_to_refreshed_and_says_when_that_is_over(
    opened: OpenShelf, world: World
) -> None:
    async def life() -> None:
        async with opened() as shelf:
            shelf.add("far", oauth_api(world, scopes=["read", "write"]))
            assert (await shelf.reach("far")).state == "needs sign-in"
            world.refuses_client = True
            with pytest.raises(UserError, match="no token was given: invalid_client: who are you"):
                await signed_in(shelf)
            world.refuses_client = False
            key = shelf.sources.one("far").key
            shelf.sources.grants.put(key, await signed_in(shelf))
            assert (await shelf.reach("far")).state == "ready"
            world.tokens = set()  # taken back: refused once, refreshed, and good
            assert '"private": true' in (await shelf.call("far__get", {"path": "private"})).text
            world.tokens, world.refresh = set(), "another"
            lost = await shelf.call("far__get", {"path": "private"})
            assert lost.is_error
            assert "weft sources sign-in far" in lost.text
            assert shelf.sources.kept.get(key).state == "needs sign-in"

            async def other() -> str:
                return "http://127.0.0.1/callback?code=x&state=of-another"

            asking = SignInAsking(show=lambda _: None, paste=other)
            source = shelf.sources.one("far")
            with pytest.raises(UserError, match="does not belong to this sign-in"):
                await sign_in(source, shelf.sources.secrets(source), asking, NOW)

    asyncio.run(life())


@pytest.mark.parametrize(
    ("said", "refused"),
    [
        (["authorization_pending", "slow_down", "authorization_pending", ""], ""),
        (["authorization_pending", "access_denied"], "the sign-in was refused: access_denied"),
        (["expired_token"], "the sign-in was refused: expired_token"),
        (["authorization_pending"] * 2, "nobody typed in the code"),
    ],
)
def test_a_code_is_typed_in_on_another_machine(
    opened: OpenShelf, world: World, monkeypatch: pytest.MonkeyPatch, said: list[str], refused: str
) -> None:
    monkeypatch.setattr("weft.sources.sign_in._SLOWER", 0.01)
    shown: list[str] = []

    async def life() -> None:
        async with opened() as shelf:
            shelf.add("far", oauth_api(world, scopes=["read"]))
            source, world.device = shelf.sources.one("far"), list(said)
            if refused.startswith("nobody"):
                world.device_answer = {**world.device_answer, "expires_in": 0.02}
            asking = SignInAsking(show=shown.append, device=True)
            if refused:
                with pytest.raises(UserError, match=refused):
                    await sign_in(source, shelf.sources.secrets(source), asking, NOW)
            else:
                grant = await sign_in(source, shelf.sources.secrets(source), asking, NOW)
                shelf.sources.grants.put(source.key, grant)
                assert (await shelf.reach("far")).state == "ready"
            assert world.given[0] == {"client_id": "weft", "scope": "read"}
            world.device_answer = ["no", "code"]
            with pytest.raises(UserError, match="gave no code"):
                await sign_in(source, shelf.sources.secrets(source), asking, NOW)

    asyncio.run(life())
    assert shown[0] == f"{world.base}/activate with the code AB-12"
