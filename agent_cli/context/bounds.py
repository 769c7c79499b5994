"""Every tool result passes one bound once, before it enters the log."""

from __future__ import annotations

from agent_cli.kernel.events import Output
from agent_cli.kernel.messages import Block, Text

DEFAULT_BYTES = 32_000


def bound(output: Output, limit: int = DEFAULT_BYTES) -> Output:
    """The output with each text at most `limit` bytes: head and tail, half of it each, cut between characters.

    Within the limit it is byte-identical.
    """
    blocks = tuple(_bound_block(block, limit) for block in output.for_model)
    if blocks == output.for_model:
        return output
    return Output(blocks, output.for_human, output.ok, output.no_op, output.changed)


def _bound_block(block: Block, limit: int) -> Block:
    if not isinstance(block, Text):
        return block
    raw = block.text.encode()
    if len(raw) <= limit:
        return block
    head = raw[: limit // 2].decode(errors="ignore")
    tail = raw[-(limit // 2) :].decode(errors="ignore")
    left_out = len(raw) - len(head.encode()) - len(tail.encode())
    return Text(f"{head}\n[… {left_out:,} of {len(raw):,} bytes left out here …]\n{tail}")
