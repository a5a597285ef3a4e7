"""A campaign's report in each form."""

from __future__ import annotations

from teiten.analysis.model.findings import CampaignAnalysis
from teiten.model.text import Language
from teiten.report.render.html import html
from teiten.report.render.markdown import markdown_files
from teiten.report.view.report import view


def render_html(analysis: CampaignAnalysis, language: Language) -> str:
    """One file that works offline."""
    return html(view(analysis, language), analysis.teiten_version)


def render_markdown(analysis: CampaignAnalysis, language: Language) -> dict[str, bytes]:
    """``report.md`` and the files beside it: relative path to content."""
    return markdown_files(view(analysis, language), analysis.teiten_version)
