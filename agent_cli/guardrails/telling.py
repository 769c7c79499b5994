"""What a stop says beside its reason: what follows, and how to clear it."""

from __future__ import annotations

import math

from agent_cli.guardrails.budgets import SESSION_RESERVE, TURN_COST, Breach
from agent_cli.guardrails.halts import IN_A_ROW, Halt, refused
from agent_cli.guardrails.kill_switch import Killed
from agent_cli.kernel.limits import Limits
from agent_cli.kernel.usage import ModelCard

RAISE = {
    "steps": "--max-steps",
    "tool-calls": "--max-tool-calls",
    "tokens": "--max-tokens",
    "duration": "--max-duration",
}
UNFINISHED = "The turn was stopped with its work unfinished; the session is NOT halted"
SUBTASK = "The subtask was stopped with its work unfinished; what started it gets what it had, and goes on."
ANSWERED = "The turn has its answer; the session is NOT halted"


def after_ceiling(breach: Breach, *, cut: bool, answered: bool = False) -> str:
    """Of steps, tool calls, tokens and time. `answered` says that the turn has its answer; where it was not `cut`
    either, one answer without tools follows.
    """
    more = f"{RAISE[breach.exhausted]} raises the ceiling"
    if cut:
        return f"{UNFINISHED}, and a further turn would start with fresh ceilings; {more}."
    last = "The turn has its answer" if answered else "One last step without tools gives the answer"
    return f"{last}; the session is not halted, and a further turn starts with fresh ceilings; {more}."


def after_cost(breach: Breach, turn: int, session: str, *, cut: bool) -> str:
    """`turn` is the how-manieth in a row that costs too much; `cut` says that it was cut, and has no answer."""
    if breach.session:
        least = breach.least
        smaller = (
            " A call is reserved with its longest answer: --max-output-tokens makes all later ones cheaper."
            if breach.signal == SESSION_RESERVE
            else ""
        )
        return (
            "The session is halted: turns are refused and messages wait (none is forgotten) until a reset adds at least "
            f"${least:.2f}: {how_to_reset('cost_ceiling', session, least)}.{smaller}"
        )
    if turn >= IN_A_ROW:
        return (
            "The session is halted: stopping single turns does not stop it. Turns are refused and messages wait until "
            f"{how_to_reset('cost_ceiling', session)}."
        )
    return (
        f"{UNFINISHED if cut else ANSWERED}, and a further turn would start from a fresh per-turn budget. {_counted(turn)} "
        "--max-turn-cost-usd raises the ceiling."
    )


def after_alert(signal: str, turn: int, session: str, *, halts: bool) -> str:
    """Of the watchdog. `turn` is the how-manieth in a row that this signal cuts."""
    if halts:
        return (
            "The session is halted: turns are refused and messages wait until "
            f"{how_to_reset('watchdog', session)}. --watchdog warn only tells you."
        )
    return f"{UNFINISHED}, and a further turn would start clean. {_counted(turn)}"


def after_pace() -> str:
    return f"{UNFINISHED}; a minute after they began there is room for calls again."


def after_pool() -> str:
    return f"{UNFINISHED}; a further turn asks the pool again. Other runs that end give back what they hold."


def after_kill(killed: Killed) -> str:
    if killed.unavailable:
        return f"What cannot be asked counts as on: nothing is dispatched. To go on: {killed.how}."
    return (
        "What was under way is stopped, turns are refused and messages wait. It is no reset that clears this, but: "
        f"{killed.how}."
    )


def in_a_row(reason: str, turn: int, signal: str) -> str:
    """The reason of the trip that halts a session, after as many turns as it takes."""
    what = "the per-turn cost ceiling" if signal == TURN_COST else signal
    return f"{turn} turns in a row were stopped by {what}; the last one: {reason}"


def how_to_reset(guardrail: str, session: str, least: float = 0.0) -> str:
    amount = f" +{least:.2f}" if least else ""
    return (
        f"/guardrail reset {guardrail}{amount}, or: agent-cli guardrails reset {session} {guardrail}{amount}"
    )


def why_not(halts: tuple[Halt, ...], guardrail: str, added: float, session: str) -> str:
    """Why a reset that adds so many USD is refused, "" where it may be done."""
    if not 0 <= added < math.inf:
        return f"nothing is reset: ${added:g} cannot be added. Name an amount of dollars, like +5."
    least = refused(halts, guardrail, added)
    return not_enough(least, session) if least else ""


def not_enough(least: float, session: str) -> str:
    return (
        f"nothing is reset: spent dollars stay spent, so the next turn would trip again at once. "
        f"Add at least ${least:.2f}: {how_to_reset('cost_ceiling', session, least)}."
    )


def unread(count: int, session: str) -> tuple[str, ...]:
    """What is told where a session is opened of which so many trips and resets cannot be read."""
    if not count:
        return ()
    what = "an entry that says" if count == 1 else f"{count} entries that say"
    told = (
        f"{what} what stopped this session, or what was reset, cannot be read, so a halt may be missing here: the session "
        f"runs. agent-cli sessions show {session} says which; agent-cli guardrails show {session} says what stands."
    )
    return (told,)


def halted(halts: tuple[Halt, ...], session: str) -> str:
    """Why a turn is refused, and how the halts are cleared."""
    told = [
        f"{halt.guardrail}: {halt.reason} ({halt.how or how_to_reset(halt.guardrail, session, halt.least_usd)})"
        for halt in halts
    ]
    return f"the session is halted: {'; '.join(told)}"


def unpriced(card: ModelCard, limits: Limits) -> str:
    """What is told of a model that no ceiling in dollars can stop; "" where one can, or there is none."""
    if card.free or card.prices or not (limits.max_turn_cost or limits.max_session_cost):
        return ""
    then = "hard budgets refuse it" if limits.reserve else "the cost ceiling cannot stop it"
    return (
        f"{card.id} has no price, so {then}: nobody knows what it costs. Set models.{card.id}.input and "
        f"models.{card.id}.output in config, or bound tokens with --max-tokens and cost with --max-session-cost-usd 0."
    )


def _counted(turn: int) -> str:
    return f"{turn} in a row now: at {IN_A_ROW} the session halts and needs an operator reset."
