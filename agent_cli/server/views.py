"""What is told of a session, as JSON values."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from msgspec.structs import replace

from agent_cli.engine.standing import Standing, standing
from agent_cli.engine.state import ModelRow, State
from agent_cli.guardrails.halts import Halt
from agent_cli.guardrails.kill_switch import NAME as KILL_SWITCH
from agent_cli.kernel.messages import ToolSpec, text_of
from agent_cli.kernel.records import whole
from agent_cli.server.door import Known, Looked
from agent_cli.server.hosted import Hosted


def listed(known: Known, hosted: Hosted | None) -> dict[str, Any]:
    """`open` says that it is open here; then `running`, `halted`, `waiting` and `approvals` say how it stands."""
    now: dict[str, Any] = {"open": False, "running": None, "halted": None, "waiting": None, "approvals": None}
    if hosted is not None:
        state = hosted.door.state
        now = {
            "open": True,
            "running": state.running,
            "halted": bool(hosted.door.halts()),
            "waiting": len(state.waiting),
            "approvals": len(state.pending),
        }
    return {**whole(known), **now}


def opened(known: Known, hosted: Hosted) -> dict[str, Any]:
    halt = halt_of(hosted.door.halts(), known.id)
    return {**listed(known, hosted), "held_by": "this server", **_detail(hosted.door.state), "halt": halt}


def closed(known: Known, looked: Looked) -> dict[str, Any]:
    """Of a session that is not open here, as its log says."""
    state, halts = looked.state, looked.standing.halts
    now = {
        "running": state.running and bool(looked.holder),
        "halted": bool(halts),
        "waiting": len(state.waiting),
        "approvals": len(state.pending) if looked.holder else 0,
    }
    told = tuple(
        Halt(halt.guardrail, halt.reason, halt.least_usd, _how(halt.guardrail, halt.reset)) for halt in halts
    )
    detail = _detail(state)
    if not looked.holder:
        detail |= {"pending_approvals": [], "agents": []}
    return {**listed(known, None), **now, "held_by": looked.holder, **detail, "halt": halt_of(told, known.id)}


def _how(guardrail: str, reset: str) -> str:
    return reset if guardrail == KILL_SWITCH else ""


def _detail(state: State) -> dict[str, Any]:
    ending = state.ending
    return {
        "seq": state.seq,
        "turn": state.turn,
        "step": state.step,
        "mode": state.mode,
        **({"model": f"{state.card.provider}/{state.card.id}"} if state.card.id else {}),
        "answer": state.answer,
        "ending": None if ending is None else whole(ending),
        "messages_waiting": [{"seq": seq, "message": text_of(say.content), "when": say.when} for seq, say in _order(state)],
        "pending_approvals": [whole(asked) for asked in state.pending.values()],
        "agents": [
            {"agent": row.label, "model": row.model, "task": row.task, "doing": row.doing, "cost_usd": round(row.cost, 9)}
            for row in state.subtasks.values() if not row.outcome
        ],
        "cost_usd": _cost(state.total),
    }  # fmt: skip


def _order(state: State) -> list[tuple[int, Any]]:
    """As they go out."""
    return sorted(state.waiting.items(), key=lambda item: item[1].when != "steer")


def halt_of(halts: Sequence[Halt], session: str) -> dict[str, Any] | None:
    """What refuses turns, None for nothing: the first guardrail, and `others` beside it."""
    told = [
        {
            "guardrail": halt.guardrail,
            "reason": halt.reason,
            "additional_budget_usd": halt.least_usd,
            "reset": halt.how or how_to_reset(session, halt.guardrail, halt.least_usd),
        }
        for halt in halts
    ]
    return None if not told else {**told[0], "others": told[1:]}


def how_to_reset(session: str, guardrail: str, least: float) -> str:
    """Over HTTP: whoever asks here cannot do it on a command line, since the server has the session."""
    added = f', "additional_budget_usd": {least:.2f}' if least else ""
    return f'POST /sessions/{session}/guardrails/reset with {{"guardrail": "{guardrail}"{added}}}'


def guardrails_of(hosted: Hosted) -> dict[str, Any]:
    killed = next((halt for halt in hosted.door.halts() if halt.guardrail == KILL_SWITCH), None)
    return guardrails(standing(hosted.door.state, hosted.watchdog, killed), hosted.door.state)


def guardrails(stands: Standing, state: State) -> dict[str, Any]:
    """`additional_budget_usd` is the least that a reset of everything has to add, 0 where a bare one is enough."""
    least = max((halt.least_usd for halt in stands.halts), default=0.0)
    told = [
        halt
        if halt.guardrail == KILL_SWITCH
        else replace(halt, reset=how_to_reset(stands.session, halt.guardrail, halt.least_usd))
        for halt in stands.halts
    ]
    return {
        **whole(replace(stands, halts=tuple(told))),
        "halted": bool(stands.halts),
        "additional_budget_usd": least,
        "waiting": len(state.waiting),
    }


def usage(state: State) -> dict[str, Any]:
    return {
        "session": state.session,
        "total": _row(state.total),
        "turn": _row(state.turn_row),
        "models": [_row(row) for row in state.models.values()],
        "tool_calls": state.calls,
        "context": {
            "tokens": state.context_tokens,
            "estimated": state.context_estimated,
            "limit": state.context_limit,
            "window": state.card.window,
        },
    }


def _row(row: ModelRow) -> dict[str, Any]:
    return {
        **({"model": row.model} if row.model else {}),
        "steps": row.steps,
        "requests": row.requests,
        **whole(row.usage),
        "cost_usd": _cost(row),
        "cost_estimated": row.estimated,
        "saved_by_caches_usd": round(row.saved, 9),
    }


def _cost(row: ModelRow) -> float | None:
    """None where a request had no price."""
    return None if row.unpriced else round(row.cost, 9)


def tool(spec: ToolSpec) -> dict[str, Any]:
    return {"name": spec.name, "description": spec.description, "schema": spec.schema}
