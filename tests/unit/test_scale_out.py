"""Throughput by nodes: ratios, shapes, what pays, and what the report says of them."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import replace

import numpy as np
import pytest

from teiten.analysis.model.verdict import Estimate
from teiten.analysis.verdict.contrasts import contrasts
from teiten.engines.counters import NodeCounters
from teiten.kinds.pgbench.load.trial import without_retried
from teiten.kinds.pgbench.present.scale_out import answer_of, section_of
from teiten.kinds.pgbench.results import (
    Cause,
    NodesPoint,
    RoleUse,
    ScaleOutResult,
    ServerRole,
    Shape,
)
from teiten.kinds.pgbench.scale_out import (
    cause_of,
    pays,
    scale_outs,
    shape_of,
    uses_of,
)
from teiten.model.metrics import by_node, total_of_nodes
from teiten.model.nodes import NodeMachine
from teiten.model.plan import Plan
from teiten.model.storage import FSYNCS
from teiten.model.text import Language
from teiten.model.trial import Event, Problem, Series, Trial
from teiten.model.units import MIB, Bytes
from teiten.report.blocks import Statement, of_kind
from teiten.report.sites import whereabouts
from teiten.report.view.kit import Kit
from teiten.report.view.why import why
from tests.fixtures.analysed import counted
from tests.fixtures.drawn import analysed
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
    assert shape_of(Estimate((low * high) ** 0.5, low, high, 4), 4) is shape


def test_no_shape_without_an_interval_or_further_nodes() -> None:
    assert shape_of(Estimate(23.0, None, None, 4), 4) is Shape.UNDECIDED
    assert shape_of(None, 4) is Shape.UNDECIDED
    assert shape_of(Estimate(1.0, 1.0, 1.0, 4), 1) is Shape.UNDECIDED


def test_the_smallest_number_of_nodes_that_pays() -> None:
    points = [of_plain(1, 0.8, 0.9), of_plain(2, 0.9, 1.1), of_plain(4, 1.2, 1.5)]
    found = pays(points)
    assert found is not None
    assert (found.nodes, found.possibly, found.most) == (4, 2, 4)
    none = pays(points[:1])
    assert none is not None and (none.nodes, none.possibly, none.most) == (None, None, 1)
    assert pays([replace(points[0], to_plain=None)]) is None


def of_plain(nodes: int, low: float, high: float) -> NodesPoint:
    ratio = Estimate((low * high) ** 0.5, low, high, 4)
    return NodesPoint(nodes, 100.0, ratio, None, None, None, ())


def test_a_shape_is_laid_to_the_cache_only_where_the_servers_say_so() -> None:
    def point(nodes: int, in_memory: float | None, disk: float) -> NodesPoint:
        use = RoleUse(ServerRole.NODE, {"in_memory": in_memory, "disk_read": disk})
        return replace(of_plain(nodes, 1, 1), uses=(use,))

    one, cold = point(1, 0.6, 1e6), point(4, 0.6, 1e6)
    assert cause_of(Shape.SUPER_LINEAR, one, point(4, 0.99, 1e3)) is Cause.CACHE
    assert cause_of(Shape.SUPER_LINEAR, one, point(4, 0.7, 1e3)) is None, "not much more of it"
    assert cause_of(Shape.SUPER_LINEAR, one, point(4, 0.99, 2e6)) is None, "reads more from disk"
    assert cause_of(Shape.SUPER_LINEAR, one, point(4, None, 0)) is None
    assert cause_of(Shape.LINEAR, one, cold) is Cause.ALIKE
    assert cause_of(Shape.LINEAR, one, point(4, 0.9, 1e3)) is None
    assert cause_of(Shape.FLAT, point(1, 1.0, 0), point(4, 1.0, 0)) is Cause.ALREADY
    assert cause_of(Shape.FLAT, one, cold) is None
    assert cause_of(Shape.UNDECIDED, one, point(4, 1.0, 0)) is None


def test_what_a_server_used_by_its_role() -> None:
    trial = {
        "measured_seconds": 10.0,
        "own_sent_bytes": 50.0,
        "blocks_hit": 5.0,
        "blocks_read": 0.0,
        "wal_syncs": 0.0,
        "node_2_blocks_hit": 60.0,
        "node_2_blocks_read": 40.0,
        "node_2_commits": 30.0,
        "node_3_blocks_hit": 90.0,
        "node_3_blocks_read": 10.0,
        "node_3_commits": 10.0,
        "node_2_own_disk_read_bytes": 8192.0 * 25,
        "node_3_own_disk_read_bytes": 0.0,
        "node_2_wal_syncs": 4.0,
        "node_3_wal_syncs": 2.0,
        "node_3_own_sent_bytes": 1.0,
    }
    coordinator, nodes = uses_of(2, (2, 3), [trial, trial, {}])
    assert (coordinator.role, nodes.role) == (ServerRole.COORDINATOR, ServerRole.NODE)
    own, figures = coordinator.figures, nodes.figures
    assert (own["sent"], own["disk_read"], own["buffer_hits"]) == (5.0, None, 1.0)
    hits = (figures["buffer_hits"], figures["cache_hits"], figures["in_memory"])
    assert hits == (0.75, 0.5, 0.875)
    rates = (figures["disk_read"], figures["syncs"], figures["commits"])
    assert rates == (8192 * 1.25, 0.3, 2.0)
    assert figures["sent"] is None, "one of them lacks it"
    (plain,) = uses_of(0, (1,), [trial])
    assert plain.role is ServerRole.PLAIN
    assert (plain.figures["buffer_hits"], plain.figures["syncs"]) == (1.0, 0.0)


def trials_of(plan: Plan, by_nodes: Mapping[str, float]) -> Iterator[Trial]:
    """Invented: throughput by nodes, and all nodes alike."""
    for trial in plan.trials:
        nodes = int(trial.cell.level("nodes") or 0)
        tps = by_nodes[str(nodes)] * NOISE[trial.block - 1]
        metrics = {"tps": tps, "measured_seconds": 10.0, "transactions": 10 * tps}
        names = [""] if nodes == 0 else [f"node_{number + 2}_" for number in range(nodes)]
        for name in names:
            metrics |= {f"{name}blocks_hit": 900.0, f"{name}blocks_read": 100.0}
        if nodes and trial.cell.workload == "update":
            metrics |= {"participants": 1.75, "retries": 5 * tps}
        yield counted(trial.number, metrics)


def results(by_nodes: Mapping[str, float]) -> tuple[ScaleOutResult, ...]:
    plan = planned()
    return scale_outs(plan, trials_of(plan, by_nodes), {"read", "update"})


def test_a_campaign_by_nodes() -> None:
    """The report's reading with a database of fixed size: 910, 889, 2903, 21289 TPS."""
    found = results({"0": 910, "1": 889, "2": 2903, "4": 21289})
    assert [(one.workload, dict(one.context).get("scenario")) for one in found] == [
        ("read", "throughput"),
        ("read", "size"),
        ("update", "throughput"),
        ("update", "size"),
    ]
    read = found[0]
    assert (read.engine, read.shape, read.most) == ("postgres_fdw", Shape.UNDECIDED, 4)
    assert read.grown is not None and read.grown.mean == pytest.approx(23.9, abs=0.1)
    assert read.grown.low is None, "equal in every block: no interval"
    assert read.cost is not None and read.cost.mean == pytest.approx(0.977, abs=0.001)
    four = read.point(4)
    assert four is not None
    assert (four.figure("buffer_hits"), four.figure("reads")) == (0.9, 10.0)
    assert four.figure("disk_read") is None, "no figures of each node"
    update = found[2].point(4)
    assert update is not None and (update.participants, update.retries) == (1.75, 0.5)
    assert (found[0].rows, found[2].rows) == (None, 3)


def test_one_comparison_has_one_interval_in_a_report() -> None:
    """What is said of nodes against plain PostgreSQL is the campaign's verdict on the two."""
    plan = planned()
    trials = _scattered(plan, 7, {"0": 910, "1": 889, "2": 2903, "4": 3100})
    verdicts = {
        (one.workload, level.context, one.new): level.verdict.effect
        for one in contrasts(plan, trials, judged_only=True)
        for level in one.levels
    }
    found = scale_outs(plan, trials, {"read", "update"})
    assert len(found) == 4
    for one in found:
        assert one.cost is not None and one.pays is not None
        for point in one.points[1:]:
            effect = verdicts[one.workload, one.context, str(point.nodes)]
            ratio = point.to_plain
            assert effect is not None and ratio is not None
            assert (ratio.mean, ratio.low, ratio.high) == (effect.ratio, effect.low, effect.high)
            assert one.confidence == pytest.approx(effect.confidence)
    kit = Kit(analysed("pgbench", plan, trials).analysis, "en")
    said = f"{answer_of(kit)} {section_of(kit)}"
    said = said.replace("\xa0", " ").replace("\\xa0", " ")
    assert said.count("99.58 % interval") >= 8 and "with 99.58 % intervals" in said


@pytest.mark.slow
@pytest.mark.same
def test_reports_of_equal_sides_seldom_name_a_number_of_nodes() -> None:
    """At most α of them: 9.4 % did, when each curve had all of α."""
    plan, named = planned(), 0
    for seed in range(200):
        trials = _scattered(plan, seed, dict.fromkeys("0124", 1000.0))
        found = scale_outs(plan, trials, {"read", "update"})
        named += any(one.pays is not None and one.pays.nodes is not None for one in found)
    assert named <= 0.05 * 200


def _scattered(plan: Plan, seed: int, by_nodes: Mapping[str, float]) -> list[Trial]:
    """With a scatter of 5 % from trial to trial."""
    scatter = np.random.default_rng(seed)
    return [
        replace(
            one,
            metrics={**one.metrics, "tps": one.metrics["tps"] * np.exp(scatter.normal(0, 0.05))},
        )
        for one in trials_of(plan, by_nodes)
    ]


WORDS: dict[Language, tuple[str, ...]] = {
    "en": (
        "This agrees with the cache: of the blocks asked for 60.00 % were in memory on one node,"
        " and 100.00 % on 4 nodes. One node read 1.17 MiB per second from its disk,"
        " each of 4 nodes 0 B.",
        "coordinator",
        "each node",
        "hits in the page cache",
        "never",
        "40.2 MB/s",
    ),
    "ja": (
        "キャッシュの効果と整合する。要求したブロックがメモリにあった割合は、1ノードで60.00%",
        "コーディネータ",
        "各ノード",
        "ページキャッシュのヒット率",
        "fsyncしない",
        "40.2 MB/s",
    ),
}


def test_the_report_tells_the_cache_by_what_each_server_used() -> None:
    """Tables that four nodes have in memory, and one does not."""
    plan = planned()
    trials = []
    for one in trials_of(plan, {"0": 900, "1": 880, "2": 2900, "4": 9000}):
        nodes = int(plan.trials[one.number - 1].cell.level("nodes") or 0)
        names = [""] if nodes == 0 else [f"node_{number + 2}_" for number in range(nodes)]
        found = {**one.metrics, "tps": one.metrics["tps"] * (1 + one.number % 3 / 1000)}
        for name in names:
            read = 0.0 if nodes == 4 else 1500 * 8192.0
            found |= {f"{name}own_disk_read_bytes": read}
            found |= {f"{name}blocks_hit": 2100.0, f"{name}blocks_read": 1650.0}
        trials.append(replace(one, metrics=found))
    rates = {"8192": 4e6, "131072": 19e6, "0": 1.3e9}
    detail = {"folder": "/srv/x", "device": "sda", "rates": rates}
    drawn = analysed("pgbench", plan, trials, events=[Event(0.0, FSYNCS, None, None, detail)])
    for language, words in WORDS.items():
        told = str(section_of(Kit(drawn.analysis, language))).replace("\xa0", " ")
        told = told.replace("\\xa0", " ")
        for word in words:
            assert word in told, word


@pytest.mark.parametrize(
    ("language", "words"),
    [
        (
            "en",
            "4 nodes, emulated on one machine (memory 256 MiB, reads 1 MiB/s each), throughput is ",
        ),
        ("ja", "4ノード（1台のマシン上で模擬、それぞれメモリ 256 MiB、読み取り 1 MiB/s）の"),
    ],
)
def test_the_answer_says_on_what_nodes(language: Language, words: str) -> None:
    """The sentence itself, and not the last line of the design; then from how many nodes on."""
    plan, by_nodes = planned(), {"0": 900.0, "1": 880.0, "2": 2900.0, "4": 9000.0}
    node = NodeMachine(network=True, memory=Bytes(256 * MIB), read=Bytes(MIB))
    emulated = tuple(replace(trial, machines=(node,) * 4) for trial in plan.trials)
    plan = replace(plan, trials=emulated)
    drawn = analysed("pgbench", plan, list(trials_of(plan, by_nodes)))
    answer = answer_of(Kit(drawn.analysis, language))
    assert answer is not None
    for statement in of_kind(answer.blocks, Statement):
        assert words in statement.text.replace("\u00a0", " ")
        assert re.search("plain PostgreSQL|単体のPostgreSQL", statement.points[0])


@pytest.mark.parametrize(
    ("language", "turns"),
    [("en", "One system of servers runs at a time"), ("ja", "一度に起動する構成は1つだけ")],
)
def test_nodes_are_not_said_to_run_one_at_a_time(language: Language, turns: str) -> None:
    kit = Kit(analysed("pgbench", planned(), ()).analysis, language)
    assert turns in whereabouts(kit)


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


def wal_and_waits(plan: Plan) -> list[Trial]:
    """On one node the coordinator writes no WAL, and the node what PostgreSQL by itself writes."""
    trials = []
    for one in trials_of(plan, {"0": 900, "1": 880, "2": 2900, "4": 9000}):
        nodes = int(plan.trials[one.number - 1].cell.level("nodes") or 0)
        done = one.metrics["transactions"]
        names = [""] if nodes == 0 else ["", *(f"node_{2 + at}_" for at in range(nodes))]
        each = 15_508 * done / max(1, nodes)
        wal = {f"{name}wal_bytes": 0.0 if nodes and not name else each for name in names}
        waiting = {"": 0.5, "node-2:": 2.0} if nodes else {"": 2.0}
        series = tuple(
            Series(f"{name}waits", np.arange(1.0, 4.0), {"IO:WalSync": np.full(3, value)})
            for name, value in waiting.items()
        )
        trials.append(replace(one, metrics={**one.metrics, **wal}, series=series))
    return trials


def test_per_transaction_all_nodes_count() -> None:
    """The coordinator's own counters say that scaling out saves all WAL."""
    plan = planned()
    analysis = analysed("pgbench", plan, wal_and_waits(plan)).analysis
    tables = [
        one
        for one in analysis.per_transaction
        if one.workload == "update" and (one.old, one.new) == ("0", "1")
    ]
    assert tables
    for table in tables:
        rows = {row.name: row for row in table.rows}
        assert rows["wal-bytes"].new == pytest.approx(15_508, rel=0.01)
        assert rows["wal-bytes"].old == pytest.approx(15_508, rel=0.01)
        waited = rows["IO:WalSync"]
        assert waited.new / waited.old == pytest.approx(2.5 / 2.0 * 900 / 880, rel=0.01)
    on_nodes = next(trial for trial in analysis.trials if dict(trial.levels)["nodes"] == "4")
    assert on_nodes.metrics["wal_bytes_per_transaction"] == pytest.approx(15_508, rel=0.01)
    kit = Kit(analysis, "en")
    assert "the sum over all of them" in kit.of_nodes
    shown = str(why(kit))
    assert "Of a trial on several nodes the sum over all of them" in shown


def test_processors_of_several_hosts_are_counted_by_their_own_number() -> None:
    metrics = {"server_cpu_share": 0.5, "node_2_server_cpu_share": 0.25, "node_3_blocks_hit": 1.0}
    assert by_node(metrics, "server_cpu_share") == {1: 0.5, 2: 0.25}
    assert by_node(metrics, "cpu_share") == {}, "the name of another metric ends so"
    assert math.isnan(total_of_nodes(metrics, "wal_bytes"))
