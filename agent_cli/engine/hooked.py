"""What is remembered of the operator's hooks while a session is open."""

from __future__ import annotations


class Hooked:
    """`began`: the session's start was told. `answered`: hooks have seen the turn's answer. `heard` is the entry of the last
    message of the operator's that they have heard, None before the first turn of this process; `passed` are waiting ones.
    `words` are for the model, when it is next told something.
    """

    def __init__(self) -> None:
        self.began = False
        self.answered = False
        self.heard: int | None = None
        self.passed: set[int] = set()
        self.words: list[str] = []
