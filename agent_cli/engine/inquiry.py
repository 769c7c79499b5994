"""How checks are asked: each in its own time, what it took is counted, and what cannot answer counts as unavailable."""

from __future__ import annotations

import asyncio
import hashlib
import logging
from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple

from agent_cli.engine.alarm import within
from agent_cli.guardrails.checks.armed import Armed
from agent_cli.guardrails.checks.check import Check, Content, Found, SlowCheck, Subject, Surface, worst
from agent_cli.guardrails.checks.past import Past
from agent_cli.guardrails.checks.rules import Bypass
from agent_cli.guardrails.checks.stops import Down
from agent_cli.guardrails.checks.verdicts import Verdicts
from agent_cli.kernel.guarded import CheckRow
from agent_cli.kernel.wire import to_json
from agent_cli.ports import Clock

log = logging.getLogger("agent_cli.engine")


@dataclass(slots=True)
class Times:
    """Of one check on one surface, since the last report. Seconds."""

    runs: int = 0
    found: int = 0
    missing: int = 0
    cached: int = 0
    seconds: float = 0.0
    longest: float = 0.0

    def took(self, seconds: float) -> None:
        self.runs += 1
        self.seconds += seconds
        self.longest = max(self.longest, seconds)


class Named(NamedTuple):
    """What a check found."""

    check: str
    found: Found


class Inquiry:
    """Of one session. `ask` gives everything that was found, or what could not be asked."""

    def __init__(self, clock: Clock, armed: Armed) -> None:
        self._clock = clock
        self._armed = armed
        self._deadline = armed.deadline
        self._foreign = frozenset(
            id(each) for check in armed.own for each in (check, getattr(check, "fallback", None))
        )
        self._kept = Verdicts(
            repr((armed.actions, armed.untrusted_text, [check.version for check in armed.own]))
        )
        self._stepped: list[tuple[Bypass, Surface]] = []
        self._times: dict[tuple[str, Surface], Times] = {}

    async def ask(
        self, checks: Iterable[Check | SlowCheck], subject: Subject, past: Past
    ) -> tuple[list[Named], Down | None]:
        """In their order; slow ones are not asked any more where something is refused already."""
        named: list[Named] = []
        for check in checks:
            if self._steps_around(check, subject):
                continue
            if isinstance(check, SlowCheck):
                if _refused(named):
                    break
                found, down = await self._slow(check, subject, past)
            else:
                found, down = self.quick(check, subject, past)
            if found is not None:
                named.append(Named(check.name, found))
            if down is not None:
                return named, down
        return named, None

    def stepped(self) -> list[tuple[Bypass, Surface]]:
        """What was stepped around since the last time."""
        found, self._stepped = self._stepped, []
        return found

    def _steps_around(self, check: Check | SlowCheck, subject: Subject) -> bool:
        now = self._clock.now()
        bypass = next(
            (each for each in self._armed.bypasses if each.holds(check.name, subject.tool, now)), None
        )
        if bypass is not None:
            self.times(check.name, check.surface).missing += 1
            self._stepped.append((bypass, check.surface))
        return bypass is not None

    def quick(self, check: Check, subject: Subject, past: Past) -> tuple[Found | None, Down | None]:
        times, began = self.times(check.name, check.surface), self._clock.monotonic()
        try:
            found = (
                within(self._deadline, lambda: check.look(subject, past))
                if id(check) in self._foreign
                else check.look(subject, past)
            )
        except TimeoutError:
            times.missing += 1
            return None, Down(check.name, check.surface, self._late())
        except Exception as problem:
            log.exception("the check %s broke", check.name)
            times.missing += 1
            return None, Down(check.name, check.surface, f"{type(problem).__name__}: {problem}")
        took = self._clock.monotonic() - began
        times.took(took)
        if took > self._deadline:
            times.missing += 1
            return None, Down(check.name, check.surface, self._late())
        times.found += found is not None
        return found, None

    async def _slow(self, check: SlowCheck, subject: Subject, past: Past) -> tuple[Found | None, Down | None]:
        times, began = self.times(check.name, check.surface), self._clock.monotonic()
        if not check.gates and not sampled(subject, check.sample):
            return None, None
        key = self._kept.key(check, subject, past) if check.keeps else ""
        known = self._kept.get(key, began) if key else None
        if known is not None:
            times.cached += 1
            return known.found, None
        try:
            async with asyncio.timeout(self._deadline):
                found = await check.look(subject, past)
        except TimeoutError:
            problem = self._late()
        except Exception as broke:
            log.exception("the check %s broke", check.name)
            problem = f"{type(broke).__name__}: {broke}"
        else:
            took = self._clock.monotonic() - began
            if took <= self._deadline:
                times.took(took)
                times.found += found is not None
                found = found if check.gates or found is None else Found("warn", found.message)
                if key:
                    self._kept.put(key, found, began + check.keeps)
                return found, None
            problem = self._late()  # it let nothing else run meanwhile, so nobody could stop it
        times.missing += 1
        if not check.gates:
            return None, None
        return self._instead(check, subject, past), Down(check.name, check.surface, problem)

    def _instead(self, check: SlowCheck, subject: Subject, past: Past) -> Found | None:
        """What a fallback refuses; whatever else it says, the check stays unavailable."""
        if check.fallback is None:
            return None
        found, _ = self.quick(check.fallback, subject, past)
        return found if found is not None and found.severity != "warn" else None

    def times(self, check: str, surface: Surface) -> Times:
        return self._times.setdefault((check, surface), Times())

    def rows(self) -> tuple[CheckRow, ...]:
        """What was asked since the last time."""
        rows = tuple(
            CheckRow(
                name, surface, t.runs, t.found, t.missing, t.cached, round(t.seconds, 6), round(t.longest, 6)
            )
            for (name, surface), t in self._times.items()
            if t.runs or t.missing or t.cached
        )
        self._times = {}
        return rows

    def _late(self) -> str:
        return f"it did not answer within {self._deadline:g} s"


def _refused(named: list[Named]) -> bool:
    found = worst([each.found for each in named])
    return found is not None and found.severity != "warn"


def sampled(subject: Subject, share: float) -> bool:
    """Whether this subject is one of the share that is measured: always the same answer for the same subject."""
    said = subject.text if isinstance(subject, Content) else to_json(subject)
    digest = hashlib.blake2b(said.encode("utf-8", "replace"), digest_size=4).digest()
    return int.from_bytes(digest) < share * 2**32
