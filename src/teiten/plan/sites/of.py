"""Which kind of site a server of a plan is on, and what is said of where a plan runs. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from teiten.errors import MachineError, WayError
from teiten.model.hosts import HostAssignment, PlannedHost
from teiten.model.installation import Installation
from teiten.model.plan import Plan
from teiten.model.study import Study
from teiten.plan.sites.attached import AttachedPlan
from teiten.plan.sites.contract import SitePlan
from teiten.plan.sites.local import LocalPlan
from teiten.plan.sites.remote import RemotePlan
from teiten.ways.registry import way_of

LOCAL, ATTACHED = LocalPlan(), AttachedPlan()


def site_of(installation: Installation, hosts: HostAssignment | None = None) -> SitePlan:
    """``hosts``: of the plan, where it is known."""
    if hosts is not None:
        return RemotePlan(hosts)
    return LOCAL if installation.attached is None else ATTACHED


def site_in(plan: Plan, installation: Installation) -> SitePlan:
    """Where a server of a plan is."""
    return site_of(installation, plan.hosts)


def sites_of(plan: Plan) -> Sequence[SitePlan]:
    """Every kind of site of a plan once: those with servers that run already first."""
    sites = dict.fromkeys(site_in(plan, server) for _, server in plan.servers)
    return sorted(sites, key=lambda site: site.starts)


def check_pairs(study: Study, servers: Sequence[tuple[str, Installation]]) -> None:
    """Raise WayError where the sides of paired transactions are on sites of different kinds: one
    side would start anew for each pair, and the other would not."""
    starting = {level: starts(server) for level, server in servers}
    if way_of(study.measure).concurrent and len(set(starting.values())) > 1:
        attached = ", ".join(level for level, started in starting.items() if not started)
        raise WayError(
            f"way: {attached} is attached, and another side is a server that Teiten starts anew"
            " for each pair",
            "compare attached servers alone, or have the sides loaded one after the other:"
            " --way classic",
        )


def with_known_processors(study: Study, servers: Sequence[tuple[str, Installation]]) -> Study:
    """The study with the processors of its servers' machine, by which paired transactions are mixed
    or in step; of an attached server on another machine nobody knows them."""
    if study.measure.processors is None:
        return study
    elsewhere = any(
        server.attached is not None and not server.attached.local for _, server in servers
    )
    processors = 1 if elsewhere else study.measure.processors
    return replace(study, measure=replace(study.measure, processors=processors))


def all_here(plan: Plan) -> bool:
    """Whether every server of a plan is started on this machine."""
    return all(site is LOCAL for site in sites_of(plan))


def starts(installation: Installation) -> bool:
    """Whether Teiten starts the server, on a cluster that takes disk and memory."""
    return site_of(installation).starts


def runs_here(study: Study) -> bool:
    """Whether a study names no other hosts."""
    return study.hosts is None


def all_start(plan: Plan) -> bool:
    """Whether Teiten starts every server of a plan."""
    return all(site_in(plan, server).starts for _, server in plan.servers)


def server_text(plan: Plan, installation: Installation) -> str:
    """A server's version, and where it is or comes from."""
    where = site_in(plan, installation).server_text(installation)
    return f"PostgreSQL {installation.version}{where}"


def server_object(plan: Plan, installation: Installation) -> dict[str, str]:
    """Where a server is or comes from, for JSON."""
    return site_in(plan, installation).server_object(installation)


def program_folders(plan: Plan) -> Iterator[Path]:
    """Those of the servers that the plan starts."""
    for installation in (
        *(server for _, server in plan.servers),
        *(template.installation for template in plan.templates),
    ):
        if site_in(plan, installation).starts:
            yield installation.bin_directory


def host_rows(plan: Plan) -> Iterator[tuple[str, str]]:
    """Each host of a plan that names any, by what it does."""
    if plan.hosts is not None:
        for host in plan.hosts.each:
            yield _roles(plan.hosts, host), _host(host)


def _roles(hosts: HostAssignment, host: PlannedHost) -> str:
    if host in hosts.servers[1:]:
        return f"host of node {hosts.servers.index(host) + 1}"
    return "db and client host" if hosts.together else f"{host.role} host"


def _host(host: PlannedHost) -> str:
    programs = f"Python {host.python}, folder {host.workdir}"
    if not host.name:
        return f"this machine, {programs}"
    offset, uncertainty = host.clock_offset * 1000, host.clock_uncertainty * 1000
    clock = f"clock {offset:+.1f} ms ± {uncertainty:.1f} ms"
    return f"{host.name} ({host.node}) as {host.user}, {programs}; {clock}"


def working_folder(plan: Plan, here: Path) -> Path:
    """Teiten's where servers run; ``here``: this machine's."""
    return here if plan.hosts is None else Path(plan.hosts.db.workdir)


def working_folder_text(plan: Plan, here: Path) -> str:
    folder = str(working_folder(plan, here))
    return folder if plan.hosts is None else f"{folder} on {plan.hosts.db.shown}"


def where_it_lacks(plan: Plan, error: MachineError) -> MachineError:
    """A shortfall says on which host it is."""
    name = "" if plan.hosts is None else plan.hosts.db.name
    if not name:
        return error
    hint = error.hint.replace(
        "teiten clean, or --workdir", f"teiten clean --host {name}, or a folder"
    )
    return MachineError(f"host {name}: {error.message}", f"{hint} (hosts.db_workdir)")


def asked_here(plan: Plan) -> Plan:
    """The plan with those servers alone that this machine can ask about parameters."""
    here = tuple((level, server) for level, server in plan.servers if not server.on_db_host)
    levels = {level for level, _ in here}
    trials = tuple(trial for trial in plan.trials if trial.cell.server in levels)
    return replace(plan, servers=here, trials=trials)


def servers_of_others(plan: Plan) -> tuple[str, ...]:
    """Servers that Teiten does not start, and as whom it makes databases there."""
    nodes = ((node.name, node) for _, entry in plan.servers for node in entry.nodes)
    return tuple(
        f"{level} ({server.attached.address}, role {server.attached.role})"
        for level, server in (*plan.servers, *nodes)
        if server.attached is not None
    )
