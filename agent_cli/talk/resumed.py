"""What a session that goes on has brought along, in one line."""

from __future__ import annotations

from agent_cli.engine.state import State
from agent_cli.kernel import events as ev
from agent_cli.kernel.outcomes import OUTCOME_UNKNOWN
from agent_cli.talk.amounts import counted
from agent_cli.talk.door import Door
from agent_cli.talk.untrusted import clean_line


def restored(state: State, halted: str) -> str:
    """Model, mode, and what else is in force from before."""
    facts = [state.card.id, f"{state.mode} mode", _many(len(state.grants), "grant")]
    if state.queued:
        facts.append(f"{_many(len(state.queued), 'message')} waiting")
    facts.append("halted by a guardrail" if halted else "no guardrail halt")
    if state.halts.added_usd:
        facts.append(f"${state.halts.added_usd:g} added to the cost ceiling")
    if state.plan:
        facts.append("a plan in force")
    if state.todo:
        facts.append(f"to do: {counted(state.todo)}")
    where = f"at turn {state.turn}" if state.turn else "before its first turn"
    return f"resumed {where}: {', '.join(facts)}"


def unsettled(session: Door) -> list[str]:
    """A line for each call of its last turn that had started and came to no result. Raises StoreError."""
    state = session.state
    if not isinstance(state.ending, ev.TurnError):
        return []
    begun: dict[str, str] = {}
    for entry in session.past(state.turn_began - 1, state.seq):
        match entry.event:
            case ev.ToolCallStarted(call_id, tool, subject) if not entry.branch:
                begun[call_id] = clean_line(f"{tool} {subject}")
            case ev.ToolReturned(call_id):
                begun.pop(call_id, None)
            case _:
                pass
    return [f"{call}: {OUTCOME_UNKNOWN}" for call in begun.values()]


def moved(state: State) -> str:
    """That it was begun in another directory, "" where it was not."""
    if state.begun_in in ("", state.cwd):
        return ""
    return f"this session was begun in {clean_line(state.begun_in)}; it goes on in {clean_line(state.cwd)}"


def _many(count: int, what: str) -> str:
    return f"no {what}s" if not count else f"{count} {what}{'s' * (count != 1)}"
