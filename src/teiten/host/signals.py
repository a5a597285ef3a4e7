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


@contextmanager
def one_interruption() -> Iterator[None]:
    """Turn the first ending signal into KeyboardInterrupt and ignore those that follow.

    Cleaning up is not to be interrupted: a server must not be left running because someone
    pressed Ctrl-C twice. Only in the main thread; elsewhere nothing is changed.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def interrupt(number: int, frame: FrameType | None) -> None:
        del number, frame
        for ending in ENDING:
            signal.signal(ending, signal.SIG_IGN)
        raise KeyboardInterrupt

    before = {ending: signal.signal(ending, interrupt) for ending in ENDING}
    try:
        yield
    finally:
        for ending, handler in before.items():
            signal.signal(ending, handler)
