"""The program's first moments: a signal ends it in order before anything else is loaded.

Nothing is imported here that is not loaded already, so that a Ctrl-C finds a handler and not a
half-loaded module: even ``signal`` would load a good deal around its C part.
"""

import _signal  # type: ignore[import-not-found]
import os

INTERRUPTED = 130
_ENDING = ("SIGINT", "SIGTERM", "SIGHUP")


def _leave(number: int, frame: object) -> None:
    """Nothing was begun, or all has ended: there is nothing to put in order."""
    del frame
    names = {getattr(_signal, name, None): f" by {name}" for name in _ENDING[1:]}
    try:
        os.write(2, f"interrupted{names.get(number, '')}\n".encode())
    finally:
        os._exit(INTERRUPTED)


def run() -> None:
    """The command line, from a process's start to its end; never returns."""
    for name in _ENDING:
        number = getattr(_signal, name, None)  # Windows has no SIGHUP
        if number is not None and _signal.getsignal(number) != _signal.SIG_IGN:
            _signal.signal(number, _leave)
    from teiten.cli.main import main  # noqa: PLC0415 - takes a moment, in which a signal may come

    try:
        main()
    finally:  # all has ended: what the interpreter still does is not to look like a failure
        for name in _ENDING:
            if hasattr(_signal, name):
                _signal.signal(getattr(_signal, name), _signal.SIG_IGN)
