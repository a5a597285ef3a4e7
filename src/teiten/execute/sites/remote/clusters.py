"""The hosts of a campaign while it runs: connections, programs, templates, and kept clusters."""

from __future__ import annotations

import contextlib
import statistics
import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import psycopg

from teiten.errors import MachineError, TeitenError
from teiten.execute.bench import Bench
from teiten.execute.executor import Facts
from teiten.execute.postgres.templates.build import Tables, fill
from teiten.execute.postgres.templates.clone import CloneReport
from teiten.execute.postgres.templates.copy_methods import CopyMethod
from teiten.execute.sites.cluster_site import cluster_site
from teiten.execute.sites.hosted import CampaignClusters, failure
from teiten.execute.sites.local.node_emulation import NO_LIMITS, TrialLimits
from teiten.execute.sites.nodes import cluster_name
from teiten.execute.sites.remote.agent.forms import BUILT, template_form
from teiten.execute.sites.remote.client import RemoteClient
from teiten.execute.sites.remote.cluster import NetworkWay, RemoteCluster
from teiten.execute.sites.remote.hosts import Host, HostPair
from teiten.execute.sites.remote.packages import Programs
from teiten.execute.sites.server_facts import Connect
from teiten.model.facts import Caution
from teiten.model.plan import Node, PlannedTrial, TemplateSpec
from teiten.model.units import Bytes

REACHED = "hosts-reached"
"""The kind of the event that records the hosts and their clocks at each start."""
ROUND_TRIPS = 9
LARGEST_OFFSET = 0.1
"""Seconds by which clocks may differ without a caution: logs are laid side by side by them."""
DISK_HINT = "see whether the db host has the disk for it"


class RemoteClusters(CampaignClusters):
    """Clusters on hosts that are driven by agents; ``finish`` removes everything there."""

    moves_processes = False
    site = cluster_site

    def __init__(self, bench: Bench, here: Path, say: Callable[[str], None]) -> None:
        """``here``: the working folder of this machine.

        Reach the hosts, keep others out of them, and sweep. Raises MachineError."""
        plan = bench.plan
        if plan.study.hosts is None or plan.hosts is None:
            raise ValueError("the study names no hosts")
        super().__init__(bench)
        self._plan, self._say = plan, say
        self.pair = HostPair(plan.study.hosts, here)
        try:
            for host in self.pair.each:
                for line in host.prepare():
                    say(line)
                host.devices = tuple(host.call("machine.facts", serving=False)["devices"])
            assigned = self.pair.assignment()
            self._port = plan.study.hosts.db_port
            self._programs = {host: Programs(host, say) for host in self.pair.each}
            self._ways = (NetworkWay.of_load(assigned), *map(NetworkWay.of_node, assigned.more))
            """By which the load, or the coordinator on the first host, reaches the servers of each
            db host; None where that goes by their sockets."""
            cores = float(plan.hosts.client.facts.cpu.logical)
            self.client = RemoteClient(self.pair.client, self._programs[self.pair.client], cores)
            self._note_clocks()
        except BaseException:
            self.pair.close()
            raise

    def host(self, trial: PlannedTrial, node: Node) -> Host:
        """The only one, or that of the node's number."""
        servers = self.pair.servers
        return servers[trial.host_of(node) if len(servers) > 1 else 0]

    def prepare(self, template: TemplateSpec) -> Facts:
        """Build a template on the db hosts that have nodes of it, unless it is there."""
        wanted = {
            self.host(trial, node).number
            for trial in self._plan.trials
            for node, spec in trial.nodes
            if spec.fingerprint == template.fingerprint
        }
        servers = self.pair.servers
        built = [self._prepared(servers[number], template) for number in sorted(wanted or {0})]
        return {"built": any(built)}

    def _prepared(self, db: Host, template: TemplateSpec) -> bool:
        """Whether the template had to be built."""
        spec = template_form(template, self._programs[db].server(template.installation))
        pgbench = str(self._plan.pgbench.version)
        state = db.call("clusters.begin_build", template=spec, pgbench=pgbench)
        if state is None:
            return False
        self._say(f"building the template on {db.shown}")
        self._build(db, template, state)
        return True

    def clone(
        self, trial: PlannedTrial, node: Node, *, kept: bool
    ) -> tuple[RemoteCluster, CloneReport]:
        host, template = self.host(trial, node), dict(trial.nodes)[node]
        installation = self._programs[host].server(template.installation)
        name = cluster_name(trial, node, kept=kept)
        report = host.call(
            "clusters.clone",
            key=name,
            template=template_form(template, installation),
            name=f"{self.bench.campaign.name}-{name}",
        )
        way = self._ways[host.number]
        cluster = RemoteCluster(host, name, installation, way, self.pair.client)
        method = CopyMethod(report["method"])
        return cluster, CloneReport(method, report["seconds"], report["bytes"])

    def limits(self, trial: PlannedTrial, memory: Bytes | None) -> tuple[TrialLimits, Facts]:
        if memory is None and not trial.machines:
            return NO_LIMITS, {}
        raise MachineError(
            "what servers and load programs on other hosts use cannot be limited yet",
            "leave the limit out, or run the study on that host itself",
        )

    def port(self, trial: PlannedTrial, node: Node) -> int | None:
        """Where the study keeps to one port, further nodes of a host have those after it, and so
        has the other side of a pair whose servers run at the same time."""
        if self._port is None:
            return None
        host = self.host(trial, node)
        pair = [member.number for member in self._plan.pair_of(trial)]
        there = [number for number, _ in trial.nodes if self.host(trial, number) is host]
        return self._port + pair.index(trial.number) * len(there) + there.index(node)

    def way_facts(self, connect: Connect) -> Facts:
        """Seconds of a statement that does nothing on our own connection, the median of some: what
        is timed from here holds so much of the way."""
        seconds = []
        with connect() as connection:
            for _ in range(ROUND_TRIPS):
                begun = time.perf_counter()
                connection.execute("SELECT 1")
                seconds.append(time.perf_counter() - begun)
        return {"round_trip": statistics.median(seconds)}

    def sampler_options(self) -> dict[str, Any]:
        client = self.pair.client
        return {} if client is self.pair.db else {"client": client.reader((), client.devices)}

    def clocks(self) -> Facts:
        return {"clocks": self._offsets()}

    def _offsets(self) -> dict[str, list[float]]:
        """Each host's clock less ours (seconds), and what that is known to (±)."""
        offsets = {}
        for label, host in self.pair.labels.items():
            if not host.is_here and (host.role == label or host in self.pair.more):
                reading = host.clock()
                offsets[label] = [reading.offset, reading.uncertainty]
                if abs(reading.offset) - reading.uncertainty > LARGEST_OFFSET:
                    self.bench.record.record_caution(Caution.note("clock-apart", on=host.shown))
        return offsets

    def finish(self) -> None:
        super().finish()
        self.pair.close()

    def _build(self, db: Host, template: TemplateSpec, state: dict[str, Any]) -> None:
        cluster = RemoteCluster(db, BUILT, self._programs[db].server(template.installation))
        try:
            cluster.begun(state)
            try:
                run = partial(self._run_pgbench, cluster)
                fill(Tables(cluster, run), template.data, self._say)
            except psycopg.Error as error:
                db.check()
                raise failure(cluster.name, error) from error
            cluster.leave()
            db.call("clusters.finish_build")
        except BaseException:
            with contextlib.suppress(TeitenError, OSError):
                cluster.leave()
                db.call("clusters.drop_build")
            raise

    def _run_pgbench(self, cluster: RemoteCluster, arguments: Sequence[str], what: str) -> None:
        """The campaign's, on a db host; it may have to be sent."""
        pgbench = self._programs[cluster.host].pgbench(self._plan.pgbench)
        cluster.host.call(
            "clusters.run",
            arguments=[str(pgbench.path), *arguments],
            library_path=str(pgbench.library_path) if pgbench.library_path else None,
            environment=cluster.client_environment,
            what=what,
            hint=DISK_HINT,
        )

    def _note_clocks(self) -> None:
        clocks = self._offsets()
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
