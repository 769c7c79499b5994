"""The lines of the program's own log, without secrets."""

from __future__ import annotations

import logging

from agent_cli.guardrails.secrets.scan import redacted


class Discreet(logging.Formatter):
    def format(self, record: logging.LogRecord) -> str:
        return redacted(super().format(record))


def untold(record: logging.LogRecord) -> bool:
    """Of a program that shows a session's notes to the operator anyway, they would be told twice."""
    return record.name != "agent_cli.engine.notes"
