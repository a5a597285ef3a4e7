"""Clusters on this machine in a campaign."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from teiten.errors import BuildError, MachineError
from teiten.execute.bench import Bench, ThisMachine
from teiten.execute.client.here import Here
from teiten.execute.executor import Facts
from teiten.execute.postgres import elsewhere
from teiten.execute.postgres.building.relinking import LinkedServer, link_again, link_seed
from teiten.execute.postgres.templates.clone import CloneReport
from teiten.execute.postgres.templates.copy_methods import CopyMethod
from teiten.execute.postgres.templates.store import TemplateStore
from teiten.execute.probes.os import OsReader
from teiten.execute.probes.sampler import open_reader
from teiten.execute.sites.cluster_site import cluster_site
from teiten.execute.sites.hosted import CampaignClusters
from teiten.execute.sites.local.checks import check_emulation, check_limit
from teiten.execute.sites.local.cluster import CopyOnDisk, LocalCluster
from teiten.execute.sites.local.limit import Limit
from teiten.execute.sites.local.limit_files import Allowed
from teiten.execute.sites.local.node_emulation import TrialLimits
from teiten.execute.sites.local.storages import MEASURED, Storages
from teiten.execute.sites.nodes import cluster_name
from teiten.host.ceilings.disk_speed import measure_intervals
from teiten.host.facts.disks import disk_of
from teiten.host.facts.kernel import boot_id
from teiten.host.system.causes import translate_os_errors
from teiten.model.installation import Installation
from teiten.model.memory import LIMIT_CHECKED
from teiten.model.plan import Node, PlannedTrial, TemplateSpec
from teiten.model.quantities import format_size
from teiten.model.storage import FSYNCS, Part
from teiten.model.units import Bytes

NODES_CHECKED = "nodes-emulated"
"""The event that holds what a check of emulated nodes came to."""
TOLD_EVERY = 10.0
"""Seconds between two words on a template that takes long."""


@dataclass(frozen=True)
class ThisHost:
    """This machine, as the one host of a trial's nodes."""

    machine: ThisMachine
    storages: Storages
    number: int = 0
    is_here: bool = True
    lost: bool = False

    @property
    def boot(self) -> str | None:
        return boot_id()

    @property
    def devices(self) -> tuple[str, ...]:
        of_storages = self.storages.devices.values()
        named = (device for devices in of_storages for device in devices)
        return tuple(dict.fromkeys((*self.machine.devices, *named)))

    def check(self) -> None:
        """It is there."""

    def reader(self, postmasters: tuple[int, ...], devices: tuple[str, ...]) -> OsReader:
        return open_reader(postmasters, devices)


class LocalClusters(CampaignClusters):
    """Clusters on this machine."""

    client: Here
    moves_processes = True
    site = cluster_site

    def __init__(
        self,
        bench: Bench,
        machine: ThisMachine,
        client: Here,
        say: Callable[[str], None],
        tell: Callable[[str], None],
    ) -> None:
        """``say``: details; ``tell``: what everybody should know."""
        super().__init__(bench)
        self.machine, self.client = machine, client
        self._say, self._tell = say, tell
        self._templates = TemplateStore(machine.workdir, machine.user)
        self.storages = Storages(machine.workdir, machine.user)
        """Those of the factor placement; open once a template was prepared."""
        self._machine_ready = False
        self._host = ThisHost(machine, self.storages)

    def prepare(self, template: TemplateSpec) -> Facts:
        if not self._machine_ready:
            self._machine_ready = True
            self._open_storages()
            self._measure_fsyncs()
            self._check_limits()
        if self._templates.ready(template):
            return {"built": False}
        self._templates.build(template, self.bench.plan.pgbench, self._telling(template))
        return {"built": True}

    def _open_storages(self) -> None:
        """Make and measure what placements name, and record it."""
        placements = [trial.placement for trial in self.bench.plan.trials if trial.placement]
        used = {name for placement in placements for name in placement.used}
        if used:
            named = [storage for storage in self.bench.plan.study.storage if storage.name in used]
            measured = self.storages.open(named, self._opening)
            self.bench.record.record_event(MEASURED, storages=measured)

    def _measure_fsyncs(self) -> None:
        """Where commits are shared by nodes: how fast what they make durable is written."""
        changed = {
            workload.name for workload in self.bench.plan.study.workloads if workload.changes_data
        }
        spread = any(
            trial.distribution is not None and trial.cell.workload in changed
            for trial in self.bench.plan.trials
        )
        if not spread:
            return
        folder = self.machine.workdir.clusters
        self._opening(f"measuring the storage of {folder} by the interval of fsync")
        try:
            intervals = measure_intervals(folder)
        except MachineError as error:
            self.bench.record.record_event(FSYNCS, folder=str(folder), reason=error.message)
            return
        rates = {str(interval): rate for interval, rate in intervals.items()}
        disk = disk_of(folder).device
        self.bench.record.record_event(FSYNCS, folder=str(folder), device=disk, rates=rates)

    def _opening(self, text: str) -> None:
        self.bench.check_interruption()
        self.bench.observer.preparing(text)

    def _check_limits(self) -> None:
        """See that every limit of memory holds where its clusters will be, and that nodes are what
        they are to be; record it."""
        workdir, trials = self.machine.workdir, self.bench.plan.trials
        wanted = dict.fromkeys(
            (limit, self._data_folder(trial)) for trial in trials for limit in trial.memory_limits
        )
        for limit, folder in wanted:
            self._opening(f"the limit of {format_size(limit)}: reading a larger file inside of it")
            checked = check_limit(workdir, limit, folder)
            self.bench.record.record_event(LIMIT_CHECKED, **checked)
        most = max(trials, key=lambda trial: len(trial.machines))
        if most.machines:
            self._opening(f"{len(most.machines)} emulated nodes: seeing that they hold")
            checked = check_emulation(workdir, most.machines, self._data_folder(most))
            self.bench.record.record_event(NODES_CHECKED, **checked)

    def host(self, trial: PlannedTrial, node: Node) -> ThisHost:
        del trial, node
        return self._host

    def finish(self) -> None:
        super().finish()
        for image in self.storages.close():
            self._tell(f"the emulated storage {image} is still in use: the next start removes it")

    def sampler_options(self) -> dict[str, Any]:
        return {"storages": self.storages.devices, "apart": self.storages.emulated_devices}

    def limits(self, trial: PlannedTrial, memory: Bytes | None) -> tuple[TrialLimits, Facts]:
        """By a control group that servers and load programs are started in; nodes that are
        emulated become machines of their own."""
        workdir, placement = self.machine.workdir, trial.placement
        transfers = () if placement is None else self.storages.limits(placement)
        limit, made = None, dict[str, Any]()
        if memory is not None or transfers:
            limit = Limit.make(workdir, Allowed(memory=memory, transfers=transfers))
            made["limit"] = limit.facts
        if not trial.machines:
            return TrialLimits(limit), made
        folder = self._data_folder(trial)
        limits = TrialLimits.emulating(workdir, trial.machines, folder, limit)
        limits.lift_from_io()
        return limits, {**made, "emulated": len(trial.machines)}

    def clone(
        self, trial: PlannedTrial, node: Node, *, kept: bool
    ) -> tuple[LocalCluster, CloneReport]:
        workdir, template = self.machine.workdir, dict(trial.nodes)[node]
        name = f"{self.bench.campaign.name}-{cluster_name(trial, node, kept=kept)}"
        outside = trial.directory is not None or trial.placement is not None
        place = self._data_folder(trial)
        folder = _below(place, name) if outside else place / name
        storages = () if trial.placement is None else trial.placement.storages
        parts = {part: _below(self.storages.folder(storage), name) for part, storage in storages}
        places = {part.value: place for part, place in parts.items() if place != folder}
        copy = CopyOnDisk(
            workdir=workdir,
            folders=tuple(dict.fromkeys((folder, *places.values()))),
            expected={
                part: place / ("data" if part is Part.DATA else part.value)
                for part, place in parts.items()
            },
            linked=None,
            in_named_folder=trial.directory is not None,
        )
        if outside:
            for part in copy.folders:
                elsewhere.require_room(part.parent, self.machine.user)
                elsewhere.note(workdir, part)
        try:
            with translate_os_errors(f"{folder} cannot be made"):
                report = self._templates.clone(template, folder, places, self._method)
            linked = self._linked_anew(trial, template.installation, folder)
        except BaseException:
            copy.remove()
            raise
        cluster = LocalCluster.adopt(
            template.installation if linked is None else linked.installation,
            folder / "data",
            user=self.machine.user,
        )
        cluster.copy = replace(copy, linked=linked)
        return cluster, report

    @property
    def _method(self) -> CopyMethod | None:
        """A round's bytes are written anew: the extents of a file that share the template's would
        be where they always were. None for the fastest."""
        return CopyMethod.PARALLEL_COPY if self.bench.plan.study.measure.rounds else None

    def _linked_anew(
        self, trial: PlannedTrial, installation: Installation, folder: Path
    ) -> LinkedServer | None:
        """In rounds a trial's own server, linked in another order, where its objects were kept.
        Raises MachineError where the compiler or a library of then is gone."""
        if not self.bench.plan.study.measure.rounds or installation.relink_seconds is None:
            return None
        seed = link_seed(self.bench.plan.seed, trial.number)
        place = self.machine.workdir.builds / f"linked-{folder.name}"
        try:
            return link_again(
                installation, seed, place, self.machine.user, self.bench.check_interruption
            )
        except BuildError as error:
            raise MachineError(
                f"{installation.name} cannot be linked in another order: {error.message}",
                f"repair the compiler, or build it anew: teiten pg remove {installation.name}, and"
                " teiten pg build",
            ) from error

    def _data_folder(self, trial: PlannedTrial) -> Path:
        """Where a trial's clusters have their data directories."""
        if trial.placement is not None:
            return self.storages.folder(trial.placement.of(Part.DATA))
        return Path(trial.directory or self.machine.workdir.clusters)

    def _telling(self, template: TemplateSpec) -> Callable[[str], None]:
        """Every step as a detail; of a long build now and then how far it is, for everybody."""
        last = time.monotonic()

        def say(text: str) -> None:
            nonlocal last
            self._say(text)
            if time.monotonic() - last >= TOLD_EVERY:
                last = time.monotonic()
                self.bench.observer.preparing(f"{template.data}: {text}")

        return say


def _below(place: Path, name: str) -> Path:
    """A cluster's folder outside of the working folder. With a hash of the place clusters in two
    folders have two names, and so two notes."""
    return place / f"teiten-{name}-{hashlib.sha256(str(place).encode()).hexdigest()[:6]}"
