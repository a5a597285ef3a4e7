"""Plans: what ``plan`` prints as JSON, in seconds, bytes and shares."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated, Any

from teiten.cli.plan.make import Planned
from teiten.cli.printed.form import (
    EMPTY_IS_NULL,
    SPREAD,
    Count,
    From,
    Keyword,
    Names,
    Positive,
    taken,
)
from teiten.cli.printed.machine import JsonCaution
from teiten.cli.printed.outcome import WayName, way_names
from teiten.model.build import PlannedBuild
from teiten.model.nodes import NodeMachine
from teiten.model.noise import NoiseFloor
from teiten.model.plan import Plan
from teiten.plan.sites.of import server_object

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
    budget: Annotated[Positive | None, From("sequential.budget")]
    delta: Positive
    alpha: Positive
    way: WayName
    way_by_clients: Mapping[str, WayName]
    slices: Count
    pairs_of_a_start: Count
    memory: Count | None


@dataclass(frozen=True)
class JsonNode:
    server: Annotated[str, From("installation.name")]
    data: str
    checksums: bool


@dataclass(frozen=True)
class JsonTrial:
    """Open: a kind of load and a kind of data have keys of their own beside these."""

    number: Count
    block: Count
    workload: Annotated[str, From("cell.workload")]
    levels: Annotated[Names, From("cell.levels")]
    seed: int
    load: Annotated[Mapping[str, Any], SPREAD]
    data: Annotated[str, From("template.data")]
    scale: float | None
    options: Annotated[Mapping[str, Any], SPREAD, From("template.data.options.told")]
    checksums: Annotated[bool, From("template.checksums")]
    nodes: Annotated[tuple[JsonNode, ...], From("templates")]
    settings: Names
    start: Annotated[
        Count | None,
        "Pairs of one number share a start of the servers.",
        From("restart"),
        EMPTY_IS_NULL,
    ]
    turns: tuple[Count, ...]
    server_cpus: tuple[Count, ...]
    client_cpus: tuple[Count, ...]
    directory: str | None
    placement: Annotated[Names | None, "The storage of each part.", From("placement.storages")]
    memory_limit: Count | None
    machines: tuple[NodeMachine, ...]


@dataclass(frozen=True)
class JsonNeeds:
    seconds: Annotated[Positive, From("plan.needs.seconds")]
    measured_seconds: Annotated[Positive, From("plan.needs.measured_seconds")]
    disk_bytes: Annotated[Count, From("plan.needs.disk")]
    disk_free_bytes: Annotated[Count, From("facts.disk.free")]
    directories: Annotated[Mapping[str, Count], From("plan.needs.directories")]
    storages: Annotated[Mapping[str, Count], From("plan.needs.storages")]
    memory_bytes: Annotated[Count, From("plan.needs.memory")]
    memory_available_bytes: Annotated[Count, From("facts.memory.available")]


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
    study: Annotated[str, From("plan.study.name")]
    profile: Annotated[str, From("plan.study.profile")]
    conclusive: Annotated[bool, From("plan.study.conclusive")]
    seed: Annotated[int, From("plan.seed")]
    contrast: Annotated[str, "The factor whose levels are compared.", From("plan.study.contrast")]
    factors: Annotated[Mapping[str, tuple[str, ...]], "Levels by factor."]
    servers: Annotated[Mapping[str, _Server], "By their levels."]
    pgbench: Annotated[JsonLoadGenerator, From("plan.pgbench")]
    measure: JsonMeasure
    trials: tuple[JsonTrial, ...]
    needs: Annotated[JsonNeeds, From("")]
    builds: tuple[PlannedBuild, ...]
    noise: tuple[NoiseFloor, ...]
    folder: Path
    actions: tuple[str, ...]
    cautions: tuple[JsonCaution, ...]
    foretold: Annotated[JsonForetold | None, SPREAD]


def json_plan(
    planned: Planned, folder: Path, actions: Sequence[str], provisional: Plan | None = None
) -> JsonPlan:
    """Describe a plan; ``provisional``: that of the run of ``--find-saturation`` before it, where
    it is asked."""
    plan = planned.plan
    return taken(
        JsonPlan,
        planned,
        factors={factor.name: factor.levels for factor in plan.study.factors},
        servers={
            level: {
                "name": server.name,
                "version": str(server.version),
                **server_object(plan, server),
            }
            for level, server in plan.servers
        },
        measure=taken(
            JsonMeasure,
            plan.study.measure,
            until_decided=plan.study.measure.sequential is not None,
            way_by_clients=way_names(plan),
            pairs_of_a_start=plan.pairs_of_a_start,
        ),
        trials=[taken(JsonTrial, trial, load=asdict(trial.load)) for trial in plan.trials],
        folder=folder,
        actions=actions,
        foretold=_foretold(provisional) if provisional else None,
    )


def _foretold(plan: Plan) -> JsonForetold:
    clients = tuple(sorted({trial.load.connections for trial in plan.trials}))
    seconds, duration = plan.needs.seconds, plan.study.measure.duration
    return JsonForetold(True, JsonProvisional(len(plan.trials), seconds, duration, clients))
