"""The report's part 5 of studies of queries: printed and measured beside one another."""

from __future__ import annotations

from dataclasses import replace

import pytest

from teiten.analysis.model.findings import CampaignAnalysis
from teiten.claims.catalogue import claims_of
from teiten.kinds.queries.plan_numbers import LAUNCHED, PERMITTED
from teiten.report.charts.base import as_records
from teiten.report.charts.drawing import svg
from teiten.report.forms import render_html, render_markdown
from teiten.report.tables import Table
from teiten.report.view.report import view
from tests.fixtures.invented_ssb import GUC, QUERIES, Levels, ssb_campaign, ssb_plan
from tests.fixtures.shown import Shown, part
from tests.fixtures.synthetic_plan import HOST
from tests.unit.test_claims_queries import as_published

FACTS = replace(HOST, cpu=replace(HOST.cpu, logical=16))
STEPS = ("0", "1", "2", "4", "16")


def truth(levels: Levels) -> float:
    if levels["workload"] == "ssb":
        return as_published(levels)
    return 72 / (1 + min(int(levels[GUC]), 2))


def further(levels: Levels) -> dict[str, float]:
    """As if lineorder's size gave five workers, and the index's two."""
    permitted = int(levels[GUC])
    five = 4.0 if levels["query"] == "q4.3" else 5.0
    found = min(five if levels["workload"] == "ssb" else 2.0, permitted)
    return {
        LAUNCHED: found,
        "workers_by_size:lineorder": 5.0,
        "workers_by_size": 2.0,
        PERMITTED: 16.0,
    }


@pytest.fixture(scope="module")
def analysis() -> CampaignAnalysis:
    plan = ssb_plan("parallel", GUC, {GUC: STEPS}, workloads={"ssb": QUERIES, "count": ("count",)})
    trials = tuple(
        trial
        for trial in plan.trials
        if trial.cell.workload == "count" or trial.cell.level(GUC) in {"0", "16"}
    )
    plan = replace(plan, trials=trials)
    claims = [replace(one, work=()) for one in claims_of("parallel")]
    return ssb_campaign("parallel", plan, truth, facts=FACTS, further=further, claims=claims)


def findings(analysis: CampaignAnalysis) -> Shown:
    return part(view(analysis, "en"), "findings")


def table(analysis: CampaignAnalysis, name: str) -> Table:
    return next(one for one in findings(analysis).tables if one.name == name)


def test_the_outcomes(analysis: CampaignAnalysis) -> None:
    found = {claim.claim.id: claim.standing.value for claim in analysis.claims}
    assert found["2020-parallel-every-query"] == "reproduced"
    assert found["2020-parallel-workers-by-size"] == "reproduced"
    assert found["2020-parallel-workers-q4-3"] == "reproduced"
    assert found["2020-count-gains"] == "reproduced"
    assert found["2020-count-flat-beyond-cap"] == "reproduced"
    assert found["2020-count-workers-by-index-size"] == "reproduced"
    assert found["2020-count-index-only"] == "not-applicable"
    assert found["2020-os-ssb-linux"] == "not-applicable"


def test_speed_ups_printed_and_measured_stand_side_by_side(analysis: CampaignAnalysis) -> None:
    rows = table(analysis, "published-queries-1").rows
    assert [row[0].text for row in rows] == list(QUERIES)
    first = [cell.text for cell in rows[0]]
    assert first[:4] == ["q1.1", "70.153", "12.812", "5.48"]
    assert rows[0][4].sort == pytest.approx(5.48, rel=0.02)
    chart = next(chart for chart in findings(analysis).charts if chart.name == "published-queries")
    drawn = as_records(chart.rows)
    assert {row["query"] for row in drawn} == set(QUERIES)
    assert {row["side"] for row in drawn} == {"published", "measured here"}
    assert len(drawn) == 2 * len(QUERIES)


def test_workers_printed_by_the_rule_and_launched(analysis: CampaignAnalysis) -> None:
    rows = {
        (row[1].text, row[0].text[:20]): [cell.text for cell in row[2:]]
        for row in table(analysis, "published-workers").rows
    }
    found = {query: values for (query, _), values in rows.items()}
    assert found["q1.1"] == ["9", "5", "5"]
    assert found["q4.3"] == ["4", "5", "4"]
    assert found["count"] == ["—", "2", "2"]


def test_the_sweep_is_drawn_over_the_printed_one(analysis: CampaignAnalysis) -> None:
    chart = next(chart for chart in findings(analysis).charts if chart.name == "published-workers")
    rows = as_records(chart.rows)
    printed = {row["level"]: row["value"] for row in rows if row["query"] == "published"}
    assert printed[9] == pytest.approx(71.9 / 8.7)
    measured = {row["level"]: row["value"] for row in rows if row["query"] != "published"}
    assert measured[16] == pytest.approx(3, rel=0.03)


def test_both_forms_hold_them(analysis: CampaignAnalysis) -> None:
    page = render_html(analysis, "ja")
    assert "クエリの性能向上比（PGECons報告書と本検証）" in page
    assert "起動ワーカー数" in page
    assert "charts/published-queries.svg" in render_markdown(analysis, "en")
    for chart in findings(analysis).charts:
        assert svg(chart).startswith("<svg")


def test_without_what_was_measured_there_is_nothing_beside(analysis: CampaignAnalysis) -> None:
    bare = replace(analysis, claims=tuple(replace(claim, checks=()) for claim in analysis.claims))
    names = {one.name for one in findings(bare).tables}
    assert not any(name.startswith("published-") for name in names)
