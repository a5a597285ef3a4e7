"""The report as Markdown, with SVG charts and CSV data beside it, readable where code is hosted."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterable
from functools import cache
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined

from teiten.analysis.model.findings import CampaignAnalysis
from teiten.model.text import Language
from teiten.report.charts.base import Chart, Columns
from teiten.report.charts.drawing import svg
from teiten.report.html import Shown
from teiten.report.tables import Cell, Table
from teiten.report.view.report import ReportView, view
from teiten.report.view.root_cause import Drawing
from teiten.report.view.trials import Download

TEXT = "report.md"
MOST_ROWS = 200
"""A longer table is left to the CSV, and the text says so."""
SPECIAL = re.compile(r"([\\`*_{}\[\]<>|~#])")


class Written(str):
    """Markdown that Teiten itself wrote; every other text is escaped."""

    __slots__ = ()


def render_markdown(analysis: CampaignAnalysis, language: Language) -> dict[str, bytes]:
    """``report.md`` and the files beside it: relative path to content."""
    shown = view(analysis, language)
    files = files_beside(shown.charts(), shown.evidence.downloads)
    files |= {f"charts/{one.name}.svg": str(one.alone).encode() for one in shown.drawings()}
    files["charts/topology.svg"] = _standing_alone(str(shown.asked.topology)).encode()
    return {TEXT: markdown_text(shown, analysis.teiten_version).encode(), **files}


def files_beside(charts: Iterable[Chart], downloads: Iterable[Download]) -> dict[str, bytes]:
    """The charts as SVG and the data as CSV: relative path to content."""
    files = {f"charts/{chart.name}.svg": svg(chart).encode() for chart in charts}
    for download in downloads:
        files[f"data/{download.name}"] = csv_bytes(download.columns)
    return files


def markdown_text(shown: ReportView, teiten_version: str) -> str:
    """The text itself, which refers to the charts and data beside it."""
    return written("report.md.j2", shown, teiten_version)


def written(template: str, shown: Shown, teiten_version: str) -> str:
    """The text of a view by its template."""
    text = (
        environment()
        .get_template(template)
        .render(view=shown, t=shown.texts, teiten_version=teiten_version, most_rows=MOST_ROWS)
    )
    return re.sub(r"\n{3,}", "\n\n", text).strip() + "\n"


@cache
def environment() -> Environment:
    """Templates whose every value is escaped for Markdown, unless Teiten wrote it."""
    made = Environment(  # noqa: S701 - escaped by finalize, for Markdown instead of HTML
        loader=PackageLoader("teiten.report"),
        undefined=StrictUndefined,
        finalize=_finalize,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.globals.update(table=table, chart=chart_link, code=code_block)
    return made


def escape(text: str) -> str:
    """A text as it is, in one paragraph: no character of it is Markdown or HTML."""
    return SPECIAL.sub(r"\\\1", text.replace("&", "&amp;")).replace("\n", "<br>")


def _finalize(value: Any) -> Any:
    return value if isinstance(value, Written) else escape(str(value))


def table(one: Table) -> Written:
    """A table in GitHub's form; a longer one than MOST_ROWS is cut, which its note says."""
    head = " | ".join(escape(column.title) for column in one.columns)
    rule = " | ".join("--:" if column.numeric else "---" for column in one.columns)
    rows = [*one.rows[:MOST_ROWS], *([one.total] if one.total else [])]
    lines = [f"**{escape(one.caption)}**", "", f"| {head} |", f"| {rule} |"]
    lines += [f"| {' | '.join(_cell(cell) for cell in row)} |" for row in rows]
    if one.note:
        lines += ["", escape(one.note)]
    return Written("\n".join(lines))


def _cell(cell: Cell) -> str:
    text = escape(cell.text)
    return f"**{text}**" if "verdict" in cell.kind and text else text


def chart_link(one: Chart | Drawing) -> Written:
    """A chart's picture, its title and its note."""
    title = escape(one.title)
    lines = [f"**{title}**", "", f"![{title}](charts/{one.name}.svg)"]
    return Written("\n".join([*lines, "", escape(one.note)] if one.note else lines))


def code_block(text: str, kind: str = "") -> Written:
    """A fenced block, with a fence longer than any inside."""
    longest = max((len(run) for run in re.findall(r"`{3,}", text)), default=2)
    fence = "`" * (longest + 1)
    return Written(f"{fence}{kind}\n{text.rstrip()}\n{fence}")


def csv_bytes(columns: Columns) -> bytes:
    """Columns as CSV in UTF-8: unrounded, empty where there is no value."""
    out = io.StringIO(newline="")
    writer = csv.writer(out)
    writer.writerow(columns)
    writer.writerows(
        [_csv_value(value) for value in row] for row in zip(*columns.values(), strict=True)
    )
    return out.getvalue().encode()


def _csv_value(value: Any) -> Any:
    """A text that a spreadsheet would take for a formula is marked as text, as in the page."""
    if value is None:
        return ""
    return f"'{value}" if isinstance(value, str) and re.match(r"[=+\-@\t\r]", value) else value


def _standing_alone(drawing: str) -> str:
    """The topology for an image: a picture has no page's colours behind it."""
    return drawing.replace("<title>", '<rect width="100%" height="100%" fill="white"/><title>', 1)
