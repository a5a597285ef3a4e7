"""Probes in the report: the answer by sizes, each probe's effect, verdicts, curves and origins;
and the numbers of the 2021 report beside those measured here, of the smallest and the largest size.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from teiten.analysis.model.claims import PublishedQueries
from teiten.kinds.contract_present import OwnAnswer, TrialColumn
from teiten.kinds.probes.measurement import PageOrigin
from teiten.kinds.probes.model import probes_of, run_of
from teiten.kinds.probes.present.beside import beside_section
from teiten.kinds.probes.present.curves import (
    clients_charts,
    cost_chart,
    distribution_chart,
    from_disk_chart,
    working_set_chart,
)
from teiten.kinds.probes.present.recommend import answer_of, section_of
from teiten.kinds.probes.present.tables import effect_sentence, probe_title, tables_of_probe
from teiten.kinds.probes.present.units import memory_text
from teiten.kinds.probes.present.versions import versions_section
from teiten.kinds.probes.results import PartTimes, ProbeResult, ProbeSide, probes_found
from teiten.model.study import GUC_PREFIX, Workload
from teiten.report.blocks import Block, Further, Heading, Section, Text, gallery, looked_up
from teiten.report.charts.base import Chart
from teiten.report.numbers import significant
from teiten.report.tables import Column, Row, Table, TableCell, number_cell
from teiten.report.view.kit import Kit
from teiten.report.view.usual import UsualPresent


class ProbesPresent(UsualPresent):
    columns = (
        TrialColumn("probe_seconds", 1000.0),
        TrialColumn("from_buffers", 100.0, decimals=1),
        TrialColumn("from_os_cache", 100.0, decimals=1),
        TrialColumn("from_disk", 100.0, decimals=1),
    )

    def duration(self, kit: Kit, workload: Workload) -> str:
        alike = [part for part in kit.study.workloads if part.kind == workload.kind]
        return kit.t("design.duration.probes", count=sum(len(run_of(part)) for part in alike))

    def procedure(self, kit: Kit, workload: Workload) -> str:
        return kit.t("procedure.probes")

    def own_answer(self, kit: Kit) -> OwnAnswer | None:
        return answer_of(kit)

    def results(self, kit: Kit, prefix: str, workload: str) -> Iterable[Block]:
        results = probes_found(kit.analysis).results
        mine = (result for result in results if result.workload == workload)
        for at, result in enumerate(mine, start=1):
            yield from _probe(kit, f"{prefix}-probe-{at}", result)

    def sections(self, kit: Kit) -> Iterable[Section]:
        yield beside_section(kit)
        yield versions_section(kit)
        yield section_of(kit)

    def published(self, kit: Kit) -> tuple[Sequence[Chart], Sequence[Table]]:
        table = published_table(kit)
        return (), (table,) if table is not None else ()


def _probe(kit: Kit, prefix: str, result: ProbeResult) -> Iterator[Block]:
    probe = probes_of(kit.study.workload(result.workload)).probe(result.probe)
    yield Heading(4, probe_title(kit, result))
    yield Text(kit.t.of(probe.description))
    sentence = effect_sentence(kit, result)
    if sentence:
        yield Text(sentence)
    charts = (
        working_set_chart(kit, f"{prefix}-working-set", result),
        cost_chart(kit, f"{prefix}-cost", result),
        *clients_charts(kit, f"{prefix}-clients-curve", result),
    )
    yield from gallery(_titled(kit, result, charts))
    further = (
        from_disk_chart(kit, f"{prefix}-from-disk", result),
        distribution_chart(kit, f"{prefix}-distribution", result),
    )
    in_appendix = gallery(_titled(kit, result, further))
    if in_appendix:
        yield looked_up(kit.t("paper.charts"), in_appendix)
    yield Further(tuple(tables_of_probe(kit, prefix, result, memory_text(kit))))


def _titled(kit: Kit, result: ProbeResult, charts: Iterable[Chart | None]) -> Iterator[Chart]:
    probe = kit.t.quoted(probe_title(kit, result))
    for chart in charts:
        if chart is not None:
            yield replace(chart, title=kit.t("probe.chart", metric=chart.title, probe=probe))


PRESENT = ProbesPresent()


FILE, COLUMNS = "buffers-2021-probes", ("small", "large")
MILLISECONDS, PERCENT = 1e3, 100.0
SMALL, LARGE = 0, 1
"""Places of the sizes."""
Numbers = tuple[float | None, float | None]
"""At the smallest and the largest size; None where it is not known."""


@dataclass(frozen=True)
class _Printed:
    """A row of the published table, and what is the same here."""

    quantity: str
    probe: str
    factor: float
    """From base units to the printed ones."""
    measured: Callable[[ProbeResult], Numbers | None]
    """None where nothing is shown beside it, nor the row."""
    blank: int | None = None
    """The size that has no such number, as it is made of both."""


def _of_sides(take: Callable[[ProbeSide], float | None]) -> Callable[[ProbeResult], Numbers]:
    return lambda result: (take(result.sides[0]), take(result.sides[-1]))


def _of_part(take: Callable[[PartTimes], float | None]) -> Callable[[ProbeResult], Numbers]:
    """Numbers of probes that have a single part."""
    return _of_sides(lambda side: take(side.parts[0]) if len(side.parts) == 1 else None)


MEAN = _of_part(lambda part: part.mean.mean)


def _difference(result: ProbeResult) -> Numbers | None:
    small, large = MEAN(result)
    if len(result.sides) == 1 or small is None or large is None:
        return None
    return small - large, None


ROWS = (
    _Printed(
        "descriptor_scan_per_gb",
        "clock-sweep",
        MILLISECONDS,
        _of_sides(lambda side: side.sweep.seconds_per_gib if side.sweep else None),
    ),
    _Printed("update_execution", "update", MILLISECONDS, MEAN),
    _Printed(
        "commit",
        "update",
        MILLISECONDS,
        _of_sides(lambda side: side.commit.mean if side.commit else None),
    ),
    _Printed("mean_after_full_scan", "after-scan", MILLISECONDS, MEAN),
    _Printed(
        "db_buffer_hit",
        "after-scan",
        PERCENT,
        _of_part(lambda part: part.share(PageOrigin.BUFFERS)),
    ),
    _Printed("os_cache_hit", "after-scan", PERCENT, _of_part(lambda part: part.os_cache_hits)),
    _Printed("mean_in_db_buffer", "after-scan", MILLISECONDS, _of_part(lambda part: part.inside)),
    _Printed(
        "mean_outside_db_buffer", "after-scan", MILLISECONDS, _of_part(lambda part: part.outside)
    ),
    _Printed(
        "clock_sweep_ratio_large_to_small",
        "clock-sweep",
        1.0,
        lambda result: None if result.line is None else (None, result.line.ratio.mean),
        blank=SMALL,
    ),
    _Printed("os_cache_minus_db_buffer", "os-cache-read", MILLISECONDS, _difference, blank=LARGE),
)


def published_table(kit: Kit) -> Table | None:
    """None where no sizes of the buffers are contrasted, or several contexts."""
    probes = probes_found(kit.analysis)
    if len(probes.recommendations) != 1 or not kit.study.contrast.startswith(GUC_PREFIX):
        return None
    columns = _columns(kit)
    rows = [
        _printed_row(kit, row, result, numbers, columns)
        for row in ROWS
        for result in probes.results
        if result.probe == row.probe and (numbers := row.measured(result)) is not None
    ]
    if not rows or not all(columns):
        return None
    key, sides = "table.published-probes", probes.results[0].sides
    here = (kit.t(f"{key}.here", side=kit.short(side.side)) for side in (sides[0], sides[-1]))
    numeric = (*(kit.t(f"{key}.{column}") for column in COLUMNS), *here)
    return Table(
        "published-probes",
        kit.t(f"{key}.caption"),
        (
            *(Column(kit.t(f"{key}.{column}")) for column in ("quantity", "probe")),
            *(Column(title, numeric=True) for title in numeric),
        ),
        tuple(rows),
        note=kit.t(f"{key}.note", memory=memory_text(kit)),
        sortable=False,
    )


def _columns(kit: Kit) -> list[dict[str, float]]:
    """The columns of the published table, as the findings carry them; empty without any."""
    carried = {
        column.label: dict(column.values)
        for outcome in kit.analysis.claims
        if isinstance(table := outcome.claim.published, PublishedQueries) and table.table == FILE
        for column in table.columns
    }
    return [carried.get(label, {}) for label in COLUMNS]


def _printed_row(
    kit: Kit, row: _Printed, result: ProbeResult, numbers: Numbers, columns: list[dict[str, float]]
) -> Row:
    printed = [number_cell(column.get(row.quantity)) for column in columns]
    measured = [
        number_cell(None if number is None else number * row.factor, significant)
        for number in numbers
    ]
    if row.blank is not None:
        printed[row.blank] = measured[row.blank] = TableCell("")
    title = TableCell(kit.t(f"published.{row.quantity}"))
    return (title, TableCell(probe_title(kit, result)), *printed, *measured)
