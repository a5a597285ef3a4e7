"""A campaign's tables as CSV and Parquet files; a file is there whole or not at all."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import ExitStack, suppress
from enum import StrEnum
from functools import partial
from pathlib import Path
from typing import IO, Any

import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet

from teiten.analysis.model.findings import ContrastResult
from teiten.errors import UsageError
from teiten.export.tables import ArrowTable, tables
from teiten.given_paths import exists
from teiten.host.system.causes import translate_os_errors
from teiten.host.system.held_folder import HeldFolder
from teiten.host.system.target_folder import new_file, target_folder
from teiten.ledger.store import Ledger


class Format(StrEnum):
    CSV = "csv"
    PARQUET = "parquet"


def export(
    ledger: Ledger,
    contrasts: Sequence[ContrastResult],
    folder: Path,
    formats: Sequence[Format],
) -> tuple[Path, ...]:
    """Write trials, contrasts, events and samples into an empty or new folder.

    Samples are streamed: memory does not grow with the campaign. Raises UsageError where the
    folder holds something, MachineError where it cannot be written.
    """
    if exists(folder) and not folder.is_dir():
        raise UsageError(f"--to {folder} is a file, not a folder", "name a new folder")
    written: list[str] = []
    with (
        translate_os_errors(f"the export to {folder} failed", "--to"),
        target_folder(folder) as target,
    ):
        if target.entries():
            raise UsageError(
                f"--to {folder}: the folder is not empty",
                "name a new or empty folder; nothing is overwritten",
            )
        for table in tables(ledger, contrasts):
            written += _write(table, target, formats)
    return tuple(folder / name for name in written)


def _write(table: ArrowTable, target: HeldFolder, formats: Sequence[Format]) -> list[str]:
    """The files' names: the table in each format, gone through once; none where it fails."""
    names = [f"{table.name}.{form.value}" for form in formats]
    parts = [f"{name}.part" for name in names]
    try:
        with ExitStack() as stack:
            writers = []
            for form, part in zip(formats, parts, strict=True):
                file = stack.enter_context(new_file(target, part))
                writers.append(stack.enter_context(_WRITERS[form](file, table.schema)))
            for batch in table.batches:
                for writer in writers:
                    writer.write_batch(batch)
        for part, name in zip(parts, names, strict=True):
            target.rename(part, name)
    except BaseException:
        for part in parts:
            with suppress(OSError):
                target.unlink(part)
        raise
    return names


_WRITERS: dict[Format, Callable[[IO[bytes], pa.Schema], Any]] = {
    Format.CSV: pa.csv.CSVWriter,
    Format.PARQUET: partial(pa.parquet.ParquetWriter, compression="zstd"),
}
