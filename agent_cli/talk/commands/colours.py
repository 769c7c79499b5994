"""The colours of the screen."""

from __future__ import annotations

from agent_cli.talk.answers import Answer, Note
from agent_cli.talk.commands.command import Command, Host
from agent_cli.talk.stage import Picking, Row


def _theme(host: Host, rest: str) -> Answer | None:
    """Each one is shown while it is highlighted."""
    names = host.stage.themes()
    if rest:
        if rest not in names:
            return Note(f"There is no theme {rest}. There are {', '.join(names)}.", "error")
        _keep(host, rest)
        return None
    before = host.stage.paint("")

    def back() -> None:
        host.stage.paint(before)

    def chosen(name: str) -> None:
        _keep(host, name)

    def moved(name: str) -> None:
        host.stage.paint(name)

    rows = [Row(name, name, "now" if name == before else "") for name in names]
    host.stage.pick(Picking("Which colours?", lambda: rows, chosen, moved=moved, left=back, first=before))
    return None


def _keep(host: Host, name: str) -> None:
    workplace = host.sources.workplace
    host.stage.paint(name)
    if workplace is None:
        return

    def work() -> Answer:
        return Note(f"The theme is {name}; {workplace.keep('ui.theme', name)} keeps it.")

    host.stage.later("keeps the theme", work)


COMMANDS: tuple[Command, ...] = (
    Command("theme", "other colours, shown as you go through them", _theme, arguments="[name]"),
)
