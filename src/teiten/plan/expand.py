"""A sized study and its servers to a plan: every trial in order, with all that it needs.

Which side has which physical copy of a template: they take turns, from start to start.

Where a copy's files lie on the disk lasts as long as the copy, and would favour one side in every
start. Only copies of one template can be exchanged, and only where the sides differ in something:
what two equal sides differ by is the place of their files too, and is what their campaign asks.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import groupby

from teiten.datasets.plan import template_bytes
from teiten.errors import UsageError
from teiten.factors.registry import rules
from teiten.model.facts import LogicalCpu
from teiten.model.installation import Installation, Pgbench
from teiten.model.plan import Cell, Plan, PlannedTrial, TemplateSpec
from teiten.model.setup import PlannedCell
from teiten.model.study import DataSet, Factor, Study
from teiten.plan.cells import cell_groups, setup_of
from teiten.plan.estimate import estimate
from teiten.plan.nodes import with_machines
from teiten.plan.ordering import check_way, in_blocks, levels_of_blocks, with_turns
from teiten.plan.sites.of import check_pairs, site_of, with_known_processors
from teiten.ways.registry import way_of

Fingerprint = Callable[[Installation, bool, DataSet], str]
"""Names a template: installation, whether with data checksums, data set."""


def expand(
    study: Study,
    servers: Sequence[tuple[str, Installation]],
    pgbench: Pgbench,
    *,
    seed: int,
    fingerprint: Fingerprint,
    cpus: Sequence[LogicalCpu] = (),
) -> Plan:
    """The plan of a sized study.

    ``servers``: each level of the factor server with its installation. ``cpus``: what a factor
    cores can pin to. Raises UsageError where two levels are one installation by accident.
    """
    _check_servers(study, servers)
    study = with_known_processors(study, servers)
    check_way(study)
    for level, installation in servers:
        site_of(installation).check_server(study, level, installation)
    check_pairs(study, servers)
    templates = _Templates(dict(servers), fingerprint)
    trials = tuple(_trials(study, templates, seed, cpus))
    if way_of(study.measure).side_by_side:
        trials = tuple(with_copies_exchanged(with_turns(study, trials)))
    trials = tuple(with_machines(study, trials, cpus))
    needed = tuple(templates.by_fingerprint.values())
    for factor in rules():
        for trial in trials:
            factor.check_trial(trial)
    for trial in sorted(trials, key=_relations, reverse=True):  # an error tells of what needs most
        site_of(trial.template.installation).check_trial(trial)
    check_preloads(study, trials)
    return Plan(
        study=study,
        seed=seed,
        servers=tuple(servers),
        pgbench=pgbench,
        templates=needed,
        trials=trials,
        needs=estimate(study, trials, needed),
    )


def _relations(trial: PlannedTrial) -> int:
    """Relations of the layout with the most partitions and indexes."""
    layouts = (template.data.layout for template in trial.templates)
    return max((layout.relations for layout in layouts if layout is not None), default=0)


class _Templates:
    """The templates that trials ask for, each made once."""

    def __init__(self, servers: Mapping[str, Installation], fingerprint: Fingerprint) -> None:
        self.servers = servers
        self._fingerprint = fingerprint
        self._made: dict[tuple[str, str, bool, DataSet], TemplateSpec] = {}
        self.by_fingerprint: dict[str, TemplateSpec] = {}

    def of(self, server: str, checksums: bool, data: DataSet, at: int) -> TemplateSpec:
        """``at``: the server's place among those of a trial, from 0."""
        installation = _of_cluster(self.servers[server], at)
        key = (server, installation.name, checksums, data)
        if key not in self._made:
            checksums = site_of(installation).checksums(installation, checksums)
            origin = self._origin(data)
            clusters = (installation,) if origin is None else (installation, origin)
            names = [self._fingerprint(server, checksums, data) for server in clusters]
            made = TemplateSpec(
                installation=installation,
                checksums=checksums,
                data=data,
                fingerprint=names[0] if origin is None else joined(names),
                expected_bytes=template_bytes(data),
                origin=origin,
            )
            self._made[key] = self.by_fingerprint.setdefault(made.fingerprint, made)
        return self._made[key]

    def _origin(self, data: DataSet) -> Installation | None:
        """The installation of the first server, where its cluster is to be upgraded."""
        upgraded = data.state is not None and data.state.upgraded
        return next(iter(self.servers.values())) if upgraded else None


def joined(fingerprints: Iterable[str]) -> str:
    """The fingerprint of what several others stand for."""
    return hashlib.sha256(" ".join(fingerprints).encode()).hexdigest()


def _of_cluster(entry: Installation, at: int) -> Installation:
    """Where a trial's server runs: servers that Teiten starts are all alike."""
    return entry if at == 0 or not entry.nodes else entry.nodes[at - 1]


def _trials(
    study: Study, templates: _Templates, seed: int, cpus: Sequence[LogicalCpu]
) -> Iterator[PlannedTrial]:
    copies = _copies(study, templates.servers)
    contrasted = study.factor(study.contrast)
    levels = levels_of_blocks(study, seed) if study.starts_of_all > 1 else None
    order = in_blocks(
        cell_groups(study),
        blocks=study.measure.blocks,
        seed=seed,
        start=lambda cell: way_of(study.measure).start_of(study, cell),
        has=lambda block, cell: levels is None or cell.level(study.contrast) in levels[block - 1],
    )
    for number, placed in enumerate(order, start=1):
        cell: Cell = placed.item
        server = cell.server
        installation = templates.servers[server]
        setup = setup_of(PlannedCell(study, cell, cpus))
        yield PlannedTrial(
            number=number,
            block=placed.block,
            cell=cell,
            seed=placed.seed,
            templates=tuple(
                templates.of(server, setup.checksums, data, at)
                for at, data in enumerate(setup.parts or (setup.data,))
            ),
            load=setup.load,
            settings=site_of(installation).settings(installation, setup.settings),
            copy=_copy_by_level(study, cell, contrasted) or copies[server],
            **setup.conditions(),
        )


def _copy_by_level(study: Study, cell: Cell, contrasted: Factor | None) -> int | None:
    """Servers that run side by side need a data directory each, whatever makes them differ."""
    measure = study.measure
    if not way_of(measure).side_by_side or contrasted is None or measure.by_session:
        return None
    return 1 + contrasted.levels.index(cell.level(contrasted.name) or "")


def _copies(study: Study, servers: Mapping[str, Installation]) -> dict[str, int]:
    """By level of the factor server, the copy of its template: a server against itself has two,
    because two data directories are part of what differs between two versions."""
    seen: Counter[tuple[object, ...]] = Counter()
    copies = {}
    for level, installation in servers.items():
        same = (installation.place, dict(study.server_levels).get(level, ()))
        seen[same] += 1
        copies[level] = seen[same]
    return copies


def _check_servers(study: Study, servers: Sequence[tuple[str, Installation]]) -> None:
    """Two names of one installation are only meant where both are aliases (old against old)."""
    aliases = dict(study.server_aliases)
    seen: dict[str, str] = {}
    for level, installation in servers:
        first = seen.setdefault(installation.place, level)
        if first != level and not (level in aliases and first in aliases):
            raise UsageError(
                f"the servers {first} and {level} are the same installation, {installation.name}",
                "name two versions that differ (teiten pg list shows what is here); to compare a"
                " server with itself, give it two names under [servers] in the study file",
            )


def check_preloads(study: Study, trials: Iterable[PlannedTrial]) -> None:
    """Raise UsageError where a server surely lacks an extension that a workload loads."""
    for trial, template in ((planned, part) for planned in trials for part in planned.templates):
        workload, installation = study.workload(trial.cell.workload), template.installation
        missing = list(filter(installation.surely_lacks, workload.preload))
        if missing:
            server = trial.cell.server or installation.name
            raise UsageError(
                f"server {server}: the workload {workload.name} loads the extension {missing[0]},"
                f" which {installation.name} does not have",
                "install the extension there (Debian's packages are named postgresql-17-…), or"
                " leave the workload out: --set workloads=…",
            )


def with_copies_exchanged(trials: Iterable[PlannedTrial]) -> Iterator[PlannedTrial]:
    """``trials``: in the order of execution, the sides of a pair adjacent, with their starts."""
    pairs = groupby(trials, key=lambda trial: (trial.block, trial.cell.workload, trial.seed))
    for _, pair in pairs:
        sides = sorted(pair, key=lambda trial: trial.number)
        if not _exchangeable(sides):
            yield from sides
            continue
        copies = sorted(side.copy for side in sides)
        for side in sides:
            at = (copies.index(side.copy) + side.restart) % len(copies)
            yield replace(side, copy=copies[at])


def _exchangeable(sides: list[PlannedTrial]) -> bool:
    same_files = len({(side.fingerprints, side.directory, side.placement) for side in sides}) == 1
    return same_files and len({(side.settings, side.load) for side in sides}) > 1
