"""The answer where one server was measured as it is, and nothing was put beside it."""

from __future__ import annotations

from collections.abc import Iterator

from teiten.kinds.probes.present.summary import probe_title
from teiten.kinds.probes.present.units import confidence, unit_for
from teiten.kinds.probes.results import ProbeResult, ProbesFound
from teiten.report.blocks import Block, Items, Text
from teiten.report.numbers import bytes_text
from teiten.report.view.kit import Kit


def only_side(kit: Kit) -> str | None:
    """The level of what is contrasted, where there is but one."""
    factor = kit.study.factor(kit.study.contrast)
    return factor.levels[0] if factor is not None and len(factor.levels) == 1 else None


def of_one_side(kit: Kit, found: ProbesFound, side: str) -> Iterator[Block]:
    """Say that nothing was compared, and list each probe's number."""
    sizes = {each.shared_buffers for result in found.results for each in result.sides}
    words = {"server": side, "size": kit.t("list.separator").join(map(bytes_text, sorted(sizes)))}
    yield Text(kit.t("probe.alone" if sizes else "probe.alone-nothing", **words))
    yield Items(tuple(said for result in found.results for said in _number(kit, result)))


def _number(kit: Kit, found: ProbeResult) -> Iterator[str]:
    for side in found.sides:
        number = side.number
        if number is None:
            continue
        unit = unit_for((number.mean,))
        values = {
            "probe": probe_title(kit, found),
            "time": unit.with_name(unit.estimate(number)),
            "trials": kit.t.plural("probe.alone-trials", side.trials),
        }
        if number.low is None:
            yield kit.t("probe.alone-number", **values)
            continue
        interval = unit.interval(kit.t, number)
        yield kit.t("probe.alone-interval", confidence=confidence(kit), interval=interval, **values)
