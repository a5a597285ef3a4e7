"""Ctrl-C, SIGTERM and a closed terminal end a campaign in order, once."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

ENDING = tuple(
    getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name)
)


KILL = signal.Signals(getattr(signal, "SIGKILL", signal.SIGTERM))
"""What a process cannot refuse; on Windows every signal is that."""
QUIT = signal.Signals(getattr(signal, "SIGQUIT", signal.SIGTERM))
"""A postmaster's immediate stop."""


class Interruption:
    """Whether someone asked for the end.

    The first signal raises KeyboardInterrupt wherever the program is. Python swallows what is
    raised inside some callbacks (those around a fork, finalizers), so that long work also has to
    ``check`` from time to time.
    """

    def __init__(self) -> None:
        self.requested = False

    def check(self) -> None:
        """Raise KeyboardInterrupt where the end was asked for."""
        if self.requested:
            raise KeyboardInterrupt


@contextmanager
def one_interruption() -> Iterator[Interruption]:
    """Turn the first ending signal into KeyboardInterrupt and ignore those that follow.

    Cleaning up is not to be interrupted: a server must not be left running because someone
    pressed Ctrl-C twice. Only in the main thread; elsewhere nothing is changed.
    """
    interruption = Interruption()
    if threading.current_thread() is not threading.main_thread():
        yield interruption
        return

    def interrupt(number: int, frame: FrameType | None) -> None:
        del number, frame
        if not interruption.requested:
            interruption.requested = True
            raise KeyboardInterrupt

    before = {ending: signal.signal(ending, interrupt) for ending in ENDING}
    try:
        yield interruption
    finally:
        for ending, handler in before.items():
            signal.signal(ending, handler)
