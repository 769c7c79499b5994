"""The operator's editor on a text of the screen: the terminal is its own meanwhile, and the session goes on behind it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from textual.app import App, SuspendNotSupported
from textual.message import Message

from agent_cli.talk import outside


@dataclass
class Edit(Message):
    """Wants the editor for a text; `take` gets what it leaves."""

    text: str
    take: Callable[[str], None]


async def in_editor(app: App[Any], text: str) -> str:
    """The text as the editor leaves it. Raises ValueError that says why there is none."""
    try:
        with app.suspend(), app.batch_update():
            return await asyncio.to_thread(outside.edit, text)
    except SuspendNotSupported:
        raise ValueError("no editor can be opened here") from None
    finally:
        app.refresh(layout=True)
