"""What each probe measured, side by side: accesses, sweeps, clients, checkpoints."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from teiten.kinds.probes.measurement import Origin
from teiten.kinds.probes.results import PartTimes, ProbeResult, ProbeSide
from teiten.report.numbers import NOTHING, bytes_text, fixed, plain, significant
from teiten.report.tables import Cell, Column, Row, Table
from teiten.report.view.kit import Kit

MICROSECONDS = 1e6


def tables_of_probe(kit: Kit, prefix: str, found: ProbeResult) -> Iterator[Table]:
    """Only those that have something to tell."""
    made = (
        ("accesses", _accesses(kit, found)),
        ("sweeps", _sweeps(kit, found)),
        ("clients", _clients(kit, found)),
        ("checkpoints", _checkpoints(kit, found)),
    )
    for kind, (columns, rows) in made:
        if rows:
            yield Table(
                name=f"{prefix}-{kind}",
                caption=kit.t(f"table.probe-{kind}.caption"),
                columns=tuple(
                    Column(kit.t(f"table.probe.{key}"), numeric=at > 0)
                    for at, key in enumerate(columns)
                ),
                rows=tuple(rows),
                note=kit.t(f"table.probe-{kind}.note"),
            )


Made = tuple[Sequence[str], Sequence[Row]]
"""The columns' keys, and the rows."""


def _accesses(kit: Kit, found: ProbeResult) -> Made:
    parts = [(side, part) for side in found.sides for part in side.parts]
    known = {one.origin for _, part in parts for one in part.origins}
    origins = [one for one in Origin if one in known]
    before = ("buffers-before", "os-cache-before")
    keys = ("side", "part", "mean", "median", "longest", *(f"from-{one}" for one in origins))
    return (*keys, *before), [(_side(kit, side), *_access(part, origins)) for side, part in parts]


def _access(part: PartTimes, origins: Sequence[Origin]) -> Row:
    return (
        Cell(bytes_text(part.size), float(part.size)),
        *(_time(one) for one in (part.times.mean, part.times.median, part.times.quantiles[-1])),
        *(_share(part.share(origin)) for origin in origins),
        _share(part.in_buffers),
        _share(part.in_os_cache),
    )


def _sweeps(kit: Kit, found: ProbeResult) -> Made:
    keys = ("side", "size", "sweeps", "with", "without", "once", "per-gib")
    rows = [
        (
            _side(kit, side),
            _size(side),
            Cell(plain(one.sweeps), float(one.sweeps)),
            *(_time(each) for each in (one.with_sweep, one.without, one.seconds)),
            _time(one.seconds_per_gib),
        )
        for side in found.sides
        if (one := side.sweep) is not None
    ]
    return keys, rows


def _clients(kit: Kit, found: ProbeResult) -> Made:
    keys = ("side", "clients", "tps", "latency", "buffers-hit")
    rows = [
        (
            _side(kit, side),
            Cell(plain(one.clients), float(one.clients)),
            Cell(significant(one.tps), one.tps),
            _time(one.latency),
            _share(one.from_buffers),
        )
        for side in found.sides
        for one in side.clients
    ]
    return keys, rows


def _checkpoints(kit: Kit, found: ProbeResult) -> Made:
    keys = ("side", "size", "step", "checkpoints", "median", "written")
    rows = [
        (
            _side(kit, side),
            _size(side),
            Cell(one.step),
            Cell(plain(one.times.count), float(one.times.count)),
            _time(one.times.median),
            Cell(significant(one.written), one.written),
        )
        for side in found.sides
        for one in side.checkpoints
    ]
    return keys, rows


def _side(kit: Kit, side: ProbeSide) -> Cell:
    return Cell(kit.short(side.side))


def _size(side: ProbeSide) -> Cell:
    return Cell(bytes_text(side.shared_buffers), float(side.shared_buffers))


def _time(seconds: float) -> Cell:
    """In microseconds, as EXPLAIN counts them."""
    return Cell(significant(seconds * MICROSECONDS), float(seconds))


def _share(share: float | None) -> Cell:
    return Cell(NOTHING) if share is None else Cell(fixed(100 * share, 1), share)
