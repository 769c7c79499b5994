"""What the program says, as a block of the transcript."""

from __future__ import annotations

from agent_cli.talk.answers import Alarm, Answer, Filling, Note, Table, Todos
from agent_cli.talk.changed import Changed
from agent_cli.tui.blocks.changes import Changes
from agent_cli.tui.blocks.item import Item
from agent_cli.tui.blocks.notice import Banner, Notice
from agent_cli.tui.blocks.report import Report
from agent_cli.tui.blocks.todo import Todos as TodoBlock
from agent_cli.tui.blocks.window_map import WindowMap


def block_of(answer: Answer) -> Item:
    match answer:
        case Note(text, level, tight):
            return Notice(text, level, gap=0 if tight else 1)
        case Alarm(title, text, level):
            return Banner(title, text, level)
        case Table(title, rows):
            return Report(title, rows)
        case Filling(title, rows, shares, used, window, limit):
            return WindowMap(title, rows, shares, (used, window, limit))
        case Todos(items):
            return TodoBlock(items)
        case Changed():
            return Changes(answer)
