"""Guardrails as a program sees and resets them."""

from __future__ import annotations

from typing import Literal

from agent_cli.engine.session import Session
from agent_cli.guardrails import telling
from agent_cli.kernel.commands import Reset
from agent_cli.kernel.errors import AgentError


class Switches:
    """Part of `Agent`."""

    _session: Session

    @property
    def watchdog_tripped(self) -> str:
        """Why the watchdog halts the session, "" where it does not."""
        return self._reason("watchdog")

    @property
    def cost_ceiling_tripped(self) -> str:
        """Why a cost ceiling halts the session, "" where none does."""
        return self._reason("cost_ceiling")

    def reset_watchdog(self) -> None:
        """Lets the session go on, and clears what its signals counted. Raises StoreError."""
        self._session.send(Reset("watchdog"))

    def reset_cost_ceiling(self, added_usd: float = 0.0) -> None:
        """Lets the session go on with that much more budget.

        Spent dollars stay spent: raises AgentError with the least amount where the next turn would trip again.
        Raises StoreError.
        """
        self._add("cost_ceiling", added_usd)

    def add_session_cost_budget(self, usd: float) -> None:
        """Raises the session's ceiling by that much, if there is one. Raises AgentError as a reset does, StoreError."""
        self._add("cost_ceiling", usd)

    def _add(self, guardrail: Literal["cost_ceiling"], usd: float) -> None:
        if problem := telling.why_not(self._session.halts(), guardrail, usd, self._session.id):
            raise AgentError(problem)
        self._session.send(Reset(guardrail, usd))

    def _reason(self, guardrail: str) -> str:
        return "; ".join(halt.reason for halt in self._session.halts() if halt.guardrail == guardrail)
