"""What /help and /keys say about the keys."""

from __future__ import annotations

from agent_cli.tui.keys import ACTIONS, Keys, Where

PLACES: dict[Where, str] = {
    "anywhere": "Anywhere",
    "composer": "Where you type",
    "transcript": "In the transcript",
    "approval": "While an approval waits",
}

BEGINNINGS = (
    ("/", "a command"),
    ("#", "a line for the instructions in AGENTS.md"),
    ("!", "runs a shell command; its output goes into your message"),
    ("@", "a file of the project, or what one defines (@# that alone); pictures and PDF files go along"),
)
HELP: tuple[tuple[tuple[str, ...], str], ...] = (
    (("send",), "send; while a turn runs, the model gets it before its next step"),
    (("send-after",), "send after the running turn"),
    (("take-back",), "take the last message that waits back, to change it"),
    (("newline",), "new line; so does Enter after a backslash"),
    (("up", "down"), "earlier and later messages, at the first and the last line"),
    (("history",), "search the earlier messages; again for an older one"),
    (("paste",), "an image of the clipboard goes along; else what was cut or copied here"),
    (("editor",), "write the message in your editor"),
    (("back",), "back out of what is open, then interrupt"),
    (("interrupt",), "interrupt; twice within a second: quit"),
    (("quit",), "quit, when nothing is typed"),
    (("switch",), "to the transcript and back; to a waiting approval"),
    (("page-up", "page-down"), "scroll the transcript"),
    (("next", "previous", "first", "last"), "in the transcript: next, previous, first, last block"),
    (("fold", "fold-all"), "fold or unfold the block; everything"),
    (("copy", "copy-code"), "copy the block; its code"),
    (("find", "find-up", "find-down"), "search the transcript; next match upwards, downwards"),
    (
        ("approve", "approve-call", "approve-tool", "approve-always", "deny", "deny-why"),
        "approve once, this call, this tool, always; deny, deny and say why",
    ),
    (("next-mode",), "next permission mode"),
    (("models",), "choose a model"),
    (("todo",), "what the agent has set itself to do"),
    (("suspend",), "back to the shell; fg goes on"),
    (("palette",), "command palette: everything there is"),
    (("help", "ask-help"), "this list; the latter when nothing is typed"),
)
"""The keys of several actions with one meaning; /keys has all of them with their names."""


class KeyGuide:
    """`keys` are those in force."""

    title = "Actions and their keys; ui.keys in config gives them others"
    beginnings = BEGINNINGS

    def __init__(self, keys: Keys) -> None:
        self._keys = keys

    def usual(self) -> list[tuple[str, str]]:
        return [(self._keys.shown(*names), does) for names, does in HELP]

    def all(self) -> list[tuple[str, str]]:
        rows: list[tuple[str, str]] = []
        for where, place in PLACES.items():
            rows.append((place, ""))
            found = [action for action in ACTIONS if action.where == where]
            rows += [(action.name, f"{self._keys.shown(action.name)}: {action.does}") for action in found]
        return rows
