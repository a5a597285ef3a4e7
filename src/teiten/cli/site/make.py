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
from teiten.cli.parameters import LANGUAGES
from teiten.cli.site.output import (
    Output,
    SiteCampaign,
    name_of,
    own_reports,
    read_own_report,
    without_path,
)
from teiten.errors import LedgerError
from teiten.host.system.causes import translate_os_errors
from teiten.ledger.failures import consistent
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
class SiteSeries:
    """The campaigns of a site in the order of time, and what leads from each to others."""

    history: History
    steps: Mapping[str, CampaignStep]
    """The change since the campaign before it, by the address of the report in English."""
    beside: Mapping[str, ComparedPair]
    """The comparison with that campaign, by slug."""

    def way(self, entry: SiteEntry, language: Language) -> SiteLinks:
        """Link the campaign's report to other pages."""
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
        places: dict[str, str] = {}
        for line in self.history.lines:
            for point in line.points if line.is_drawn else ():
                places.setdefault(point.path, line_id(line))
        return places


@dataclass(frozen=True)
class SiteMaker:
    """The pages of a site, as somebody asked for them, while they are made."""

    title: str | None
    url: str | None
    anew: bool
    """Reports are made although campaigns have theirs."""
    output: Output
    console: Console

    def make(
        self, campaigns: Sequence[SiteCampaign], left_out: Sequence[tuple[str, str]]
    ) -> CampaignSite:
        """Write all that changed. Raises UsageError and MachineError."""
        newest = sorted(
            campaigns, key=lambda campaign: (-campaign.entry.created_at, campaign.entry.slug)
        )
        unfit: list[tuple[SiteCampaign, str]] = []
        series = self._with_reports(newest, unfit)
        if unfit:  # the history had them: it is made anew, and leads to what there is
            newest = [fit for fit in newest if fit not in [campaign for campaign, _ in unfit]]
            series = self._with_reports(newest, unfit)
        compared = tuple(self._compared(newest))
        entries = tuple(campaign.entry for campaign in newest)
        missing = (*left_out, *((name_of(campaign.file), why) for campaign, why in unfit))
        site = CampaignSite(
            self.title, entries, series.history, series.steps, compared, series.beside, missing
        )
        studies = sorted({entry.study for entry in entries})
        for language in LANGUAGES:
            self._write(index_name(language), index_html(site, language).encode())
            for study in studies if len(studies) > 1 else ():  # none where all are of one
                page = index_html(site, language, study)
                self._write(study_name(study, language), page.encode())
            self._write(feed_name(language), feed(site, language, self.url))
        return site

    def _with_reports(
        self, newest: Sequence[SiteCampaign], unfit: list[tuple[SiteCampaign, str]]
    ) -> SiteSeries:
        """The history, and each campaign's reports; a campaign of whose ledger none can be made
        goes to ``unfit`` with the reason."""
        history = self._history(newest)
        steps = steps_of(history.lines)
        series = SiteSeries(history, steps, dict(self._beside(newest, steps)))
        for campaign in newest:
            try:
                self._reports(campaign, series)
            except LedgerError as error:
                unfit.append((campaign, without_path(error, campaign.file)))
        return series

    def _reports(self, campaign: SiteCampaign, series: SiteSeries) -> None:
        """A campaign's own reports where it has both, else made here; with the way to other
        pages."""
        entry = campaign.entry
        stamps = {} if self.anew else own_reports(campaign.file)
        missing = []
        for language in LANGUAGES:
            name, way = report_link(entry, language), series.way(entry, language)
            key = f"{campaign.key} {stamps.get(language, __version__)} {_digest(way.html())}"
            if self.output.has(name, key):
                continue
            if stamps:
                with translate_os_errors(f"the report of {entry.campaign} cannot be read"):
                    report = read_own_report(campaign.file, language)
                self.output.write(name, key, with_way(report, way))
            else:
                missing.append((name, key, way))
        if missing:
            self.console.say(f"making the report of {entry.campaign}")
            with reading(campaign.file) as ledger:
                analysis = analyse_campaign(ledger)
                pages = [render_html(analysis, way.language, stills=True) for _, _, way in missing]
            for (name, key, way), page in zip(missing, pages, strict=True):
                self.output.write(name, key, with_way(page.encode(), way))

    def _history(self, campaigns: Sequence[SiteCampaign]) -> History:
        """The history of all; its pages name campaigns, and no path of this machine. There is no
        page where no line has two campaigns."""
        located = [
            Located(
                replace(
                    estimate,
                    point=replace(estimate.point, path=report_link(campaign.entry, "en")),
                ),
                campaign.load,
            )
            for campaign in campaigns
            for estimate in campaign.entry.estimates
        ]
        history = laid_out(located, Axis.DATE, ())
        key = _digest(SiteLinks("en", "history").html(), *(campaign.key for campaign in campaigns))
        for language in LANGUAGES if history.drawn else ():
            name = f"history.{language}.html"
            if not self.output.has(name, key):
                reports = {
                    report_link(campaign.entry, "en"): report_link(campaign.entry, language)
                    for campaign in campaigns
                }
                page = history_html(history, language, reports).encode()
                self.output.write(name, key, with_way(page, SiteLinks(language, "history")))
        return history

    def _beside(
        self, newest: Sequence[SiteCampaign], steps: Mapping[str, CampaignStep]
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
            pair = self._pair(title, earlier, later)
            if pair is not None:
                yield later.entry.slug, pair

    def _compared(self, newest: Sequence[SiteCampaign]) -> Iterator[ComparedPair]:
        """The newest whole campaigns of a question on each two machines, where they measured the
        same."""
        by_question: dict[str, dict[str, SiteCampaign]] = defaultdict(dict)
        for campaign in newest:
            if campaign.entry.complete:
                by_machine = by_question[campaign.entry.question]
                by_machine.setdefault(campaign.entry.machine, campaign)
        for machines in by_question.values():
            for newer, older in combinations(list(machines.values())[:MOST_MACHINES], 2):
                pair = self._pair(_with_machines(older.entry, newer.entry), older, newer)
                if pair is not None:
                    yield pair

    def _pair(self, title: Bilingual, a: SiteCampaign, b: SiteCampaign) -> ComparedPair | None:
        """The page of B against A; None where they measured different things."""
        link = f"compared/{_digest(a.entry.slug, b.entry.slug)}"
        pair = ComparedPair(title, link)
        key = f"{a.key} {b.key} {_digest(SiteLinks('en', link).html())}"
        names = {language: f"{link}.{language}.html" for language in LANGUAGES}
        if all(self.output.has(name, key) for name in names.values()):
            return pair
        older, newer = a.load(), b.load()
        both = f"{older.name} and {newer.name}"
        try:
            with consistent(a.file):
                comparison = compare(older, newer, claims=claims_of(older.plan.study.name))
        except LedgerError as error:
            self.console.warn(f"{both} are not compared: {error.message}")
            return None
        if comparison.obstacles or not comparison.results:
            self.console.detail(f"{both} measured different things: not compared")
            return None
        for language, name in names.items():
            page = comparison_html(comparison, language).encode()
            self.output.write(name, key, with_way(page, SiteLinks(language, link)))
        return pair

    def _write(self, name: str, content: bytes) -> None:
        key = hashlib.sha256(content).hexdigest()
        if not self.output.has(name, key):
            self.output.write(name, key, content)


def _with_machines(a: SiteEntry, b: SiteEntry) -> Bilingual:
    """Both campaigns with their machines."""
    return Bilingual(
        f"{a.campaign} ({a.machine_text.en}) – {b.campaign} ({b.machine_text.en})",
        f"{a.campaign}（{a.machine_text.ja}）と{b.campaign}（{b.machine_text.ja}）",
    )


def _digest(*parts: str) -> str:
    return hashlib.sha256("\0".join((__version__, *parts)).encode()).hexdigest()[:16]
