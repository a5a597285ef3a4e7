"""Where servers and load generator were, in words: the one room of the report that asks whether a
server was attached, or ran on another host."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

from teiten.model.distribution import Distribution
from teiten.model.facts import HostFacts
from teiten.model.hosts import PlannedHost
from teiten.model.installation import Installation
from teiten.model.plan import Plan
from teiten.model.text import joined_sentences
from teiten.report.effects import percent
from teiten.ways.registry import way_of

if TYPE_CHECKING:
    from teiten.report.view.kit import Kit

Rows = list[tuple[str, str | None]]
CLOCKS = "clocks"
"""The trial's fact that maps each role to its clock's offset and uncertainty, in seconds."""


def of_first_host(kit: Kit) -> str:
    """Word what a note adds where a machine's numbers are those of one of several db hosts."""
    return kit.t("chart.of-first-host") if have_own_hosts(kit) else ""


def host_rows(kit: Kit) -> Rows:
    """Where servers and load generator ran, and how far the clocks were apart."""
    hosts = kit.analysis.plan.hosts
    if hosts is None:
        return []
    t = kit.t
    first = {"both": hosts.db} if hosts.together else {"db": hosts.db, "client": hosts.client}
    rows: Rows = [(t(f"host.role-{role}"), _of_host(kit, node)) for role, node in first.items()]
    rows += [
        (t("host.role-node", number=number), _of_host(kit, node.host))
        for number, node in enumerate(hosts.more, start=2)
    ]
    ways = [("host.way-of-nodes", node.address, node.peer) for node in hosts.more]
    if hosts.address is not None:
        ways.append(("host.way", hosts.address, hosts.client_address or ""))
    rows += [
        (t(key), t("host.way.text", address=address, client=client))
        for key, address, client in ways
    ]
    rows += [(t("host.clock"), text) for text in _clocks(kit)]
    if not hosts.together:
        rows.append((t("host.client-cpu"), _client_cpu(kit)))
    return rows


def client_rows(kit: Kit, rows: Callable[[Kit, HostFacts], Rows]) -> Rows:
    """The client host's machine, where it is another than the servers', and those of nodes."""
    hosts = kit.analysis.plan.hosts
    if hosts is None:
        return []
    others = [] if hosts.together else [("host.of-client", 0, hosts.client)]
    others += [("host.of-node", at, node.host) for at, node in enumerate(hosts.more, start=2)]
    return [
        (kit.t(key, what=what, number=number), value)
        for key, number, host in others
        for what, value in rows(kit, host.facts)
    ]


def _of_host(kit: Kit, host: PlannedHost) -> str:
    facts = {name: getattr(host, name) for name in ("node", "user", "python", "workdir")}
    return kit.t("host.text", host=host.shown, **facts)


def _client_cpu(kit: Kit) -> str | None:
    """The largest shares of the client host's processors over all trials."""
    busy = [
        1 - trial.metrics["client_cpu_idle_share"]
        for trial in kit.analysis.trials
        if "client_cpu_idle_share" in trial.metrics
    ]
    if not busy:
        return None
    pgbench = [trial.metrics.get("client_pgbench_cpu_share", 0.0) for trial in kit.analysis.trials]
    most_busy, most_of_pgbench = (percent(kit.t, max(shares), 0) for shares in (busy, pgbench))
    return kit.t("host.client-cpu.text", busy=most_busy, pgbench=most_of_pgbench)


def _clocks(kit: Kit) -> Iterable[str]:
    """The largest offset of each host over all trials."""
    largest: dict[str, tuple[float, float]] = {}
    for trial in kit.analysis.trials:
        for role, (offset, uncertainty) in trial.facts.get(CLOCKS, {}).items():
            if role not in largest or abs(offset) > abs(largest[role][0]):
                largest[role] = (offset, uncertainty)
    for label, (offset, uncertainty) in largest.items():  # labels: db, client, db-2
        _, dash, number = label.partition("-")
        role = kit.t("host.role-node", number=number) if dash else kit.t(f"host.role-{label}")
        yield kit.t(
            "host.clock.text",
            role=role,
            offset=f"{offset * 1000:+.1f}",
            uncertainty=f"{uncertainty * 1000:.1f}",
        )


def have_own_hosts(kit: Kit) -> bool:
    """Whether nodes are on several hosts, the first of which others share."""
    hosts = kit.analysis.plan.hosts
    return hosts is not None and bool(hosts.more)


def on_nodes(kit: Kit) -> tuple[Distribution, ...]:
    """How the tables of each trial that has several servers are spread over them."""
    trials = kit.analysis.plan.trials
    return tuple(trial.distribution for trial in trials if trial.distribution is not None)


def node_heading(kit: Kit, number: int) -> str | None:
    """Name a node that holds rows in the drawing; None unless nodes are on several hosts."""
    hosts = kit.analysis.plan.hosts
    if hosts is None or not hosts.more:
        return None
    return kit.t("host.node-heading", number=number, host=hosts.servers[number - 1].shown)


def machine_heading(kit: Kit) -> str:
    """Name the machine with the servers in the drawing."""
    hosts = kit.analysis.plan.hosts
    if hosts is None:
        return kit.t("topology.machine")
    if hosts.more:
        names = kit.t("list.separator").join(host.shown for host in hosts.servers)
        return kit.t("host.several", hosts=names)
    role = "host.both" if hosts.together else "host.db"
    return kit.t(role, host=hosts.db.shown)


def client_machine(kit: Kit) -> tuple[str, HostFacts] | None:
    """Name the load generator's machine, with its facts; None where it is the servers'."""
    hosts = kit.analysis.plan.hosts
    if hosts is None or hosts.together:
        return None
    return kit.t("host.client", host=hosts.client.shown), hosts.client.facts


def link_text(kit: Kit) -> str:
    """How the load generator reaches the servers."""
    hosts = kit.analysis.plan.hosts
    if hosts is not None and hosts.address is not None:
        return hosts.address
    attached = {server.attached is not None for _, server in kit.analysis.plan.servers}
    if attached == {True}:
        return kit.t("topology.link-attached")
    return kit.t("topology.link-both" if True in attached else "topology.link")


def whereabouts(kit: Kit) -> str:
    """Where the servers are: here, on another host, or where they were attached."""
    t = kit.t
    hosts = kit.analysis.plan.hosts
    if hosts is not None:
        if hosts.more:
            names = t("list.separator").join(host.shown for host in hosts.servers)
            addresses = t("list.separator").join(node.address for node in hosts.more)
            return t("host.note-nodes", hosts=names, addresses=addresses)
        words = {"db": hosts.db.shown, "client": hosts.client.shown, "address": hosts.address}
        apart = f"way.{way_of(kit.study.measure).name}.apart"
        together = "host.note-together-nodes" if on_nodes(kit) else "host.note-together"
        return t(together if hosts.together else apart, **words)
    attached = [
        t("topology.attached", server=level, address=server.attached.address)
        for level, server in kit.analysis.plan.servers
        if server.attached is not None
    ]
    if not attached:
        way = way_of(kit.study.measure)
        spread = on_nodes(kit)
        if spread and not way.concurrent:
            already = any(distribution.ran_already for distribution in spread)
            return t("topology.note-attached-own" if already else "topology.note-nodes")
        return way_text(kit, "note")
    own = len(attached) < len(kit.analysis.plan.servers)
    first = t("topology.note-attached-own" if own else "topology.note-attached")
    return joined_sentences((first, *attached))


def way_text(kit: Kit, part: str, otherwise: str = "") -> str:
    """Tell how the sides are loaded, in the words of the way; ``otherwise``: where it has none."""
    measure = kit.study.measure
    shared = "one-server." if measure.by_session else ""
    key = f"way.{way_of(measure).name}.{shared}{part}"
    text = kit.t.either(key, otherwise) if otherwise else kit.t(key)
    return text.replace("{parameters}", kit.t("list.separator").join(measure.by_session))


def steps_of_sites(kit: Kit) -> list[str]:
    """List the steps that differ from those with servers that Teiten starts."""
    plan = kit.analysis.plan
    attached = [level for level, _ in plan.servers if level in plan.servers_elsewhere]
    if not attached:
        return []
    return [kit.t("procedure.attached", servers=kit.t("list.separator").join(attached))]


def starts_servers(plan: Plan) -> bool:
    """Whether Teiten starts any of the servers: one that was attached keeps running."""
    return any(server.attached is None for _, server in plan.servers)


def shared_buffers_of(kit: Kit, level: str, otherwise: str | None) -> str | None:
    """``shared_buffers`` as a server has it that keeps its own settings; else ``otherwise``."""
    server = dict(kit.analysis.plan.servers).get(level)
    if server is None or server.attached is None:
        return otherwise
    own = server.attached.parameter("shared_buffers")
    return own.text if own is not None else None


def origin_text(server: Installation) -> str:
    """Where a server's programs are from, or the address at which it runs."""
    return f"{server.source}: {server.name if server.attached is None else server.place}"
