"""A load of pgbench in the report: TPS and latency by level, how it scales, its time series."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from teiten.analysis.model.findings import CampaignAnalysis, ContrastResult
from teiten.kinds.contract_present import OwnAnswer, TrialColumn
from teiten.kinds.pgbench.metrics import LATENCY_MEAN, TPS
from teiten.kinds.pgbench.model import PgbenchClients
from teiten.kinds.pgbench.present.groups import (
    latency_chart,
    lookups,
    percentile_table,
    readers_wrote,
    tail_sentences,
)
from teiten.kinds.pgbench.present.paired import (
    carry_over,
    cpu_column,
    further_numbers,
    paired_procedure,
    warmup_text,
)
from teiten.kinds.pgbench.present.placements import placements
from teiten.kinds.pgbench.present.published import published_charts
from teiten.kinds.pgbench.present.scale_out import answer_of, section_of
from teiten.kinds.pgbench.present.scaling import limits, scaling, shapes
from teiten.model.starts import LEAST_SECONDS, of_sides
from teiten.model.study import MOST_SECONDS, Workload
from teiten.report.blocks import Block, Box, Further, Section, Unprinted, gallery
from teiten.report.charts.base import Chart
from teiten.report.charts.lines import SeriesColumn
from teiten.report.names import Names
from teiten.report.numbers import fixed
from teiten.report.tables import Table
from teiten.report.texts import Texts
from teiten.report.view.contrasts import Judged
from teiten.report.view.kit import Kit
from teiten.report.view.levels import metric_chart
from teiten.report.view.series import series_of
from teiten.report.view.usual import UsualPresent, tables_of
from teiten.ways.registry import concurrent_trials, way_of


class PgbenchPresent(UsualPresent):
    columns = (
        TrialColumn("tps", digits=5),
        TrialColumn("tps_trimmed", digits=5),
        TrialColumn("failed_transactions", decimals=0),
        TrialColumn("latency_typical", 1000.0),
        TrialColumn("retries", decimals=0),
        TrialColumn("participants"),
        TrialColumn("latency_mean", 1000.0),
        TrialColumn("latency_p50", 1000.0),
        TrialColumn("latency_p90", 1000.0),
        TrialColumn("latency_p99", 1000.0),
        TrialColumn("latency_max", 1000.0),
    )

    by_level = (LATENCY_MEAN.name,)
    series = (
        SeriesColumn("tps", "pgbench", TPS.name, 1.0),
        SeriesColumn("latency", "pgbench", LATENCY_MEAN.name, 1000.0),
    )

    def duration(self, kit: Kit, _: Workload) -> str:
        """Its measured seconds, or its slices."""
        measure = kit.study.measure
        if way_of(measure).concurrent:
            rounds = "-rounds" if kit.analysis.plan.is_of_one_start else ""
            sides = concurrent_trials(kit.study)
            return kit.t(
                f"paired.duration-lengthens{rounds}" if measure.lengthens else "paired.duration",
                seconds=kit.seconds(measure.duration),
                warmup=warmup_text(kit, "design.duration.warmup"),
                least=kit.seconds(of_sides(LEAST_SECONDS, sides)),
                most=kit.seconds(of_sides(MOST_SECONDS, sides)),
            )
        return kit.t(
            "design.duration.slices" if way_of(measure).parts(measure) else "design.duration.text",
            seconds=kit.seconds(measure.duration),
            warmup=warmup_text(kit, "design.duration.warmup"),
            slices=measure.slices,
            slice=kit.seconds(measure.slice_duration),
        )

    def procedure(self, kit: Kit, _: Workload) -> str:
        measure = kit.study.measure
        if way_of(measure).concurrent:
            return paired_procedure(kit)
        return kit.t(
            "procedure.slices" if way_of(measure).parts(measure) else "procedure.measure",
            warmup=kit.seconds(measure.warmup),
            seconds=kit.seconds(measure.duration),
            slice=kit.seconds(measure.slice_duration),
        )

    def further(
        self, t: Texts, names: Names, analysis: CampaignAnalysis, contrast: ContrastResult
    ) -> str:
        parts = (readers_wrote, further_numbers)
        return "".join(part(t, names, analysis, contrast) for part in parts)

    def column(self, kit: Kit, contrast: ContrastResult, judged: Judged) -> Judged:
        by_cpu = cpu_column(kit, contrast, judged)
        return super().column(kit, contrast, judged) if by_cpu is None else by_cpu

    def limits(self, kit: Kit, workload: str) -> Iterable[Block]:
        return limits(kit, workload)

    def load(self, kit: Kit) -> Box:
        if way_of(kit.study.measure).concurrent:
            return Box(kit.t("paired.generator"), _clients(kit))
        return Box(f"pgbench {kit.analysis.plan.pgbench.version}", _clients(kit))

    def results(self, kit: Kit, prefix: str, workload: str) -> Iterable[Block]:
        yield from placements(kit, prefix, workload)
        groups = kit.of_workload(workload)
        yield from gallery(
            (
                metric_chart(kit, f"{prefix}-tps", groups, TPS),
                metric_chart(kit, f"{prefix}-latency", groups, LATENCY_MEAN),
            )
        )
        yield from tables_of(kit, prefix, workload, self.column)
        yield Further((*_percentiles(kit, prefix, workload), *carry_over(kit, workload)))
        yield from lookups(kit, prefix, workload)
        yield from scaling(kit, prefix, workload)
        yield from series_of(kit, prefix, workload)

    def discussed(self, kit: Kit, workload: str) -> Iterable[tuple[str, ...]]:
        yield tuple(shapes(kit, workload))

    def discussed_after(self, kit: Kit, workload: str) -> Iterable[tuple[str, ...]]:
        yield tuple(tail_sentences(kit, workload))

    def own_answer(self, kit: Kit) -> OwnAnswer | None:
        return answer_of(kit)

    def sections(self, kit: Kit) -> Iterable[Section]:
        yield section_of(kit)

    def published(self, kit: Kit) -> tuple[Sequence[Chart], Sequence[Table]]:
        return tuple(published_charts(kit)), ()


def _percentiles(kit: Kit, prefix: str, workload: str) -> Iterable[Block]:
    groups = kit.of_workload(workload)
    chart = gallery([latency_chart(kit, f"{prefix}-percentiles", groups)])
    if chart:
        yield Unprinted(kit.t("paper.charts"), chart)
    table = percentile_table(kit, f"{prefix}-percentiles", groups)
    if table is not None:
        yield table


def _clients(kit: Kit) -> tuple[str, ...]:
    loads = (trial.load for trial in kit.analysis.plan.trials)
    counts = [load.connections for load in loads if isinstance(load, PgbenchClients)]
    if not counts:
        return ()
    low, high = fixed(min(counts), 0), fixed(max(counts), 0)
    if low == high:
        return (kit.t.plural("topology.clients.same", max(counts)),)
    return (kit.t("topology.clients.range", low=low, high=high),)


PRESENT = PgbenchPresent()
