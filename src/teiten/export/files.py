"""A campaign's tables as CSV and Parquet files; a file is there whole or not at all."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack, suppress
from enum import StrEnum
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet

from teiten.analysis.model.findings import ContrastResult
from teiten.errors import UsageError
from teiten.export.tables import ArrowTable, tables
from teiten.host.system.causes import translate_os_errors
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
    _check_empty(folder)
    written: list[Path] = []
    try:
        with translate_os_errors(f"the export to {folder} failed", "--to"):
            folder.mkdir(parents=True, exist_ok=True)
            for table in tables(ledger, contrasts):
                written += _write(table, folder, formats)
    except BaseException:
        _remove_parts(folder)
        raise
    return tuple(written)


def _check_empty(folder: Path) -> None:
    try:
        filled = folder.exists() and any(folder.iterdir())
    except NotADirectoryError as error:
        raise UsageError(f"--to {folder} is a file, not a folder", "name a new folder") from error
    if filled:
        raise UsageError(
            f"--to {folder}: the folder is not empty",
            "name a new or empty folder; nothing is overwritten",
        )


def _write(table: ArrowTable, folder: Path, formats: Sequence[Format]) -> list[Path]:
    """The table in each format, gone through once."""
    paths = [folder / f"{table.name}.{form.value}" for form in formats]
    parts = [path.with_name(path.name + ".part") for path in paths]
    with ExitStack() as stack:
        writers = [
            stack.enter_context(_WRITERS[form](part, table.schema))
            for form, part in zip(formats, parts, strict=True)
        ]
        for batch in table.batches:
            for writer in writers:
                writer.write_batch(batch)
    for part, path in zip(parts, paths, strict=True):
        part.replace(path)
    return paths


def _parquet(path: Path, schema: pa.Schema) -> Any:
    return pa.parquet.ParquetWriter(pa.OSFile(str(path), "wb"), schema, compression="zstd")


def _csv(path: Path, schema: pa.Schema) -> Any:
    return pa.csv.CSVWriter(pa.OSFile(str(path), "wb"), schema)


_WRITERS = {Format.CSV: _csv, Format.PARQUET: _parquet}


def _remove_parts(folder: Path) -> None:
    for part in folder.glob("*.part"):
        with suppress(OSError):
            part.unlink()
