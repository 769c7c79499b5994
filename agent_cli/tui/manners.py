"""What config asks of the screen's behaviour, taken over after the first frame."""

from __future__ import annotations

import difflib
import os
from collections.abc import Iterable
from typing import Any

from textual.app import App

from agent_cli.talk.door import Welcome
from agent_cli.tui.composer import Composer
from agent_cli.tui.vi import Vi


def settle(app: App[Any], composer: Composer, welcome: Welcome) -> None:
    """Motion, the mouse, and the keys of vi. A mouse that was let go of is not taken again."""
    app.animation_level = "full" if welcome.motion else "none"
    if bool(composer.vi) is not welcome.vi:
        composer.vi = Vi() if welcome.vi else None
        composer.post_message(Composer.Switched())
    driver: Any = app._driver  # noqa: SLF001  # pyright: ignore[reportPrivateUsage]  Textual asks only before it starts
    if not welcome.mouse and getattr(driver, "_mouse", False):
        driver._disable_mouse_support()  # noqa: SLF001  the same
        driver._mouse = False  # noqa: SLF001  nor is it switched on after a suspension


def no_theme(wanted: str, known: Iterable[str]) -> list[str]:
    """What to say of a theme that there is not."""
    names = ["dark", "light", *known]
    if wanted in names:
        return []
    near = difflib.get_close_matches(wanted, names, n=1)
    hint = f" Did you mean '{near[0]}'?" if near else ""
    return [f"There is no theme '{wanted}'.{hint} /theme shows all of them."]


def can_go_on() -> bool:
    """Whether somebody who controls jobs would take notice that this process stops."""
    if os.name != "posix":
        return False
    parent = os.getppid()
    try:
        return os.getsid(parent) == os.getsid(0) and os.getpgid(parent) != os.getpgid(0)
    except OSError:
        return False
