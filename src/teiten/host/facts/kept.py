"""Measurements once made on this machine, kept among Teiten's caches as JSON: noise floors, and the
check of paired transactions, which has a line for each start, so that one that was cut off goes on.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from pydantic import TypeAdapter, ValidationError

from teiten.model.facts import HostFacts
from teiten.model.noise import NoiseFloor
from teiten.model.pairs_check import CheckedStart, PairsCheck
from teiten.model.plan import Plan, PlannedTrial
from teiten.model.study import CLASSIC
from teiten.ways.registry import way_of_clients

if TYPE_CHECKING:
    from _typeshed import DataclassInstance


T = TypeVar("T")


def key_on(facts: HostFacts, *further: object) -> str:
    """Derive a key from the machine and its disk, and from whatever else a number depends on."""
    identity = (
        (facts.system, facts.architecture, facts.cpu.model, facts.cpu.logical),
        (facts.disk.device, facts.disk.file_system),
        *further,
    )
    return hashlib.sha256(json.dumps(identity).encode()).hexdigest()[:24]


def keep(path: Path, measured: DataclassInstance) -> None:
    """In the place of an older one."""
    made = path.with_suffix(".new")
    made.write_text(json.dumps(asdict(measured), indent=1) + "\n", encoding="utf-8")
    made.replace(path)


def kept(path: Path, form: type[T]) -> T | None:
    """One that cannot be read is as good as none."""
    try:
        measured: T = TypeAdapter(form).validate_json(path.read_bytes())
    except (OSError, ValidationError):
        return None
    return measured


NOISE_PREFIX = "noise-"


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
        *((way.recorded,) if way.recorded != CLASSIC else ()),
        *(("rounds",) if measure.rounds else ()),
    )


def keep_noise(folder: Path, floor: NoiseFloor) -> Path:
    """Write a noise floor into the folder of caches, in the place of an older one of its key."""
    path = folder / f"{NOISE_PREFIX}{floor.key}.json"
    keep(path, floor)
    return path


def known_noise(folder: Path, facts: HostFacts, plan: Plan) -> Iterator[NoiseFloor]:
    """The noise floors that were measured for the plan's workloads here, in the plan's order.

    A cache that cannot be read is as good as none.
    """
    for key in dict.fromkeys(noise_key(facts, plan, trial) for trial in plan.trials):
        floor = kept(folder / f"{NOISE_PREFIX}{key}.json", NoiseFloor)
        if floor is not None:
            yield floor


CHECK_PREFIX = "pairs-check-"


class StartsSoFar:
    """The starts of a check that is not over. ``about``: what has to be the same to go on."""

    def __init__(self, folder: Path, facts: HostFacts, about: str) -> None:
        key = hashlib.sha256(about.encode()).hexdigest()[:12]
        self._path = folder / f"{CHECK_PREFIX}{key_on(facts)}-{key}.jsonl"

    def read(self) -> list[CheckedStart]:
        """A last line that was cut off is none."""
        try:
            lines = self._path.read_text(encoding="utf-8").splitlines()
        except OSError:
            return []
        starts = []
        for line in lines:
            try:
                starts.append(TypeAdapter(CheckedStart).validate_json(line))
            except ValidationError:
                continue
        return starts

    def add(self, start: CheckedStart) -> None:
        with self._path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(asdict(start)) + "\n")

    def forget(self) -> None:
        self._path.unlink(missing_ok=True)


def keep_check(folder: Path, facts: HostFacts, check: PairsCheck) -> None:
    """In the place of an older one."""
    keep(_path(folder, facts), check)


def known_check(folder: Path, facts: HostFacts) -> PairsCheck | None:
    """The last whole check of this machine; one that cannot be read is as good as none."""
    return kept(_path(folder, facts), PairsCheck)


def _path(folder: Path, facts: HostFacts) -> Path:
    return folder / f"{CHECK_PREFIX}{key_on(facts)}.json"
