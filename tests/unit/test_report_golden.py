"""The whole text of a report in both languages, against golden files.

``pytest --update-golden`` writes them anew; read the difference before committing it.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from teiten.model.text import Language
from teiten.report.render.markdown import markdown_text
from teiten.report.view.report import view
from tests.fixtures.invented_analysis import invented_analysis
from tests.fixtures.invented_queries import Invented, invented_queries

GOLDEN = Path(__file__).parent.parent / "golden" / "report"
LANGUAGES: tuple[Language, ...] = ("en", "ja")


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_text_is_the_golden_one(language: Language, request: pytest.FixtureRequest) -> None:
    text = markdown_text(view(invented_analysis(seconds=3), language), "0.1.0")
    compare(text, f"report.{language}.md", request)


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_text_about_queries_is_the_golden_one(
    language: Language, request: pytest.FixtureRequest
) -> None:
    over: dict[tuple[str, str], float | None] = {
        **Invented().seconds,
        ("q2.1", "monthly"): None,
    }
    text = markdown_text(view(invented_queries(Invented(seconds=over)), language), "0.1.0")
    compare(text, f"queries.{language}.md", request)


def compare(text: str, name: str, request: pytest.FixtureRequest) -> None:
    golden = GOLDEN / name
    if request.config.getoption("--update-golden"):
        golden.write_text(text, encoding="utf-8")
    assert text == golden.read_text(encoding="utf-8")
