"""The kernel boundary around every command of a tool, the code of steps, and the runtimes of others.

    boundary = boundary_here()                                # tried by running, once
    words = boundary.wrap(command, Policy(working=folder, home=home, needs=frozenset({"write"})))

Inside, the machine can be read except for the places of secrets, nothing can be changed, there is no network, no other
process is seen, and whatever is started ends with the command. Each *need* opens one thing: `write` the working folder
(without its `.git` and what else decides what is run), `git` the repository and what it may hold of that, `network` the
network, `keys` the places of keys, `outside` everything: then there is no boundary. What a command needs is told from
its words or said in the call (`shell/needs.py`), and judged in `permission.py`: this module only does it.

bubblewrap and namespaces of our own (`confine.py`) hold all of that. `sandbox-exec` holds it except for the processes.
Landlock is a weaker floor: only listed places can be read; UDP and sockets in the file system stay open.
"""

from __future__ import annotations

import json
import os
import pwd
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import field
from functools import cache
from pathlib import Path
from typing import Final, Literal, get_args

from weft.protocol.values import dataclass

Kind = Literal["bubblewrap", "namespaces", "sandbox-exec", "landlock", "none"]
KINDS: Final[tuple[Kind, ...]] = get_args(Kind)
Need = Literal["write", "git", "network", "keys", "outside"]
NEEDS: Final[tuple[Need, ...]] = get_args(Need)
Strength = Literal["strong", "weak", "none"]
TEMPORARY: Final = str(2 << 30)
_CONFINE: Final = str(Path(__file__).with_name("confine.py"))
_PROBE_SECONDS: Final = 20

SECRET_PLACES: Final = (
    *(".ssh", ".gnupg", ".aws", ".azure", ".kube", ".docker", ".netrc", ".pgpass", ".git-credentials", ".npmrc"),
    *(".pypirc", ".vault-token", ".password-store", ".terraform.d", ".mozilla", ".thunderbird", ".claude", ".codex"),
    *(".claude.json", ".gem/credentials", ".cargo/credentials", ".cargo/credentials.toml", ".m2/settings.xml"),
    *(".config/gh", ".config/gcloud", ".config/weft", ".config/op", ".config/hub", ".config/git/credentials"),
    *(".config/google-chrome", ".config/chromium", ".config/rclone", ".config/containers", ".local/share/keyrings"),
    *("Library/Keychains", "Library/Application Support/Google/Chrome", "Library/Cookies"),
    *(".bash_history", ".zsh_history", ".python_history", ".psql_history", ".mysql_history", ".sqlite_history"),
    *(
        ".1password",
        ".bitwarden-ssh-agent.sock",
        ".colima",
        ".lima",
        ".orbstack",
        ".rd",
        ".Xauthority",
        ".ICEauthority",
    ),
    *(
        ".s3cfg",
        ".boto",
        ".oci",
        ".cache/huggingface/token",
        ".config/github-copilot",
        ".config/doctl",
        ".config/hcloud",
    ),
    *(".config/BraveSoftware", ".config/microsoft-edge", ".config/vivaldi", ".config/Signal", ".local/share/kwalletd"),
    *(".node_repl_history", ".rediscli_history", ".lesshst", ".viminfo", ".local/share/fish/fish_history"),
)
"""Below a home: keys, histories, and the doors of what gives keys out, signs with them or runs what it is told."""
SECRET_FILES: Final = (
    *("/etc/shadow", "/etc/shadow-", "/etc/gshadow", "/etc/gshadow-", "/etc/sudoers", "/etc/sudoers.d"),
    *("/var/lib/incus/unix.socket", "/var/lib/lxd/unix.socket", "/var/snap/lxd/common/lxd/unix.socket"),
)
COVERED: Final = ("/tmp", "/var/tmp", "/run", "/var/run", "/dev/shm", "/mnt/wslg")
"""Where sockets and others' passing files lie: empty inside, except for what is named."""
KERNEL_DOORS: Final = ("/proc/sys", "/proc/sysrq-trigger", "/proc/irq", "/proc/bus")
"""By which root could change the machine from inside."""
_SHOWN: Final = ("/run/systemd/resolve", "/run/current-system", "/run/opengl-driver")
PROTECTED: Final = (
    *(".git", ".hg", ".husky", ".githooks", ".vscode", ".idea", ".devcontainer", ".claude", ".codex", ".cursor"),
    *(".envrc", ".mcp.json", ".bashrc", ".bash_profile", ".bash_login", ".profile", ".zshrc", ".zshenv", ".zprofile"),
    *(".gitconfig", ".gitmodules", ".ssh", ".npmrc", ".pypirc", ".netrc", ".config", ".local", ".direnv", ".weft"),
    *(".hooks", ".agents", ".cursorrules", ".windsurfrules", "GEMINI.md", ".zed", ".tool-versions", ".mise.toml"),
    *(".bash_logout", ".bash_aliases", ".zlogin", ".inputrc", ".vimrc", ".lfsconfig", ".yarnrc", ".yarnrc.yml"),
    *(".gitattributes", ".exrc", ".nvim.lua", ".dir-locals.el", ".gdbinit", ".lldbinit", ".devcontainer.json"),
    *("mise.toml", "pip.conf", ".condarc", "sitecustomize.py", "usercustomize.py"),
    *(".pre-commit-config.yaml", ".github/workflows", ".circleci", ".gitlab-ci.yml", ".gitlab", ".travis.yml"),
    *(".buildkite", ".gitea/workflows", ".forgejo/workflows", "Jenkinsfile", "azure-pipelines.yml"),
    *("bitbucket-pipelines.yml", ".github/copilot-instructions.md", ".windsurf", ".clinerules", ".roo", ".continue"),
    *(".aider.conf.yml", "opencode.json", ".opencode", ".kiro", ".gemini", "AGENTS.override.md", "CLAUDE.local.md"),
    *("AGENTS.md", "CLAUDE.md", "permissions.yaml", "config.toml", "sources", "schedules", "sessions"),
)
"""In a working folder: what is run, or tells a model what to do, when nobody asked for it. Not changed by `write`."""
DECIDING: Final = frozenset(PROTECTED) - {"sessions", "sources", "schedules", ".local", ".config"}
"""Those that are worth a question wherever they are written; the others are too usual as names."""
OF_A_WORKSPACE: Final = ("schedules", "sources")
"""Of those, what begins by itself and what is reached, where the working folder is a workspace of ours."""
_NEVER_GITS: Final = ("sessions", ".weft")
"""Those that `git` does not open either. The others may be in the repository: whoever lets git change what is checked
out lets it change them, as a half changed working folder is nobody's wish."""
_DEEPER: Final = frozenset(name for name in DECIDING if "/" not in name) - {"config.toml", "permissions.yaml", ".git"}
"""Those that are kept in the folders below too, where they are there already."""
_SCAN: Final = 400
"""Folders that are looked at for repositories inside the working folder."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Policy:
    """What one command gets."""

    working: Path
    home: Path
    needs: frozenset[Need] = frozenset()
    readable: tuple[Path, ...] = ()
    """Also to be seen where a covered place would hide it: the session's folder, the programs of PATH."""
    writable: tuple[Path, ...] = ()
    """Also to be written, whatever the needs: the own folder of a runtime."""
    kept: tuple[Path, ...] = ()
    """Of those, folders in which repositories, and what decides what is run, are not changed all the same; unless one
    of these is itself named."""
    hidden: tuple[Path, ...] = ()
    """Also secret."""
    hosts: tuple[str, ...] = ()
    """The network for these alone, whatever the needs: `host_proxy.py`."""


@dataclass(frozen=True, slots=True)
class Boundary:
    kind: Kind
    options: tuple[str, ...] = ()
    """Of bubblewrap, as far as this one knows them."""
    tried: tuple[str, ...] = field(default=(), compare=False)
    """What was tried before, and why it is not in force."""

    @property
    def strength(self) -> Strength:
        return {"landlock": "weak", "none": "none"}.get(self.kind, "strong")  # type: ignore[return-value]

    def wrap(self, command: Sequence[str], policy: Policy) -> tuple[str, ...]:
        """The command, inside the boundary."""
        if self.kind == "none" or "outside" in policy.needs:
            return tuple(command)
        if self.kind == "bubblewrap":
            return (*_bubblewrap(policy, self.options), *command)
        if self.kind == "sandbox-exec":
            return ("sandbox-exec", "-p", seatbelt_profile(policy), *command)
        mounts = _landlock_places(policy) if self.kind == "landlock" else list(_mounts(policy))
        plan = {
            "how": self.kind,
            "network": "network" in policy.needs,
            "folder": os.path.realpath(policy.working),
            "mounts": mounts,
        }
        return (sys.executable, "-I", "-S", _CONFINE, json.dumps(plan), *command)

    def table(self) -> list[tuple[str, str]]:
        """What is stopped, and by which means: for `doctor` and the documentation."""
        return list(_STOPS[self.kind])


_BY_MOUNTS: Final = (
    ("changing files outside the working folder", "everything else is mounted read-only"),
    ("changing .git, hooks, editor settings, instructions", "mounted read-only unless allowed"),
    ("reading keys, credentials, histories", "their places are empty inside"),
    ("the network", "a network namespace that has only its own loopback"),
    ("a process that outlives the stop, or looks at others", "a process namespace that ends as a whole"),
    ("sockets of the desktop, of docker, of agents", "/run and /tmp are empty inside"),
    ("more rights", "no capability, no set-uid program"),
)
_STOPS: Final[Mapping[Kind, Sequence[tuple[str, str]]]] = {
    "bubblewrap": _BY_MOUNTS,
    "namespaces": _BY_MOUNTS,
    "sandbox-exec": (
        ("changing files outside the working folder", "a profile of the system"),
        ("reading keys, credentials, histories", "the same profile"),
        ("the network", "the same profile"),
    ),
    "landlock": (
        ("changing files outside the working folder", "only listed places can be written"),
        ("changing .git", "beside a .git only folders and files that are there already can be changed"),
        ("reading anything but the working folder and the system's programs", "only listed places can be read"),
        ("TCP", "Landlock, from version 4 on; UDP and sockets in the file system stay open"),
        ("a process that outlives the stop", "a supervisor that everything falls to"),
    ),
    "none": (("a process that outlives the stop", "a supervisor that everything falls to"),),
}


# -- which one is here


def boundary_here() -> Boundary:
    """The strongest that works on this machine, or what a person chose, `none` too: no file of a workspace can.

    It is tried once for a process.
    """
    return _found(os.environ.get("WEFT_BOUNDARY", ""))


@cache
def _found(chosen: str) -> Boundary:
    wanted = [kind for kind in KINDS if kind == chosen] or list(KINDS)
    tried: list[str] = []
    for kind in wanted:
        if kind == "none":
            break
        for candidate in _candidates(kind):
            fault = _fault(candidate)
            if not fault:
                return Boundary(candidate.kind, candidate.options, tuple(tried))
            tried.append(f"{kind}: {fault}")
    return Boundary("none", tried=tuple(tried))


def _candidates(kind: Kind) -> list[Boundary]:
    """bubblewrap of before 0.8 does not know how to close the door to further namespaces."""
    if kind == "bubblewrap":
        return [Boundary(kind, ("--disable-userns",)), Boundary(kind)]
    return [Boundary(kind)]


def _fault(boundary: Boundary) -> str:
    """Why this boundary is none here; "" when it ran a command, kept it in and let it work."""
    program = {"bubblewrap": "bwrap", "sandbox-exec": "sandbox-exec"}.get(boundary.kind)
    if program and shutil.which(program) is None:
        return f"{program} is not installed"
    if not program and sys.platform != "linux":
        return "only Linux has it"
    with tempfile.TemporaryDirectory(prefix="weft-probe-") as name:
        top = Path(os.path.realpath(name))
        working, home = top / "working", top / "home"
        for folder in (working, home / ".ssh"):
            folder.mkdir(parents=True)
        (home / ".ssh" / "id").write_text("secret")
        script = "echo in > in; (echo out > ../home/out; cat ../home/.ssh/id) 2>/dev/null; echo done"
        policy = Policy(working=working, home=home, needs=frozenset({"write"}))
        try:
            words = boundary.wrap(("/bin/sh", "-c", script), policy)
            ran = subprocess.run(
                words, cwd=working, capture_output=True, text=True, timeout=_PROBE_SECONDS, check=False
            )
        except (OSError, subprocess.SubprocessError) as error:
            return str(error)
        if ran.returncode or ran.stdout != "done\n":
            said = (ran.stderr.strip() or ran.stdout.strip()).split("\n")[-1]
            return said[:200] or f"exit code {ran.returncode}"
        if not (working / "in").exists() or (home / "out").exists():
            return "it did not keep a command in"
    return ""


# -- what is mounted

Mount = tuple[Literal["empty", "blank", "read", "write"], str]


def _mounts(policy: Policy) -> Iterator[Mount]:
    """In order, over a machine that is read-only as a whole. Only what is there is named."""
    working, home = os.path.realpath(policy.working), os.path.realpath(policy.home)
    covered = [path for path in _covered() if path not in ("/dev/shm", working, home)]
    shown = (path for path in (home, *_real(policy.readable), *_SHOWN) if os.path.exists(path) and path != working)
    again = dict.fromkeys(path for path in shown if any(_within(path, top) for top in covered))
    laid: list[Mount] = [*(("empty", path) for path in covered), *(("read", path) for path in again)]
    yield from sorted(laid, key=lambda one: len(one[1]))  # what lies in another comes after it
    yield ("write" if "write" in policy.needs else "read"), working
    yield from (("write", path) for path in _real(policy.writable) if os.path.exists(path))
    if "git" in policy.needs:
        yield from (("write", path) for path in opened_repository(working))
    own = [os.path.realpath(path) for path in policy.writable]
    for top in _real(policy.kept):
        yield from (("read", path) for path in _deciding(top) if not any(_within(other, path) for other in own))
    if "write" in policy.needs:
        for path in protected(working, git="git" not in policy.needs):
            if not any(_within(other, path) for other in own):
                yield "read", path
    if "keys" not in policy.needs:
        for path in secret_places(home, policy.hidden):
            if not _within(working, path) and not any(_within(other, path) for other in own):
                yield ("empty" if os.path.isdir(path) else "blank"), path


def _covered() -> list[str]:
    """Also where passing files and sockets lie for this person, those of sessions that are held open among them."""
    own = (tempfile.gettempdir(), os.environ.get("XDG_RUNTIME_DIR", ""))
    return [*dict.fromkeys(os.path.realpath(path) for path in (*COVERED, *own) if os.path.isdir(path))]


def _bubblewrap(policy: Policy, options: Iterable[str]) -> Iterator[str]:
    program = _own_program("bwrap", os.path.realpath(policy.working))
    yield from (program, "--unshare-all", "--unshare-user", "--die-with-parent", "--cap-drop", "ALL", *options)
    if "network" in policy.needs:
        yield "--share-net"
    yield from ("--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc")
    for path in KERNEL_DOORS:  # which bubblewrap leaves open to root
        if os.path.exists(path):
            yield from ("--ro-bind", path, path)
    for how, path in _mounts(policy):
        match how:
            case "empty":
                yield from ("--size", TEMPORARY, "--tmpfs", path)
            case "blank":
                yield from ("--ro-bind", "/dev/null", path)
            case "read":
                yield from ("--ro-bind", path, path)
            case "write":
                yield from ("--bind", path, path)
    yield from ("--chdir", os.path.realpath(policy.working), "--")


def _own_program(name: str, working: str) -> str:
    """By our own PATH and never by that of the command, which may come from a command before it; nor in the folder
    where that one could have left it."""
    folders = [entry for entry in os.environ.get("PATH", os.defpath).split(os.pathsep) if entry.startswith("/")]
    apart = [entry for entry in folders if not _within(os.path.realpath(entry), working)]
    return shutil.which(name, path=os.pathsep.join(apart)) or f"/usr/bin/{name}"


def secret_places(home: str, hidden: Iterable[Path] = ()) -> list[str]:
    """Those that are there, with every link on the way followed."""
    homes = {home, os.path.realpath(_own_home())}
    named = [f"{top}/{place}" for top in sorted(homes) for place in SECRET_PLACES]
    elsewhere = {
        ".config/": os.environ.get("XDG_CONFIG_HOME"),
        ".local/share/": os.environ.get("XDG_DATA_HOME"),
        ".cargo/": os.environ.get("CARGO_HOME"),
    }
    for usual, top in elsewhere.items():
        named += [f"{top}/{place.removeprefix(usual)}" for place in SECRET_PLACES if top and place.startswith(usual)]
    doors = (
        os.environ.get("SSH_AUTH_SOCK", ""),
        os.environ.get("DOCKER_HOST", "").removeprefix("unix://"),
        os.environ.get("XAUTHORITY", ""),
    )
    named += filter(os.path.isabs, doors)
    found = [os.path.realpath(path) for path in (*named, *SECRET_FILES, *map(str, hidden)) if os.path.lexists(path)]
    return [path for path in dict.fromkeys(found) if os.path.exists(path) and path != "/dev/null"]


def _own_home() -> str:
    try:
        return pwd.getpwuid(os.getuid()).pw_dir
    except KeyError:
        return "/nonexistent"


def protected(working: str, *, git: bool) -> list[str]:
    """What `write` does not open: the names above, and every repository inside the working folder."""
    names = PROTECTED if git else _NEVER_GITS
    found = [f"{working}/{name}" for name in names if os.path.lexists(f"{working}/{name}")]
    kept = [*map(os.path.realpath, found), *(_deciding(working) if git else ())]
    return [path for path in dict.fromkeys(kept) if os.path.exists(path) and _within(path, working) and path != working]


def _deciding(top: str) -> list[str]:
    """Every repository in a folder and those below it, and what else decides there."""
    found: list[str] = []
    for folder, inside in _folders(top):
        found += [path for path in repository(folder, upwards=False) if _within(path, top)]
        found += [f"{folder}/{name}" for name in sorted(inside & _DEEPER)]
    kept = [os.path.realpath(path) for path in found]
    return [path for path in dict.fromkeys(kept) if os.path.exists(path) and _within(path, top) and path != top]


FolderIdentity = tuple[int, int]


def protected_places(working: str) -> dict[str, FolderIdentity]:
    """What of the names above is there, in the working folder and below, each with the folder that it lies in."""
    working = os.path.realpath(working)
    deeper = (os.path.relpath(path, working) for path in protected(working, git=True))
    return lying(working, (*PROTECTED, *deeper))


def planted(working: str, before: Mapping[str, FolderIdentity], also: Iterable[str] = ()) -> list[str]:
    """What decides, or is in `also`, and is new in the working folder, or lies in a folder that took the place of
    another: what is mounted read-only goes along when a folder above it gets another name, and that leaves its own name
    free."""
    working = os.path.realpath(working)
    deciding = [name for name in before if name in DECIDING or name not in PROTECTED]
    now = lying(working, (*DECIDING, *also, *deciding))
    return sorted(name for name, folder in now.items() if before.get(name) != folder)


def lying(working: str, names: Iterable[str]) -> dict[str, FolderIdentity]:
    """Which of these names are there, each with the folder that it lies in."""
    working = os.path.realpath(working)
    by_folder: dict[str, list[str]] = {}
    for name in names:
        by_folder.setdefault(os.path.dirname(name), []).append(os.path.basename(name))
    found: dict[str, FolderIdentity] = {}
    for place, wanted in by_folder.items():
        folder = os.path.realpath(f"{working}/{place}")
        if not _within(folder, working) or not os.path.isdir(folder):
            continue
        told = os.stat(folder)
        there = [name for name in wanted if os.path.lexists(f"{folder}/{name}")]
        found |= {os.path.relpath(f"{folder}/{name}", working): (told.st_dev, told.st_ino) for name in there}
    return found


def repository(folder: str, *, upwards: bool = True) -> list[str]:
    """Where a folder's repository is kept: `.git`, or what a file of that name points to, and what that shares."""
    top = folder
    while not os.path.lexists(f"{top}/.git"):
        if not upwards or top in ("/", ""):
            return []
        top = os.path.dirname(top)
    found = [f"{top}/.git"]
    for _ in range(2):
        pointer, last = "", found[-1]
        if os.path.isfile(last):
            pointer = _first_line(last).removeprefix("gitdir:").strip()
        elif os.path.isfile(f"{last}/commondir"):
            pointer = _first_line(f"{last}/commondir")
        if not pointer:
            break
        found.append(os.path.realpath(os.path.join(os.path.dirname(last) if os.path.isfile(last) else last, pointer)))
    return [path for path in dict.fromkeys(found) if os.path.exists(path)]


def opened_repository(folder: str) -> list[str]:
    """What `git` opens of it: where a link or a pointer leads counts only if a repository is kept there. The folder may
    come from anybody, and a pointer to the home is no reason to let the home be changed."""
    return [path for path in repository(folder) if not _is_pointed_to(path) or _is_repository(path)]


def _is_pointed_to(path: str) -> bool:
    return os.path.basename(path) != ".git" or os.path.islink(path)


def _is_repository(path: str) -> bool:
    kept = any(os.path.lexists(f"{path}/{name}") for name in ("objects", "commondir"))
    return kept and os.path.lexists(f"{path}/HEAD")


def _first_line(path: str) -> str:
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            return file.readline(4096).strip()
    except OSError:
        return ""


def _folders(top: str) -> Iterator[tuple[str, set[str]]]:
    """The folder and those below it, breadth first, as many as are worth the time; each with the names in it."""
    waiting, seen = [top], 0
    while waiting and seen < _SCAN:
        folder = waiting.pop(0)
        seen += 1
        names: set[str] = set()
        with suppress(OSError), os.scandir(folder) as entries:
            for entry in entries:
                names.add(entry.name)
                if entry.is_dir(follow_symlinks=False) and entry.name not in (".git", "node_modules", ".venv"):
                    waiting.append(entry.path)
        yield folder, names


def _real(paths: Iterable[Path]) -> list[str]:
    return [os.path.realpath(path) for path in paths]


def _within(path: str, top: str) -> bool:
    return path == top or path.startswith(top.rstrip("/") + "/")


# -- Landlock and macOS

_PACKAGES: Final = ("site-packages", "dist-packages")
_SYSTEM: Final = (
    *("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/etc", "/opt", "/nix", "/proc", "/sys"),
    *("/run/systemd/resolve", "/run/current-system", "/var/lib/dpkg"),
)
_DEVICES: Final = tuple(f"/dev/{name}" for name in ("null", "zero", "full", "random", "urandom", "tty", "fd", "shm"))
_TOOLS: Final = (
    *(".local/bin", ".local/lib", ".local/share/uv", ".cargo/bin", ".cargo/registry", ".rustup", ".pyenv", ".nvm"),
    *(".asdf", ".sdkman", ".gitconfig", ".config/git/config", "go", ".bun/bin", ".deno/bin"),
)


def _landlock_places(policy: Policy) -> list[Mount]:
    working, home = os.path.realpath(policy.working), os.path.realpath(policy.home)
    found: list[Mount] = [("read", path) for path in (*_SYSTEM, *_real(policy.readable))]
    found += [("read", f"{home}/{name}") for name in _TOOLS]
    found += [("write", path) for path in (*_DEVICES, *_real(policy.writable))]
    found.append(("read", working))
    if "keys" in policy.needs:
        found += [("read", path) for path in secret_places(home)]
    if "git" in policy.needs:
        found += [("write", os.path.realpath(path)) for path in opened_repository(working)]
    if "write" in policy.needs:
        kept = protected(working, git="git" not in policy.needs)
        if kept:
            inside = [entry.path for entry in os.scandir(working) if os.path.realpath(entry.path) not in kept]
            found += [("write", path) for path in inside]
        else:
            found.append(("write", working))
    return found


def program_folders(environment: Mapping[str, str]) -> tuple[Path, ...]:
    """Where the programs of PATH keep what they need: beside `bin`, the folder it stands in; and what this Python
    imports packages from, which a `.pth` file may put anywhere."""
    found = [Path(sys.prefix), Path(sys.base_prefix)]
    found += [Path(entry) for entry in sys.path if Path(entry).name in _PACKAGES]
    for entry in environment.get("PATH", "").split(os.pathsep):
        real = Path(os.path.realpath(entry))
        top = real.parent if real.name in ("bin", "sbin", "Scripts") else real
        if len(top.parts) > 2:
            found.append(top)
    return tuple(dict.fromkeys(found))


def command_files(command: Sequence[str]) -> tuple[Path, ...]:
    """What a command names in places that are empty inside, with what it stands among: the environment of a program,
    the packages of a script. What was agreed to runs wherever it lies."""
    found: list[Path] = []
    covered = _covered()
    for word in command:
        path = Path(word if word.startswith("/") else word.partition("=")[2])
        if not path.is_absolute() or not path.exists():
            continue
        named = dict.fromkeys((path, Path(os.path.realpath(path))))
        found += [
            _stands_among(place, covered) for place in named if any(Path(top) in place.parents for top in covered)
        ]
    return tuple(dict.fromkeys(found))


def _stands_among(path: Path, covered: Sequence[str]) -> Path:
    if path.is_dir():
        return path
    folder = path.parent
    if "node_modules" in path.parts:
        folder = Path(*path.parts[: path.parts.index("node_modules")])
    elif folder.name in ("bin", "Scripts"):
        folder = folder.parent
    return path if str(folder) in (*covered, "/") else folder


def seatbelt_profile(policy: Policy) -> str:
    """The same for macOS, in the language of its sandbox."""

    def places(paths: Iterable[str]) -> str:
        return " ".join(f"(subpath {json.dumps(path, ensure_ascii=False)})" for path in paths)

    working, home = os.path.realpath(policy.working), os.path.realpath(policy.home)
    lines = ["(version 1)", "(allow default)", "(deny file-write*)"]
    opened = ["/dev", "/private/tmp", "/private/var/folders", *_real(policy.writable)]
    if "write" in policy.needs:
        opened.append(working)
    if "git" in policy.needs:
        opened += opened_repository(working)
    lines.append(f"(allow file-write* {places(opened)})")
    if "write" in policy.needs and (kept := protected(working, git="git" not in policy.needs)):
        lines.append(f"(deny file-write* {places(kept)})")
    if "keys" not in policy.needs and (secret := secret_places(home, policy.hidden)):
        lines.append(f"(deny file-read* file-write* {places(secret)})")
    if "network" not in policy.needs:
        lines.append('(deny network*) (allow network* (local ip "localhost:*") (remote ip "localhost:*"))')
    return "\n".join(lines)
