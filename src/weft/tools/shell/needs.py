"""What a command needs to be opened in the boundary around it, told from its words; and what is worth a question.

Pure. The kernel holds what is not opened, so nothing here is a defence by itself: a command that is misread runs
without a network, without the places of secrets, and without the right to change anything. What is read here decides
which of that is opened, and what a person is asked about first. Programs that run others (`xargs`, `timeout`, `sh -c`,
`uv run`) are looked through.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import field
from functools import lru_cache
from itertools import pairwise
from typing import Any, Final, Literal

from weft.protocol.values import dataclass
from weft.tools.boundary import DECIDING, SECRET_PLACES, Need, Strength
from weft.tools.shell.git import GIT
from weft.tools.shell.options import RefusedOptionError, listed
from weft.tools.shell.tree import parser
from weft.tools.shell.words import Word

Worry = Literal["unreadable", "need", "change", "destroys", "decides", "elsewhere", "secret", "place"]
"""What a question would be about. `change`: files of the working folder; `decides`: files that are run or obeyed
unasked; `elsewhere`: reading outside the working folder; `secret`: what may hold keys; `place`: where secrets are."""
DEPTH: Final = 4


@dataclass(frozen=True, slots=True)
class Concern:
    worry: Worry
    text: str


@dataclass(frozen=True, slots=True)
class ShellNeeds:
    needs: frozenset[Need]
    """What has to be opened for it to work, as far as its words tell."""
    concerns: tuple[Concern, ...]
    makes: bool
    """It is a build, a test or a script of the folder: it may write the folder without a question."""
    programs: tuple[str, ...] = ()
    background: bool = False
    """It leaves something running when it ends."""
    deciding: tuple[str, ...] = ()
    """The paths that a worry about `decides` is about, made whole as far as the text tells."""

    def about(self, *worries: Worry) -> tuple[Concern, ...]:
        return tuple(concern for concern in self.concerns if concern.worry in worries)


@dataclass(frozen=True, slots=True)
class Ground:
    """Where a command would run: the folders, as far as they are known, and the boundary around it."""

    working: str = ""
    home: str = ""
    boundary: Strength = "none"
    named: str = ""
    """The working folder as it is called where that is by a link."""


# -- programs

_OUTSIDE: Final = listed(
    """sudo su doas pkexec runuser chroot unshare nsenter mount umount mkfs fdisk parted wipefs losetup swapon
    reboot shutdown poweroff halt init telinit systemctl service launchctl useradd userdel usermod groupadd groupdel
    passwd chpasswd visudo crontab at batch kill killall pkill modprobe insmod rmmod sysctl iptables nft ip ifconfig
    route apt apt-get dpkg yum dnf rpm apk brew snap pacman zypper flatpak docker podman nerdctl buildah vagrant
    minikube kind ansible ansible-playbook loginctl hostnamectl timedatectl update-alternatives ldconfig chattr setfacl
    strace gdb ptrace perf bpftrace xdg-open open osascript tmux screen wall write dbus-send notify-send insmod kexec
    fuser gcore xdotool xclip xsel pbpaste pbcopy wl-copy wl-paste systemd-run mknod arp
    setcap capsh firewall-cmd ufw journalctl dmesg debugfs lvm cryptsetup"""
)
_NETWORK: Final = listed(
    """curl wget nc ncat netcat socat telnet ftp tftp dig nslookup host ping ping6 traceroute tracepath mtr whois nmap
    lynx w3m links elinks http https httpie xh aria2c axel youtube-dl yt-dlp npx pnpx bunx uvx pipx mail sendmail mutt
    msmtp openvpn wg tcpdump nmcli speedtest finger irssi psql mysql mongo mongosh redis-cli ldapsearch smbclient mosh
    busybox ngrok cloudflared svn cvs bzr"""
)
_WITH_KEYS: Final = listed(
    """ssh scp sftp rsync ssh-copy-id ssh-add ssh-keygen gh glab hub aws gcloud gsutil az kubectl helm terraform tofu
    pulumi heroku fly flyctl vercel netlify doctl s3cmd rclone restic borg gpg gpg2 pass op vault sops age keyring
    secret-tool security wrangler firebase twine"""
)
_INSTALLS: Final = {
    "pip": listed("install download uninstall wheel index search"),
    "pip3": listed("install download uninstall wheel index search"),
    "npm": listed(
        """install i ci add update upgrade uninstall remove rm publish login logout exec audit outdated link view info
        search init create dedupe token whoami fund unpublish deprecate owner access adduser dist-tag"""
    ),
    "yarn": listed("add install remove upgrade publish dlx create up"),
    "pnpm": listed("add install i update remove publish dlx create up"),
    "bun": listed("add install remove update publish x create"),
    "cargo": listed("install add update publish fetch search login yank uninstall"),
    "go": listed("get install"),
    "gem": listed("install update push uninstall"),
    "bundle": listed("install update add"),
    "composer": listed("install update require global"),
    "uv": listed("add remove sync lock publish tool self"),
    "poetry": listed("add install update remove lock publish"),
    "pdm": listed("add install update remove lock publish sync"),
    "conda": listed("install create update remove env"),
    "mamba": listed("install create update remove env"),
    "deno": listed("install add publish upgrade"),
    "dotnet": listed("add restore nuget tool"),
    "rustup": listed("update install toolchain self component target"),
    "pre-commit": listed("install autoupdate"),
    "playwright": listed("install"),
    "hf": listed("download upload auth"),
    "git-lfs": listed("pull push fetch install"),
    "hg": listed("clone pull push incoming outgoing"),
}
_GIT_NETWORK: Final = listed("clone fetch pull push ls-remote remote submodule send-email svn p4 request-pull lfs")
_GIT_DESTROYS: Final = listed("clean reset checkout restore rm gc prune filter-branch filter-repo reflog update-ref")
_GIT_OPTIONS: Final = ("-C", "-c", "--git-dir", "--work-tree", "--exec-path", "--namespace", "--config-env")
_MAKES: Final = listed(
    """pytest py.test tox nox make gmake cmake ctest ninja meson gcc g++ cc c++ clang clang++ ld ar rustc cargo go npm
    yarn pnpm bun deno node-gyp tsc eslint prettier jest vitest mocha webpack vite rollup esbuild swc babel next ruff
    black isort flake8 mypy pyright pylint bandit coverage autopep8 yapf mvn mvnw gradle gradlew ant sbt javac java
    kotlinc scalac dotnet
    msbuild rake rspec rubocop bundle phpunit composer mix rebar3 swift swiftc xcodebuild zig just task
    bazel buck pre-commit sphinx-build mkdocs hugo jekyll pandoc latexmk pdflatex xelatex mkdir touch weft uv poetry pdm
    hatch pip pip3 rustfmt gofmt clang-format shellcheck stylelint tsx ts-node protoc dune stack cabal ghc nim nimble
    alembic manage.py flask gunicorn uvicorn source . build
    playwright svelte-check vue-tsc nx turbo knip ava c8 nyc karma cypress astro tsup biome oxlint depcheck madge
    commitlint markdownlint typedoc ng parcel terraform tofu helm"""
)
_OFFLINE: Final = {
    "terraform": listed("fmt validate version graph"),
    "tofu": listed("fmt validate version graph"),
    "helm": listed("lint template version"),
}
"""What programs that go out with keys do without."""
_FAR: Final = re.compile(r"(?:.*[:_-])?(?:deploy|publish|release|upload|install|uninstall|push)(?:[:_-].*)?\Z")
"""Targets and scripts whose work is outside the working folder."""
_WEFT_OPENS: Final = listed("trust secrets tokens persons serve worker models sources schedules packs skills")
_WEFT_TELLS: Final = listed("list show explain test tools history")
_RUNNERS: Final = listed("make gmake just task npm yarn pnpm bun rake invoke")
_SETTINGS: Final = {
    "npm": ("config set", "config delete", "config edit", "set"),
    "yarn": ("config set", "config unset"),
    "pnpm": ("config set", "config delete"),
    "pip": ("config set", "config unset", "config edit"),
    "pip3": ("config set", "config unset", "config edit"),
    "poetry": ("config",),
    "go": ("env -w", "env -u"),
}
"""How programs are told to change settings of the person's own."""
_RUNS_BY_NAME: Final = re.compile(
    r"(?:GIT_(?:EXTERNAL_DIFF|PAGER|EDITOR|SEQUENCE_EDITOR|SSH|SSH_COMMAND|ASKPASS|PROXY_COMMAND|EXEC_PATH|TEMPLATE_DIR|CONFIG\w*)"
    r"|PAGER|MANPAGER|EDITOR|VISUAL|BROWSER|SSH_ASKPASS|LESSOPEN|LESSCLOSE|LD_PRELOAD|LD_AUDIT|DYLD_\w+|BASH_ENV|ENV"
    r"|PROMPT_COMMAND|PS4|PYTHONSTARTUP|PYTHONINSPECT|PERL5OPT|PERL5DB|RIPGREP_CONFIG_PATH|RUBYOPT|JAVA_TOOL_OPTIONS|GCONV_PATH|SHELLOPTS|BASH_FUNC_\w+)\Z"
)
"""Variables whose value another program runs, or is told by what to load."""
_PLAIN_PAGER: Final = ("", "cat", "less", "more", "true", "less -R", "less -FRX")
_CHANGES: Final = listed(
    """rm rmdir unlink mv cp ln tee dd truncate install patch shred chmod chown chgrp split csplit ed ex vi vim nvim
    nano emacs"""
)
_DESTROYS: Final = listed("rm rmdir unlink shred dd truncate mkfs wipefs")
_ARCHIVES: Final = listed("tar unzip zip gzip gunzip bzip2 bunzip2 xz unxz zstd 7z cpio")
_LOOKING_ARCHIVE: Final = re.compile(r"-?[a-zA-Z]*t[a-zA-Z]*\Z|-l\Z|-Z\Z|--list\Z|-c\Z|-dc\Z|--stdout\Z|-k?c\Z")
_INTERPRETERS: Final = re.compile(
    r"(?:python|pypy|perl|ruby|node|nodejs|php|lua|luajit|Rscript|tclsh|bash|sh|dash|zsh|fish|ksh)[0-9.]*\Z"
)
_SHELLS: Final = listed("bash sh dash zsh ksh")
_MODULES: Final = listed(
    """pytest unittest build compileall mypy ruff black isort flake8 pylint coverage tox nox venv doctest sphinx mkdocs
    pip pytype pyright bandit timeit cProfile py_compile alembic django flask"""
)
_LOOKED_THROUGH: Final = listed(
    """env xargs timeout nice ionice time nohup stdbuf setsid command exec builtin coproc parallel chronic unbuffer
    script"""
)
_VALUED: Final = {
    "xargs": listed("-I -n -P -L -d -E -s -a --max-args --max-procs --delimiter --arg-file --replace --max-lines"),
    "timeout": listed("-s -k --signal --kill-after"),
    "nice": listed("-n --adjustment"),
    "ionice": listed("-c -n -p"),
    "env": listed("-u -C -S --unset --chdir --split-string"),
    "stdbuf": listed("-i -o -e"),
    "watch": listed("-n -d --interval"),
    "parallel": listed("-j -n -I --jobs"),
}
_RUN_INSIDE: Final = {
    "uv": ("run",),
    "poetry": ("run",),
    "pdm": ("run",),
    "hatch": ("run",),
    "pipenv": ("run",),
    "rye": ("run",),
    "bundle": ("exec",),
    "coverage": ("run",),
    "dotenv": ("run",),
}

_CODE_SENDS: Final = re.compile(
    r"https?://|\bsockets?\b|\burllib|\burlopen|\brequests\b|\bhttpx\b|\bhttp\.client|\baiohttp|\bfetch\(|\bnet\.(?:connect|create)"
    r"|require\(['\"](?:https?|net|dns|tls)['\"]\)|\bNet::HTTP|\bLWP|\bTCPSocket|\bparamiko|\bsmtplib|\bftplib"
)
_CODE_DESTROYS: Final = re.compile(
    r"\brmtree|\bunlink|\bremove(?:dirs|Sync)?\(|\brmdir|\brmSync|\btruncate|\bFile\.delete|\bFileUtils\.rm"
)
_CODE_CHANGES: Final = re.compile(
    r"\brename|\breplace\(['\"][./~]|\bwrite_(?:text|bytes)|\bwriteFile"
    r"|\bappendFile|\bFile\.write|\bFileUtils|\bmakedirs|\bmkdir|\bsymlink|\bchmod|\bshutil\.(?:move|copy)"
    r"|open\([^)]*,\s*(?:mode\s*=\s*)?['\"][rb+]*[wax]|open\([^)]*['\"]>|\bcopyfile"
)
_CODE_RUNS: Final = re.compile(
    r"\bfrom\s+os\s+import|\bimport\s+os\s+as|\bgetattr\s*\(\s*os\b|\bos\.(?:system|popen|exec|spawn|fork|kill)|\bsubprocess|\bpty\b|\bctypes|child_process|\bsystem\s*[(\"']|\bexec\(|\bpopen"
    r"|\beval\(|\b__import__|\bqx\b|`|\|\s*getline|\bkill\("
)
"""Names in code that is given on a command line. What they miss, the kernel stops."""

# -- words

_SECRET: Final = re.compile(
    r"(?:^|[/=:,])(?:\.ssh|\.gnupg|\.aws|\.azure|\.kube|\.docker|\.netrc|\.pgpass|\.git-credentials|\.npmrc|\.pypirc)(?:$|[/*?\[])"
    r"|\bid_(?:rsa|dsa|ecdsa|ed25519)\b|/etc/(?:g?shadow|sudoers)|\bcredentials?(?:\.(?:json|toml|ya?ml|xml|ini|env|txt)|$)"
    r"|\.(?:pem|key|p12|pfx|jks|keystore|kdbx|ovpn|asc)$|(?:^|[/=:])\.env(?:$|\.(?!example|sample|template|dist))"
    r"|\w\.env(?:$|\.(?!example|sample|template|dist))|_history$|\.(?:lesshst|viminfo)$|(?:^|/)\.config/(?:gh|gcloud)(?:$|/)"
    r"|(?:^|/)secrets?(?:\.(?:json|toml|ya?ml|ini|env|txt)|/|$)|\.tfstate(?:\.backup)?$|\.htpasswd$"
    r"|\bservice[-_]?account[\w.-]*\.json$",
    re.IGNORECASE,
)
"""Where keys, passwords and histories are usually kept, by name."""
_KEY_NAME: Final = re.compile(r"API_?KEY|ACCESS_KEY|_TOKEN|SECRET|PASSWORD|PASSPHRASE|CREDENTIAL", re.IGNORECASE)
_VARIABLE: Final = re.compile(r"\$\{?(\w+)")
_USE_KEYS: Final = listed("ssh scp sftp rsync ssh-add ssh-keygen ssh-copy-id git gpg kubectl aws gcloud")
"""They use a key that is named without showing it: asked about like all they do, not denied."""
_SECRET_ROOTS: Final = re.compile(r"/(?:home|Users)/[^/]+|/root|/var/root")
_SYSTEM: Final = re.compile(
    r"/(?:usr|bin|sbin|lib|lib32|lib64|opt|nix)(?:/|$)|/dev/(?:null|zero|stdin|stdout|stderr|fd/\d+|u?random|tty)$|/tmp(?:/|$)"
    r"|/etc/(?:os-release|lsb-release|debian_version|hostname|timezone|localtime|services|protocols|mime\.types)$"
    r"|/proc/(?:cpuinfo|meminfo|version|loadavg|uptime|stat|mounts|filesystems)$"
)
"""The machine's own: to read it tells nothing of a person."""
_NAMES: Final = listed("echo printf test [ cd pwd basename dirname export local declare which type command")
_INSIDE: Final = re.compile(
    r"(?:^|/)proc(?:$|/(?!(?:cpuinfo|meminfo|version|loadavg|uptime|stat|mounts|filesystems)$))"
)
_DEVICE: Final = re.compile(
    r"(?:^|[=:])(?:\.\.?/|/)*(?:dev/(?!(?:null|zero|stdin|stdout|stderr|fd|u?random|tty)\b)|inet[46]?/)"
)


# -- reading


@dataclass(slots=True)
class _Found:
    parts: list[list[str]] = field(default_factory=list)
    """Programs with their words; a word that is not known before it runs has a $ in it."""
    written: list[str] = field(default_factory=list)
    read: list[str] = field(default_factory=list)
    faults: list[str] = field(default_factory=list)
    background: bool = False
    assigned: list[tuple[str, str]] = field(default_factory=list)
    """Variables that are set, with their values."""
    straight: bool = True
    """Its programs run one after the other, each only if the one before it succeeded: `cd` holds for what follows."""


@lru_cache(maxsize=256)
def shell_needs(command: str, ground: Ground = Ground()) -> ShellNeeds:  # noqa: B008  a value that never changes
    found = _Found()
    _survey(command, found, 0)
    reader = _Reader(ground, straight=found.straight)
    for part in found.parts:
        reader.part(part, 0)
    for name, value in found.assigned:
        reader.assigned(name, value)
    for target in found.written:
        reader.written(target)
    for source in found.read:
        reader.word("<", source)
    concerns = [Concern("unreadable", fault) for fault in found.faults] + reader.concerns
    programs = tuple(dict.fromkeys(part[0] for part in found.parts))
    return ShellNeeds(
        frozenset(reader.needs),
        tuple(dict.fromkeys(concerns)),
        reader.makes,
        programs,
        found.background,
        tuple(reader.deciding),
    )


def _survey(text: str, found: _Found, depth: int) -> None:
    try:
        root = parser().parse(text.encode("utf-8", "surrogatepass")).root_node
    except (ImportError, RecursionError) as error:
        found.faults.append(f"the command could not be parsed ({error})")
        return
    if root.has_error:
        found.faults.append("the command is not a whole one, or one that is not understood")
    if any(ord(letter) < 32 and letter not in "\n\t" for letter in text) or re.search(
        r"[\u200b-\u200f\u202a-\u202e\u2066-\u2069\ufeff\u00ad]", text
    ):
        found.faults.append("the command has letters that can't be seen")
    waiting = [root]
    while waiting:
        node = waiting.pop()
        if node.type == "function_definition":
            found.faults.append("the command defines a function")
        elif node.type == "command":
            _command(node, found, depth)
        elif node.type == "file_redirect":
            _redirect(node, found)
        elif node.type == "test_command":
            found.parts.append(["[", *(_text(child) for child in _leaves(node))])
        elif node.type == "variable_assignment":
            name, value = node.child_by_field_name("name"), node.child_by_field_name("value")
            found.assigned.append((_text(name) if name is not None else "", _text(value) if value is not None else ""))
        elif node.type == "&":
            found.background = True
        if node.type in _NOT_STRAIGHT:
            found.straight = False
        waiting += reversed(node.children)


_NOT_STRAIGHT: Final = listed(
    "; & || | |& ;; subshell command_substitution process_substitution if_statement for_statement while_statement"
)


def _leaves(node: Any) -> Iterator[Any]:
    for child in node.children:
        if child.type in ("word", "string", "raw_string", "concatenation", "simple_expansion"):
            yield child
        else:
            yield from _leaves(child)


def _command(node: Any, found: _Found, depth: int) -> None:
    words = [
        _text(child)
        for child in node.children
        if child.type not in ("variable_assignment", "file_redirect", "heredoc_redirect", "herestring_redirect")
    ]
    if not words:
        return
    if "$" in words[0] or "`" in words[0] or not words[0]:
        found.faults.append("the command runs a program whose name is not known before")
        return
    found.parts.append(words)
    inner = _inner_script(words)
    if inner is not None:
        if "$" in inner.replace("$HOME", "") or depth >= DEPTH:
            found.faults.append(f"{words[0]} runs text that is not known before")
        else:
            _survey(inner, found, depth + 1)


def _inner_script(words: Sequence[str]) -> str | None:
    """The text that a shell among these words is given to run."""
    for at, word in enumerate(words):
        name = posixpath.basename(word)
        if name == "eval" and at == 0:
            return " ".join(words[1:])
        if name == "watch" and at == 0:
            return " ".join(_after_options(words[1:], _VALUED["watch"]))
        if name == "script" and at == 0 and "-c" in words[1:-1]:
            return words[words.index("-c") + 1]
        if name in _SHELLS:
            for index in range(at + 1, len(words) - 1):
                if re.match(r"-[a-z]*c[a-z]*\Z", words[index]):
                    return words[index + 1]
                if not words[index].startswith("-"):
                    break
    return None


def _redirect(node: Any, found: _Found) -> None:
    signs = "".join(
        child.type for child in node.children if child.type in ("<", ">", ">>", "&>", "&>>", ">|", ">&", "<&")
    )
    target = node.child_by_field_name("destination")
    if target is None or target.type == "number":
        return
    (found.written if ">" in signs else found.read).append(_text(target))


def _text(node: Any) -> str:
    """A word as the program gets it; what is only known when it runs keeps its $."""
    raw: str = node.text.decode("utf-8", "replace")
    if node.type in ("command_name", "concatenation"):
        return "".join(_text(child) for child in node.children) if node.children else raw
    if node.type == "raw_string":
        return raw[1:-1]
    if node.type == "string":
        inside = raw[1:-1]
        return re.sub(r'\\(["\\`])', r"\1", inside)
    if node.type == "word":
        return re.sub(r"\\(.)", r"\1", raw, flags=re.DOTALL)
    return raw


# -- judging


@dataclass(slots=True)
class _Reader:
    ground: Ground
    needs: set[Need] = field(default_factory=set)
    concerns: list[Concern] = field(default_factory=list)
    deciding: list[str] = field(default_factory=list)
    makes: bool = False
    straight: bool = True
    here: str = ""
    """Where the commands before have gone, below or beside the working folder; "" for that itself."""

    def need(self, why: str, *needs: Need) -> None:
        self.needs |= set(needs)
        self.concerns.append(Concern("need", why))

    def change(self, why: str, worry: Worry = "change") -> None:
        self.needs.add("write")
        self.concerns.append(Concern(worry, why))

    def part(self, words: Sequence[str], depth: int) -> None:
        """One program with its words, and those it runs."""
        if not words or depth > DEPTH:
            return
        name, rest = posixpath.basename(words[0]), list(words[1:])
        for word in rest:
            self.word(name, word)
        if re.match(r"(mkfs|fsck)\.", name):
            name = "mkfs"
        if inner := self._inner(name, rest):
            self.part(inner, depth + 1)
            return
        if name in ("cd", "pushd", "chdir"):
            self._goes_to(rest)
        elif name == "find":
            self._find(rest, depth)
        elif name == "git":
            self._git(rest)
        elif not _only_tells(rest) and not self._goes_out(name, rest) and not self._writes(name, rest):
            if _INTERPRETERS.match(name):
                self._interpreter(name, rest)
            elif name in ("awk", "gawk", "mawk", "nawk", "sed"):
                self._little_language(name, rest)
            elif not self._is_told_to_run(name, rest):
                self.makes = self.makes or name in _MAKES or "/" in words[0]
                self._puts_out(name, rest)

    def _is_told_to_run(self, name: str, rest: list[str]) -> bool:
        """Programs that only show something, unless their words make them do more."""
        if name in ("deno", "bun", "tsx", "ts-node") and (code := _code_word(rest)):
            self.code(name, code)
        elif name in ("less", "more", "man") and any(re.match(r"\+|-P", word) for word in rest):
            self.concerns.append(Concern("unreadable", f"{name} is told to run something"))
        elif name in ("sqlite3", "duckdb") and (found := _SQL_CHANGES.search(" ".join(rest))):
            self.change(f"{name} changes files or runs a program ({found[0][:30]})")
        elif name == "rg" and any(re.match(r"--(?:pre|hostname-bin)(?:=|\Z)", word) for word in rest):
            self.concerns.append(Concern("unreadable", "rg is told to run a program"))
        elif name in ("alias", "trap", "enable", "hash"):
            self.concerns.append(Concern("unreadable", f"{name} changes what other words mean"))
        else:
            return False
        return True

    def _puts_out(self, name: str, rest: list[str]) -> None:
        """Where a build is told to leave what it made."""
        for word in rest if name in ("mkdir", "touch") else ():
            self._decides(word)
        for option, value in pairwise(rest):
            if option in ("-o", "--output", "--outfile"):
                self._decides(value)

    def assigned(self, name: str, value: str) -> None:
        """A variable that is set for a program, or for all that follow."""
        runs = bool(_RUNS_BY_NAME.match(name)) and not (name.endswith(("PAGER", "EDITOR")) and value in _PLAIN_PAGER)
        loads = name == "NODE_OPTIONS" and re.search(r"require|import|loader|(?:^|\s)-r", value)
        first = name == "PATH" and re.search(r"(?:^|:)(?:\.|/tmp|/var/tmp|/dev/shm)(?:[/:]|$)|^:|::|:$", value)
        if runs or loads or first:
            self.concerns.append(Concern("unreadable", f"{name} makes other programs run something: {value[:40]}"))

    def _goes_to(self, rest: list[str]) -> None:
        """What is named after it is named from there."""
        words = [word for word in rest if not word.startswith("-")]
        target = words[0] if words else "~"
        path = self._path(target)
        if self._is_secret_place(path):
            self.concerns.append(Concern("place", f"{target[:60]} is a place of keys, passwords or histories"))
        elif "$" in path:
            return  # where that is shows when it runs; the kernel holds what it finds there
        elif path.startswith("~") or (
            self.ground.working and not _within(path, self.ground.working) and not _SYSTEM.match(path)
        ):
            self.concerns.append(Concern("elsewhere", f"{target[:60]} is outside the working folder"))
        self.here = path

    def _goes_out(self, name: str, rest: list[str]) -> bool:
        words = [word for word in rest if not word.startswith("-")]
        if name in _OFFLINE and words[:1] and words[0] in _OFFLINE[name]:
            return False
        if self._goes_far(name, rest, words):
            return True
        if name == "kill" and words and all(re.fullmatch(r"\$!|%[\w%+-]*|\$\(jobs -p\)", word) for word in words):
            return False  # what the same command has started
        if name in _OUTSIDE:
            self.need(f"{name} works on the machine itself, outside the boundary", "outside")
        elif name in _WITH_KEYS:
            self.need(f"{name} goes to another machine with your keys", "network", "keys")
        elif name in _NETWORK or (name == "openssl" and rest[0] in ("s_client", "s_server", "ocsp")):
            self.need(f"{name} goes to the network", "network")
        elif name in _INSTALLS and self._installs(name, rest):
            self.need(f"{' '.join([name, *rest[:1]])} fetches and installs from the network", "network", "write")
        else:
            return False
        return True

    def _goes_far(self, name: str, rest: list[str], words: list[str]) -> bool:
        """Programs that build and test, where their words make them do more."""
        if name in ("npx", "pnpx", "bunx") and words[:1] and words[0] in _MAKES and not {"-p", "--package"} & {*rest}:
            self.makes = True  # from the folder's own; there is no network to fetch another
            return True
        if any(" ".join(rest).startswith(said) for said in _SETTINGS.get(name, ())):
            self.need(f"{name} {' '.join(rest[:2])} changes settings of yours", "outside")
            return True
        if name == "weft" and {*words[:1]} & _WEFT_OPENS and not {*words[1:2]} & _WEFT_TELLS:
            self.need(f"weft {words[0]} changes what is allowed here, or who comes in", "outside")
            return True
        if name in ("npm", "pnpm") and words[:2] in (["pkg", "set"], ["pkg", "delete"]):
            self.change(f"{name} pkg {words[1]} changes what package.json runs")
            return True
        installs = name in _INSTALLS and self._installs(name, rest)
        runs = name in _RUNNERS and not installs and not {"-n", "--dry-run", "--just-print"} & {*rest}
        if runs and (far := next((word for word in words if _FAR.match(word)), "")):
            self.need(f"{name} {far} goes further than the working folder", "network", "write")
            return True
        if name in ("make", "gmake") and any(
            re.match(r"(?:SHELL|\.SHELLFLAGS|MAKEFLAGS)[:?+]?=|--eval", w) for w in rest
        ):
            self.concerns.append(Concern("unreadable", f"{name} is told what to run"))
            return True
        if name == "go" and words[:1] == ["run"] and any("@" in word for word in words[1:2]):
            self.need("go run fetches what it runs from the network", "network")
            return True
        return False

    def _writes(self, name: str, rest: list[str]) -> bool:
        in_place = name in ("sed", "perl", "ruby", "yq") and any(
            re.match(r"-[a-zA-Z]*i|--in-place", word) for word in rest
        )
        into_file = name in ("sort", "shuf") and any(re.match(r"-o|--output", word) for word in rest)
        archive = name in _ARCHIVES and not (rest and _LOOKING_ARCHIVE.match(rest[0]))
        told = any(
            re.match(r"--(?:checkpoint-action|to-command|use-compress-program|rsh-command)|-TT?\Z|-I", w) for w in rest
        )
        if (name in ("tar", "zip", "cpio") and told) or (name in _EDITORS and any("!" in word for word in rest)):
            self.concerns.append(Concern("unreadable", f"{name} is told to run a program"))
        if name in _CHANGES:
            self._changes(name, rest)
        elif in_place or into_file or archive:
            self.change(f"{name} changes files")
            for word in rest if in_place else ():
                self._decides(word)
        return name in _CHANGES or in_place or into_file or archive

    def _inner(self, name: str, rest: list[str]) -> list[str]:
        """The words of the program that this one runs; [] when it runs none."""
        if name in _RUN_INSIDE and rest[:1] and rest[0] in _RUN_INSIDE[name]:
            if any(re.match(r"--with(?:-requirements)?\b", word) for word in rest):
                self.need(f"{name} run --with fetches from the network", "network")
            inner = _after_options(
                rest[1:], listed("--with --python -p --group --extra --env-file --project --package")
            )
            return ["python", *inner] if inner[:1] and inner[0].endswith(".py") else inner
        if name not in _LOOKED_THROUGH:
            return []
        if name == "command" and rest[:1] and rest[0] in ("-v", "-V"):
            return []
        inner = _after_options(rest, _VALUED.get(name, frozenset()))
        if name == "env":
            if any(re.match(r"-[a-zA-Z0]*S|--split-string", word) for word in rest[: len(rest) - len(inner)]):
                self.concerns.append(Concern("unreadable", "env takes a text apart and runs it"))
            while inner and re.match(r"[A-Za-z_][A-Za-z0-9_]*=", inner[0]):
                variable, _, value = inner.pop(0).partition("=")
                self.assigned(variable, value)
        if name == "timeout":
            inner = inner[1:]
        return inner

    def _find(self, rest: list[str], depth: int) -> None:
        if "-delete" in rest:
            self.change("find -delete deletes what it finds", "destroys")
        if any(word in ("-fprint", "-fprintf", "-fls", "-fprint0") for word in rest):
            self.change("find writes a file")
        for at, word in enumerate(rest):
            if word in ("-exec", "-execdir", "-ok", "-okdir"):
                inner = rest[at + 1 :]
                ends = [index for index, item in enumerate(inner) if item in (";", "+")]
                self.part(inner[: ends[0]] if ends else inner, depth + 1)

    def _git(self, rest: list[str]) -> None:
        words = list(rest)
        while words and words[0].startswith("-"):
            option, sign, value = words.pop(0).partition("=")
            if option in _GIT_OPTIONS and (sign or words):
                value = value if sign else words.pop(0)
                if option in ("-c", "--config-env", "--exec-path"):
                    self.need(f"git {option} {value[:40]} may make git run another program", "git", "write")
        if not words:
            return
        sub = words[0]
        if _git_looks(words):
            return
        if sub in _GIT_NETWORK and not (sub == "remote" and words[1:2] in ([], ["-v"], ["show"], ["get-url"])):
            self.need(f"git {sub} goes to another machine with your keys", "network", "keys", "git", "write")
        elif sub in _GIT_DESTROYS or {"-D", "-d", "--delete", "drop", "clear", "--hard", "--force", "-f"} & set(
            words[1:]
        ):
            self.needs |= {"git", "write"}
            self.concerns += [
                Concern("need", f"git {sub} changes the repository"),
                Concern("destroys", f"git {sub} can throw work away"),
            ]
        else:
            self.need(f"git {sub} changes the repository", "git", "write")

    def _installs(self, name: str, rest: list[str]) -> bool:
        words = [word for word in rest if not word.startswith("-")]
        if name == "uv" and words[:1] == ["pip"]:
            return words[1:2] not in (["list"], ["show"], ["freeze"], ["check"], ["tree"])
        if name == "go" and words[:1] == ["mod"]:
            return words[1:2] not in (["graph"], ["why"], ["verify"], ["edit"])
        if name == "yarn" and not words:
            return not _only_tells(rest)
        return words[:1] != [] and words[0] in _INSTALLS[name]

    def _changes(self, name: str, rest: list[str]) -> None:
        targets = [word for word in rest if not word.startswith("-")]
        if name == "tee" and all(re.match(r"/tmp/|/dev/(?:null|stderr|stdout)\Z", word) for word in targets):
            return
        if name in _DESTROYS or (
            name in ("chmod", "chown", "chgrp") and any("R" in word for word in rest if word[:1] == "-")
        ):
            self.change(f"{name} deletes or overwrites", "destroys")
        else:
            self.change(f"{name} changes files")
        for word in rest:
            if not word.startswith("-"):
                self._target(name, word)

    def _interpreter(self, name: str, rest: list[str]) -> None:
        """Code on the command line only reads; a module that builds and a file of the folder may write."""
        if name.startswith(("python", "pypy")) and rest[:1] == ["-m"]:
            module = rest[1] if len(rest) > 1 else ""
            if module == "pip":
                self.part(["pip", *rest[2:]], DEPTH)
            elif module in ("ensurepip", "webbrowser"):
                self.need(f"{module} works outside the working folder", "outside")
            elif module in ("http.server", "smtpd", "xmlrpc.server"):
                self.need(f"{module} offers the folder to others", "network")
            else:
                self.makes = self.makes or module.split(".")[0] in _MODULES
            return
        script = next((word for word in rest if not word.startswith("-")), "")
        before = rest[: rest.index(script)] if script else rest
        if script and any(re.match(r"-[a-zA-Z]*[cerpE]\Z|--eval|--print", word) for word in before):
            self.code(name, script)
        elif posixpath.basename(script) == "setup.py" and {"upload", "register"} & {*rest}:
            self.need("setup.py sends what it built to an index", "network", "keys")
        elif script:
            self.makes = True
        elif name in _SHELLS:
            self.concerns.append(Concern("unreadable", f"{name} runs text that is not known before"))

    def _little_language(self, name: str, rest: list[str]) -> None:
        for text in rest:
            if name == "sed":
                if re.search(
                    r"(?:^|[;{}]|[0-9$/])\s*[ewWrR](?:\s|$)|s(.)(?:(?!\1).)*\1(?:(?!\1).)*\1[gpiIm0-9]*[ew]", text
                ):
                    self.concerns.append(Concern("unreadable", f"sed runs a program or writes a file: {text[:40]}"))
            elif re.search(r"\bsystem\s*\(|\bgetline\b|[|]\s*[\"&]|\"\s*[|]|>\s*[\"(a-zA-Z]*\"|@load|@include", text):
                self.concerns.append(Concern("unreadable", f"{name} runs a program or writes a file: {text[:40]}"))

    def code(self, name: str, text: str) -> None:
        """Code on the command line, by the names it uses: what it could not do inside the boundary."""
        before = len(self.concerns)
        if found := _CODE_SENDS.search(text):
            self.need(f"the code of {name} goes to the network ({found[0][:30]})", "network")
        if found := _CODE_DESTROYS.search(text):
            self.change(f"the code of {name} deletes or overwrites ({found[0][:30]})", "destroys")
        if found := _CODE_CHANGES.search(text):
            self.change(f"the code of {name} changes files ({found[0][:30]})")
        if found := _CODE_RUNS.search(text):
            self.concerns.append(Concern("unreadable", f"the code of {name} runs other programs ({found[0][:30]})"))
        for word in re.findall(r"""['"]([~/][^'"\s]*)['"]""", text):
            self.word(name, word)
        if len(self.concerns) > before:  # it changes something, or may: then also what it names
            for word in re.findall(r"""['"]([^'"\s]+)['"]""", text):
                self._decides(word)

    # -- paths

    def word(self, program: str, word: str) -> None:
        """What no program is given without a question, wherever it stands among its words."""
        path = self._path(word.partition("=")[2] if re.match(r"-{1,2}[\w-]+=|[A-Za-z_]\w*=", word) else word)
        if program not in _NAMES and self._is_secret_place(path):
            if program in _USE_KEYS:
                self.concerns.append(Concern("secret", f"{word[:60]} is where keys are kept"))
            else:
                self.concerns.append(Concern("place", f"{word[:60]} is a place of keys, passwords or histories"))
        elif _SECRET.search(word) and program not in _NAMES and "://" not in word:
            self.concerns.append(Concern("secret", f"{word[:60]} may hold keys or passwords"))
        elif _KEY_NAME.search(word if program == "printenv" else "".join(_VARIABLE.findall(word))):
            self.concerns.append(Concern("secret", f"{word[:60]} is named like a key or password"))
        elif _INSIDE.search(word) or _DEVICE.search(word):
            self.concerns.append(Concern("secret", f"{word[:60]} is a device, or shows the inside of processes"))
        elif program not in _NAMES and self._is_elsewhere(path, word):
            self.concerns.append(Concern("elsewhere", f"{word[:60]} is outside the working folder"))

    def written(self, target: str) -> None:
        if target in ("/dev/null", "/dev/stdout", "/dev/stderr") or re.match(r"/tmp/|/dev/fd/", target):
            return
        self.change(f"a file is written: {target[:60]}")
        self._target(">", target)

    def _target(self, program: str, word: str) -> None:
        """Where something is changed."""
        path = self._path(word)
        self._decides(word)
        if (
            path.startswith("/")
            and self.ground.working
            and not _within(path, self.ground.working)
            and path[:5] != "/tmp/"
        ):
            self.need(f"{word[:60]} is outside the working folder", "outside")
        elif path.startswith(("/", "~", "$")) and not self.ground.working and path[:5] != "/tmp/":
            self.need(f"{word[:60]} may be outside the working folder", "outside")
        if re.fullmatch(r"(?:\.\.?/?|\*|/|~/?|\./\*|\$HOME/?|\$PWD/?|\.git/?)", word) and program in _DESTROYS:
            self.change(f"{program} {word} is everything", "destroys")

    def _decides(self, word: str) -> None:
        path = self._path(word)
        parts = [part for part in path.split("/") if part]
        if (
            any(f"/{name}" in f"/{path.lower()}" for name in _FOLDED if "/" in name)
            or any(part.lower() in _FOLDED for part in parts[-4:])
            or ".git" in [part.lower() for part in parts]
        ):
            self.change(f"{word[:60]} decides what is run, or what models are told", "decides")
            self.deciding.append(path)

    def _path(self, word: str) -> str:
        """Made whole where that can be told from the text."""
        text = re.sub(r"^(?:~(?=/|$)|\$HOME\b|\$\{HOME\})", lambda _: self.ground.home or "~", word)
        text = re.sub(r"^(?:\$PWD\b|\$\{PWD\})", lambda _: self.ground.working or ".", text)
        if not text.startswith(("/", "~", "$")) and self.ground.working:
            text = f"{self.here or self.ground.working}/{text}"
        return posixpath.normpath(text) if text else ""

    def _is_secret_place(self, path: str) -> bool:
        if re.match(r"/etc/(?:g?shadow-?|sudoers(?:\.d)?)(?:/|$)", path):
            return True
        homes = [self.ground.home] if self.ground.home else []
        if found := _SECRET_ROOTS.match(path):
            homes.append(found[0])
        if path.startswith("~"):
            homes.append(path.split("/")[0])
        return any(_within(path, f"{home}/{place}") for home in homes for place in SECRET_PLACES)

    def _is_elsewhere(self, path: str, word: str) -> bool:
        if word.startswith("-") or "://" in word or _SYSTEM.match(path):
            return False
        if word.startswith(("~", "$HOME", "${HOME")):
            return not (self.ground.working and _within(path, self.ground.working))
        climbs = path.startswith("..")
        if not self.ground.working:
            return (word.startswith("/") and len(word) > 1 and word.count("/") > 1) or climbs or word == "/"
        # a regular expression or a substitution of sed may begin with / as well: only what looks like a path counts
        climbing = ".." in word.split("/")
        if not (word.startswith("/") or climbing) or re.search(r"[\s{}|\\()^$]", word):
            return False
        if climbing and not word.startswith("/") and not self.straight:  # where it is run is not certain
            path = posixpath.normpath(f"{self.ground.working}/{word}")
        return not _within(path, self.ground.working)


_FOLDED: Final = frozenset(name.lower() for name in DECIDING)


_SQL_CHANGES: Final = re.compile(
    r"(?i)\b(?:insert|update|delete|drop|alter|create|replace|vacuum|attach|reindex)\b"
    r"|(?:^|\s)\.(?:shell|system|output|once|save|backup|import|restore|read|load|excel|archive|clone|cd|log)\b"
)
_EDITORS: Final = listed("ed ex vi vim nvim nano emacs")


def _code_word(rest: Sequence[str]) -> str:
    """Code that is given to a runtime on its command line; "" when there is none."""
    for at, word in enumerate(rest[:-1]):
        if word in ("eval", "-e", "--eval", "-p", "--print"):
            return rest[at + 1]
        if not word.startswith("-"):
            break
    return ""


def _git_looks(words: Sequence[str]) -> bool:
    plain = [Word(word, word, pattern=False) for word in words if word not in ("--no-pager",)]
    try:
        GIT.judge("git", plain)
    except RefusedOptionError:
        return False
    return True


def _only_tells(rest: Iterable[str]) -> bool:
    words = list(rest)
    return len(words) == 1 and words[0] in ("--version", "-V", "-v", "--help", "-h", "version", "help")


def _after_options(rest: Sequence[str], valued: frozenset[str]) -> list[str]:
    words = list(rest)
    while words and words[0].startswith("-") and words[0] != "-":
        option = words.pop(0)
        if option == "--":
            break
        if option in valued and words:
            words.pop(0)
    return words


def _within(path: str, top: str) -> bool:
    return path == top or path.startswith(top.rstrip("/") + "/")
