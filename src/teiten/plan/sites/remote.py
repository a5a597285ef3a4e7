"""Limits of a study on other hosts, and what there is to say of it. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from teiten.datasets.plan import made_by
from teiten.engines.registry import DEFAULT, engine_of
from teiten.errors import UsageError, WayError
from teiten.factors.contract import Need
from teiten.factors.registry import rule
from teiten.kinds.contract import plan_of
from teiten.model.facts import Caution
from teiten.model.hosts import HERE, HostAssignment, PlannedHost
from teiten.model.installation import Installation
from teiten.model.plan import Plan, PlannedTrial
from teiten.model.setup import varied_factors
from teiten.model.study import Study
from teiten.plan.sites.contract import ActionContext
from teiten.plan.sites.local import LocalPlan
from teiten.ways.registry import way_of

OF_THE_SERVER = frozenset({"more-clients-than-cores"})
APART_NEEDLESS = frozenset({"shared-cores", "few-cores"})
"""Cautions about a processor that server and load generator share."""
OF_THE_DISK = frozenset(
    {"copy-on-write", "memory-file-system", "network-file-system", "overlay-file-system"}
    | {"rotational-disk", "disk-nearly-full"}
)
"""Cautions that do not matter where no server runs."""
NEVER = frozenset({"perf-not-allowed"})
"""Nothing of it is used on other hosts."""


def check_remote(study: Study, servers: Sequence[tuple[str, Installation]]) -> None:
    """Raise UsageError for what only this machine's servers can have."""
    measure = study.measure
    _check_way(study)
    asked: list[str] = []
    asked += [name for name in varied_factors(study) if Need.HERE in rule(name).needs_in(study)]
    asked += ["rounds"] if measure.rounds else []
    asked += ["flame_graph"] if measure.flame_graph else []
    asked += ["memory"] if measure.memory is not None else []
    kinds = {workload.name: plan_of(workload.kind) for workload in study.workloads}
    asked += [name for name, kind in kinds.items() if Need.HERE in kind.site_needs]
    if asked:
        raise UsageError(
            f"{asked[0]}: not with servers or load generators on other hosts",
            "leave it out, or run the study on that host itself",
        )
    if study.hosts is not None and study.hosts.more:
        _check_nodes(study, 1 + len(study.hosts.more))
    apart = study.hosts is not None and not study.hosts.together
    for name in varied_factors(study):
        if apart and Need.TOGETHER in rule(name).needs_in(study):
            raise UsageError(
                f"{name}: the load comes from another host, as a role that has no rights on tables"
                " that are spread",
                "load them from their own host: the same --db-host and --client-host",
            )
    attached = [level for level, server in servers if server.attached is not None]
    if attached:
        raise UsageError(
            f"the server {attached[0]} is attached, and the study names hosts: Teiten does not"
            " start it there",
            "leave the hosts out (--db-host, --client-host), or name servers that Teiten starts",
        )


def _check_nodes(study: Study, hosts: int) -> None:
    """Raise UsageError for what several db hosts, one of each node, cannot have."""
    nodes, engine = study.factor("nodes"), study.factor("engine")
    if nodes is None:
        raise UsageError(
            "several db hosts, and the study has no factor nodes: each host is that of a node",
            f"one --db-host; or --set nodes=0,…,{hosts}, with as many hosts as nodes",
        )
    most = max(map(int, nodes.levels))
    if most > hosts:
        raise UsageError(
            f"nodes={most}: {hosts} db hosts are named, and each is that of one node",
            f"name {most - hosts} more (--db-host HOST), or fewer nodes: --set nodes=0,…,{hosts}",
        )
    for name in (DEFAULT,) if engine is None else engine.levels:
        if engine_of(name).as_superuser:
            raise UsageError(
                f"{name}: its servers reach one another as superusers, and Teiten opens no server"
                " on several hosts to those",
                "one host for all nodes (one --db-host); or start the cluster yourself and name it:"
                " engine=attached (docs/guides/scale-out.md)",
            )


def _check_way(study: Study) -> None:
    """Raise WayError where the generator of pairs, which runs on this machine, cannot be used."""
    if way_of(study.measure).here:
        raise WayError(
            "way: not with servers or load generators on other hosts",
            "leave it out, or run the study on that host itself",
        )
    hosts = study.hosts
    if way_of(study.measure).concurrent and hosts is not None and hosts.client != HERE:
        raise WayError(
            f"way: the generator of pairs runs on this machine, and the load is to come from"
            f" {hosts.client}",
            "--db-host alone, which loads the servers from this machine; or --way classic",
        )


def host_cautions(
    cautions: Sequence[Caution], host: PlannedHost, *, apart: bool
) -> Iterator[Caution]:
    """A host's own cautions, which say on which host they are.

    ``apart``: server and load generator have a host each.
    """
    leave = NEVER | (APART_NEEDLESS if apart else frozenset())
    if host.role == "client":
        leave |= OF_THE_DISK | OF_THE_SERVER
    for caution in cautions:
        if caution.code not in leave:
            yield replace(caution, values=(*caution.values, ("host", host.shown)))


def assignment_cautions(plan: Plan) -> tuple[Caution, ...]:
    """Warn that servers listen on network addresses, of who is let in, and of what nodes share."""
    assigned = plan.hosts
    if assigned is None:
        return ()
    cautions = []
    if assigned.address is not None:
        client, db = assigned.client_address or "", assigned.db.shown
        cautions.append(
            Caution.warning("open-port", address=assigned.address, client=client, db=db)
        )
    if assigned.more:
        listening = ", ".join(f"{node.host.shown}: {node.address}" for node in assigned.more)
        peers = ", ".join(dict.fromkeys(node.peer for node in assigned.more))
        cautions.append(Caution.warning("open-port-nodes", addresses=listening, peers=peers))
        cautions += _one_machine(assigned)
        cautions.append(Caution.note("first-host-shared", db=assigned.db.shown))
    return tuple(cautions)


def nodes_on_hosts(plan: Plan) -> Iterator[Caution]:
    """Warn that nodes are the hosts that were named, where the study would emulate others."""
    nodes = plan.study.nodes
    if nodes is not None and nodes.lacking:
        parts = ", ".join(part.value for part, _ in nodes.lacking)
        yield Caution.warning("nodes-on-hosts", parts=parts)


def _one_machine(assigned: HostAssignment) -> Iterator[Caution]:
    """Warn of db hosts that are one machine by another name: containers, or addresses."""
    of_boot: dict[str, list[str]] = {}
    for server in assigned.servers:
        of_boot.setdefault(server.boot, []).append(server.shown)
    for boot, names in of_boot.items():
        if boot and len(names) > 1:
            yield Caution.warning("one-machine", hosts=", ".join(names))


@dataclass(frozen=True)
class RemotePlan(LocalPlan):
    """Servers that Teiten starts on a host that a study names, perhaps with a load from another."""

    assignment: HostAssignment

    def actions(self, context: ActionContext) -> Iterator[str]:
        plan, assigned = context.plan, self.assignment
        db, client = assigned.db, assigned.client
        where = ", ".join(server.shown for server in assigned.servers)
        folders = ", ".join(dict.fromkeys(server.workdir for server in assigned.servers))
        copied = [level for level, server in plan.servers if not server.on_db_host]
        if copied and db.name:
            yield (
                f"copy PostgreSQL {', '.join(copied)} and pgbench to {where} ({folders}), where"
                " they are not there yet; nothing is installed on the system"
            )
        if client.name and not assigned.together:
            yield (
                f"copy pgbench to {client.shown} ({client.workdir}), where its PATH has no such one"
            )
        made = " and ".join(dict.fromkeys(made_by(template.data) for template in plan.templates))
        folder = f"{where}, below templates in {folders}"
        yield f"make {len(plan.templates)} templates by initdb and {made} on {folder}"
        restored = " and ".join(context.restored)
        often = f"before every trial of {restored}, once for others" if restored else "once each"
        yield f"copy them to clusters there ({often}); remove the copies at the end"
        listening = "it is reached through a private Unix socket only: no network port is opened"
        if assigned.more:
            listening = f"those on {db.shown} are reached through private Unix sockets only"
        if assigned.address is not None:
            listening = (
                f"it is listening on {assigned.address}, an open network port, for the one role of"
                f" the load with a password made anew, from {assigned.client_address} alone"
            )
        most = max((len(trial.templates) for trial in plan.trials), default=1)
        servers = "one PostgreSQL server" if most == 1 else f"up to {most} PostgreSQL servers"
        servers += " of each side" if way_of(plan.study.measure).concurrent else ""
        yield (
            f"start and stop {servers} at a time on {where}, as user {db.server_user},"
            f" {context.at_most}{len(plan.trials)} times; {listening}"
        )
        for number, node in enumerate(assigned.more, start=2):
            yield (
                f"node {number} is on {node.host.shown}, listening on {node.address}, an"
                " open network port, for the one role of the coordinator's server with a password"
                f" made anew, from {node.peer} alone"
            )
        yield from context.loading(client.shown)
        yield (
            "keep ssh connections open, in which an agent of Python runs; when it loses the"
            " connection, it ends what it has started"
        )
        yield context.page_cache()

    def start(self, trial: PlannedTrial) -> str:
        started, last = super().start(trial), max(trial.host_of(node) for node, _ in trial.nodes)
        addresses = ", ".join(node.address for node in self.assignment.more[:last])
        return f"{started}; those of other hosts listen on {addresses}" if addresses else started

    def closing(self, context: ActionContext) -> Iterator[str]:
        folder = context.folder / "campaigns"
        yield f"write the ledger, logs and the report to {folder} on this machine"
