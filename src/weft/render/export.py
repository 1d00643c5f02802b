"""A session as a text that can be kept and sent: what was said and done in order, and what was made of it. Pure.

Markdown is the one form; the page is that, formatted, with its style inside, so that it needs nothing else.
"""

from __future__ import annotations

import html
from collections.abc import Iterable, Mapping
from importlib.resources import files
from typing import Final

from weft.protocol import conversation_events as t
from weft.protocol.events import Record
from weft.render.html import code_html, markdown_html
from weft.render.plain import PlainLog

_PAGE: Final = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'; img-src data:">
<title>{title}</title>
<style>{style}</style>
</head>
<body><main>{body}</main></body>
</html>
"""
_LAYOUT: Final = "main{max-width:46rem;margin:2rem auto;padding:0 1rem}pre{overflow:auto;white-space:pre-wrap}"


def story(session: str, records: Iterable[Record]) -> str:
    """What was said and done, in order, as markdown."""
    told, parts, lines = PlainLog(session), list[str](), list[str]()

    def flush() -> None:
        if lines:
            parts.append("\n".join(f"- {line.strip()}" for line in lines if line.strip()))
            lines.clear()

    for record in records:
        event = record.event
        match event:
            case t.MessageAccepted():
                flush()
                who = "Person" if event.origin == "person" else event.origin.capitalize()
                parts.append(f"**{who}** ({record.at})\n\n" + "\n".join(f"> {one}" for one in event.text.splitlines()))
            case t.ModelSettled() if event.text:
                flush()
                parts.append(f"**{event.model or 'Answer'}**\n\n{event.text}")
            case _ if isinstance(event, t.ConversationEvent):
                if isinstance(event, t.ToolRequested):
                    lines.append(f"called {event.tool}")
            case _:
                lines.extend(told.lines(event))
    flush()
    return "\n\n".join(parts)


def session_markdown(title: str, told: str, artifacts: Mapping[str, str]) -> str:
    """`artifacts`: the text of each one that is text."""
    made = [f"## {name}\n\n{_fenced(name, text)}" for name, text in artifacts.items()]
    return "\n\n".join([f"# {title}", told, *made]).strip() + "\n"


def session_html(title: str, told: str, artifacts: Mapping[str, str]) -> str:
    style = files("weft.render.kit").joinpath("style.css").read_text("utf-8")
    body = [f"<h1>{html.escape(title)}</h1>", markdown_html(told)]
    for name, text in artifacts.items():
        shown = markdown_html(text) if name.endswith(".md") else code_html(text, name.rpartition(".")[2])
        body.append(f"<h2>{html.escape(name)}</h2>{shown}")
    return _PAGE.format(title=html.escape(title), style=style + _LAYOUT, body="\n".join(body))


def _fenced(name: str, text: str) -> str:
    if name.endswith(".md"):
        return text
    fence = "```"
    while fence in text:
        fence += "`"
    return f"{fence}{name.rpartition('.')[2]}\n{text.rstrip()}\n{fence}"
