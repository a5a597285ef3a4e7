"""``tools/gallery``: which campaigns, in whose words, and reports without their scripts."""

from __future__ import annotations

import json
import re
from dataclasses import asdict, replace
from pathlib import Path

import pytest
from tools.gallery.campaigns import Place, alone, entry_of, finished
from tools.gallery.cut import without_scripts
from tools.gallery.page import Link, index_page

from teiten.cli.collection.state import (
    FILE,
    CollectionState,
    read_state,
    with_campaigns_of,
)
from teiten.errors import UsageError
from teiten.model.units import Seconds
from teiten.report.blocks import Statement, of_kind
from teiten.report.forms import render_html
from teiten.report.render.markdown import escape
from teiten.report.texts import texts
from teiten.report.view.report import view
from teiten.study.changes import StudyFlags
from teiten.study.collection import parsed
from tests.fixtures.invented_analysis import NASTY, invented_analysis, quick
from tests.fixtures.two_machines import write_campaign
from tests.fixtures.undrawn import PICTURE

TABLE = """\
name = "ours"
title = "Ours"
budget = "1h"
target = "1m"
[[campaigns]]
study = "observe"
servers = ["17", "18"]
set = ["duration=1s", "warmup=0s"]
[[campaigns]]
study = "checksums"
"""


@pytest.fixture
def workdir(tmp_path: Path) -> Path:
    """Campaigns of a collection, of which one has been run, and one that is of none."""
    campaigns = tmp_path / "campaigns"
    campaigns.mkdir()
    write_campaign(campaigns / "night-observe")
    write_campaign(campaigns / "other")
    state = CollectionState("night", TABLE, "ours.toml", 1.0, Seconds(60), "teiten collection run")
    (tmp_path / "collections" / "night").mkdir(parents=True)
    (tmp_path / "collections" / "night" / FILE).write_text(json.dumps(asdict(state)))
    return tmp_path


def test_without_names_the_complete_campaigns_of_the_collection_are_shown(workdir: Path) -> None:
    (place,) = finished(workdir, (), "last")
    assert place.folder == workdir / "campaigns" / "night-observe"
    assert place.alone == (
        "teiten run observe --servers 17,18 --profile standard --set duration=1s --set warmup=0s"
    )
    assert list(finished(workdir, ("other",), "last")) == [Place(workdir / "campaigns" / "other")]


def test_every_flag_of_a_campaign_is_in_its_command() -> None:
    flags = StudyFlags(servers=("16",), storage=("fast=/a b",), memory="2GiB", source="postgresql")
    assert alone("placement", flags) == (
        "teiten run placement --servers 16 --memory 2GiB --source postgresql --storage 'fast=/a b'"
    )


def test_the_answer_is_the_reports_own(tmp_path: Path) -> None:
    analysis = invented_analysis(seconds=12)
    entry = entry_of(analysis, Place(tmp_path))
    statements = of_kind(view(analysis, "en").sections[0].blocks, Statement)
    assert len(entry.answers) == len(statements) > 1
    assert entry.answers[0].endswith(statements[0].text)
    assert entry.command == analysis.command and f"{len(analysis.trials)} trials" in entry.took
    page = index_page([(entry, "pictures/a.webp")], [Link("A (HTML)", "reports/a.html")])
    assert f"> {escape(entry.answers[0])} *({len(statements) - 1} more in the report)*" in page
    assert "](pictures/a.webp)" in page and "- [A (HTML)](reports/a.html)" in page


def test_what_the_report_says_before_its_answer_stands_before_it(tmp_path: Path) -> None:
    entry = entry_of(quick(invented_analysis(seconds=2)), Place(tmp_path))
    page = index_page([(entry, "a.webp")], [])
    (notice,) = entry.notices
    assert page.index(escape(notice)) < page.index("\n> ")
    assert "## Whole reports" not in page


def test_a_campaign_of_a_collection_names_both_commands(tmp_path: Path) -> None:
    entry = entry_of(invented_analysis(seconds=2), Place(tmp_path))
    page = index_page([(replace(entry, alone="teiten run x"), "a.webp")], [])
    assert "```sh\nteiten run x\n```" in page
    assert f"As a part of `{entry.command}`" in page


def test_names_that_are_markup_stay_text_on_the_page() -> None:
    assert escape(NASTY) != NASTY
    assert not re.search(r"(?<!\\)[<>*_`]", escape(NASTY))


def test_a_report_without_scripts_shows_all_else() -> None:
    whole = render_html(invented_analysis(nasty=True, seconds=12), "en", stills=True)
    cut = without_scripts(whole)
    assert "<script" in whole and "<noscript>" in whole and "<th " in whole
    assert not re.search(r'<script|<noscript|class="theme"|<th [^>]*><button', cut)
    assert texts("en")("notice.no-script") in cut
    assert cut.count(PICTURE) == whole.count(PICTURE) > 3
    everything, left = (
        re.sub(r"<script.*?</script>|<[^>]+>|◐", "", page, flags=re.DOTALL).split()
        for page in (whole, cut)
    )
    assert everything == left


def test_a_collection_that_has_begun_takes_the_campaigns_added_to_its_file(workdir: Path) -> None:
    state = read_state(workdir / "collections", "night")
    longer = TABLE + '[[campaigns]]\nstudy = "buffers"\nservers = ["18"]\n'
    taken = with_campaigns_of(state, parsed(Path("ours.toml"), longer), workdir / "campaigns")
    called = [table.called for table in taken.collection.table.campaigns]
    assert called == ["observe", "checksums", "buffers"]


def test_a_campaign_that_has_begun_cannot_be_taken_out_of_its_file(workdir: Path) -> None:
    state = read_state(workdir / "collections", "night")
    without = TABLE.replace('study = "observe"', 'study = "cores"')
    with pytest.raises(UsageError, match="has no campaign observe"):
        with_campaigns_of(state, parsed(Path("ours.toml"), without), workdir / "campaigns")
