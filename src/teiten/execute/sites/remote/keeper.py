"""The hosts of a campaign while it runs: connections, programs, templates, and kept clusters."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import psycopg

from teiten.errors import TeitenError
from teiten.execute.bench import Bench
from teiten.execute.executor import Facts
from teiten.execute.postgres.templates.build import Tables, fill
from teiten.execute.sites.remote.agent.forms import BUILT, template_form
from teiten.execute.sites.remote.client import RemoteClient
from teiten.execute.sites.remote.cluster import NetworkWay, RemoteCluster
from teiten.execute.sites.remote.hosts import Host, HostPair
from teiten.execute.sites.remote.packages import Programs
from teiten.execute.sites.remote.site import RemoteSite
from teiten.model.facts import Caution, Severity
from teiten.model.plan import Node, PlannedTrial, TemplateSpec

REACHED = "hosts-reached"
"""The kind of the event that records the hosts and their clocks at each start."""
LARGEST_OFFSET = 0.1
"""Seconds by which clocks may differ without a caution: logs are laid side by side by them."""
DISK_HINT = "see whether the db host has the disk for it"


@dataclass(frozen=True)
class NodePlace:
    """A db host, as nodes on it need it."""

    number: int
    """From 0, in the order of nodes."""
    host: Host
    programs: Programs
    devices: tuple[str, ...]
    """The disks below its working folder."""
    way: NetworkWay | None
    """By which the load, or the coordinator on the first host, reaches its servers; None where
    that goes by their sockets."""


class RemoteKeeper:
    """Everything of a campaign that is on other hosts. ``finish`` takes it all back."""

    def __init__(self, bench: Bench, here: Path, say: Callable[[str], None]) -> None:
        """``here``: the working folder of this machine.

        Reach the hosts, keep others out of them, and sweep. Raises MachineError."""
        plan = bench.plan
        if plan.study.hosts is None or plan.hosts is None:
            raise ValueError("the study names no hosts")
        self.bench, self._plan, self._say = bench, plan, say
        self.kept: dict[tuple[int, str], RemoteCluster] = {}
        """By db host and key: stopped clusters whose data no trial has changed."""
        self.pair = HostPair(plan.study.hosts, here)
        try:
            for host in self.pair.each:
                for line in host.prepare():
                    say(line)
            placement = self.pair.placement()
            self.client_devices = self.pair.devices(self.pair.client)
            self.port = plan.study.hosts.db_port
            ways = (NetworkWay.of_load(placement), *map(NetworkWay.of_node, placement.more))
            self.places = tuple(
                NodePlace(number, host, Programs(host, say), self.pair.devices(host), way)
                for number, (host, way) in enumerate(zip(self.pair.servers, ways, strict=True))
            )
            db = self.places[0].programs
            client = db if placement.together else Programs(self.pair.client, say)
            cores = float(plan.hosts.client.facts.cpu.logical)
            self.client = RemoteClient(self.pair.client, client, cores)
            self._note_clocks()
        except BaseException:
            self.pair.close()
            raise

    def site(self, trial: PlannedTrial, attempt: int) -> RemoteSite:
        return RemoteSite(self, trial, self.bench.evidence_folder(trial, attempt))

    def place(self, trial: PlannedTrial, node: Node) -> NodePlace:
        """The db host of a node: the only one, or that of its number."""
        return self.places[trial.host_of(node)] if len(self.places) > 1 else self.places[0]

    def prepare(self, template: TemplateSpec) -> Facts:
        """Build a template on the db hosts that have nodes of it, unless it is there."""
        wanted = {
            self.place(trial, node).number
            for trial in self._plan.trials
            for node, one in trial.nodes
            if one.fingerprint == template.fingerprint
        }
        built = [self._prepared(self.places[number], template) for number in sorted(wanted or {0})]
        return {"built": any(built)}

    def _prepared(self, place: NodePlace, template: TemplateSpec) -> bool:
        """Whether the template had to be built."""
        spec = template_form(template, place.programs.server(template.installation))
        db = place.host
        if db.call("clusters.ready", template=spec):
            return False
        self._say(f"building the template on {db.shown}")
        state = db.call(
            "clusters.begin_build", template=spec, pgbench=str(self._plan.pgbench.version)
        )
        if state is not None:
            self._build(place, template, state)
        return True

    def clone(
        self, place: NodePlace, template: TemplateSpec, name: str
    ) -> tuple[RemoteCluster, dict[str, Any]]:
        """A copy of a template, and how it was made."""
        installation = place.programs.server(template.installation)
        report: dict[str, Any] = place.host.call(
            "clusters.clone",
            key=name,
            template=template_form(template, installation),
            name=f"{self.bench.campaign.name}-{name}",
        )
        return RemoteCluster(place.host, name, installation), report

    def clocks(self) -> Facts:
        """Each host's clock less ours (seconds), and what that is known to (±)."""
        found = {}
        for label, host in self.pair.labels.items():
            if not host.is_here and (host.role == label or host in self.pair.more):
                reading = host.clock()
                found[label] = [reading.offset, reading.uncertainty]
                if abs(reading.offset) - reading.uncertainty > LARGEST_OFFSET:
                    self.bench.record.record_caution(clock_apart(host.shown))
        return found

    def finish(self) -> None:
        for cluster in self.kept.values():
            with contextlib.suppress(TeitenError, OSError):
                cluster.remove()
        self.kept.clear()
        self.pair.close()

    def _build(self, place: NodePlace, template: TemplateSpec, state: dict[str, Any]) -> None:
        db = place.host
        cluster = RemoteCluster(db, BUILT, place.programs.server(template.installation))
        try:
            cluster.begun(state)
            try:
                run = partial(self._run_pgbench, place.programs, cluster)
                fill(Tables(cluster, run), template.data, self._say)
            except psycopg.Error as error:
                raise cluster.failure(error) from error
            cluster.leave()
            db.call("clusters.finish_build")
        except BaseException:
            with contextlib.suppress(TeitenError, OSError):
                cluster.leave()
                db.call("clusters.drop_build")
            raise

    def _run_pgbench(
        self, programs: Programs, cluster: RemoteCluster, arguments: Sequence[str], what: str
    ) -> None:
        """The campaign's, on a db host; it may have to be sent."""
        pgbench = programs.pgbench(self._plan.pgbench)
        cluster.host.call(
            "clusters.run",
            arguments=[str(pgbench.path), *arguments],
            library_path=str(pgbench.library_path) if pgbench.library_path else None,
            environment=cluster.client_environment,
            what=what,
            hint=DISK_HINT,
        )

    def _note_clocks(self) -> None:
        clocks = self.clocks()
        for role, host in self.pair.labels.items():
            known = role if host in self.pair.more else str(host.role)
            offset, uncertainty = clocks.get(known, [0.0, 0.0])
            self.bench.record.record_event(
                REACHED,
                role=role,
                host=host.shown,
                node=host.who["node"],
                python=host.who["python"],
                clock_offset=round(offset, 6),
                clock_uncertainty=round(uncertainty, 6),
            )


def clock_apart(host: str) -> Caution:
    """The clock of a host is not ours."""
    return Caution("clock-apart", Severity.NOTE, (("on", host),))
