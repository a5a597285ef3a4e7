"""Progress and time left while data are made: a live line on a terminal, plain lines elsewhere."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

from teiten.cli.console import Console, Verbosity
from teiten.datasets.ssb.rows.watch import Unwatched, Watch
from teiten.model.quantities import rough_duration
from teiten.model.ssb import SsbTable

EVERY = 10.0
"""Seconds between two plain lines."""


class PlainWatch:
    """A line for every step, and in between every ten seconds."""

    def __init__(self, console: Console, expected: Mapping[SsbTable, int]) -> None:
        self._console = console
        self._total = sum(expected.values())
        self._rows = 0
        self._begun = self._told = time.monotonic()
        self._lock = threading.Lock()

    def step(self, text: str) -> None:
        self._console.detail(text)

    def note(self, text: str) -> None:
        self._console.say(text)

    def progress(self, table: SsbTable, units: int, rows: int) -> None:
        del units
        with self._lock:
            now = time.monotonic()
            if self._rows == 0:  # what came before says nothing about the rate
                self._begun = self._told = now
            self._rows += rows
            if now - self._told < EVERY:
                return
            self._told = now
            left = (now - self._begun) / self._rows * max(0, self._total - self._rows)
        self._console.say(
            f"{table}: {self._rows:,} of about {self._total:,} rows, {rough_duration(left)} left"
        )


class LiveWatch:
    """A bar for all tables together."""

    def __init__(
        self, console: Console, progress: Progress, expected: Mapping[SsbTable, int]
    ) -> None:
        self._console = console
        self._progress = progress
        self._task = progress.add_task("starting", total=sum(expected.values()))

    def step(self, text: str) -> None:
        self._progress.update(self._task, description=text)

    def note(self, text: str) -> None:
        self._console.say(text)

    def progress(self, table: SsbTable, units: int, rows: int) -> None:
        del table, units
        self._progress.update(self._task, advance=rows)


@contextmanager
def watching(console: Console, expected: Mapping[SsbTable, int]) -> Iterator[Watch]:
    """The watch that fits the terminal; ``expected`` are rows by table."""
    if console.verbosity is Verbosity.QUIET:
        yield Unwatched()
    elif console.people.is_terminal:
        columns = (
            TextColumn("{task.description}"),
            BarColumn(),
            TextColumn("{task.completed:,.0f} of about {task.total:,.0f} rows"),
            TimeRemainingColumn(),
        )
        with Progress(
            *columns, console=console.people, transient=True, refresh_per_second=4
        ) as progress:
            yield LiveWatch(console, progress, expected)
    else:
        yield PlainWatch(console, expected)
