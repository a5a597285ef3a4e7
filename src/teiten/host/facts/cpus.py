"""Processors: model, topology, clock control, and how many of them we may use."""

from __future__ import annotations

import math
import os
from collections.abc import Iterable, Iterator
from pathlib import Path

import psutil

from teiten.host.facts.readings import read_id_list, read_int, read_text
from teiten.host.system.affinity import affinity
from teiten.model.facts import CpuFacts, LogicalCpu

CPUS = Path("sys/devices/system/cpu")
NODES = Path("sys/devices/system/node")
ARM_IMPLEMENTERS = {"0x41": "ARM", "0x48": "HiSilicon", "0x61": "Apple", "0xc0": "Ampere"}


def read_cpu_facts(quota_cores: float | None, root: Path = Path("/")) -> CpuFacts:
    """Linux: from /proc/cpuinfo and /sys; what they do not show, and elsewhere, from psutil."""
    cpuinfo = parse_cpuinfo(read_text(root / "proc/cpuinfo") or "")
    online_ids = read_id_list(root / CPUS / "online")
    online = len(online_ids) or psutil.cpu_count(logical=True) or 1
    cores, sockets = topology(root, online_ids)
    physical = cores or psutil.cpu_count(logical=False)
    return CpuFacts(
        model=cpu_model(cpuinfo) or _platform_model(),
        logical=usable_processors(allowed_processors(online), quota_cores),
        online=online,
        physical_cores=physical,
        sockets=sockets,
        numa_nodes=len(read_id_list(root / "sys/devices/system/node/online")) or None,
        threads_per_core=max(1, online // physical) if physical else None,
        governor=governor(root, online_ids),
        turbo=turbo(root),
        maximum_mhz=_maximum_mhz(root),
        quota_cores=quota_cores,
        cpus=tuple(logical_cpus(root, affinity(0) or ())),
    )


def usable_processors(allowed: int, quota_cores: float | None) -> int:
    """Processors of the affinity mask, or the quota rounded up where that is less; at least 1."""
    if quota_cores is None:
        return allowed
    return max(1, min(allowed, math.ceil(quota_cores)))


def parse_cpuinfo(text: str) -> tuple[dict[str, str], ...]:
    """/proc/cpuinfo: one dictionary for each paragraph."""
    blocks: list[dict[str, str]] = []
    for paragraph in text.split("\n\n"):
        pairs = (line.split(":", 1) for line in paragraph.splitlines() if ":" in line)
        blocks.append({key.strip(): value.strip() for key, value in pairs})
    return tuple(filter(None, blocks))


def cpu_model(blocks: Iterable[dict[str, str]]) -> str | None:
    """The processor's name as its maker prints it; on ARM the maker and the part's number."""
    for block in blocks:
        for key in ("model name", "cpu model", "Model", "Hardware", "cpu"):
            name = block.get(key)
            if name:
                return " ".join(name.split())
        if "CPU part" in block:
            implementer = block.get("CPU implementer", "")
            return f"{ARM_IMPLEMENTERS.get(implementer, implementer)} part {block['CPU part']}"
    return None


def topology(root: Path, online: Iterable[int]) -> tuple[int | None, int | None]:
    """Physical cores and sockets from /sys; None where it does not tell."""
    cores: set[tuple[int, int]] = set()
    for number in online:
        folder = root / CPUS / f"cpu{number}/topology"
        core = read_int(folder / "core_id")
        if core is None:
            return None, None
        cores.add((max(0, read_int(folder / "physical_package_id") or 0), core))
    if not cores:
        return None, None
    return len(cores), len({package for package, _ in cores})


def logical_cpus(root: Path, allowed: Iterable[int]) -> Iterator[LogicalCpu]:
    """Where each processor of the affinity mask is; without /sys each is a core of its own."""
    nodes = {
        number: int(folder.name.removeprefix("node"))
        for folder in (root / NODES).glob("node[0-9]*")
        for number in read_id_list(folder / "cpulist")
    }
    for number in sorted(allowed):
        folder = root / CPUS / f"cpu{number}/topology"
        core, package = read_int(folder / "core_id"), read_int(folder / "physical_package_id")
        yield LogicalCpu(
            number=number,
            core=number if core is None else core,
            package=max(0, package or 0),
            node=nodes.get(number, 0),
        )


def governor(root: Path, online: Iterable[int]) -> str | None:
    """The frequency governor; several are joined (``performance,powersave``)."""
    governors = {
        read_text(root / CPUS / f"cpu{number}/cpufreq/scaling_governor") for number in online
    } - {None, ""}
    return ",".join(sorted(name for name in governors if name)) or None


def turbo(root: Path) -> bool | None:
    """Whether the clock may rise above its nominal frequency; None where /sys does not tell."""
    no_turbo = read_int(root / CPUS / "intel_pstate/no_turbo")
    if no_turbo is not None:
        return no_turbo == 0
    boost = read_int(root / CPUS / "cpufreq/boost")
    return None if boost is None else boost == 1


def _maximum_mhz(root: Path) -> float | None:
    kilohertz = read_int(root / CPUS / "cpu0/cpufreq/cpuinfo_max_freq")
    if kilohertz is not None:
        return kilohertz / 1000
    try:
        maximum: float = psutil.cpu_freq().max
    except (OSError, NotImplementedError, RuntimeError, AttributeError):
        return None  # a virtual machine or container without it, some Macs
    return maximum or None


def allowed_processors(online: int | None = None) -> int:
    """Count the processors that this process may run on; ``online``: those that there are, where
    that is known."""
    allowed = affinity(0)
    return online or os.cpu_count() or 1 if allowed is None else len(allowed)


def _platform_model() -> str:
    import platform  # noqa: PLC0415 - starts a program on some systems

    return platform.processor() or platform.machine() or "unknown"
