"""Two sides from a command line: what differs belongs to its side, and what is wrong is named."""

from __future__ import annotations

from pathlib import Path

import pytest

from teiten.errors import UsageError
from teiten.kinds.pgbench.model import clients_of, pgbench_of
from teiten.model.study import QueryMode
from teiten.study.sides import Shared, ab_study, null_study
from tests.fixtures.pairs import ab_plan, side


def test_two_servers_are_two_levels() -> None:
    study = ab_study(side("a", "17"), side("b", "18"), Shared(clients="4"))
    assert study.contrast == "server"
    assert [(factor.name, factor.levels) for factor in study.factors] == [
        ("server", ("17", "18")),
        ("clients", ("4",)),
    ]
    assert study.server_aliases == ()
    assert [workload.name for workload in study.workloads] == ["read"]
    sequential = study.measure.sequential
    assert sequential is not None
    assert (sequential.budget, sequential.most_blocks) == (1800.0, None)


def test_one_server_with_two_settings_has_two_aliases() -> None:
    plan = ab_plan(side("a", "18"), side("b", "18", "Shared_Buffers=8GB", "jit=off"))
    assert plan.study.server_aliases == (("A", "18"), ("B", "18"))
    found = {
        trial.cell.level("server"): dict(trial.settings) for trial in plan.trials if trial.block < 9
    }
    assert found["B"]["shared_buffers"] == "8GB"
    assert found["B"]["jit"] == "off"
    assert found["A"]["shared_buffers"] not in ("8GB", "")
    assert "jit" not in found["A"]
    assert {trial.copy for trial in plan.trials} == {1}, "one data directory for both"
    assert len(plan.templates) == 1


def test_sides_can_differ_in_server_checksums_and_query_mode_at_once() -> None:
    plan = ab_plan(
        side("a", "17", overrides=("checksums=off",)),
        side("b", "18", overrides=("checksums=on", "query_mode=prepared", "guc:jit=off")),
    )
    by_side = {trial.cell.level("server"): trial for trial in plan.trials}
    assert (by_side["A"].template.checksums, by_side["B"].template.checksums) == (False, True)
    assert clients_of(by_side["A"]).query_mode is QueryMode.SIMPLE
    assert clients_of(by_side["B"]).query_mode is QueryMode.PREPARED
    assert dict(by_side["B"].settings)["jit"] == "off"
    assert by_side["A"].template.installation.name == "17.4"


def test_a_null_study_gives_each_side_a_data_directory_and_fixes_the_pairs() -> None:
    study = null_study("18", Shared(clients="2", blocks=12))
    assert (study.name, study.measure.blocks, study.measure.sequential) == ("null", 12, None)
    assert study.server_aliases == (("A", "18"), ("B", "18"))


@pytest.mark.parametrize("script", ["update", "tpcb-like", "select-only"])
def test_a_workload_by_its_name(script: str) -> None:
    study = ab_study(side("a", "17"), side("b", "18"), Shared(script=script))
    assert [workload.name for workload in study.workloads] == [script]


def test_a_script_of_ones_own(tmp_path: Path) -> None:
    path = tmp_path / "q.sql"
    path.write_text("SELECT 1;\n", encoding="ascii")
    (workload,) = ab_study(side("a", "17"), side("b", "18"), Shared(script=str(path))).workloads
    assert (pgbench_of(workload).script.name, pgbench_of(workload).script.text) == (
        "q.sql",
        "SELECT 1;\n",
    )


def test_what_both_sides_share_is_the_studys() -> None:
    shared = Shared(
        clients="1,4", duration="7s", budget="1h", blocks=9, delta="1%", alpha="1%",
        overrides=("scale=3",), gucs=("work_mem=64MB",),
    )  # fmt: skip
    study = ab_study(side("a", "17"), side("b", "18"), shared)
    assert study.factor("clients") is not None
    assert study.measure.duration == 7.0
    assert study.measure.sequential is not None
    assert study.measure.sequential.budget == 3600.0
    assert study.measure.sequential.most_blocks == 9
    assert (study.measure.delta, study.measure.alpha) == (0.01, 0.01)
    assert study.workloads[0].data.scale == 3
    assert ("work_mem", "64MB") in [(setting.name, setting.value) for setting in study.settings]


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        (side("a", "18"), side("b", "18"), "both sides are server 18, and nothing makes them"),
        (side("a", "18", "jit=on"), side("b", "18", "jit=on"), "nothing makes them differ"),
        (side("a", "18"), side("b", "18", "jit"), "--guc-b jit: needs the form KEY=VALUE"),
        (side("a", "18"), side("b", "18", "jit="), "--guc-b jit=: needs the form"),
        (side("a", "18", "port=1"), side("b", "18"), "--guc-a port: port is set by Teiten itself"),
        (side("a", "18"), side("b", "18", "jit=on", "jit=off"), "--guc-b jit is given twice"),
        (
            side("a", "18"),
            side("b", "18", overrides=("scale=4",)),
            "--set-b scale: a side has no such key",
        ),
        (
            side("a", "18"),
            side("b", "18", overrides=("checksum=on",)),
            "Did you mean 'checksums'",
        ),
        (
            side("a", "18"),
            side("b", "18", overrides=("checksums=perhaps",)),
            "--set-b checksums: must be one of off, on",
        ),
    ],
)
def test_a_wrong_side_is_named(old: object, new: object, message: str) -> None:
    with pytest.raises(UsageError) as caught:
        ab_study(old, new, Shared())  # type: ignore[arg-type]
    assert message in caught.value.message
    assert caught.value.hint


@pytest.mark.parametrize(
    ("shared", "message"),
    [
        (Shared(delta="0%"), "--delta: must be above 0%"),
        (Shared(delta="-1%"), "--delta: must be above 0%"),
        (Shared(alpha="50%"), "--alpha: must be above 0% and below 50%"),
        (Shared(alpha="0%"), "--alpha: must be above 0%"),
        (Shared(budget="30"), "--budget: needs a unit: for example"),
        (Shared(budget="0s"), "--budget: must be above 0s"),
        (Shared(clients="0"), "--clients: 0 is not a number of clients"),
        (Shared(script="no-such.sql"), "--script: there is no script"),
        (Shared(duration="0.5s"), "--duration: '0.5s' is not a whole number of seconds"),
        (Shared(overrides=("server=1,2", "bloks=3")), "--set bloks: unknown key"),
    ],
)
def test_a_wrong_flag_is_named(shared: Shared, message: str) -> None:
    with pytest.raises(UsageError) as caught:
        ab_study(side("a", "17"), side("b", "18"), shared)
    assert message in caught.value.message
