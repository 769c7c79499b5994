"""Settings from their sources, the strongest first: flags, environment, --config, project, user, task class, defaults.

Lists of rules, tools and paths are joined; everything else is replaced key by key.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from itertools import takewhile
from pathlib import Path
from typing import Any

import msgspec

from agent_cli.config import (
    check,
    fields,
    files,
    old_spellings,
    places,
    problems,
    recipes,
    task_classes,
)
from agent_cli.config.kinds import allowed_path
from agent_cli.config.settings import VERSION, Settings
from agent_cli.config.trust import FOREIGN, RUNS, place, waiting, without
from agent_cli.kernel.errors import ConfigError
from agent_cli.kernel.values import Plain
from agent_cli.kernel.wire import is_list, is_object

PREFIX = "AGENT_CLI_"
NOT_SETTINGS = {"AGENT_CLI_HOME", "AGENT_CLI_ATTACH_TOKEN", "AGENT_CLI_HOOK_EVENT", "AGENT_CLI_PROJECT_DIR"}
"""The last two are what a hook finds in its environment; it may run this program."""
JOINED = {
    "permissions.allow",
    "permissions.deny",
    "tools.disable",
    "tools.enable",
    "path_scope.allow_paths",
    "url_scope.allow",
    "url_scope.deny",
    "hooks",
}
PATHS = {"session.db", "session.answer_schema", "agent.system_prompt_file"}
OPERATORS = {"ui.status_command"}
"""What runs a program: a project that was merely cloned must not say it."""
FLAGS = "command line"


class Loaded(Plain, frozen=True):
    """`origins` names for every dotted key that was set where its value came from: a file, a variable, "command line" or
    "task class NAME"; of a joined list all of them. `secrets` are the keys whose values hold a `${env:NAME}`.
    `notices` are lines for the operator. `files` were read, the weakest first. `project` is the `.agents/`.
    `task` is the kind of work that was named. `left_out` are keys and files of a project that is not trusted: neither
    they nor any tool, hook or server that the project brings may be used. `place` is what trust is asked about: the
    project, or where it would be. `named` is the file of `--config`.
    """

    settings: Settings
    origins: dict[str, str]
    secrets: frozenset[str]
    notices: tuple[str, ...]
    files: tuple[Path, ...]
    user: Path
    project: Path | None
    recipe: Path | None = None
    task: task_classes.Task | None = None
    left_out: tuple[str, ...] = ()
    place: Path | None = None
    named: Path | None = None

    def every_origin(self) -> dict[str, str]:
        """Of all settings, in the order of the schema, then of what the operator named; "default" where none was set."""
        return {key.name: "default" for key in fields.all_keys() if not key.named} | self.origins

    def said_now(self, key: str) -> bool:
        """Whether the command line or the environment of this run set that key."""
        origin = self.origins.get(key, "")
        return origin == FLAGS or origin.startswith(PREFIX)

    def scopes(self, name: str) -> tuple[Path, ...]:
        """Where files or directories of that name count: the user's, the project's, if it may load them, the recipe's.

        This alone says what a project that is not trusted may load: nothing of `trust.RUNS`, which `name` is one of.
        """
        if name not in RUNS:
            raise ValueError(f"whether a project needs trust for {name} is not decided: add it to trust.RUNS")
        open_to = None if name in self.left_out else self.project
        return tuple(scope / name for scope in (self.user, open_to, self.recipe) if scope is not None)

    def foreign(self, name: str) -> tuple[Path | None, Path | None]:
        """The same for what other agents keep beside `.agents`, one of `trust.FOREIGN`: the user's and the project's.

        Where the user scope was moved, the user has none.
        """
        if name not in FOREIGN:
            raise ValueError(
                f"whether a project needs trust for {name} is not decided: add it to trust.FOREIGN"
            )
        mine = self.user.parent / name if self.user.name == places.AGENTS else None
        closed = self.place is None or name in self.left_out
        return mine, None if closed or self.place is None else self.place.parent / name


class Layer(msgspec.Struct):
    """`tree` is what stands in `written` with placeholders filled in; paths in it begin at `base`."""

    origin: str
    base: Path
    written: dict[str, Any]
    tree: dict[str, Any]


def load(
    cwd: Path,
    environ: Mapping[str, str],
    flags: Mapping[str, Any],
    config_file: Path | None = None,
    recipe: str | None = None,
    *,
    trusted: bool = True,
    forgiven: list[str] | None = None,
) -> Loaded:
    """`flags` maps dotted keys to values; None stands for a flag that was not given. `recipe` is a name or a path.

    Where the project is not `trusted`, its file counts only as far as it takes nothing from the operator.
    Raises ConfigError that lists all that is wrong; with `forgiven` it is put there and left out instead.
    """
    user, project, asked = places.user_dir(environ), places.project_dir(cwd, environ), place(cwd, environ)
    closed = None if trusted else asked
    wrong, notices = _mistakes(closed, environ), list[str]()
    shaped = _shaped(recipe, cwd, environ, trusted=trusted)
    layers = _files(_found((user, project, shaped), config_file, cwd), environ, closed)
    read = tuple(Path(layer.origin) for layer in layers)
    layers += [*_environment(environ, cwd, wrong), *_flags(flags, cwd, wrong)]
    _judge(layers, project, wrong, notices, forgiven)
    task = task_classes.chosen(layer.tree for layer in layers)
    layers[:0] = [_of_task(task, cwd)] if task is not None else []
    tree, origins = _merged(layers, environ)
    return Loaded(
        settings=check.read(Settings, tree),
        origins=origins,
        secrets=frozenset(key for layer in layers for key in _secrets(layer)),
        notices=tuple(notices),
        files=read,
        user=user,
        project=project,
        recipe=shaped,
        task=task,
        left_out=waiting(closed).all if closed else (),
        place=asked,
        named=cwd / config_file if config_file else None,
    )


def _shaped(recipe: str | None, cwd: Path, environ: Mapping[str, str], *, trusted: bool) -> Path | None:
    """The `.agents` directory of the recipe. Raises ConfigError."""
    return recipes.find(recipe, cwd, environ, trusted=trusted) / places.AGENTS if recipe else None


def _judge(
    layers: list[Layer],
    project: Path | None,
    wrong: list[str],
    notices: list[str],
    forgiven: list[str] | None,
) -> None:
    """Raises ConfigError with all that is wrong in them, and takes out what is not a project's to say."""
    for layer in layers:
        _check(layer, wrong, notices, mend=forgiven is not None)
        if project is not None and Path(layer.origin).parent == project:
            _leave_out(layer, notices)
    if forgiven is None:
        _refuse(wrong)
    else:
        forgiven += dict.fromkeys(wrong)


# ── layers, the weakest first ────────────────────────────────────────────────────────────────────────────


def _found(
    scopes: tuple[Path | None, ...], config_file: Path | None, cwd: Path
) -> Iterator[tuple[Path, Path]]:
    """Config files and what paths in them are relative to."""
    for scope in scopes:
        file = files.in_directory(scope) if scope else None
        if scope and file:
            yield file, scope.parent if scope.name == places.AGENTS else scope
    if config_file:
        file = cwd / config_file
        yield file, file.parent


def _files(
    found: Iterator[tuple[Path, Path]], environ: Mapping[str, str], closed: Path | None
) -> list[Layer]:
    """What a project that is `closed` may not say is as if it did not stand there."""
    layers: list[Layer] = []
    missing: dict[str, str] = {}
    for file, base in found:
        written = files.read(file)
        if closed is not None and file.parent == closed:
            written = without(written)
        layers.append(Layer(str(file), base, written, files.fill(written, environ, missing, str(file))))
    if missing:
        names = ", ".join(f"{name} ({where})" for name, where in missing.items())
        raise ConfigError(
            f"Environment variables that the configuration asks for are not set: {names}. "
            "Set them, or take the ${env:…} out."
        )
    return layers


def _environment(environ: Mapping[str, str], cwd: Path, wrong: list[str]) -> Iterator[Layer]:
    """One layer a variable: AGENT_CLI_MODEL__NAME is model.name. Empty ones count as not set."""
    for name, text in sorted(environ.items()):
        if not name.startswith(PREFIX) or name in NOT_SETTINGS or not text:
            continue
        path = tuple(name.removeprefix(PREFIX).lower().split("__"))
        field = fields.field_at(path)
        if field is not None:
            tree = _put({}, path, fields.from_text(field, text))
            yield Layer(name, cwd, tree, tree)
        elif len(path) > 1 or fields.nearest(path):
            wrong.append(problems.unknown(path, name))


def _flags(flags: Mapping[str, Any], cwd: Path, wrong: list[str]) -> Iterator[Layer]:
    tree: dict[str, Any] = {}
    for dotted, given in flags.items():
        path = fields.path_of(dotted)
        field = fields.field_at(path)
        if given is None:
            continue
        if field is None:
            wrong.append(problems.unknown(path, FLAGS))
            continue
        text = os.fspath(given) if isinstance(given, Path) else given
        _put(tree, path, fields.from_text(field, text) if isinstance(text, str) else text)
    yield Layer(FLAGS, cwd, tree, tree)


def _mistakes(closed: Path | None, environ: Mapping[str, str]) -> list[str]:
    """What waits for the operator's trust has to be right all the same, or nobody would be told."""
    wrong: list[str] = []
    file = files.in_directory(closed) if closed is not None else None
    if file is None:
        return wrong
    written, missing = files.read(file), dict[str, str]()
    tree = files.fill(written, environ, missing, str(file))
    if not missing:
        _check(Layer(str(file), file.parent, written, tree), wrong, [])
    return wrong


def _refuse(wrong: list[str]) -> None:
    found = list(dict.fromkeys(wrong))
    if found:
        heading = ["The configuration is wrong in several places:"] if len(found) > 1 else []
        raise ConfigError("\n".join([*heading, *found]))


def _of_task(task: task_classes.Task, cwd: Path) -> Layer:
    tree: dict[str, Any] = {}
    for key, value in task.defaults.items():
        _put(tree, fields.path_of(key), value)
    return Layer(task.origin, cwd, tree, tree)


def _check(layer: Layer, wrong: list[str], notices: list[str], *, mend: bool = False) -> None:
    """Every layer fits the schema by itself, so that each mistake has a place. With `mend` it does so afterwards."""
    for held in (layer.tree, layer.written):
        held.pop(fields.SCHEMA, None)
    newer = isinstance(version := layer.tree.get("version"), int) and version > VERSION
    for name in [name for name in layer.tree if name not in Settings.__struct_fields__]:
        del layer.tree[name], layer.written[name]
        if newer:
            notices.append(
                f"{layer.origin} was written for a newer agent-cli; '{name}' is unknown to this one and ignored."
            )
        else:
            wrong.append(problems.unknown((name,), _located(layer.origin, (name,))))
    try:
        check.read(Settings, layer.tree)
    except check.Refused as refused:
        wrong.extend(
            problems.told(mistake, _located(layer.origin, mistake.path), layer.written)
            for mistake in refused.mistakes
        )
        if mend:
            _without(layer, refused.mistakes)
        return
    old_spellings.renew(layer.origin, layer.tree, wrong, notices)


def _without(layer: Layer, mistakes: list[check.Mistake]) -> None:
    """The key that holds each of them goes; where that does not mend it, everything does."""
    for mistake in mistakes:
        names = [str(name) for name in takewhile(lambda part: isinstance(part, str), mistake.path)]
        for tree in (layer.tree, layer.written):
            held: Any = tree
            for name in names[:-1]:
                held = held.get(name) if is_object(held) else None
            if is_object(held) and names:
                held.pop(names[-1], None)
    try:
        check.read(Settings, layer.tree)
    except check.Refused:
        layer.tree.clear()
        layer.written.clear()


def _located(origin: str, path: Sequence[str | int]) -> str:
    """With the line, where it is a file."""
    from agent_cli.config.lines import located

    return located(origin, path)


def _leave_out(layer: Layer, notices: list[str]) -> None:
    """Takes out of a project's file what only the operator may say."""
    for dotted in sorted(OPERATORS):
        section, key = dotted.split(".")
        if key in layer.tree.get(section, {}):
            layer.tree[section] = {name: held for name, held in layer.tree[section].items() if name != key}
            notices.append(
                f"{layer.origin} sets {dotted}, which runs a command; it is taken from your own config only, and "
                "was left out here."
            )


# ── merging ──────────────────────────────────────────────────────────────────────────────────────────────


def _merged(layers: list[Layer], environ: Mapping[str, str]) -> tuple[dict[str, Any], dict[str, str]]:
    tree: dict[str, Any] = {}
    origins: dict[str, str] = {}
    for layer in layers:
        for path, found in _leaves(layer.tree):
            dotted, value = ".".join(path), found
            origin = layer.origin
            if dotted in PATHS and isinstance(found, str):
                value = places.expanded(found, layer.base, environ)
            elif dotted in JOINED:
                value = _joined(tree, path, found, layer.base, environ)
                origin = f"{origins[dotted]}, {origin}" if dotted in origins else origin
            _put(tree, path, value)
            origins[dotted] = origin
    return tree, origins


def _joined(
    tree: dict[str, Any], path: fields.Path, found: list[Any], base: Path, environ: Mapping[str, str]
) -> list[Any]:
    """Each item once. What a stronger layer says of a path replaces what a weaker one said."""
    if path == ("hooks",):
        before: list[Any] = tree.get("hooks", [])
        return [*before, *(each for each in found if each not in before)]
    held: list[Any] = tree.get(path[0], {}).get(path[1], [])
    if path[0] != "path_scope":
        return list(dict.fromkeys([*held, *found]))
    items = [allowed_path(item) for item in found]
    placed = [{**item, "path": places.expanded(item["path"], base, environ)} for item in items]
    return list({item["path"]: item for item in [*held, *placed]}.values())


def _leaves(tree: dict[str, Any], above: fields.Path = ()) -> Iterator[tuple[fields.Path, Any]]:
    for name, value in tree.items():
        if is_object(value):
            yield from _leaves(value, (*above, name))
        else:
            yield (*above, name), value


def _put(tree: dict[str, Any], path: fields.Path, value: Any) -> dict[str, Any]:
    held = tree
    for part in path[:-1]:
        held = held.setdefault(part, {})
    held[path[-1]] = value
    return tree


def _secrets(layer: Layer) -> Iterator[str]:
    for path, value in _leaves(layer.written):
        texts = value if is_list(value) else [value]
        if any(isinstance(text, str) and files.PLACEHOLDER.search(text) for text in texts):
            yield ".".join(path)
