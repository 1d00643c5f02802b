"""What a person must have agreed to before a source is used: its exact words, or its address, and what goes there.

A person's own sources need no question: they wrote them. What a workspace or a project brings does, whoever wrote it.
"""

from __future__ import annotations

import os
import shlex

from weft.consent import ConsentRequest
from weft.sources.config import Auth
from weft.sources.declared_sources import Source


def consent_request(source: Source) -> ConsentRequest | None:
    """None for a source that needs no consent."""
    if source.declared == "person":
        return None
    config = source.config
    parts: dict[str, str] = {}
    match config.kind:
        case "folder":
            parts["reads the folder"] = _led_to(source, config.path)
        case "mcp" if config.command is not None:
            parts["command"] = shlex.join([config.command, *config.args])
            parts["network"] = "yes" if config.network else ", ".join(config.hosts) or "no"
            if config.cwd:
                parts["started in"] = _led_to(source, config.cwd)
            for opened, paths in (("may read", config.read), ("may change", config.write)):
                parts |= {f"{opened} {number}": _led_to(source, path) for number, path in enumerate(paths, 1)}
            for name, value in config.env.items():
                parts[f"variable {name}"] = value
        case _:
            parts["address"] = config.address
            parts["gets"] = _secret(config.auth)
            parts |= _sign_in(config.auth)
            for name, value in (config.headers if config.kind in ("mcp", "api") else {}).items():
                parts[f"header {name}"] = value
    folder = source.folder if source.declared == "project" else source.folder.parent.parent
    return ConsentRequest(kind="source", subject=source.slug, folder=os.path.realpath(folder), parts=parts)


def _led_to(source: Source, path: str) -> str:
    """Where it is in the end: a link in a folder of somebody's may lead anywhere, and elsewhere tomorrow."""
    return os.path.realpath(source.place(path))


def _sign_in(auth: Auth | None) -> dict[str, str]:
    """Where a sign-in leads and what goes along: who has the code, or answers for the server, has the tokens."""
    if auth is None:
        return {}
    named = {
        "client secret": auth.client_secret,
        "a person agrees at": auth.authorization_url,
        "tokens are given by": auth.token_url,
        "codes are given by": auth.device_url,
    }
    return {what: value for what, value in named.items() if value}


def _secret(auth: Auth | None) -> str:
    if auth is None:
        return "no secret"
    return auth.secret or ("tokens of a sign-in" if auth.type == "oauth" else "the secret stored for it")
