"""Names of functions, classes and the like in source files. It runs as a program of its own, for one request:

the screen must not wait while thousands of files are read. Standard input has their paths with NUL between; each line of the
output is a path, a line number and a name, with tabs between. Nothing of ours is imported, so that it starts at once.
"""

import os
import re
import stat
import sys
import time
from collections.abc import Iterator

LARGEST = 400_000
"""Bytes of a file that is looked at."""
MOST = 100_000
SECONDS = 8.0
"""After which the list ends where it is."""
LONG_LINE = 4_096
"""A file that begins with a longer line was written by a program."""
_READ = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
"""Opening a pipe waits for nobody."""
UNREAD = re.compile(r"^[^\n]{1001,}", re.MULTILINE)
"""Longer lines are passed over: nobody defines anything there, and to look for it takes the square of their length."""

_WORDS = r"^[ \t]*(?:[\w@]+[ \t]+){0,4}?"  # what may stand before: pub, export default, static
_JS = (
    r"^[ \t]*(?:export[ \t]+)?(?:default[ \t]+|declare[ \t]+|abstract[ \t]+|async[ \t]+){0,3}"
    r"(?:function\*?|class|interface|enum|type|namespace)[ \t]+([\w$]+)"
    r"|^(?:export[ \t]+)?(?:const|let|var)[ \t]+([\w$]+)[^=\n]{0,200}=[ \t]*(?:async[ \t]*)?(?:\([^\n]*|[\w$]+[ \t]*)=>"
    r"|^[ \t]+(?:(?:public|private|protected|static|async|override|get|set)[ \t]+){0,3}"
    r"(?!(?:if|for|while|switch|catch|function|return|with)\b)([\w$#]+)[ \t]*\([^;\n]*\)[^;\n{]*\{[ \t]*$"
)
_C = (
    r"^(?:typedef[ \t]+)?(?:struct|enum|union|class|namespace)[ \t]+(\w+)[^;\n]*$"
    r"|^#[ \t]*define[ \t]+(\w+)"
    r"|^(?!(?:return|else|typedef|using|if|for|while|switch)\b)[A-Za-z_][^\n;=#(){}]{0,120}?[ \t*&]([\w:~]+)\([^;\n]*$"
)
_JAVA = (
    _WORDS + r"(?:class|interface|enum|record|struct|@interface)[ \t]+(\w+)"
    r"|^[ \t]+(?:(?:public|protected|private|internal|static|final|abstract|synchronized|override|virtual|async)[ \t]+)"
    r"[^\n;=(){}]{0,160}?(\w+)[ \t]*\([^;\n]*$"
)
_RUST = (
    r'^[ \t]*(?:pub(?:\([^)\n]*\))?[ \t]+)?(?:(?:async|const|unsafe|default|extern(?:[ \t]+"[^"\n]*")?)[ \t]+){0,4}'
    r"(?:fn|struct|enum|trait|union|type|mod|macro_rules!)[ \t]+(\w+)"
)
_PATTERNS = {
    "py pyi": r"^[ \t]*(?:async[ \t]+)?(?:def|class)[ \t]+(\w+)",
    "js jsx mjs cjs ts tsx mts cts vue svelte": _JS,
    "go": r"^func[ \t]+(?:\([^)\n]*\)[ \t]*)?(\w+)|^type[ \t]+(\w+)",
    "rs": _RUST,
    "java cs": _JAVA,
    "c h cc cpp cxx hh hpp hxx m mm": _C,
    "rb": r"^[ \t]*(?:def|class|module)[ \t]+((?:self\.)?[\w:]+[?!]?)",
    "php": _WORDS + r"(?:function|class|interface|trait|enum)[ \t]+&?(\w+)",
    "kt kts scala swift": _WORDS
    + r"(?:fun|func|def|class|object|interface|trait|struct|enum|protocol|extension)[ \t]+(?:<[^>\n]*>[ \t]*)?([\w.]+)",
    "ex exs": r"^[ \t]*(?:def|defp|defmodule|defmacro)[ \t]+([\w.?!]+)",
    "lua": r"^[ \t]*(?:local[ \t]+)?function[ \t]+([\w.:]+)",
    "sh bash zsh": r"^[ \t]*(?:function[ \t]+([\w-]+)|([\w-]+)[ \t]*\(\))",
}
LANGUAGES = {
    f".{suffix}": re.compile(pattern, re.MULTILINE)
    for suffixes, pattern in _PATTERNS.items()
    for suffix in suffixes.split()
}


def known(path: str) -> bool:
    """Whether names are found in files of that kind."""
    return _kind(path) in LANGUAGES


def _kind(path: str) -> str:
    return f".{path.rpartition('.')[2].lower()}"


def names(path: str, text: str) -> Iterator[tuple[int, str]]:
    """Line and name of what a file of that name defines."""
    line, before = 1, 0
    text = UNREAD.sub("", text)
    for match in LANGUAGES[_kind(path)].finditer(text):
        at = match.start(match.lastindex or 0)
        line += text.count("\n", before, at)
        before = at
        yield line, match[match.lastindex or 0]


def _text(path: str) -> str:
    """Nothing where it is no source that somebody wrote."""
    try:
        with os.fdopen(os.open(path, _READ), "rb") as file:
            raw = file.read(LARGEST + 1) if stat.S_ISREG(os.fstat(file.fileno()).st_mode) else b""
    except (OSError, ValueError):
        return ""
    generated = len(raw) > LONG_LINE and b"\n" not in raw[:LONG_LINE]
    return "" if len(raw) > LARGEST or generated or b"\0" in raw[:1_000] else raw.decode("utf-8", "replace")


def main() -> None:
    if hasattr(os, "nice"):
        os.nice(10)
    end, found = time.monotonic() + SECONDS, 0
    for path in filter(None, os.fsdecode(sys.stdin.buffer.read()).split("\0")):
        rows = [f"{path}\t{line}\t{name}\n" for line, name in names(path, _text(path))]
        sys.stdout.buffer.write(os.fsencode("".join(rows)))
        found += len(rows)
        if found >= MOST or time.monotonic() > end:
            return


if __name__ == "__main__":
    main()
