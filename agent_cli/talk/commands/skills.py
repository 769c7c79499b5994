"""Skills: what there is, and using one by its name."""

from __future__ import annotations

from collections.abc import Sequence

from agent_cli.context.skills import missing, used
from agent_cli.kernel.commands import Say
from agent_cli.kernel.messages import Text
from agent_cli.talk.answers import Answer, Note, Table
from agent_cli.talk.commands.command import Command, Host, ordered
from agent_cli.talk.door import Skilled

UNKNOWN = Note("Nothing is known of the project here.", "warning")
HEAD = 60
"""Characters of a first line that says what was typed."""
NONE = (
    "There are no skills. One is a directory of .agents/skills with a file SKILL.md: ---, name, description, --- and what to do. "
    "/reload reads new ones."
)


def _skills(host: Host, _rest: str) -> Answer | None:
    workplace = host.sources.workplace
    if workplace is None:
        return UNKNOWN

    def work() -> Answer:
        found = workplace.skills()
        if not found:
            return Note(NONE)
        good = [each for each in found if not each.problem]
        rows = [row for each in good for row in _rows(host, each)]
        rows += [(each.name, f"left out: {each.problem}") for each in found if each.problem]
        return Table(f"{len(good)} skill{'s' * (len(good) != 1)}", rows)

    host.stage.later("reads the skills", work)
    return None


def _rows(host: Host, each: Skilled) -> list[tuple[str, str]]:
    rows = [(each.name, each.description), ("", f"{each.scope}, {each.size:,} bytes, {each.path}")]
    if lacks := _lacks(host, each):
        rows.append(("", f"it names tools that are not here: {', '.join(lacks)}"))
    return [*rows, *(("", remark) for remark in each.remarks)]


def _lacks(host: Host, each: Skilled) -> tuple[str, ...]:
    return missing(each.needs, (tool.name for tool in host.session.tools())) if host.session else ()


def commands(found: Sequence[Skilled], taken: frozenset[str]) -> tuple[Command, ...]:
    """`/skill NAME`, and each by its own name where that is not `taken`; none where there are no skills."""
    usable = {each.name: each for each in found if each.body and not each.problem}
    if not usable:
        return ()

    def by_name(host: Host, rest: str) -> Answer | None:
        name, _, task = rest.partition(" ")
        if name in usable:
            return _use(host, usable[name], task.strip())
        hint = f"There is no skill '{name}'. " if name else ""
        return Note(f"{hint}/skill NAME [what to do]; the skills are {', '.join(usable)}.", "error")

    chosen = Command("skill", "work with a skill", by_name, arguments="NAME [what to do]")
    return (chosen, *(_command(each) for each in usable.values() if each.name not in taken))


def _command(each: Skilled) -> Command:
    def run(host: Host, rest: str) -> Answer | None:
        return _use(host, each, rest)

    return Command(each.name, each.description, run, arguments="[what to do]")


def _use(host: Host, each: Skilled, task: str) -> Answer | None:
    """What was typed begins it: lists of sessions and of messages show the first line."""
    told = used(each.name, each.path.rpartition("/")[0], each.body, each.files, _lacks(host, each))
    typed = f"/{each.name} {' '.join(task.split())}".rstrip()[:HEAD]
    return ordered(host, Say((Text(f"{typed}\n\n{told}\n\n{task}".rstrip()),)))


COMMANDS: tuple[Command, ...] = (Command("skills", "the skills, and what is wrong with any", _skills),)
