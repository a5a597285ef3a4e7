"""A whole report of any kind: every sentence, every table, and the two against JSON and trials."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from teiten.report.blocks import Page
from teiten.report.view.report import view
from tests.reader import across
from tests.reader.across import Across, comparison_tables, history_tables
from tests.reader.agreement import disagreements
from tests.reader.campaign import Campaign
from tests.reader.contrasts import contrast_objections, contrasts_of
from tests.reader.document import Document
from tests.reader.drawn import Drawn
from tests.reader.evidence import TRIALS, Evidence
from tests.reader.figures import Figures
from tests.reader.language import Language
from tests.reader.read import BOOKS, close
from tests.reader.reader import Reader
from tests.reader.tables import contrast_tables, judged_in

FINDINGS = ("Findings that", "本検証")
"""Tables that ``kinds/claims.py`` reads."""


def page_of(one: Drawn | Across, language: Language) -> Page:
    return one.page(language) if isinstance(one, Across) else view(one.analysis, language)


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
    read = {id(table) for table, *_ in contrast_tables(reader)}
    if one.kind == "probes":  # their statements are parted and pooled by rules of their own
        read |= {
            id(table)
            for table in document.tables
            if len(table.columns) > 4 and table.columns[:2] not in TRIALS
        }
    _tables(reader, document, read, evidence)
    study = one.analysis.plan.study
    titles = {workload.name: getattr(workload.title, language) for workload in study.workloads}
    reader.objections += disagreements(document, titles, contrasts)
    return reader


def _tables(reader: Reader, document: Document, read: set[int], evidence: Evidence) -> None:
    for table in document.tables:
        if id(table) not in read and not table.caption.startswith(FINDINGS):
            reader.objections += evidence.objections(table)


def _read_across(document: Document, one: Across, language: Language) -> Reader:
    reader = Reader(document, one.campaigns[-1], language, BOOKS, judged_in)
    found: Sequence[dict[str, Any]] = ()
    if one.kind == "comparison":
        a, b = one.campaigns
        read = comparison_tables(reader, document, a, b)
        found = across.as_json(list(across.compared(a, b)))
    else:
        read = history_tables(reader, document, one.campaigns)
    evidence = Evidence(reader, one.campaigns[:-1], [each.server_facts for each in one.analyses])
    figures = Figures(document, evidence, found)
    _tables(reader, document, read, evidence)
    for part in document.parts:
        if (
            part.kind in {"text", "item", "pair", "heading", "caption"}
            and part.text not in reader.given
        ):
            reader.read += 1
            reader.objections += [f"{why}: {part.text}" for why in figures.objections(part)]
    return reader


def trials_objections(one: Drawn) -> list[str]:
    """What of JSON does not follow from the trials."""
    return list(contrast_objections(one.campaign, contrasts_of(one.analysis)))


def campaign_of(one: Drawn | Across) -> Campaign:
    return one.campaigns[-1] if isinstance(one, Across) else one.campaign
