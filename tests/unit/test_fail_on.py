"""``--fail-on``: the verdicts of TPS over all levels, or of levels without a mean, decide the exit
code."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from teiten.analysis.model.findings import VerdictKind
from teiten.analysis.verdict.verdict import NOT_AVERAGED, withheld
from teiten.cli.campaign.carry_out import CarriedOut
from teiten.cli.campaign.fail_on import check_fail_on
from teiten.errors import VerdictError
from tests.fixtures.invented_analysis import invented_analysis

ANALYSIS = invented_analysis(seconds=3)
CARRIED = CarriedOut(ANALYSIS, (Path("report.en.html"),))
KINDS = {contrast.overall.kind for contrast in ANALYSIS.contrasts if contrast.metric.name == "tps"}


@pytest.mark.parametrize("kind", sorted(KINDS))
def test_a_verdict_of_any_workload_comes_true(kind: VerdictKind) -> None:
    with pytest.raises(VerdictError, match=f"--fail-on {kind.value}: ") as caught:
        check_fail_on(CARRIED, (kind.value,))
    assert caught.value.exit_code == 5
    assert caught.value.hint == "see the report"


def test_where_levels_have_no_mean_each_level_is_asked() -> None:
    """Prepared statements are slower, simple ones equivalent: JUnit has a failure at the first."""
    (judged, *_) = (contrast for contrast in ANALYSIS.contrasts if contrast.metric.judged)
    verdict = replace(judged.overall, kind=VerdictKind.EQUIVALENT, at_least_delta=False)
    slower = replace(verdict, kind=VerdictKind.SLOWER, at_least_delta=True)
    levels = tuple(
        replace(judged.levels[0], context=(("query_mode", mode),), verdict=of_mode)
        for mode, of_mode in (("simple", verdict), ("prepared", slower))
    )
    contrast = replace(judged, overall=withheld(verdict, NOT_AVERAGED), levels=levels)
    carried = CarriedOut(replace(ANALYSIS, contrasts=(contrast,)), CARRIED.reports)
    with pytest.raises(VerdictError, match="--fail-on slower at query_mode=prepared: No single"):
        check_fail_on(carried, ("slower",))
    with pytest.raises(VerdictError, match="--fail-on equivalent at query_mode=simple: "):
        check_fail_on(carried, ("faster", "equivalent"))
    with pytest.raises(VerdictError, match="--fail-on inconclusive: "):
        check_fail_on(carried, ("inconclusive",))
    check_fail_on(carried, ("faster", "different-but-small", "mixed"))
    with_mean = replace(contrast, overall=verdict)
    check_fail_on(CarriedOut(replace(ANALYSIS, contrasts=(with_mean,)), ()), ("slower",))


def test_other_verdicts_do_not() -> None:
    check_fail_on(CARRIED, [kind.value for kind in VerdictKind if kind not in KINDS])
    check_fail_on(CARRIED, ())
