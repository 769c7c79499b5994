"""What a check sees, what it finds, and what it promises."""

from __future__ import annotations

from typing import Literal, Protocol, TypeAlias, runtime_checkable

from agent_cli.guardrails.checks.past import Past
from agent_cli.kernel.values import Plain
from agent_cli.ports import Effect, PathUse

Surface: TypeAlias = Literal["input", "action", "output"]
Severity: TypeAlias = Literal["warn", "block", "halt"]
Stance: TypeAlias = Literal["off", "warn", "block", "halt"]
"""What the operator wants done where a check finds something."""
RANK: dict[Severity, int] = {"warn": 0, "block": 1, "halt": 2}


class Act(Plain, frozen=True):
    """A proposed call. `text` is its arguments as JSON with sorted keys, `texts` are the texts in them.

    `commands` are the words of each command of a shell line, as far as they can be told. `deletes` is bytes.
    `reads` says that a command changes nothing.
    """

    call_id: str
    tool: str
    effect: Effect
    subject: str
    text: str
    texts: tuple[str, ...] = ()
    paths: tuple[PathUse, ...] = ()
    command: str = ""
    commands: tuple[tuple[str, ...], ...] = ()
    hosts: tuple[str, ...] = ()
    deletes: int | None = None
    reads: bool = False


class Content(Plain, frozen=True):
    """What a tool returned, or a piece of what the model says (`tool` is "" then)."""

    tool: str
    effect: Effect
    text: str
    call_id: str = ""


Subject: TypeAlias = Act | Content


class Found(Plain, frozen=True):
    """`message` is a clause without a full stop. `label` is put before a content that enters; only with `warn`."""

    severity: Severity
    message: str
    label: str = ""


@runtime_checkable
class Check(Protocol):
    """Looks at every subject of its surface. Pure and quick: it runs where everything waits for it.

    `version` changes when its verdicts may. What it raises counts as unavailable, never as a pass.
    """

    @property
    def name(self) -> str: ...

    @property
    def version(self) -> str: ...

    @property
    def surface(self) -> Surface: ...

    def look(self, subject: Subject, past: Past, /) -> Found | None: ...


@runtime_checkable
class SlowCheck(Protocol):
    """A check that asks somebody else. It runs after all quick ones, and not where those decided already.

    `gates` says whether nothing passes while it is down; one that does not gate only measures, on the share `sample`
    of subjects: what it finds is told, whatever its severity, and refuses nothing. A verdict is kept for `keeps` seconds, 0 for not at all. `fallback` names the quick check that is asked
    where it is down: what that one refuses is refused, and whatever else it says the check stays unavailable.
    """

    @property
    def name(self) -> str: ...

    @property
    def version(self) -> str: ...

    @property
    def surface(self) -> Surface: ...

    @property
    def gates(self) -> bool: ...

    @property
    def sample(self) -> float: ...

    @property
    def keeps(self) -> float: ...

    @property
    def fallback(self) -> Check | None: ...

    async def look(self, subject: Subject, past: Past, /) -> Found | None: ...


def worst(found: list[Found]) -> Found | None:
    """The first of the most severe ones."""
    return max(found, key=lambda each: RANK[each.severity], default=None)
