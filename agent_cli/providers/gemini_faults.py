"""What Google's errors say in their details: https://cloud.google.com/apis/design/errors#error_details."""

from __future__ import annotations

import re
from typing import Any, NamedTuple

from agent_cli.kernel.wire import is_list, is_object

DAILY = "insufficient_quota"
"""Our code for a quota of the day: waiting a minute does not help."""


class Details(NamedTuple):
    """`reason` is a code like API_KEY_INVALID, "" where none is given; `retry_after` is seconds."""

    reason: str = ""
    retry_after: float | None = None


def details_of(details: list[Any]) -> Details:
    reason, wait = "", None
    for detail in filter(is_object, details):
        if is_list(violations := detail.get("violations")):
            quotas = [str(one.get("quotaId")) for one in violations if is_object(one)]
            reason = DAILY if any("PerDay" in quota for quota in quotas) else reason
        reason = str(detail.get("reason") or reason)
        wait = _seconds(detail.get("retryDelay")) or wait
    return Details(reason, wait)


def _seconds(duration: Any) -> float | None:
    """A duration as JSON has it: "1.5s"."""
    found = re.fullmatch(r"(\d+(?:\.\d+)?)s", str(duration))
    return float(found.group(1)) if found else None
