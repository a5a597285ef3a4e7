"""Parts of a plan's JSON for which kinds have classes of their own: the options of workloads and of
data sets, and the loads of trials."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache
from typing import Any

from pydantic import TypeAdapter

from teiten.datasets.plan import plan_of as plan_of_data
from teiten.datasets.registry import names as kinds_of_data
from teiten.errors import LedgerError
from teiten.kinds.contract import plan_of
from teiten.kinds.registry import names
from teiten.model.plan import Plan, PlannedLoad, PlannedTrial, TemplateSpec
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


def adapter(kind: Any) -> TypeAdapter[Any]:
    """The converter between values of a class and JSON's types."""
    return _made(kind)


@cache
def _made(kind: Any) -> TypeAdapter[Any]:
    return TypeAdapter(kind)


def _dumped(value: Any) -> Any:
    return adapter(type(value)).dump_python(value, mode="json")


def write_own_forms(plan: Plan, table: dict[str, Any]) -> None:
    """Write what kinds have classes for into a plan's table. Trials have the tables of the plan's
    templates: a dump of any size stands there once for each server, and not for each trial."""
    for workload, form in zip(plan.study.workloads, table["study"]["workloads"], strict=True):
        form["options"] = _dumped(workload.options)
        form["data"]["options"] = _dumped(workload.data.options)
    for template, form in zip(plan.templates, table["templates"], strict=True):
        form["data"]["options"] = _dumped(template.data.options)
    known = {template.fingerprint for template in plan.templates}
    for trial, form in zip(plan.trials, table["trials"], strict=True):
        form["load"] = _dumped(trial.load)
        for template, of_template in zip(trial.templates, form["templates"], strict=True):
            if template.fingerprint not in known:
                of_template["data"]["options"] = _dumped(template.data.options)


def with_own_forms(plan: Plan, table: Mapping[str, Any]) -> Plan:
    """The plan with what kinds have classes for.

    Raises as pydantic where something is not of its kind's form, LedgerError for an unknown kind.
    """
    workloads = tuple(
        replace(
            workload,
            options=_options(workload.kind, form["options"]),
            data=_with_options(workload.data, form["data"]),
        )
        for workload, form in zip(plan.study.workloads, table["study"]["workloads"], strict=True)
    )
    study = replace(plan.study, workloads=workloads)
    templates = tuple(map(_with_data, plan.templates, table["templates"]))
    plan = replace(plan, study=study, templates=templates)
    return replace(plan, trials=tuple(_trials(plan, table["trials"])))


def _trials(plan: Plan, tables: Sequence[Mapping[str, Any]]) -> Iterator[PlannedTrial]:
    """The trials with their loads and templates; those of the plan are decoded."""
    kinds = {workload.name: workload.kind for workload in plan.study.workloads}
    templates = {template.fingerprint: template for template in plan.templates}
    loads: dict[tuple[str, str], PlannedLoad] = {}
    for trial, form in zip(plan.trials, tables, strict=True):
        key = (kinds[trial.cell.workload], repr(form["load"]))  # thousands of trials have some few
        if key not in loads:
            loads[key] = adapter(plan_of(key[0]).load).validate_python(form["load"])
        own = tuple(
            templates.get(template.fingerprint) or _with_data(template, of_template)
            for template, of_template in zip(trial.templates, form["templates"], strict=True)
        )
        yield replace(trial, load=loads[key], templates=own)


def _with_data(template: TemplateSpec, form: Mapping[str, Any]) -> TemplateSpec:
    return replace(template, data=_with_options(template.data, form["data"]))


def _with_options(data: DataSet, form: Mapping[str, Any]) -> DataSet:
    if data.kind not in kinds_of_data():
        raise _unknown(f"tables of the ledger are of the kind {data.kind!r}")
    options = adapter(plan_of_data(data.kind).options).validate_python(form["options"])
    return replace(data, options=options)


def _options(kind: str, table: Any) -> WorkloadOptions:
    if kind not in names():
        raise _unknown(f"a workload of the ledger is of the kind {kind!r}")
    options: WorkloadOptions = adapter(plan_of(kind).options).validate_python(table)
    return options


def _unknown(what: str) -> LedgerError:
    return LedgerError(
        f"{what}, which this Teiten does not have",
        "read it with the Teiten that wrote it, or a newer one",
    )


def in_new_form(plan: Any) -> Any:
    """A plan as it is written today, from that of any ledger; unchanged where it is none."""
    study = plan.get("study") if isinstance(plan, dict) else None
    if not isinstance(study, dict) or not isinstance(study.get("workloads"), list):
        return plan
    workloads = [_workload(form) if isinstance(form, dict) else form for form in study["workloads"]]
    trials, templates = plan.get("trials"), plan.get("templates")
    if isinstance(trials, list):
        trials = [_trial(trial) if isinstance(trial, dict) else trial for trial in trials]
    if isinstance(templates, list):
        templates = [_with_own_data(template) for template in templates]
    new = {"trials": trials, "templates": templates}
    return {**plan, "study": {**study, "workloads": workloads}, **new}


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
    workload: dict[str, Any] = _with_own_data({**kept, "kind": kind})
    return workload
