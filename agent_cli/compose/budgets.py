"""What settings say about requests, ceilings and reduction, as the engine takes it."""

from __future__ import annotations

from typing import Any

import msgspec

from agent_cli.compose.options import RunOptions
from agent_cli.compose.watchdog import watchdog_mode
from agent_cli.config.settings import Settings
from agent_cli.config.sources import Loaded
from agent_cli.context.budget import Budget, Compaction, budget_of
from agent_cli.engine.parts import Settings as RequestSettings
from agent_cli.engine.tuning import Tuning
from agent_cli.guardrails import telling
from agent_cli.kernel.errors import ConfigError
from agent_cli.kernel.limits import Limits
from agent_cli.kernel.usage import ModelCard, Tier

UNATTENDED_STEPS = 200
UNATTENDED_SECONDS = 14_400.0
UNATTENDED_DOLLARS = 10.0


def request_settings(settings: Settings) -> RequestSettings:
    return RequestSettings(
        effort=settings.model.effort,
        temperature=settings.model.temperature,
        max_output=settings.model.max_output_tokens,
        attempts=settings.model.attempts,
        run_status=settings.run_status == "appended",
        concurrency=settings.tools.concurrency,
        max_result_bytes=settings.tools.max_output_bytes,
        result_bytes={
            name: said.max_output_bytes
            for name, said in settings.tools.each.items()
            if said.max_output_bytes is not None
        },
        tunings={
            name: Tuning(said.timeout, said.max_calls, said.required, said.args)
            for name, said in settings.tools.each.items()
        },
    )


def compaction(options: RunOptions, loaded: Loaded) -> Compaction:
    """A threshold on the command line is for every model, one in config only for those of no known tier.

    That of a task class is for all whose tier config names none for; one in config takes its place.
    """
    said = loaded.settings.compaction
    given = options.flags.get("compaction.threshold") is not None
    by_tier = said.threshold_by_tier
    tiers: tuple[tuple[Tier, float | None], ...] = (
        ("frontier", by_tier.frontier),
        ("mid", by_tier.mid),
        ("small", by_tier.small),
    )
    tasked = loaded.task is not None and "compaction.threshold" in loaded.task.defaults
    return Compaction(
        enabled=said.enabled and said.limit != 0,
        mode=said.mode,
        threshold=said.threshold if given else None,
        by_tier=tuple((tier, share) for tier, share in tiers if share is not None),
        unknown_tier=said.threshold,
        of_task=said.threshold if tasked else None,
        limit=said.limit or None,
        keep_recent=said.keep_recent_tokens,
        model=said.model or "",
    )


def budget_line(options: RunOptions, loaded: Loaded, card: ModelCard) -> str:
    """The model, its window and the threshold in force, each with where it comes from."""
    if card.delegated:
        return f"context: {card.id} keeps its conversation in a program of its vendor's, and reduces it there"
    said = compaction(options, loaded)
    budget = budget_of(card, said)
    window = "unknown, 128,000 tokens are assumed" if budget.assumed else f"{budget.window:,} tokens"
    where = f"window {window} [{_window_origin(loaded, card)}]"
    if not said.enabled:
        by = "compaction.enabled" if loaded.settings.compaction.limit != 0 else "compaction.limit"
        return f"context: {card.id}, {where}; no reduction by itself [{_origin(loaded, by)}]"
    share = "" if budget.origin == "compaction.limit" else f"threshold {budget.ratio:g}, "
    origin = _threshold_origin(loaded, budget)
    wanted = said.limit or int(budget.window * budget.ratio)
    room = f", which leaves {budget.window - budget.limit:,} for an answer" if budget.limit < wanted else ""
    return f"context: {card.id}, {where}; {share}reduction at {budget.limit:,} tokens{room} [{origin}]"


def _window_origin(loaded: Loaded, card: ModelCard) -> str:
    if loaded.settings.model.context_window is not None:
        return _origin(loaded, "model.context_window")
    row = loaded.settings.models.get(card.id)
    if row is not None and row.window is not None:
        return _origin(loaded, f"models.{card.id}.window")
    return "no catalog names it" if card.window is None else "model catalog"


def _threshold_origin(loaded: Loaded, budget: Budget) -> str:
    """The key with the layer that set it; what is no key says itself whose it is."""
    set_by = [
        origin
        for key, origin in loaded.origins.items()
        if key == budget.origin or key.startswith(f"{budget.origin}.")
    ]
    return ", ".join([budget.origin, *set_by[:1]])


def _origin(loaded: Loaded, key: str) -> str:
    return loaded.origins.get(key, "default")


def alone(loaded: Loaded, *, answered: bool = False) -> Loaded:
    """As it counts where nobody is there: `budgets.unattended` over the others, and what this run says over both.

    The model gets no tool to ask with, unless somebody said so or a program answers.
    """
    settings, said = loaded.settings, loaded.settings.budgets.unattended.given()
    sections: dict[str, dict[str, Any]] = {"budgets": {}, "agent": {}}
    origins = dict(loaded.origins)
    for name, value in said.items():
        section = "agent" if name.endswith("_usd") else "budgets"
        if not _said_for_this_run(loaded, f"{section}.{name}", f"budgets.unattended.{name}"):
            sections[section][name] = value
            origins[f"{section}.{name}"] = loaded.origins.get(f"budgets.unattended.{name}", "config")
    mute = not answered and origins.get("tools.ask", "default") == "default"
    settings = msgspec.structs.replace(
        settings,
        tools=msgspec.structs.replace(settings.tools, ask="off") if mute else settings.tools,
        budgets=msgspec.structs.replace(settings.budgets, **sections["budgets"]),
        agent=msgspec.structs.replace(settings.agent, **sections["agent"]),
    )
    return msgspec.structs.replace(loaded, settings=settings, origins=origins)


def _said_for_this_run(loaded: Loaded, key: str, alone: str) -> bool:
    """By an option or a variable, or in the file of `--config` where that leaves `alone` to others."""
    if loaded.said_now(key):
        return True
    named = str(loaded.named or "")
    return (
        loaded.origins.get(key) == named and loaded.origins.get(alone) != named and not loaded.said_now(alone)
    )


def limits(settings: Settings, *, attended: bool) -> Limits:
    """An explicit 0 means none; what is not said is none with a person there, and bounded without."""
    budgets, agent = settings.budgets, settings.agent

    def chosen(said: float | None, unattended: float | None) -> float | None:
        return (said or None) if said is not None else (None if attended else unattended)

    steps = chosen(budgets.max_steps, UNATTENDED_STEPS)
    return Limits(
        max_steps=int(steps) if steps else None,
        max_tool_calls=budgets.max_tool_calls or None,
        max_tokens=budgets.max_tokens or None,
        max_duration=chosen(budgets.max_duration, UNATTENDED_SECONDS),
        max_turn_cost=agent.max_turn_cost_usd or None,
        max_session_cost=chosen(agent.max_session_cost_usd, UNATTENDED_DOLLARS),
        on_exhaustion=budgets.on_exhaustion,
        reserve=budgets.reserve,
    )


def by_mode(loaded: Loaded) -> dict[str, tuple[Any, Any]]:
    """Keys that nobody set and whose default depends on whether somebody is there: with a person, and without."""
    settings = loaded.settings
    there, alone = limits(settings, attended=True), limits(settings, attended=False)
    found = {
        "budgets.max_steps": (there.max_steps, alone.max_steps),
        "budgets.max_duration": (there.max_duration, alone.max_duration),
        "agent.max_session_cost_usd": (there.max_session_cost, alone.max_session_cost),
        "safety.watchdog": (watchdog_mode(settings, attended=True), watchdog_mode(settings, attended=False)),
    }
    return {key: values for key, values in found.items() if key not in loaded.origins}


def unpriced(options: RunOptions, settings: Settings, card: ModelCard) -> tuple[str, ...]:
    """What is told of a model that no cost ceiling can stop. Raises ConfigError where budgets are hard."""
    bounds = limits(settings, attended=options.attended)
    told = telling.unpriced(card, bounds)
    if told and bounds.reserve:
        raise ConfigError(told)
    return (told,) if told else ()
