"""Reports that retell campaigns: collections of published findings, and the index of a site.

What they say of a campaign stands in that campaign's own report, word for word or, of a finding,
number for number in the row of the same finding. What they count are rows of their own tables.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from random import Random

from teiten.analysis.across.collection import findings_of
from teiten.analysis.model.collection import CollectedCampaign, CollectionResult
from teiten.analysis.model.findings import CampaignAnalysis
from teiten.model.study import Measure
from teiten.model.text import Bilingual, Language
from teiten.model.units import Seconds
from teiten.report.site.entry import entry_of
from teiten.report.site.render import CampaignSite, index_html
from tests.reader.answers import working_seconds
from tests.reader.document import Document, Table, read_html
from tests.reader.drawn import Drawn, cores, recorded_claims, ssb_claims, versions
from tests.reader.evidence import Evidence
from tests.reader.language import SLOT, printed

ALL = ("all", "合計", "全体")
SHOWN = 2
"""Verdicts of a campaign that an index shows before it folds the others."""
BLOCK = 90.0
"""Seconds of a block."""
EVERY, OUTCOME = ("Every finding", "すべての検証結果"), 3
"""The table of findings, and which of its columns has the outcome."""


def collected(chance: Random) -> tuple[list[Drawn], CollectionResult]:
    """Two campaigns that judge published findings."""
    drawn = [kind(chance) for kind in chance.sample((ssb_claims, recorded_claims, cores), 2)]
    campaigns = [_ran(each.analysis) for each in drawn]
    by_name = {each.name: one.analysis.claims for each, one in zip(campaigns, drawn, strict=True)}
    claims = [outcome.claim for outcomes in by_name.values() for outcome in outcomes]
    findings = findings_of(
        {claim.id: claim for claim in claims}.values(),
        campaigns,
        by_name,
        alpha={each.name: _measure(one).alpha for each, one in zip(campaigns, drawn, strict=True)},
        block={each.name: Seconds(BLOCK) for each in campaigns},
    )
    return drawn, CollectionResult(
        "drawn",
        Bilingual("Drawn findings", "引いた検証結果"),
        drawn[0].campaign.created_at,
        (drawn[0].analysis.facts,),
        "teiten collection run drawn",
        Seconds(60.0 * chance.choice((30, 480))),
        Seconds(60.0 * chance.choice((7, 95))),
        tuple(campaigns),
        tuple(findings),
    )


def _measure(drawn: Drawn) -> Measure:
    return drawn.analysis.plan.study.measure


def _ran(analysis: CampaignAnalysis) -> CollectedCampaign:
    study = analysis.plan.study
    return CollectedCampaign(
        analysis.name,
        study.name,
        study.title,
        analysis.name,
        tuple(str(server.version) for _, server in analysis.plan.servers),
        len({trial.block for trial in analysis.trials}),
        analysis.wall,
    )


def listed(chance: Random) -> list[Drawn]:
    """Campaigns of a site."""
    return [versions(chance) for _ in range(chance.choice((1, 2, 4)))]


def site_document(analyses: Sequence[CampaignAnalysis], language: Language) -> Document:
    entries = tuple(entry_of(each, f"/somewhere/{each.name}") for each in analyses)
    return read_html(index_html(CampaignSite(None, entries), language))


# --- what they say ----------------------------------------------------------------------------


def numbers(text: str) -> list[tuple[float, str]]:
    return [(number.value, number.bound) for number in map(printed, SLOT.findall(text))]


class Retold:
    """The reports of the campaigns."""

    def __init__(self, documents: Sequence[Document]) -> None:
        parts = [part.text for document in documents for part in document.parts]
        self.text = "\n".join(parts)
        self.rows = [
            row for document in documents for table in document.tables for row in table.rows
        ]

    def untold(self, text: str) -> str:
        """The lines of a text that stand in no report."""
        lines = (line.removeprefix(": ") for line in text.split("\n"))
        return "\n".join(line for line in lines if not self.word_for_word(line))

    def word_for_word(self, line: str) -> bool:
        return re.search(rf"(?<![\w.]){re.escape(line)}(?![\w.])", self.text) is not None

    def in_its_row(self, cell: str, row: Sequence[str], evidence: Evidence) -> bool:
        """Whether the row of the same first cell in a report has these numbers in one cell."""
        wanted = [numbers(evidence.unnamed(line)) for line in cell.split("\n")]
        known = [
            numbers(evidence.unnamed(line))
            for same in self.rows
            if same[0] == row[0]
            for each in same
            for line in each.split("\n")
        ]
        return all(line in known for line in wanted if line)


def retold_objections(document: Document, retold: Retold, evidence: Evidence) -> Iterator[str]:
    """Objects to numbers of tables that no report has, and that count no rows."""
    for table in document.tables:
        for row in table.rows:
            for at, cell in enumerate(row):
                counted = _counted(document, table, row, at)
                if counted is not None:
                    if cell != str(counted):
                        yield f"{table.caption} · {table.columns[at]}: {counted} are, not {cell}"
                    continue
                unknown = numbers(evidence.unnamed(retold.untold(cell)))
                known = {value for value, _ in unknown} <= set(_ran_for(evidence, row))
                if unknown and not known and not retold.in_its_row(cell, row, evidence):
                    yield f"{table.caption} · {table.columns[at]}: {cell} is in no report"


def _ran_for(evidence: Evidence, row: Sequence[str]) -> Iterator[float]:
    """Blocks and minutes of the campaign of a row, how many contrasts it has, and how many campaigns
    there are."""
    yield float(len(evidence.every))
    named = [each for each in evidence.every if any(each.name in cell for cell in row)]
    for campaign in named or evidence.every:
        ran = {trial.number for trial in campaign.trials}
        yield float(len({trial.block for trial in campaign.plan.trials if trial.number in ran}))
        yield float(round(working_seconds(campaign) / 60))
        yield float(len(list(campaign.answers())) - SHOWN)
        yield float(campaign.facts.cpu.logical)


def _counted(document: Document, table: Table, row: Sequence[str], at: int) -> int | None:
    """How many findings a row and a column name; None where they count none."""
    findings = [each for other in document.tables for each in other.rows if other.caption in EVERY]
    if at == 0 or not findings or table.rows[-1][0] not in ALL:
        return None
    names = {row[0]} | {
        cell
        for other in document.tables
        for each in other.rows
        if other is not table and each[0] == row[0]
        for cell in each
        if cell.startswith("[")  # the link to a campaign
    }
    whole = row is table.rows[-1]
    named = [
        each
        for each in findings
        if whole or names & {*each} or each[0].split("\n")[-1].startswith(row[0])
    ]
    heading = table.columns[at]
    return sum(at == 1 or each[OUTCOME].startswith(heading) for each in named)
