"""A contrast over two varied factors, as a table with a cell for each combination of levels."""

from __future__ import annotations

from teiten.analysis.model.findings import ContrastResult, LevelResult
from teiten.model.study import SERVER
from teiten.report.effects import interval_text, ratio_text
from teiten.report.names import Context
from teiten.report.numbers import NOTHING
from teiten.report.sentences import verdict_kind, verdict_word
from teiten.report.tables import Column, Row, Table, TableCell, level_value
from teiten.report.view.kit import Kit

NO_BREAK = "\N{NO-BREAK SPACE}"


def tables_of_two(kit: Kit, name: str, contrast: ContrastResult) -> tuple[Table, ...]:
    """One for each combination of the other factors' levels; none unless the contrast is judged and
    two of its factors vary by numbers. The factor with more levels has the columns."""
    factors = _varied(kit, contrast)
    if len(factors) < 2 or not contrast.metric.judged:
        return ()
    down, across = sorted(sorted(factors[:2]), key=lambda one: len(factors_levels(contrast, one)))
    planes: dict[Context, dict[tuple[str, str], LevelResult]] = {}
    for level in contrast.levels:
        found = dict(level.context)
        others = tuple(pair for pair in level.context if pair[0] not in (down, across))
        planes.setdefault(others, {})[found[down], found[across]] = level
    return tuple(
        _table(kit, f"{name}-{at + 1}", contrast, (down, across), others=others, plane=plane)
        for at, (others, plane) in enumerate(planes.items())
    )


def _varied(kit: Kit, contrast: ContrastResult) -> list[str]:
    """Factors with two levels or more, all numbers, which every level of the contrast has."""
    return [
        factor.name
        for factor in kit.study.factors
        if factor.name != SERVER
        and all(factor.name in dict(level.context) for level in contrast.levels)
        and len(levels := factors_levels(contrast, factor.name)) > 1
        and all(level.replace(".", "", 1).isdigit() for level in levels)
    ]


def factors_levels(contrast: ContrastResult, factor: str) -> list[str]:
    """The levels of a factor in a contrast, in their order."""
    found = (dict(level.context).get(factor) for level in contrast.levels)
    return list(dict.fromkeys(one for one in found if one is not None))


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
    columns = factors_levels(contrast, across)
    varied = tuple(pair for pair in others if pair[0] not in names.single)
    caption = t(
        "two-axes.caption-at" if varied else "two-axes.caption",
        metric=t.either(f"metric.{contrast.metric.name}", contrast.metric.name),
        workload=names.workload(contrast.workload),
        new=kit.short(contrast.new),
        old=kit.short(contrast.old),
        level=names.context(varied),
        **words,
    )
    return Table(
        name,
        caption,
        (
            Column(words["rows"]),
            *(Column(_whole(names.context(((across, column),)))) for column in columns),
        ),
        tuple(
            _row(kit, at, level, [plane.get((level, column)) for column in columns])
            for at, level in enumerate(factors_levels(contrast, down))
        ),
        note=t("two-axes.note"),
        sortable=False,
    )


def _whole(text: str) -> str:
    """The head of a column in one line."""
    return text.replace(" ", NO_BREAK)


def _row(kit: Kit, at: int, level: str, found: list[LevelResult | None]) -> Row:
    return (TableCell(level, level_value(level, at)), *(_cell(kit, one) for one in found))


def _cell(kit: Kit, level: LevelResult | None) -> TableCell:
    """Nothing of a combination that was not planned."""
    if level is None:
        return TableCell(NOTHING)
    verdict = level.verdict
    said = kit.t(
        "two-axes.cell",
        ratio=ratio_text(verdict.effect),
        interval=interval_text(kit.t, verdict.effect),
        verdict=verdict_word(kit.t, verdict),
    )
    return TableCell(said, kind=f"verdict heat {verdict_kind(verdict)}")
