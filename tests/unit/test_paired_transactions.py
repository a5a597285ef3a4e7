"""The two numbers of a start, what its sides are given of them, and the length of the next."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import numpy.typing as npt
import pytest
from benchmarks.pairs.lengths import Machine, campaign

from teiten.analysis.model.findings import VerdictKind
from teiten.kinds.pgbench.load.paired_numbers import (
    SAME_BATCH,
    PairedTimes,
    carry_over,
    numbers,
    of_sides,
    paired_times,
    parts,
    throughput,
    typical,
    without_other_servers,
)
from teiten.kinds.pgbench.metrics import WITHIN
from teiten.model.starts import (
    FIRST_SECONDS,
    LEAST_SECONDS,
    PairedStart,
    Spread,
    next_seconds,
    spread,
    variance_of_a_second,
    wall_seconds,
)
from teiten.model.study import MOST_SECONDS

PAIRS = 10_000


def times(
    a: npt.ArrayLike,
    b: npt.ArrayLike,
    *,
    first: npt.ArrayLike | None = None,
    failed: npt.NDArray[np.bool_] | None = None,
) -> PairedTimes:
    latency = np.column_stack((a, b)).astype(np.uint64)
    count = len(latency)
    both = latency.sum(axis=1)
    start = np.repeat((both.cumsum() - both)[:, None], 2, axis=1).astype(np.uint64)
    return PairedTimes(
        start,
        latency,
        np.zeros((count, 2), dtype=bool) if failed is None else failed,
        np.arange(count) % 2 if first is None else np.asarray(first),
        np.zeros(count, dtype=int),
    )


def test_a_side_that_takes_two_percent_less_is_two_percent_faster_in_both() -> None:
    found = numbers(times(np.full(PAIRS, 1_020_000), np.full(PAIRS, 1_000_000)))
    assert found.throughput == pytest.approx(math.log(1.02))
    assert found.typical == pytest.approx(math.log(1.02))


def test_rare_long_stalls_at_equal_throughput_make_the_typical_transaction_faster() -> None:
    a = np.full(PAIRS, 1_000_000)
    quick = 1_000_000 / (0.998 + 0.002 * 50)
    b = np.where(np.arange(PAIRS) % 500 == 0, 50 * quick, quick)
    found = numbers(times(a, b))
    assert found.throughput == pytest.approx(0.0, abs=1e-6)
    assert 0.08 < found.typical < 0.1


def test_failed_transactions_take_time_and_give_nothing() -> None:
    failed = np.zeros((4, 2), dtype=bool)
    failed[0, 1] = True
    found = times([100] * 4, [100] * 4, failed=failed)
    assert throughput(found) == pytest.approx(math.log(3 / 4))
    assert typical(found) == 0.0
    assert math.isnan(throughput(times([100], [100], failed=np.array([[False, True]]))))
    assert math.isnan(typical(times([], [])))


def test_what_the_order_does_is_taken_out() -> None:
    first = np.random.default_rng(1).integers(0, 2, PAIRS)
    work = np.random.default_rng(2).uniform(900_000, 1_100_000, PAIRS)
    a = work * np.where(first == 0, 1.1, 1.0)
    b = work * np.where(first == 1, 1.1, 1.0) / 1.03
    found = times(a, b, first=first)
    assert typical(found) == pytest.approx(math.log(1.03), abs=1e-4)


def test_what_the_server_before_does_is_taken_out() -> None:
    random = np.random.default_rng(4)
    pairs = np.zeros(
        PAIRS,
        [
            *(("start", "<u8", (2,)), ("latency", "<u8", (2,)), ("sqlstate", "S5", (2,))),
            *(("client", "<u2"), ("first", "u1"), ("position", "<u2")),
        ],
    )
    pairs["first"] = random.integers(0, 2, PAIRS)
    pairs["client"] = random.integers(0, 3, PAIRS)
    last = {0: -1, 1: -1, 2: -1}
    for pair in pairs:
        again = last[pair["client"]] == pair["first"]
        last[pair["client"]] = 1 - pair["first"]
        pair["latency"] = 1_000_000, 1_000_000 / 1.01
        pair["latency"][pair["first"]] *= 1.5 if again else 1.0
    found = PairedTimes.of(pairs)
    assert typical(found) == pytest.approx(math.log(1.01), abs=1e-5)
    assert np.bincount(found.before).tolist() == pytest.approx([PAIRS / 2, PAIRS / 2], rel=0.05)
    pairs["position"] = 1
    assert set(PairedTimes.of(pairs).before) == {SAME_BATCH}


def turns_of(
    servers: int, turns: int, latency: Callable[[int, int, int], float]
) -> npt.NDArray[np.void]:
    """What the generator writes of a client: ``latency`` of a server, from its place and from the
    server that was before it (-1 for none), in nanoseconds."""
    random = np.random.default_rng(servers)
    each = (servers,)
    written = np.zeros(
        turns,
        [
            *(("start", "<u8", each), ("latency", "<u8", each), ("sqlstate", "S5", each)),
            *(("client", "<u2"), ("script", "u1"), ("first", "u1"), ("position", "<u2")),
        ],
    )
    clock, before = 0, -1
    for turn in written:
        order = random.permutation(servers)
        turn["first"] = order[0]
        for place, server in enumerate(order):
            turn["start"][server] = clock
            turn["latency"][server] = latency(int(server), place, before)
            clock += int(turn["latency"][server])
            before = int(server)
    return written


def test_each_of_several_servers_is_compared_with_the_first() -> None:
    speeds = (1.0, 1.02, 1.0, 0.95)
    written = turns_of(4, 4000, lambda server, place, _: 1_000_000 / speeds[server] + 9 * place)
    comparisons = paired_times(written)
    assert len(comparisons) == 3 and {len(each) for each in comparisons} == {4000}
    expected = [math.log(speed) for speed in speeds[1:]]
    assert [numbers(each).typical for each in comparisons] == pytest.approx(expected, abs=1e-5)
    assert [numbers(each).throughput for each in comparisons] == pytest.approx(expected, abs=1e-5)
    sides = of_sides(comparisons, 2, 16.0)
    assert sides is not None
    metrics = [side.metrics for side in sides]
    tps = [math.log(each["tps"] / metrics[0]["tps"]) for each in metrics[1:]]
    assert tps == pytest.approx(expected, abs=1e-5)
    typical = [
        math.log(metrics[0]["latency_typical"] / each["latency_typical"]) for each in metrics
    ]
    assert typical == pytest.approx([0.0, *expected], abs=1e-5)
    assert metrics[0][WITHIN.name] == max(each[WITHIN.name] for each in metrics[1:])
    assert "left_behind_typical" not in metrics[0], "it is of a side against the base"
    assert all(each["left_behind_typical"] == pytest.approx(1, abs=1e-4) for each in metrics[1:])


def test_what_came_just_before_is_taken_out_of_several_servers_too() -> None:
    def latency(server: int, _: int, before: int) -> float:
        base = 1_000_000 / (1.0, 1.01, 1.03)[server]
        return base * (1.5 if before == server else 1.2 if before == -1 else 1.0)

    found = [typical(each) for each in paired_times(turns_of(3, PAIRS, latency))]
    assert found == pytest.approx([math.log(1.01), math.log(1.03)], abs=1e-5)


def test_what_a_third_server_leaves_for_one_of_two_is_carry_over() -> None:
    written = turns_of(3, PAIRS, lambda server, place, _: 1e6 * (1.06 if server and place else 1.0))
    left = [carry_over(each) for each in paired_times(written)]
    expected = -math.log(1.06) * 2 / 3
    assert [each.typical for each in left] == pytest.approx([expected] * 2, rel=1e-3)
    assert [each.throughput for each in left] == pytest.approx([expected] * 2, rel=1e-3)


def test_two_servers_in_turn_are_the_pair_that_they_were() -> None:
    written = turns_of(2, 500, lambda server, place, before: 1e6 + 7 * server + place + before)
    (pair,) = paired_times(written)
    assert pair.places is None and pair.sides == 2
    assert (pair.before == PairedTimes.of(written).before).all()


def test_parts_are_of_equal_time() -> None:
    a = np.concatenate((np.full(400, 1_000_000), np.full(1600, 300_000)))
    b = np.concatenate((np.full(400, 1_000_000), np.full(1600, 200_000)))
    found = parts(times(a, b), 10)
    expected = [0.0] * 5 + [math.log(1.5)] * 5
    assert [one.typical for one in found] == pytest.approx(expected, abs=1e-9)
    assert [one.throughput for one in found] == pytest.approx(expected, abs=0.02)
    assert parts(times([], [])) == []


def test_variances_within_and_between_starts_are_told_apart() -> None:
    random = np.random.default_rng(3)
    within, between, seconds = 4e-4, 0.005, 8.0
    real = random.normal(0, between * math.sqrt(2), 2000)
    inside = real[:, None] + random.normal(0, math.sqrt(within / seconds * 8), (2000, 8))
    found = spread(
        [
            PairedStart(one.mean(), variance_of_a_second(one.tolist(), seconds), seconds)
            for one in inside
        ]
    )
    assert found.within == pytest.approx(within, rel=0.05)
    assert found.between == pytest.approx(between, rel=0.05)


def test_starts_that_differ_by_chance_only_have_no_deviation_of_their_own() -> None:
    within = variance_of_a_second([-1.0, 1.0], 8.0)
    starts = [PairedStart(0.0, within, 8.0), PairedStart(0.1, within, 4.0)]
    assert spread(starts) == Spread(within, 0.0)
    assert variance_of_a_second([1.0], 8.0) == 0.0


@pytest.mark.parametrize(
    ("fixed", "known", "seconds"),
    [
        (6.0, Spread(within=4e-4, between=0.0), MOST_SECONDS),
        (6.0, Spread(within=0.0, between=0.01), LEAST_SECONDS),
        (0.0, Spread(within=4e-4, between=0.01), LEAST_SECONDS),
        (6.0, Spread(within=4e-3, between=0.01), math.sqrt(6 * 4e-3 / (2 * 0.01**2))),
        (6.0, Spread(within=1.0, between=0.01), MOST_SECONDS),
    ],
)
def test_the_wall_time_is_the_one_that_says_most(
    fixed: float, known: Spread, seconds: float
) -> None:
    assert wall_seconds(fixed, known) == pytest.approx(seconds)


def test_the_first_starts_have_eight_seconds() -> None:
    starts = [PairedStart(number / 10, 0.001, 8.0, 6.0) for number in range(6)]
    assert next_seconds([]) == next_seconds(starts[:5]) == FIRST_SECONDS
    assert next_seconds(starts) == LEAST_SECONDS, "starts differ more than their seconds explain"
    alike = [PairedStart(0.01, 0.001, 8.0, 6.0)] * 6
    assert next_seconds(alike) == MOST_SECONDS


def test_the_sides_ratios_are_the_two_numbers_of_the_start() -> None:
    random = np.random.default_rng(1)
    base = random.lognormal(13.8, 0.3, PAIRS)
    slow = np.where(np.arange(PAIRS) % 500 == 0, 30.0, 1.0)
    start = times(base * 1.05, base * slow)
    found = numbers(start)
    sides = of_sides([start], 4, 8.5)
    assert sides is not None
    a, b = (side.metrics for side in sides)
    assert math.log(b["tps"] / a["tps"]) == pytest.approx(found.throughput)
    assert math.log(a["latency_typical"] / b["latency_typical"]) == pytest.approx(found.typical)
    ratio = math.log(b["mean_by_typical"] / a["mean_by_typical"])
    assert ratio == pytest.approx(found.typical - found.throughput), "what slow ones make of it"
    assert a["tps"] == pytest.approx(4 / a["latency_mean"])
    assert a["transactions"] == b["transactions"] == PAIRS
    assert a["measured_seconds"] == b["measured_seconds"] == 8.5
    assert b["latency_p50"] < a["latency_p50"] < a["latency_max"] < b["latency_max"]
    for side in sides:
        seconds = side.series.seconds
        assert len(seconds) == 8 and np.isfinite(side.series.columns["tps"][:8]).all()
        assert side.histogram.count == PAIRS


def test_a_side_that_completes_nothing_has_no_numbers() -> None:
    failed = np.zeros((PAIRS, 2), dtype=bool)
    failed[:, 1] = True
    assert of_sides([times(np.ones(PAIRS), np.ones(PAIRS), failed=failed)], 1, 8.0) is None


def test_the_other_sides_server_is_no_stranger() -> None:
    own = {"cpu_other_share": 0.45, "server_cpu_share": 0.4}
    assert without_other_servers(own, [{"server_cpu_share": 0.22}, {"server_cpu_share": 0.2}])[
        "cpu_other_share"
    ] == pytest.approx(0.03)
    assert without_other_servers(own, [{"server_cpu_share": 0.5}])["cpu_other_share"] == 0.0
    assert without_other_servers(own, [{}]) == own


def test_strangers_are_not_hidden_by_the_other_sides_server_which_is_a_child_of_ours() -> None:
    """As Linux counts: what a side's sampler calls Teiten's has the other side's server in it."""
    own = {"cpu_other_share": 0.3, "teiten_cpu_share": 0.25, "server_cpu_share": 0.24}
    found = without_other_servers(own, [{"server_cpu_share": 0.24}])
    assert found["cpu_other_share"] == pytest.approx(0.3)
    assert found["teiten_cpu_share"] == pytest.approx(0.01)
    assert found["server_cpu_share"] == 0.24


def test_what_one_side_leaves_behind_is_told_from_what_being_second_does_to_both() -> None:
    first = np.random.default_rng(2).integers(0, 2, PAIRS)
    a, b = np.full(PAIRS, 1_000_000.0), np.full(PAIRS, 1_000_000.0)
    both = times(np.where(first == 1, a * 1.1, a), np.where(first == 0, b * 1.1, b), first=first)
    assert carry_over(both).typical == pytest.approx(0.0, abs=1e-6)
    by_a = times(a, np.where(first == 0, b * 1.04, b), first=first)
    found = carry_over(by_a)
    assert found.typical == pytest.approx(-math.log(1.04) / 2, rel=1e-3), "B seems slower"
    assert found.throughput == pytest.approx(found.typical, rel=0.05)
    assert typical(by_a) == pytest.approx(found.typical, rel=1e-3), "and that is all there is"


@pytest.mark.parametrize("machine", [Machine(0.005, 0.001), Machine(0.005, 0.02, alike=0.6)])
def test_starts_of_chosen_length_call_equal_sides_different_no_more_often_than_promised(
    machine: Machine,
) -> None:
    """Simulated; 5 % are promised, and 1 to 2 % of larger numbers are found."""
    random = np.random.default_rng(7)
    found = [campaign(machine, 0.0, random)[0].kind for _ in range(120)]
    usual = {VerdictKind.EQUIVALENT, VerdictKind.INCONCLUSIVE}
    assert sum(one not in usual for one in found) <= 6
    larger = [campaign(Machine(0.005, 0.001), math.log(1.02), random)[0].kind for _ in range(30)]
    assert larger.count(VerdictKind.FASTER) >= 27
