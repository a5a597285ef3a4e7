"""A report in a real browser: it draws, sorts, downloads, and asks the network for nothing."""

from __future__ import annotations

import csv
import io
import time
from pathlib import Path

import pytest

from teiten.model.text import Language
from teiten.report.forms import render_html
from tests.browser.conftest import PATIENCE, Browser, Written
from tests.fixtures.invented_analysis import NASTY, invented_analysis
from tests.fixtures.undrawn import drawn

pytestmark = pytest.mark.browser

UNDRAWN = """
return [...document.querySelectorAll('[data-chart]')].filter(figure => {
  const marks = figure.querySelectorAll(
    'svg .role-mark path, svg .role-mark rect, svg .role-mark line, svg .role-mark text');
  return marks.length === 0 && !figure.querySelector('canvas');
}).map(figure => figure.dataset.chart)
"""
COLOURS = """
const text = document.querySelector('#chart-forest-1 svg .role-axis-label text');
return [getComputedStyle(document.body).backgroundColor, getComputedStyle(text).fill]
"""
GREYS_ON_CANVASES = """
return [...document.querySelectorAll('[data-drawn="canvas"] canvas')].map(canvas => {
  const {data} = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height);
  const greys = [];
  for (let at = 0; at < data.length; at += 4) {
    const [red, green, blue, opacity] = data.slice(at, at + 4);
    if (opacity > 200 && Math.max(red, green, blue) - Math.min(red, green, blue) < 20)
      greys.push(red);
  }
  return greys.length ? greys.reduce((sum, one) => sum + one) / greys.length : null;
})
"""
"""The mean brightness of text and lines."""


PICTURES = """
const page = document.querySelector(`.page:lang(${arguments[0]})`);
return [...page.querySelectorAll('[data-chart]')].map(figure => {
  const picture = figure.querySelector('svg, img');
  const width = picture ? picture.getBoundingClientRect().width : 0;
  const plot = figure.querySelector('.plot');
  const {left, right} = plot.getBoundingClientRect();
  const cut = [...plot.querySelectorAll('text')].some(text => {
    const box = text.getBoundingClientRect();
    return box.left < left || box.right > right || getComputedStyle(picture).overflow !== 'visible';
  });
  return [figure.dataset.chart, width, cut || plot.scrollWidth > plot.clientWidth];
})
"""
"""Of each chart of a language its name, the width of its picture, and whether a part of that is
out of sight."""


def brightness(colour: str) -> float:
    numbers = colour[colour.index("(") + 1 : -1].split(",")[:3]
    return sum(float(number) for number in numbers) / 3


def test_text_of_a_chart_of_many_marks_is_readable_on_dark(
    browser: Browser, written: Written
) -> None:
    browser.open(written("probes", "en"), theme="dark")
    greys = browser.run(GREYS_ON_CANVASES)
    assert greys and all(grey > 150 for grey in greys)


@pytest.mark.parametrize(("language", "theme"), [("en", "light"), ("ja", "dark")])
def test_every_chart_is_drawn_without_errors_or_requests(
    browser: Browser, written: Written, language: Language, theme: str
) -> None:
    browser.open(written("long", language), theme=theme)
    assert browser.run("return document.querySelectorAll('[data-chart]').length") >= 20
    assert browser.run(UNDRAWN) == []
    assert browser.messages() == []
    assert browser.requests() == []
    assert browser.run("return document.documentElement.lang") == language
    paper, ink = browser.run(COLOURS)
    assert (brightness(paper) > brightness(ink)) == (theme == "light")


def test_names_that_are_markup_are_shown_as_text_everywhere(
    browser: Browser, written: Written
) -> None:
    browser.open(written("nasty", "en"))
    browser.run("window.alert = () => { document.title = 'broken'; }")
    assert browser.run("return document.body.innerText").count(NASTY) > 3
    header = "return document.querySelector('#chart-design svg').textContent"
    assert NASTY in browser.run(header)
    hover = """
    const mark = document.querySelectorAll('#chart-design svg .role-mark path')[0];
    const box = mark.getBoundingClientRect();
    for (const type of ['pointerover', 'pointermove', 'mouseover', 'mousemove']) {
      mark.dispatchEvent(new MouseEvent(type, {bubbles: true, clientX: box.x + 2,
        clientY: box.y + 2}));
    }
    """
    browser.run("document.querySelector('#chart-design').scrollIntoView()")
    browser.run(hover)
    assert browser.run("return document.querySelector('.vg-tooltip, #vg-tooltip-element') !== null")
    assert browser.run("return document.title") != "broken"
    assert browser.messages() == []


def column(browser: Browser, table: str, index: int) -> list[str]:
    found: list[str] = browser.run(
        "return [...document.querySelectorAll(`#${arguments[0]} tbody tr`)]"
        ".map(row => row.cells[arguments[1]].textContent)",
        table,
        index,
    )
    return found


def click_header(browser: Browser, table: str, index: int) -> str:
    state: str = browser.run(
        "const head = document.querySelectorAll(`#${arguments[0]} thead th`)[arguments[1]];"
        "head.querySelector('button').click(); return head.getAttribute('aria-sort')",
        table,
        index,
    )
    return state


def test_tables_sort_by_number_and_by_text(browser: Browser, written: Written) -> None:
    browser.open(written("short", "en"))
    titles = browser.run(
        "return [...document.querySelectorAll('#trials thead th')].map(head => head.textContent)"
    )
    tps, outcome = titles.index("TPS"), titles.index("outcome")
    assert click_header(browser, "trials", tps) == "ascending"
    numbers = [float(text.replace(",", "")) for text in column(browser, "trials", tps)]
    assert numbers == sorted(numbers)
    assert click_header(browser, "trials", tps) == "descending"
    numbers = [float(text.replace(",", "")) for text in column(browser, "trials", tps)]
    assert numbers == sorted(numbers, reverse=True)
    assert click_header(browser, "trials", outcome) == "ascending"
    assert column(browser, "trials", outcome)[-2:] == ["disturbed", "failed"]
    last = "return document.querySelector('#workload-1-contrast-1 tfoot').innerText"
    assert "all levels" in browser.run(last)


def test_the_reader_chooses_which_series_to_see(browser: Browser, written: Written) -> None:
    browser.open(written("long", "en"))
    figure = "#chart-workload-1-series"
    axis = f"return document.querySelector('{figure} svg').textContent"
    assert "TPS" in browser.run(axis)
    choose = """
    const select = document.querySelector(arguments[0] + ' select[name=metric]');
    select.value = '1';
    select.dispatchEvent(new Event('change', {bubbles: true}));
    """
    browser.run(choose, figure)
    deadline = time.monotonic() + PATIENCE
    while "mean latency, ms" not in browser.run(axis) and time.monotonic() < deadline:
        time.sleep(0.1)
    assert "mean latency, ms" in browser.run(axis)
    panels = f"return document.querySelectorAll('{figure} svg .mark-line path').length"
    assert browser.run(panels) >= 10
    assert browser.messages() == []


def test_the_csv_is_made_in_the_page(browser: Browser, written: Written) -> None:
    trials = invented_analysis(seconds=2).trials
    browser.open(written("short", "en"))
    text = browser.run("return asCsv(embedded('trials.csv'))")
    rows = list(csv.DictReader(io.StringIO(text)))
    assert len(rows) == len(trials)
    assert float(rows[0]["tps"]) == pytest.approx(trials[0].metrics["tps"], rel=1e-15)
    assert browser.run("return asCsv({a: ['=1+1', '-x', 'b,\"c']})") == (
        'a\r\n\'=1+1\r\n\'-x\r\n"b,""c"\r\n'
    )
    browser.run("document.querySelector('[data-download=\"trials.csv\"]').click()")
    target = browser.downloads / "trials.csv"
    deadline = time.monotonic() + PATIENCE
    while not target.exists() and time.monotonic() < deadline:
        time.sleep(0.1)
    assert target.read_bytes().decode("utf-8-sig") == text
    assert browser.requests() == []


def test_an_empty_campaign_opens(browser: Browser, written: Written) -> None:
    browser.open(written("empty", "ja"))
    assert browser.run(UNDRAWN) == []
    assert browser.messages() == []


@pytest.mark.parametrize("width", [390, 800, 1600])
def test_the_page_never_scrolls_sideways(browser: Browser, written: Written, width: int) -> None:
    browser.open(written("nasty", "en"), width=width)
    assert browser.run("return document.documentElement.scrollWidth") <= width


@pytest.fixture(scope="module")
def with_pictures(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A report in both languages with pictures for readers without scripts."""
    page = tmp_path_factory.mktemp("pictures") / "report.html"
    with drawn():
        made = render_html(invented_analysis(seconds=2), "en", "ja", stills=True)
    page.write_text(made, encoding="utf-8")
    return page


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_without_scripts_every_chart_is_a_picture(
    browser: Browser, with_pictures: Path, theme: str
) -> None:
    with browser.without_scripts():
        browser.show(with_pictures, theme=theme, width=400)
        for language in ("en", "ja"):
            browser.run(
                "document.querySelector(`label[for=show-${arguments[0]}]`)?.click()", language
            )
            pictures = browser.run(PICTURES, language)
            assert len(pictures) >= 20
            assert [name for name, width, _ in pictures if width < 100] == []
            assert browser.run("return document.documentElement.scrollWidth") <= 400
        browser.show(with_pictures, theme=theme)
        assert [name for name, _, cut in browser.run(PICTURES, "en") if cut] == []
        assert browser.requests() == []


def test_the_theme_can_be_switched(browser: Browser, written: Written) -> None:
    browser.open(written("short", "en"))
    before, _ = browser.run(COLOURS)
    browser.run("document.querySelector('.theme').click()")
    after, ink = browser.run(COLOURS)
    assert brightness(before) > 200 > 60 > brightness(after)
    assert brightness(ink) > 150, "charts follow"
