"""The options of workloads, which each kind has its own class of, in the JSON of a plan."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from pydantic import TypeAdapter

from teiten.kinds.contract import plan_of
from teiten.model.plan import Plan
from teiten.model.study import WorkloadOptions

_OF_KINDS = {
    "pgbench": ("script", "query_mode", "invariants", "pgbench_options"),
    "queries": ("queries", "runs", "timeout", "check_answers", "groups"),
}
"""What stood beside a workload's kind before there were options (ledgers of version 2), by the
only kinds that there were."""


def encode_options(plan: Plan) -> list[Any]:
    """The options of each workload, in the study's order."""
    return [
        TypeAdapter(type(one.options)).dump_python(one.options, mode="json")
        for one in plan.study.workloads
    ]


def with_options(plan: Plan, tables: list[Any]) -> Plan:
    """The plan with the options of its workloads. Raises as pydantic where one is not of its
    kind's form, KeyError where there is no such kind."""
    workloads = tuple(
        replace(one, options=_decoded(one.kind, table))
        for one, table in zip(plan.study.workloads, tables, strict=True)
    )
    return replace(plan, study=replace(plan.study, workloads=workloads))


def in_new_form(workloads: list[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """Workloads as they are written today, from those of any ledger."""
    for one in workloads:
        yield one if "options" in one else _from_version_2(one)


def _decoded(kind: str, table: Any) -> WorkloadOptions:
    found: WorkloadOptions = TypeAdapter(plan_of(kind).options).validate_python(table)
    return found


def _from_version_2(table: Mapping[str, Any]) -> dict[str, Any]:
    kind = table.get("kind", "pgbench")
    options = {key: table[key] for key in _OF_KINDS[kind] if key in table}
    if kind == "queries":
        options["folder"] = table["script"]["name"]
    old = {key for keys in _OF_KINDS.values() for key in keys}
    kept = {key: value for key, value in table.items() if key not in old}
    return {**kept, "kind": kind, "options": options}
