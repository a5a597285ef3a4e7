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

from teiten.errors import TeitenError
from teiten.execute.bench import Bench
from teiten.execute.client.here import Here
from teiten.execute.executor import Facts
from teiten.execute.machine import ThisMachine
from teiten.execute.postgres import elsewhere
from teiten.execute.postgres.cluster import Cluster
from teiten.execute.postgres.marker import read_marker, remove_marked
from teiten.execute.postgres.templates.clone import CloneReport
from teiten.execute.postgres.templates.store import TemplateStore
from teiten.execute.sites.local.limit_check import check_limit
from teiten.execute.sites.local.node import Place
from teiten.execute.sites.local.node_check import check_emulation
from teiten.execute.sites.local.site import LocalSite, Places, RunningServers
from teiten.execute.sites.nodes import cluster_name
from teiten.host.system.causes import told
from teiten.model.plan import Node, PlannedTrial, TemplateSpec
from teiten.model.quantities import format_size
from teiten.model.starts import last_of_their_start

LIMIT_CHECKED = "memory-limit"
"""The event that holds what a check of a limit came to."""
NODES_CHECKED = "nodes-emulated"
"""The same of emulated nodes."""
TOLD_EVERY = 10.0
"""Seconds between two words on a template that takes long."""


class LocalKeeper:
    """Makes clusters from templates, and keeps them and their servers for the trials to come."""

    def __init__(
        self, bench: Bench, machine: ThisMachine, client: Here, say: Callable[[str], None]
    ) -> None:
        self.bench, self.machine, self.client = bench, machine, client
        self._say = say
        self._templates = TemplateStore(machine.workdir, machine.user)
        self.kept: dict[Place, Cluster] = {}
        """Stopped clusters whose data no trial has changed."""
        self.running: dict[Places, RunningServers] = {}
        """Servers that a pair has left running for the next one."""
        self._limits_checked = False

    def prepare(self, template: TemplateSpec) -> Facts:
        self._check_limits()
        if self._templates.ready(template):
            return {"built": False}
        self._templates.build(template, self.bench.plan.pgbench, self._telling(template))
        return {"built": True}

    def _check_limits(self) -> None:
        """Once: see that every limit of memory holds where its clusters will be, and that nodes are
        what they are to be; record it."""
        if self._limits_checked:
            return
        self._limits_checked = True
        clusters = self.machine.workdir.clusters
        places = {
            one.number: clusters if one.directory is None else Path(one.directory)
            for one in self.bench.plan.trials
        }
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

    def clone(self, trial: PlannedTrial, node: Node, *, kept: bool) -> tuple[Cluster, CloneReport]:
        """A cluster from the template of one of the trial's nodes.

        Raises MachineError where the folder that the study names cannot hold it.
        """
        template = dict(trial.nodes)[node]
        folder = self._cluster_folder(trial, node, kept=kept)
        if trial.directory is not None:
            elsewhere.require_room(folder.parent)
            elsewhere.note(self.machine.workdir, folder)
        try:
            with told(f"{folder} cannot be made"):
                report = self._templates.clone(template, folder)
        except BaseException:
            self._give_up(folder)
            raise
        cluster = Cluster.adopt(
            template.installation,
            folder / "data",
            user=self.machine.user,
            log=folder / "server.log",
        )
        return cluster, report

    def remove(self, cluster: Cluster) -> None:
        """Delete a cluster; what cannot be deleted now, the next start sweeps."""
        with contextlib.suppress(TeitenError, OSError):
            cluster.remove()
        elsewhere.forget(self.machine.workdir, cluster.data_directory.parent)

    def _give_up(self, folder: Path) -> None:
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
        if trial.directory is None:
            return self.machine.workdir.clusters / name
        return Path(trial.directory) / f"teiten-{name}-{_short_hash(trial.directory)}"

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


def _short_hash(text: str) -> str:
    """So that clusters in two folders have two names, and so two notes."""
    return hashlib.sha256(text.encode()).hexdigest()[:6]
