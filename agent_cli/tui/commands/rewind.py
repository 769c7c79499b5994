"""Going back to an earlier message."""

from __future__ import annotations

import time

from agent_cli.kernel.commands import Rewind
from agent_cli.kernel.rewinding import RewindWhat
from agent_cli.tui.blocks.item import Item
from agent_cli.tui.blocks.notice import Notice
from agent_cli.tui.blocks.report import Report
from agent_cli.tui.commands.command import Command, Host, not_yet, ordered

WHAT: dict[str, RewindWhat] = {"": "both", "both": "both", "conversation": "conversation", "files": "files"}


def _rewind(host: Host, rest: str) -> Item | None:
    """Without a number, the messages with their numbers."""
    if host.session is None:
        return not_yet()
    spoken = host.session.state.spoken
    number, _, what = rest.partition(" ")
    if not number:
        rows = [
            (str(at), f"{time.strftime('%H:%M', time.localtime(said.time))}  {said.text}")
            for at, said in enumerate(spoken, 1)
        ]
        title = "/rewind N goes back to before a message: /rewind N conversation, or files, for one of both"
        return Report(title, rows or [("", "nothing was said yet")])
    if not number.isdecimal() or not 0 < int(number) <= len(spoken) or what.strip() not in WHAT:
        return Notice("/rewind N [both|conversation|files]; /rewind lists the messages.", "error")
    return ordered(host, Rewind(spoken[int(number) - 1].seq, WHAT[what.strip()]))


COMMANDS: tuple[Command, ...] = (
    Command(
        "rewind",
        "back to an earlier message: the conversation, the files, or both",
        _rewind,
        arguments="[N [both|conversation|files]]",
    ),
)
