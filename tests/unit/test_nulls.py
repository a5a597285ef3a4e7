"""Nulls over studies: what counts as an alarm, and what a share of them says."""

from __future__ import annotations

import pytest
from benchmarks.figures import binomial_interval
from benchmarks.pairs.nulls import is_alarm, table

from teiten.analysis.model.verdict import VerdictKind


def campaign(*verdicts: VerdictKind) -> dict[str, object]:
    statements = [["read", "tps", verdict, [0.98, 1.02]] for verdict in verdicts]
    return {"study": "observe", "load": 0.5, "seconds": 90.0, "verdicts": statements}


@pytest.mark.parametrize("verdict", VerdictKind)
def test_a_difference_of_whatever_size_is_an_alarm(verdict: VerdictKind) -> None:
    quiet = {VerdictKind.EQUIVALENT, VerdictKind.INCONCLUSIVE, VerdictKind.UNJUDGED}
    assert is_alarm(campaign(VerdictKind.EQUIVALENT, verdict)) == (verdict not in quiet)


def test_the_interval_of_a_share_is_clopper_and_pearsons() -> None:
    """Of their table: 0 and 2 of 40; all."""
    assert binomial_interval(0, 40) == pytest.approx((0.0, 0.0881), abs=1e-4)
    assert binomial_interval(2, 40) == pytest.approx((0.0061, 0.1692), abs=1e-4)
    assert binomial_interval(5, 5) == pytest.approx((0.4782, 1.0), abs=1e-4)
    lines = [campaign(VerdictKind.EQUIVALENT)] * 39 + [campaign(VerdictKind.FASTER)]
    assert list(table(lines))[-1].endswith("1 alarms in 40 campaigns: 0.1% to 13.2%")
