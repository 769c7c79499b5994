"""The agents that tasks are handed to: who there is, what each does, and how one is stopped."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from agent_cli.engine.branches import SubtaskRow
from agent_cli.kernel import events as ev
from agent_cli.kernel.agents import AgentDefinition
from agent_cli.kernel.commands import StopAgent
from agent_cli.kernel.messages import text_of
from agent_cli.talk.amounts import dollars
from agent_cli.talk.answers import Answer, Note, Table
from agent_cli.talk.commands.command import Command, Host, not_yet
from agent_cli.talk.door import Door

LATEST = 20
"""Agents that are listed of those that have ended."""
SHOWN = 300
"""Characters of one result in what an agent did."""
NONE = (
    "No agents are known here: none is defined in .agents/agents and agents.enabled is not true, or the session runs "
    "elsewhere and has started none."
)


def _agents(host: Host, rest: str) -> Answer | None:
    session = host.session
    if session is None:
        return not_yet()
    if not rest:
        return _listed(session)
    word, _, name = rest.partition(" ")
    wanted = name.strip() if word == "stop" else rest.strip()
    row = next((row for row in _rows(session) if row.label == wanted), None)
    kinds: tuple[AgentDefinition, ...] = () if word == "stop" else tuple(session.subtasks.agents)
    kind = next((each for each in kinds if each.name == wanted), None)
    if row is None and kind is not None:
        return _kind(session, kind)
    if row is None:
        labels = [*(each.name for each in kinds), *(each.label for each in _rows(session))]
        known = ", ".join(labels) or "none was started yet"
        return Note(f"There is no agent '{wanted}' here: {known}.", "error")
    if word != "stop":
        host.stage.later(f"reads what {row.label} did", lambda: _done_by(session, row))
        return None
    if row.outcome or not row.background:
        why = "it has ended" if row.outcome else "the turn waits for it; Esc stops both"
        return Note(f"{row.label} is not stopped: {why}.", "warning")
    host.order(StopAgent(row.label))
    return None


def _rows(session: Door) -> list[SubtaskRow]:
    """The running ones first, then the latest."""
    rows = [row for row in session.state.subtasks.values() if row.agent]
    return sorted(rows, key=lambda row: (bool(row.outcome), -row.seq))


def _listed(session: Door) -> Answer:
    started = _rows(session)
    if not session.subtasks.agents and not started:
        return Note(NONE, "warning")
    rows = [(each.name, _described(each)) for each in session.subtasks.agents]
    return Table("Agents", [*rows, *_started(started)])


def _started(started: list[SubtaskRow]) -> list[tuple[str, str]]:
    if not started:
        return []
    rows = [(row.label, standing(row)) for row in started[:LATEST]]
    return [
        ("", ""),
        ("Started", ""),
        *rows,
        ("", "/agents NAME shows what one did, /agents stop NAME ends it"),
    ]


def _kind(session: Door, agent: AgentDefinition) -> Answer:
    """One definition, and what was started by it."""
    started = [row for row in _rows(session) if row.agent == agent.name]
    rows = [(agent.name, _described(agent)), *_started(started)]
    return Table("Agent", rows if started else [*rows, ("", "none was started yet")])


def _described(agent: AgentDefinition) -> str:
    facts = [
        agent.model or "the session's model",
        ", ".join(agent.tools) if agent.tools else "all tools",
        f"at most {agent.mode}" if agent.mode != "yolo" else "",
        "in a worktree" if agent.isolation == "worktree" else "",
        agent.source or "built in",
    ]
    return "\n".join((agent.description, " · ".join(fact for fact in facts if fact)))


def standing(row: SubtaskRow) -> str:
    """How far one is."""
    state = row.outcome or ("in the background" if row.background else "at work")
    spent = "unpriced" if row.unpriced else dollars(row.cost)
    facts = (
        state,
        row.model,
        f"{row.steps} step{'s' * (row.steps != 1)}",
        f"{row.calls} call{'s' * (row.calls != 1)}",
        spent if row.steps else "",
        row.doing,
    )
    return " · ".join(fact for fact in facts if fact)


def _done_by(session: Door, row: SubtaskRow) -> Answer:
    """Everything that it said and called, as far as it is now."""
    entries = session.past(row.seq - 1, session.state.seq)
    lines = [f"{row.label}: {standing(row)}", f"task: {row.task}"]
    lines += [f"in {row.place}"] if row.place else []
    lines += _told(entry.event for entry in entries if entry.branch == row.branch)
    lines += ["", row.digest] if row.digest else []
    return Note("\n".join(lines))


def _told(events: Iterable[ev.Recorded]) -> Iterator[str]:
    for event in events:
        match event:
            case ev.AssistantMessage(parts) if said := text_of(parts).strip():
                yield f"\n{said}"
            case ev.ToolCallStarted(_, tool, subject):
                yield f"→ {tool} {subject}"
            case ev.ToolReturned(tool=tool, output=output):
                told = " ".join(ev.as_text(output).split())
                yield f"  {'✓' if output.ok else '✗'} {tool}: {told[:SHOWN]}{'…' * (len(told) > SHOWN)}"
            case ev.TurnError(message=message):
                yield f"\n{message}"
            case _:
                pass  # decided: the rest is how it was done


COMMANDS: tuple[Command, ...] = (
    Command(
        "agents",
        "agents that tasks are handed to; what one did; stop one",
        _agents,
        arguments="[NAME | stop NAME]",
    ),
)
