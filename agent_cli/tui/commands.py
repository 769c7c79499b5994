"""Slash commands: one table. A command that is not in it does not exist, and is in no list."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple, Protocol

from agent_cli.kernel.commands import MODES, Compact, Interrupt, Reset, SetMode, SetModel
from agent_cli.kernel.commands import Command as Order
from agent_cli.tui import views
from agent_cli.tui.blocks.item import Item
from agent_cli.tui.blocks.notice import Notice
from agent_cli.tui.blocks.report import Report
from agent_cli.tui.door import Door, Sources, Welcome
from agent_cli.tui.keys import ACTIONS, Keys, Where
from agent_cli.tui.ledger import Ledger

PLACES: dict[Where, str] = {
    "anywhere": "Anywhere",
    "composer": "Where you type",
    "transcript": "In the transcript",
    "approval": "While an approval waits",
}


class Host(Protocol):
    """What a command may do with the screen."""

    @property
    def welcome(self) -> Welcome: ...

    @property
    def session(self) -> Door | None: ...

    @property
    def sources(self) -> Sources: ...

    @property
    def keys(self) -> Keys: ...

    @property
    def ledger(self) -> Ledger: ...

    @property
    def compacting(self) -> float:
        """Since when a compaction runs, 0 while none does."""
        ...

    def order(self, command: Order, /) -> None:
        """Sends it to the session."""
        ...

    def wipe(self) -> None:
        """Empties the transcript on the screen."""
        ...

    def leave(self) -> None: ...


class Command(NamedTuple):
    """`run` gets what stands behind the name, and returns what the transcript is to show, if anything."""

    name: str
    description: str
    run: Callable[[Host, str], Item | None]
    aliases: tuple[str, ...] = ()
    arguments: str = ""


def find(name: str) -> Command | None:
    return next((command for command in COMMANDS if name in (command.name, *command.aliases)), None)


def nearest(name: str) -> str:
    """A command that may have been meant, "" for none."""
    import difflib

    known = [known for command in COMMANDS for known in (command.name, *command.aliases)]
    return next(iter(difflib.get_close_matches(name, known, n=1)), "")


def matching(start: str) -> list[Command]:
    """The commands whose name or alias begins with that."""
    return [
        command
        for command in COMMANDS
        if any(name.startswith(start) for name in (command.name, *command.aliases))
    ]


def run(host: Host, line: str) -> Item | None:
    """A line that begins with a slash. An unknown command is answered with the nearest one."""
    name, _, rest = line[1:].partition(" ")
    command = find(name)
    if command is None:
        near = nearest(name)
        hint = f"Did you mean /{near}?" if near else "/help lists them."
        return Notice(f"There is no command /{name}. {hint}", "error")
    return command.run(host, rest.strip())


def _help(host: Host, _rest: str) -> Item:
    rows = [("Commands", "")]
    for command in COMMANDS:
        names = ", ".join(f"/{name}" for name in (command.name, *command.aliases))
        rows.append((f"{names} {command.arguments}".rstrip(), command.description))
    rows += [("", ""), ("Keys", ""), ("Up, Down", "earlier messages, at the first and the last line")]
    rows += [(host.keys.shown(*names), does) for names, does in HELP]
    return Report("", rows)


def _keys(host: Host, _rest: str) -> Item:
    rows: list[tuple[str, str]] = []
    for where, place in PLACES.items():
        rows.append((place, ""))
        found = [action for action in ACTIONS if action.where == where]
        rows += [(action.name, f"{host.keys.shown(action.name)}: {action.does}") for action in found]
    return Report("Actions and their keys; ui.keys in config gives them others", rows)


def _quit(host: Host, _rest: str) -> None:
    host.leave()


def _clear(host: Host, _rest: str) -> Item:
    host.wipe()
    return Notice("The screen is empty; the session and what the model knows are as before.", gap=0)


def _interrupt(host: Host, _rest: str) -> Item | None:
    if host.session is None or not host.session.state.running:
        return Notice("No turn is running.")
    host.order(Interrupt())
    return None


def _compact(host: Host, rest: str) -> Item | None:
    if host.compacting:
        return Notice("It is being compacted already; Esc stops that.", "warning")
    return _ordered(host, Compact(rest))


def _model(host: Host, rest: str) -> Item | None:
    if rest:
        return _ordered(host, SetModel(rest))
    current = host.session.state.card.id if host.session else host.welcome.model or "not known yet"
    names = ", ".join(host.sources.models())
    return Report("Model", [("now", current), ("others", names or "/model NAME takes what --model takes")])


def _mode(host: Host, rest: str) -> Item | None:
    for mode in MODES:
        if mode.casefold() == rest.casefold():
            return _ordered(host, SetMode(mode))
    now = host.session.state.mode if host.session else host.welcome.mode
    if rest:
        return Notice(f"There is no mode {rest}. The modes are {', '.join(MODES)}.", "error")
    return Report("Permission mode", [("now", now), ("all", ", ".join(MODES))])


def _guardrail(host: Host, rest: str) -> Item | None:
    if host.session is None:
        return _not_yet()
    words = rest.split()
    if not words:
        return views.guardrails(host.session.state, host.session.halted)
    usage = "It is /guardrail, or /guardrail reset [watchdog|cost_ceiling|all] [+USD]."
    amounts = [word for word in words[1:] if word.startswith("+")]
    which = [word for word in words[1:] if not word.startswith("+")] or ["all"]
    try:
        added = sum(float(amount) for amount in amounts)
    except ValueError:
        return Notice(usage, "error")
    for name in ("watchdog", "cost_ceiling", "all"):
        if words[0] == "reset" and which == [name]:
            return _ordered(host, Reset(name, added))
    return Notice(usage, "error")


def _context(host: Host, _rest: str) -> Item:
    return views.context(host.session.state, host.ledger) if host.session else _not_yet()


def _stats(host: Host, _rest: str) -> Item:
    return views.stats(host.session.state, host.ledger) if host.session else _not_yet()


def _permissions(host: Host, _rest: str) -> Item:
    if host.session is None:
        return _not_yet()
    rules = host.sources.rules() if host.sources.rules is not None else None
    return views.permissions(host.session.state, rules)


def _ordered(host: Host, order: Order) -> Item | None:
    if host.session is None:
        return _not_yet()
    host.order(order)
    return None


def _not_yet() -> Notice:
    return Notice("There is no session yet; try again when it is open.", "warning")


COMMANDS: tuple[Command, ...] = (
    Command("help", "commands and keys", _help, ("?",)),
    Command("keys", "all actions, their names and keys", _keys),
    Command("model", "show or change the model", _model, arguments="[name]"),
    Command("mode", "show or change the permission mode", _mode, arguments="[name]"),
    Command("permissions", "mode, rules and what was granted", _permissions),
    Command("context", "what fills the window", _context),
    Command("compact", "reduce the conversation now", _compact, ("summarize",), arguments="[focus]"),
    Command("stats", "tokens and cost of each model", _stats, ("usage",)),
    Command("guardrail", "what tripped; clears a halt", _guardrail, arguments="[reset [name] [+USD]]"),
    Command("interrupt", "stop the running turn", _interrupt),
    Command("clear", "empty the screen; the session stays", _clear),
    Command("quit", "leave; the session can be resumed", _quit, ("exit",)),
)

HELP: tuple[tuple[tuple[str, ...], str], ...] = (
    (("send",), "send; while a turn runs, the model gets it before its next step"),
    (("send-after",), "send after the running turn"),
    (("newline",), "new line; so does Enter after a backslash"),
    (("back",), "back out of what is open, then interrupt"),
    (("interrupt",), "interrupt; twice within a second: quit"),
    (("quit",), "quit, when nothing is typed"),
    (("switch",), "to the transcript and back; to a waiting approval"),
    (("page-up", "page-down"), "scroll the transcript"),
    (("next", "previous", "first", "last"), "in the transcript: next, previous, first, last block"),
    (("fold", "fold-all"), "fold or unfold the block; everything"),
    (("copy", "copy-code"), "copy the block; its code"),
    (("find", "find-up", "find-down"), "search the transcript; next match upwards, downwards"),
    (
        ("approve", "approve-call", "approve-tool", "approve-always", "deny", "deny-why"),
        "approve once, this call, this tool, always; deny, deny and say why",
    ),
    (("next-mode",), "next permission mode"),
    (("models",), "choose a model"),
    (("palette",), "command palette"),
    (("help", "ask-help"), "this list; the latter when nothing is typed"),
)
"""The keys of several actions with one meaning; /keys has all of them with their names."""
