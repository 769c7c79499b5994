"""Messages that wait: for the session to open, for the next step, or for the next turn."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from rich.segment import Segment

from agent_cli.kernel.commands import Say
from agent_cli.talk.untrusted import clean_line
from agent_cli.tui.blocks.operator import words_of
from agent_cli.tui.ink import Ink
from agent_cli.tui.lines import Lines
from agent_cli.tui.wrap import Line, cut, wrap

SHOWN = 3
HALTED = " ■ The session is halted"
CLEARS = "  see /guardrail"
KILLED = "  until the kill switch is taken back"


class Queue(Lines):
    """What waits, under a halt for as long as there is one."""

    def __init__(self) -> None:
        super().__init__(id="queue")
        self._shown: tuple[tuple[Say, ...], str, Ink | None, bool] = ((), "", None, False)

    @property
    def halt(self) -> str:
        """Why nothing goes out, as it was drawn last."""
        return self._shown[1]

    def draw(
        self, says: tuple[Say, ...], ink: Ink, key: str, *, opening: bool, halt: str, running: bool
    ) -> None:
        """`key` takes the last one back."""
        if (says, halt, ink, running) != self._shown:
            self._shown = (says, halt, ink, running)
            self.put(queued(says, ink, opening=opening, halt=halt, key=key, running=running))


def queued(
    says: Sequence[Say], ink: Ink, *, opening: bool, halt: str = "", key: str = "", running: bool = True
) -> Callable[[int], list[Line]]:
    """What makes the lines of the queue for a width. `halt` is why nothing of it goes out, "" where it does.

    `key` takes the last one back, "" for none. What is left of an interrupted turn waits while none is `running`.
    """

    def lines(width: int) -> list[Line]:
        found: list[Line] = _halted(halt, ink, width) if halt else []
        for say in says[:SHOWN]:
            when = (
                "when the session is open"
                if opening
                else "after a reset"
                if halt
                else "with your next message"
                if not running
                else "next step"
                if say.when == "steer"
                else "after this turn"
            )
            text = cut(clean_line(words_of(say.content)[: width * 4]), max(width - len(when) - 6, 4))
            found.append(
                [Segment(" ↳ ", ink.accent), Segment(text, ink.text), Segment(f"  {when}", ink.faint)]
            )
        if len(says) > SHOWN:
            found.append([Segment(f"   … {len(says) - SHOWN} more", ink.faint)])
        if says and key:
            found.append([Segment(cut(f"   {key} takes the last one back", width), ink.faint)])
        return [[], *found] if found else []

    return lines


def _halted(halt: str, ink: Ink, width: int) -> list[Line]:
    """The banner that stays until a reset."""
    way = KILLED if halt.startswith("kill_switch") else CLEARS
    title = [
        Segment(HALTED, ink.bad),
        Segment(cut(way, max(width - len(HALTED), 0)), ink.faint),
    ]
    return [
        title,
        *(
            [Segment("   "), *row]
            for row in wrap([Segment(clean_line(halt), ink.text)], max(width - 4, 8))[:2]
        ),
    ]
