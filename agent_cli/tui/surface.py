"""Where the desk puts what it says."""

from __future__ import annotations

from collections.abc import Callable

from agent_cli.talk.answers import Answer
from agent_cli.tui.blocks.item import Item
from agent_cli.tui.blocks.told import block_of
from agent_cli.tui.staging import Staging


class Surface:
    """`put` adds a block to the transcript, `wipe` clears it."""

    def __init__(
        self,
        stage: Staging,
        put: Callable[[Item], None],
        wipe: Callable[[], None],
        refresh_facts: Callable[[], None],
    ) -> None:
        self.stage = stage
        self.wipe = wipe
        self.refresh_facts = refresh_facts
        self._put = put

    def tell(self, answer: Answer) -> None:
        self._put(block_of(answer))
