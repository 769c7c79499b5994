"""The project around the session: its instructions, what was changed in it, and prompts about it."""

from __future__ import annotations

from agent_cli.kernel.commands import Say
from agent_cli.kernel.messages import Text
from agent_cli.talk.answers import Answer, Note, Table
from agent_cli.talk.commands.command import Command, Host, away, not_yet, ordered
from agent_cli.talk.stage import Wish

UNKNOWN = Note("Nothing is known of the project here.", "warning")

REVIEW = """\
Review the changes in this working tree that are not committed yet{focus}. Look at them with `git status`, `git diff` and \
`git diff --staged`, and at untracked files; read the code around them where you need to. Change nothing.

Table what is wrong, the most serious first: file and line, what goes wrong and when, and how you would mend it. Tell what \
you are sure of from what you suspect. Look for mistakes in behaviour, missing tests, security, and what breaks for others; \
leave out matters of taste. If nothing is wrong, say so in one line."""

INIT = """\
Write the file AGENTS.md at the top of this project, for coding agents that will work on it. Look first: the README, the \
build and test configuration, the continuous integration, the main directories, a few typical files and tests. If there is an \
AGENTS.md, improve it and keep what is right in it.

Say only what is true here and cannot be guessed: how to set up, build, run, test (all tests and a single one) and lint; how \
the code is laid out; conventions that the code keeps; what must not be touched. At most 60 lines, in plain sentences and \
commands that can be copied. Run a command before you write it down where that is quick and harmless."""


def _memory(host: Host, _rest: str) -> Answer | None:
    workplace = host.sources.workplace
    if workplace is None:
        return UNKNOWN

    def work() -> Answer:
        found = workplace.instructions()
        rows = [
            (each.path, f"{each.size:,} bytes{', cut: only its beginning is told to the model' * each.cut}")
            for each in found
        ]
        joined = host.session.state.joined if host.session is not None else {}
        rows += [
            (path, f"{size:,} bytes, joined when something beside it was touched")
            for path, size in joined.items()
        ]
        rows.append(("a line more", "# TEXT adds it; /reload tells the model"))
        return Table(
            "Instructions, in the order in which the model gets them" if found else "No instructions", rows
        )

    host.stage.later("reads the instructions", work)
    return None


def remember(host: Host, line: str) -> Answer | None:
    """A line of the operator for the project's instructions."""
    workplace = host.sources.workplace
    if workplace is None:
        return away(host, "A line for AGENTS.md") if host.sources.elsewhere else UNKNOWN

    def work() -> Answer:
        return Note(
            f"Added to {workplace.remember(line)}; /reload tells the model now, the next session knows it."
        )

    host.stage.later("adds a line to the instructions", work)
    return None


def _diff(host: Host, _rest: str) -> Answer | None:
    session, workplace = host.session, host.sources.workplace
    if session is None:
        return not_yet()
    if workplace is None:
        return UNKNOWN

    def work() -> Answer:
        found = workplace.changes(session.id)
        if not found.files and not found.unknown:
            return Note(f"Nothing differs {found.since}.")
        return found

    host.stage.later("compares the files", work)
    return None


def _review(host: Host, rest: str) -> Answer | None:
    focus = f", above all {rest}" if rest else ""
    return ordered(host, Say((Text(REVIEW.format(focus=focus)),)))


def _init(host: Host, rest: str) -> Answer | None:
    return ordered(host, Say((Text(f"{INIT}\n\n{rest}".rstrip()),)))


def _reload(host: Host, _rest: str) -> Answer | None:
    """The same session, opened anew."""
    session = host.session
    if session is None:
        return not_yet()
    if session.state.running or host.compacting:
        return Note("A turn is running: /interrupt it first, or wait.", "warning")
    host.stage.switch(Wish(resume=session.id if session.state.started else "", anew=True))
    return None


def _bug(host: Host, rest: str) -> Answer | None:
    workplace = host.sources.workplace
    if workplace is None:
        return UNKNOWN

    def work() -> Answer:
        path = workplace.report(host.session, rest)
        return Note(f"{path} describes this program, its log and the session's course, without secrets and without what "
                      "was said. Read it before you send it.")  # fmt: skip

    host.stage.later("writes a report", work)
    return None


COMMANDS: tuple[Command, ...] = (
    Command("diff", "everything that was changed in this session", _diff),
    Command("review", "the model reviews what is not committed", _review, arguments="[what matters]"),
    Command("init", "the model drafts AGENTS.md", _init, arguments="[what matters]"),
    Command("memory", "the instructions and their sizes", _memory),
    Command("reload", "read instructions and config again; the session goes on", _reload),
    Command("bug", "write a report about the program to a file", _bug, arguments="[what went wrong]"),
)
