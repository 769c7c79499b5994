"""How what this program needs is doing, one condition at a time."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, TypeAlias

from agent_cli.kernel.values import Plain

Status: TypeAlias = Literal["ok", "note", "wrong"]
MARKS: dict[Status, str] = {"ok": "ok", "note": "!", "wrong": "✗"}


class Condition(Plain, frozen=True):
    """`wrong` is something needed that is missing or broken, `note` something that would be better with the remedy."""

    what: str
    status: Status
    says: str
    remedy: str = ""


def rows(conditions: Sequence[Condition]) -> list[tuple[str, str]]:
    """For people: what is wrong stands first of all in its mark, the remedy on a line of its own."""
    return [
        (f"{MARKS[each.status]} {each.what}", each.says + (f"\n→ {each.remedy}" if each.remedy else ""))
        for each in conditions
    ]


def verdict(conditions: Sequence[Condition]) -> str:
    wrong = [each.what for each in conditions if each.status == "wrong"]
    return f"Something needed is missing: {', '.join(wrong)}." if wrong else "Everything needed is there."
