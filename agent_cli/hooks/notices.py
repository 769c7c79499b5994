"""What an operator who looks elsewhere is told of."""

from __future__ import annotations

from typing import Any

from agent_cli.kernel import events as ev


def about(event: ev.Recorded, *, inner: bool) -> dict[str, Any] | None:
    """The facts of a notification: somebody is waited for, or a turn is over. `inner` says that it is of a subtask."""
    match event:
        case ev.ApprovalRequested():
            return {"about": "approval", "tool": event.tool, "message": f"{event.tool}: {event.subject}"}
        case ev.GuardrailTrip() if event.scope == "session":
            return {"about": "halted", "message": event.reason}
        case ev.TurnCompleted() if not inner:
            return {"about": "turn-end", "message": f"the turn ended: {event.outcome}"}
        case ev.TurnError() if not inner:
            return {"about": "turn-end", "message": f"the turn ended: {event.message}"}
        case _:
            return None
