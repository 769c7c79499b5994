"""The part of a long session that stands before what the transcript begins with: taken in when one scrolls to it.

A transcript that has grown long lets its beginning go again, so that the third hour costs what the first did.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence

from agent_cli.kernel import events as ev
from agent_cli.talk.door import Door
from agent_cli.tui.blocks.item import Item
from agent_cli.tui.blocks.notice import Notice
from agent_cli.tui.blocks.opening import Opening
from agent_cli.tui.column import Column
from agent_cli.tui.garbage import Garbage
from agent_cli.tui.story import Story
from agent_cli.tui.taken_back import take_back

AT_ONCE = 1_500
"""Facts that are taken in at once."""
MOST = 3_000
"""Items that a transcript holds before its beginning goes."""


class Older:
    """`mark` stands in the column where the older part belongs, as long as there is one."""

    def __init__(self, column: Column) -> None:
        self._column = column
        self._session: Door | None = None
        self._since = 0
        self._rewound: list[int] = []  # to before which messages the conversation was taken back
        self._seams: deque[tuple[int, Item]] = deque()  # facts before a step, and the last item they brought
        self._garbage = Garbage()
        self.mark = Notice("… the session goes on above: scroll up", gap=1)

    def __bool__(self) -> bool:
        return self._since > 0 and self.mark in self._column.items

    def begin(self, session: Door) -> int:
        """The fact behind which the transcript begins: before a turn, where there is one."""
        self._session = session
        self._rewound.clear()
        last = session.state.seq
        since = max(0, last - AT_ONCE)
        if since:
            since = _from(session.past(since, last), since)
        self._since = since
        if since:
            self._column.add([self.mark])
        return since

    def take(self) -> Item | None:
        """Takes in the next part; what stood first before it, None where nothing is left."""
        if self._session is None or not self:
            return None
        since = max(0, self._since - AT_ONCE)
        entries = self._session.past(since, self._since)
        since = _from(entries, since) if since else 0
        column = Column()
        story = Story(column)
        for entry in entries:
            if entry.seq > since:
                story.apply(entry)
        for to in self._rewound:
            take_back(column, to, after=since)
        self._rewound += [to for entry in entries if (to := _rewound(entry))]
        at = self._column.index(self.mark) + 1
        first = self._column.items[at] if at < len(self._column.items) else None
        self._column.add(column.items, at=at)
        self._since = since
        if not since:
            self._column.drop([self.mark])
        return first

    def heed(self, entry: ev.Entry, *, live: bool) -> None:
        """Call before the column takes it: where a step begins the column may be cut, and garbage is no one's wait."""
        if entry.branch:
            return
        if to := _rewound(entry):
            self._rewound.append(to)
        begins = isinstance(entry.event, ev.TurnStarted | ev.StepStarted)
        if begins and self._column.items:
            self._seams.append((entry.seq - 1, self._column.items[-1]))
        if live and (begins or isinstance(entry.event, ev.TERMINAL)):
            self._garbage.rest()

    def let_go(self) -> bool:
        """Cuts a column that is too long to about half. False where it is not, or can be cut nowhere."""
        items = self._column.items
        if len(items) <= MOST or self._session is None:
            return False
        places = {item: at for at, item in enumerate(items)}
        cut = None
        while self._seams and places.get(self._seams[0][1], 0) < len(items) - MOST // 2:
            seam = self._seams.popleft()
            cut = seam if seam[1] in places else cut
        if cut is None:
            return False
        self._since = cut[0]
        first = [item for item in items[:1] if isinstance(item, Opening)]
        self._column.drop(items[: places[cut[1]] + 1])
        self._column.add([*first, self.mark], at=0)
        self._garbage.rest(everything=True)
        return True


def _rewound(entry: ev.Entry) -> int:
    """The message that the conversation was taken back to before, 0 for none."""
    event = entry.event
    return event.to if isinstance(event, ev.Rewound) and event.conversation and not entry.branch else 0


def _from(entries: Sequence[ev.Entry], since: int) -> int:
    """The place before the first turn that begins among them; `since` where none does."""
    begun = (entry for entry in entries if isinstance(entry.event, ev.TurnStarted) and not entry.branch)
    return next((entry.seq - 1 for entry in begun), since)
