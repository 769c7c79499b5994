"""Results on their way into the conversation: what is done to them before they are cut, kept or recorded."""

from __future__ import annotations

import logging

from agent_cli.engine.cleaning import finding
from agent_cli.engine.core import Core
from agent_cli.guardrails.secrets.scrub import scrubbed
from agent_cli.kernel import events as ev
from agent_cli.kernel.messages import ToolCall

log = logging.getLogger("agent_cli.engine")


def entering(core: Core, call: ToolCall, output: ev.Output) -> ev.Output:
    """The result as the model may read it."""
    if not core.parts.armed.redact:
        return output
    clean, kinds = scrubbed(output)
    told = finding(ev.ToolReturned(call.call_id, call.name, clean), kinds) if kinds else None
    if told is not None:
        core.record(told)
    return clean
