"""The network by named host: what is allowed is reached, everything else is not, whatever the command tries."""

from __future__ import annotations

import asyncio
import os
import socket
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import pytest

from weft.protocol.errors import ExternalError
from weft.tools.boundary import Boundary, Policy, boundary_here, program_folders
from weft.tools.host_proxy import HostProxy, is_allowed
from weft.tools.processes import Finished, Process, plain_environment


@pytest.mark.parametrize(
    ("host", "port", "hosts", "allowed"),
    [
        ("api.example.com", 443, ["api.example.com"], True),
        ("API.example.com.", 443, ["api.example.com"], True),
        ("api.example.com", 80, ["api.example.com"], True),
        ("api.example.com", 22, ["api.example.com"], False),
        ("api.example.com", 8080, ["api.example.com:8080"], True),
        ("api.example.com", 443, ["api.example.com:8080"], False),
        ("evil-api.example.com", 443, ["api.example.com"], False),
        ("api.example.com.evil.org", 443, ["api.example.com"], False),
        ("a.b.example.com", 443, ["*.example.com"], True),
        ("example.com", 443, ["*.example.com"], False),
        ("evilexample.com", 443, ["*.example.com"], False),
        ("127.0.0.1", 443, ["localhost"], False),
        ("", 443, ["*.example.com"], False),
    ],
)
def test_a_host_is_meant_as_it_is_written(host: str, port: int, hosts: list[str], allowed: bool) -> None:
    assert is_allowed(host, port, hosts) == allowed


class _Page(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        self.send_response(200)
        self.end_headers()
        self.wfile.write(f"the page {self.path}".encode())

    def log_message(self, *_: object) -> None:
        """Nobody reads it."""


@pytest.fixture
def page() -> Iterator[str]:
    with HTTPServer(("127.0.0.1", 0), _Page) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield f"127.0.0.1:{server.server_port}"
        server.shutdown()
        thread.join()


FETCH = """
import http.client, socket, sys, urllib.error, urllib.request
for address in sys.argv[1:]:
    try:
        print(urllib.request.urlopen(f"http://{address}/a?b=1", timeout=10).read().decode())
    except urllib.error.HTTPError as error:
        print(error.code, error.read().decode().strip())
host, _, port = sys.argv[1].partition(":")
tunnel = http.client.HTTPConnection("127.0.0.1", 3128, timeout=10)
tunnel.set_tunnel(host, int(port))
tunnel.request("GET", "/through")
print(tunnel.getresponse().read().decode())
tunnel.close()
try:
    socket.create_connection((host, int(port)), timeout=5)
    print("reached past the proxy")
except OSError:
    print("nothing past the proxy")
"""


async def ran(folder: Path, words: list[str], hosts: tuple[str, ...]) -> Finished:
    handle = os.open(folder, os.O_RDONLY)
    try:
        process = await Process.start(
            words,
            folder=handle,
            environment=plain_environment(os.environ),
            policy=Policy(working=folder, home=folder, readable=program_folders(os.environ), hosts=hosts),
            output_limit=100_000,
        )
        return await process.finished()
    finally:
        os.close(handle)


@pytest.mark.skipif(boundary_here().kind not in ("bubblewrap", "namespaces"), reason="no strong boundary here")
@pytest.mark.process
def test_only_the_named_host_is_reached_and_only_by_the_proxy(tmp_path: Path, page: str) -> None:
    (tmp_path / "fetch.py").write_text(FETCH)
    other = f"localhost:{page.partition(':')[2]}"
    finished = asyncio.run(ran(tmp_path, [sys.executable, "fetch.py", page, other], (page,)))
    told = finished.output.decode().splitlines()
    assert told == [
        "the page /a?b=1",
        f"403 {other} is not among the hosts that were allowed: {page}",
        "the page /through",
        "nothing past the proxy",
    ]
    assert not list(Path("/tmp").glob("weft-net-*/way")), "nothing is left of the way out"


def test_where_the_boundary_can_not_hold_it_nothing_is_run() -> None:
    for kind in ("landlock", "sandbox-exec", "none"):
        with pytest.raises(ExternalError, match=r"can't be opened for a\.example alone"):
            asyncio.run(HostProxy.start(["a.example"], Boundary(kind)))


def test_a_name_that_leads_inside_is_not_followed(monkeypatch: pytest.MonkeyPatch) -> None:
    inner = [(socket.AF_INET, socket.SOCK_STREAM, 6, "", ("169.254.169.254", 80))]
    monkeypatch.setattr(socket, "getaddrinfo", lambda *_, **__: inner)

    async def asked() -> bytes:
        proxy = await HostProxy.start(["metadata.example"], Boundary("bubblewrap"))
        try:
            reader, writer = await asyncio.open_unix_connection(str(proxy.folder / "way"))
            writer.write(b"CONNECT metadata.example:443 HTTP/1.1\r\n\r\n")
            told = await reader.read()
            writer.close()
            await writer.wait_closed()
            return told
        finally:
            await proxy.close()

    assert asyncio.run(asked()).startswith(b"HTTP/1.1 502")
