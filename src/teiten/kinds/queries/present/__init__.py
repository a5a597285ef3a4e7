"""Queries timed one by one in the report: times, speed-ups, groups, workers, sweeps, plans."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from teiten.analysis.model.findings import ContrastResult
from teiten.kinds.contract_present import TrialColumn
from teiten.kinds.queries.model import queries_of
from teiten.kinds.queries.present.contrasts import times_table
from teiten.kinds.queries.present.groups import answer_forest, points
from teiten.kinds.queries.present.plans import plans
from teiten.kinds.queries.present.published import query_charts, query_tables
from teiten.kinds.queries.present.sweep import chart as sweep_chart
from teiten.kinds.queries.present.sweep import fastest_level, sweeps_of
from teiten.kinds.queries.present.sweep import findings as sweep_findings
from teiten.kinds.queries.present.topics import charts, results_of, topics
from teiten.model.study import Workload
from teiten.report.blocks import Block, Further, Gallery, Section
from teiten.report.charts.base import Chart
from teiten.report.tables import Table
from teiten.report.view.chooser import still_series
from teiten.report.view.kit import Kit
from teiten.report.view.usual import UsualPresent, contrasts_of


class QueriesPresent(UsualPresent):
    columns = (
        TrialColumn("query_seconds", 1000.0, digits=5),
        TrialColumn("over_timeout", decimals=0),
    )

    def duration(self, kit: Kit, workload: Workload) -> str:
        return kit.t("design.duration.queries", **_limits(kit, workload))

    def procedure(self, kit: Kit, workload: Workload) -> str:
        return kit.t("procedure.queries", **_limits(kit, workload))

    def answered(self, kit: Kit, contrasts: Sequence[ContrastResult]) -> Sequence[ContrastResult]:
        """Keep of a sweep only the contrast of its fastest level."""
        found = []
        for contrast in contrasts:
            swept = sweeps_of(kit, contrast.workload)
            if swept is None or contrast.new == fastest_level(swept):
                found.append(contrast)
        return found

    def beside(
        self, kit: Kit, name: str, contrast: ContrastResult
    ) -> tuple[Chart | None, tuple[str, ...]]:
        swept = sweeps_of(kit, contrast.workload)
        if swept is not None:
            return sweep_chart(kit, name, swept), sweep_findings(kit, swept)
        return answer_forest(kit, name, contrast), points(kit, contrast)

    def results(self, kit: Kit, prefix: str, workload: str) -> Iterable[Block]:
        found = results_of(kit, workload)
        drawn = charts(kit, prefix, found) if found else ()
        if drawn:
            yield Gallery(drawn)
        if sweeps_of(kit, workload) is None:  # whose table has all levels
            for at, one in enumerate(contrasts_of(kit, workload)):
                yield times_table(kit, f"{prefix}-contrast-{at + 1}", one, noted=at == 0)
        if found:
            yield from topics(kit, prefix, found)
        series = still_series(kit, f"{prefix}-series", workload)
        if series is not None:
            yield Further((series,))

    def sections(self, kit: Kit) -> Iterable[Section]:
        yield plans(kit)

    def published(self, kit: Kit) -> tuple[Sequence[Chart], Sequence[Table]]:
        return query_charts(kit), query_tables(kit)


def _limits(kit: Kit, workload: Workload) -> dict[str, object]:
    options = queries_of(workload)
    return {"runs": options.runs, "timeout": kit.seconds(options.timeout)}


PRESENT = QueriesPresent()
