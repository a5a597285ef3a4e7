"""The numbers of the 2021 report beside those measured here: the smallest and the largest size."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from teiten.analysis.model.claims import PublishedQueries
from teiten.kinds.probes.measurement import PageOrigin
from teiten.kinds.probes.present.summary import probe_title
from teiten.kinds.probes.present.units import memory_text
from teiten.kinds.probes.results import PartTimes, ProbeResult, ProbeSide, probes_found
from teiten.model.study import GUC_PREFIX
from teiten.report.numbers import significant
from teiten.report.tables import Column, Row, Table, TableCell, number_cell
from teiten.report.view.kit import Kit

FILE, COLUMNS = "buffers-2021-probes", ("small", "large")
MILLISECONDS, PERCENT = 1e3, 100.0
Take = Callable[[ProbeSide], float | None]


@dataclass(frozen=True)
class _Printed:
    """A row of the published table, and what is the same here."""

    quantity: str
    probe: str
    factor: float
    """From base units to the printed ones."""
    take: Take

    def written(self, value: float) -> str:
        return significant(value * self.factor)


def _part(side: ProbeSide) -> PartTimes | None:
    return side.parts[0] if len(side.parts) == 1 else None


def _of_part(take: Callable[[PartTimes], float | None]) -> Take:
    def taken(side: ProbeSide) -> float | None:
        part = _part(side)
        return None if part is None else take(part)

    return taken


def _in_buffers(part: PartTimes) -> float | None:
    return next(
        (origin.times.mean for origin in part.origins if origin.origin is PageOrigin.BUFFERS), None
    )


ROWS = (
    _Printed(
        "descriptor_scan_per_gb",
        "clock-sweep",
        MILLISECONDS,
        lambda side: side.sweep.seconds_per_gib if side.sweep else None,
    ),
    _Printed("update_execution", "update", MILLISECONDS, _of_part(lambda part: part.mean.mean)),
    _Printed(
        "commit", "update", MILLISECONDS, lambda side: side.commit.mean if side.commit else None
    ),
    _Printed(
        "mean_after_full_scan", "after-scan", MILLISECONDS, _of_part(lambda part: part.mean.mean)
    ),
    _Printed(
        "db_buffer_hit",
        "after-scan",
        PERCENT,
        _of_part(lambda part: part.share(PageOrigin.BUFFERS)),
    ),
    _Printed("os_cache_hit", "after-scan", PERCENT, _of_part(lambda part: part.os_cache_hits)),
    _Printed("mean_in_db_buffer", "after-scan", MILLISECONDS, _of_part(_in_buffers)),
    _Printed(
        "mean_outside_db_buffer", "after-scan", MILLISECONDS, _of_part(lambda part: part.outside)
    ),
)


def published_table(kit: Kit) -> Table | None:
    """None where no sizes of the buffers are contrasted, or several contexts."""
    found = probes_found(kit.analysis)
    if len(found.recommendations) != 1 or not kit.study.contrast.startswith(GUC_PREFIX):
        return None
    small, large = (_printed(kit, column) for column in COLUMNS)
    rows = [
        (
            TableCell(kit.t(f"published.{row.quantity}")),
            TableCell(probe_title(kit, result)),
            *(number_cell(column.get(row.quantity)) for column in (small, large)),
            *(
                number_cell(row.take(side), row.written)
                for side in (result.sides[0], result.sides[-1])
            ),
        )
        for row in ROWS
        for result in found.results
        if result.probe == row.probe
    ]
    rows += _differences(kit, found.results, small, large)
    if not rows or not (small and large):
        return None
    sides = found.results[0].sides
    first, last = (kit.short(side.side) for side in (sides[0], sides[-1]))
    columns = (
        Column(kit.t("table.published-probes.quantity")),
        Column(kit.t("table.published-probes.probe")),
        Column(kit.t("table.published-probes.small"), numeric=True),
        Column(kit.t("table.published-probes.large"), numeric=True),
        Column(kit.t("table.published-probes.here", side=first), numeric=True),
        Column(kit.t("table.published-probes.here", side=last), numeric=True),
    )
    return Table(
        "published-probes",
        kit.t("table.published-probes.caption"),
        columns,
        tuple(rows),
        note=kit.t("table.published-probes.note", memory=memory_text(kit)),
        sortable=False,
    )


def _printed(kit: Kit, column: str) -> dict[str, float]:
    """A column of the published table, as the findings carry it; empty without any."""
    for outcome in kit.analysis.claims:
        table = outcome.claim.published
        if isinstance(table, PublishedQueries) and table.table == FILE:
            for printed in table.columns:
                if printed.label == column:
                    return dict(printed.values)
    return {}


def _differences(
    kit: Kit,
    results: tuple[ProbeResult, ...],
    small: dict[str, float],
    large: dict[str, float],
) -> Iterator[Row]:
    """List the rows whose one number is made of both sides."""
    for result in results:
        empty = TableCell("")
        lead = TableCell(probe_title(kit, result))
        if result.probe == "clock-sweep" and result.line is not None:
            quantity = "clock_sweep_ratio_large_to_small"
            yield (
                TableCell(kit.t(f"published.{quantity}")),
                lead,
                empty,
                number_cell(large.get(quantity)),
                empty,
                number_cell(result.line.ratio.mean, significant),
            )
        if result.probe == "os-cache-read" and len(result.sides) > 1:
            quantity = "os_cache_minus_db_buffer"
            parts = [_part(side) for side in (result.sides[0], result.sides[-1])]
            means = [part.mean.mean for part in parts if part is not None]
            if len(means) == 2:
                value = (means[0] - means[1]) * MILLISECONDS
                yield (
                    TableCell(kit.t(f"published.{quantity}")),
                    lead,
                    number_cell(small.get(quantity)),
                    empty,
                    number_cell(value, significant),
                    empty,
                )
