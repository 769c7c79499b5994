"""What a model says while it says it: shown as it comes, or, where answers are gated, piece by piece as it passes."""

from __future__ import annotations

from agent_cli.engine.cleaning import Previews
from agent_cli.engine.core import Core
from agent_cli.kernel import events as ev
from agent_cli.kernel.messages import Said, Text

UNIT = "\n\n"
"""A unit ends with a paragraph."""


class Saying:
    """One attempt. `text` is what was shown of it so far, or may be."""

    def __init__(self, core: Core) -> None:
        self._core = core
        self._previews = Previews(core.hub.show, on=core.parts.armed.redact)
        self._held = ""
        self._passed: list[str] = []
        self._looked_at: dict[str, str] = {}

    @property
    def text(self) -> str:
        return "".join(self._passed)

    async def feed(self, piece: ev.TextDelta | ev.ReasoningDelta | ev.ArgumentsDelta) -> None:
        if not isinstance(piece, ev.TextDelta):
            self._previews.feed(piece)
        elif self._core.guards.gated:
            self._held += piece.text
            while UNIT in self._held:
                at = self._held.index(UNIT) + len(UNIT)
                unit, self._held = self._held[:at], self._held[at:]
                await self._show(unit)
        else:
            self._tell(piece.text)

    async def over(self) -> None:
        """Nothing more of it comes."""
        if self._held:
            unit, self._held = self._held, ""
            await self._show(unit)
        self._previews.rest()

    def cut(self) -> None:
        """It is cut off: what was not looked at is not shown."""
        self._held = ""
        self._previews.rest()

    async def said(self, parts: tuple[Said, ...]) -> tuple[Said, ...]:
        """The parts of the answer as they may be recorded."""
        if not self._core.guards.gated:
            return parts
        return tuple(
            [Text(await self._whole(part.text)) if isinstance(part, Text) else part for part in parts]
        )

    async def _whole(self, text: str) -> str:
        units = text.split(UNIT)
        ended = [f"{unit}{UNIT}" for unit in units[:-1]] + units[-1:]
        return "".join([await self._looked(unit) for unit in ended])

    async def _show(self, unit: str) -> None:
        self._tell(await self._looked(unit))

    async def _looked(self, unit: str) -> str:
        """Each unit is looked at once."""
        if unit not in self._looked_at:
            told = await self._core.guards.leaves(unit)
            self._looked_at[unit] = told if told == unit or not unit.endswith(UNIT) else f"{told}{UNIT}"
        return self._looked_at[unit]

    def _tell(self, text: str) -> None:
        self._passed.append(text)
        self._previews.feed(ev.TextDelta(text))
