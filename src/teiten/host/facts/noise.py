"""Noise floors that were measured on this machine, kept among Teiten's caches."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from teiten.host.facts.kept import keep, kept, key_on
from teiten.model.facts import HostFacts
from teiten.model.noise import NoiseFloor
from teiten.model.plan import Plan, PlannedTrial
from teiten.ways.registry import way_of_clients

PREFIX = "noise-"


def noise_key(facts: HostFacts, plan: Plan, trial: PlannedTrial) -> str:
    """Derive a key from what noise depends on: machine or hosts, script, data, load and its way."""
    way = way_of_clients(plan.study.measure, trial.load.connections)
    measure, options = plan.study.measure, plan.study.workload(trial.cell.workload).options
    return key_on(
        facts,
        *((text.name, text.text) for text in options.texts),
        *(
            (template.data.scale, template.data.options.told.get("fillfactor", 100))
            for template in trial.templates
        ),
        trial.load.noise,
        *plan.place_of(trial),
        *((way.name,) if way.concurrent else ()),
        *(("rounds",) if measure.rounds else ()),
    )


def keep_noise(folder: Path, floor: NoiseFloor) -> Path:
    """Write a noise floor into the folder of caches, in the place of an older one of its key."""
    path = folder / f"{PREFIX}{floor.key}.json"
    keep(path, floor)
    return path


def known_noise(folder: Path, facts: HostFacts, plan: Plan) -> Iterator[NoiseFloor]:
    """The noise floors that were measured for the plan's workloads here, in the plan's order.

    A cache that cannot be read is as good as none.
    """
    for key in dict.fromkeys(noise_key(facts, plan, trial) for trial in plan.trials):
        floor = kept(folder / f"{PREFIX}{key}.json", NoiseFloor)
        if floor is not None:
            yield floor
