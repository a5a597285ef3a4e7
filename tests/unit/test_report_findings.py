"""The report's part 5: outcomes, what does not apply, and curves over one another."""

from __future__ import annotations

from dataclasses import replace

import pytest

from teiten.analysis.claims.outcomes import assess
from teiten.analysis.model.findings import CampaignAnalysis
from teiten.report.charts.base import Chart, as_records
from teiten.report.charts.drawing import svg
from teiten.report.forms import render_html, render_markdown
from teiten.report.texts import texts
from teiten.report.view.report import view
from tests.fixtures.invented_analysis import invented_analysis
from tests.fixtures.invented_claims import attempts_of, invented_claims
from tests.fixtures.shown import part, section_of


@pytest.fixture(scope="module")
def analysis() -> CampaignAnalysis:
    """On four cores, so that there is a level at them."""
    found = invented_analysis(seconds=2)
    facts = replace(found.facts, cpu=replace(found.facts.cpu, logical=4))
    claims = assess(invented_claims(), found.plan, facts, attempts_of(found.trials))
    return replace(found, facts=facts, claims=claims)


def chart_of(analysis: CampaignAnalysis) -> Chart:
    found = part(view(analysis, "en"), "findings")
    (chart,) = found.charts
    return chart


def test_every_claim_is_in_one_of_the_tables(analysis: CampaignAnalysis) -> None:
    page = view(analysis, "en")
    found = part(page, "findings")
    (applied,), (elsewhere,) = found.tables, part(page, "findings-further").tables
    assert len(applied.rows) + len(elsewhere.rows) == len(analysis.claims)
    words = [row[-1].text.split(":")[0] for row in applied.rows]
    assert set(words) == {"reproduced", "contradicted", "inconclusive"}
    assert elsewhere.rows[-1][-1].text == "needs PostgreSQL 13, 14; here 17, 18"
    assert found.paragraphs[0].startswith("The study replicates 6 findings of the reports: ")


def test_curves_are_relative_to_their_own_value_at_the_cores(analysis: CampaignAnalysis) -> None:
    rows = as_records(chart_of(analysis).rows)
    curves = {(row["origin"], row["curve"]) for row in rows}
    assert curves == {
        ("published", "9.0"),
        ("published", "9.1"),
        ("measured here", "17.10"),
        ("measured here", "18.4"),
    }
    at_cores = [row for row in rows if row["load"] == 1]
    assert len(at_cores) == 4
    assert all(row["relative"] == 1 for row in at_cores)
    first = next(row for row in rows if row["curve"] == "9.0")
    assert (first["load"], first["relative"]) == (1 / 8, pytest.approx(1 / 7))


def test_without_a_level_at_the_cores_there_is_no_curve() -> None:
    found = part(view(invented_analysis(seconds=2), "en"), "findings")
    assert not found.charts


def test_both_forms_hold_the_part_before_the_evidence(analysis: CampaignAnalysis) -> None:
    page = render_html(analysis, "ja")
    assert page.index('id="why"') < page.index('id="findings"') < page.index('id="evidence"')
    assert "公開された検証結果との比較" in page
    files = render_markdown(analysis, "en")
    assert "charts/published.svg" in files
    assert svg(chart_of(analysis)).startswith("<svg")
    assert b". Published findings\n" in files["report.md"]


def test_a_study_without_findings_has_no_such_part(analysis: CampaignAnalysis) -> None:
    none = replace(analysis, claims=())
    assert section_of(view(none, "en"), "findings") is None
    assert 'id="findings"' not in render_html(none, "en")


def test_every_reason_has_its_words() -> None:
    codes = {
        *(
            "no-campaign",
            "study",
            "servers",
            "workload",
            "script",
            "factor",
            "factors",
            "contrast",
            "cores",
        ),
        *(f"levels-{one}" for one in ("around-cores", "from-cores", "clients", "of-cores")),
        *("levels-beyond", "levels-up-to", "profile", "too-few", "undecided"),
        *("not-positive", "identical"),
        *("queries", "no-plans", "sizes", "too-small", "permitted", "over-timeout"),
        *("levels-of-workers", "levels-beyond-workers", "compared", "no-common-server"),
        *("system", "systems", "hardware", "flame-graph"),
    }
    for language in ("en", "ja"):
        entries = texts(language).entries
        assert {f"claim-reason.{code}" for code in codes} <= entries.keys()
