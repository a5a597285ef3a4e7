"""The folder that clusters are in, such as one on another disk; pure."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import replace
from typing import Any, ClassVar

from teiten.errors import MachineError, UsageError
from teiten.factors.contract import FactorRule, Need
from teiten.model.facts import DirectoryFacts, HostFacts
from teiten.model.plan import Plan
from teiten.model.quantities import format_size
from teiten.model.setup import PlannedCell, Setup
from teiten.model.study import Study
from teiten.study.values import folder


class Directory(FactorRule):
    name = "directory"
    rank = 60
    other_names: ClassVar[tuple[str, ...]] = ("filesystem",)
    needs: ClassVar[frozenset[Need]] = frozenset({Need.START, Need.HERE})

    def level(self, value: Any) -> str:
        return folder(value)

    def set(self, setup: Setup, factor: str, level: str, cell: PlannedCell) -> Setup:
        return replace(setup, directory=level)

    def check_plan(self, plan: Plan, facts: HostFacts) -> None:
        """UsageError for a folder that is not there, MachineError where it cannot be used."""
        known = {directory.path: directory for directory in facts.directories}
        called = _names(plan.study)
        for path, _ in plan.needs.directories:
            _check(known[path], called.get(path, f"{self.name}={path}"))
        short = list(_shortfalls(plan, known, facts))
        if short:
            raise MachineError(
                "; ".join(short), "a smaller scale (--set scale=…), or a folder on another disk"
            )


def _names(study: Study) -> dict[str, str]:
    """Names for the folders of storage classes in messages."""
    named = ((storage_class.name, storage_class.path) for storage_class in study.storage)
    return {path: f"storage {name}={path}" for name, path in named if path}


def _check(directory: DirectoryFacts, called: str) -> None:
    if not directory.is_folder and directory.is_taken:
        raise UsageError(
            f"{called}: is no folder", "name a folder: clusters get folders of their own in it"
        )
    if not directory.is_folder:
        raise UsageError(
            f"{called}: there is no such folder",
            f"make it first: mkdir -p {directory.path}",
        )
    disk = directory.disk
    if not directory.writable:
        raise MachineError(
            f"{called}: no folder can be created in it (its file system is {disk.file_system},"
            f" mounted {disk.options.split(',')[0] or 'rw'})",
            "name a folder that you may write to, or give yourself the right to",
        )
    if directory.exchangeable_at is not None:
        raise MachineError(
            f"{called}: root starts no server where another user could exchange its files: what is"
            f" in {directory.exchangeable_at} is neither root's nor the servers' user's alone",
            "name a folder of root's or of the servers' user's, within such folders; or run Teiten"
            " as the user to whom it belongs",
        )
    if directory.closed_at is not None:
        raise MachineError(
            f"{called}: the servers' user cannot enter {directory.closed_at}",
            f"chmod o+x {directory.closed_at}, or name another folder",
        )


def _shortfalls(plan: Plan, known: dict[str, DirectoryFacts], facts: HostFacts) -> Iterator[str]:
    """Folders of one file system share what is free on it, with the working folder too."""
    called = _names(plan.study)
    needs: dict[str, int] = defaultdict(int)
    paths: dict[str, list[str]] = defaultdict(list)
    for path, size in plan.needs.directories:
        needs[known[path].disk.mount_point] += size
        paths[known[path].disk.mount_point].append(path)
    for mount_point, paths_there in paths.items():
        own = plan.needs.disk if mount_point == facts.disk.mount_point else 0
        needed, free = needs[mount_point] + own, known[paths_there[0]].disk.free
        if needed > free:
            own_names = [called[path] for path in paths_there if path in called]
            others = ", ".join(path for path in paths_there if path not in called)
            named = ", ".join([*own_names, *([f"directory={others}"] if others else [])])
            yield (
                f"{named}: the clusters need {format_size(needed)} on {mount_point},"
                f" {format_size(free)} are free"
            )


FACTOR = Directory()
