"""Opens a session: config → parts → Session."""

from __future__ import annotations

from collections.abc import Callable

import msgspec

from agent_cli.compose.budgets import alone
from agent_cli.compose.log import Kept, open_log
from agent_cli.compose.models import model_name, open_registry
from agent_cli.compose.options import RunOptions
from agent_cli.compose.parts import parts_of
from agent_cli.compose.toolset import check
from agent_cli.config import trust
from agent_cli.config.settings import Settings
from agent_cli.config.sources import Loaded, load
from agent_cli.engine.parts import Parts
from agent_cli.engine.session import Session
from agent_cli.kernel.commands import SetEffort, SetMode
from agent_cli.kernel.errors import ConfigError, ModelGone
from agent_cli.ports import OpenModel
from agent_cli.providers.registry import Registry


class Opened(msgspec.Struct, frozen=True):
    """A session ready to be talked to, and the settings it was made with."""

    session: Session
    settings: Settings


def prepare(options: RunOptions, forgiven: list[str] | None = None) -> Loaded:
    """The settings in force. A project that the operator does not trust counts only in part.

    Raises ConfigError; with `forgiven` keys that are wrong are told there and left out instead.
    """
    project = trust.place(options.cwd, options.environ)
    trusted = project is None or trust.is_trusted(project, options.environ)
    if options.trust and project is not None and not trusted:
        trust.trust(project, options.environ)
        trusted = True
    loaded = load(
        options.cwd,
        options.environ,
        options.flags,
        options.config_file,
        options.recipe,
        trusted=trusted,
        forgiven=forgiven,
    )
    return loaded if options.attended else alone(loaded, answered=options.answered)


def open_session(
    options: RunOptions, loaded: Loaded | None = None, adapt: Callable[[Parts], Parts] | None = None
) -> Opened:
    """`loaded` is what `prepare` gave, if it was asked before; `adapt` may replace parts of the session.

    Raises ConfigError (the operator can mend it) and StoreError (the session database).
    """
    loaded = loaded or prepare(options)
    settings = loaded.settings
    registry = open_registry(options, settings, loaded)
    check(loaded)  # a wrong name is told before anything
    kept = open_log(options, settings)
    try:
        model = _open_model(registry, model_name(loaded, registry, kept.model), kept)
        parts = parts_of(options, loaded, registry, model, kept)
        session = Session(adapt(parts) if adapt else parts)
        if session.state.started and loaded.said_now("permissions.mode"):
            session.send(SetMode(settings.permissions.mode))  # over the one that it was left in
        if session.state.started and loaded.said_now("model.effort"):
            session.send(SetEffort(settings.model.effort or ""))
    except BaseException:
        kept.log.close()
        kept.close()
        raise
    return Opened(session, settings)


def _open_model(registry: Registry, name: str, kept: Kept) -> OpenModel:
    """Raises ModelGone where it is the one that the session was held with; another service of that model is not it."""
    held = name == kept.model
    try:
        opened = registry.open(name)
    except ConfigError as problem:
        if not held:
            raise
        why = str(problem)
    else:
        provider = name.partition("/")[0]
        if not held or opened.provider.name == provider:
            return opened
        why = f"there is no provider '{provider}' any more."
    raise ModelGone(
        f"Session '{kept.log.session}' was held with {name}, which cannot be used now: {why} Go on with another model: "
        "--model NAME."
    )
