"""Parameters of the kernel that a repetition on another machine has to know."""

from __future__ import annotations

from pathlib import Path

from teiten.host.facts.readings import read_text

PARAMETERS = (
    "vm.swappiness",
    "vm.dirty_ratio",
    "vm.dirty_background_ratio",
    "vm.dirty_bytes",
    "vm.dirty_background_bytes",
    "vm.dirty_expire_centisecs",
    "vm.dirty_writeback_centisecs",
    "vm.overcommit_memory",
    "vm.overcommit_ratio",
    "vm.nr_hugepages",
    "vm.zone_reclaim_mode",
    "kernel.numa_balancing",
    "kernel.sched_autogroup_enabled",
)
PRODUCT = ("sys_vendor", "product_name", "product_version")


def read_kernel_parameters(root: Path = Path("/")) -> tuple[tuple[str, str], ...]:
    """Name and value of those that this kernel has, as sysctl(8) names them."""
    values = ((name, read_text(root / "proc/sys" / name.replace(".", "/"))) for name in PARAMETERS)
    return tuple((name, " ".join(value.split())) for name, value in values if value)


def boot_id(root: Path = Path("/")) -> str | None:
    """Read the kernel's id of this boot of the machine (random(4)); None where it has none."""
    return read_text(root / "proc/sys/kernel/random/boot_id") or None


def pid_namespace() -> str | None:
    """Read the inode of our pid namespace, in ``pid:[4026531836]``; None where there are none."""
    try:
        return Path("/proc/self/ns/pid").readlink().name.strip("pid:[]")
    except OSError:
        return None


def read_scheduler(device: str, root: Path = Path("/")) -> str | None:
    """The I/O scheduler of a disk (``/dev/sda1``), which is that of the whole disk; None where the
    kernel names none."""
    name = device.removeprefix("/dev/")
    place = root / "sys/class/block" / name
    for queue in (place / "queue", place.resolve().parent / "queue"):
        text = read_text(queue / "scheduler")
        if text:
            chosen = text.partition("[")[2].partition("]")[0]
            return chosen or text.strip() or None
    return None


def read_product(root: Path = Path("/")) -> str | None:
    """Read what the firmware calls the machine (DMI), where clouds name the type of an instance."""
    texts = (read_text(root / "sys/class/dmi/id" / name) for name in PRODUCT)
    words = dict.fromkeys(text.strip() for text in texts if text and text.strip())
    return " ".join(words) or None
