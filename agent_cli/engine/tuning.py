"""What the operator sets for single tools: how long, how often, with which arguments, and whether they must be used."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any

import msgspec

from agent_cli.around import Around
from agent_cli.kernel.events import Output
from agent_cli.kernel.messages import ToolSpec
from agent_cli.kernel.values import Plain
from agent_cli.ports import Tool


class Tuning(Plain, frozen=True):
    """Of one tool. `timeout` is seconds of one call, `max_calls` counts the calls of a turn.

    `args` are merged over what the model gives. `required`: a turn does not end without a success of it, as long
    as forcing it once can help.
    """

    timeout: float | None = None
    max_calls: int | None = None
    required: bool = False
    args: dict[str, Any] = msgspec.field(default_factory=dict[str, Any])


PLAIN = Tuning()


class Tally:
    """Of one turn: which tools were called how often, and which did something. A later turn begins anew."""

    def __init__(self) -> None:
        self._turn = 0
        self._called: Counter[str] = Counter()
        self._succeeded: set[str] = set()

    def take(self, turn: int, name: str, most: int | None) -> bool:
        """Counts a call, unless there were as many as there may be."""
        self._begin(turn)
        if most is not None and self._called[name] >= most:
            return False
        self._called[name] += 1
        return True

    def give_back(self, turn: int, name: str) -> None:
        """The call did not run: a person refused it."""
        self._begin(turn)
        self._called[name] -= 1

    def succeeded(self, turn: int, name: str) -> None:
        self._begin(turn)
        self._succeeded.add(name)

    def owed(self, turn: int, tunings: Mapping[str, Tuning]) -> list[str]:
        """Required tools that have not done anything yet."""
        self._begin(turn)
        return [name for name, tuning in tunings.items() if tuning.required and name not in self._succeeded]

    def _begin(self, turn: int) -> None:
        if turn != self._turn:
            self._turn = turn
            self._called.clear()
            self._succeeded.clear()


class Pinned(Around):
    """A tool some of whose arguments the model neither sees nor sets."""

    def __init__(self, tool: Tool, names: frozenset[str]) -> None:
        super().__init__(tool)
        self._spec = _without(tool.spec, names)

    @property
    def spec(self) -> ToolSpec:
        return self._spec


def tuned(tools: Mapping[str, Tool], tunings: Mapping[str, Tuning]) -> dict[str, Tool]:
    """The tools as the model gets them."""
    return {
        name: Pinned(tool, frozenset(tunings[name].args)) if tunings.get(name, PLAIN).args else tool
        for name, tool in tools.items()
    }


def _without(spec: ToolSpec, names: frozenset[str]) -> ToolSpec:
    schema = dict(spec.schema)
    schema["properties"] = {
        name: held for name, held in schema.get("properties", {}).items() if name not in names
    }
    if "required" in schema:
        schema["required"] = [name for name in schema["required"] if name not in names]
    return msgspec.structs.replace(spec, schema=schema)


def expired(name: str, seconds: float, cut: BaseException | None) -> Output | str:
    """What to say of a call whose time was up: its own result where it succeeded all the same."""
    held = cut.args if cut is not None else ()
    if len(held) > 1 and isinstance(held[1], Output) and held[1].ok:
        return held[1]
    told = (
        f"{name}: timed out after {seconds:g}s — its call was cancelled, anything it returned may be partial"
    )
    return f"{told}: {held[0]}" if held and str(held[0]).strip() else told
