"""The report of an invented campaign of probes, in both languages."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

import pytest

from teiten.analysis.model.findings import CampaignAnalysis
from teiten.claims.catalogue import claims_of
from teiten.kinds.probes.present.units import said_percent
from teiten.kinds.probes.results import probes_found
from teiten.kinds.probes.thresholds import MEDIUM_BELOW, NONE_WITHIN, SMALL_BELOW
from teiten.model.text import Language
from teiten.model.units import MIB, Bytes
from teiten.report.blocks import Page
from teiten.report.charts.drawing import svg
from teiten.report.numbers import plain
from teiten.report.render.markdown import markdown_text
from teiten.report.texts import texts
from teiten.report.view.report import view
from teiten.study.document import CATALOGUE
from tests.fixtures.invented_probes import Invented, Truth, invented_probes
from tests.fixtures.shown import part, section_of, whole

BEST = re.compile(r"75%(?: \(|（)1\.5 GiB[)）]")
LANGUAGES: tuple[Language, ...] = ("en", "ja")
WANTED = {"working_set": Bytes(1400 * MIB), "connections": 10, "work_mem": Bytes(16 * MIB)}

UNLIKE = {
    "15": Truth(scan=2.5, from_buffers=21e-6, told={"huge_pages": "try"}),
    "18": Truth(ring=288, told={"huge_pages": "try", "io_method": "worker"}),
}


@cache
def analysis(name: str = "usual") -> CampaignAnalysis:
    like = {
        "usual": Invented(wanted=WANTED),
        "crowded": Invented(blocks=2, wanted={**WANTED, "connections": 20}),
        "quick": Invented(profile="quick", blocks=1),
        "one-side": Invented(blocks=2, only=("50%",)),
        "none": Invented(blocks=2, only=("no such",)),
        "unknown": Invented(Truth(known=False), blocks=2),
        "two-servers": Invented(servers=("15", "18"), blocks=2),
        "unlike-servers": Invented(of_server=UNLIKE, servers=("15", "18"), blocks=4),
        "crossed": Invented(
            of_server=UNLIKE,
            servers=("15", "18"),
            blocks=4,
            overrides=("guc:effective_io_concurrency=1,16", "probe=buffer-read,after-scan"),
        ),
    }[name]
    return invented_probes(like, claims_of("buffers"))


@cache
def page(language: Language = "en", name: str = "usual") -> Page:
    return view(analysis(name), language)


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("name", ["usual", "quick", "one-side", "none", "unknown", "two-servers"])
def test_every_campaign_has_a_report(name: str, language: Language) -> None:
    shown = whole(page(language, name))
    texts = [*shown.paragraphs, *shown.findings]
    texts += [cell.text for table in shown.tables for row in table.rows for cell in row]
    assert not [text for text in texts if re.search(r"\{\w+\}|nan\b|inf\b", text)]


def test_every_chart_can_be_drawn() -> None:
    names = [chart.name for chart in whole(page()).charts]
    assert len(set(names)) == len(names)
    for chart in whole(page()).charts:
        assert svg(chart).startswith("<svg")


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_answer_is_the_size_that_none_beats(language: Language) -> None:
    answer = part(page(language), "answer")
    (statement,) = answer.statements
    assert BEST.search(statement.text) and "2 GiB" in statement.text
    assert statement.chart is not None
    assert set(statement.chart.rows["side"]) == {"25%", "50%", "75%"}
    (summary,) = (table for table in answer.tables if table.name == "probe-summary")
    assert len(summary.rows) == 9


def test_the_answer_says_which_probes_the_size_moves() -> None:
    moved, still, *_ = part(page(), "answer").statements[0].points
    assert "After the scan of a large table (large)" in moved
    assert "A page in the buffers" in still and "A page in the buffers" not in moved
    quick = part(page("en", "quick"), "answer").statements[0].points
    assert not any("these probes changes" in point for point in quick)


def test_the_thresholds_stand_in_the_report() -> None:
    (summary,) = (table for table in part(page(), "answer").tables if table.name == "probe-summary")
    for share in (SMALL_BELOW, MEDIUM_BELOW, NONE_WITHIN):
        assert re.search(rf"\b{plain(100 * share)}\s%", summary.note)
    count = probes_found(analysis()).comparisons
    together = f"all {count} comparisons of probes hold together; the differences of means are not"
    assert together in summary.note
    effects = {row[0].text: row[-1].text for row in summary.rows}
    assert effects["After the scan of a large table"] == "large"
    assert effects["A page in the buffers"] == "none"


def test_the_worst_is_never_called_faster() -> None:
    (summary,) = (table for table in part(page(), "answer").tables if table.name == "probe-summary")
    assert not [row[2].text for row in summary.rows if "faster" in row[2].text]


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_memory_is_said_beside_every_result(language: Language) -> None:
    tables = part(page(language), "results-further").tables
    assert tables
    for table in tables:
        assert "2.25 GiB" in table.note and "1.96 GiB" in table.note, table.name


def test_all_statements_are_drawn() -> None:
    charts = part(page(), "results-further").charts
    (drawn,) = (chart for chart in charts if chart.name == "workload-1-probe-1-distribution")
    assert len(drawn.rows["time"]) == 3 * 101
    (parts,) = (chart for chart in charts if chart.name == "workload-1-probe-6-distribution")
    assert len(set(parts.rows["panel"])) == 10
    assert all(0 <= one <= 100 for one in parts.rows["share"])


@pytest.mark.parametrize(
    ("share", "text"),
    [
        (0.0, "0 %"),
        (0.00004, "0.004 %"),
        (0.0004, "0.04 %"),
        (0.004, "0.4 %"),
        (0.48, "48 %"),
        (0.996, "99.6 %"),
        (0.9996, "99.96 %"),
        (0.99996, "99.996 %"),
        (1.0, "100 %"),
        (5.2, "520.0 %"),
        (-0.03, "−3.0 %"),
    ],
)
def test_a_share_is_never_said_to_be_all_or_nothing_that_it_is_not(share: float, text: str) -> None:
    assert said_percent(texts("en"), share).replace("\u00a0", " ") == text


@pytest.mark.parametrize("language", LANGUAGES)
def test_numbers_of_the_recommendation_stand_in_tables(language: Language) -> None:
    """Sizes of memory, what is left, and how many connections fit."""
    shown = part(page(language), "recommendation")
    (rooms,) = shown.tables
    said = " ".join(shown.findings)
    for row in rooms.rows:
        for at in (2, 4):
            assert row[at].text in said
    accesses = [
        table
        for table in part(page(language), "results-further").tables
        if "accesses" in table.name
    ]
    (working_set,) = (access for access in accesses if len(access.rows) == 30)
    costs = [
        table
        for table in part(page(language), "results-further").tables
        if table.name.endswith("-cost")
    ]
    assert len(costs) == 2
    for cost in costs:
        assert all(cost.rows[0][at].text in said for at in (0, 1, 4, 6))
    sizes = {row[1].text.replace("\u00a0", " ") for row in working_set.rows}
    for cliff in ("1.44 GiB", "1.68 GiB", "1.2 GiB", "1.92 GiB"):
        assert cliff in sizes and cliff in said


def test_out_of_memory_is_warned_of() -> None:
    said = part(page("en", "crowded"), "answer").statements[0].points
    assert said[0].startswith("Warning: with 20 connections")
    assert "75% leaves 512 MiB where 540 MiB are needed" in said[0]


def test_a_probe_of_two_workloads_is_told_of_each(tmp_path: Path) -> None:
    """The second one states needs; the first does not."""
    text = (CATALOGUE / "buffers.toml").read_text(encoding="utf-8")
    reads = text[
        text.index('[[workloads]]\nname = "reads"') : text.index('[[workloads]]\nname = "w')
    ]
    again = reads.replace('"reads"', '"again"').replace('"Reads"', '"Again"')
    again = again.replace(
        "require_state", 'connections = 20\nworking_set = "1400MiB"\nrequire_state'
    )
    path = tmp_path / "mine.toml"
    path.write_text(text.replace(reads, reads + again), encoding="utf-8")
    like = Invented(
        study=str(path), blocks=4, overrides=("probe=working-set,after-scan",), statements=0.05
    )
    found = invented_probes(like)
    probes = probes_found(found)
    (recommendation,) = probes.recommendations
    assert (recommendation.connections, recommendation.working_set) == (20, 1400 * MIB)
    assert recommendation.work_mem == 4 * MIB
    for name in ("working-set", "after-scan"):
        beaten_in = {
            result.workload for result in probes.results if result.beaten and result.probe == name
        }
        assert beaten_in == {"reads", "again"}
    points = part(view(found, "en"), "answer").statements[0].points
    assert len(points) == len({*points})
    (beaten,) = (point for point in points if point.startswith("Decided:"))
    for workload in ("Reads", "Again"):
        assert beaten.count(f"(A page that is kept twice ({workload}))") == 1
        (at,) = (point for point in points if "1.44 GiB): 25%" in point and workload in point)
        assert at.count("25%:") == 2  # its time, and what came from the disk


def test_clients_are_told_by_step_and_part(tmp_path: Path) -> None:
    probe = """
        title = "Crowds"
        description = "It reads."
        parts = ["10% of table", "100% of table"]
        number = { of = "hot", take = "mean" }
        """
    step = """
        [[steps]]
        do = "clients"
        name = "NAME"
        table = "pages"
        part = "each"
        statement = "SELECT id FROM pages WHERE ctid = '({block},1)'"
        clients = ["1 clients", "4 clients"]
        seconds = "1s"
        """
    steps = [step.replace("NAME", name) for name in ("hot", "cold")]
    (tmp_path / "crowds.toml").write_text("".join((probe, *steps)), encoding="utf-8")
    text = (CATALOGUE / "buffers.toml").read_text(encoding="utf-8")
    path = tmp_path / "mine.toml"
    path.write_text(text.replace('probes = ["buffer-read"', 'probes = ["crowds.toml"'), "utf-8")
    found = invented_probes(Invented(study=str(path), blocks=3, overrides=("probe=crowds",)))
    (result,) = probes_found(found).results
    side = result.sides[0]
    places = [
        (step, part) for step in ("hot", "cold") for part in ("10% of table", "100% of table")
    ]
    assert {(load.step, load.part) for load in side.clients} == {*places}
    assert len(side.clients) == 4 * len(places)
    assert {load.latency.blocks for load in side.clients} == {3}
    most = [load.latency.mean for load in side.clients if load.clients == 4]
    assert most == pytest.approx([110e-6, 200e-6] * 2, rel=0.1)
    assert side.number is not None and side.number.mean == pytest.approx(155e-6, rel=0.1)
    shown = whole(view(found, "en"))
    (table,) = (table for table in shown.tables if table.name.endswith("probe-1-clients"))
    assert [row[1].text for row in table.rows[::4]] == [", ".join(place) for place in places] * 3
    charts = [chart for chart in shown.charts if "clients-curve" in chart.name]
    assert len(charts) == len({chart.name for chart in charts}) == len(places)
    for chart, place in zip(charts, places, strict=True):
        assert ", ".join(place) in chart.title and len(chart.rows["side"]) == 3 * 4


def test_a_quick_profile_recommends_nothing() -> None:
    (statement,) = part(page("en", "quick"), "answer").statements
    assert statement.text.startswith("The profile quick is too small to recommend a size")
    assert statement.word == "not decided"


def test_without_two_sizes_there_is_no_recommendation() -> None:
    assert not (section_of(page("en", "one-side"), "recommendation"))
    assert section_of(page("en", "usual"), "recommendation") is not None


def test_each_server_is_answered() -> None:
    statements = part(page("en", "two-servers"), "answer").statements
    assert [statement.workload for statement in statements] == [
        "PostgreSQL 15.4",
        "PostgreSQL 18.4",
    ]


def test_servers_are_compared_in_a_section_of_their_own() -> None:
    tables = part(page("en", "two-servers"), "versions").tables
    assert [len(table.rows) for table in tables] == [24, 6]
    sweeps = [row for row in tables[0].rows if row[0].text == "The clock sweep"]
    assert [row[7].text for row in sweeps] == ["not comparable"] * 3
    assert all("before 16" in row[8].text for row in sweeps)
    assert not section_of(page(), "versions")


@pytest.mark.parametrize("language", LANGUAGES)
def test_where_servers_differ_it_says_what_was_seen(language: Language) -> None:
    shown = part(page(language, "unlike-servers"), "versions")
    words = {
        "en": (
            "Seen here of what changed in the server: since 18 the ring",
            "this campaign does not say why",
        ),
        "ja": (
            "本検証で確認できたもの: 18以降、大きなスキャンのリング",
            "本検証からは理由が分からない",
        ),
    }[language]
    seen = [finding for finding in shown.findings if words[0] in finding]
    assert any(all(f"{size}%" in one for size in (25, 50, 75)) for one in seen)
    assert any(words[1] in finding for finding in shown.findings)
    tables = {table.name: table for table in shown.tables}
    kept = [[cell.text for cell in row] for row in tables["traces-reads"].rows]
    assert [one[4:6] for one in kept if "256" in one[4]] == [["256 KiB", "2.25 MiB"]]
    (row,) = tables["versions-settings"].rows
    assert [one.text for one in row] == ["io_method", "—", "worker"]


def test_servers_are_compared_at_each_level_of_what_else_is_varied() -> None:
    shown = part(page("en", "crossed"), "versions")
    rows = [tuple(cell.text for cell in row[:3]) for row in shown.tables[0].rows]
    assert len(rows) == len(set(rows)) == 2 * 3 * 3
    slower = [finding for finding in shown.findings if "A page in the buffers" in finding]
    assert [re.findall(r"\d+%", finding) for finding in slower] == [["25%", "50%", "75%"]] * 2
    for level, finding in zip(("1", "16"), slower, strict=True):
        assert f"(effective_io_concurrency = {level}):" in finding


def test_printed_numbers_stand_beside_measured_ones() -> None:
    tables = part(page(), "findings").tables
    (printed,) = (table for table in tables if table.name == "published-probes")
    rows = {row[0].text: [cell.text for cell in row[2:]] for row in printed.rows}
    assert rows["hits in buffers, %"] == ["51.1", "100", "50.0", "100"]
    assert rows["clock sweep, large ÷ small"][1] == "2.34"
    assert len(rows) == 10


@pytest.mark.parametrize("language", LANGUAGES)
def test_it_is_also_markdown(language: Language) -> None:
    assert BEST.search(markdown_text(page(language), "0.1.0"))
