"""What guards a session, for people: what is armed, what tripped, what halts it, and how to clear that."""

from __future__ import annotations

from agent_cli.engine.state import State
from agent_cli.guardrails import telling
from agent_cli.guardrails.halts import Halt
from agent_cli.kernel.guarded import GuardrailTrip
from agent_cli.kernel.limits import Limits
from agent_cli.kernel.values import Plain


class Ceiling(Plain, frozen=True):
    """`used` and `limit` in its own unit: count, tokens, seconds or USD; no `limit` means none."""

    guardrail: str
    per: str
    used: float
    limit: float | None


class Halted(Plain, frozen=True):
    """`least_usd` is what a reset has to add at least, 0 where a bare one is enough; `reset` are the words for it."""

    guardrail: str
    reason: str
    least_usd: float
    reset: str


class Standing(Plain, frozen=True):
    """`watchdog` is its mode, "" where nobody knows it. `dear_turns` and `cut_turns` are turns in a row up to now."""

    session: str
    watchdog: str
    ceilings: tuple[Ceiling, ...]
    added_usd: float
    dear_turns: int
    cut_turns: int
    cut_by: str
    halts: tuple[Halted, ...]
    trips: tuple[GuardrailTrip, ...]


def standing(state: State, watchdog: str, killed: Halt | None = None) -> Standing:
    """`killed` is a kill switch that stops the session."""
    halts = state.halts
    found = halts.standing(state.total.cost, state.limits, enforced=watchdog == "enforce")
    found = found if killed is None else (killed, *found)
    return Standing(
        state.session,
        watchdog,
        _ceilings(state, halts.limits(state.limits)),
        halts.added_usd,
        halts.dear_turns,
        halts.cuts,
        halts.cut_by,
        tuple(
            Halted(
                halt.guardrail,
                halt.reason,
                halt.least_usd,
                halt.how or telling.how_to_reset(halt.guardrail, state.session, halt.least_usd),
            )
            for halt in found
        ),
        tuple(halts.trips),
    )


def _ceilings(state: State, limits: Limits) -> tuple[Ceiling, ...]:
    return (
        Ceiling("step_ceiling", "turn", state.turn_steps, limits.max_steps),
        Ceiling(
            "tool_call_ceiling", "turn", state.turn_calls + state.turn_calls_below, limits.max_tool_calls
        ),
        Ceiling("token_ceiling", "turn", state.turn_row.usage.total, limits.max_tokens),
        Ceiling("duration_ceiling", "turn", 0.0, limits.max_duration),
        Ceiling("cost_ceiling", "turn", state.turn_row.cost, limits.max_turn_cost),
        Ceiling("cost_ceiling", "session", state.total.cost, limits.max_session_cost),
    )


def lines(standing: Standing) -> list[tuple[str, str]]:
    """As rows of a name and a text."""
    rows = [("halted", "; ".join(f"{halt.guardrail}: {halt.reason}" for halt in standing.halts) or "no")]
    rows += [("to go on", halt.reset) for halt in standing.halts]
    armed = [_armed(ceiling) for ceiling in standing.ceilings if ceiling.limit]
    rows.append(
        ("armed", "\n".join([*([f"watchdog {standing.watchdog}"] if standing.watchdog else []), *armed]))
    )
    if standing.added_usd:
        rows.append(("granted", f"${standing.added_usd:.2f} over the session's ceiling"))
    if standing.dear_turns or standing.cut_turns:
        counts = [f"{standing.dear_turns} by the per-turn cost ceiling"] * bool(standing.dear_turns)
        counts += [f"{standing.cut_turns} by {standing.cut_by}"] * bool(standing.cut_turns)
        rows.append(("in a row", f"turns stopped: {', '.join(counts)}"))
    rows += [
        (
            trip.guardrail,
            f"{trip.severity}, {'halts' if trip.scope == 'session' else 'ends'} the {trip.scope}: {trip.reason}",
        )
        for trip in standing.trips[-20:]
    ]
    return rows


def _armed(ceiling: Ceiling) -> str:
    unit = "$" if ceiling.guardrail == "cost_ceiling" else ""
    digits = ".4f" if unit else ",.6g"
    limit = format(ceiling.limit or 0.0, digits)
    if ceiling.guardrail == "duration_ceiling":
        return f"{ceiling.guardrail}: {limit} s a turn"
    return f"{ceiling.guardrail}: {unit}{format(ceiling.used, digits)} of {unit}{limit} a {ceiling.per}"
