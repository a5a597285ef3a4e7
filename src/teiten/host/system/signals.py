"""Ctrl-C, SIGTERM and a closed terminal end a campaign in order, once."""

from __future__ import annotations

import _thread
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any

ENDING = tuple(
    getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name)
)
AGAIN = 0.02
"""Seconds until a signal is raised anew that met Python where it drops what is raised."""
HANGUP: signal.Signals | None = getattr(signal, "SIGHUP", None)
"""The terminal is gone; Windows has no such signal."""

KILL = signal.Signals(getattr(signal, "SIGKILL", signal.SIGTERM))
"""The signal that a process cannot refuse; on Windows every one is that."""
DYING = 10.0
"""Seconds that a process may take to end after it."""
QUIT = signal.Signals(getattr(signal, "SIGQUIT", signal.SIGTERM))
"""A postmaster's immediate stop."""


class Interrupted(KeyboardInterrupt):
    """Someone asked for the end; ``signal`` says how."""

    def __init__(self, number: int) -> None:
        super().__init__()
        self.signal = signal.Signals(number)


class Interruption:
    """Whether someone asked for the end.

    The first signal raises KeyboardInterrupt wherever the program is, unless it is ``held``. Python
    swallows what is raised inside some callbacks (those around a fork, finalizers), so that long
    work also has to ``check`` from time to time.
    """

    def __init__(self) -> None:
        self.requested = False
        self._holds = self._waits = False

    def check(self) -> None:
        """Raise KeyboardInterrupt where the end was asked for."""
        if self.requested:
            self._waits = False
            raise KeyboardInterrupt

    @contextmanager
    def held(self) -> Iterator[None]:
        """Have a first signal wait for a ``check`` or the end of the ``with``; a second one, in its
        wait, is raised at once."""
        self._holds = True
        try:
            yield
        finally:
            self._holds = False
        if self._waits:
            self.check()

    def ask(self, number: int) -> None:
        """Take a signal: raise Interrupted, unless that was done before, or it has to wait."""
        if self.requested and not self._waits:
            return
        self._waits = self._holds and not self.requested
        self.requested = True
        if not self._waits:
            raise Interrupted(number)


@contextmanager
def one_interruption() -> Iterator[Interruption]:
    """Turn the first ending signal into KeyboardInterrupt, and ignore those that follow.

    Cleaning up is not to be interrupted: a server must not be left running because someone
    pressed Ctrl-C twice. Only in the main thread; elsewhere nothing is changed.
    """
    interruption = Interruption()

    def interrupt(number: int, frame: FrameType | None) -> None:
        del frame
        interruption.ask(number)

    with _handling(interrupt):
        yield interruption


@contextmanager
def interruptible() -> Iterator[None]:
    """Around the whole program: every Ctrl-C, and the first of the other ending signals, raises
    Interrupted, in whatever phase. (A closed terminal sends a signal and breaks the output too.)
    """
    ended = False

    def interrupt(number: int, frame: FrameType | None) -> None:
        nonlocal ended
        del frame
        if not ended or number == signal.SIGINT:
            ended = True
            raise Interrupted(number)

    def swallowed(what: sys.UnraisableHookArgs) -> None:
        """Python drops what is raised in some callbacks, and prints it: it is raised anew."""
        nonlocal ended
        if not isinstance(what.exc_value, Interrupted):
            before(what)
            return
        ended = False
        later = threading.Timer(AGAIN, _send_to_main_thread, (what.exc_value.signal,))
        later.daemon = True
        later.start()  # at once it would be raised in here, and dropped again

    before = sys.unraisablehook
    sys.unraisablehook = swallowed
    try:
        with _handling(interrupt):
            yield
    finally:
        sys.unraisablehook = before


def hang_up() -> None:
    """Whoever reads what we say has gone: as if the terminal had been closed.

    From any thread. Nothing happens under nohup, which lets a hangup be ignored.
    """
    if HANGUP is not None:
        _send_to_main_thread(HANGUP)


def _send_to_main_thread(number: signal.Signals) -> None:
    """To its handler, where there is one: really, so that it also ends a wait of the kernel's."""
    main = threading.main_thread().ident
    if main is None or not callable(signal.getsignal(number)):
        return
    if hasattr(signal, "pthread_kill"):
        signal.pthread_kill(main, number)
    else:
        _thread.interrupt_main(number)


@contextmanager
def _handling(handler: Callable[[int, FrameType | None], Any]) -> Iterator[None]:
    """The ending signals go to a handler. One that whoever started us lets be ignored stays so:
    a hangup under nohup, Ctrl-C in a shell's background job."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    taken = [number for number in ENDING if signal.getsignal(number) != signal.SIG_IGN]
    before = {number: signal.signal(number, handler) for number in taken}
    try:
        yield
    finally:
        for number, known in before.items():
            signal.signal(number, signal.SIG_DFL if known is None else known)
