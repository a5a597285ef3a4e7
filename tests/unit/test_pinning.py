"""Which processors the server and pgbench get, on invented machines."""

from __future__ import annotations

import itertools
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from teiten.errors import MachineError, TeitenError, UsageError
from teiten.factors.cores import automatic_cores, in_order, pin
from teiten.host.cautions.machine import plan_cautions
from teiten.host.cautions.variants import pinned_apart
from teiten.model.facts import HostFacts, LogicalCpu
from teiten.model.plan import Plan
from teiten.plan.checks import check
from teiten.study.load import load_study
from teiten.study.sides import Shared, SideFlags, ab_study
from tests.fixtures.planned import FOLDER, expanded
from tests.fixtures.synthetic_plan import HOST


def cpus(nodes: int, cores: int, threads: int = 1) -> tuple[LogicalCpu, ...]:
    """As Linux numbers them: all first threads, node by node, then all second ones."""
    return tuple(
        LogicalCpu(thread * nodes * cores + node * cores + core, core, node, node)
        for thread in range(threads)
        for node in range(nodes)
        for core in range(cores)
    )


def host(found: tuple[LogicalCpu, ...], *, quota: int | None = None) -> HostFacts:
    cpu = replace(
        HOST.cpu,
        cpus=found,
        logical=min(len(found), quota or len(found)),
        online=len(found),
        quota_cores=None if quota is None else float(quota),
    )
    return replace(HOST, cpu=cpu)


def planned(facts: HostFacts, *overrides: str, profile: str = "quick") -> Plan:
    return expanded(load_study("cores", profile=profile, overrides=overrides), facts=facts)


def levels(plan: Plan, factor: str) -> tuple[str, ...]:
    found = plan.study.factor(factor)
    assert found is not None
    return found.levels


def test_physical_cores_come_first_one_node_before_the_next() -> None:
    machine = cpus(nodes=2, cores=2, threads=2)
    assert [cpu.number for cpu in in_order(machine)] == [0, 1, 2, 3, 4, 5, 6, 7]
    scattered = tuple(LogicalCpu(n, n % 4 // 2, n % 2, n % 2) for n in range(8))
    assert [cpu.number for cpu in in_order(scattered)] == [0, 2, 1, 3, 4, 6, 5, 7]


def test_pgbench_gets_whole_cores_that_the_server_never_has() -> None:
    machine = cpus(nodes=1, cores=4, threads=2)
    one, three = pin(machine, 1, 3), pin(machine, 3, 3)
    assert (one.server, three.server) == ((0,), (0, 1, 2))
    assert one.client == three.client == (3, 7)
    assert not one.shared


def test_without_a_whole_core_pgbench_gets_second_threads() -> None:
    machine = cpus(nodes=1, cores=2, threads=2)
    assert pin(machine, 2, 2).client == (2, 3)
    assert pin(machine, 3, 4).client == pin(machine, 3, 4).server == (0, 1, 2)


@settings(deadline=None)
@given(nodes=st.integers(1, 4), cores=st.integers(1, 8), threads=st.integers(1, 4), data=st.data())
def test_sets_are_never_empty_and_apart_or_equal(
    nodes: int, cores: int, threads: int, data: st.DataObject
) -> None:
    machine = cpus(nodes, cores, threads)
    most = data.draw(st.integers(1, len(machine)))
    found = [pin(machine, level, most) for level in range(1, most + 1)]
    assert [len(one.server) for one in found] == list(range(1, most + 1))
    if most < len(machine):
        assert len({one.client for one in found}) == 1, "the same at every level"
        assert not any(one.shared for one in found)
    else:
        assert all(one.client == one.server for one in found)
    for small, large in itertools.pairwise(found):
        assert set(small.server) < set(large.server)


@pytest.mark.parametrize(
    ("machine", "expected"),
    [
        (cpus(1, 2), ("1", "2")),
        (cpus(1, 1, 2), ("1", "2")),
        (cpus(1, 3), ("1", "2")),
        (cpus(1, 4), ("1", "2", "3")),
        (cpus(1, 8, 2), ("1", "2", "4", "6")),
        (cpus(4, 20), ("1", "2", "4", "8", "16", "32", "60")),
    ],
)
def test_automatic_levels_leave_a_quarter_to_pgbench(
    machine: tuple[LogicalCpu, ...], expected: tuple[str, ...]
) -> None:
    assert automatic_cores(host(machine)) == expected


def test_the_study_is_fitted_to_the_machine() -> None:
    plan = planned(host(cpus(1, 8)))
    assert levels(plan, "cores") == ("1", "2", "4", "6")
    assert levels(plan, "clients") == ("6",), "as many as the most cores"
    check(plan, host(cpus(1, 8)), FOLDER)
    assert pinned_apart(plan)
    for trial in plan.trials:
        assert len(trial.server_cpus) == int(trial.cell.level("cores") or 0)
        assert trial.client_cpus == (6, 7)
    assert not {"cores-shared"} & {one.code for one in plan_cautions(plan, host(cpus(1, 8)))}


def test_published_is_the_report_s_machine() -> None:
    plan = planned(host(cpus(4, 24)), profile="published")
    assert levels(plan, "cores") == ("1", "2", "4", "8", "16", "32", "48", "64", "80")
    assert levels(plan, "clients") == ("80",)
    assert dict(plan.trials[0].settings)["shared_buffers"] == "200GB"
    codes = {one.code for one in plan_cautions(plan, host(cpus(4, 24)))}
    assert "cores-nodes" in codes


def test_cautions_say_what_a_small_machine_does() -> None:
    facts = host(cpus(1, 2))
    (caution,) = (one for one in plan_cautions(planned(facts), facts) if "cores" in one.code)
    assert caution.code == "cores-shared"
    assert dict(caution.values) == {"cores": "2", "here": "2"}
    facts = host(cpus(1, 2, 2))
    codes = {one.code for one in plan_cautions(planned(facts, "cores=1,2,3"), facts)}
    assert {"cores-hardware-threads", "cores-pgbench-beside"} <= codes


@pytest.mark.parametrize(
    ("facts", "overrides", "kind", "said"),
    [
        (host(cpus(1, 4)), ("cores=1,5",), MachineError, "cores=5: this program may use 4"),
        (
            host(cpus(1, 8), quota=2),
            ("cores=1,3",),
            MachineError,
            r"may use 2 processors \(its control group's quota is 2 cores\)",
        ),
        (host(()), ("cores=1,2",), MachineError, "cores: this machine does not tell"),
        (host(()), (), MachineError, "cores: this machine does not tell"),
        (host(cpus(1, 1)), (), MachineError, "1 processor: there is nothing to vary"),
        (host(cpus(1, 4)), ("cores=0,1",), UsageError, "0 is not a number of cores"),
        (host(cpus(1, 4)), ("cores=2",), UsageError, "cores is contrasted and needs at least two"),
        (host(cpus(1, 4)), ("cores=2,02",), UsageError, "the level 2 stands there twice"),
    ],
)
def test_what_cannot_be_is_said_before_the_run(
    facts: HostFacts, overrides: tuple[str, ...], kind: type[TeitenError], said: str
) -> None:
    with pytest.raises(kind, match=said) as caught:
        check(planned(facts, *overrides), facts, FOLDER)
    assert caught.value.hint


def test_both_sides_of_ab_are_pinned_or_none() -> None:
    facts = host(cpus(1, 4))

    def plan_of(a: tuple[str, ...], b: tuple[str, ...]) -> Plan:
        sides = SideFlags("a", "18", a), SideFlags("b", "18", b)
        return expanded(ab_study(*sides, Shared(clients="1")), facts=facts)

    plan = plan_of(("cores=1",), ("cores=2",))
    check(plan, facts, FOLDER)
    assert {trial.client_cpus for trial in plan.trials} == {(2, 3)}
    with pytest.raises(UsageError, match="cores is set to 1 on one side and not on the other"):
        check(plan_of(("cores=1",), ("guc:jit=off",)), facts, FOLDER)


def test_any_study_can_vary_the_cores() -> None:
    study = load_study("observe", profile="quick", overrides=["factors.cores=1,2"])
    assert study.factor("cores") is not None
