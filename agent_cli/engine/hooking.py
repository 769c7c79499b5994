"""Where a session asks the operator's hooks, and what it does with what they say. Imported only where there are some.

Whatever a hook changes is a note in the log. Its text reaches the model behind everything that was sent before.
"""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import Any

from agent_cli.engine import endings
from agent_cli.engine.core import Core
from agent_cli.engine.endings import Ending, Stopped
from agent_cli.engine.rewinding import size_before
from agent_cli.hooks.hook import HookEvent
from agent_cli.hooks.port import Hooks
from agent_cli.hooks.said import Heard, told
from agent_cli.kernel import events as ev
from agent_cli.kernel import wire
from agent_cli.kernel.errors import AgentError, StoreError
from agent_cli.kernel.messages import Text, ToolCall, text_of

MOST_TURNS = 3
"""Times that a hook may have one turn go on."""
SLOW = 2.0
"""Seconds after which it is told that a hook is waited for."""
SHOWN = 200
"""Characters of a hook's text in a note for the operator."""


# ── the session and its messages ──


async def begin(core: Core) -> None:
    """At the start of a turn: the session's first one in this process, and the message. Raises Stopped where one blocks."""
    hooks = core.parts.hooks
    if hooks is None or core.above is not None:
        return
    join(core)
    if core.hooked.heard is None:  # what was said before this process is past
        now = (each.seq for each in core.state.spoken if each.turn == core.hub.turn)
        core.hooked.heard = min(now, default=core.hub.seq) - 1
    if not core.hooked.began:
        earlier = core.hub.turn > 1
        heard = await ask(core, "session-start", {"source": "resume" if earlier else "new"})
        if heard.blocked is not None:
            raise Stopped(_refused(heard, "the session"))
        core.hooked.began = True
    if hooks.wants("prompt-submit"):
        await _submitted(core)
    join(core)


async def _submitted(core: Core) -> None:
    """What the operator said and no hook has heard, also in a turn that was interrupted meanwhile. A message that is blocked
    is taken back, with what came behind it.
    """
    before = core.hooked.heard or 0
    for seq in [each.seq for each in core.state.spoken if each.seq > before]:
        (entry,) = core.trunk.past(seq - 1, seq)
        said = entry.event
        if isinstance(said, ev.OperatorMessage) and said.queued not in core.hooked.passed:
            heard = await ask(core, "prompt-submit", {"prompt": text_of(said.content)})
        else:
            heard = Heard()
        core.hooked.heard = seq
        if heard.blocked is not None:
            core.record(ev.Rewound(seq, conversation=True, tokens_after=size_before(core, seq)))
            raise Stopped(_refused(heard, "the message"))


def _refused(heard: Heard, what: str) -> Ending:
    return endings.guarded(f"the hook '{heard.by}' does not let {what} through: {heard.blocked}")


async def steered(core: Core) -> None:
    """Messages that were typed while the turn ran, before the model gets them: one that is blocked is taken back."""
    hooks = core.parts.hooks
    if hooks is None or core.above is not None or not hooks.wants("prompt-submit"):
        return
    while unheard := [
        (seq, say)
        for seq, say in core.state.waiting.items()
        if say.when == "steer" and seq not in core.hooked.passed
    ]:
        seq, say = unheard[0]
        core.hooked.passed.add(seq)
        heard = await ask(core, "prompt-submit", {"prompt": text_of(say.content)})
        if heard.blocked is not None and seq in core.state.waiting:
            core.record(ev.MessageWithdrawn(seq))
            text = f"the hook '{heard.by}' did not let your message through: {heard.blocked}"
            core.record(ev.OperatorNote(text, "error"))


async def goes_on(core: Core, answer: str, before: int) -> bool:
    """Whether a hook has the turn go on where its answer would end it; `before` is how often one had already."""
    hooks = core.parts.hooks
    if hooks is None or core.above is not None or not hooks.wants("turn-end"):
        return False
    facts = {"outcome": "completed", "answer": answer, "continued": before}
    heard = await ask(core, "turn-end", facts)
    join(core)
    if heard.blocked is None:
        core.hooked.answered = True
        return False
    if before >= MOST_TURNS:
        text = f"the hook '{heard.by}' had the turn go on {MOST_TURNS} times; it ends now all the same"
        core.record(ev.OperatorNote(text, "warning"))
        core.hooked.answered = True
        return False
    note(core, f"the hook '{heard.by}' has the turn go on: {heard.blocked}")
    tell(core, "turn-end", heard.by, heard.blocked or "")
    join(core)
    return True


async def over(core: Core, ending: Ending) -> None:
    """The turn ended otherwise than with an answer that hooks have seen. Interrupts are the operator's: nothing is asked."""
    asked, core.hooked.answered = core.hooked.answered, False
    if core.above is not None or asked or ending.outcome == "interrupted":
        return
    problem = ending.message if isinstance(ending, ev.TurnError) else ""
    try:
        await ask(core, "turn-end", {"outcome": ending.outcome, "answer": "", "problem": problem})
    except asyncio.CancelledError:
        return  # the turn has its ending


async def compacting(core: Core, trigger: str, focus: str) -> str:
    """What a summary is to dwell on. Raises AgentError where a hook blocks it."""
    join(core)
    heard = await ask(core, "pre-compact", {"trigger": trigger, "focus": focus})
    if heard.blocked is not None:
        raise AgentError(f"{trigger}: the hook '{heard.by}' does not let it happen: {heard.blocked}")
    words, core.hooked.words = core.hooked.words, []
    return "\n".join(filter(None, (focus, *words)))


async def close(core: Core, reason: str) -> None:
    hooks = core.parts.hooks
    if hooks is not None:
        if core.state.started and core.trunk.failure is None:
            await ask(core, "session-end", {"reason": reason})
        await hooks.close()


# ── calls ──


async def returned(core: Core, call: ToolCall, args: Any, output: ev.Output) -> None:
    """After a call that ran with those arguments."""
    hooks = core.parts.hooks
    if hooks is None or not hooks.wants("post-tool", call.name):
        return
    result = {"ok": output.ok, "text": ev.as_text(output), "changed": list(output.changed or ())}
    facts = {**of(call), "arguments": wire.encode(args), "result": result}
    heard = await ask(core, "post-tool", facts, call.name)
    if heard.blocked is not None:
        note(core, f"the hook '{heard.by}' objects to what {call.name} did: {heard.blocked}")
        tell(core, "post-tool", heard.by, f"About the call {call.call_id} ({call.name}): {heard.blocked}")


# ── what every one of them shares ──


def join(core: Core) -> None:
    """What hooks had for the model since the last time."""
    words, core.hooked.words = core.hooked.words, []
    if words:
        core.record(ev.OperatorMessage((Text("\n\n".join(words)),), by="product"))


async def ask(core: Core, event: HookEvent, facts: dict[str, Any], tool: str = "") -> Heard:
    hooks: Hooks | None = core.parts.hooks
    if hooks is None or not hooks.wants(event, tool):
        return Heard()
    state = core.root.state
    cwd = core.parts.started.cwd
    here = {
        "cwd": cwd,
        "turn": core.hub.turn,
        "mode": state.mode,
        "model": core.model.card.id,
        "agent": core.name,
    }
    slow = asyncio.create_task(_tell_slow(core, event))
    try:
        heard = await hooks.run(event, {**here, **facts}, tool)
    finally:
        slow.cancel()
    for failure in heard.failures:
        core.record(ev.OperatorNote(failure, "warning"))
    for name, text in heard.contexts:
        note(core, f"the hook '{name}' tells the model: {text}", "info")
        tell(core, event, name, text)
    return heard


async def _tell_slow(core: Core, event: HookEvent) -> None:
    """Once a session for each event: nobody shall wonder what is waited for."""
    await core.parts.clock.sleep(SLOW)
    once = f"hook {event}"
    if once not in core.root.told:
        core.root.told.add(once)
        with suppress(StoreError):  # told by the hub
            note(core, f"a hook of {event} takes its time; an interrupt stops it", "info")


def of(call: ToolCall) -> dict[str, Any]:
    return {"tool": call.name, "call_id": call.call_id, "arguments": call.arguments}


def tell(core: Core, event: HookEvent, name: str, text: str) -> None:
    core.hooked.words.append(told(event, name, text))


def note(core: Core, text: str, level: Any = "warning") -> None:
    line = " ".join(text.split())
    core.record(ev.OperatorNote(line if len(line) <= SHOWN else f"{line[: SHOWN - 1]}…", level))
