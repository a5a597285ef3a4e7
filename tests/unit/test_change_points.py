"""Change points: found where they are, rarely where there are none, never from too few points."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from benchmarks.method.swings import marked

from teiten.analysis.across.change_points import (
    CORRELATION,
    FEWEST,
    SHORTEST,
    change_points,
    segmentation,
    threshold,
)
from teiten.model.trial import FloatArray


def series(*means: float, noise: float = 0.01, seed: int = 1) -> list[float]:
    random = np.random.default_rng(seed)
    return [mean + float(random.normal(0, noise)) for mean in means]


def test_a_step_is_found_where_it_is() -> None:
    values = series(*[0.0] * 6, *[-0.15] * 6)
    assert change_points(values, [0.01] * 12, 0.05) == (6,)


def test_two_steps_are_found() -> None:
    values = series(*[0.0] * 6, *[0.2] * 6, *[0.05] * 6)
    assert change_points(values, [], 0.05) == (6, 12)


def costs(values: FloatArray, changes: tuple[int, ...], penalty: float) -> float:
    edges = (0, *changes, len(values))
    segments = [values[one:two] for one, two in itertools.pairwise(edges)]
    deviations = sum(float(np.sum((segment - segment.mean()) ** 2)) for segment in segments)
    return deviations + penalty * len(changes)


def test_no_other_segmentation_is_better() -> None:
    random = np.random.default_rng(4)
    numbers = set()
    for points in (2, 3, 4, 7, 10, 12):
        every = [
            changes
            for count in range(points // SHORTEST)
            for changes in itertools.combinations(range(1, points), count)
            if all(two - one >= SHORTEST for one, two in itertools.pairwise((0, *changes, points)))
        ]
        for penalty in (0.5, 3.0, 20.0):
            values = random.normal(100, 1, points) + np.repeat(random.normal(0, 3, 6), 2)[:points]
            best = min(every, key=lambda changes: costs(values, changes, penalty))
            assert segmentation(values, penalty) == best, (points, penalty)
            numbers.add(len(best))
    assert len(numbers) > 2


def test_one_bad_day_is_no_change() -> None:
    values = series(*[0.0] * 6, -0.5, *[0.0] * 6)
    assert change_points(values, [], 0.05) == ()
    assert change_points([*series(*[0.0] * 8), -0.5], [], 0.05) == ()


@pytest.mark.parametrize("points", range(FEWEST))
def test_too_few_points_have_no_change(points: int) -> None:
    assert change_points([float(at) for at in range(points)], [], 0.05) == ()


def test_equal_values_have_no_change() -> None:
    assert change_points([1.0] * 9, [], 0.05) == ()


def test_noise_inside_of_campaigns_counts() -> None:
    """A step that is small against the campaigns' own intervals is not one."""
    values = series(*[0.0] * 6, *[0.1] * 6)
    assert change_points(values, [0.01] * 12, 0.05) == (6,)
    assert change_points(values, [0.1] * 12, 0.05) == ()


@pytest.mark.parametrize("points", [6, 10, 20])
def test_false_alarms_are_as_rare_as_promised(points: int) -> None:
    random = np.random.default_rng(points)
    alarms = sum(
        bool(change_points(list(random.normal(0, 0.02, points)), [], 0.05)) for _ in range(600)
    )
    assert alarms <= 600 * 0.05 + 3 * (600 * 0.05 * 0.95) ** 0.5


def test_a_smaller_alpha_has_a_higher_threshold() -> None:
    assert threshold(12, 0.01) > threshold(12, 0.05)


def test_what_depends_on_its_neighbours_needs_more() -> None:
    """Rates of 400 lines each: promised are 5 %."""
    none, step = (
        marked(20, correlation=CORRELATION, step=size, lines=400, seed=3) for size in (0.0, 6.0)
    )
    assert none.marked > 0.3
    assert none.firm <= 0.05 + 3 * (0.05 * 0.95 / 400) ** 0.5
    assert step.firm > 0.9
