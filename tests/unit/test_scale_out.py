"""Throughput by nodes: ratios, shapes, what pays, and what the report says of them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

import pytest

from teiten.engines.counters import NodeCounters
from teiten.kinds.pgbench.load.checks import without_retried
from teiten.kinds.pgbench.scale_out.find import scale_outs
from teiten.kinds.pgbench.scale_out.judge import pays, shape_of
from teiten.kinds.pgbench.scale_out.results import NodesPoint, RatioOfNodes, ScaleOutResult, Shape
from teiten.model.plan import Plan
from teiten.model.trial import Outcome, Problem, Trial
from tests.unit.test_scale_out_plan import planned

NOISE = (0.99, 1.0, 1.01)
"""By block."""


@pytest.mark.parametrize(
    ("low", "high", "shape"),
    [
        (20.0, 27.0, Shape.SUPER_LINEAR),
        (3.1, 4.9, Shape.LINEAR),
        (4.1, 4.9, Shape.LINEAR),
        (1.2, 3.5, Shape.RISING),
        (0.95, 1.05, Shape.FLAT),
        (0.5, 0.8, Shape.FALLING),
        (0.8, 1.2, Shape.UNDECIDED),
        (2.0, 6.0, Shape.UNDECIDED),
    ],
)
def test_shapes_are_told_of_whole_intervals(low: float, high: float, shape: Shape) -> None:
    assert shape_of(RatioOfNodes((low * high) ** 0.5, low, high), 4) is shape


def test_no_shape_without_an_interval_or_further_nodes() -> None:
    assert shape_of(RatioOfNodes(23.0, None, None), 4) is Shape.UNDECIDED
    assert shape_of(None, 4) is Shape.UNDECIDED
    assert shape_of(RatioOfNodes(1.0, 1.0, 1.0), 1) is Shape.UNDECIDED


def test_the_smallest_number_of_nodes_that_pays() -> None:
    points = [of_plain(1, 0.8, 0.9), of_plain(2, 0.9, 1.1), of_plain(4, 1.2, 1.5)]
    found = pays(points)
    assert found is not None
    assert (found.nodes, found.possibly, found.most) == (4, 2, 4)
    none = pays(points[:1])
    assert none is not None and (none.nodes, none.possibly, none.most) == (None, None, 1)
    assert pays([replace(points[0], to_plain=None)]) is None


def of_plain(nodes: int, low: float, high: float) -> NodesPoint:
    ratio = RatioOfNodes((low * high) ** 0.5, low, high)
    return NodesPoint(nodes, 100.0, ratio, None, None, None, None, None, ())


def trials_of(plan: Plan, by_nodes: Mapping[str, float]) -> Iterator[Trial]:
    """Invented: throughput by nodes, and all nodes alike."""
    for one in plan.trials:
        nodes = int(one.cell.level("nodes") or 0)
        tps = by_nodes[str(nodes)] * NOISE[one.block - 1]
        metrics = {"tps": tps, "measured_seconds": 10.0, "transactions": 10 * tps}
        names = [""] if nodes == 0 else [f"node_{number + 2}_" for number in range(nodes)]
        for name in names:
            metrics |= {f"{name}blocks_hit": 900.0, f"{name}blocks_read": 100.0}
        if nodes and one.cell.workload == "update":
            metrics |= {"participants": 1.75, "retries": 5 * tps}
        yield Trial(
            number=one.number,
            attempt=1,
            outcome=Outcome.COUNTED,
            problems=(),
            started_at=0.0,
            finished_at=1.0,
            metrics=metrics,
            series=(),
            histogram="",
            facts={},
            evidence=(),
        )


def results(by_nodes: Mapping[str, float]) -> tuple[ScaleOutResult, ...]:
    plan = planned()
    return scale_outs(plan, trials_of(plan, by_nodes), {"read", "update"})


def test_a_campaign_by_nodes() -> None:
    """The report's reading with a database of fixed size: 910, 889, 2903, 21289 TPS."""
    found = results({"0": 910, "1": 889, "2": 2903, "4": 21289})
    assert [(one.workload, one.scenario) for one in found] == [
        ("read", "throughput"),
        ("read", "size"),
        ("update", "throughput"),
        ("update", "size"),
    ]
    read = found[0]
    assert (read.engine, read.shape, read.most) == ("postgres_fdw", Shape.UNDECIDED, 4)
    assert read.grown is not None and read.grown.value == pytest.approx(23.9, abs=0.1)
    assert read.grown.low is None, "equal in every block: no interval"
    assert read.cost is not None and read.cost.value == pytest.approx(0.977, abs=0.001)
    four = read.point(4)
    assert four is not None
    assert (four.hit_ratio, four.reads_per_node) == (0.9, 10.0)
    assert four.disk_reads_per_node is None, "no figures of each node"
    update = found[2].point(4)
    assert update is not None and (update.participants, update.retries) == (1.75, 0.5)
    assert (found[0].rows, found[2].rows) == (None, 3)


def test_nothing_is_said_where_something_else_is_contrasted() -> None:
    plan = planned()
    other = replace(plan, study=replace(plan.study, contrast="clients"))
    assert scale_outs(other, [], {"read"}) == ()


def test_commits_of_a_node_are_those_that_changed_something() -> None:
    before, after = NodeCounters(700, 3, 0), NodeCounters(1000, 53, 0)
    assert after.commits_since(before) == 250
    assert before.commits_since(after) == 0


def test_what_was_tried_again_is_no_problem() -> None:
    told = "2026-11-22 10:00:00 UTC [1] ERROR:  could not serialize access due to concurrent update"
    retried, other = (
        Problem("server-error", f"node 2: {told}"),
        Problem("server-error", "ERROR:  x"),
    )
    assert without_retried((retried, other), ("--max-tries=100",)) == (other,)
    assert without_retried((retried, other), ()) == (retried, other)
    assert without_retried((retried, other), ("--max-tries=1",)) == (retried, other)
