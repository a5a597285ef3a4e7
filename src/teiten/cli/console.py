"""Where output goes: data to stdout, everything for people to stderr."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from enum import IntEnum
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from teiten.cli.text.layout import plain, write_fitting
from teiten.errors import UsageError

if TYPE_CHECKING:
    from rich.table import Table

UNLIMITED = 1000
"""Columns of a table in a pipe, at most."""
FOLDED = 16
"""Cells that a folded column of a table needs."""
PLAIN_EVERY = 10.0
"""Seconds between two lines about how far something is, where there is no terminal."""
_IN_JSON = {number: f"\\u{number:04x}" for number in (*range(0x7F, 0xA0), *range(0xD800, 0xE000))}
"""Escapes of characters that json leaves as they are, and no terminal and no UTF-8 should get."""


class Verbosity(IntEnum):
    QUIET = 0
    NORMAL = 1
    VERBOSE = 2


def json_text(value: Any, *, unicode: bool = True) -> str:
    """A JSON document as text; of a dataclass, what ``cli.printed.form`` makes of it."""
    from teiten.cli.printed.form import jsonable

    text = json.dumps(
        jsonable(value), ensure_ascii=not unicode, indent=2, default=str, allow_nan=False
    )
    return text.translate(_IN_JSON) + "\n"


class Console:
    """The two streams. ``people`` is rich's console on stderr, for tables and live views too."""

    def __init__(self, verbosity: Verbosity, color: str) -> None:
        import rich.console  # more than all else that --help loads

        self.verbosity = verbosity
        self.for_programs = False
        """The data are JSON (``--json``)."""
        forced = {"always": True, "never": False}.get(color)
        make = partial(
            rich.console.Console,
            force_terminal=True if forced else None,
            no_color=None if forced is None else not forced,  # None: as NO_COLOR says
            highlight=False,
        )
        self.people = make(stderr=True)
        # In a pipe a message stays one line, for grep; on a terminal it is wrapped at words.
        self.people.soft_wrap = not self.people.is_terminal
        self.output = make(soft_wrap=True)

    @property
    def draws(self) -> bool:
        """Whether bars are drawn for people; elsewhere a line is said now and then."""
        return self.verbosity >= Verbosity.NORMAL and self.people.is_terminal

    def data(self, *values: object) -> None:
        """Lines of data, on stdout."""
        for value in values:
            sys.stdout.write(plain(str(value)) + "\n")

    def text(self, *lines: str) -> None:
        """Lines that people read, on stdout; on a terminal broken where that is narrower."""
        for line in lines:
            write_fitting(sys.stdout, line)

    def table(self, table: Table, spare: Sequence[str] = (), last: Sequence[str] = ()) -> None:
        """Data as a table, on stdout; in a pipe nothing is folded to a terminal's width.

        ``spare``: headings of columns that a narrow terminal does without, the first of them
        first; ``last``: of those that go only where the rest does not fit folded either. Columns
        that were left out are named below the table.
        """
        for column in table.columns:  # rich takes out some control characters, not escapes
            column._cells = [
                plain(cell) if isinstance(cell, str) else cell for cell in column._cells
            ]
        if not self.output.is_terminal:
            self.output.width = UNLIMITED
            self.output.width = self.output.measure(table).maximum
        gone = [] if not self.output.is_terminal else self._narrowed(table, spare, last)
        self.output.print(table)
        if gone:
            self.say(f"left out for want of room: {', '.join(gone)} (a pipe and --json have them)")

    def _narrowed(self, table: Table, spare: Sequence[str], last: Sequence[str]) -> list[str]:
        """Take columns away until the table fits; the headings of those that went."""
        gone = []
        for heading in (*spare, *last):
            if self._fits(table, folded=heading in last):
                break
            table.columns = [column for column in table.columns if column.header != heading]
            for at, column in enumerate(table.columns):  # rich finds paddings by it
                column._index = at
            gone.append(heading)
        return gone

    def _fits(self, table: Table, *, folded: bool) -> bool:
        from rich.measure import Measurement

        folding = [column for column in table.columns if folded and not column.no_wrap]
        for column in folding:
            column.max_width = FOLDED
        wide = self.output.options.update(max_width=UNLIMITED)
        width = Measurement.get(self.output, wide, table).maximum
        for column in folding:
            column.max_width = None
        return width <= self.output.width

    def json(self, value: Any) -> None:
        """A JSON document, on stdout; of a dataclass, what ``cli.printed.form`` makes of it."""
        unicode = (sys.stdout.encoding or "").lower().startswith("utf")
        sys.stdout.write(json_text(value, unicode=unicode))

    def say(self, *texts: str) -> None:
        """Something a person wants to know, on stderr; not with --quiet."""
        for text in texts if self.verbosity >= Verbosity.NORMAL else ():
            self.people.print(plain(text), markup=False)

    def detail(self, text: str) -> None:
        """A step, on stderr; only with --verbose."""
        if self.verbosity >= Verbosity.VERBOSE:
            self.people.print(plain(text), markup=False, style="dim")

    def reading(self, ledgers: Sequence[Path]) -> Iterator[Path]:
        """Yield ledgers, and show how many of them have been read: on a terminal by a bar with the
        time left, in a pipe by a line now and then."""
        self.say(f"reading {len(ledgers)} ledger{'s' * (len(ledgers) != 1)}")
        last = time.monotonic()
        with self._bar(len(ledgers)) as advance:
            for at, file in enumerate(ledgers):
                self.detail(f"reading {at + 1} of {len(ledgers)}: {file}")
                yield file
                advance()
                if not self.people.is_terminal and time.monotonic() - last >= PLAIN_EVERY:
                    last = time.monotonic()
                    self.say(f"{at + 1} of {len(ledgers)} read")

    @contextmanager
    def _bar(self, total: int) -> Iterator[Callable[[], None]]:
        """Draw a bar on a terminal; what is given advances it by one."""
        if not self.draws:
            yield lambda: None
            return
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, TimeRemainingColumn

        columns = (BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
        with Progress(*columns, console=self.people, transient=True) as progress:
            task = progress.add_task("", total=total)
            yield lambda: progress.advance(task)

    def ask(self, question: str, *, asks: str, hint: str) -> None:
        """Ask a person, and end the program where the answer is no.

        ``asks``: what asks before what. Raises UsageError where there is no terminal to ask on.
        """
        if not sys.stdin.isatty():
            raise UsageError(f"{asks}, and there is no terminal to ask on", hint)
        click.confirm(plain(question), abort=True, err=True)

    def warn(self, text: str, hint: str | None = None) -> None:
        """A caution, on stderr."""
        from rich.markup import escape

        self.people.print(f"[yellow]caution:[/] {escape(plain(text))}")
        if hint:
            self.people.print(f"   [dim]hint:[/] {escape(plain(hint))}")
