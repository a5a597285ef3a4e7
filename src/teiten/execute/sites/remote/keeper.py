"""The hosts of a campaign while it runs: connections, programs, templates, and kept clusters."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

from teiten.errors import TeitenError
from teiten.execute.executor import Facts
from teiten.execute.postgres.programs import pgbench_initialize
from teiten.execute.postgres.templates.build import fill
from teiten.execute.postgres.templates.filling import SQL_FILLERS
from teiten.execute.record import CampaignRecord
from teiten.execute.sites.remote.agent.forms import BUILT, template_form
from teiten.execute.sites.remote.cluster import NetworkWay, RemoteCluster
from teiten.execute.sites.remote.hosts import HostPair
from teiten.execute.sites.remote.packages import Programs
from teiten.execute.bench import Place
from teiten.model.facts import Caution, Severity
from teiten.model.hosts import Role
from teiten.model.installation import Installation, Pgbench
from teiten.model.plan import Plan, TemplateSpec

REACHED = "hosts-reached"
"""The kind of the event that records the hosts and their clocks at each start."""
LARGEST_OFFSET = 0.1
"""Seconds by which clocks may differ without a caution: logs are laid side by side by them."""
DISK_HINT = "see whether the db host has the disk for it"


class RemoteSite:
    """Everything of a campaign that is on other hosts. ``close`` takes it all back."""

    def __init__(
        self, *, record: CampaignRecord, campaign: str, here: Path, say: Callable[[str], None]
    ) -> None:
        """``here``: the working folder of this machine.

        Reach the hosts, keep others out of them, and sweep. Raises MachineError."""
        plan: Plan = record.plan
        if plan.study.hosts is None:
            raise ValueError("the study names no hosts")
        self._plan, self._record, self._say, self._campaign = plan, record, say, campaign
        self.kept: dict[Place, RemoteCluster] = {}
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
            self._client = self._db if placement.together else Programs(self.pair.client, say)
            self._note_clocks()
        except BaseException:
            self.pair.close()
            raise

    def server(self, installation: Installation) -> Installation:
        """With its paths on the db host."""
        return self._db.server(installation)

    @property
    def pgbench(self) -> Pgbench:
        """On the client host."""
        return self._client.pgbench(self._plan.pgbench)

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
            name=f"{self._campaign}-{name}",
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
                    self._record.record_caution(clock_apart(host.shown))
        return found

    def close(self) -> None:
        """Give everything back; never raises."""
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
            fill(
                cluster,
                template.data,
                lambda: self._make_tables(cluster, template),
                self._say,
            )
            cluster.leave()
            db.call("clusters.finish_build")
        except BaseException:
            with contextlib.suppress(TeitenError, OSError):
                cluster.leave()
                db.call("clusters.drop_build")
            raise

    def _make_tables(self, cluster: RemoteCluster, template: TemplateSpec) -> None:
        filler = SQL_FILLERS.get(template.data.kind)
        if filler is not None:
            filler(cluster, template, self._plan.pgbench, self._say)
            return
        pgbench = self._db.pgbench(self._plan.pgbench)
        arguments = pgbench_initialize(
            pgbench,
            template.data,
            f"--host={cluster.socket_directory}",
            f"--port={cluster.port}",
            f"--username={cluster.user_name}",
            "bench",
        )
        self.pair.db.call(
            "clusters.run",
            arguments=[str(one) for one in arguments],
            library_path=str(pgbench.library_path) if pgbench.library_path else None,
            what=f"pgbench --initialize with scale {template.data.scale} on {cluster.name}",
            hint=DISK_HINT,
        )

    def _note_clocks(self) -> None:
        clocks = self.clocks()
        for role in Role:
            host = self.pair.db if role is Role.DB else self.pair.client
            offset, uncertainty = clocks.get(str(host.role), [0.0, 0.0])
            self._record.record_event(
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
