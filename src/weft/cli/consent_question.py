"""The question about what nobody agreed to yet, on a terminal: exactly what it is, and what an answer means."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

from weft.app import OWN_WORK, ConsentRequest, Consents, boundary_here, earlier
from weft.render.cells import clean, wrap

_ABOUT = {
    "hook": "It would run when its event comes.",
    "skill": "A model could run them.",
    "source": "It would be started or reached, and what it says would reach the model.",
    "rules": "Tools could then do what these files allow without asking you.",
    "step": "Its code would be given this secret, or reach this host, when the step runs.",
    "model": "What you write, and the key that is named, would be sent to this address.",
}
_HELD = (
    "It would run inside a boundary (`weft doctor` says what that stops): without your keys, able to change {place}."
)
_NOT_HELD = (
    "It would run with your rights: nothing on this machine keeps it from your keys and files "
    "(`weft doctor` says what would)."
)
_PLACES = {"code": "this workspace", "pack": "your workspace"}
_ANSWERS = {"y": "yes, to exactly this", "a": "always in this folder: I write what is in it myself", "n": "no"}


def ask_about(consents: Consents, request: ConsentRequest) -> bool:
    """Asks the person who sits in front; what they agree to is kept. Whether they did."""
    if request.hash in consents.in_advance:
        consents.check(request)
        return True
    own = request.kind in OWN_WORK and bool(request.folder)
    width = shutil.get_terminal_size().columns
    for line in shown(consents, request):
        print(line if line.startswith(" ") else "\n".join(wrap(line, width)), file=sys.stderr)
    while True:
        for letter, meaning in _ANSWERS.items():
            if own or letter != "a":
                print(f"  {letter}  {meaning}", file=sys.stderr)
        print("> ", end="", file=sys.stderr, flush=True)
        said = sys.stdin.readline().strip().lower()
        if said in ("y", "yes"):
            consents.agree(request, "asked")
            return True
        if said in ("a", "always") and own:
            consents.own_work(Path(request.folder))
            return True
        if said in ("", "n", "no"):
            print("not agreed to: it will not be used", file=sys.stderr)
            return False


def shown(consents: Consents, request: ConsentRequest) -> list[str]:
    """What it is, each part with its hash or its words, and what is new in it."""
    before, new = earlier(request, consents.book()), consents.open_parts(request)
    lines = [f"Nobody has agreed yet to {request.words}:"]
    for name, told in new.items():
        known = before.get(name)
        note = "" if known is None else "as before" if known == told else "changed since you agreed"
        lines.append(f"  {name:<32} {told}  {note}".rstrip())
    if len(new) < len(request.parts):
        lines.append(f"  and {len(request.parts) - len(new)} as they came with a pack")
    return [clean(line) for line in [*lines, _about(request), f"hash {request.hash}"]]


def _about(request: ConsentRequest) -> str:
    """What agreeing means, as it is on this machine."""
    if (place := _PLACES.get(request.kind)) is None:
        return _ABOUT[request.kind]
    return _HELD.format(place=place) if boundary_here().strength == "strong" else _NOT_HELD
