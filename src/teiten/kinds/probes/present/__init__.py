"""Probes in the report: what each asks, its verdicts, where pages came from, the cliffs, costs."""

from __future__ import annotations

from collections.abc import Iterable

from teiten.kinds.contract_present import TrialColumn
from teiten.kinds.probes.model import PROBE, probes_of
from teiten.kinds.probes.present.cliffs import cliffs
from teiten.kinds.probes.present.tables import tables_of_probe
from teiten.kinds.probes.results import ProbeResult, probes_found
from teiten.model.study import Workload
from teiten.report.blocks import Block, Gallery, Heading, Text
from teiten.report.view.kit import Kit
from teiten.report.view.usual import UsualPresent, tables_of


class ProbesPresent(UsualPresent):
    axis = PROBE
    own_factor = PROBE
    columns = (
        TrialColumn("probe_seconds", 1000.0),
        TrialColumn("from_buffers", 100.0, decimals=1),
        TrialColumn("from_os_cache", 100.0, decimals=1),
        TrialColumn("from_disk", 100.0, decimals=1),
    )

    def duration(self, kit: Kit, workload: Workload) -> str:
        return kit.t("design.duration.probes", count=len(probes_of(workload).probes))

    def procedure(self, kit: Kit, workload: Workload) -> str:
        return kit.t("procedure.probes")

    def results(self, kit: Kit, prefix: str, workload: str) -> Iterable[Block]:
        yield from tables_of(kit, prefix, workload)
        for at, one in enumerate(probes_found(kit.analysis).of_workload(workload), start=1):
            yield from _probe(kit, f"{prefix}-probe-{at}", one)


def _probe(kit: Kit, prefix: str, found: ProbeResult) -> Iterable[Block]:
    probe = probes_of(kit.study.workload(found.workload)).probe(found.probe)
    varied = {one.name for one in kit.study.factors if len(one.levels) > 1} - {PROBE}
    others = tuple(pair for pair in found.context if pair[0] in varied)
    title = kit.t.of(probe.title)
    if others:
        title = kit.t("probe.title", title=title, context=kit.names.context(others))
    yield Heading(4, title)
    yield Text(kit.t.of(probe.description))
    chart = cliffs(kit, f"{prefix}-cliffs", found)
    if chart is not None:
        yield Gallery((chart,))
    yield from tables_of_probe(kit, prefix, found)


PRESENT = ProbesPresent()
