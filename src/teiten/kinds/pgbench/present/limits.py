"""Limits with which a workload's greatest throughput is consistent, and their numbers."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from teiten.kinds.pgbench.loads import CLIENTS
from teiten.kinds.pgbench.results import pgbench_found
from teiten.model.bottleneck import BottleneckResult, Consistent, Evidence
from teiten.report.blocks import Block, Heading, Items, Text
from teiten.report.effects import percent
from teiten.report.numbers import bytes_text, plain, significant
from teiten.report.view.kit import Kit


def limits(kit: Kit, workload: str) -> Iterator[Block]:
    """Nothing where no ceilings were measured before the campaign."""
    found = [
        bottleneck
        for bottleneck in pgbench_found(kit.analysis).bottlenecks
        if bottleneck.workload == workload
    ]
    if found:
        yield Heading(4, kit.t("bottleneck.title"))
        yield Items(tuple(_sentence(kit, one) for one in found), "findings")
        yield Text(kit.t("bottleneck.note"), "note")


def _sentence(kit: Kit, one: BottleneckResult) -> str:
    t, finding = kit.t, one.finding
    context = ((CLIENTS, plain(one.load)), *one.context)
    where = t(
        "bottleneck.where", side=kit.names.side(one.side).long, level=kit.names.context(context)
    )
    if isinstance(finding, Consistent):
        said = t(f"bottleneck.consistent.{finding.resource.value}")
    else:
        said = t(f"bottleneck.abstained.{finding.reason.value}")
    if not finding.evidence:
        return t("bottleneck.sentence", where=where, said=said)
    evidence = t("list.separator").join(_evidence(kit, finding.evidence))
    return t("bottleneck.sentence-evidence", where=where, said=said, evidence=evidence)


def _evidence(kit: Kit, evidence: Evidence) -> list[str]:
    return [
        kit.t(f"bottleneck.evidence.{name}", value=_written(name)(kit, value))
        for name, value in evidence
    ]


def _written(name: str) -> Callable[[Kit, float], str]:
    if name in RATES:
        return lambda kit, value: kit.t("bottleneck.per-second", value=bytes_text(value))
    if name in COUNTS:
        return lambda kit, value: kit.t("bottleneck.per-second", value=significant(value, 3))
    if name == "cores":
        return lambda _, value: significant(value, 3)
    return lambda kit, value: percent(kit.t, value, 0 if value >= 0.1 else 1)


RATES = frozenset({"written", "write_ceiling", "read", "read_ceiling"})
COUNTS = frozenset({"fsyncs", "fsyncs_before", "fsync_ceiling", "reads", "reads_ceiling"})
