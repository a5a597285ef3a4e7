"""Parts of a plan's JSON for which kinds have classes of their own: the options of workloads and of
data sets, and the loads of trials."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache
from typing import Any

from pydantic import TypeAdapter

from teiten.datasets.plan import plan_of as plan_of_data
from teiten.datasets.registry import names as kinds_of_data
from teiten.errors import LedgerError
from teiten.kinds.contract import plan_of
from teiten.kinds.registry import names
from teiten.model.plan import Plan, PlannedLoad, TemplateSpec
from teiten.model.study import DataSet, WorkloadOptions

_OF_KINDS = {
    "pgbench": ("script", "query_mode", "invariants", "pgbench_options"),
    "queries": ("queries", "runs", "timeout", "check_answers", "groups"),
}
"""Keys that stood beside a workload's kind before there were options (ledgers of version 2), by the
only kinds that there were."""
_OF_DATA = {"pgbench": ("fillfactor",), "script": ("script", "size"), "ssb": ("variant",)}
"""Keys that stood beside a data set's kind before it had options (ledgers before version 4), by the
kind."""
_OF_LOADS = ("clients", "threads", "query_mode")
"""Keys that stood beside a trial's number before there were loads (ledgers before version 4)."""


def _adapter(kind: Any) -> TypeAdapter[Any]:
    return _made(kind)


@cache
def _made(kind: Any) -> TypeAdapter[Any]:
    return TypeAdapter(kind)


def encode_options(plan: Plan) -> list[Any]:
    """The options of each workload, in the study's order."""
    return [
        _adapter(type(workload.options)).dump_python(workload.options, mode="json")
        for workload in plan.study.workloads
    ]


def encode_data(plan: Plan, table: dict[str, Any]) -> None:
    """Write the options of all data sets of a plan into its table. Trials have those of the plan's
    templates: a dump of any size stands there once for each server, and not for each trial."""
    of_workloads = [workload.data for workload in plan.study.workloads]
    of_templates = [template.data for template in plan.templates]
    known = {template.fingerprint for template in plan.templates}
    of_trials = [
        template.data
        for trial in plan.trials
        for template in trial.templates
        if template.fingerprint not in known
    ]
    found = (*of_workloads, *of_templates, *of_trials)
    for data, form in zip(found, _data_tables(table, known), strict=True):
        form["options"] = _adapter(type(data.options)).dump_python(data.options, mode="json")


def with_data(plan: Plan, table: Mapping[str, Any]) -> Plan:
    """The plan with the options of the data sets of its workloads and templates.

    Raises as pydantic where one is not of its kind's form, LedgerError for an unknown kind.
    """
    workloads = tuple(
        replace(one, data=_with_data(one.data, form["data"]))
        for one, form in zip(plan.study.workloads, table["study"]["workloads"], strict=True)
    )
    templates = tuple(map(_with_template, plan.templates, table["templates"]))
    return replace(plan, study=replace(plan.study, workloads=workloads), templates=templates)


def with_trials(plan: Plan, tables: Sequence[Mapping[str, Any]]) -> Plan:
    """The plan with the loads and templates of its trials; those of the plan must be decoded.

    Raises as ``with_data``.
    """
    kinds = {workload.name: workload.kind for workload in plan.study.workloads}
    templates = {template.fingerprint: template for template in plan.templates}
    loads: dict[tuple[str, str], PlannedLoad] = {}

    def load(kind: str, form: Any) -> PlannedLoad:
        key = (kind, repr(form))  # thousands of trials have some few
        if key not in loads:
            loads[key] = _adapter(plan_of(kind).load).validate_python(form)
        return loads[key]

    trials = tuple(
        replace(
            one,
            load=load(kinds[one.cell.workload], form["load"]),
            templates=tuple(
                templates.get(each.fingerprint) or _with_template(each, of_one)
                for each, of_one in zip(one.templates, form["templates"], strict=True)
            ),
        )
        for one, form in zip(plan.trials, tables, strict=True)
    )
    return replace(plan, trials=trials)


def _with_template(one: TemplateSpec, form: Mapping[str, Any]) -> TemplateSpec:
    return replace(one, data=_with_data(one.data, form["data"]))


def _with_data(data: DataSet, form: Mapping[str, Any]) -> DataSet:
    if data.kind not in kinds_of_data():
        raise LedgerError(
            f"tables of the ledger are of the kind {data.kind!r}, which this Teiten does not have",
            "read it with the Teiten that wrote it, or a newer one",
        )
    options = _adapter(plan_of_data(data.kind).options).validate_python(form["options"])
    return replace(data, options=options)


def _data_tables(table: Mapping[str, Any], known: Collection[str]) -> Iterator[dict[str, Any]]:
    """Yield the tables of the data sets of a plan's workloads and templates, and of those of trials
    that are not known by their fingerprint."""
    yield from (one["data"] for one in table["study"]["workloads"])
    yield from (one["data"] for one in table["templates"])
    of_trials = (template for trial in table["trials"] for template in trial["templates"])
    yield from (form["data"] for form in of_trials if form["fingerprint"] not in known)


def encode_loads(plan: Plan) -> list[Any]:
    """The load of each trial, in the plan's order."""
    return [
        _adapter(type(trial.load)).dump_python(trial.load, mode="json") for trial in plan.trials
    ]


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
    trials, templates = plan.get("trials"), plan.get("templates")
    if isinstance(trials, list):
        trials = [_trial(trial) if isinstance(trial, dict) else trial for trial in trials]
    if isinstance(templates, list):
        templates = [_with_own_data(template) for template in templates]
    new = {"trials": trials, "templates": templates}
    return {**plan, "study": {**study, "workloads": workloads}, **new}


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
        new["templates"] = [_with_own_data(table["template"])]
    old = {"template", *_OF_LOADS}
    return {**new, **{key: value for key, value in table.items() if key not in old}}


def _with_own_data(table: Any) -> Any:
    """Before version 4 a data set had what is of any kind in its own keys."""
    data = table.get("data") if isinstance(table, dict) else None
    if not isinstance(data, dict) or "options" in data:
        return table
    kind = data.get("kind", "pgbench")
    options = {key: data[key] for key in _OF_DATA.get(kind, ()) if key in data}
    old = {key for keys in _OF_DATA.values() for key in keys}
    kept = {key: value for key, value in data.items() if key not in old}
    return {**table, "data": {**kept, "kind": kind, "options": options}}


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
    found: dict[str, Any] = _with_own_data({**kept, "kind": kind})
    return found
