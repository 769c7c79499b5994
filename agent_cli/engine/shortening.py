"""The last resort against a full window: the operator's own words are sent with head and tail only, and he is told."""

from __future__ import annotations

from agent_cli.context.budget import Budget
from agent_cli.context.shorten import Short, shorten
from agent_cli.engine.core import Core
from agent_cli.kernel import events as ev
from agent_cli.kernel.messages import Document, Image, Part, Text

RETRIEVE = "retrieve_output"
TOLD = (
    "your message does not fit the context window of {model} ({window:,} tokens): {what}. "
    "The model is told so; ask for one part at a time, or switch to a model with a larger window"
)


def shorten_words(core: Core, size: int, budget: Budget, scale: float) -> None:
    """Brings a conversation of `size` tokens down to the budget's limit, as far as that is possible.

    `scale` is what a service counts for each token of our estimate.
    """
    window = budget.window
    plan = shorten(core.view.items(), int((size - budget.limit) / scale))
    if not plan.saved:
        return
    shortened = tuple(_shortened(core, part) for part in plan.parts)
    after = max(0, size - int(plan.saved * scale))
    core.record(ev.CompactionPerformed("mechanical", size, after, shortened=shortened))
    what = "; ".join(_told(one) for one in shortened)
    core.record(ev.OperatorNote(TOLD.format(model=core.model.card.id, window=window, what=what), "warning"))


def _shortened(core: Core, short: Short) -> ev.Shortened:
    """Its text is kept whole the first time."""
    item, before = short.item, short.item.shortened
    if before is not None:
        return ev.Shortened(item.seq, short.at, short.room, before.whole, before.path, before.how)
    part = item.part
    if not isinstance(part, Text):
        return ev.Shortened(item.seq, short.at, 0, _bytes_of(part))
    name = f"message_{item.seq}_{short.at}"
    path = core.parts.spill(name, part.text) if core.parts.spill else ""
    how = f'{RETRIEVE}(id="{name}", offset={{offset}})' if path and RETRIEVE in core.tools() else ""
    return ev.Shortened(item.seq, short.at, short.room, len(part.text.encode(errors="replace")), path, how)


def _bytes_of(part: Part) -> int:
    return len(part.data) * 3 // 4 if isinstance(part, (Image, Document)) else 0


def _told(one: ev.Shortened) -> str:
    if not one.room:
        return f"a picture or document of {one.whole:,} bytes is left out"
    where = f"; all of it is in {one.path}" if one.path else ""
    return f"of {one.whole:,} bytes the model sees the first and the last {one.room // 2:,}{where}"
