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
from teiten.model.plan import Context, Plan, PlannedTrial
from teiten.model.quantities import exact_size
from teiten.model.study import SERVER, Workload

NONE = "—"

OBSTACLE, CAUTION, SUBJECT = Weight.OBSTACLE, Weight.CAUTION, Weight.SUBJECT


def comparability(a: CampaignAnalysis, b: CampaignAnalysis) -> tuple[Difference, ...]:
    """All differences between two campaigns, the obstacles first."""
    differences = [*_of_question(a, b), *_of_measure(a, b), *_of_servers(a, b), *_of_state(a, b)]
    differences += _of_machine(a, b)
    order = list(Weight)
    return tuple(
        sorted(dict.fromkeys(differences), key=lambda difference: order.index(difference.weight))
    )


def matched_levels(a: Plan, b: Plan) -> tuple[ComparedLevel, ...]:
    """The contrasted levels that belong together: of one name, else servers of one major version,
    else the last ones left on either side."""
    levels_a, levels_b = a.study.contrasted_levels, b.study.contrasted_levels
    pairs = [(level, level) for level in levels_a if level in levels_b]
    if a.study.contrast == SERVER == b.study.contrast:
        left_a = [level for level in levels_a if level not in levels_b]
        left_b = [level for level in levels_b if level not in levels_a]
        pairs += _of_one_major(a, b, left_a, left_b)
        if len(left_a) == len(left_b) == 1:
            pairs.append((left_a[0], left_b[0]))
    pairs.sort(key=lambda pair: levels_a.index(pair[0]))
    return tuple(ComparedLevel(*pair) for pair in pairs)


def common_contexts(a: Plan, b: Plan, workload: str, side: ComparedLevel) -> tuple[Context, ...]:
    """The levels of the other factors that both planned, in the order of A."""
    there = set(_cells(b, workload, side.b))
    return tuple(context for context in _cells(a, workload, side.a) if context in there)


def _of_one_major(
    a: Plan, b: Plan, left_a: list[str], left_b: list[str]
) -> Iterator[tuple[str, str]]:
    majors_a = {level: server.version.major for level, server in a.servers}
    majors_b = {level: server.version.major for level, server in b.servers}
    for level in tuple(left_a):
        same = [candidate for candidate in left_b if majors_b.get(candidate) == majors_a.get(level)]
        if len(same) == 1:
            left_a.remove(level)
            left_b.remove(same[0])
            yield level, same[0]


def _cells(plan: Plan, workload: str, side: str) -> dict[Context, PlannedTrial]:
    """Contexts of a workload on a side, each with its first planned trial."""
    contrast = plan.study.contrast
    first_trials: dict[Context, PlannedTrial] = {}
    for trial in plan.trials:
        if trial.cell.workload == workload and trial.cell.level(contrast) == side:
            first_trials.setdefault(trial.cell.context(contrast), trial)
    return dict(sorted(first_trials.items(), key=lambda entry: plan.study.ranks(entry[0])))


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
    study_a, study_b = a.plan.study, b.plan.study
    if (a.name, a.created_at) == (b.name, b.created_at):
        yield Difference("same-campaign", OBSTACLE, a.name, b.name)
    yield from _differ("study", OBSTACLE, study_a.name, study_b.name)
    yield from _differ("contrast", OBSTACLE, study_a.contrast, study_b.contrast)
    names = [workload.name for workload in study_a.workloads]
    others = [workload.name for workload in study_b.workloads]
    shared = [name for name in names if name in others]
    if not shared:
        yield Difference("workloads", OBSTACLE, _text(names), _text(others))
    elif set(names) != set(others):
        yield Difference("workloads", CAUTION, _text(names), _text(others))
    for name in shared:
        yield from _of_workload(study_a.workload(name), study_b.workload(name))
        yield from _of_levels(a.plan, b.plan, name)


def _of_workload(a: Workload, b: Workload) -> Iterator[Difference]:
    pairs = (
        ("data", rows_of(a.data), rows_of(b.data)),
        ("scale", a.data.scale, b.data.scale),
        ("fillfactor", _fillfactor(a), _fillfactor(b)),
        ("restored", a.changes_data, b.changes_data),
    )
    if a.kind == b.kind:
        for unlike in analysis_of(a.kind).unlike(a, b):
            yield from _differ(
                unlike.code, OBSTACLE, unlike.here, unlike.there, unlike.subject or a.name
            )
    else:
        yield from _differ("script", OBSTACLE, a.options.source, b.options.source, a.name)
    for code, here, there in pairs:
        yield from _differ(code, OBSTACLE, here, there, a.name)


def _fillfactor(workload: Workload) -> object:
    """Find the fillfactor of a workload's tables; None for tables that have none."""
    return workload.data.options.told.get("fillfactor")


def _of_levels(a: Plan, b: Plan, workload: str) -> Iterator[Difference]:
    """Levels that only one campaign has, and settings of the cells that both have."""
    sides = matched_levels(a, b)
    shared = False
    for side in sides:
        here, there = _cells(a, workload, side.a), _cells(b, workload, side.b)
        shared = shared or any(context in there for context in here)
        if here.keys() != there.keys():
            weight = CAUTION if here.keys() & there.keys() else OBSTACLE
            only = [
                _contexts(cells, counterparts)
                for cells, counterparts in ((here, there), (there, here))
            ]
            yield Difference("levels", weight, only[0], only[1], workload)
        for context in here.keys() & there.keys():
            yield from _of_cells(a.study.workload(workload).kind, here[context], there[context])
    if not shared and not sides:
        levels_a, levels_b = (_text(plan.study.contrasted_levels) for plan in (a, b))
        yield Difference("no-common-level", OBSTACLE, levels_a, levels_b, workload)


def _contexts(
    cells: Mapping[Context, PlannedTrial],
    counterparts: Mapping[Context, PlannedTrial],
) -> str:
    """Name the contexts that only these cells have."""
    missing = [context for context in cells if context not in counterparts]
    return (
        "; ".join(" ".join(f"{name}={level}" for name, level in context) for context in missing)
        or NONE
    )


def _of_cells(kind: str, a: PlannedTrial, b: PlannedTrial) -> Iterator[Difference]:
    here, there = dict(a.settings), dict(b.settings)
    for name in dict.fromkeys((*here, *there)):
        yield from _differ("setting", OBSTACLE, here.get(name), there.get(name), name)
    server = a.cell.level(SERVER) or ""
    yield from _differ("nodes", OBSTACLE, len(a.templates), len(b.templates), a.cell.workload)
    machines = (_machine(a), _machine(b))
    yield from _differ("node-machine", OBSTACLE, *machines, a.cell.workload)
    yield from _differ("checksums", OBSTACLE, _checksums(a), _checksums(b), server)
    yield from _differ("memory-limit", OBSTACLE, a.memory_limit, b.memory_limit)
    if type(a.load) is type(b.load):
        for unlike in analysis_of(kind).unlike_trials(a, b):
            yield from _differ(
                unlike.code, CAUTION, unlike.here, unlike.there, unlike.subject or a.cell.workload
            )


def _machine(trial: PlannedTrial) -> str | None:
    """Describe the machine of a trial's first emulated node; None where nodes are plain servers."""
    if not trial.machines:
        return None
    machine = trial.machines[0]
    had = {
        "memory": machine.memory and exact_size(machine.memory),
        "read": machine.read and f"{exact_size(machine.read)}/s",
        "write": machine.write and f"{exact_size(machine.write)}/s",
        "cpus": len(machine.cpus) or None,
        "network": "TCP" if machine.network else None,
    }
    return " ".join(f"{name}={value}" for name, value in had.items() if value is not None)


def _checksums(trial: PlannedTrial) -> tuple[bool, ...]:
    """List whether the nodes have checksums: a single value where all nodes are alike."""
    return tuple(dict.fromkeys(template.checksums for template in trial.templates))


def _of_measure(a: CampaignAnalysis, b: CampaignAnalysis) -> Iterator[Difference]:
    measure_a, measure_b = a.plan.study.measure, b.plan.study.measure
    yield from _differ("duration", OBSTACLE, measure_a.duration, measure_b.duration)
    yield from _differ("warmup", OBSTACLE, measure_a.warmup, measure_b.warmup)
    yield from _differ("caches", OBSTACLE, measure_a.caches.value, measure_b.caches.value)
    yield from _differ("prewarm", OBSTACLE, measure_a.prewarm, measure_b.prewarm)
    yield from _differ("settle", CAUTION, measure_a.settle, measure_b.settle)
    yield from _differ("delta", CAUTION, measure_a.delta, measure_b.delta)
    yield from _differ("alpha", CAUTION, measure_a.alpha, measure_b.alpha)
    yield from _differ(
        "disturbed-share", CAUTION, measure_a.disturbed_share, measure_b.disturbed_share
    )
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
        tuple(level for level in here if level not in {level_a for level_a, _ in matched}),
        tuple(level for level in there if level not in {level_b for _, level_b in matched}),
    )
    if any(alone):
        yield Difference("servers", CAUTION, _text(alone[0]), _text(alone[1]))
    for level_a, level_b in matched:
        if level_a in here and level_b in there:
            facts = (a.server_facts.get(level_a, {}), b.server_facts.get(level_b, {}))
            yield from _of_server(level_a, here[level_a], there[level_b], facts)


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
        here, there = (known.get(fact) for known in facts)
        if here is not None and there is not None:
            yield from _differ(code, weight, here, there, level)


def _of_state(a: CampaignAnalysis, b: CampaignAnalysis) -> Iterator[Difference]:
    study_a, study_b = a.plan.study, b.plan.study
    yield from _differ("profile", CAUTION, study_a.profile, study_b.profile)
    for code, remarkable, sides in (
        ("not-conclusive", False, (study_a.conclusive, study_b.conclusive)),
        ("incomplete", False, (a.complete, b.complete)),
        ("sequential", True, (bool(study_a.measure.sequential), bool(study_b.measure.sequential))),
    ):
        if remarkable in sides:
            yield Difference(code, CAUTION, *("yes" if yes else "no" for yes in sides))
    yield from _differ("teiten", CAUTION, a.teiten_version, b.teiten_version)


def _of_machine(a: CampaignAnalysis, b: CampaignAnalysis) -> Iterator[Difference]:
    """Find the differences between the machines, the subject of the comparison; the report's table
    of environments gives them in full."""
    facts_a, facts_b = a.facts, b.facts
    pairs = (
        ("system", facts_a.system, facts_b.system),
        ("distribution", facts_a.distribution, facts_b.distribution),
        ("kernel", facts_a.kernel, facts_b.kernel),
        ("architecture", facts_a.architecture, facts_b.architecture),
        ("cpu", facts_a.cpu.model, facts_b.cpu.model),
        ("cores", facts_a.cpu.logical, facts_b.cpu.logical),
        ("memory", facts_a.memory.total, facts_b.memory.total),
        ("disk", facts_a.disk.kind, facts_b.disk.kind),
        ("file-system", facts_a.disk.file_system, facts_b.disk.file_system),
        ("virtualisation", facts_a.virtualisation, facts_b.virtualisation),
        ("container", facts_a.container, facts_b.container),
        ("governor", facts_a.cpu.governor, facts_b.cpu.governor),
    )
    for code, here, there in pairs:
        yield from _differ(code, SUBJECT, here, there)
