"""Facts about questions to the operator: what was asked, what was answered."""

from __future__ import annotations

from typing import Literal

from agent_cli.kernel.commands import GrantScope, Verdict
from agent_cli.kernel.outputs import Display
from agent_cli.kernel.values import Value


class ApprovalRequested(Value, frozen=True, tag="approval-requested"):
    """The turn waits for an `Answer` with this call id. `preview` is the full command or the diff.

    `once_only` says that no answer holds for a later call; else `suggestion` is the rule of "always".
    `agent` is the name of the subtask that asks, "" for the session itself.
    `editable` says that an answer may carry another text than the one of the preview.
    `options` is there for a question of the model: the text of the answer is what it wants, and these are offered.
    """

    call_id: str
    tool: str
    subject: str
    reason: str
    rule: str
    preview: Display | None = None
    suggestion: str = ""
    once_only: bool = False
    agent: str = ""
    editable: bool = False
    options: tuple[str, ...] | None = None


class ApprovalDecided(Value, frozen=True, tag="approval-decided"):
    """`by` is "interrupt" where the turn was stopped first. `grant` is the rule that a scope beyond "once" adds."""

    call_id: str
    tool: str
    allowed: bool
    by: Literal["operator", "interrupt"]
    scope: GrantScope = "once"
    grant: str = ""
    message: str = ""
    edited: bool = False


class RuleAdded(Value, frozen=True, tag="rule-added"):
    """A permission rule of the operator that holds from here on. `kept` says that it stands in config, too."""

    verdict: Verdict
    rule: str
    kept: bool = False
