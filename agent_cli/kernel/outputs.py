"""What a tool returns: one answer for the model, another for the person."""

from __future__ import annotations

from typing import TypeAlias

from agent_cli.kernel.messages import Block, Document, Image, Text
from agent_cli.kernel.values import Plain, Value


class Shown(Value, frozen=True, tag="shown"):
    """Plain text for the person."""

    text: str


class FileDiff(Value, frozen=True, tag="file-diff"):
    """A unified diff for the person; `added` and `removed` are lines."""

    path: str
    diff: str
    added: int
    removed: int


Display: TypeAlias = Shown | FileDiff


class Output(Plain, frozen=True):
    """`for_model` is what the model reads, `for_human` what the screen shows (None: the same text).

    `ok` is False for every failure and refusal. `no_op` is set by our own tools only: nothing was changed
    because nothing had to be. `changed` are paths whose content is different now. `empty` says that a search or a
    command found nothing: a success without news.
    `restless` are those of `changed` that change also while nothing runs, so that nobody knows who did it.
    """

    for_model: tuple[Block, ...]
    for_human: Display | None = None
    ok: bool = True
    no_op: bool = False
    changed: tuple[str, ...] = ()
    empty: bool = False
    restless: tuple[str, ...] = ()


def as_text(output: Output) -> str:
    """What the model reads of an output, as text; images and documents are named, not shown."""
    shown: list[str] = []
    for block in output.for_model:
        match block:
            case Text(text):
                shown.append(text)
            case Image(media_type):
                shown.append(f"[image {media_type}]")
            case Document(media_type):
                shown.append(f"[document {media_type}]")
    return "\n".join(shown)
