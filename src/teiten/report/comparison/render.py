"""A comparison's report in each form."""

from __future__ import annotations

from teiten import __version__
from teiten.analysis.model.comparison import Comparison
from teiten.model.text import Language
from teiten.report.comparison.view import comparison_page
from teiten.report.render.html import html
from teiten.report.render.markdown import markdown_files


def comparison_html(comparison: Comparison, language: Language) -> str:
    """One file that works offline, and has pictures for readers without scripts."""
    from teiten.report.render.stills import with_stills  # noqa: PLC0415 - loads 40 MB

    return html(with_stills(comparison_page(comparison, language)), __version__)


def comparison_markdown(comparison: Comparison, language: Language) -> dict[str, bytes]:
    """``report.md`` and the files beside it: relative path to content."""
    return markdown_files(comparison_page(comparison, language), __version__)
