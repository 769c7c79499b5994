"""What settings say about turns that a vendor's own program does, and which of them cannot hold there."""

from __future__ import annotations

from agent_cli.compose.options import RunOptions
from agent_cli.config.settings import Settings
from agent_cli.config.sources import Loaded
from agent_cli.providers.vendors import Delegation

OWN_CONTEXT = (
    "{key} ({origin}) cannot hold for {{name}}: that program keeps its conversation, its window and its compaction to"
    " itself. Take the setting out, or choose another model."
)
OWN_TOKENS = (
    "{key} ({origin}) cannot hold for {{name}}: that program makes requests of its own, which it reports at its end."
    " Use budgets.max_steps or agent.max_turn_cost_usd, or choose another model."
)


def delegation(options: RunOptions, settings: Settings, loaded: Loaded | None) -> Delegation:
    """`loaded` tells which settings were said."""
    own = settings.claude
    refused = _refused(loaded) if loaded is not None else ""
    return Delegation(own.command, str(options.cwd.resolve()), own.setting_sources, refused)


def _refused(loaded: Loaded) -> str:
    """Why the first of the settings that were said cannot hold; switched off is no wish."""
    for key, origin in loaded.origins.items():
        if key == "budgets.max_tokens" and loaded.settings.budgets.max_tokens:
            return OWN_TOKENS.format(key=key, origin=_plain(origin))
        if key == "model.context_window" or (key.startswith("compaction.") and key != "compaction.enabled"):
            return OWN_CONTEXT.format(key=key, origin=_plain(origin))
    return ""


def _plain(origin: str) -> str:
    """As a text with places can hold it."""
    return origin.replace("{", "{{").replace("}", "}}")
