"""Verdicts of slow checks that are kept for a while. A clean verdict of other rules, or of yesterday, is none."""

from __future__ import annotations

import hashlib
from typing import NamedTuple

import msgspec

from agent_cli.guardrails.checks.check import Found, SlowCheck, Subject
from agent_cli.guardrails.checks.past import Past

MOST = 2_000


class Kept(NamedTuple):
    """`until` is seconds of a clock that only goes on."""

    found: Found | None
    until: float


class Verdicts:
    """Keyed by the check with its version, the policy, the place, and the subject without its id."""

    def __init__(self, policy: str) -> None:
        self._policy = policy
        self._kept: dict[str, Kept] = {}

    def key(self, check: SlowCheck, subject: Subject, past: Past) -> str:
        said = msgspec.json.encode(msgspec.structs.replace(subject, call_id=""), order="deterministic")
        head = msgspec.json.encode((check.name, check.version, self._policy, past.cwd))
        return hashlib.blake2b(head + said, digest_size=16).hexdigest()

    def get(self, key: str, now: float) -> Kept | None:
        """None where there is none, or no longer."""
        kept = self._kept.get(key)
        if kept is not None and now >= kept.until:
            del self._kept[key]
            return None
        return kept

    def put(self, key: str, found: Found | None, until: float) -> None:
        while len(self._kept) >= MOST:
            del self._kept[next(iter(self._kept))]
        self._kept[key] = Kept(found, until)
