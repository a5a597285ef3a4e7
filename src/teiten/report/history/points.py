"""The lines of a history in words and tables: titles that differ on a page, points with the true
ends of their intervals, and the change since the campaign before it, in one sentence."""

from __future__ import annotations

import hashlib
import math
from collections import defaultdict
from collections.abc import Mapping, Sequence

from teiten.analysis.model.history import (
    CampaignStep,
    ChangePoint,
    HistoryLine,
    HistoryPoint,
    LineStep,
)
from teiten.model.study import SERVER
from teiten.report.effects import change, interval_percent, percent, percent_decimals
from teiten.report.names import Names
from teiten.report.numbers import NOTHING, measured, moment
from teiten.report.sentences import machine_text
from teiten.report.tables import Column, Row, Table, TableCell, cells, headings
from teiten.report.texts import Texts

Reports = Mapping[str, str]
"""The addresses of campaigns' reports, by the paths of their points; of those that have one."""


def value_text(t: Texts, point: HistoryPoint) -> str:
    """``1,234 (1,200 to 1,270)``, or the value alone where it has no interval."""
    value, ends = _figures(point)
    return t("history.interval", value=value, **ends) if ends else value


def _figures(point: HistoryPoint) -> tuple[str, dict[str, str]]:
    """The value, and the ends of its interval if any, with the digits that this allows."""
    if point.low is None or point.high is None:
        return measured(point.value, math.nan), {}
    half = (point.high - point.low) / 2
    value, low, high = (measured(number, half) for number in (point.value, point.low, point.high))
    return value, {"low": low, "high": high}


def points_table(t: Texts, name: str, line: HistoryLine, reports: Reports) -> Table:
    """A row for each point; the changes before them where the line has any."""
    changes = {change.first: change for change in line.changes}
    change = headings(t, "history.change", numeric=True) if changes else ()
    return Table(
        name,
        t("history.points"),
        (*_columns(t), *change, *headings(t, "comparison.campaign")),
        tuple(
            (
                *_cells(t, point),
                *([_change_cell(t, changes.get(at))] if changes else []),
                _campaign_cell(point, reports),
            )
            for at, point in enumerate(line.points)
        ),
    )


def single_points_table(
    t: Texts, titled: Sequence[tuple[str, HistoryLine]], reports: Reports
) -> Table:
    """A row for each line of one point, with what the line is called."""
    return Table(
        "single",
        t("history.single-points"),
        (*headings(t, "history.single-line"), *_columns(t), *headings(t, "comparison.campaign")),
        tuple(
            cells(title, *_cells(t, line.points[0]), _campaign_cell(line.points[0], reports))
            for title, line in titled
        ),
        note=t("history.points-note"),
    )


def _columns(t: Texts) -> tuple[Column, ...]:
    """List the columns; those that a small screen is to show come first."""
    return (
        *headings(t, "comparison.started", "history.version"),
        *headings(t, "history.value", "table.interval", "history.blocks", numeric=True),
    )


def _campaign_cell(point: HistoryPoint, reports: Reports) -> TableCell:
    address = reports.get(point.path)
    if address is None:
        return TableCell(point.campaign)
    return TableCell("", links=((point.campaign, address),))


def _cells(t: Texts, point: HistoryPoint) -> Row:
    value, ends = _figures(point)
    return (
        TableCell(moment(point.at), point.at, kind="left"),
        TableCell(point.version, point.version_number, kind="left"),
        TableCell(value, point.value),
        TableCell(t("interval.plain", **ends) if ends else NOTHING, point.low),
        TableCell(str(point.blocks), point.blocks),
    )


def _change_cell(t: Texts, change: ChangePoint | None) -> TableCell:
    if change is None:
        return TableCell("")
    return TableCell(percent(t, change.ratio - 1, 1, signed=True), change.ratio, kind="verdict")


def line_titles(t: Texts, lines: Sequence[HistoryLine]) -> tuple[str, ...]:
    """``Range read, server 18; 2 cores of AMD EPYC (observe, standard)``, in the order of the
    lines. Those that would be called the same have what tells them apart."""
    alike: dict[str, list[HistoryLine]] = defaultdict(list)
    for line in lines:
        alike[_title(t, line, "")].append(line)
    return tuple(_title(t, line, _apart(t, line, alike[_title(t, line, "")])) for line in lines)


def line_id(line: HistoryLine) -> str:
    """Make the id of a line's heading: the same for the same line, whatever lines are beside it."""
    identity = (line.machine, line.conditions, line.study, line.workload, line.factor, line.level)
    return f"line-of-{hashlib.sha256(chr(0).join(identity).encode()).hexdigest()[:10]}"


def line_name(t: Texts, line: HistoryLine) -> str:
    """``Range read, server 18``"""
    return t("comparison.part", workload=t.of(line.title), server=level_text(t, line))


def level_text(t: Texts, line: HistoryLine) -> str:
    """The contrasted level as reports call it; a server by the name that its study gives it."""
    if not line.level:
        return t("history.all-versions")
    if line.factor == SERVER:
        return t("history.server", server=line.level)
    return Names(line.plan, t).side(line.level).long


def _title(t: Texts, line: HistoryLine, apart: str) -> str:
    return t(
        "history.line",
        workload=t.of(line.title),
        level=level_text(t, line),
        machine=machine_text(t, line.facts),
        study=line.study,
        profile=line.profile,
        apart=apart,
    )


def _apart(t: Texts, line: HistoryLine, alike: Sequence[HistoryLine]) -> str:
    """Tell lines of one title apart: by clients where these do, else by fingerprints."""
    machines = {same_title.machine for same_title in alike}
    conditions = {(same_title.conditions, _clients(same_title)) for same_title in alike}
    of_machine = t("history.apart-machine", of=line.machine) if len(machines) > 1 else ""
    if len({condition for condition, _ in conditions}) == 1:
        return of_machine
    if len(conditions) == len({clients for _, clients in conditions}):
        counts = t("history.counts").join(map(str, _clients(line)))
        return of_machine + t("history.apart-clients", of=counts)
    return of_machine + t("history.apart-conditions", of=line.conditions)


def _clients(line: HistoryLine) -> tuple[int, ...]:
    return tuple(sorted({trial.load.connections for trial in line.plan.trials}))


MOST = 3
"""Lines that changed and are told one by one; more of them are counted."""


def step_sentence(t: Texts, step: CampaignStep) -> str:
    """``Since night-2 (…): TPS of Range read, server 18: −3.1 % (95 % interval …); on 3 other
    lines no change can be told. …``"""
    conclusive = step.before.conclusive and step.after.conclusive
    return t(
        "history.since",
        campaign=step.before.campaign,
        at=moment(step.before.at),
        changes=_changes(t, step),
        scope=t(f"history.since-scope-{'all' if conclusive else 'no-conclusion'}"),
    )


def _changes(t: Texts, step: CampaignStep) -> str:
    """Tell the lines that changed; a single line in any case, and others by their number."""
    directions = [_direction(line) for line in step.lines]
    left = directions.count(0)
    if len(directions) - left > MOST:
        counts = {"higher": directions.count(1), "lower": directions.count(-1), "open": left}
        return t("history.since-counted", count=len(directions), **counts)
    sentences = [_line(t, line) for line in step.lines if len(directions) == 1 or _direction(line)]
    if left and len(directions) > 1:
        none = t("history.since-none", count=left)
        sentences.append(t.plural("history.since-rest", left) if sentences else none)
    return t("list.strong").join(sentences)


def _line(t: Texts, step: LineStep) -> str:
    what = line_name(t, step.line)
    versions = ""
    if step.before.version != step.after.version:
        values = {"before": step.before.version, "after": step.after.version}
        versions = t("history.since-versions", **values)
    if step.effect is None:
        before, after = (value_text(t, point) for point in (step.before, step.after))
        return t("history.since-values", what=what, before=before, after=after, versions=versions)
    return t(
        f"history.since-{'open' if _direction(step) == 0 else 'changed'}",
        what=what,
        percent=change(t, step.effect.ratio, percent_decimals(step.effect)),
        interval=interval_percent(t, step.effect),
        versions=versions,
    )


def _direction(step: LineStep) -> int:
    """Tell on which side of no change the whole interval lies: 1 above, −1 below, 0 on neither."""
    return 0 if step.effect is None else step.effect.sign
