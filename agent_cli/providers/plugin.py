"""Providers of third parties, registered as entry points of the group `agent_cli.providers`.

    [project.entry-points."agent_cli.providers"]
    acme = "acme_models:open_model"

    def open_model(environ: Mapping[str, str], model: str, settings: PluginSettings) -> OpenModel: ...

`acme/MODEL` and `--provider acme` open such a model. Names of our own and endpoints of config come first, so that
installed packages are looked through only for a name that nobody here knows.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import msgspec

from agent_cli.kernel.errors import AgentError, ConfigError
from agent_cli.kernel.values import Plain
from agent_cli.ports import OpenModel

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

GROUP = "agent_cli.providers"


class PluginSettings(Plain, frozen=True):
    """What config says of the provider (`providers.NAME`), and how long to wait for an answer, in seconds.

    `base_url` is that of the command line: an address in config makes the name an endpoint of the operator's.
    `api_key_env` names the variable of `environ` that holds the key.
    """

    base_url: str = ""
    api_key_env: str = ""
    headers: dict[str, str] = msgspec.field(default_factory=dict[str, str])
    first_byte_timeout: float = 120.0
    stall_timeout: float = 120.0


def find(name: str) -> EntryPoint | None:
    """Raises ConfigError where two distributions want the name."""
    from importlib.metadata import entry_points

    found = list(entry_points(group=GROUP, name=name))
    if len({entry.value for entry in found}) > 1:
        owners = " and ".join(_owner(entry) for entry in found)
        raise ConfigError(f"{owners} both provide models as '{name}': uninstall one of them.")
    return found[0] if found else None


def open_plugin(
    entry: EntryPoint, environ: Mapping[str, str], model: str, settings: PluginSettings
) -> OpenModel:
    """Raises ConfigError that names the distribution, whatever goes wrong in it."""
    broken = f"The provider '{entry.name}' of {_owner(entry)} does not work"
    try:
        made: Any = entry.load()(environ, model, settings)
    except AgentError:
        raise
    except Exception as problem:
        raise ConfigError(
            f"{broken}: {type(problem).__name__}: {problem}. Update or uninstall it, or choose another provider."
        ) from problem
    if not isinstance(made, OpenModel):
        raise ConfigError(f"{broken}: it returned {type(made).__name__}, not agent_cli.ports.OpenModel.")
    return made


def _owner(entry: EntryPoint) -> str:
    """The distribution with its version."""
    return f"{entry.dist.name} {entry.dist.version}" if entry.dist else entry.value
