"""The hosts of a campaign while it runs: connections, programs, templates, and kept clusters."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Sequence
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
from teiten.execute.sites.remote.hosts import HostPair
from teiten.execute.sites.remote.packages import Programs
from teiten.execute.sites.remote.site import RemoteSite
from teiten.model.facts import Caution, Severity
from teiten.model.hosts import Role
from teiten.model.installation import Installation
from teiten.model.plan import PlannedTrial, TemplateSpec

REACHED = "hosts-reached"
"""The kind of the event that records the hosts and their clocks at each start."""
LARGEST_OFFSET = 0.1
"""Seconds by which clocks may differ without a caution: logs are laid side by side by them."""
DISK_HINT = "see whether the db host has the disk for it"


class RemoteKeeper:
    """Everything of a campaign that is on other hosts. ``finish`` takes it all back."""

    def __init__(self, bench: Bench, here: Path, say: Callable[[str], None]) -> None:
        """``here``: the working folder of this machine.

        Reach the hosts, keep others out of them, and sweep. Raises MachineError."""
        plan = bench.plan
        if plan.study.hosts is None or plan.hosts is None:
            raise ValueError("the study names no hosts")
        self.bench, self._plan, self._say = bench, plan, say
        self.kept: dict[str, RemoteCluster] = {}
        """By key: stopped clusters whose data no trial has changed."""
        self.pair = HostPair(plan.study.hosts, here)
        try:
            for host in self.pair.each:
                for line in host.prepare():
                    say(line)
            placement = self.pair.placement()
            self.devices = self.pair.devices()
            self.port = plan.study.hosts.db_port
            self.way = None if placement.together else NetworkWay(placement)
            self._db = Programs(self.pair.db, say)
            client = self._db if placement.together else Programs(self.pair.client, say)
            cores = float(plan.hosts.client.facts.cpu.logical)
            self.client = RemoteClient(self.pair.client, client, cores)
            self._note_clocks()
        except BaseException:
            self.pair.close()
            raise

    def site(self, trial: PlannedTrial, attempt: int) -> RemoteSite:
        return RemoteSite(self, trial, self.bench.evidence_folder(trial, attempt))

    def server(self, installation: Installation) -> Installation:
        """With its paths on the db host."""
        return self._db.server(installation)

    def prepare(self, template: TemplateSpec) -> Facts:
        """Build a template on the db host, unless it is there."""
        spec = template_form(template, self.server(template.installation))
        db = self.pair.db
        if db.call("clusters.ready", template=spec):
            return {"built": False}
        self._say(f"building the template on {db.shown}")
        state = db.call(
            "clusters.begin_build", template=spec, pgbench=str(self._plan.pgbench.version)
        )
        if state is not None:
            self._build(template, state)
        return {"built": True}

    def clone(self, template: TemplateSpec, name: str) -> tuple[RemoteCluster, dict[str, Any]]:
        """A copy of a template, and how it was made."""
        installation = self.server(template.installation)
        report: dict[str, Any] = self.pair.db.call(
            "clusters.clone",
            key=name,
            template=template_form(template, installation),
            name=f"{self.bench.campaign.name}-{name}",
        )
        return RemoteCluster(self.pair.db, name, installation), report

    def clocks(self) -> Facts:
        """Each host's clock less ours (seconds), and what that is known to (±)."""
        found = {}
        for host in self.pair.each:
            if not host.is_here:
                reading = host.clock()
                found[str(host.role)] = [reading.offset, reading.uncertainty]
                if abs(reading.offset) - reading.uncertainty > LARGEST_OFFSET:
                    self.bench.record.record_caution(clock_apart(host.shown))
        return found

    def finish(self) -> None:
        for cluster in self.kept.values():
            with contextlib.suppress(TeitenError, OSError):
                cluster.remove()
        self.kept.clear()
        self.pair.close()

    def _build(self, template: TemplateSpec, state: dict[str, Any]) -> None:
        db = self.pair.db
        cluster = RemoteCluster(db, BUILT, self.server(template.installation))
        try:
            cluster.begun(state)
            try:
                run = partial(self._run_pgbench, cluster)
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

    def _run_pgbench(self, cluster: RemoteCluster, arguments: Sequence[str], what: str) -> None:
        """The campaign's, on the db host; it may have to be sent."""
        pgbench = self._db.pgbench(self._plan.pgbench)
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
        for role in Role:
            host = self.pair.db if role is Role.DB else self.pair.client
            offset, uncertainty = clocks.get(str(host.role), [0.0, 0.0])
            self.bench.record.record_event(
                REACHED,
                role=str(role),
                host=host.shown,
                node=host.who["node"],
                python=host.who["python"],
                clock_offset=round(offset, 6),
                clock_uncertainty=round(uncertainty, 6),
            )


def clock_apart(host: str) -> Caution:
    """The clock of a host is not ours."""
    return Caution("clock-apart", Severity.NOTE, (("on", host),))
