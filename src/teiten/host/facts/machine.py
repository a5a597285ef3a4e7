"""Everything about the machine in one value. Nothing is decided here: see ``cautions``.

Whether it is a virtual machine or a container is told as by systemd-detect-virt(1), but from files
alone: no program is started.
"""

from __future__ import annotations

import os
import platform
import re
import shutil
import sys
from collections.abc import Mapping
from pathlib import Path

from teiten.given_paths import exists
from teiten.host.ceilings.kept import cached_ceilings
from teiten.host.facts.cgroups import read_cgroup_limits
from teiten.host.facts.cpus import read_cpu_facts
from teiten.host.facts.disks import disk_of
from teiten.host.facts.kernel import read_kernel_parameters, read_product, read_scheduler
from teiten.host.facts.memory import read_memory_facts
from teiten.host.facts.readings import read_int, read_text
from teiten.host.system.page_cache import can_drop_page_cache
from teiten.host.system.paths import Workdir
from teiten.host.system.users import is_root
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
        is_root=is_root(),
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
    match = re.search(r"^PRETTY_NAME=(.*)", os_release or "", re.MULTILINE)
    return match[1].strip().strip("\"'") if match else None


def _load_average() -> float | None:
    try:
        return os.getloadavg()[0]
    except (OSError, AttributeError):
        return None


BY_WORD = (
    ("kvm", "kvm"),
    ("qemu", "kvm"),
    ("amazon ec2", "amazon"),
    ("google compute engine", "google"),
    ("vmware", "vmware"),
    ("virtualbox", "oracle"),
    ("innotek", "oracle"),
    ("xen", "xen"),
    ("parallels", "parallels"),
    ("bhyve", "bhyve"),
    ("openstack", "openstack"),
    ("digitalocean", "digitalocean"),
    ("alibaba cloud ecs", "alibaba"),
    ("virtual machine", "microsoft"),
    ("apple virtualization", "apple"),
)
"""Words in the DMI names, and what systemd calls their hypervisor."""
CLOCKS = (("kvm-clock", "kvm"), ("hyperv_clocksource", "microsoft"), ("xen", "xen"))
ENGINES = ("docker", "kubepods", "containerd", "libpod", "lxc", "garden", "podman")
MARKS = (("run/.containerenv", "podman"), (".dockerenv", "docker"))
FIRST_NAMESPACES = {"uts": 0xEFFFFFFE, "ipc": 0xEFFFFFFF, "pid": 0xEFFFFFFC}
"""Linux, include/linux/proc_ns.h: the numbers of the namespaces that the kernel starts with."""
BARE_METAL = re.compile(r"\bmetal\b")


def read_virtualisation(root: Path = Path("/")) -> str | None:
    """The hypervisor's name; None on bare metal; ``unknown`` where there is one without a name."""
    if "microsoft" in (read_text(root / "proc/version") or "").lower():
        return "wsl"
    names = " ".join(
        read_text(root / "sys/class/dmi/id" / key) or ""
        for key in ("sys_vendor", "product_name", "board_vendor", "bios_vendor")
    ).lower()
    if BARE_METAL.search(names):  # such as Amazon's m7i.metal
        return None
    by_name = next((name for word, name in BY_WORD if word in names), None)
    return by_name or _by_kernel(root)


def _by_kernel(root: Path) -> str | None:
    hypervisor = read_text(root / "sys/hypervisor/type")
    if hypervisor:
        return hypervisor
    clocks = read_text(root / "sys/devices/system/clocksource/clocksource0/available_clocksource")
    for clock, name in CLOCKS:
        if clock in (clocks or ""):
            return name
    if re.search(r"^flags\s*:.*\bhypervisor\b", read_text(root / "proc/cpuinfo") or "", re.M):
        return "unknown"
    return "kvm" if exists(root / "proc/device-tree/hypervisor") else None


def read_container(
    root: Path = Path("/"), environment: Mapping[str, str] = os.environ
) -> str | None:
    """The container engine's name; None outside of one."""
    for mark, engine in MARKS:
        if exists(root / mark) and not _in_first_namespaces(root):
            return engine
    if "KUBERNETES_SERVICE_HOST" in environment:
        return "kubernetes"
    of_init = re.search(r"(?:^|\0)container=([^\0]+)", read_text(root / "proc/1/environ") or "")
    named = read_text(root / "run/systemd/container") or (of_init[1] if of_init else None)
    if named:
        return named
    groups = read_text(root / "proc/1/cgroup") or ""
    return next((engine for engine in ENGINES if engine in groups), None)


def _in_first_namespaces(root: Path) -> bool:
    """A machine whose files came from a container's image has its marks, and is none."""
    try:
        return all(
            (root / "proc/self/ns" / name).readlink().name == f"{name}:[{number}]"
            for name, number in FIRST_NAMESPACES.items()
        )
    except OSError:
        return False
