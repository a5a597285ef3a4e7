"""A contrast over two varied factors has a table with a cell for each combination."""

from __future__ import annotations

from dataclasses import replace

import pytest

from teiten.analysis.model.findings import ContrastResult
from teiten.model.study import Factor
from teiten.model.text import Language
from teiten.report.view.kit import Kit
from teiten.report.view.usual import tables_of_two
from tests.fixtures.invented_analysis import invented_analysis

SCALES = ("10", "200")
COLUMNS = {
    "en": ["1\xa0client", "4\xa0clients", "16\xa0clients", "64\xa0clients"],
    "ja": ["1接続", "4接続", "16接続", "64接続"],
}


def crossed(language: Language, scales: tuple[str, ...] = SCALES) -> tuple[Kit, ContrastResult]:
    """The invented contrast of the range read, at every scale; but for the last combination."""
    analysis = invented_analysis(seconds=3)
    study = analysis.plan.study
    study = replace(study, factors=(*study.factors, Factor("scale", scales)))
    analysis = replace(analysis, plan=replace(analysis.plan, study=study))
    contrast = analysis.contrasts[0]
    levels = [
        replace(level, context=(("scale", scale), *level.context))
        for scale in scales
        for level in contrast.levels
    ]
    return Kit(analysis, language), replace(contrast, levels=tuple(levels[:-1]))


@pytest.mark.parametrize(("language", "word"), [("en", "faster"), ("ja", "速い")])
def test_every_combination_has_its_ratio_interval_and_verdict(
    language: Language, word: str
) -> None:
    kit, contrast = crossed(language)
    (table,) = tables_of_two(kit, "plane", contrast)
    assert table.columns[0].title == kit.names.factor("scale")
    assert [column.title for column in table.columns[1:]] == COLUMNS[language]
    assert [row[0].text for row in table.rows] == ["10", "200"]
    assert table.rows[1][-1].text == "—"  # not planned
    for row in table.rows:
        for cell in row[1:-1]:
            said, verdict = cell.text.split("\n")
            assert word in verdict and ("（" if language == "ja" else "(") in said
            assert cell.kind == "verdict heat faster"


def test_a_campaign_without_conclusions_has_no_colour() -> None:
    kit, contrast = crossed("en")
    levels = tuple(
        replace(level, verdict=replace(level.verdict, conclusive=False))
        for level in contrast.levels
    )
    (table,) = tables_of_two(kit, "plane", replace(contrast, levels=levels))
    assert table.rows[0][1].kind == "verdict heat no-conclusion"
    assert "no conclusion" in table.rows[0][1].text


def test_one_varied_factor_has_no_such_table() -> None:
    kit, contrast = crossed("en", SCALES[:1])
    assert tables_of_two(kit, "plane", contrast) == ()


def test_what_is_not_judged_has_no_such_table() -> None:
    kit, contrast = crossed("en")
    beside = replace(contrast, metric=replace(contrast.metric, judged=False))
    assert tables_of_two(kit, "plane", beside) == ()
