"""A question of the session, asked and answered in lines."""

from __future__ import annotations

from agent_cli.kernel.commands import Answer, GrantScope
from agent_cli.kernel.events import ApprovalRequested
from agent_cli.kernel.outputs import Shown
from agent_cli.repl.asker import Asker
from agent_cli.repl.lines import INDENT, shown
from agent_cli.repl.teller import Teller
from agent_cli.talk.untrusted import clean, clean_line

SCOPES: dict[str, GrantScope] = {"y": "once", "yes": "once", "s": "call", "t": "tool", "a": "always"}
MOST = 60
"""Lines of what wants to run that are shown; `v` shows all."""


async def decide(asked: ApprovalRequested, asker: Asker, teller: Teller) -> Answer:
    """Raises KeyboardInterrupt where the turn is to be stopped. The end of the lines denies."""
    try:
        if asked.options is not None:
            return await _answered(asked, asked.options, asker, teller)
        _show(asked, teller, MOST)
        return await _allowed(asked, asker, teller)
    except EOFError:
        return Answer(asked.call_id, allowed=False, message="nobody is there any more")


async def _answered(
    asked: ApprovalRequested, options: tuple[str, ...], asker: Asker, teller: Teller
) -> Answer:
    """A question of the model: one of its options, or other words."""
    teller.line(f"{_who(asked)}asks: {clean(asked.subject)}")
    for at, option in enumerate(options, 1):
        teller.line(f"{INDENT}{at}: {clean_line(option)}")
    hint = "number or your answer" if options else "your answer"
    while True:
        said = (await asker.ask(f"{hint} (n: no answer): ")).strip()
        if said.isdecimal() and 0 < int(said) <= len(options):
            return Answer(asked.call_id, allowed=True, edit=options[int(said) - 1])
        if said.casefold() == "n":
            return Answer(asked.call_id, allowed=False)
        if said:
            return Answer(asked.call_id, allowed=True, edit=said)


async def _allowed(asked: ApprovalRequested, asker: Asker, teller: Teller) -> Answer:
    scopes = {"y": "once"} if asked.once_only else SCOPES
    while True:
        said = (await asker.ask(f"allow? {_offers(asked)}: ")).strip()
        word, _, why = said.partition(" ")
        match word.casefold():
            case "n" | "no":
                return Answer(asked.call_id, allowed=False, message=why.strip())
            case "e" if asked.editable:
                changed = await asker.ask("run instead: ", _text(asked))
                if changed.strip():
                    edit = "" if changed == _text(asked).rstrip() else changed
                    return Answer(asked.call_id, allowed=True, edit=edit)
            case "v":
                _show(asked, teller, 1_000_000)
            case key if key in scopes and not why:
                return Answer(asked.call_id, allowed=True, scope=SCOPES[key])
            case _:
                teller.line(
                    "It is one of these letters; n may have a reason behind it, like: n use rg instead"
                )


def _show(asked: ApprovalRequested, teller: Teller, most: int) -> None:
    teller.line(f"permission: {_who(asked)}{clean_line(asked.tool)} {clean_line(asked.subject)[:200]}")
    if asked.reason:
        teller.line(f"{INDENT}because: {clean_line(asked.reason)}")
    lines = shown(asked.preview).rstrip().split("\n") if asked.preview is not None else []
    for line in lines[:most]:
        teller.line(f"{INDENT}{INDENT}{line}")
    if len(lines) > most:
        teller.line(f"{INDENT}{INDENT}({len(lines) - most} more lines: v shows them)")


def _offers(asked: ApprovalRequested) -> str:
    offers = ["y once"]
    if not asked.once_only:
        always = f"a always ({clean_line(asked.suggestion)})" if asked.suggestion else "a always"
        offers += ["s this call", "t this tool", always]
    if asked.editable:
        offers.append("e change it")
    return ", ".join([*offers, "n no"])


def _who(asked: ApprovalRequested) -> str:
    return f"{clean_line(asked.agent)}: " if asked.agent else ""


def _text(asked: ApprovalRequested) -> str:
    return asked.preview.text if isinstance(asked.preview, Shown) else asked.subject
