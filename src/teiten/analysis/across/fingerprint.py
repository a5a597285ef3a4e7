"""Fingerprints that are equal where campaigns ask the same question under the same conditions."""

from __future__ import annotations

import hashlib
import json
from typing import Any

from teiten.kinds.contract_analyse import analysis_of
from teiten.model.facts import HostFacts
from teiten.model.plan import Plan
from teiten.model.sql import commands
from teiten.model.study import CLASSIC, SERVER, Script, Study, Workload
from teiten.model.units import GIB
from teiten.ways.registry import way_of, ways_by_clients

LENGTH = 12
"""Hexadecimal digits: enough to tell the studies of one folder apart."""


def study_fingerprint(study: Study) -> str:
    """Hash the question: factors, workloads and their scripts; not sizes, levels and settings."""
    return _digest(
        {
            "name": study.name,
            "contrast": study.contrast,
            "factors": sorted(factor.name for factor in study.factors),
            "workloads": [_workload(workload) for workload in study.workloads],
        }
    )


def conditions_fingerprint(plan: Plan) -> str:
    """Hash all that must be the same for values to be laid on one line, but machine and servers."""
    study, measure = plan.study, plan.study.measure
    clients = study.factor("clients")
    return _digest(
        {
            "study": study_fingerprint(study),
            "scales": [
                (workload.name, workload.data.scale, list(workload.own_levels("clients") or ()))
                for workload in study.workloads
            ],
            "clients": list(clients.levels) if clients else [],
            "settings": sorted((setting.name, setting.value) for setting in study.settings),
            "measure": [
                measure.duration,
                measure.warmup,
                measure.settle,
                measure.caches.value,
                measure.prewarm,
            ],
            "pgbench": plan.pgbench.version.major,
            **{name: value for name, value in _unusual(plan).items() if value},
        }
    )


def _unusual(plan: Plan) -> dict[str, object]:
    """Collect conditions that the usual campaign does not have: nothing of them is hashed there, so
    that older campaigns keep their fingerprint."""
    study, client, ways = plan.study, plan.client_machine, loaded(plan)
    named = {SERVER, "clients", study.contrast}
    levels = {
        (cell.workload, *pair)
        for cell in plan.cells
        for pair in cell.levels
        if pair[0] not in named
    }
    return {
        "loaded": "" if ways == CLASSIC else ways,
        "way": "" if client is None else connected_by(plan),
        "client": "" if client is None else machine_fingerprint(client),
        "levels": sorted(levels),
        "server_levels": sorted(
            {(name, *pair) for name, pairs in study.server_levels for pair in pairs}
        ),
        "by_session": list(study.measure.by_session),
        "memory": sorted({int(trial.memory_limit) for trial in plan.trials if trial.memory_limit}),
        "machines": sorted({repr(machine) for trial in plan.trials for machine in trial.machines}),
    }


def loaded(plan: Plan) -> str:
    """The ways in which sides are loaded: several where that depends on the clients."""
    ways = {way.recorded for way in ways_by_clients(plan).values()}
    ways = ways or {way_of(plan.study.measure).recorded}
    return ", ".join(sorted(ways))


def connected_by(plan: Plan) -> str:
    """How the load reaches servers: ``socket`` on one machine, or the network between two."""
    return "socket" if plan.client_machine is None else "network"


def machine_fingerprint(facts: HostFacts) -> str:
    """Hash the machine, without what changes on it with time (kernel, updates, free space)."""
    return _digest(
        {
            "system": [facts.system, facts.architecture, facts.virtualisation, facts.container],
            "cpu": [facts.cpu.model, facts.cpu.logical, facts.cpu.online, facts.cpu.quota_cores],
            "memory": round(facts.memory.total / GIB),
            "disk": [facts.disk.kind, facts.disk.file_system],
        }
    )


def commands_of(script: Script) -> list[str]:
    """List the commands of a script; for one of pgbench's own its name, by which it is known."""
    return [script.name] if script.builtin else commands(script.text)


def _workload(workload: Workload) -> dict[str, Any]:
    return {
        "name": workload.name,
        "changes": workload.changes_data,
        "fillfactor": workload.data.options.told.get("fillfactor", 100),
        **analysis_of(workload.kind).identity(workload),
    }


def _digest(value: dict[str, Any]) -> str:
    text = json.dumps(value, sort_keys=True, ensure_ascii=True)
    return hashlib.sha256(text.encode()).hexdigest()[:LENGTH]
