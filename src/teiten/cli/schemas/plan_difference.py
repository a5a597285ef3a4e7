"""Schema of ``teiten explain-diff --json``: two execution plans in seconds and blocks."""

from __future__ import annotations

from teiten.cli.schemas.parts import (
    ASKED,
    COUNT,
    MAYBE_NUMBER,
    MAYBE_TEXT,
    NUMBER,
    SECONDS,
    TEXT,
    Schema,
    closed,
    document,
    listed,
    maybe,
    named,
    said,
)

VERSION = 1
_NUMBERS: Schema = listed(COUNT)
_MAYBE_COUNT: Schema = maybe(COUNT)
_BUFFERS = said("Blocks, by EXPLAIN's name of their use.", named(NUMBER))


def plan_difference_schema() -> Schema:
    side = _side()
    pair = {"type": "array", "items": COUNT, "minItems": 2, "maxItems": 2}
    body = closed(
        {
            "same_structure": ASKED,
            "joins_reordered": ASKED,
            "old": side,
            "new": side,
            "changes": listed(_change()),
            "pairs": said("Numbers of nodes that are the same in both.", listed(pair)),
            "groups": listed(closed({"old": _NUMBERS, "new": _NUMBERS})),
        }
    )
    return document("plan-difference", VERSION, body)


def _side() -> Schema:
    return closed(
        {
            "name": TEXT,
            "join_order": TEXT,
            "execution_seconds": MAYBE_NUMBER,
            "planning_seconds": MAYBE_NUMBER,
            "leader_seconds": MAYBE_NUMBER,
            "worker_seconds": MAYBE_NUMBER,
            "leader_known": said("The workers' times are printed, and taken off.", ASKED),
            "workers_planned": COUNT,
            "workers_launched": COUNT,
            "pruned": said("Subplans that were not executed.", COUNT),
            "buffers": _BUFFERS,
            "io_seconds": SECONDS,
            "settings": named(TEXT),
            "kinds": listed(_kind()),
            "nodes": listed(_node()),
        }
    )


def _kind() -> Schema:
    return closed(
        {
            "kind": TEXT,
            "nodes": COUNT,
            "never_executed": COUNT,
            "loops": COUNT,
            "worker_loops": COUNT,
            "leader_seconds": MAYBE_NUMBER,
            "worker_seconds": MAYBE_NUMBER,
            "share": said("Of the plan's time.", MAYBE_NUMBER),
            "rows": NUMBER,
            "estimate_error": MAYBE_NUMBER,
            "buffers": _BUFFERS,
            "io_seconds": SECONDS,
            "workers_planned": COUNT,
            "workers_launched": COUNT,
            "pruned": COUNT,
        }
    )


def _node() -> Schema:
    return closed(
        {
            "number": COUNT,
            "parent": _MAYBE_COUNT,
            "name": TEXT,
            "kind": TEXT,
            "loops": _MAYBE_COUNT,
            "workers": COUNT,
            "rows": MAYBE_NUMBER,
            "planned_rows": MAYBE_NUMBER,
            "inclusive_seconds": MAYBE_NUMBER,
            "leader_seconds": MAYBE_NUMBER,
            "worker_seconds": MAYBE_NUMBER,
            "buffers": _BUFFERS,
            "io_seconds": SECONDS,
        }
    )


def _change() -> Schema:
    return closed(
        {
            "code": TEXT,
            "old": MAYBE_TEXT,
            "new": MAYBE_TEXT,
            "old_node": _MAYBE_COUNT,
            "new_node": _MAYBE_COUNT,
            "old_nodes": maybe(_NUMBERS),
            "new_nodes": maybe(_NUMBERS),
            "old_seconds": MAYBE_NUMBER,
            "new_seconds": MAYBE_NUMBER,
            "cost_seconds": MAYBE_NUMBER,
        }
    )
