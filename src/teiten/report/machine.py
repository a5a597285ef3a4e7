"""The facts of a machine in words, for reports and for ``teiten doctor``."""

from __future__ import annotations

from teiten.model.facts import HostFacts
from teiten.report.numbers import bytes_text, plain
from teiten.report.texts import Texts


def machine_rows(t: Texts, facts: HostFacts) -> list[tuple[str, str | None]]:
    """List what a machine is, name and value; None where that is not known."""
    cpu, memory, disk = facts.cpu, facts.memory, facts.disk
    available = memory.available
    system = (facts.distribution or facts.system, facts.kernel, facts.architecture)
    file_system = t("list.aside", said=disk.file_system, aside=disk.options)

    def count(value: float | None) -> str | None:
        return None if value is None else plain(value)

    def in_bytes(key: str, **sizes: float | None) -> str:
        return t(key, **{name: bytes_text(size) for name, size in sizes.items()})

    return [
        (t("fact.system"), " ".join(filter(None, system))),
        (t("fact.virtualisation"), facts.virtualisation or t("fact.bare")),
        (t("fact.container"), facts.container),
        (t("fact.product"), facts.product),
        (t("fact.cpu"), cpu.model),
        (t("fact.processors"), t("fact.processors.text", usable=cpu.logical, online=cpu.online)),
        (t("fact.cores"), count(cpu.physical_cores)),
        (t("fact.sockets"), count(cpu.sockets)),
        (t("fact.numa"), count(cpu.numa_nodes)),
        (t("fact.quota"), count(cpu.quota_cores)),
        (t("fact.governor"), cpu.governor),
        (t("fact.turbo"), None if cpu.turbo is None else t("word.on" if cpu.turbo else "word.off")),
        (t("fact.mhz"), count(cpu.maximum_mhz)),
        (t("fact.memory"), in_bytes("fact.memory.text", total=memory.total, available=available)),
        (
            t("fact.swap"),
            in_bytes("fact.swap.text", total=memory.swap_total, used=memory.swap_used),
        ),
        (t("fact.huge-pages"), count(memory.huge_pages_total)),
        (t("fact.transparent"), memory.transparent_huge_pages),
        (t("fact.disk"), f"{disk.kind}, {disk.device}"),
        (t("fact.scheduler"), facts.io_scheduler),
        (t("fact.file-system"), f"{file_system}, {disk.mount_point}"),
        (t("fact.space"), in_bytes("topology.space", free=disk.free, total=disk.total)),
    ]
