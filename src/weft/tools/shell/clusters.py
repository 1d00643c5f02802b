"""Programs that speak to a service of this machine or of a cluster: docker, kubectl, systemctl, journalctl.

They only look, but what they look at may be elsewhere, so docker and kubectl are not offline.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from weft.tools.shell.options import Parsed, Program, RefusedOptionError, program

_list: Final = program(
    "-aqs --all --quiet --no-trunc --digests --size --latest -l", "-fn --last --format --filter", offline=False
)


def _once(parsed: Parsed) -> None:
    if not parsed.has("--no-stream"):
        raise RefusedOptionError("docker stats never ends without --no-stream")


_inspect: Final = program("-s --size", "-f --format --type", offline=False)
_logs: Final = program("-t --timestamps --details", "-n --tail --since --until", operands=1, offline=False)
_stats: Final = program("-a --all --no-stream --no-trunc", "--format", offline=False, check=_once)
_one: Final = program(offline=False, operands=1)
_none: Final = program("--format", "-f --format", offline=False, operands=0)
_top: Final = program(offline=False, operands=1)
_history: Final = program("-Hq --human --no-trunc --quiet --format", "--format", offline=False, operands=1)

DOCKER: Final = Program(
    offline=False,
    flags=frozenset({"--version", "-v", "--help"}),
    subcommands={
        "ps": _list,
        "images": _list,
        "logs": _logs,
        "inspect": _inspect,
        "stats": _stats,
        "version": _none,
        "info": _none,
        "top": _top,
        "port": program(offline=False),
        "diff": _one,
        "history": _history,
        "container": Program(
            offline=False,
            subcommands={
                "ls": _list,
                "list": _list,
                "ps": _list,
                "inspect": _inspect,
                "logs": _logs,
                "stats": _stats,
                "top": _top,
            },
        ),
        "image": Program(offline=False, subcommands={"ls": _list, "inspect": _inspect, "history": _history}),
        "volume": Program(offline=False, subcommands={"ls": _list, "inspect": _inspect}),
        "network": Program(offline=False, subcommands={"ls": _list, "inspect": _inspect}),
        "system": Program(
            offline=False, subcommands={"df": program("-v --verbose --format", offline=False, operands=0)}
        ),
    },
)


def _no_secrets(parsed: Parsed) -> None:
    for word in parsed.operands:
        if word.pattern:  # a file of the folder may be called like what holds secrets
            raise RefusedOptionError(f"the pattern {word.source[:60]} may stand for secrets")
        if any(part.strip().lower().startswith("secret") for part in word.text.replace("/", ",").split(",")):
            raise RefusedOptionError("kubectl would show secrets")
    for value in parsed.values("-o", "--output"):
        if "file" in value.partition("=")[0]:  # it reads that out here, where a link may stand for a key
            raise RefusedOptionError(f"kubectl takes the form {value[:40]} from a file")


_ACROSS: Final = "-A --all-namespaces --show-labels --no-headers --show-kind --ignore-not-found --sort-by --chunk-size"
_ACROSS_VALUED: Final = "-nloL --namespace --selector --output --field-selector --sort-by --label-columns"
_get: Final = program(_ACROSS, _ACROSS_VALUED, offline=False, check=_no_secrets)

KUBECTL: Final = Program(
    offline=False,
    subcommands={
        "get": _get,
        "describe": program(
            "-A --all-namespaces --show-events", "-nl --namespace --selector", offline=False, check=_no_secrets
        ),
        "logs": program(
            "-p --previous --timestamps --all-containers --prefix --tail --since --since-time --limit-bytes",
            "-cnl --container --namespace --selector --tail --since --since-time --limit-bytes",
            offline=False,
        ),
        "top": program(
            "-A --all-namespaces --containers --no-headers --sort-by", "-nl --namespace --sort-by", offline=False
        ),
        "explain": program("--recursive --api-version", offline=False),
        "version": program("-o --client --output --short", "-o", offline=False, operands=0),
        "api-resources": program("--namespaced --no-headers --api-group --verbs", "-o", offline=False, operands=0),
        "api-versions": program(offline=False, operands=0),
        "cluster-info": program(offline=False, operands=0),
        "events": replace(_get, operands=0),
        "config": Program(
            offline=False,
            subcommands={"current-context": _none, "get-contexts": program("--no-headers", "-o", offline=False)},
        ),
    },
)

_UNITS: Final = (
    "-alqn --all --full --failed --no-pager --no-legend --plain --quiet --state --type --user --system --value --lines "
    "--property --output --recursive"
)
_unit: Final = program(_UNITS, "-tnop --type --state --lines --property --output")

SYSTEMCTL: Final = Program(
    flags=frozenset({"--version", "--no-pager", "--help"}),
    subcommands={
        name: _unit
        for name in (
            *("status", "show", "cat", "is-active", "is-enabled", "is-failed", "list-units", "list-unit-files"),
            *("list-timers", "list-sockets", "list-dependencies", "list-jobs", "get-default"),
        )
    },
)
JOURNALCTL: Final = program(
    "-aeklmqrxb --all --no-pager --dmesg --reverse --quiet --boot --list-boots --utc --no-hostname --catalog --no-full "
    "--disk-usage --user --system --since --until --unit --priority --output --lines --grep --identifier",
    "-unptogSU --since --until --unit --priority --output --lines --grep --identifier",
)
