"""Stands between Weft and a command, so that the command and everything it started can really be ended.

Run as a script with nothing but the standard library: `supervisor.py STATUS FOLDER GRACE INPUT LIMITS COMMAND…`. The
command reads from the handle INPUT, or nothing where that is -1, and gets a session of its own; whatever it leaves
behind, however deep and whatever it calls itself, falls to this process (it is their reaper), so walking the tree from
here finds all of it. The end comes when the command exits, when all of it together takes more than LIMITS allow (JSON:
bytes of `memory` and of `disk`, the number of `processes`), or when standard input closes: that is how it is told to
stop, and also what happens when Weft itself is killed.
"""

from __future__ import annotations

import json
import os
import select
import signal
import sys
import time

PASS_LIMIT = 200
CONFINE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "confine.py")
SETTLING = 0.05
"""Seconds that what ends together with the command may take for that: a boundary does."""
LOOK = 0.5
"""Seconds between two looks at what all of it takes."""


def main() -> None:
    status, folder, given = int(sys.argv[1]), int(sys.argv[2]), int(sys.argv[4])
    grace, limits, command = float(sys.argv[3]), json.loads(sys.argv[5]), sys.argv[6:]
    os.fchdir(folder)
    free = free_space()
    become_reaper()
    wake_read, wake_write = os.pipe()
    os.set_blocking(wake_write, False)
    os.set_blocking(wake_read, False)
    signal.set_wakeup_fd(wake_write, warn_on_full_buffer=False)
    for number in (signal.SIGCHLD, signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, lambda *_: None)
    child = spawn(command, given, (status, folder, wake_read, wake_write), limits)
    os.close(folder)
    if given >= 0:
        os.close(given)
    code, over = watch(child, wake_read, limits, free)
    strays = end_all(child, grace)
    if code is None:
        code = collected.get(child)
    os.write(status, json.dumps({"code": code, "strays": strays, "over": over}).encode())
    os._exit(0)


collected: dict[int, int] = {}
"""How each process that fell to us ended."""


def become_reaper() -> None:
    if sys.platform != "linux":
        return  # elsewhere only the command's own group can be found
    import ctypes

    ctypes.CDLL(None).prctl(36, 1, 0, 0, 0)  # PR_SET_CHILD_SUBREAPER


def spawn(command: list[str], given: int, ours: tuple[int, ...], limits: dict[str, int]) -> int:
    child = os.fork()
    if child:
        return child
    try:
        os.setsid()
        for number in (signal.SIGCHLD, signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGPIPE):
            signal.signal(number, signal.SIG_DFL)
        signal.set_wakeup_fd(-1)
        for fd in ours:
            os.close(fd)
        bound_one(limits)
        source = given if given >= 0 else os.open(os.devnull, os.O_RDONLY)
        os.dup2(source, 0)
        if given >= 0:
            os.close(given)
        if command[3:4] == [CONFINE]:
            confine(command[3:])
        os.execvp(command[0], command)
    except OSError as error:
        os.write(2, f"{command[0]}: {error.strerror}\n".encode())
    finally:
        os._exit(127)


def confine(words: list[str]) -> None:
    """Puts the boundary around this process here and now: another interpreter would only cost time."""
    sys.argv = words
    with open(CONFINE, "rb") as file:
        exec(compile(file.read(), CONFINE, "exec"), {"__name__": "__main__"})


def bound_one(limits: dict[str, int]) -> None:
    """What the kernel holds each single process to; the rest is looked at from here."""
    import resource

    # not RLIMIT_AS: programs reserve far more of it than they ever use
    for number, most in ((resource.RLIMIT_DATA, limits.get("memory")), (resource.RLIMIT_FSIZE, limits.get("disk"))):
        hard = resource.getrlimit(number)[1]
        if most and (hard == resource.RLIM_INFINITY or most < hard):
            resource.setrlimit(number, (most, most))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def watch(child: int, wake: int, limits: dict[str, int], free: int) -> tuple[int | None, str]:
    """The command's exit code, None when it is to be stopped instead; and the limit that it went over."""
    while True:
        ready, _, _ = select.select([0, wake], [], [], LOOK if limits else None)
        if wake in ready:
            numbers = os.read(wake, 4096)
            reap()
            if child in collected:
                return collected[child], ""
            if {signal.SIGTERM, signal.SIGINT, signal.SIGHUP} & set(numbers):
                return None, ""
        if 0 in ready and not os.read(0, 4096):
            return None, ""
        if not ready and (over := excess(limits, free)):
            return None, over


def excess(limits: dict[str, int], free: int) -> str:
    """What all of it together has too much of."""
    below = family(os.getpid())
    if len(below) > limits.get("processes", len(below)):
        return "processes"
    page = os.sysconf("SC_PAGE_SIZE")
    taken = 0
    for pid in below:
        try:
            with open(f"/proc/{pid}/statm", "rb") as file:
                _, resident, shared = file.read().split()[:3]
        except OSError:
            continue  # it ended meanwhile
        taken += (int(resident) - int(shared)) * page
    if taken > limits.get("memory", taken):
        return "memory"
    used = free - free_space()
    return "disk" if used > limits.get("disk", used) else ""


def free_space() -> int:
    told = os.statvfs(".")
    return told.f_bavail * told.f_frsize


def reap() -> bool:
    """Collects what has ended. Whether anything is left; everything below us falls to us, so then nothing is."""
    while True:
        try:
            pid, status = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            return False
        if pid == 0:
            return True
        collected[pid] = os.waitstatus_to_exitcode(status)


def end_all(child: int, grace: float) -> int:
    """Ends whatever is left: first politely, then not. How many there were."""
    settled = time.monotonic() + SETTLING
    while reap() and child in collected and time.monotonic() < settled:
        time.sleep(0.001)
    if not reap() and sys.platform == "linux":
        return 0
    left = descendants(os.getpid())
    count = len(left)
    for number in (signal.SIGTERM, signal.SIGCONT):
        signal_all(left, number)
        signal_group(child, number)
    deadline = time.monotonic() + grace
    while reap() and time.monotonic() < deadline:
        time.sleep(0.001)
    for _ in range(PASS_LIMIT):
        if not reap():
            break
        left = descendants(os.getpid())
        # stopped first, so that nothing can start another while the rest is being ended
        signal_all(left, signal.SIGSTOP)
        if set(descendants(os.getpid())) <= set(left):
            signal_all(left, signal.SIGKILL)
            signal_group(child, signal.SIGKILL)
        time.sleep(0.001)
    signal_group(child, signal.SIGKILL)
    return count


def signal_group(child: int, number: int) -> None:
    """The command's own group: all there is to go by where processes can't be listed, and not needed where they can."""
    if os.path.exists("/proc/self/stat"):
        return
    try:
        os.killpg(child, number)
    except OSError:
        return  # nobody is in it any more


def signal_all(pids: list[int], number: int) -> None:
    for pid in pids:
        try:
            os.kill(pid, number)
        except OSError:
            continue  # it ended by itself, or became somebody else's


def family(top: int) -> list[int]:
    """What is below this process, as its members name their children. It costs as much as there are of them, whatever
    else the machine runs; one that is just being born or ending may be missed, so for ending them it is not enough."""
    found, waiting = [], [top]
    while waiting:
        pid = waiting.pop()
        try:
            for thread in os.listdir(f"/proc/{pid}/task"):
                with open(f"/proc/{pid}/task/{thread}/children", "rb") as file:
                    below = [int(word) for word in file.read().split()]
                found += below
                waiting += below
        except FileNotFoundError:
            if pid == top and os.path.exists(f"/proc/{pid}"):
                return descendants(top)  # this kernel does not tell
        except OSError:
            continue  # it ended meanwhile
    return found


def descendants(top: int) -> list[int]:
    """Everything below this process that is not dead already."""
    children: dict[int, list[int]] = {}
    dead: set[int] = set()
    try:
        names = os.listdir("/proc")
    except OSError:
        return []
    for name in names:
        if not name.isdigit():
            continue
        try:
            with open(f"/proc/{name}/stat", "rb") as file:
                state, parent = file.read().rpartition(b")")[2].split()[:2]
        except OSError:
            continue
        children.setdefault(int(parent), []).append(int(name))
        if state in (b"Z", b"X"):
            dead.add(int(name))
    found, waiting = [], [top]
    while waiting:
        below = children.get(waiting.pop(), [])
        found += below
        waiting += below
    return [pid for pid in found if pid not in dead]


if __name__ == "__main__":
    main()
