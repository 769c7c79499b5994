"""Ends a background command."""

from __future__ import annotations

from typing import Annotated

from agent_cli.kernel.events import Output
from agent_cli.kernel.messages import Text
from agent_cli.kernel.wire import Arguments, for_people
from agent_cli.ports import Say, Touches
from agent_cli.tools.bash_output import told
from agent_cli.tools.prose import spec_of
from agent_cli.tools.shells import Shells


class KillArguments(Arguments, frozen=True):
    id: Annotated[str, for_people("as bash gave it")]


class BashKill:
    arguments = KillArguments
    read_only = False
    bounded = False

    def __init__(self, shells: Shells, registered: frozenset[str] = frozenset()) -> None:
        self.spec = spec_of("bash_kill", KillArguments, registered)
        self._shells = shells

    def touches(self, args: KillArguments, /) -> Touches:
        """Only what this session started itself."""
        return Touches("none", args.id)

    def preview(self, args: KillArguments, /) -> None:
        """Nothing to see: it is never asked about."""

    async def run(self, args: KillArguments, say: Say, /) -> Output:
        shell = self._shells.find(args.id)
        if not shell.running:
            note = f"{shell.name} was over already: {shell.standing}. Nothing had to be ended."
            return Output((Text(note),), no_op=True)
        await shell.end()
        return told(shell)
