"""The hosts of a campaign that was not measured on one machine, for the report."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from teiten.model.facts import HostFacts
from teiten.model.hosts import PlannedHost
from teiten.report.view.kit import Kit

Rows = list[tuple[str, str | None]]
CLOCKS = "clocks"
"""Of a trial's facts: role to offset and its uncertainty, in seconds."""


def shown(host: PlannedHost) -> str:
    """A host for people: as the study names it, or what this machine calls itself."""
    return host.name or host.node


def host_rows(kit: Kit) -> Rows:
    """Where servers and load generator ran, and how far the clocks were apart."""
    hosts = kit.analysis.plan.hosts
    if hosts is None:
        return []
    t = kit.t
    found: Rows = [(t(f"host.role-{one.role}"), _of_host(kit, one)) for one in hosts.each]
    if hosts.together:
        found = [(t("host.role-both"), _of_host(kit, hosts.db))]
    if hosts.address is not None:
        words = {"address": hosts.address, "client": hosts.client_address or ""}
        found.append((t("host.way"), t("host.way.text", **words)))
    found += [(t("host.clock"), text) for text in _clocks(kit)]
    if not hosts.together:
        found.append((t("host.client-cpu"), _client_cpu(kit)))
    return found


def client_rows(kit: Kit, rows: Callable[[Kit, HostFacts], Rows]) -> Rows:
    """The client host's machine, where it is another than the servers'."""
    hosts = kit.analysis.plan.hosts
    if hosts is None or hosts.together:
        return []
    return [
        (kit.t("host.of-client", what=what), value) for what, value in rows(kit, hosts.client.facts)
    ]


def _of_host(kit: Kit, host: PlannedHost) -> str:
    return kit.t(
        "host.text",
        host=shown(host),
        node=host.node,
        user=host.user,
        python=host.python,
        workdir=host.workdir,
    )


def _client_cpu(kit: Kit) -> str | None:
    """The largest shares of the client host's processors over all trials."""
    busy = [
        1 - trial.metrics["client_cpu_idle_share"]
        for trial in kit.analysis.trials
        if "client_cpu_idle_share" in trial.metrics
    ]
    if not busy:
        return None
    pgbench = [one.metrics.get("client_pgbench_cpu_share", 0.0) for one in kit.analysis.trials]
    return kit.t("host.client-cpu.text", busy=f"{max(busy):.0%}", pgbench=f"{max(pgbench):.0%}")


def _clocks(kit: Kit) -> Iterable[str]:
    """The largest offset of each host over all trials."""
    largest: dict[str, tuple[float, float]] = {}
    for trial in kit.analysis.trials:
        for role, (offset, uncertainty) in trial.facts.get(CLOCKS, {}).items():
            if role not in largest or abs(offset) > abs(largest[role][0]):
                largest[role] = (offset, uncertainty)
    for role, (offset, uncertainty) in largest.items():
        yield kit.t(
            "host.clock.text",
            role=kit.t(f"host.role-{role}"),
            offset=f"{offset * 1000:+.1f}",
            uncertainty=f"{uncertainty * 1000:.1f}",
        )
