"""Readings, memory, processors and virtual machines of invented /proc and /sys."""

from __future__ import annotations

from pathlib import Path

import pytest

from teiten.host.facts.cgroups import CgroupLimits
from teiten.host.facts.cpus import (
    cpu_model,
    governor,
    parse_cpuinfo,
    read_cpu_facts,
    topology,
    turbo,
    usable_processors,
)
from teiten.host.facts.machine import (
    distribution,
    read_container,
    read_host_facts,
    read_virtualisation,
)
from teiten.host.facts.memory import chosen, memory_facts, parse_meminfo
from teiten.host.facts.readings import parse_id_list, read_int, read_text
from teiten.host.system.page_cache import drop_page_cache, evict_files
from teiten.model.units import Bytes
from tests.unit.test_host_cgroups import write

NO_LIMITS = CgroupLimits(None, None, None)
MEMINFO = """\
MemTotal:       24684084 kB
MemFree:        10000000 kB
MemAvailable:   20000000 kB
Cached:          5000000 kB
SwapTotal:       1000000 kB
SwapFree:         900000 kB
HugePages_Total:      12
HugePages_Free:       10
Hugepagesize:       2048 kB
"""


def test_lists_of_processors() -> None:
    assert parse_id_list("0-3,8\n") == (0, 1, 2, 3, 8)
    assert parse_id_list("") == ()
    with pytest.raises(ValueError, match="invalid literal"):
        parse_id_list("a-b")


def test_files_that_are_missing_or_strange_are_none(tmp_path: Path) -> None:
    (tmp_path / "strange").write_bytes(b"\xff\n")
    assert read_text(tmp_path / "missing") is None
    assert read_int(tmp_path / "strange") is None
    assert read_text(tmp_path) is None


def test_memory_of_the_machine() -> None:
    facts = memory_facts(parse_meminfo(MEMINFO), NO_LIMITS, "always [madvise] never")
    assert facts.total == 24684084 * 1024
    assert facts.available == 20000000 * 1024
    assert facts.swap_used == 100000 * 1024
    assert (facts.huge_pages_total, facts.huge_pages_free) == (12, 10)
    assert facts.huge_page_size == 2 * 1024**2
    assert facts.transparent_huge_pages == "madvise"


def test_a_cgroups_memory_limit_is_applied_where_it_is_less() -> None:
    limits = CgroupLimits(None, Bytes(1000), Bytes(400))
    facts = memory_facts(parse_meminfo(MEMINFO), limits, None)
    assert (facts.total, facts.available) == (1000, 400)
    wide = CgroupLimits(None, Bytes(1 << 50), Bytes(1 << 50))
    assert memory_facts(parse_meminfo(MEMINFO), wide, None).total == 24684084 * 1024


def test_old_kernels_have_no_memavailable() -> None:
    text = "".join(line for line in MEMINFO.splitlines(True) if "Available" not in line)
    assert memory_facts(parse_meminfo(text), NO_LIMITS, None).available == 15000000 * 1024


def test_the_chosen_word() -> None:
    assert chosen("[always] madvise never") == "always"
    assert chosen(None) is None


def test_processors_of_an_invented_machine(tmp_path: Path) -> None:
    files = {
        "proc/cpuinfo": "processor: 0\nmodel name\t: Big  CPU @ 2GHz\n\nprocessor: 1\n",
        "sys/devices/system/cpu/online": "0-3",
        "sys/devices/system/node/online": "0-1",
        "sys/devices/system/cpu/intel_pstate/no_turbo": "0",
        "sys/devices/system/cpu/cpu0/cpufreq/cpuinfo_max_freq": "3500000",
    }
    for number in range(4):
        folder = f"sys/devices/system/cpu/cpu{number}"
        files[f"{folder}/topology/core_id"] = str(number % 2)
        files[f"{folder}/topology/physical_package_id"] = "0"
        files[f"{folder}/cpufreq/scaling_governor"] = "powersave" if number else "performance"
    facts = read_cpu_facts(0.5, write(tmp_path, files))
    assert facts.model == "Big CPU @ 2GHz"
    assert (facts.online, facts.physical_cores, facts.sockets) == (4, 2, 1)
    assert (facts.threads_per_core, facts.numa_nodes) == (2, 2)
    assert facts.governor == "performance,powersave"
    assert facts.turbo is True
    assert facts.maximum_mhz == 3500
    assert facts.logical == 1
    assert facts.quota_cores == 0.5


def test_the_quota_is_rounded_up() -> None:
    assert usable_processors(8, None) == 8
    assert usable_processors(8, 1.5) == 2
    assert usable_processors(2, 64.0) == 2


def test_arm_names_maker_and_part() -> None:
    text = "processor\t: 0\nCPU implementer\t: 0x41\nCPU part\t: 0xd0c\n"
    assert cpu_model(parse_cpuinfo(text)) == "ARM part 0xd0c"
    assert cpu_model(()) is None


def test_boost_of_amd_and_machines_that_do_not_tell(tmp_path: Path) -> None:
    assert turbo(tmp_path) is None
    assert governor(tmp_path, (0,)) is None
    assert topology(tmp_path, (0,)) == (None, None)
    assert turbo(write(tmp_path, {"sys/devices/system/cpu/cpufreq/boost": "0"})) is False


@pytest.mark.parametrize(
    ("files", "name"),
    [
        ({}, None),
        ({"sys/class/dmi/id/sys_vendor": "Dell Inc."}, None),
        ({"sys/class/dmi/id/sys_vendor": "QEMU"}, "kvm"),
        ({"sys/class/dmi/id/product_name": "VMware Virtual Platform"}, "vmware"),
        ({"sys/class/dmi/id/product_name": "Virtual Machine"}, "microsoft"),
        ({"sys/class/dmi/id/sys_vendor": "Amazon EC2"}, "amazon"),
        (
            {
                "sys/class/dmi/id/sys_vendor": "Amazon EC2",
                "sys/class/dmi/id/product_name": "m7i.metal-24xl",
            },
            None,
        ),
        ({"sys/hypervisor/type": "xen"}, "xen"),
        ({"proc/version": "Linux version 5.15-microsoft-standard-WSL2"}, "wsl"),
        ({"proc/cpuinfo": "flags\t\t: fpu hypervisor sse\n"}, "unknown"),
        ({"proc/cpuinfo": "flags\t\t: fpu sse\n"}, None),
        (
            {
                "sys/devices/system/clocksource/clocksource0/available_clocksource": (
                    "tsc kvm-clock"
                )
            },
            "kvm",
        ),
    ],
)
def test_hypervisors(tmp_path: Path, files: dict[str, str], name: str | None) -> None:
    assert read_virtualisation(write(tmp_path, files)) == name


@pytest.mark.parametrize(
    ("files", "name"),
    [
        ({}, None),
        ({".dockerenv": ""}, "docker"),
        ({"run/.containerenv": ""}, "podman"),
        ({"proc/1/cgroup": "1:cpu:/kubepods/x"}, "kubepods"),
        ({"proc/1/environ": "A=1\0container=lxc\0B=2"}, "lxc"),
        ({"run/systemd/container": "systemd-nspawn\n"}, "systemd-nspawn"),
    ],
)
def test_containers(tmp_path: Path, files: dict[str, str], name: str | None) -> None:
    assert read_container(write(tmp_path, files), {}) == name


def test_kubernetes_is_told_by_the_environment(tmp_path: Path) -> None:
    assert read_container(tmp_path, {"KUBERNETES_SERVICE_HOST": "10.0.0.1"}) == "kubernetes"


def test_a_machine_made_from_a_containers_image_is_no_container(tmp_path: Path) -> None:
    write(tmp_path, {".dockerenv": ""})
    namespaces = tmp_path / "proc/self/ns"
    namespaces.mkdir(parents=True)
    for name, number in (("uts", 4026531838), ("ipc", 4026531839), ("pid", 4026531836)):
        (namespaces / name).symlink_to(f"{name}:[{number}]")
    assert read_container(tmp_path, {}) is None
    (namespaces / "pid").unlink()
    (namespaces / "pid").symlink_to("pid:[4026532000]")
    assert read_container(tmp_path, {}) == "docker"


def test_the_distribution_is_the_pretty_name() -> None:
    assert distribution('NAME="x"\nPRETTY_NAME="Debian GNU/Linux 12"\n') == "Debian GNU/Linux 12"
    assert distribution("NAME=x") is None
    assert distribution(None) is None


def test_this_machine_can_be_read(tmp_path: Path) -> None:
    facts = read_host_facts(tmp_path / "not/yet")
    assert 1 <= facts.cpu.logical <= facts.cpu.online
    assert 0 < facts.memory.available <= facts.memory.total
    assert facts.disk.free > 0
    assert facts.kernel
    assert facts.cpu.model


def test_a_machine_that_tells_nothing_can_be_read_too(tmp_path: Path) -> None:
    facts = read_host_facts(tmp_path, root=tmp_path / "empty")
    assert facts.memory.total > 0
    assert facts.cpu.logical >= 1
    assert facts.clock_source is None
    assert facts.perf_event_paranoid is None
    assert facts.pressure_stall is False


def test_files_are_evicted_and_links_and_sockets_left_alone(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder/file").write_bytes(b"x" * 100_000)
    (tmp_path / "dangling").symlink_to(tmp_path / "nowhere")
    assert evict_files(tmp_path) is True
    assert (tmp_path / "folder/file").read_bytes() == b"x" * 100_000
    assert evict_files(tmp_path / "nowhere") is True


def test_the_page_cache_is_dropped_through_the_switch(tmp_path: Path) -> None:
    assert drop_page_cache(tmp_path / "missing") is False
    switch = tmp_path / "drop_caches"
    switch.write_text("")
    assert drop_page_cache(switch) is True
    assert switch.read_text() == "3\n"
