"""On which storage WAL, tables, indexes and temporary files of a cluster lie; pure."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, ClassVar

from teiten.errors import MachineError, UsageError
from teiten.factors.contract import FactorRule, Need, WrittenStudy
from teiten.model.facts import HostFacts
from teiten.model.plan import Plan
from teiten.model.quantities import format_size
from teiten.model.setup import PlannedCell, Setup
from teiten.model.storage import TABLESPACES, Part, resolved, storages_named, words_of
from teiten.model.study import Factor, Study

NAME_THEM = "name each storage of the placements: --storage fast=DIR --storage slow=DIR"


class PlacementFactor(FactorRule):
    name = "placement"
    rank = 80
    of_server = False
    needs: ClassVar[frozenset[Need]] = frozenset({Need.INITDB, Need.START, Need.HERE})

    def level(self, value: Any) -> str:
        """``wal-fast``, ``all-slow+wal-fast+indexes-fast``; whether there are such storage classes
        is asked when the study is planned."""
        if not isinstance(value, str):
            raise ValueError(f"{value!r} is no placement; write for example wal-fast")
        return "+".join(f"{part}-{storage}" for part, storage in words_of(value))

    def check_study(self, written: WrittenStudy, factor: Factor) -> None:
        """Nothing else says where clusters lie, and their servers do not run side by side."""
        if "directory" in written.factors:
            raise written.contradiction(
                ("factors", "directory"), "says where clusters lie, and so does placement"
            )
        if written.measure.slices > 1 or written.measure.restart_every > 1:
            raise written.error(
                ("measure",),
                "placements are not measured side by side: their servers would share the disks",
                "leave out slices and restart_every",
            )

    def sized(self, study: Study, facts: HostFacts) -> Study:
        """Unchanged. Raises UsageError where a level names a storage that the study does not."""
        levels = study.levels(self.name)
        known = [storage_class.name for storage_class in study.storage]
        missing = [name for name in storages_named(levels) if name not in known]
        if missing:
            has = f"there is only {', '.join(known)}" if known else "no storage is named"
            raise UsageError(
                f"placement: {', '.join(levels)} need the storage {', '.join(missing)}, and {has}",
                f"{NAME_THEM}, or other placements: --set placement=…",
            )
        for level in levels:
            try:
                resolved(level, known)
            except ValueError as error:
                raise UsageError(f"placement: {error}", NAME_THEM) from error
        return study

    def set(self, setup: Setup, factor: str, level: str, cell: PlannedCell) -> Setup:
        known = [storage_class.name for storage_class in cell.study.storage]
        placement = resolved(level, known)
        setup = replace(setup, placement=placement, data=replace(setup.data, spread=True))
        return setup.with_settings(
            {
                "default_tablespace": TABLESPACES[Part.TABLES],
                "temp_tablespaces": TABLESPACES[Part.TEMPORARY],
            }
        )

    def check_plan(self, plan: Plan, facts: HostFacts) -> None:
        """Emulated devices hold what is to lie on them."""
        placements = (trial.placement for trial in plan.trials if trial.placement is not None)
        used = {name for placement in placements for name in placement.used}
        needs = dict(plan.needs.storages)
        for storage_class in plan.study.storage:
            name, emulation = storage_class.name, storage_class.emulation
            needed = needs.get(name, 0) if name in used else 0
            if emulation is not None and needed > emulation.size:
                raise MachineError(
                    f"storage {name}: the clusters need {format_size(needed)}, and its emulated"
                    f" device has {format_size(emulation.size)}",
                    f"--storage {name}=emulate:size=…, or a smaller scale (--set scale=…)",
                )


FACTOR = PlacementFactor()
