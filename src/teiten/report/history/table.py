"""A history as one CSV for people's own tools: a row for each campaign on each level that it
contrasts."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from datetime import UTC, datetime

from teiten.analysis.model.history import History, HistoryLine

FILE = "history.csv"
FIELDS = (
    *("line", "study", "profile", "workload", "machine", "conditions"),
    *("campaign", "time", "factor", "level", "version", "value", "low", "high", "conclusive"),
    *("change", "firm"),
)
"""Values are geometric means of TPS over levels, ``low`` and ``high`` the ends of their interval;
``change`` is the ratio of the segment that begins with this campaign to the one before."""


def history_csv(history: History) -> bytes:
    text = io.StringIO(newline="")
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(FIELDS)
    for number, line in enumerate(history.lines, start=1):
        writer.writerows(_rows(number, line))
    return text.getvalue().encode()


def _rows(number: int, line: HistoryLine) -> Iterator[tuple[object, ...]]:
    """In the line's own order; what is not known is left empty, times are ISO 8601 in UTC."""
    changes = {change.first: change for change in line.changes}
    same = (number, line.study, line.profile, line.workload, line.machine, line.conditions)
    for at, one in enumerate(line.points):
        moment = datetime.fromtimestamp(one.at, UTC).isoformat(timespec="seconds")
        figures = ("" if each is None else repr(each) for each in (one.value, one.low, one.high))
        change = changes.get(at)
        turn = ("", "") if change is None else (repr(change.ratio), _word(change.firm))
        yield (
            *(*same, one.campaign, moment, line.factor, one.level, one.version),
            *(*figures, _word(one.conclusive), *turn),
        )


def _word(value: bool) -> str:
    return "true" if value else "false"
