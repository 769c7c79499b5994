"""The console entry. Nothing is imported before it is known to be needed."""

from __future__ import annotations

import gc
import os
import sys


def main() -> None:
    """Ends the process with the exit code of what was asked for."""
    if sys.argv[1:2] == ["--version"]:
        from agent_cli import __version__

        sys.stdout.write(f"agent-cli {__version__}\n")
        return
    gc.disable()
    _fill_standard_streams()
    try:
        from agent_cli.cli.entry import run

        code = run(sys.argv[1:])
    except KeyboardInterrupt:
        code = 130
    sys.exit(code)


def command() -> None:
    """The same, without taking the interpreter apart afterwards: that takes 8 ms and frees what the system frees."""
    try:
        main()
    except SystemExit as end:
        code = end.code if isinstance(end.code, int) else 0 if end.code is None else 1
    else:
        code = 0
    if threading := sys.modules.get("threading"):
        threading._shutdown()  # noqa: SLF001  waits for the threads that are no daemons, as every exit does
    import atexit

    atexit._run_exitfuncs()  # noqa: SLF001  # pyright: ignore[reportPrivateUsage]  no public way
    for stream in (sys.stdout, sys.stderr):
        try:
            if stream is not None:  # it was closed from the start
                stream.flush()
        except OSError:
            code = code or 1
    os._exit(code)


def _fill_standard_streams() -> None:
    """Opens what was closed for us, so that no file of ours ever gets the number of a standard stream."""
    for descriptor in (0, 1, 2):
        try:
            os.fstat(descriptor)
        except OSError:
            os.open(os.devnull, os.O_RDWR)


if __name__ == "__main__":
    command()
