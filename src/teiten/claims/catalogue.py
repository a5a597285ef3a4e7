"""The published findings that studies replicate, read from the catalogue.

The tables of the published reports, as they are printed.
"""

from __future__ import annotations

import csv
import tomllib
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from pathlib import Path

from pydantic import ValidationError

from teiten.analysis.model.claims import (
    Claim,
    ClaimSource,
    PublishedColumn,
    PublishedCurve,
    PublishedCurves,
    PublishedQueries,
)
from teiten.claims.schema import ClaimsFile, ClaimTable, TableSource, claims_file
from teiten.errors import StudyError
from teiten.kinds.contract import plan_of
from teiten.kinds.metrics import is_turnaround
from teiten.model.study import WorkloadOptions
from teiten.study.document import CATALOGUE, first_problem, read_document
from teiten.study.locate import Place
from teiten.study.schema import WorkloadTable

CLAIMS = CATALOGUE / "claims"
"""The folder of the claims: a file for each report."""


@cache
def claims_of(study: str | None = None) -> tuple[Claim, ...]:
    """The claims of one study, or all, by report and in its order.

    A study without claims has none; that is no error. Raises StudyError where a file is wrong,
    of those of the study if one is named.
    """
    claims = tuple(
        claim for path in sorted(CLAIMS.glob("*.toml")) for claim in read_claims(path, study)
    )
    seen: set[str] = set()
    for claim in claims:
        if claim.id in seen:
            raise StudyError(
                f"the claim {claim.id} stands twice in {CLAIMS}", "give each its own id"
            )
        seen.add(claim.id)
    return claims


def read_claims(path: Path, study: str | None = None) -> Iterator[Claim]:
    """The claims of one file; none where a study is named and the file is another's. Raises
    StudyError with file, line and key where it is wrong."""
    text = path.read_text(encoding="utf-8")
    try:
        tables = tomllib.loads(text)
        if study is not None and tables.get("study") != study:
            return
        file = claims_file().model_validate(tables)
    except tomllib.TOMLDecodeError as error:
        raise StudyError(f"{path}: this is not TOML: {error}", "see https://toml.io") from error
    except ValidationError as error:
        hint = "teiten.claims.schema holds the form of a claims file"
        raise first_problem(path, text, error, hint) from error
    workloads = {workload.name: workload for workload in read_document(file.study).tables.workloads}
    for table in file.claims:
        workload = workloads.get(table.workload)
        if workload is None and not table.unmeasured:
            raise StudyError(
                f"{path}: {table.id}: the study {file.study} has no workload {table.workload!r}",
                f"it has {', '.join(workloads)}",
            )
        yield _claim(file, table, workload)


_FOLDERS = (CATALOGUE, CATALOGUE / "sql")


def _options(workload: WorkloadTable | None) -> WorkloadOptions:
    """Read the options with which a workload of the catalogue runs."""
    if workload is None:
        return WorkloadOptions()
    place = Place(0, _FOLDERS, lambda _path, message, hint, _more: StudyError(message, hint))
    return plan_of(workload.kind).options_of(place, workload)


def _claim(file: ClaimsFile, table: ClaimTable, workload: WorkloadTable | None) -> Claim:
    published, options = table.published, _options(workload)
    return Claim(
        id=table.id,
        study=file.study,
        source=ClaimSource(file.report, table.section, table.table),
        statement=table.statement,
        workload=table.workload,
        metric=table.metric,
        predicate=table.predicate,
        contrast=table.claim_contrast(),
        needs=table.claim_needs(),
        printed=table.printed_values(),
        published=None
        if published is None
        else published_table(published.file, published.curves, table.metric),
        remark=table.remark,
        work=options.work,
        at=tuple(table.at.items()),
        promise=table.promise,
    )


PUBLISHED = CATALOGUE / "published"
INDEX = "sources.toml"
NAMED = ("query", "quantity")
"""The axis, and the column, of a table whose rows have names: queries, or whatever was measured."""


@cache
def sources() -> dict[str, TableSource]:
    """The index of the tables, by file name without its ending."""
    data = tomllib.loads((PUBLISHED / INDEX).read_text(encoding="utf-8"))
    return {name: TableSource.model_validate(table) for name, table in data.items()}


def published_table(
    file: str, columns: Sequence[str], metric: str
) -> PublishedCurves | PublishedQueries:
    """Columns of a table, by the names that its index gives them; by numeric levels as curves of a
    metric, in base units. Raises StudyError where table or column is missing.
    """
    source = _source(file, columns)
    with (PUBLISHED / f"{file}.csv").open(encoding="utf-8", newline="") as stream:
        rows = list(csv.DictReader(stream))
    cells = {name: tuple(_cells(rows, source.axis, source.curves[name])) for name in columns}
    if source.axis in NAMED:
        named = tuple(PublishedColumn(name, values) for name, values in cells.items())
        return PublishedQueries(table=file, source=source.source(), columns=named)
    return PublishedCurves(
        table=file,
        source=source.source(),
        axis=source.axis,
        cores=source.cores,
        curves=tuple(
            PublishedCurve(name, tuple(_points(values, metric))) for name, values in cells.items()
        ),
        derived=is_turnaround(metric),
    )


def _points(cells: Iterable[tuple[str, float]], metric: str) -> Iterator[tuple[float, float]]:
    """A column as a metric by level. Latencies are derived from TPS: with a fixed number of clients
    that do not think, the mean latency is clients / TPS (Little's law)."""
    unit = 100 if metric.endswith("_share") else 1
    for text, value in cells:
        level = float(text)
        if not is_turnaround(metric):
            yield level, value / unit
        elif value > 0:
            yield level, level / value


def _source(file: str, columns: Sequence[str]) -> TableSource:
    source = sources().get(file)
    if source is None:
        raise StudyError(f"there is no published table {file!r}", f"add it to {PUBLISHED / INDEX}")
    unknown = [name for name in columns if name not in source.curves]
    if unknown:
        raise StudyError(
            f"the published table {file} has no curve {unknown[0]!r}",
            f"it has {', '.join(source.curves)}",
        )
    return source


def _cells(rows: Sequence[dict[str, str]], axis: str, column: str) -> Iterator[tuple[str, float]]:
    """An empty cell was not measured."""
    for row in rows:
        if row[column]:
            yield row[axis], float(row[column])
