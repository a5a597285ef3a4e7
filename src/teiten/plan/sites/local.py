"""Servers that Teiten starts on this machine."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from teiten.datasets.plan import described, made_by
from teiten.errors import UsageError
from teiten.model.installation import Installation
from teiten.model.plan import PlannedTrial, TemplateSpec
from teiten.model.quantities import format_size
from teiten.model.study import CachePolicy, Measure, Workload
from teiten.plan.settings import SPARE_CONNECTIONS, count_setting
from teiten.plan.sites.contract import SitePlan, Told

_CACHES = {
    CachePolicy.KEEP: "leave the OS page cache as it is",
    CachePolicy.EVICT: "evict the cluster's files from the OS page cache",
    CachePolicy.DROP: "drop the OS page cache if that is allowed, else evict the cluster's files",
}


class LocalPlan(SitePlan):
    starts = True

    def missing_connections(self, trial: PlannedTrial) -> int:
        return trial.load.connections + SPARE_CONNECTIONS - _limit(trial)

    def too_few_connections(self, trial: PlannedTrial) -> UsageError:
        needed = trial.load.connections + SPARE_CONNECTIONS
        return UsageError(
            f"{trial.load.asked} needs max_connections of at least {needed}"
            f" ({SPARE_CONNECTIONS} are kept for superusers and the sampler); it is"
            f" {_limit(trial)}",
            f"--guc max_connections={needed}, or fewer clients",
        )

    def server_text(self, installation: Installation) -> str:
        return f" ({installation.name}) in {installation.bin_directory}"

    def server_object(self, installation: Installation) -> dict[str, str]:
        return {"folder": str(installation.bin_directory)}

    def actions(self, told: Told) -> Iterator[str]:
        own = [one for one in told.plan.trials if one.template.installation.attached is None]
        yield from _templates(told)
        yield _copies(told, own)
        yield from _pinning(told)
        yield from _limited(own)
        yield _servers(told, own)
        yield told.page_cache()

    def prepare(self, template: TemplateSpec) -> str:
        return (
            f"initdb with PostgreSQL {template.installation.version}"
            f" (checksums {'on' if template.checksums else 'off'}), {described(template.data)}"
        )

    def restore(self, trial: PlannedTrial, workload: Workload) -> str:
        named = [f"template {one[:12]}" for one in trial.fingerprints]
        if workload.changes_data:
            return "; ".join(f"clone {one} into a fresh cluster" for one in named)
        used = "; ".join(f"use the cluster cloned from {one}" for one in named)
        return f"{used}; this workload does not change it"

    def caches(self, measure: Measure) -> str:
        return _CACHES[measure.caches]

    def start(self, trial: PlannedTrial) -> str:
        changed = ", ".join(f"{name}={value}" for name, value in trial.settings)
        servers = " and ".join(f"PostgreSQL {one.installation.version}" for one in trial.templates)
        limit = trial.memory_limit
        inside = "" if limit is None else f" inside {format_size(limit)} of memory"
        return f"start {servers}{inside} on a private socket with {changed or 'defaults'}"

    def stop(self, workload: Workload) -> str:
        if workload.changes_data:
            return "stop the server and give its cluster's disk back"
        return "stop the server"


def _limit(trial: PlannedTrial) -> int:
    return count_setting(dict(trial.settings), "max_connections")


def _servers(told: Told, own: Collection[PlannedTrial]) -> str:
    sockets = "reached through a private Unix socket only: no network port is opened"
    study, most = told.plan.study, max((len(one.templates) for one in own), default=1)
    if not study.measure.side_by_side:
        servers = "one PostgreSQL server" if most == 1 else f"up to {most} PostgreSQL servers"
        started = f"start and stop {servers} at a time, as user {told.user}"
        return f"{started}, {told.at_most}{len(own)} times; it is {sockets}"
    starts = len({trial.restart for trial in own})
    load = "together" if study.measure.paired else "one of them at a time"
    return (
        f"start and stop {study.at_once * most} PostgreSQL servers side by side, as user"
        f" {told.user}, {told.at_most}{starts} times, under load {load}; they are"
        f" {sockets}"
    )


def _copies(told: Told, own: Collection[PlannedTrial]) -> str:
    places = [f"{path}/teiten-…" for path, _ in told.plan.needs.directories]
    if any(trial.directory is None for trial in own):
        places.insert(0, str(told.folder / "clusters"))
    where = " and ".join(places)
    if told.restored:
        return (
            f"copy a template to {where} before every trial of {' and '.join(told.restored)}, once"
            " for the other workloads; remove the copies at the end"
        )
    return f"copy each template to {where} once; remove the copies at the end"


def _pinning(told: Told) -> Iterator[str]:
    """The processors of each number of cores, in rising order."""
    pinned = (trial for trial in told.plan.trials if trial.server_cpus)
    found = {(trial.server_cpus, trial.client_cpus) for trial in pinned}
    for server, client in sorted(found, key=lambda one: (len(one[0]), one)):
        cores = "1 core" if len(server) == 1 else f"{len(server)} cores"
        yield (
            f"for {cores}, pin the server to processor {_listed(server)}, pgbench to"
            f" {_listed(client)}"
        )


def _limited(own: Collection[PlannedTrial]) -> Iterator[str]:
    limits = sorted({one.memory_limit for one in own if one.memory_limit is not None})
    if limits:
        sizes = " and ".join(format_size(limit) for limit in limits)
        yield (
            f"make a control group of {sizes}, without swap, for every start of a server: it and"
            " its load are in it, with the page cache of their files; before the first trial read"
            " a file larger than that in it, an empty one that takes no disk, to see that the"
            " limit holds"
        )


def _listed(cpus: Collection[int]) -> str:
    return ", ".join(str(cpu) for cpu in sorted(cpus)) or "none"


def _templates(told: Told) -> Iterator[str]:
    for template in told.plan.templates:
        if template.installation.attached is not None:
            continue
        checksums = f"checksums {'on' if template.checksums else 'off'}"
        words = f"PostgreSQL {template.installation.version}, {template.data}, {checksums}"
        if template.fingerprint in told.ready:
            yield f"use the template that is there: {words}"
        else:
            made = made_by(template.data)
            where = told.folder / "templates"
            yield f"make a template by initdb and {made} in {where}: {words}"
