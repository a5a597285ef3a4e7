"""The published findings that studies replicate, read from the catalogue."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from pydantic import ValidationError

from teiten.analysis.model.claims import Claim, ClaimSource
from teiten.claims.published import published_table
from teiten.claims.schema import ClaimsFile, ClaimTable, claims_file
from teiten.errors import StudyError
from teiten.kinds.contract import plan_of
from teiten.model.study import WorkloadOptions
from teiten.study.document import CATALOGUE, read_document
from teiten.study.locate import dotted, key_lines, line_of
from teiten.study.place import Place
from teiten.study.schema import WorkloadTable

CLAIMS = CATALOGUE / "claims"
"""The folder of the claims: a file for each report."""


def claims_of(study: str | None = None, folder: Path = CLAIMS) -> tuple[Claim, ...]:
    """The claims of one study, or all, by report and in its order.

    A study without claims has none; that is no error. Raises StudyError where a file is wrong,
    of those of the study if one is named.
    """
    return _read(study, folder)


@cache
def _read(study: str | None, folder: Path) -> tuple[Claim, ...]:
    found = tuple(one for path in sorted(folder.glob("*.toml")) for one in read_claims(path, study))
    seen: set[str] = set()
    for one in found:
        if one.id in seen:
            raise StudyError(f"the claim {one.id} stands twice in {folder}", "give each its own id")
        seen.add(one.id)
    return found


def read_claims(path: Path, study: str | None = None) -> Iterator[Claim]:
    """The claims of one file; none where a study is named and the file is another's. Raises
    StudyError with file, line and key where it is wrong."""
    text = path.read_text(encoding="utf-8")
    try:
        found = tomllib.loads(text)
        if study is not None and found.get("study") != study:
            return
        file = claims_file().model_validate(found)
    except tomllib.TOMLDecodeError as error:
        raise StudyError(f"{path}: this is not TOML: {error}", "see https://toml.io") from error
    except ValidationError as error:
        problem = error.errors(include_url=False)[0]
        place = problem["loc"]
        raise StudyError(
            f"{path}:{line_of(key_lines(text), place)}: {dotted(place) or 'the file'}:"
            f" {problem['msg'].removeprefix('Value error, ')}",
            "teiten.claims.schema holds the form of a claims file",
        ) from error
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
        work=options.texts,
        at=tuple(table.at.items()),
        promise=table.promise,
    )
