"""The points of a history in words and tables, with the true ends of their intervals."""

from __future__ import annotations

import math
from collections.abc import Sequence
from datetime import UTC, datetime

from teiten.analysis.model.history import ChangePoint, HistoryLine, HistoryPoint
from teiten.report.effects import percent
from teiten.report.numbers import measured
from teiten.report.tables import Column, Row, Table, TableCell
from teiten.report.texts import Texts

NOTHING = "—"


def moment(at: float) -> str:
    """``at``: seconds since the epoch."""
    return datetime.fromtimestamp(at, UTC).strftime("%Y-%m-%d %H:%M UTC")


def value_text(t: Texts, point: HistoryPoint) -> str:
    """``1,234 (1,200 to 1,270)``, or the value alone where it has no interval."""
    half = _half(point)
    value = measured(point.value, half)
    if point.low is None or point.high is None:
        return t("history.plain", value=value)
    ends = (measured(one, half) for one in (point.low, point.high))
    return t("history.interval", value=value, **dict(zip(("low", "high"), ends, strict=True)))


def points_table(t: Texts, name: str, line: HistoryLine) -> Table:
    """A row for each point; the changes before them where the line has any."""
    changes = {change.first: change for change in line.changes}
    change = (Column(t("history.change"), numeric=True),) if changes else ()
    return Table(
        name,
        t("history.points"),
        (*_columns(t), *change, _campaign_column(t)),
        tuple(
            (
                *_cells(t, point),
                *([_change_cell(t, changes.get(at))] if changes else []),
                TableCell(point.campaign),
            )
            for at, point in enumerate(line.points)
        ),
    )


def single_points_table(t: Texts, titled: Sequence[tuple[str, HistoryLine]]) -> Table:
    """A row for each line of one point, with what the line is called."""
    return Table(
        "single",
        t("history.single-points"),
        (Column(t("history.single-line")), *_columns(t), _campaign_column(t)),
        tuple(
            (
                TableCell(title),
                *_cells(t, line.points[0]),
                TableCell(line.points[0].campaign),
            )
            for title, line in titled
        ),
        note=t("history.points-note"),
    )


def _columns(t: Texts) -> tuple[Column, ...]:
    """List the columns; those that a small screen is to show come first."""
    return (
        Column(t("comparison.started")),
        Column(t("history.version")),
        Column(t("history.value"), numeric=True),
        Column(t("table.interval"), numeric=True),
        Column(t("history.blocks"), numeric=True),
    )


def _campaign_column(t: Texts) -> Column:
    return Column(t("comparison.campaign"))


def _cells(t: Texts, point: HistoryPoint) -> Row:
    return (
        TableCell(moment(point.at), point.at, kind="left"),
        TableCell(point.version, point.version_number, kind="left"),
        TableCell(measured(point.value, _half(point)), point.value),
        TableCell(_interval(t, point), point.low),
        TableCell(str(point.blocks), point.blocks),
    )


def _change_cell(t: Texts, change: ChangePoint | None) -> TableCell:
    if change is None:
        return TableCell("")
    return TableCell(percent(t, change.ratio - 1, 1, signed=True), change.ratio, kind="verdict")


def _interval(t: Texts, point: HistoryPoint) -> str:
    if point.low is None or point.high is None:
        return NOTHING
    half = _half(point)
    return t("interval.plain", low=measured(point.low, half), high=measured(point.high, half))


def _half(point: HistoryPoint) -> float:
    if point.low is None or point.high is None:
        return math.nan
    return (point.high - point.low) / 2
