"""How narrowly "allow for this session" is remembered for a shell command: exact program and subcommand, or not at all.

A key is given only to commands that were read in full. Programs that run others, delete, change rights, or speak to
the world have none: they are asked about each time.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Collection
from typing import Final

from weft.tools.boundary import Need
from weft.tools.shell.needs import shell_needs
from weft.tools.shell.options import RefusedOptionError, listed
from weft.tools.shell.programs import PROGRAMS, judge_program
from weft.tools.shell.reading import ShellReading, read_shell
from weft.tools.shell.words import Simple

DANGEROUS: Final = listed(
    """rm rmdir unlink dd mkfs shred truncate wipefs fdisk parted mount umount chmod chown chgrp chattr setfacl ln
    sudo su doas pkexec runuser chroot unshare nsenter kill killall pkill reboot shutdown poweroff halt init telinit
    useradd userdel usermod groupadd groupdel passwd visudo crontab at batch systemctl service launchctl
    curl wget ssh scp sftp rsync nc ncat netcat socat telnet ftp tftp openssl mail sendmail dig nslookup host ping
    sh bash dash zsh fish ksh csh tcsh busybox python python2 python3 pypy perl ruby node deno bun php lua tclsh R
    eval exec source builtin command env xargs find fd parallel watch nohup setsid timeout nice ionice time stdbuf
    script awk gawk mawk nawk sed ed ex vi vim nvim nano emacs tee install mv cp
    docker podman kubectl helm terraform ansible aws gcloud az gh glab heroku fly vercel
    apt apt-get yum dnf apk brew snap pacman pip pip3 pipx uv uvx npx pnpx bunx gem
    psql mysql sqlite3 mongo mongosh redis-cli iptables nft ip ifconfig route sysctl modprobe insmod ldconfig"""
)
RUNNERS: Final = listed(
    """sudo su doas pkexec runuser chroot unshare nsenter sh bash dash zsh fish ksh csh tcsh busybox python python2
    python3 pypy perl ruby node deno bun php lua tclsh R eval exec source builtin command env xargs find fd parallel
    watch nohup setsid timeout nice ionice time stdbuf script awk gawk mawk nawk sed ed ex vi vim nvim emacs make npm
    npx docker ssh"""
)
"""Programs that run what their words or their files say: what they do can't be told from their name."""
_VERSIONED: Final = re.compile(r"(python|pip|perl|ruby|php|lua|mkfs)[0-9.]*(\.[a-z0-9]+)?\Z")
"""python3.12, mkfs.ext4: the same programs under longer names."""

SUBCOMMANDS: Final = {
    "git": listed("add commit"),
    "npm": listed("test"),
    "yarn": listed("test"),
    "pnpm": listed("test"),
    "cargo": listed("build check test clippy fmt doc bench"),
    "go": listed("build test vet fmt"),
    "weft": listed("run plan doctor"),
}
"""Where the second word says what is done; other second words of these programs have no key."""
ALONE: Final = listed("pytest ruff mypy black isort flake8 eslint prettier tsc jest vitest mkdir touch")
"""Programs that do one kind of thing, whatever their words are."""
NETWORK: Final = listed(
    """curl wget ssh scp sftp rsync nc ncat netcat socat telnet ftp gh glab aws gcloud az dig nslookup host lynx w3m
    http https pip pip3 npm npx yarn pnpm uv gem brew apt apt-get docker podman kubectl"""
)

_GIT_NETWORK: Final = listed("clone fetch pull ls-remote lfs")
"""What git brings something with; what it says of a push is little, and its own."""
_STAYS: Final = {name for name, entry in PROGRAMS.items() if entry.offline} - NETWORK - RUNNERS | listed(
    "git sed test [ export sleep mkdir touch rm cp mv set"
)
"""They have nothing to do with a network that is open for what stands beside them."""


def is_dangerous(program: str) -> bool:
    return program in DANGEROUS or bool(_VERSIONED.match(program))


def runs_others(program: str) -> bool:
    return program in RUNNERS or bool(_VERSIONED.match(program))


def part_key(part: Simple, *, exactly: bool = False) -> str | None:
    """The narrow name under which one program may be allowed for a session; None when it may not be."""
    if is_dangerous(part.program) or part.reads:
        return None
    words = [word.text for word in part.words]
    known = SUBCOMMANDS.get(part.program)
    if known is not None and not known & {*words[1:2]}:
        return None
    if exactly or (known is None and part.program not in ALONE):
        return "shell exactly " + " ".join(word.source for word in part.words)
    return f"shell {words[0]} {words[1]}" if known is not None else f"shell {part.program}"


def prefix(part: Simple) -> str | None:
    """The first words of a command as a rule would allow it with whatever follows; None when that says nothing."""
    if is_dangerous(part.program) and part.program not in WITH_SUBCOMMANDS:
        return None
    words = [word.text for word in part.words]
    if part.program not in WITH_SUBCOMMANDS and part.program not in SUBCOMMANDS:
        return part.program if part.program in ALONE else None
    if len(words) < 2 or not re.match(r"[a-z][a-z-]*\Z", words[1]) or words[1] in ("exec", "run", "x", "dlx"):
        return None
    return f"{words[0]} {words[1]}"


WITH_SUBCOMMANDS: Final = listed("git npm yarn pnpm cargo go pip pip3 uv poetry gem bundle docker kubectl gh apt brew")
"""What their second word says is done, even where it is worth a question each time."""


def part_is_read_only(part: Simple) -> bool:
    try:
        judge_program(part)
    except RefusedOptionError:
        return False
    return True


def session_keys(reading: ShellReading, *, exactly: bool) -> frozenset[str | None]:
    """The keys of all parts that do more than look at this machine; None among them when one of them has no key.
    `exactly`: the words name what is asked about with any program, so that all of them are in the keys."""
    parts = reading.commands if exactly else [part for part in reading.commands if not _stays_and_looks(part)]
    return frozenset(part_key(part, exactly=exactly) for part in parts) or frozenset({None})


def _stays_and_looks(part: Simple) -> bool:
    try:
        return judge_program(part).offline
    except RefusedOptionError:
        return False


def brings_from_outside(command: str, opened: Collection[Need]) -> bool:
    """Whether what it prints may have come over the network, with what was opened for it. Where that is all of it,
    whatever is not known for something else may have used it: `timeout 9 curl`, code, a script of the folder."""
    reading, told = read_shell(command), shell_needs(command)
    words = set(re.findall(r"[A-Za-z0-9._-]+", command))
    if "network" not in opened and not ("outside" in opened and "network" in told.needs):
        return "outside" in opened and bool(NETWORK & words)
    if not reading.commands and told.about("unreadable"):
        return True
    programs = {*map(posixpath.basename, told.programs)}
    if reading.commands:
        programs = {part.program for part in reading.commands if not _stays_and_looks(part)}
        words = {word.text for part in reading.commands if part.program == "git" for word in part.words}
    brought = _GIT_NETWORK & words or ("update" in words and {"remote", "submodule"} & words)
    return bool(programs - _STAYS) or ("git" in programs and bool(brought))
