"""A report's body is what is read, its appendix what is looked up: in the same order, once."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace

import pytest

from teiten.analysis.model.findings import CampaignAnalysis
from teiten.analysis.model.verdict import Interval, VerdictKind
from teiten.model.text import Language
from teiten.model.units import Share
from teiten.report.blocks import (
    Block,
    Details,
    Further,
    Heading,
    Items,
    Pairs,
    Section,
    Text,
    of_kind,
)
from teiten.report.charts.base import Chart
from teiten.report.effects import effect_cells, interval_of_ratio
from teiten.report.parts import noted_once, numbered, parted
from teiten.report.render.html import html
from teiten.report.render.typst import typst_text
from teiten.report.tables import Column, Table, cells, number_cell, without_unknown
from teiten.report.texts import texts
from teiten.report.view.answer import MOST_LINES, answer, answers
from teiten.report.view.discussion import MOST_SENTENCES, discussion
from teiten.report.view.kit import Kit
from teiten.report.view.report import cover, summary, view
from tests.fixtures.invented_analysis import invented_analysis
from tests.fixtures.invented_partitions import of_partitions, partitions_plan
from tests.fixtures.invented_probes import invented_probes
from tests.fixtures.invented_queries import invented_queries

T = texts("en")
ANALYSIS = invented_analysis(seconds=2)


def section(*blocks: Block, **given: bool) -> Section:
    return Section("results", "Results", blocks, **given)


def test_what_is_further_follows_the_body_below_the_same_headings() -> None:
    read, looked_up, of_all = Text("read"), Text("looked up"), Text("of all")
    reads, updates = Heading(3, "Reads", part=True, name="reads"), Heading(3, "Updates", part=True)
    tail = Heading(4, "Tail")
    body, further, whole = parted(
        T,
        (
            section(of_all, appendix=True),
            section(reads, read, tail, Further((looked_up,)), updates, Further((looked_up,))),
        ),
    )
    assert body.blocks == (reads, read), "a heading above nothing is none"
    assert further.blocks == (replace(reads, name=""), tail, looked_up, updates, looked_up)
    assert (further.name, further.title) == ("results-further", "Results: details")
    assert further.appendix and whole.appendix and whole.blocks == (of_all,)


def test_an_appendix_within_the_appendix_is_unfolded() -> None:
    inner = Further((Text("inner"),))
    (_, further) = parted(
        T, (section(Text("body"), Further((inner, Details("Folded", (inner,))))),)
    )
    assert not of_kind(further.blocks, Further)
    assert [one.text for one in of_kind(further.blocks, Text)] == ["inner", "inner"]


def test_an_interval_that_says_nothing_has_a_sign_and_the_sign_one_note() -> None:
    said, nothing = (
        Interval(1.1, low, high, Share(0.95)) for low, high in ((1.0, 1.2), (0.0004, 4000.0))
    )
    columns = (Column("ratio"), Column("interval"))
    rows = tuple(effect_cells(T, effect) for effect in (said, nothing))
    first, second = Table("a", "A", columns, rows[:1]), Table("b", "B", columns, rows)
    named = replace(first, rows=(cells("query ‡", ""),))
    (shown,) = parted(T, (section(first, named, second, replace(second, name="c")),))
    notes = [table.note for table in of_kind(shown.blocks, Table)]
    sign = T("interval.sign").strip()
    assert [sign in note for note in notes] == [False, False, True, False]
    assert [row[1].text.endswith(sign) for row in rows] == [False, True]
    assert interval_of_ratio(T, nothing) == "95\u00a0% interval wider than a factor of 100"


@pytest.mark.parametrize("language", ["en", "ja"])
@pytest.mark.parametrize(
    "invented",
    [lambda: ANALYSIS, invented_queries, lambda: of_partitions(partitions_plan())],
    ids=["pgbench", "queries", "partitions"],
)
def test_every_kind_has_a_body_a_summary_and_an_appendix(
    invented: Callable[[], CampaignAnalysis], language: Language
) -> None:
    page = numbered(view(invented(), language))
    assert not [one for one in page.blocks() if isinstance(one, Further)]
    order = [one.appendix for one in page.sections]
    assert order == sorted(order) and order[-1], "the body comes first"
    body = [one.name for one in page.sections if not one.appendix]
    assert body[0] == "answer" and body[-1] == "summary"
    assert "evidence" not in body and {"asked", "results"} <= set(body)
    letters = [one.title.split()[1][0] for one in page.sections if one.appendix]
    if language == "en":
        assert letters == [chr(ord("A") + at) for at in range(len(letters))]
    text = html(page, "0")
    assert text.count('<details class="appendix"') == len(letters)
    assert "appendix.with" in typst_text(page, "0", {})


def test_figures_are_counted_through_and_the_topology_shows_its_number() -> None:
    page = numbered(view(ANALYSIS, "en"))
    text = html(page, "0")
    titles = [one.title for one in page.blocks() if isinstance(one, Chart)]
    assert titles[0].startswith("Figure 1.")
    assert "<figcaption>Figure 3. The topology</figcaption>" in text


def test_the_discussion_has_three_sentences_for_a_workload_and_the_appendix_the_others() -> None:
    shown = discussion(Kit(ANALYSIS, "en")).blocks
    told = [one for one in shown if isinstance(one, Text) and one.kind == ""]
    assert told and all(one.text.count(". ") < MOST_SENTENCES + 1 for one in told)
    assert any(isinstance(one, Further) for one in shown)


def test_the_summary_has_a_line_for_each_workload_and_counts_many() -> None:
    kit = Kit(ANALYSIS, "en")
    lines = [
        item for block in summary(kit, answers(kit)).blocks for item in getattr(block, "items", ())
    ]
    assert [line.partition(":")[0] for line in lines] == ["Range read", "Single-row update"]
    ratio = re.search(
        r"18.4 ÷ 17.10 = ([\d.]+) \([\d.]+\s% interval ([\d.]+) to ([\d.]+)\)", lines[0]
    )
    assert ratio and float(ratio[2]) < float(ratio[1]) < float(ratio[3]), "one form for all three"
    one = ANALYSIS.contrasts[0]
    many = replace(ANALYSIS, contrasts=(one,) * (MOST_LINES + 1), claims=())
    counting = Kit(many, "en")
    (counted,) = summary(counting, answers(counting)).blocks
    assert isinstance(counted, Items) and counted.items == ("Of 13 comparisons: 13 faster.",)


def test_the_cover_has_the_answer_and_why_there_is_none() -> None:
    first, *others = ANALYSIS.contrasts
    unknown = replace(first.overall, effect=None, kind=VerdictKind.INCONCLUSIVE, reason="no-pairs")
    kit = Kit(replace(ANALYSIS, contrasts=(replace(first, overall=unknown), *others)), "en")
    lines = dict(cover(kit, answers(kit)))["The answer"].split("\n")
    assert lines[0].startswith("Nothing can be said about PostgreSQL 18.4")
    assert lines[0].lower().count("range read") == 1 and lines[1].startswith("Single-row update: ")
    sizes = Kit(invented_probes(), "en")
    probes = dict(cover(sizes, answers(sizes)))["The answer"]
    assert probes.startswith("Size of shared_buffers: With ")


def undecided(levels: int, *, mean: bool) -> str:
    """The remark on what is undecided of a workload with so many open levels."""
    first = ANALYSIS.contrasts[0]
    is_open = replace(first.overall, kind=VerdictKind.INCONCLUSIVE)
    open_levels = tuple(
        replace(first.levels[0], context=(("clients", str(clients)),), verdict=is_open)
        for clients in range(2, levels + 2)
    )
    contrast = replace(first, overall=is_open if mean else first.overall, levels=open_levels)
    remarks = answer(Kit(replace(ANALYSIS, contrasts=(contrast,)), "en")).blocks[-1]
    assert isinstance(remarks, Pairs)
    return remarks.pairs[-1][1]


def test_more_than_ten_open_levels_are_counted_beside_the_mean() -> None:
    assert undecided(10, mean=True).startswith(
        "Range read: the mean over all levels, 2\u00a0clients, "
    )
    assert undecided(11, mean=False) == "Range read: 11 of 11 levels, named in the tables"
    counted = "Range read: the mean over all levels, and 11 of 11 levels, named in the tables"
    assert undecided(11, mean=True) == counted


def test_a_pair_has_no_charts_of_the_machine_that_both_sides_share() -> None:
    """A campaign of one side after the other has them, in its appendix."""
    names = {one.name for one in view(ANALYSIS, "en").blocks() if isinstance(one, Chart)}
    assert {"workload-1-cpu", "workload-1-idle"} <= names
    way = replace(ANALYSIS.plan.study.measure, way="pairs")
    plan = replace(ANALYSIS.plan, study=replace(ANALYSIS.plan.study, measure=way))
    shown = view(replace(ANALYSIS, plan=plan), "en")
    charts = {one.name for one in shown.blocks() if isinstance(one, Chart)}
    assert not charts & {"workload-1-cpu", "workload-1-idle", "workload-1-disk"}
    assert [one for one in shown.blocks() if isinstance(one, Table)]


def test_a_section_says_a_note_once() -> None:
    table = Table("one", "caption", (Column("a"),), (cells("1"),), note="what it is")
    chart = Chart("two", "title", "what it is", {}, {})
    section = Section("results", "Results", (table, replace(table, name="three"), chart))
    first, second, drawn = noted_once(section).blocks
    assert isinstance(first, Table) and isinstance(second, Table) and isinstance(drawn, Chart)
    assert (first.note, second.note, drawn.note) == ("what it is", "", "")
    assert drawn.alternative == "what it is", "a reader who cannot see it has no other text"


def test_a_column_in_which_nothing_is_known_is_left_out() -> None:
    columns = (Column("method"), Column("rows/s", numeric=True), Column("ms", numeric=True))
    rows = (
        cells("VACUUM", number_cell(None), number_cell(1.0)),
        cells("—", number_cell(None), number_cell(None)),
    )
    kept, lines = without_unknown(columns, rows)
    assert [column.title for column in kept] == ["method", "ms"]
    assert [[cell.text for cell in line] for line in lines] == [["VACUUM", "1"], ["—", "—"]]
