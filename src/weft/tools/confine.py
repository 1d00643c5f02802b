"""Puts a kernel boundary around a command and runs it: `confine.py PLAN COMMAND…`, PLAN being JSON.

Run as a script with nothing but the standard library, by `boundary.py`, which makes the plan. Two ways, by `how`:

`namespaces`: user, mount, process, IPC and (without `network`) network namespaces of its own. Everything is mounted
read-only; then the plan's mounts are made in order. The command runs below a process 1 that reaps, without any
capability; when process 1 ends, the kernel ends all that is left in its namespace.

`landlock`: the weaker floor. Only what the plan lists can be read or written; TCP is closed without `network`.
"""

from __future__ import annotations

import ctypes
import errno
import json
import os
import signal
import stat
import struct
import sys

NEW_NS, NEW_UTS, NEW_IPC, NEW_USER, NEW_PID, NEW_NET = 0x20000, 0x4000000, 0x8000000, 0x10000000, 0x20000000, 0x40000000
MS_NOSUID, MS_NODEV, MS_NOEXEC, MS_BIND, MS_REC, MS_PRIVATE = 2, 4, 8, 4096, 16384, 1 << 18
SYS_MOUNT_SETATTR, AT_RECURSIVE, ATTR_RDONLY = 442, 0x8000, 1
SYS_LANDLOCK = (444, 445, 446)
PR_SET_PDEATHSIG, PR_CAPBSET_DROP, PR_SET_NO_NEW_PRIVS = 1, 24, 38
DEVICES = ("null", "zero", "full", "random", "urandom", "tty")
COVERED = ("/proc/sys", "/proc/sysrq-trigger", "/proc/irq", "/proc/bus")
"""What root could use inside a fresh /proc to change the machine."""
TEMPORARY = 2 << 30
"""Bytes that a folder in memory may take."""

libc = ctypes.CDLL(None, use_errno=True)


def main() -> None:
    plan, command = json.loads(sys.argv[1]), sys.argv[2:]
    command = [found(command[0]), *command[1:]]  # while everything can still be seen
    try:
        if plan["how"] == "namespaces":
            in_namespaces(plan, command)
        else:
            under_landlock(plan)
            os.chdir(plan["folder"])
            execute(command)
    except OSError as error:
        os.write(2, f"the boundary could not be made: {error}\n".encode())
        os._exit(126)


def found(program: str) -> str:
    """Where it lies; as it stands when it is nowhere, which the start of it will say."""
    folders = os.environ.get("PATH", os.defpath).split(os.pathsep) if "/" not in program else []
    candidates = [f"{folder}/{program}" for folder in folders]
    return next((path for path in candidates if os.access(path, os.X_OK) and not os.path.isdir(path)), program)


def execute(command: list[str]) -> None:
    try:
        os.execv(command[0], command)
    except OSError as error:
        os.write(2, f"{command[0]}: {error.strerror}\n".encode())
        os._exit(127)


def checked(result: int, what: str) -> int:
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{what}: {os.strerror(number)}")
    return result


# -- namespaces


def in_namespaces(plan: dict, command: list[str]) -> None:  # type: ignore[type-arg]  # Python 3.11 without imports
    uid, gid = os.geteuid(), os.getegid()
    wanted = NEW_USER | NEW_NS | NEW_PID | NEW_IPC | NEW_UTS | (0 if plan["network"] else NEW_NET)
    checked(libc.unshare(wanted), "unshare")
    write("/proc/self/setgroups", "deny")
    write("/proc/self/uid_map", f"{uid} {uid} 1")
    write("/proc/self/gid_map", f"{gid} {gid} 1")
    first = os.fork()
    if first:
        os._exit(outcome_of(first))
    checked(libc.prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0), "prctl")
    if not plan["network"]:
        loopback_up()
    lay_out(plan)
    drop_rights()
    os.chdir(plan["folder"])
    child = os.fork()
    if not child:
        execute(command)
    code = None
    while code is None:
        pid, status = os.wait()
        if pid == child:
            code = os.waitstatus_to_exitcode(status)
    # a process 1 can't be ended by a signal of its own: what happened is said by a number
    os._exit(code if code >= 0 else 128 - code)


def outcome_of(first: int) -> int:
    """How process 1 ended. What asks us to stop asks it: it is the end of everything inside."""
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, lambda *_: os.kill(first, signal.SIGKILL))
    while True:
        try:
            _, status = os.waitpid(first, 0)
        except InterruptedError:
            continue
        code = os.waitstatus_to_exitcode(status)
        return code if code >= 0 else 128 - code


def write(path: str, text: str) -> None:
    handle = os.open(path, os.O_WRONLY)
    try:
        os.write(handle, text.encode())
    finally:
        os.close(handle)


def loopback_up() -> None:
    import fcntl
    import socket

    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sock:
        fcntl.ioctl(sock, 0x8914, struct.pack("16sh14x", b"lo", 1))  # SIOCSIFFLAGS, IFF_UP


def mount(source: str, target: str, kind: str | None, flags: int, data: str = "") -> None:
    told = [part.encode() if part is not None else None for part in (source, target, kind)]
    checked(libc.mount(told[0], told[1], told[2], ctypes.c_ulong(flags), data.encode() or None), f"mount {target}")


def read_only(path: str, yes: bool) -> None:
    attributes = struct.pack("QQQQ", ATTR_RDONLY if yes else 0, 0 if yes else ATTR_RDONLY, 0, 0)
    result = libc.syscall(SYS_MOUNT_SETATTR, -100, path.encode(), AT_RECURSIVE, attributes, len(attributes))
    if result < 0 and not yes and ctypes.get_errno() == errno.EPERM:
        return  # it was read-only before us
    checked(result, f"mount_setattr {path}")


def lay_out(plan: dict) -> None:  # type: ignore[type-arg]
    mount("none", "/", None, MS_REC | MS_PRIVATE)
    devices = {name: os.open(f"/dev/{name}", os.O_PATH) for name in DEVICES if os.path.exists(f"/dev/{name}")}
    sources = {path: os.open(path, os.O_PATH) for how, path in plan["mounts"] if how in ("read", "write")}
    read_only("/", True)
    mount("proc", "/proc", "proc", MS_NOSUID | MS_NODEV | MS_NOEXEC)
    for path in COVERED:
        if os.path.exists(path):
            mount(path, path, None, MS_BIND | MS_REC)
            read_only(path, True)
    lay_devices(devices)
    for how, path in plan["mounts"]:
        if how == "empty":
            os.makedirs(path, exist_ok=True)  # it may lie in one that is empty by now
            mount("tmpfs", path, "tmpfs", MS_NOSUID | MS_NODEV, f"size={TEMPORARY},mode=0755")
        elif how == "blank":
            if not os.path.lexists(path):
                os.makedirs(os.path.dirname(path), exist_ok=True)
                os.close(os.open(path, os.O_CREAT | os.O_WRONLY, 0o600))
            mount("/dev/null", path, None, MS_BIND)
        else:
            bind(sources[path], path)
            read_only(path, how == "read")
    for handle in (*devices.values(), *sources.values()):
        os.close(handle)


def bind(handle: int, path: str) -> None:
    """Onto its own place, which may have been covered meanwhile."""
    if not os.path.lexists(path):
        if stat.S_ISDIR(os.fstat(handle).st_mode):
            os.makedirs(path)
        else:
            os.makedirs(os.path.dirname(path), exist_ok=True)
            os.close(os.open(path, os.O_CREAT | os.O_WRONLY, 0o600))
    mount(f"/proc/self/fd/{handle}", path, None, MS_BIND | MS_REC)


def lay_devices(devices: dict[str, int]) -> None:
    mount("tmpfs", "/dev", "tmpfs", MS_NOSUID | MS_NOEXEC, "mode=0755,size=65536")
    for name, handle in devices.items():
        os.close(os.open(f"/dev/{name}", os.O_CREAT | os.O_WRONLY, 0o666))
        mount(f"/proc/self/fd/{handle}", f"/dev/{name}", None, MS_BIND)
    for name, target in (("fd", "/proc/self/fd"), ("stdin", "fd/0"), ("stdout", "fd/1"), ("stderr", "fd/2")):
        os.symlink(target, f"/dev/{name}")
    os.mkdir("/dev/shm", 0o1777)
    mount("tmpfs", "/dev/shm", "tmpfs", MS_NOSUID | MS_NODEV, f"size={TEMPORARY},mode=1777")


def drop_rights() -> None:
    for number in range(64):
        if libc.prctl(PR_CAPBSET_DROP, number, 0, 0, 0) < 0:
            break
    checked(libc.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), "no_new_privs")
    header, nothing = struct.pack("Ii", 0x20080522, 0), struct.pack("IIIIII", 0, 0, 0, 0, 0, 0)
    checked(libc.capset(header, nothing), "capset")


# -- Landlock

READ = (1 << 0) | (1 << 2) | (1 << 3)
WRITES = {1: 0x1FF2, 2: 1 << 13, 3: 1 << 14, 5: 1 << 15}
"""What each version can forbid besides reading: writing, removing, making; moving; cutting; device controls."""
FILE_RIGHTS = (1 << 0) | (1 << 1) | (1 << 2) | (1 << 14) | (1 << 15)


def under_landlock(plan: dict) -> None:  # type: ignore[type-arg]
    version = checked(libc.syscall(SYS_LANDLOCK[0], None, 0, 1), "landlock")
    changes = sum(rights for least, rights in WRITES.items() if version >= least)
    attributes = struct.pack("Q", READ | changes)
    if version >= 4:
        attributes += struct.pack("Q", 0 if plan["network"] else 3)
    if version >= 6:
        attributes += struct.pack("Q", 3)  # no abstract sockets and no signals to the outside
    ruleset = checked(libc.syscall(SYS_LANDLOCK[0], attributes, len(attributes), 0), "landlock_create_ruleset")
    inside = plan["folder"].rstrip("/") + "/"
    for how, path in plan["mounts"]:
        own = os.O_NOFOLLOW if path.startswith(inside) else 0
        try:
            handle = os.open(path, os.O_PATH | os.O_CLOEXEC | own)
        except OSError:
            continue  # what is not there can't be read either
        if stat.S_ISLNK(os.fstat(handle).st_mode):  # whoever made the folder may have it lead anywhere
            os.close(handle)
            continue
        rights = READ | (changes if how == "write" else 0)
        if not stat.S_ISDIR(os.fstat(handle).st_mode):
            rights &= FILE_RIGHTS
        rule = struct.pack("=Qi", rights & (READ | changes), handle)
        checked(libc.syscall(SYS_LANDLOCK[1], ruleset, 1, rule, 0), f"landlock_add_rule {path}")
        os.close(handle)
    checked(libc.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), "no_new_privs")
    checked(libc.syscall(SYS_LANDLOCK[2], ruleset, 0), "landlock_restrict_self")
    os.close(ruleset)


if __name__ == "__main__":
    main()
