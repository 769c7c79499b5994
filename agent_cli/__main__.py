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


def _fill_standard_streams() -> None:
    """Opens what was closed for us, so that no file of ours ever gets the number of a standard stream."""
    for descriptor in (0, 1, 2):
        try:
            os.fstat(descriptor)
        except OSError:
            os.open(os.devnull, os.O_RDWR)


if __name__ == "__main__":
    main()
