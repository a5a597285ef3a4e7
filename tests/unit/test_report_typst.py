"""A report as a document of Typst, its numbers, and what people add to it."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path

import pytest

from teiten.analysis.model.findings import CampaignAnalysis
from teiten.cli.text.notes import EXAMPLE, read_notes
from teiten.errors import UsageError
from teiten.model.text import Language
from teiten.report.blocks import Gallery, Heading, Page, Section, Statement, Text
from teiten.report.charts.base import Chart
from teiten.report.notes import Notes
from teiten.report.parts import numbered
from teiten.report.render.markdown import markdown_text
from teiten.report.render.pdf import FONTS, PROGRAM, pdf
from teiten.report.render.pdf import _fonts as fonts_folder
from teiten.report.render.typst import TEXT, content, string, typst_files, typst_text
from teiten.report.tables import Column, Table, cells
from teiten.report.texts import texts
from teiten.report.view.report import view
from tests.fixtures.invented_analysis import NASTY, invented_analysis
from tests.fixtures.invented_partitions import of_partitions, partitions_plan
from tests.fixtures.invented_queries import invented_queries
from tests.fixtures.undrawn import drawn

LANGUAGES: tuple[Language, ...] = ("en", "ja")


@pytest.fixture(scope="module")
def page() -> Page:
    return view(invented_analysis(nasty=True, seconds=3), "en")


def test_every_text_is_a_string_of_code() -> None:
    assert string('a "b" \\ #c\x07') == '"a \\"b\\" \\\\ #c"'
    assert content("a\n#b") == '[#"a" \\ #"#b"]'


def test_every_picture_is_there_and_no_name_is_markup(page: Page) -> None:
    files = typst_files(page, "0")
    text = files["report.typ"].decode()
    pictures = set(re.findall(r'"(charts/[^"]+\.svg)"', text))
    assert pictures == set(files) - {"report.typ"}
    outside = re.sub(r'"(?:[^"\\]|\\.)*"', "", text)
    assert NASTY in text and NASTY not in outside


@pytest.mark.skipif(not (find_spec(PROGRAM) and find_spec(FONTS)), reason="no teiten[pdf]")
@pytest.mark.parametrize("language", LANGUAGES)
def test_typst_sets_it(language: Language) -> None:
    with drawn():
        made = pdf(view(invented_analysis(nasty=True, seconds=3), language), "0", 1_700_000_000.5)
    assert made.startswith(b"%PDF-")
    assert b"pdfaid:conformance>A<" in made and b"pdfuaid" in made, "screen readers can follow it"


@pytest.mark.skipif(not (find_spec(PROGRAM) and find_spec(FONTS)), reason="no teiten[pdf]")
@pytest.mark.parametrize(
    "invented",
    [
        lambda: invented_analysis(seconds=3),
        invented_queries,
        lambda: of_partitions(partitions_plan()),
    ],
    ids=["pgbench", "queries", "partitions"],
)
def test_the_body_has_ten_pages_at_the_most(
    invented: Callable[[], CampaignAnalysis], tmp_path: Path
) -> None:
    import typst  # noqa: PLC0415 - of an extra

    with drawn():
        files = typst_files(view(invented(), "ja"), "0")
    for name, content_of in files.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_bytes(content_of)
    fonts = [str(fonts_folder())]
    where = typst.query(
        str(tmp_path / TEXT),
        "<appendix>",
        field="value",
        one=True,
        font_paths=fonts,
        ignore_system_fonts=True,
    )
    assert 3 < int(where) <= 11, "the page on which the appendix begins"


def test_pictures_follow_the_text_beside_them_and_are_drawn_once() -> None:
    chart = Chart("speed", "Speed", "Dots: trials.", {"mark": "point"}, {"tps": [1.0]})
    answer = Statement("Reads", "faster", "faster", "It is.", replace(chart, name="answer"))
    heading, note = Heading(3, "Reads"), Text("Note.", "note")
    table = Table("t", "Times", (Column("ms"),), (cells("7"),))
    results = Section("results", "Results", (heading, chart, table, note, note))
    more = Section("more", "More", (heading, Gallery((chart,)), note))
    made = typst_text(_page(results, more), "0", {})
    parts = ('level: 2, "Reads"', "#rows(", '"charts/speed.svg"', '"More"')
    places = [made.index(part, made.index('"Results"')) for part in parts]
    assert places == sorted(places) and made.count(parts[2]) == 1
    assert made.count('#note([#"Note."])') == 2, "once in each section"
    alone = typst_text(_page(Section("results", "Results", (heading, chart, heading))), "0", {})
    assert '#referred([#"Dots: trials."], "speed")' in alone
    answered = typst_text(_page(Section("answer", "Answer", (answer,)), more), "0", {})
    assert "charts/answer.svg" in answered and "charts/speed.svg" not in answered


def _page(*sections: Section) -> Page:
    return Page(texts("en"), "Title", "campaign", (), sections)


def test_long_words_may_be_broken() -> None:
    parts = ("max_", "parallel_", "workers_", "per_", "gather")
    assert content(f"x {''.join(parts)}") == '[#"x ' + "\u200b".join(parts) + '"]'
    assert content("work_mem") == '[#"work_mem"]'


def test_figures_and_tables_are_numbered_in_their_order(page: Page) -> None:
    text = markdown_text(numbered(page), "0")
    for kind in ("Figure", "Table"):
        found = [int(one) for one in re.findall(rf"^\*\*{kind} (\d+)\. ", text, re.MULTILINE)]
        assert found == sorted(found) and len(set(found)) == len(found) > 5
    assert re.findall(r"^## (\d)\. ", text, re.MULTILINE)[:3] == ["1", "2", "3"]


def test_notes_stand_where_published_reports_have_them(tmp_path: Path) -> None:
    file = tmp_path / "notes.toml"
    file.write_text(EXAMPLE, encoding="utf-8")
    notes = read_notes(file)
    analysis = invented_analysis(seconds=3)
    made = view(analysis, "ja", notes)
    names = [section.name for section in made.sections]
    places = [names.index(one) for one in ("results", "discussion", "remarks", "why", "evidence")]
    assert places == sorted(places) and names[places[1] + 1] == "remarks"
    assert names[-1] == "about"
    assert dict(made.front)["執筆"] == "A. Author（Example Ltd.）"
    assert "予想より差は小さかった。" in markdown_text(made, "0")
    assert view(analysis, "ja", replace(notes, title=notes.licence)).title == "CC BY 4.0"
    assert [section.name for section in view(analysis, "ja", Notes()).sections][-1] == "evidence"


@pytest.mark.parametrize(
    ("text", "said"),
    [("x = 1", "x: "), ("title = 3", "title: must be a text"), ("[", "is no TOML file")],
)
def test_a_wrong_file_of_notes_is_told(tmp_path: Path, text: str, said: str) -> None:
    file = tmp_path / "notes.toml"
    file.write_text(text, encoding="utf-8")
    with pytest.raises(UsageError, match=said):
        read_notes(file)
    with pytest.raises(UsageError, match="cannot be read"):
        read_notes(tmp_path / "missing.toml")
