"""Contents of the report for a kind of workload that has none of its own."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from statistics import fmean

from teiten.analysis.model.findings import ContrastResult, LevelResult, levels_of_factor
from teiten.analysis.model.observations import without
from teiten.kinds.contract_present import KindPresent
from teiten.model.plan import Context
from teiten.report.blocks import Block, Box, folded, gallery, looked_up
from teiten.report.charts.base import Chart
from teiten.report.charts.forest import forest
from teiten.report.effects import interval_text, ratio_text
from teiten.report.numbers import NOTHING, fixed
from teiten.report.sentences import verdict_kind, verdict_word
from teiten.report.tables import Column, Table, TableCell, level_value
from teiten.report.view.contrasts import (
    Judged,
    forest_rows,
    forest_words,
    judged_by_pairs,
    verdict_table,
)
from teiten.report.view.kit import Kit
from teiten.report.view.levels import metric_chart

GENERATOR = "pgbench_cpu_share"
WithColumn = Callable[[Kit, ContrastResult, Judged], Judged]


class UsualPresent(KindPresent):
    """Sentence, forest, a chart of what is judged by level, and a table for each contrast."""

    def load(self, kit: Kit) -> Box:
        return Box("Teiten", (kit.t("topology.connection"),))

    def answered(self, _: Kit, contrasts: Sequence[ContrastResult]) -> Sequence[ContrastResult]:
        return contrasts

    def beside(
        self, kit: Kit, name: str, contrast: ContrastResult
    ) -> tuple[Chart | None, tuple[str, ...]]:
        return forest_of(kit, name, contrast), ()

    def results(self, kit: Kit, prefix: str, workload: str) -> Iterable[Block]:
        judged = [contrast for contrast in contrasts_of(kit, workload) if contrast.metric.judged]
        groups = kit.of_workload(workload)
        yield from gallery(
            metric_chart(kit, f"{prefix}-judged", groups, contrast.metric)
            for contrast in judged[:1]
        )
        yield from tables_of(kit, prefix, workload, self.column)

    def column(self, kit: Kit, contrast: ContrastResult, judged: Judged) -> Judged:
        """The table of what is judged with a further column: what share of the processors the load
        generator took from the server; as it is where no trial tells."""
        by_cell = {
            (group.context, group.side): fmean(values)
            for group in kit.of_workload(contrast.workload)
            if (values := group.values(GENERATOR))
        }
        if not by_cell:
            return judged

        def share(level: LevelResult | None) -> TableCell:
            if level is None:
                return TableCell("")
            shares = [by_cell.get((level.context, side)) for side in (contrast.old, contrast.new)]
            old, new = (NOTHING if share is None else fixed(share * 100, 1) for share in shares)
            return TableCell(kit.t("table.generator-shares", old=old, new=new), shares[0])

        return replace(judged, further=share, further_title=kit.t("table.generator"))


def contrasts_of(kit: Kit, workload: str) -> list[ContrastResult]:
    """Those of a workload, what is judged first."""
    mine = [contrast for contrast in kit.analysis.contrasts if contrast.workload == workload]
    return sorted(mine, key=lambda contrast: not contrast.metric.judged)


def tables_of(kit: Kit, prefix: str, workload: str, column: WithColumn) -> Iterator[Block]:
    """Show the table of each contrast, with a note below the first; those that nothing is judged by
    stand in the appendix. ``column``: the table of what is judged with a further one."""
    for at, contrast in enumerate(contrasts_of(kit, workload)):
        judged = judged_by_pairs(kit, contrast, noted=at == 0)
        if contrast.metric.judged:
            judged = column(kit, contrast, judged)
        table = verdict_table(
            f"{prefix}-contrast-{at + 1}", judged, contrast.levels, contrast.overall
        )
        if contrast.metric.judged or at == 0:
            yield table
        else:
            yield looked_up(kit.t("paper.levels"), folded(table))
        yield from tables_of_two(kit, f"{prefix}-contrast-{at + 1}-plane", contrast)


def forest_of(kit: Kit, name: str, contrast: ContrastResult) -> Chart | None:
    """The ratio with its interval by level; None where there is none."""
    t, names = kit.t, kit.names
    rows = forest_rows(t, contrast, names.context, t("level.overall"))
    if not rows:
        return None
    words = forest_words(
        t,
        contrast,
        kit.ratio_of(contrast),
        names.ratio,
        title="chart.forest.title" if names.by_version else "chart.forest.title-variant",
        note="chart.forest.note",
        workload=kit.workload_of(contrast, contrasts_of(kit, contrast.workload)),
    )
    return forest(t, name, rows, contrast.overall.delta, words)


def tables_of_two(kit: Kit, name: str, contrast: ContrastResult) -> tuple[Table, ...]:
    """A table with a cell for each combination of two factors' levels, one for each combination of
    the other factors' levels; none unless the contrast is judged and two of its factors vary by
    numbers. The factor with more levels has the columns."""
    varied = contrast.numeric_levels(kit.study)
    contexts = [dict(level.context) for level in contrast.levels]
    factors = [factor for factor in varied if all(factor in context for context in contexts)]
    if len(factors) < 2 or not contrast.metric.judged:
        return ()
    down, across = sorted(sorted(factors[:2]), key=lambda factor: len(varied[factor]))
    planes: dict[Context, dict[tuple[str, str], LevelResult]] = {}
    for level in contrast.levels:
        levels = dict(level.context)
        others = without(level.context, down, across)
        planes.setdefault(others, {})[levels[down], levels[across]] = level
    return tuple(
        _table(kit, f"{name}-{at}", contrast, (down, across), others=others, plane=plane)
        for at, (others, plane) in enumerate(planes.items(), start=1)
    )


def _table(
    kit: Kit,
    name: str,
    contrast: ContrastResult,
    axes: tuple[str, str],
    *,
    others: Context,
    plane: dict[tuple[str, str], LevelResult],
) -> Table:
    t, names = kit.t, kit.names
    down, across = axes
    words = {"rows": names.factor(down), "columns": names.factor(across)}
    columns = levels_of_factor(contrast.levels, across)
    heads = (names.context(((across, column),)).replace(" ", "\u00a0") for column in columns)
    varied = without(others, *names.single)
    caption = t.title(
        "two-axes.caption-at" if varied else "two-axes.caption",
        metric=t.metric(contrast.metric),
        workload=names.workload(contrast.workload),
        new=names.titled(contrast.new),
        old=names.titled(contrast.old),
        level=names.context(varied),
        **words,
    )
    return Table(
        name,
        caption,
        (Column(words["rows"]), *map(Column, heads)),
        tuple(
            (
                TableCell(level, level_value(level, at)),
                *(_cell(kit, plane.get((level, column))) for column in columns),
            )
            for at, level in enumerate(levels_of_factor(contrast.levels, down))
        ),
        note=t("two-axes.note"),
        sortable=False,
    )


def _cell(kit: Kit, level: LevelResult | None) -> TableCell:
    """Nothing of a combination that was not planned."""
    if level is None:
        return TableCell(NOTHING)
    verdict = level.verdict
    text = kit.t(
        "two-axes.cell",
        ratio=ratio_text(verdict.effect),
        interval=interval_text(kit.t, verdict.effect),
        verdict=verdict_word(kit.t, verdict),
    )
    return TableCell(text, kind=f"verdict heat {verdict_kind(verdict)}")
