"""``teiten data ssb``: Star Schema Benchmark data."""

from __future__ import annotations

import sys
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

import click

from teiten.addresses import Secrets
from teiten.model.attached import is_address
from teiten.model.ssb import Chunk, SsbData, SsbFormat, SsbTable, SsbVariant

if TYPE_CHECKING:
    from teiten.cli.main import Session
    from teiten.datasets.ssb.rows.blocks import Watch
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
@click.option("--json", "as_json", is_flag=True, help="Print what was written as JSON.")
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
    from teiten.cli.data.watch import watching
    from teiten.datasets.ssb.rows.sizes import expected_rows

    data = SsbData(scale, SsbVariant(variant), _tables(tables), _chunk(chunk))
    expected = {table: expected_rows(data, table) for table in data.tables}
    if not target:
        raise click.UsageError("--to is empty: name a folder (. is this one), a server or -")
    threads = _streams(session, streams, server=target != "-" and is_dsn(target))
    with watching(session.console, expected) as watch:
        if target == "-":
            if as_json:
                raise click.UsageError("--json and --to - both write to stdout")
            _to_stdout(data, _format(form), threads, watch)
            return
        if is_dsn(target):
            if form is not None:
                raise click.UsageError("--format is for files; a server always gets binary COPY")
            secrets = session.secrets.get(target, {})
            written = _to_server(data, target, secrets, threads, verify=not no_verify, watch=watch)
            places = [""] * len(written)
        else:
            pairs = _to_files(data, _format(form), Path(target), threads, watch)
            written = tuple(one for _, one in pairs)
            places = [str(path) for path, _ in pairs]
    _tell(session, written, places, as_json)


def is_dsn(target: str) -> bool:
    """Whether ``--to`` is a connection string, not a folder."""
    return is_address(target) or "=" in target


def _streams(session: Session, asked: int | None, *, server: bool) -> int:
    from teiten.datasets.ssb.rows.streaming import StreamRoom, streams_for

    found = streams_for(asked, StreamRoom.here(), server=server)
    if found.bound:
        session.console.say(f"--streams {asked}: {found.count} are used, for {found.bound}")
    return found.count


def _tables(names: tuple[str, ...]) -> tuple[SsbTable, ...]:
    from teiten.errors import UsageError
    from teiten.suggest import did_you_mean

    known = [table.value for table in SsbTable]
    for name in names:
        if name not in known:
            raise UsageError(
                f"--table {name}: no such table.{did_you_mean(name, known)}",
                f"the tables are {', '.join(known)}",
            )
    return tuple(table for table in SsbTable if table in names) or tuple(SsbTable)


def _chunk(text: str | None) -> Chunk:
    from teiten.errors import UsageError

    if text is None:
        return Chunk()
    number, slash, count = text.partition("/")
    if slash and number.isascii() and count.isascii() and number.isdigit() and count.isdigit():
        found = Chunk(int(number), int(count))
        if 1 <= found.number <= found.count:
            return found
    raise UsageError(
        f"--chunk {text} is not a part of a whole", "give I/N with I from 1 to N, for example 3/8"
    )


def _format(name: str | None) -> SsbFormat:
    return SsbFormat(name or SsbFormat.TBL)


def _to_stdout(data: SsbData, form: SsbFormat, threads: int, watch: Watch) -> None:
    from teiten.datasets.ssb.rows.files import write_stream
    from teiten.host.system.signals import one_interruption

    if len(data.tables) != 1:
        raise click.UsageError("--to - takes one table: add --table NAME")
    if form is SsbFormat.PARQUET:
        raise click.UsageError("--format parquet needs a folder: --to DIR")
    sys.stdout.flush()
    # A reader that leaves has what it wanted, as in: | head
    with one_interruption(), suppress(BrokenPipeError):
        write_stream(data, form, sys.stdout.fileno(), threads, watch)


def _to_files(
    data: SsbData, form: SsbFormat, folder: Path, threads: int, watch: Watch
) -> tuple[tuple[Path, Written], ...]:
    from teiten.datasets.ssb.rows.files import write_files
    from teiten.host.system.signals import one_interruption

    with one_interruption():
        return write_files(data, form, folder, threads, watch)


def _to_server(
    data: SsbData, address: str, secrets: Secrets, streams: int, *, verify: bool, watch: Watch
) -> tuple[Written, ...]:
    from teiten.connections import to_address
    from teiten.datasets.ssb.rows.load import LoadOptions, describe, load
    from teiten.host.system.signals import one_interruption

    describe(address)  # raises UsageError where it cannot be read
    dsn = to_address(address, secrets)
    with one_interruption():
        return load(dsn, data, LoadOptions(streams, verify), watch)


def _tell(session: Session, written: tuple[Written, ...], places: list[str], json: bool) -> None:
    if json:
        from teiten.cli.printed.folders import JsonTable, JsonTableFile

        session.console.json(
            [
                JsonTable(one.table, one.rows, JsonTableFile(place) if place else None)
                for one, place in zip(written, places, strict=True)
            ]
        )
        return
    for one, place in zip(written, places, strict=True):
        session.console.data(f"{place or one.table}\t{one.rows} rows")
