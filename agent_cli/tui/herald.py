"""Tells an operator who looks elsewhere: the title of the terminal, and a signal when something waits for them."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager
from pathlib import PurePath
from typing import Literal, TypeAlias

from agent_cli.engine.state import State
from agent_cli.kernel import events as ev
from agent_cli.talk.remarks import OUTCOMES
from agent_cli.talk.untrusted import clean_line

Notify: TypeAlias = Literal["auto", "bell", "osc9", "osc777", "off"]

LONGEST = 80
SAYS_NOTHING = frozenset({"", "dumb", "linux"})
"""Terminals (TERM) that take a title or a message for text."""
KEEP_TITLE, GIVE_TITLE_BACK = "\x1b[22;2t", "\x1b[23;2t"


@contextmanager
def kept_title() -> Generator[None]:
    """The terminal has its own title again afterwards."""
    takes = sys.stdout.isatty() and os.environ.get("TERM", "") not in SAYS_NOTHING
    if takes:
        sys.stdout.write(KEEP_TITLE)
    try:
        yield
    finally:
        if takes:
            sys.stdout.write(GIVE_TITLE_BACK)
            sys.stdout.flush()


class Herald:
    """`write` sends to the terminal, `focused` says whether somebody looks at it. `how` and `titled` come from config."""

    def __init__(
        self,
        write: Callable[[str], None],
        focused: Callable[[], bool],
        environ: Mapping[str, str] = os.environ,
    ) -> None:
        self.how: Notify = "auto"
        self.titled = True
        self._write = write
        self._focused = focused
        self._environ = environ
        self._title = ""

    def heed(self, entry: ev.Entry) -> None:
        """Something happened just now."""
        match entry.event:
            case ev.ApprovalRequested(tool=tool, agent=agent):
                self._signal(f"{f'{agent}: ' if agent else ''}{tool} asks for permission")
            case ev.TurnCompleted(outcome=outcome) if not entry.branch:
                self._signal(f"the turn ended: {OUTCOMES[outcome]}")
            case ev.TurnError() if not entry.branch:
                self._signal("the turn failed")
            case _:
                pass

    def stand(self, state: State | None, cwd: str, *, halted: bool = False) -> None:
        """The title says where the session stands; it is written when it changes."""
        if state is None or state.running is False:
            sign = "! halted" if halted else "ready"
        else:
            sign = "? asks" if state.pending else "* works"
        title = f"{sign} - {clean_line(PurePath(cwd).name) or 'agent-cli'} - agent-cli"[:LONGEST]
        if self.titled and title != self._title and self._environ.get("TERM", "") not in SAYS_NOTHING:
            self._title = title
            self._write(f"\x1b]2;{title}\x07")

    def _signal(self, text: str) -> None:
        if self.how == "off" or self._focused():
            return
        said = clean_line(f"agent-cli: {text}")[:LONGEST].replace(";", ",")
        match self.how if self.how != "auto" else best(self._environ):
            case "osc9":
                self._write(f"\x1b]9;{said}\x07")
            case "osc777":
                self._write(f"\x1b]777;notify;agent-cli;{said}\x07")
            case "bell" | "auto":
                self._write("\x07")
            case "off":
                pass


def best(environ: Mapping[str, str]) -> Notify:
    """What this terminal is known to show; the bell where nothing is known, and inside of tmux or screen."""
    if environ.get("TMUX") or environ.get("STY"):
        return "bell"
    term = environ.get("TERM", "")
    if environ.get("TERM_PROGRAM", "") in ("iTerm.app", "WezTerm", "ghostty") or term == "xterm-kitty":
        return "osc9"
    return "osc777" if term.startswith(("foot", "rxvt")) else "bell"
