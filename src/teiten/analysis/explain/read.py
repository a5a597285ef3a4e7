"""EXPLAIN's JSON to nodes with their times over all loops, by process.

A node's figures are means over its loops, and below a Gather its loops are those of all processes
(src/backend/commands/explain.c, ExecParallelRetrieveInstrumentation); the workers' own stand under
``Workers`` with VERBOSE only. The leader's are what is left.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from teiten.analysis.explain.text import PlanTextError, plan_document, require_plain
from teiten.analysis.model.explain import BUFFERS, LEADER, ExplainedPlan, PlanNode, Trigger
from teiten.model.units import Seconds

SUBPLANS = frozenset({"InitPlan", "SubPlan"})
MILLISECOND = 0.001
HALF_DIGIT = 0.0005 * MILLISECOND
"""Times are printed with three decimals of a millisecond."""
MOST = 1e100
"""The bound of what was counted or timed: what it is multiplied with must leave a number."""
MOST_PLANNED = 1e300
"""Before 14 the planner's rows had no bound of their own."""
_PLANNED = frozenset({"Plan Rows", "Total Cost"})
_BLOCKS = {f"{name.replace('_', ' ').title()} Blocks": name for name in BUFFERS}
_AGGREGATES = {"Hashed": "HashAggregate", "Sorted": "GroupAggregate", "Mixed": "MixedAggregate"}
_KNOWN = frozenset(
    (
        *("Node Type", "Plans", "Parent Relationship", "Subplan Name", "Strategy", "Partial Mode"),
        *("Relation Name", "Schema", "Alias", "Index Name", "Join Type", "Operation", "CTE Name"),
        *("Function Name", "Parallel Aware", "Async Capable", "Startup Cost", "Total Cost"),
        *("Plan Rows", "Plan Width", "Actual Rows", "Actual Loops", "Actual Startup Time"),
        *("Actual Total Time", "Workers", "Workers Planned", "Workers Launched"),
        *("Subplans Removed", "Disabled", "Command", "Table Function Name", "Tuplestore Name"),
    )
)


def read_plan(text: str) -> ExplainedPlan:
    """The plan in a text. Raises PlanTextError, which says what the text is and what to do."""
    return plan_of(plan_document(text))


def plan_of(document: Mapping[str, Any]) -> ExplainedPlan:
    """The plan of an object with the key ``Plan``, which is kept. Raises PlanTextError where it is
    malformed."""
    require_plain(document)
    return ExplainedPlan(
        nodes=tuple(_nodes(document["Plan"])),
        planning=_seconds(document, "Planning Time"),
        execution=_seconds(document, "Execution Time"),
        triggers=tuple(_triggers(document.get("Triggers"))),
        jit=dict(document["JIT"]) if isinstance(document.get("JIT"), dict) else {},
        settings={str(key): str(value) for key, value in _table(document.get("Settings")).items()},
        query=str(document.get("Query Text", "")),
        document=dict(document),
    )


def _nodes(root: Any) -> Iterator[PlanNode]:
    """The nodes, numbered in the order of the text."""
    number = 0
    waiting: list[tuple[Any, int | None, str]] = [(root, None, "Plan")]
    while waiting:
        raw, parent, place = waiting.pop()
        if not isinstance(raw, dict):
            raise PlanTextError(f"is malformed: {place} is no object")
        if not isinstance(raw.get("Node Type"), str):
            raise PlanTextError(f"is malformed: {place} has no Node Type")
        yield _node(raw, number, parent, place)
        children = raw.get("Plans", [])
        if not isinstance(children, list):
            raise PlanTextError(f"is malformed: {place}.Plans is no list")
        waiting += [
            (child, number, f"{place}.Plans[{index}]") for index, child in enumerate(children)
        ][::-1]
        number += 1


def _node(raw: Mapping[str, Any], number: int, parent: int | None, place: str) -> PlanNode:
    number_of = _Numbers(raw, place)
    loops = number_of.whole("Actual Loops")
    own_loops, seconds = _processes(raw, number_of, loops, place)
    return PlanNode(
        number=number,
        parent=parent,
        kind=_kind(raw),
        relationship=str(raw.get("Parent Relationship", "")),
        subplan=str(raw.get("Subplan Name", "")),
        relation=_first(raw, "Relation Name", "Function Name", "CTE Name", "Table Function Name"),
        alias=str(raw.get("Alias", "")),
        index=str(raw.get("Index Name", "")),
        join=str(raw.get("Join Type", "")),
        operation=_first(raw, "Operation", "Command", usual="Select"),
        parallel_aware=raw.get("Parallel Aware") is True,
        partial=_first(raw, "Partial Mode", usual="Simple"),
        planned_rows=number_of("Plan Rows"),
        planned_cost=number_of("Total Cost"),
        rows=number_of("Actual Rows"),
        loops=loops,
        own_loops=own_loops,
        seconds=seconds,
        rounding=HALF_DIGIT * (loops or 0) * (2 if len(own_loops) > 1 else 1),
        buffers={name: number_of.whole(key) or 0 for key, name in _BLOCKS.items() if key in raw},
        # I/O Read Time until 16; since then by kind: Shared I/O Read Time, Temp I/O Write Time
        io_seconds=MILLISECOND
        * sum(number_of(key) or 0.0 for key in raw if "I/O" in key and key.endswith("Time")),
        workers_planned=number_of.whole("Workers Planned"),
        workers_launched=number_of.whole("Workers Launched"),
        subplans_removed=number_of.whole("Subplans Removed") or 0,
        details=tuple(
            (key, value)
            for key, value in raw.items()
            if key not in _KNOWN and not key.endswith("Blocks") and "I/O" not in key
        ),
    )


class _Numbers:
    """Numbers of a node; what is none is an error that names its place."""

    def __init__(self, raw: Mapping[str, Any], place: str) -> None:
        self._raw = raw
        self._place = place

    def __call__(self, key: str) -> float | None:
        value = self._raw.get(key)
        if value is None:
            return None
        most = MOST_PLANNED if key in _PLANNED else MOST
        if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < most:
            raise PlanTextError(f"is malformed: {self._place}, {key}: {value!r} is no number")
        return float(value)

    def whole(self, key: str) -> int | None:
        value = self(key)
        return None if value is None else round(value)


def _processes(
    raw: Mapping[str, Any], number_of: _Numbers, loops: int | None, place: str
) -> tuple[dict[int, int], dict[int, float] | None]:
    """Loops and inclusive seconds by process, the leader's as the rest."""
    if loops is None:
        return {}, None
    time = number_of("Actual Total Time")
    own_loops: dict[int, int] = {}
    seconds: dict[int, float] = {}
    for index, worker in enumerate(_list(raw.get("Workers"))):
        figures = _Numbers(_table(worker), f"{place}.Workers[{index}]")
        count, per_loop = figures.whole("Actual Loops"), figures("Actual Total Time")
        process = figures.whole("Worker Number")
        if count is not None and process is not None:
            own_loops[process] = count
            seconds[process] = (per_loop or 0.0) * MILLISECOND * count
    own_loops[LEADER] = max(0, loops - sum(own_loops.values()))
    if time is None:
        return own_loops, {LEADER: 0.0} if loops == 0 else None
    total = time * MILLISECOND * loops
    rest = total - sum(seconds.values())
    seconds[LEADER] = max(0.0, rest) if own_loops[LEADER] else 0.0
    return own_loops, seconds


def _kind(raw: Mapping[str, Any]) -> str:
    kind = str(raw["Node Type"])
    strategy = str(raw.get("Strategy", ""))
    if kind == "Aggregate":
        return _AGGREGATES.get(strategy, kind)
    if kind == "SetOp" and strategy == "Hashed":
        return "HashSetOp"
    return kind


def _first(raw: Mapping[str, Any], *keys: str, usual: str = "") -> str:
    """The text of the first key that has one; empty where it is the usual one."""
    text = next((str(raw[key]) for key in keys if raw.get(key)), "")
    return "" if text == usual else text


def _triggers(value: Any) -> Iterator[Trigger]:
    for entry in _list(value):
        raw = _table(entry)
        number_of = _Numbers(raw, "Triggers")
        yield Trigger(
            name=_first(raw, "Trigger Name", "Constraint Name"),
            relation=str(raw.get("Relation", "")),
            seconds=(number_of("Time") or 0.0) * MILLISECOND,
            calls=number_of.whole("Calls") or 0,
        )


def _seconds(document: Mapping[str, Any], key: str) -> Seconds | None:
    value = _Numbers(document, "the document")(key)
    return None if value is None else Seconds(value * MILLISECOND)


def _list(value: Any) -> Sequence[Any]:
    return value if isinstance(value, list) else ()


def _table(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}
