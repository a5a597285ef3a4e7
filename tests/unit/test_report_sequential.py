"""What a report says of a campaign that ran until it was decided."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path

import pytest

from teiten.analysis.model.findings import CampaignAnalysis
from teiten.cli.campaign.read import analyse_campaign
from teiten.model.noise import NOISE
from teiten.model.text import Language
from teiten.report.forms import render_html
from teiten.report.render.markdown import markdown_text
from teiten.report.view.report import view
from tests.fixtures.pairs import ab_plan, carry_on, new_ledger, side, tps_with
from tests.fixtures.shown import part
from tests.unit.test_noise import FLOOR


@pytest.fixture(scope="module")
def analysis(module_folder: Path) -> CampaignAnalysis:
    plan = ab_plan(side("a", "18"), side("b", "18", "jit=off"), duration="5s")
    with new_ledger(module_folder / "ab-1", plan) as ledger:
        ledger.record_event(NOISE, **asdict(FLOOR))
        carry_on(ledger, tps_with(0.05))
        return analyse_campaign(ledger)


def text_of(analysis: CampaignAnalysis, language: Language = "en") -> str:
    return markdown_text(view(analysis, language), "0.1.0").replace("\u00a0", " ")


def test_it_tells_why_it_ended_and_what_it_cost(analysis: CampaignAnalysis) -> None:
    text = text_of(analysis)
    blocks = analysis.contrasts[0].overall.pairs
    assert f"After {blocks} blocks, as soon as every verdict was decided." in text
    assert f"{2 * blocks} planned trials in {blocks} blocks" in text
    assert "valid at every look" in text
    assert "Holm" not in text
    assert "until every verdict is decided, at most" in text


def test_it_names_what_makes_the_sides_differ(analysis: CampaignAnalysis) -> None:
    assert "B (PostgreSQL 18.4, jit = off)" in text_of(analysis)


def test_it_shows_the_noise_that_was_known(analysis: CampaignAnalysis) -> None:
    text = text_of(analysis)
    assert "deviated by 2.0 %. There were 20 pairs of trials of 10 s (null-1)" in text


@pytest.mark.parametrize("language", ["en", "ja"])
def test_it_is_rendered_in_both_languages(analysis: CampaignAnalysis, language: Language) -> None:
    assert len(render_html(analysis, language)) > 100_000
    assert len(text_of(analysis, language)) > 2_000


def test_the_design_shows_only_blocks_that_ran(analysis: CampaignAnalysis) -> None:
    (shown,) = part(view(analysis, "en"), "asked-further").charts
    assert len(shown.rows["block"]) == len(analysis.trials)


def test_one_that_was_interrupted_says_so(tmp_path: Path) -> None:
    with new_ledger(tmp_path / "cut", ab_plan(duration="5s")) as ledger:
        analysis = analyse_campaign(ledger)
    text = text_of(analysis)
    assert "interrupted before it was decided" in text
    assert "teiten resume" in text
