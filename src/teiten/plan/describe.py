"""A plan in words: what will be done to the machine, and by whom."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from pathlib import Path

from teiten.kinds.pgbench.model import NAME as PGBENCH
from teiten.kinds.queries.model import NAME as QUERIES
from teiten.model.facts import HostFacts
from teiten.model.hosts import Placement
from teiten.model.plan import Plan
from teiten.model.study import CachePolicy, DataKind, DataSet
from teiten.plan import remote


def actions(
    plan: Plan, facts: HostFacts, *, folder: Path, user: str, ready: Collection[str] = ()
) -> tuple[str, ...]:
    """Everything that running the plan does to the machine, one sentence each.

    ``folder``: Teiten's working folder; ``user``: as whom servers run; ``ready``: fingerprints of
    templates that exist.
    """
    return tuple(_actions(plan, facts, folder, user, ready))


def _actions(
    plan: Plan, facts: HostFacts, folder: Path, user: str, ready: Collection[str]
) -> Iterator[str]:
    if plan.hosts is not None:
        yield from _on_hosts(plan, plan.hosts, facts)
        yield f"write the ledger, logs and the report to {folder / 'campaigns'} on this machine"
        return
    yield from _attached(plan)
    own = [level for level, one in plan.servers if one.attached is None]
    if own:
        yield from _own(plan, folder, user, ready)
        yield _page_cache(plan, facts)
    kinds = {workload.kind for workload in plan.study.workloads}
    if PGBENCH in kinds:
        yield f"load the server with pgbench {plan.pgbench.version} from this machine"
    if QUERIES in kinds:
        yield "time queries one by one, and explain each with ANALYZE apart from its timing"
    if plan.study.measure.flame_graph:
        yield (
            f"sample the server's call stacks with perf for"
            f" {plan.study.measure.flame_graph_window:g} s after each counted trial"
        )
    yield f"write the ledger, logs and the report to {folder / 'campaigns'}"
    yield "nothing else: no package is installed, no setting of the system is changed"


def _on_hosts(plan: Plan, placement: Placement, facts: HostFacts) -> Iterator[str]:
    most = "" if plan.study.measure.sequential is None else "at the most "
    restored = " and ".join(one.name for one in plan.study.workloads if one.changes_data)
    yield from remote.actions(plan, placement, most=most, restored=restored)
    yield _page_cache(plan, facts)


def _own(plan: Plan, folder: Path, user: str, ready: Collection[str]) -> Iterator[str]:
    yield from _templates(plan, folder, ready)
    yield _copies(plan, folder)
    yield from _pinning(plan)
    yield _servers(plan, user)


def _attached(plan: Plan) -> Iterator[str]:
    restored = [each.name for each in plan.study.workloads if each.changes_data]
    for level, installation in plan.servers:
        server = installation.attached
        if server is None:
            continue
        data = {
            str(one.data) for one in plan.templates if one.installation.name == installation.name
        }
        yield (
            f"connect to the server {level} ({server.address}) as the role {server.role}; create"
            f" databases teiten_… there, fill them by pgbench -i ({'; '.join(sorted(data))}), and"
            " drop them at the end; its other databases and its settings are not touched"
        )
        if restored:
            yield (
                f"copy the filled database on the server {level} before every trial of"
                f" {' and '.join(restored)} (CREATE DATABASE … TEMPLATE), and drop the copy after"
            )
        yield (
            f"not on the server {level}, because Teiten did not start it: restart, choice of"
            " initdb's options, taking its files out of the page cache, settings that need a"
            " restart, reading its log"
        )


def _servers(plan: Plan, user: str) -> str:
    most = "" if plan.study.measure.sequential is None else "at the most "
    sockets = "reached through a private Unix socket only: no network port is opened"
    own = [trial for trial in plan.trials if trial.template.installation.attached is None]
    starts = len({trial.restart for trial in own})
    if not plan.study.measure.side_by_side:
        times = f"{most}{len(own)} times; it is"
        return f"start and stop one PostgreSQL server at a time, as user {user}, {times} {sockets}"
    return (
        f"start and stop {plan.study.at_once} PostgreSQL servers side by side, as user {user},"
        f" {most}{starts} times, one of them under load at a time; they are {sockets}"
    )


def _copies(plan: Plan, folder: Path) -> str:
    places = [f"{path}/teiten-…" for path, _ in plan.needs.directories]
    if any(trial.directory is None for trial in plan.trials):
        places.insert(0, str(folder / "clusters"))
    where = " and ".join(places)
    restored = [each.name for each in plan.study.workloads if each.changes_data]
    if restored:
        return (
            f"copy a template to {where} before every trial of {' and '.join(restored)}, once for"
            " the other workloads; remove the copies at the end"
        )
    return f"copy each template to {where} once; remove the copies at the end"


def _pinning(plan: Plan) -> Iterator[str]:
    """The processors of each number of cores, in rising order."""
    found = {(trial.server_cpus, trial.client_cpus) for trial in plan.trials if trial.server_cpus}
    for server, client in sorted(found, key=lambda one: (len(one[0]), one)):
        cores = "1 core" if len(server) == 1 else f"{len(server)} cores"
        yield (
            f"for {cores}, pin the server to processor {_listed(server)}, pgbench to"
            f" {_listed(client)}"
        )


def _listed(cpus: Collection[int]) -> str:
    return ", ".join(str(cpu) for cpu in sorted(cpus)) or "none"


def _templates(plan: Plan, folder: Path, ready: Collection[str]) -> Iterator[str]:
    for template in plan.templates:
        if template.installation.attached is not None:
            continue
        checksums = f"checksums {'on' if template.checksums else 'off'}"
        words = f"PostgreSQL {template.installation.version}, {template.data}, {checksums}"
        if template.fingerprint in ready:
            yield f"use the template that is there: {words}"
        else:
            made = _made_by(template.data)
            yield f"make a template by initdb and {made} in {folder / 'templates'}: {words}"


def _made_by(data: DataSet) -> str:
    made = {
        DataKind.PGBENCH: "pgbench -i",
        DataKind.SSB: "Teiten's generator",
        DataKind.SCRIPT: f"the script {data.script.name if data.script else ''}",
    }[data.kind]
    scripts = [script.name for script in data.layout.scripts] if data.layout is not None else []
    return f"{made}, then {', '.join(scripts)}," if scripts else made


def _page_cache(plan: Plan, facts: HostFacts) -> str:
    match plan.study.measure.caches:
        case CachePolicy.DROP if facts.can_drop_page_cache:
            return "drop the whole page cache of the system before each start of a server"
        case CachePolicy.DROP | CachePolicy.EVICT:
            return "take the cluster's own files out of the page cache before each start"
        case _:
            return "leave the page cache alone"
