"""Cautions about what could disturb or limit a measurement here. Pure: facts in, cautions out.

The texts stand in ``report/i18n/cautions.*.toml`` under ``caution.<code>``.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import replace

from teiten.host.cautions.variants import variant_cautions
from teiten.host.facts.disks import (
    COPY_ON_WRITE_FILE_SYSTEMS,
    MEMORY_FILE_SYSTEMS,
    NETWORK_FILE_SYSTEMS,
)
from teiten.host.facts.stacks import kernel_allowed, of_host, profiling_caution
from teiten.model.facts import Caution, HostFacts, Severity
from teiten.model.plan import Plan
from teiten.model.quantities import format_size
from teiten.model.study import CachePolicy
from teiten.model.units import GIB

FEW_CORES = 4
"""Below it the load generator takes a large part of the machine from the server."""
LOAD_SHARE = 0.15
LOAD_MINIMUM = 0.3
"""A load average above both (the share is of the cores) is somebody else's work."""
LOW_MEMORY_SHARE = 0.25
LOW_MEMORY = 1 * GIB
LOW_DISK_SHARE = 0.10
LOW_DISK = 5 * GIB
GOOD_CLOCKS = frozenset({"tsc", "arch_sys_counter", "timebase", "tod"})
"""Clocks read without entering the kernel (tod: s390x, timebase: POWER)."""

Found = Iterable[Caution]


def cautions(facts: HostFacts, *, clients: int | None = None) -> tuple[Caution, ...]:
    """Cautions of the machine, warnings first.

    ``clients``: the largest number of clients that is planned, where that is known.
    """
    known = [caution for rule in RULES for caution in rule(facts)]
    if clients is not None and clients > facts.cpu.logical:
        known.append(
            Caution.note("more-clients-than-cores", clients=clients, cores=facts.cpu.logical)
        )
    return warnings_first(known)


def plan_cautions(plan: Plan, facts: HostFacts) -> tuple[Caution, ...]:
    """Cautions that only this plan has on this machine; those of ``cautions`` are not repeated."""
    known: list[Caution] = []
    if plan.study.measure.caches is CachePolicy.DROP and not facts.can_drop_page_cache:
        known.append(Caution.warning("page-cache-kept"))
    known += variant_cautions(plan, facts)
    if plan.study.measure.flame_graph:
        profiling = profiling_caution(of_host(facts))
        known += [profiling] if profiling is not None else []
    for directory in facts.directories:
        known += _file_system(replace(facts, disk=directory.disk))
    return warnings_first(known)


def telemetry_missing(source: str, reason: str) -> Caution:
    """A source of telemetry could not be read: a caution, never a failure."""
    return Caution.note("telemetry-missing", source=source, reason=reason)


def data_changed(workload: str) -> Caution:
    """A workload that was declared not to change data changed some."""
    return Caution.warning("data-changed", workload=workload)


def compiler_of(version_text: str) -> str | None:
    """The compiler in the text of ``version()``; None where it names none."""
    match = re.search(r"compiled by (.+?)(?:, (?:32|64)-bit)?\s*$", version_text)
    return match[1] if match else None


def warnings_first(cautions: Iterable[Caution]) -> tuple[Caution, ...]:
    """In the given order, but warnings before notes, and each only once."""
    unique = dict.fromkeys(cautions)
    return tuple(sorted(unique, key=lambda caution: caution.severity is Severity.NOTE))


def _load(facts: HostFacts) -> Found:
    load, cores = facts.load_average, facts.cpu.logical
    if load is not None and load > max(LOAD_MINIMUM, LOAD_SHARE * cores):
        yield Caution.warning("other-load", load=f"{load:.2f}", cores=cores)


def _swap(facts: HostFacts) -> Found:
    memory = facts.memory
    if memory.swap_used > 0:
        used, total = format_size(memory.swap_used), format_size(memory.swap_total)
        yield Caution.warning("swap-in-use", used=used, total=total)
    elif memory.swap_total > 0:
        yield Caution.note("swap-present", total=format_size(memory.swap_total))


def _memory(facts: HostFacts) -> Found:
    available, total = facts.memory.available, facts.memory.total
    if available < max(LOW_MEMORY, LOW_MEMORY_SHARE * total):
        yield Caution.warning(
            "memory-low", available=format_size(available), total=format_size(total)
        )


def _huge_pages(facts: HostFacts) -> Found:
    if facts.memory.transparent_huge_pages == "always":
        yield Caution.warning("transparent-huge-pages")


def _clock_control(facts: HostFacts) -> Found:
    governor = facts.cpu.governor
    if governor is not None and governor != "performance":
        if "powersave" in governor:
            yield Caution.warning("frequency-governor", governor=governor)
        else:
            yield Caution.note("frequency-governor", governor=governor)
    if facts.cpu.turbo:
        yield Caution.note("turbo-on")
    elif facts.cpu.turbo is None and facts.virtualisation is None:
        yield Caution.note("turbo-unknown")


def _cores(facts: HostFacts) -> Found:
    cpu = facts.cpu
    if cpu.logical < FEW_CORES:
        yield Caution.warning("few-cores", cores=cpu.logical)
    yield Caution.note("shared-cores", cores=cpu.logical)
    if cpu.quota_cores is not None:
        yield Caution.warning("cgroup-quota", quota=f"{cpu.quota_cores:g}", cores=cpu.online)
    if (cpu.threads_per_core or 1) > 1:
        yield Caution.note(
            "hardware-threads", threads=cpu.threads_per_core or 1, cores=cpu.physical_cores or 0
        )
    if (cpu.numa_nodes or 1) > 1:
        yield Caution.note("numa-nodes", nodes=cpu.numa_nodes or 1)


def _guests(facts: HostFacts) -> Found:
    if facts.virtualisation is not None and facts.system == "Linux":
        yield Caution.warning("virtual-machine", hypervisor=facts.virtualisation)
    if facts.container is not None:
        yield Caution.note("container", engine=facts.container)


def _file_system(facts: HostFacts) -> Found:
    disk = facts.disk
    where = {"mount_point": disk.mount_point, "file_system": disk.file_system}
    if disk.file_system in COPY_ON_WRITE_FILE_SYSTEMS:
        yield Caution.warning("copy-on-write", **where)
    if disk.file_system in MEMORY_FILE_SYSTEMS:
        yield Caution.warning("memory-file-system", **where)
    if disk.file_system in NETWORK_FILE_SYSTEMS or disk.kind == "network":
        yield Caution.warning("network-file-system", **where)
    if disk.file_system in {"overlay", "fuse-overlayfs", "aufs"}:
        yield Caution.note("overlay-file-system", **where)


def _disk(facts: HostFacts) -> Found:
    disk = facts.disk
    if disk.kind == "hdd":
        yield Caution.note("rotational-disk", device=disk.device)
    if disk.free < max(LOW_DISK, LOW_DISK_SHARE * disk.total):
        free, total = format_size(disk.free), format_size(disk.total)
        yield Caution.warning(
            "disk-nearly-full", free=free, total=total, mount_point=disk.mount_point
        )


def _instruments(facts: HostFacts) -> Found:
    if facts.system != "Linux":
        yield Caution.note("other-system", system=facts.system)
        return
    if facts.clock_source is not None and facts.clock_source not in GOOD_CLOCKS:
        yield Caution.note("clock-source", clock=facts.clock_source)
    if not kernel_allowed(of_host(facts)):
        yield Caution.note("perf-not-allowed", paranoid=facts.perf_event_paranoid)
    if not facts.pressure_stall:
        yield Caution.note("pressure-stall-missing")


RULES: tuple[Callable[[HostFacts], Found], ...] = (
    _load,
    _swap,
    _memory,
    _huge_pages,
    _clock_control,
    _cores,
    _guests,
    _file_system,
    _disk,
    _instruments,
)
