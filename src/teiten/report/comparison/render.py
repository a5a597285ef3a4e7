"""A comparison's report as one HTML file, or as Markdown with charts and data beside it."""

from __future__ import annotations

from teiten import __version__
from teiten.analysis.model.comparison import Comparison
from teiten.model.text import Language
from teiten.report.comparison.view import comparison_view
from teiten.report.html import assembled
from teiten.report.markdown import TEXT, files_beside, written

PARTS = ("asked", "results", "findings", "evidence")


def comparison_html(comparison: Comparison, language: Language) -> str:
    """The whole page; it works offline."""
    shown = comparison_view(comparison, language)
    parts = [name for name in PARTS if name in ("asked", "evidence") or getattr(shown, name)]
    return assembled("comparison.html.j2", shown, __version__, parts, shown.downloads)


def comparison_markdown(comparison: Comparison, language: Language) -> dict[str, bytes]:
    """``report.md`` and the files beside it: relative path to content."""
    shown = comparison_view(comparison, language)
    text = written("comparison.md.j2", shown, __version__)
    return {TEXT: text.encode(), **files_beside(shown.charts(), shown.downloads)}
