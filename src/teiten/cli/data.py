"""``teiten data ssb``: Star Schema Benchmark data, and the progress while they are made."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

import click
from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

from teiten.addresses import Secrets
from teiten.cli.console import PLAIN_EVERY, Console
from teiten.cli.parameters import json_option
from teiten.datasets.ssb.rows.blocks import Watch
from teiten.errors import UsageError
from teiten.host.system.signals import one_interruption
from teiten.model.attached import is_address
from teiten.model.quantities import rough_duration
from teiten.model.ssb import Chunk, SsbData, SsbFormat, SsbTable, SsbVariant
from teiten.suggest import did_you_mean

if TYPE_CHECKING:
    from teiten.cli.main import Session
    from teiten.model.ssb import Written

EXAMPLES = (
    "Examples:  teiten data ssb --scale 10 --to 'dbname=ssb'  ·  "
    "teiten data ssb --scale 1 --table lineorder --chunk 3/8 --to - | zstd > lineorder.3.zst"
)


@click.command("ssb", epilog=EXAMPLES)
@click.option("--scale", type=float, required=True, help="Scale factor: 1 is 6 million lineorders.")
@click.option("--table", "tables", multiple=True, metavar="NAME", help="Only this table (repeat).")
@click.option("--chunk", metavar="I/N", help="Only part I of N of each table.")
@click.option(
    "--variant",
    type=click.Choice([variant.value for variant in SsbVariant]),
    default=SsbVariant.REFERENCE.value,
    show_default=True,
    help="Whose description is followed where they differ.",
)
@click.option(
    "--format",
    "form",
    type=click.Choice([form.value for form in SsbFormat]),
    help="Of files and of stdout (default: tbl); a server always gets binary COPY.",
)
@click.option(
    "--to",
    "target",
    required=True,
    metavar="DSN|DIR|-",
    help="A connection string of libpq, a folder, or - for stdout.",
)
@click.option(
    "--streams",
    type=click.IntRange(min=1),
    help="Threads, or connections that load lineorder (default: the CPUs; bounded by them).",
)
@click.option("--no-verify", is_flag=True, help="Do not compare what the server holds.")
@json_option("what was written")
@click.pass_obj
def ssb_command(
    session: Session,
    *,
    scale: float,
    tables: tuple[str, ...],
    chunk: str | None,
    variant: str,
    form: str | None,
    target: str,
    streams: int | None,
    no_verify: bool,
    as_json: bool,
) -> None:
    """Make the tables of the Star Schema Benchmark: customer, part, supplier, date, lineorder.

    The default variant is byte-identical to the reference programs, with quirks that are listed in
    docs/guides/ssb-data.md; "reports" is the PGECons reports' data, "paper" follows the paper.
    Files and tables appear when they are whole. In a server, row counts and column sums are
    compared with the generator's, and of all five tables at scale 0.01, 0.1 or 1 the results of
    the 13 queries with the known ones.
    """
    from teiten.datasets.ssb.rows.sizes import expected_rows

    data = SsbData(scale, SsbVariant(variant), _tables(tables), _chunk(chunk))
    expected = {table: expected_rows(data, table) for table in data.tables}
    if not target:
        raise click.UsageError("--to is empty: name a folder (. is this one), a server or -")
    threads = _streams(session, streams, server=target != "-" and is_dsn(target))
    file_format = SsbFormat(form or SsbFormat.TBL)
    with watching(session.console, expected) as watch:
        if target == "-":
            if as_json:
                raise click.UsageError("--json and --to - both write to stdout")
            _to_stdout(data, file_format, threads, watch)
            return
        if is_dsn(target):
            if form is not None:
                raise click.UsageError("--format is for files; a server always gets binary COPY")
            secrets = session.secrets.get(target, {})
            made = _to_server(data, target, secrets, threads, verify=not no_verify, watch=watch)
            written = [("", table) for table in made]
        else:
            from teiten.datasets.ssb.rows.files import write_files

            with one_interruption():
                pairs = write_files(data, file_format, Path(target), threads, watch)
            written = [(str(path), table) for path, table in pairs]
    if as_json:
        from teiten.cli.printed.folders import JsonTable, JsonTableFile

        session.console.json(
            [
                JsonTable(table.table, table.rows, JsonTableFile(place) if place else None)
                for place, table in written
            ]
        )
    else:
        lines = (f"{place or table.table}\t{table.rows} rows" for place, table in written)
        session.console.data(*lines)


def is_dsn(target: str) -> bool:
    """Whether ``--to`` is a connection string, not a folder."""
    return is_address(target) or "=" in target


def _streams(session: Session, asked: int | None, *, server: bool) -> int:
    from teiten.datasets.ssb.rows.streaming import StreamRoom, streams_for

    streams = streams_for(asked, StreamRoom.here(), server=server)
    if streams.bound:
        session.console.say(f"--streams {asked}: {streams.count} are used, for {streams.bound}")
    return streams.count


def _tables(names: tuple[str, ...]) -> tuple[SsbTable, ...]:
    known = [table.value for table in SsbTable]
    for name in names:
        if name not in known:
            raise UsageError(
                f"--table {name}: no such table.{did_you_mean(name, known)}",
                f"the tables are {', '.join(known)}",
            )
    return tuple(table for table in SsbTable if table in names) or tuple(SsbTable)


def _chunk(text: str | None) -> Chunk:
    if text is None:
        return Chunk()
    number, slash, count = text.partition("/")
    if slash and number.isascii() and count.isascii() and number.isdigit() and count.isdigit():
        chunk = Chunk(int(number), int(count))
        if 1 <= chunk.number <= chunk.count:
            return chunk
    raise UsageError(
        f"--chunk {text} is not a part of a whole", "give I/N with I from 1 to N, for example 3/8"
    )


def _to_stdout(data: SsbData, form: SsbFormat, threads: int, watch: Watch) -> None:
    from teiten.datasets.ssb.rows.files import write_stream

    if len(data.tables) != 1:
        raise click.UsageError("--to - takes one table: add --table NAME")
    if form is SsbFormat.PARQUET:
        raise click.UsageError("--format parquet needs a folder: --to DIR")
    sys.stdout.flush()
    # A reader that leaves has what it wanted, as in: | head
    with one_interruption(), suppress(BrokenPipeError):
        write_stream(data, form, sys.stdout.fileno(), threads, watch)


def _to_server(
    data: SsbData, address: str, secrets: Secrets, streams: int, *, verify: bool, watch: Watch
) -> tuple[Written, ...]:
    from teiten.connections import to_address
    from teiten.datasets.ssb.rows.load import LoadOptions, describe, load

    describe(address)  # raises UsageError where it cannot be read
    dsn = to_address(address, secrets)
    with one_interruption():
        return load(dsn, data, LoadOptions(streams, verify), watch)


class PlainWatch(Watch):
    """A line for every step, and in between every ten seconds: the table's rows, and the time that
    is left for all tables."""

    def __init__(self, console: Console, expected: Mapping[SsbTable, int]) -> None:
        self._console = console
        self._expected = expected
        self._rows = dict.fromkeys(expected, 0)
        self._begun = self._shown = time.monotonic()
        self._lock = threading.Lock()

    def step(self, text: str) -> None:
        self._console.detail(text)

    def note(self, text: str) -> None:
        self._console.say(text)

    def progress(self, table: SsbTable, units: int, rows: int) -> None:
        del units
        with self._lock:
            now = time.monotonic()
            if not any(self._rows.values()):  # what came before says nothing about the rate
                self._begun = self._shown = now
            self._rows[table] += rows
            self._show(table, rows, now)

    def _show(self, table: SsbTable, rows: int, now: float) -> None:
        del rows
        if now - self._shown < PLAIN_EVERY:
            return
        self._shown = now
        done = sum(self._rows.values())
        missing = max(0, sum(self._expected.values()) - done)
        left = rough_duration((now - self._begun) / done * missing)
        others = "" if len(self._expected) == 1 else " for all tables"
        self._console.say(f"{table}: {self._of(table)}, {left} left{others}")

    def _of(self, table: SsbTable) -> str:
        return f"{self._rows[table]:,} of about {self._expected[table]:,} rows"


class LiveWatch(PlainWatch):
    """A bar and the time left for all tables together, beside the rows of the present one."""

    def __init__(
        self, console: Console, progress: Progress, expected: Mapping[SsbTable, int]
    ) -> None:
        super().__init__(console, expected)
        self._progress = progress
        self._task = progress.add_task("starting", total=sum(expected.values()), rows="")

    def step(self, text: str) -> None:
        self._progress.update(self._task, description=text, rows="")

    def _show(self, table: SsbTable, rows: int, now: float) -> None:
        del now
        self._progress.update(self._task, advance=rows, rows=self._of(table))


@contextmanager
def watching(console: Console, expected: Mapping[SsbTable, int]) -> Iterator[Watch]:
    """The watch that fits the terminal; ``expected`` are rows by table."""
    if console.draws:
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
