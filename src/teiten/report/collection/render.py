"""The report of a collection in each form."""

from __future__ import annotations

from teiten import __version__
from teiten.analysis.model.collection import CollectionResult
from teiten.model.text import Language
from teiten.report.collection.view import EvidencePlace, collection_page
from teiten.report.numbered import numbered
from teiten.report.render.html import html
from teiten.report.render.markdown import markdown_files
from teiten.report.render.pdf import pdf


def collection_html(result: CollectionResult, language: Language) -> bytes:
    """One file that works offline, with pictures for readers without scripts."""
    from teiten.report.render.stills import with_stills  # noqa: PLC0415 - loads 40 MB

    page = with_stills(numbered(collection_page(result, language)))
    return html(page, __version__).encode()


def collection_markdown(
    result: CollectionResult, language: Language, evidence: EvidencePlace
) -> dict[str, bytes]:
    """``report.md`` and the files beside it: relative path to content. ``evidence``: where a
    campaign's evidence is, from there."""
    return markdown_files(numbered(collection_page(result, language, evidence)), __version__)


def collection_pdf(result: CollectionResult, language: Language) -> bytes:
    """One document. Raises UsageError where the extra ``teiten[pdf]`` is not installed."""
    return pdf(collection_page(result, language), __version__, result.created_at)
