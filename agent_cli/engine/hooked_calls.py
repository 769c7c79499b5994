"""Hooks before a call: what they make of it, and whether it has to be asked about."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import replace

from agent_cli.engine import calls
from agent_cli.engine.calls import Ready, Refused
from agent_cli.engine.core import Core
from agent_cli.engine.hooking import ask, note, of, tell
from agent_cli.hooks.said import Heard
from agent_cli.kernel import wire
from agent_cli.kernel.messages import ToolCall
from agent_cli.ports import Editable, Proposal, Ruling

BLOCKED = "Not run: the hook '{by}' does not let this call through: {reason}"
ARGUMENTS = "It changed the arguments of the call {call_id} ({tool}), which ran with these: {arguments}"


async def before(core: Core, call: ToolCall, *, cut: bool) -> Ready | Refused:
    """A call before it is judged. What a hook makes of its arguments is read and judged as the model's would be."""
    hooks = core.parts.hooks
    if hooks is None or call.arguments is None or call.name not in core.tools():
        return calls.vet(core, call, cut=cut)
    if not hooks.wants("pre-tool", call.name):
        return calls.vet(core, call, cut=cut)
    heard = await ask(core, "pre-tool", of(call), call.name)
    if refusal := _refusal(heard):
        note(core, f"the hook '{heard.by}' blocked {call.name}: {refusal}")
        return Refused(call, calls.failure(BLOCKED.format(by=heard.by, reason=refusal)))
    changed = call
    if heard.arguments is not None and heard.arguments != call.arguments:
        changed = replace(call, arguments=heard.arguments)
        note(core, f"the hook '{heard.changed}' changed the arguments of {call.name}")
        arguments = wire.to_json(heard.arguments)
        text = ARGUMENTS.format(call_id=call.call_id, tool=call.name, arguments=arguments[:2000])
        tell(core, "pre-tool", heard.changed, text)
    return calls.vet(core, changed, cut=cut, ease=_Ease(core, call.name, heard))


def _refusal(heard: Heard) -> str:
    if heard.blocked is not None:
        return heard.blocked
    return (heard.reason or "it gave no reason") if heard.permission == "deny" else ""


class _Ease:
    """The ruling as a hook would have it. What a rule refuses, and what needs a live approval each time, stays as it is."""

    def __init__(self, core: Core, tool: str, heard: Heard) -> None:
        self._core = core
        self._tool = tool
        self._heard = heard

    def __call__(self, proposal: Proposal, ruling: Ruling) -> Ruling:
        core, heard = self._core, self._heard
        rule = f"hook {heard.by}"
        if heard.permission == "ask" and ruling.verdict == "allow":
            reason = heard.reason or f"the hook '{heard.by}' wants it to be asked about"
            if core.parts.facts.attended:
                return Ruling("ask", rule, reason)
            return Ruling("deny", rule, f"{reason}; nobody is here to be asked")
        if heard.permission != "allow" or ruling.verdict == "allow":
            return ruling
        asked = calls.judge(core, proposal, attended=True)
        if asked.verdict != "ask" or asked.once_only or isinstance(core.tools()[self._tool], Editable):
            return ruling
        note(core, f"the hook '{heard.by}' allowed {self._tool}: {proposal.touches.subject}")
        return Ruling("allow", rule, heard.reason)


async def answered(core: Core, ready: Sequence[Ready]) -> list[Ready | Refused]:
    """What hooks say to what the operator would be asked; he is asked about the rest."""
    hooks = core.parts.hooks
    found: list[Ready | Refused] = []
    for each in ready:
        name = each.call.name
        open_to = (
            each.ruling.verdict == "ask" and hooks is not None and hooks.wants("permission-request", name)
        )
        found.append(await _answered(core, each) if open_to else each)
    return found


async def _answered(core: Core, ready: Ready) -> Ready | Refused:
    call, ruling = ready.call, ready.ruling
    facts = {
        **of(call),
        "subject": ready.proposal.touches.subject,
        "reason": ruling.reason,
        "rule": ruling.rule,
    }
    heard = await ask(core, "permission-request", facts, call.name)
    if refusal := _refusal(heard):
        note(core, f"the hook '{heard.by}' refused {call.name}: {refusal}")
        core.tally.give_back(core.hub.turn, call.name)
        return Refused(call, calls.failure(BLOCKED.format(by=heard.by, reason=refusal)))
    if heard.permission != "allow" or ruling.once_only or isinstance(ready.tool, Editable):
        return ready
    note(core, f"the hook '{heard.by}' allowed {call.name}: {ready.proposal.touches.subject}")
    return replace(ready, ruling=Ruling("allow", f"hook {heard.by}", heard.reason))
