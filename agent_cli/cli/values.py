"""What was typed after an option, as a value; or the reason why it is none, with what would do."""

from __future__ import annotations

import difflib
import math

from agent_cli.cli.options import Flag
from agent_cli.config.durations import seconds
from agent_cli.kernel.errors import ConfigError

MOST_COUNT = 10**12
DEFAULT = "127.0.0.1:7777"
"""Where the attach server listens."""


class UsageError(ConfigError):
    """The command line is wrong; the message says what would be right."""

    kind = "usage"


def value_of(flag: Flag, typed: str | list[str] | bool) -> object:
    """Raises UsageError."""
    if isinstance(typed, bool):
        return typed
    if isinstance(typed, list):
        return typed if flag.kind == "many" else _names(typed)
    match flag.kind:
        case "choice":
            return _choice(flag, typed)
        case "count":
            return _count(flag, typed)
        case "number":
            return _number(flag, typed)
        case "seconds":
            return _seconds(flag, typed)
        case "dollars":
            return _dollars(flag, typed)
        case _:
            return _text(flag, typed)


def nearest(word: str, known: tuple[str, ...]) -> str:
    """` Did you mean 'x'?`, or nothing."""
    near = difflib.get_close_matches(word.lower(), known, n=1)
    return f" Did you mean '{near[0]}'?" if near else ""


def _text(flag: Flag, typed: str) -> str:
    if not typed.strip() and not flag.alone:
        raise UsageError(f"{flag.name} needs a value ({flag.metavar}), and it is empty.")
    return typed


def _choice(flag: Flag, typed: str) -> str:
    if typed in flag.choices:
        return typed
    folded = {choice.lower(): choice for choice in flag.choices}
    if typed.lower() in folded:
        return folded[typed.lower()]
    near = difflib.get_close_matches(typed.lower(), folded, n=1)
    hint = f" Did you mean '{folded[near[0]]}'?" if near else ""
    raise UsageError(f"{flag.name} is one of {', '.join(flag.choices)}, not '{typed}'.{hint}")


def _count(flag: Flag, typed: str) -> int:
    digits = typed.replace("_", "").replace(",", "")
    if not (digits.isascii() and digits.isdigit()) or int(digits[:20]) > MOST_COUNT:
        raise UsageError(f"{flag.name} is a whole number of 0 or more, not '{typed}'.")
    return int(digits)


def _number(flag: Flag, typed: str) -> float:
    try:
        number = float(typed)
    except ValueError:
        number = math.nan
    if not math.isfinite(number):
        raise UsageError(f"{flag.name} is a number like 0.7, not '{typed}'.")
    return number


def _seconds(flag: Flag, typed: str) -> float:
    try:
        return seconds(typed)
    except ValueError:
        raise UsageError(f"{flag.name} is a time like 90, 90s, 15m or 1h30m, not '{typed}'.") from None


def _dollars(flag: Flag, typed: str) -> float:
    try:
        amount = float(typed.removeprefix("$"))
    except ValueError:
        amount = math.nan
    if not 0 <= amount < math.inf:
        raise UsageError(f"{flag.name} is an amount in US dollars like 2.50, not '{typed}'.")
    return amount


def _names(typed: list[str]) -> list[str]:
    return list(dict.fromkeys(name for words in typed for name in words.replace(",", " ").split()))


def address(typed: str, option: str) -> tuple[str, int]:
    """HOST:PORT; of IPv6 in brackets. Raises UsageError."""
    host, _, port = typed.rpartition(":")
    host = host.removeprefix("[").removesuffix("]")
    if not (host and port.isascii() and port.isdigit() and int(port) < 65_536):
        raise UsageError(f"{option} takes HOST:PORT, like {DEFAULT} or [::1]:7777, and not '{typed}'.")
    return host, int(port)
