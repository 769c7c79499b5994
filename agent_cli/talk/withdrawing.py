"""Taking a message back that waits."""

from __future__ import annotations

from agent_cli.kernel.commands import Withdraw
from agent_cli.kernel.messages import Block
from agent_cli.talk.desk import Desk


def take_back(desk: Desk) -> tuple[Block, ...]:
    """The last message that waits, which waits no more; () where none does."""
    if desk.session is None:
        return desk.unsent.pop().content if desk.unsent else ()
    waiting = desk.session.state.waiting
    if not waiting:
        return ()
    seq = max(waiting)
    content = waiting[seq].content
    desk.order(Withdraw(seq))
    return content
