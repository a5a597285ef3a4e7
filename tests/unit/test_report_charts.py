"""Charts as data: units on every axis, bars from zero, honest ranges, colours that differ."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from copy import deepcopy
from dataclasses import replace
from typing import Any

import altair as alt
import pytest
from jsonschema import ValidationError
from markupsafe import Markup

from teiten.analysis.model.findings import TrialView
from teiten.model.text import joined_sentences
from teiten.report.blocks import Drawing
from teiten.report.charts.base import (
    Chart,
    as_columns,
    as_records,
    coloured_by,
    in_lines,
    labels_in_lines,
    logarithmic_ticks,
)
from teiten.report.charts.forest import WIDEST, ForestRow, ForestWords, forest
from teiten.report.charts.levels import Dot, LevelAxes, by_level
from teiten.report.charts.lines import CurveLabels, CurvePointOfSide, line_chart
from teiten.report.texts import texts
from teiten.report.view.kit import Kit
from teiten.report.view.report import view
from tests.fixtures.invented_analysis import invented_analysis
from tests.fixtures.shown import whole

WORDS = ForestWords("ratio", "title", "note", "ratio")
T = texts("en")
CUT = joined_sentences(("note", T("chart.band-cut")))


@pytest.fixture(scope="module")
def charts() -> dict[str, Chart]:
    return {chart.name: chart for chart in whole(view(invented_analysis(seconds=10), "en")).charts}


def encodings(spec: Any) -> Iterator[dict[str, Any]]:
    if isinstance(spec, dict):
        if isinstance(spec.get("encoding"), dict):
            yield spec["encoding"]
        for value in spec.values():
            yield from encodings(value)
    elif isinstance(spec, list):
        for value in spec:
            yield from encodings(value)


def titles(chart: Chart, axis: str) -> set[str]:
    found = (encoding.get(axis) for encoding in encodings(chart.spec))
    return {one["title"] for one in found if isinstance(one, dict) and one.get("title")}


def test_every_axis_of_numbers_has_its_unit(charts: dict[str, Chart]) -> None:
    expected = {
        "workload-1-tps": "TPS",
        "workload-1-latency": "mean latency, ms",
        "workload-1-percentiles": "latency, ms",
        "workload-1-series": "TPS",
        "workload-1-idle": "CPU idle, %",
        "workload-1-disk": "MiB/s",
        "workload-2-wal": "WAL per transaction, B",
    }
    assert {name: titles(charts[name], "y").pop() for name in expected} == expected
    assert titles(charts["workload-1-cpu"], "x") == {"CPU of all cores, %"}
    assert titles(charts["workload-1-waits"], "x") == {"backends, mean"}


def test_trials_below_ten_seconds_have_no_chart_by_the_second(charts: dict[str, Chart]) -> None:
    short = {chart.name for chart in whole(view(invented_analysis(seconds=9), "en")).charts}
    assert set(charts) - short == {"workload-1-series", "workload-2-series"}


@pytest.mark.slow
def test_every_chart_follows_vega_lites_schema(charts: dict[str, Chart]) -> None:
    """Altair looks at what is written without it; both workloads have the same charts."""
    for name, chart in charts.items():
        if not name.startswith("workload-2-"):
            alt.Chart.from_dict({**chart.spec, "background": "white"})
    spec = deepcopy({**charts["workload-1-tps"].spec, "background": "white"})
    spec["layer"][-1]["mark"]["type"] = "no such"
    with pytest.raises(ValidationError):
        alt.Chart.from_dict(spec)


def test_names_of_charts_are_unique_and_safe(charts: dict[str, Chart]) -> None:
    assert all(name.replace("-", "").isalnum() for name in charts)
    assert len(charts) == len(whole(view(invented_analysis(seconds=10), "en")).charts)


def test_no_two_charts_have_one_title(charts: dict[str, Chart]) -> None:
    """In the list of figures nothing else tells two workloads apart."""
    titles = [chart.title for chart in charts.values()]
    assert len(set(titles)) == len(titles)


def test_every_counted_trial_is_a_dot(charts: dict[str, Chart]) -> None:
    kinds = charts["workload-1-tps"].rows["kind"]
    assert (kinds.count("trial"), kinds.count("median")) == (38, 8)


def test_a_read_only_workload_shows_no_wal(charts: dict[str, Chart]) -> None:
    assert "workload-1-wal" not in charts


def test_the_grid_marks_what_did_not_count(charts: dict[str, Chart]) -> None:
    rows = as_records(charts["design"].rows)
    assert len(rows) == 80
    marked = {row["trial"]: (row["mark"], row["state"]) for row in rows if row["mark"]}
    again, lost = ("↻", "counted at attempt 2"), ("≈", "disturbed")
    assert marked == {11: again, 12: again, 31: lost, 32: lost}, "both of a pair"


def test_an_interval_beyond_the_axis_is_cut_but_its_figures_are_not() -> None:
    row = ForestRow("all", 1.1, 0.2, float("inf"), "1.1 (0.2 to ∞)", "inconclusive", True)
    chart = forest(T, "one", [row], 0.02, WORDS)
    assert chart.rows["low"][0] >= WIDEST[0] * 0.9
    assert chart.rows["high"][0] <= WIDEST[1] * 1.1
    assert (chart.rows["below"], chart.rows["above"]) == ([True], [True])
    assert chart.note == CUT
    assert chart.rows["text"] == ["1.1 (0.2 to ∞)"]


def test_the_note_of_a_forest_tells_of_a_first_row_that_is_there() -> None:
    words = replace(WORDS, overall="first")
    rows = [
        ForestRow(name, 1.1, 1.0, 1.2, "1.1", "faster", overall=name == "all")
        for name in ("all", "1 client")
    ]
    assert forest(T, "one", rows, 0.02, words).note == "note first"
    assert forest(T, "one", rows[1:], 0.02, words).note == "note"
    assert forest(T, "one", rows[:1], 0.02, words).note == "note"


def test_a_ratio_far_out_is_drawn_where_it_is() -> None:
    """All of it on the axis: what lies beyond would be drawn over the figures beside the plot."""
    row = ForestRow("all", 16.42, 12.75, 21.14, "16.42 (12.75 to 21.14)", "faster", overall=True)
    chart = forest(T, "one", [row], 0.02, WORDS)
    drawn = [chart.rows[name][0] for name in ("low", "ratio", "high")]
    assert drawn == [12.75, 16.42, 21.14]
    scale = re.search(r'"domain": \[([\d.]+), ([\d.]+)\]', json.dumps(chart.spec))
    assert scale is not None
    assert float(scale[1]) < 1 and float(scale[2]) > 21.14


def test_one_of_many_that_lies_far_out_leaves_the_others_their_room() -> None:
    near = [
        ForestRow(f"{at}", 1 + at / 100, 0.98 + at / 100, 1.02 + at / 100, "near", "faster", False)
        for at in range(11)
    ]
    far = ForestRow("far", 20.1, 2.7, 148.0, "20.1 (2.7 to 148)", "faster", overall=False)
    chart = forest(T, "many", [*near, far], 0.02, WORDS)
    high = chart.rows["high"]
    assert max(high) < 1.2 and chart.rows["above"] == [False] * 11 + [True]
    assert chart.rows["low"][-1] == chart.rows["ratio"][-1] == high[-1] == max(high)
    assert chart.rows["text"][-1] == "20.1 (2.7 to 148)" and chart.note == CUT
    alone = forest(T, "few", [*near[:3], far], 0.02, WORDS)
    assert alone.rows["ratio"][-1] == 20.1, "of few rows none is left out"
    nothing = replace(far, ratio=1.0, low=0.0, high=float("inf"))
    assert forest(T, "none", [nothing] * 12, 0.02, WORDS).rows["ratio"] == [1.0] * 12


def test_ticks_of_a_logarithmic_axis() -> None:
    assert logarithmic_ticks([0.3, 4.0]) == (0.2, 0.5, 1, 2, 5)
    assert logarithmic_ticks([0.3, 4000.0]) == (0.2, 1, 10, 100, 1000, 5000)
    assert logarithmic_ticks([0.0]) == ()


def test_few_places_are_labelled_where_they_are() -> None:
    """Nobody measures half a node."""
    words = CurveLabels("title", "note", "nodes", "TPS", "side", {"18": "#000"})

    def ticks(count: int) -> Any:
        points = [
            CurvePointOfSide("18", float(x), 1.0, None, None, "1") for x in range(1, count + 1)
        ]
        found = (encoding["x"] for encoding in encodings(line_chart(T, "one", points, words).spec))
        return next(x["axis"] for x in found if "axis" in x).get("values")

    assert ticks(4) == [1.0, 2.0, 3.0, 4.0]
    assert ticks(40) is None


def test_labels_that_do_not_fit_get_lines() -> None:
    assert in_lines("all pages visible", 70) == ["all pages", "visible"]
    assert in_lines("インデックスのみ高速", 60) == ["インデック", "スのみ高速"]
    assert labels_in_lines(["1", "2"], 60) == {}
    assert '["after", "VACUUM"]' in labels_in_lines(["after VACUUM"], 60)["labelExpr"]


def test_one_colour_has_no_legend() -> None:
    assert coloured_by("side:N", {"18": "#000"})["color"]["legend"] is None
    assert "legend" not in coloured_by("side:N", {"17": "#000", "18": "#fff"})["color"]


def test_no_line_joins_levels_that_are_words() -> None:
    dots = [Dot("", level, "18", 1.0, 1, 1) for level in ("q1.1", "4", "16")]
    axes = LevelAxes("x", "y", ("q1.1", "4", "16"), {"18": "#000"})
    chart = by_level(T, "one", dots, axes, title="title", note="note")
    line = next(layer for layer in chart.spec["layer"] if layer["mark"]["type"] == "line")
    assert {"filter": {"not": {"field": "level", "oneOf": ["q1.1"]}}} in line["transform"]


def test_what_was_too_short_for_samples_has_no_bar() -> None:
    analysis = invented_analysis(seconds=3)
    workload = analysis.plan.study.workloads[0].name

    def unseen(trial: TrialView) -> TrialView:
        if trial.workload != workload or dict(trial.levels)["clients"] != "1":
            return trial
        kept = tuple(series for series in trial.series if series.source != "waits")
        return replace(trial, series=kept)

    shown = whole(view(replace(analysis, trials=tuple(map(unseen, analysis.trials))), "en"))
    waits = next(chart for chart in shown.charts if chart.name == "workload-1-waits")
    levels = {level.replace("\N{NO-BREAK SPACE}", " ") for level in waits.rows["level"]}
    assert levels == {"4 clients", "16 clients", "64 clients"}
    assert "has no bar" in waits.note


def test_what_is_no_number_is_a_gap() -> None:
    assert as_columns(("a", "b"), [(1.0, float("nan")), (float("inf"), "x")]) == {
        "a": [1.0, None],
        "b": [None, "x"],
    }


def test_a_workload_lists_the_sides_it_is_planned_with_in_the_colours_of_all_charts() -> None:
    analysis = invented_analysis(seconds=10)
    contrast = analysis.plan.study.contrast
    one, other = (each.name for each in analysis.plan.study.workloads[:2])
    old = next(iter(Kit(analysis, "en").names.sides))
    trials = tuple(
        each
        for each in analysis.plan.trials
        if each.cell.workload != one or dict(each.cell.levels)[contrast] != old
    )
    kit = Kit(replace(analysis, plan=replace(analysis.plan, trials=trials)), "en")
    of_all = kit.colours_of(kit.names.sides)
    labels = [side.short for side in kit.names.sides.values()]
    assert list(of_all) == labels == list(kit.colours({other}))
    assert len(set(of_all.values())) == 2
    assert kit.colours({one}) == {labels[1]: of_all[labels[1]]}


@pytest.mark.parametrize("name", ["x/../../../etc/foo", '"><meta http-equiv=refresh>'])
def test_a_name_of_a_ledger_is_no_path_and_no_markup(name: str) -> None:
    """Names are checked when a study is read, not when a ledger is."""
    chart = Chart(f"by-tps-{name}", "", "", {}, {})
    drawing = Drawing(name, "", "", Markup(""), Markup(""))
    for reduced in (chart.name, drawing.name, replace(chart, name=name).name):
        assert re.fullmatch(r"[\w.-]+", reduced)
    assert Chart("by-tps-注文_1.2", "", "", {}, {}).name == "by-tps-注文_1.2"
