"""Where a stop takes hold: what is checked, the trip that tells of it, and the ending that it leads to."""

from __future__ import annotations

from agent_cli.engine import endings, killing, tree
from agent_cli.engine.cleaning import SECRETS
from agent_cli.engine.core import Core
from agent_cli.engine.endings import Stopped
from agent_cli.guardrails import budgets, telling
from agent_cli.guardrails.budgets import Breach
from agent_cli.guardrails.checks.stops import HALTED, POOL_WAY_ON, SECRETS_WAY_ON, WAY_ON, Down, Held
from agent_cli.guardrails.gate import NAME as POOL
from agent_cli.guardrails.halts import IN_A_ROW
from agent_cli.guardrails.kill_switch import Killed
from agent_cli.guardrails.refusals import STORM, Storm
from agent_cli.kernel import events as ev
from agent_cli.ports import Alert

UNAVAILABLE = "unavailable"
WAYS_ON = {POOL: POOL_WAY_ON, SECRETS: SECRETS_WAY_ON}
"""Of what no bypass steps around."""


def check(core: Core) -> None:
    """Money and the watchdog, before each dispatch: never a grace step. Raises Stopped."""
    killing.look(core)
    match tree.take_stop(core) or tree.cost_breach(core):
        case None:
            return
        case Alert() as alert:
            core.cut_off = alert.reason
            raise Stopped(endings.watched(alert.signal, watched(core, alert)))
        case Breach() as breach:
            core.cut_off = breach.reason
            reason = trip(core, breach, halted_turn=True)
            paced = breach.signal == budgets.PACE
            raise Stopped(endings.paced(reason) if paced else endings.exhausted(breach, reason))
        case Killed(_, reason, _, unavailable) as killed:
            core.cut_off = reason
            core.record(killing.trip(killed, core, halted_turn=True))
            raise Stopped(endings.killed(reason, unavailable=unavailable))
        case Storm(reason):
            core.record(ev.GuardrailFinding(STORM, "action", "halt", reason))
            raise Stopped(endings.refused_again(reason))
        case Held() as held:
            core.cut_off = held.reason
            _tell(core, held.check, held.check, held.reason, HALTED)
            raise Stopped(endings.guarded(held.reason))
        case Down() as down:
            core.cut_off = down.reason
            way_on = WAYS_ON.get(down.check, WAY_ON)
            _tell(core, down.check, UNAVAILABLE, down.reason, way_on)
            raise Stopped(endings.unavailable(f"{down.reason}. {way_on}"))


def withheld(core: Core) -> None:
    """An answer did not pass: unlike a ceiling, that is no matter of the next turn. Raises Stopped."""
    if isinstance(tree.stopping(core), Held | Down):
        check(core)


def _tell(core: Core, guardrail: str, signal: str, reason: str, then: str) -> None:
    since, dispatch = tree.stopped_when(core)
    core.record(
        ev.GuardrailTrip(
            guardrail,
            signal,
            "halt",
            "turn",
            reason,
            halted_turn=True,
            then=then,
            since=since,
            dispatch_s=dispatch,
        )
    )


def watched(core: Core, alert: Alert) -> str:
    """Records that the watchdog cuts the turn; the third turn in a row that the same signal cuts halts the session.

    A subtask ends with its turn, and halts nothing. Returns the reason of the trip.
    """
    turn = core.state.halts.cut_again(alert.signal)
    escalated = alert.scope == "turn" and turn >= IN_A_ROW
    scope: ev.StopScope = "session" if escalated else alert.scope
    reason = telling.in_a_row(alert.reason, turn, alert.signal) if escalated else alert.reason
    since, dispatch = tree.stopped_when(core)
    then = telling.after_alert(alert.signal, turn, core.state.session, halts=scope == "session")
    if core.above is not None:
        scope, then = "turn", telling.SUBTASK
    core.record(
        ev.GuardrailTrip(
            "watchdog",
            alert.signal,
            alert.severity,
            scope,
            reason,
            halted_turn=True,
            then=then,
            since=since,
            dispatch_s=dispatch,
        )
    )
    return reason


def trip(core: Core, breach: Breach, *, halted_turn: bool, answered: bool = False) -> str:
    """Records that a ceiling was reached, `answered` where the turn has its answer. Returns the reason of the trip."""
    scope: ev.StopScope = "session" if breach.session else "turn"
    reason, signal = breach.reason, breach.signal or breach.exhausted
    since, dispatch = tree.stopped_when(core) if halted_turn else (0.0, 0.0)
    if breach.signal in (budgets.POOL, budgets.PACE):
        then = telling.after_pool() if breach.signal == budgets.POOL else telling.after_pace()
    elif breach.exhausted != "cost":
        then = telling.after_ceiling(breach, cut=halted_turn, answered=answered)
    else:
        turn = core.state.halts.dear_again()
        if not breach.session and turn >= IN_A_ROW:
            scope, reason = "session", telling.in_a_row(breach.reason, turn, signal)
        then = telling.after_cost(breach, turn, core.state.session, cut=halted_turn)
    core.record(
        ev.GuardrailTrip(
            breach.guardrail,
            signal,
            "halt",
            scope,
            reason,
            halted_turn,
            then,
            breach.used,
            breach.limit,
            since,
            dispatch,
        )
    )
    return reason


def boundary(core: Core) -> None:
    """The turn has its answer: a ceiling that it met tells of itself and cuts nothing."""
    stop, core.stop = core.stop, None
    breach = stop if isinstance(stop, Breach) else budgets.cost_breach(core.spent(), core.limits)
    if breach is not None and breach.exhausted == "cost":
        trip(core, breach, halted_turn=False)


def between_turns(core: Core) -> None:
    """A summary that the operator asked for has met the session's ceiling."""
    stop, core.stop = core.stop, None
    if isinstance(stop, Breach) and stop.session:
        trip(core, stop, halted_turn=False)


async def let_go(core: Core) -> None:
    """Of the log, and of what was started for the session."""
    core.trunk.close()
    if core.parts.joining is not None:
        await core.parts.joining.close()
    core.parts.on_close()
