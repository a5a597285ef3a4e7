"""Probes in the report: the answer by sizes, each probe's effect, verdicts, curves and origins."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from teiten.kinds.contract_present import OwnAnswer, TrialColumn
from teiten.kinds.probes.model import probes_of, run_of
from teiten.kinds.probes.present.beside import beside_section
from teiten.kinds.probes.present.curves import (
    clients_charts,
    cost_chart,
    distribution_chart,
    from_disk_chart,
    working_set_chart,
)
from teiten.kinds.probes.present.published import published_table
from teiten.kinds.probes.present.recommend import answer_of, section_of
from teiten.kinds.probes.present.tables import effect_sentence, probe_title, tables_of_probe
from teiten.kinds.probes.present.units import memory_text
from teiten.kinds.probes.present.versions import versions_section
from teiten.kinds.probes.results import ProbeResult, probes_found
from teiten.model.study import Workload
from teiten.report.blocks import Block, Further, Heading, Section, Text, gallery, looked_up
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
        alike = [part for part in kit.study.workloads if part.kind == workload.kind]
        return kit.t("design.duration.probes", count=sum(len(run_of(part)) for part in alike))

    def procedure(self, kit: Kit, workload: Workload) -> str:
        return kit.t("procedure.probes")

    def own_answer(self, kit: Kit) -> OwnAnswer | None:
        return answer_of(kit)

    def results(self, kit: Kit, prefix: str, workload: str) -> Iterable[Block]:
        results = probes_found(kit.analysis).of_workload(workload)
        for at, result in enumerate(results, start=1):
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
