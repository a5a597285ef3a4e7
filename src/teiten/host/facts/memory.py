"""Memory, swap and huge pages."""

from __future__ import annotations

import re
from pathlib import Path

import psutil

from teiten.host.facts.cgroups import CgroupLimits
from teiten.host.facts.readings import read_text
from teiten.model.facts import MemoryFacts
from teiten.model.units import Bytes

PAGE_SETTING = Path("sys/kernel/mm/transparent_hugepage/enabled")


def read_memory_facts(limits: CgroupLimits, root: Path = Path("/")) -> MemoryFacts:
    """Linux: from /proc/meminfo, with the cgroup's limits applied; elsewhere from psutil."""
    meminfo = parse_meminfo(read_text(root / "proc/meminfo") or "")
    if "MemTotal" in meminfo:
        return memory_facts(meminfo, limits, read_text(root / PAGE_SETTING))
    memory, swap = psutil.virtual_memory(), psutil.swap_memory()
    return MemoryFacts(
        total=Bytes(memory.total),
        available=Bytes(memory.available),
        swap_total=Bytes(swap.total),
        swap_used=Bytes(swap.used),
        huge_pages_total=None,
        huge_pages_free=None,
        huge_page_size=None,
        transparent_huge_pages=None,
    )


def memory_facts(
    meminfo: dict[str, int], limits: CgroupLimits, page_setting: str | None
) -> MemoryFacts:
    """Decide the facts from what was read. ``meminfo`` as ``parse_meminfo`` returns it."""
    total = meminfo["MemTotal"]
    available = meminfo.get("MemAvailable", meminfo.get("MemFree", 0) + meminfo.get("Cached", 0))
    swap_total = meminfo.get("SwapTotal", 0)
    size = meminfo.get("Hugepagesize")
    return MemoryFacts(
        total=Bytes(min(total, _or(limits.memory_limit, total))),
        available=Bytes(min(available, _or(limits.memory_available, available))),
        swap_total=Bytes(swap_total),
        swap_used=Bytes(swap_total - meminfo.get("SwapFree", swap_total)),
        huge_pages_total=meminfo.get("HugePages_Total"),
        huge_pages_free=meminfo.get("HugePages_Free"),
        huge_page_size=None if size is None else Bytes(size),
        transparent_huge_pages=chosen(page_setting),
    )


def parse_meminfo(text: str) -> dict[str, int]:
    """/proc/meminfo in bytes; lines without a unit (HugePages_Total) are counts."""
    result: dict[str, int] = {}
    for line in text.splitlines():
        match = re.match(r"([^:\s]+):\s+(\d+)(\s+kB)?\s*$", line)
        if match:
            result[match[1]] = int(match[2]) * (1024 if match[3] else 1)
    return result


def chosen(setting: str | None) -> str | None:
    """The bracketed word of ``always [madvise] never``."""
    match = re.search(r"\[(\S+)\]", setting or "")
    return match[1] if match else None


def _or(limit: Bytes | None, otherwise: int) -> int:
    return otherwise if limit is None else limit
