"""Plans that Teiten 0.1 wrote, before a kind of workload had options of its own."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from teiten.errors import LedgerError
from teiten.kinds.pgbench.model import clients_of, pgbench_of
from teiten.kinds.queries.model import queries_of
from teiten.ledger import codec
from teiten.model.plan import PlannedLoad

FOLDER = Path(__file__).parent.parent / "golden" / "ledger"
FILES = sorted(FOLDER.glob("plan-0.1-*.json"))


def written_by_0_1(path: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return found


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_a_plan_of_0_1_is_read_and_written_in_todays_form(path: Path) -> None:
    plan = codec.decode_plan(path.read_text(encoding="utf-8"))
    assert codec.decode_plan(codec.encode_plan(plan)) == plan
    old = written_by_0_1(path)
    assert [workload.name for workload in plan.study.workloads] == [
        one["name"] for one in old["study"]["workloads"]
    ]
    assert [[template.fingerprint for template in trial.templates] for trial in plan.trials] == [
        [one["template"]["fingerprint"]] for one in old["trials"]
    ]


def test_nothing_of_a_load_is_lost() -> None:
    path = FOLDER / "plan-0.1-observe.json"
    plan = codec.decode_plan(path.read_text(encoding="utf-8"))
    for workload, old in zip(
        plan.study.workloads, written_by_0_1(path)["study"]["workloads"], strict=True
    ):
        load = pgbench_of(workload)
        assert (workload.kind, list(workload.own_levels("clients") or ())) == (
            old["kind"],
            old["clients"],
        )
        assert (load.script.name, load.script.text) == (
            old["script"]["name"],
            old["script"]["text"],
        )
        assert load.script.builtin == old["script"]["builtin"]
        assert load.query_mode.value == old["query_mode"]
        assert list(load.invariants) == old["invariants"]
        assert list(load.pgbench_options) == old["pgbench_options"]


def test_loads_of_trials_are_what_stood_beside_their_numbers() -> None:
    path = FOLDER / "plan-0.1-observe.json"
    plan = codec.decode_plan(path.read_text(encoding="utf-8"))
    for trial, old in zip(plan.trials, written_by_0_1(path)["trials"], strict=True):
        load = clients_of(trial)
        assert (load.clients, load.threads) == (old["clients"], old["threads"])
        assert load.query_mode.value == old["query_mode"]
    assert {clients_of(trial).clients for trial in plan.trials} > {1}
    queries = codec.decode_plan(
        (FOLDER / "plan-0.1-partition-olap.json").read_text(encoding="utf-8")
    )
    assert {trial.load for trial in queries.trials} == {PlannedLoad()}


def test_nothing_of_queries_is_lost() -> None:
    path = FOLDER / "plan-0.1-partition-olap.json"
    plan = codec.decode_plan(path.read_text(encoding="utf-8"))
    (workload,), (old,) = plan.study.workloads, written_by_0_1(path)["study"]["workloads"]
    found = queries_of(workload)
    assert [(query.name, query.text) for query in found.queries] == [
        (one["name"], one["text"]) for one in old["queries"]
    ]
    assert (found.folder, found.runs) == (old["script"]["name"], old["runs"])
    assert (found.timeout, found.check_answers) == (old["timeout"], old["check_answers"])
    groups = [(group.name, group.title.ja, list(group.queries)) for group in found.groups]
    assert groups == [(one["name"], one["title"]["ja"], one["queries"]) for one in old["groups"]]
    assert [layout.name for layout in workload.layouts] == [one["name"] for one in old["layouts"]]


def test_a_kind_that_is_not_there_is_told() -> None:
    plan = codec.decode_plan(FILES[0].read_text(encoding="utf-8"))
    table = json.loads(codec.encode_plan(plan))
    table["study"]["workloads"][0]["kind"] = "vacuum"
    with pytest.raises(LedgerError, match="of the kind 'vacuum', which this Teiten does not have"):
        codec.decode_plan(json.dumps(table))
