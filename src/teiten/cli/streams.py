"""The three standard streams as they may be: closed, full, gone, or in an old encoding.

What is said to people is never worth a campaign: where nobody can read it any more, the campaign
ends in order, as when the terminal is closed. Data that could not be written are a failure.
"""

from __future__ import annotations

import codecs
import errno
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any

from teiten.host.system.signals import hang_up

GONE = frozenset({errno.EPIPE, errno.EIO, errno.ENXIO, errno.ESHUTDOWN, errno.ECONNRESET})
"""Nobody reads any more: a closed pipe, a terminal that was closed."""
STAND_INS = {
    "·": "-", "…": "...", "×": "x", "–": "-", "—": "-", "−": "-", "→": "->", "≤": "<=", "≥": ">=",
    "µ": "u", "μ": "u", "“": '"', "”": '"', "‘": "'", "’": "'", "±": "+-", "≈": "~", "Δ": "d",
    "━": "-", "─": "-", "│": "|", "╸": "-", "╺": "-", "█": "#",
}  # fmt: skip
"""In an encoding that lacks a character."""
READABLE = "teiten-readable"
"""The name of our error handler for encodings."""


class Outlet:
    """A stream that never raises what the system says of writing to it."""

    def __init__(self, stream: Any, *, on_loss: Callable[[OSError], None]) -> None:
        self._stream = stream
        self._on_loss = on_loss

    def write(self, text: str) -> int:
        try:
            written: int = self._stream.write(text)
        except (OSError, ValueError) as error:
            self._lost(error)
            return len(text)
        return written

    def writelines(self, lines: Any) -> None:
        for line in lines:
            self.write(line)

    def flush(self) -> None:
        try:
            self._stream.flush()
        except (OSError, ValueError) as error:
            self._lost(error)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)

    def _lost(self, error: OSError | ValueError) -> None:
        if not isinstance(error, OSError):
            if "closed file" in str(error):  # by somebody's close(): there is nothing to lead away
                return
            raise error
        with suppress(OSError, ValueError):  # what is still in the buffer goes nowhere
            nowhere = os.open(os.devnull, os.O_WRONLY)
            os.dup2(nowhere, self._stream.fileno())
            os.close(nowhere)
        self._on_loss(error)


class StandardStreams:
    """The state of the standard streams."""

    def __init__(self) -> None:
        self.failure: OSError | None = None
        """The error that kept data from being written to stdout."""

    def people_lost(self, error: OSError) -> None:
        if error.errno in GONE:
            hang_up()

    def data_lost(self, error: OSError) -> None:
        if error.errno == errno.EPIPE:
            return  # a reader that leaves has what it wanted, as in: | head
        if error.errno in GONE:
            hang_up()
        elif self.failure is None:
            self.failure = error


@contextmanager
def guarded_streams() -> Iterator[StandardStreams]:
    """stdin, stdout and stderr that can be used whatever they are."""
    streams = StandardStreams()
    _open_closed()
    before = sys.stdout, sys.stderr
    with _lenient(sys.stdout), _lenient(sys.stderr):
        sys.stdout = Outlet(sys.stdout, on_loss=streams.data_lost)
        sys.stderr = Outlet(sys.stderr, on_loss=streams.people_lost)
        try:
            yield streams
        finally:
            sys.stdout.flush()
            sys.stderr.flush()
            sys.stdout, sys.stderr = before


def _open_closed() -> None:
    """Give closed descriptors something, so that no file of ours gets their numbers.

    Nothing can be written to a closed stdout, and that is told as the loss it is.
    """
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        try:
            os.fstat(number)
        except OSError:
            mode = os.O_WRONLY if name == "stderr" else os.O_RDONLY
            opened = os.open(os.devnull, mode)
            if opened != number:
                os.dup2(opened, number)
                os.close(opened)
        if getattr(sys, name) is None:
            form = "r" if name == "stdin" else "w"
            stream = open(number, form, encoding="utf-8", closefd=False)  # noqa: SIM115
            setattr(sys, name, stream)


@contextmanager
def _lenient(stream: Any) -> Iterator[None]:
    """Characters that the stream's encoding lacks are replaced by some that it has."""
    codecs.register_error(READABLE, _readable)
    known = getattr(stream, "errors", None)
    try:
        stream.reconfigure(errors=READABLE)
    except (AttributeError, OSError, ValueError):
        yield  # a test's own stream
        return
    try:
        yield
    finally:
        with suppress(OSError, ValueError):
            stream.reconfigure(errors=known)


def _readable(error: UnicodeError) -> tuple[str, int]:
    if not isinstance(error, UnicodeEncodeError):
        raise error
    lacking = error.object[error.start : error.end]
    return "".join(
        STAND_INS.get(character) or _escaped(character) for character in lacking
    ), error.end


def _escaped(character: str) -> str:
    number = ord(character)
    return f"\\u{number:04x}" if number < 0x10000 else f"\\U{number:08x}"
