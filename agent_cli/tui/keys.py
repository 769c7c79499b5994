"""Every key that can be given another one: one table of actions, and what the operator made of it."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Mapping
from typing import Literal, NamedTuple, TypeAlias

from textual.binding import Binding
from textual.events import Key
from textual.keys import KEY_NAME_REPLACEMENTS
from textual.keys import Keys as Named

Where: TypeAlias = Literal["anywhere", "composer", "transcript", "approval"]


class Action(NamedTuple):
    """`name` is what config calls it, `keys` are Textual's names of its usual keys."""

    name: str
    keys: tuple[str, ...]
    where: Where
    does: str


ACTIONS: tuple[Action, ...] = (
    Action("interrupt", ("ctrl+c",), "anywhere", "interrupt; twice within a second: quit"),
    Action("back", ("escape",), "anywhere", "back out of what is open, then interrupt"),
    Action("switch", ("tab",), "anywhere", "to the transcript and back; to a waiting approval"),
    Action("next-mode", ("shift+tab",), "anywhere", "next permission mode"),
    Action("fold-all", ("ctrl+o",), "anywhere", "fold or unfold the block, or everything"),
    Action("models", ("ctrl+l",), "anywhere", "choose a model"),
    Action("todo", ("ctrl+t",), "anywhere", "open or close the list of things to do"),
    Action("suspend", ("ctrl+z",), "anywhere", "back to the shell; fg goes on"),
    Action("page-up", ("pageup",), "anywhere", "scroll the transcript up"),
    Action("page-down", ("pagedown",), "anywhere", "scroll the transcript down"),
    Action("palette", ("ctrl+p",), "anywhere", "command palette"),
    Action("help", ("f1",), "anywhere", "this list"),
    Action("send", ("enter",), "composer", "send; while a turn runs, the model gets it before its next step"),
    Action("send-after", ("alt+enter",), "composer", "send after the running turn"),
    Action("newline", ("shift+enter", "ctrl+j", "ctrl+enter"), "composer", "new line"),
    Action("editor", ("ctrl+g",), "composer", "write it in your editor ($VISUAL, $EDITOR)"),
    Action("history", ("ctrl+r",), "composer", "search the earlier messages; again for an older one"),
    Action("complete", ("tab",), "composer", "take the completion that is marked"),
    Action("quit", ("ctrl+d",), "composer", "quit, when nothing is typed"),
    Action("ask-help", ("question_mark",), "composer", "this list, when nothing is typed"),
    Action("up", ("up",), "composer", "a line up; at the first line an earlier message"),
    Action("down", ("down",), "composer", "a line down; at the last line a later message"),
    Action("left", ("left",), "composer", "a character to the left"),
    Action("right", ("right",), "composer", "a character to the right"),
    Action("word-left", ("ctrl+left", "alt+b", "alt+left"), "composer", "a word to the left"),
    Action("word-right", ("ctrl+right", "alt+f", "alt+right"), "composer", "a word to the right"),
    Action("line-start", ("home", "ctrl+a"), "composer", "to the beginning of the line"),
    Action("line-end", ("end", "ctrl+e"), "composer", "to the end of the line"),
    Action("select-up", ("shift+up",), "composer", "select a line up"),
    Action("select-down", ("shift+down",), "composer", "select a line down"),
    Action("select-left", ("shift+left",), "composer", "select to the left"),
    Action("select-right", ("shift+right",), "composer", "select to the right"),
    Action("select-word-left", ("ctrl+shift+left",), "composer", "select a word to the left"),
    Action("select-word-right", ("ctrl+shift+right",), "composer", "select a word to the right"),
    Action("select-line-start", ("shift+home",), "composer", "select to the beginning of the line"),
    Action("select-line-end", ("shift+end",), "composer", "select to the end of the line"),
    Action("select-line", ("f6",), "composer", "select the line"),
    Action("select-all", ("f7",), "composer", "select all"),
    Action("delete-left", ("backspace",), "composer", "delete to the left"),
    Action("delete-right", ("delete", "ctrl+d"), "composer", "delete to the right"),
    Action(
        "delete-word-left",
        ("ctrl+w", "ctrl+backspace", "alt+backspace"),
        "composer",
        "delete a word to the left",
    ),
    Action("delete-word-right", ("alt+delete", "alt+d"), "composer", "delete a word to the right"),
    Action(
        "delete-to-start", ("ctrl+u", "super+backspace"), "composer", "delete to the beginning of the line"
    ),
    Action("delete-to-end", ("ctrl+k",), "composer", "delete to the end of the line, or the line break"),
    Action("delete-line", ("ctrl+shift+k",), "composer", "delete the line"),
    Action("cut", ("ctrl+x", "super+x"), "composer", "cut what is selected, or the line"),
    Action("copy-text", ("super+c",), "composer", "copy what is selected"),
    Action(
        "paste", ("ctrl+v",), "composer", "paste an image of the clipboard, or what was cut or copied here"
    ),
    Action("take-back", ("alt+up",), "composer", "take the last message that waits back, to change it"),
    Action("undo", ("ctrl+underscore", "super+z"), "composer", "undo"),
    Action("redo", ("ctrl+y", "super+y"), "composer", "redo"),
    Action("next", ("j", "down"), "transcript", "next block"),
    Action("previous", ("k", "up"), "transcript", "previous block"),
    Action("first", ("g", "home"), "transcript", "first block"),
    Action("last", ("G", "end"), "transcript", "last block"),
    Action("screen-up", ("b", "ctrl+b"), "transcript", "a screen up"),
    Action("screen-down", ("ctrl+f",), "transcript", "a screen down"),
    Action("fold", ("space",), "transcript", "fold or unfold the block"),
    Action(
        "move-right",
        ("right", "greater_than_sign"),
        "transcript",
        "a wide table or diff in its own width, and to the right",
    ),
    Action("move-left", ("left", "less_than_sign"), "transcript", "back to the left, until it fits again"),
    Action("copy", ("y",), "transcript", "copy the block"),
    Action("copy-code", ("c",), "transcript", "copy its code"),
    Action("find", ("slash",), "transcript", "search"),
    Action("find-up", ("n",), "transcript", "next match upwards"),
    Action("find-down", ("N",), "transcript", "next match downwards"),
    Action("approve", ("y",), "approval", "approve once"),
    Action(
        "approve-changed", ("e",), "approval", "change the text in your editor, then approve it: for plans"
    ),
    Action("approve-call", ("s",), "approval", "approve this call for the session"),
    Action("approve-tool", ("t",), "approval", "approve this tool for the session"),
    Action("approve-always", ("a",), "approval", "approve always, by a rule in config"),
    Action("deny", ("n",), "approval", "deny"),
    Action("deny-why", ("N",), "approval", "deny, and say why"),
    Action("next-approval", ("j", "down"), "approval", "next approval"),
    Action("previous-approval", ("k", "up"), "approval", "previous approval"),
)

BY_NAME = {action.name: action for action in ACTIONS}

MODIFIERS = frozenset({"ctrl", "alt", "shift", "super", "meta", "hyper"})
NAMES = frozenset(key.value.rpartition("+")[2] for key in Named)
SHARED = ({"switch", "complete"}, {"quit", "delete-right"})
"""Pairs that have a key in common: the second does what the first has no use for."""
TYPED = ("ask-help",)
"""Actions of the composer that a key which is typed may have, since they act on an empty one only."""


class Keys:
    """The keys in force."""

    def __init__(self) -> None:
        self._changed: dict[str, tuple[str, ...]] = {}

    def take(self, wanted: Mapping[str, str]) -> list[str]:
        """Replaces what was changed. Says what of it was not taken, and why.

        `wanted` has the keys of an action by its name, several with commas between: `{"help": "f1,ctrl+h"}`.
        """
        self._changed = {}
        troubles = [trouble for name, text in wanted.items() if (trouble := self._wish(name, text))]
        while clash := self._clash():
            name, other, key = clash
            del self._changed[name]
            troubles.append(
                f"{label(key)} for {name} is the key of {other} too; {name} keeps {self.shown(name)}. "
                f"Give {other} another key, or {name} a free one."
            )
        return [f"ui.keys: {trouble}" for trouble in troubles]

    @property
    def keymap(self) -> dict[str, str]:
        """For Textual: what is not as usual."""
        return {name: ",".join(keys) for name, keys in self._changed.items()}

    def of(self, name: str) -> tuple[str, ...]:
        return self._changed.get(name, BY_NAME[name].keys)

    def action(self, where: Where, key: str) -> str:
        """The action that a key has there, "" for none."""
        return next(iter(self.actions(where, key)), "")

    def actions(self, where: Where, key: str) -> list[str]:
        """All of them, where the second does what the first has no use for."""
        return [action.name for action in ACTIONS if action.where == where and key in self.of(action.name)]

    def first(self, name: str) -> str:
        """For people: the first key of an action."""
        return label(self.of(name)[0])

    def shown(self, *names: str) -> str:
        """For people: all keys of one action, or the first of each of several."""
        if len(names) == 1:
            return ", ".join(map(label, self.of(names[0])))
        return ", ".join(map(self.first, names))

    def _wish(self, name: str, text: str) -> str:
        """Takes it over, or says why not."""
        if name not in BY_NAME:
            return f"there is no action {name!r}. /keys lists them."
        keys = [canonical(part.strip()) for part in text.split(",")]
        if not all(keys):
            return (
                f"{text!r} for {name} is not a key. Keys are named like f2, ctrl+x, alt+enter, pageup or question_mark; "
                "several have commas between."
            )
        plain = next((key for key in keys if _types(key)), "")
        if plain and BY_NAME[name].where in ("anywhere", "composer") and name not in TYPED:
            return f"{label(plain)} for {name} would no longer be typed. Take it with ctrl or alt, or a function key."
        self._changed[name] = tuple(dict.fromkeys(keys))
        return ""

    def _clash(self) -> tuple[str, str, str] | None:
        """A changed action, another one that can be meant at the same time, and the key that both have."""
        for name in self._changed:
            for other in ACTIONS:
                shared = set(self.of(name)) & set(self.of(other.name)) - set(_shared(name, other.name))
                if other.name != name and shared and _meet(BY_NAME[name].where, other.where):
                    return name, other.name, min(shared)
        return None


def bound(name: str, action: str, *, priority: bool = False) -> Binding:
    """Textual's binding of an action of the table."""
    known = BY_NAME[name]
    return Binding(",".join(known.keys), action, known.does, show=False, priority=priority, id=name)


def pressed(event: Key) -> str:
    """The key of an event by the name that the table has for it."""
    character = event.character if event.is_printable else None
    return (canonical(character) if character else "") or event.key


def leaves(keys: Keys, event: Key) -> bool:
    """Whether that key leaves where nothing is typed, wherever the focus is: the composer knows."""
    return "quit" in keys.actions("composer", pressed(event))


def canonical(key: str) -> str:
    """Textual's name of a key, "" where it is none."""
    if len(key) == 1:
        return _character(key)
    *modifiers, base = key.split("+")
    if len(modifiers) != len(set(modifiers)) or not set(modifiers) <= MODIFIERS or not base:
        return ""
    base = _character(base) if len(base) == 1 else base if base in NAMES or _named(base) else ""
    return "+".join([*sorted(modifiers), base]) if base else ""


def label(key: str) -> str:
    """`ctrl+question_mark` as people write it: `Ctrl+?`."""
    *modifiers, base = key.split("+")
    special = {"pageup": "PageUp", "pagedown": "PageDown", "escape": "Esc"}
    shown = special.get(base) or _named(base) or (base if len(base) == 1 else base.capitalize())
    if modifiers and len(shown) == 1:
        shown = shown.upper()
    return "+".join([*(modifier.capitalize() for modifier in modifiers), shown])


def _character(character: str) -> str:
    """As Textual names a character that was typed."""
    if character.isalnum():
        return character
    name = unicodedata.name(character, "").lower()
    name = re.sub(r"[- ]", "_", name)
    return KEY_NAME_REPLACEMENTS.get(name, name)


def _named(name: str) -> str:
    """The character of a name like question_mark, "" for none; a space is not shown as one."""
    return next((mark for mark in "!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~" if _character(mark) == name), "")


def _types(key: str) -> bool:
    """Whether the key writes a character."""
    return len(key) == 1 or key == "space" or bool(_named(key))


def _meet(where: Where, other: Where) -> bool:
    return where == other or "anywhere" in (where, other)


def _shared(name: str, other: str) -> Iterable[str]:
    """Keys that two actions have in common by intention."""
    return BY_NAME[name].keys if {name, other} in SHARED else ()
