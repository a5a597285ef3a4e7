"""How much of the transactions is logged."""

from __future__ import annotations

import pytest

from teiten.execute.workload.sampling import (
    DRAW_SECONDS,
    LARGEST_CPU_SHARE,
    LINE_SECONDS,
    suggested_sampling_rate,
)


@pytest.mark.parametrize(("tps", "cores"), [(0, 2), (100_000, 2), (1_000_000, 64), (50, 1)])
def test_real_servers_are_logged_whole(tps: float, cores: int) -> None:
    assert suggested_sampling_rate(tps, cores) == 1.0


def test_scripts_that_hardly_touch_the_server_are_logged_in_part() -> None:
    assert suggested_sampling_rate(200_000, 2) == 0.44
    assert suggested_sampling_rate(50_000_000, 2) == 0.01


@pytest.mark.parametrize("tps", [112_000, 150_000, 300_000, 700_000])
def test_the_share_of_the_cpu_is_kept(tps: float) -> None:
    rate = suggested_sampling_rate(tps, 2)
    assert rate < 1
    cost = tps * (DRAW_SECONDS + rate * LINE_SECONDS) / 2
    assert LARGEST_CPU_SHARE * 0.9 < cost <= LARGEST_CPU_SHARE


def test_the_cores_of_this_machine_are_the_default() -> None:
    assert 0.01 <= suggested_sampling_rate(200_000) <= 1.0
