"""How much of the transactions is logged."""

from __future__ import annotations

import pytest

from teiten.kinds.pgbench.load.sampling import (
    DRAW_SECONDS,
    LARGEST_CPU_SHARE,
    LINE_SECONDS,
    suggested_sampling_rate,
)


@pytest.mark.parametrize(("tps", "cores"), [(0, 2), (15_000, 2), (480_000, 64), (50, 1)])
def test_real_work_is_logged_whole(tps: float, cores: int) -> None:
    assert suggested_sampling_rate(tps, cores) == 1.0


def test_the_shortest_transactions_are_logged_in_part() -> None:
    assert suggested_sampling_rate(80_000, 2) == 0.16
    assert suggested_sampling_rate(50_000_000, 2) == 0.01


@pytest.mark.parametrize("tps", [15_500, 20_000, 50_000, 90_000])
def test_the_share_of_the_cpu_is_kept(tps: float) -> None:
    rate = suggested_sampling_rate(tps, 2)
    assert rate < 1
    cost = tps * (DRAW_SECONDS + rate * LINE_SECONDS) / 2
    assert LARGEST_CPU_SHARE * 0.85 < cost <= LARGEST_CPU_SHARE


def test_the_cores_of_this_machine_are_the_default() -> None:
    assert 0.01 <= suggested_sampling_rate(200_000) <= 1.0
