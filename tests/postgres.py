"""A real PostgreSQL server for tests: started once a process from the machine's own package, a database a test.

The server refuses to run as root, so as root it runs as the user that the package made, in a folder of its own, and is
reached through a socket there alone.
"""

from __future__ import annotations

import os
import pwd
import secrets
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Literal

import psycopg

from tests.lanes import program


class Server:
    def __init__(self, *, durable: bool = False, listen: str = "") -> None:
        """`durable`: as it is run for work; else without syncs, since no test takes the power away. `listen`: an
        address of this machine at which it can be reached besides its socket, by whoever is in the same /30 network."""
        found = program("postgres")
        assert found is not None, "marked with needs('postgres')"
        self._programs = Path(os.path.realpath(found)).parent
        self._user = _somebody()
        self.folder = Path(tempfile.mkdtemp(prefix="weft-pg-", dir="/tmp"))
        if self._user:
            shutil.chown(self.folder, self._user)
        self._durable = durable
        self._listen = listen
        self._run("initdb", "-D", "data", "-U", "weft", "-A", "trust", "-E", "UTF8", "--locale=C", "--no-sync")
        if listen:
            with (self.folder / "data" / "pg_hba.conf").open("a") as rules:
                rules.write(f"host all all {listen}/30 trust\n")
        self.start()

    def start(self) -> None:
        settings = f"-c listen_addresses={self._listen} -c unix_socket_directories={self.folder} -c max_connections=200"
        settings += "" if self._durable else " -c fsync=off"
        self._run("pg_ctl", "-D", "data", "-l", "log", "-w", "-o", settings, "start")

    def stop(self, mode: Literal["fast", "immediate"] = "fast") -> None:
        self._run("pg_ctl", "-D", "data", "-w", "-m", mode, "stop")

    def close(self) -> None:
        if (self.folder / "data" / "postmaster.pid").exists():
            self.stop("immediate")
        shutil.rmtree(self.folder)

    def address(self, database: str) -> str:
        return f"postgresql:///{database}?host={self.folder}&user=weft"

    @contextmanager
    def database(self) -> Iterator[str]:
        """The address of a new one."""
        name = f"weft_{secrets.token_hex(6)}"
        with psycopg.connect(self.address("postgres"), autocommit=True) as connection:
            connection.execute(f"CREATE DATABASE {name}".encode())
        yield self.address(name)

    def _run(self, *words: str) -> None:
        program, *rest = words
        done = subprocess.run(
            [str(self._programs / program), *rest],
            cwd=self.folder,
            user=self._user,
            env={"PATH": os.environ["PATH"], "LC_ALL": "C", "HOME": str(self.folder)},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.STDOUT,
            timeout=120,
            check=False,
        )
        assert done.returncode == 0, f"{words[0]}: {(self.folder / 'log').read_text()[-2000:]}"


def _somebody() -> str | None:
    """Who the server runs as; None for whoever runs the tests."""
    if os.geteuid() != 0:
        return None
    known = {one.pw_name for one in pwd.getpwall()}
    return "postgres" if "postgres" in known else "nobody"
