"""The model, and what it may do by itself."""

from __future__ import annotations

from typing import Literal

from agent_cli.kernel.commands import MODES, SetEffort, SetMode, SetModel
from agent_cli.kernel.messages import Effort
from agent_cli.talk.answers import Answer, Note, Table
from agent_cli.talk.commands.command import Command, Host, not_yet, ordered
from agent_cli.talk.stage import Picking, Row


def _model(host: Host, rest: str) -> Answer | None:
    if rest:
        return ordered(host, SetModel(rest))
    if host.session is None:
        return not_yet()
    current = host.session.state.card.id

    def rows() -> list[Row]:
        return [
            Row(name, name, "now" if name.rpartition("/")[2] == current else "")
            for name in host.sources.models()
        ]

    def chosen(name: str) -> None:
        ordered(host, SetModel(name))

    title = f"Which model? Now: {current}. /model NAME takes what --model takes"
    host.stage.pick(Picking(title, rows, chosen, "no other model is known here"))
    return None


def _effort(host: Host, rest: str) -> Answer | None:
    """The word auto takes the setting away."""
    if host.session is None:
        return not_yet()
    wanted: dict[str, Effort | Literal[""]] = {"low": "low", "medium": "medium", "high": "high", "auto": ""}
    if rest.casefold() in wanted:
        return ordered(host, SetEffort(wanted[rest.casefold()]))
    if rest:
        return Note(f"There is no effort {rest}. It is one of {', '.join(wanted)}.", "error")
    state = host.session.state
    offers = ", ".join(state.card.efforts) or f"{state.card.id} has none to set"
    return Table("Effort", [("now", state.effort or "as the model does by itself"), ("offers", offers)])


def _mode(host: Host, rest: str) -> Answer | None:
    for mode in MODES:
        if mode.casefold() == rest.casefold():
            return ordered(host, SetMode(mode))
    now = host.session.state.mode if host.session else host.welcome.mode
    if rest:
        return Note(f"There is no mode {rest}. The modes are {', '.join(MODES)}.", "error")
    return Table("Permission mode", [("now", now), ("all", ", ".join(MODES))])


COMMANDS: tuple[Command, ...] = (
    Command("model", "show or change the model", _model, arguments="[name]"),
    Command(
        "effort", "how much the model thinks before it answers", _effort, arguments="[low|medium|high|auto]"
    ),
    Command("mode", "show or change the permission mode", _mode, arguments="[name]"),
)
