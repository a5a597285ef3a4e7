"""Servers that Teiten starts on this machine."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping

from teiten.datasets.plan import described, made_by
from teiten.errors import UsageError
from teiten.factors.contract import Need
from teiten.model.installation import Installation
from teiten.model.plan import PlannedTrial, TemplateSpec
from teiten.model.quantities import format_size
from teiten.model.settings import SPARE_CONNECTIONS, count_setting
from teiten.model.study import CachePolicy, Layout, Measure
from teiten.model.text import Bilingual
from teiten.plan.sites.contract import ActionContext, Lack, SitePlan
from teiten.ways.registry import servers_of_a_start, way_of

_CACHES = {
    CachePolicy.KEEP: "leave the OS page cache as it is",
    CachePolicy.EVICT: "evict the cluster's files from the OS page cache",
    CachePolicy.DROP: "drop the OS page cache if that is allowed, else evict the cluster's files",
}

_MODULES = {Need.PREWARM: "pg_prewarm", Need.BUFFERS: "pg_buffercache"}


class LocalPlan(SitePlan):
    starts = True

    def lacks(self, level: str, installation: Installation) -> Mapping[Need, Lack]:
        """Contrib modules that are not among its files."""
        return {
            need: _without(module, level)
            for need, module in _MODULES.items()
            if installation.surely_lacks(module)
        }

    def check_trial(self, trial: PlannedTrial) -> None:
        """The lock table has room for all partitions of its tables."""
        room = lock_room(trial)
        for template in trial.templates:
            layout = template.data.layout
            if layout is not None and layout.relations > room:
                raise _too_many_partitions(trial, layout, room)

    def connections(self, trial: PlannedTrial) -> tuple[int, int]:
        return trial.load.most_connections + SPARE_CONNECTIONS, _limit(trial)

    def too_few_connections(self, trial: PlannedTrial) -> UsageError:
        needed, limit = self.connections(trial)
        return UsageError(
            f"{trial.load.asked} needs max_connections of at least {needed}"
            f" ({SPARE_CONNECTIONS} are kept for superusers and the sampler); it is {limit}",
            f"--guc max_connections={needed}, or fewer clients",
        )

    def server_text(self, installation: Installation) -> str:
        return f" ({installation.name}) in {installation.bin_directory}"

    def server_object(self, installation: Installation) -> dict[str, str]:
        return {"folder": str(installation.bin_directory)}

    def actions(self, context: ActionContext) -> Iterator[str]:
        own = [
            trial for trial in context.plan.trials if trial.template.installation.attached is None
        ]
        yield from _templates(context)
        yield from _storages(context)
        yield _copies(context, own)
        yield from _pinning(context)
        yield from _limited(own)
        yield from _emulated(own)
        yield _servers(context, own)
        yield context.page_cache()

    def prepare(self, template: TemplateSpec) -> str:
        return (
            f"initdb with PostgreSQL {template.installation.version}"
            f" (checksums {'on' if template.checksums else 'off'}), {described(template.data)}"
        )

    def restore(self, trial: PlannedTrial, *, restores: bool) -> str:
        named = [f"template {template[:12]}" for template in trial.fingerprints]
        if trial.placement is not None:
            parts = ", ".join(f"{part} on {name}" for part, name in trial.placement.storages)
            return "; ".join(
                f"clone {template} into a fresh cluster: {parts}" for template in named
            )
        if restores:
            return "; ".join(f"clone {template} into a fresh cluster" for template in named)
        used = "; ".join(f"use the cluster cloned from {template}" for template in named)
        return f"{used}; this workload does not change it"

    def caches(self, measure: Measure) -> str:
        return _CACHES[measure.caches]

    def start(self, trial: PlannedTrial) -> str:
        changed = ", ".join(f"{name}={value}" for name, value in trial.settings)
        servers = " and ".join(
            f"PostgreSQL {template.installation.version}" for template in trial.templates
        )
        limit = next(iter(trial.memory_limits), None)
        inside = "" if limit is None else f" inside {format_size(limit)} of memory"
        if trial.machines:
            nodes = "an emulated node" if len(trial.machines) == 1 else "emulated nodes"
            inside = f" as {nodes}" + ("" if limit is None else f" of {format_size(limit)}")
        return f"start {servers}{inside} on a private socket with {changed or 'defaults'}"

    def stop(self, *, restores: bool) -> str:
        if restores:
            return "stop the server and give its cluster's disk back"
        return "stop the server"


def _without(module: str, level: str) -> Lack:
    return Lack(
        Bilingual(
            f"it needs {module}, which is not among the files of this server",
            f"{module}が必要であり、このサーバには含まれていない",
        ),
        Bilingual(
            f"Install the contrib modules of {level} (postgresql-contrib), or name a server that"
            " has them: teiten pg install 18, then --servers 18.",
            f"{level}のcontribモジュール（postgresql-contrib）をインストールするか、"
            "contribを含むサーバを指定する（teiten pg install 18、--servers 18）。",
        ),
    )


def _limit(trial: PlannedTrial) -> int:
    return count_setting(dict(trial.settings), "max_connections")


def lock_room(trial: PlannedTrial) -> int:
    """For how many relations the server's lock table is surely made: PostgreSQL adds its own
    processes to the connections, and some room, but promises none of it."""
    settings = dict(trial.settings)
    holders = _limit(trial) + count_setting(settings, "max_prepared_transactions")
    return count_setting(settings, "max_locks_per_transaction") * holders


def _too_many_partitions(trial: PlannedTrial, layout: Layout, room: int) -> UsageError:
    of_each = "an index" if layout.indexes == 1 else f"{layout.indexes} indexes"
    indexes = f" with {of_each} each" if layout.indexes else ""
    needed = -(-layout.relations // (room // _locks(trial)))
    return UsageError(
        f"the layout {layout.name}: a transaction that leaves out none of {layout.partitions}"
        f" partitions{indexes} locks {layout.relations} relations, and the server's lock table has"
        f" room for {room} (max_locks_per_transaction = {_locks(trial)}, times max_connections)",
        f"--guc max_locks_per_transaction={needed}, or fewer partitions: --set layout=…",
    )


def _locks(trial: PlannedTrial) -> int:
    return count_setting(dict(trial.settings), "max_locks_per_transaction")


def _servers(context: ActionContext, own: Collection[PlannedTrial]) -> str:
    sockets = "reached through a private Unix socket only: no network port is opened"
    if any(machine.network for trial in own for machine in trial.machines):
        sockets += " outside of the nodes' own network namespaces"
    way = way_of(context.plan.study.measure)
    most = max((len(trial.templates) for trial in own), default=1)
    sides = servers_of_a_start(context.plan.study)
    starts = len({trial.restart for trial in own}) if way.side_by_side else len(own)
    if sides == 1:
        servers = "one PostgreSQL server" if most == 1 else f"up to {most} PostgreSQL servers"
        started = f"start and stop {servers} at a time, as user {context.user}"
        return f"{started}, {context.at_most}{starts} times; it is {sockets}"
    load = "together" if way.concurrent else "one of them at a time"
    return (
        f"start and stop {sides * most} PostgreSQL servers side by side, as user"
        f" {context.user}, {context.at_most}{starts} times, under load {load}; they are"
        f" {sockets}"
    )


def _storages(context: ActionContext) -> Iterator[str]:
    """Say what is done with storage classes before the first trial."""
    needed, clusters = dict(context.plan.needs.storages), context.folder / "clusters"
    used = [
        storage_class
        for storage_class in context.plan.study.storage
        if storage_class.name in needed
    ]
    for storage_class in used:
        if storage_class.emulation is not None:
            yield (
                f"emulate the storage {storage_class.name}: as root make a file of"
                f" {format_size(storage_class.emulation.size)} in {storage_class.path or clusters},"
                " attach it as a loop device, make an ext4 file system on it, mount it in"
                f" {clusters}, limit what a control group (of version 1 the kernel"
                " too) transfers from and to it; unmount, detach and remove it at the end"
            )
    if used:
        names = ", ".join(storage_class.name for storage_class in used)
        yield f"measure the storage {names} with a file in each, for some seconds"


def _copies(context: ActionContext, own: Collection[PlannedTrial]) -> str:
    storage = context.plan.study.storage
    emulated = [storage_class for storage_class in storage if storage_class.emulation is not None]
    not_folders = {storage_class.path for storage_class in emulated}
    folders = (path for path, _ in context.plan.needs.directories if path not in not_folders)
    places = [f"{path}/teiten-…" for path in folders]
    places += [f"the emulated storage {storage_class.name}" for storage_class in emulated]
    if any(trial.directory is None and trial.placement is None for trial in own):
        places.insert(0, str(context.folder / "clusters"))
    where = " and ".join(places)
    if context.restored:
        return (
            f"copy a template to {where} before every trial of {' and '.join(context.restored)},"
            " once for the other workloads; remove the copies at the end"
        )
    return f"copy each template to {where} once; remove the copies at the end"


def _pinning(context: ActionContext) -> Iterator[str]:
    """The processors of each number of cores, in rising order."""
    pinned = (trial for trial in context.plan.trials if trial.server_cpus)
    sets = {(trial.server_cpus, trial.client_cpus) for trial in pinned}
    for server, client in sorted(sets, key=lambda cpus: (len(cpus[0]), cpus)):
        cores = "1 core" if len(server) == 1 else f"{len(server)} cores"
        yield (
            f"for {cores}, pin the server to processor {_listed(server)}, pgbench to"
            f" {_listed(client)}"
        )


def _limited(own: Collection[PlannedTrial]) -> Iterator[str]:
    limits = sorted({trial.memory_limit for trial in own if trial.memory_limit is not None})
    if limits:
        sizes = " and ".join(format_size(limit) for limit in limits)
        yield (
            f"make a control group of {sizes}, without swap, for every start of a server: it and"
            " its load are in it, with the page cache of their files; before the first trial read"
            " a file larger than that in it, an empty one that takes no disk, to see that the"
            " limit holds"
        )


def _emulated(own: Collection[PlannedTrial]) -> Iterator[str]:
    """Say how nodes are made machines of their own, by the trial that has the most of them."""
    machines = max((trial.machines for trial in own), key=len, default=())
    if not machines:
        return
    first, count = machines[0], len(machines)
    nodes = "the node" if count == 1 else f"each of up to {count} nodes"
    if first.network:
        yield (
            f"make a network namespace for {nodes}, and one with a bridge between them, for every"
            " start of servers: addresses from 198.18.0.1 on are given and TCP ports opened in"
            " these alone, nothing outside of them is changed or reached"
        )
    sizes = [
        *([f"{format_size(first.memory)} of memory without swap"] if first.memory else []),
        *([f"reading at most {format_size(first.read)}/s"] if first.read else []),
        *([f"writing at most {format_size(first.write)}/s"] if first.write else []),
    ]
    if sizes:
        yield (
            f"make control groups for {nodes}, with {', '.join(sizes)}: its server is in them, with"
            " the page cache of its files, the load is not; before the first trial see that they"
            " hold"
        )
    sets = dict.fromkeys(_listed(machine.cpus) for machine in machines if machine.cpus)
    if sets:
        yield f"pin the servers of the nodes to processors: {'; '.join(sets)}"


def _listed(cpus: Collection[int]) -> str:
    return ", ".join(str(cpu) for cpu in sorted(cpus)) or "none"


def _templates(context: ActionContext) -> Iterator[str]:
    for template in context.plan.templates:
        if template.installation.attached is not None:
            continue
        checksums = f"checksums {'on' if template.checksums else 'off'}"
        words = f"PostgreSQL {template.installation.version}, {template.data}, {checksums}"
        if template.fingerprint in context.ready:
            yield f"use the template that is there: {words}"
        else:
            made = made_by(template.data)
            where = context.folder / "templates"
            yield f"make a template by initdb and {made} in {where}: {words}"
