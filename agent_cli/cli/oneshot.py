"""`agent-cli -p`: opens a session, says one thing, prints what comes of it."""

from __future__ import annotations

import asyncio
import gc
import logging
from pathlib import Path
from typing import TYPE_CHECKING

from agent_cli.cli.piped import read_piped
from agent_cli.cli.start import Start, run_options
from agent_cli.cli.values import UsageError
from agent_cli.compose import Opened, open_session, prepare
from agent_cli.headless.jsonl import StreamPrinter
from agent_cli.headless.narration import Level
from agent_cli.headless.printer import Printer
from agent_cli.headless.run import printer_of, run_once
from agent_cli.headless.summary import never_began
from agent_cli.kernel.errors import AgentError
from agent_cli.kernel.messages import Block, Text

if TYPE_CHECKING:
    from agent_cli.headless.structured import Shape

log = logging.getLogger("agent_cli.cli")


class InternalError(AgentError):
    """A fault of ours. --verbose shows where."""

    kind = "internal"


def print_once(start: Start) -> int:
    """Returns the exit code; whatever happens, the format that was asked for says what did."""
    ours, handler = logging.getLogger("agent_cli"), _handler(verbose=start.verbose)
    ours.addHandler(handler)
    try:
        return _printed(start)
    finally:
        ours.removeHandler(handler)


def _printed(start: Start) -> int:
    out = printer_of(start.output_format, _level(start))
    try:
        _log(start, out)
        options = run_options(start)
        shape = _shape(start.json_schema)
        loaded = prepare(options)
        shape = shape or (None if start.driven else _shape(loaded.settings.session.answer_schema))
        asks = loaded.settings.tools.ask == "stdin" and not start.driven
        content = _prompt(start) if asks else _first(start) if start.driven else _content(start, out)
        opened = open_session(options, loaded)
    except AgentError as problem:
        return _refuse(problem, out)
    except Exception as problem:
        log.exception("a one-shot run could not be begun")
        return _refuse(InternalError(f"internal error: {type(problem).__name__}: {problem}"), out)
    gc.freeze()
    gc.enable()
    return asyncio.run(_print(opened, content, out, start, shape, asks=asks))


def _handler(*, verbose: bool) -> logging.Handler:
    if not verbose:
        return logging.NullHandler()  # failures are told by the printer
    from agent_cli.compose.discreet import Discreet, untold

    handler = logging.StreamHandler()
    handler.addFilter(untold)
    handler.setLevel(logging.WARNING)
    handler.setFormatter(Discreet())
    return handler


def _refuse(problem: AgentError, out: Printer) -> int:
    result = never_began(problem)
    out.finish(result)
    return result.exit_code


async def _print(
    opened: Opened,
    content: tuple[Block, ...],
    out: Printer,
    start: Start,
    shape: Shape | None,
    *,
    asks: bool,
) -> int:
    if opened.session.state.turn:
        from agent_cli.talk.resumed import moved, restored, unsettled

        out.voice.note(restored(opened.session.state, opened.session.halted))
        for told in (moved(opened.session.state), *unsettled(opened.session)):
            if told:
                out.voice.note(told)
    if start.prompt and "@" in start.prompt:
        content += _named(opened, start.prompt, out)
        content += await _resources(opened, start.prompt, out)
    if start.driven and isinstance(out, StreamPrinter):
        from agent_cli.headless.driven import drive

        return await drive(opened.session, content, out, strict=start.strict)
    return await run_once(opened.session, content, out, strict=start.strict, shape=shape, asks=asks)


def _named(opened: Opened, prompt: str, out: Printer) -> tuple[Block, ...]:
    """The pictures and PDF files that the prompt names with `@`; what is piped in names nothing."""
    from agent_cli.talk.attachments import mentioned

    state = opened.session.state
    files, troubles = mentioned(prompt, state.cwd, state.card)
    for trouble in troubles:
        out.voice.note(trouble)
    return files


async def _resources(opened: Opened, prompt: str, out: Printer) -> tuple[Block, ...]:
    """What servers hold at the addresses that the prompt names."""
    servers = opened.session.servers
    if servers is None:
        return ()
    from agent_cli.talk.commands.served import named_in, read

    found = named_in(prompt, servers)
    try:
        return await read(servers, found)
    except AgentError as problem:
        out.voice.note(str(problem))
        return ()


def _first(start: Start) -> tuple[Block, ...]:
    """What a driven session begins with; stdin is for what follows."""
    return (Text(start.prompt),) if start.prompt and start.prompt.strip() not in ("", "-") else ()


def _prompt(start: Start) -> tuple[Block, ...]:
    """Of a run whose stdin is for answers. Raises UsageError."""
    first = _first(start)
    if not first:
        raise UsageError(
            'There is nothing to say: with --ask stdin, standard input is for your answers. Give a prompt: agent-cli -p "…".'
        )
    return first


def _log(start: Start, out: Printer) -> None:
    """Raises ConfigError where the file cannot be written."""
    if start.log_file is not None:
        from agent_cli.headless.logfile import LogFile

        out.voice.also = LogFile(Path(start.log_file).expanduser()).write


def _shape(file: str | None) -> Shape | None:
    """What the answer has to be. Raises ConfigError."""
    if file is None:
        return None
    from agent_cli.headless.structured import read

    return read(Path(file).expanduser())


def _level(start: Start) -> Level:
    if start.quiet:
        return Level.QUIET
    return Level.VERBOSE if start.verbose else Level.NORMAL


def _content(start: Start, out: Printer) -> tuple[Block, ...]:
    """The prompt, then what is piped. "-" is no prompt of its own."""
    prompt = "" if start.prompt in (None, "-") else start.prompt
    piped = read_piped(out.voice.note, prompt_given=bool(prompt))
    if prompt.strip() and piped and piped.strip():
        return (Text(f"{prompt}\n\n<stdin>\n{piped.rstrip()}\n</stdin>"),)
    text = prompt if prompt.strip() else piped or ""
    if not text.strip():
        raise UsageError('There is nothing to say: give a prompt (agent-cli -p "…"), or pipe one in.')
    return (Text(text),)
