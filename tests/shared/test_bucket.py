"""Large contents in a bucket, over the wire of S3: against moto's server, where it is installed (pip install
'moto[server]')."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest

from weft.protocol.errors import ExternalError
from weft.protocol.hashes import hash_bytes
from weft.session.objects import SMALL
from weft.session.postgres import PostgresLog

pytestmark = [pytest.mark.process, pytest.mark.campaign, pytest.mark.needs("postgres")]

MOTO = shutil.which("moto_server", path=os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]]))


@pytest.fixture
def bucket(monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    if MOTO is None:
        pytest.skip("moto_server is not installed")
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    address = f"http://127.0.0.1:{port}"
    server = subprocess.Popen(
        [MOTO, "-H", "127.0.0.1", "-p", str(port)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    try:
        _until_there(f"{address}/moto-api/")
        urllib.request.urlopen(urllib.request.Request(f"{address}/team", method="PUT"), timeout=30).close()
        for name, value in {"ACCESS_KEY_ID": "a", "SECRET_ACCESS_KEY": "b", "REGION": "us-east-1"}.items():
            monkeypatch.setenv(f"AWS_{name}", value)
        monkeypatch.setenv("AWS_ENDPOINT", address)
        monkeypatch.setenv("AWS_ALLOW_HTTP", "true")
        yield "s3://team/weft"
    finally:
        server.terminate()
        server.wait(30)


def _until_there(address: str) -> None:
    deadline = time.monotonic() + 120
    while True:
        try:
            urllib.request.urlopen(address, timeout=10).close()
            return
        except OSError:
            assert time.monotonic() < deadline
            time.sleep(0.1)


def test_what_is_large_goes_through_the_bucket_and_small_things_through_the_database(bucket: str, store: str) -> None:
    here, there = PostgresLog(store, bucket), PostgresLog(store)  # the second learns of the bucket from the first
    try:
        large, small = os.urandom(SMALL + 1), b"small"
        for data in (large, small):
            here.put(hash_bytes(data), data)
            assert there.get(hash_bytes(data)) == data
        kept = dict(here.rows("SELECT hash, data IS NOT NULL FROM weft.objects"))
        assert kept == {hash_bytes(large): False, hash_bytes(small): True}
        here.rows("INSERT INTO weft.objects (hash, size) VALUES (%s, 1)", (hash_bytes(b"lost"),))
        with pytest.raises(ExternalError, match="is not in s3://team/weft"):
            there.get(hash_bytes(b"lost"))
    finally:
        here.close()
        there.close()
