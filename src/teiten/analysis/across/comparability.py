"""May two campaigns be compared? Every difference, and what it means; pure.

An obstacle is a difference in what was measured: other data, another script, another length of a
trial, another setting. What the comparison is about (machine, system, time) is no obstacle.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from teiten.analysis.across.fingerprint import connected_by, loaded
from teiten.analysis.model.comparison import ComparedLevel, Difference, Weight
from teiten.analysis.model.findings import CampaignAnalysis
from teiten.datasets.plan import rows_of
from teiten.kinds.contract_analyse import analysis_of
from teiten.model.installation import Installation
from teiten.model.plan import Cell, Plan, PlannedTrial
from teiten.model.quantities import exact_size
from teiten.model.study import SERVER, Workload

NONE = "—"

OBSTACLE, CAUTION, SUBJECT = Weight.OBSTACLE, Weight.CAUTION, Weight.SUBJECT


def comparability(a: CampaignAnalysis, b: CampaignAnalysis) -> tuple[Difference, ...]:
    """All differences between two campaigns, the obstacles first."""
    found = [*_of_question(a, b), *_of_measure(a, b), *_of_servers(a, b), *_of_state(a, b)]
    found += _of_machine(a, b)
    order = list(Weight)
    return tuple(sorted(dict.fromkeys(found), key=lambda one: order.index(one.weight)))


def matched_levels(a: Plan, b: Plan) -> tuple[ComparedLevel, ...]:
    """The contrasted levels that belong together: of one name, else servers of one major version,
    else the last ones left on either side."""
    levels_a, levels_b = a.study.contrasted_levels, b.study.contrasted_levels
    pairs = [(level, level) for level in levels_a if level in levels_b]
    if a.study.contrast == SERVER == b.study.contrast:
        left_a = [one for one in levels_a if one not in levels_b]
        left_b = [one for one in levels_b if one not in levels_a]
        pairs += _of_one_major(a, b, left_a, left_b)
        if len(left_a) == len(left_b) == 1:
            pairs.append((left_a[0], left_b[0]))
    pairs.sort(key=lambda pair: levels_a.index(pair[0]))
    return tuple(ComparedLevel(*pair) for pair in pairs)


def common_contexts(
    a: Plan, b: Plan, workload: str, side: ComparedLevel
) -> tuple[tuple[tuple[str, str], ...], ...]:
    """The levels of the other factors that both planned, in the order of A."""
    there = set(_cells(b, workload, side.b))
    return tuple(context for context in _cells(a, workload, side.a) if context in there)


def _of_one_major(
    a: Plan, b: Plan, left_a: list[str], left_b: list[str]
) -> Iterator[tuple[str, str]]:
    majors_a = {level: one.version.major for level, one in a.servers}
    majors_b = {level: one.version.major for level, one in b.servers}
    for level in tuple(left_a):
        same = [one for one in left_b if majors_b.get(one) == majors_a.get(level)]
        if len(same) == 1:
            left_a.remove(level)
            left_b.remove(same[0])
            yield level, same[0]


def _cells(plan: Plan, workload: str, side: str) -> dict[tuple[tuple[str, str], ...], PlannedTrial]:
    """Contexts of a workload on a side, each with its first planned trial."""
    contrast = plan.study.contrast
    found: dict[tuple[tuple[str, str], ...], PlannedTrial] = {}
    for trial in plan.trials:
        if trial.cell.workload == workload and trial.cell.level(contrast) == side:
            found.setdefault(trial.cell.context(contrast), trial)
    return dict(sorted(found.items(), key=lambda one: plan.study.ranks(one[0])))


def _differ(
    code: str, weight: Weight, a: object, b: object, subject: str = ""
) -> Iterator[Difference]:
    if a != b:
        yield Difference(code, weight, _text(a), _text(b), subject)


def _text(value: object) -> str:
    if value is None or value == "":
        return NONE
    if isinstance(value, bool):
        return "on" if value else "off"
    if isinstance(value, tuple | list):
        return ", ".join(map(_text, value)) or NONE
    return f"{value:g}" if isinstance(value, float) else str(value)


def _of_question(a: CampaignAnalysis, b: CampaignAnalysis) -> Iterator[Difference]:
    one, other = a.plan.study, b.plan.study
    if (a.name, a.created_at) == (b.name, b.created_at):
        yield Difference("same-campaign", OBSTACLE, a.name, b.name)
    yield from _differ("study", OBSTACLE, one.name, other.name)
    yield from _differ("contrast", OBSTACLE, one.contrast, other.contrast)
    names = [workload.name for workload in one.workloads]
    others = [workload.name for workload in other.workloads]
    shared = [name for name in names if name in others]
    if not shared:
        yield Difference("workloads", OBSTACLE, _text(names), _text(others))
    elif set(names) != set(others):
        yield Difference("workloads", CAUTION, _text(names), _text(others))
    for name in shared:
        yield from _of_workload(one.workload(name), other.workload(name))
        yield from _of_levels(a.plan, b.plan, name)


def _of_workload(a: Workload, b: Workload) -> Iterator[Difference]:
    pairs = (
        ("data", rows_of(a.data), rows_of(b.data)),
        ("scale", a.data.scale, b.data.scale),
        ("fillfactor", _fillfactor(a), _fillfactor(b)),
        ("restored", a.changes_data, b.changes_data),
    )
    if a.kind == b.kind:
        for one in analysis_of(a.kind).unlike(a, b):
            yield from _differ(one.code, OBSTACLE, one.here, one.there, one.subject or a.name)
    else:
        yield from _differ("script", OBSTACLE, a.options.source, b.options.source, a.name)
    for code, here, there in pairs:
        yield from _differ(code, OBSTACLE, here, there, a.name)


def _fillfactor(one: Workload) -> object:
    """Find the fillfactor of a workload's tables; None for tables that have none."""
    return one.data.options.told.get("fillfactor")


def _of_levels(a: Plan, b: Plan, workload: str) -> Iterator[Difference]:
    """Levels that only one campaign has, and settings of the cells that both have."""
    sides = matched_levels(a, b)
    shared = False
    for side in sides:
        here, there = _cells(a, workload, side.a), _cells(b, workload, side.b)
        shared = shared or any(context in there for context in here)
        if here.keys() != there.keys():
            weight = CAUTION if here.keys() & there.keys() else OBSTACLE
            only = [_contexts(cells, other) for cells, other in ((here, there), (there, here))]
            yield Difference("levels", weight, only[0], only[1], workload)
        for context in here.keys() & there.keys():
            yield from _of_cells(a.study.workload(workload).kind, here[context], there[context])
    if not shared and not sides:
        yield Difference("no-common-level", OBSTACLE, *_sides_text(a, b), workload)


def _sides_text(a: Plan, b: Plan) -> tuple[str, str]:
    return _text(a.study.contrasted_levels), _text(b.study.contrasted_levels)


def _contexts(
    cells: Mapping[tuple[tuple[str, str], ...], PlannedTrial],
    other: Mapping[tuple[tuple[str, str], ...], PlannedTrial],
) -> str:
    """Name the contexts that only these cells have."""
    missing = [context for context in cells if context not in other]
    return "; ".join(" ".join(f"{name}={level}" for name, level in one) for one in missing) or NONE


def _of_cells(kind: str, a: PlannedTrial, b: PlannedTrial) -> Iterator[Difference]:
    here, there = dict(a.settings), dict(b.settings)
    for name in dict.fromkeys((*here, *there)):
        yield from _differ("setting", OBSTACLE, here.get(name), there.get(name), name)
    server = _server_of(a.cell)
    yield from _differ("nodes", OBSTACLE, len(a.templates), len(b.templates), a.cell.workload)
    machines = (_machine(a), _machine(b))
    yield from _differ("node-machine", OBSTACLE, *machines, a.cell.workload)
    yield from _differ("checksums", OBSTACLE, _checksums(a), _checksums(b), server)
    yield from _differ("memory-limit", OBSTACLE, a.memory_limit, b.memory_limit)
    if type(a.load) is type(b.load):
        for one in analysis_of(kind).unlike_trials(a, b):
            yield from _differ(
                one.code, CAUTION, one.here, one.there, one.subject or a.cell.workload
            )


def _machine(trial: PlannedTrial) -> str | None:
    """Describe the machine of a trial's first emulated node; None where nodes are plain servers."""
    if not trial.machines:
        return None
    one = trial.machines[0]
    had = {
        "memory": one.memory and exact_size(one.memory),
        "read": one.read and f"{exact_size(one.read)}/s",
        "write": one.write and f"{exact_size(one.write)}/s",
        "cpus": len(one.cpus) or None,
        "network": "TCP" if one.network else None,
    }
    return " ".join(f"{name}={value}" for name, value in had.items() if value is not None)


def _checksums(trial: PlannedTrial) -> tuple[bool, ...]:
    """List whether the nodes have checksums: a single value where all nodes are alike."""
    return tuple(dict.fromkeys(template.checksums for template in trial.templates))


def _server_of(cell: Cell) -> str:
    return cell.level(SERVER) or ""


def _of_measure(a: CampaignAnalysis, b: CampaignAnalysis) -> Iterator[Difference]:
    one, other = a.plan.study.measure, b.plan.study.measure
    yield from _differ("duration", OBSTACLE, one.duration, other.duration)
    yield from _differ("warmup", OBSTACLE, one.warmup, other.warmup)
    yield from _differ("caches", OBSTACLE, one.caches.value, other.caches.value)
    yield from _differ("prewarm", OBSTACLE, one.prewarm, other.prewarm)
    yield from _differ("settle", CAUTION, one.settle, other.settle)
    yield from _differ("delta", CAUTION, one.delta, other.delta)
    yield from _differ("alpha", CAUTION, one.alpha, other.alpha)
    yield from _differ("disturbed-share", CAUTION, one.disturbed_share, other.disturbed_share)
    yield from _differ("loaded", OBSTACLE, loaded(a.plan), loaded(b.plan))
    yield from _differ("way", OBSTACLE, connected_by(a.plan), connected_by(b.plan))
    yield from _differ("client-machine", CAUTION, _client_of(a.plan), _client_of(b.plan))
    here, there = a.plan.pgbench.version, b.plan.pgbench.version
    by_pgbench = any(analysis_of(workload.kind).by_pgbench for workload in a.plan.study.workloads)
    if by_pgbench and here != there:
        weight = CAUTION if here.major == there.major else OBSTACLE
        yield Difference("pgbench", weight, str(here), str(there))


def _client_of(plan: Plan) -> str | None:
    facts = plan.client_machine
    return None if facts is None else f"{facts.cpu.model}, {facts.cpu.logical}"


def _of_servers(a: CampaignAnalysis, b: CampaignAnalysis) -> Iterator[Difference]:
    here, there = dict(a.plan.servers), dict(b.plan.servers)
    if a.plan.study.contrast == SERVER == b.plan.study.contrast:
        matched = [(side.a, side.b) for side in matched_levels(a.plan, b.plan)]
    else:
        matched = [(level, level) for level in here if level in there]
    alone = (
        tuple(level for level in here if level not in {one for one, _ in matched}),
        tuple(level for level in there if level not in {other for _, other in matched}),
    )
    if any(alone):
        yield Difference("servers", CAUTION, _text(alone[0]), _text(alone[1]))
    for one, other in matched:
        if one in here and other in there:
            facts = (a.server_facts.get(one, {}), b.server_facts.get(other, {}))
            yield from _of_server(one, here[one], there[other], facts)


def _of_server(
    level: str, a: Installation, b: Installation, facts: tuple[dict[str, Any], dict[str, Any]]
) -> Iterator[Difference]:
    if a.version != b.version:
        weight = CAUTION if a.version.major == b.version.major else OBSTACLE
        yield Difference("server-version", weight, str(a.version), str(b.version), level)
    elif a.fingerprint != b.fingerprint:
        yield Difference("server-build", CAUTION, a.fingerprint[:12], b.fingerprint[:12], level)
    for code, fact, weight in (
        ("compiler", "compiler", CAUTION),
        ("block-size", "block_size", OBSTACLE),
    ):
        here, there = (one.get(fact) for one in facts)
        if here is not None and there is not None:
            yield from _differ(code, weight, here, there, level)


def _of_state(a: CampaignAnalysis, b: CampaignAnalysis) -> Iterator[Difference]:
    one, other = a.plan.study, b.plan.study
    yield from _differ("profile", CAUTION, one.profile, other.profile)
    if not (one.conclusive and other.conclusive):
        yield Difference("not-conclusive", CAUTION, _said(one.conclusive), _said(other.conclusive))
    if not (a.complete and b.complete):
        yield Difference("incomplete", CAUTION, _said(a.complete), _said(b.complete))
    sequential = (one.measure.sequential is not None, other.measure.sequential is not None)
    if any(sequential):
        yield Difference("sequential", CAUTION, _said(sequential[0]), _said(sequential[1]))
    yield from _differ("teiten", CAUTION, a.teiten_version, b.teiten_version)


def _said(yes: bool) -> str:
    return "yes" if yes else "no"


def _of_machine(a: CampaignAnalysis, b: CampaignAnalysis) -> Iterator[Difference]:
    """Find the differences between the machines, the subject of the comparison; the report's table
    of environments gives them in full."""
    one, other = a.facts, b.facts
    pairs = (
        ("system", one.system, other.system),
        ("distribution", one.distribution, other.distribution),
        ("kernel", one.kernel, other.kernel),
        ("architecture", one.architecture, other.architecture),
        ("cpu", one.cpu.model, other.cpu.model),
        ("cores", one.cpu.logical, other.cpu.logical),
        ("memory", one.memory.total, other.memory.total),
        ("disk", one.disk.kind, other.disk.kind),
        ("file-system", one.disk.file_system, other.disk.file_system),
        ("virtualisation", one.virtualisation, other.virtualisation),
        ("container", one.container, other.container),
        ("governor", one.cpu.governor, other.cpu.governor),
    )
    for code, here, there in pairs:
        yield from _differ(code, SUBJECT, here, there)
