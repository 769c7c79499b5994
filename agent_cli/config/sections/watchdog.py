"""Who watches for an agent that goes in circles."""

from typing import Annotated, Literal

from agent_cli.config.kinds import Count, Section, Switch, says
from agent_cli.kernel.watching import Profile, SignalName


class WatchdogSignal(Section, frozen=True):
    """Of one signal; what is not said is as the profile has it."""

    threshold: Annotated[
        Count | None, says("Where it trips; what is counted differs from signal to signal.")
    ] = None
    severity: Annotated[
        Literal["warn", "critical"] | None, says("A critical one stops, if the watchdog enforces.")
    ] = None
    scope: Annotated[
        Literal["turn", "session"] | None,
        says("What a stop ends: the turn, or every turn until the watchdog is reset."),
    ] = None
    enabled: Annotated[Switch | None, says("Whether it watches at all.")] = None


class WatchdogSettings(Section, frozen=True):
    profile: Annotated[
        Profile,
        says("The set of thresholds: default, seed (lower, with more false alarms) or strict."),
    ] = "default"
    signals: Annotated[dict[SignalName, WatchdogSignal], says("Single signals, by name.")] = {}
