"""What is piped into a one-shot run. It is read to its end, bounded, and never mistaken for text."""

from __future__ import annotations

import codecs
import os
import select
import stat
from collections.abc import Callable

from agent_cli.cli.values import UsageError

MOST_BYTES = 10_000_000
PATIENCE = 3.0
"""Seconds of silence on stdin after which something is said about it."""
WAITING = "waiting for the end of stdin; if nothing is to come, start with </dev/null"
SKIPPED = f"nothing came on stdin in {PATIENCE:g} s: going on with the prompt alone"
MENDED = "stdin is not all UTF-8: what is not was replaced by \ufffd"


def read_piped(note: Callable[[str], None], *, prompt_given: bool, descriptor: int = 0) -> str:
    """The text on stdin, "" where a terminal or nothing is. `note` takes lines for the operator.

    A pipe is waited for, whatever it takes: it is the work of the program before us. A socket is what a
    supervisor leaves open and may never close: it is given up when nothing comes and there is a prompt.
    Raises UsageError where there is too much, or no text.
    """
    try:
        mode = os.fstat(descriptor).st_mode
    except OSError:
        return ""
    if os.isatty(descriptor) or not _comes(descriptor, mode, note, prompt_given=prompt_given):
        return ""
    return _decode(_read(descriptor), note)


def _comes(descriptor: int, mode: int, note: Callable[[str], None], *, prompt_given: bool) -> bool:
    if not hasattr(select, "poll"):
        return True
    waited = select.poll()
    waited.register(descriptor, select.POLLIN)
    if waited.poll(PATIENCE * 1000):
        return True
    if stat.S_ISSOCK(mode) and prompt_given:
        note(SKIPPED)
        return False
    note(WAITING)
    return True


def _read(descriptor: int) -> bytes:
    held = bytearray()
    try:
        while chunk := os.read(descriptor, 1 << 20):
            held += chunk
            if len(held) > MOST_BYTES:
                raise UsageError(
                    f"stdin is larger than {MOST_BYTES:,} bytes, more than any model reads. "
                    "Put it in a file and name the file in the prompt."
                )
    except OSError as problem:
        raise UsageError(f"stdin cannot be read: {problem.strerror}.") from None
    return bytes(held)


def _decode(held: bytes, note: Callable[[str], None]) -> str:
    held = held.removeprefix(codecs.BOM_UTF8)
    if b"\0" in held:
        raise UsageError("stdin is binary, not UTF-8 text. Put it in a file and name the file in the prompt.")
    try:
        return held.decode("utf-8")
    except UnicodeDecodeError:
        note(MENDED)
        return held.decode("utf-8", "replace")
