"""The pages of campaigns, comparisons, histories and collections in each form that they have."""

from __future__ import annotations

from teiten import __version__
from teiten.analysis.model.collection import CollectionResult
from teiten.analysis.model.comparison import Comparison
from teiten.analysis.model.findings import CampaignAnalysis
from teiten.analysis.model.history import History
from teiten.model.text import Language
from teiten.report.collection import EvidencePlace, collection_page
from teiten.report.comparison.view import comparison_page
from teiten.report.history.points import Reports
from teiten.report.history.view import NO_REPORTS, history_page
from teiten.report.notes import NO_NOTES, Notes
from teiten.report.parts import numbered
from teiten.report.render.html import html
from teiten.report.render.markdown import markdown_files
from teiten.report.render.pdf import pdf
from teiten.report.render.pictures import with_stills
from teiten.report.view.report import view


def render_html(
    analysis: CampaignAnalysis,
    *languages: Language,
    notes: Notes = NO_NOTES,
    beside: str = "",
    stills: bool = False,
) -> str:
    """One file that works offline, in one language or several. ``beside``: the relative address of
    the campaign's folder, or nothing. ``stills``: with pictures for readers without scripts, which
    take seconds to draw."""
    pages = [numbered(view(analysis, language, notes, beside)) for language in languages]
    if stills:
        pages = [with_stills(page) for page in pages]
    return html(pages[0], analysis.teiten_version, *pages[1:])


def render_markdown(
    analysis: CampaignAnalysis, language: Language, notes: Notes = NO_NOTES, beside: str = ""
) -> dict[str, bytes]:
    """``report.md`` and the files beside it: relative path to content."""
    page = numbered(view(analysis, language, notes, beside))
    return markdown_files(page, analysis.teiten_version)


def render_pdf(analysis: CampaignAnalysis, language: Language, notes: Notes = NO_NOTES) -> bytes:
    """One document. Raises UsageError where the extra ``teiten[pdf]`` is not installed."""
    made_at = analysis.finished_at or analysis.created_at
    return pdf(view(analysis, language, notes), analysis.teiten_version, made_at)


def comparison_html(comparison: Comparison, language: Language) -> str:
    """One file that works offline, and has pictures for readers without scripts."""
    return html(with_stills(numbered(comparison_page(comparison, language))), __version__)


def comparison_markdown(comparison: Comparison, language: Language) -> dict[str, bytes]:
    """``report.md`` and the files beside it: relative path to content."""
    return markdown_files(numbered(comparison_page(comparison, language)), __version__)


def history_html(history: History, language: Language, reports: Reports = NO_REPORTS) -> str:
    """One file that works offline, with pictures for readers without scripts."""
    return html(with_stills(history_page(history, language, reports)), __version__)


def collection_html(result: CollectionResult, language: Language) -> bytes:
    """One file that works offline, with pictures for readers without scripts."""
    return html(with_stills(numbered(collection_page(result, language))), __version__).encode()


def collection_markdown(
    result: CollectionResult, language: Language, evidence: EvidencePlace
) -> dict[str, bytes]:
    """``report.md`` and the files beside it: relative path to content. ``evidence``: where a
    campaign's evidence is, from there."""
    return markdown_files(numbered(collection_page(result, language, evidence)), __version__)


def collection_pdf(result: CollectionResult, language: Language) -> bytes:
    """One document. Raises UsageError where the extra ``teiten[pdf]`` is not installed."""
    return pdf(collection_page(result, language), __version__, result.created_at)
