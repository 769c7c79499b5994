"""Reads on in the output of a background command."""

from __future__ import annotations

import asyncio
import contextlib
from typing import Annotated

from agent_cli.kernel.events import Output, Shown
from agent_cli.kernel.messages import Text
from agent_cli.kernel.wire import Arguments, for_people
from agent_cli.ports import Say, Touches
from agent_cli.tools.prose import spec_of
from agent_cli.tools.shells import Background, Shells

LONGEST = 60.0


class OutputArguments(Arguments, frozen=True):
    id: Annotated[str, for_people("as bash gave it; empty lists all")] = ""
    wait: Annotated[float, for_people("seconds to wait for something new, at most 60")] = 0


class BashOutput:
    arguments = OutputArguments
    read_only = True
    bounded = False

    def __init__(self, shells: Shells, registered: frozenset[str] = frozenset()) -> None:
        self.spec = spec_of("bash_output", OutputArguments, registered)
        self._shells = shells

    def touches(self, args: OutputArguments, /) -> Touches:
        return Touches("none", args.id)

    def preview(self, args: OutputArguments, /) -> None:
        """Nothing to see: it is never asked about."""

    async def run(self, args: OutputArguments, say: Say, /) -> Output:
        if not args.id.strip():
            return Output((Text(self._shells.listed()),))
        shell = self._shells.find(args.id)
        if args.wait > 0:
            await _something_new(shell, min(args.wait, LONGEST))
        return told(shell)


async def _something_new(shell: Background, seconds: float) -> None:
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(seconds):
            await shell.news.wait()


def told(shell: Background) -> Output:
    """What it said since the last time, and where it stands."""
    piece = shell.read()
    text = piece.text or "(nothing new)"
    return Output((Text(f"{text}\n[{shell.name}: {piece.standing}]"),), Shown(f"{text}\n[{piece.standing}]"))
