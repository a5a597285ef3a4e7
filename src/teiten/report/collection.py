"""The report of a collection as data: counts, the chart, and every finding in one table."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from urllib.parse import quote

from teiten.analysis.model.claims import JUDGED, Check, ClaimStanding
from teiten.analysis.model.collection import CollectedCampaign, CollectionResult, Finding, counts
from teiten.model.text import UNWRITTEN, Language
from teiten.model.units import Seconds
from teiten.report.atlas import atlas_sections
from teiten.report.blocks import (
    Block,
    Download,
    Downloads,
    Items,
    Page,
    Pairs,
    Section,
    Text,
    folded,
    with_contents,
)
from teiten.report.charts.base import Chart, as_columns
from teiten.report.charts.points import PrintedPoint, printed_against_measured
from teiten.report.claim_words import (
    Side,
    as_told,
    check_text,
    outcome_cell,
    outcome_word,
    printed_text,
    reason_text,
    side_of,
    source_text,
)
from teiten.report.names import Names
from teiten.report.numbers import NOTHING, fixed, plain
from teiten.report.sentences import machine_text
from teiten.report.sites import origin_text
from teiten.report.tables import Column, Row, Table, TableCell, cells, headings, number_cell
from teiten.report.texts import Texts, texts

FIELDS = (
    *("finding", "report", "section", "study", "campaign", "outcome", "reason"),
    *("printed_ratio", "ratio", "low", "high", "seconds", "further_blocks", "further_seconds"),
)
CHANGED = (ClaimStanding.CONTRADICTED, ClaimStanding.REPRODUCED)
"""The outcomes whose versions stand in columns of what does not hold."""
EvidencePlace = Callable[[str, Language], str]
"""The address of a campaign's evidence in a language, from the collection's report."""


def report_of(campaign: str, language: Language) -> str:
    """Give the address of the campaign's own report, by its place in a working folder."""
    return f"../../campaigns/{quote(campaign)}/report/report.{language}.html"


def collection_page(
    result: CollectionResult, language: Language, evidence: EvidencePlace = report_of
) -> Page:
    """Everything computed and worded; what is left is layout."""
    t = texts(language)
    tables = (
        _count_table(t, "by-report", result, lambda finding: finding.outcome.claim.source.report),
        _count_table(t, "by-subject", result, lambda finding: t.of(finding.campaign.subject)),
    )
    return Page(
        t,
        t.of(result.title),
        result.name,
        (),
        with_contents(
            t("heading.contents"),
            Section("answer", t("section.answer"), tuple(_answer(t, result))),
            *atlas_sections(t, result),
            Section("counts", t("collection.counts"), tables),
            *_changed(t, result),
            Section(
                "findings",
                t("section.findings"),
                (*_chart(t, result), _table(t, result, evidence), *_rest(t, result)),
            ),
            Section("open", t("collection.open"), tuple(_open(t, result))),
            Section("campaigns", t("collection.campaigns"), tuple(_campaigns(t, result, evidence))),
        ),
        made_key="collection.made",
    )


def _answer(t: Texts, result: CollectionResult) -> Iterator[Block]:
    numbers = {name.replace("-", "_"): n for name, n in _numbers(result.findings).items()}
    yield Text(t.plural("collection.answer", max(1, len(result.machines)), **numbers))
    if result.open:
        yield Text(t.plural("collection.left-open", len(result.open)))
    yield Text(t("collection.scope"), "note")
    spent, budget = _minutes(result.spent), _minutes(result.budget)
    facts = [
        (t("collection.spent"), t("collection.minutes-of", spent=spent, budget=budget)),
        (t("collection.command"), result.command),
    ]
    if result.machines:
        machines = dict.fromkeys(machine_text(t, facts) for facts in result.machines)
        facts.insert(0, (t("cover.machine"), t("list.separator").join(machines)))
    yield Pairs(tuple(facts), "facts")


def _numbers(findings: Sequence[Finding]) -> dict[str, int]:
    """Count findings: all, those that apply, and by outcome."""
    by_outcome = counts(findings)
    return {
        "findings": len(findings),
        "applying": sum(by_outcome[standing] for standing in JUDGED),
        **{standing.value: by_outcome[standing] for standing in ClaimStanding},
    }


def _count_table(
    t: Texts, name: str, result: CollectionResult, group: Callable[[Finding], str]
) -> Table:
    groups: dict[str, list[Finding]] = {}
    for finding in result.findings:
        groups.setdefault(group(finding), []).append(finding)

    def row(title: str, findings: Sequence[Finding]) -> Row:
        numbers = _numbers(findings)
        del numbers["applying"]
        return cells(title, *map(number_cell, numbers.values()))

    outcomes = (f"claim-outcome.{standing.value}" for standing in ClaimStanding)
    columns = (
        *headings(t, f"collection.{name}"),
        *headings(t, "collection.findings", *outcomes, numeric=True),
    )
    return Table(
        name,
        t(f"collection.{name}-caption"),
        columns,
        tuple(row(title, findings) for title, findings in groups.items()),
        total=row(t("collection.all"), result.findings),
    )


def _changed(t: Texts, result: CollectionResult) -> Iterator[Section]:
    """The findings of reports that are contradicted, with the versions that were measured."""
    rows = tuple(
        cells(
            _finding_text(t, finding),
            check_text(t, finding.outcome.deciding, side_in(t, finding)),
            *(_versions(t, finding, standing) for standing in CHANGED),
        )
        for finding in result.findings
        if finding.standing is ClaimStanding.CONTRADICTED and not finding.outcome.claim.promise
    )
    if rows:
        columns = ("table.finding", "table.measured", "collection.fails-on", "collection.holds-on")
        note = t("collection.changed-note")
        table = Table(
            "changed", t("collection.changed-caption"), headings(t, *columns), rows, note=note
        )
        yield Section("changed", t("collection.changed"), (table,))


def _versions(t: Texts, finding: Finding, wanted: ClaimStanding) -> str:
    versions = [
        " → ".join(versions) for versions, standing in finding.by_server if standing is wanted
    ]
    return t("list.separator").join(versions) or NOTHING


def _chart(t: Texts, result: CollectionResult) -> Iterator[Chart]:
    """Findings whose printed table answers the same question as the campaign."""
    points = tuple(_points(t, result))
    if points:
        outcomes = tuple(t(f"claim-outcome.{standing.value}") for standing in JUDGED)
        yield printed_against_measured(t, points, outcomes)


def _points(t: Texts, result: CollectionResult) -> Iterator[PrintedPoint]:
    for finding in result.findings:
        printed, measured = ratio_pair(finding)
        if printed is None or measured is None or not finding.applies:
            continue
        ratios = (printed.ratio, measured.ratio, measured.low, measured.high)
        drawn = [value for value in ratios if value and math.isfinite(value) and value > 0]
        if len(drawn) == len(ratios):
            about = t(
                "collection.point",
                finding=finding.outcome.claim.id,
                printed=fixed(drawn[0], 3),
                measured=fixed(drawn[1], 3),
            )
            name, word = finding.outcome.claim.id, outcome_word(t, finding.outcome)
            yield PrintedPoint(name, word, drawn[0], drawn[1], drawn[2], drawn[3], about)


def ratio_pair(finding: Finding) -> tuple[Check | None, Check | None]:
    """The deciding checks, as told: in print, if of the same kind, and in the campaign."""
    printed, measured = finding.outcome.in_print, finding.outcome.deciding
    alike = printed is not None and measured is not None and printed.kind is measured.kind
    return (
        as_told(printed) if printed is not None and alike else None,
        as_told(measured) if measured is not None else None,
    )


def _table(t: Texts, result: CollectionResult, evidence: EvidencePlace) -> Table:
    return Table(
        "all-findings",
        t("collection.table-caption"),
        (
            *headings(t, "table.finding", "table.printed", "table.measured", "table.outcome"),
            *headings(t, "collection.minutes", numeric=True),
            *headings(t, "collection.evidence"),
        ),
        tuple(_row(t, finding, evidence) for finding in result.findings if finding.applies),
        note=t("collection.table-note"),
    )


def _row(t: Texts, finding: Finding, evidence: EvidencePlace) -> Row:
    outcome, campaign = finding.outcome, finding.campaign
    side = side_in(t, finding)
    return cells(
        _finding_text(t, finding),
        printed_text(t, outcome, side),
        check_text(t, outcome.deciding, side),
        outcome_cell(t, outcome),
        TableCell(_minutes(campaign.wall), sort=campaign.wall) if campaign.campaign else NOTHING,
        TableCell("", kind="links", links=_links(t, campaign, campaign.name, evidence)),
    )


def side_in(t: Texts, finding: Finding) -> Side:
    """Make names of a finding's sides, as the report of its campaign has them."""
    plan = finding.campaign.plan
    return side_of(finding.outcome.claim, Names(plan, t) if plan else None)


def _rest(t: Texts, result: CollectionResult) -> Iterator[Table]:
    """The findings that no campaign of the collection judges, with the reason."""
    rows = tuple(
        cells(_finding_text(t, finding), reason_text(t, finding.outcome.reason) or NOTHING)
        for finding in result.findings
        if not finding.applies
    )
    if rows:
        columns = headings(t, "table.finding", "collection.reason")
        yield Table("not-judged", t("collection.not-judged"), columns, rows)


def _finding_text(t: Texts, finding: Finding) -> str:
    claim = finding.outcome.claim
    return f"{t.of(claim.statement)}\n{source_text(t, claim.source)}"


def _links(
    t: Texts, campaign: CollectedCampaign, text: str, evidence: EvidencePlace
) -> tuple[tuple[str, str], ...]:
    return ((text, evidence(campaign.campaign, t.language)),) if campaign.campaign else ()


def _open(t: Texts, result: CollectionResult) -> Iterator[Block]:
    """List the inconclusive findings with the time that each would take."""
    if not result.open:
        yield Text(t("collection.none-open"))
        return
    yield Text(t("collection.forecast-note"), "note")
    yield Items(tuple(_takes(t, finding) for finding in result.open))


def _takes(t: Texts, finding: Finding) -> str:
    claim = finding.outcome.claim
    values = {"finding": t.of(claim.statement), "source": source_text(t, claim.source)}
    if finding.blocks is None or finding.seconds is None:
        return t("collection.takes-unknown", **values)
    return t.plural("collection.takes", finding.blocks, minutes=_minutes(finding.seconds), **values)


def _campaigns(t: Texts, result: CollectionResult, evidence: EvidencePlace) -> Iterator[Block]:
    columns = ("subject", "campaign", "servers", "seed", "blocks", "minutes", "remarks")
    rows = tuple(
        cells(
            t.of(campaign.subject),
            TableCell("", kind="links", links=_links(t, campaign, campaign.campaign, evidence)),
            t("list.separator").join(campaign.servers) or NOTHING,
            str(campaign.plan.seed) if campaign.plan is not None else NOTHING,
            number_cell(campaign.blocks),
            TableCell(_minutes(campaign.wall), sort=campaign.wall),
            "\n".join(filter(None, (t.of(campaign.remark or UNWRITTEN), campaign.lacking))),
        )
        for campaign in result.campaigns
    )
    numeric = ("blocks", "minutes")
    yield Table(
        "campaigns",
        t("collection.campaigns-caption"),
        tuple(Column(t(f"collection.{name}"), numeric=name in numeric) for name in columns),
        rows,
    )
    yield from folded(_binaries(t, result))
    yield Downloads((Download("findings.csv", as_columns(FIELDS, list(_columns(result)))),))


def _binaries(t: Texts, result: CollectionResult) -> Table:
    """The servers' binaries that the campaigns measured, each once."""
    plans = (campaign.plan for campaign in result.campaigns if campaign.plan is not None)
    servers = {server.fingerprint: server for plan in plans for _, server in plan.servers}
    rows = tuple(
        cells(str(server.version), origin_text(server), TableCell(fingerprint, kind="code"))
        for fingerprint, server in sorted(servers.items(), key=lambda item: item[1].version)
    )
    columns = headings(t, "collection.servers", "table.source", "table.fingerprint")
    return Table("binaries", t("collection.binaries"), columns, rows, sortable=False)


def _columns(result: CollectionResult) -> Iterator[tuple[object, ...]]:
    for finding in result.findings:
        printed, measured = ratio_pair(finding)
        claim, reason = finding.outcome.claim, finding.outcome.reason
        yield (
            claim.id,
            claim.source.report,
            claim.source.section,
            claim.study,
            finding.campaign.campaign,
            finding.standing.value,
            reason.code if reason else "",
            printed.ratio if printed else None,
            *((measured.ratio, measured.low, measured.high) if measured else (None, None, None)),
            finding.campaign.wall,
            finding.blocks,
            finding.seconds,
        )


def _minutes(seconds: Seconds) -> str:
    return plain(round(seconds / 60))
