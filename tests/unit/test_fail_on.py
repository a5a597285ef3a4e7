"""``--fail-on``: the verdicts of TPS over all levels decide the exit code."""

from __future__ import annotations

from pathlib import Path

import pytest

from teiten.analysis.model.findings import VerdictKind
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


def test_other_verdicts_do_not() -> None:
    check_fail_on(CARRIED, [kind.value for kind in VerdictKind if kind not in KINDS])
    check_fail_on(CARRIED, ())
