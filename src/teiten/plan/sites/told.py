"""Statements about where a plan runs, before it does. Pure."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from teiten.errors import MachineError
from teiten.model.hosts import HostAssignment, PlannedHost
from teiten.model.installation import Installation
from teiten.model.plan import Plan
from teiten.model.study import Study
from teiten.plan.sites.of import site_in
from teiten.plan.sites.remote import shown


def runs_here(study: Study) -> bool:
    """Whether a study names no other hosts."""
    return study.hosts is None


def all_start(plan: Plan) -> bool:
    """Whether Teiten starts every server of a plan."""
    return all(site_in(plan, one).starts for _, one in plan.servers)


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
        *(one for _, one in plan.servers),
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
    where = f"{host.name} ({host.node}) as {host.user}" if host.name else "this machine"
    clock = ""
    if host.name:
        clock = (
            f"; clock {host.clock_offset * 1000:+.1f} ms ± {host.clock_uncertainty * 1000:.1f} ms"
        )
    return f"{where}, Python {host.python}, folder {host.workdir}{clock}"


def working_folder(plan: Plan, here: Path) -> Path:
    """Teiten's where servers run; ``here``: this machine's."""
    return here if plan.hosts is None else Path(plan.hosts.db.workdir)


def working_folder_text(plan: Plan, here: Path) -> str:
    folder = str(working_folder(plan, here))
    return folder if plan.hosts is None else f"{folder} on {shown(plan.hosts.db)}"


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
    here = tuple((level, one) for level, one in plan.servers if not one.on_db_host)
    levels = {level for level, _ in here}
    trials = tuple(trial for trial in plan.trials if trial.cell.server in levels)
    return replace(plan, servers=here, trials=trials)


def servers_of_others(plan: Plan) -> tuple[str, ...]:
    """Servers that Teiten does not start, and as whom it makes databases there."""
    each = [(level, one) for level, one in plan.servers]
    each += [(node.name, node) for _, one in plan.servers for node in one.nodes]
    return tuple(
        f"{level} ({one.attached.address}, role {one.attached.role})"
        for level, one in each
        if one.attached is not None
    )
