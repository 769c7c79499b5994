"""Every setting with its type, range, default and meaning, as frozen structs.

The annotations are the schema, evaluated once: `fields` walks them, `check` reads plain values by them.
"""

from typing import Annotated, Literal

from agent_cli.config.kinds import Count, Name, Section, read, says
from agent_cli.config.sections.context import Checkpoint, Compaction
from agent_cli.config.sections.delegated import Claude
from agent_cli.config.sections.guardrails import Guardrails
from agent_cli.config.sections.hooks import HookRow, hook
from agent_cli.config.sections.limits import Admission, Agent, Budgets, Safety
from agent_cli.config.sections.model import Model, ModelCard, Provider
from agent_cli.config.sections.screen import Session, Ui
from agent_cli.config.sections.servers import Mcp
from agent_cli.config.sections.serving import Serve
from agent_cli.config.sections.tasks import TaskClass
from agent_cli.config.sections.tools import Agentic, Agents, Confined, PathScope, Permissions, Tools, UrlScope
from agent_cli.config.sections.watchdog import WatchdogSettings

VERSION = 1
"""Of the schema. A file with a newer one may hold sections that this version does not know."""


class Settings(Section, frozen=True):
    """All settings. `sources.load` makes them; they do not change while the program runs."""

    version: Annotated[Count, says("Version of the schema that the file was written for.")] = VERSION
    model: Annotated[Model, says("The model and how it is asked.")] = Model()
    providers: Annotated[dict[Name, Provider], says("Endpoints by name.")] = {}
    models: Annotated[
        dict[Name, ModelCard], says("What the catalog should know of single models, by name.")
    ] = {}
    claude: Annotated[Claude, says("Turns that Claude Code does, as `@claude/MODEL`.")] = Claude()
    budgets: Annotated[Budgets, says("Ceilings of one turn.")] = Budgets()
    agent: Annotated[Agent, says("Costs and the system prompt.")] = Agent()
    compaction: Annotated[Compaction, says("When and how a long conversation is reduced.")] = Compaction()
    checkpoint: Annotated[Checkpoint, says("When the record of a task takes the place of its work.")] = (
        Checkpoint()
    )
    tools: Annotated[Tools, says("What the model may call.")] = Tools()
    agentic: Annotated[Agentic, says("Tools that read in a subtask.")] = Agentic()
    agents: Annotated[Agents, says("Agents that tasks are handed to.")] = Agents()
    permissions: Annotated[Permissions, says("What runs, what asks, what never runs.")] = Permissions()
    path_scope: Annotated[PathScope, says("Which paths the tools may use.")] = PathScope()
    sandbox: Annotated[Confined, says("What shell commands may do, held by the system.")] = Confined()
    url_scope: Annotated[UrlScope, says("Which hosts the tools may reach.")] = UrlScope()
    mcp: Annotated[Mcp, says("Servers of tools.")] = Mcp()
    hooks: Annotated[
        tuple[Annotated[HookRow, read(hook)], ...],
        says(
            "Programs that are run where something happens in a session: event, command or argv, and maybe matcher, timeout, "
            "gate, name. Lists of several files are joined."
        ),
    ] = ()
    admission: Annotated[Admission, says("The account that runs share.")] = Admission()
    safety: Annotated[Safety, says("The watchdog.")] = Safety()
    watchdog: Annotated[WatchdogSettings, says("What the watchdog looks for.")] = WatchdogSettings()
    guardrails: Annotated[Guardrails, says("Checks of contents and actions.")] = Guardrails()
    session: Annotated[Session, says("Where sessions are kept, and the kind of work.")] = Session()
    task_classes: Annotated[
        dict[Name, TaskClass],
        says("Kinds of work for --task: new ones, and changes of those that are built in."),
    ] = {}
    serve: Annotated[Serve, says("The attach server.")] = Serve()
    ui: Annotated[Ui, says("The screen.")] = Ui()
    run_status: Annotated[
        Literal["appended", "off"],
        says("Whether the model is told with each request how far the turn has come."),
    ] = "appended"
