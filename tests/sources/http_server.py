"""An MCP server over HTTP and its authorization server, on loopback: with sessions that can be forgotten, tokens that
rotate, and a refusal for each step of a sign-in. Raw messages, no library."""

from __future__ import annotations

import base64
import hashlib
import json
import threading
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit

TEXT = {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]}


class World:
    """What the server knows, and how it is to misbehave."""

    def __init__(self) -> None:
        self.base = ""
        self.sessions: set[str] = set()
        self.tokens: set[str] | None = None
        """The access tokens that are good; None: nobody is asked."""
        self.refresh = ""
        self.codes: dict[str, dict[str, str]] = {}
        self.registers = True
        self.lies_about_issuer = False
        self.private_metadata = ""
        self.seen: list[str] = []
        self.given: list[dict[str, str]] = []
        """The forms that the token endpoint got."""
        self.number = 0
        self.odd: tuple[str, bytes] | None = None
        """The media type and the body that a call is answered with, once it was carried out."""
        self.device: list[str] = []
        """What the token endpoint says to whoever comes with a device's code, one after the other; "" gives a token."""
        self.device_answer: Any = {"device_code": "dc", "user_code": "AB-12", "interval": 0.01, "expires_in": 5}
        self.refuses_client = False
        self.hands_out_codes = True

    def new(self, what: str) -> str:
        self.number += 1
        return f"{what}-{self.number}"

    def token(self) -> dict[str, Any]:
        access, self.refresh = self.new("access"), self.new("refresh")
        self.tokens = {access}
        return {"access_token": access, "refresh_token": self.refresh, "token_type": "Bearer", "expires_in": 3600}


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.0"
    world: World

    def log_message(self, format: str, *args: Any) -> None:
        """Quiet."""

    def _send(self, status: int, value: Any = None, **headers: str) -> None:
        body = b"" if value is None else json.dumps(value).encode()
        self.send_response(status)
        for name, text in {"Content-Type": "application/json", **headers}.items():
            self.send_header(name.replace("_", "-"), text)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def _raw(self, body: bytes, kind: str, **headers: str) -> None:
        self.send_response(200)
        for name, text in {"Content-Type": kind, "Content-Length": str(len(body)), **headers}.items():
            self.send_header(name.replace("_", "-"), text)
        self.end_headers()
        self.wfile.write(body)

    def do_GET(self) -> None:
        world, where = self.world, urlsplit(self.path)
        world.seen.append(f"GET {where.path}")
        if where.path.startswith("/.well-known/oauth-protected-resource"):
            server = world.private_metadata or world.base
            self._send(200, {"resource": f"{world.base}/mcp", "authorization_servers": [server]})
        elif where.path.startswith("/.well-known/oauth-authorization-server"):
            issuer = "https://elsewhere.example" if world.lies_about_issuer else world.base
            found = {
                "issuer": issuer,
                "authorization_endpoint": f"{world.base}/authorize",
                "token_endpoint": f"{world.base}/token",
                "registration_endpoint": f"{world.base}/register",
                "response_types_supported": ["code"],
                "code_challenge_methods_supported": ["S256"],
                "token_endpoint_auth_methods_supported": ["client_secret_post", "none"],
            }
            if world.hands_out_codes:
                found["device_authorization_endpoint"] = f"{world.base}/device"
            self._send(200, found)
        elif where.path == "/authorize":
            asked = {key: values[0] for key, values in parse_qs(where.query).items()}
            code = world.new("code")
            world.codes[code] = asked
            back = f"{asked['redirect_uri']}?{urlencode({'code': code, 'state': asked['state']})}"
            self._send(302, Location=back)
        elif where.path == "/pets/7":
            self._send(200, {"id": 7, "name": "Rex", "key": self.headers.get("X-Key")})
        elif where.path == "/private":
            token = self.headers.get("Authorization", "").removeprefix("Bearer ")
            good = world.tokens is not None and token in world.tokens
            self._send(200 if good else 401, {"private": good})
        elif where.path == "/lines":
            self._raw(b'{"a": 1}\n{"a": 2}\n', "application/x-ndjson")
        elif where.path == "/bomb":
            packer = zlib.compressobj(1, wbits=31)
            packed = b"".join(packer.compress(b"0" * 2**20) for _ in range(40)) + packer.flush()
            self._raw(packed, "text/plain", Content_Encoding="gzip")
        elif where.path == "/cut":
            self._raw(b"half", "text/plain", Content_Length="1000")
            self.close_connection = True
        elif where.path == "/busy":
            self._send(429, Retry_After="7")
        elif where.path == "/search":
            asked = {key: values[0] for key, values in parse_qs(where.query).items()}
            hit = {"title": "Tides", "url": "https://example.org/tides", "content": f"about {asked['q']}"}
            self._send(200, {"results": [hit, hit]})
        else:
            self._send(405 if where.path == "/mcp" else 404)

    def do_DELETE(self) -> None:
        self._send(200)

    def do_POST(self) -> None:
        world, path = self.world, urlsplit(self.path).path
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        world.seen.append(f"POST {path}")
        if path == "/register":
            if not world.registers:
                return self._send(403, {"error": "access_denied", "error_description": "no open registration"})
            asked = json.loads(body)
            return self._send(201, {**asked, "client_id": world.new("client")})
        if path == "/device":
            world.given.append({key: values[0] for key, values in parse_qs(body.decode()).items()})
            where = {"verification_uri": f"{world.base}/activate"}
            answer = world.device_answer
            return self._send(200, {**answer, **where} if isinstance(answer, dict) else answer)
        if path == "/token":
            return self._token({key: values[0] for key, values in parse_qs(body.decode()).items()})
        if path == "/cut":
            self._raw(b"half", "text/plain", Content_Length="1000")
            self.close_connection = True
            return None
        if path == "/pets":
            return self._send(201, {"made": json.loads(body)})
        return self._mcp(json.loads(body))

    def _token(self, form: dict[str, str]) -> None:
        world = self.world
        world.given.append(form)
        if world.refuses_client:
            return self._send(401, {"error": "invalid_client", "error_description": "who are you?"})
        if form["grant_type"].endswith("device_code"):
            said = world.device.pop(0)
            return self._send(400, {"error": said}) if said else self._send(200, world.token())
        if form["grant_type"] == "refresh_token":
            good = form["refresh_token"] == world.refresh
            return self._send(200, world.token()) if good else self._send(400, {"error": "invalid_grant"})
        asked = world.codes.pop(form.get("code", ""), None)
        digest = hashlib.sha256(form.get("code_verifier", "").encode()).digest()
        challenge = base64.urlsafe_b64encode(digest).decode().rstrip("=")
        if asked is None or asked["code_challenge"] != challenge or asked["redirect_uri"] != form["redirect_uri"]:
            return self._send(400, {"error": "invalid_grant"})
        return self._send(200, world.token())

    def _mcp(self, message: dict[str, Any]) -> None:
        world = self.world
        token = self.headers.get("Authorization", "").removeprefix("Bearer ")
        if world.tokens is not None and token not in world.tokens:
            where = f'Bearer resource_metadata="{world.base}/.well-known/oauth-protected-resource"'
            return self._send(401, WWW_Authenticate=where)
        method, number = message.get("method"), message.get("id")
        if method == "server/discover":
            return self._send(400)
        if method == "initialize":
            session = world.new("session")
            world.sessions.add(session)
            greeting = {
                "protocolVersion": "2025-06-18",
                "capabilities": {"tools": {}},
                "serverInfo": {"name": "raw", "version": "1"},
            }
            return self._send(200, {"jsonrpc": "2.0", "id": number, "result": greeting}, Mcp_Session_Id=session)
        if self.headers.get("Mcp-Session-Id") not in world.sessions:
            return self._send(404, {"jsonrpc": "2.0", "id": None, "error": {"code": -32001, "message": "who?"}})
        if number is None:
            return self._send(202)
        if method == "tools/list":
            result: dict[str, Any] = {"tools": [{"name": "echo", "description": "Again", "inputSchema": TEXT}]}
        else:
            world.seen.append("call")
            if world.odd is not None:
                return self._raw(world.odd[1], world.odd[0])
            result = {"content": [{"type": "text", "text": message["params"]["arguments"]["text"]}]}
        return self._send(200, {"jsonrpc": "2.0", "id": number, "result": result})


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that went away."""


@contextmanager
def served(world: World) -> Iterator[World]:
    handler = type("Handler", (_Handler,), {"world": world})
    with _Server(("127.0.0.1", 0), handler) as server:
        world.base = f"http://127.0.0.1:{server.server_address[1]}"
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
        thread.start()
        try:
            yield world
        finally:
            server.shutdown()
            thread.join()
