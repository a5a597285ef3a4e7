"""A study on servers that nobody starts anew: what is left to compare. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from teiten.errors import UsageError
from teiten.factors.registry import rule
from teiten.kinds.contract import plan_of
from teiten.model.installation import Installation
from teiten.model.memory import SHARED_BUFFERS
from teiten.model.quantities import exact_size
from teiten.model.study import SERVER, CachePolicy, Factor, Study
from teiten.model.text import Bilingual
from teiten.model.units import Bytes

Servers = Sequence[tuple[str, Installation]]


def fitted(study: Study, servers: Servers) -> Study:
    """The study with what can be had where it is to fit itself to servers as they are: they keep
    their shared buffers, so that sizes are no factor, and memory is not limited; what is put beside
    one another are servers. Any other study as it is.

    Raises UsageError where some of the servers are started by Teiten, and some are not.
    """
    fitting = [workload for workload in study.workloads if plan_of(workload.kind).fits]
    attached = {level: one.attached for level, one in servers if one.attached is not None}
    if not fitting or not attached:
        return study
    if len(attached) < len(servers):
        own = ", ".join(level for level, _ in servers if level not in attached)
        raise UsageError(
            f"{', '.join(attached)} is attached and keeps its size and its memory, and {own} is"
            f" started by Teiten with those of the study: the workload {fitting[0].name}"
            f" {plan_of(fitting[0].kind).does}, which needs the same of all",
            "compare attached servers with one another, or servers that Teiten starts",
        )
    sizes = {level: Bytes(one.shared_buffers or 0) for level, one in attached.items()}
    largest = max(sizes.values())
    return replace(
        study,
        contrast=SERVER,
        factors=tuple(
            replace(factor, levels=tuple(_had(study, factor)))
            for factor in study.factors
            if not _of_size(study, factor.name)
        ),
        measure=replace(study.measure, memory=None, caches=CachePolicy.KEEP),
        workloads=tuple(
            plan_of(workload.kind).fitted(workload, largest) if workload in fitting else workload
            for workload in study.workloads
        ),
        differences=tuple(dict.fromkeys((*study.differences, _said(sizes)))),
    )


def _had(study: Study, factor: Factor) -> Iterator[str]:
    """The levels that some workload still has, of a factor that workloads limit."""
    for level in factor.levels:
        limits = [workload.own_levels(factor.name) for workload in study.workloads]
        if None in limits or any(level in limit for limit in limits if limit is not None):
            yield level


def _of_size(study: Study, factor: str) -> bool:
    return SHARED_BUFFERS in rule(factor).set_parameters(study, factor)


def _said(sizes: dict[str, Bytes]) -> Bilingual:
    listed = ", ".join(f"{level} {exact_size(size)}" for level, size in sizes.items())
    return Bilingual(
        f"Attached servers keep the shared_buffers that they have ({listed}): sizes are not varied,"
        " memory is not limited, and the tables are as large as the probes need that can be run.",
        f"接続したサーバのshared_buffersは、そのサーバの値のままである（{listed}）。"
        "サイズの変更とメモリの制限は行わず、テーブルは実行できる検証項目に必要な大きさとする。",
    )
