"""A plan as JSON."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Any

from teiten.cli.plan.make import Planned
from teiten.model.plan import Plan, PlannedTrial
from teiten.model.starts import pairs_of_a_start
from teiten.plan.sites.told import server_object
from teiten.ways.registry import ways_by_clients


def plan_as_json(planned: Planned, folder: Path, actions: tuple[str, ...]) -> dict[str, Any]:
    """The plan in base units: seconds, bytes, shares."""
    plan: Plan = planned.plan
    study, measure = plan.study, plan.study.measure
    return {
        "study": study.name,
        "profile": study.profile,
        "conclusive": study.conclusive,
        "seed": plan.seed,
        "contrast": study.contrast,
        "factors": {factor.name: list(factor.levels) for factor in study.factors},
        "servers": {
            level: {
                "name": installation.name,
                "version": str(installation.version),
                **server_object(plan, installation),
            }
            for level, installation in plan.servers
        },
        "pgbench": {"version": str(plan.pgbench.version), "path": str(plan.pgbench.path)},
        "measure": {
            "duration": measure.duration,
            "warmup": measure.warmup,
            "settle": measure.settle,
            "blocks": measure.blocks,
            "until_decided": measure.sequential is not None,
            "budget": measure.sequential.budget if measure.sequential else None,
            "delta": measure.delta,
            "alpha": measure.alpha,
            "way": measure.way,
            "way_by_clients": {
                str(clients): way.name for clients, way in ways_by_clients(plan).items()
            },
            "slices": measure.slices,
            "pairs_of_a_start": pairs_of_a_start(plan),
            "memory": measure.memory,
        },
        "trials": [_trial(trial) for trial in plan.trials],
        "needs": {
            "seconds": plan.needs.seconds,
            "measured_seconds": plan.needs.measured_seconds,
            "disk_bytes": plan.needs.disk,
            "disk_free_bytes": planned.facts.disk.free,
            "directories": dict(plan.needs.directories),
            "storages": dict(plan.needs.storages),
            "memory_bytes": plan.needs.memory,
            "memory_available_bytes": planned.facts.memory.available,
        },
        "builds": [asdict(build) for build in planned.builds],
        "noise": [asdict(floor) for floor in planned.noise],
        "folder": str(folder),
        "actions": list(actions),
        "cautions": [
            {"code": each.code, "severity": each.severity, "values": dict(each.values)}
            for each in planned.cautions
        ],
    }


def _trial(trial: PlannedTrial) -> dict[str, Any]:
    return {
        "number": trial.number,
        "block": trial.block,
        "workload": trial.cell.workload,
        "levels": dict(trial.cell.levels),
        "seed": trial.seed,
        **asdict(trial.load),
        "data": str(trial.template.data),
        "scale": trial.scale,
        **trial.template.data.options.told,
        "checksums": trial.template.checksums,
        "nodes": [
            {
                "server": template.installation.name,
                "data": str(template.data),
                "checksums": template.checksums,
            }
            for template in trial.templates
        ],
        "settings": dict(trial.settings),
        "start": trial.restart or None,
        "turns": list(trial.turns),
        "server_cpus": list(trial.server_cpus),
        "client_cpus": list(trial.client_cpus),
        "directory": trial.directory,
        "placement": None if trial.placement is None else dict(trial.placement.storages),
        "memory_limit": trial.memory_limit,
        "machines": [asdict(machine) for machine in trial.machines],
    }
