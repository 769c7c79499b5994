"""Git commands that throw away what nobody else may have: work that is not committed, branches, history."""

from __future__ import annotations

from agent_cli.permissions.rules import without_git_options
from agent_cli.permissions.shell import Words, segments, unwrapped


def discards(line: str) -> str:
    """What the line would throw away, "" where nothing."""
    for segment in segments(line):
        for words in unwrapped(segment.words):
            found = _git(without_git_options(words)[1:]) if words[0] == "git" else ""
            if found:
                return found
    return ""


def _git(words: Words) -> str:
    if not words:
        return ""
    verb, rest = words[0], words[1:]
    if verb == "push":
        return _push(rest)
    if _discards_work(verb, rest):
        return "throws away changes that are not committed"
    return _references(verb, rest)


def _discards_work(verb: str, rest: Words) -> bool:
    match verb:
        case "reset":
            return "--hard" in rest or "--merge" in rest
        case "clean":
            return _has(rest, "f", "--force") and not _has(rest, "n", "--dry-run")
        case "checkout":
            return "--" in rest or "." in rest or _has(rest, "f", "--force")
        case "restore":
            return not _has(rest, "S", "--staged") or _has(rest, "W", "--worktree")
        case "switch":
            return _has(rest, "f", "--force") or "--discard-changes" in rest
        case "stash":
            return rest[:1] in (("drop",), ("clear",))
        case "worktree":
            return rest[:1] == ("remove",) and _has(rest, "f", "--force")
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
        case "branch" if _has(rest, "DM", "--force") or (_has(rest, "d", "--delete") and "-f" in rest):
            return "deletes or overwrites a branch that may not be merged"
        case "tag" if _has(rest, "df", "--delete"):
            return "deletes or overwrites a tag"
        case "reflog" if rest[:1] in (("expire",), ("delete",)):
            return "deletes the record by which lost commits are found"
        case "update-ref" if "-d" in rest:
            return "deletes a reference"
        case "filter-branch" | "filter-repo":
            return "rewrites the history"
        case "gc" if any(word.startswith("--prune") for word in rest):
            return "deletes commits that nothing refers to"
        case _:
            return ""


def _has(words: Words, letters: str, long: str) -> bool:
    return any(
        word == long or (word[:1] == "-" and word[1:2] != "-" and any(letter in word for letter in letters))
        for word in words
    )
