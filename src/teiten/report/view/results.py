"""Part 3: the results of each workload, as its kind presents them."""

from __future__ import annotations

from teiten.kinds.contract_present import present_in
from teiten.report.blocks import Block, Heading, Section, Text
from teiten.report.view.kit import Kit


def results(kit: Kit) -> Section:
    """A part for each workload that was measured."""
    shown: list[Block] = []
    for at, name in enumerate(kit.workloads_measured()):
        workload = kit.study.workload(name)
        shown += [Heading(3, kit.names.workload(name), part=True)]
        shown += [Text(kit.t.of(workload.description))]
        shown += present_in(kit, name).results(kit, f"workload-{at + 1}", name)
    return Section("results", kit.t("section.results"), tuple(shown))
