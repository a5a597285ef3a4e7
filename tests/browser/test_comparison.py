"""The pages of compare and history in a real browser: drawn, quiet, and asking for nothing."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from teiten.analysis.across.comparison import compare
from teiten.analysis.across.history import history
from teiten.analysis.model.history import Axis
from teiten.model.text import Language
from teiten.report.forms import comparison_html, history_html
from tests.browser.conftest import Browser
from tests.browser.test_report import UNDRAWN
from tests.fixtures.invented_analysis import NASTY
from tests.fixtures.synthetic import START
from tests.fixtures.two_machines import DAY, OTHER, campaign, times

pytestmark = pytest.mark.browser


def compared(language: Language) -> str:
    one = replace(campaign("a"), name=NASTY)
    return comparison_html(compare(one, campaign("b", facts=OTHER, speed=times(0.8))), language)


def lines(language: Language) -> str:
    nights = [
        (
            f"/{night}",
            campaign(
                f"night-{night}",
                speed=times(0.8 if night > 3 else 1.0),
                seed=night,
                created_at=START + night * DAY,
            ),
        )
        for night in range(8)
    ]
    return history_html(history(nights, Axis.DATE), language)


@pytest.mark.parametrize(("language", "theme"), [("en", "light"), ("ja", "dark")])
@pytest.mark.parametrize("page", [compared, lines])
def test_the_page_is_drawn_without_errors_or_requests(
    browser: Browser,
    tmp_path: Path,
    page: Callable[[Language], str],
    language: Language,
    theme: str,
) -> None:
    path = tmp_path / "page.html"
    path.write_text(page(language), encoding="utf-8")
    browser.open(path, theme=theme)
    assert browser.run(UNDRAWN) == []
    assert browser.messages() == []
    assert browser.requests() == []
    assert browser.run("return document.documentElement.scrollWidth <= window.innerWidth")
