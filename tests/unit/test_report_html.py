"""The page: self-contained, in order, escaped, and honest about what is missing."""

from __future__ import annotations

import json
import math
import re
from dataclasses import replace

import pytest

from teiten.analysis.model.findings import CampaignAnalysis
from teiten.model.text import Language
from teiten.report.forms import render_html
from teiten.report.render.html import cards, cell_classes, policy, script_json, told
from teiten.report.tables import Column, Table, TableCell, cells
from teiten.report.view.report import view
from tests.fixtures.invented_analysis import NASTY, empty, invented_analysis, quick
from tests.fixtures.shown import part

LANGUAGES: tuple[Language, ...] = ("en", "ja")


def without_library(page: str) -> str:
    """The page without the scripts' own text, which is long and not ours."""
    return re.sub(r"<script>.*?</script>", "<script></script>", page, flags=re.DOTALL)


def visible(page: str) -> str:
    body = without_library(page).split("<main>", 1)[1]
    body = re.sub(r"<script.*?</script>|<style.*?</style>", "", body, flags=re.DOTALL)
    return re.sub(r"<[^>]+>", " ", body)


@pytest.fixture(scope="module")
def analysis() -> CampaignAnalysis:
    return invented_analysis(seconds=5)


def test_the_parts_come_in_order(analysis: CampaignAnalysis) -> None:
    page = render_html(analysis, "en")
    places = [
        page.index(f'id="{part}"') for part in ("answer", "asked", "results", "why", "evidence")
    ]
    assert places == sorted(places)
    assert page.index("faster than 17.10") < page.index('id="asked"'), "the verdict comes first"


@pytest.mark.parametrize("language", LANGUAGES)
def test_nothing_is_loaded_from_elsewhere(analysis: CampaignAnalysis, language: Language) -> None:
    page = without_library(render_html(analysis, language))
    assert not re.search(r"""(src|href)\s*=\s*["'](?!#|data:)""", page)
    assert "@import" not in page
    assert "url(" not in page.split("</style>")[0]


def test_names_that_are_markup_stay_text() -> None:
    page = without_library(render_html(invented_analysis(nasty=True, seconds=2), "en"))
    assert NASTY not in page
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in page
    assert page.count("<script>") == 2


def test_a_quick_profile_says_first_that_it_supports_no_conclusion(
    analysis: CampaignAnalysis,
) -> None:
    said = " ".join(visible(render_html(quick(analysis), "en")).split())
    assert said.startswith("1. The answer This campaign supports no conclusion")


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_campaign_without_trials_has_no_empty_parts(
    analysis: CampaignAnalysis, language: Language
) -> None:
    page = render_html(empty(analysis), language)
    assert 'id="results"' not in page
    assert 'id="why"' not in page
    assert "teiten resume" in page


def test_excluded_trials_are_listed_with_their_reason(analysis: CampaignAnalysis) -> None:
    text = visible(render_html(analysis, "en"))
    assert "the server&#39;s log holds an error: ERROR:  out of shared memory" in text
    assert "the hypervisor took CPU time: 9.1\u00a0%" in text
    assert "4 of 82 ended trials do not count" in text


def test_values_that_are_no_numbers_are_gaps(analysis: CampaignAnalysis) -> None:
    odd = [
        replace(trial, metrics={**trial.metrics, "tps": math.nan, "latency_p99": math.inf})
        for trial in analysis.trials
    ]
    assert "NaN" not in without_library(render_html(replace(analysis, trials=tuple(odd)), "en"))


def test_one_factor_and_no_levels_still_make_a_report(analysis: CampaignAnalysis) -> None:
    factors = tuple(factor for factor in analysis.plan.study.factors if factor.name == "server")
    study = replace(analysis.plan.study, factors=factors)
    trials = tuple(
        replace(trial, levels=tuple(pair for pair in trial.levels if pair[0] == "server"))
        for trial in analysis.trials
    )
    contrasts = tuple(
        replace(contrast, levels=(replace(contrast.levels[0], context=()),))
        for contrast in analysis.contrasts
    )
    planned = tuple(
        replace(trial, cell=replace(trial.cell, levels=trial.cell.levels[:1]))
        for trial in analysis.plan.trials
    )
    plan = replace(analysis.plan, study=study, trials=planned)
    page = render_html(replace(analysis, plan=plan, trials=trials, contrasts=contrasts), "en")
    assert "all trials" in page


def test_a_second_factor_makes_panels(analysis: CampaignAnalysis) -> None:
    def more(levels: tuple[tuple[str, str], ...], number: int) -> tuple[tuple[str, str], ...]:
        return (*levels, ("guc:work_mem", ("4MB", "64MB")[number % 4 // 2]))

    trials = tuple(
        replace(trial, levels=more(trial.levels, trial.number)) for trial in analysis.trials
    )
    shown = view(replace(analysis, trials=trials), "en")
    panels = set(part(shown, "results").charts[0].rows["panel"])
    assert panels == {"work_mem = 4MB", "work_mem = 64MB"}


def test_json_cannot_end_its_script() -> None:
    text = str(script_json({"a": "</script><!--\u2028&"}))
    assert "<" not in text
    assert json.loads(text) == {"a": "</script><!--\u2028&"}
    with pytest.raises(ValueError, match="not JSON compliant"):
        script_json(math.nan)


def test_the_policy_allows_these_scripts_only() -> None:
    text = policy("alert(1)")
    assert "default-src 'none'" in text
    assert "'sha256-bhHHL3z2vDgxUt0W3dWQOrprscmda2Y5pLsLg4GF+pI='" in text
    assert "unsafe-eval" not in text


def test_prose_is_broken_only_where_it_can_be_read() -> None:
    assert told("0.5 % of 12 MiB") == "0.5\u00a0% of 12\u00a0MiB"
    assert told("a % of 12 Mice") == "a % of 12 Mice"
    assert told("see --pairs, or -Os") == (
        'see <span class="whole">--pairs</span>, or <span class="whole">-Os</span>'
    )
    assert told("max_parallel_workers_per_gather") == "max_parallel_workers_per_gather"
    assert told("max_parallel_workers_per_gather", 25) == (
        "max_<wbr>parallel_<wbr>workers_<wbr>per_<wbr>gather"
    )
    assert told("work_mem of <b>") == "work_mem of &lt;b&gt;"


def test_few_rows_of_many_cells_are_cards_on_a_phone() -> None:
    """A verdict in the eighth column would lie beyond the edge, and nobody would look for it."""
    columns = tuple(Column(name) for name in "abcdef")
    rows = (cells("1", "2", "3", "4", "5", "6"),) * 2
    table = Table("one", "caption", columns, rows, total=cells("all", "", "", "", "", "7"))
    assert cards(table) == "cards few"
    assert cards(replace(table, rows=rows * 2)) == ""
    assert cards(replace(table, columns=columns[:5])) == ""
    assert cards(replace(table, rows=rows * 9, prose=True)) == "cards"


def test_a_column_of_words_is_no_narrower_than_they_can_be_read() -> None:
    assert cell_classes(TableCell("1 month"), numeric=False) == "whole"
    assert cell_classes(TableCell("After the scan of a large table"), numeric=False) == "words"
    assert cell_classes(TableCell("two\nlines"), numeric=False) == ""
    assert cell_classes(TableCell("0.10 to 0.32"), numeric=True) == "number"
    assert cell_classes(TableCell("5", 5.0), numeric=True) == ""
    assert cell_classes(TableCell("slower", kind="verdict slower"), numeric=False) == (
        "verdict slower"
    )
