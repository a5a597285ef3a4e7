"""What kinds of workloads have classes of their own for, in the JSON of a plan: the options of
workloads, and the loads of trials."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cache
from typing import Any

from pydantic import TypeAdapter

from teiten.errors import LedgerError
from teiten.kinds.contract import plan_of
from teiten.kinds.registry import names
from teiten.model.plan import Plan
from teiten.model.study import WorkloadOptions

_OF_KINDS = {
    "pgbench": ("script", "query_mode", "invariants", "pgbench_options"),
    "queries": ("queries", "runs", "timeout", "check_answers", "groups"),
}
"""What stood beside a workload's kind before there were options (ledgers of version 2), by the
only kinds that there were."""
_OF_LOADS = ("clients", "threads", "query_mode")
"""What stood beside a trial's number before there were loads (ledgers before version 4)."""


def _adapter(kind: Any) -> TypeAdapter[Any]:
    return _made(kind)


@cache
def _made(kind: Any) -> TypeAdapter[Any]:
    return TypeAdapter(kind)


def encode_options(plan: Plan) -> list[Any]:
    """The options of each workload, in the study's order."""
    return [
        _adapter(type(one.options)).dump_python(one.options, mode="json")
        for one in plan.study.workloads
    ]


def encode_loads(plan: Plan) -> list[Any]:
    """The load of each trial, in the plan's order."""
    return [_adapter(type(one.load)).dump_python(one.load, mode="json") for one in plan.trials]


def with_loads(plan: Plan, tables: Sequence[Any]) -> Plan:
    """The plan with the loads of its trials; its workloads must be decoded.

    Raises as pydantic where one is not of its kind's form.
    """
    classes = {one.name: plan_of(one.kind).load for one in plan.study.workloads}
    trials = tuple(
        replace(one, load=_adapter(classes[one.cell.workload]).validate_python(table))
        for one, table in zip(plan.trials, tables, strict=True)
    )
    return replace(plan, trials=trials)


def with_options(plan: Plan, tables: list[Any]) -> Plan:
    """The plan with the options of its workloads.

    Raises as pydantic where one is not of its kind's form, LedgerError for an unknown kind.
    """
    workloads = tuple(
        replace(one, options=_decoded(one.kind, table))
        for one, table in zip(plan.study.workloads, tables, strict=True)
    )
    return replace(plan, study=replace(plan.study, workloads=workloads))


def in_new_form(plan: Any) -> Any:
    """A plan as it is written today, from that of any ledger; unchanged where it is none."""
    study = plan.get("study") if isinstance(plan, dict) else None
    if not isinstance(study, dict) or not isinstance(study.get("workloads"), list):
        return plan
    workloads = [_workload(one) if isinstance(one, dict) else one for one in study["workloads"]]
    trials = plan.get("trials")
    if isinstance(trials, list):
        trials = [_trial(one) if isinstance(one, dict) else one for one in trials]
    return {**plan, "study": {**study, "workloads": workloads}, "trials": trials}


def _decoded(kind: str, table: Any) -> WorkloadOptions:
    if kind not in names():
        raise LedgerError(
            f"a workload of the ledger is of the kind {kind!r}, which this Teiten does not have",
            "read it with the Teiten that wrote it, or a newer one",
        )
    found: WorkloadOptions = _adapter(plan_of(kind).options).validate_python(table)
    return found


def _trial(table: Mapping[str, Any]) -> dict[str, Any]:
    """Before version 4 a trial had one server, and so one template; and every trial had what is of
    pgbench's loads, in its own keys."""
    new: dict[str, Any] = {"load": {key: table[key] for key in _OF_LOADS if key in table}}
    if "template" in table:
        new["templates"] = [table["template"]]
    old = {"template", *_OF_LOADS}
    return {**new, **{key: value for key, value in table.items() if key not in old}}


def _workload(table: Mapping[str, Any]) -> dict[str, Any]:
    """Before version 3 the options stood beside the kind; clients had a key of their own."""
    kind = table.get("kind", "pgbench")
    old = {"clients", *(key for keys in _OF_KINDS.values() for key in keys)}
    kept = {key: value for key, value in table.items() if key not in old}
    if "options" not in table:
        kept["options"] = {key: table[key] for key in _OF_KINDS.get(kind, ()) if key in table}
    if "options" not in table and kind == "queries":
        kept["options"]["folder"] = table.get("script", {}).get("name", "")
    if table.get("clients"):
        kept["levels"] = [["clients", table["clients"]], *table.get("levels", [])]
    return {**kept, "kind": kind}
