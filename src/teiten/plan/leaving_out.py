"""A study without the levels that one of its servers cannot have. Pure: what compiles for a server
is given."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from teiten.errors import UsageError
from teiten.kinds.contract import LevelLeftOut, plan_of
from teiten.model.installation import Installation, ModuleTools
from teiten.model.study import Study, Workload
from teiten.model.text import Bilingual
from teiten.plan.cells import levels_of
from teiten.plan.sites.contract import not_offered
from teiten.plan.sites.of import site_of

Servers = Sequence[tuple[str, Installation]]


def wants_modules(study: Study) -> bool:
    """Whether it must be known what compiles C functions for its servers."""
    return any(plan_of(workload.kind).wants_modules(workload) for workload in study.workloads)


def without_missing(study: Study, servers: Servers, tools: Mapping[str, ModuleTools]) -> Study:
    """The study without such levels: what is left out on one server is left out on all, so that
    every comparison is of the same. Each is said among the differences.

    ``tools``: by level of the factor server; empty where nobody looked. Raises UsageError where no
    two levels of what is contrasted remain.
    """
    for workload in study.workloads:
        for level, server in servers:
            kind = plan_of(workload.kind)
            for one in (
                *kind.left_out(workload, server, tools.get(level)),
                *_not_offered(workload, level, server),
            ):
                study = _without(study, workload.name, one, server)
    return study


def _not_offered(workload: Workload, level: str, server: Installation) -> Iterator[LevelLeftOut]:
    """List the levels of a workload that need what a server's place does not offer; those that lack
    least last, so that an error tells of what is nearest."""
    found = not_offered(workload, site_of(server).lacks(level, server))
    for needs, lacks in sorted(found, key=lambda one: -len(one[1])):
        why = [lack.why for lack in lacks]
        said = Bilingual("; ".join(one.en for one in why), "。".join(one.ja for one in why))
        hint = " ".join(dict.fromkeys(lack.hint.en for lack in lacks))
        yield LevelLeftOut(needs.factor, needs.level, needs.title, said, hint)


def _without(study: Study, name: str, one: LevelLeftOut, server: Installation) -> Study:
    workload = study.workload(name)
    levels = levels_of(study, workload, one.factor)
    if one.level not in levels:
        return study
    left = tuple(level for level in levels if level != one.level)
    if len(left) < (2 if one.factor == study.contrast else 1):
        raise UsageError(
            f"the server {server.name} cannot have the {one.factor} {one.level} of the workload"
            f" {name}: {one.why.en}; and without it too few are left",
            one.hint
            or f"choose others: --set {one.factor}=…, --set workloads=…, or another server",
        )
    workloads = tuple(
        _limited(each, one, left) if each.name == name else each for each in study.workloads
    )
    return replace(study, workloads=workloads, differences=(*study.differences, _said(one, server)))


def _limited(workload: Workload, one: LevelLeftOut, left: tuple[str, ...]) -> Workload:
    return workload.limited(one.factor, left)


def _said(one: LevelLeftOut, server: Installation) -> Bilingual:
    return Bilingual(
        f"“{one.title.en}” ({one.level}) was left out, as {server.name} cannot have it:"
        f" {one.why.en}.",
        f"{server.name}では実行できないため、「{one.title.ja}」（{one.level}）を除外した: "
        f"{one.why.ja}。",
    )
