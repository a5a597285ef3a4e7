"""A history as CSV for other tools.

People's own get one file: a row for each campaign on each level that it contrasts. Apache Otava,
which looks for changes in series of results, gets a file for each line, and the configuration that
names them: JSON, which YAML is a superset of. Values are TPS: more is better.
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator
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
        files[f"{name}.csv"] = _table(line)
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


def _table(line: HistoryLine) -> bytes:
    text = io.StringIO(newline="")
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(OTAVA_FIELDS)
    writer.writerows(_otava_rows(line))
    return text.getvalue().encode()


def _otava_rows(line: HistoryLine) -> Iterator[tuple[object, ...]]:
    """In the order of time, as Otava wants them; an end that is not known is left empty."""
    for one in sorted(line.points, key=lambda point: point.at):
        moment = datetime.fromtimestamp(one.at, UTC).strftime("%Y-%m-%d %H:%M:%S %z")
        ends = ("" if end is None else repr(end) for end in (one.low, one.high))
        yield (moment, one.campaign, one.level, one.version, repr(one.value), *ends)
