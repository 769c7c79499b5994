"""The conversation line by line, with what it needs from the other rooms."""

from __future__ import annotations

import asyncio
import os
import sys

from msgspec.structs import replace

from agent_cli.compose.known import Known, lasting, log_to_file, welcome
from agent_cli.compose.options import RunOptions
from agent_cli.compose.session import open_session
from agent_cli.compose.trust import ask
from agent_cli.kernel.errors import ModelGone
from agent_cli.repl.asker import Asker, Plain, Terminal
from agent_cli.repl.conversation import Conversation
from agent_cli.repl.guide import lacks
from agent_cli.talk.commands import book
from agent_cli.talk.history import History


def run(options: RunOptions, first_message: str | None) -> int:
    """Returns the exit code. Raises ConfigError and StoreError where no session can be opened."""
    terminal = os.isatty(0) and os.isatty(1)
    answered = ask(options) if terminal else options
    if answered is None:
        return 0
    log_to_file(answered)
    return asyncio.run(_converse(lasting(answered), first_message or "", terminal=terminal))


async def _converse(options: RunOptions, first: str, *, terminal: bool) -> int:
    known = Known(options)
    known.listen()
    loaded = known.read()
    seen = welcome(options)
    history = History(seen.history)
    conversation = Conversation(seen, known.sources(), asker_of(history, terminal=terminal), write)
    if first and terminal:
        history.add(first)
    if options.resume == "":
        options = replace(options, resume=(await conversation.choose()).resume or None)
    try:
        session = open_session(options, loaded).session
    except ModelGone as problem:
        name = await conversation.another_model(problem)
        options = replace(options, flags={**options.flags, "model.name": name})
        session = open_session(options).session
    known.use(loaded.settings, session)
    code = await conversation.run(session, first)
    if conversation.last:
        sys.stderr.write(f"To go on with this session: {seen.resume.format(session=conversation.last)}\n")
    return code


def asker_of(history: History, *, terminal: bool) -> Asker:
    def names(start: str) -> list[str]:
        return [command.name for command in book.matching(start, lacks=lacks(screen=True))]

    if terminal and os.environ.get("TERM", "") not in ("", "dumb"):
        return Terminal(history, names)
    return Plain(write, echoed=terminal)


def write(text: str) -> None:
    """A terminal that cannot show a character gets a question mark; one that is gone gets nothing."""
    encoding = sys.stdout.encoding or "utf-8"
    try:
        sys.stdout.write(text.encode(encoding, "replace").decode(encoding))
        sys.stdout.flush()
    except OSError:
        pass
