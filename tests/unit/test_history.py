"""``teiten history``: lines of what belongs together, changes, and what is left out."""

from __future__ import annotations

import csv
import json
import math
from dataclasses import replace
from datetime import datetime
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from teiten.analysis.across.fingerprint import conditions_fingerprint
from teiten.analysis.across.history import history
from teiten.analysis.model.findings import CampaignAnalysis
from teiten.analysis.model.history import Axis, ChangeSearch
from teiten.cli.main import teiten
from teiten.cli.verbs.history import history_lines
from teiten.errors import UsageError
from teiten.model.plan import Plan
from teiten.model.study import Factor
from teiten.model.text import Language
from teiten.model.units import Seconds
from teiten.report.blocks import Details, Heading, Items, Pairs, Text, of_kind
from teiten.report.charts.base import Chart
from teiten.report.charts.points import LinePoint, history_line, reach
from teiten.report.forms import history_html
from teiten.report.history.points import line_titles
from teiten.report.history.table import CONFIGURATION, history_csv, otava_files
from teiten.report.history.view import history_page, line_sentences
from teiten.report.tables import Table
from teiten.report.texts import texts
from tests.fixtures.synthetic import START
from tests.fixtures.synthetic_plan import HOST, make_installation
from tests.fixtures.two_machines import (
    DAY,
    OTHER,
    campaign,
    plan_of,
    times,
    write_campaign,
)
from tests.fixtures.undrawn import drawn


def nights(count: int, slow_from: int | None = None) -> list[tuple[str, CampaignAnalysis]]:
    found = []
    for night in range(count):
        slow = slow_from is not None and night >= slow_from
        one = campaign(
            f"night-{night}",
            speed=times(0.8 if slow else 1.0),
            facts=replace(HOST, kernel="6.9.0" if slow else "6.1.0"),
            seed=night + 1,
            created_at=START + night * DAY,
        )
        found.append((f"/somewhere/{night}", one))
    return found


def test_a_change_is_marked_with_what_differs_around_it() -> None:
    found = history(reversed(nights(8, slow_from=5)), Axis.DATE)
    line = found.lines[0]
    assert len(found.lines) == 4  # two workloads on two servers
    assert [point.campaign for point in line.points] == [f"night-{at}" for at in range(8)]
    (change,) = line.changes
    assert change.first == 5
    assert change.firm
    assert change.ratio == pytest.approx(0.8, abs=0.02)
    assert [difference.code for difference in change.differences] == ["kernel"]
    assert line.segments == ((0, 5), (5, 8))
    (said,) = line_sentences(line, "en")
    assert "Slower by 20" in said and "night-5" in said and "6.1.0 → 6.9.0" in said
    assert all(one.low is not None and one.low < one.value for one in line.points)


def test_what_may_be_a_swing_is_said_as_that() -> None:
    line = history(nights(8, slow_from=5), Axis.DATE).lines[0]
    firm, swing = (
        replace(line, changes=(replace(line.changes[0], firm=one),)) for one in (True, False)
    )
    assert "depend on each other" in line_sentences(swing, "en")[0]
    assert "互いに影響し合う" in line_sentences(swing, "ja")[0]
    assert "depend on each other" not in line_sentences(firm, "en")[0]


def test_no_change_is_said_with_its_confidence() -> None:
    line = history(nights(6), Axis.DATE).lines[0]
    assert (line.changes, line.search) == ((), ChangeSearch.DONE)
    assert "95" in line_sentences(line, "en")[0]
    short = history(nights(3), Axis.DATE).lines[0]
    assert short.search is ChangeSearch.TOO_FEW


def test_versions_can_be_the_axis() -> None:
    line = history(nights(3), Axis.VERSION).lines[0]
    assert [one.version for one in line.points] == ["17.4"] * 3 + ["18.4"] * 3
    assert line.level == ""


def test_a_mean_over_servers_names_their_versions_and_stands_at_the_newest() -> None:
    plan = contrasting_clients()
    newest = replace(plan, servers=(plan.servers[0], ("18", make_installation("18.10"))))
    campaigns = [campaign(name, plan=of) for name, of in (("later", newest), ("before", plan))]
    found = history([(one.name, one) for one in campaigns], Axis.VERSION)
    for line in found.lines:
        assert [point.campaign for point in line.points] == ["before", "later"]
        assert [point.version for point in line.points] == ["17.4, 18.4", "17.4, 18.10"]


def test_other_machines_and_conditions_are_apart() -> None:
    other = campaign("elsewhere", facts=OTHER)
    longer = campaign("longer", plan=plan_of(clients=("1", "8")))
    found = history([*nights(2), ("/o", other), ("/l", longer)], Axis.DATE)
    assert sorted({len(line.points) for line in found.lines}) == [1, 2]
    assert len({(line.machine, line.conditions) for line in found.lines}) == 3


def with_level(plan: Plan, factor: str, level: str) -> Plan:
    """The plan with a further factor, which all of its trials have at one level."""
    cells = [
        replace(trial.cell, levels=(*trial.cell.levels, (factor, level))) for trial in plan.trials
    ]
    trials = (replace(trial, cell=cell) for trial, cell in zip(plan.trials, cells, strict=True))
    study = replace(plan.study, factors=(*plan.study.factors, Factor(factor, (level,))))
    return replace(plan, study=study, trials=tuple(trials))


def test_other_levels_of_what_is_not_compared_and_other_servers_are_apart() -> None:
    """A night with another work_mem is no step of a line, and no side with other parameters."""
    plan = plan_of(blocks=2)
    little, much = (with_level(plan, "guc:work_mem", size) for size in ("4MB", "64MB"))
    assert conditions_fingerprint(little) != conditions_fingerprint(much)
    assert conditions_fingerprint(with_level(plan, "guc:work_mem", "4MB")) == (
        conditions_fingerprint(little)
    )
    small, large = (
        replace(plan, study=replace(plan.study, server_levels=(("b", (("guc:work_mem", size),)),)))
        for size in ("64MB", "1GB")
    )
    assert len({conditions_fingerprint(each) for each in (plan, small, large)}) == 3


def test_doubles_and_empty_campaigns_are_left_out() -> None:
    one = campaign("one")
    empty = replace(campaign("empty"), trials=())
    stopped = campaign("stopped", speed=times(math.inf))
    found = history([("/a", one), ("/b", one), ("/c", empty), ("/d", stopped)], Axis.DATE)
    assert {left.path: left.why for left in found.left_out} == {
        "/b": "the same campaign as /a",
        "/c": "it has no complete block yet",
        "/d": "a value is zero or infinite, which has no logarithm",
    }
    assert "対数をとれない" in history_html(found, "ja")


def test_lines_that_are_too_short_to_be_searched_are_folded_below_the_others() -> None:
    longer = campaign("longer", plan=plan_of(clients=("1", "8")), created_at=START + DAY)
    found = history([*nights(6), ("/l", longer)], Axis.DATE)
    answer = history_page(found, "en").sections[0].blocks
    (pairs,) = of_kind(answer, Pairs)
    steady, folded = of_kind(answer, Details)
    assert len(pairs.pairs) == 4 and all("No change found" in said for _, said in pairs.pairs)
    assert steady.title == "4 lines in which no change was found" and steady.opened
    assert folded.title.startswith("4 lines have fewer than five") and not folded.opened
    (items,) = of_kind(folded.blocks, Items)
    assert len(items.items) == 4 and all(one.endswith(": 1 campaign") for one in items.items)
    told = list(history_lines(found))
    assert len(told) == 5 and told[-1].startswith("4 lines have fewer than five")


def mixed(steady_machines: int) -> list[tuple[str, CampaignAnalysis]]:
    """Nights of which four lines change, and as many on each other machine that do not."""
    others = [
        (f"/{machine}/{night}", campaign(
            f"m{machine}-{night}",
            facts=replace(OTHER, kernel=f"{machine}", cpu=replace(OTHER.cpu, model=f"{machine}")),
            seed=night + 1,
            created_at=START + night * DAY,
        ))
        for machine in range(steady_machines)
        for night in range(5)
    ]  # fmt: skip
    return [*nights(6, slow_from=3), *others]


def test_lines_that_changed_stand_open_and_the_others_are_folded() -> None:
    page = history_page(history(mixed(2), Axis.DATE), "en")
    answer, results = (section.blocks for section in page.sections[:2])
    assert (
        len(of_kind([result for result in results if not isinstance(result, Details)], Chart)) == 4
    )
    (folded,) = of_kind(results, Details)
    assert folded.title == "8 lines with no change marked" and not folded.opened
    assert len(of_kind(folded.blocks, Chart)) == len(of_kind(folded.blocks, Heading)) == 8
    (said,) = (one for one in answer if isinstance(one, Pairs))
    assert len(said.pairs) == 4 and all("Slower by" in text for _, text in said.pairs)
    (steady,) = of_kind(answer, Details)
    assert steady.title == "8 lines in which no change was found" and not steady.opened


def test_many_lines_without_any_change_are_folded_and_few_stand_open() -> None:
    for machines, opened in ((1, True), (2, False)):
        found = history(mixed(machines)[6:], Axis.DATE)
        for section in history_page(found, "ja").sections[:2]:
            (folded,) = of_kind(section.blocks, Details)
            assert folded.opened is opened


def test_lines_of_one_campaign_are_a_table_and_no_charts() -> None:
    longer = campaign("longer", plan=plan_of(clients=("1", "8")), created_at=START + DAY)
    page = history_page(history([*nights(3), ("/l", longer)], Axis.DATE), "ja")
    assert len(of_kind(page.sections[1].blocks, Chart)) == 4
    tables = {one.name: one for one in of_kind(page.sections[1].blocks, Table)}
    assert len(tables["single"].rows) == 4
    (folded,) = of_kind(page.sections[0].blocks, Details)
    assert folded.opened  # nothing else is said


@pytest.mark.parametrize("language", ["en", "ja"])
def test_a_history_of_single_campaigns_says_what_it_is_for_and_nothing_else(
    language: Language,
) -> None:
    page = history_page(history(nights(1), Axis.DATE), language)
    (section,) = page.sections
    (said,) = section.blocks
    assert isinstance(said, Text) and said.text == texts(language)("history.only-one")


def test_the_terminal_says_of_single_campaigns_what_a_history_is_for_and_nothing_else() -> None:
    assert list(history_lines(history(nights(1), Axis.DATE))) == [texts("en")("history.only-one")]


def test_the_subject_of_the_page_is_one_phrase_with_its_order() -> None:
    """It ends a sentence of the footer, which nothing may follow in lower case."""
    page = history_page(history(nights(5), Axis.DATE), "en")
    assert page.campaign == "5 campaigns in chronological order" and page.meta == ()


def contrasting_clients() -> Plan:
    plan = plan_of()
    return replace(plan, study=replace(plan.study, contrast="clients"))


def test_a_line_is_called_by_the_factor_that_is_contrasted() -> None:
    by_clients = history([("/c", campaign("c", plan=contrasting_clients()))], Axis.DATE)
    told = line_titles(texts("en"), by_clients.lines)
    assert [line.level for line in by_clients.lines] == ["1", "4"] * 2
    assert all("clients" in one and "server" not in one for one in told)
    by_server = line_titles(texts("en"), history(nights(1), Axis.DATE).lines)
    assert any(", server 17; " in one for one in by_server)


def test_every_line_has_a_title_of_its_own_with_its_study() -> None:
    plan = plan_of()
    renamed = replace(plan, study=replace(plan.study, name="other-study"))
    longer = plan_of(clients=("1", "8"))
    campaigns = [campaign(f"c-{at}", plan=one) for at, one in enumerate((plan, renamed, longer))]
    found = history([(one.name, one) for one in campaigns], Axis.DATE)
    titles = line_titles(texts("en"), found.lines)
    assert len(set(titles)) == len(titles) == 12
    assert sum("(other-study, " in title for title in titles) == 4
    assert sum("; clients 1, 4)" in title for title in titles) == 4
    assert sum("; clients 1, 8)" in title for title in titles) == 4
    assert not any("machine" in title or "conditions" in title for title in titles)


def test_lines_of_the_same_clients_are_told_apart_by_their_fingerprints() -> None:
    plan = plan_of()
    measure = replace(plan.study.measure, settle=Seconds(9.5))
    slower = replace(plan, study=replace(plan.study, measure=measure))
    found = history(
        [(f"/{at}", campaign(f"c-{at}", plan=one)) for at, one in enumerate((plan, slower))],
        Axis.DATE,
    )
    titles = line_titles(texts("ja"), found.lines)
    assert len(set(titles)) == len(titles) == 8
    assert all("、条件 " in title and "接続数" not in title for title in titles)


def test_what_holds_of_all_lines_is_said_once() -> None:
    page = history_html(history(nights(6, slow_from=3), Axis.DATE), "en")
    assert page.count("Points: geometric means") == 1
    assert page.count("not what changes from day to day") == 1
    (line, *_) = history(nights(6), Axis.DATE).lines
    assert line.conditions not in page.partition('id="results"')[2].partition("<script")[0]


def point(value: float, half: float | None = None) -> LinePoint:
    """``half``: of its interval, as a factor."""
    low, high = (None, None) if half is None else (value / half, value * half)
    return LinePoint(f"{value}", value, low, high, value, "", "c", "18.4", f"{value}")


def test_the_axis_ends_at_useful_intervals_and_marks_those_that_it_cuts() -> None:
    usual = [point(1000.0, 1.02), point(1010.0, 1.03), point(990.0, 1.02)]
    low, high = reach(usual)
    assert low < min(one.low or 0 for one in usual) and high > 1010 * 1.03
    assert high < 1010 * 1.04
    low, high = reach([*usual, point(1005.0, 12.0)])
    assert low > 900 and high < 1100
    english = texts("en")
    chart = history_line(english, "line-1", [*usual, point(1005.0, 12.0)], "date")
    assert chart.rows["above"] == chart.rows["below"] == [False, False, False, True]
    assert max(chart.rows["high"]) == high and min(chart.rows["low"]) == low
    assert chart.note == english("history.chart-cut")
    assert not history_line(english, "line-1", usual, "date").note


def test_the_axis_of_huge_intervals_alone_shows_the_points() -> None:
    low, high = reach([point(17_000.0, 50.0), point(35_000.0, 400.0)])
    assert 15_000 < low < 17_000 and 35_000 < high < 37_000
    low, high = reach([point(100.0), point(100.0)])
    assert low < 100 < high


@pytest.mark.parametrize("axis", list(Axis))
def test_the_page_is_whole_in_both_languages(axis: Axis) -> None:
    found = history(nights(6, slow_from=3), axis)
    assert "信頼区間" in history_html(found, "ja")
    html = history_html(found, "en")
    assert "night-3" in html and 'data-chart="line-1"' in html
    plots = html.split('class="plot"')[1:]
    assert plots and all("<svg" in plot.partition("</figure>")[0] for plot in plots)  # no scripts


def test_its_charts_can_be_drawn() -> None:
    with drawn():
        html = history_html(history(nights(6, slow_from=3), Axis.DATE), "ja")
    plots = html.split('class="plot"')[1:]
    assert plots and all('class="marks"' in plot.partition("</figure>")[0] for plot in plots)


def test_apache_otava_gets_each_line_in_the_order_of_time() -> None:
    found = history(reversed(nights(8, slow_from=5)), Axis.DATE)
    files = otava_files(found)
    tests = json.loads(files[CONFIGURATION])["tests"]
    assert len(tests) == len(found.lines) == len(files) - 1
    for test, line in zip(tests.values(), found.lines, strict=True):
        rows = list(csv.DictReader(files[test["file"]].decode().splitlines()))
        (metric,) = test["metrics"].values()
        assert {test["time_column"], metric["column"], *test["attributes"]} <= set(rows[0])
        moments = [datetime.fromisoformat(row["time"]).timestamp() for row in rows]
        assert moments == [point.at for point in line.points]
        assert [float(row[metric["column"]]) for row in rows] == [one.value for one in line.points]


def test_a_table_has_every_point_with_its_change() -> None:
    found = history(nights(8, slow_from=5), Axis.DATE)
    rows = list(csv.DictReader(history_csv(found).decode().splitlines()))
    assert len(rows) == sum(len(line.points) for line in found.lines)
    for number, line in enumerate(found.lines, start=1):
        own = [row for row in rows if row["line"] == str(number)]
        assert [float(row["value"]) for row in own] == [one.value for one in line.points]
        assert [row["version"] for row in own] == [one.version for one in line.points]
        moments = [datetime.fromisoformat(row["time"]) for row in own]
        assert [moment.timestamp() for moment in moments] == [int(one.at) for one in line.points]
        changed = {at: float(row["change"]) for at, row in enumerate(own) if row["change"]}
        assert changed == {change.first: change.ratio for change in line.changes} != {}


def run(workdir: Path, *arguments: str) -> Result:
    command = ["--workdir", str(workdir), "history", *arguments]
    return CliRunner().invoke(teiten, command, standalone_mode=False)


def test_the_verb_reads_folders_at_any_depth_and_names_what_it_cannot(tmp_path: Path) -> None:
    for night in range(6):
        write_campaign(
            tmp_path / "deep" / str(night // 3) / f"night-{night}",
            speed=times(0.7 if night > 2 else 1.0),
            seed=night,
            created_at=START + night * DAY,
        )
    (tmp_path / "deep" / "broken.sqlite").write_bytes(b"x" * 5000)
    done = run(tmp_path, str(tmp_path / "deep"), "--json")
    assert done.exception is None
    told = json.loads(done.stdout)
    assert [len(line["points"]) for line in told["lines"]] == [6, 6, 6, 6]
    assert {line["changes"][0]["campaign"] for line in told["lines"]} == {"night-3"}
    (left,) = told["left_out"]
    assert left["path"].endswith("broken.sqlite") and "no SQLite file" in left["why"]
    assert all(Path(page).is_file() for page in told["pages"])


def test_the_verb_without_any_campaign_says_so(tmp_path: Path) -> None:
    assert isinstance(run(tmp_path, str(tmp_path / "nowhere")).exception, UsageError)
    refused = run(tmp_path, str(tmp_path)).exception
    assert isinstance(refused, UsageError) and "no ledger" in refused.message
