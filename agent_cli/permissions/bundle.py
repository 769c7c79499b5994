"""The built-in read bundle: simple commands that only read, with the options that keep it so.

What is not listed is not allowed: neither a program, nor an option. Programs that read whole trees
(`grep -r`, `rg`) are left out, since they would pass files that hold secrets; so are `env` and `printenv`.
`risky` names options by which otherwise wanted programs write files or run other programs.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import NamedTuple

from agent_cli.permissions.shell import Words, verb_of


class Usage(NamedTuple):
    """`short` letters stand in clusters, `valued` ones take the rest of the word; `most` limits plain words."""

    short: str = ""
    valued: str = ""
    long: frozenset[str] = frozenset()
    most: int = 1000


def names(text: str) -> frozenset[str]:
    """A set of words, written as one text."""
    return frozenset(text.split())


def _usage(short: str = "", valued: str = "", long: str = "", most: int = 1000) -> Usage:
    return Usage(short, valued, names(long), most)


_GREP = _usage(
    "aEFGhHiIlLnoPqsvVwxyzZbTUc",
    "ABCem",
    "count ignore-case extended-regexp fixed-strings perl-regexp line-number only-matching invert-match "
    "word-regexp line-regexp color after-context before-context context max-count files-with-matches quiet "
    "regexp no-filename with-filename text version",
)
_SUM = _usage("bt", "", "binary text tag")
_ANY = _usage("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz")

PROGRAMS: dict[str, Usage] = {
    "pwd": _usage("LP"),
    "cd": _usage("LP", most=1),
    "ls": _usage(
        "aAbBcCdfFgGhHiklLmnNopqQrRsStTuUvxXZ1",
        "IwT",
        "all almost-all human-readable recursive reverse size sort time color classify directory full-time inode "
        "group-directories-first si format ignore",
    ),
    "cat": _usage("AbeEnstTuv", "", "number number-nonblank show-all show-ends show-tabs squeeze-blank"),
    "head": _usage("qvz", "nc", "lines bytes quiet verbose"),
    "tail": _usage("qvz", "nc", "lines bytes quiet verbose"),
    "wc": _usage("clmLw", "", "bytes chars lines words max-line-length"),
    "nl": _usage("p", "bhfivlnsw"),
    "sort": _usage(
        "bcCdfghiMmnrRsuVz",
        "kt",
        "reverse numeric-sort unique human-numeric-sort version-sort key field-separator ignore-case stable check",
    ),
    "uniq": _usage("cdDiuz", "fsw", "count repeated unique ignore-case", most=1),
    "cut": _usage(
        "snz", "bcdf", "bytes characters delimiter fields complement only-delimited output-delimiter"
    ),
    "tr": _usage("cCdst", "", "complement delete squeeze-repeats truncate-set1"),
    "comm": _usage("123z"),
    "diff": _usage(
        "abBcdeEiqstTuwyZ",
        "CUW",
        "brief unified context side-by-side ignore-case ignore-all-space ignore-space-change ignore-blank-lines "
        "color width minimal",
    ),
    "cmp": _usage("bls", "n", "quiet silent verbose"),
    "basename": _usage("az", "s", "multiple suffix zero"),
    "dirname": _usage("z", "", "zero"),
    "realpath": _usage("eLmPqsz"),
    "readlink": _usage("efmnqsvz"),
    "stat": _usage("Lftx", "c", "format printf dereference file-system terse"),
    "file": _usage("bhiLk", "", "brief mime mime-type mime-encoding dereference"),
    "du": _usage("abchHkmsSx", "dt", "all human-readable summarize max-depth total apparent-size"),
    "df": _usage("ahHiklPT", "t", "human-readable inodes"),
    "tree": _usage("aCdDfFhiJlnpqrstuvQ", "LIP", "dirsfirst du noreport prune gitignore"),
    "which": _usage("as"),
    "type": _usage("afpPt"),
    "echo": _ANY,
    "true": _ANY,
    "false": _ANY,
    "whoami": _usage(),
    "id": _usage("gGnruz", "", "user group groups name"),
    "groups": _usage(),
    "uname": _usage("asnrvmpio", "", "all"),
    "nproc": _usage("", "", "all"),
    "uptime": _usage("ps"),
    "hostname": _usage("fisdI", most=0),
    "free": _usage("bkmghtw"),
    "seq": _usage("w", "fs"),
    "grep": _GREP,
    "egrep": _GREP,
    "fgrep": _GREP,
    "md5sum": _SUM,
    "sha1sum": _SUM,
    "sha256sum": _SUM,
    "cksum": _usage(),
}

_DIFF = (
    "stat shortstat numstat dirstat summary name-only name-status patch no-patch unified word-diff color no-color "
    "cached staged raw minimal patience histogram ignore-all-space ignore-space-change ignore-blank-lines "
    "ignore-space-at-eol find-renames find-copies no-renames diff-filter exit-code quiet check relative "
    "no-ext-diff no-textconv merge-base full-index abbrev function-context"
)
_LOG = (
    f"{_DIFF} oneline graph all decorate no-decorate abbrev-commit max-count skip since after until before author "
    "committer grep invert-grep regexp-ignore-case format pretty date reverse merges no-merges first-parent follow "
    "branches tags remotes topo-order date-order left-right cherry-pick cherry-mark boundary ancestry-path not "
    "left-only right-only cherry no-walk simplify-by-decoration full-history source"
)
_PATCH_LETTERS = "pusrzwbRatBWcm"

GIT: dict[str, Usage] = {
    "status": _usage("sbvz", "u", "short branch porcelain long verbose untracked-files ignored show-stash"),
    "log": _usage(f"{_PATCH_LETTERS}iEFPgq", "nSGLUMCl", _LOG),
    "diff": _usage(_PATCH_LETTERS, "SGUMCl", _DIFF),
    "show": _usage(f"{_PATCH_LETTERS}q", "nSGLUMC", _LOG),
    "branch": _usage(
        "arv", "", "all remotes verbose list show-current contains merged no-merged sort color", most=0
    ),
    "tag": _usage("l", "n", "list sort contains points-at merged", most=0),
    "remote": _usage("v", "", "verbose", most=0),
    "stash list": _usage("p", "n", "oneline stat"),
    "stash show": _usage("p", "", _DIFF),
    "reflog": _usage("", "n", "all date oneline", most=0),
    "worktree list": _usage("v", "", "porcelain"),
    "rev-parse": _usage(
        "q",
        "",
        "show-toplevel abbrev-ref verify git-dir git-common-dir is-inside-work-tree is-bare-repository short "
        "show-prefix show-cdup symbolic-full-name quiet all branches tags",
    ),
    "rev-list": _usage("", "n", f"{_LOG} count objects"),
    "ls-files": _usage(
        "cdmosutvzk", "x", "others exclude-standard modified deleted stage cached full-name exclude unmerged"
    ),
    "ls-tree": _usage("drtlz", "", "name-only name-status long full-tree abbrev"),
    "blame": _usage("wceslfnptM", "LC", "line-porcelain porcelain show-email date abbrev"),
    "shortlog": _usage("snec", "", _LOG),
    "describe": _usage("", "", "tags always dirty long exact-match abbrev all match"),
    "cat-file": _usage("ptse", most=2),
    "merge-base": _usage("a", "", "all is-ancestor octopus independent fork-point"),
    "name-rev": _usage("", "", "name-only tags"),
    "version": _usage(),
}

_FIND_TESTS = names(
    "-name -iname -path -ipath -wholename -type -xtype -maxdepth -mindepth -size -mtime -mmin -ctime -cmin -atime "
    "-amin -newer -not -o -or -a -and -print -print0 -empty -prune -regex -iregex -regextype -ls -perm -user "
    "-group -links -inum -true -false -depth -xdev -mount -quit -printf -executable -readable -writable"
)
_PS = frozenset({"aux", "ax", "-e", "-f", "-ef", "-A", "-a", "-x"})
_VERSIONED = names(
    "python python3 node bun deno go java javac gcc clang make cmake git uv uvx ruff mypy docker ruby perl php bash rg"
)
"""Not those that run what a project names even then: conftest.py, yarnPath, packageManager, rust-toolchain.toml."""
_PRINT_LINES = re.compile(r"(\d+|\$)(,(\d+|\$))?p")
_SHOWS_DATE = re.compile(r"\+.*|-u|-R|-I\w*|--utc|--iso-8601(=\w+)?", re.DOTALL)
_SED_PART = r"(?:(?:\d+|\$)(?:,(?:\d+|\$))?)?(?:[pdq=]|s([/|,#@:!])(?:(?!\1)[^\\\n]|\\[^\n])*\1(?:(?!\1)[^\\\n]|\\[^\n])*\1[gpiI\d]*)"
_SED_PLAIN = re.compile(_SED_PART)
_COUNTS = re.compile(r"%[^a-zA-Z%]*n")
_DIGITS = re.compile(r"-\d+")


def read_only(words: Words) -> bool:
    """Whether a simple command of literal words changes nothing and starts no other program."""
    verb, rest = words[0], words[1:]
    if verb in _VERSIONED and rest in (("--version",), ("-V",)):
        return True
    if words == ("go", "version"):
        return True
    odd = _ODD.get(verb)
    if odd is not None:
        return odd(rest)
    usage = PROGRAMS.get(verb)
    return usage is not None and (usage is _ANY or _fits(usage, rest))


def _finds(rest: Words) -> bool:
    return all(not word.startswith("-") or word in _FIND_TESTS or _DIGITS.fullmatch(word) for word in rest)


def _prints_lines(rest: Words) -> bool:
    if len(rest) < 2 or rest[0] != "-n" or _PRINT_LINES.fullmatch(rest[1]) is None:
        return False
    return not any(word.startswith("-") for word in rest[2:])


def _shows_date(rest: Words) -> bool:
    return all(_SHOWS_DATE.fullmatch(word) is not None for word in rest)


def _tests(rest: Words) -> bool:
    """`-v` and `-R` evaluate the name that they are given."""
    return not any(word in ("-v", "-R") for word in rest)


def _prints(rest: Words) -> bool:
    """`-v` and `%n` assign to the name that they are given, which may hold a command."""
    return bool(rest) and not rest[0].startswith("-") and _COUNTS.search(rest[0]) is None


def _git(rest: Words) -> bool:
    while rest and rest[0] in ("--no-pager", "-P"):
        rest = rest[1:]
    for length in (2, 1):
        usage = GIT.get(" ".join(rest[:length])) if len(rest) >= length else None
        if usage is not None:
            plain = rest[length:]
            lists = usage.most == 0 and any(word in ("-l", "--list", "--contains") for word in plain)
            return _fits(usage._replace(most=1000) if lists else usage, plain)
    return False


def _fits(usage: Usage, rest: Words) -> bool:
    plain = 0
    for at, word in enumerate(rest):
        if word == "--":
            return plain + len(rest) - at - 1 <= usage.most
        if word.startswith("--"):
            if word[2:].partition("=")[0] not in usage.long:
                return False
        elif word.startswith("-") and len(word) > 1:
            if not _short_fits(usage, word[1:]):
                return False
        else:
            plain += 1
    return plain <= usage.most


def _short_fits(usage: Usage, cluster: str) -> bool:
    if cluster.isdigit():
        return True
    for letter in cluster:
        if letter in usage.valued:
            return True
        if letter not in usage.short:
            return False
    return True


_ODD: dict[str, Callable[[Words], bool]] = {
    "git": _git,
    "find": _finds,
    "sed": _prints_lines,
    "date": _shows_date,
    "test": _tests,
    "[": _tests,
    "command": lambda rest: len(rest) > 1 and rest[0] in ("-v", "-V"),
    "printf": _prints,
    "ps": _PS.issuperset,
}

# ── options that write or run ──


class Risk(NamedTuple):
    """`short` letters may stand in a cluster, `long` ones may be abbreviated, `words` are exact."""

    short: str = ""
    long: tuple[str, ...] = ()
    words: frozenset[str] = frozenset()


_RUNS = names("-exec -execdir -ok -okdir -delete -fprint -fprint0 -fprintf -fls")
_RISKS: dict[str, Risk] = {
    "find": Risk(words=_RUNS),
    "fd": Risk("xX", ("exec", "exec-batch")),
    "sort": Risk("oT", ("output", "compress-program", "temporary-directory", "files0-from")),
    "tree": Risk("oR", ("output",)),
    "rg": Risk("z", ("pre", "hostname-bin", "search-zip")),
    "tar": Risk(
        "IF", ("to-command", "checkpoint-action", "use-compress-program", "rsh-command", "info-script")
    ),
    "curl": Risk("oOKTcD", ("output", "remote-name", "config", "upload-file", "cookie-jar", "dump-header")),
    "wget": Risk("Oi", ("output-document", "use-askpass", "input-file", "execute")),
    "git": Risk(
        "",
        (
            "output",
            "exec",
            "upload-pack",
            "receive-pack",
            "open-files-in-pager",
            "exec-path",
            "config-env",
            "extcmd",
        ),
        frozenset({"-c", "-C", "-x"}),
    ),
    "date": Risk("s", ("set",)),
    "man": Risk("PH", ("pager", "html")),
    "go": Risk(words=frozenset({"-toolexec", "-exec", "-vettool"})),
    "cargo": Risk("", ("config",)),
    "rsync": Risk("e", ("rsh", "rsync-path")),
    "ssh": Risk("oFE"),
    "scp": Risk("oFSD"),
    "sftp": Risk("oFSD"),
}
_RUNNERS = names(
    "env xargs sudo doas nohup nice ionice time timeout gtimeout setsid stdbuf exec eval builtin command parallel "
    "watch chroot flock script strace trap source . coproc unshare busybox"
)


def risky(words: Words) -> bool:
    """Whether a rule for the program must not cover this call: an option writes or runs something else."""
    verb = verb_of(words)
    if verb in _RUNNERS:
        return not (verb == "command" and words[1:2] in (("-v",), ("-V",)))
    if verb == "sed" and not _sed_is_plain(words[1:]):
        return True
    if verb == "git" and any(word.startswith("-O") for word in words) and "grep" in words:
        return True
    risk = _RISKS.get(verb)
    return risk is not None and any(_is_risk(risk, word) for word in words[1:])


def _sed_is_plain(rest: Words) -> bool:
    """Whether its scripts are lists of what neither writes nor runs, as far as they are written on the line."""
    scripts: list[str] = []
    at = 0
    while at < len(rest):
        word = rest[at]
        if word in ("-e", "--expression") and at + 1 < len(rest):
            at += 1
            scripts.append(rest[at])
        elif word.startswith("--expression="):
            scripts.append(word.partition("=")[2])
        elif word.startswith("-") and word not in (
            "-n",
            "-E",
            "-r",
            "-s",
            "-z",
            "-nE",
            "-En",
            "-nr",
            "--quiet",
        ):
            return False
        elif not word.startswith("-") and not scripts:
            scripts.append(word)
        at += 1
    parts = [part.strip() for script in scripts for part in re.split(r"[;\n]", script)]
    return all(not part or _SED_PLAIN.fullmatch(part) is not None for part in parts)


def _is_risk(risk: Risk, word: str) -> bool:
    if word in risk.words or (word.partition("=")[0] in risk.words and "=" in word):
        return True
    if word.startswith("--"):
        name = word[2:].partition("=")[0]
        return len(name) > 0 and any(long.startswith(name) for long in risk.long)
    cluster = word[1:] if word.startswith("-") else ""
    return any(letter in cluster for letter in risk.short)
