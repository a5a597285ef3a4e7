"""A study on servers that cannot have all of it: what is left to compare. Pure: what compiles for a
server is given."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from teiten.errors import UsageError
from teiten.factors.registry import rule
from teiten.kinds.contract import LevelLeftOut, plan_of
from teiten.model.installation import Installation, ModuleTools
from teiten.model.memory import SHARED_BUFFERS
from teiten.model.quantities import exact_size
from teiten.model.study import SERVER, CachePolicy, Factor, Study, Workload
from teiten.model.text import Bilingual
from teiten.model.units import Bytes
from teiten.plan.cells import levels_of
from teiten.plan.sites.contract import not_offered
from teiten.plan.sites.of import site_of

Servers = Sequence[tuple[str, Installation]]


def fitted(study: Study, servers: Servers) -> Study:
    """The study with what can be had where it is to fit itself to servers as they are: they keep
    their shared buffers, so that sizes are no factor, and memory is not limited; what is put beside
    one another are servers. Any other study as it is.

    Raises UsageError where some of the servers are started by Teiten, and some are not.
    """
    fitting = [workload for workload in study.workloads if plan_of(workload.kind).fits]
    attached = {level: server.attached for level, server in servers if server.attached is not None}
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
    sizes = {level: Bytes(server.shared_buffers or 0) for level, server in attached.items()}
    largest = max(sizes.values())
    return replace(
        study,
        contrast=SERVER,
        factors=tuple(
            replace(factor, levels=tuple(_had(study, factor)))
            for factor in study.factors
            if SHARED_BUFFERS not in rule(factor.name).set_parameters(study, factor.name)
        ),
        measure=replace(study.measure, memory=None, caches=CachePolicy.KEEP),
        workloads=tuple(
            plan_of(workload.kind).fitted(workload, largest) if workload in fitting else workload
            for workload in study.workloads
        ),
        differences=tuple(dict.fromkeys((*study.differences, _kept_sizes(sizes)))),
    )


def _had(study: Study, factor: Factor) -> Iterator[str]:
    """The levels that some workload still has, of a factor that workloads limit."""
    for level in factor.levels:
        limits = [workload.own_levels(factor.name) for workload in study.workloads]
        if None in limits or any(level in limit for limit in limits if limit is not None):
            yield level


def _kept_sizes(sizes: dict[str, Bytes]) -> Bilingual:
    listed = ", ".join(f"{level} {exact_size(size)}" for level, size in sizes.items())
    return Bilingual(
        f"Attached servers keep the shared_buffers that they have ({listed}): sizes are not varied,"
        " memory is not limited, and the tables are as large as the probes need that can be run.",
        f"接続したサーバのshared_buffersは、そのサーバの値のままである（{listed}）。"
        "サイズの変更とメモリの制限は行わず、テーブルは実行できる検証項目に必要な大きさとする。",
    )


def wants_modules(study: Study) -> bool:
    """Whether it must be known what compiles C functions for its servers."""
    return any(plan_of(workload.kind).wants_modules(workload) for workload in study.workloads)


def without_missing(study: Study, servers: Servers, tools: Mapping[str, ModuleTools]) -> Study:
    """The study without the levels that one of its servers cannot have: what is left out on one
    server is left out on all, so that every comparison is of the same. Each is said among the
    differences.

    ``tools``: by level of the factor server; empty where nobody looked. Raises UsageError where no
    two levels of what is contrasted remain.
    """
    for workload in study.workloads:
        for level, server in servers:
            for left_out in (
                *plan_of(workload.kind).left_out(workload, server, tools.get(level)),
                *_not_offered(workload, level, server),
            ):
                study = _without(study, workload.name, left_out, server)
    return study


def _not_offered(workload: Workload, level: str, server: Installation) -> Iterator[LevelLeftOut]:
    """List the levels of a workload that need what a server's place does not offer; those that lack
    least last, so that an error tells of what is nearest."""
    missing = not_offered(workload, site_of(server).lacks(level, server))
    for needs, lacks in sorted(missing, key=lambda pair: -len(pair[1])):
        why = Bilingual(
            "; ".join(lack.why.en for lack in lacks), "。".join(lack.why.ja for lack in lacks)
        )
        hint = " ".join(dict.fromkeys(lack.hint.en for lack in lacks))
        yield LevelLeftOut(needs.factor, needs.level, needs.title, why, hint)


def _without(study: Study, name: str, left_out: LevelLeftOut, server: Installation) -> Study:
    levels = levels_of(study, study.workload(name), left_out.factor)
    if left_out.level not in levels:
        return study
    remaining = tuple(level for level in levels if level != left_out.level)
    if len(remaining) < (2 if left_out.factor == study.contrast else 1):
        raise UsageError(
            f"the server {server.name} cannot have the {left_out.factor} {left_out.level} of the"
            f" workload {name}: {left_out.why.en}; and without it too few are left",
            left_out.hint
            or f"choose others: --set {left_out.factor}=…, --set workloads=…, or another server",
        )
    workloads = tuple(
        workload.limited(left_out.factor, remaining) if workload.name == name else workload
        for workload in study.workloads
    )
    title, why = left_out.title, left_out.why
    difference = Bilingual(
        f"“{title.en}” ({left_out.level}) was left out, as {server.name} cannot have it: {why.en}.",
        f"{server.name}では実行できないため、「{title.ja}」（{left_out.level}）を除外した: "
        f"{why.ja}。",
    )
    return replace(study, workloads=workloads, differences=(*study.differences, difference))
