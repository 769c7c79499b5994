"""Commands of the operator's own: prompts in files, with places for arguments, files and what commands print."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from agent_cli.context.skills import ours
from agent_cli.kernel.commands import Say, Wanted
from agent_cli.kernel.messages import Block, Text, text_of
from agent_cli.kernel.outputs import Output
from agent_cli.talk.answers import Answer, Note
from agent_cli.talk.commands.command import Command, Host, not_yet, ordered
from agent_cli.talk.door import Prompt

PLACE = re.compile(r"\$(ARGUMENTS|[1-9])")
RUNS = re.compile(r"^[ \t]*!(?![`!\s])([^\n]+)$|!`([^`\n]+)`", re.MULTILINE)
"""A line that begins with `!`, or such a command within one, in backquotes."""
NAMES = re.compile(r"""(?:^|(?<=[\s(]))@(?:"([^"\n]+)"|([^\s"]+))""")
MOST = 20
"""Commands and files of one message."""
FINE = "[exit code 0]"
SHELL, READ = "bash", "read_file"


def filled(body: str, rest: str) -> str:
    """`$ARGUMENTS` is everything that was typed, `$1` to `$9` its words."""
    words = rest.split()

    def value(found: re.Match[str]) -> str:
        if found[1] == "ARGUMENTS":
            return rest
        at = int(found[1]) - 1
        return words[at] if at < len(words) else ""

    return PLACE.sub(value, body)


def with_place(body: str, rest: str) -> str:
    """With one at the end for what was typed, if anything was, where there is none."""
    return body if PLACE.search(body) or not rest.strip() else f"{body}\n\n$ARGUMENTS"


def commands(prompts: Sequence[Prompt], taken: frozenset[str]) -> tuple[Command, ...]:
    """Names that are `taken` stay what they are."""
    return tuple(_command(prompt) for prompt in prompts if prompt.name not in taken)


def _command(prompt: Prompt) -> Command:
    def run(host: Host, rest: str) -> Answer | None:
        return _use(host, prompt, rest)

    told = f"cannot be used: {prompt.problem}" if prompt.problem else prompt.description
    return Command(prompt.name, told or f"your own ({prompt.path})", run, arguments=prompt.arguments)


def _use(host: Host, prompt: Prompt, rest: str) -> Answer | None:
    session, allow = host.session, rules(prompt.tools)
    if prompt.problem:
        return Note(f"/{prompt.name} cannot be used: {prompt.problem}. Mend it, then /reload.", "error")
    if session is None:
        return not_yet()
    if (prompt.model or allow) and session.state.running:
        why = f"/{prompt.name} chooses a model or allows tools for a turn of its own, and a turn is running"
        return Note(f"{why}: wait for its end, or /interrupt it.", "warning")
    parts = parts_of(prompt.body, rest, session.state.cwd or host.welcome.cwd)
    wanted = [part for part in parts if isinstance(part, Wanted)]
    if not wanted:
        return ordered(host, Say(put_in(parts, ()), model=prompt.model, allow=allow))

    async def work() -> None:
        outputs = await session.subtasks.gather(prompt.name, wanted, allow)
        if host.session is session:
            host.order(Say(put_in(parts, outputs), model=prompt.model, allow=allow))

    host.stage.meanwhile(f"runs what /{prompt.name} needs", work)
    return None


def parts_of(body: str, rest: str, cwd: str) -> list[str | Wanted]:
    """The text with the calls for what it names, in their order. What was typed names files, and is never a command."""
    whole, parts, at, left = with_place(body, rest), list[str | Wanted](), 0, MOST
    for found in RUNS.finditer(whole):
        if left:
            parts += _with_files(filled(whole[at : found.start()], rest), cwd)
            command = filled(found[1] or found[2], rest).strip()
            parts.append(Wanted(SHELL, {"command": command}))
            at, left = found.end(), left - 1
    return [*parts, *_with_files(filled(whole[at:], rest), cwd)]


def _with_files(text: str, cwd: str) -> list[str | Wanted]:
    paths = [found[1] or found[2].rstrip(".,;:!?)") for found in NAMES.finditer(text)]
    there = [path for path in dict.fromkeys(paths) if _is_file(cwd, path)][:MOST]
    return [text, *(Wanted(READ, {"path": path}) for path in there)]


def put_in(parts: Sequence[str | Wanted], outputs: Sequence[Output]) -> tuple[Block, ...]:
    """The message: what commands printed stands in their place, files behind it; pictures go along as they are."""
    came = iter(outputs)
    texts: list[str] = []
    files: dict[str, str] = {}
    blocks: list[Block] = []
    for part in parts:
        if isinstance(part, str):
            texts.append(part)
            continue
        output = next(came)
        said = text_of(output.for_model).strip("\n")
        if part.tool == SHELL:
            texts.append(_printed(part.arguments["command"], said))
        else:
            path = part.arguments["path"]
            files[path] = f'<file path="{path}">\n{said}\n</file>'
            blocks += [block for block in output.for_model if not isinstance(block, Text)]
    return (Text("\n\n".join(["".join(texts).strip(), *files.values()])), *blocks)


def _printed(command: str, said: str) -> str:
    said = said.removesuffix(FINE).rstrip("\n")
    fence = "`" * max([3, *(len(run) + 1 for run in re.findall("`{3,}", said))])
    return f"{fence}\n$ {command}\n{said}\n{fence}"


def rules(tools: Sequence[str]) -> tuple[str, ...]:
    """What `allowed-tools` says, as rules: `Bash(git add:*)` of other agents is `bash:git add*`."""
    return tuple(_rule(each) for each in tools)


def _rule(said: str) -> str:
    name, opened, inside = said.partition("(")
    if opened and inside.endswith(")"):
        inside = inside.removesuffix(")")
        return f"{ours(name)}:{inside.removesuffix(':*') + '*' if inside.endswith(':*') else inside}"
    return said if ":" in said else f"{ours(said)}:*"


def _is_file(cwd: str, path: str) -> bool:
    try:
        return (Path(cwd or ".") / Path(path).expanduser()).is_file()
    except (OSError, ValueError, RuntimeError):
        return False
