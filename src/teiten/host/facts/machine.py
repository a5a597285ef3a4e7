"""Everything about the machine in one value. Nothing is decided here: see ``cautions``."""

from __future__ import annotations

import os
import platform
import shutil
import sys
from pathlib import Path

from teiten.host.ceilings.kept import cached_ceilings
from teiten.host.facts.cgroups import read_cgroup_limits
from teiten.host.facts.cpus import read_cpu_facts
from teiten.host.facts.disks import disk_of
from teiten.host.facts.kernel import read_kernel_parameters, read_product, read_scheduler
from teiten.host.facts.memory import read_memory_facts
from teiten.host.facts.readings import read_int, read_text
from teiten.host.facts.virtualisation import read_container, read_virtualisation
from teiten.host.system.page_cache import can_drop_page_cache
from teiten.host.system.paths import Workdir
from teiten.model.facts import HostFacts

CLOCK_SOURCE = Path("sys/devices/system/clocksource/clocksource0/current_clocksource")


def read_host_facts(workdir: Path, root: Path = Path("/")) -> HostFacts:
    """Read the machine; what it does not tell is None.

    ``workdir``: the folder whose disk is meant; it need not exist. ``root``: of another /proc and
    /sys, for tests.
    """
    limits = read_cgroup_limits(root)
    disk = disk_of(workdir, root)
    return HostFacts(
        system=platform.system(),
        distribution=distribution(read_text(root / "etc/os-release")) or platform.platform(),
        kernel=platform.release(),
        architecture=platform.machine(),
        cpu=read_cpu_facts(limits.cpu_quota_cores, root),
        memory=read_memory_facts(limits, root),
        disk=disk,
        virtualisation=read_virtualisation(root) if sys.platform == "linux" else "unknown",
        container=read_container(root),
        load_average=_load_average(),
        is_root=hasattr(os, "geteuid") and os.geteuid() == 0,
        clock_source=read_text(root / CLOCK_SOURCE),
        perf_event_paranoid=read_int(root / "proc/sys/kernel/perf_event_paranoid"),
        pressure_stall=read_text(root / "proc/pressure/cpu") is not None,
        can_drop_page_cache=can_drop_page_cache(),
        ceilings=cached_ceilings(Workdir(workdir), root),
        perf=shutil.which("perf"),
        kernel_parameters=read_kernel_parameters(root),
        io_scheduler=read_scheduler(disk.device, root),
        product=read_product(root),
    )


def distribution(os_release: str | None) -> str | None:
    """PRETTY_NAME of os-release(5)."""
    for line in (os_release or "").splitlines():
        key, _, value = line.partition("=")
        if key == "PRETTY_NAME":
            return value.strip().strip("\"'")
    return None


def _load_average() -> float | None:
    try:
        return os.getloadavg()[0]
    except (OSError, AttributeError):
        return None
