"""Programs behind whose words another command may stand, and where. For refusals: more is seen rather than less."""

from __future__ import annotations

SHELLS = frozenset(
    {
        "sh",
        "bash",
        "zsh",
        "dash",
        "ksh",
        "fish",
        "eval",
        "ssh",
        "su",
        "watch",
        "script",
        "trap",
        "parallel",
        "at",
        "batch",
    }
)
PREFIXES = SHELLS | {
    "sudo", "doas", "env", "xargs", "nohup", "nice", "ionice", "time", "timeout", "gtimeout", "setsid", "stdbuf",
    "command", "builtin", "exec", "chroot", "flock", "unshare", "strace", "busybox", "npx", "bunx", "uvx", "systemd-run",
    "entr", "watchexec", "nodemon", "screen", "tmux", "setarch", "firejail", "proot", "fakeroot", "caffeinate",
    "if", "then", "else", "elif", "while", "until", "do", "!", "{", "coproc", "function",
}  # fmt: skip
"""Words behind which another command may stand at once."""
_FINDS = frozenset({"-exec", "-execdir", "-ok", "-okdir", "-x", "-X", "--exec", "--exec-batch"})
_RUN, _EXEC = frozenset({"run"}), frozenset({"exec", "x", "dlx", "-c", "--call", "--"})
BEHIND: dict[str, frozenset[str]] = {
    "find": _FINDS, "fd": _FINDS,
    "npm": _EXEC, "pnpm": _EXEC, "yarn": _EXEC, "bun": _EXEC, "mise": _EXEC, "asdf": _EXEC, "direnv": _EXEC, "bundle": _EXEC,
    "tox": _EXEC, "uv": _RUN, "poetry": _RUN, "pdm": _RUN, "hatch": _RUN, "rye": _RUN, "pipenv": _RUN, "pipx": _RUN, "conda": _RUN,
    "mamba": _RUN, "micromamba": _RUN, "nix": frozenset({"-c", "--command"}), "nix-shell": frozenset({"--run", "--command"}),
    "git": frozenset({"run", "foreach", "-x", "--exec"}), "start-stop-daemon": frozenset({"-x", "--exec", "-a", "--startas"}),
}  # fmt: skip
"""Programs that run a command behind one of these words."""
_QUOTED = SHELLS | {"tmux", "screen", "nix-shell", "nodemon", "watchexec", "entr", "npm", "npx"}


MOST = 500
"""Words behind a prefix that are looked at, each as the start of a command."""


def starts(verb: str, words: tuple[str, ...]) -> list[int]:
    """Where a command may start: at any word behind a prefix or a word that runs, since options may take values."""
    words = words[:MOST]
    behind = BEHIND.get(verb)
    if behind is None:
        loader = verb.startswith(("ld-linux", "ld-musl"))
        return list(range(1, len(words))) if verb in PREFIXES or loader else []
    if verb in ("find", "fd"):
        return [at for at in range(2, len(words)) if words[at - 1] in behind]
    first = next((at for at, word in enumerate(words) if at and word in behind), len(words))
    return list(range(first + 1, len(words)))


def lines_of(verb: str, words: tuple[str, ...]) -> tuple[str, ...]:
    """The words that may be whole lines, as in `sh -c 'ls; rm x'`."""
    if verb in _QUOTED:
        return words[1:]
    return tuple(words[at] for at in starts(verb, words)) if verb in ("git", "nix") else ()
