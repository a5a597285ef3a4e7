"""The note on the memory beside every result: how much, and how it is known."""

from __future__ import annotations

from teiten.kinds.probes.results import MemoryKnown, probes_found
from teiten.report.numbers import bytes_text
from teiten.report.view.kit import Kit


def memory_text(kit: Kit) -> str:
    """``Memory: 2 GiB …, by a control group (checked: of 2.25 GiB read, 1.96 GiB stayed).``"""
    found = probes_found(kit.analysis).memories
    if not found:
        return ""
    return kit.t("probe.memory", listed=kit.t("list.strong").join(_said(kit, one) for one in found))


def _said(kit: Kit, one: MemoryKnown) -> str:
    memory = bytes_text(one.memory)
    if not one.limited:
        return kit.t("probe.memory-machine", memory=memory)
    if one.read is None or one.stayed is None:
        return kit.t("probe.memory-limited", memory=memory)
    return kit.t(
        "probe.memory-checked",
        memory=memory,
        read=bytes_text(one.read),
        stayed=bytes_text(one.stayed),
    )
