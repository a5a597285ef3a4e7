"""The page of a history as one HTML file."""

from __future__ import annotations

from teiten import __version__
from teiten.analysis.model.history import History
from teiten.model.text import Language
from teiten.report.history.view import history_view
from teiten.report.html import assembled


def history_html(history: History, language: Language) -> str:
    """The whole page; it works offline."""
    shown = history_view(history, language)
    return assembled("history.html.j2", shown, __version__, (), shown.downloads)
