"""Which kind of site a server of a plan is on, what is said of where a plan runs, and what is left
to compare where servers cannot have all of a study. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from teiten.errors import MachineError, UsageError, WayError
from teiten.factors.registry import rule
from teiten.kinds.contract import LevelLeftOut, plan_of
from teiten.model.attached import is_address
from teiten.model.hosts import HostAssignment, PlannedHost
from teiten.model.installation import Installation, ModuleTools
from teiten.model.memory import SHARED_BUFFERS
from teiten.model.plan import Plan
from teiten.model.quantities import exact_size
from teiten.model.study import SERVER, CachePolicy, Factor, Study, Workload
from teiten.model.text import Bilingual
from teiten.model.units import Bytes
from teiten.plan.cells import levels_of
from teiten.plan.sites.attached import AttachedPlan
from teiten.plan.sites.contract import SitePlan, not_offered, together
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


def reached(study: Study) -> tuple[str, ...]:
    """Addresses of servers that run already, and names of hosts: whatever planning connects to."""
    aliases = dict(study.server_aliases)
    levels = study.levels(SERVER)
    servers = [aliases.get(level, level) for level in levels]
    nodes = [node for level, cluster in study.clusters if level in levels for node in cluster.nodes]
    hosts: list[str] = []
    if study.hosts is not None:
        more = (node.name for node in study.hosts.more)
        hosts += filter(None, (study.hosts.db, study.hosts.client, *more))
    return tuple(dict.fromkeys((*filter(is_address, servers), *nodes, *hosts)))


Servers = Sequence[tuple[str, Installation]]


def fitted(study: Study, servers: Servers) -> Study:
    """The study with what can be had where it is to fit itself to servers as they are: they keep
    their shared buffers, so that sizes are no factor, and memory is not limited; what is put beside
    one another are servers. Any other study as it is.

    Raises UsageError where some of the servers are started by Teiten, and some are not.
    """
    fitting = [workload for workload in study.workloads if plan_of(workload.kind).fits]
    attached = {level: server.attached for level, server in servers if server.attached is not None}
    if not fitting or not attached:
        return study
    if len(attached) < len(servers):
        own = ", ".join(level for level, _ in servers if level not in attached)
        raise UsageError(
            f"{', '.join(attached)} is attached and keeps its size and its memory, and {own} is"
            f" started by Teiten with those of the study: the workload {fitting[0].name}"
            f" {plan_of(fitting[0].kind).does}, which needs the same of all",
            "compare attached servers with one another, or servers that Teiten starts",
        )
    sizes = {level: Bytes(server.shared_buffers or 0) for level, server in attached.items()}
    largest = max(sizes.values())
    return replace(
        study,
        contrast=SERVER,
        factors=tuple(
            replace(factor, levels=tuple(_had(study, factor)))
            for factor in study.factors
            if SHARED_BUFFERS not in rule(factor.name).set_parameters(study, factor.name)
        ),
        measure=replace(study.measure, memory=None, caches=CachePolicy.KEEP),
        workloads=tuple(
            plan_of(workload.kind).fitted(workload, largest) if workload in fitting else workload
            for workload in study.workloads
        ),
        differences=tuple(dict.fromkeys((*study.differences, _kept_sizes(sizes)))),
    )


def _had(study: Study, factor: Factor) -> Iterator[str]:
    """The levels that some workload still has, of a factor that workloads limit."""
    for level in factor.levels:
        limits = [workload.own_levels(factor.name) for workload in study.workloads]
        if None in limits or any(level in limit for limit in limits if limit is not None):
            yield level


def _kept_sizes(sizes: dict[str, Bytes]) -> Bilingual:
    listed = ", ".join(f"{level} {exact_size(size)}" for level, size in sizes.items())
    return Bilingual(
        f"Attached servers keep the shared_buffers that they have ({listed}): sizes are not varied,"
        " memory is not limited, and the tables are as large as the probes need that can be run.",
        f"接続したサーバのshared_buffersは、そのサーバの値のままである（{listed}）。"
        "サイズの変更とメモリの制限は行わず、テーブルは実行できる検証項目に必要な大きさとする。",
    )


def wants_modules(study: Study) -> bool:
    """Whether it must be known what compiles C functions for its servers."""
    return any(plan_of(workload.kind).wants_modules(workload) for workload in study.workloads)


def without_missing(study: Study, servers: Servers, tools: Mapping[str, ModuleTools]) -> Study:
    """The study without the levels that one of its servers cannot have: what is left out on one
    server is left out on all, so that every comparison is of the same. Each is said among the
    differences.

    ``tools``: by level of the factor server; empty where nobody looked. Raises UsageError where no
    two levels of what is contrasted remain.
    """
    for workload in study.workloads:
        for level, server in servers:
            for left_out in (
                *plan_of(workload.kind).left_out(workload, server, tools.get(level)),
                *_not_offered(workload, level, server),
            ):
                study = _without(study, workload.name, left_out, server)
    return study


def _not_offered(workload: Workload, level: str, server: Installation) -> Iterator[LevelLeftOut]:
    """List the levels of a workload that need what a server's place does not offer; those that lack
    least last, so that an error tells of what is nearest."""
    missing = not_offered(workload, site_of(server).lacks(level, server))
    for needs, lacks in sorted(missing, key=lambda pair: -len(pair[1])):
        lack = together(lacks)
        yield LevelLeftOut(needs.factor, needs.level, needs.title, lack.why, lack.hint.en)


def _without(study: Study, name: str, left_out: LevelLeftOut, server: Installation) -> Study:
    levels = levels_of(study, study.workload(name), left_out.factor)
    if left_out.level not in levels:
        return study
    remaining = tuple(level for level in levels if level != left_out.level)
    if len(remaining) < (2 if left_out.factor == study.contrast else 1):
        raise UsageError(
            f"the server {server.name} cannot have the {left_out.factor} {left_out.level} of the"
            f" workload {name}: {left_out.why.en}; and without it too few are left",
            left_out.hint
            or f"choose others: --set {left_out.factor}=…, --set workloads=…, or another server",
        )
    workloads = tuple(
        workload.limited(left_out.factor, remaining) if workload.name == name else workload
        for workload in study.workloads
    )
    title, why = left_out.title, left_out.why
    difference = Bilingual(
        f"“{title.en}” ({left_out.level}) was left out, as {server.name} cannot have it: {why.en}.",
        f"{server.name}では実行できないため、「{title.ja}」（{left_out.level}）を除外した: "
        f"{why.ja}。",
    )
    return replace(study, workloads=workloads, differences=(*study.differences, difference))
