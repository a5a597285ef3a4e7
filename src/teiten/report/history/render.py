"""The page of a history as one HTML file."""

from __future__ import annotations

from teiten import __version__
from teiten.analysis.model.history import History
from teiten.model.text import Language
from teiten.report.history.view import history_page
from teiten.report.render.html import html


def history_html(history: History, language: Language) -> str:
    """The whole page; it works offline, and has pictures for readers without scripts."""
    from teiten.report.render.stills import with_stills  # noqa: PLC0415 - loads 40 MB

    return html(with_stills(history_page(history, language)), __version__)
