"""Proposals and facts as the gate gets them."""

from __future__ import annotations

from typing import Literal

from agent_cli.kernel.commands import Mode
from agent_cli.ports import Facts, PathUse, Proposal, Touches

ROOT = "/srv/project"
CONTROL = (
    f"{ROOT}/.agents/config.toml",
    f"{ROOT}/.agents/hooks",
    f"{ROOT}/.git/hooks",
    f"{ROOT}/.git/config",
    "/home/u/.bashrc",
)


def facts(mode: Mode = "ask", *, attended: bool = True, **more: tuple[str, ...]) -> Facts:
    return Facts(mode, attended, ((ROOT, "rw"), ("/srv/docs", "r")), control=CONTROL, **more)


def bash(command: str, *paths: str, writes: tuple[str, ...] = ()) -> Proposal:
    uses = (*(PathUse(path, "r") for path in paths), *(PathUse(path, "w") for path in writes))
    return Proposal("bash", False, Touches("execute", command, uses, command))


def file(tool: str, path: str, access: Literal["r", "w"] = "r") -> Proposal:
    effect = "read" if access == "r" else "write"
    return Proposal(
        tool, access == "r", Touches(effect, path.removeprefix(f"{ROOT}/"), (PathUse(path, access),))
    )


def read(path: str) -> Proposal:
    return file("read_file", path)


def write(path: str) -> Proposal:
    return file("write_file", path, "w")


def network(url: str) -> Proposal:
    return Proposal("fetch_url", True, Touches("network", url, hosts=("example.org",)))
