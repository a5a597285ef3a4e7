"""A history for Apache Otava, which looks for changes in series of results: a CSV for each line,
and the configuration that names them.

The configuration is JSON, which YAML is a superset of. Values are TPS: more is better.
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

from teiten.analysis.model.history import History, HistoryLine

CONFIGURATION = "otava.yaml"
ATTRIBUTES = ("campaign", "level", "version")
METRIC = "throughput"
FIELDS = ("time", *ATTRIBUTES, METRIC, "low", "high")


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
    writer.writerow(FIELDS)
    writer.writerows(_rows(line))
    return text.getvalue().encode()


def _rows(line: HistoryLine) -> Iterator[tuple[object, ...]]:
    """In the order of time, as Otava wants them; an end that is not known is left empty."""
    for one in sorted(line.points, key=lambda point: point.at):
        moment = datetime.fromtimestamp(one.at, UTC).strftime("%Y-%m-%d %H:%M:%S %z")
        ends = ("" if end is None else repr(end) for end in (one.low, one.high))
        yield (moment, one.campaign, one.level, one.version, repr(one.value), *ends)
