"""Who may come in: persons with a role, their signed-in browsers, their tokens, and links that sign a browser in once.

Secrets are given out once and kept as hashes, in one file of the person who runs the server, beside the credential
store: never in a workspace, which may be copied from anybody. Alone on a machine there is one person, "me", who may do
everything and was never set up.
"""

from __future__ import annotations

import hashlib
import hmac
import re
import secrets
from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Final, Literal, TypeVar, get_args

from pydantic import BaseModel, ConfigDict

from weft.own_file import OwnFile
from weft.protocol.errors import UserError

FILE: Final = "access.json"
ME: Final = "me"
LINK_MINUTES: Final = 15
BROWSER_DAYS: Final = 30
SHORTEST_PASSPHRASE: Final = 10
_SCRYPT: Final = {"n": 2**15, "r": 8, "p": 1}
_SECRET_BYTES: Final = 32
_NAME: Final = re.compile(r"[a-z0-9][a-z0-9._@-]{0,63}\Z")

Role = Literal["look", "answer", "run", "administer"]
"""What a person may do; each includes the ones before it."""
Scope = Literal["read", "write", "mcp", "trigger"]
"""What a token is for; it can't do more than its person."""
ROLES: Final[tuple[Role, ...]] = get_args(Role)
SCOPES: Final[tuple[Scope, ...]] = get_args(Scope)
Now = Callable[[], datetime]
_Kept = TypeVar("_Kept", bound="_Given")


class _Part(BaseModel):
    """What the file is made of."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class Person(_Part):
    name: str
    role: Role = "administer"
    passphrase: str = ""
    """Salt and scrypt hash, in hex; "" when this person has none."""


class _Given(_Part):
    """A secret that was given out, as it is kept."""

    id: str
    person: str
    hash: str
    expires: datetime | None = None

    def is_over(self, now: datetime) -> bool:
        return self.expires is not None and self.expires <= now


class AccessToken(_Given):
    title: str
    scopes: tuple[Scope, ...]
    created: datetime


class Browser(_Given):
    agent: str
    """What the browser says of itself."""
    created: datetime


class Share(_Given):
    """Shows one session, read-only, to whoever has the link."""

    workspace: str
    session: str
    created: datetime


class _Link(_Given):
    """Signs one browser in, once."""


class _Book(_Part):
    version: Literal[1] = 1
    persons: tuple[Person, ...] = ()
    tokens: tuple[AccessToken, ...] = ()
    browsers: tuple[Browser, ...] = ()
    links: tuple[_Link, ...] = ()
    shares: tuple[Share, ...] = ()


class Identity(_Part):
    """Somebody who was let in, and by what."""

    person: str
    role: Role
    by: Literal["browser", "token"]
    id: str
    scopes: tuple[Scope, ...] = ("read", "write")

    def may(self, needed: Role) -> bool:
        """Whether a request that needs this role may be made."""
        return _scope_for(needed) in self.scopes and self.has_role(needed)

    def has_role(self, needed: Role) -> bool:
        return ROLES.index(self.role) >= ROLES.index(needed)

    def why_not(self, needed: Role) -> tuple[str, str]:
        """What is missing for a request that may not be made, and what to do."""
        if not self.has_role(needed):
            return f"this needs the role {needed}", "ask who administers here"
        scope = _scope_for(needed)
        return f"this token does not have the scope {scope}", f"weft tokens add NAME --scope {scope} makes one that has"

    def may_use(self, scope: Scope) -> bool:
        """Whether this may come in by a way that has a scope of its own: `mcp`, `trigger`."""
        return scope in self.scopes or (self.by == "browser" and self.role == "administer")


def _scope_for(needed: Role) -> Scope:
    """The scope that a token must have for what needs this role."""
    return "read" if needed == "look" else "write"


class Access:
    def __init__(
        self, path: Path, now: Now = lambda: datetime.now(UTC), random: Callable[[int], bytes] = secrets.token_bytes
    ) -> None:
        lost = "then nobody is signed in, and tokens are made anew"
        self._file: OwnFile[_Book] = OwnFile(path, FILE, _Book(), lost)
        self._now = now
        self._random = random

    # -- persons

    def persons(self) -> tuple[Person, ...]:
        return self._file.read().persons or (Person(name=ME),)

    def person(self, name: str) -> Person:
        found = next((one for one in self.persons() if one.name == name), None)
        if found is None:
            known = ", ".join(one.name for one in self.persons())
            raise UserError(f"there is no person {name!r} here", hint=f"there are: {known}")
        return found

    def put_person(self, name: str, role: Role, passphrase: str | None = None) -> Person:
        """Add a person, or change one; `passphrase` None keeps what there was. Another one than before signs their
        browsers out: who knew the old one may be in one of them."""
        if not _NAME.match(name):
            raise UserError(f"{name!r} can't be a person's name", hint="use small letters, digits and . _ @ -")
        with self._file.changing() as (book, save):
            persons = {one.name: one for one in book.persons or (Person(name=ME),)}
            kept = persons[name].passphrase if name in persons else ""
            persons[name] = Person(
                name=name, role=role, passphrase=kept if passphrase is None else self._box(passphrase)
            )
            if not any(one.role == "administer" for one in persons.values()):
                raise UserError("somebody must be left who may administer", hint="give another person that role first")
            out = name if kept and passphrase is not None else ""
            browsers = tuple(one for one in book.browsers if one.person != out)
            save(book.model_copy(update={"persons": tuple(persons.values()), "browsers": browsers}))
            return persons[name]

    def remove_person(self, name: str) -> None:
        """Everything that let this person in goes too."""
        self.person(name)
        with self._file.changing() as (book, save):
            persons = tuple(one for one in book.persons or (Person(name=ME),) if one.name != name)
            if not any(one.role == "administer" for one in persons):
                raise UserError("somebody must be left who may administer", hint="give another person that role first")
            save(
                _Book(
                    persons=persons,
                    tokens=tuple(one for one in book.tokens if one.person != name),
                    browsers=tuple(one for one in book.browsers if one.person != name),
                    links=tuple(one for one in book.links if one.person != name),
                    shares=tuple(one for one in book.shares if one.person != name),
                )
            )

    @property
    def has_passphrase(self) -> bool:
        return any(one.passphrase for one in self.persons())

    # -- giving out

    def add_token(
        self, person: str, scopes: Sequence[Scope], title: str, days: int | None = None
    ) -> tuple[AccessToken, str]:
        """The token as it is kept, and its secret: told this once."""
        if not scopes:
            raise UserError("a token needs a scope", hint=f"choose from {', '.join(SCOPES)}")
        self.person(person)
        expires = self._now() + timedelta(days=days) if days else None
        kept, secret = self._new("weft")
        token = AccessToken(
            id=kept["id"],
            person=person,
            title=title,
            scopes=tuple(dict.fromkeys(scopes)),
            created=self._now(),
            expires=expires,
            hash=kept["hash"],
        )
        with self._file.changing() as (book, save):
            save(book.model_copy(update={"tokens": (*book.tokens, token)}))
        return token, secret

    def tokens(self) -> tuple[AccessToken, ...]:
        return self._file.read().tokens

    def browsers(self) -> tuple[Browser, ...]:
        return self._file.read().browsers

    def revoke(self, name: str) -> None:
        """A token or a signed-in browser, by its id; it is refused from the next request on."""
        with self._file.changing() as (book, save):
            tokens = tuple(one for one in book.tokens if one.id != name)
            browsers = tuple(one for one in book.browsers if one.id != name)
            shares = tuple(one for one in book.shares if one.id != name)
            if (tokens, browsers, shares) == (book.tokens, book.browsers, book.shares):
                raise UserError(
                    f"there is no token, browser or share {name!r}", hint="weft tokens list shows the ones there are"
                )
            save(book.model_copy(update={"tokens": tokens, "browsers": browsers, "shares": shares}))

    def add_share(self, person: str, workspace: str, session: str, days: int) -> tuple[Share, str]:
        """What shows one session to whoever has it, and its secret: told this once."""
        self.person(person)
        kept, secret = self._new("see")
        now = self._now()
        share = Share(
            person=person, workspace=workspace, session=session, created=now, expires=now + timedelta(days=days), **kept
        )
        with self._file.changing() as (book, save):
            current = tuple(one for one in book.shares if not one.is_over(now))
            save(book.model_copy(update={"shares": (*current, share)}))
        return share, secret

    def shares(self) -> tuple[Share, ...]:
        return self._file.read().shares

    def use_share(self, secret: str) -> Share | None:
        return _matching(self._file.read().shares, secret, self._now())

    def sign_in_secret(self, person: str = "") -> str:
        """What signs one browser in, once, within a few minutes."""
        found = self.person(person) if person else next(one for one in self.persons() if one.role == "administer")
        kept, secret = self._new("in")
        link = _Link(person=found.name, expires=self._now() + timedelta(minutes=LINK_MINUTES), **kept)
        with self._file.changing() as (book, save):
            current = tuple(one for one in book.links if not one.is_over(self._now()))
            save(book.model_copy(update={"links": (*current, link)}))
        return secret

    # -- letting in

    def use_link(self, secret: str, agent: str) -> str | None:
        """The secret of a browser that is signed in by a link; None when the link was used, is over, or never was."""
        with self._file.changing() as (book, save):
            link = _matching(book.links, secret, self._now())
            if link is None:
                return None
            rest = tuple(one for one in book.links if one.id != link.id)
            return self._sign_in(book.model_copy(update={"links": rest}), save, link.person, agent)

    def use_passphrase(self, person: str, passphrase: str, agent: str) -> str | None:
        """The same by name and passphrase. An unknown name takes as long as a wrong passphrase."""
        found = next((one for one in self.persons() if one.name == person), None)
        box = found.passphrase if found and found.passphrase else f"{'00' * 16}${'00' * 32}"
        salt, _, wanted = box.partition("$")
        right = hmac.compare_digest(_stretched(passphrase, bytes.fromhex(salt)).hex(), wanted)
        if not right or found is None or not found.passphrase:
            return None
        with self._file.changing() as (book, save):
            return self._sign_in(book, save, found.name, agent)

    def identify_browser(self, secret: str) -> Identity | None:
        return self._identity(_matching(self._file.read().browsers, secret, self._now()))

    def identify_token(self, secret: str) -> Identity | None:
        return self._identity(_matching(self._file.read().tokens, secret, self._now()))

    # -- inside

    def _identity(self, found: Browser | AccessToken | None) -> Identity | None:
        if found is None:
            return None
        person = next((one for one in self.persons() if one.name == found.person), None)
        if person is None:
            return None
        if isinstance(found, AccessToken):
            return Identity(person=person.name, role=person.role, by="token", id=found.id, scopes=found.scopes)
        return Identity(person=person.name, role=person.role, by="browser", id=found.id)

    def _sign_in(self, book: _Book, save: Callable[[_Book], None], person: str, agent: str) -> str:
        kept, secret = self._new("br")
        now = self._now()
        browser = Browser(
            person=person, agent=agent[:200], created=now, expires=now + timedelta(days=BROWSER_DAYS), **kept
        )
        current = tuple(one for one in book.browsers if not one.is_over(now))
        save(book.model_copy(update={"browsers": (*current, browser)}))
        return secret

    def _new(self, kind: str) -> tuple[dict[str, str], str]:
        name, secret = self._random(6).hex(), self._random(_SECRET_BYTES).hex()
        return {"id": name, "hash": _digest(secret)}, f"{kind}_{name}_{secret}"

    def _box(self, passphrase: str) -> str:
        if len(passphrase) < SHORTEST_PASSPHRASE:
            raise UserError(
                f"a passphrase has at least {SHORTEST_PASSPHRASE} characters", hint="a few words in a row do well"
            )
        salt = self._random(16)
        return f"{salt.hex()}${_stretched(passphrase, salt).hex()}"


def _matching(kept: Sequence[_Kept], secret: str, now: datetime) -> _Kept | None:
    """The one a secret belongs to. Hashes are compared in constant time, and the secret has 256 random bits."""
    name, _, rest = secret.partition("_")[2].partition("_")
    digest, found = _digest(rest), None
    for one in kept:
        if one.id == name and hmac.compare_digest(one.hash, digest) and not one.is_over(now):
            found = one
    return found


def _digest(secret: str) -> str:
    return hashlib.sha256(secret.encode()).hexdigest()


def _stretched(passphrase: str, salt: bytes) -> bytes:
    return hashlib.scrypt(passphrase.encode(), salt=salt, maxmem=2**26, **_SCRYPT)
