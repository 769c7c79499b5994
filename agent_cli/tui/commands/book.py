"""The one table of slash commands. A command that is not in it does not exist, and is in no list."""

from __future__ import annotations

from collections.abc import Sequence

from agent_cli.tui.blocks.item import Item
from agent_cli.tui.blocks.notice import Notice
from agent_cli.tui.blocks.report import Report
from agent_cli.tui.commands import (
    colours,
    context,
    figures,
    guardrail,
    model,
    permissions,
    plan,
    project,
    rewind,
    screen,
    sessions,
    tools,
    work,
)
from agent_cli.tui.commands.command import Command, Host
from agent_cli.tui.keys import ACTIONS, Where

PLACES: dict[Where, str] = {
    "anywhere": "Anywhere",
    "composer": "Where you type",
    "transcript": "In the transcript",
    "approval": "While an approval waits",
}


def find(name: str, own: Sequence[Command] = ()) -> Command | None:
    return next((command for command in (*COMMANDS, *own) if name in (command.name, *command.aliases)), None)


def nearest(name: str) -> str:
    """A command that may have been meant, "" for none."""
    import difflib

    known = [known for command in COMMANDS for known in (command.name, *command.aliases)]
    return next(iter(difflib.get_close_matches(name, known, n=1)), "")


def matching(start: str, own: Sequence[Command] = ()) -> list[Command]:
    """The commands whose name or alias begins with that."""
    return [
        command
        for command in (*COMMANDS, *own)
        if any(name.startswith(start) for name in (command.name, *command.aliases))
    ]


def run(host: Host, line: str) -> Item | None:
    """A line that begins with a slash. An unknown command is answered with the nearest one."""
    name, _, rest = line[1:].partition(" ")
    command = find(name, host.own)
    if command is None:
        near = nearest(name)
        hint = f"Did you mean /{near}?" if near else "/help lists them."
        return Notice(f"There is no command /{name}. {hint}", "error")
    return command.run(host, rest.strip())


def _help(host: Host, _rest: str) -> Item:
    rows = [("Commands", "")]
    for command in (*COMMANDS, *host.own):
        names = ", ".join(f"/{name}" for name in (command.name, *command.aliases))
        now = command.now(host) if command.now else ""
        rows.append((f"{names} {command.arguments}".rstrip(), f"{command.description}{now}"))
    rows += [("", ""), ("Beginnings", ""), *BEGINNINGS, ("", ""), ("Keys", "")]
    rows += [(host.keys.shown(*names), does) for names, does in HELP]
    return Report("", rows)


def _keys(host: Host, _rest: str) -> Item:
    rows: list[tuple[str, str]] = []
    for where, place in PLACES.items():
        rows.append((place, ""))
        found = [action for action in ACTIONS if action.where == where]
        rows += [(action.name, f"{host.keys.shown(action.name)}: {action.does}") for action in found]
    return Report("Actions and their keys; ui.keys in config gives them others", rows)


COMMANDS: tuple[Command, ...] = (
    Command("help", "commands and keys", _help, ("?",)),
    Command("keys", "all actions, their names and keys", _keys),
    *model.COMMANDS,
    *permissions.COMMANDS,
    *work.COMMANDS,
    *plan.COMMANDS,
    *tools.COMMANDS,
    *sessions.COMMANDS,
    *rewind.COMMANDS,
    *project.COMMANDS,
    *context.COMMANDS,
    *figures.COMMANDS,
    *guardrail.COMMANDS,
    *colours.COMMANDS,
    *screen.COMMANDS,
)

NAMES = frozenset(name for command in COMMANDS for name in (command.name, *command.aliases))

BEGINNINGS = (
    ("/", "a command"),
    ("#", "a line for the instructions in AGENTS.md"),
    ("!", "runs a shell command; its output goes into your message"),
    ("@", "a file of the project, anywhere in a message"),
)
HELP: tuple[tuple[tuple[str, ...], str], ...] = (
    (("send",), "send; while a turn runs, the model gets it before its next step"),
    (("send-after",), "send after the running turn"),
    (("newline",), "new line; so does Enter after a backslash"),
    (("up", "down"), "earlier and later messages, at the first and the last line"),
    (("history",), "search the earlier messages; again for an older one"),
    (("editor",), "write the message in your editor"),
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
    (("todo",), "what the agent has set itself to do"),
    (("suspend",), "back to the shell; fg goes on"),
    (("palette",), "command palette: everything there is"),
    (("help", "ask-help"), "this list; the latter when nothing is typed"),
)
"""The keys of several actions with one meaning; /keys has all of them with their names."""
