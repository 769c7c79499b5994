"""The one table of slash commands. A command that is not in it does not exist, and is in no list."""

from __future__ import annotations

from collections.abc import Sequence

from agent_cli.talk.answers import Answer, Note, Table
from agent_cli.talk.commands import (
    agents,
    colours,
    context,
    figures,
    guardrail,
    health,
    model,
    permissions,
    plan,
    project,
    rewind,
    screen,
    served,
    servers,
    sessions,
    skills,
    tools,
    work,
)
from agent_cli.talk.commands.command import Command, Host, away


def own_of(host: Host) -> Sequence[Command]:
    """The operator's own, and prompts of servers as they are now."""
    servers = host.session.servers if host.session is not None else None
    return (*host.own, *served.commands(servers)) if servers is not None else host.own


def find(name: str, own: Sequence[Command] = ()) -> Command | None:
    return next((command for command in (*COMMANDS, *own) if name in (command.name, *command.aliases)), None)


def nearest(name: str, lacks: frozenset[str] = frozenset()) -> str:
    """A command that may have been meant, "" for none."""
    import difflib

    usable = [command for command in COMMANDS if command.name not in lacks]
    known = [known for command in usable for known in (command.name, *command.aliases)]
    return next(iter(difflib.get_close_matches(name, known, n=1)), "")


def matching(start: str, own: Sequence[Command] = (), lacks: frozenset[str] = frozenset()) -> list[Command]:
    """The commands whose name or alias begins with that: first the one that it names, last those by an alias alone."""
    found = [
        command
        for command in (*COMMANDS, *own)
        if command.name not in lacks
        and any(name.startswith(start) for name in (command.name, *command.aliases))
    ]
    return sorted(
        found,
        key=lambda command: (
            start not in (command.name, *command.aliases),
            not command.name.startswith(start),
        ),
    )


def run(host: Host, line: str) -> Answer | None:
    """A line that begins with a slash. An unknown command is answered with the nearest one."""
    name, _, rest = line[1:].partition(" ")
    command = find(name, own_of(host))
    if command is not None and command.name in host.lacks:
        if command.name in AWAY and host.sources.elsewhere:
            return away(host, f"/{command.name}")
        return Note(f"/{command.name} is about a screen, and there is none here.", "warning")
    if command is None:
        near = nearest(name, host.lacks)
        hint = f"Did you mean /{near}?" if near else "/help lists them."
        if host.sources.elsewhere:
            hint += " Skills and commands of your own are there where the session runs, not here."
        return Note(f"There is no command /{name}. {hint}", "error")
    return command.run(host, rest.strip())


def _help(host: Host, _rest: str) -> Answer:
    """The commands last: a slash alone lists them, too."""
    parts = (("Beginnings", host.guide.beginnings), ("Keys", host.guide.usual()))
    rows = [row for title, told in parts if told for row in ((title, ""), *told, ("", ""))]
    rows.append(("Commands", ""))
    for command in (*COMMANDS, *own_of(host)):
        if command.name in host.lacks:
            continue
        names = ", ".join(f"/{name}" for name in (command.name, *command.aliases))
        now = command.now(host) if command.now else ""
        rows.append((f"{names} {command.arguments}".rstrip(), f"{command.description}{now}"))
    return Table("", rows)


def _keys(host: Host, _rest: str) -> Answer:
    return Table(host.guide.title, host.guide.all())


COMMANDS: tuple[Command, ...] = (
    Command("help", "commands and keys", _help, ("?",)),
    Command("keys", "all actions, their names and keys", _keys),
    *model.COMMANDS,
    *permissions.COMMANDS,
    *work.COMMANDS,
    *plan.COMMANDS,
    *tools.COMMANDS,
    *agents.COMMANDS,
    *servers.COMMANDS,
    *skills.COMMANDS,
    *sessions.COMMANDS,
    *rewind.COMMANDS,
    *project.COMMANDS,
    *health.COMMANDS,
    *context.COMMANDS,
    *figures.COMMANDS,
    *guardrail.COMMANDS,
    *colours.COMMANDS,
    *screen.COMMANDS,
)

AWAY = frozenset(
    command.name for command in (*project.COMMANDS, *sessions.COMMANDS, *servers.COMMANDS, *skills.COMMANDS)
) - {"review", "init"} | {"btw", "doctor"}
"""What needs the files or the sessions of the machine on which the session runs."""

NAMES = frozenset(name for command in COMMANDS for name in (command.name, *command.aliases))
