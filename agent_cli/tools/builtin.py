"""Which tools there are."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal

from agent_cli.kernel.errors import ConfigError
from agent_cli.ports import Tool
from agent_cli.tools.addresses import Reach
from agent_cli.tools.apply_patch import ApplyPatch
from agent_cli.tools.bash import Bash
from agent_cli.tools.bash_kill import BashKill
from agent_cli.tools.bash_output import BashOutput
from agent_cli.tools.delete_file import DeleteFile
from agent_cli.tools.edit_file import EditFile
from agent_cli.tools.fetch_url import FetchUrl
from agent_cli.tools.glob import Glob
from agent_cli.tools.grep import Grep
from agent_cli.tools.json_query import JsonQuery
from agent_cli.tools.list_dir import ListDir
from agent_cli.tools.read_file import ReadFile, Vision
from agent_cli.tools.read_many_files import ReadManyFiles
from agent_cli.tools.results import Results
from agent_cli.tools.retrieve_output import RetrieveOutput
from agent_cli.tools.stat import Stat
from agent_cli.tools.todo import Todo
from agent_cli.tools.workspace import Workspace
from agent_cli.tools.write_file import WriteFile

NAMES = (
    "read_file",
    "write_file",
    "edit_file",
    "apply_patch",
    "delete_file",
    "read_many_files",
    "list_dir",
    "glob",
    "grep",
    "stat",
    "json_query",
    "bash",
    "bash_output",
    "bash_kill",
    "fetch_url",
    "todo",
    "retrieve_output",
)
"""In the order in which a model sees them."""
COMPACT = frozenset({"read_file", "write_file", "edit_file", "list_dir", "grep", "bash"})
"""What a small model gets."""
ANYWHERE = Reach()
"""Any public host."""


def builtin(
    workspace: Workspace,
    *,
    images: bool = False,
    documents: bool = False,
    profile: Literal["full", "compact"] = "full",
    disabled: frozenset[str] = frozenset(),
    results: Results | None = None,
    reach: Reach = ANYWHERE,
) -> tuple[Tool, ...]:
    """The tools of a model with these abilities.

    `results` are kept ones to read on in; `reach` says which hosts may be fetched from.
    """
    wanted = (frozenset(NAMES) if profile == "full" else COMPACT) - disabled
    if not {"bash", "bash_output", "bash_kill"} <= wanted:
        wanted -= {"bash_output", "bash_kill"}
    tools: dict[str, Tool] = {
        "read_file": ReadFile(workspace, wanted, Vision(images, documents)),
        "write_file": WriteFile(workspace, wanted),
        "edit_file": EditFile(workspace, wanted),
        "apply_patch": ApplyPatch(workspace, wanted),
        "delete_file": DeleteFile(workspace, wanted),
        "read_many_files": ReadManyFiles(workspace, wanted),
        "list_dir": ListDir(workspace, wanted),
        "glob": Glob(workspace, wanted),
        "grep": Grep(workspace, wanted),
        "stat": Stat(workspace, wanted),
        "json_query": JsonQuery(workspace, wanted),
        "bash": Bash(workspace, wanted, workspace.shells),
        "bash_output": BashOutput(workspace.shells, wanted),
        "bash_kill": BashKill(workspace.shells, wanted),
        "fetch_url": FetchUrl(wanted, reach),
        "todo": Todo(wanted),
    }
    if results is not None:
        tools["retrieve_output"] = RetrieveOutput(results, wanted)
    return tuple(tools[name] for name in NAMES if name in wanted and name in tools)


def check_names(named: Iterable[str], also: tuple[str, ...] = ()) -> None:
    """Raises ConfigError for a name that no tool has; `also` are tools that others bring."""
    known = (*NAMES, *also)
    for name in sorted(set(named) - set(known)):
        raise ConfigError(_unknown(name, known))


def _unknown(name: str, known: tuple[str, ...]) -> str:
    import difflib

    near = difflib.get_close_matches(name, known, n=2)
    hint = f"Did you mean {' or '.join(near)}? " if near else ""
    return f"There is no tool '{name}'. {hint}The tools are {', '.join(known)}."
