"""Scaling in the report: words for each finding, the chart only where a curve fits, its range."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace

import numpy as np
import pytest

from teiten.analysis.model.findings import CampaignAnalysis
from teiten.analysis.model.scaling import Curve, ScalingResult
from teiten.analysis.scaling.curve import scale
from teiten.kinds.pgbench.model import NAME as KIND
from teiten.kinds.pgbench.present.scaling import scaling
from teiten.kinds.pgbench.results import PgbenchFound
from teiten.model.text import Language
from teiten.model.units import Share
from teiten.report.charts.base import as_records
from teiten.report.forms import render_html
from teiten.report.view.kit import Kit
from teiten.report.view.report import view
from tests.fixtures.invented_analysis import NEW, OLD, invented_analysis
from tests.fixtures.shown import Shown, whole

LOADS = (1.0, 4.0, 16.0, 32.0, 64.0)
LANGUAGES: tuple[Language, ...] = ("en", "ja")


@pytest.fixture(scope="module")
def invented() -> CampaignAnalysis:
    return invented_analysis(seconds=3)


def shown(
    invented: CampaignAnalysis,
    *tables: Mapping[float, Mapping[int, float]],
    language: Language = "en",
) -> Shown:
    found = tuple(
        ScalingResult("read", (), side, scale(table, delta=Share(0.02), alpha=Share(0.05), cores=2))
        for side, table in zip((OLD, NEW), tables, strict=False)
    )
    return Shown(
        scaling(
            Kit(replace(invented, results={KIND: PgbenchFound(found)}), language),
            "workload-1",
            "read",
        )
    )


def curve(noise: float = 0.0, blocks: int = 1) -> dict[float, dict[int, float]]:
    random = np.random.default_rng(5)
    values = Curve(400.0, 0.05, 1e-4).at(np.array(LOADS))
    return {
        load: {block: value * math.exp(random.normal(0, noise)) for block in range(blocks)}
        for load, value in zip(LOADS, values, strict=True)
    }


def flat(noise: float, blocks: int) -> dict[float, dict[int, float]]:
    random = np.random.default_rng(6)
    return {
        load: {
            block: 400 * min(load, 4) * math.exp(random.normal(0, noise)) for block in range(blocks)
        }
        for load in LOADS
    }


def test_a_fit_without_replicates_says_why_it_has_no_interval(invented: CampaignAnalysis) -> None:
    knee, law = shown(invented, curve()).findings
    assert knee == (
        "PostgreSQL 17.10: the knee is at 64\u00a0clients, the smallest number of connections"
        " within 2\u00a0% of the greatest throughput; it has no interval, because no trial was"
        " repeated. That is the end of the measured range: throughput still grew there, and the"
        " true knee may lie beyond."
    )
    assert "σ = 0.0500, κ = 100 × 10⁻⁶" in law
    assert "holds for 1 to 64\u00a0clients and says nothing beyond" in law


def test_a_coefficient_at_its_bound_is_said(invented: CampaignAnalysis) -> None:
    rising = [400.0 * load**0.95 for load in LOADS]  # which flattens less and less
    _, law = shown(invented, {n: {1: v} for n, v in zip(LOADS, rising, strict=True)}).findings
    assert "κ = 0 (at its bound, without an interval)." in law


def test_a_misfit_without_replicates_names_what_was_presumed(invented: CampaignAnalysis) -> None:
    knee, law = shown(invented, flat(0.0, 1)).findings
    assert "the knee is at 4\u00a0clients" in knee
    assert law.startswith("PostgreSQL 17.10: the Universal Scalability Law is withheld")
    assert law.endswith("without repeated trials, up to 6.9\u00a0% could be noise.")


def test_a_misfit_with_replicates_names_their_spread(invented: CampaignAnalysis) -> None:
    knee, law = shown(invented, flat(0.005, 5)).findings
    assert "the 95\u00a0% interval holds no other of the numbers measured" in knee
    assert "more than three times the 0.5\u00a0% between repeated trials" in law


def test_a_misfit_by_the_f_test_names_its_probability(invented: CampaignAnalysis) -> None:
    _, law = shown(invented, flat(0.12, 12)).findings
    assert "which is not chance (p < 0.001)" in law


def test_only_a_curve_that_fits_is_drawn_and_only_where_it_was_measured(
    invented: CampaignAnalysis,
) -> None:
    assert "curve" not in shown(invented, flat(0.005, 5)).charts[0].rows["kind"]
    (chart,) = shown(invented, flat(0.005, 5), curve(0.01, 5)).charts
    drawn = [
        (side, load)
        for kind, side, load in zip(
            *(chart.rows[one] for one in ("kind", "side", "load")), strict=True
        )
        if kind == "curve"
    ]
    assert {side for side, _ in drawn} == {"18.4"}
    assert (min(load for _, load in drawn), max(load for _, load in drawn)) == (1, 64)


def test_the_knee_is_marked_with_its_interval(invented: CampaignAnalysis) -> None:
    rows = as_records(shown(invented, flat(0.02, 5), curve()).charts[0].rows)
    knees = [row for row in rows if row["kind"] == "knee"]
    assert [(row["side"], row["load"]) for row in knees] == [("17.10", 4), ("18.4", 64)]
    assert knees[0]["low"] <= 4 <= knees[0]["high"]
    assert (knees[1]["low"], knees[1]["high"]) == (None, None)


def test_the_table_has_a_row_for_every_load_and_side(invented: CampaignAnalysis) -> None:
    (table,) = shown(invented, flat(0.005, 5), curve()).tables
    assert [(row[0].text, row[1].text) for row in table.rows[:2]] == [("1", "17.10"), ("1", "18.4")]
    assert len(table.rows) == 10
    assert table.rows[-2][3].text == "6\u00a0%"  # 4 of 64 clients' worth


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_kind_of_finding_has_its_words(
    invented: CampaignAnalysis, language: Language
) -> None:
    for table in (
        curve(),
        curve(0.01, 2),
        curve(0.03, 5),
        flat(0.0, 1),
        flat(0.0, 3),
        flat(0.005, 5),
        flat(0.12, 12),
        {1.0: {1: 10.0}, 2.0: {1: 19.0}},
        {4.0: {1: 10.0}},
    ):
        assert all(
            "{" not in finding for finding in shown(invented, table, language=language).findings
        )


def test_a_workload_with_a_throughput_of_zero_has_no_section(invented: CampaignAnalysis) -> None:
    nothing = scale({1.0: {1: 0.0}}, delta=Share(0.02), alpha=Share(0.05))
    empty = replace(
        invented, results={KIND: PgbenchFound((ScalingResult("read", (), OLD, nothing),))}
    )
    assert not list(scaling(Kit(empty, "en"), "workload-1", "read"))


def test_the_page_holds_the_section_and_its_chart(invented: CampaignAnalysis) -> None:
    page = render_html(invented, "en")
    heading = "<h4>Scaling with client connections</h4>"
    assert page.count(heading) == 4, "of two workloads, in the body and in the appendix"
    assert 'id="chart-workload-2-scaling-1"' in page
    assert "workload-2-scaling-1" in {chart.name for chart in whole(view(invented, "en")).charts}
