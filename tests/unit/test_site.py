"""``teiten site``: pages of many campaigns, made anew only where something changed."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path
from xml.etree import ElementTree

import pytest
from click.testing import CliRunner, Result

from teiten.analysis.across.history import history, steps_of
from teiten.analysis.model.findings import CampaignAnalysis
from teiten.analysis.model.history import Axis, HistoryLine
from teiten.cli.main import teiten
from teiten.cli.site.output import BEGUN, MANIFEST, Output
from teiten.errors import UsageError
from teiten.model.text import Bilingual, Language
from teiten.report.history.points import line_id
from teiten.report.site.entry import EntryVerdict, SiteEntry, entry_of
from teiten.report.site.render import (
    ATOM,
    PLACE,
    CampaignSite,
    ComparedPair,
    SiteLinks,
    feed,
    index_html,
    study_name,
    with_way,
)
from tests.fixtures.schemas import described
from tests.fixtures.synthetic import START
from tests.fixtures.two_machines import DAY, OTHER, campaign, plan_of, times, write_campaign

REPORTS = ("report.en.html", "report.ja.html")
SERVERS = tuple(Bilingual(f"{name} ({name}.4)", f"{name}（{name}.4）") for name in ("17", "18"))


def with_reports(folder: Path) -> Path:
    (folder / "report").mkdir()
    for name in REPORTS:
        (folder / "report" / name).write_text(report_of(folder.name, name), encoding="utf-8")
    return folder


def report_of(folder: str, name: str) -> str:
    return f"<header></header>\n<main>\n<p>{name} of {folder}</p>\n</main>"


def way_of(page: Path) -> list[str]:
    """The addresses to which a page of a site leads before its content."""
    head = page.read_text(encoding="utf-8").partition("<main>")[0]
    return Links(head.partition('<nav class="way"')[2]).found


@pytest.fixture(scope="module")
def campaigns(module_folder: Path) -> Path:
    """Six nights of one machine, slower from the fourth on, and one night of another machine."""
    root = module_folder / "campaigns"
    root.mkdir()
    for night in range(6):
        speed = times(0.7 if night >= 3 else 1.0)
        folder = root / f"night-{night}"
        at = START + night * DAY
        with_reports(write_campaign(folder, speed=speed, seed=night + 1, created_at=at))
    write_campaign(root / "elsewhere", facts=OTHER, created_at=START + 9 * DAY)
    (root / "broken.sqlite").write_text("no ledger")
    return root


def run(workdir: Path, *arguments: str | Path) -> Result:
    words = ["--workdir", str(workdir), "site", *map(str, arguments)]
    return CliRunner().invoke(teiten, words, catch_exceptions=True)


class Links(HTMLParser):
    def __init__(self, text: str) -> None:
        super().__init__()
        self.found: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found += [value or "" for name, value in attrs if name in ("href", "src")]


def test_a_site_is_whole_and_a_second_call_writes_only_what_changed(
    campaigns: Path, tmp_path: Path
) -> None:
    out = tmp_path / "out"
    first = run(tmp_path, campaigns, "--to", out, "--title", "Ours <&>", "--json")
    assert first.exit_code == 0, first.output
    said = described("site", first.stdout)
    assert len(said["campaigns"]) == 7
    assert said["comparisons"] == 6  # of two machines, and of five nights with the one before
    assert said["lines"] == 8 and said["changes"] == 4  # two workloads on two servers each
    assert [one["ledger"] for one in said["left_out"]] == ["campaigns/broken.sqlite"]
    index = (out / "index.html").read_text(encoding="utf-8")
    assert "Ours &lt;&amp;&gt;" in index and "Ours <" not in index
    for page in ("index.html", "index.ja.html"):
        links = [
            link.partition("#")[0] for link in Links((out / page).read_text(encoding="utf-8")).found
        ]
        files = [link for link in links if link and not link.startswith("data:")]
        assert len(files) >= 11 and all((out / file).is_file() for file in files)
    folders = [one["folder"] for one in said["campaigns"]]
    assert all((out / folder / name).is_file() for folder in folders for name in REPORTS)
    night = next(folder for folder in folders if "night-0" in folder)
    assert "report.en.html of night-0" in (out / night / "report.en.html").read_text()
    elsewhere = next(folder for folder in folders if "elsewhere" in folder)
    made = [out / elsewhere / "report.en.html", *(out / "compared").glob("*.html")]
    for page in made:  # with pictures for readers without scripts
        plots = page.read_text(encoding="utf-8").split('class="plot"')[1:]
        assert plots and all("<svg" in plot.partition("</figure>")[0] for plot in plots)
    ways = [
        out / night / "report.ja.html",
        out / next(folder for folder in folders if "night-5" in folder) / "report.ja.html",
        out / elsewhere / "report.en.html",
        out / "history.en.html",
        next((out / "compared").glob("*.ja.html")),
    ]
    for page in ways:
        leads = [one for one in way_of(page) if one]
        of_series = sum("compared/" in one for one in leads)
        assert of_series == ("night-5" in str(page))
        assert len(leads) == (3 if "campaigns" in page.parts else 2) + of_series
        for lead in leads:
            file, _, place = lead.partition("#")
            assert (page.parent / file).is_file(), lead
            assert f'id="{place}"' in (page.parent / file).read_text() or not place
    assert any("#line-of-" in one for one in way_of(ways[0]))
    points = Links((out / "history.ja.html").read_text(encoding="utf-8")).found
    assert f"{night}/report.ja.html" in points  # from a point to its evidence
    own = (campaigns / "night-0" / "report" / "report.ja.html").read_text(encoding="utf-8")
    assert own == report_of("night-0", "report.ja.html")  # only the site's copy leads anywhere
    assert "Teiten" in (out / elsewhere / "report.ja.html").read_text()  # made, as it had none
    published = [path for path in out.rglob("*") if path.is_file()]
    assert not any(str(tmp_path).encode() in one.read_bytes() for one in published)
    assert not any(str(campaigns.parent).encode() in one.read_bytes() for one in published)
    again = run(tmp_path, campaigns, "--to", out, "--title", "Ours <&>", "--json")
    assert json.loads(again.stdout)["written"] == 0
    (campaigns / "night-0" / "report" / "report.en.html").write_text("<p>remarks</p>")
    changed = json.loads(
        run(tmp_path, campaigns, "--to", out, "--title", "Ours <&>", "--json").stdout
    )
    assert changed["written"] == 1
    assert (out / night / "report.en.html").read_text() == "<p>remarks</p>"
    fewer = run(tmp_path, campaigns / "night-1", "--to", out, "--json")
    assert json.loads(fewer.stdout)["removed"] > 10
    assert not (out / night).exists() and (out / MANIFEST).is_file()


def test_without_scripts_the_index_leads_to_a_page_for_each_study() -> None:
    entry = SiteEntry(
        "night-1", START, True, "ab", Bilingual("A & B", "AとB"), "quick", SERVERS[1:], "m",
        Bilingual("2 cores", "2コア"), "q", (), (),
    )  # fmt: skip
    others = (replace(entry, campaign="night-2", study="own study/x"), entry)
    site = CampaignSite(None, others)
    index = index_html(site, "en")
    name = study_name("own study/x", "en")
    assert name.startswith("study-own-study-x-") and name != study_name("own study-x", "en")
    studies = index.partition("<tbody>")[2].partition("</table>")[0]
    assert Links(studies).found == [name, "study-ab.en.html"]
    assert "night-2" in index and "night-1" in index
    page = index_html(site, "ja", "ab")
    assert "night-1" in page and "night-2" not in page and "own study/x" not in page
    assert {"index.ja.html", "study-ab.en.html"} <= set(Links(page).found)
    assert "study-ab" not in index_html(CampaignSite(None, (entry,)), "en")


def test_what_is_of_all_campaigns_is_on_the_index_alone_in_its_language() -> None:
    entry = SiteEntry(
        "night-1", START, True, "ab", Bilingual("A", "A"), "quick", SERVERS, "m",
        Bilingual("2 cores", "2コア"), "q", (), (),
    )  # fmt: skip
    pair = ComparedPair(Bilingual("a (2 cores)", "a(2コア)"), "compared/1")
    entries = (entry, replace(entry, study="other"))
    missing = (("broken", "no ledger"),)
    site = CampaignSite(None, entries, compared=(pair,), left_out=missing)
    index = index_html(site, "ja")
    assert "a(2コア)" in index and "a (2 cores)" not in index and "broken" in index
    page = index_html(site, "ja", "ab")
    assert "compared" not in page.partition("<main>")[2] and "broken" not in page
    assert '<span class="server">17（17.4）、</span><span class="server">18（18.4）</span>' in page


@pytest.mark.parametrize(("count", "folded"), [(2, None), (13, "and 11 more")])
def test_two_verdicts_of_a_campaign_stand_open_and_the_rest_is_folded(
    count: int, folded: str | None
) -> None:
    kinds = ["equivalent"] * (count - 1) + ["slower"]
    verdicts = tuple(
        EntryVerdict(kind, Bilingual("word", "語"), Bilingual(f"Level {at}.", f"水準{at}。"))
        for at, kind in enumerate(kinds)
    )
    entry = SiteEntry(
        "levels", START, True, "ab", Bilingual("A", "A"), "quick", SERVERS[1:], "m",
        Bilingual("2 cores", "2コア"), "q", verdicts, (),
    )  # fmt: skip
    page = index_html(CampaignSite(None, (entry,)), "en")
    opened, details, inside = page.rpartition("<tbody>")[2].partition("<details>")
    assert opened.count("Level ") == 2
    assert bool(details) == bool(folded)
    assert inside.count("Level ") == count - 2
    assert f"<summary>{folded}</summary>" in inside or folded is None
    assert 'data-verdict="equivalent\nslower"' in page  # the filter finds what is folded
    if folded:
        assert "<summary>ほか11件</summary>" in index_html(CampaignSite(None, (entry,)), "ja")


def site_of(analyses: Sequence[CampaignAnalysis]) -> CampaignSite:
    entries = tuple(entry_of(one, one.name) for one in analyses)
    laid = history(((one.name, one) for one in analyses), Axis.DATE)
    return CampaignSite(None, entries, laid, steps_of(laid.lines))


def nights(*speeds: float) -> list[CampaignAnalysis]:
    """The newest first, as a site has them."""
    return [
        campaign(f"night-{at}", speed=times(speed), seed=at + 1, created_at=START + at * DAY)
        for at, speed in enumerate(speeds)
    ][::-1]


@pytest.mark.parametrize(
    ("speeds", "english", "japanese"),
    [
        ((1, 1, 1, 0.7, 0.7, 0.7), "Slower by ", "遅くなった"),
        ((1, 1, 1, 1, 1), "No change found in 5 campaigns", "変化点は見つからなかった"),
        ((1, 0.7), "Since night-0", "前回の検証night-0"),
        ((1,), "There is one campaign of each line so far.", "検証は1件しかない"),
    ],
)
def test_a_study_in_the_index_has_its_last_change_and_a_line_of_two_campaigns(
    speeds: tuple[float, ...], english: str, japanese: str
) -> None:
    site = site_of(nights(*speeds))
    wordings: tuple[tuple[Language, str], ...] = (("en", english), ("ja", japanese))
    for language, words in wordings:
        row = index_html(site, language).partition("<tbody>")[2].partition("</table>")[0]
        assert words in row
        drawing = row.partition("<svg")[2].partition("</svg>")[0]
        assert bool(drawing) == (len(speeds) > 1)
        if drawing:
            parsed = ElementTree.fromstring(f"<svg{drawing}</svg>")
            label = parsed.get("aria-label", "")
            assert parsed.get("role") == "img" and parsed.findtext("title") == label
            assert f"{len(speeds)}" in label and len(parsed.findall("circle")) == len(speeds)
            assert len([one for one in parsed if one.get("class") == "change"]) == (
                0.7 in speeds[2:]
            )
            (place,) = [one for one in Links(row).found if "history" in one]
            assert place == f"history.{language}.html#{line_id(shown_line(site))}"


def shown_line(site: CampaignSite) -> HistoryLine:
    changed = [line for line in site.history.lines if line.changes]
    return (changed or list(site.history.lines))[0]


def test_an_index_without_a_second_campaign_leads_to_no_history() -> None:
    assert "history.en.html" not in index_html(site_of(nights(1)), "en")
    assert "history.en.html" in index_html(site_of(nights(1, 1)), "en")


def test_a_campaign_leads_from_the_index_to_the_comparison_with_the_one_before_it() -> None:
    site = site_of(nights(1, 1))
    slug = site.entries[0].slug
    pair = ComparedPair(Bilingual("night-0", "night-0"), "compared/1")
    page = index_html(replace(site, beside={slug: pair}), "ja")
    assert '<a href="compared/1.ja.html">night-0との比較</a>' in page
    assert "compared" not in index_html(site, "ja").partition("<main>")[2]


def test_a_page_that_is_not_ours_is_left_as_it_is() -> None:
    way = SiteLinks("ja", "campaigns/a/report", "line-of-1")
    assert with_way(b"<p>theirs</p>", way) == b"<p>theirs</p>"
    since = replace(way, since="Since <then>", beside="compared/2")
    assert "Since &lt;then&gt;</p>\n<main>" in with_way(PLACE, since).decode()
    assert "../../compared/2.ja.html" in Links(since.html()).found
    ours = with_way(PLACE, way).decode()
    assert "<p" not in ours
    assert Links(ours).found == [
        "../../index.ja.html",
        "../../history.ja.html#line-of-1",
        "report.en.html",
    ]


def test_the_feed_is_atom_with_stable_ids_and_absolute_links_on_demand(
    campaigns: Path, tmp_path: Path
) -> None:
    ids = []
    for at, url in enumerate(("", "https://example.org/pg/")):
        out = tmp_path / f"out-{at}"
        words = ("--url", url) if url else ()
        assert run(tmp_path, campaigns / "night-1", "--to", out, *words).exit_code == 0
        feed = ElementTree.parse(out / "feed.ja.xml").getroot()
        assert feed.tag == f"{{{ATOM}}}feed"
        for name in ("id", "title", "updated", "author"):
            assert feed.find(f"{{{ATOM}}}{name}") is not None
        (entry,) = feed.findall(f"{{{ATOM}}}entry")
        ids.append(entry.findtext(f"{{{ATOM}}}id"))
        assert (entry.findtext(f"{{{ATOM}}}summary") or "").endswith("。")
        link = entry.find(f"{{{ATOM}}}link")
        assert link is not None and link.get("href", "").startswith(f"{url}campaigns/night-1-")
    assert ids[0] == ids[1]


def test_entries_of_the_feed_begin_with_the_notices_of_the_report() -> None:
    plan = plan_of()
    quick = replace(plan, study=replace(plan.study, conclusive=False))
    entry = entry_of(campaign("quick", plan=quick), "/q")
    assert entry.notices
    root = ElementTree.fromstring(feed(CampaignSite(None, (entry,)), "ja", None))
    summary = root.findtext(f"{{{ATOM}}}entry/{{{ATOM}}}summary") or ""
    assert summary.startswith(entry.notices[0].ja)


@pytest.mark.parametrize("character", ["\x1b", "\ufffe", "\ud800"])
def test_a_feed_holds_no_character_that_xml_may_not(character: str) -> None:
    site = CampaignSite(f"before{character}after", ())
    root = ElementTree.fromstring(feed(site, "en", None))
    assert root.findtext(f"{{{ATOM}}}title") == "before\ufffdafter"


def test_a_call_that_was_killed_leaves_a_folder_that_the_next_one_takes(tmp_path: Path) -> None:
    """The first call, and one that had further files to write; a file of somebody else stays."""
    out = tmp_path / "out"
    killed = Output(out)
    killed.write("index.html", "a", b"one")
    half = out / ".teiten-999999999-0123abcd"  # of a process that has ended
    half.write_text("half")
    os.utime(half, (0, 0))
    with (out / BEGUN).open("a") as begun:
        begun.write("left.html\nown.ht")  # the last line was not written to its end
    (out / "own.ht").write_text("mine")
    again = Output(out)
    assert not again.has("index.html", "a")
    again.write("index.html", "a", b"two")
    again.finish()
    assert {path.name for path in out.iterdir()} == {"index.html", MANIFEST, "own.ht"}
    Output(out).write("new.html", "b", b"one")
    last = Output(out)
    assert last.has("index.html", "a")
    last.write("new.html", "b", b"two")
    last.finish()
    assert (out / "new.html").read_bytes() == b"two"
    assert {path.name for path in out.iterdir()} == {"index.html", "new.html", MANIFEST, "own.ht"}


def test_a_folder_of_others_is_left_alone(campaigns: Path, tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.mkdir()
    (other / "index.html").write_text("mine")
    refused = run(tmp_path, campaigns / "night-1", "--to", other)
    assert isinstance(refused.exception, UsageError)
    assert "holds other things" in refused.exception.message
    assert (other / "index.html").read_text() == "mine"
    out = tmp_path / "out"
    assert run(tmp_path, campaigns / "night-1", "--to", out).exit_code == 0
    manifest = json.loads((out / MANIFEST).read_text())
    manifest["files"]["../other/index.html"] = "x"
    (out / MANIFEST).write_text(json.dumps(manifest))
    (out / "own.html").write_text("mine")
    assert run(tmp_path, campaigns / "night-2", "--to", out).exit_code == 0
    assert (other / "index.html").read_text() == "mine"
    assert (out / "own.html").read_text() == "mine"
    empty = run(tmp_path, tmp_path / "other", "--to", tmp_path / "new")
    assert isinstance(empty.exception, UsageError)
