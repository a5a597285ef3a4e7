"""A whole report of any kind: every sentence, every table, and the two against JSON and trials."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import Any

from teiten import __version__
from teiten.analysis.model.findings import CampaignAnalysis
from teiten.report.render.markdown import markdown_text
from teiten.report.view.report import view
from tests.reader import across
from tests.reader.across import Across, comparison_tables, history_tables
from tests.reader.agreement import disagreements
from tests.reader.campaign import Campaign
from tests.reader.collected import Retold, outcomes_of, retold_objections, without_forecast
from tests.reader.contrasts import contrast_objections, contrasts_of
from tests.reader.document import Document, read_markdown
from tests.reader.drawn import Drawn
from tests.reader.evidence import MADE_BY, Evidence, moments_of
from tests.reader.figures import Figures
from tests.reader.language import Language
from tests.reader.read import BOOKS, close
from tests.reader.reader import Reader
from tests.reader.tables import columns_read, contrast_tables, judged_in

LEAST_POINTS = 5.0
"""From so many campaigns on changes are looked for."""
FINDINGS = ("Findings that", "本検証")
"""Tables that ``kinds/claims.py`` reads."""


def document_of(one: Drawn | Across, language: Language) -> Document:
    """Its report, as a reader has it."""
    if isinstance(one, Across):
        return one.document(language)
    return document_of_analysis(one.analysis, language)


def document_of_analysis(analysis: CampaignAnalysis, language: Language) -> Document:
    return read_markdown(markdown_text(view(analysis, language), "0.1.0"))


def read_whole(
    document: Document, one: Drawn | Across, language: Language, *, known: bool
) -> Reader:
    """A report that was read. ``known``: each of its sentences must have a pattern."""
    if isinstance(one, Across):
        return _read_across(document, one, language)
    contrasts = contrasts_of(one.analysis)
    reader = Reader(document, one.campaign, language, BOOKS, judged_in)
    evidence = Evidence(reader, told=one.analysis.server_facts)
    if not known:
        reader.figures = Figures(document, evidence, contrasts).objections
    reader.read_all()
    close(reader)
    if not known:
        reader.objections = [
            why for why in reader.objections if not why.startswith("answers without their headings")
        ]
    read = {id(table): columns_read(table) for table, *_ in contrast_tables(reader)}
    _tables(reader, document, read, evidence)
    study = one.analysis.plan.study
    titles = {workload.name: getattr(workload.title, language) for workload in study.workloads}
    reader.objections += disagreements(document, titles, contrasts)
    return reader


def _tables(
    reader: Reader, document: Document, read: Mapping[int, Collection[int]], evidence: Evidence
) -> None:
    """``read``: which columns of which tables were read already."""
    for table in document.tables:
        if table.caption.startswith(FINDINGS):
            cells = (cell for row in table.rows for cell in row)
            reader.objections += [why for cell in cells for why in evidence.words_objections(cell)]
        else:
            reader.objections += evidence.objections(table, read.get(id(table), ()))


def _read_across(document: Document, one: Across, language: Language) -> Reader:
    reader = Reader(document, one.campaigns[-1], language, BOOKS, judged_in)
    evidence = Evidence(reader, one.campaigns[:-1], [each.server_facts for each in one.analyses])
    found: Sequence[dict[str, Any]] = ()
    retold = None
    if one.kind == "comparison":
        a, b = one.campaigns
        read = comparison_tables(reader, document, a, b)
        found = across.as_json(list(across.compared(a, b)))
        _tables(reader, document, read, evidence)
    elif one.kind == "history":
        read = history_tables(reader, document, one.campaigns)
        _tables(reader, document, read, evidence)
    else:
        retold = Retold([document_of_analysis(each, language) for each in one.analyses])
        evidence.named |= outcomes_of(document)
        reader.objections += retold_objections(document, retold, evidence)
    if one.kind == "site":
        evidence.moments = moments_of(each.created_at for each in one.campaigns)
    figures = Figures(document, evidence, found)
    figures.made_by = __version__ if one.kind == "site" else MADE_BY
    if one.kind == "history":
        figures.plan.add(LEAST_POINTS)
    if one.result is not None:
        figures.counted = ()  # whose blocks to come are foretold
        figures.plan |= {one.result.budget / 60, one.result.spent / 60}
        for finding in one.result.findings:
            figures.plan |= {float(finding.blocks or 0), (finding.seconds or 0.0) / 60}
    for part in document.parts:
        is_said = part.kind in {"text", "item", "pair", "heading", "caption"}
        if is_said and part.text not in reader.given:
            reader.read += 1
            text = retold.untold(part.text) if retold is not None else part.text
            text, foretold = without_forecast(text)
            reader.objections += foretold
            whys = figures.objections(replace(part, text=text))
            reader.objections += [f"{why}: {part.text}" for why in whys]
    return reader


def trials_objections(one: Drawn) -> list[str]:
    """What of JSON does not follow from the trials."""
    return list(contrast_objections(one.campaign, contrasts_of(one.analysis)))


def campaign_of(one: Drawn | Across) -> Campaign:
    return one.campaigns[-1] if isinstance(one, Across) else one.campaign
