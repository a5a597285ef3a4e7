"""The program's first moments: a signal ends it in order before anything else is loaded.

Nothing heavy is imported here, so that a Ctrl-C finds a handler and not a half-loaded module.
"""

from __future__ import annotations

import os
import signal
import sys
from typing import Any, NoReturn

INTERRUPTED = 130


def run() -> NoReturn:
    """The command line, from a process's start to its end."""
    for name in ("SIGINT", "SIGTERM", "SIGHUP"):
        number = getattr(signal, name, None)
        if number is not None and signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, _leave)
    from teiten.cli.main import main  # noqa: PLC0415 - takes a moment, in which a signal may come

    main()
    sys.exit(0)  # not reached: main() ends the program


def _leave(number: int, frame: Any) -> NoReturn:
    """Nothing was begun, or all has ended: there is nothing to put in order."""
    del frame
    try:
        os.write(2, f"interrupted by {signal.Signals(number).name}\n".encode())
    finally:
        os._exit(INTERRUPTED)
