"""Plans: what ``plan`` prints as JSON, in seconds, bytes and shares."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated, Any

from teiten.cli.campaign.saturation import Foretold
from teiten.cli.plan.make import Planned
from teiten.cli.printed.form import SPREAD, Count, Keyword, Names, Positive, taken
from teiten.cli.printed.machine import JsonCaution, json_caution
from teiten.cli.printed.outcome import WayName
from teiten.model.build import PlannedBuild
from teiten.model.nodes import NodeMachine
from teiten.model.noise import NoiseFloor
from teiten.model.plan import Plan, PlannedTrial
from teiten.model.starts import pairs_of_a_start
from teiten.plan.sites.of import server_object
from teiten.ways.registry import ways_by_clients

_Server = Annotated[Names, Keyword("required", ("name", "version"))]
"""With the folder of one that Teiten starts, or the address and role of one that runs; a host's has
what its site says."""


@dataclass(frozen=True)
class JsonLoadGenerator:
    version: str
    path: Path


@dataclass(frozen=True)
class JsonMeasure:
    duration: Positive | None
    warmup: Positive | None
    settle: Positive
    blocks: Count
    until_decided: bool
    budget: Positive | None
    delta: Positive
    alpha: Positive
    way: WayName
    way_by_clients: Mapping[str, WayName]
    slices: Count
    pairs_of_a_start: Count
    memory: Count | None


@dataclass(frozen=True)
class JsonNode:
    server: str
    data: str
    checksums: bool


@dataclass(frozen=True)
class JsonTrial:
    """Open: a kind of load and a kind of data have keys of their own beside these."""

    number: Count
    block: Count
    workload: str
    levels: Names
    seed: int
    load: Annotated[Mapping[str, Any], SPREAD]
    data: str
    scale: float | None
    options: Annotated[Mapping[str, Any], SPREAD]
    checksums: bool
    nodes: tuple[JsonNode, ...]
    settings: Names
    start: Annotated[Count | None, "Pairs of one number share a start of the servers."]
    turns: tuple[Count, ...]
    server_cpus: tuple[Count, ...]
    client_cpus: tuple[Count, ...]
    directory: str | None
    placement: Annotated[Names | None, "The storage of each part."]
    memory_limit: Count | None
    machines: tuple[NodeMachine, ...]


@dataclass(frozen=True)
class JsonNeeds:
    seconds: Positive
    measured_seconds: Positive
    disk_bytes: Count
    disk_free_bytes: Count
    directories: Mapping[str, Count]
    storages: Mapping[str, Count]
    memory_bytes: Count
    memory_available_bytes: Count


@dataclass(frozen=True)
class JsonProvisional:
    trials: Count
    seconds: Positive
    duration: Positive | None
    clients: tuple[Count, ...]


@dataclass(frozen=True)
class JsonForetold:
    """Keys that are there with ``--find-saturation``: the plan is an upper bound then."""

    upper_bound: bool
    provisional: JsonProvisional


@dataclass(frozen=True)
class JsonPlan:
    study: str
    profile: str
    conclusive: bool
    seed: int
    contrast: Annotated[str, "The factor whose levels are compared."]
    factors: Annotated[Mapping[str, tuple[str, ...]], "Levels by factor."]
    servers: Annotated[Mapping[str, _Server], "By their levels."]
    pgbench: JsonLoadGenerator
    measure: JsonMeasure
    trials: tuple[JsonTrial, ...]
    needs: JsonNeeds
    builds: tuple[PlannedBuild, ...]
    noise: tuple[NoiseFloor, ...]
    folder: Path
    actions: tuple[str, ...]
    cautions: tuple[JsonCaution, ...]
    foretold: Annotated[JsonForetold | None, SPREAD]


def json_plan(
    planned: Planned, folder: Path, actions: Sequence[str], foretold: Foretold | None = None
) -> JsonPlan:
    plan = planned.plan
    study = plan.study
    servers = {
        level: {
            "name": installation.name,
            "version": str(installation.version),
            **server_object(plan, installation),
        }
        for level, installation in plan.servers
    }
    return JsonPlan(
        study.name,
        study.profile,
        study.conclusive,
        plan.seed,
        study.contrast,
        {factor.name: factor.levels for factor in study.factors},
        servers,
        JsonLoadGenerator(str(plan.pgbench.version), plan.pgbench.path),
        _measure(plan),
        tuple(map(_trial, plan.trials)),
        _needs(planned),
        planned.builds,
        planned.noise,
        folder,
        tuple(actions),
        tuple(map(json_caution, planned.cautions)),
        _foretold(foretold) if foretold else None,
    )


def _measure(plan: Plan) -> JsonMeasure:
    measure = plan.study.measure
    return taken(
        JsonMeasure,
        measure,
        until_decided=measure.sequential is not None,
        budget=measure.sequential.budget if measure.sequential else None,
        way_by_clients={str(clients): way.name for clients, way in ways_by_clients(plan).items()},
        pairs_of_a_start=pairs_of_a_start(plan),
    )


def _trial(trial: PlannedTrial) -> JsonTrial:
    template = trial.template
    return taken(
        JsonTrial,
        trial,
        workload=trial.cell.workload,
        levels=dict(trial.cell.levels),
        load=asdict(trial.load),
        data=str(template.data),
        options=template.data.options.told,
        checksums=template.checksums,
        nodes=tuple(
            JsonNode(node.installation.name, str(node.data), node.checksums)
            for node in trial.templates
        ),
        settings=dict(trial.settings),
        start=trial.restart or None,
        placement=None if trial.placement is None else dict(trial.placement.storages),
    )


def _needs(planned: Planned) -> JsonNeeds:
    needs, facts = planned.plan.needs, planned.facts
    return JsonNeeds(
        needs.seconds,
        needs.measured_seconds,
        needs.disk,
        facts.disk.free,
        dict(needs.directories),
        dict(needs.storages),
        needs.memory,
        facts.memory.available,
    )


def _foretold(foretold: Foretold) -> JsonForetold:
    plan = foretold.provisional.plan
    clients = sorted({trial.load.connections for trial in plan.trials})
    provisional = JsonProvisional(
        len(plan.trials), plan.needs.seconds, plan.study.measure.duration, tuple(clients)
    )
    return JsonForetold(True, provisional)
