"""`weft models add` without a name: a short conversation that ends with a model that was really tried.

    what is there -> which -> its key -> its models -> which -> a name -> tried -> the default?

Nothing is written before all of it is known. Questions go to standard error, as everything that is no data does.
"""

from __future__ import annotations

import asyncio
import getpass
import sys
from collections.abc import Callable

import click

from weft.app import ListedModel, ModelError, ModelSettings, Offer, Probe, TableValue
from weft.protocol.errors import EXIT_DONE, EXIT_FAILED, UserError
from weft.render.cells import clean

SHOWN = 15
KEY_TRIES = 3
OTHER = Offer(
    "another address that speaks OpenAI's chat format", "own", "openai", "", address="http://127.0.0.1:8080/v1"
)


def connect(settings: ModelSettings) -> tuple[str, Probe | None]:
    """The reference of the model that was connected, and what was found out about it; None for an agent with a loop of
    its own, which answers no single question."""
    say("Looking on this machine …")
    offer = _offer([*settings.offers(), OTHER])
    base_url = offer.base_url
    if offer.address:
        base_url = str(click.prompt(f"Its address (such as {offer.address})", err=True)).strip()
    home: tuple[str, ...] = ()
    if offer.is_agent:
        home = _home(offer)
        key, model = ("", ListedModel(name="")) if home else _agent(settings, offer)
    else:
        key, models = _key_and_models(settings, offer, base_url)
        model = _model(models)
    name = settings.free_name(offer.name)
    name = str(click.prompt("A name for it", default=name, err=True)).strip()
    values: dict[str, TableValue] = {"kind": offer.kind}
    if model.name:
        values["model"] = model.name
    if offer.kind in ("acp", "codex"):
        values["command"] = list(offer.command)
    if base_url:
        values["base_url"] = base_url
    if model.window >= 512:
        values["window"] = model.window
    if home:
        values["home"] = list(home)
    elif offer.variable:
        values["key"] = f"env:{offer.variable}"
    settings.add(name, values, lambda needed: key)
    reference = f"{name}/{model.name}" if model.name else name
    if offer.kind in ("acp", "codex"):
        say(f"connected {reference}: it holds conversations (weft chat --model {name}) and makes steps")
        return reference, None
    say(f"connected {reference}; trying it …")
    return reference, asyncio.run(settings.chosen(reference).probe())


def what_steps_get(found: Probe) -> list[str]:
    """In words, what the steps and conversations of this workspace will get from it."""
    if not found.answers.works:
        return ["It does not answer, so nothing will be made by it yet; `weft models test` tries it again."]
    lines = []
    if found.schema.works:
        lines.append(f"A step gets its artifact held to its schema ({found.schema.note}).")
    else:
        lines.append("It does not keep to a schema: steps with one will often fail.")
    if not found.tools.works:
        lines.append("It calls no tools: conversations can't read or change files, agents' steps will fail.")
    if not found.pictures.works:
        lines.append("It sees no pictures.")
    return [*lines, f"Prompts are kept within {found.window:,} tokens."]


def say(text: str) -> None:
    print(clean(text), file=sys.stderr, flush=True)


def _offer(offers: list[Offer]) -> Offer:
    for number, offer in enumerate(offers, 1):
        have = f" ({len(offer.models)} models)" if offer.models is not None else ""
        say(f"  {number:>2}  {offer.title}{have}")
    number = click.prompt("Which", type=click.IntRange(1, len(offers)), default=1, err=True)
    return offers[number - 1]


def _home(offer: Offer) -> tuple[str, ...]:
    """The files of the person's home that it gets, when they want it to use their own sign-in."""
    if not offer.home:
        return ()
    files = ", ".join(f"~/{name}" for name in offer.home)
    return offer.home if click.confirm(f"Use your sign-in ({files})?", default=True, err=True) else ()


def _agent(settings: ModelSettings, offer: Offer) -> tuple[str, ListedModel]:
    """An agent of others: what it is handed as its key, and the model it is to use, where that is said to it."""
    key = settings.key_in(offer.variable) if offer.variable else ""
    if offer.how:
        say(offer.how)
    if offer.kind == "acp":
        return key, ListedModel(name="")  # it has a model of its own
    if not key:
        key = getpass.getpass("Key, unseen: ").strip()
    return key, ListedModel(name=str(click.prompt("Which model", err=True)).strip())


def _key_and_models(settings: ModelSettings, offer: Offer, base_url: str) -> tuple[str, list[ListedModel]]:
    """A key that the server takes, and what it then lists."""
    key = settings.key_in(offer.variable) if offer.variable else ""
    if offer.models is not None:
        return key, list(offer.models)
    for tries in range(KEY_TRIES):
        if not offer.variable and (tries or not base_url.startswith(("http://127.0.0.1", "http://localhost"))):
            key = getpass.getpass(f"Key, unseen (try {tries + 1} of {KEY_TRIES}): ").strip()
        if offer.kind == "google":
            return key, []  # its list is not one that we read
        try:
            return key, settings.listed(offer.kind, base_url, key)
        except ModelError as error:
            if error.kind != "auth":
                say(f"It lists no models: {error.message}")
                return key, []
            say(f"The key is refused: {error.message}")
            if offer.variable:
                break
    raise UserError("no key was taken, so nothing is connected", hint="check the key where you got it, and try again")


def _model(models: list[ListedModel]) -> ListedModel:
    """By number, by name, or by a part of it when there are many. A name that is not listed is taken as it is."""
    shown = models
    while True:
        for number, one in enumerate(shown[:SHOWN], 1):
            fits = f"  ({one.window:,} tokens)" if one.window else ""
            say(f"  {number:>2}  {one.name}{fits}")
        if len(shown) > SHOWN:
            say(f"  and {len(shown) - SHOWN} more: type a part of the name")
        default = "1" if shown else None
        said = str(click.prompt("Which model", default=default, err=True)).strip()
        if said.isdecimal() and 1 <= int(said) <= min(len(shown), SHOWN):
            return shown[int(said) - 1]
        exact = [one for one in models if one.name == said]
        near = [one for one in models if said.lower() in one.name.lower()]
        if exact or not near:
            return exact[0] if exact else ListedModel(name=said)
        if len(near) == 1:
            return near[0]
        shown = near


def talk_it_through(settings: ModelSettings, show: Callable[[Probe], None]) -> int:
    """The whole of it, with the exit code."""
    reference, found = connect(settings)
    if found is not None:
        show(found)
        for line in what_steps_get(found):
            say(line)
        if not found.answers.works:
            return EXIT_FAILED
    if settings.is_embedded_default and click.confirm("Make it the workspace's model?", default=True, err=True):
        settings.set_default(reference)
        say(f"the default is now {reference}")
    return EXIT_DONE
