"""Both languages in one file; pictures without scripts; links to what is beside the page."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

import pytest

from teiten.cli.reports import way_to_campaign
from teiten.report.forms import render_html
from teiten.report.render import pictures
from teiten.report.render.pictures import still
from teiten.report.view.report import view
from tests.fixtures.invented_analysis import invented_analysis
from tests.fixtures.shown import part
from tests.fixtures.undrawn import drawn

ANALYSIS = invented_analysis(seconds=2)


class Elements(HTMLParser):
    """Ids, headings of the first level, and links."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.ids: list[str] = []
        self.count: Counter[str] = Counter()
        self.links: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        known = dict(attributes)
        self.count[tag] += 1
        self.ids += [known["id"] or ""] if "id" in known else []
        self.links += [known["href"] or ""] if tag == "a" and "href" in known else []


@pytest.fixture(scope="module")
def both() -> str:
    return render_html(ANALYSIS, "en", "ja")


def test_both_languages_are_whole_and_apart(both: str) -> None:
    found = Elements(both)
    assert not [name for name, count in Counter(found.ids).items() if count > 1]
    assert found.count["h1"] == 2, "one for each language, of which one is shown"
    inner = {link.removeprefix("#") for link in found.links if link.startswith("#")}
    assert inner and inner <= set(found.ids)
    assert re.search(r'<input[^>]*id="show-en"[^>]*checked', both)
    assert 'for="show-ja"' in both and 'for="show-en"' in both
    assert both.count('id="data-trials.csv"') == 1, "numbers are the same in both"


def test_one_language_has_no_switch() -> None:
    page = render_html(ANALYSIS, "ja")
    assert 'type="radio"' not in page and page.count("<h1") == 1
    assert '<html lang="ja">' in page


def test_both_are_smaller_than_two_files(both: str) -> None:
    alone = [len(render_html(ANALYSIS, one)) for one in ("en", "ja")]
    assert max(alone) < len(both) < sum(alone)


def test_a_chart_has_a_picture_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    chart = part(view(ANALYSIS, "en"), "answer").charts[0]
    marks = len(next(iter(chart.rows.values())))
    monkeypatch.setattr(pictures, "MOST_MARKS", marks)
    with drawn():
        picture = str(still(chart))
    assert picture.startswith("<svg") and "currentColor" in picture
    assert not re.search(r'\bid="(?!forest-1-)', picture), "names are the page's"
    monkeypatch.setattr(pictures, "MOST_MARKS", marks - 1)
    assert str(still(chart)).startswith('<img alt="" src="data:image/png;base64,')


def test_a_picture_beside_a_text_is_drawn_as_wide_as_its_place() -> None:
    """One that the page made smaller would have smaller letters too."""
    chart = part(view(ANALYSIS, "en"), "answer").charts[0]

    def width(room: int) -> float:
        with drawn():
            size = re.search(r'width="([\d.]+)"', str(still(chart, room)))
        assert size is not None
        return float(size[1])

    assert width(pictures.BESIDE) < width(pictures.WIDEST)
    assert width(pictures.BESIDE) < 500


def test_trials_link_to_their_files_where_these_areway_to_campaign() -> None:
    trial = replace(ANALYSIS.trials[0], evidence=(("log", "evidence/trial-0001.1/a b.log"),))
    analysis = replace(ANALYSIS, trials=(trial, *ANALYSIS.trials[1:]))
    linked = Elements(render_html(analysis, "en", beside=".."))
    assert "../evidence/trial-0001.1/a%20b.log" in linked.links
    assert all(link.startswith("#") for link in Elements(render_html(analysis, "en")).links)


def test_beside_is_inside_of_the_campaign(tmp_path: Path) -> None:
    assert way_to_campaign(tmp_path / "one", tmp_path / "one" / "report") == ".."
    assert way_to_campaign(tmp_path / "one", tmp_path) == ""
