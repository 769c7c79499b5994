"""Calls that fail whatever the operator answers: he is not asked about them."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Sequence

from msgspec.structs import replace

from agent_cli.around import Foreseeing
from agent_cli.engine import calls
from agent_cli.engine.calls import Ready
from agent_cli.engine.core import Core
from agent_cli.ports import Proposal

log = logging.getLogger("agent_cli.engine")
UNASKED = "Nobody was asked to allow this call, since it cannot succeed. "


def failing(core: Core, ready: Sequence[Ready]) -> Iterator[tuple[Ready, str]]:
    """With what the model is told.

    Only as long as nothing before it in the batch changes anything, which could let it succeed; and only where the model
    may read what the call would change, since the reason tells of that.
    """
    for each in ready:
        if (
            each.ruling.verdict == "ask"
            and isinstance(each.tool, Foreseeing)
            and _may_read(core, each)
            and (why := _foreseen(each.tool, each))
        ):
            yield each, UNASKED + why
        elif not each.tool.read_only:
            return


def _may_read(core: Core, ready: Ready) -> bool:
    touches = ready.proposal.touches
    reads = tuple(replace(use, access="r") for use in touches.paths)
    there = replace(touches, effect="read", paths=reads, deletes=None)
    return bool(reads) and calls.judge(core, Proposal("read_file", True, there)).verdict == "allow"


def _foreseen(tool: Foreseeing, ready: Ready) -> str:
    """A tool that breaks here foresees nothing: it says so itself when it is run."""
    try:
        return tool.foreseen(ready.args)
    except Exception:
        log.exception("the tool %s broke when it was asked whether it can succeed", ready.call.name)
        return ""
