"""The tables of the published reports, as they are printed."""

from __future__ import annotations

import csv
import math
import tomllib
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from pathlib import Path

from teiten.analysis.model.claims import (
    PublishedColumn,
    PublishedCurve,
    PublishedCurves,
    PublishedQueries,
)
from teiten.claims.schema import TableSource
from teiten.errors import StudyError
from teiten.kinds.metrics import is_turnaround
from teiten.study.document import CATALOGUE

PUBLISHED = CATALOGUE / "published"
INDEX = "sources.toml"
QUERY = "query"
"""The axis, and the column, of a table with a row for each query."""


@cache
def sources(folder: Path = PUBLISHED) -> dict[str, TableSource]:
    """The index of the tables, by file name without its ending."""
    data = tomllib.loads((folder / INDEX).read_text(encoding="utf-8"))
    return {name: TableSource.model_validate(table) for name, table in data.items()}


def published_table(
    file: str, columns: Sequence[str], metric: str, folder: Path = PUBLISHED
) -> PublishedCurves | PublishedQueries:
    """Columns of a table, by the names that its index gives them.

    Raises StudyError where table or column is missing.
    """
    source = _source(file, columns, folder)
    if source.axis != QUERY:
        return published_curves(file, columns, metric, folder)
    rows = _rows(file, folder)
    return PublishedQueries(
        table=file,
        source=source.source(),
        columns=tuple(
            PublishedColumn(name, tuple(_cells(rows, source.curves[name]))) for name in columns
        ),
    )


def published_curves(
    file: str, curves: Sequence[str], metric: str, folder: Path = PUBLISHED
) -> PublishedCurves:
    """Columns of a table as curves of a metric, in base units.

    Latencies are derived from TPS: with a fixed number of clients that do not think, the mean
    latency is clients / TPS (Little's law). Raises StudyError where table or column is missing.
    """
    source = _source(file, curves, folder)
    rows = _rows(file, folder)
    derived = is_turnaround(metric)
    convert = _latency if derived else _share if metric.endswith("_share") else _as_is
    return PublishedCurves(
        table=file,
        source=source.source(),
        axis=source.axis,
        cores=source.cores,
        curves=tuple(
            PublishedCurve(name, _points(rows, source.axis, source.curves[name], convert))
            for name in curves
        ),
        derived=derived,
    )


def _source(file: str, columns: Sequence[str], folder: Path) -> TableSource:
    source = sources(folder).get(file)
    if source is None:
        raise StudyError(f"there is no published table {file!r}", f"add it to {folder / INDEX}")
    unknown = [name for name in columns if name not in source.curves]
    if unknown:
        raise StudyError(
            f"the published table {file} has no curve {unknown[0]!r}",
            f"it has {', '.join(source.curves)}",
        )
    return source


def _rows(file: str, folder: Path) -> list[dict[str, str]]:
    with (folder / f"{file}.csv").open(encoding="utf-8", newline="") as stream:
        return list(csv.DictReader(stream))


def _cells(rows: Sequence[dict[str, str]], column: str) -> Iterator[tuple[str, float]]:
    """An empty cell was not measured."""
    for row in rows:
        if row[column]:
            yield row[QUERY], float(row[column])


def _points(
    rows: Sequence[dict[str, str]],
    axis: str,
    column: str,
    convert: Callable[[float, float], float],
) -> tuple[tuple[float, float], ...]:
    """An empty cell was not measured, and has no point."""
    cells = ((float(row[axis]), row[column]) for row in rows)
    points = ((level, convert(level, float(text))) for level, text in cells if text)
    return tuple(point for point in points if math.isfinite(point[1]))


def _as_is(_level: float, value: float) -> float:
    return value


def _share(_level: float, value: float) -> float:
    return value / 100


def _latency(level: float, value: float) -> float:
    return level / value if value > 0 else math.nan
