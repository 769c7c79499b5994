"""Every option of `agent-cli [OPTIONS] [PROMPT]` in one table: its words, its help, its config key.

The table is plain data, so that reading a command line costs nothing; Typer is made from it when there is
help to print, a mistake to explain, or a command to run.
"""

from __future__ import annotations

from typing import Literal, TypeAlias

from agent_cli.kernel.commands import MODES
from agent_cli.kernel.values import Plain

Kind: TypeAlias = Literal[
    "switch", "text", "choice", "count", "number", "seconds", "dollars", "names", "many"
]
"""What an option takes: nothing; a text; one of `choices`; a whole number; any number; a duration (90, 90s, 15m, 4h) in
seconds; US dollars; names between commas, any number of times; a text, any number of times."""


class Flag(Plain, frozen=True):
    """`names` as they are typed, the long one last. `key` is the config key of an option that lasts.

    Options without a key are about one run: there is nothing to keep. `alone` says that the value may be missing.
    """

    names: tuple[str, ...]
    help: str
    key: str = ""
    kind: Kind = "switch"
    metavar: str = ""
    choices: tuple[str, ...] = ()
    alone: bool = False

    @property
    def name(self) -> str:
        return self.names[-1]

    @property
    def dest(self) -> str:
        """The long name as an identifier."""
        return self.name.removeprefix("--").replace("-", "_")


def _text(*names: str, key: str = "", metavar: str, says: str) -> Flag:
    return Flag(names, says, key, "text", metavar)


def _choice(*names: str, key: str = "", choices: tuple[str, ...], says: str) -> Flag:
    return Flag(names, says, key, "choice", "|".join(choices), choices)


def _limit(name: str, key: str, says: str, kind: Kind = "count") -> Flag:
    return Flag((name,), says, key, kind, {"seconds": "TIME", "dollars": "USD"}.get(kind, "N"))


OPTION = "opt_"
"""Before the `dest` of an option in its Typer parameter, since `continue` is no name for one."""

FORMATS = ("text", "json", "stream-json")

GROUPS: dict[str, tuple[Flag, ...]] = {
    "One-shot runs": (
        Flag(("-p", "--print"), "One turn: print the answer and exit. Piped stdin is appended to PROMPT."),
        _choice("--output-format", choices=FORMATS, says="What -p prints on stdout. Default: text."),
        _choice(
            "--input-format", choices=("text", "stream-json"),
            says="stream-json: another program drives the session with lines of JSON on stdin. Default: text.",
        ),
        _text(
            "--json-schema", metavar="FILE",
            says="The answer is JSON that fits this JSON Schema, asked for once more where it does not; else exit 1.",
        ),
        Flag(("-q", "--quiet"), "Only errors on stderr."),
        Flag(("--verbose",), "Also the tokens and the cost of each step on stderr."),
        Flag(("--no-repl",), "Nobody is there, whatever the terminal says: a one-shot run also without -p."),
        _text(
            "--attach-listen", metavar="HOST:PORT",
            says="Serve the session there over HTTP, too; with --no-repl until a signal comes (`agent-cli serve`).",
        ),
        Flag(("--strict",), "Exit 1 when a used-up budget forced the answer, or an output limit cut it off."),
    ),
    "Model": (
        _text("-m", "--model", key="model.name", metavar="MODEL", says="Model, alias, or PROVIDER/MODEL."),
        _text(
            "--provider", key="model.provider", metavar="NAME",
            says="anthropic, openai, gemini, vertex, local, scripted, echo, or one of your config. Default: what --model or your keys suggest.",
        ),
        _text("--base-url", key="model.base_url", metavar="URL", says="Where the provider listens."),
        _choice("--effort", key="model.effort", choices=("low", "medium", "high"), says="How hard the model thinks."),
        _choice(
            "--tier", key="model.tier", choices=("frontier", "mid", "small"),
            says="The provider's model of that size, instead of a name.",
        ),
        Flag(
            ("--temperature",), "Sampling temperature, for models that take one.", "model.temperature", "number", "NUMBER"
        ),
        _choice(
            "--small-tier-parent", key="safety.small_tier_parent", choices=("warn", "refuse", "allow"),
            says="What happens when a session in the terminal begins with a small model. Default: warn.",
        ),
        _limit("--max-output-tokens", "model.max_output_tokens", "Most tokens of one answer."),
        _limit("--context-window", "model.context_window", "Size of the context window in tokens."),
        Flag(
            ("--fallback-model",), "Models to go on with, in this order, when the service of the model is down; between commas.",
            "model.fallback", "names", "MODELS",
        ),
        _text("--record-to", metavar="FILE", says="Write what the model is asked and answers into a new script, without secrets."),
        _text("--script", metavar="FILE", says="What the scripted provider says (JSONL)."),
        Flag(("--script-strict",), "Fail on any request that the script does not expect."),
    ),
    "Context": (
        Flag(("--no-compact",), "Do not reduce a long conversation by itself.", "compaction.enabled"),
        _limit(
            "--compaction-threshold", "compaction.threshold",
            "Share of the window at which reduction begins, like 0.8.", "number",
        ),
        Flag(
            ("--agentic-tools",), "Tools that read in a subtask and return a digest, which is the default; =false leaves them out.",
            "agentic.enabled",
        ),
        Flag(("--no-agentic-tools",), "The same as --agentic-tools=false.", "agentic.enabled"),
        _text(
            "--agentic-small-model", key="agentic.small_model", metavar="MODEL",
            says="The model of subtasks. Default: the provider's small one.",
        ),
        _choice(
            "--checkpoint", key="checkpoint.mode", choices=("model", "operator", "off"),
            says="Who may say that a task is done, so that a record takes its place. Default: model.",
        ),
        Flag(("--no-checkpoint",), "Old for --checkpoint=off.", "checkpoint.mode"),
    ),
    "Session": (
        _text(
            "--task", key="session.task_class", metavar="CLASS",
            says="Defaults for a kind of work: debug, implement, chat, research, review, or one of your config.",
        ),
        Flag(("-c", "--continue"), "Go on with the latest session of this directory."),
        Flag(
            ("-r", "--resume"), "Go on with that session: its id, its beginning, or its name. Without one, choose from a list.",
            kind="text", metavar="ID", alone=True,
        ),
        _text(
            "--fork", metavar="ID[@ENTRY]",
            says="A new session that begins as that one did, up to the entry; without one, all of it.",
        ),
        _text("--name", metavar="NAME", says="Give the session a name, for --resume."),
        _text("--session-db", key="session.db", metavar="PATH", says="Keep sessions in this file."),
        Flag(("--ephemeral",), "Keep the session in memory only."),
    ),
    "Configuration": (
        _text("--config", metavar="FILE", says="A config file over those of the project and the user."),
        _text(
            "--recipe", metavar="PATH|NAME",
            says="Shape the agent for one job: `agent-cli recipes list` names those that there are.",
        ),
        Flag(("--no-tui",), "Talk line by line instead of on a screen: for dumb terminals, screen readers, and pipes."),
        _text(
            "--log-file", metavar="FILE",
            says="Add the lines for the operator to this file, with their time, also those that --quiet hides.",
        ),
        _text("-C", "--cd", metavar="DIR", says="Work as if started in DIR."),
        _text("--theme", key="ui.theme", metavar="NAME", says="Colours of the terminal UI: auto, dark, light, or a theme of Textual's."),
        _text(
            "--system-prompt-file", key="agent.system_prompt_file", metavar="FILE",
            says="Replaces the system prompt.",
        ),
        _text(
            "--append-system-prompt", key="agent.append_system_prompt", metavar="TEXT",
            says="Goes at the end of the system prompt.",
        ),
        _choice(
            "--run-status", key="run_status", choices=("appended", "off"),
            says="Tell the model in each request how much it has used.",
        ),
    ),
    "Permissions": (
        _choice("--permission-mode", key="permissions.mode", choices=MODES, says="What runs without asking. Default: ask."),
        Flag(("--yolo",), "The same as --permission-mode yolo: everything runs.", "permissions.mode"),
        _choice(
            "--plan-mode", key="permissions.plan_mode", choices=("off", "advisory", "required"),
            says="Have the agent write a plan; required: it may change nothing before it did. Default: off.",
        ),
        Flag(("--plan-first",), "Deprecated: --plan-mode required.", "permissions.require_plan_artifact"),
        Flag(("--no-plan-first",), "Deprecated: --plan-mode off.", "permissions.require_plan_artifact"),
        _choice(
            "--bash-search-gate", key="safety.bash_search_gate", choices=("enforce", "warn", "allow"),
            says="What becomes of shell lines that only search or read, where a tool does that. Default: enforce.",
        ),
        _choice(
            "--ask", key="tools.ask", choices=("off", "stdin", "auto"),
            says="Whether the agent may ask you questions; stdin: one-shot runs take the answers from stdin. Default: auto.",
        ),
        _choice(
            "--sandbox", key="sandbox.mode", choices=("off", "workspace-write", "read-only"),
            says="Have the system confine what shell commands write. Default: off.",
        ),
        Flag(("--trust",), "Trust this project's .agents directory as it is now, and remember that."),
        Flag(
            ("--add-dir", "--allow-path"), "A path outside the project, with :r (default), :w or :rw. Repeatable.",
            "path_scope.allow_paths", "many", "PATH[:MODE]",
        ),
        Flag(
            ("--disable-tools",), "Tools that the model does not get, between commas.",
            "tools.disable", "names", "NAMES",
        ),
        Flag(
            ("--enable-tools",), "Tools that the task class leaves out and the model gets all the same.",
            "tools.enable", "names", "NAMES",
        ),
        Flag(("--no-builtin-tools",), "None of the tools of this program.", "tools.builtin"),
    ),
    "Limits (0 means none)": (
        _limit("--max-steps", "budgets.max_steps", "Model requests a turn. Default: none, unattended 200."),
        _limit("--max-tool-calls", "budgets.max_tool_calls", "Tool calls a turn."),
        _limit("--max-tokens", "budgets.max_tokens", "Tokens a turn, input and output."),
        _limit("--max-duration", "budgets.max_duration", "Time a turn: 90, 90s, 15m, 4h. Default: none, unattended 4h.", "seconds"),
        _choice(
            "--on-exhaustion", key="budgets.on_exhaustion", choices=("final-answer", "fail"),
            says="When steps, calls or tokens are used up: one last answer, or an error. Default: final-answer.",
        ),
        _limit("--max-turn-cost-usd", "agent.max_turn_cost_usd", "Ends the turn that costs as much.", "dollars"),
        _limit(
            "--max-session-cost-usd", "agent.max_session_cost_usd",
            "Halts the session that costs as much. Default: none, unattended 10.", "dollars",
        ),
        _text(
            "--pool", key="admission.pool", metavar="NAME",
            says="Share an account with other runs: at once, in dollars, in tool calls a minute (`agent-cli pool`).",
        ),
        _choice(
            "--watchdog", key="safety.watchdog", choices=("off", "warn", "feedback", "enforce"),
            says="What happens when the agent goes in circles. Default: warn, unattended enforce.",
        ),
        _choice(
            "--watchdog-profile", key="watchdog.profile", choices=("default", "seed", "strict"),
            says="What the watchdog takes for going in circles: default, seed (lower), or strict.",
        ),
    ),
}  # fmt: skip

FLAGS: tuple[Flag, ...] = tuple(flag for flags in GROUPS.values() for flag in flags)

KEYS: dict[str, str] = {name: flag.key for flag in FLAGS for name in flag.names if flag.key}
"""Every word that has a config key, with it."""

COMMANDS: dict[str, tuple[str, str]] = {
    "sessions": ("agent_cli.cli.sessions", "List recorded sessions, show, search, export, remove them."),
    "models": ("agent_cli.cli.models", "List the models that are known, with prices and windows."),
    "guardrails": (
        "agent_cli.cli.guardrails",
        "What guards a session and what stopped it; clear a halt; measure the watchdog.",
    ),
    "kill-switch": (
        "agent_cli.cli.kill_switch",
        "Stop runs at once, from outside: all, a project's, a kind of work, a tool, a session.",
    ),
    "serve": (
        "agent_cli.cli.serve",
        "Serve sessions over HTTP: for programs, other front ends and other machines.",
    ),
    "attach": ("agent_cli.cli.attach", "The terminal UI over a session of such a server."),
    "pool": (
        "agent_cli.cli.pool",
        "What runs over one account may take together.",
    ),
    "recipes": (
        "agent_cli.cli.recipes",
        "Recipes, which shape the agent for one job: list, show, check, make one.",
    ),
    "config": ("agent_cli.cli.config", "Show every setting and where it comes from; check the files."),
    "permissions": (
        "agent_cli.cli.permissions",
        "Say what the permission gate would decide; find dead rules.",
    ),
    "mcp": ("agent_cli.cli.servers", "Servers of tools (MCP): list, add, remove, try them."),
    "doctor": (
        "agent_cli.cli.doctor",
        "Look whether everything that is needed is there; exit 1 where it is not.",
    ),
    "local": ("agent_cli.cli.local", "The embedded model: install, remove, see how it does."),
}
"""Commands: the module whose `app` it is, and its line in the help."""

ALIASES = {"guardrail": "guardrails"}
"""Other words for commands."""
