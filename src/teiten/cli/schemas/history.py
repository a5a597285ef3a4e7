"""Schema of what ``teiten history --json`` prints: values are TPS."""

from __future__ import annotations

from teiten.analysis.model.history import Axis, ChangeSearch, HistoryPoint, LeftOut
from teiten.cli.schemas.of_values import of_type
from teiten.cli.schemas.parts import (
    ASKED,
    COUNT,
    MAYBE_TEXT,
    SECONDS,
    TEXT,
    Schema,
    closed,
    document,
    listed,
    said,
)

VERSION = 1


def history_schema() -> Schema:
    difference = closed({"code": TEXT, "subject": TEXT, "before": TEXT, "after": TEXT})
    change = closed(
        {
            "campaign": said("The first one after it.", TEXT),
            "index": said("Of its point, from 0.", COUNT),
            "ratio": said("After ÷ before.", SECONDS),
            "firm": ASKED,
            "differences": listed(difference),
        }
    )
    line = closed(
        {
            "study": TEXT,
            "profile": TEXT,
            "workload": TEXT,
            "factor": said("What its campaigns contrast.", TEXT),
            "level": said("Of that factor; null of a line through all versions.", MAYBE_TEXT),
            "machine": TEXT,
            "conditions": TEXT,
            "search": {"enum": [one.value for one in ChangeSearch]},
            "points": listed(of_type(HistoryPoint)),
            "changes": listed(change),
        }
    )
    body = closed(
        {
            "axis": {"enum": [one.value for one in Axis]},
            "lines": listed(line),
            "left_out": listed(of_type(LeftOut)),
            "pages": said("Files that were written.", listed(TEXT)),
        }
    )
    return document("history", VERSION, body)
