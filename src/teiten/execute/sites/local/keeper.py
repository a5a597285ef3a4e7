"""Clusters on this machine in a campaign: those of one trial at a time, or of a pair.

A cluster whose trials do not change data is kept between trials, one for each template and node;
a cluster whose data was changed is given back after its trial.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import time
from collections.abc import Callable
from functools import cached_property
from pathlib import Path

from teiten.errors import BuildError, MachineError, TeitenError
from teiten.execute.bench import Bench
from teiten.execute.client.here import Here
from teiten.execute.executor import Facts
from teiten.execute.machine import ThisMachine
from teiten.execute.postgres import elsewhere
from teiten.execute.postgres.building.link_order import link_seed
from teiten.execute.postgres.building.relinking import LinkedServer, link_again
from teiten.execute.postgres.cluster import Cluster
from teiten.execute.postgres.marker import read_marker, remove_marked
from teiten.execute.postgres.templates.clone import CloneReport
from teiten.execute.postgres.templates.copy_methods import CopyMethod
from teiten.execute.postgres.templates.store import TemplateStore
from teiten.execute.sites.local.limit_check import check_limit
from teiten.execute.sites.local.node import Place
from teiten.execute.sites.local.node_check import check_emulation
from teiten.execute.sites.local.site import LocalSite, Places, RunningServers
from teiten.execute.sites.local.storages import MEASURED, Storages
from teiten.execute.sites.nodes import cluster_name
from teiten.host.ceilings.fsync_interval import measure_intervals
from teiten.host.facts.disks import disk_of
from teiten.host.system.causes import told
from teiten.model.installation import Installation
from teiten.model.plan import Node, PlannedTrial, TemplateSpec
from teiten.model.quantities import format_size
from teiten.model.starts import last_of_their_start
from teiten.model.storage import Part

LIMIT_CHECKED = "memory-limit"
"""The event that holds what a check of a limit came to."""
NODES_CHECKED = "nodes-emulated"
"""The same of emulated nodes."""
FSYNCS = "fsync-intervals"
"""How fast storage is written by the interval of fsync."""
TOLD_EVERY = 10.0
"""Seconds between two words on a template that takes long."""


class LocalKeeper:
    """Makes clusters from templates, and keeps them and their servers for the trials to come."""

    def __init__(
        self,
        bench: Bench,
        machine: ThisMachine,
        client: Here,
        say: Callable[[str], None],
        tell: Callable[[str], None],
    ) -> None:
        """``say``: details; ``tell``: what everybody should know."""
        self.bench, self.machine, self.client = bench, machine, client
        self._say, self._tell = say, tell
        self._templates = TemplateStore(machine.workdir, machine.user)
        self.kept: dict[Place, Cluster] = {}
        """Stopped clusters whose data no trial has changed."""
        self.running: dict[Places, RunningServers] = {}
        """Servers that a pair has left running for the next one."""
        self._limits_checked = self._fsyncs_measured = False
        self.storages = Storages(machine.workdir, machine.user)
        """Of the factor placement; open once a template was prepared."""
        self._storages_open = False
        self._linked: dict[Path, LinkedServer] = {}
        """By a cluster's folder: its round's own server."""
        self._parts: dict[Path, tuple[Path, ...]] = {}
        """By a cluster's folder: those of its parts that lie on another storage."""

    def prepare(self, template: TemplateSpec) -> Facts:
        self._open_storages()
        self._measure_fsyncs()
        self._check_limits()
        if self._templates.ready(template):
            return {"built": False}
        self._templates.build(template, self.bench.plan.pgbench, self._telling(template))
        return {"built": True}

    def _open_storages(self) -> None:
        """Once: make and measure what placements name, and record it."""
        used = {
            name
            for one in self.bench.plan.trials
            if one.placement is not None
            for name in one.placement.used
        }
        if self._storages_open or not used:
            return
        self._storages_open = True
        named = [one for one in self.bench.plan.study.storage if one.name in used]
        found = self.storages.open(named, self._opening)
        self.bench.record.record_event(MEASURED, storages=found)

    def _measure_fsyncs(self) -> None:
        """Once, where commits are shared by nodes: how fast what they make durable is written."""
        changed = {one.name for one in self.bench.plan.study.workloads if one.changes_data}
        spread = any(
            one.distribution is not None and one.cell.workload in changed
            for one in self.bench.plan.trials
        )
        if self._fsyncs_measured or not spread:
            return
        self._fsyncs_measured = True
        folder = self.machine.workdir.clusters
        self._opening(f"measuring the storage of {folder} by the interval of fsync")
        try:
            found = measure_intervals(folder)
        except MachineError as error:
            self.bench.record.record_event(FSYNCS, folder=str(folder), reason=error.message)
            return
        rates = {str(interval): one for interval, one in found.items()}
        disk = disk_of(folder).device
        self.bench.record.record_event(FSYNCS, folder=str(folder), device=disk, rates=rates)

    def _opening(self, text: str) -> None:
        self.bench.check_interruption()
        self.bench.observer.preparing(text)

    def _check_limits(self) -> None:
        """Once: see that every limit of memory holds where its clusters will be, and that nodes are
        what they are to be; record it."""
        if self._limits_checked:
            return
        self._limits_checked = True
        clusters = self.machine.workdir.clusters
        places = {one.number: self._data_folder(one) or clusters for one in self.bench.plan.trials}
        wanted = {
            (limit, places[one.number]): None
            for one in self.bench.plan.trials
            for limit in one.memory_limits
        }
        for limit, folder in wanted:
            self.bench.check_interruption()
            self.bench.observer.preparing(
                f"the limit of {format_size(limit)}: reading a larger file inside of it"
            )
            found = check_limit(self.machine.workdir, limit, folder)
            self.bench.record.record_event(LIMIT_CHECKED, **found)
        emulated = [one for one in self.bench.plan.trials if one.machines]
        if emulated:
            most = max(emulated, key=lambda one: len(one.machines))
            self.bench.observer.preparing(
                f"{len(most.machines)} emulated nodes: seeing that they hold"
            )
            found = check_emulation(self.machine.workdir, most.machines, places[most.number])
            self.bench.record.record_event(NODES_CHECKED, **found)

    def site(self, trial: PlannedTrial, attempt: int) -> LocalSite:
        """Stop the servers that were left running for another pair than that of this trial."""
        for places, servers in list(self.running.items()):
            if attempt != 1 or servers.start[0] != trial.restart:
                del self.running[places]
                servers.end()
        folder = self.bench.evidence_folder(trial, attempt)
        return LocalSite(self, trial, folder, goes_on=self._goes_on(trial, attempt))

    def finish(self) -> None:
        for servers in self.running.values():
            with contextlib.suppress(TeitenError, OSError):
                servers.end(immediately=True)
        self.running.clear()
        for cluster in self.kept.values():
            self.remove(cluster)
        self.kept.clear()
        for image in self.storages.close():
            self._tell(f"the emulated storage {image} is still in use: the next start removes it")

    def clone(self, trial: PlannedTrial, node: Node, *, kept: bool) -> tuple[Cluster, CloneReport]:
        """A cluster from the template of one of the trial's nodes.

        Raises MachineError where the folder that the study names cannot hold it.
        """
        template = dict(trial.nodes)[node]
        folder = self._cluster_folder(trial, node, kept=kept)
        parts = self._part_folders(trial, node, kept=kept)
        places = {part.value: one for part, one in parts.items() if one != folder}
        self._parts[folder] = tuple(dict.fromkeys(places.values()))
        if trial.directory is not None or trial.placement is not None:
            for one in (folder, *self._parts[folder]):
                elsewhere.require_room(one.parent)
                elsewhere.note(self.machine.workdir, one)
        try:
            with told(f"{folder} cannot be made"):
                report = self._templates.clone(template, folder, places, self._method)
            installation = self._of_round(trial, template.installation, folder)
        except BaseException:
            self._give_up(folder)
            raise
        cluster = Cluster.adopt(
            installation,
            folder / "data",
            user=self.machine.user,
            log=folder / "server.log",
        )
        return cluster, report

    @property
    def _method(self) -> CopyMethod | None:
        """A round's bytes are written anew: the extents of a file that share the template's would
        be where they always were. None for the fastest."""
        return CopyMethod.PARALLEL_COPY if self.bench.plan.study.measure.rounds else None

    def _of_round(
        self, trial: PlannedTrial, installation: Installation, folder: Path
    ) -> Installation:
        """The server of a trial: in rounds one that is linked in another order, where its objects
        were kept. Raises MachineError where the compiler or a library of then is gone."""
        if not self.bench.plan.study.measure.rounds or installation.relink_seconds is None:
            return installation
        seed = link_seed(self.bench.plan.seed, trial.number)
        place = self.machine.workdir.builds / f"linked-{folder.name}"
        try:
            made = link_again(
                installation, seed, place, self.machine.user, self.bench.check_interruption
            )
        except BuildError as error:
            raise MachineError(
                f"{installation.name} cannot be linked in another order: {error.message}",
                f"repair the compiler, or build it anew: teiten pg remove {installation.name}, and"
                " teiten pg build",
            ) from error
        self._linked[folder] = made
        return made.installation

    def link_facts(self, cluster: Cluster) -> Facts | None:
        """Which order a round's server has; None of a server as it is installed."""
        found = self._linked.get(cluster.data_directory.parent)
        return None if found is None else found.facts

    def _forget_linked(self, folder: Path) -> None:
        found = self._linked.pop(folder, None)
        if found is not None:
            with contextlib.suppress(TeitenError, OSError):
                remove_marked(found.folder)

    def remove(self, cluster: Cluster) -> None:
        """Delete a cluster; what cannot be deleted now, the next start sweeps."""
        with contextlib.suppress(TeitenError, OSError):
            cluster.remove()
        folder = cluster.data_directory.parent
        self._forget_linked(folder)
        elsewhere.forget(self.machine.workdir, folder)
        for one in self._parts.pop(folder, ()):
            self._remove_ours(one)

    def folders_of(self, cluster: Cluster) -> tuple[Path, ...]:
        """All folders that hold a cluster's files, its own first."""
        folder = cluster.data_directory.parent
        return (folder, *self._parts.get(folder, ()))

    def _give_up(self, folder: Path) -> None:
        self._forget_linked(folder)
        for one in (folder, *self._parts.pop(folder, ())):
            self._remove_ours(one)

    def _remove_ours(self, folder: Path) -> None:
        marker = read_marker(folder)
        if marker is not None and marker.pid == os.getpid():
            with contextlib.suppress(TeitenError, OSError):
                remove_marked(folder)
        elsewhere.forget(self.machine.workdir, folder)

    def _goes_on(self, trial: PlannedTrial, attempt: int) -> bool:
        """Whether a later trial shares the start of this one's server; never of a repeat, which
        runs out of order."""
        return attempt == 1 and trial.number not in self._last_of_their_start

    @cached_property
    def _last_of_their_start(self) -> frozenset[int]:
        return last_of_their_start(self.bench.plan)

    def _cluster_folder(self, trial: PlannedTrial, node: Node, *, kept: bool) -> Path:
        name = f"{self.bench.campaign.name}-{cluster_name(trial, node, kept=kept)}"
        place = self._data_folder(trial)
        return self.machine.workdir.clusters / name if place is None else _below(place, name)

    def _data_folder(self, trial: PlannedTrial) -> Path | None:
        """Where a trial's data directory is; None for the working folder."""
        if trial.placement is not None:
            return self.storages.folder(trial.placement.of(Part.DATA))
        return None if trial.directory is None else Path(trial.directory)

    def _part_folders(self, trial: PlannedTrial, node: Node, *, kept: bool) -> dict[Part, Path]:
        """The folder of each part of a cluster; none without a placement."""
        if trial.placement is None:
            return {}
        name = f"{self.bench.campaign.name}-{cluster_name(trial, node, kept=kept)}"
        return {
            part: _below(self.storages.folder(storage), name)
            for part, storage in trial.placement.storages
        }

    def expected_parts(self, trial: PlannedTrial, node: Node) -> dict[Part, Path]:
        """Where the parts of a cluster of a placement must be found."""
        found = self._part_folders(trial, node, kept=False)
        inner = {part: "data" if part is Part.DATA else part.value for part in found}
        return {part: folder / inner[part] for part, folder in found.items()}

    def _telling(self, template: TemplateSpec) -> Callable[[str], None]:
        """Every step as a detail; of a long build now and then how far it is, for everybody."""
        told = time.monotonic()

        def say(text: str) -> None:
            nonlocal told
            self._say(text)
            if time.monotonic() - told >= TOLD_EVERY:
                told = time.monotonic()
                self.bench.observer.preparing(f"{template.data}: {text}")

        return say


def _below(place: Path, name: str) -> Path:
    return place / f"teiten-{name}-{_short_hash(str(place))}"


def _short_hash(text: str) -> str:
    """So that clusters in two folders have two names, and so two notes."""
    return hashlib.sha256(text.encode()).hexdigest()[:6]
