"""The ceilings that were measured on this machine and disk: kept, and found again."""

from __future__ import annotations

import hashlib
import json
import math
import platform
from dataclasses import asdict, fields
from pathlib import Path, PurePosixPath

from teiten.host.facts.cgroups import read_cgroup_limits
from teiten.host.facts.cpus import read_cpu_facts
from teiten.host.facts.disks import mount_of, nearest_existing, read_mounts
from teiten.host.facts.readings import read_text
from teiten.host.system.paths import Workdir
from teiten.model.bottleneck import Ceilings


def cached_ceilings(workdir: Workdir, root: Path = Path("/")) -> Ceilings | None:
    """Read what was measured earlier on this machine and disk; None if nothing was, or is spoilt.

    ``root``: of another /proc and /etc, for tests.
    """
    text = read_text(cache_file(workdir, root))
    if text is None:
        return None
    try:
        kept = json.loads(text)
        values = {ceiling.name: kept[ceiling.name] for ceiling in fields(Ceilings)}
        tool = str(values.pop("tool"))
        numbers = {name: float(value) for name, value in values.items()}
    except (ValueError, KeyError, TypeError):
        return None
    sound = all(0 < number < math.inf for number in numbers.values())
    return Ceilings(tool=tool, **numbers) if sound else None


def keep_ceilings(workdir: Workdir, ceilings: Ceilings) -> None:
    """For ``cached_ceilings``. The folder of caches exists."""
    text = json.dumps(asdict(ceilings), indent=2)
    cache_file(workdir).write_text(text, encoding="utf-8")


def cache_file(workdir: Workdir, root: Path = Path("/")) -> Path:
    """Named after all that ceilings depend on: machine, processors, quota, folder, file system.

    A working folder that moves to another machine or disk so loses its ceilings.
    """
    limits = read_cgroup_limits(root)
    cpu = read_cpu_facts(limits.cpu_quota_cores, root)
    mount = mount_of(PurePosixPath(nearest_existing(workdir.root).resolve()), read_mounts(root))
    parts = (
        read_text(root / "etc/machine-id") or platform.node(),
        f"{cpu.model} {cpu.logical} {cpu.quota_cores}",
        str(workdir.root.absolute()),
        f"{mount.source} {mount.file_system}" if mount else "",
    )
    digest = hashlib.sha256("\n".join(parts).encode()).hexdigest()
    return workdir.caches / f"ceilings-{digest[:16]}.json"
