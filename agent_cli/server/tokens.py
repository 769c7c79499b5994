"""Who may do what: tokens, of which only hashes are kept.

A token is 256 random bits, so that a plain hash of it tells nothing and cannot be guessed.
"""

from __future__ import annotations

import hashlib
import hmac
import os
import secrets
from collections.abc import Generator
from contextlib import contextmanager
from errno import EINVAL
from pathlib import Path
from typing import Literal, TypeAlias

import msgspec

from agent_cli.kernel.errors import ConfigError
from agent_cli.kernel.values import Plain
from agent_cli.locking import wait_for_lock

Scope: TypeAlias = Literal["read", "write", "admin"]
SCOPES: tuple[Scope, ...] = ("read", "write", "admin")
"""Each includes those before it."""
PREFIX = "agc_"


class Token(Plain, frozen=True):
    """`digest` is the SHA-256 of the token in hex; `sessions` those that it is for, () for all. `created` is epoch seconds."""

    name: str
    digest: str
    scope: Scope
    sessions: tuple[str, ...] = ()
    created: float = 0.0

    def may(self, needed: Scope) -> bool:
        return SCOPES.index(self.scope) >= SCOPES.index(needed)

    def sees(self, session: str) -> bool:
        return not self.sessions or session in self.sessions


def digest_of(secret: str) -> str:
    return hashlib.sha256(secret.encode("utf-8", "surrogatepass")).hexdigest()


def _read(file: Path) -> bytes:
    """Of a file that has an end, which a pipe has not. Raises OSError."""
    if not file.is_file():
        raise OSError(EINVAL, "it is no regular file")
    return file.read_bytes()


class Tokens:
    """The file of tokens, read again whenever it has changed: one that is taken away counts no more at once."""

    def __init__(self, file: Path) -> None:
        self.file = file
        self._seen: tuple[int, int, int] | None = None
        self._tokens: tuple[Token, ...] = ()

    def all(self) -> tuple[Token, ...]:
        """Raises ConfigError where the file is there and cannot be read: nobody is let in by mistake."""
        try:
            found = self.file.stat()
            mark = (found.st_mtime_ns, found.st_size, found.st_ino)
            if mark != self._seen:
                self._tokens = msgspec.json.decode(_read(self.file), type=tuple[Token, ...])
                self._seen = mark
        except FileNotFoundError:
            self._tokens, self._seen = (), None
        except (OSError, msgspec.MsgspecError) as problem:
            raise ConfigError(
                f"The tokens in {self.file} cannot be read: {problem}. Mend the file, or remove it and make new "
                "tokens with `agent-cli serve token add NAME`."
            ) from None
        return self._tokens

    def find(self, secret: str) -> Token | None:
        """Compares with every token, in the same time whichever it is. Raises ConfigError."""
        digest, hit = digest_of(secret), None
        for token in self.all():
            if hmac.compare_digest(token.digest, digest):
                hit = token
        return hit

    def add(self, name: str, scope: Scope, sessions: tuple[str, ...], now: float) -> str:
        """Returns the token itself, which is nowhere kept. Raises ConfigError."""
        if not name.strip():
            raise ConfigError("A token needs a name, by which it can be taken away again.")
        with self._alone():
            known = self.all()
            if any(token.name == name for token in known):
                raise ConfigError(
                    f"There is a token '{name}' already. Choose another name, or take it away first: "
                    f"agent-cli serve token rm {name}"
                )
            secret = PREFIX + secrets.token_urlsafe(32)
            self._write((*known, Token(name, digest_of(secret), scope, sessions, now)))
        return secret

    def remove(self, name: str) -> None:
        """Raises ConfigError."""
        with self._alone():
            known = self.all()
            left = tuple(token for token in known if token.name != name)
            if len(left) == len(known):
                names = ", ".join(token.name for token in known) or "none"
                raise ConfigError(f"There is no token '{name}'. There are: {names}.")
            self._write(left)

    @contextmanager
    def _alone(self) -> Generator[None]:
        """One process at a time: a token that is taken away must not come back with one that is made. Raises ConfigError."""
        try:
            self.file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            descriptor = os.open(self.file.parent, os.O_RDONLY)
        except OSError as problem:
            raise ConfigError(f"{self.file} cannot be written: {problem.strerror}.") from None
        try:
            wait_for_lock(descriptor)
            yield
        finally:
            os.close(descriptor)

    def _write(self, tokens: tuple[Token, ...]) -> None:
        fresh = self.file.with_name(f"{self.file.name}.{os.getpid()}.new")
        try:
            descriptor = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
            with os.fdopen(descriptor, "wb") as out:
                out.write(msgspec.json.format(msgspec.json.encode(tokens), indent=1))
            fresh.replace(self.file)
        except OSError as problem:
            raise ConfigError(f"{self.file} cannot be written: {problem.strerror}.") from None
