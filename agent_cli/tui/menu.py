"""The completions of a slash command, above the composer."""

from __future__ import annotations

from textual.content import Content
from textual.widgets import OptionList
from textual.widgets.option_list import Option

from agent_cli.tui.commands import Command


class CommandMenu(OptionList, can_focus=False):
    """Lies over the transcript. `offer` opens it, or closes it where nothing fits."""

    DEFAULT_CSS = """
    CommandMenu {
        layer: above; dock: bottom; height: auto; max-height: 10; margin: 0 1; padding: 0 1;
        border: none; background: $panel; display: none; scrollbar-size-vertical: 1;
    }
    CommandMenu > .option-list--option-highlighted { background: $primary 25%; color: $foreground; text-style: none; }
    """

    def __init__(self) -> None:
        super().__init__(compact=True)
        self._offered: list[Command] = []
        self._typed = ""

    @property
    def is_open(self) -> bool:
        return bool(self._offered)

    def offer(self, typed: str, found: list[Command], below: int) -> None:
        """`below` are the rows under it."""
        if found != self._offered:
            self._offered = found
            wide = max((len(_usage(command)) for command in found), default=0)
            self.clear_options()
            self.add_options([Option(_row(command, wide)) for command in found])
            self.highlighted = 0 if found else None
        self._typed = typed
        self.display = bool(found)
        self.styles.margin = (0, 1, below, 1)

    def move(self, step: int) -> None:
        if self._offered:
            self.highlighted = ((self.highlighted or 0) + step) % len(self._offered)

    def chosen(self) -> str:
        at = self.highlighted
        return f"/{self._offered[at].name}" if at is not None and at < len(self._offered) else ""

    def close(self) -> None:
        self.offer("", [], 0)


def _usage(command: Command) -> str:
    return f"/{command.name} {command.arguments}".rstrip()


def _row(command: Command, wide: int) -> Content:
    return Content.assemble((_usage(command).ljust(wide + 2), "bold"), (command.description, "$text-muted"))
