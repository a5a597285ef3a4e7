"""Text on the provisional run that chose the clients."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from teiten.model.saturation import SATURATION
from teiten.report.effects import plain_percent
from teiten.report.numbers import significant
from teiten.report.view.kit import Kit


def saturation_rows(kit: Kit) -> Iterator[tuple[str, str]]:
    """A row for each workload; nothing of a campaign whose clients were declared."""
    for event in kit.analysis.events:
        if event.kind == SATURATION:
            yield kit.t("saturation.title"), _text(kit, event.detail)


def _text(kit: Kit, found: dict[str, Any]) -> str:
    t = kit.t
    probes = t("list.separator").join(
        t(
            "saturation.probe",
            clients=one["clients"],
            tps="—" if one["tps"] is None else significant(one["tps"], 4),
        )
        for one in found["probes"]
    )
    return t(
        "saturation.reached" if found["reached"] else "saturation.not-reached",
        workload=kit.names.workload(found["workload"]),
        clients=found["clients"],
        delta=plain_percent(t, found["delta"]),
        probes=probes,
        levels=t("list.separator").join(map(str, found["levels"])),
        provisional=found["provisional"],
    )
