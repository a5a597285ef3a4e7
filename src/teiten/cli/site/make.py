"""All pages of a site."""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import combinations

from teiten import __version__
from teiten.analysis.across.comparison import compare
from teiten.analysis.across.history import Located, laid_out
from teiten.analysis.model.history import Axis, History
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
from teiten.model.text import Bilingual
from teiten.report.forms import comparison_html, history_html, render_html
from teiten.report.history.points import line_id
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

MOST_MACHINES = 6
"""The most machines of a question that are compared with one another."""


@dataclass(frozen=True)
class Asked:
    """A person's request for a site."""

    title: str | None
    url: str | None
    anew: bool
    """Reports are made although campaigns have theirs."""


def make(
    found: Sequence[Found],
    left_out: Sequence[tuple[str, str]],
    asked: Asked,
    output: Output,
    console: Console,
) -> tuple[CampaignSite, History]:
    """Write all that changed. Raises UsageError and MachineError."""
    newest = sorted(found, key=lambda one: (-one.entry.created_at, one.entry.slug))
    unfit: list[tuple[Found, str]] = []
    lines = _with_reports(newest, asked, output, console, unfit)
    if unfit:  # the history had them: it is made anew, and leads to what there is
        newest = [one for one in newest if one not in [campaign for campaign, _ in unfit]]
        lines = _with_reports(newest, asked, output, console, unfit)
    compared = tuple(_compared(newest, output, console))
    entries = tuple(one.entry for one in newest)
    missing = (*left_out, *((name_of(one.file), why) for one, why in unfit))
    site = CampaignSite(asked.title, entries, len(lines.lines), compared, missing)
    for language in LANGUAGES:
        _write(output, index_name(language), index_html(site, language).encode())
        for study in _studies(entries):
            page = index_html(site, language, study)
            _write(output, study_name(study, language), page.encode())
        _write(output, feed_name(language), feed(site, language, asked.url))
    return site, lines


def _with_reports(
    newest: Sequence[Found],
    asked: Asked,
    output: Output,
    console: Console,
    unfit: list[tuple[Found, str]],
) -> History:
    """The history, and each campaign's reports; a campaign of whose ledger none can be made goes to
    ``unfit`` with the reason."""
    lines = _lines(newest, output)
    places = _places(lines)
    for one in newest:
        place = places.get(report_link(one.entry, "en"), "") if lines.lines else None
        try:
            _reports(one, place, asked, output, console)
        except LedgerError as error:
            unfit.append((one, without_path(error, one.file)))
    return lines


def _studies(entries: Sequence[SiteEntry]) -> list[str]:
    """Those that have a page: none where all campaigns are of one."""
    found = sorted({entry.study for entry in entries})
    return found if len(found) > 1 else []


def _places(lines: History) -> dict[str, str]:
    """The first line of each report, by the report's address; of those that are drawn."""
    found: dict[str, str] = {}
    for line in lines.lines:
        if len(line.points) > 1:
            for point in line.points:
                found.setdefault(point.path, line_id(line))
    return found


def _reports(one: Found, place: str | None, asked: Asked, output: Output, console: Console) -> None:
    """A campaign's own reports where it has both, else made here; with the way to other pages.
    ``place``: of the history."""
    own = {language: one.file.parent / FOLDER / f"report.{language}.html" for language in LANGUAGES}
    theirs = one.file.name == FILE_NAME and all(path.is_file() for path in own.values())
    missing = []
    for language, path in own.items():
        name = report_link(one.entry, language)
        way = SiteLinks(language, name.removesuffix(f".{language}.html"), place)
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


def _lines(found: Sequence[Found], output: Output) -> History:
    """The history of all; its pages name campaigns, and no path of this machine."""
    located = [
        Located(
            replace(each, point=replace(each.point, path=report_link(one.entry, "en"))), one.load
        )
        for one in found
        for each in one.entry.estimates
    ]
    key = _digest(SiteLinks("en", "history").html(), *(f"{one.key}" for one in found))
    lines = laid_out(located, Axis.DATE, ())
    if lines.lines:
        for language in LANGUAGES:
            name = f"history.{language}.html"
            if not output.has(name, key):
                page = history_html(lines, language).encode()
                output.write(name, key, with_way(page, SiteLinks(language, "history")))
    return lines


def _compared(found: Sequence[Found], output: Output, console: Console) -> Iterator[ComparedPair]:
    """The newest whole campaigns of a question on each two machines, where they measured the
    same."""
    by_question: dict[str, dict[str, Found]] = defaultdict(dict)
    for one in found:
        if one.entry.complete:
            by_question[one.entry.question].setdefault(one.entry.machine, one)
    for machines in by_question.values():
        for newer, older in combinations(list(machines.values())[:MOST_MACHINES], 2):
            pair = _pair(older, newer, output, console)
            if pair is not None:
                yield pair


def _pair(a: Found, b: Found, output: Output, console: Console) -> ComparedPair | None:
    link = f"compared/{_digest(a.entry.slug, b.entry.slug)}"
    pair = ComparedPair(_told(a.entry, b.entry), link)
    key = f"{a.key} {b.key} {_digest(SiteLinks('en', link).html())}"
    names = {language: f"{link}.{language}.html" for language in LANGUAGES}
    if all(output.has(name, key) for name in names.values()):
        return pair
    one, other = a.load(), b.load()
    try:
        with consistent(a.file):
            comparison = compare(one, other, claims=claims_of(one.plan.study.name), insisted=False)
    except LedgerError as error:
        console.warn(f"{one.name} and {other.name} are not compared: {error.message}")
        return None
    if comparison.obstacles or not comparison.results:
        console.detail(f"{one.name} and {other.name} measured different things: not compared")
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
