"""Tables and pictures on paper: words stay whole, wide tables share pages, notes stay beside."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest

from teiten.report.blocks import Block, Page, Section, Text, Unprinted
from teiten.report.charts.forest import ForestRow, ForestWords, forest
from teiten.report.render.typst import (
    HALVED,
    LINE,
    OF_PIXEL,
    PAGE,
    TALLEST,
    TALLEST_DRAWING,
    TypstWriter,
    content,
    typst_text,
)
from teiten.report.render.typst import _longest_word as longest_word
from teiten.report.render.typst import _width as width_of
from teiten.report.render.typst import _widths as widths_of
from teiten.report.tables import Column, Table, TableCell, cells
from teiten.report.texts import texts

T = texts("en")


def table(*texts_of_a_row: str, rows: int = 3) -> Table:
    columns = tuple(Column(f"c{at}") for at, _ in enumerate(texts_of_a_row))
    return Table("t", "caption", columns, (cells(*texts_of_a_row),) * rows)


def page(*shown: Block) -> Page:
    return Page(T, "title", "campaign", (), (Section("s", "section", shown),))


ROW = ForestRow("read", 1.1, 1.0, 1.2, "1.1", "inconclusive", overall=False)
WORDS = ForestWords("axis", "title", "note", "ratio")


def test_what_paper_leaves_out_takes_no_letter_of_the_appendix() -> None:
    plans = Section("plans", "Plans", (Unprinted("plans", (Text("a plan"),)),), appendix=True)
    evidence = Section("evidence", "Evidence", (Text("a fact"),), appendix=True)
    shown = page(Text("read"))
    text = typst_text(replace(shown, sections=(*shown.sections, plans, evidence)), "0", {})
    headings = text.count("#heading(level: 1")
    assert headings == 2 and text.count("counter(heading).update") == 1, "it counts by itself"


def test_no_table_turns_the_page() -> None:
    """Else half of a sideways page was empty."""
    text = typst_text(page(table(*["a wide cell of text"] * 12)), "0", {})
    assert "flipped" not in text and "#rows(" in text


def test_a_total_and_a_long_cell_leave_verdicts_their_line() -> None:
    verdict = "inconclusive, detectable from 178 %"
    row = table("q1.1", "7" * 30, "8" * 30, "6", verdict)
    counted = replace(row, total=cells("all levels", "", "", "6 blocks, 312 pairs", ""))
    assert _widths(counted)[4] >= len(verdict) and _widths(counted)[3] < len("6 blocks, 312 pairs")
    long = _widths(table("a method " * 12, "faster by at least 5 %", "one table " * 4))
    assert long[0] > long[2] > long[1] >= len("faster by at least 5 %")


def _widths(shown: Table) -> list[float]:
    """Half-width characters at 7 points."""
    return [float(width.removesuffix("fr")) for width in widths_of(shown, 7.0).split(", ")[:-1]]


def test_a_long_table_of_names_and_values_stands_in_two_halves() -> None:
    text = TypstWriter(T, {}).one(table("name", "value", rows=HALVED + 1))
    assert text.count('[#"c0"]') == 2 and text.count('[#"name"]') == HALVED + 1
    assert text.count('[#""]') == 2, "the last row is of one half"
    assert TypstWriter(T, {}).one(table("name", "value")).count('[#"c0"]') == 1
    assert TypstWriter(T, {}).one(table("a", "b", "c", rows=20)).count('[#"c0"]') == 1


def test_a_note_stands_once_in_a_section() -> None:
    noted = replace(table("a"), note="the same")
    text = typst_text(page(noted, noted), "0", {})
    assert text.count('note([#"the same"])') == 1


@pytest.mark.parametrize("size", [5.5, 6.5, 8.5])
def test_the_words_of_narrow_columns_stay_whole(size: float) -> None:
    shown = table("lookup", "15.18", "index-only", *["スキャンしたパーティションの数"] * 6)
    found = [float(one.removesuffix("fr")) for one in widths_of(shown, size).split(", ") if one]
    room = LINE / (size / 2)
    share = room / sum(found)
    assert found[0] * share > len("lookup") and found[1] * share > len("15.18")
    assert found[3] > found[0]


def test_a_table_of_many_wide_words_has_smaller_letters() -> None:
    """Letters of a word that is wider than its column would stand in the next one."""
    shown = table("lookup", "クエリ", *["ブロック数（継承パーティション）"] * 8)
    text = TypstWriter(T, {}).one(shown)
    size = re.search(r"size: ([\d.]+)pt", text)
    assert size is not None and float(size[1]) < 6.5
    widths = [
        float(one.removesuffix("fr")) for one in widths_of(shown, float(size[1])).split(", ")[:-1]
    ]
    assert sum(widths) <= LINE / (float(size[1]) / 2) + 0.5
    assert min(widths[2:]) > len("パーティション") * 2


def test_a_number_stays_before_its_katakana() -> None:
    assert '#box("6ブロック")' in content("6ブロック、72組")


def test_a_picture_as_high_as_a_page_leaves_room_for_its_note() -> None:
    assert width_of('<svg width="600" height="300">') == pytest.approx(600 * OF_PIXEL)
    assert width_of('<svg width="960" height="300">') == LINE
    assert width_of('<svg width="600" height="800">') * 800 / 600 == pytest.approx(TALLEST)
    assert width_of('<svg width="600" height="1800">') * 3 == pytest.approx(PAGE)


def test_a_fingerprint_can_be_broken() -> None:
    shown = TypstWriter(T, {}).one(table("ab01" * 16))
    assert "ab01" * 16 not in shown and "\u200b".join(["ab01" * 4] * 4) in shown


def test_a_forests_long_labels_are_whole() -> None:
    label = "PostgreSQL 15.18, set of parameters = index-only, lookup"
    short = forest(T, "f", [ROW], 0.02, WORDS)
    long = forest(T, "f", [replace(ROW, label=label)], 0.02, WORDS)
    assert long.spec["width"] < short.spec["width"] and long.spec["width"] > 200


def test_a_long_text_beside_many_short_columns_has_its_share_of_the_line() -> None:
    """Else it was one word wide, over many pages."""
    problem = "the other trial of its pair does not count: trial 17 was disturbed by other programs"
    short = ("17", "1", "Single-row select", "wal-fast", "PostgreSQL 15.18, 8 clients", "disturbed")
    shown = table(*short, problem, "evidence/trial-0017.1")
    found = [float(one.removesuffix("fr")) for one in widths_of(shown, 7.5).split(", ") if one]
    assert found[6] == max(found) and found[6] > sum(found) / len(found) * 1.9


def test_a_tall_drawing_is_no_higher_than_half_of_a_page() -> None:
    """Else the page before it was left two thirds empty."""
    tall = '<svg viewBox="0 0 720 800" width="720">'
    assert width_of(tall) * 800 / 720 == pytest.approx(TALLEST_DRAWING)
    low = '<svg viewBox="0 0 720 100" width="720">'
    assert width_of(low) == pytest.approx(720 * OF_PIXEL)


def test_few_rows_of_many_lines_go_on_on_the_next_page_and_none_is_parted() -> None:
    high = TypstWriter(T, {}).one(table("a\n" * 5, "b"))
    assert "breaks: true, whole: true" in high
    assert "breaks: false, whole: true" in TypstWriter(T, {}).one(table("a", "b"))
    assert "whole: false" in TypstWriter(T, {}).one(table("a " * 300, "b"))  # beyond a page


def test_an_interval_is_one_word_in_japanese() -> None:
    narrow, joined = table(*["1.01、1.03"] * 9), table(*["1.01〜1.03"] * 9)
    text = TypstWriter(T, {}).one(joined)
    assert '#box("1.01〜1.03")' in text
    assert "\N{WORD JOINER}" not in text, "it would spoil a search"
    assert content("テーブルの行") == '[#box("テーブル")#"の行"]'
    assert longest_word(joined, 0) > longest_word(narrow, 0)


def test_cells_of_two_factors_have_the_colours_of_their_verdicts() -> None:
    cell = TableCell("1.1 (1 to 1.2)\nfaster", kind="verdict heat faster")
    one = Table("t", "caption", (Column("c"),), ((cell,),))
    assert 'heat("faster", ' in TypstWriter(T, {}).one(one)


def test_a_sentence_of_a_note_stands_once_in_a_section() -> None:
    writer = TypstWriter(T, {})
    notes = ("Means of trials. Of 6 amounts.", "Means of trials. Of 7 amounts.", "Of 7 amounts.")
    shown = [writer.one(replace(table("1"), note=note)) for note in notes]
    assert "Means" in shown[0] and "Means" not in shown[1] and "Of 7 amounts." in shown[1]
    assert "note: none" in shown[2]


@pytest.mark.parametrize(
    ("word", "parts"),
    [
        ("シーケンシャルスキャン", ("シーケンシャル", "スキャン")),
        ("パーティショニング", ("パーティショニング",)),
    ],
)
def test_katakana_is_broken_between_words_alone(word: str, parts: tuple[str, ...]) -> None:
    assert content(word) == "[" + "".join(f'#box("{part}")' for part in parts) + "]"
