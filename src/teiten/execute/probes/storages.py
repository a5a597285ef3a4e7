"""The totals of a window with those of each storage class. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from teiten.execute.probes.os import OsSnapshot, disk_rates, totals
from teiten.model.storage import BUSY, storage_metric


def window_totals(
    before: OsSnapshot,
    after: OsSnapshot,
    *,
    storages: Mapping[str, tuple[str, ...]],
    apart: frozenset[str],
) -> dict[str, float]:
    """``totals`` of the devices that are not ``apart``, whose transfers another one counts again,
    and the metrics of each storage class: rates of its devices together, of the busiest its time.
    """
    whole = totals(_without(before, apart), _without(after, apart))
    seconds = max(after.at - before.at, 1e-9)
    for name, devices in storages.items():
        known = [device for device in devices if device in before.disks and device in after.disks]
        rates = [disk_rates(before.disks[one], after.disks[one], seconds) for one in known]
        for column in rates[0] if rates else ():
            values = [rate[column] for rate in rates]
            whole[storage_metric(name, column)] = max(values) if column == BUSY else sum(values)
    return whole


def _without(snapshot: OsSnapshot, apart: frozenset[str]) -> OsSnapshot:
    disks = {name: one for name, one in snapshot.disks.items() if name not in apart}
    return replace(snapshot, disks=disks)
