"""Inside a boundary without a network: carries connections of the own loopback to a socket in the file system.

Run as a script with nothing but the standard library: `bridge.py SOCKET PORT COMMAND…`. The command takes the place of
this process; a child of it is the bridge, and ends with everything else inside.
"""

from __future__ import annotations

import os
import socket
import sys
import threading


def main() -> None:
    way, port, command = sys.argv[1], int(sys.argv[2]), sys.argv[3:]
    listening = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    listening.bind(("127.0.0.1", port))
    listening.listen(64)
    if os.fork():
        listening.close()
        try:
            os.execvp(command[0], command)
        except OSError as error:
            os.write(2, f"{command[0]}: {error.strerror}\n".encode())
            os._exit(127)
    nothing = os.open(os.devnull, os.O_RDWR)
    for handle in (0, 1, 2):
        os.dup2(nothing, handle)
    serve(listening, way)


def serve(listening: socket.socket, way: str) -> None:
    while True:
        inner, _ = listening.accept()
        outer = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        try:
            outer.connect(way)
        except OSError:
            inner.close()
            outer.close()
            continue
        for source, target in ((inner, outer), (outer, inner)):
            threading.Thread(target=pump, args=(source, target), daemon=True).start()


def pump(source: socket.socket, target: socket.socket) -> None:
    try:
        while data := source.recv(65536):
            target.sendall(data)
        target.shutdown(socket.SHUT_WR)
    except OSError:
        for one in (source, target):
            try:
                one.shutdown(socket.SHUT_RDWR)
            except OSError:
                continue  # it is closed already


if __name__ == "__main__":
    main()
