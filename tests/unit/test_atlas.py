"""The atlas of a collection: speeds by version, and the blocks that open verdicts would take."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest

from teiten.analysis.across.collection import atlas_of, open_verdicts
from teiten.analysis.claims.forecast import OpenFinding
from teiten.analysis.model.collection import CollectionResult
from teiten.analysis.model.findings import CampaignAnalysis
from teiten.analysis.model.verdict import VerdictKind
from teiten.model.metrics import Better
from teiten.model.text import Bilingual, Language
from teiten.model.units import Seconds
from teiten.report.atlas import atlas_sections
from teiten.report.blocks import Text, of_kind
from teiten.report.charts.base import Chart
from teiten.report.charts.drawing import svg
from teiten.report.collection import collection_page
from teiten.report.tables import Table
from teiten.report.texts import texts
from tests.fixtures.two_machines import campaign, plan_of
from tests.unit.test_prediction import RAN

NIGHT = campaign("night-c", plan=plan_of(blocks=6, clients=("1", "4")), noise=0.01, seed=1)


def result_of(analysis: CampaignAnalysis) -> CollectionResult:
    lines = tuple(atlas_of({RAN.name: analysis}))
    spent = Seconds(60.0)
    return CollectionResult(
        "night", Bilingual("N", "N"), 1e9, (), "teiten", spent, spent, (RAN,), (), lines
    )


def test_a_speed_is_the_inverse_of_a_time() -> None:
    line = next(atlas_of({"c": NIGHT}))
    point = line.points[0]
    effect = point.verdict.effect
    assert effect is not None and line.speed(point) == effect
    of_time = replace(line, metric=replace(line.metric, better=Better.LOWER))
    speed = of_time.speed(point)
    assert speed is not None and math.isclose(speed.low, 1 / effect.high)


def test_a_page_has_a_chart_and_a_table_for_each_campaign() -> None:
    (section,) = atlas_sections(texts("en"), result_of(NIGHT))
    (chart,) = (block for block in section.blocks if isinstance(block, Chart))
    assert "<svg" in svg(chart)
    counts, table = (block for block in section.blocks if isinstance(block, Table))
    workloads = {contrast.workload for contrast in NIGHT.contrasts}
    assert len(table.rows) == len(workloads)
    for row in counts.rows:
        assert sum(int(cell.text) for cell in row[1:]) == len(workloads)
    assert section.apart
    assert not atlas_sections(texts("en"), replace(result_of(NIGHT), atlas=()))


@pytest.mark.parametrize(
    ("language", "single", "several"),
    [("en", "on this machine", "on 2 machines"), ("ja", "本マシン", "2台のマシン")],
)
def test_a_collection_of_two_machines_names_no_single_one(
    language: Language, single: str, several: str
) -> None:
    result = result_of(NIGHT)
    answers = []
    for machines in ((NIGHT.facts,), (NIGHT.facts, NIGHT.facts)):
        page = collection_page(replace(result, machines=machines), language)
        answers.append(of_kind(page.blocks(), Text)[0].text)
    assert single in answers[0] and several not in answers[0]
    assert several in answers[1] and single not in answers[1]


def test_a_far_interval_is_cut_and_said_to_be() -> None:
    wild = campaign("wild", plan=plan_of(blocks=2, clients=("1",)), noise=0.8, seed=3)
    (section,) = atlas_sections(texts("en"), result_of(wild))
    (chart,) = (block for block in section.blocks if isinstance(block, Chart))
    assert any(chart.rows["above"]) and "triangle" in chart.note


@pytest.mark.parametrize("forecast", [9, None])
def test_open_verdicts_say_how_many_blocks_they_take(forecast: int | None) -> None:
    judged = next(contrast for contrast in NIGHT.contrasts if contrast.metric.judged)
    verdict = replace(judged.overall, kind=VerdictKind.INCONCLUSIVE, pairs=6)
    contrast = replace(judged, overall=verdict, forecast=forecast)
    analysis = replace(NIGHT, contrasts=(contrast,))
    levels = frozenset({("read", (("clients", "1"),)), ("read", (("clients", "4"),))})
    assert list(open_verdicts(analysis)) == ([OpenFinding(3, levels, 6)] if forecast else [])
    left_out = replace(contrast, left_out=((("clients", "4"),),))
    for verdict_of_some in open_verdicts(replace(NIGHT, contrasts=(left_out,))):
        assert verdict_of_some.levels == {("read", (("clients", "1"),))}
    decided = replace(contrast, overall=replace(verdict, kind=VerdictKind.FASTER))
    assert not list(open_verdicts(replace(NIGHT, contrasts=(decided,))))
    other = replace(NIGHT.plan, study=replace(NIGHT.plan.study, contrast="clients"))
    assert not list(open_verdicts(replace(analysis, plan=other)))
