r"""Labelled texts and calls, and how often the checks are wrong over them.

A line of such a file is a label, where the text stands (a surface, and a tool behind a colon) and the text, with tabs
between them. The label is the name of the check that has to find it, or `honest`. In the text `\\n` is a new line,
`«PREFIX:SIZE»` the prefix and that many made-up letters and digits (`«:32:hex»`, or `lower`, `upper`, `digits`, `base64`,
`url` for others), so that no secret has to be in the file; `B64(…)` and `HEX(…)` encode what is in them.
"""

from __future__ import annotations

import base64
import random
import re
import string
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

from agent_cli.compose.checks import subject_of
from agent_cli.guardrails.checks.armed import Armed
from agent_cli.guardrails.checks.book import book
from agent_cli.guardrails.checks.check import SlowCheck
from agent_cli.guardrails.checks.past import Past
from agent_cli.guardrails.secrets.scan import redact
from agent_cli.kernel.errors import ConfigError
from agent_cli.kernel.values import Plain
from agent_cli.permissions.secrets import looks_secret

HONEST = "honest"
FINDS = {"secret": "secrets", "instructions": "untrusted-text", "leak": "exfiltration"}
"""Short labels for three checks."""
ALPHABETS = {
    "": string.ascii_letters + string.digits,
    "hex": "0123456789abcdef",
    "lower": string.ascii_lowercase + string.digits,
    "upper": string.ascii_uppercase + "234567",
    "digits": string.digits,
    "base64": string.ascii_letters + string.digits + "+/",
    "url": string.ascii_letters + string.digits + "-_",
}
SURFACES = ("input", "action", "output")
_MARK = re.compile(r"«([^:«»]*):(\d+)(?::(\w+))?»")
_ENCODED = re.compile(r"(B64|HEX)\(([^)]*)\)")


class Case(NamedTuple):
    label: str
    surface: str
    tool: str
    text: str


class Counted(Plain, frozen=True):
    """Of one check: cases that it has to find, those that it missed, honest ones, and those that it found all the same."""

    check: str
    attacks: int
    missed: tuple[Case, ...]
    honest: int
    wrong: tuple[Case, ...]


def cases(path: Path) -> Iterator[Case]:
    """Raises ConfigError that names the line."""
    try:
        lines = path.read_text("utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as problem:
        raise ConfigError(f"{path} cannot be read: {problem}. Name a file of labelled texts.") from None
    for at, line in enumerate(lines):
        if not line.strip():
            continue
        label, _, rest = line.partition("\t")
        where, _, text = rest.partition("\t")
        surface, _, tool = where.partition(":")
        if surface not in SURFACES or not text:
            raise ConfigError(
                f"{path}, line {at + 1}: it takes a label, a surface ({', '.join(SURFACES)}; a tool behind a colon) and a "
                "text, with tabs between them."
            )
        text, _ = made_up(text.replace("\\n", "\n"), at)
        yield Case(label, surface, tool, _ENCODED.sub(_encoded, text))


def counted(every: Iterable[Case], armed: Armed) -> tuple[Counted, ...]:
    """In the order in which their labels come."""
    known = [(case, found_in(case, armed)) for case in every]
    counts: list[Counted] = []
    for label in dict.fromkeys(case.label for case, _ in known if case.label != HONEST):
        check = FINDS.get(label, label)
        attacks = [(case, found) for case, found in known if case.label == label]
        surfaces = {case.surface for case, _ in attacks}
        others = [pair for pair in known if pair[0].label == HONEST and pair[0].surface in surfaces]
        missed = tuple(case for case, found in attacks if check not in found)
        wrong = tuple(case for case, found in others if check in found)
        counts.append(Counted(check, len(attacks), missed, len(others), wrong))
    return tuple(counts)


def found_in(case: Case, armed: Armed) -> frozenset[str]:
    """The checks that find something in it; slow ones are not asked."""
    found = (
        {"secrets"} if armed.redact and case.surface != "action" and redact(case.text).kinds else set[str]()
    )
    subject = subject_of(case.text, case.surface, case.tool)
    for check in book(armed, looks_secret):
        if check.surface == case.surface and not isinstance(check, SlowCheck) and check.look(subject, Past()):
            found.add(check.name)
    return frozenset(found)


def made_up(text: str, seed: int = 7) -> tuple[str, tuple[str, ...]]:
    """The text with values in the place of the marks, and the values, without their prefixes."""
    dice = random.Random(seed)  # noqa: S311  letters that stand in for secrets, the same in each run
    bodies: list[str] = []

    def value(mark: re.Match[str]) -> str:
        prefix, size, alphabet = mark.groups()
        body = "".join(dice.choices(ALPHABETS.get(alphabet or "", ALPHABETS[""]), k=int(size)))
        bodies.append(body)
        return prefix + body

    return _MARK.sub(value, text), tuple(bodies)


def _encoded(mark: re.Match[str]) -> str:
    raw = mark.group(2).encode()
    return base64.b64encode(raw).decode() if mark.group(1) == "B64" else raw.hex()
