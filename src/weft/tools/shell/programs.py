"""The programs that are known to be read only, each with the options that are. The table is the app's own rule file.

What is not in it is not forbidden: it is asked about, and in `safe` refused. Left out on purpose although they look
harmless: sed and less (they run and write by their own commands), env, xargs, nice, timeout, time (they run others),
test and [ (they evaluate subscripts), man and git help (they start pagers), curl, dig, ping (they send data out), and
whatever never ends by itself (yes, tail -f).
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Mapping, Sequence
from typing import Final

from weft.tools.shell.clusters import DOCKER, JOURNALCTL, KUBECTL, SYSTEMCTL
from weft.tools.shell.git import GIT
from weft.tools.shell.options import Program, RefusedOptionError, program
from weft.tools.shell.special import (
    anything,
    check_date,
    judge_awk,
    judge_cd,
    judge_command,
    judge_find,
    judge_printf,
    judge_ps,
    judge_tar,
)
from weft.tools.shell.words import Simple, Word

_GREP: Final = program(
    "-EFGPivwxcLlnoqshHraIRUzZbTyu --extended-regexp --fixed-strings --perl-regexp --basic-regexp --ignore-case "
    "--no-ignore-case --invert-match --word-regexp --line-regexp --count --color --colour --files-without-match "
    "--files-with-matches --line-number --only-matching --quiet --silent --no-messages --no-filename --with-filename "
    "--recursive --dereference-recursive --text --include --exclude --exclude-dir --null --line-buffered --byte-offset "
    "--max-count --context --after-context --before-context --regexp --binary-files --initial-tab --null-data",
    "-efmABC --regexp --file --max-count --context --after-context --before-context --include --exclude --exclude-dir",
    number=True,
    inert=True,
)
_SUMS: Final = program(
    "-bctwz --binary --check --tag --text --zero --ignore-missing --quiet --status --strict --warn", inert=True
)
_NONE: Final = program(operands=0)


def _version_of(words: Sequence[Word]) -> None:
    if [word.text for word in words] != ["--version"]:
        raise RefusedOptionError("only --version is known to be read only here")


_VERSION: Final = Program(custom=_version_of)
"""Not for interpreters and package managers: their stand-ins pick a program by a file in the folder, and run it."""


def _neighbour(words: Sequence[Word]) -> None:
    """craft-agent, whose workspaces share our conventions: what only looks, by its own description."""
    texts = [word.text for word in words]
    if texts in ([], ["--help"], ["--version"], ["--discover"]):
        return
    looks = {
        "label": {"list", "get"},
        "source": {"list", "get", "validate", "test"},
        "skill": {"list", "get", "where", "validate"},
        "automation": {"list", "get", "validate", "history", "last-executed", "test", "lint"},
    }
    if len(texts) < 2 or texts[0] not in looks or texts[1] not in looks[texts[0]] | {"--help"}:
        raise RefusedOptionError(f"craft-agent {' '.join(texts[:2])[:40]} is not known to be read only")
    rest = program("--help --json", "--limit --match").parse("craft-agent", words[2:])
    if len(rest.operands) > 1:
        raise RefusedOptionError("craft-agent with more than one name")


_LOOKS: Final = program("--json -h --help --all --limit", "--workspace --limit")

PROGRAMS: Final[Mapping[str, Program]] = {
    # files and what is in them
    "ls": program(
        "-aAbBcCdfFgGhHiklLmnNopqQrRsStuUvxXZ1 --all --almost-all --author --classify --color --directory --full-time "
        "--group-directories-first --human-readable --inode --no-group --numeric-uid-gid --recursive --reverse --size "
        "--sort --time --time-style --format --si --width --hide --ignore --indicator-style --file-type --escape",
        "-IwT",
        inert=True,
    ),
    "cat": program(
        "-AbeEnstTuv --show-all --number --number-nonblank --squeeze-blank --show-ends --show-tabs", inert=True
    ),
    "tac": program("-br --before --regex", "-s --separator", inert=True),
    "rev": program(inert=True),
    "nl": program("-p", "-bdfhilnsvw", inert=True),
    "head": program("-qvz --quiet --verbose --lines --bytes", "-nc --lines --bytes", number=True, inert=True),
    "tail": program("-qvz --quiet --verbose --lines --bytes", "-nc --lines --bytes", number=True, inert=True),
    "wc": program("-clmLw --bytes --chars --lines --words --max-line-length", inert=True),
    "stat": program("-LftcZ --dereference --file-system --terse --format --printf", "-c --format --printf", inert=True),
    "file": program("-bhikLnNpr0 --brief --mime --mime-type --mime-encoding --dereference --no-dereference --raw"),
    "du": program(
        "-0aAbchHklLmPsSxX --all --apparent-size --bytes --total --human-readable --summarize --one-file-system --si "
        "--max-depth --exclude --threshold --time --separate-dirs --inodes",
        "-dt --max-depth --exclude --threshold",
        inert=True,
    ),
    "df": program(
        "-ahHiklPT --all --human-readable --inodes --local --portability --print-type --total --output",
        "-txB",
        inert=True,
    ),
    "tree": program(
        "-adfilpqrstuvxDFhngACJXNQ --dirsfirst --filelimit --noreport --prune --gitignore --inodes --device --du --si "
        "--matchdirs --ignore-case --charset --sort --timefmt --nolinks",
        "-LPI --charset --filelimit --timefmt",
    ),
    "find": Program(custom=judge_find),
    "fd": program(
        "-HIuisgFaldpL0 --hidden --no-ignore --unrestricted --case-sensitive --ignore-case --glob --regex "
        "--fixed-strings "
        "--absolute-path --list-details --follow --full-path --print0 --color --max-depth --type --extension --exclude",
        "-detEcS --max-depth --min-depth --type --extension --exclude --color --size --changed-within --changed-before",
    ),
    "realpath": program(
        "-eLmPqsz --canonicalize-existing --canonicalize-missing --logical --relative-to --relative-base", inert=True
    ),
    "readlink": program("-efmnqsvz --canonicalize --no-newline --zero", inert=True),
    "basename": program("-az --multiple --suffix --zero", "-s --suffix", inert=True),
    "dirname": program("-z --zero", inert=True),
    "tar": Program(custom=judge_tar),
    "zcat": program("-f"),
    "zipinfo": program("-12slmvhtz"),
    # searching and shaping text
    "grep": _GREP,
    "egrep": _GREP,
    "fgrep": _GREP,
    "rg": program(
        "-icvwxnNlLoqsSFUPuhHIpaL.0 --ignore-case --smart-case --case-sensitive --count --count-matches --invert-match "
        "--word-regexp --line-regexp --line-number --no-line-number --files --files-with-matches --files-without-match "
        "--only-matching --quiet --fixed-strings --multiline --pcre2 --hidden --no-ignore --no-ignore-vcs --no-heading "
        "--heading --column --color --colors --follow --json --stats --trim --vimgrep --with-filename --no-filename "
        "--text --null --sort --sortr --type-list --no-messages --passthru --unrestricted --no-config",
        "-eABCgtTmMEjr --regexp --after-context --before-context --context --glob --iglob --type --type-not "
        "--max-count "
        "--max-depth --max-columns --encoding --threads --replace --sort --sortr --color --colors",
    ),
    "awk": Program(custom=judge_awk),
    "gawk": Program(custom=judge_awk),
    "mawk": Program(custom=judge_awk),
    "nawk": Program(custom=judge_awk),
    "sort": program(
        "-bdfghiMnRrVcCmsuz --ignore-leading-blanks --dictionary-order --ignore-case --general-numeric-sort --check "
        "--human-numeric-sort --month-sort --numeric-sort --reverse --version-sort --merge --stable --unique --key "
        "--field-separator --zero-terminated --sort --debug",
        "-kt --key --field-separator --parallel",
    ),
    "uniq": program(
        "-cdDiuz --count --repeated --all-repeated --ignore-case --unique --skip-fields --skip-chars --check-chars "
        "--group",
        "-fsw --skip-fields --skip-chars --check-chars",
        operands=1,
    ),
    "cut": program(
        "-nsz --complement --only-delimited --output-delimiter",
        "-bcdf --bytes --characters --delimiter --fields --output-delimiter",
        inert=True,
    ),
    "tr": program("-cCdst --complement --delete --squeeze-repeats --truncate-set1", inert=True),
    "paste": program("-sz --serial --zero-terminated", "-d --delimiters", inert=True),
    "column": program("-txnR --table --fillrows", "-csNo --separator --output-separator --table-columns", inert=True),
    "fold": program("-bs --bytes --spaces", "-w --width", inert=True),
    "fmt": program("-cstu", "-wgp --width", inert=True),
    "expand": program("-i --initial", "-t --tabs", inert=True),
    "unexpand": program("-a --all --first-only", "-t --tabs", inert=True),
    "join": program("-i --ignore-case --header --check-order --nocheck-order", "-12aejotv", inert=True),
    "comm": program("-123z --check-order --nocheck-order --total --output-delimiter", inert=True),
    "cmp": program("-bls --print-bytes --verbose --quiet --silent", "-in --bytes --ignore-initial", inert=True),
    "diff": program(
        "-abBcdeEfHiNnpqrstTuwyZ --brief --report-identical-files --unified --context --side-by-side --recursive "
        "--new-file "
        "--ignore-case --ignore-all-space --ignore-space-change --ignore-blank-lines --text --color --minimal "
        "--exclude "
        "--suppress-common-lines --strip-trailing-cr --show-c-function --width --label",
        "-UCWxIFL --exclude --width --label",
        number=True,
    ),
    "jq": program(
        "-cnrRsSaMCje --compact-output --null-input --raw-output --raw-input --slurp --sort-keys --ascii-output "
        "--monochrome-output --color-output --join-output --exit-status --tab --arg --argjson",
        "--indent",
    ),
    "md5sum": _SUMS,
    "sha1sum": _SUMS,
    "sha224sum": _SUMS,
    "sha256sum": _SUMS,
    "sha384sum": _SUMS,
    "sha512sum": _SUMS,
    "b2sum": _SUMS,
    "cksum": program(inert=True),
    "base64": program("-di --decode --ignore-garbage --wrap", "-w --wrap", inert=True),
    "od": program(
        "-abcdfilosxv --output-duplicates",
        "-AjNtwS --address-radix --skip-bytes --read-bytes --format --width",
        inert=True,
    ),
    "hexdump": program("-bcCdovx --canonical", "-ns", inert=True),
    "xxd": program(
        "-abeiupE --bits --postscript --plain --uppercase", "-clgnos --cols --groupsize --len --seek", operands=1
    ),
    "strings": program("-af --all --print-file-name", "-nte --bytes --radix --encoding", number=True),
    "seq": program("-w --equal-width --separator --format", "-fs --separator --format", inert=True),
    "echo": Program(custom=anything),
    "printf": Program(custom=judge_printf),
    # where and who
    "pwd": program("-LP --logical --physical", operands=0),
    "cd": Program(custom=judge_cd),
    "which": program("-a --all"),
    "whereis": program("-bmsu"),
    "type": program("-atpP"),
    "command": Program(custom=judge_command),
    "whoami": _NONE,
    "logname": _NONE,
    "groups": program(),
    "hostname": program("-sI --short --all-ip-addresses", operands=0),
    "uname": program(
        "-amnoprsviS --all --kernel-name --nodename --kernel-release --machine --operating-system", operands=0
    ),
    "arch": _NONE,
    "nproc": program("--all --ignore", operands=0),
    "date": program(
        "-uRI --utc --universal --iso-8601 --rfc-3339 --rfc-email --date --reference",
        "-dr --date --reference",
        check=check_date,
    ),
    "cal": program("-13jmsyY"),
    "uptime": program("-ps --pretty --since", operands=0),
    "tty": program("-s", operands=0),
    "printenv": program("-0 --null"),
    "locale": program("-acCkm --all-locales --charmaps"),
    "true": Program(custom=anything),
    "false": Program(custom=anything),
    # the machine
    "ps": Program(custom=judge_ps),
    "pgrep": program(
        "-aAcfilnovwx --list-full --list-name --full --count --ignore-case --newest --oldest --inverse --exact",
        "-dGgPstuU --delimiter --parent --terminal --euid --uid --group --pgroup",
    ),
    "pidof": program("-cqsx", "-o"),
    "pstree": program("-aAcghGlnpsStTuUZ", "-H"),
    "free": program("-bghkmhtvlw --bytes --kilo --mega --giga --human --total --wide --si", operands=0),
    "vmstat": program("-adsw", operands=0),
    "lscpu": program("-aebcJxy --all --extended --json --parse", operands=0),
    "lsblk": program("-abdfilmnpPrstTJOS --all --bytes --fs --json --list --noheadings --paths", "-o --output"),
    "lsmod": _NONE,
    "ss": program(
        "-tulnpaemsx460iowH --tcp --udp --listening --numeric --processes --all --summary --extended --no-header",
        operands=0,
    ),
    "systemctl": SYSTEMCTL,
    "journalctl": JOURNALCTL,
    # tools that have subcommands
    "git": GIT,
    "docker": DOCKER,
    "podman": DOCKER,
    "kubectl": KUBECTL,
    "craft-agent": Program(custom=_neighbour, offline=False),
    "weft": Program(
        flags=frozenset({"--version", "--help", "-V", "-h"}),
        subcommands={
            "plan": program("--json --help"),
            "tools": program("--json --help", operands=0),
            "sessions": Program(subcommands={"list": _LOOKS, "show": _LOOKS, "verify": _LOOKS}),
            "pipelines": Program(subcommands={"list": _LOOKS, "show": _LOOKS, "validate": _LOOKS}),
            "packs": Program(subcommands={"list": _LOOKS, "diff": _LOOKS}),
        },
    ),
    **dict.fromkeys(("bash", "curl", "gcc", "clang", "make", "cmake"), _VERSION),
}

SECRET: Final = re.compile(
    r"(?:^|[/=:,])(?:\.ssh|\.gnupg|\.aws|\.azure|\.kube|\.docker|\.netrc|\.pgpass|\.git-credentials|\.npmrc|\.pypirc)(?:$|[/*?\[])"
    r"|\bid_(?:rsa|dsa|ecdsa|ed25519)\b|/etc/(?:g?shadow|sudoers)|\bcredentials?(?:\.|$)|\.(?:pem|key|p12|pfx)$"
    r"|(?:^|/)\.env(?:$|\.)|(?:^|/)\.config/(?:gh|gcloud)(?:$|/)",
    re.IGNORECASE,
)
"""Where keys and passwords are usually kept. Reading one is asked about, although it is only reading."""

_INSIDE: Final = re.compile(
    r"(?:^|/)proc(?:$|/(?!(?:cpuinfo|meminfo|version|loadavg|uptime|stat|mounts|filesystems)$))"
)
_DEVICE: Final = re.compile(r"(?:^|[=:])(?:\.\.?/|/)*(?:dev/(?!null$)|inet[46]?/)")


NAME_FOLDERS: Final = frozenset({"ls", "df", "du", "stat", "find", "tree", "echo", "realpath", "dirname", "basename"})
"""They tell names and sizes, not what is in files."""


def judge_program(command: Simple) -> Program:
    """The table's entry when this command is known to be read only; RefusedError with the reason when not."""
    name = command.program
    known = PROGRAMS.get(name)
    if known is None:
        raise RefusedOptionError(f"{name[:60]} is not among the programs known to be read only")
    for word in (*command.arguments, *command.reads):
        _judge_word(name, word)
    known.judge(name, command.arguments)
    return known


def _judge_word(name: str, word: Word) -> None:
    """What no program is to be given without a question, wherever it stands."""
    if SECRET.search(word.text):
        raise RefusedOptionError(f"{word.source[:60]} may hold keys or passwords")
    if _INSIDE.search(word.text) or _DEVICE.search(word.text):
        raise RefusedOptionError(f"{word.source[:60]} is a device, or shows the inside of processes")
    if name not in NAME_FOLDERS and set(posixpath.normpath(word.text).split("/")) <= {"", ".."}:
        # the top of all folders, or a way up that may end there: what searches from there also searches /proc
        raise RefusedOptionError(f"{word.source[:60]} leads upwards to where processes show their inside")
    if word.pattern:
        _judge_pattern(word)


def _judge_pattern(word: Word) -> None:
    """A pattern may not stand for what would be refused by name: /pr?c, .ss*/id_*, a/../../*."""
    parts = [part for part in word.text.split("/") if part not in ("", ".")]
    vague = [index for index, part in enumerate(parts) if re.search(r"[*?\[]", part)]
    if ".." in parts or any(parts[index].startswith(".") for index in vague):
        raise RefusedOptionError(f"the pattern {word.source[:60]} may stand for hidden files, or for some elsewhere")
    if word.text.startswith("/") and vague and vague[0] < 2:
        raise RefusedOptionError(f"the pattern {word.source[:60]} begins too close to the top of all folders")
