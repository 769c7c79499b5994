"""Which rule an approval may leave behind."""

from __future__ import annotations

import re

from agent_cli.permissions import globs
from agent_cli.permissions.bundle import names, read_only, risky
from agent_cli.permissions.secrets import looks_secret
from agent_cli.permissions.shell import Words, read_command, trimmed
from agent_cli.ports import Proposal

_SUBCOMMANDS = names(
    "git npm pnpm yarn bun cargo go uv poetry pip pip3 docker podman kubectl helm terraform dotnet gradle mvn gh "
    "hatch pdm rye nox tox just make bundle rake composer swift flutter dart mix"
)
_DANGEROUS = names(
    "push reset clean checkout restore rebase merge pull switch branch tag remote config stash rm filter-branch gc "
    "publish exec run-script uninstall remove prune delete destroy apply x dlx"
)
_RUNNERS = names(
    "pytest ruff mypy basedpyright pyright black isort flake8 pylint eslint prettier tsc jest vitest gofmt rustfmt "
    "clippy-driver shellcheck rg grep ls cat head tail wc find sort tree jq"
)
_SUBCOMMAND = re.compile(r"[a-z][a-z0-9:-]*")
_FAR = re.compile(r"^[/~]|(^|/)\.\.(/|$)|[=:][/~]")


def suggestion(proposal: Proposal) -> str:
    """The narrowest rule that is worth keeping for calls like this one."""
    touches = proposal.touches
    if proposal.tool.startswith("mcp__"):
        return f"{proposal.tool}:*"  # exactly these arguments hardly come again
    if touches.command is not None:
        secret = any(looks_secret(use.path) for use in touches.paths)
        exact = globs.escape(trimmed(touches.command))
        return f"{proposal.tool}:{exact if secret else _for_line(touches.command)}"
    if touches.effect in ("read", "write") and len(touches.paths) == 1:
        return f"{proposal.tool}:{globs.escape(touches.paths[0].path)}"
    return f"{proposal.tool}:{globs.escape(touches.subject)}"


def grant_for(proposal: Proposal, scope: str) -> str:
    """The rule that an approval of that scope adds: "call", "tool" or "always"; empty for "once"."""
    match scope:
        case "call":
            touches = proposal.touches
            line = touches.command or (touches.subject if proposal.tool.startswith("mcp__") else "")
            subject = trimmed(line)
            return f"{proposal.tool}:{globs.escape(subject)}" if subject else suggestion(proposal)
        case "tool":
            return f"{proposal.tool}:*"
        case "always":
            return suggestion(proposal)
        case _:
            return ""


def _for_line(line: str) -> str:
    commands = read_command(line)
    exact = globs.escape(trimmed(line))
    if commands is None or len(commands.simple) != 1:
        return exact
    words = commands.simple[0]
    if risky(words) or any(_FAR.search(word) or looks_secret(word) for word in words):
        return exact
    return _prefix(words) or exact


def _prefix(words: Words) -> str | None:
    verb = words[0]
    if verb not in _SUBCOMMANDS:
        return f"{verb}*" if verb in _RUNNERS or read_only(words) else None
    named = words[1:3] if words[1:2] == ("run",) else words[1:2]
    if not named or not all(_SUBCOMMAND.fullmatch(word) for word in named) or named[0] in _DANGEROUS:
        return None
    return " ".join((verb, *named)) + "*"
