"""The command `holdall`, which `pip install` puts on the PATH, and `python -m holdall`."""

from __future__ import annotations

import signal
import sys

from ._holdall import command


def main() -> int:
    """Runs the command with this process's arguments, and gives its exit code: 0 yes or clean, 1 no, 2 it could not answer."""
    # The command handles Ctrl-C itself, and without Python nobody waits for it.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    return command(["holdall", *sys.argv[1:]])
