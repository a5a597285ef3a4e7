"""Progress and time left while data are made: a live line on a terminal, plain lines elsewhere."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

from teiten.cli.console import Console, Verbosity
from teiten.datasets.ssb.rows.blocks import Unwatched, Watch
from teiten.model.quantities import rough_duration
from teiten.model.ssb import SsbTable

EVERY = 10.0
"""Seconds between two plain lines."""


class RowCounts:
    """How many rows are written, by table and of all."""

    def __init__(self, expected: Mapping[SsbTable, int]) -> None:
        self._expected = expected
        self._rows = dict.fromkeys(expected, 0)

    def add(self, table: SsbTable, rows: int) -> None:
        self._rows[table] += rows

    def text(self, table: SsbTable) -> str:
        """Format the progress of one table."""
        return f"{self._rows[table]:,} of about {self._expected[table]:,} rows"

    @property
    def done(self) -> int:
        return sum(self._rows.values())

    @property
    def left(self) -> int:
        return max(0, sum(self._expected.values()) - self.done)


class PlainWatch:
    """A line for every step, and in between every ten seconds: the table's rows, and the time that
    is left for all tables."""

    def __init__(self, console: Console, expected: Mapping[SsbTable, int]) -> None:
        self._console = console
        self._expected = expected
        self._counts = RowCounts(expected)
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
            if self._counts.done == 0:  # what came before says nothing about the rate
                self._begun = self._told = now
            self._counts.add(table, rows)
            if now - self._told < EVERY:
                return
            self._told = now
            left = (now - self._begun) / self._counts.done * self._counts.left
            text = self._counts.text(table)
        others = "" if len(self._expected) == 1 else " for all tables"
        self._console.say(f"{table}: {text}, {rough_duration(left)} left{others}")


class LiveWatch:
    """A bar and the time left for all tables together, beside the rows of the present one."""

    def __init__(
        self, console: Console, progress: Progress, expected: Mapping[SsbTable, int]
    ) -> None:
        self._console = console
        self._progress = progress
        self._counts = RowCounts(expected)
        self._lock = threading.Lock()
        self._task = progress.add_task("starting", total=sum(expected.values()), rows="")

    def step(self, text: str) -> None:
        self._progress.update(self._task, description=text, rows="")

    def note(self, text: str) -> None:
        self._console.say(text)

    def progress(self, table: SsbTable, units: int, rows: int) -> None:
        del units
        with self._lock:
            self._counts.add(table, rows)
            text = self._counts.text(table)
        self._progress.update(self._task, advance=rows, rows=text)


@contextmanager
def watching(console: Console, expected: Mapping[SsbTable, int]) -> Iterator[Watch]:
    """The watch that fits the terminal; ``expected`` are rows by table."""
    if console.verbosity is Verbosity.QUIET:
        yield Unwatched()
    elif console.people.is_terminal:
        columns = (
            TextColumn("{task.description}"),
            BarColumn(),
            TextColumn("{task.fields[rows]}"),
            TimeRemainingColumn(),
        )
        with Progress(
            *columns, console=console.people, transient=True, refresh_per_second=4
        ) as progress:
            yield LiveWatch(console, progress, expected)
    else:
        yield PlainWatch(console, expected)
