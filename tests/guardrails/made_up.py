"""Secrets of made-up values: no real one, and none that a scanner of this repository would take for one, is in a file."""

from __future__ import annotations

from agent_cli.compose.labelled import made_up

__all__ = ["made_up"]
