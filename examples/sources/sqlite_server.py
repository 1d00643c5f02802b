"""A SQLite file as an MCP server: its tables, and questions to them. It only reads.

python sqlite_server.py FILE
"""

import sqlite3
import sys
from contextlib import closing

from mcp.server import MCPServer
from mcp.types import ToolAnnotations

FILE = sys.argv[1]
ROWS = 200
READS = ToolAnnotations(read_only_hint=True, open_world_hint=False)
server = MCPServer("sqlite", instructions="Look at the tables first, then ask.")


def asked(sql, values=()):
    with closing(sqlite3.connect(f"file:{FILE}?mode=ro&immutable=1", uri=True)) as connection:
        connection.row_factory = sqlite3.Row
        return [dict(row) for row in connection.execute(sql, values).fetchmany(ROWS)]


@server.tool(annotations=READS)
def tables() -> list[dict]:
    """The tables, each with the statement that made it."""
    return asked("SELECT name, sql FROM sqlite_master WHERE type = 'table' ORDER BY name")


@server.tool(annotations=READS)
def query(sql: str) -> list[dict]:
    """The rows that a SELECT finds, 200 at most."""
    return asked(sql)


if __name__ == "__main__":
    server.run("stdio")
