"""Flame graphs in a real browser: zoom, search, both themes, no request."""

from __future__ import annotations

import pytest

from teiten.model.text import Language
from tests.browser.conftest import Browser, Written
from tests.fixtures.invented_profiles import DEARER

pytestmark = pytest.mark.browser

FIGURE = "document.querySelector('.flame')"
SHOWN = f"""
return [...{FIGURE}.querySelectorAll('svg.frame')].filter(frame => frame.style.display !== 'none')
  .map(frame => frame.dataset.name)
"""
WIDTH = """
const plot = arguments[0].querySelector('.flame-graph').getBoundingClientRect().width;
const frame = [...arguments[0].querySelectorAll('svg.frame')].find(one =>
  one.dataset.name === arguments[1]);
return frame.querySelector('rect').getBoundingClientRect().width / plot
"""
COLOURS = f"""
const frame = {FIGURE}.querySelector('[data-name={DEARER}]');
return [getComputedStyle(frame.querySelector('text')).fill, getComputedStyle(document.body).color]
"""


def width_of(browser: Browser, name: str) -> float:
    figure = browser.run(f"return {FIGURE}")
    width: float = browser.run(WIDTH, figure, name)
    return width


@pytest.mark.parametrize(("language", "theme"), [("en", "light"), ("ja", "dark")])
def test_a_click_zooms_and_the_button_goes_back(
    browser: Browser, written: Written, language: Language, theme: str
) -> None:
    browser.open(written("short", language), theme=theme)
    text, ink = browser.run(COLOURS)
    assert text == ink, "it can be read in either theme"
    everything = browser.run(SHOWN)
    assert DEARER in everything and "standard_planner" in everything
    before = width_of(browser, "index_fetch_heap")
    click = (
        f"{FIGURE}.querySelector('[data-name=index_fetch_heap]').dispatchEvent(new Event('click'))"
    )
    browser.run(click)
    zoomed = browser.run(SHOWN)
    assert DEARER in zoomed and "main" in zoomed, "what it calls and who calls it stay"
    assert "standard_planner" not in zoomed
    assert before < 0.7 and width_of(browser, "index_fetch_heap") == pytest.approx(1, abs=0.01)
    button = f"{FIGURE}.querySelector('.flame-tools button')"
    assert browser.run(f"return {button}.hidden") is False
    browser.run(f"{button}.click()")
    assert browser.run(SHOWN) == everything
    assert width_of(browser, "index_fetch_heap") == pytest.approx(before, abs=0.001)
    assert browser.messages() == []
    assert browser.requests() == []


def test_a_search_marks_functions_and_adds_up_their_width(
    browser: Browser, written: Written
) -> None:
    browser.open(written("short", "en"))
    search = f"""
    const field = {FIGURE}.querySelector('input');
    field.value = 'INDEX_fetch';
    field.dispatchEvent(new Event('input'));
    return [{FIGURE}.querySelectorAll('.found').length,
            {FIGURE}.querySelector('output').textContent]
    """
    count, said = browser.run(search)
    assert count == 1
    share = width_of(browser, "index_fetch_heap") * 100
    assert float(said.partition(" ")[0]) == pytest.approx(share, abs=0.2)
    browser.run(search.replace("INDEX_fetch", ""))
    assert browser.run(f"return {FIGURE}.querySelectorAll('.found').length") == 0
