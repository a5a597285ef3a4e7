"""Probes in the report: the answer by sizes, each probe's effect, verdicts, curves and origins."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from teiten.kinds.contract_present import OwnAnswer, TrialColumn
from teiten.kinds.probes.model import probes_of, run_of
from teiten.kinds.probes.present.beside import beside_section
from teiten.kinds.probes.present.curves import (
    clients_chart,
    cost_chart,
    from_disk_chart,
    working_set_chart,
)
from teiten.kinds.probes.present.distributions import distribution_chart
from teiten.kinds.probes.present.published import published_table
from teiten.kinds.probes.present.recommend import answer_of, section_of
from teiten.kinds.probes.present.summary import effect_sentence, probe_title
from teiten.kinds.probes.present.tables import tables_of_probe
from teiten.kinds.probes.present.units import memory_text
from teiten.kinds.probes.present.versions import versions_section
from teiten.kinds.probes.results import ProbeResult, probes_found
from teiten.model.study import Workload
from teiten.report.blocks import Block, Further, Gallery, Heading, Section, Text
from teiten.report.charts.base import Chart
from teiten.report.tables import Table
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
        return kit.t("design.duration.probes", count=len(run_of(workload)))

    def procedure(self, kit: Kit, workload: Workload) -> str:
        return kit.t("procedure.probes")

    def own_answer(self, kit: Kit) -> OwnAnswer | None:
        return answer_of(kit)

    def results(self, kit: Kit, prefix: str, workload: str) -> Iterable[Block]:
        found = probes_found(kit.analysis)
        for at, one in enumerate(found.of_workload(workload), start=1):
            yield from _probe(kit, f"{prefix}-probe-{at}", one, found.comparisons)

    def sections(self, kit: Kit) -> Iterable[Section]:
        yield beside_section(kit)
        yield versions_section(kit)
        yield section_of(kit)

    def published(self, kit: Kit) -> tuple[Sequence[Chart], Sequence[Table]]:
        table = published_table(kit)
        return (), (table,) if table is not None else ()


def _probe(kit: Kit, prefix: str, found: ProbeResult, intervals: int) -> Iterator[Block]:
    probe = probes_of(kit.study.workload(found.workload)).probe(found.probe)
    yield Heading(4, probe_title(kit, found))
    yield Text(kit.t.of(probe.description))
    said = effect_sentence(kit, found)
    if said:
        yield Text(said)
    charts = (
        working_set_chart(kit, f"{prefix}-working-set", found),
        from_disk_chart(kit, f"{prefix}-from-disk", found),
        distribution_chart(kit, f"{prefix}-distribution", found),
        cost_chart(kit, f"{prefix}-cost", found),
        clients_chart(kit, f"{prefix}-clients-curve", found),
    )
    title = probe_title(kit, found)
    drawn = tuple(
        replace(chart, title=kit.t("probe.chart", metric=chart.title, probe=title))
        for chart in charts
        if chart is not None
    )
    if drawn:
        yield Gallery(drawn)
    yield Further(tuple(tables_of_probe(kit, prefix, found, memory_text(kit), intervals)))


PRESENT = ProbesPresent()
