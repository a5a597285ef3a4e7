"""The Markdown report: every link leads to a file, and nothing of a name is markup."""

from __future__ import annotations

import csv
import io
import re

import pytest

from teiten.report.forms import render_markdown
from teiten.report.render.markdown import code_block, escape
from tests.fixtures.invented_analysis import NASTY, invented_analysis
from tests.fixtures.undrawn import drawn


@pytest.fixture(scope="module")
def files() -> dict[str, bytes]:
    with drawn():
        return render_markdown(invented_analysis(nasty=True, seconds=5), "en")


def test_every_link_leads_to_a_file(files: dict[str, bytes]) -> None:
    text = files["report.md"].decode()
    links = set(re.findall(r"\]\(([^)]+)\)", text))
    assert links == set(files) - {"report.md"}
    assert len(links) > 15


def test_charts_are_pictures_that_show_labels_as_text(files: dict[str, bytes]) -> None:
    charts = {name: data.decode() for name, data in files.items() if name.endswith(".svg")}
    assert all(text.startswith("<svg") for text in charts.values())
    assert not any("<script" in text for text in charts.values())
    assert "&lt;script&gt;" in charts["charts/design.svg"]


def test_names_are_escaped(files: dict[str, bytes]) -> None:
    text = files["report.md"].decode()
    assert NASTY not in text
    assert r"\<script\>alert(1)\</script\>" in text
    assert escape("a|b *c* _d_ `e` [f](g) <h> &lt;\ni") == (
        r"a\|b \*c\* \_d\_ \`e\` \[f\](g) \<h\> &amp;lt;<br>i"
    )


def test_a_fence_is_longer_than_any_inside() -> None:
    assert code_block("```\nx\n````", "sql") == "`````sql\n```\nx\n````\n`````"


def test_data_are_unrounded(files: dict[str, bytes]) -> None:
    rows = list(csv.DictReader(io.StringIO(files["data/trials.csv"].decode())))
    analysis = invented_analysis(nasty=True, seconds=5)
    assert len(rows) == len(analysis.trials)
    assert float(rows[0]["tps"]) == analysis.trials[0].metrics["tps"]
