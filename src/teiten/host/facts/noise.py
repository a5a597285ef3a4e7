"""Noise floors that were measured on this machine, kept among Teiten's caches."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path

from pydantic import TypeAdapter, ValidationError

from teiten.model.facts import HostFacts
from teiten.model.noise import NoiseFloor
from teiten.model.plan import Plan, PlannedTrial

PREFIX = "noise-"


def noise_key(facts: HostFacts, plan: Plan, trial: PlannedTrial) -> str:
    """Of what noise depends on: machine or hosts, script, data, load and its way."""
    options = plan.study.workload(trial.cell.workload).options
    identity: tuple[object, ...] = (
        (facts.system, facts.architecture, facts.cpu.model, facts.cpu.logical),
        (facts.disk.device, facts.disk.file_system),
        *((one.name, one.text) for one in options.texts),
        *(
            (one.data.scale, one.data.options.told.get("fillfactor", 100))
            for one in trial.templates
        ),
        trial.load.noise,
        *plan.place_of(trial),
        *((plan.study.measure.way.value,) if plan.study.measure.paired else ()),
    )
    return hashlib.sha256(json.dumps(identity).encode()).hexdigest()[:24]


def keep_noise(folder: Path, floor: NoiseFloor) -> Path:
    """Write a noise floor into the folder of caches, in the place of an older one of its key."""
    path = folder / f"{PREFIX}{floor.key}.json"
    made = path.with_suffix(".new")
    made.write_text(json.dumps(asdict(floor), indent=1) + "\n", encoding="utf-8")
    made.replace(path)
    return path


def known_noise(folder: Path, facts: HostFacts, plan: Plan) -> Iterator[NoiseFloor]:
    """The noise floors that were measured for the plan's workloads here, in the plan's order.

    A cache that cannot be read is as good as none.
    """
    for key in dict.fromkeys(noise_key(facts, plan, trial) for trial in plan.trials):
        path = folder / f"{PREFIX}{key}.json"
        try:
            floor: NoiseFloor = TypeAdapter(NoiseFloor).validate_json(path.read_bytes())
        except (OSError, ValidationError):
            continue
        yield floor
