"""What requests hold. A field that is not known is refused, so that a misspelling is no silence."""

from __future__ import annotations

from typing import Annotated, Literal

from msgspec import Meta

from agent_cli.kernel.commands import GrantScope, Mode
from agent_cli.kernel.values import Plain

LONGEST = 1 << 20
"""Bytes of a body."""
Words = Annotated[str, Meta(min_length=1, max_length=LONGEST)]
Short = Annotated[str, Meta(max_length=4_096)]
Dollars = Annotated[float, Meta(ge=0, le=1_000_000)]


class NewSession(Plain, frozen=True, forbid_unknown_fields=True):
    """What is left out is as config says. `cwd` is one of the directories that are served, or below one."""

    message: Words | None = None
    name: Short = ""
    cwd: Short = ""
    model: Short = ""
    permission_mode: Mode | None = None


class Inject(Plain, frozen=True, forbid_unknown_fields=True):
    """While a turn runs, "steer" reaches the model before its next step, "after" begins the next turn."""

    message: Words
    when: Literal["steer", "after"] = "steer"


class Decision(Plain, frozen=True, forbid_unknown_fields=True):
    """`message` of a denial is told to the model. `edit` runs instead where the request is editable, and is the answer
    to a question. `scope` "always" is written to the project's config and takes a token of scope admin.
    """

    decision: Literal["approve", "deny"]
    message: Annotated[str, Meta(max_length=65_536)] = ""
    scope: GrantScope = "once"
    edit: Annotated[str, Meta(max_length=LONGEST)] = ""


class Focus(Plain, frozen=True, forbid_unknown_fields=True):
    """What the summary is to dwell on."""

    focus: Annotated[str, Meta(max_length=65_536)] = ""


class Done(Plain, frozen=True, forbid_unknown_fields=True):
    """What was done."""

    note: Annotated[str, Meta(max_length=65_536)] = ""


class Clear(Plain, frozen=True, forbid_unknown_fields=True):
    """`additional_budget_usd` raises the session's cost ceiling; what is spent stays spent."""

    guardrail: Literal["watchdog", "cost_ceiling", "all"] = "all"
    additional_budget_usd: Dollars = 0.0
