"""git, subcommand by subcommand: what only looks.

Options before the subcommand (`-C`, `-c`, `--exec-path`, `--git-dir`) are refused: they choose other configuration,
and configuration runs programs. For the same reason the Shell tool runs what is judged read only here with hooks,
monitors and foreign bare repositories turned off.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from weft.tools.shell.options import Parsed, Program, RefusedOptionError, program
from weft.tools.shell.words import Word

_DIFF: Final = (
    "-puswbzrRaMC --patch --no-patch --raw --stat --numstat --shortstat --dirstat --summary --name-only --name-status "
    "--check --full-index --binary --abbrev --find-renames --find-copies --diff-filter --text --ignore-all-space "
    "--ignore-space-change --ignore-blank-lines --ignore-space-at-eol --function-context --no-ext-diff --no-textconv "
    "--color --no-color --word-diff --color-words --minimal --patience --histogram --no-renames --compact-summary "
    "--exit-code --quiet --cc --cached --staged --merge-base --relative --no-prefix --pickaxe-regex --pickaxe-all "
    "--patch-with-stat --unified --ignore-submodules --no-index --diff-algorithm --inter-hunk-context"
)
_DIFF_VALUED: Final = "-USGl --diff-algorithm"
_LOG: Final = (
    _DIFF + " -giEFPtmc --oneline --graph --all --branches --tags --remotes --decorate --no-decorate --merges "
    "--no-merges --first-parent --reverse --follow --abbrev-commit --no-abbrev-commit --format --pretty --date "
    "--relative-date --parents --children --left-right --cherry --cherry-pick --cherry-mark --topo-order --date-order "
    "--author-date-order --no-walk --walk-reflogs --full-history --simplify-merges --ancestry-path --boundary "
    "--invert-grep --regexp-ignore-case --extended-regexp --fixed-strings --perl-regexp --all-match --source "
    "--no-notes "
    "--use-mailmap --no-mailmap --clear-decorations --no-expand-tabs --log-size --show-pulls --count --objects "
    "--since --until --after --before --author --committer --grep --max-count --skip --min-parents --max-parents "
    "--decorate-refs --decorate-refs-exclude --exclude --not"
)
_LOG_VALUED: Final = "-nUSGlL --since --until --after --before --author --committer --grep --max-count --skip"
_LIST: Final = "--list --sort --format --column --no-column --color --no-color --ignore-case --abbrev --no-abbrev"

_IMPLY_LIST: Final = "--contains --no-contains --merged --no-merged --points-at"


def _check_format(parsed: Parsed) -> None:
    """Formats that ask for a signature run the program that verifies it."""
    for value in parsed.values("--format", "--pretty"):
        if "%G" in value or "signature" in value.lower() or "trailers" in value.lower():
            raise RefusedOptionError("git with a format that may run another program")


def _check_list(parsed: Parsed) -> None:
    _check_format(parsed)
    if parsed.operands and not parsed.has("--list", "-l", *_IMPLY_LIST.split()):
        raise RefusedOptionError("git with a name here would make something: add --list")


def _check_config(parsed: Parsed) -> None:
    if not parsed.has("--get", "--get-all", "--get-regexp", "--list", "-l"):
        raise RefusedOptionError("git config is read only with --get or --list")
    if parsed.has("--list", "-l") and parsed.operands:
        raise RefusedOptionError("git config --list with operands")
    if len(parsed.operands) > 2:
        raise RefusedOptionError("git config with too many operands")


def _check_reflog(parsed: Parsed) -> None:
    _check_format(parsed)
    if parsed.operands and parsed.operands[0].text != "show":
        raise RefusedOptionError("git reflog is read only alone or with show")


def _judge_remote(words: Sequence[Word]) -> None:
    texts = [word.text for word in words]
    if texts in ([], ["-v"], ["--verbose"]):
        return
    if len(texts) == 2 and texts[0] == "get-url" and re.match(r"[A-Za-z0-9][A-Za-z0-9._/-]*\Z", texts[1]):
        return
    raise RefusedOptionError("git remote is read only alone, with -v, or with get-url NAME")


_log: Final = program(_LOG, _LOG_VALUED, number=True, check=_check_format)
_diff: Final = program(_DIFF, _DIFF_VALUED, check=_check_format)
_nothing: Final = program(operands=0)

GIT: Final = Program(
    flags=frozenset({"--version", "--no-pager", "--no-optional-locks", "--no-replace-objects"}),
    subcommands={
        "status": program(
            "-sbvzu --short --branch --porcelain --long --verbose --untracked-files --ignored --show-stash "
            "--column --no-column --ahead-behind --no-ahead-behind --renames --no-renames --ignore-submodules"
        ),
        "log": _log,
        "show": _log,
        "rev-list": _log,
        "diff": _diff,
        "diff-tree": replace(_diff, flags=_diff.flags | {"-t", "--root", "--no-commit-id", "-m", "-c"}),
        "diff-files": _diff,
        "diff-index": _diff,
        "shortlog": program("-nsec --numbered --summary --email --all --no-merges --merges", "--since --until"),
        "blame": program(
            "-wCMsefltbc --show-email --show-name --show-number --porcelain --line-porcelain", "-L --date"
        ),
        "annotate": program("-wefltb", "-L"),
        "branch": program(f"{_LIST} {_IMPLY_LIST} -arv --all --remotes --verbose --show-current", check=_check_list),
        "tag": program(f"{_LIST} {_IMPLY_LIST} -ln", check=_check_list),
        "for-each-ref": program("--sort --format --count --ignore-case", "--contains --merged", check=_check_format),
        "show-ref": program("-sq --head --heads --tags --branches --hash --verify --quiet --abbrev"),
        "remote": Program(custom=_judge_remote),
        "stash": Program(subcommands={"list": _log, "show": _diff}),
        "reflog": program(_LOG, _LOG_VALUED, number=True, check=_check_reflog),
        "worktree": Program(subcommands={"list": program("-vz --porcelain --verbose", operands=0)}),
        "rev-parse": program(
            "-q --abbrev-ref --short --verify --quiet --show-toplevel --show-prefix --show-cdup --git-dir "
            "--absolute-git-dir --git-common-dir --is-inside-work-tree --is-inside-git-dir --is-bare-repository "
            "--is-shallow-repository --symbolic --symbolic-full-name --all --branches --tags --remotes --local-env-vars"
        ),
        "ls-files": program(
            "-cdmosuktvfz --cached --deleted --modified --others --stage --unmerged --killed --exclude-standard "
            "--full-name "
            "--error-unmatch --directory --no-empty-directory --eol --deduplicate --abbrev --ignored -i"
        ),
        "ls-tree": program("-rdtlz --long --name-only --name-status --full-name --full-tree --abbrev --object-only"),
        "cat-file": program("-pets"),
        "describe": program(
            "--all --tags --contains --abbrev --long --always --dirty --broken --first-parent --exact-match --match"
        ),
        "merge-base": program("-a --all --octopus --is-ancestor --independent --fork-point"),
        "name-rev": program("--tags --name-only --always --all"),
        "count-objects": program("-vH --verbose --human-readable", operands=0),
        "check-ignore": program("-qvnz --quiet --verbose --non-matching --no-index"),
        "check-attr": program("-az --all --cached"),
        "grep": program(
            "-vinlLcwEFGPhHozqaIpWr --cached --untracked --no-index --ignore-case --line-number --files-with-matches "
            "--name-only --files-without-match --count --word-regexp --extended-regexp --fixed-strings --perl-regexp "
            "--only-matching --break --heading --column --show-function --function-context --and --or --not "
            "--all-match "
            "--color --no-color --text --recursive --no-recursive --quiet --full-name",
            "-eABCm --max-depth --max-count --context --after-context --before-context",
        ),
        "config": program(
            "-lz --get --get-all --get-regexp --list --local --global --system --show-origin --show-scope --name-only",
            check=_check_config,
        ),
        "version": _nothing,
    },
)
