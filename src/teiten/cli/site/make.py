"""All pages of a site."""

from __future__ import annotations

import hashlib
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import combinations

from teiten import __version__
from teiten.analysis.across.comparison import compare
from teiten.analysis.across.history import Located, laid_out, steps_of
from teiten.analysis.model.history import Axis, CampaignStep, History
from teiten.claims.catalogue import claims_of
from teiten.cli.campaign.read import analyse_campaign
from teiten.cli.console import Console
from teiten.cli.site.output import Found, Output, name_of, without_path
from teiten.cli.verbs.report import FOLDER, LANGUAGES
from teiten.errors import LedgerError
from teiten.host.system.causes import translate_os_errors
from teiten.ledger.failures import consistent
from teiten.ledger.folders import FILE_NAME
from teiten.ledger.reading import reading
from teiten.model.text import Bilingual, Language
from teiten.report.forms import comparison_html, history_html, render_html
from teiten.report.history.points import line_id, step_sentence
from teiten.report.site.entry import SiteEntry
from teiten.report.site.render import (
    CampaignSite,
    ComparedPair,
    SiteLinks,
    feed,
    feed_name,
    index_html,
    index_name,
    report_link,
    study_name,
    with_way,
)
from teiten.report.texts import texts

MOST_MACHINES = 6
"""The most machines of a question that are compared with one another."""
MOST_NEIGHBOURS = 10
"""The newest campaigns of a series that are compared with the one before them: a page has 2 MB."""


@dataclass(frozen=True)
class Asked:
    """A person's request for a site."""

    title: str | None
    url: str | None
    anew: bool
    """Reports are made although campaigns have theirs."""


@dataclass(frozen=True)
class SiteSeries:
    """The campaigns of a site in the order of time, and what leads from each to others."""

    history: History
    steps: Mapping[str, CampaignStep]
    """The change since the campaign before it, by the address of the report in English."""
    beside: Mapping[str, ComparedPair]
    """The comparison with that campaign, by slug."""

    def way(self, entry: SiteEntry, language: Language) -> SiteLinks:
        """From the campaign's report to other pages."""
        address = report_link(entry, "en")
        step, pair = self.steps.get(address), self.beside.get(entry.slug)
        return SiteLinks(
            language,
            address.removesuffix(".en.html"),
            self._places.get(address, "") if self._places else None,
            step_sentence(texts(language), step) if step else "",
            pair.link if pair else None,
        )

    @cached_property
    def _places(self) -> Mapping[str, str]:
        """The first line of each report, by the report's address; of those that are drawn."""
        found: dict[str, str] = {}
        for line in self.history.lines:
            if line.is_drawn:
                for point in line.points:
                    found.setdefault(point.path, line_id(line))
        return found


def make(
    found: Sequence[Found],
    left_out: Sequence[tuple[str, str]],
    asked: Asked,
    output: Output,
    console: Console,
) -> CampaignSite:
    """Write all that changed. Raises UsageError and MachineError."""
    newest = sorted(found, key=lambda one: (-one.entry.created_at, one.entry.slug))
    unfit: list[tuple[Found, str]] = []
    series = _with_reports(newest, asked, output, console, unfit)
    if unfit:  # the history had them: it is made anew, and leads to what there is
        newest = [one for one in newest if one not in [campaign for campaign, _ in unfit]]
        series = _with_reports(newest, asked, output, console, unfit)
    compared = tuple(_compared(newest, output, console))
    entries = tuple(one.entry for one in newest)
    missing = (*left_out, *((name_of(one.file), why) for one, why in unfit))
    site = CampaignSite(
        asked.title, entries, series.history, series.steps, compared, series.beside, missing
    )
    for language in LANGUAGES:
        _write(output, index_name(language), index_html(site, language).encode())
        for study in _studies(entries):
            page = index_html(site, language, study)
            _write(output, study_name(study, language), page.encode())
        _write(output, feed_name(language), feed(site, language, asked.url))
    return site


def _with_reports(
    newest: Sequence[Found],
    asked: Asked,
    output: Output,
    console: Console,
    unfit: list[tuple[Found, str]],
) -> SiteSeries:
    """The history, and each campaign's reports; a campaign of whose ledger none can be made goes to
    ``unfit`` with the reason."""
    history = _history(newest, output)
    steps = steps_of(history.lines)
    series = SiteSeries(history, steps, dict(_beside(newest, steps, output, console)))
    for one in newest:
        try:
            _reports(one, series, asked, output, console)
        except LedgerError as error:
            unfit.append((one, without_path(error, one.file)))
    return series


def _studies(entries: Sequence[SiteEntry]) -> list[str]:
    """Those that have a page: none where all campaigns are of one."""
    found = sorted({entry.study for entry in entries})
    return found if len(found) > 1 else []


def _reports(
    one: Found, series: SiteSeries, asked: Asked, output: Output, console: Console
) -> None:
    """A campaign's own reports where it has both, else made here; with the way to other pages."""
    own = {language: one.file.parent / FOLDER / f"report.{language}.html" for language in LANGUAGES}
    theirs = one.file.name == FILE_NAME and all(path.is_file() for path in own.values())
    missing = []
    for language, path in own.items():
        name, way = report_link(one.entry, language), series.way(one.entry, language)
        stamp = f"{path.stat().st_mtime_ns}" if theirs and not asked.anew else __version__
        key = f"{one.key} {stamp} {_digest(way.html())}"
        if output.has(name, key):
            continue
        if theirs and not asked.anew:
            with translate_os_errors(f"the report of {one.entry.campaign} cannot be read"):
                report = path.read_bytes()
            output.write(name, key, with_way(report, way))
        else:
            missing.append((name, key, way))
    if missing:
        console.say(f"making the report of {one.entry.campaign}")
        with reading(one.file) as ledger:
            analysis = analyse_campaign(ledger)
            pages = [render_html(analysis, way.language, stills=True) for _, _, way in missing]
        for (name, key, way), page in zip(missing, pages, strict=True):
            output.write(name, key, with_way(page.encode(), way))


def _history(found: Sequence[Found], output: Output) -> History:
    """The history of all; its pages name campaigns, and no path of this machine. There is no page
    where no line has two campaigns."""
    located = [
        Located(
            replace(each, point=replace(each.point, path=report_link(one.entry, "en"))), one.load
        )
        for one in found
        for each in one.entry.estimates
    ]
    key = _digest(SiteLinks("en", "history").html(), *(f"{one.key}" for one in found))
    history = laid_out(located, Axis.DATE, ())
    if history.drawn:
        for language in LANGUAGES:
            name = f"history.{language}.html"
            if not output.has(name, key):
                reports = {
                    report_link(campaign.entry, "en"): report_link(campaign.entry, language)
                    for campaign in found
                }
                page = history_html(history, language, reports).encode()
                output.write(name, key, with_way(page, SiteLinks(language, "history")))
    return history


def _beside(
    newest: Sequence[Found], steps: Mapping[str, CampaignStep], output: Output, console: Console
) -> Iterator[tuple[str, ComparedPair]]:
    """Whole campaigns beside the one before them: the newest of each series."""
    by_address = {report_link(campaign.entry, "en"): campaign for campaign in newest}
    made: Counter[tuple[str, str]] = Counter()
    for address, later in by_address.items():
        earlier = by_address[steps[address].before.path] if address in steps else None
        if earlier is None or not (earlier.entry.complete and later.entry.complete):
            continue
        series = later.entry.question, later.entry.machine
        made[series] += 1
        if made[series] > MOST_NEIGHBOURS:
            continue
        title = Bilingual(earlier.entry.campaign, earlier.entry.campaign)
        pair = _pair(title, earlier, later, output, console)
        if pair is not None:
            yield later.entry.slug, pair


def _compared(found: Sequence[Found], output: Output, console: Console) -> Iterator[ComparedPair]:
    """The newest whole campaigns of a question on each two machines, where they measured the
    same."""
    by_question: dict[str, dict[str, Found]] = defaultdict(dict)
    for one in found:
        if one.entry.complete:
            by_question[one.entry.question].setdefault(one.entry.machine, one)
    for machines in by_question.values():
        for newer, older in combinations(list(machines.values())[:MOST_MACHINES], 2):
            title = _told(older.entry, newer.entry)
            pair = _pair(title, older, newer, output, console)
            if pair is not None:
                yield pair


def _pair(
    title: Bilingual, a: Found, b: Found, output: Output, console: Console
) -> ComparedPair | None:
    """The page of B against A; None where they measured different things."""
    link = f"compared/{_digest(a.entry.slug, b.entry.slug)}"
    pair = ComparedPair(title, link)
    key = f"{a.key} {b.key} {_digest(SiteLinks('en', link).html())}"
    names = {language: f"{link}.{language}.html" for language in LANGUAGES}
    if all(output.has(name, key) for name in names.values()):
        return pair
    older, newer = a.load(), b.load()
    try:
        with consistent(a.file):
            comparison = compare(older, newer, claims=claims_of(older.plan.study.name))
    except LedgerError as error:
        console.warn(f"{older.name} and {newer.name} are not compared: {error.message}")
        return None
    if comparison.obstacles or not comparison.results:
        console.detail(f"{older.name} and {newer.name} measured different things: not compared")
        return None
    for language, name in names.items():
        page = comparison_html(comparison, language).encode()
        output.write(name, key, with_way(page, SiteLinks(language, link)))
    return pair


def _told(a: SiteEntry, b: SiteEntry) -> Bilingual:
    """Both campaigns with their machines."""
    return Bilingual(
        f"{a.campaign} ({a.machine_text.en}) – {b.campaign} ({b.machine_text.en})",
        f"{a.campaign}（{a.machine_text.ja}）と{b.campaign}（{b.machine_text.ja}）",
    )


def _write(output: Output, name: str, content: bytes) -> None:
    key = hashlib.sha256(content).hexdigest()
    if not output.has(name, key):
        output.write(name, key, content)


def _digest(*parts: str) -> str:
    return hashlib.sha256("\0".join((__version__, *parts)).encode()).hexdigest()[:16]
