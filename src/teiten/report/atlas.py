"""The page of a collection that tells every workload by version, relative to the oldest."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence

from teiten.analysis.model.collection import AtlasLine, CollectionResult
from teiten.analysis.model.verdict import Verdict, VerdictKind
from teiten.model.installation import Version
from teiten.report.blocks import Block, Heading, Section, Text
from teiten.report.charts.base import Chart
from teiten.report.charts.points import AtlasDot, atlas_chart
from teiten.report.effects import interval_text, levels_text, ratio_text, ratio_with_interval
from teiten.report.sentences import verdict_kind, verdict_word
from teiten.report.tables import Column, Row, Table, TableCell, cells, headings, number_cell
from teiten.report.texts import Texts

COUNTED = (
    VerdictKind.FASTER,
    VerdictKind.SLOWER,
    VerdictKind.EQUIVALENT,
    VerdictKind.DIFFERENT_BUT_SMALL,
    VerdictKind.MIXED,
    VerdictKind.INCONCLUSIVE,
)
"""The verdicts in the order of their columns and colours."""


def atlas_sections(t: Texts, result: CollectionResult) -> tuple[Section, ...]:
    """One section; none of a collection without an atlas."""
    if not result.atlas:
        return ()
    return (Section("atlas", t("atlas.title"), tuple(_blocks(t, result)), apart=True),)


def _blocks(t: Texts, result: CollectionResult) -> Iterator[Block]:
    yield Text(t("atlas.note"), "note")
    yield _counts(t, result.atlas)
    for campaign in result.campaigns:
        lines = [line for line in result.atlas if line.campaign == campaign.name]
        if lines:
            yield Heading(3, t.of(campaign.subject))
            yield from _chart(t, campaign.name, lines)
            yield _table(t, campaign.name, t.of(campaign.subject), lines)


def _counts(t: Texts, lines: Sequence[AtlasLine]) -> Table:
    """How many workloads are faster and slower on each version."""
    points = [point for line in lines for point in line.points]
    versions = dict.fromkeys(point.version for point in points)

    def row(version: Version) -> Row:
        kinds = [_kind(point.verdict) for point in points if point.version == version]
        return cells(str(version), *(number_cell(kinds.count(kind)) for kind in COUNTED))

    kinds = headings(t, *(f"atlas.{kind.value}" for kind in COUNTED), numeric=True)
    return Table(
        "atlas-counts",
        t("atlas.counts", first=_firsts(t, lines)),
        (*headings(t, "collection.servers"), *kinds),
        tuple(map(row, versions)),
    )


def _table(t: Texts, name: str, subject: str, lines: Sequence[AtlasLine]) -> Table:
    points = [point for line in lines for point in line.points]
    versions = tuple(dict.fromkeys(point.version for point in points))
    effects = (point.verdict.effect for point in points)
    return Table(
        f"atlas-{name}",
        t("atlas.table", subject=subject, first=_firsts(t, lines)),
        (*headings(t, "atlas.workload"), *(Column(str(name), numeric=True) for name in versions)),
        tuple(
            cells(t.of(line.title), *(_cell(t, line, version) for version in versions))
            for line in lines
        ),
        note=t("atlas.level", confidence=levels_text(t, effects)),
    )


def _cell(t: Texts, line: AtlasLine, version: Version) -> TableCell:
    point = next((point for point in line.points if point.version == version), None)
    if point is None:
        return TableCell("")
    speed, word = line.speed(point), verdict_word(t, point.verdict)
    shown = (ratio_text(speed), interval_text(t, speed), word) if speed else (word,)
    return TableCell(
        "\n".join(shown),
        sort=speed.ratio if speed else None,
        kind=f"verdict {verdict_kind(point.verdict)}",
    )


def _chart(t: Texts, name: str, lines: Sequence[AtlasLine]) -> Iterator[Chart]:
    """The lines as small charts; nothing where no verdict has a ratio."""
    named = _named(lines)
    dots = [dot for line in lines for dot in _dots(t, line, named)]
    if dots:
        yield atlas_chart(
            t,
            f"atlas-{name}-lines",
            dots,
            [t(f"atlas.{kind.value}") for kind in COUNTED],
            list(named.values()),
            first=_firsts(t, lines),
        )


def _named(lines: Sequence[AtlasLine]) -> Mapping[Version, str]:
    """The versions in their order, by major version alone where that tells them apart."""
    versions = dict.fromkeys(
        version for line in lines for version in (line.first, *(p.version for p in line.points))
    )
    apart = len({version.major for version in versions}) == len(versions)
    return {version: version.major if apart else str(version) for version in versions}


def _firsts(t: Texts, lines: Sequence[AtlasLine]) -> str:
    return t("list.separator").join(dict.fromkeys(str(line.first) for line in lines))


def _dots(t: Texts, line: AtlasLine, named: Mapping[Version, str]) -> Iterator[AtlasDot]:
    """The first version at 1, and the others that have a finite interval."""
    title = t.of(line.title)
    shown = [
        (point, speed)
        for point in line.points
        if (speed := line.speed(point)) is not None and speed.low > 0 and math.isfinite(speed.high)
    ]
    if shown:
        yield AtlasDot(title, named[line.first], 1.0, None, None, "", t("atlas.first"))
    for point, speed in shown:
        yield AtlasDot(
            title,
            named[point.version],
            speed.ratio,
            speed.low,
            speed.high,
            t(f"atlas.{_kind(point.verdict).value}"),
            ratio_with_interval(t, speed),
        )


def _kind(verdict: Verdict) -> VerdictKind:
    """The verdict's kind; of a campaign that supports no conclusion none is told."""
    return verdict.kind if verdict.conclusive else VerdictKind.INCONCLUSIVE
