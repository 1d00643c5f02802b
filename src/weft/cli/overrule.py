"""`weft overrule`: a person's word against the verdict on a claim, wherever the session is held."""

from __future__ import annotations

import asyncio
import sys

import click

from weft.app import App, SessionRequest
from weft.cli.place import json_option, open_app, print_json, workspace_option
from weft.cli.run import OUTCOMES, follow
from weft.cli.run_options import program_words
from weft.protocol.commands import OverruleVerdict
from weft.protocol.errors import EXIT_DONE, UsageError
from weft.protocol.events import ClaimVerdict
from weft.protocol.ids import check_session_id
from weft.render.cells import clean
from weft.render.flow import in_verdict

VERDICTS = ("judged", "contradicted", "not_checked", "quoted")


@click.command("overrule")
@click.argument("session")
@click.argument("claim", required=False)
@click.argument("verdict", required=False, type=click.Choice(VERDICTS))
@click.option("--why", metavar="TEXT", default="", help="Your reason; it stays beside the verdict.")
@click.option("--plain", is_flag=True, help="Plain lines instead of the live view.")
@json_option
@workspace_option
def command(session: str, claim: str | None, verdict: ClaimVerdict | None, why: str, plain: bool, as_json: bool) -> int:
    """Say otherwise than the verdict on a claim; without CLAIM, list the claims with their verdicts.

    \b
    weft overrule ID                                       the claims of the session
    weft overrule ID s1a2b judged --why "page 3 says so"   you have judged it: it counts as such, by you
    weft overrule ID s1a2b contradicted --why "..."        it is wrong, and is repaired where that is allowed
    weft overrule ID s1a2b not_checked --why "..."         it does not count as checked

    What you say is kept in the log with who said it, and what was made with the verdict is made again. It counts for as
    long as the verdict itself is the one that you overruled; saying that one takes your word back.
    """
    with open_app() as app:
        name = check_session_id(session)
        if claim is None:
            return _list(app, name, as_json=as_json)
        if verdict is None or not why.strip():
            raise UsageError(
                "say what it is, and why", hint=f'{program_words(app)} overrule {name} {claim} judged --why "..."'
            )
        said = OverruleVerdict(claim=claim, verdict=verdict, why=why)
        return asyncio.run(_overrule(app, name, said, as_json=as_json, plain=plain))


def _list(app: App, name: str, *, as_json: bool) -> int:
    claims = app.claims(name)
    if not claims:
        print(f"no claim of {name} has a verdict", file=sys.stderr)
    for one in claims:
        if as_json:
            fields = {"step": one.step, "claim": one.claim, "text": one.text, "verdict": one.verdict, "was": one.was}
            print_json({**fields, "why": one.why, "by": one.by, "judged_by": one.judged_by})
        else:
            judge = f" by {one.judged_by}" if one.judged_by else ""
            by = f", overruled by {one.by} (it was {in_verdict(one.was)})" if one.by else ""
            print(clean(f"{one.claim}  {in_verdict(one.verdict)}{judge}{by}: {one.text}"))
    return EXIT_DONE


async def _overrule(app: App, name: str, said: OverruleVerdict, *, as_json: bool, plain: bool) -> int:
    async with follow(app, SessionRequest(session=name), None, as_json=as_json, plain=plain) as followed:
        return OUTCOMES[await followed.give(said, None)]
