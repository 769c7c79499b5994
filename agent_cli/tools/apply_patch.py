"""Changes several files in one step: adds, updates, moves and deletes, all or nothing."""

from __future__ import annotations

from typing import Annotated, NamedTuple

from agent_cli.kernel.errors import ToolError
from agent_cli.kernel.events import Display, FileDiff, Output, Shown
from agent_cli.kernel.messages import Text
from agent_cli.kernel.wire import Arguments, for_people
from agent_cli.ports import Say, Touches
from agent_cli.tools.deletions import bytes_of
from agent_cli.tools.diff import file_diff
from agent_cli.tools.disk import explain
from agent_cli.tools.patch import Section, sections_of
from agent_cli.tools.patching import patched
from agent_cli.tools.prose import spec_of
from agent_cli.tools.seen import digest_of
from agent_cli.tools.staging import Put, put_all
from agent_cli.tools.text import Endings, encode, flat
from agent_cli.tools.workspace import Workspace
from agent_cli.tools.writing import Standing, bounded, check_known, check_written, standing, to_its_end

MOST = 200
"""Files of one patch."""


class PatchArguments(Arguments, frozen=True):
    patch: Annotated[str, for_people("the whole patch, paths relative to the working directory")]


class _Done(NamedTuple):
    """What becomes of one file."""

    label: str
    puts: tuple[Put, ...]
    diff: FileDiff
    notes: tuple[str, ...] = ()


class ApplyPatch:
    arguments = PatchArguments
    read_only = False
    bounded = False

    def __init__(self, workspace: Workspace, registered: frozenset[str] = frozenset()) -> None:
        self.spec = spec_of("apply_patch", PatchArguments, registered)
        self._workspace = workspace

    def touches(self, args: PatchArguments, /) -> Touches:
        """Every file of the patch. Raises ToolError where it cannot be read."""
        sections = sections_of(args.patch)
        if len(sections) > MOST:
            raise ToolError(f"The patch changes {len(sections)} files, the most is {MOST}: make several.")
        names = [name for section in sections for name in (section.path, section.move_to) if name]
        found = [self._workspace.touches("write", name) for name in names]
        uses = tuple(dict.fromkeys(use for each in found for use in each.paths))
        unresolved = next((each.unresolved for each in found if each.unresolved), "")
        gone = [
            use.path
            for section in sections
            if section.kind == "delete"
            for use in self._workspace.touches("write", section.path).paths
        ]
        subject = ", ".join(each.subject for each in found)
        return Touches(
            "write", subject, uses, unresolved=unresolved, deletes=bytes_of(gone) if gone else None
        )

    def preview(self, args: PatchArguments, /) -> Display:
        try:
            return _together(self._planned(args))
        except ToolError as problem:
            return Shown(str(problem))

    def foreseen(self, args: PatchArguments, /) -> str:
        try:
            self._planned(args)
        except ToolError as problem:
            return str(problem)
        return ""

    async def run(self, args: PatchArguments, say: Say, /) -> Output:
        done = self._planned(args)
        puts = [put for each in done for put in each.puts]
        if not puts:
            return Output((Text("The files already read like that; nothing was changed."),), no_op=True)
        try:
            cut = await to_its_end(lambda: put_all(puts))
        except OSError as problem:
            told = explain(problem, "write", self._workspace.shown(str(problem.filename or "the files")))
            raise ToolError(f"{told} Every file is as it was before.") from None
        for put in puts:
            if put.raw is not None:
                check_written(put.path, put.raw, self._workspace.shown(put.path))
                self._workspace.seen.mark(put.path, digest_of(put.raw))
        report = _report(done)
        output = Output((Text(report),), _together(done), changed=tuple(put.path for put in puts))
        if cut is not None:
            cut.args = (report, output)
            raise cut
        return output

    # ── what it would do ──

    def _planned(self, args: PatchArguments) -> list[_Done]:
        """Raises ToolError for the first section that cannot be applied; nothing is written before."""
        done = [self._one(section) for section in sections_of(args.patch)]
        paths = [put.path for each in done for put in each.puts]
        twice = next((path for path in paths if paths.count(path) > 1), None)
        if twice is not None:
            raise ToolError(
                f"{self._workspace.shown(twice)} is touched by two sections. Nothing was changed."
            )
        return done

    def _one(self, section: Section) -> _Done:
        path = self._workspace.target(section.path)
        held = standing(self._workspace, path)
        if section.kind == "add":
            return self._added(held, section.text)
        if held.raw is None:
            raise self._workspace.missing(path)
        check_known(self._workspace, held, must_be_read=False)
        if section.kind == "delete":
            diff = file_diff(held.shown, flat(held.text or ""), "")
            return _Done(f"deleted {held.shown}", (Put(path, None),), diff)
        return self._updated(held, section)

    def _added(self, held: Standing, text: str) -> _Done:
        raw = text.encode()
        diff = file_diff(held.shown, "", text)
        if held.raw is None:
            return _Done(f"created {held.shown}", (Put(held.path, raw),), diff)
        if held.raw == raw:
            return _Done(f"{held.shown} is already there", (), file_diff(held.shown, text, text))
        raise ToolError(f"{held.shown} exists already. Nothing was changed: update it, or delete it first.")

    def _updated(self, held: Standing, section: Section) -> _Done:
        if held.text is None and section.hunks:
            raise ToolError(f"{held.shown} is no text file; it can only be moved or deleted.")
        raw, notes = held.raw or b"", list[str]()
        before = after = flat(held.text or "")
        if section.hunks:
            endings = Endings(held.text or "")
            after, notes = patched(before, endings, section.hunks, held.shown)
            raw = encode(endings.restore(after), held.form, held.text or "")
        if not section.move_to or (to := self._workspace.target(section.move_to)) == held.path:
            puts = () if raw == held.raw else (Put(held.path, raw),)
            diff = file_diff(held.shown, before, after)
            return _Done(f"changed {held.shown}", puts, diff, tuple(notes))
        there = standing(self._workspace, to)
        if there.raw is not None:
            raise ToolError(f"{there.shown} exists already, so {held.shown} cannot be moved there.")
        puts = (Put(to, raw, like=held.path), Put(held.path, None))
        diff = file_diff(there.shown, before, after)
        return _Done(f"moved {held.shown} to {there.shown}", puts, diff, tuple(notes))


def _together(done: list[_Done]) -> FileDiff:
    diffs = [each.diff for each in done]
    return FileDiff(
        ", ".join(diff.path for diff in diffs),
        "".join(diff.diff for diff in diffs),
        sum(diff.added for diff in diffs),
        sum(diff.removed for diff in diffs),
    )


def _report(done: list[_Done]) -> str:
    lines = [f"{each.label} (+{each.diff.added} -{each.diff.removed})" for each in done if each.puts]
    notes = [note for each in done for note in each.notes]
    return "\n".join([*lines, *notes, bounded(_together(done).diff)]).rstrip()
