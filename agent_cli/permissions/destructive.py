"""Git commands that throw away what nobody else may have: work that is not committed, branches, history."""

from __future__ import annotations

from collections.abc import Iterable

from agent_cli.permissions.rules import without_git_options
from agent_cli.permissions.shell import Words, unwrapped
from agent_cli.permissions.variables import segments

_NEW_BRANCH = frozenset({"-b", "-B", "-t", "--track", "--orphan", "-d", "--detach"})
"""With these, what follows `git checkout` are names of branches and commits only."""
_OVERWRITES = {"branch": "DMCf", "checkout": "B", "switch": "C"}
"""Letters of options by which a branch that there is becomes another one."""


def discards(line: str, paths: Iterable[str] = ()) -> str:
    """What the line would throw away, "" where nothing. `paths` are the files that it seems to name."""
    known = tuple(paths)
    for segment in segments(line):
        for words in unwrapped(segment.words):
            found = _git(without_git_options(words)[1:], known) if words[0] == "git" else ""
            if found:
                return found
    return ""


def _git(words: Words, paths: tuple[str, ...]) -> str:
    if not words:
        return ""
    verb, rest = words[0], words[1:]
    if verb == "push":
        return _push(rest)
    if _discards_work(verb, rest) or (verb == "checkout" and _checks_out_files(rest, paths)):
        return "throws away changes that are not committed"
    return _references(verb, rest)


def _checks_out_files(rest: Words, paths: tuple[str, ...]) -> bool:
    """Files without `--` before them: behind a commit, or alone where there is such a file."""
    plain = [word for word in rest if not word.startswith("-")]
    if not plain or _NEW_BRANCH.intersection(rest):
        return False
    return len(plain) > 1 or _is_file(plain[0], paths)


def _is_file(word: str, paths: tuple[str, ...]) -> bool:
    """`release/next` may be a branch although there is a directory `release`."""
    name = word.rstrip("/").removeprefix("./")
    if "/" in word and not word.endswith("/") and "." not in name.rpartition("/")[2]:
        return False
    return any(path.endswith(f"/{name}") for path in paths)


def _discards_work(verb: str, rest: Words) -> bool:
    forced = _has(rest, "f", "--force")
    match verb:
        case "reset" | "read-tree":
            return not {"--hard", "--merge", "--reset"}.isdisjoint(rest)
        case "clean":
            return forced and not _has(rest, "n", "--dry-run")
        case "checkout" | "checkout-index":
            return "--" in rest or "." in rest or forced
        case "restore":
            return not _has(rest, "S", "--staged") or _has(rest, "W", "--worktree")
        case "switch":
            return forced or "--discard-changes" in rest
        case "rm":
            return forced and "--cached" not in rest
        case _:
            return _discards_below(verb, rest)


def _discards_below(verb: str, rest: Words) -> bool:
    """By a command with commands of its own."""
    match verb, *rest[:1]:
        case ["stash", "drop" | "clear"]:
            return True
        case ["worktree", "remove"] | ["submodule", "update" | "deinit"]:
            return _has(rest, "f", "--force")
        case _:
            return False


def _push(rest: Words) -> str:
    forced = _has(rest, "f", "--force") or any(word.startswith("--force-with-lease") for word in rest)
    if forced or "--mirror" in rest or any(word.startswith("+") for word in rest):
        return "overwrites history on the remote"
    if _has(rest, "d", "--delete") or "--prune" in rest or any(word.startswith(":") for word in rest):
        return "deletes branches on the remote"
    return ""


def _references(verb: str, rest: Words) -> str:
    match verb:
        case "branch" | "checkout" | "switch":
            lost = _has(rest, _OVERWRITES[verb], "--force") or "--force-create" in rest
            return "deletes or overwrites a branch that may not be merged" if lost else ""
        case "tag" if _has(rest, "df", "--delete"):
            return "deletes or overwrites a tag"
        case "reflog" if rest[:1] in (("expire",), ("delete",)):
            return "deletes the record by which lost commits are found"
        case "update-ref" if "-d" in rest:
            return "deletes a reference"
        case "filter-branch" | "filter-repo":
            return "rewrites the history"
        case "prune" | "gc":
            pruned = verb == "prune" or any(word.startswith("--prune") for word in rest)
            return (
                "deletes commits that nothing refers to"
                if pruned and not _has(rest, "n", "--dry-run")
                else ""
            )
        case _:
            return ""


def _has(words: Words, letters: str, long: str) -> bool:
    return any(
        word == long or (word[:1] == "-" and word[1:2] != "-" and any(letter in word for letter in letters))
        for word in words
    )
