"""A history as CSV for other tools.

People's own get one file: a row for each campaign on each level that it contrasts. Apache Otava,
which looks for changes in series of results, gets a file for each line, and the configuration that
names them: JSON, which YAML is a superset of. Values are TPS: more is better.
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime
from typing import Any

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
    lines = enumerate(history.lines, start=1)
    return _csv(FIELDS, (row for number, line in lines for row in _rows(number, line)))


def _csv(fields: Sequence[str], rows: Iterable[Sequence[object]]) -> bytes:
    text = io.StringIO(newline="")
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(fields)
    writer.writerows(rows)
    return text.getvalue().encode()


def _rows(number: int, line: HistoryLine) -> Iterator[tuple[object, ...]]:
    """In the line's own order; what is not known is left empty, times are ISO 8601 in UTC."""
    changes = {change.first: change for change in line.changes}
    same = (number, line.study, line.profile, line.workload, line.machine, line.conditions)
    for at, point in enumerate(line.points):
        moment = datetime.fromtimestamp(point.at, UTC).isoformat(timespec="seconds")
        change = changes.get(at)
        turn = ("", "") if change is None else (change.ratio, str(change.firm).lower())
        yield (
            *(*same, point.campaign, moment, line.factor, point.level, point.version),
            *(point.value, point.low, point.high, str(point.conclusive).lower(), *turn),
        )


CONFIGURATION = "otava.yaml"
ATTRIBUTES = ("campaign", "level", "version")
METRIC = "throughput"
OTAVA_FIELDS = ("time", *ATTRIBUTES, METRIC, "low", "high")


def otava_files(history: History) -> dict[str, bytes]:
    """File names and contents; Otava is to be run in their folder."""
    tests: dict[str, Any] = {}
    files: dict[str, bytes] = {}
    for at, line in enumerate(history.lines, start=1):
        name = f"line-{at}"
        files[f"{name}.csv"] = _csv(OTAVA_FIELDS, _otava_rows(line))
        tests[name] = {
            "type": "csv",
            "file": f"{name}.csv",
            "time_column": "time",
            "attributes": list(ATTRIBUTES),
            "metrics": {METRIC: {"column": METRIC, "direction": 1, "scale": 1.0}},
            "csv_options": {"delimiter": ",", "quote_char": '"'},
        }
    configuration = json.dumps({"tests": tests}, ensure_ascii=False, indent=1) + "\n"
    return {CONFIGURATION: configuration.encode(), **files}


def _otava_rows(line: HistoryLine) -> Iterator[tuple[object, ...]]:
    """In the order of time, as Otava wants them; an end that is not known is left empty."""
    for point in sorted(line.points, key=lambda point: point.at):
        moment = datetime.fromtimestamp(point.at, UTC).strftime("%Y-%m-%d %H:%M:%S %z")
        figures = (point.value, point.low, point.high)
        yield (moment, point.campaign, point.level, point.version, *figures)
