"""The curve, its lack of fit, the knee with its interval, and the efficiency."""

from __future__ import annotations

import math

import numpy as np
import pytest

from teiten.analysis.model.scaling import Curve, Scaling
from teiten.analysis.scaling.curve import Table, scale
from teiten.analysis.scaling.usl import fit_usl
from teiten.model.units import Share

LOADS = (1.0, 4.0, 8.0, 16.0, 32.0, 48.0, 64.0)
TRUTH = Curve(400.0, 0.03, 4e-4)  # the greatest at 49 clients; 48 is its knee


def trials(
    curve: Curve = TRUTH, *, blocks: int = 5, noise: float = 0.01, seed: int = 3, drift: float = 0.0
) -> dict[float, dict[int, float]]:
    random = np.random.default_rng(seed)
    shifts = random.normal(0, drift, blocks)
    values = curve.at(np.array(LOADS))
    return {
        load: {
            block: float(value * math.exp(random.normal(0, noise) + shifts[block]))
            for block in range(blocks)
        }
        for load, value in zip(LOADS, values, strict=True)
    }


def analysed(table: Table, cores: int | None = None) -> Scaling:
    return scale(table, delta=Share(0.02), alpha=Share(0.05), cores=cores)


def test_a_curve_is_found_with_intervals_that_hold_the_truth() -> None:
    found = analysed(trials())
    assert found.fit is not None
    assert found.withheld is None
    for parameter, truth in (
        (found.fit.rate, 400.0),
        (found.fit.contention, 0.03),
        (found.fit.coherency, 4e-4),
    ):
        assert parameter.low is not None
        assert parameter.high is not None
        assert parameter.low < truth < parameter.high


@pytest.mark.slow
@pytest.mark.same
def test_intervals_cover_as_they_promise() -> None:
    covered = 0
    for seed in range(40):
        found = analysed(trials(blocks=4, seed=seed, drift=0.02))
        if found.fit and found.fit.rate.low is not None and found.fit.rate.high is not None:
            covered += found.fit.rate.low < 400 < found.fit.rate.high
        else:
            covered += 1  # withheld: nothing false was said
    assert covered >= 34  # of 40 at 95 %: fewer has a probability of 0.1 %


def test_what_shifts_a_whole_block_is_no_pure_error() -> None:
    calm, stormy = analysed(trials()), analysed(trials(drift=0.2))
    assert calm.lack is not None
    assert stormy.lack is not None
    assert calm.lack.pure == pytest.approx(0.01, rel=0.3)
    assert stormy.lack.pure == pytest.approx(0.01, rel=0.3)


def test_a_coefficient_at_its_bound_is_flagged_and_has_no_interval() -> None:
    # more than proportional at first
    steeper = Curve(400.0, 0.0, 4e-4).at(np.array(LOADS)) * np.array(LOADS) ** 0.05
    found = analysed({load: {1: value} for load, value in zip(LOADS, steeper, strict=True)})
    assert found.fit is not None
    contention = found.fit.contention
    assert (contention.value, contention.at_bound, contention.low) == (0.0, True, None)


def plateau(blocks: int, noise: float, seed: int = 1) -> dict[float, dict[int, float]]:
    """Proportional up to 16 clients and flat beyond, which the law cannot follow."""
    random = np.random.default_rng(seed)
    return {
        load: {
            block: 100 * min(load, 16) * math.exp(random.normal(0, noise))
            for block in range(blocks)
        }
        for load in LOADS
    }


def test_a_misfit_is_withheld_with_its_residuals_and_the_knee_stands() -> None:
    found = analysed(plateau(5, 0.005))
    assert (found.fit, found.withheld) == (None, "misfit")
    assert found.lack is not None
    assert found.lack.pure is not None
    assert found.lack.lack > 3 * found.lack.pure
    assert found.lack.probability is not None
    assert found.lack.probability < 1e-6
    assert all(point.residual is not None for point in found.points)
    assert found.knee is not None
    assert (found.knee.load, found.knee.low, found.knee.high) == (16, 16, 16)


def test_noise_that_hides_the_misfit_lets_the_curve_pass() -> None:
    assert analysed(plateau(3, 0.3)).withheld is None


@pytest.mark.same
def test_the_knees_interval_covers_it_although_blocks_are_few() -> None:
    curve = {1.0: 100.0, 2.0: 195.0, 4.0: 300.0, 8.0: 306.0, 16.0: 309.0}  # 4 is 3 % off, 8 is 1 %
    random = np.random.default_rng(8)
    held = wrong = 0
    for _ in range(60):
        table = {
            load: {block: value * math.exp(random.normal(0, 0.015)) for block in range(3)}
            for load, value in curve.items()
        }
        found = analysed(table).knee
        assert found is not None
        assert found.low is not None
        assert found.high is not None
        wrong += found.load != 8
        held += found.low <= 8 <= found.high
    assert wrong >= 5, "the noise must make the knee itself uncertain"
    assert held >= 52  # of 60 at 95 %: fewer has a probability of 0.3 %


def test_the_same_trials_give_the_same_interval() -> None:
    assert analysed(trials()) == analysed(trials())


def test_a_knee_at_the_end_of_the_range_is_said() -> None:
    rising = analysed({load: {1: 100 * load} for load in LOADS})
    assert rising.knee is not None
    assert rising.knee.at_end(rising.loads)
    flat = analysed({load: {1: 100 + load / 1000} for load in LOADS})
    assert flat.knee is not None
    assert not flat.knee.at_end(flat.loads)
    falling = analysed(trials())
    assert falling.knee is not None
    assert not falling.knee.at_end(falling.loads)


def test_efficiency_per_client_and_per_core() -> None:
    points = analysed({1.0: {1: 100.0}, 2.0: {1: 190.0}, 8.0: {1: 300.0}}, cores=4).points
    assert [point.per_load for point in points] == pytest.approx([1, 0.95, 0.375])
    assert [point.per_core for point in points] == pytest.approx([1, 0.95, 0.75])


def test_efficiency_counts_from_the_smallest_load_that_was_measured() -> None:
    points = analysed({4.0: {1: 100.0}, 8.0: {1: 150.0}}, cores=2).points
    assert [point.per_load for point in points] == pytest.approx([1, 0.75])
    assert [point.per_core for point in points] == pytest.approx([1, 1.5])


def test_three_levels_have_a_knee_but_no_curve() -> None:
    found = analysed({1.0: {1: 100.0}, 2.0: {1: 190.0}, 4.0: {1: 191.0}})
    assert (found.fit, found.lack, found.withheld) == (None, None, "too-few-levels")
    assert found.knee is not None
    assert found.knee.load == 2


@pytest.mark.parametrize("value", [0.0, -1.0, math.inf])
def test_what_is_no_throughput_says_nothing(value: float) -> None:
    found = analysed({**trials(), 4.0: {0: value}})
    assert (found.points, found.fit, found.knee, found.withheld) == ((), None, None, "not-positive")


def test_one_load_has_no_knee() -> None:
    found = analysed({4.0: {1: 100.0}})
    assert (len(found.points), found.knee, found.withheld) == (1, None, "too-few-levels")


def test_nothing_measured_says_nothing() -> None:
    for table in ({}, {1.0: {1: math.nan}}):
        found = analysed(table)
        assert (found.points, found.knee, found.withheld) == ((), None, "too-few-levels")


def test_missing_trials_change_no_mean_by_their_blocks_shift() -> None:
    table = trials(noise=1e-4, drift=0.3)
    whole = analysed(table)
    del table[16.0][2]
    table[32.0][0] = math.nan
    part = analysed(table)
    assert [point.trials for point in part.points] == [5, 5, 5, 4, 4, 5, 5]
    growth = [
        [point.value / found.points[0].value for point in found.points] for found in (whole, part)
    ]
    assert growth[0] == pytest.approx(growth[1], rel=1e-3)


def test_two_blocks_are_too_few_for_an_interval() -> None:
    found = analysed(trials(blocks=2))
    assert found.no_interval == "too-few-blocks"
    assert found.knee is not None
    assert found.knee.low is None
    assert found.fit is not None
    assert found.fit.rate.low is None


def test_equal_trials_are_no_measure_of_their_error() -> None:
    values = TRUTH.at(np.array(LOADS)).tolist()
    found = analysed(
        {one: dict.fromkeys(range(3), v) for one, v in zip(LOADS, values, strict=True)}
    )
    assert found.no_interval == "identical-trials"
    assert found.lack is not None
    assert (found.lack.pure, found.lack.probability) == (None, None)
    assert found.fit is not None
    assert (found.fit.rate.low, found.fit.rate.high) == (None, None)
    assert found.knee is not None
    assert found.knee.low is None


def test_the_best_of_several_optima_is_taken() -> None:
    """The optimum near the first start has contention and a greater distance."""
    loads = np.array([1.0, 2.0, 4.0, 16.0])
    values = np.array([1036e3, 1434e5, 2572e2, 4178e3])
    found = fit_usl(loads, values)
    assert found.contention == 0
    assert np.sum(np.log(values / found.at(loads)) ** 2) == pytest.approx(22.002867, abs=1e-6)
