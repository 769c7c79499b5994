"""Which sandbox this machine offers."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Callable, Sequence
from typing import NamedTuple

from agent_cli.kernel.errors import ConfigError
from agent_cli.tools.sandbox.confines import Confines, Sandbox, Wrapped
from agent_cli.tools.sandbox.wrappers import bubblewrap, seatbelt

_SECONDS = 10
_LONGEST = 200

Find = Callable[[str], str | None]
"""Where a program is, None where it is not installed."""


class Offer(NamedTuple):
    """A mechanism and why it cannot be used here, "" where it can."""

    name: str
    why_not: str


def open_sandbox(confines: Confines, *, platform: str = sys.platform, find: Find = shutil.which) -> Sandbox:
    """Raises ConfigError that says what is missing and how to get it."""
    found, offers = _look(confines, platform, find)
    if found is not None:
        return found
    tried = "; ".join(f"{offer.name}: {offer.why_not}" for offer in offers)
    ways = {
        "linux": "Install bubblewrap (apt install bubblewrap, dnf install bubblewrap), or use Linux 6.2 or newer",
        "darwin": "sandbox-exec is a part of macOS: look whether /usr/bin/sandbox-exec is there",
    }
    way = ways.get(platform, "There is none for this system")
    raise ConfigError(
        f"A sandbox was asked for ({confines.mode}), and this machine offers none ({tried or platform}). {way}; or start "
        "with --sandbox off, where commands run unconfined."
    )


def offers(
    confines: Confines, *, platform: str = sys.platform, find: Find = shutil.which
) -> tuple[Offer, ...]:
    """What was tried, in this order, up to the first that works."""
    return _look(confines, platform, find)[1]


def _look(confines: Confines, platform: str, find: Find) -> tuple[Sandbox | None, tuple[Offer, ...]]:
    if platform == "darwin":
        return _wrapped("seatbelt", "sandbox-exec", seatbelt, confines, find)
    if platform != "linux":
        return None, ()
    found, offered = _wrapped("bubblewrap", "bwrap", bubblewrap, confines, find)
    if found is not None:
        return found, offered
    locked, offer = _landlocked(confines)
    return locked, (*offered, offer)


def _wrapped(
    name: str,
    program: str,
    words: Callable[[str, Confines], tuple[str, ...]],
    confines: Confines,
    find: Find,
) -> tuple[Sandbox | None, tuple[Offer, ...]]:
    place = find(program)
    if place is None:
        return None, (Offer(name, f"{program} is not installed"),)
    prefix = words(place, confines)
    why = _trouble(prefix)
    return (None if why else Wrapped(name, prefix, confines)), (Offer(name, why),)


def _landlocked(confines: Confines) -> tuple[Sandbox | None, Offer]:
    from agent_cli.tools.sandbox import landlock

    why = landlock.why_not(confines)
    if why:
        return None, Offer(landlock.Landlocked.name, why)
    try:
        return landlock.Landlocked(confines), Offer(landlock.Landlocked.name, "")
    except OSError as problem:
        return None, Offer(landlock.Landlocked.name, str(problem.strerror or problem))


def _trouble(prefix: Sequence[str]) -> str:
    """Why it does not work, found by running something harmless in it once."""
    try:
        ran = subprocess.run(
            [*prefix, "/bin/sh", "-c", "exit 0"],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=_SECONDS,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as problem:
        return str(problem)
    if ran.returncode == 0:
        return ""
    said = ran.stderr.decode(errors="replace").strip().rpartition("\n")[2]
    return said[:_LONGEST] or f"exit code {ran.returncode}"
