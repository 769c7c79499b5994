"""What may be consumed, and who watches."""

from typing import Annotated, Literal

from agent_cli.config.kinds import Ceiling, Count, Duration, File, Money, Name, Section, Switch, says
from agent_cli.kernel.watching import WatchdogMode


class Child(Section, frozen=True):
    max_steps: Annotated[Ceiling, says("Most model requests of one subtask. 0 means none.")] = 30
    max_duration: Annotated[Duration, says("Longest time of one subtask. 0 means none.")] = 1_800.0
    max_tokens: Annotated[
        Ceiling | None, says("Most tokens of one subtask, input and output of all its requests.")
    ] = None
    max_cost_usd: Annotated[Money | None, says("Most dollars of one subtask.")] = None


class Unattended(Section, frozen=True):
    max_steps: Annotated[Ceiling | None, says("Instead of budgets.max_steps when nobody is there.")] = None
    max_duration: Annotated[
        Duration | None, says("Instead of budgets.max_duration when nobody is there.")
    ] = None
    max_turn_cost_usd: Annotated[
        Money | None, says("Instead of agent.max_turn_cost_usd when nobody is there.")
    ] = None
    max_session_cost_usd: Annotated[
        Money | None, says("Instead of agent.max_session_cost_usd when nobody is there.")
    ] = None


class Budgets(Section, frozen=True):
    max_steps: Annotated[
        Ceiling | None, says("Most model requests of one turn; 200 when nobody is there. 0 means none.")
    ] = None
    max_tool_calls: Annotated[Ceiling | None, says("Most tool calls of one turn. 0 means none.")] = None
    max_tokens: Annotated[
        Ceiling | None, says("Most tokens of one turn, input and output of all its requests. 0 means none.")
    ] = None
    max_duration: Annotated[
        Duration | None, says("Longest time of one turn; 4h when nobody is there. 0 means none.")
    ] = None
    unattended: Annotated[
        Unattended, says("Ceilings of runs in which nobody is there; options of the command line win.")
    ] = Unattended()
    reserve: Annotated[
        Switch,
        says(
            "Whether what a call can cost at worst is set aside before it is sent, so that no ceiling is passed."
        ),
    ] = False
    on_exhaustion: Annotated[
        Literal["final-answer", "fail"],
        says("What happens at a ceiling: one last answer without tools, or an error."),
    ] = "final-answer"
    children: Annotated[
        Literal["shared", "additive"],
        says(
            "Whether subtasks draw on the ceilings of the session, each on at most a tenth of what is left, or"
            " have `budgets.child.max_cost_usd` on top of them."
        ),
    ] = "shared"
    child: Annotated[Child, says("Ceilings of one subtask.")] = Child()


class Agent(Section, frozen=True):
    max_turn_cost_usd: Annotated[Money | None, says("Most dollars of one turn. 0 means none.")] = None
    max_session_cost_usd: Annotated[
        Money | None, says("Most dollars of the session; 10.00 when nobody is there. 0 means none.")
    ] = None
    append_system_prompt: Annotated[Name | None, says("Text behind the system prompt.")] = None
    system_prompt_file: Annotated[File | None, says("File whose text replaces the system prompt.")] = None


class Admission(Section, frozen=True):
    pool: Annotated[
        Name | None, says("The pool that runs share: `agent-cli pool set NAME` makes one. Default: none.")
    ] = None
    when_full: Annotated[
        Literal["queue", "degrade", "reject"],
        says(
            "What becomes of a turn for which there is no room: it waits, it gets what is left (one answer of its own,"
            " without subtasks), or it is refused. Of tool calls of which there were enough in this minute: they wait,"
            " a batch is made smaller, or the turn ends."
        ),
    ] = "queue"
    wait: Annotated[Duration, says("How long it, or a tool call, waits for room at most.")] = 600.0
    lease: Annotated[
        Duration,
        says("How long a reservation holds without being renewed; then it is reclaimed if its run is gone."),
    ] = 60.0
    hard: Annotated[
        Switch,
        says(
            "Whether each request first reserves what it can cost at worst, so that the pool's dollars are never passed."
        ),
    ] = False
    estimate_usd: Annotated[
        Money,
        says("Dollars that a run reserves while nothing is known of its kind and no ceiling bounds it."),
    ] = 1.0
    estimate_calls_per_minute: Annotated[
        Count,
        says(
            "Tool calls a minute that a run reserves while nothing is known of its kind and no ceiling bounds them."
        ),
    ] = 20
    degraded_concurrency: Annotated[
        Count, says("Reading calls side by side of a run that got only what was left.")
    ] = 2


class Safety(Section, frozen=True):
    bash_search_gate: Annotated[
        Literal["enforce", "warn", "allow"],
        says("What becomes of shell lines that only search or read, where there is a tool for that."),
    ] = "enforce"
    small_tier_parent: Annotated[
        Literal["warn", "refuse", "allow"],
        says("What happens when a session with a person there begins with a small model."),
    ] = "warn"
    watchdog: Annotated[
        WatchdogMode | None,
        says("What happens when the agent goes in circles; warn, or enforce when nobody is there."),
    ] = None
